"""What a failed run leaves behind: the last good generation, marked stale with the reason; or nothing touched."""

from __future__ import annotations

from dagster._core.errors import DagsterAssetCheckFailedError

from contracts.errors import CheckFailed, ForeignStore, OperatorProblem
from contracts.publish.registry import PRICE_GROUP, PROJECTIONS
from contracts.settings import Settings
from pipelines.publish.generation import PublishReport, republish_stale

RUN_FAILED = "run_failed"


def stale_reason(failure: BaseException | None) -> str | None:
    """The stable code that documents carry after a failed run: the problem's own, `check_failed`, or `run_failed`.

    None where the stores are of another chain or token: what is published there is not this run's to touch.
    """
    while failure is not None:
        if isinstance(failure, ForeignStore):
            return None
        if isinstance(failure, OperatorProblem):
            return failure.code
        if isinstance(failure, DagsterAssetCheckFailedError):
            return CheckFailed.code
        failure = failure.__cause__ or getattr(failure, "user_exception", None)
    return RUN_FAILED


def mark_stale(settings: Settings, failure: BaseException | None) -> None:
    """Mark what is published stale for `failure`. The caller holds the run lock."""
    if reason := stale_reason(failure):
        mark_stale_for(settings, reason)


def mark_stale_for(settings: Settings, reason: str) -> PublishReport:
    """Mark stale what `reason` touches: everything where a check failed.

    Else prices go on, from sources of their own and by the minute; where those fail, their documents say so.
    """
    touched = [row for row in PROJECTIONS if reason == CheckFailed.code or row.group != PRICE_GROUP]
    return republish_stale(settings, reason, projections=touched)
