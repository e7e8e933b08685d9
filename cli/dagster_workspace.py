"""Opens the workspace of Dagster's daemon and web server, whose only code location is the code server of `svc run`."""

from pathlib import Path

from dagster import DagsterInstance
from dagster._core.workspace.context import WorkspaceProcessContext
from dagster._core.workspace.load_target import WorkspaceFileTarget
from dagster._grpc import server_watcher

WATCHED_EVERY_S = 15
"""Dagster checks every second, each time over a new connection, whether the code server has been replaced. That happens
only after a crash. Schedule ticks then notice by themselves, and pages show the new server this much later."""


def open_workspace(
    instance: DagsterInstance, workspace: Path, *, version: str = "", read_only: bool = False
) -> WorkspaceProcessContext:
    """Opens a workspace file."""
    server_watcher.WATCH_INTERVAL = WATCHED_EVERY_S
    return WorkspaceProcessContext(
        instance, WorkspaceFileTarget([str(workspace)]), version=version, read_only=read_only
    )
