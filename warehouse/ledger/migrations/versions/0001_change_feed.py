"""Creates the ledger's identity and the change feed."""

from alembic import op

from warehouse.ledger.schema import run_sql

revision = "0001"
down_revision = None


def upgrade() -> None:
    run_sql(op, "0001_change_feed")
