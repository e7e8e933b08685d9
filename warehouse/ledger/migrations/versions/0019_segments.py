"""Divides the indexes of random keys into segments; a large import writes only to the last one."""

from alembic import op

from warehouse.ledger.schema import run_sql

revision = "0019"
down_revision = "0018"


def upgrade() -> None:
    run_sql(op, "0019_segments")
    if op.get_bind().dialect.name == "sqlite":
        run_sql(op, "0019_segmented_indexes_sqlite")
