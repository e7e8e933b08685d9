"""Creates the tables of intakes, their senders and their steps."""

from alembic import op

from warehouse.ledger.schema import run_sql

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    run_sql(op, "0005_intake")
