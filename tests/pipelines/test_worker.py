"""The warm worker as a separate process: what it runs, what a kill leaves behind, and what ends a hanging run."""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

import dagster as dg
import psutil
import pytest
from collector import CollectedSpan, Collector, collector
from forked import ForkedProcess, forked
from patience import HANG_S
from rounds import ROUNDS
from worker_process import work

from contracts.settings import Settings
from pipelines.definitions import build_definitions
from pipelines.instance import prepare_home
from pipelines.launcher import PIPE, hand_over
from pipelines.runs import end_lost_runs, is_taken, opened_instance, process_of, unfinished_runs
from pipelines.worker import Worker, WorkerRunning, only_worker
from warehouse.discovery.run_status import EndedRun, read_run_status, update_run_status, with_run
from warehouse.duck.connection import run_lock

STATUS = dg.DagsterRunStatus

T = TypeVar("T")


class Bench:
    """A data directory, its Dagster instance, and the workers that serve it."""

    def __init__(self, data_dir: Path, instance: dg.DagsterInstance, collected: Collector, opened: ExitStack) -> None:
        self.data_dir = data_dir
        self.collector = collected
        self.instance = instance
        self.definitions = build_definitions(Settings(data_dir=data_dir, _env_file=None))
        self._opened = opened

    def worker(self) -> ForkedProcess:
        return self._opened.enter_context(forked(work, self.data_dir, self.collector.url))

    def launch(self, job_name: str) -> str:
        """Launches a run as Dagster's daemon does."""
        run = self.instance.create_run_for_job(self.definitions.resolve_job_def(job_name))
        self.instance.launch_run(run.run_id, workspace=None)
        return run.run_id

    def run(self, run_id: str) -> dg.DagsterRun:
        run = self.instance.get_run_by_id(run_id)
        assert run is not None
        return run

    def until(self, condition: Callable[[], T]) -> T:
        deadline = time.monotonic() + HANG_S
        while not (found := condition()):
            assert time.monotonic() < deadline, (self.data_dir / "worker.log").read_text()
            time.sleep(0.05)
        return found

    def spans(self, name: str) -> list[CollectedSpan]:
        """Returns the spans of that name that have reached the collector."""
        return [span for span in self.collector.spans if span.name == name]

    def ended(self, run_id: str) -> dg.DagsterRunStatus:
        self.until(lambda: self.run(run_id).is_finished)
        return self.run(run_id).status

    def errors(self, run_id: str) -> str:
        """Returns the reason why a run failed, and the worker's log."""
        failures = {dg.DagsterEventType.RUN_FAILURE, dg.DagsterEventType.STEP_FAILURE}
        events = self.instance.all_logs(run_id, of_type=failures)
        return "\n".join([*(str(event) for event in events), (self.data_dir / "worker.log").read_text()])


@contextmanager
def bench(data_dir: Path) -> Iterator[Bench]:
    prepare_home(data_dir)
    with opened_instance(data_dir) as instance, collector() as collected, ExitStack() as opened:
        yield Bench(data_dir, instance, collected, opened)


def test_runs_are_executed_killed_taken_up_and_ended(tmp_path: Path):
    """A single test, because each worker takes seconds of CPU to start."""
    with bench(tmp_path) as at:
        waiting = at.launch("upkeep")
        assert at.run(waiting).status is STATUS.STARTING, "no worker is there to take it"
        first = at.worker()
        assert at.ended(waiting) is STATUS.SUCCESS, "a starting worker takes the waiting runs"

        run = next(iter(at.until(lambda: at.spans("run upkeep"))))
        steps = [span for span in at.collector.spans if span.parent_id == run.span_id]
        assert run.attributes == {"svc.run_id": waiting, "svc.job": "upkeep"}
        assert {(span.name.split()[0], span.attributes["svc.succeeded"]) for span in steps} == {("step", True)}

        with pytest.raises(WorkerRunning, match="A worker is already running"), only_worker(prepare_home(tmp_path)):
            pass  # two workers would write one warehouse
        if ROUNDS > 1:
            assert at.worker().wait(HANG_S) != 0
            assert "A worker is already running" in (tmp_path / "worker.log").read_text()

        runs = [at.launch(name) for name in ("upkeep", "prices") * 2]
        assert {at.ended(run) for run in runs} == {STATUS.SUCCESS}, "lanes run in parallel"
        assert {process_of(at.run(run)) for run in runs} == {psutil.Process(first.pid)}

        with run_lock(tmp_path, wait_s=10):  # while the lock is held, the run waits
            lost, behind = at.launch("prices"), at.launch("prices")
            at.until(lambda: at.run(lost).status is STATUS.STARTED)
            first.kill()
            first.wait()
            assert at.run(behind).status is STATUS.STARTING
            assert not is_taken(at.run(behind))
        third = at.worker()
        assert at.ended(lost) is STATUS.FAILURE, "nothing goes on for it"
        assert at.ended(behind) is STATUS.SUCCESS, at.errors(behind)
        at.until(lambda: "prices" in read_run_status(tmp_path).jobs)
        at.until(lambda: read_run_status(tmp_path).jobs["prices"].runs == 4)
        assert read_run_status(tmp_path).jobs["prices"].failures == 1

        with run_lock(tmp_path, wait_s=10):
            hanging = at.launch("prices")
            at.until(lambda: at.run(hanging).status is STATUS.STARTED)
            assert at.instance.run_launcher.terminate(hanging), (
                "as Dagster's monitoring does after the longest run time"
            )
            third.wait(HANG_S)  # a thread can't be stopped, but its process can
        assert at.ended(hanging) is STATUS.CANCELED
        assert not at.instance.run_launcher.terminate(hanging), "it has ended"


def test_a_retry_is_launched_as_a_run_that_no_worker_has_taken(tmp_path: Path):
    with bench(tmp_path) as at:
        job = at.definitions.resolve_job_def("upkeep")
        this = psutil.Process()
        run = at.instance.create_run_for_job(job, tags={"svc/process": f"{this.pid} {this.create_time():.2f}"})
        at.instance.launch_run(run.run_id, workspace=None)
        assert not is_taken(at.run(run.run_id))
        assert end_lost_runs(at.instance, unfinished_runs(at.instance)) == 0


def test_a_first_run_that_was_killed_before_dagster_knew_of_it_is_recorded_as_a_lost_run_of_the_chain(tmp_path: Path):
    with bench(tmp_path) as at:
        (prepare_home(tmp_path) / "first-run").touch()
        worker = Worker(Settings(data_dir=tmp_path, token_address="0x" + "70" * 20, _env_file=None), at.instance)
        worker.recover()
        assert [(run.job_name, run.status) for run in at.instance.get_runs()] == [("chain", STATUS.FAILURE)]
        at.until(lambda: "chain" in read_run_status(tmp_path).jobs)
        chain = read_run_status(tmp_path).jobs["chain"]
        assert (chain.reason, chain.consecutive_failures, chain.last_why) == (
            "process_lost",
            1,
            "the service has started",
        )
        assert not (tmp_path / "dagster/first-run").exists()
        worker.recover()
        assert len(at.instance.get_runs()) == 1, "it is recorded once"


@pytest.mark.parametrize("is_ended", [False, True], ids=["found by the worker", "ended by the daemon before"])
def test_a_first_run_that_was_killed_within_a_run_of_dagster_is_that_lost_run(tmp_path: Path, is_ended: bool):
    with bench(tmp_path) as at:
        (prepare_home(tmp_path) / "first-run").touch()
        job = at.definitions.resolve_job_def("chain")
        lost = at.instance.create_run_for_job(job, tags={"svc/process": "1 0.00"})
        if is_ended:
            assert end_lost_runs(at.instance, unfinished_runs(at.instance)) == 1
        Worker(Settings(data_dir=tmp_path, token_address="0x" + "70" * 20, _env_file=None), at.instance).recover()
        assert [(run.run_id, run.status) for run in at.instance.get_runs()] == [(lost.run_id, STATUS.FAILURE)]
        assert not (tmp_path / "dagster/first-run").exists()


def test_a_signal_that_ended_the_first_run_within_a_run_of_dagster_has_canceled_that_run(tmp_path: Path):
    with bench(tmp_path) as at:
        (prepare_home(tmp_path) / "first-run").touch()
        job = at.definitions.resolve_job_def("chain")
        ended = at.instance.create_run_for_job(job, tags={"svc/process": "1 0.00"})
        at.instance.report_run_canceled(ended)
        Worker(Settings(data_dir=tmp_path, token_address="0x" + "70" * 20, _env_file=None), at.instance).recover()
        assert [(run.run_id, run.status) for run in at.instance.get_runs()] == [(ended.run_id, STATUS.CANCELED)]


@pytest.mark.parametrize("token", [None, "0x" + "70" * 20], ids=["without a token", "of a chain that was read before"])
def test_a_killed_first_run_that_may_have_had_nothing_to_do_fails_no_job(tmp_path: Path, token: str | None):
    read = EndedRun("chain", "success", datetime(2026, 11, 20, 12, 0, tzinfo=UTC), 1.0)
    update_run_status(tmp_path, lambda status: with_run(status, read) if token else status)
    with bench(tmp_path) as at:
        (prepare_home(tmp_path) / "first-run").touch()
        Worker(Settings(data_dir=tmp_path, token_address=token, _env_file=None), at.instance).recover()
        assert at.instance.get_runs() == []
        assert not (tmp_path / "dagster/first-run").exists()


def test_a_worker_that_starts_launches_prices_once_where_a_source_is_configured(tmp_path: Path):
    with bench(tmp_path) as at:
        Worker(Settings(data_dir=tmp_path, _env_file=None), at.instance).launch_prices()
        assert at.instance.get_runs() == []
        worker = Worker(Settings(data_dir=tmp_path, coinbase_url="http://127.0.0.1:9", _env_file=None), at.instance)
        worker.launch_prices()
        worker.launch_prices()
        assert [(run.job_name, run.status) for run in at.instance.get_runs()] == [("prices", STATUS.STARTING)]


def test_prices_are_launched_once_a_minute_until_the_daemon_launches_a_run(tmp_path: Path):
    """Two minutes of a daemon that starts slowly, sampled every 30 s; then the daemon has launched its first run."""
    now_s = 0.0
    with bench(tmp_path) as at:
        settings = Settings(data_dir=tmp_path, coinbase_url="http://127.0.0.1:9", _env_file=None)
        worker = Worker(settings, at.instance, monotonic=lambda: now_s)
        worker.launch_prices()
        launched = []
        for looked_at_s in (30.0, 60.0, 90.0, 120.0):
            now_s = looked_at_s
            for run in at.instance.get_runs(dg.RunsFilter(statuses=[STATUS.STARTING])):
                at.instance.report_run_canceled(run)
                worker.receive(run.run_id)
            worker.idle()
            launched.append(len(at.instance.get_runs()))
        assert launched == [1, 2, 2, 3]
        at.instance.report_run_canceled(at.run(by_daemon := at.launch("upkeep")))
        worker.receive(by_daemon)
        now_s = 300.0
        worker.idle()
        assert [run.run_id for run in at.instance.get_runs(limit=1)] == [by_daemon]


@pytest.mark.parametrize("there", [False, True])
def test_without_a_reader_nothing_is_handed_over(tmp_path: Path, there: bool):
    if there:
        os.mkfifo(tmp_path / PIPE)
    assert not hand_over(tmp_path, "id")


def test_the_health_of_a_run_is_that_of_its_process(tmp_path: Path):
    with bench(tmp_path) as at:
        job, launcher = at.definitions.resolve_job_def("upkeep"), at.instance.run_launcher
        this = psutil.Process()

        def health(**tags: str) -> str:
            named = {name.replace("__", "/"): value for name, value in tags.items()}
            return launcher.check_run_worker_health(at.instance.create_run_for_job(job, tags=named)).status.value

        assert health() == "UNKNOWN"
        assert health(svc__process=f"{this.pid} {this.create_time():.2f}") == "RUNNING"
        assert health(svc__process=f"{this.pid} 1.00") == "FAILED"
