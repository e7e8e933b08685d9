"""The ledger's schema: which revision a database is at, and bringing it to the newest, once, whoever starts first."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Protocol

from sqlalchemy import Connection, Engine, inspect, text

from contracts.errors import StoreTooNew
from warehouse.ledger.engine import WRITES
from warehouse.statements import without_comments

MIGRATIONS = Path(__file__).parent / "migrations"

_MIGRATION_LOCK = 0x6C6564676572
"""Key of the PostgreSQL advisory lock under which one process migrates; any number that nobody else uses."""


@cache
def revisions() -> tuple[str, ...]:
    """Every revision this code knows, oldest first: `0001`, `0002`, ..."""
    return tuple(sorted(file.name[:4] for file in (MIGRATIONS / "versions").glob("[0-9]*.py")))


def migrate(engine: Engine, store: str, finish: Callable[[Connection], None]) -> None:
    """Bring the schema to the newest revision in one transaction, of which `finish` does the last step.

    Raises `StoreTooNew`, having changed nothing.
    """
    with engine.connect() as connection:
        if _is_current(connection, store):
            return
    with engine.connect().execution_options(**{WRITES: True}) as connection, connection.begin():
        if connection.dialect.name == "postgresql":
            connection.execute(text("select pg_advisory_xact_lock(:key)"), {"key": _MIGRATION_LOCK})
            if inspect(connection).has_table("ledger_head"):
                # as every writer does first, so that none holds it and waits for a table that changes here
                connection.execute(text("select seq from ledger_head for update"))
        _upgrade(connection)
        finish(connection)


class Operations(Protocol):
    """The part of `alembic.op` that a migration uses."""

    def execute(self, sqltext: str, /) -> None: ...


def run_sql(op: Operations, name: str) -> None:
    """Execute the statements of `migrations/sql/<name>.sql`, which end with a semicolon at the end of a line."""
    for statement in without_comments((MIGRATIONS / "sql" / f"{name}.sql").read_text()).split(";\n"):
        if statement.strip():
            op.execute(statement)


def _is_current(connection: Connection, store: str) -> bool:
    if not inspect(connection).has_table("alembic_version"):
        return False
    held = connection.execute(text("select version_num from alembic_version")).scalar()
    if held is not None and held not in revisions():
        raise StoreTooNew(
            f"{store} has schema revision {held}; this version knows up to {revisions()[-1]}.",
            cure="Run the version that wrote it, or a later one.",
        )
    return bool(held == revisions()[-1])


def _upgrade(connection: Connection) -> None:
    """Run what is missing; nothing where another process was faster."""
    # only here, since it costs a service's start 0.2 s and is needed once
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    config.attributes["connection"] = connection
    command.upgrade(config, "head")
