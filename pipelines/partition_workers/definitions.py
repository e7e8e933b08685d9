"""Defines the runs of workers: transfers by partition, and the sensor that requests the missing partitions.

The store decides what is done: a partition in it is never requested again, while one whose worker was killed is.
"""

import asyncio
import time
from collections.abc import Callable, Iterable, Sequence

import dagster as dg
from dagster._core.storage.tags import ASSET_PARTITION_RANGE_END_TAG, ASSET_PARTITION_RANGE_START_TAG

from contracts.errors import OperatorProblem
from contracts.settings import Settings, load_settings
from contracts.token.partitions import partition_of
from pipelines.due import poll_chain
from pipelines.partition_workers.instance import require_workers
from pipelines.presentation import OWNERS
from pipelines.runs import UNFINISHED
from pipelines.token.partitions import PartitionReport, make_partitions, missing_partitions, read_tokens
from warehouse.file_modes import keep_files_private
from warehouse.token.partition_retention import prune_partitions
from warehouse.token.partition_store import partition_store

BLOCKS = dg.DynamicPartitionsDefinition(name="blocks")
JOB, PRUNING = "read_partitions", "prune_partitions"
PARTITIONS_PER_RUN = 16
"""Number of partitions per run: starting its process costs as much as reading some hundred thousand events."""

ASKED_AT_ONCE = 64
"""The most runs that wait or are in progress: the queue stays short, and missing partitions are determined again."""


@dg.asset(
    partitions_def=BLOCKS,
    group_name="chain",
    kinds={"evm", "parquet"},
    owners=OWNERS,
    description="Transfer events of all tokens by partition of blocks, as Parquet in the object store.",
)
def raw_chain__transfers(
    context: dg.AssetExecutionContext, settings: dg.ResourceParam[Settings]
) -> dg.MaterializeResult[None]:
    """Reads the partitions of this run that the store lacks, and stores them."""
    partitions = [partition for key in context.partition_keys if (partition := partition_of(key)) is not None]
    began_s = time.process_time()
    reports = asyncio.run(make_partitions(settings, partitions, on_report=_told(context)))
    broken = {address: reason for report in reports for address, reason in report.broken.items()}
    return dg.MaterializeResult(
        metadata={
            "transfers": sum(report.transfers for report in reports),
            "read": len(reports),
            "cpu_s": time.process_time() - began_s,
            "stored_by_another_worker": sum(not report.stored for report in reports),
            "broken_tokens": dg.MetadataValue.json(broken),
        }
    )


def _told(context: dg.AssetExecutionContext) -> Callable[[PartitionReport], None]:
    def tell(report: PartitionReport) -> None:
        context.log.info(f"{report.partition.key}: {report.transfers} transfers")

    return tell


def runs_of(missing: Iterable[str], known: Sequence[str], at_most: int = PARTITIONS_PER_RUN) -> list[tuple[str, str]]:
    """Returns the first and the last partition of each run to request.

    The partitions of a run are consecutive among all that are `known`, since Dagster looks up a run's range there.
    """
    wanted = set(missing)
    runs: list[tuple[str, str]] = []
    length = 0
    for key in known:
        if key not in wanted:
            length = 0
        elif 0 < length < at_most:
            runs[-1] = (runs[-1][0], key)
            length += 1
        else:
            runs.append((key, key))
            length = 1
    return runs


@dg.op(description="Deletes partitions that nobody needs any more: see `warehouse/token/partition_retention.py`.")
def prune(context: dg.OpExecutionContext, settings: dg.ResourceParam[Settings]) -> None:
    """Deletes files of failed attempts, and partitions of another size that are replaced."""
    assert settings.partition_blocks is not None
    pruned = prune_partitions(partition_store(settings), read_tokens(settings), settings.partition_blocks)
    context.log.info(f"deleted {pruned.partitions} replaced partitions and {pruned.files} files")


@dg.job(name=PRUNING, executor_def=dg.in_process_executor)
def prune_job() -> None:
    """Prunes the partitions in the store, while workers continue."""
    prune()


PRUNED_DAILY = dg.ScheduleDefinition(
    job=prune_job, cron_schedule="17 3 * * *", default_status=dg.DefaultScheduleStatus.RUNNING
)


def partitions_sensor(settings: Settings) -> dg.SensorDefinition:
    """Builds the sensor that requests runs."""

    @dg.sensor(
        name="missing_partitions",
        job_name=JOB,
        minimum_interval_seconds=30,
        default_status=dg.DefaultSensorStatus.RUNNING,
        description="Requests the partitions below finality that the store lacks and no run is reading.",
    )
    def sensor(context: dg.SensorEvaluationContext) -> dg.SensorResult | dg.SkipReason:
        try:
            head = asyncio.run(poll_chain(settings))
            missing = missing_partitions(settings, head.finalized.number)
        except OperatorProblem as problem:
            return dg.SkipReason(f"{problem.code}: {problem}")
        instance = context.instance
        known = list(instance.get_dynamic_partitions("blocks"))
        new = [partition.key for partition in sorted(missing) if partition.key not in set(known)]
        order = [*known, *new]
        going_on = _read_now(instance, order)
        room = ASKED_AT_ONCE - len(going_on)
        runs = runs_of({partition.key for partition in missing} - set().union(*going_on), order)[: max(0, room)]
        return dg.SensorResult(
            dynamic_partitions_requests=[BLOCKS.build_add_request(new)] if new else [],
            run_requests=[
                dg.RunRequest(tags={ASSET_PARTITION_RANGE_START_TAG: first, ASSET_PARTITION_RANGE_END_TAG: last})
                for first, last in runs
            ],
        )

    return sensor


def _read_now(instance: dg.DagsterInstance, order: Sequence[str]) -> list[set[str]]:
    """Returns the partitions of each run that is waiting or in progress."""
    place = {key: index for index, key in enumerate(order)}
    read: list[set[str]] = []
    for run in instance.get_runs(dg.RunsFilter(job_name=JOB, statuses=UNFINISHED)):
        first, last = run.tags.get(ASSET_PARTITION_RANGE_START_TAG), run.tags.get(ASSET_PARTITION_RANGE_END_TAG)
        if first in place and last in place:
            read.append(set(order[place[first] : place[last] + 1]))
    return read


def build_worker_definitions(settings: Settings) -> dg.Definitions:
    """Returns the definitions for the workers of one installation."""
    job = dg.define_asset_job(JOB, selection=[raw_chain__transfers], executor_def=dg.in_process_executor)
    return dg.Definitions(
        assets=[raw_chain__transfers],
        jobs=[job, prune_job],
        schedules=[PRUNED_DAILY],
        sensors=[partitions_sensor(settings)],
        resources={"settings": dg.ResourceDefinition.hardcoded_resource(settings)},
        loggers={"console": dg.json_console_logger if settings.log_format == "json" else dg.colored_console_logger},
        executor=dg.in_process_executor,
    )


@dg.definitions
def definitions() -> dg.Definitions:
    """Returns the definitions for the environment's settings. Raises `SettingsInvalid` if workers need more."""
    keep_files_private()
    settings = load_settings()
    require_workers(settings)
    return build_worker_definitions(settings)
