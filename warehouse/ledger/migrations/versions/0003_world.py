"""Creates the tables of the graph's events, decisions and pending proposals."""

from alembic import op

from warehouse.ledger.schema import run_sql

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    run_sql(op, "0003_world")
