"""Dagster's event log kept open: read by Dagster's own class, and no more files open than are looked at."""

from pathlib import Path

import dagster as dg
from dagster._core.storage.event_log import SqliteEventLogStorage

from pipelines.event_log import KEPT_OPEN, OpenEventLog
from pipelines.instance import prepare_home


@dg.asset
def one_row() -> dg.MaterializeResult:
    return dg.MaterializeResult(metadata={"rows": 1})


def test_a_home_writes_to_the_open_log_and_dagsters_own_reads_it(tmp_path: Path):
    home = prepare_home(tmp_path)
    with dg.DagsterInstance.from_config(str(home)) as instance:
        assert isinstance(instance.event_log_storage, OpenEventLog)
        run_id = dg.materialize([one_row], instance=instance).run_id
        told = [record.dagster_event_type for record in instance.all_logs(run_id)]
    own = SqliteEventLogStorage(str(home / "history" / "runs"))
    assert [record.dagster_event_type for record in own.get_logs_for_run(run_id)] == told
    assert own.get_latest_materialization_events([dg.AssetKey("one_row")])[dg.AssetKey("one_row")].run_id == run_id


def test_a_log_that_dagster_began_is_gone_on_with(tmp_path: Path):
    home = tmp_path / "dagster"
    home.mkdir()
    with dg.DagsterInstance.from_config(str(home)) as instance:
        before = dg.materialize([one_row], instance=instance).run_id
    with dg.DagsterInstance.from_config(str(prepare_home(tmp_path))) as instance:
        after = dg.materialize([one_row], instance=instance).run_id
        records = instance.fetch_materializations(dg.AssetKey("one_row"), limit=10).records
        assert [record.run_id for record in records] == [after, before]
        assert instance.all_logs(before)


def test_only_the_newest_databases_stay_open_and_a_deleted_run_is_gone(tmp_path: Path):
    with dg.DagsterInstance.from_config(str(prepare_home(tmp_path))) as instance:
        runs = [dg.materialize([one_row], instance=instance).run_id for _ in range(KEPT_OPEN + 1)]
        log = instance.event_log_storage
        assert len(log._engines) == KEPT_OPEN
        assert all(instance.all_logs(run) for run in runs)
        instance.delete_run(runs[-1])
        assert not instance.all_logs(runs[-1])
        assert len(log._engines) == KEPT_OPEN
    assert not log._engines
