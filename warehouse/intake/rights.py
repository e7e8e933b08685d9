"""The rights of the sender of an intake: an operator shows everything that is kept or forgets it, and the sender erases
it with the token of the registration's answer.
"""

from __future__ import annotations

import hmac
import json
from contextlib import suppress
from typing import Any

from contracts.connect.anonymised import session_key
from contracts.connect.graph import node_ids as setup_node_ids
from contracts.intake.graph import node_ids
from contracts.intake.intake_problems import IntakeNotFound, IntakeUnknown
from contracts.intake.requests import unverified_fields
from warehouse.connect.sessions import forget_sessions_of_intake, sessions_of_intake
from warehouse.intake.intakes import INTAKE_CHANGED, erase_token, graph_key, known_intake
from warehouse.ledger.ledger import Ledger, Reader, Row, utc_text
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
    details = json.loads(row["details_json"])
    return {
        **kept,
        "details": details,
        "unverified": unverified_fields(details, row["consent_version"]),
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


SENDER = "sender"
"""Who erased, as the audit names it, where it was the holder of the token."""


def erase_intake(ledger: Ledger, pepper: bytes, intake_id: str, token: str) -> None:
    """Erase an intake with its token. Erasing it again changes nothing.

    Raises `IntakeNotFound`, the same for an unknown id and a wrong token.
    """
    if not hmac.compare_digest(erase_token(pepper, intake_id).encode(), token.encode()):
        raise IntakeNotFound(
            "No intake has this id and this erase token: send both as the registration answered them, or ask the "
            "operator to erase it."
        )
    # its token is right, so an intake that is unknown was erased before
    with suppress(IntakeUnknown):
        forget_intake(ledger, intake_id, SENDER)


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
