"""The table of jobs: what each job materializes, when it is due, and the cron of its schedule in Dagster.

`definitions.py` gives jobs and schedules to Dagster; `headless.py` runs the due jobs without its daemon.
"""

from collections.abc import Callable, Iterable, Mapping
from contextlib import closing, nullcontext
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import dagster as dg

from contracts.access.rail import rail_of
from contracts.errors import OperatorProblem, RunBusy
from contracts.open_data.names import INDEX_PATH
from contracts.publish.registry import rows_that_show
from contracts.settings import Settings
from pipelines.access.trials import end_trials, trials_due
from pipelines.access.watch import claims_due, watch_claims
from pipelines.discovery.probe import hourly_probe_due, probe_due
from pipelines.due import LOCK_PATIENCE_S, DueRun, chain_due
from pipelines.erasure import erase_for_owners, files_due_for_erasures
from pipelines.failure import leave_last_good
from pipelines.market.observe import prices_configured, prices_due
from pipelines.market.sources import PRICE_SOURCES
from pipelines.partner.source import PARTNER_SOURCES, partner_due
from pipelines.presentation import QUICK
from pipelines.publish.assets import LINKED, QUERY_COPY, document_key
from pipelines.runs import a_run_is_on, delete_old_runs
from warehouse.connect.sessions import delete_ended
from warehouse.duck.connection import run_lock
from warehouse.guardrail.approvals import delete_expired
from warehouse.ledger.ledger import open_ledger

CHAIN_JOB = "chain"

CHAIN_LANE, MARKET_LANE = "chain", "market"
"""The worker's queues: runs of one queue are executed one after another; runs of different queues are executed in
parallel and write different tables."""

Due = Callable[[Settings, datetime], DueRun | str | None]
"""Returns the due run, or only its reason in a few words, or None. Raises `RunBusy` if a run is writing the warehouse.
"""

LINKED_COPY = {QUERY_COPY: LINKED}
RETRIED = {"dagster/retry_strategy": "ALL_STEPS"}
"""The tag of runs that leave the query copy unchanged, and the tag of runs that are retried from the beginning after a
failure, because their steps share state."""


@dg.op(description="Check the payment of every issued claim that may still leave the chain.")
def watch_issued_claims(context: dg.OpExecutionContext, settings: dg.ResourceParam[Settings]) -> None:
    outcomes = watch_claims(settings)
    context.log.info(f"claims: {', '.join(f'{count} {outcome}' for outcome, count in outcomes.items()) or 'none'}")


@dg.op(description="Delete the records of runs older than a day: Dagster keeps up to 0.6 MB of each.")
def delete_run_records(context: dg.OpExecutionContext) -> None:
    deleted = delete_old_runs(context.instance, datetime.now(UTC))
    context.log.info(f"deleted {deleted} old runs")


@dg.op(description="Delete pairing codes and connect sessions that ended more than 30 days ago.")
def delete_ended_sessions(context: dg.OpExecutionContext, settings: dg.ResourceParam[Settings]) -> None:
    with closing(open_ledger(settings, settings.data_dir)) as ledger, ledger.transaction() as tx:
        deleted = delete_ended(tx)
    context.log.info(f"deleted {deleted} codes and sessions")


@dg.op(description="Delete approvals of blocked actions that were used and expired more than a day ago.")
def delete_expired_approvals(context: dg.OpExecutionContext, settings: dg.ResourceParam[Settings]) -> None:
    with closing(open_ledger(settings, settings.data_dir)) as ledger, ledger.transaction() as tx:
        deleted = delete_expired(tx)
    context.log.info(f"deleted {deleted} approvals")


@dg.op(description="Erase the graphs of trial keys that ended long ago, and forget the keys' owners.")
def erase_ended_trials(context: dg.OpExecutionContext, settings: dg.ResourceParam[Settings]) -> None:
    erased = end_trials(settings, datetime.now(UTC))
    context.log.info(f"erased {erased} graphs of trials")


@dg.op(description="Rewrite every file without data that owners erased; delete older generations, logs and records.")
def rewrite_files(context: dg.OpExecutionContext, settings: dg.ResourceParam[Settings]) -> None:
    finished = erase_for_owners(settings, on_step=context.log.info)
    context.log.info(f"finished {finished} erasures")


@dataclass(frozen=True, kw_only=True)
class Job:
    """One row of the table. `makes` are the assets of an asset job, or the ops of any other job.

    A tick of `cron` starts a run if `due` gives a reason and neither this job nor one of `not_beside` is running.
    `reads_warehouse` means that `due` opens the warehouse, so the tick waits briefly for a run that holds it. Without
    Dagster's daemon the job runs if `headless_due` gives a reason; it is None if the chain's run does the job's work. A
    job that the settings never allow to be due has a stopped schedule, since evaluating it costs CPU time.
    """

    name: str
    description: str
    makes: dg.AssetSelection | tuple[dg.OpDefinition, ...]
    due: Due
    cron: str
    when: str
    headless_due: Due | None = None
    not_beside: tuple[str, ...] = ()
    hooks: frozenset[dg.HookDefinition] = frozenset()
    tags: Mapping[str, str] = field(default_factory=lambda: QUICK | LINKED_COPY)
    lane: str = CHAIN_LANE
    reads_warehouse: bool = False
    is_configured: Callable[[Settings], bool] = lambda settings: True


UNHURRIED = dict.fromkeys(QUICK, "false")
"""The tag of the first run of an hour, which has time for pictures and for statistics of columns."""


def everything_but(group: str) -> dg.AssetSelection:
    """Selects all assets except those of a group."""
    return dg.AssetSelection.all() - dg.AssetSelection.groups(group)


def room_and_its_documents(group: str) -> dg.AssetSelection:
    """Selects the assets of a group and the documents that read them, with their checks."""
    room = dg.AssetSelection.groups(group)
    return room | room.downstream(depth=1, include_self=False) & dg.AssetSelection.groups("publish")


def hourly(settings: Settings, now: datetime) -> str:
    """Returns the reason of a job that is due at every tick."""
    return "an hour has passed"


JOBS = (
    Job(
        name=CHAIN_JOB,
        description="From the chain to published documents: ingest, fold, prove, check, publish.",
        makes=everything_but("market"),
        due=chain_due,
        cron="*/2 * * * *",
        when="Every two minutes, if the chain or the ledger has moved: the affected assets. Hourly: all assets.",
        hooks=frozenset({leave_last_good}),
        tags={},
    ),
    Job(
        name="prices",
        description="Query every price source, and publish the documents that read prices; all others are linked.",
        makes=room_and_its_documents("market"),
        due=prices_configured,
        cron="* * * * *",
        when="Every minute, if a price source is configured, even while the chain is being read.",
        headless_due=prices_due,
        lane=MARKET_LANE,
        is_configured=lambda settings: any(source.is_configured(settings) for source in PRICE_SOURCES),
        tags=QUICK | LINKED_COPY | {"dagster/max_runtime": "120"},
    ),
    Job(
        name="partner",
        description="Query the partner and the marketplace, and publish the documents that read them.",
        makes=room_and_its_documents("partner"),
        due=partner_due,
        cron="* * * * *",
        when="Checks every minute whether to query the partner (every 5 minutes) or the marketplace (every 15).",
        headless_due=partner_due,
        not_beside=(CHAIN_JOB,),
        reads_warehouse=True,
        is_configured=lambda settings: any(source.is_configured(settings) for source in PARTNER_SOURCES),
    ),
    Job(
        name="discovery",
        description="Probe the service itself, and publish the capability registry.",
        makes=room_and_its_documents("discovery"),
        due=probe_due,
        cron="* * * * *",
        when="Checks every minute whether to probe the service: every 5 minutes, or every minute while it is silent.",
        headless_due=hourly_probe_due,
        not_beside=(CHAIN_JOB,),
        reads_warehouse=True,
    ),
    Job(
        name="claims",
        description="Check claims until they are final: a payment that leaves the chain suspends the key, one that "
        "returns reinstates it. The API does the same; either suffices.",
        makes=(watch_issued_claims,),
        due=claims_due,
        cron="* * * * *",
        when="Every minute, if a claim is not final.",
        is_configured=lambda settings: not rail_of(settings).missing,
    ),
    Job(
        name="trials",
        description="Erase the graphs of trial keys 30 days after the keys' end, and then forget their owners.",
        makes=(erase_ended_trials,),
        due=trials_due,
        cron="29 * * * *",
        when="Hourly, if a trial is long over. The job erasure then erases it from every file.",
    ),
    Job(
        name="erasure",
        description="Remove data that owners erased from every file; answers omit it from the start.",
        makes=(rewrite_files,),
        due=files_due_for_erasures,
        cron="41 * * * *",
        when="Hourly, if an owner erased something and files were not rewritten for that in the last 20 hours.",
        not_beside=(CHAIN_JOB,),
    ),
    Job(
        name="upkeep",
        description="Delete old records of runs, pairing codes, sessions and used approvals.",
        makes=(delete_run_records, delete_ended_sessions, delete_expired_approvals),
        due=hourly,
        cron="17 * * * *",
        when="Hourly: runs and used approvals are deleted a day after their end, codes and sessions 30 days after.",
    ),
)


def quiet_console(level: str) -> dg.RunConfig:
    """Returns a run configuration that prints only `level` and worse; Dagster's event log stores everything."""
    return dg.RunConfig(loggers={"console": {"config": {"log_level": level}}})


def dagster_job(job: Job) -> Any:
    """Builds Dagster's job for a row. The class of an asset job is not public."""
    if isinstance(job.makes, dg.AssetSelection):
        return dg.define_asset_job(
            job.name,
            selection=job.makes,
            description=job.description,
            hooks=job.hooks,
            executor_def=dg.in_process_executor,
            config=quiet_console("WARNING"),
            tags=job.tags,
        )
    return dg.GraphDefinition(name=job.name, node_defs=job.makes).to_job(
        description=job.description,
        hooks=job.hooks,
        executor_def=dg.in_process_executor,
        config=quiet_console("WARNING"),
        tags=job.tags,
    )


def dagster_schedule(job: Job, settings: Settings) -> dg.ScheduleDefinition:
    """Builds Dagster's schedule for a row. It runs from the start if the job can be due."""

    waits = job.reads_warehouse
    status = dg.DefaultScheduleStatus.RUNNING if job.is_configured(settings) else dg.DefaultScheduleStatus.STOPPED

    @dg.schedule(
        name=f"{job.name}_schedule",
        job_name=job.name,
        cron_schedule=job.cron,
        default_status=status,
        description=job.when,
    )
    def schedule(context: dg.ScheduleEvaluationContext) -> dg.RunRequest | dg.SkipReason:
        if a_run_is_on(context.instance, (job.name, *job.not_beside)):
            return dg.SkipReason("a run is in progress")
        now = datetime.now(UTC)
        try:
            with run_lock(settings.data_dir, wait_s=LOCK_PATIENCE_S) if waits else nullcontext():
                due = job.due(settings, now)
        except RunBusy:
            return dg.SkipReason("a run is in progress")
        except OperatorProblem as problem:
            return dg.SkipReason(f"{problem.code}: {problem}")
        if due is None:
            return dg.SkipReason("nothing is due")
        run = due if isinstance(due, DueRun) else DueRun(due)
        if run.moved is None:
            return dg.RunRequest(tags={"why": run.why} | RETRIED | (UNHURRIED if now.minute == 0 else {}))
        assert context.repository_def is not None, "a daemon evaluates schedules of a code location"
        chosen = moved_assets(context.repository_def.asset_graph, run.moved)
        return dg.RunRequest(tags={"why": run.why} | RETRIED | QUICK, asset_selection=chosen)

    return schedule


def moved_assets(graph: Any, moved: frozenset[str]) -> list[dg.AssetKey]:
    """Returns the assets that a run of the chain job materializes when these have moved: they and all downstream ones.

    Prices are excluded, since they have their own job. A step that builds several tables builds all of them, but only
    those that have moved add downstream assets. Documents that show the list of files are included too, since every
    change may change it.
    """

    made_here = set(graph.materializable_asset_keys)

    def with_those_of_their_steps(keys: Iterable[dg.AssetKey]) -> set[dg.AssetKey]:
        return {key for made in keys if made in made_here for key in graph.get(made).execution_set_asset_keys}

    named = {dg.AssetKey(name) for name in moved}
    roots = dg.AssetSelection.assets(*named, *with_those_of_their_steps(named))
    chosen = with_those_of_their_steps(((roots | roots.downstream()) & everything_but("market")).resolve(graph))
    chosen |= {document_key(row) for row in rows_that_show((INDEX_PATH,))}
    return sorted(chosen & made_here, key=dg.AssetKey.to_user_string)
