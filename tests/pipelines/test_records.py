"""Dagster's records of runs and ticks on one engine: what one instance writes, others read."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import dagster as dg
from dagster._core.instance.ref import InstanceRef
from dagster._core.storage.runs import SqliteRunStorage

from pipelines.instance import prepare_home
from pipelines.records import OneEngineRuns, OneEngineTicks


@contextmanager
def opened(data_dir: Path) -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.from_config(str(prepare_home(data_dir))) as instance:
        yield instance


def open_files(data_dir: Path) -> int:
    home = data_dir / "dagster"
    return sum(home in link.resolve().parents for link in Path("/proc/self/fd").iterdir())


def test_the_records_of_one_instance_are_read_by_another_and_by_dagsters_own_class(tmp_path: Path):
    with opened(tmp_path) as instance, opened(tmp_path) as other:
        assert isinstance(instance.run_storage, OneEngineRuns)
        assert isinstance(instance.schedule_storage, OneEngineTicks)
        run = instance.add_run(dg.DagsterRun(job_name="prices", tags={"why": "a minute has passed"}))
        other.add_run_tags(run.run_id, {"svc/process": "1"})
        read = instance.get_run_by_id(run.run_id)
        assert read is not None
        assert read.tags == {"why": "a minute has passed", "svc/process": "1"}
    assert open_files(tmp_path) == 0
    own = SqliteRunStorage.from_local(str(tmp_path / "dagster" / "history"))
    assert [kept.run_id for kept in own.get_runs()] == [run.run_id]


def test_an_instance_opened_again_makes_the_tables_where_the_files_are_gone(tmp_path: Path):
    for _ in range(2):
        with opened(tmp_path) as instance:
            instance.add_run(dg.DagsterRun(job_name="prices"))
            assert len(instance.get_runs()) == 1
            assert instance.all_instigator_state() == []
        for path in (tmp_path / "dagster").glob("**/*.db*"):
            path.unlink()


def test_an_instance_that_a_schedule_opens_does_not_look_for_migrations_again(tmp_path: Path):
    ref = InstanceRef.from_dir(str(prepare_home(tmp_path)))
    with dg.DagsterInstance.from_ref(ref) as instance:
        instance.get_runs()
        instance.all_instigator_state()
    with closing(sqlite3.connect(tmp_path / "dagster" / "history" / "runs.db")) as records:
        records.execute("drop table alembic_version")
    with dg.DagsterInstance.from_ref(ref) as instance:
        assert instance.get_runs() == []
    with closing(sqlite3.connect(tmp_path / "dagster" / "history" / "runs.db")) as records:
        assert records.execute("select name from sqlite_master where name = 'alembic_version'").fetchall() == []
