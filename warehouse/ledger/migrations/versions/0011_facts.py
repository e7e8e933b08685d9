"""Adds the standing of keys and the times at which states become due, and compares the subjects of facts folded."""

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
    """The part of a stored state that the new columns follow from."""

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
    """Finds facts by their folded subject from now on. Facts that held beside one another go on to hold."""
    for row_id, _, state in _states(connection, "world_nodes", "fact_key is not null"):
        key = fact_key(load_ontology(), state.owner, state.properties)
        if key is not None:
            connection.execute(
                text("update world_nodes set fact_key = :key where id = :id"), {"key": key, "id": row_id}
            )


def _find_due(connection: Connection, table: str) -> None:
    """Plans what a stated time will change. What began to hold later than it was recorded stays as it is until then."""
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
