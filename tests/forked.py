"""Runs a step of a test in its own process, which a fork server starts, so that a race or a kill doesn't pay for
imports, which take longer than the step. A test process can't be forked itself: its threads hold locks."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from anyio import BrokenWorkerProcess, CapacityLimiter, to_thread

FORK_SERVER = multiprocessing.get_context("forkserver")
FORK_SERVER.set_forkserver_preload(["tests.fork_server"])


class ForkedProcess:
    """The subset of `subprocess.Popen`, with pipes in text mode, that tests use."""

    def __init__(self, step: Callable[..., object], *arguments: object) -> None:
        input_there, input_here = FORK_SERVER.Pipe(duplex=False)
        output_here, output_there = FORK_SERVER.Pipe(duplex=False)
        self._process = FORK_SERVER.Process(target=_run, args=(input_there, output_there, step, arguments))
        self._process.start()
        input_there.close()
        output_there.close()
        self.stdin = os.fdopen(os.dup(input_here.fileno()), "w")
        self.stdout = os.fdopen(os.dup(output_here.fileno()))
        input_here.close()
        output_here.close()

    def communicate(self, timeout: float | None = None) -> tuple[str, None]:
        """Closes its input, and returns the rest of its output once it has ended."""
        self.stdin.close()
        output = self.stdout.read()
        self.wait(timeout)
        return output, None

    def wait(self, timeout: float | None = None) -> int | None:
        self._process.join(timeout)
        return self.returncode

    @property
    def pid(self) -> int | None:
        return self._process.pid

    def kill(self) -> None:
        self._process.kill()

    def poll(self) -> int | None:
        return self._process.exitcode

    @property
    def returncode(self) -> int | None:
        return self.poll()

    def close(self) -> None:
        """Kills it if it still runs."""
        self.kill()
        self.wait()
        self.stdin.close()
        self.stdout.close()


class ForkedCommand:
    """`svc` with these arguments and only `environment`; the subset of `subprocess.Popen` that tests use."""

    def __init__(self, environment: Mapping[str, str], log: Path, *arguments: str) -> None:
        self._process = FORK_SERVER.Process(target=_run_command, args=(dict(environment), str(log), arguments))
        self._process.start()
        assert self._process.pid is not None
        self.pid = self._process.pid
        self.terminate, self.kill = self._process.terminate, self._process.kill

    def poll(self) -> int | None:
        return self._process.exitcode

    def wait(self, timeout: float | None = None) -> int:
        self._process.join(timeout)
        if self._process.exitcode is None:
            raise subprocess.TimeoutExpired("svc", timeout or 0.0)
        return self._process.exitcode


@contextmanager
def forked(step: Callable[..., object], *arguments: object) -> Iterator[ForkedProcess]:
    """Yields a process that runs `step`, a function of a module; it is killed at the end if it still runs."""
    process = ForkedProcess(step, *arguments)
    try:
        yield process
    finally:
        process.close()


async def run_forked(function: Callable[..., Any], *arguments: Any, cancellable: bool, limiter: CapacityLimiter) -> Any:
    """Works like `anyio.to_process.run_sync`, but with a new process per call, which costs less than imports in a
    shared one.

    Raises `BrokenWorkerProcess` if the process ends without an answer.
    """
    assert cancellable
    async with limiter:
        here, there = FORK_SERVER.Pipe()
        process = FORK_SERVER.Process(target=_answer, args=(there, function, arguments))
        await to_thread.run_sync(process.start, limiter=CapacityLimiter(1))
        there.close()
        try:
            answer = to_thread.run_sync(here.recv, abandon_on_cancel=True, limiter=CapacityLimiter(1))
            is_returned, result = await answer
        except (EOFError, OSError):
            raise BrokenWorkerProcess from None
        finally:  # the last reference closes the pipe, which the thread of a call that was cancelled may still read
            process.kill()
            process.join()
    if is_returned:
        return result
    raise result


def _answer(connection: Connection, function: Callable[..., object], arguments: tuple[object, ...]) -> None:
    try:
        connection.send((True, function(*arguments)))
    except BaseException as error:
        connection.send((False, error))


def _run(given: Connection, said: Connection, step: Callable[..., object], arguments: tuple[object, ...]) -> None:
    os.dup2(given.fileno(), 0)
    os.dup2(said.fileno(), 1)
    given.close()
    said.close()
    sys.stdin, sys.stdout = os.fdopen(0, closefd=False), os.fdopen(1, "w", closefd=False)
    step(*arguments)


def _run_command(environment: dict[str, str], log: str, arguments: tuple[str, ...]) -> None:
    os.setsid()
    with Path(log).open("ab") as output, Path(os.devnull).open("rb") as nothing:
        for number, file in enumerate((nothing, output, output)):
            os.dup2(file.fileno(), number)
    sys.stdout, sys.stderr = (os.fdopen(number, "w", buffering=1, closefd=False) for number in (1, 2))
    os.environ.clear()
    os.environ.update(environment)
    from cli.app import app

    app(arguments)
