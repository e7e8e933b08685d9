"""Serves the rights of an intake's sender: an operator can export or erase all stored data, and the sender can erase it
with the token from the registration's response."""

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
    """Returns the newest intakes by column name, without contact or person data."""
    return reader.rows("intake_list", most=most)


def export_intake(reader: Reader, intake_id: str) -> dict[str, Any]:
    """Returns everything that is stored about an intake, including contact data. Raises `IntakeUnknown`."""
    known_intake(reader, intake_id)
    row = reader.row("intake_one", intake_id=intake_id)
    assert row is not None, "it was just there"
    public = {name: value for name, value in row.items() if name not in _INTERNAL}
    details = json.loads(row["details_json"])
    return {
        **public,
        "details": details,
        "unverified": unverified_fields(details, row["consent_version"]),
        "person": json.loads(row["person_json"]),
        "steps": reader.rows("intake_steps_of", intake_id=intake_id),
        "sessions": sessions_of_intake(reader, intake_id),
        "same_identity": [linked["intake_id"] for linked in reader.rows("intake_linked_to", intake_id=intake_id)],
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
"""The name under which the audit records an erasure by the holder of the token."""


def erase_intake(ledger: Ledger, pepper: bytes, intake_id: str, token: str) -> None:
    """Erases an intake with its token. Erasing it again changes nothing.

    Raises the same `IntakeNotFound` for an unknown id and for a wrong token.
    """
    if not hmac.compare_digest(erase_token(pepper, intake_id).encode(), token.encode()):
        raise IntakeNotFound(
            "No intake has this id and this erase token: send both as the registration returned them, or ask the "
            "operator to erase it."
        )
    # The token is right, so an unknown intake was erased before.
    with suppress(IntakeUnknown):
        forget_intake(ledger, intake_id, SENDER)


def forget_intake(ledger: Ledger, intake_id: str, operator: str) -> int:
    """Deletes all data of an intake except lane, profile, day and states, and erases its nodes and those of the set-ups
    that registered it. Returns the number of erased nodes and edges.

    Counts stay unchanged. A repetition returns 0. Raises `IntakeUnknown`.
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
        setup_nodes = [node_id for setup in setups for node_id in setup_node_ids(setup)]
        erased = forget_nodes(tx, [*node_ids(graph_key(intake_id)), *setup_nodes], operator)
    ledger.scrub()
    return erased
