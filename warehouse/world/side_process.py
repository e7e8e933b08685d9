"""Runs a part of a long computation in a second process, which receives and returns bytes, one request at a time.

The process opens no store. It ends when the pipes close, so it also ends if this process is killed.
"""

from __future__ import annotations

import fcntl
import signal
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from multiprocessing import current_process, get_context
from multiprocessing.connection import Connection

Work = Callable[[bytes], bytes]
"""A module-level function, which the process imports."""

PIPE_BYTES = 1 << 20
"""Capacity of a pipe: the most that Linux grants to unprivileged users. A large pipe needs fewer reads: after each one
a thread waits up to 5 ms for the interpreter's lock while another one computes."""


class SideProcess:
    """A process at the other end of two pipes. Create it with `side_process`."""

    def __init__(self, questions: Connection, answers: Connection) -> None:
        self._questions = questions
        self._answers = answers

    def ask(self, content: bytes) -> None:
        """Sends the process a request. Its answer must be read before the next request."""
        with suppress(OSError):  # `answer` notices
            self._questions.send_bytes(content)

    def answer(self) -> bytes | None:
        """Waits for the answer. Returns None if the process is gone: then the caller does the work."""
        try:
            return self._answers.recv_bytes()
        except (OSError, EOFError):
            return None


class _NoProcess(SideProcess):
    """Answers nothing."""

    def __init__(self) -> None:
        pass

    def ask(self, content: bytes) -> None:
        pass

    def answer(self) -> None:
        return None


@contextmanager
def side_process(work: Work) -> Iterator[SideProcess]:
    """Starts a process that does `work`, and ends it with the block. In a daemon process, which may not start another
    one, yields a stand-in without answers."""
    if current_process().daemon:
        yield _NoProcess()
        return
    context = get_context("spawn")
    asked, questions = context.Pipe(duplex=False)
    answers, answered = context.Pipe(duplex=False)
    for pipe in (questions, answers):
        _widen(pipe)
    process = context.Process(target=_serve, args=(asked, answered, work), daemon=True)
    process.start()
    for there in (asked, answered):
        there.close()
    try:
        with closing(questions), closing(answers):
            yield SideProcess(questions, answers)
    finally:
        process.join()


def _widen(pipe: Connection) -> None:
    if hasattr(fcntl, "F_SETPIPE_SZ"):
        with suppress(OSError):  # for users whose pipes already have too many pages
            fcntl.fcntl(pipe.fileno(), fcntl.F_SETPIPE_SZ, PIPE_BYTES)


def _serve(asked: Connection, answered: Connection, work: Work) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the other process decides what an interrupted run does
    with closing(asked), closing(answered), suppress(EOFError, OSError):
        while True:
            answered.send_bytes(work(asked.recv_bytes()))
