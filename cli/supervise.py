"""Supervises child processes, such as those of `svc run`: starts each in its own group, and stops all.

After a `kill -9` of the supervisor a further process, the sweeper, stops them. After one of both the next supervisor
does.
"""

import fcntl
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import psutil

from contracts.errors import OperatorProblem, StoreUnusable
from warehouse.discovery.processes import Child, read_children

LOG_BYTES = 5_000_000
"""A log that has grown beyond this is renamed to `<name>.1`, replacing the previous one."""

LEFTOVERS_TIMEOUT_S = 5.0

STOP_TIMEOUT_S = 6.0
"""After this time a child that ignores SIGTERM is killed, so that the whole stop takes less than ten seconds."""


RESTARTS_AT_MOST = 5
RESTARTS_WITHIN_S = 120.0
"""A child that ends more often than this is not restarted any more."""


class ServiceRunning(OperatorProblem):
    """Another supervisor has the data directory locked."""

    code = "service_running"


class PartEnded(OperatorProblem):
    """A process that must stay up has ended by itself."""

    code = "part_ended"


@dataclass(eq=False)
class Children:
    """The processes of one supervisor. `record` is the file in the data directory that lists them for the next
    supervisor."""

    record: Path
    stop_timeout_s: float = STOP_TIMEOUT_S
    _running: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict, init=False)
    _again: dict[str, Callable[[], None]] = field(default_factory=dict, init=False)
    _restarts_s: dict[str, list[float]] = field(default_factory=dict, init=False)
    _sweeper: subprocess.Popen[bytes] | None = field(default=None, init=False)

    def sweep_if_killed(self) -> None:
        """Starts the sweeper, unless it is running. `start` does this too."""
        if self._sweeper is None:
            self._sweeper = subprocess.Popen(
                [sys.executable, "-P", "-m", "cli.sweeper", str(self.record.parent.absolute())],
                bufsize=0,
                start_new_session=True,
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            self._write_record()

    def start(
        self,
        name: str,
        command: Sequence[str],
        environment: Mapping[str, str],
        log: Path | None = None,
        *,
        restarted: bool = False,
        again: Sequence[str] = (),
        handed: Sequence[int] = (),
    ) -> None:
        """Starts `command` as the leader of its own process group. Its output goes to `log`, or else to ours.

        With `restarted`, `restart_ended` starts it again after it ended by itself, with the command `again` if that is
        given. `handed` are descriptors passed to the command only the first time.
        """
        child = subprocess.Popen(
            list(command),
            env=dict(environment),
            pass_fds=handed,
            start_new_session=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE if log else None,
            stderr=subprocess.STDOUT if log else None,
        )
        self._running[name] = child
        if restarted:
            self._again[name] = lambda: self.start(name, again or command, environment, log, restarted=True)
        if log and child.stdout:
            threading.Thread(target=_keep_log, args=(child.stdout, log), name=f"log of {name}", daemon=True).start()
        self.sweep_if_killed()
        self._write_record()

    def ended(self) -> dict[str, int]:
        """Returns the exit code of every child that has ended by itself, keyed by name."""
        return {name: code for name, child in self._running.items() if (code := child.poll()) is not None}

    def restart_ended(self) -> list[str]:
        """Restarts the ended children that may be restarted, and returns their names.

        Kills the rest of an ended child's group first. Does not restart a child that ends repeatedly.
        """
        names = []
        if self._sweeper is not None and self._sweeper.poll() is not None and self._may_restart("sweeper"):
            self._end_sweeper()
            self.sweep_if_killed()
        for name in self.ended():
            if name in self._again and self._may_restart(name):
                _signal_group(self._running[name].pid, signal.SIGKILL)
                self._again[name]()
                names.append(name)
        return names

    def _may_restart(self, name: str) -> bool:
        """Returns False for a child that has ended repeatedly, and counts this restart otherwise."""
        now_s = time.monotonic()
        recent_s = [at_s for at_s in self._restarts_s.get(name, ()) if now_s - at_s < RESTARTS_WITHIN_S]
        if len(recent_s) >= RESTARTS_AT_MOST:
            return False
        self._restarts_s[name] = [*recent_s, now_s]
        return True

    def stop(self) -> None:
        """Stops every group: sends SIGTERM, and SIGKILL to the rest after `stop_timeout_s`."""
        for child in self._running.values():
            _signal_group(child.pid, signal.SIGTERM)
        deadline = time.monotonic() + self.stop_timeout_s
        for child in self._running.values():
            try:
                child.wait(max(0.0, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                continue
        for child in self._running.values():
            _signal_group(child.pid, signal.SIGKILL)
            child.wait()
        self._running.clear()
        self._again.clear()
        self._end_sweeper()
        self.record.unlink(missing_ok=True)

    def _end_sweeper(self) -> None:
        if self._sweeper is not None:
            self._sweeper.kill()  # before its pipe ends
            self._sweeper.communicate()
            self._sweeper = None

    def _write_record(self) -> None:
        """Lists the children for the sweeper, and with the sweeper itself for the next supervisor."""
        children = list(_rows(self._running))
        draft = self.record.with_suffix(".tmp")
        assert self._sweeper is not None and self._sweeper.stdin is not None
        draft.write_text(json.dumps([*children, *_rows({"sweeper": self._sweeper})]))
        draft.replace(self.record)
        line = json.dumps({"children": children, "stop_timeout_s": self.stop_timeout_s})
        with suppress(BrokenPipeError):  # it was killed, and `restart_ended` starts another
            self._sweeper.stdin.write(f"{line}\n".encode())


@contextmanager
def only_one(lock: Path) -> Iterator[None]:
    """Makes this process the only supervisor of a data directory until it ends in any way. Raises `ServiceRunning`."""
    with lock.open("a") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ServiceRunning(
                f"The service is already running in {lock.parent}.",
                cure="Stop it, or set SVC_DATA_DIR, SVC_PORT and SVC_DAGSTER_PORT for a second one.",
            ) from None
        yield


def end_orphans(children: Sequence[Child], timeout_s: float) -> None:
    """Stops the groups of a supervisor that is gone: sends SIGTERM, and SIGKILL to the rest after `timeout_s`."""
    leaders = [process for child in children if (process := child.process()) is not None]
    below = []
    for leader in leaders:
        with suppress(psutil.NoSuchProcess):
            below += leader.children(recursive=True)
        _signal_group(leader.pid, signal.SIGTERM)
    for process in psutil.wait_procs([*leaders, *below], timeout=timeout_s)[1]:
        with suppress(psutil.NoSuchProcess):
            process.kill()


def end_leftovers(record: Path) -> int:
    """Kills the groups that a killed supervisor and its killed sweeper left running. Returns their number."""
    if not record.exists():
        return 0
    try:
        children = read_children(record)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise StoreUnusable(
            f"{record} can't be read: {error}.",
            cure="Stop the processes that a killed `svc run` left behind, if any, and delete the file.",
        ) from None
    leaders = [process for child in children if (process := child.process()) is not None]
    for leader in leaders:
        _signal_group(leader.pid, signal.SIGKILL)
    # A leader may be a zombie while its threads still occupy the port, so wait until it is really gone.
    psutil.wait_procs(leaders, timeout=LEFTOVERS_TIMEOUT_S)
    record.unlink(missing_ok=True)
    return len(leaders)


def _keep_log(output: IO[bytes], path: Path) -> None:
    """Appends incoming output to the log at `path`, rotating it at `LOG_BYTES`, until the other end is closed."""
    with output:
        while chunk := os.read(output.fileno(), 1 << 16):
            with suppress(OSError):  # a full disk must not stop the child, which waits for us to read
                if path.exists() and path.stat().st_size + len(chunk) > LOG_BYTES:
                    path.replace(path.with_name(f"{path.name}.1"))
                with path.open("ab") as log:
                    log.write(chunk)


def _rows(processes: Mapping[str, subprocess.Popen[bytes]]) -> Iterator[dict[str, Any]]:
    for name, process in processes.items():
        if process.poll() is None:
            yield {"name": name, "pid": process.pid, "created_at": psutil.Process(process.pid).create_time()}


def _signal_group(leader: int, number: signal.Signals) -> None:
    try:
        os.killpg(leader, number)
    except (ProcessLookupError, PermissionError):
        return
