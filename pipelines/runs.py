"""Manages Dagster's records of runs: finds running ones, ends lost ones, and deletes old ones."""

import os
import re
import shutil
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import dagster as dg
import psutil
from dagster._core.events import RunFailureReason
from dagster._core.storage.tags import RUN_FAILURE_REASON_TAG

from contracts.errors import OperatorProblem
from pipelines.event_log import OneFileEventLog
from pipelines.instance import diary_unusable, prepare_home
from warehouse.ledger.drivers import problem_of

RUNS_KEPT_FOR = timedelta(days=1)
"""This bounds the size: prices every minute at 71 kB and a chain that moves every two minutes at 0.6 MB give 0.5 GB."""

RUNS_DELETED_AT_ONCE = 500
PROCESS_TAG = "svc/process"
ENDED = (dg.DagsterRunStatus.SUCCESS, dg.DagsterRunStatus.FAILURE, dg.DagsterRunStatus.CANCELED)
_RUN_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
UNFINISHED = tuple(status for status in dg.DagsterRunStatus if status not in ENDED)


def this_process() -> str:
    """Returns the tag value that identifies this process, to distinguish a run whose process was killed from a running
    one."""
    process = psutil.Process()
    return f"{process.pid} {process.create_time():.2f}"


def is_taken(run: dg.DagsterRun) -> bool:
    """Returns True if a process has taken this run."""
    return bool(run.tags.get(PROCESS_TAG))


def process_of(run: dg.DagsterRun) -> psutil.Process | None:
    """Returns the process of a run, or None if no process has taken it or the process is gone."""
    if not is_taken(run):
        return None
    pid, created_at = run.tags[PROCESS_TAG].split()
    try:
        process = psutil.Process(int(pid))
        return process if f"{process.create_time():.2f}" == created_at else None
    except psutil.NoSuchProcess:
        return None


def unfinished_runs(instance: dg.DagsterInstance) -> list[dg.DagsterRun]:
    """Returns the runs that are waiting, starting or in progress, newest first."""
    return list(instance.get_runs(dg.RunsFilter(statuses=UNFINISHED)))


def end_lost_runs(instance: dg.DagsterInstance, unfinished: Iterable[dg.DagsterRun]) -> int:
    """Records runs whose process is gone as failed, since they would block every later one. Returns their number.

    Dagster's monitoring ends runs that no process ever took.
    """
    lost = [run for run in unfinished if is_taken(run) and process_of(run) is None]
    for run in lost:
        instance.report_run_failed(run, "The process of this run is gone.")
    return len(lost)


def cancel_interrupted_runs(instance: dg.DagsterInstance) -> None:
    """Records runs that a signal ended as canceled. Dagster records them as failed unless its UI sent the signal."""
    interrupted = {RUN_FAILURE_REASON_TAG: RunFailureReason.UNEXPECTED_TERMINATION.value}
    for run in instance.get_runs(dg.RunsFilter(statuses=[dg.DagsterRunStatus.FAILURE], tags=interrupted)):
        instance.report_run_canceled(run, "A signal ended this run.")


def a_run_is_on(instance: dg.DagsterInstance, job_names: Collection[str]) -> bool:
    """Returns True if a run of one of these jobs is waiting, starting or in progress, in a living process."""
    unfinished = [run for run in unfinished_runs(instance) if run.job_name in job_names]
    return bool(unfinished) and len(unfinished) > end_lost_runs(instance, unfinished)


def undone_since(instance: dg.DagsterInstance, moment: datetime) -> bool:
    """Returns True if a run that was created since `moment`, and taken by a process, has failed or was canceled."""
    undone = [dg.DagsterRunStatus.FAILURE, dg.DagsterRunStatus.CANCELED]
    return any(map(is_taken, instance.get_runs(dg.RunsFilter(statuses=undone, created_after=moment))))


def delete_old_runs(instance: dg.DagsterInstance, now: datetime) -> int:
    """Deletes the records of runs that ended more than `RUNS_KEPT_FOR` ago, and events of changed freshness as old as
    that, which belong to no run. Returns the number of runs."""
    before = now.astimezone(UTC) - RUNS_KEPT_FOR
    old = instance.get_run_records(dg.RunsFilter(statuses=ENDED, updated_before=before), limit=RUNS_DELETED_AT_ONCE)
    for record in old:
        instance.delete_run(record.dagster_run.run_id)
    if isinstance(instance.event_log_storage, OneFileEventLog):
        instance.event_log_storage.delete_freshness_before(before)
    return len(old)


@contextmanager
def opened_instance(data_dir: Path) -> Iterator[dg.DagsterInstance]:
    """Opens Dagster's instance of a data directory.

    Raises `DiskFull` or `StoreUnusable`, also if its storage fails within the block.
    """
    home = prepare_home(data_dir)
    os.environ["DAGSTER_HOME"] = str(home)
    try:
        with dg.DagsterInstance.get() as instance:
            yield instance
    except OperatorProblem:
        raise
    except Exception as error:
        # Only the SQLAlchemy errors of Dagster's storage get here untranslated.
        cause = getattr(error, "orig", None) or error
        if problem := problem_of("A database of it", cause):
            raise diary_unusable(home, problem.what.rstrip("."), cause) from error
        raise


def delete_diary(instance: dg.DagsterInstance, home: Path) -> int:
    """Deletes the records, events and captured output of every ended run, and every tick. Returns the number of runs.

    The caller scrubs the databases once the instance is closed.
    """
    deleted = 0
    while ended := instance.get_run_records(dg.RunsFilter(statuses=ENDED), limit=RUNS_DELETED_AT_ONCE):
        for record in ended:
            instance.delete_run(record.dagster_run.run_id)
        deleted += len(ended)
    going_on = {run.run_id for run in unfinished_runs(instance)}
    for path in (*home.glob("history/runs/*"), *home.glob("storage/*")):
        run_id = path.name.partition(".")[0]
        if _RUN_ID.fullmatch(run_id) and run_id not in going_on:
            shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
    now_s = datetime.now(UTC).timestamp()
    for state in instance.all_instigator_state():
        instance.purge_ticks(state.instigator_origin_id, state.selector_id, before=now_s)
    return deleted


def databases(home: Path) -> list[Path]:
    """Returns Dagster's SQLite databases."""
    return sorted(home.glob("**/*.db"))
