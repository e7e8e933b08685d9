"""Hands Dagster's runs to the warm worker, through a named pipe in Dagster's home. `worker.py` reads the other end."""

import errno
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

import psutil
from dagster._core.launcher import CheckRunHealthResult, LaunchRunContext, RunLauncher, WorkerStatus
from dagster._core.storage.dagster_run import DagsterRun
from dagster._serdes import ConfigurableClass, ConfigurableClassData

from pipelines.runs import PROCESS_TAG, is_taken, process_of

PIPE = "worker.pipe"
KILL_AFTER_S = 3.0
"""Seconds after which a process that ignores SIGTERM is killed."""


def hand_over(home: Path, run_id: str) -> bool:
    """Writes a run's id to the worker's pipe. Returns False if no worker reads it; a worker that starts later finds the
    run.

    Writes of lines this short are atomic, even if other processes write at the same time.
    """
    try:
        pipe = os.open(home / PIPE, os.O_WRONLY | os.O_NONBLOCK)
    except OSError as error:
        if error.errno in (errno.ENXIO, errno.ENOENT):
            return False
        raise
    try:
        os.write(pipe, f"{run_id}\n".encode())
    finally:
        os.close(pipe)
    return True


class WorkerLauncher(RunLauncher[Any], ConfigurableClass):
    """Dagster's launcher of runs. A run gets no separate process, whose imports would take seconds of CPU time."""

    def __init__(self, inst_data: ConfigurableClassData | None = None) -> None:
        self._inst_data = inst_data
        super().__init__()  # type: ignore[no-untyped-call]

    @property
    def inst_data(self) -> ConfigurableClassData | None:
        """Returns the configuration from which Dagster created this object."""
        return self._inst_data

    @classmethod
    def config_type(cls) -> dict[str, Any]:
        """Returns the options: none."""
        return {}

    @classmethod
    def from_config_value(cls, inst_data: ConfigurableClassData | None, config_value: Mapping[str, Any]) -> Self:
        """Creates the launcher for Dagster."""
        return cls(inst_data=inst_data)

    def launch_run(self, context: LaunchRunContext) -> None:
        """Hands the run over. Without a worker the run waits for one, until Dagster's monitoring ends it."""
        run = context.dagster_run
        if is_taken(run):  # a retry has the tags of the previous run
            self._instance.add_run_tags(run.run_id, {PROCESS_TAG: ""})
        if not hand_over(Path(self._instance.root_directory), run.run_id):
            self._instance.report_engine_event("No worker is running; the next one takes this run.", run)

    def terminate(self, run_id: str) -> bool:
        """Ends the process of a run, which `svc run` restarts: a single thread of it could not be ended.

        Returns False if the run has ended.
        """
        run = self._instance.get_run_by_id(run_id)
        if run is None or run.is_finished:
            return False
        self._instance.report_run_canceling(run)
        process = process_of(run)
        if process is not None:
            process.terminate()
            try:
                process.wait(KILL_AFTER_S)
            except psutil.TimeoutExpired:
                process.kill()
        self._instance.report_run_canceled(run)
        return True

    @property
    def supports_check_run_worker_health(self) -> bool:
        """Returns True, so that Dagster's monitoring ends runs whose process is gone."""
        return True

    def check_run_worker_health(self, run: DagsterRun) -> CheckRunHealthResult:
        """Reports whether the process of a run is alive."""
        if not is_taken(run):
            return CheckRunHealthResult(WorkerStatus.UNKNOWN, "No process has taken this run.")
        if process_of(run) is None:
            return CheckRunHealthResult(WorkerStatus.FAILED, "The process of this run is gone.")
        return CheckRunHealthResult(WorkerStatus.RUNNING)
