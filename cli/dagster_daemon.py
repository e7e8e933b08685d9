"""Dagster's daemon at the pace that this service needs: `python -m cli.dagster_daemon`, which `svc run` starts.

Dagster's own command reloads the whole code location every minute and writes a heartbeat per daemon twice a minute.
Here the code changes only with a restart.
"""

import argparse
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from cli.process_end import run_and_end
from warehouse.cycles import collect_rarely, while_importing

with while_importing():
    from dagster import DagsterInstance
    from dagster._core.workspace.context import IWorkspaceProcessContext
    from dagster._daemon.controller import DagsterDaemonController, create_daemons_from_instance
    from dagster._time import get_current_timestamp
    from dagster._utils.interrupts import capture_interrupts, setup_interrupt_handlers

    from cli.dagster_logs import configure_dagster_logs
    from cli.dagster_workspace import open_workspace
    from contracts.settings import load_settings

RELOADED_EVERY_S = 1800.0
"""Time between two loads of a code location that loaded successfully."""

HEARTBEAT_EVERY_S = 300
"""Dagster's pages report a daemon as unhealthy after half an hour without a heartbeat."""


class PatientController(DagsterDaemonController):
    """Dagster's controller, changed to reload a code location early only if it could not be loaded."""

    def check_workspace_freshness(self, last_workspace_update_time: float) -> float:
        rests = get_current_timestamp() - last_workspace_update_time < RELOADED_EVERY_S
        if rests and is_readable(self._workspace_process_context):
            return last_workspace_update_time
        return super().check_workspace_freshness(last_workspace_update_time)


def is_readable(workspace: IWorkspaceProcessContext[Any]) -> bool:
    """Returns whether every code location of a workspace was loaded."""
    entries = workspace.create_request_context().get_code_location_entries()
    return all(entry.code_location is not None for entry in entries.values())


@contextmanager
def running_daemon(instance: DagsterInstance, workspace: Path) -> Iterator[PatientController]:
    """Runs the daemons that the instance needs."""
    with ExitStack() as stack:
        daemons = [stack.enter_context(daemon) for daemon in create_daemons_from_instance(instance)]
        context = stack.enter_context(open_workspace(instance, workspace))
        yield stack.enter_context(PatientController(context, daemons, heartbeat_interval_seconds=HEARTBEAT_EVERY_S))


def main() -> None:
    """Parses the arguments that `svc run` passes, and runs until a signal arrives."""
    parser = argparse.ArgumentParser(prog="python -m cli.dagster_daemon", description=__doc__)
    parser.add_argument("--workspace", type=Path, required=True)
    arguments = parser.parse_args()
    collect_rarely()
    setup_interrupt_handlers()
    configure_dagster_logs(load_settings().log_format)
    try:
        with (
            capture_interrupts(),
            DagsterInstance.get() as instance,
            running_daemon(instance, arguments.workspace) as controller,
        ):
            controller.check_daemon_loop()
    except KeyboardInterrupt:
        return


if __name__ == "__main__":
    run_and_end(main)
