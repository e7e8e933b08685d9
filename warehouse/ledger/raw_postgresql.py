"""One autocommit connection to PostgreSQL through the raw driver, for statements that every request waits for.

SQLAlchemy would add some 200 us per statement to the cost of the driver.
"""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import psycopg
from sqlalchemy import URL

from warehouse.ledger.drivers import CONNECT_ARGUMENTS, driver_statement, problem_of
from warehouse.ledger.raw_store import Steps

T = TypeVar("T")


class RawPostgresql:
    """Runs the statements of some files, each in its own transaction. Threads may share it.

    `name` is the store's name in errors; `lock` is the key of the advisory lock under which it is written.
    """

    def __init__(
        self,
        url: URL,
        name: str,
        wait_s: float,
        statements: tuple[Path, ...],
        lock: int = 0,
        *,
        waits_for_disk: bool = True,
    ) -> None:
        self._name = name
        self._waits_for_disk = waits_for_disk
        self._advisory_lock = lock
        self._address = url.set(drivername="postgresql").render_as_string(hide_password=False)
        self._wait_s = wait_s
        self._statements = statements
        self._lock = threading.Lock()
        try:
            self._connection = self._connect()
        except psycopg.Error as error:
            raise (problem_of(name, error) or error) from error

    def set_up(self, step: str) -> None:
        """Runs a step under an advisory lock, so that processes that start together don't collide."""
        try:
            with self._connection.transaction():
                self._connection.execute("select pg_advisory_xact_lock(%s)", [self._advisory_lock])
                self._connection.execute(driver_statement(self._statements, step, "postgresql"))
        except psycopg.Error as error:
            self._connection.close()
            raise (problem_of(self._name, error) or error) from error

    def fetch(self, question: str, parameters: dict[str, Any]) -> tuple[Any, ...] | None:
        """Returns the statement's only row, or None. Retries once if the connection was lost meanwhile.

        Raises `StoreBusy` or `StoreUnusable`.
        """
        return self._connected(lambda: self._fetch(question, parameters))

    def fetch_all(self, question: str, parameters: dict[str, Any]) -> list[tuple[Any, ...]]:
        """Returns all rows of a statement. Raises what `fetch` raises."""
        return self._connected(lambda: self._execute(question, parameters).fetchall())

    def write(self, steps: Steps) -> None:
        """Executes the steps in one transaction, one at a time over all processes. Raises what `fetch` raises."""

        def write_all() -> None:
            with self._connection.transaction(), self._connection.cursor() as cursor:
                cursor.execute("select pg_advisory_xact_lock(%s)", [self._advisory_lock])
                for step, rows in steps:
                    cursor.executemany(driver_statement(self._statements, step, "postgresql").encode(), rows)

        self._connected(write_all)

    def scrub(self) -> None:
        """Rewrites the table by the step `rewrite`. Raises what `fetch` raises."""
        self.fetch("rewrite", {})

    def close(self) -> None:
        self._connection.close()

    def _connect(self) -> psycopg.Connection[tuple[Any, ...]]:
        connection = psycopg.connect(self._address, autocommit=True, prepare_threshold=0, **CONNECT_ARGUMENTS)
        connection.execute(f"set lock_timeout = {round(self._wait_s * 1000)}".encode())
        if not self._waits_for_disk:
            connection.execute("set synchronous_commit = off")
        return connection

    def _connected(self, ask: Callable[[], T]) -> T:
        """Returns the result of `ask`; calls it once more if the connection was lost meanwhile."""
        with self._lock:
            try:
                try:
                    return ask()
                except psycopg.Error:
                    if not self._connection.closed:
                        raise
                self._connection = self._connect()
                return ask()
            except psycopg.Error as error:
                raise (problem_of(self._name, error) or error) from error

    def _execute(self, question: str, parameters: dict[str, Any]) -> psycopg.Cursor[tuple[Any, ...]]:
        statement = driver_statement(self._statements, question, "postgresql")
        return self._connection.execute(statement.encode(), parameters)

    def _fetch(self, question: str, parameters: dict[str, Any]) -> tuple[Any, ...] | None:
        cursor = self._execute(question, parameters)
        return cursor.fetchone() if cursor.description else None
