"""Creates the tables of cases, supplementary quotes and every transfer that a claim uses."""

from alembic import op

from warehouse.ledger.schema import run_sql

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    run_sql(op, "0008_cases")
