"""The table of jobs: what each one makes, when it is due, and the cron of its schedule in Dagster.

`definitions.py` gives jobs and schedules to Dagster; `headless.py` runs the jobs that are due without its daemon.
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
"""The worker's queues: runs of one follow one another, runs of two go side by side and write different tables."""

Due = Callable[[Settings, datetime], DueRun | str | None]
"""Returns the run that is due, or only why, in a few words, or None. Raises `RunBusy` where a run is writing the
warehouse."""

LINKED_COPY = {QUERY_COPY: LINKED}
RETRIED = {"dagster/retry_strategy": "ALL_STEPS"}
"""Tags of a run that leaves the query copy as it is, and of one that begins again after a failure: its steps share
what they hold."""


@dg.op(description="Look at the payment of every issued claim that may still leave the chain.")
def watch_issued_claims(context: dg.OpExecutionContext, settings: dg.ResourceParam[Settings]) -> None:
    outcomes = watch_claims(settings)
    context.log.info(f"claims: {', '.join(f'{count} {outcome}' for outcome, count in outcomes.items()) or 'none'}")


@dg.op(description="Delete the records of runs older than a day: Dagster keeps up to 0.6 MB of each.")
def delete_run_records(context: dg.OpExecutionContext) -> None:
    deleted = delete_old_runs(context.instance, datetime.now(UTC))
    context.log.info(f"deleted {deleted} old runs")


@dg.op(description="Delete pairing codes and sessions of connect that ended more than 30 days ago.")
def delete_ended_sessions(context: dg.OpExecutionContext, settings: dg.ResourceParam[Settings]) -> None:
    with closing(open_ledger(settings, settings.data_dir)) as ledger, ledger.transaction() as tx:
        deleted = delete_ended(tx)
    context.log.info(f"deleted {deleted} codes and sessions")


@dg.op(description="Delete approvals of blocked actions that were used and expired more than a day ago.")
def delete_expired_approvals(context: dg.OpExecutionContext, settings: dg.ResourceParam[Settings]) -> None:
    with closing(open_ledger(settings, settings.data_dir)) as ledger, ledger.transaction() as tx:
        deleted = delete_expired(tx)
    context.log.info(f"deleted {deleted} approvals")


@dg.op(description="Erase what trial keys wrote that ended long ago, and forget whose they were.")
def erase_ended_trials(context: dg.OpExecutionContext, settings: dg.ResourceParam[Settings]) -> None:
    erased = end_trials(settings, datetime.now(UTC))
    context.log.info(f"erased {erased} graphs of trials")


@dg.op(description="Rewrite every file without what owners erased, and delete older generations, logs and records.")
def rewrite_files(context: dg.OpExecutionContext, settings: dg.ResourceParam[Settings]) -> None:
    finished = erase_for_owners(settings, on_step=context.log.info)
    context.log.info(f"finished {finished} erasures")


@dataclass(frozen=True, kw_only=True)
class Job:
    """One row of the table. `makes` are the assets of an asset job, or the ops of any other job.

    A tick of `cron` starts a run where `due` gives a reason and neither this job nor one of `not_beside` is running.
    `reads_warehouse` tells that `due` opens the warehouse, so that it waits a moment for a run that holds it. Without
    Dagster's daemon the job runs where `headless_due` gives a reason; None where the chain's run does its work. The
    schedule of a job that settings don't allow to be due is stopped: to evaluate it costs CPU.
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
"""Tags the first run of an hour, which has time for pictures and for what columns are like."""


def everything_but(group: str) -> dg.AssetSelection:
    """Selects all assets except those of a group."""
    return dg.AssetSelection.all() - dg.AssetSelection.groups(group)


def room_and_its_documents(group: str) -> dg.AssetSelection:
    """Selects the assets of a group and the documents that read them, with their checks."""
    room = dg.AssetSelection.groups(group)
    return room | room.downstream(depth=1, include_self=False) & dg.AssetSelection.groups("publish")


def hourly(settings: Settings, now: datetime) -> str:
    """Is due at every tick."""
    return "an hour has passed"


JOBS = (
    Job(
        name=CHAIN_JOB,
        description="From the chain to published documents: ingest, fold, prove, check, publish.",
        makes=everything_but("market"),
        due=chain_due,
        cron="*/2 * * * *",
        when="Every two minutes, when the chain or the ledger has moved: what follows from that. Hourly: everything.",
        hooks=frozenset({leave_last_good}),
        tags={},
    ),
    Job(
        name="prices",
        description="Ask every price source, and publish the documents that read prices; all others are linked.",
        makes=room_and_its_documents("market"),
        due=prices_configured,
        cron="* * * * *",
        when="Every minute, where a price source is configured, also while the chain is read.",
        headless_due=prices_due,
        lane=MARKET_LANE,
        is_configured=lambda settings: any(source.is_configured(settings) for source in PRICE_SOURCES),
        tags=QUICK | LINKED_COPY | {"dagster/max_runtime": "120"},
    ),
    Job(
        name="partner",
        description="Ask the partner and the marketplace, and publish the documents that read them.",
        makes=room_and_its_documents("partner"),
        due=partner_due,
        cron="* * * * *",
        when="Checks every minute whether to ask the partner (every 5 minutes) or the marketplace (every 15).",
        headless_due=partner_due,
        not_beside=(CHAIN_JOB,),
        reads_warehouse=True,
        is_configured=lambda settings: any(source.is_configured(settings) for source in PARTNER_SOURCES),
    ),
    Job(
        name="discovery",
        description="Probe what the service itself answers, and publish the capability registry.",
        makes=room_and_its_documents("discovery"),
        due=probe_due,
        cron="* * * * *",
        when="Checks every minute whether to ask the service: every 5 minutes, every minute while it is silent.",
        headless_due=hourly_probe_due,
        not_beside=(CHAIN_JOB,),
        reads_warehouse=True,
    ),
    Job(
        name="claims",
        description="Claims until they are final: a payment that leaves the chain suspends the key, one that is back "
        "reinstates it. The API does the same; either suffices.",
        makes=(watch_issued_claims,),
        due=claims_due,
        cron="* * * * *",
        when="Every minute, where a claim is not final.",
        is_configured=lambda settings: not rail_of(settings).missing,
    ),
    Job(
        name="trials",
        description="What trial keys wrote is erased 30 days after their end, and then whose they were.",
        makes=(erase_ended_trials,),
        due=trials_due,
        cron="29 * * * *",
        when="Hourly, where a trial is long over. The job erasure follows in every file.",
    ),
    Job(
        name="erasure",
        description="What owners erased, which answers lack at once, goes from every file.",
        makes=(rewrite_files,),
        due=files_due_for_erasures,
        cron="41 * * * *",
        when="Hourly, where an owner erased something and files were not rewritten for that in the last 20 hours.",
        not_beside=(CHAIN_JOB,),
    ),
    Job(
        name="upkeep",
        description="Deletes old records of runs, pairing codes, sessions and used approvals.",
        makes=(delete_run_records, delete_ended_sessions, delete_expired_approvals),
        due=hourly,
        cron="17 * * * *",
        when="Hourly: what ended is deleted, runs and used approvals a day later, codes and sessions 30 days later.",
    ),
)


def quiet_console(level: str) -> dg.RunConfig:
    """Makes a run configuration that prints only `level` and worse; Dagster's event log keeps everything."""
    return dg.RunConfig(loggers={"console": {"config": {"log_level": level}}})


def dagster_job(job: Job) -> Any:
    """Makes Dagster's job of a row. The class of an asset job is not public."""
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
    """Makes Dagster's schedule of a row, running from the start where the job can be due."""

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
            return dg.SkipReason("a run is going on")
        now = datetime.now(UTC)
        try:
            with run_lock(settings.data_dir, wait_s=LOCK_PATIENCE_S) if waits else nullcontext():
                due = job.due(settings, now)
        except RunBusy:
            return dg.SkipReason("a run is going on")
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
    """Returns what a run of the chain job makes when these assets have moved: they, and all that follows from them.

    Prices have a job of their own. Steps that make several tables make all of them, and what follows from those that
    have moved. Documents that show the list of files follow as well, since every change may change that.
    """

    made_here = set(graph.materializable_asset_keys)

    def with_those_of_their_steps(keys: Iterable[dg.AssetKey]) -> set[dg.AssetKey]:
        return {key for made in keys if made in made_here for key in graph.get(made).execution_set_asset_keys}

    named = {dg.AssetKey(name) for name in moved}
    roots = dg.AssetSelection.assets(*named, *with_those_of_their_steps(named))
    chosen = with_those_of_their_steps(((roots | roots.downstream()) & everything_but("market")).resolve(graph))
    chosen |= {document_key(row) for row in rows_that_show((INDEX_PATH,))}
    return sorted(chosen & made_here, key=dg.AssetKey.to_user_string)
