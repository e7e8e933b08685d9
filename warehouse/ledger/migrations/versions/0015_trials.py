"""Creates the table of trial keys."""

from alembic import op

from warehouse.ledger.schema import run_sql

revision = "0015"
down_revision = "0014"


def upgrade() -> None:
    run_sql(op, "0015_trials")
