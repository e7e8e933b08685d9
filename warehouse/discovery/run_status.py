"""Stores the outcomes of each job's runs in `<data_dir>/runs.json`. Pipelines write the file, and the API reads it."""

import fcntl
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Literal

import msgspec

from contracts.discovery.health import JobFacts
from warehouse.file_modes import make_data_directory

FILE_NAME = "runs.json"

COUNTED_RUNS_KEPT = 100
"""Number of ids of counted runs to store: many more than the runs that end between two polls."""

Outcome = Literal["success", "failure", "canceled"]


class JobStatus(msgspec.Struct, frozen=True, rename="camel"):
    """The runs of one job so far. Times are UTC; `reason` is the stable code of the newest failure.

    `failing_since` is the end of the first of the `consecutive_failures`; None after a success.
    """

    last_outcome: Outcome
    last_ended_at: datetime
    last_seconds: float
    last_why: str | None = None
    last_success_at: datetime | None = None
    failing_since: datetime | None = None
    reason: str | None = None
    consecutive_failures: int = 0
    runs: int = 0
    failures: int = 0


class RunStatus(msgspec.Struct, frozen=True, rename="camel"):
    """Every job that ever ran, by name. `seen_until` is the end of the newest counted run."""

    jobs: dict[str, JobStatus] = {}
    seen_until: datetime | None = None
    alerted: dict[str, datetime] = {}
    """Jobs whose failure was announced, with the `failing_since` of that failure."""
    counted: tuple[str, ...] = ()
    """Ids of the newest counted runs: a run that gets a tag after its end appears to have ended later."""


@dataclass(frozen=True)
class EndedRun:
    """One run that has ended."""

    job: str
    outcome: Outcome
    ended_at: datetime
    seconds: float
    why: str | None = None
    reason: str | None = None
    run_id: str | None = None


def with_run(status: RunStatus, run: EndedRun) -> RunStatus:
    """Returns the status after one more run; each run counts once. A cancelled run counts as neither failure nor
    success of its job."""
    seen_until = run.ended_at if status.seen_until is None else max(status.seen_until, run.ended_at)
    if run.run_id is not None and run.run_id in status.counted:
        return msgspec.structs.replace(status, seen_until=seen_until)
    before = status.jobs.get(run.job) or JobStatus(run.outcome, run.ended_at, run.seconds)
    changed = {
        "last_outcome": run.outcome,
        "last_ended_at": run.ended_at,
        "last_seconds": run.seconds,
        "last_why": run.why,
        "runs": before.runs + 1,
    }
    if run.outcome == "success":
        changed |= {"last_success_at": run.ended_at, "failing_since": None, "reason": None, "consecutive_failures": 0}
    elif run.outcome == "failure":
        changed |= {
            "failing_since": before.failing_since or run.ended_at,
            "reason": run.reason,
            "consecutive_failures": before.consecutive_failures + 1,
            "failures": before.failures + 1,
        }
    after = msgspec.structs.replace(before, **changed)
    counted = status.counted if run.run_id is None else (*status.counted, run.run_id)[-COUNTED_RUNS_KEPT:]
    return msgspec.structs.replace(status, jobs={**status.jobs, run.job: after}, seen_until=seen_until, counted=counted)


def read_run_status(data_dir: Path) -> RunStatus:
    """Returns the stored status, or an empty one if the file is missing or damaged: it is only a log, nothing depends
    on it."""
    try:
        return msgspec.json.decode((data_dir / FILE_NAME).read_bytes(), type=RunStatus)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return RunStatus()


def update_run_status(data_dir: Path, update: Callable[[RunStatus], RunStatus]) -> RunStatus:
    """Replaces the stored status by the result of `update`, and returns that. Writers wait for one another."""
    make_data_directory(data_dir)
    with (data_dir / f"{FILE_NAME}.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        before = read_run_status(data_dir)
        after = update(before)
        if after != before:
            draft = data_dir / f".{FILE_NAME}"
            draft.write_bytes(msgspec.json.format(msgspec.json.encode(after), indent=1))
            draft.chmod(0o600)
            draft.replace(data_dir / FILE_NAME)
    return after


def job_facts(data_dir: Path) -> tuple[JobFacts, ...]:
    """Returns the facts about the jobs that `/health` and `/metrics` report, by name."""
    return tuple(
        JobFacts(
            name,
            job.last_ended_at,
            job.last_seconds,
            job.last_success_at,
            job.failing_since,
            job.reason,
            job.consecutive_failures,
            job.runs,
            job.failures,
        )
        for name, job in sorted(read_run_status(data_dir).jobs.items())
    )
