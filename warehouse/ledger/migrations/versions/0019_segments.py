"""Divides the indexes of random keys into segments, of which a large import writes the last."""

from alembic import op

from warehouse.ledger.schema import run_sql

revision = "0019"
down_revision = "0018"


def upgrade() -> None:
    run_sql(op, "0019_segments")
    if op.get_bind().dialect.name == "sqlite":
        run_sql(op, "0019_segmented_indexes_sqlite")
