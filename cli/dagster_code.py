"""Dagster's code server, which sleeps until it gets a request: `python -m cli.dagster_code`.

`svc run` and `svc ingest` start it.

gRPC's server wakes ten times a second to handle signals on platforms whose events can't be interrupted. Here they can.
"""

import sys

from cli.process_end import run_and_end
from warehouse.cycles import collect_rarely, while_importing

with while_importing():
    from dagster._cli.api import grpc_command
    from grpc import _common

    from cli.dagster_logs import DAGSTER_FORMAT, use_our_lines
    from contracts.settings import load_settings

WAKES_EVERY_S = 60.0


def main() -> None:
    """Serves code like `dagster api grpc`, with the same arguments, until a signal arrives."""
    _common.MAXIMUM_WAIT_TIMEOUT = WAKES_EVERY_S
    collect_rarely()
    use_our_lines(load_settings().log_format)
    grpc_command([*sys.argv[1:], "--log-format", DAGSTER_FORMAT])


if __name__ == "__main__":
    run_and_end(main)
