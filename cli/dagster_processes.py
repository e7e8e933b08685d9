"""Builds the commands of the Dagster processes that `svc run` and `svc ingest` start, and checks if a server listens.

Both of these commands supervise their processes themselves.
"""

import socket
import sys
from pathlib import Path

from pipelines.instance import LOCATION_NAME

ROOT = Path(__file__).resolve().parents[1]
BIN = Path(sys.executable).parent
LISTENING_WITHIN_S = 300.0
"""Time within which a Dagster code server or web server must listen."""


def code_server(socket_path: Path, module: str, *, lazy: bool) -> list[str]:
    """Builds the command of `module`'s code server. A `lazy` one listens first and imports on its first request."""
    command = [sys.executable, "-P", "-m", "cli.dagster_code", "--socket", str(socket_path), "--module-name", module]
    command += ["--working-directory", str(ROOT), "--location-name", LOCATION_NAME]
    return [*command, *(["--lazy-load-user-code"] if lazy else [])]


def daemon(workspace: Path) -> list[str]:
    """Builds the command of Dagster's daemon."""
    return [sys.executable, "-P", "-m", "cli.dagster_daemon", "--workspace", str(workspace)]


def is_listening(path: Path) -> bool:
    """Returns whether a process accepts connections on a Unix socket."""
    with socket.socket(socket.AF_UNIX) as probe:
        try:
            probe.connect(str(path))
        except OSError:
            return False
    return True
