"""Creates the tables of API keys and their use."""

from alembic import op

from warehouse.ledger.schema import run_sql

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    run_sql(op, "0002_keys")
