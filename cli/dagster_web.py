"""Dagster's web server behind a check of Host and Origin: `python -m cli.dagster_web`, which `svc run` starts.

The check wraps the application inside the process, so that no port bypasses it. The server listens on the loopback
address whatever SVC_HOST is, because Dagster has no user accounts.
"""

import argparse
import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from warehouse.cycles import collect_rarely, while_importing

with while_importing():
    import uvicorn
    from dagster import DagsterInstance
    from dagster_webserver.app import create_app_from_workspace_process_context
    from dagster_webserver.cli import (
        DEFAULT_DB_STATEMENT_TIMEOUT,
        DEFAULT_POOL_MAX_OVERFLOW,
        DEFAULT_POOL_RECYCLE,
    )
    from dagster_webserver.version import __version__

    from cli.dagster_logs import configure_dagster_logs
    from cli.dagster_workspace import open_workspace
    from cli.http_server import serve_until_signal
    from cli.same_origin import LOOPBACK_ADDRESS, SameOrigin
    from contracts.settings import load_settings

WORKSPACE = Path(__file__).resolve().parents[1] / "workspace.yaml"


def serve_dagster(workspace: Path, port: int, *, may_launch: bool) -> None:
    """Serves the instance of DAGSTER_HOME until a signal arrives. Without `may_launch`, refuses every mutation."""
    configure_dagster_logs(load_settings().log_format)
    with DagsterInstance.get() as instance:
        instance.optimize_for_webserver(DEFAULT_DB_STATEMENT_TIMEOUT, DEFAULT_POOL_RECYCLE, DEFAULT_POOL_MAX_OVERFLOW)
        with open_workspace(instance, workspace, version=__version__, read_only=not may_launch) as context:
            application = create_app_from_workspace_process_context(context, lifespan=_lifespan)
            guarded = SameOrigin(application)
            serve_until_signal(
                uvicorn.Config(guarded, host=LOOPBACK_ADDRESS, port=port, log_level="warning", server_header=False)
            )


@asynccontextmanager
async def _lifespan(_application: object) -> AsyncIterator[None]:
    """Ends quietly, like Dagster's own lifespan, when uvicorn cancels work in progress."""
    with suppress(asyncio.CancelledError):
        yield


def main() -> None:
    """Parses the arguments that `svc run` passes."""
    parser = argparse.ArgumentParser(prog="python -m cli.dagster_web", description=__doc__)
    parser.add_argument("--workspace", type=Path, default=WORKSPACE)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--may-launch", action="store_true", help="Let its pages launch runs and switch schedules.")
    arguments = parser.parse_args()
    collect_rarely()
    serve_dagster(arguments.workspace, arguments.port, may_launch=arguments.may_launch)


if __name__ == "__main__":
    main()
