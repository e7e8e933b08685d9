"""Stores Dagster's records of runs and ticks in SQLite, each with a single engine.

Dagster's own classes create an engine for every query, whose closing checkpoints SQLite's log, and look for migrations
whenever an instance is opened, which each evaluation of a schedule does.
"""

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any, Self

from dagster._core.storage.runs import SqliteRunStorage
from dagster._core.storage.schedules import SqliteScheduleStorage
from dagster._core.storage.sql import create_engine
from dagster._core.storage.sqlite import SQLITE_BUSY_TIMEOUT_SECONDS, create_db_conn_string
from dagster._serdes import ConfigurableClassData

from warehouse.file_modes import keep_files_private

_PREPARED: set[str] = set()
"""The databases whose tables this process has created or checked."""


class _Unsynced(sqlite3.Connection):
    """A connection whose commits are not synced to disk: a power failure may lose records, on which no data depends."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.execute("pragma synchronous = normal")


class _OneEngine:
    """A storage that uses one engine until it is disposed of."""

    _conn_string: str

    @contextmanager
    def connect(self) -> Iterator[Any]:
        with self._engine.begin() as connection:
            yield connection

    def dispose(self) -> None:
        if "_engine" in self.__dict__:
            self._engine.dispose()
            del self._engine

    @cached_property
    def _engine(self) -> Any:
        options = {"timeout": SQLITE_BUSY_TIMEOUT_SECONDS, "factory": _Unsynced}
        return create_engine(self._conn_string, connect_args=options)


class OneEngineRuns(_OneEngine, SqliteRunStorage):
    """Dagster's records of runs."""

    @classmethod
    def from_config_value(cls, inst_data: ConfigurableClassData | None, config_value: Mapping[str, Any]) -> Self:
        opened: Self = _opened(cls, "runs", inst_data, **config_value)
        return opened


class OneEngineTicks(_OneEngine, SqliteScheduleStorage):
    """Dagster's records of schedules and their ticks."""

    @classmethod
    def from_config_value(cls, inst_data: ConfigurableClassData | None, config_value: Mapping[str, Any]) -> Self:
        opened: Self = _opened(cls, "schedules", inst_data, **config_value)
        return opened


def _opened(storage: Any, name: str, inst_data: ConfigurableClassData | None, base_dir: str) -> Any:
    """Opens a storage. Dagster creates its tables unless this process has checked them before."""
    keep_files_private()  # every Dagster process opens this, including one that an operator started
    place = create_db_conn_string(base_dir, name)
    if place in _PREPARED and (Path(base_dir) / f"{name}.db").is_file():
        return storage(place, inst_data)
    opened = storage.from_local(base_dir, inst_data)
    _PREPARED.add(place)
    return opened
