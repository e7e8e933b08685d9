"""Stores Dagster's event log: the events of all runs in one SQLite file, which stays open between them."""

import logging
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from threading import RLock
from typing import Any, Self

import dagster as dg
from dagster._core.event_api import EventLogRecord
from dagster._core.events import ASSET_CHECK_EVENTS, ASSET_EVENTS
from dagster._core.execution.plan.outputs import StepOutputData
from dagster._core.storage.event_log import SqlEventLogStorage, SqliteEventLogStorage, SqlPollingEventWatcher
from dagster._core.storage.event_log.base import AssetRecord
from dagster._core.storage.event_log.schema import (
    AssetCheckExecutionsTable,
    AssetKeyTable,
    SqlEventLogStorageTable,
)
from dagster._core.storage.event_log.sqlite.sqlite_event_log import INDEX_SHARD_NAME
from dagster._core.storage.sql import create_engine
from dagster._core.storage.sqlite import SQLITE_BUSY_TIMEOUT_SECONDS
from dagster._record import replace
from dagster._serdes import ConfigurableClassData, deserialize_value

from warehouse.file_modes import keep_files_private

_log = logging.getLogger(__name__)

RUN_ENDS = frozenset(
    {dg.DagsterEventType.RUN_SUCCESS, dg.DagsterEventType.RUN_FAILURE, dg.DagsterEventType.RUN_CANCELED}
)
"""The events after which a planned check can't get a verdict any more."""

_PLANNED = dg.DagsterEventType.ASSET_CHECK_EVALUATION_PLANNED

_EVENTS, _CHECKS = SqlEventLogStorageTable.c, AssetCheckExecutionsTable.c

WAITING = frozenset(
    {
        dg.DagsterEventType.LOADED_INPUT,
        dg.DagsterEventType.STEP_INPUT,
        dg.DagsterEventType.HANDLED_OUTPUT,
        dg.DagsterEventType.STEP_OUTPUT,
        dg.DagsterEventType.ASSET_MATERIALIZATION,
        dg.DagsterEventType.ASSET_CHECK_EVALUATION,
        dg.DagsterEventType.STEP_SUCCESS,
    }
)
"""The events at the end of a step, in quick succession. Each is stored together with the event after it."""

UNTOLD = frozenset({dg.DagsterEventType.HOOK_SKIPPED, dg.DagsterEventType.LOGS_CAPTURED})
"""Events without information here: each step of the chain job skips its hook, and no output is captured."""


RECORD = '{{"__class__": "EventLogRecord", "event_log_entry": {event}, "storage_id": {storage_id}}}'
"""Dagster's serialized form of an event with its id, built from the event's text."""


def lean(event: dg.EventLogEntry) -> dg.EventLogEntry | None:
    """Returns an event without content that another event or its own fields repeat, or None if it has no information.
    Pure.

    An output repeats all metadata of its asset's materialization, including pictures; outputs of ops have none.
    """
    told = event.dagster_event
    if told is None:
        return event
    if told.event_type in UNTOLD:
        return None
    if isinstance(told.event_specific_data, StepOutputData):
        told = told._replace(event_specific_data=told.event_specific_data._replace(metadata={}))
    message = event.user_message if told.message is None else ""
    return event._replace(user_message=message, dagster_event=told._replace(logging_tags={}))


def _stored(value: Any) -> Any:
    """Converts a time in UTC to the text that Dagster stores; other values stay unchanged."""
    return value.replace(tzinfo=None).isoformat(" ", "microseconds") if isinstance(value, datetime) else value


class OneFileEventLog(SqliteEventLogStorage):
    """Dagster's event log, in the file to which its default storage mirrors the events of assets.

    The default creates a database for each run and never deletes it, stores events of assets and checks twice, and
    opens its files five times for each of hundreds of events: that took a third of a run's CPU time. Here the events of
    a step are one transaction. A commit is not synced to disk, so a power failure may lose the newest events, and a
    kill those of the step that is ending: they are only a log, and no data depends on them.

    A check keeps its last verdict during a run that will judge it again. If the run ends without a new verdict, the
    check shows that, as usual in Dagster.
    """

    def __init__(self, base_dir: str, inst_data: ConfigurableClassData | None = None) -> None:
        keep_files_private()  # every Dagster process opens this, including one that an operator started
        self._lock = RLock()
        self._engine: Any = None
        self._transaction: Any = None
        self._tables: set[str] = set()
        self._waiting: list[dg.EventLogEntry] = []
        self._records: dict[dg.AssetKey, AssetRecord | None] = {}
        self._records_at: Any = None
        self._last_records: dict[str, tuple[str | None, Any]] = {}
        self._watcher = SqlPollingEventWatcher(self)
        super().__init__(base_dir, inst_data)

    @classmethod
    def from_config_value(cls, inst_data: ConfigurableClassData | None, config_value: Mapping[str, Any]) -> Self:
        return cls(inst_data=inst_data, **config_value)

    @property
    def is_run_sharded(self) -> bool:
        return False

    def store_event(self, event: dg.EventLogEntry) -> None:
        """Stores an event, or lets it wait for the next one. Reads through this object see both."""
        kept = lean(event)
        if kept is None:
            return
        with self._lock:
            self._waiting.append(kept)
            told = event.dagster_event
            if told is None or told.event_type not in WAITING:
                with self._connect(INDEX_SHARD_NAME) as connection:
                    if told is not None and told.event_type in RUN_ENDS:
                        self._show_unjudged_checks(connection, event.run_id)

    def store_event_batch(self, events: Sequence[dg.EventLogEntry]) -> None:
        with self._lock:
            self._waiting += [kept for event in events if (kept := lean(event)) is not None]
            with self._connect(INDEX_SHARD_NAME):
                pass

    def _store_waiting(self, connection: Any) -> None:
        """Stores the waiting events, in order. Dagster would store them one by one, each with several statements."""
        events, self._waiting = self._waiting, []
        if not events:
            return
        known = self._state(connection)
        first_row, *rows = made = [self._event_to_row(event) for event in events]
        # The first row takes the lock of the file, so the ids after its own are free.
        first_id = connection.execute(SqlEventLogStorageTable.insert().values(first_row)).inserted_primary_key[0]
        ids = range(first_id, first_id + len(events))
        if rows:
            connection.execute(
                SqlEventLogStorageTable.insert(),
                [{"id": event_id, **row} for event_id, row in zip(ids[1:], rows, strict=True)],
            )
        texts = [row["event"] for row in made]
        changed = self._store_assets(connection, zip(events, ids, texts, strict=True))
        for event, event_id in zip(events, ids, strict=True):
            if event.is_dagster_event and event.dagster_event_type in ASSET_CHECK_EVENTS:
                self.store_asset_check_event(event, event_id)
        if known == self._records_at:
            for key, columns in changed.items():
                self._remember(key, columns)
            self._records_at = self._state(connection)

    def _store_assets(
        self, connection: Any, stored: Iterable[tuple[dg.EventLogEntry, int, str]]
    ) -> dict[dg.AssetKey, dict[str, Any]]:
        """Stores what these events change about assets, and returns the columns by asset. `stored` has each event with
        its id and its text."""
        told: dict[dg.AssetKey, dict[str, Any]] = {}
        tagged: list[tuple[dg.EventLogEntry, int]] = []
        for event, event_id, text in stored:
            key = event.dagster_event.asset_key if event.dagster_event is not None else None
            if key is not None and event.dagster_event_type in ASSET_EVENTS:
                told[key] = told.get(key, {}) | self._told_of_asset(key, event, event_id, text)
                tagged.append((event, event_id))
        alike = defaultdict(list)
        for key, values in told.items():
            if values:
                alike[tuple(values)].append((key.to_string(), *map(_stored, values.values())))
        for columns, rows in alike.items():
            connection.exec_driver_sql(
                f"insert into asset_keys (asset_key, {', '.join(columns)}) values ({', '.join('?' * len(rows[0]))}) "  # noqa: S608
                f"on conflict (asset_key) do update set {', '.join(f'{name} = excluded.{name}' for name in columns)}",
                rows,
            )
        self._store_asset_event_tags(connection, [event for event, _ in tagged], [event_id for _, event_id in tagged])
        return told

    def _remember(self, key: dg.AssetKey, columns: Mapping[str, Any]) -> None:
        """Updates the cached record of an asset to what was stored, or drops it if it must be read again."""
        record = self._records.pop(key, None)
        if record is None or record.asset_entry.asset_details is not None or "last_run_id" not in columns:
            return
        changed: dict[str, Any] = {"last_run_id": columns["last_run_id"]}
        if "last_materialization" in columns:
            _, changed["last_materialization_record"] = self._last_records[key.to_string()]
        self._records[key] = replace(record, asset_entry=replace(record.asset_entry, **changed))

    def _told_of_asset(self, key: dg.AssetKey, event: dg.EventLogEntry, event_id: int, text: str) -> dict[str, Any]:
        """Returns the columns of an asset that an event changes. The record of a materialization is built from the text
        of its event, and cached: Dagster would serialize the event again for it, and parse it for the next step."""
        if event.dagster_event_type is not dg.DagsterEventType.ASSET_MATERIALIZATION:
            return self._get_asset_entry_values(event, event_id, True)
        record = RECORD.format(event=text, storage_id=event_id)
        self._last_records[key.to_string()] = (record, EventLogRecord(event_id, event))
        return {
            "last_materialization": record,
            "last_run_id": event.run_id,
            "last_materialization_timestamp": datetime.fromtimestamp(event.timestamp, UTC),
        }

    def get_asset_records(self, asset_keys: Sequence[dg.AssetKey] | None = None) -> Sequence[AssetRecord]:
        """Returns the records of assets; reads only those that were written since. Each step requests its inputs, and
        most steps have many in common."""
        if asset_keys is None:
            return super().get_asset_records()
        with self._connect(INDEX_SHARD_NAME) as connection:
            state = self._state(connection)
            if state != self._records_at:
                self._records.clear()
                self._records_at = state
            unknown = [key for key in asset_keys if key not in self._records]
            if unknown:
                read = super().get_asset_records(unknown)
                self._records |= dict.fromkeys(unknown) | {record.asset_entry.asset_key: record for record in read}
            found = [self._records[key] for key in dict.fromkeys(asset_keys)]
        return [record for record in found if record is not None]

    def _state(self, connection: Any) -> Any:
        """Returns a value that changes with each write to the file, by this process or another."""
        return tuple(connection.exec_driver_sql("select total_changes(), data_version from pragma_data_version").one())

    get_event_records = SqlEventLogStorage.get_event_records

    def delete_events(self, run_id: str) -> None:
        """Deletes the events of a run, and its verdicts except those that no later run has replaced; Dagster would keep
        all verdicts."""
        newer = AssetCheckExecutionsTable.alias()
        newer_of_the_check = newer.select().where(
            newer.c.asset_key == _CHECKS.asset_key, newer.c.check_name == _CHECKS.check_name, newer.c.id > _CHECKS.id
        )
        with self._connect(INDEX_SHARD_NAME) as connection:
            super().delete_events(run_id)
            connection.execute(
                AssetCheckExecutionsTable.delete().where(_CHECKS.run_id == run_id, newer_of_the_check.exists())
            )
        for path in Path(self._base_dir).glob(f"{run_id}.db*"):  # from a run that Dagster's default storage recorded
            path.unlink(missing_ok=True)

    def watch(self, run_id: str, cursor: str | None, callback: Any) -> None:
        """Reports a run's events to `callback`, by polling: the file changes at a checkpoint, not at each event."""
        self._watcher.watch_run(run_id, cursor, callback)

    def end_watch(self, run_id: str, handler: Any) -> None:
        self._watcher.unwatch_run(run_id, handler)

    def delete_freshness_before(self, moment: datetime) -> int:
        """Deletes events of changed freshness, which belong to no run, except the last one of each asset. Returns their
        number."""
        kind = dg.DagsterEventType.FRESHNESS_STATE_CHANGE.value
        before = _stored(moment.astimezone(UTC))
        with self._connect(INDEX_SHARD_NAME) as connection:
            deleted: int = connection.exec_driver_sql(
                "delete from event_logs where dagster_event_type = ? and timestamp < ? and id not in "
                "(select max(id) from event_logs where dagster_event_type = ? group by asset_key)",
                (kind, before, kind),
            ).rowcount
        return deleted

    def dispose(self) -> None:
        self._watcher.close()
        with self._lock:
            waiting = len(self._waiting)
            try:
                if waiting:
                    with self._connect(INDEX_SHARD_NAME):
                        pass
            except Exception as error:  # raising it here would leave Dagster's instance half closed
                _log.warning("%d events of runs were not stored: %s", waiting, error)
            if self._engine is not None:
                self._engine.dispose()
                self._engine = None
                self._records_at = None

    def has_table(self, table_name: str) -> bool:
        if table_name not in self._tables and super().has_table(table_name):
            self._tables.add(table_name)
        return table_name in self._tables

    def _has_asset_key_col_on_connection(self, conn: Any, column_name: str) -> bool:
        return column_name in AssetKeyTable.c  # Dagster would read the schema at each event of an asset

    def _get_latest_materialization_records(self, raw_asset_rows: Any) -> Mapping[dg.AssetKey, Any]:
        """Parses only the records that have changed: each step requests its inputs, and most have many in common."""
        found: dict[dg.AssetKey, Any] = {}
        changed = []
        for row in raw_asset_rows:
            text, record = self._last_records.get(row["asset_key"], (None, None))
            if record is not None and text == row["last_materialization"] and row["asset_details"] is None:
                found[record.asset_key] = record
            else:
                changed.append(row)
        if changed:
            read = super()._get_latest_materialization_records(changed)
            found |= read
            for row in changed:
                key = dg.AssetKey.from_db_string(row["asset_key"])
                self._last_records[row["asset_key"]] = (row["last_materialization"], key and read.get(key))
        return found

    def _store_asset_check_evaluation_planned(self, event: dg.EventLogEntry, event_id: int | None) -> None:
        """Leaves the last verdict unchanged. Dagster would hide it by a row without a verdict."""

    def _show_unjudged_checks(self, connection: Any, run_id: str) -> None:
        """Adds rows without a verdict for the checks that an ended run has planned and not judged."""
        planned = (_EVENTS.run_id == run_id, _EVENTS.dagster_event_type == _PLANNED.value)
        judged = {
            tuple(row)
            for row in connection.exec_driver_sql(
                "select asset_key, check_name from asset_check_executions where run_id = ?", (run_id,)
            )
        }
        (count,) = connection.exec_driver_sql(
            "select count(*) from event_logs where run_id = ? and dagster_event_type = ?", (run_id, _PLANNED.value)
        ).one()
        if len(judged) == count:
            return
        for row in connection.execute(SqlEventLogStorageTable.select().where(*planned)).fetchall():
            event = deserialize_value(row.event, dg.EventLogEntry)
            check = event.get_dagster_event().asset_check_planned_data
            if (check.asset_key.to_string(), check.check_name) not in judged:
                super()._store_asset_check_evaluation_planned(event, row.id)

    @contextmanager
    def _connect(self, shard: str) -> Iterator[Any]:
        """Opens a transaction, which first stores the waiting events, or continues this thread's open one."""
        with self._lock:
            if self._transaction is not None:
                yield self._transaction
                return
            try:
                with self._opened().begin() as connection:
                    self._transaction = connection
                    self._store_waiting(connection)
                    yield connection
            except BaseException:
                self._records_at = None  # cached records may not have been stored
                raise
            finally:
                self._transaction = None

    def _opened(self) -> Any:
        if self._engine is None:
            patience = {"timeout": SQLITE_BUSY_TIMEOUT_SECONDS}
            location = self.conn_string_for_shard(INDEX_SHARD_NAME)
            engine = create_engine(location, pool_size=1, connect_args=patience)
            self._initdb(engine)
            engine.dispose()  # `_initdb` took two connections, and the pool keeps one
            with engine.connect() as connection:
                connection.exec_driver_sql("pragma synchronous = normal")
            self._engine = engine
        return self._engine
