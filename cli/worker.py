"""The worker as `svc run` starts it: makes the first run as `svc pipeline run` does, then takes the runs of Dagster.

What both import takes seconds of CPU, which a process of its own for the first run would pay again.
"""

import logging
import os
import signal
import sys
import traceback
from pathlib import Path

import typer

from cli import pipeline
from pipelines import worker
from pipelines.instance import FIRST_RUN_MARK
from warehouse.file_modes import keep_files_private


def main() -> None:
    """Runs with three descriptors as arguments: for lines and for complaints of the first run, and for its exit code.

    Afterwards this process says what it says to the output that it was started with.
    """
    said, complaints, ended = map(int, sys.argv[1:])
    log = os.dup(1)
    _say_to(said, complaints)
    code = _first_run()
    (Path(os.environ["DAGSTER_HOME"]) / FIRST_RUN_MARK).unlink(missing_ok=True)
    _say_to(log, log)
    for descriptor in {said, complaints, log}:
        os.close(descriptor)
    os.write(ended, bytes([code]))
    os.close(ended)
    worker.main()


def _first_run() -> int:
    """Returns the exit code of the first run. A signal ends this process, without a word."""
    keep_files_private()
    logging.getLogger("asyncio").addFilter(_is_fault)
    try:
        pipeline.run(snapshot=False, as_json=False)
    except typer.Exit as end:
        return end.exit_code
    except KeyboardInterrupt:  # to take down what Dagster made takes seconds, and DuckDB reports its types as leaks
        os._exit(128 + signal.SIGINT)
    except Exception:  # a fault that nobody foresaw fails the run, and not what comes after it
        traceback.print_exc()
        return 1
    return 0


def _is_fault(record: logging.LogRecord) -> bool:
    """Decides whether a line is of a fault: asyncio logs a signal that interrupts a write to a socket as one."""
    return record.exc_info is None or isinstance(record.exc_info[1], Exception)


def _say_to(output: int, errors: int) -> None:
    os.dup2(output, 1)
    os.dup2(errors, 2)


if __name__ == "__main__":
    main()
