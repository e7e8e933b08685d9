"""Adds the tables of imports, and the indexes with which exports read an owner's graph in the order of ids."""

from alembic import op

from warehouse.ledger.schema import run_sql

revision = "0012"
down_revision = "0011"


def upgrade() -> None:
    run_sql(op, "0012_imports")
    # Ids are compared as bytes, whatever the database's collation is.
    collate = ' collate "C"' if op.get_context().dialect.name == "postgresql" else ""
    op.execute(f"create index world_nodes_by_owner_and_id on world_nodes (owner, id{collate})")
    op.execute(f"create index world_edges_by_owner_and_ends on world_edges (owner, source{collate}, type{collate})")
