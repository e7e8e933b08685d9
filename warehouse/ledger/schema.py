"""Checks the ledger's schema revision, and migrates a database to the newest one exactly once, even if processes start
together."""

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
"""Key of the PostgreSQL advisory lock under which one process migrates: an arbitrary number that nobody else uses."""


@cache
def revisions() -> tuple[str, ...]:
    """Returns every revision that this code knows, oldest first: `0001`, `0002`, ..."""
    return tuple(sorted(file.name[:4] for file in (MIGRATIONS / "versions").glob("[0-9]*.py")))


def migrate(engine: Engine, store: str, finish: Callable[[Connection], None]) -> None:
    """Migrates the schema to the newest revision in one transaction, whose last step is `finish`.

    Raises `StoreTooNew`, having changed nothing.
    """
    with engine.connect() as connection:
        if _is_current(connection, store):
            return
    with engine.connect().execution_options(**{WRITES: True}) as connection, connection.begin():
        if connection.dialect.name == "postgresql":
            connection.execute(text("select pg_advisory_xact_lock(:key)"), {"key": _MIGRATION_LOCK})
            if inspect(connection).has_table("ledger_head"):
                # Every writer takes this lock first. Taking it here ensures that no writer holds it while waiting for a
                # table that is changed below.
                connection.execute(text("select seq from ledger_head for update"))
        _upgrade(connection)
        finish(connection)


class Operations(Protocol):
    """The subset of `alembic.op` that migrations use."""

    def execute(self, sqltext: str, /) -> None: ...


def run_sql(op: Operations, name: str) -> None:
    """Executes the statements of `migrations/sql/<name>.sql`, which end with a semicolon at the end of a line."""
    for statement in without_comments((MIGRATIONS / "sql" / f"{name}.sql").read_text()).split(";\n"):
        if statement.strip():
            op.execute(statement)


def _is_current(connection: Connection, store: str) -> bool:
    if not inspect(connection).has_table("alembic_version"):
        return False
    revision = connection.execute(text("select version_num from alembic_version")).scalar()
    if revision is not None and revision not in revisions():
        raise StoreTooNew(
            f"{store} has schema revision {revision}; this version knows up to {revisions()[-1]}.",
            cure="Run the version that wrote it, or a later one.",
        )
    return bool(revision == revisions()[-1])


def _upgrade(connection: Connection) -> None:
    """Runs the missing migrations. Does nothing if another process was faster."""
    # Imported here because it would add 0.2 s to every start, and is needed once.
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    config.attributes["connection"] = connection
    command.upgrade(config, "head")
