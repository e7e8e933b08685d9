"""The worker as `svc run` starts it: does `svc publish` and `svc pipeline run` once, then executes Dagster's runs.

The imports of each take seconds of CPU, which separate processes would spend again.
"""

import os
import signal
import sys
import traceback
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import typer

from cli import pipeline
from cli.logs import configure_shown_logs
from cli.signals import end_for_good_on_signals
from contracts.errors import ConfigurationProblem
from pipelines.instance import FIRST_RUN_MARK
from warehouse.file_modes import keep_files_private


def main() -> None:
    """Runs with five descriptors as arguments: for the output and the exit code of the publication, for those of the
    first run, and for the errors of both. A signal in that time ends this process silently.

    Log lines go to the output with which this process was started, and until the first run is done also to the errors,
    as text for people.
    """
    publication, published, first_run, ended, errors = map(int, sys.argv[1:])
    end_for_good_on_signals()  # libraries may swallow a `KeyboardInterrupt`, and tearing down Dagster takes seconds
    keep_files_private()
    log = os.dup(1)
    sys.stderr = os.fdopen(errors, "w", buffering=1)
    configure = partial(configure_shown_logs, console=sys.stderr)
    code = _done(lambda: pipeline.publish_with(configure, as_json=False), publication, log)
    _report(code, published)
    if code == ConfigurationProblem.exit_code:
        signal.pause()  # `svc run` ends now; the first run would be refused for the same reason, and say so again
    code = _done(lambda: pipeline.run_with(configure, snapshot=False, as_json=False), first_run, log)
    (Path(os.environ["DAGSTER_HOME"]) / FIRST_RUN_MARK).unlink(missing_ok=True)
    os.dup2(log, errors)  # libraries may have kept this `sys.stderr`
    os.close(log)
    sys.stderr = sys.__stderr__
    _report(code, ended)
    from pipelines import worker  # not before: Dagster takes seconds to import, and the publication needs nothing of it

    worker.main()


def _done(command: Callable[[], None], output: int, log: int) -> int:
    """Does a command with `output` as its standard output, which becomes `log` again. Returns its exit code.

    Does it in a thread: in the main one, Dagster would replace the handlers of signals.
    """
    os.dup2(output, 1)
    os.close(output)
    try:
        with ThreadPoolExecutor(max_workers=1) as thread:
            thread.submit(command).result()
    except typer.Exit as end:
        return end.exit_code
    except Exception:  # an unforeseen fault fails this command, but not the worker's later runs
        traceback.print_exc()
        return 1
    finally:
        os.dup2(log, 1)
    return 0


def _report(code: int, descriptor: int) -> None:
    os.write(descriptor, bytes([code]))
    os.close(descriptor)


if __name__ == "__main__":
    main()
