"""Creates the tables of quotes, claims, receipts and unmatched payments."""

from alembic import op

from warehouse.ledger.schema import run_sql

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    run_sql(op, "0004_access")
