"""Stores what the edges of an import have in common only once, instead of a complete state for each edge."""

from alembic import op

from warehouse.ledger.schema import run_sql

revision = "0022"
down_revision = "0021"


def upgrade() -> None:
    run_sql(op, "0022_edge_forms")
    run_sql(op, f"0022_edges_with_form_{op.get_bind().dialect.name}")
