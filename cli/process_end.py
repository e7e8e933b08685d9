"""Ends a process immediately when its work is done, for `svc` and the Dagster processes of `svc run`."""

import atexit
import os
import sys
from collections.abc import Callable

_status: int | None = None


def run_and_end(work: Callable[[], object]) -> None:
    """Does the work of a process and then ends it immediately: tearing down Dagster's objects takes two CPU seconds."""
    global _status  # `atexit` handlers don't get the exit code
    atexit.register(_end_at_once)  # registered first, so it runs last
    try:
        work()
    except SystemExit as end:
        _status = end.code if isinstance(end.code, int) else None
        raise
    _status = 0


def _end_at_once() -> None:
    if _status is not None:
        try:
            sys.stdout.flush()
            sys.stderr.flush()
        except OSError:
            return  # Python handles a reader that has gone
        os._exit(_status)
