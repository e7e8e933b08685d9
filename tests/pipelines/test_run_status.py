"""Runs of Dagster become the status of their jobs."""

from __future__ import annotations

import signal
from datetime import UTC, datetime
from pathlib import Path

import dagster as dg
import pytest

from contracts.settings import Settings
from pipelines.run_status import record_run_status
from pipelines.runs import opened_instance


@dg.op
def fail() -> None:
    raise ValueError


@dg.job
def failing() -> None:
    fail()


@dg.op
def get_a_signal() -> None:
    signal.raise_signal(signal.SIGTERM)


@dg.job
def interrupted() -> None:
    get_a_signal()


def test_a_run_that_a_signal_ended_is_canceled_and_neither_fails_nor_mends_its_job(tmp_path: Path):
    settings = Settings(_env_file=None, data_dir=tmp_path)
    with opened_instance(tmp_path) as instance:
        with pytest.raises(dg.DagsterExecutionInterruptedError):
            interrupted.execute_in_process(instance=instance)
        job = record_run_status(settings, instance, datetime.now(UTC)).jobs["interrupted"]
        assert [run.status for run in instance.get_runs()] == [dg.DagsterRunStatus.CANCELED]
        assert record_run_status(settings, instance, datetime.now(UTC)).jobs["interrupted"].runs == 1
    assert (job.last_outcome, job.failing_since, job.reason, job.runs, job.failures) == ("canceled", None, None, 1, 0)


def test_a_failed_run_counts_once_although_it_gets_a_tag_after_its_end(tmp_path: Path):
    settings = Settings(_env_file=None, data_dir=tmp_path)
    with opened_instance(tmp_path) as instance:
        first = failing.execute_in_process(instance=instance, raise_on_error=False)
        counts = []
        for _ in range(2):
            status = record_run_status(settings, instance, datetime.now(UTC))
            counts.append((status.jobs["failing"].consecutive_failures, status.jobs["failing"].runs))
            instance.add_run_tags(first.run_id, {"dagster/did_retry": "true"})
        assert counts == [(1, 1), (1, 1)]
        failing.execute_in_process(instance=instance, raise_on_error=False)
        assert record_run_status(settings, instance, datetime.now(UTC)).jobs["failing"].consecutive_failures == 2
