"""Keeps one idle instance of DuckDB for reuse, to which one file after another is attached.

Creating an instance takes 18 ms of CPU time, since it registers every function. A detached file is closed, so other
processes may open it.
"""

import atexit
import os

import duckdb

QUERY_THREADS = max(2, os.cpu_count() or 2)
"""Number of threads for queries. Statements that cost less with one thread set that, and restore this number after."""

_idle: dict[int, duckdb.DuckDBPyConnection] = {}
"""The idle instance by process id: in a forked process, the parent's instance would lack its threads."""


def take_instance() -> duckdb.DuckDBPyConnection:
    """Returns a private instance to which no file is attached."""
    idle = _idle.pop(os.getpid(), None)
    return duckdb.connect(config={"threads": QUERY_THREADS}) if idle is None else idle


def give_back(connection: duckdb.DuckDBPyConnection, attached: str) -> None:
    """Detaches the database named `attached` and keeps the instance for reuse, or closes it if one is kept already.

    Close an instance that failed, or that a thread may still use, instead of giving it back.
    """
    try:
        connection.execute(f"use memory; detach {attached}")
        kept = _idle.setdefault(os.getpid(), connection) is connection
    except BaseException:
        kept = False
        raise
    finally:
        if not kept:
            connection.close()


@atexit.register
def _close_idle() -> None:
    idle = _idle.pop(os.getpid(), None)
    if idle is not None:
        idle.close()
