"""Marks the last good generation stale after a failed run, with the reason. Only this module decides what to mark."""

from collections.abc import Iterator
from contextlib import contextmanager

import dagster as dg
from dagster._core.errors import DagsterAssetCheckFailedError

from contracts.errors import CheckFailed, ForeignStore, OperatorProblem
from contracts.publish.registry import PRICE_GROUP, PROJECTIONS
from contracts.settings import Settings
from pipelines.publish.generation import PublishReport, republish_stale
from warehouse.duck.connection import run_lock

RUN_FAILED = "run_failed"


@dg.failure_hook(name="leave_last_good", required_resource_keys={"runtime"})
def leave_last_good(context: dg.HookContext) -> None:
    """Marks published documents stale after a failed step of a run in Dagster, which holds the run lock."""
    mark_stale(context.resources.runtime.settings, context.op_exception)


@contextmanager
def failure_marked(settings: Settings, *, lock_wait_s: float) -> Iterator[None]:
    """Does the same for a job that raises to its caller: such a job does not call its hooks.

    Raises `CheckFailed` if a check of the run failed, else the run's own exception.
    """
    try:
        yield
    except Exception as failure:
        with run_lock(settings.data_dir, wait_s=lock_wait_s):
            mark_stale(settings, failure)
        if isinstance(failure, DagsterAssetCheckFailedError):
            raise CheckFailed(
                f"The new data violates its contract: {' '.join(str(failure).split())}. None of it was published.",
                cure="The check's facts are in Dagster; the last good generation stays up, marked stale.",
            ) from failure
        raise


def stale_reason(failure: BaseException | None) -> str | None:
    """Returns the stable code that documents carry after a failed run: the problem's own, or `run_failed`.

    Returns None if the stores belong to another chain or token: this run must not touch what is published there.
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
    """Marks published documents stale for `failure`. The caller holds the run lock."""
    if reason := stale_reason(failure):
        mark_stale_for(settings, reason)


def mark_stale_for(settings: Settings, reason: str) -> PublishReport:
    """Marks the documents stale that `reason` affects: all if a check failed, else all except prices.

    Prices have their own sources and are published every minute; if the sources fail, their documents report it.
    """
    touched = [row for row in PROJECTIONS if reason == CheckFailed.code or row.group != PRICE_GROUP]
    return republish_stale(settings, reason, projections=touched)
