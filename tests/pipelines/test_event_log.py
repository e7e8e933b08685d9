"""Dagster's event log in one file, read by Dagster's own class, and the checks that it shows during a run."""

import asyncio
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import dagster as dg
import pytest
from dagster._core.definitions.freshness import FreshnessState, FreshnessStateChange
from dagster._core.event_api import EventLogRecord
from dagster._core.loader import LoadingContextForTest
from dagster._core.storage.asset_check_execution_record import AssetCheckExecutionResolvedStatus as Shown
from dagster._core.storage.event_log import SqliteEventLogStorage
from dagster._core.storage.event_log.base import AssetRecord
from dagster._serdes import deserialize_value, serialize_value
from patience import HANG_S

from pipelines.event_log import UNTOLD, OneFileEventLog
from pipelines.instance import prepare_home

ASSET = dg.AssetKey("one_row")
CHECK = dg.AssetCheckKey(ASSET, "is_one")


@dg.asset
def one_row() -> dg.MaterializeResult:
    return dg.MaterializeResult(metadata={"rows": 1})


@contextmanager
def opened(data_dir: Path) -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.from_config(str(prepare_home(data_dir))) as instance:
        yield instance


def rows(data_dir: Path, question: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(data_dir / "dagster" / "history" / "runs" / "index.db")) as log:
        return log.execute(question).fetchall()


def test_all_events_of_all_runs_are_once_in_one_file_that_dagsters_own_log_reads(tmp_path: Path):
    with opened(tmp_path) as instance:
        assert isinstance(instance.event_log_storage, OneFileEventLog)
        runs = [dg.materialize([one_row], instance=instance).run_id for _ in range(3)]
        told = [record.dagster_event_type for record in instance.all_logs(runs[0])]
        assert dg.DagsterEventType.RUN_SUCCESS in told
        events = instance.event_log_storage.get_logs_for_run(runs[0])
    history = tmp_path / "dagster" / "history" / "runs"
    assert {path.name for path in history.glob("*.db")} == {"index.db"}
    assert rows(tmp_path, f"select count(*) from event_logs where run_id = '{runs[0]}'") == [(len(events),)]
    as_dagster_stores_it = "glob '????-??-?? ??:??:??.??????'"
    written = f"select asset_key from asset_keys where last_materialization_timestamp {as_dagster_stores_it}"
    assert rows(tmp_path, written) == [(ASSET.to_string(),)]
    own = SqliteEventLogStorage(str(history))
    assert own.get_latest_materialization_events([ASSET])[ASSET].run_id == runs[-1]


def test_a_log_that_dagster_began_is_gone_on_with_and_its_files_go_with_their_runs(tmp_path: Path):
    home = tmp_path / "dagster"
    home.mkdir()
    with dg.DagsterInstance.from_config(str(home)) as instance:
        before = dg.materialize([one_row], instance=instance).run_id
    assert (home / "history" / "runs" / f"{before}.db").exists()
    with opened(tmp_path) as instance:
        after = dg.materialize([one_row], instance=instance).run_id
        records = instance.fetch_materializations(ASSET, limit=10).records
        assert [record.run_id for record in records] == [after, before]
        instance.delete_run(before)
        assert [record.run_id for record in instance.fetch_materializations(ASSET, limit=10).records] == [after]
    assert {path.name for path in (home / "history" / "runs").glob("*.db")} == {"index.db"}


class Judged:
    """An asset with a check, in a Dagster home, which records what the check shows during a run and after it."""

    def __init__(self, instance: dg.DagsterInstance) -> None:
        self._instance = instance

    def shown(self) -> Shown | None:
        record = self._instance.event_log_storage.get_latest_asset_check_execution_by_key([CHECK]).get(CHECK)
        if record is None:
            return None
        return asyncio.run(record.resolve_status(LoadingContextForTest(self._instance)))

    def run(self, makes: Callable[[], None], judges: Callable[[], bool]) -> tuple[Shown | None, Shown | None, str]:
        """Runs both. Returns what the check shows in the asset's step and in its own step, and the run's id."""
        seen: list[Shown | None] = []

        @dg.asset(name="one_row")
        def asset() -> None:
            seen.append(self.shown())
            makes()

        @dg.asset_check(asset=asset, name=CHECK.name)
        def check() -> dg.AssetCheckResult:
            seen.append(self.shown())
            return dg.AssetCheckResult(passed=judges())

        result = dg.materialize([asset, check], instance=self._instance, raise_on_error=False)
        in_asset, in_check = [*seen, None, None][:2]
        return in_asset, in_check, result.run_id


def passes() -> bool:
    return True


def fails() -> bool:
    return False


def breaks() -> bool:
    raise RuntimeError("broken")


def nothing() -> None:
    pass


def test_a_check_shows_its_last_verdict_until_it_has_another_or_its_run_ends_without_one(tmp_path: Path):
    succeeded, failed, broken = Shown.SUCCEEDED, Shown.FAILED, Shown.EXECUTION_FAILED
    with opened(tmp_path) as instance:
        judged = Judged(instance)
        for makes, judges, in_asset, in_check, after in (
            (nothing, passes, None, None, succeeded),
            (nothing, fails, succeeded, succeeded, failed),
            (nothing, breaks, failed, failed, broken),
            (nothing, passes, broken, broken, succeeded),
            (breaks, passes, succeeded, None, broken),
        ):
            assert judged.run(makes, judges)[:2] == (in_asset, in_check)
            assert judged.shown() is after


def test_a_run_is_deleted_with_its_verdicts_except_those_that_no_run_replaced(tmp_path: Path):
    with opened(tmp_path) as instance:
        judged = Judged(instance)
        runs = [judged.run(nothing, passes)[2] for _ in range(3)]
        for run in (runs[0], runs[2]):
            instance.delete_run(run)
            assert not instance.all_logs(run)
        assert instance.all_logs(runs[1])
        assert judged.shown() is Shown.SUCCEEDED
    assert rows(tmp_path, "select run_id from asset_check_executions order by id") == [(runs[1],), (runs[2],)]


def test_a_watcher_of_a_run_gets_its_events_although_the_file_stays_open(tmp_path: Path):
    told = threading.Event()
    with opened(tmp_path) as instance:
        run = dg.materialize([one_row], instance=instance).run_id
        instance.watch_event_logs(run, None, lambda event, _cursor: told.set())
        assert told.wait(HANG_S)


def test_the_file_stays_open_between_runs_and_is_closed_with_the_instance(tmp_path: Path):
    def times_open() -> int:
        return sum(link.resolve().name == "index.db" for link in Path("/proc/self/fd").iterdir())

    with opened(tmp_path) as instance:
        dg.materialize([one_row], instance=instance)
        before = times_open()
        dg.materialize([one_row], instance=instance)
        assert times_open() == before > 0
    assert times_open() == 0


def test_an_event_is_kept_without_what_it_repeats_and_one_that_says_nothing_is_not_kept(tmp_path: Path):
    with opened(tmp_path) as instance:
        run = dg.materialize([one_row], instance=instance).run_id
        kept = {
            told.event_type: told for record in instance.all_logs(run) if (told := record.dagster_event) is not None
        }
    kinds = dg.DagsterEventType
    assert not UNTOLD & kept.keys()
    assert kept[kinds.STEP_OUTPUT].step_output_data.metadata == {}
    materialization = kept[kinds.ASSET_MATERIALIZATION].step_materialization_data.materialization
    assert materialization.metadata == {"rows": dg.IntMetadataValue(1)}
    assert kept[kinds.STEP_SUCCESS].message
    assert not any(told.logging_tags for told in kept.values())


def test_others_see_a_step_as_soon_as_it_starts_and_all_of_the_step_before_it(tmp_path: Path):
    seen: list[list[tuple[object, ...]]] = []

    def look() -> None:
        seen.append(rows(tmp_path, "select step_key, dagster_event_type from event_logs where step_key is not null"))

    @dg.asset
    def first() -> dg.MaterializeResult:
        look()
        return dg.MaterializeResult()

    @dg.asset(deps=[first])
    def second() -> dg.MaterializeResult:
        look()
        return dg.MaterializeResult()

    with opened(tmp_path) as instance:
        dg.materialize([first, second], instance=instance)
        (made,) = instance.fetch_materializations(first.key, limit=1).records
        (last,) = instance.fetch_materializations(second.key, limit=1).records
    assert seen[0][-1] == ("first", "STEP_START")
    assert ("first", "STEP_SUCCESS") in seen[1]
    assert ("first", "ASSET_MATERIALIZATION") in seen[1]
    assert seen[1][-1] == ("second", "STEP_START")
    made_of = last.event_log_entry.asset_materialization.tags["dagster/input_event_pointer/first"]
    assert made_of == str(made.storage_id)
    stored = f"select asset_key, dagster_event_type from event_logs where id = {made_of}"
    assert rows(tmp_path, stored) == [(first.key.to_string(), "ASSET_MATERIALIZATION")]
    tagged = f"select asset_key, key from asset_event_tags where event_id = {made_of}"
    assert rows(tmp_path, tagged) == [(first.key.to_string(), "dagster/data_version")]


def test_the_record_of_an_asset_is_written_as_dagster_writes_it_and_remembered_as_dagster_reads_it(tmp_path: Path):
    with opened(tmp_path) as instance:
        dg.materialize([one_row], instance=instance)
        (remembered,) = instance.get_asset_records([ASSET])
    ((text,),) = rows(tmp_path, "select last_materialization from asset_keys")
    record = deserialize_value(str(text), EventLogRecord)
    assert serialize_value(record) == text
    assert remembered.asset_entry.last_materialization_record == record


def test_a_remembered_record_is_what_another_process_reads_also_after_a_transaction_that_failed(tmp_path: Path):
    def last(reader: dg.DagsterInstance) -> AssetRecord:
        (record,) = reader.get_asset_records([ASSET])
        return record

    with opened(tmp_path) as instance, opened(tmp_path) as other:
        for _ in range(2):
            run = dg.materialize([one_row], instance=instance).run_id
            assert last(instance) == last(other)
            assert last(instance).asset_entry.last_run_id == run
        (materialized,) = instance.fetch_materializations(ASSET, limit=1).records
        log = instance.event_log_storage
        assert isinstance(log, OneFileEventLog)
        log.store_event(materialized.event_log_entry._replace(run_id="of no run"))  # it waits for the next transaction
        with pytest.raises(RuntimeError, match="broken"), log.index_connection():
            raise RuntimeError("broken")
        assert last(instance) == last(other)
        assert last(instance).asset_entry.last_run_id == run


def test_the_last_old_freshness_change_of_each_asset_is_kept(tmp_path: Path):
    other = dg.AssetKey("other_row")
    with opened(tmp_path) as instance:
        for key, state in ((ASSET, FreshnessState.PASS), (ASSET, FreshnessState.WARN), (other, FreshnessState.FAIL)):
            change = FreshnessStateChange(
                key=key, new_state=state, previous_state=FreshnessState.UNKNOWN, state_change_timestamp=0.0
            )
            instance._report_runless_asset_event(change)
        log = instance.event_log_storage
        assert isinstance(log, OneFileEventLog)
        now = datetime.now(UTC)
        assert log.delete_freshness_before(now - timedelta(hours=1)) == 0
        assert log.delete_freshness_before(now + timedelta(hours=1)) == 1
        kept = log.get_freshness_state_records([ASSET, other])
    assert {key: record.freshness_state for key, record in kept.items()} == {
        ASSET: FreshnessState.WARN,
        other: FreshnessState.FAIL,
    }


def test_the_last_record_of_an_asset_is_read_again_where_it_changed_also_by_another_process(tmp_path: Path):
    with opened(tmp_path) as instance, opened(tmp_path) as other:
        runs = []
        for writer in (instance, other, instance):
            runs.append(dg.materialize([one_row], instance=writer).run_id)
            for reader in (instance, other):
                (record,) = reader.get_asset_records([ASSET])
                last = record.asset_entry.last_materialization_record
                assert last is not None
                assert last.run_id == runs[-1]
        instance.wipe_assets([ASSET])
        assert not other.get_asset_records([ASSET])
