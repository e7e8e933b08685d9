"""Creates the table of rotations that keys ask for themselves, and indexes for families of keys and days of use."""

from alembic import op

from warehouse.ledger.schema import run_sql

revision = "0016"
down_revision = "0015"


def upgrade() -> None:
    run_sql(op, "0016_key_rotations")
