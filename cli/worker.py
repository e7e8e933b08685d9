"""The worker as `svc run` starts it: does the first run like `svc pipeline run`, then executes Dagster's runs.

The imports of both take seconds of CPU, which a separate process for the first run would spend twice.
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
    """Runs with three descriptors as arguments: for the first run's output, for its errors, and for its exit code.

    Afterwards this process writes to the output with which it was started.
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
    """Does the first run and returns its exit code. A signal ends this process silently."""
    keep_files_private()
    logging.getLogger("asyncio").addFilter(_is_fault)
    try:
        pipeline.run(snapshot=False, as_json=False)
    except typer.Exit as end:
        return end.exit_code
    except KeyboardInterrupt:  # tearing down Dagster's objects takes seconds, and DuckDB reports its types as leaks
        os._exit(128 + signal.SIGINT)
    except Exception:  # an unforeseen fault fails this run, but not the worker's later runs
        traceback.print_exc()
        return 1
    return 0


def _is_fault(record: logging.LogRecord) -> bool:
    """Decides whether a log line reports a fault: asyncio also logs a signal that interrupts a write to a socket."""
    return record.exc_info is None or isinstance(record.exc_info[1], Exception)


def _say_to(output: int, errors: int) -> None:
    os.dup2(output, 1)
    os.dup2(errors, 2)


if __name__ == "__main__":
    main()
