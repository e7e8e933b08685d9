"""Creates the tables of payments by signature: authorizations, the relayer's nonces, and its signed transactions."""

from alembic import op

from warehouse.ledger.schema import run_sql

revision = "0014"
down_revision = "0013"


def upgrade() -> None:
    run_sql(op, "0014_authorizations")
