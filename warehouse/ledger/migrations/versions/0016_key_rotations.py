"""Creates the tables of rotations and revocations that keys request, and indexes for key families and days of use."""

from alembic import op

from warehouse.ledger.schema import run_sql

revision = "0016"
down_revision = "0015"


def upgrade() -> None:
    run_sql(op, "0016_key_rotations")
