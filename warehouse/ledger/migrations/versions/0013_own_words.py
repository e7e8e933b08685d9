"""Adds the ontologies and erasures of owners, and a key by which every statement about a subject is found."""

from typing import Any

import msgspec
from alembic import op
from sqlalchemy import text

from contracts.world.identity import statement_key
from warehouse.ledger.schema import run_sql

revision = "0013"
down_revision = "0012"

PAGE = 5_000


class _State(msgspec.Struct):
    """The fields of a stored node from which its key is computed."""

    owner: str | None = None
    properties: dict[str, Any] = {}


_state = msgspec.json.Decoder(_State).decode


def upgrade() -> None:
    run_sql(op, "0013_own_words")
    connection = op.get_bind()
    last = ""
    while True:
        page = connection.execute(
            text(
                "select id, body from world_nodes where id > :last and fact_key is null and body like :like "
                "order by id limit :page"
            ),
            {"last": last, "like": '%"predicate":%', "page": PAGE},
        ).fetchall()
        for row_id, body in page:
            state = _state(body)
            if (key := statement_key(state.owner, state.properties)) is not None:
                connection.execute(
                    text("update world_nodes set fact_key = :key where id = :id"), {"key": key, "id": row_id}
                )
        if len(page) < PAGE:
            return
        last = page[-1][0]
