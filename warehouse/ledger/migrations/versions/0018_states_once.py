"""Stores the state of an edge only once, in its event, and makes seq the only key of the tables with very many rows."""

from alembic import op

from warehouse.ledger.schema import run_sql

revision = "0018"
down_revision = "0017"


def upgrade() -> None:
    run_sql(op, f"0018_states_once_{op.get_bind().dialect.name}")
