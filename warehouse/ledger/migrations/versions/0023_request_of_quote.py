"""Scopes the Idempotency-Keys of claims to the quote: a payer may send the same one with claims of two quotes."""

from alembic import op

from warehouse.ledger.schema import run_sql

revision = "0023"
down_revision = "0022"


def upgrade() -> None:
    run_sql(op, "0023_request_of_quote")
