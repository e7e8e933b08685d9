"""Keeps one idle instance of DuckDB, to which one file after another is attached.

Making an instance takes 18 ms of CPU, since it registers every function that there is. A file that was detached is
closed: other processes may open it.
"""

import atexit
import os

import duckdb

QUERY_THREADS = max(2, os.cpu_count() or 2)
"""Threads of queries; statements that cost less with one set that and come back to this."""

_idle: dict[int, duckdb.DuckDBPyConnection] = {}
"""The idle instance, by the process: a forked one lacks the threads of its parent's."""


def take_instance() -> duckdb.DuckDBPyConnection:
    """Returns an instance without files, which nobody else uses."""
    idle = _idle.pop(os.getpid(), None)
    return duckdb.connect(config={"threads": QUERY_THREADS}) if idle is None else idle


def give_back(connection: duckdb.DuckDBPyConnection, attached: str) -> None:
    """Detaches the file of that name and keeps the instance, or closes it where one is kept already.

    An instance that failed, or that a thread may still use, is to be closed instead.
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
