"""Creates the table of the graphs that connect sessions have opened by a key or a signature."""

from alembic import op

from warehouse.ledger.schema import run_sql

revision = "0017"
down_revision = "0016"


def upgrade() -> None:
    run_sql(op, "0017_session_graphs")
