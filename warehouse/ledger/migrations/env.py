"""Alembic runs this file. It migrates within the transaction that `warehouse.ledger.schema` opened and locked."""

from alembic import context

context.configure(connection=context.config.attributes["connection"])
context.run_migrations()
