"""Stores how the runs of each job went, in a file that the API reads: `<data_dir>/runs.json`. Pipelines write it."""

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
"""Ids of counted runs that are kept: many more than end between two looks."""

Outcome = Literal["success", "failure", "canceled"]


class JobStatus(msgspec.Struct, frozen=True, rename="camel"):
    """The runs of one job so far. Times are UTC; `reason` is the stable code of the newest failure.

    `failing_since` is when the first of the `consecutive_failures` ended; None after a success.
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
    """Every job that ever ran, by its name. `seen_until` is the end of the newest run that is counted."""

    jobs: dict[str, JobStatus] = {}
    seen_until: datetime | None = None
    alerted: dict[str, datetime] = {}
    """Jobs whose failing was announced, with its `failing_since`."""
    counted: tuple[str, ...] = ()
    """Ids of the newest runs that are counted: one that gets a tag after its end looks as if it had ended later."""


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
    """Returns the status after one more run, which counts once. A cancelled one neither fails nor mends its job."""
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
    """Returns the stored status; an empty one where there is none, or it is damaged: it is a diary, not data."""
    try:
        return msgspec.json.decode((data_dir / FILE_NAME).read_bytes(), type=RunStatus)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return RunStatus()


def update_run_status(data_dir: Path, update: Callable[[RunStatus], RunStatus]) -> RunStatus:
    """Replaces the stored status by what `update` makes of it, and returns that. Writers wait for one another."""
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
    """Returns what `/health` and `/metrics` say of the jobs, by name."""
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
