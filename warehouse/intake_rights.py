"""What an operator does for the sender of an intake: show everything that is kept, or forget it."""

from __future__ import annotations

import json
from typing import Any

from contracts.connect.graph import node_ids as setup_node_ids
from contracts.connect.told import session_key
from contracts.intake.graph import node_ids
from warehouse.connect import forget_sessions_of_intake, sessions_of_intake
from warehouse.intake import INTAKE_CHANGED, graph_key, known_intake
from warehouse.ledger import Ledger, Reader, Row, utc_text
from warehouse.world.forget import forget_nodes


def list_intakes(reader: Reader, most: int) -> list[Row]:
    """The newest intakes, by the names of the ledger's columns; nothing of contact and person."""
    return reader.rows("intake_list", most=most)


def export_intake(reader: Reader, intake_id: str) -> dict[str, Any]:
    """Everything that is kept of an intake, contact data too. Raises `IntakeUnknown`."""
    known_intake(reader, intake_id)
    row = reader.row("intake_one", intake_id=intake_id)
    assert row is not None, "it was just there"
    kept = {name: value for name, value in row.items() if name not in _INTERNAL}
    return {
        **kept,
        "details": json.loads(row["details_json"]),
        "person": json.loads(row["person_json"]),
        "steps": reader.rows("intake_steps_of", intake_id=intake_id),
        "sessions": sessions_of_intake(reader, intake_id),
        "same_identity": [each["intake_id"] for each in reader.rows("intake_linked_to", intake_id=intake_id)],
    }


_INTERNAL = {
    "details_json",
    "person_json",
    "identity_digest",
    "idempotency_digest",
    "request_digest",
    "forgotten_at",
}


def forget_intake(ledger: Ledger, intake_id: str, operator: str) -> int:
    """Delete what is kept of an intake but lane, profile, day and states, and erase its nodes and those of the set-ups
    that registered it; how many those were, with the edges at them.

    Counts stay as they were. May be repeated, and gives 0 then. Raises `IntakeUnknown`.
    """
    with ledger.read() as reader:
        if reader.row("intake_forgotten", intake_id=intake_id) is not None:
            return 0
    with ledger.transaction() as tx:
        known_intake(tx, intake_id)
        tx.run("intake_forget_contact", intake_id=intake_id)
        tx.run("intake_forget_steps", intake_id=intake_id)
        tx.run("intake_forget_links", intake_id=intake_id)
        setups = [session_key(row["session_id"]) for row in sessions_of_intake(tx, intake_id)]
        forget_sessions_of_intake(tx, intake_id)
        tx.run("intake_forget", intake_id=intake_id, forgotten_at=utc_text(tx.now()))
        tx.changed(INTAKE_CHANGED, intake_id)
        told = [node_id for setup in setups for node_id in setup_node_ids(setup)]
        erased = forget_nodes(tx, [*node_ids(graph_key(intake_id)), *told], operator)
    ledger.scrub()
    return erased
