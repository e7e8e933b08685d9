"""Opens the workspace of Dagster's daemon and web server, whose only code location is one server of `svc run`."""

from pathlib import Path

from dagster import DagsterInstance
from dagster._core.workspace.context import WorkspaceProcessContext
from dagster._core.workspace.load_target import WorkspaceFileTarget
from dagster._grpc import server_watcher

WATCHED_EVERY_S = 15
"""Dagster asks the code server every second, over a connection of its own each time, whether it is another one by now.
It is only after a crash: then ticks of the schedules tell so themselves, and pages show the new one this much later."""


def open_workspace(
    instance: DagsterInstance, workspace: Path, *, version: str = "", read_only: bool = False
) -> WorkspaceProcessContext:
    """Opens a workspace file."""
    server_watcher.WATCH_INTERVAL = WATCHED_EVERY_S
    return WorkspaceProcessContext(
        instance, WorkspaceFileTarget([str(workspace)]), version=version, read_only=read_only
    )
