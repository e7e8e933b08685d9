"""Runs the due jobs without any Dagster process, for `svc pipeline run` and cron."""

import sys
from collections.abc import Mapping, Sequence
from contextlib import redirect_stderr
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, TextIO

import dagster as dg

from contracts.errors import OperatorProblem
from contracts.settings import Settings
from pipelines.access.trials import end_trials
from pipelines.access.watch import watch_claims
from pipelines.alerts import send_alerts
from pipelines.definitions import build_definitions
from pipelines.due import DueRun, chain_due
from pipelines.erasure import erase_for_owners, files_due_for_erasures
from pipelines.failure import failure_marked
from pipelines.instance import prepare_home
from pipelines.resources import RUN_LOCK_WAIT_S
from pipelines.run_status import record_run_status
from pipelines.runs import end_lost_runs, opened_instance, unfinished_runs
from pipelines.schedules import CHAIN_JOB, JOBS, MARKET_LANE, Job, moved_assets, quiet_console
from pipelines.token.holder_assets import ListConfig
from pipelines.token.partitions import further_tokens
from warehouse.access.signing_keys import SigningKeys
from warehouse.duck.connection import run_lock
from warehouse.publish.generations import current_generation
from warehouse.token.partition_store import partition_store

LOST_EVENT = "Exception while writing logger call to event log"


@dataclass(frozen=True)
class PipelineReport:
    """The outcome of `svc pipeline run`: the number of runs, why the first was due, and the facts of the last one."""

    runs: int
    why: str | None
    generation: str | None
    assets: dict[str, dict[str, Any]]
    checks: dict[str, bool]


def run_pipeline(settings: Settings, *, snapshot: bool) -> PipelineReport:
    """Runs the due jobs, then ends trials, and erases from the files what owners erased if that is due.

    Raises the errors of all of them, and `KeyboardInterrupt` if a signal ends a run. Raises the errors of unusable
    settings before it begins, so that no job is recorded as failed.
    """
    _read_named_files(settings)
    try:
        report = _run_with_records(settings, snapshot=snapshot)
    except dg.DagsterExecutionInterruptedError:
        raise KeyboardInterrupt from None
    end_trials(settings, datetime.now(UTC))
    if files_due_for_erasures(settings, datetime.now(UTC)) is not None:
        erase_for_owners(settings)
    return report


def _read_named_files(settings: Settings) -> None:
    """Reads the files that the settings name. The signing key would be read only after the chain."""
    SigningKeys(settings).current()
    further_tokens(settings)
    if settings.partition_blocks is not None:
        partition_store(settings)


def _run_with_records(settings: Settings, *, snapshot: bool) -> PipelineReport:
    """Runs slice after slice until the chain is read up to finality, and publishes after each one.

    Waits for a run in progress. Raises `CheckFailed`, or the exception that stopped a step; the last good generation is
    then marked stale, unless the stores belong to another chain or token. Prices are read before each slice and at the
    end. If the chain has nothing new, or does not answer, only the other due jobs run. Issued claims are checked first,
    so that their state is synced. The outcomes of the runs are recorded and reported to SVC_ALERT_URL.
    """
    prepare_home(settings.data_dir)
    watch_claims(settings)
    with redirect_stderr(_WithoutLostEvents(sys.stderr)), opened_instance(settings.data_dir) as instance:
        end_lost_runs(instance, unfinished_runs(instance))
        try:
            return _run_due(settings, instance, snapshot=snapshot)
        finally:
            send_alerts(settings, record_run_status(settings, instance, datetime.now(UTC)))


class _WithoutLostEvents:
    """Passes on everything written to stderr except Dagster's message that an event could not be stored: that error is
    also raised, or stored as an event, and should be reported only once."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        return len(text) if text.startswith(LOST_EVENT) else self._stream.write(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def _run_due(settings: Settings, instance: dg.DagsterInstance, *, snapshot: bool) -> PipelineReport:
    definitions = build_definitions(settings)
    try:
        due = chain_due(settings, datetime.now(UTC), lock_wait_s=RUN_LOCK_WAIT_S)
    except OperatorProblem:
        _run_jobs(settings, instance, definitions, JOBS)
        raise
    if snapshot:
        due = DueRun("a snapshot was requested")
    if due is None:
        return _run_jobs(settings, instance, definitions, JOBS)
    job = definitions.resolve_job_def(CHAIN_JOB)
    chosen = None if due.moved is None else moved_assets(definitions.resolve_asset_graph(), due.moved)
    config = quiet_console("CRITICAL")  # a failure is raised, and so reported once
    if snapshot:
        config.ops["out_holders__lists"] = ListConfig(snapshot=True)
    runs = 0
    prices = [row for row in JOBS if row.lane == MARKET_LANE]
    while True:
        _run_jobs(settings, instance, definitions, prices)
        with failure_marked(settings, lock_wait_s=RUN_LOCK_WAIT_S):
            result = job.execute_in_process(
                instance=instance, run_config=config, tags={"why": due.why}, asset_selection=chosen
            )
        runs += 1
        assets, checks = _facts(result)
        if all(facts.get("complete", True) for facts in assets.values()):
            _run_jobs(settings, instance, definitions, prices)  # a price may have expired meanwhile
            return PipelineReport(runs, due.why, _generation(settings), assets, checks)


def _run_jobs(
    settings: Settings, instance: dg.DagsterInstance, definitions: dg.Definitions, jobs: Sequence[Job]
) -> PipelineReport:
    """Runs the jobs that are due without a daemon. Their failures mark nothing as stale: their documents age anyway."""
    reasons: list[str] = []
    assets: dict[str, dict[str, Any]] = {}
    for job in jobs:
        if job.headless_due is None:
            continue
        with run_lock(settings.data_dir, wait_s=RUN_LOCK_WAIT_S):
            reason = job.headless_due(settings, datetime.now(UTC))
        if reason is not None:
            made = definitions.resolve_job_def(job.name)
            result = made.execute_in_process(
                instance=instance, run_config=quiet_console("CRITICAL"), tags={"why": str(reason)}
            )
            reasons.append(str(reason))
            assets |= _facts(result)[0]
    return PipelineReport(len(reasons), "; ".join(reasons) or None, _generation(settings), assets, {})


def _facts(result: dg.ExecuteInProcessResult) -> tuple[dict[str, dict[str, Any]], dict[str, bool]]:
    assets = {
        "/".join(event.asset_key.path): _plain(event.step_materialization_data.materialization.metadata)
        for event in result.all_events
        if event.is_step_materialization and event.asset_key
    }
    evaluations = result.get_asset_check_evaluations()
    checks = {f"{'/'.join(check.asset_key.path)}:{check.check_name}": check.passed for check in evaluations}
    return assets, checks


def _plain(metadata: Mapping[str, dg.MetadataValue]) -> dict[str, Any]:
    """Selects the values that make sense outside Dagster, so no schemas, pictures or tables."""
    plain = (dg.IntMetadataValue, dg.FloatMetadataValue, dg.TextMetadataValue, dg.BoolMetadataValue)
    return {name.removeprefix("dagster/"): value.value for name, value in metadata.items() if isinstance(value, plain)}


def _generation(settings: Settings) -> str | None:
    current = current_generation(settings.data_dir)
    return current.id if current else None
