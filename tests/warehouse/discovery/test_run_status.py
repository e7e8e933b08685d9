"""Ended runs: what each one changes in its job's status, and what a damaged file costs."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from warehouse.discovery.run_status import (
    FILE_NAME,
    EndedRun,
    Outcome,
    RunStatus,
    job_facts,
    read_run_status,
    update_run_status,
    with_run,
)

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


def after(*outcomes: Outcome) -> RunStatus:
    """Returns the status after runs of one job that ended a minute apart, from noon on."""
    status = RunStatus()
    for minute, outcome in enumerate(outcomes):
        reason = "rpc_unavailable" if outcome == "failure" else None
        status = with_run(status, EndedRun("chain", outcome, NOON + timedelta(minutes=minute), 2.5, "due", reason))
    return status


@pytest.mark.parametrize(
    ("outcomes", "in_a_row", "failing_since_minute", "reason", "last_success_minute"),
    [
        (("success",), 0, None, None, 0),
        (("failure",), 1, 0, "rpc_unavailable", None),
        (("success", "failure", "failure"), 2, 1, "rpc_unavailable", 0),
        (("failure", "success"), 0, None, None, 1),
        (("failure", "canceled"), 1, 0, "rpc_unavailable", None),
        (("success", "canceled"), 0, None, None, 0),
        (("failure", "success", "failure"), 1, 2, "rpc_unavailable", 1),
    ],
)
def test_failures_count_until_a_good_run(outcomes, in_a_row, failing_since_minute, reason, last_success_minute):
    job = after(*outcomes).jobs["chain"]
    assert job.consecutive_failures == in_a_row
    assert job.failing_since == _minute(failing_since_minute)
    assert job.last_success_at == _minute(last_success_minute)
    assert job.reason == reason
    assert (job.runs, job.failures) == (len(outcomes), outcomes.count("failure"))


def test_jobs_are_counted_apart():
    status = with_run(after("failure"), EndedRun("prices", "success", NOON, 0.5))
    assert {name: job.consecutive_failures for name, job in status.jobs.items()} == {"chain": 1, "prices": 0}


def test_a_status_is_stored_and_read_again(tmp_path: Path):
    stored = update_run_status(tmp_path, lambda before: after("success", "failure"))
    assert read_run_status(tmp_path) == stored
    (job,) = job_facts(tmp_path)
    assert (job.name, job.consecutive_failures, job.reason) == ("chain", 1, "rpc_unavailable")


@pytest.mark.parametrize("content", [b"", b"{", b'{"jobs": 1}', b"\xff"])
def test_a_damaged_file_counts_as_missing_and_is_replaced(tmp_path: Path, content: bytes):
    (tmp_path / FILE_NAME).write_bytes(content)
    assert job_facts(tmp_path) == ()
    update_run_status(tmp_path, lambda before: after("success"))
    assert len(job_facts(tmp_path)) == 1


def _minute(number: int | None) -> datetime | None:
    return None if number is None else NOON + timedelta(minutes=number)
