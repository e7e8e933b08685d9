"""The process of `svc`."""

from cli.app import app
from cli.process_end import run_and_end


def command_line() -> None:
    """Runs `svc`."""
    run_and_end(app)
