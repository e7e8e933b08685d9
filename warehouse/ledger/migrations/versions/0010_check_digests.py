"""Gives logged checks a digest and their effects in words, by which a person sees what they approve, and drops two
columns that nothing fills. On SQLite the log is a file of its own, which is changed when it is opened."""

from alembic import op

from warehouse.ledger.schema import run_sql

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    if op.get_context().dialect.name == "postgresql":
        run_sql(op, "0010_check_digests")
