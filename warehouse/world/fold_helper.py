"""Folds the commits of a large import in a second process, while the import continues writing.

The process opens the warehouse for one fold at a time, so that runs can come between. A run that has the warehouse open
does the same work. The process ends when the pipe closes, so it also ends if this process is killed; the next run folds
the rest.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess

from contracts.errors import OperatorProblem
from contracts.settings import Settings
from warehouse.duck.connection import Warehouse, run_lock
from warehouse.ledger.ledger import Ledger, open_ledger
from warehouse.world.fold import fold_events


@contextmanager
def folding_beside(settings: Settings) -> Iterator[Callable[[], None]]:
    """Yields a function to call whenever there is more to fold. The first call starts the process, and the end of the
    block waits until it has folded everything."""
    helper = _Helper(settings)
    try:
        yield helper.fold
    finally:
        helper.end()


class _Helper:
    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._process: BaseProcess | None = None
        self._pipe: Connection | None = None

    def fold(self) -> None:
        """Tells the process that there is more to fold."""
        if self._pipe is None:
            context = get_context("spawn")
            self._pipe, there = context.Pipe()
            self._process = context.Process(target=_serve, args=(there, self._settings), daemon=True)
            self._process.start()
            there.close()
        with suppress(OSError):  # if the process is gone, the next run folds
            self._pipe.send_bytes(b"more")

    def end(self) -> None:
        """Waits for the process."""
        if self._pipe is not None and self._process is not None:
            self._pipe.close()
            self._process.join()


def _serve(connection: Connection, settings: Settings) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the other process decides what an interrupted import does
    with closing(connection), suppress(OperatorProblem), closing(open_ledger(settings, settings.data_dir)) as ledger:
        while _is_told(connection):
            _fold(settings, ledger)


def _is_told(connection: Connection) -> bool:
    """Waits until there is more to fold. Returns False when the pipe is closed and nothing is left."""
    told = False
    try:
        while not told or connection.poll():
            connection.recv_bytes()
            told = True
    except (EOFError, OSError):
        pass  # earlier requests are still served
    return told


def _fold(settings: Settings, ledger: Ledger) -> None:
    with (
        suppress(OperatorProblem),  # a run has the lock and folds itself
        run_lock(settings.data_dir, wait_s=0),
        Warehouse(settings.data_dir).connect() as connection,
    ):
        fold_events(connection, ledger)
