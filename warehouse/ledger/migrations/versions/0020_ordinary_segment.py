"""Moves the last event of each batch, and edges from nodes that are not under their owner's name, into the ordinary
segment: only there does SQLite index the times of events and the edges of an owner."""

from alembic import op
from sqlalchemy import text

from contracts.world.identity import own_id
from warehouse.ledger.schema import run_sql

revision = "0020"
down_revision = "0019"

_LAST_OF_BATCHES = """
update world_events set segment = 0
where seq in (select max(seq) from world_events where segment <> 0 group by decision_seq)
"""
_FROM_ELSEWHERE = """
update world_edges set segment = 0
where segment <> 0 and owner = :owner and substr(source, 1, :length) <> :prefix
"""


def upgrade() -> None:
    connection = op.get_bind()
    connection.execute(text(_LAST_OF_BATCHES))
    for owner in connection.execute(text("select distinct owner from world_edges where segment <> 0")).scalars().all():
        prefix = own_id(owner, "")
        connection.execute(text(_FROM_ELSEWHERE), {"owner": owner, "length": len(prefix), "prefix": prefix})
    if connection.dialect.name == "sqlite":
        run_sql(op, "0020_ordinary_segment_sqlite")
