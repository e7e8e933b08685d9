"""Records the outcomes of runs, from Dagster's records, for `/health`, `/metrics` and alerts."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import dagster as dg

from contracts.errors import CheckFailed, OperatorProblem
from contracts.settings import Settings
from pipelines.failure import RUN_FAILED
from pipelines.runs import ENDED, cancel_interrupted_runs
from warehouse.discovery.run_status import EndedRun, Outcome, RunStatus, update_run_status, with_run

PROCESS_LOST = "process_lost"
_FIRST_LOOK = timedelta(hours=1)
"""The period before the first poll that the poll covers."""

_OUTCOMES: dict[dg.DagsterRunStatus, Outcome] = {
    dg.DagsterRunStatus.SUCCESS: "success",
    dg.DagsterRunStatus.FAILURE: "failure",
    dg.DagsterRunStatus.CANCELED: "canceled",
}


def record_run_status(settings: Settings, instance: dg.DagsterInstance, now: datetime) -> RunStatus:
    """Adds the runs that ended since the last call, oldest first, and returns the status."""
    cancel_interrupted_runs(instance)

    def update(status: RunStatus) -> RunStatus:
        for run in _ended_since(instance, status.seen_until or now - _FIRST_LOOK):
            status = with_run(status, run)
        return status

    return update_run_status(settings.data_dir, update)


def _ended_since(instance: dg.DagsterInstance, moment: datetime) -> list[EndedRun]:
    records = instance.get_run_records(dg.RunsFilter(statuses=ENDED, updated_after=moment))
    return sorted((_ended(instance, record) for record in records), key=lambda run: run.ended_at)


def _ended(instance: dg.DagsterInstance, record: dg.RunRecord) -> EndedRun:
    run = record.dagster_run
    outcome = _OUTCOMES[run.status]
    started, ended = record.start_time, record.end_time
    return EndedRun(
        job=run.job_name,
        outcome=outcome,
        ended_at=record.update_timestamp.replace(tzinfo=record.update_timestamp.tzinfo or UTC),
        seconds=round(ended - started, 3) if started is not None and ended is not None else 0.0,
        why=run.tags.get("why"),
        reason=_reason(instance, run.run_id) if outcome == "failure" else None,
        run_id=run.run_id,
    )


def _reason(instance: dg.DagsterInstance, run_id: str) -> str:
    """Returns the stable code of a failure, not its message, which may contain private addresses."""
    failures = instance.all_logs(run_id, of_type=dg.DagsterEventType.STEP_FAILURE)
    for entry in failures:
        failure = entry.dagster_event.step_failure_data if entry.dagster_event else None
        for name in _names(failure.error if failure else None):
            if name in _CODES:
                return _CODES[name]
    return RUN_FAILED if failures else PROCESS_LOST


def _names(error: object) -> Iterator[str]:
    """Yields the class names of a recorded error and of those that caused it."""
    while error is not None:
        yield str(getattr(error, "cls_name", ""))
        error = getattr(error, "cause", None)


def _codes(problem: type[OperatorProblem]) -> Iterator[tuple[str, str]]:
    yield problem.__name__, problem.code
    for kind in problem.__subclasses__():
        yield from _codes(kind)


_CODES = {**dict(_codes(OperatorProblem)), "DagsterAssetCheckFailedError": CheckFailed.code}
