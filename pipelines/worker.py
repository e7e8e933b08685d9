"""Executes the runs that Dagster launches in one warm process, `python -m pipelines.worker`, which `svc run` starts and
restarts.

Jobs of one lane run one after another, jobs of different lanes in parallel: DuckDB allows only one writing process, but
several writing threads. The next worker or Dagster's monitoring ends everything that a killed worker leaves behind.
"""

import fcntl
import logging
import logging.config
import os
import selectors
import signal
import sys
import time
from collections.abc import Callable, Iterator, Set
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path

import dagster as dg
from dagster._core.definitions.job_base import InMemoryJob
from dagster._core.execution.api import execute_run_iterator

from contracts.errors import OperatorProblem
from contracts.logs import log_config, log_fields
from contracts.settings import Settings, load_settings
from pipelines.alerts import send_alerts
from pipelines.checks import warm_up
from pipelines.definitions import build_definitions
from pipelines.instance import FIRST_RUN_MARK, prepare_home
from pipelines.launcher import PIPE
from pipelines.run_status import record_run_status
from pipelines.runs import (
    PROCESS_TAG,
    a_run_is_on,
    end_lost_runs,
    is_taken,
    opened_instance,
    this_process,
    undone_since,
    unfinished_runs,
)
from pipelines.schedules import CHAIN_JOB, CHAIN_LANE, JOBS, MARKET_LANE
from pipelines.step_spans import StepSpans
from warehouse.cycles import collect_rarely, while_importing
from warehouse.discovery.run_status import read_run_status
from warehouse.file_modes import keep_files_private
from warehouse.tracing import span, trace_process

LOOK_EVERY_S = 30.0
"""The interval at which the worker looks for runs that others, such as Dagster's monitoring, have ended."""

PRICES_AGAIN_AFTER_S = 45.0
"""While Dagster's daemon is starting, prices are read again at the first look after this many seconds, and so at least
once a minute."""

logger = logging.getLogger("svc.worker")


class WorkerRunning(OperatorProblem):
    """Another worker serves this data directory."""

    code = "worker_running"


@contextmanager
def only_worker(home: Path) -> Iterator[None]:
    """Makes this process the only worker of a Dagster home until it ends, however it ends. Raises `WorkerRunning`."""
    with (home / "worker.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise WorkerRunning(
                f"A worker is already running on {home}.", cure="Stop it first; `svc run` starts one by itself."
            ) from None
        yield


class _HookedJob(InMemoryJob):
    """A job whose subsets keep its hooks, which Dagster would drop."""

    def get_subset(
        self,
        *,
        op_selection: object = None,
        asset_selection: Set[dg.AssetKey] | None = None,
        asset_check_selection: Set[dg.AssetCheckKey] | None = None,
    ) -> InMemoryJob:
        assets = None if asset_selection is None else frozenset(asset_selection)
        checks = None if asset_check_selection is None else frozenset(asset_check_selection)
        return InMemoryJob(_chosen(self._job_def, assets, checks))


@lru_cache(maxsize=16)
def _chosen(
    job: dg.JobDefinition, assets: frozenset[dg.AssetKey] | None, checks: frozenset[dg.AssetCheckKey] | None
) -> dg.JobDefinition:
    """Returns the subset of a job for these assets. Cached, since most runs select the same ones as earlier runs."""
    chosen = job.get_subset(asset_selection=assets, asset_check_selection=checks)
    return chosen.with_hooks(job.hook_defs) if job.hook_defs else chosen


class Worker:
    """The runs of one process: a queue and a thread for each lane."""

    def __init__(
        self, settings: Settings, instance: dg.DagsterInstance, *, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._monotonic = monotonic
        self._settings = settings
        self._instance = instance
        self._definitions = build_definitions(settings)
        self._lane_of = {job.name: job.lane for job in JOBS}
        self._lanes = {
            lane: ThreadPoolExecutor(1, thread_name_prefix=f"lane {lane}") for lane in {job.lane for job in JOBS}
        }
        self._alerts = ThreadPoolExecutor(1, thread_name_prefix="alerts")
        self._launched: set[str] = set()
        self._prices_launched_s = monotonic()
        self._daemon_launches = False

    def recover(self) -> None:
        """Ends runs whose process is gone, and takes runs that were launched while no worker was running."""
        end_lost_runs(self._instance, unfinished_runs(self._instance))
        mark = Path(self._instance.root_directory) / FIRST_RUN_MARK
        if mark.exists():
            # Dagster's daemon, or a schedule that checks for runs in progress, may have ended it before this worker.
            if not undone_since(self._instance, datetime.fromtimestamp(mark.stat().st_mtime, UTC)):
                self._record_lost_first_run()
            mark.unlink()
        waiting = self._instance.get_runs(dg.RunsFilter(statuses=[dg.DagsterRunStatus.STARTING]))
        for run in reversed(waiting):
            if not is_taken(run):
                self.take(run.run_id)
        self.look()

    def _record_lost_first_run(self) -> None:
        """Records a failed run of the chain for a first run that was killed before it began one, for example during its
        imports. If the chain was read before, nothing is lost, since new blocks are due as usual.
        """
        chain = read_run_status(self._settings.data_dir).jobs.get(CHAIN_JOB)
        if self._settings.token_address is None or (chain is not None and chain.last_success_at is not None):
            return
        job = self._definitions.resolve_job_def(CHAIN_JOB)
        run = self._instance.create_run_for_job(job, tags={"why": "the service has started"})
        self._instance.report_run_failed(run, "The process of this run was gone before it began.")

    def idle(self) -> None:
        """Calls `look`, and launches prices until Dagster's daemon has launched its first run: on a busy machine the
        daemon takes longer to reach its first tick than a price is valid."""
        self.look()
        if not self._daemon_launches and self._monotonic() - self._prices_launched_s >= PRICES_AGAIN_AFTER_S:
            self.launch_prices()

    def launch_prices(self) -> None:
        """Launches the due runs of prices, since the daemon's next tick may come after a price has expired."""
        self._prices_launched_s = self._monotonic()
        for job in JOBS:
            if job.lane == MARKET_LANE and not a_run_is_on(self._instance, (job.name,)):
                why = job.due(self._settings, datetime.now(UTC))
                if why is not None:
                    made = self._definitions.resolve_job_def(job.name)
                    run = self._instance.create_run_for_job(made, tags={**job.tags, "why": "the worker has started"})
                    self._launched.add(run.run_id)
                    self._instance.launch_run(run.run_id, workspace=None)  # type: ignore[arg-type]  # our launcher asks none

    def receive(self, run_id: str) -> None:
        """Takes a run that was handed over, and records if the daemon launched it."""
        if run_id in self._launched:
            self._launched.remove(run_id)
        else:
            self._daemon_launches = True
        self.take(run_id)

    def take(self, run_id: str) -> None:
        """Queues a run in its job's lane."""
        run = self._instance.get_run_by_id(run_id)
        if run is not None:
            self._lanes[self._lane_of.get(run.job_name, CHAIN_LANE)].submit(self._execute, run_id)

    def look(self) -> None:
        """Records the status of runs, and sends the resulting alerts, in a separate thread."""
        self._alerts.submit(self._look)

    def _execute(self, run_id: str) -> None:
        try:
            run = self._instance.get_run_by_id(run_id)
            if run is None or run.status is not dg.DagsterRunStatus.STARTING or is_taken(run):
                return  # taken before, cancelled or timed out meanwhile
            self._instance.add_run_tags(run_id, {PROCESS_TAG: this_process()})
            job = _HookedJob(self._definitions.resolve_job_def(run.job_name))
            with (
                log_fields(run_id=run_id, job=run.job_name),
                span(f"run {run.job_name}", attributes={"svc.run_id": run_id, "svc.job": run.job_name}),
                StepSpans() as steps,
            ):
                for event in execute_run_iterator(job, run, self._instance):
                    steps.follow(event)
        except Exception:  # the lane must continue, whatever one run does
            logger.exception("run %s", run_id)
            with suppress(Exception):
                self._fail(run_id)
        finally:
            self.look()

    def _fail(self, run_id: str) -> None:
        run = self._instance.get_run_by_id(run_id)
        if run is not None and not run.is_finished:
            self._instance.report_run_failed(run, "The worker could not execute this run; its log says why.")

    def _look(self) -> None:
        try:
            send_alerts(self._settings, record_run_status(self._settings, self._instance, datetime.now(UTC)))
        except Exception:
            logger.exception("the status of runs")


def serve(settings: Settings) -> None:
    """Takes and executes runs until the process is ended. Raises `WorkerRunning`."""
    home = prepare_home(settings.data_dir)
    with only_worker(home), opened_instance(settings.data_dir) as instance:
        pipe_path = home / PIPE
        if not pipe_path.is_fifo():
            pipe_path.unlink(missing_ok=True)
            os.mkfifo(pipe_path, 0o600)
        # Opened for writing too, so that it doesn't reach its end when the last launcher closes it.
        pipe = os.open(pipe_path, os.O_RDWR | os.O_NONBLOCK)
        # Half of a run's work was garbage collection, which walked a million objects that live for ever.
        with while_importing():
            worker = Worker(settings, instance)
            # Before any thread starts: the import registers types with SQLAlchemy, and a run in parallel would find
            # only some of them registered.
            warm_up()
        collect_rarely()
        worker.recover()
        worker.launch_prices()
        # No clean-up at the end: whatever a killed worker leaves is repaired anyway, and threads can't be ended.
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        for run_id in _lines(pipe, worker.idle):
            worker.receive(run_id)


def _lines(pipe: int, idle: Callable[[], None]) -> Iterator[str]:
    """Yields lines of the pipe, and calls `idle` whenever none arrives for `LOOK_EVERY_S`."""
    rest = b""
    with selectors.DefaultSelector() as selector:
        selector.register(pipe, selectors.EVENT_READ)
        while True:
            if not selector.select(LOOK_EVERY_S):
                idle()
                continue
            *lines, rest = (rest + os.read(pipe, 1 << 16)).split(b"\n")
            yield from (line.decode() for line in lines)


def main() -> None:
    """Runs the worker with the environment's settings."""
    keep_files_private()
    try:
        settings = load_settings()
        logging.config.dictConfig(log_config(settings.log_format))
        trace_process(settings, "worker")
        serve(settings)
    except OperatorProblem as problem:
        sys.exit(f"{problem} {problem.cure}")


if __name__ == "__main__":
    main()
