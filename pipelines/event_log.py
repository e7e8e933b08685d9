"""Keeps Dagster's event log in SQLite open between events."""

from collections import OrderedDict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Self

from dagster._core.storage.event_log import SqliteEventLogStorage
from dagster._core.storage.sql import create_engine
from dagster._core.storage.sqlite import SQLITE_BUSY_TIMEOUT_SECONDS
from dagster._serdes import ConfigurableClassData

from warehouse.file_modes import keep_files_private

KEPT_OPEN = 4
"""Cached databases: the index of all runs, the current run, and one that somebody looks at."""


class OpenEventLog(SqliteEventLogStorage):
    """Dagster's event log, which otherwise makes engines and opens files five times for each of hundreds of events.

    That took a third of a run's CPU. A commit is not synced to the disk, so a power failure may lose the newest events:
    they are a diary, not data.
    """

    def __init__(self, base_dir: str, inst_data: ConfigurableClassData | None = None) -> None:
        keep_files_private()  # every process of Dagster opens this, also one that an operator started
        self._engines: OrderedDict[str, Any] = OrderedDict()
        super().__init__(base_dir, inst_data)

    @classmethod
    def from_config_value(cls, inst_data: ConfigurableClassData | None, config_value: Mapping[str, Any]) -> Self:
        return cls(inst_data=inst_data, **config_value)

    @contextmanager
    def _connect(self, shard: str) -> Iterator[Any]:
        with self._db_lock, self._engine(shard).begin() as connection:
            yield connection

    def dispose(self) -> None:
        super().dispose()
        with self._db_lock:
            while self._engines:
                self._engines.popitem()[1].dispose()

    def _engine(self, shard: str) -> Any:
        if shard not in self._engines:
            self._engines[shard] = self._new_engine(shard)
        self._engines.move_to_end(shard)
        while len(self._engines) > KEPT_OPEN:
            self._engines.popitem(last=False)[1].dispose()
        return self._engines[shard]

    def _new_engine(self, shard: str) -> Any:
        patience = {"timeout": SQLITE_BUSY_TIMEOUT_SECONDS}
        engine = create_engine(self.conn_string_for_shard(shard), pool_size=1, connect_args=patience)
        if shard not in self._initialized_dbs:
            self._initdb(engine)
            self._initialized_dbs.add(shard)
            engine.dispose()  # it took two connections, and one is kept
        with engine.connect() as connection:
            connection.exec_driver_sql("pragma synchronous = normal")
        return engine
