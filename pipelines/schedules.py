"""The table of jobs: what each one makes, when it is due, and the cron of its schedule in Dagster.

`definitions.py` gives jobs and schedules to Dagster; `headless.py` runs the jobs that are due without its daemon.
"""

from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import dagster as dg

from contracts.errors import OperatorProblem, RunBusy
from contracts.settings import Settings
from pipelines.access.watch import claims_due, watch_claims
from pipelines.discovery.probe import hourly_probe_due, probe_due
from pipelines.due import chain_due
from pipelines.erasure import erase_for_owners, files_due_for_erasures
from pipelines.failure import leave_last_good
from pipelines.market.observe import prices_due
from pipelines.partner.source import partner_due
from pipelines.presentation import QUICK
from pipelines.runs import a_run_is_on, delete_old_runs, end_lost_runs
from warehouse.connect.sessions import delete_ended
from warehouse.guardrail.approvals import delete_expired
from warehouse.ledger.ledger import open_ledger

CHAIN_JOB = "chain"

Due = Callable[[Settings, datetime], str | None]
"""Returns why a job is due, in a few words, or None. Raises `RunBusy` where a run is writing the warehouse."""


@dg.op(description="Look at the payment of every issued claim that may still leave the chain.")
def watch_issued_claims(context: dg.OpExecutionContext, settings: dg.ResourceParam[Settings]) -> None:
    context.add_output_metadata(dict(watch_claims(settings).items()))


@dg.op(description="Delete the records of runs older than two days: Dagster keeps some 200 kB of each.")
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


@dg.op(description="Rewrite every file without what owners erased, and delete older generations, logs and records.")
def rewrite_files(context: dg.OpExecutionContext, settings: dg.ResourceParam[Settings]) -> None:
    finished = erase_for_owners(settings, on_step=context.log.info)
    context.log.info(f"finished {finished} erasures")


@dataclass(frozen=True, kw_only=True)
class Job:
    """One row of the table. `makes` are the assets of an asset job, or the ops of any other job.

    A tick of `cron` starts a run where `due` gives a reason and neither this job nor one of `not_beside` is running.
    Without Dagster's daemon the job runs where `headless_due` gives one; None where the chain's run does its work.
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
    tags: Mapping[str, str] = field(default_factory=lambda: QUICK)


def room_and_its_documents(group: str) -> dg.AssetSelection:
    """Selects the assets of a group and the documents that read them, without checks."""
    room = dg.AssetSelection.groups(group)
    documents = room.downstream(depth=1, include_self=False) & dg.AssetSelection.groups("publish")
    return (room | documents).without_checks()


def hourly(settings: Settings, now: datetime) -> str:
    """Is due at every tick."""
    return "an hour has passed"


JOBS = (
    Job(
        name=CHAIN_JOB,
        description="From the chain to published documents: ingest, fold, prove, check, publish.",
        makes=dg.AssetSelection.all(),
        due=chain_due,
        cron="*/2 * * * *",
        when="Every two minutes, when the chain has moved or a snapshot is due; else nothing starts.",
        hooks=frozenset({leave_last_good}),
        tags={},
    ),
    Job(
        name="prices",
        description="Ask every price source, and publish the documents that read prices; all others are linked.",
        makes=room_and_its_documents("market"),
        due=prices_due,
        cron="* * * * *",
        when="Every minute, where a price source is configured and no other run is on.",
        headless_due=prices_due,
        not_beside=(CHAIN_JOB,),
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
    ),
    Job(
        name="claims",
        description="Claims until they are final: a payment that leaves the chain suspends the key, one that is back "
        "reinstates it. The API does the same; either suffices.",
        makes=(watch_issued_claims,),
        due=claims_due,
        cron="* * * * *",
        when="Every minute, where a claim is not final.",
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
        when="Hourly.",
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
    """Makes Dagster's schedule of a row, running from the start."""

    @dg.schedule(
        name=f"{job.name}_schedule",
        job_name=job.name,
        cron_schedule=job.cron,
        default_status=dg.DefaultScheduleStatus.RUNNING,
        description=job.when,
    )
    def schedule(context: dg.ScheduleEvaluationContext) -> dg.RunRequest | dg.SkipReason:
        end_lost_runs(context.instance)
        if any(a_run_is_on(context.instance, name) for name in (job.name, *job.not_beside)):
            return dg.SkipReason("a run is going on")
        try:
            reason = job.due(settings, datetime.now(UTC))
        except RunBusy:
            return dg.SkipReason("a run is going on")
        except OperatorProblem as problem:
            return dg.SkipReason(f"{problem.code}: {problem}")
        return dg.RunRequest(tags={"why": reason}) if reason else dg.SkipReason("nothing is due")

    return schedule
