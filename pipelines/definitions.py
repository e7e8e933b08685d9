"""Wires assets, checks, jobs and schedules into one Dagster code location. The only file that knows all of them."""

from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime

import dagster as dg
from dagster._core.definitions.target import ExecutableDefinition

from contracts.errors import OperatorProblem, RunBusy
from contracts.settings import Settings, load_settings
from pipelines.access import assets as access
from pipelines.access.watch import claims_due, watch_claims
from pipelines.bidwall import assets as bidwall
from pipelines.checks import expectation_checks
from pipelines.connect import assets as connect
from pipelines.discovery import assets as discovery
from pipelines.discovery.probe import probe_due
from pipelines.due import chain_due
from pipelines.failure import mark_stale
from pipelines.feed import assets as feed
from pipelines.guardrail import assets as guardrail
from pipelines.intake import assets as intake
from pipelines.market import assets as market
from pipelines.market.observe import prices_due
from pipelines.partner import assets as partner
from pipelines.partner.source import partner_due
from pipelines.presentation import QUICK
from pipelines.publish import assets as publishing
from pipelines.resources import Runtime, runtime_resource
from pipelines.runs import a_run_is_on, delete_old_runs, end_lost_runs
from pipelines.token import event_assets
from pipelines.token import holder_assets as holders
from pipelines.token import transfer_assets as transfers
from pipelines.trust import assets as trust
from pipelines.world import assets as world
from pipelines.world import positions
from warehouse.connect.sessions import delete_ended
from warehouse.file_modes import keep_files_private
from warehouse.ledger.ledger import open_ledger

CHAIN_JOB = "chain"
CHAIN_CRON = "*/2 * * * *"
PRICES_JOB = "prices"
PRICES_CRON = "* * * * *"
PARTNER_JOB = "partner"
PARTNER_CRON = "* * * * *"
DISCOVERY_JOB = "discovery"
DISCOVERY_CRON = "* * * * *"
CLAIMS_JOB = "claims"
CLAIMS_CRON = "* * * * *"
LOCK_PATIENCE_S = 5.0
"""How long a tick of the chain waits for a run of prices to end."""

UPKEEP_CRON = "17 * * * *"


@dg.failure_hook(name="leave_last_good", required_resource_keys={"runtime"})
def leave_last_good(context: dg.HookContext) -> None:
    """A failed step leaves the last good generation up, marked stale with the reason.

    Runs that publish a few documents alone do without: what fails there says so itself when its time has passed.
    """
    runtime: Runtime = context.resources.runtime
    mark_stale(runtime.settings, context.op_exception)


@dg.op(description="Delete the records of runs older than two days: Dagster keeps some 200 kB of each.")
def delete_run_records(context: dg.OpExecutionContext) -> None:
    deleted = delete_old_runs(context.instance, datetime.now(UTC))
    context.log.info(f"deleted {deleted} old runs")


def quiet_console(level: str) -> dg.RunConfig:
    """Run configuration under which only `level` and worse goes to the console; Dagster's event log keeps it all."""
    return dg.RunConfig(loggers={"console": {"config": {"log_level": level}}})


def _when_due(
    job: ExecutableDefinition,
    cron: str,
    description: str,
    why: Callable[[], str | None],
    *,
    not_beside: tuple[str, ...] = (),
) -> dg.ScheduleDefinition:
    """A running schedule whose tick starts a run where `why` gives a reason, and neither its own job nor any of
    `not_beside` is on."""

    @dg.schedule(
        name=f"{job.name}_schedule",
        job=job,
        cron_schedule=cron,
        default_status=dg.DefaultScheduleStatus.RUNNING,
        description=description,
    )
    def schedule(context: dg.ScheduleEvaluationContext) -> dg.RunRequest | dg.SkipReason:
        end_lost_runs(context.instance)
        if any(a_run_is_on(context.instance, name) for name in (job.name, *not_beside)):
            return dg.SkipReason("a run is going on")
        try:
            reason = why()
        except RunBusy:
            return dg.SkipReason("a run is going on")
        except OperatorProblem as problem:
            return dg.SkipReason(f"{problem.code}: {problem}")
        return dg.RunRequest(tags={"why": reason}) if reason else dg.SkipReason("nothing is due")

    return schedule


def build_definitions(settings: Settings) -> dg.Definitions:
    """Everything Dagster shows and runs, for one installation."""
    chain_job = dg.define_asset_job(
        CHAIN_JOB,
        selection=dg.AssetSelection.all(),
        description="From the chain to published documents: ingest, fold, prove, check, publish.",
        hooks={leave_last_good},
        executor_def=dg.in_process_executor,
        config=quiet_console("WARNING"),
    )

    prices_job = dg.define_asset_job(
        PRICES_JOB,
        selection=dg.AssetSelection.assets(
            *market.PRICES, *map(publishing.document_key, publishing.documents_of(market.SERVED_TABLES))
        ).without_checks(),
        description="Ask every price source, and publish the documents that read prices; all others are linked.",
        executor_def=dg.in_process_executor,
        config=quiet_console("WARNING"),
        tags=QUICK,
    )

    partner_job = dg.define_asset_job(
        PARTNER_JOB,
        selection=dg.AssetSelection.assets(
            *partner.PARTNER_ASSETS, *map(publishing.document_key, publishing.documents_of(partner.SERVED_TABLES))
        ).without_checks(),
        description="Ask the partner and the marketplace, and publish the documents that read them.",
        executor_def=dg.in_process_executor,
        config=quiet_console("WARNING"),
        tags=QUICK,
    )

    discovery_job = dg.define_asset_job(
        DISCOVERY_JOB,
        selection=dg.AssetSelection.assets(
            discovery.out_discovery__probes,
            *map(publishing.document_key, publishing.documents_of(discovery.SERVED_TABLES)),
        ).without_checks(),
        description="Look at what the service itself answers, and publish the capability registry.",
        executor_def=dg.in_process_executor,
        config=quiet_console("WARNING"),
        tags=QUICK,
    )

    @dg.op(description="Look at the payment of every issued claim that may still leave the chain.")
    def watch_issued_claims(context: dg.OpExecutionContext) -> None:
        outcomes = watch_claims(settings)
        context.add_output_metadata(dict(outcomes.items()))

    @dg.job(
        name=CLAIMS_JOB,
        executor_def=dg.in_process_executor,
        description="Claims until they are final: a payment that leaves the chain suspends the key, one that is back "
        "reinstates it. The API does the same; either alone suffices.",
        config=quiet_console("WARNING"),
        tags=QUICK,
    )
    def claims_job() -> None:
        watch_issued_claims()

    @dg.op(description="Delete pairing codes and sessions of connect that ended more than 30 days ago.")
    def delete_ended_sessions(context: dg.OpExecutionContext) -> None:
        with closing(open_ledger(settings, settings.data_dir)) as ledger, ledger.transaction() as tx:
            deleted = delete_ended(tx)
        context.log.info(f"deleted {deleted} codes and sessions")

    @dg.job(executor_def=dg.in_process_executor, description="Upkeep: what is kept for a while is deleted after it.")
    def upkeep() -> None:
        delete_run_records()
        delete_ended_sessions()

    schedules = [
        _when_due(
            chain_job,
            CHAIN_CRON,
            "Every two minutes, when the chain has moved or a snapshot is due; else nothing starts.",
            lambda: chain_due(settings, datetime.now(UTC), lock_wait_s=LOCK_PATIENCE_S),
        ),
        _when_due(
            prices_job,
            PRICES_CRON,
            "Every minute, where a price source is configured and no other run goes on.",
            lambda: prices_due(settings, datetime.now(UTC)),
            not_beside=(CHAIN_JOB,),
        ),
        _when_due(
            partner_job,
            PARTNER_CRON,
            "Each minute it is looked whether the partner (5 minutes) or the marketplace (15) is to be asked.",
            lambda: partner_due(settings, datetime.now(UTC)),
            not_beside=(CHAIN_JOB,),
        ),
        _when_due(
            discovery_job,
            DISCOVERY_CRON,
            "Each minute it is looked whether to ask the service: every 5 minutes, each minute while it is silent.",
            lambda: probe_due(settings, datetime.now(UTC)),
            not_beside=(CHAIN_JOB,),
        ),
        _when_due(
            claims_job,
            CLAIMS_CRON,
            "Every minute, where a claim is not final.",
            lambda: claims_due(settings),
        ),
    ]
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
            event_assets.ingest_contract_transfers,
            event_assets.ingest_attestations,
            bidwall.raw_bidwall__balances,
            bidwall.out_bidwall__events,
            bidwall.out_bidwall__status,
            trust.count_scores,
            trust.core_trust__checks,
            trust.serve_trust,
            holders.core_holders__balances,
            holders.raw_blockscout__holder_counts,
            holders.out_holders__sources,
            holders.out_holders__status,
            holders.out_holders__lists,
            *market.SERVICES,
            *market.PRICES,
            *partner.SERVICES,
            *partner.PARTNER_ASSETS,
            feed.core_feed__events,
            guardrail.guardrail_log,
            guardrail.take_over_guardrail_checks,
            world.world_constitution,
            world.world_signals,
            world.fold_world,
            positions.out_world__positions,
            access.ledger,
            access.take_over_access_tables,
            intake.take_over_intake_tables,
            connect.take_over_connect_tables,
            discovery.own_endpoints,
            discovery.out_discovery__probes,
            publishing.publish_generation,
        ],
        asset_checks=[*expectation_checks(), holders.proof, trust.contract_agrees, access.none_waits],
        jobs=[chain_job, prices_job, partner_job, discovery_job, claims_job, upkeep],
        schedules=[*schedules, upkeep_schedule],
        resources={"runtime": runtime_resource(settings)},
        loggers={"console": dg.json_console_logger if settings.log_format == "json" else dg.colored_console_logger},
        executor=dg.in_process_executor,
    )


@dg.definitions
def definitions() -> dg.Definitions:
    """What `workspace.yaml` loads: the definitions of this environment's settings."""
    keep_files_private()
    return build_definitions(load_settings())
