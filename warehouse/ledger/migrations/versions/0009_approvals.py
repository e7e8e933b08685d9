"""Creates the table of used approvals, and gives keys a role."""

from alembic import op

from warehouse.ledger.schema import run_sql

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    run_sql(op, "0009_approvals")
