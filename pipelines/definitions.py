"""Wires assets, checks, jobs and schedules into one Dagster code location. The only file that knows all of them."""

import asyncio
from datetime import UTC, datetime

import dagster as dg
from dagster._core.errors import DagsterAssetCheckFailedError

from contracts.errors import CheckFailed, OperatorProblem, RunBusy
from contracts.settings import Settings, load_settings
from pipelines.checks import expectation_checks
from pipelines.holders import assets as holders
from pipelines.publish import assets as publishing
from pipelines.publish.generation import republish_stale
from pipelines.resources import Runtime, runtime_resource
from pipelines.transfers import assets as transfers
from pipelines.upkeep import delete_old_runs, look_at_chain, why_run

CHAIN_JOB = "chain"
CHAIN_CRON = "*/2 * * * *"
UPKEEP_CRON = "17 * * * *"


@dg.failure_hook(name="mark_stale", required_resource_keys={"runtime"})
def mark_stale(context: dg.HookContext) -> None:
    """A failed step leaves the last good generation up, marked stale with the reason."""
    runtime: Runtime = context.resources.runtime
    republish_stale(runtime.settings, stale_reason(context.op_exception))


def stale_reason(failure: BaseException | None) -> str:
    """The stable code that documents carry after a failed run: the problem's own, `check_failed`, or `run_failed`."""
    while failure is not None:
        if isinstance(failure, OperatorProblem):
            return failure.code
        if isinstance(failure, DagsterAssetCheckFailedError):
            return CheckFailed.code
        failure = failure.__cause__ or getattr(failure, "user_exception", None)
    return "run_failed"


@dg.op(description="Delete the records of runs older than a week: Dagster keeps some 200 kB of each.")
def delete_run_records(context: dg.OpExecutionContext) -> None:
    deleted = delete_old_runs(context.instance, datetime.now(UTC))
    context.log.info(f"deleted {deleted} old runs")


@dg.job(executor_def=dg.in_process_executor, description="Upkeep of Dagster's own records.")
def upkeep() -> None:
    delete_run_records()


def build_definitions(settings: Settings) -> dg.Definitions:
    """Everything Dagster shows and runs, for one installation."""
    chain_job = dg.define_asset_job(
        CHAIN_JOB,
        selection=dg.AssetSelection.all(),
        description="From the chain to published documents: ingest, fold, prove, check, publish.",
        hooks={mark_stale},
        executor_def=dg.in_process_executor,
    )

    @dg.schedule(
        job=chain_job,
        cron_schedule=CHAIN_CRON,
        default_status=dg.DefaultScheduleStatus.RUNNING,
        description="Every two minutes, when the chain has moved or a snapshot is due; else nothing starts.",
    )
    def chain_schedule(context: dg.ScheduleEvaluationContext) -> dg.RunRequest | dg.SkipReason:
        try:
            head = asyncio.run(look_at_chain(settings)) if settings.token_address else None
            why = why_run(settings, head, datetime.now(UTC))
        except RunBusy:
            return dg.SkipReason("a run is going on")
        return dg.RunRequest(tags={"why": why}) if why else dg.SkipReason("nothing is new")

    upkeep_schedule = dg.ScheduleDefinition(
        name="upkeep_schedule",
        job=upkeep,
        cron_schedule=UPKEEP_CRON,
        default_status=dg.DefaultScheduleStatus.RUNNING,
        description="Hourly.",
    )
    return dg.Definitions(
        assets=[
            transfers.evm_chain,
            transfers.ingest_transfers,
            holders.core_holders__balances,
            holders.raw_blockscout__holder_counts,
            holders.out_holders__sources,
            holders.out_holders__status,
            holders.out_holders__lists,
            publishing.publish_generation,
        ],
        asset_checks=[*expectation_checks(), holders.proof],
        jobs=[chain_job, upkeep],
        schedules=[chain_schedule, upkeep_schedule],
        resources={"runtime": runtime_resource(settings)},
        executor=dg.in_process_executor,
    )


@dg.definitions
def definitions() -> dg.Definitions:
    """What `workspace.yaml` loads: the definitions of this environment's settings."""
    return build_definitions(load_settings())
