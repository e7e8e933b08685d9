"""Adds the standing of keys and the times at which states become due, and compares subjects of facts in folded form."""

from collections.abc import Iterator
from typing import Any

import msgspec
from alembic import op
from sqlalchemy import Connection, text

from contracts.world.identity import fact_key
from contracts.world.ontology import load_ontology
from warehouse.ledger.schema import run_sql

revision = "0011"
down_revision = "0010"

PAGE = 5_000


class _State(msgspec.Struct, rename="camel"):
    """The fields of a stored state from which the new columns are computed."""

    owner: str | None = None
    properties: dict[str, Any] = {}
    valid_from: str = ""
    valid_to: str | None = None
    recorded_at: str = ""
    erased: bool = False


_state = msgspec.json.Decoder(_State).decode


def upgrade() -> None:
    run_sql(op, "0011_facts")
    connection = op.get_bind()
    _fold_subjects(connection)
    for table in ("world_nodes", "world_edges"):
        _find_due(connection, table)


def _fold_subjects(connection: Connection) -> None:
    """Recomputes the keys of facts from their folded subjects. Facts that were valid side by side stay valid."""
    for row_id, _, state in _states(connection, "world_nodes", "fact_key is not null"):
        key = fact_key(load_ontology(), state.owner, state.properties)
        if key is not None:
            connection.execute(
                text("update world_nodes set fact_key = :key where id = :id"), {"key": key, "id": row_id}
            )


def _find_due(connection: Connection, table: str) -> None:
    """Sets the times at which live states become due by their stated validity. A state that becomes valid after it was
    recorded stays unchanged until then."""
    for row_id, live, state in _states(connection, table, "live = 1"):
        if state.erased or not state.recorded_at:
            continue
        later = [time for time in (state.valid_from, state.valid_to) if time is not None and time > state.recorded_at]
        if later and live:
            statement = text(f"update {table} set due = :due where id = :id")  # noqa: S608 - one of two literals
            connection.execute(statement, {"due": min(later), "id": row_id})


def _states(connection: Connection, table: str, condition: str) -> Iterator[tuple[str, int, _State]]:
    last = ""
    while True:
        page = connection.execute(
            text(f"select id, live, body from {table} where id > :last and {condition} order by id limit {PAGE}"),  # noqa: S608
            {"last": last},
        ).fetchall()
        for row_id, live, body in page:
            yield row_id, live, _state(body)
        if len(page) < PAGE:
            return
        last = page[-1][0]
