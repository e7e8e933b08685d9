"""Dagster's records of runs: which go on, which are lost with their process, and when old ones are deleted."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import dagster as dg
import psutil

RUNS_KEPT_FOR = timedelta(days=2)
"""A run every two minutes at some 200 kB each: 300 MB."""

RUNS_DELETED_AT_ONCE = 500
PROCESS_TAG = "svc/process"
ENDED = (dg.DagsterRunStatus.SUCCESS, dg.DagsterRunStatus.FAILURE, dg.DagsterRunStatus.CANCELED)
UNFINISHED = tuple(status for status in dg.DagsterRunStatus if status not in ENDED)


def this_process() -> str:
    """What a run is tagged with, so that a run whose process was killed can be told from one that goes on."""
    process = psutil.Process()
    return f"{process.pid} {process.create_time():.2f}"


def end_lost_runs(instance: dg.DagsterInstance) -> int:
    """Record runs as failed whose process is gone: they would hold up every later one. Returns how many there were.

    Runs that never came so far as to name their process are ended by Dagster's own monitoring.
    """
    unfinished = instance.get_runs(dg.RunsFilter(statuses=UNFINISHED))
    lost = [run for run in unfinished if PROCESS_TAG in run.tags and not _lives(run.tags[PROCESS_TAG])]
    for run in lost:
        instance.report_run_failed(run, "The process of this run is gone.")
    return len(lost)


def a_run_is_on(instance: dg.DagsterInstance, job_name: str) -> bool:
    """Whether a run of this job waits, starts or goes on."""
    return bool(instance.get_runs(dg.RunsFilter(job_name=job_name, statuses=UNFINISHED), limit=1))


def delete_old_runs(instance: dg.DagsterInstance, now: datetime) -> int:
    """Delete the records of runs that ended more than `RUNS_KEPT_FOR` ago. Returns how many there were."""
    old = instance.get_run_records(
        dg.RunsFilter(statuses=ENDED, updated_before=now.astimezone(UTC) - RUNS_KEPT_FOR), limit=RUNS_DELETED_AT_ONCE
    )
    for record in old:
        instance.delete_run(record.dagster_run.run_id)
    return len(old)


def _lives(tag: str) -> bool:
    pid, created_at = tag.split()
    try:
        return f"{psutil.Process(int(pid)).create_time():.2f}" == created_at
    except psutil.NoSuchProcess:
        return False
