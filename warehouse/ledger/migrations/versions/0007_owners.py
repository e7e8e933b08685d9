"""Makes the payer the owner of a key, until the operator that the quote names has signed."""

from alembic import op

from warehouse.ledger.schema import run_sql

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    run_sql(op, "0007_owners")
