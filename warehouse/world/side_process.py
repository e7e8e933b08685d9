"""Lets a second process do a part of a long computation: it gets bytes and answers with bytes, one question at a time.

The process opens no store. It ends with the pipe, so also if this process is killed.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from multiprocessing import current_process, get_context
from multiprocessing.connection import Connection

Work = Callable[[bytes], bytes]
"""A function of a module, which the process imports."""


class SideProcess:
    """A process at the other end of a pipe. Create it with `side_process`."""

    def __init__(self, pipe: Connection | None) -> None:
        self._pipe = pipe

    def ask(self, content: bytes) -> None:
        """Gives the process something to do. The answer has to be taken before the next question."""
        if self._pipe is not None:
            with suppress(OSError):  # taking the answer finds out
                self._pipe.send_bytes(content)

    def answer(self) -> bytes | None:
        """Waits for the answer. Returns None if the process is gone: then the caller does the work."""
        if self._pipe is None:
            return None
        try:
            return self._pipe.recv_bytes()
        except (OSError, EOFError):
            return None


@contextmanager
def side_process(work: Work) -> Iterator[SideProcess]:
    """Starts a process that does `work`, and ends it with the block. A process that may start none answers nothing."""
    if current_process().daemon:
        yield SideProcess(None)
        return
    context = get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=_serve, args=(there, work), daemon=True)
    process.start()
    there.close()
    try:
        with closing(here):
            yield SideProcess(here)
    finally:
        process.join()


def _serve(connection: Connection, work: Work) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the other process decides what an interrupted run does
    with closing(connection), suppress(EOFError, OSError):
        while True:
            connection.send_bytes(work(connection.recv_bytes()))
