"""Alembic runs this file. It migrates inside the transaction that `warehouse.ledger.schema` opened and locked."""

from alembic import context

context.configure(connection=context.config.attributes["connection"])
context.run_migrations()
