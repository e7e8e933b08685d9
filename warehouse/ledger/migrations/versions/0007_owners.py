"""The address that paid owns a key, and the operator that a quote names once it has signed."""

from alembic import op

from warehouse.ledger.schema import run_sql

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    run_sql(op, "0007_owners")
