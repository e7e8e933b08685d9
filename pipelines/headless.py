"""Running the jobs without any Dagster process: what `svc pipeline run` and cron call."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import dagster as dg
from dagster._core.errors import DagsterAssetCheckFailedError

from contracts.errors import CheckFailed, OperatorProblem
from contracts.settings import Settings
from pipelines.access.watch import watch_claims
from pipelines.definitions import CHAIN_JOB, DISCOVERY_JOB, PARTNER_JOB, PRICES_JOB, build_definitions, quiet_console
from pipelines.discovery.probe import hourly_probe_due
from pipelines.due import chain_due
from pipelines.failure import mark_stale
from pipelines.instance import prepare_home
from pipelines.market.observe import prices_due
from pipelines.partner.source import partner_due
from pipelines.resources import RUN_LOCK_WAIT_S
from pipelines.runs import end_lost_runs, opened_instance
from pipelines.token.holder_assets import ListConfig
from warehouse.duck.connection import run_lock
from warehouse.publish.generations import current_generation


@dataclass(frozen=True)
class PipelineReport:
    """What `svc pipeline run` did: runs made, why the first was due, and what each asset of the last one said."""

    runs: int
    why: str | None
    generation: str | None
    assets: dict[str, dict[str, Any]]
    checks: dict[str, bool]


def run_pipeline(settings: Settings, *, snapshot: bool) -> PipelineReport:
    """Run slice after slice until the chain is read up to finality, each publishing.

    Waits for a run that goes on. Raises `CheckFailed`, or whatever stopped a step; the last good generation is marked
    stale then, but not for stores of another chain or token. Where the chain has nothing new, or does not answer, only
    the other sources are run, where they are due. Issued claims are looked at first, so that their state is taken over.
    """
    prepare_home(settings.data_dir)
    watch_claims(settings)
    try:
        due = chain_due(settings, datetime.now(UTC), lock_wait_s=RUN_LOCK_WAIT_S)
    except OperatorProblem:
        _run_sources(settings)
        raise
    why = "a snapshot is asked for" if snapshot else due
    if why is None:
        return _run_sources(settings)
    job = build_definitions(settings).resolve_job_def(CHAIN_JOB)
    with opened_instance(settings.data_dir) as instance:
        end_lost_runs(instance)
        runs = 0
        while True:
            result = _run_once(job, instance, settings, why, snapshot=snapshot)
            runs += 1
            assets, checks = _said(result)
            if all(said.get("complete", True) for said in assets.values()):
                return PipelineReport(runs, why, _generation(settings), assets, checks)


def _run_sources(settings: Settings) -> PipelineReport:
    """Runs of the sources that are due, apart from the chain."""
    whys: list[str] = []
    assets: dict[str, dict[str, Any]] = {}
    for name, due in ((PRICES_JOB, prices_due), (PARTNER_JOB, partner_due), (DISCOVERY_JOB, hourly_probe_due)):
        with run_lock(settings.data_dir, wait_s=RUN_LOCK_WAIT_S):
            why = due(settings, datetime.now(UTC))
        if why is not None:
            job = build_definitions(settings).resolve_job_def(name)
            with opened_instance(settings.data_dir) as instance:
                # What fails here touches no other document, and its own say themselves when their time has passed.
                config = quiet_console("CRITICAL")
                result = job.execute_in_process(instance=instance, run_config=config, tags={"why": why})
            said, _ = _said(result)
            whys.append(why)
            assets |= said
    return PipelineReport(len(whys), "; ".join(whys) or None, _generation(settings), assets, {})


def _run_once(
    job: dg.JobDefinition, instance: dg.DagsterInstance, settings: Settings, why: str, *, snapshot: bool
) -> dg.ExecuteInProcessResult:
    config = quiet_console("CRITICAL")  # what fails is raised, and said once
    config.ops["out_holders__lists"] = ListConfig(snapshot=snapshot)
    try:
        return job.execute_in_process(instance=instance, run_config=config, tags={"why": why})
    except Exception as failure:
        # A job that raises to its caller does not call its failure hooks.
        with run_lock(settings.data_dir, wait_s=RUN_LOCK_WAIT_S):
            mark_stale(settings, failure)
        if isinstance(failure, DagsterAssetCheckFailedError):
            raise CheckFailed(
                f"What was read breaks its contract: {' '.join(str(failure).split())}. Nothing of it was published.",
                cure="The check's facts are in Dagster; the last good generation stays up, marked stale.",
            ) from failure
        raise


def _said(result: dg.ExecuteInProcessResult) -> tuple[dict[str, dict[str, Any]], dict[str, bool]]:
    assets = {
        "/".join(event.asset_key.path): _plain(event.step_materialization_data.materialization.metadata)
        for event in result.all_events
        if event.is_step_materialization and event.asset_key
    }
    evaluations = result.get_asset_check_evaluations()
    checks = {f"{'/'.join(each.asset_key.path)}:{each.check_name}": each.passed for each in evaluations}
    return assets, checks


def _plain(metadata: Mapping[str, dg.MetadataValue]) -> dict[str, Any]:
    """The values that make sense outside Dagster: no schemas, pictures or tables."""
    kept = (dg.IntMetadataValue, dg.FloatMetadataValue, dg.TextMetadataValue, dg.BoolMetadataValue)
    return {name.removeprefix("dagster/"): value.value for name, value in metadata.items() if isinstance(value, kept)}


def _generation(settings: Settings) -> str | None:
    current = current_generation(settings.data_dir)
    return current.id if current else None
