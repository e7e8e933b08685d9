"""Adds a digest and the effects in words to logged checks, which show a person what they approve, and drops two columns
that nothing fills. On SQLite the log is a separate file, which is updated when it is opened."""

from alembic import op

from warehouse.ledger.schema import run_sql

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    if op.get_context().dialect.name == "postgresql":
        run_sql(op, "0010_check_digests")
