"""The warm process: listens on its user's Unix socket, answers one question per connection, and exits when idle."""

from __future__ import annotations

import fcntl
import json
import os
import socket
import sys
import threading
import time
from pathlib import Path
from typing import Any

from guardrail.daemon.questions import Answering
from guardrail.hooks.client import MOST_BYTES, identity, is_own_peer, socket_name
from guardrail.hooks.directories import DirectoryUnsafe, make_private, runtime_directory

IDLE_SECONDS = 30 * 60.0
READ_SECONDS = 5.0
LOOK_SECONDS = 2.0
"""Seconds between checks of whether the process is still needed."""
MOST_AT_ONCE = 16


class AlreadyRunning(Exception):
    """Another warm process of this installation is listening."""


def serve(idle_seconds: float = IDLE_SECONDS) -> None:
    """Listens until `idle_seconds` have passed without a question. Raises `AlreadyRunning` or `DirectoryUnsafe`."""
    version = identity()
    directory = Path(make_private(runtime_directory()))
    # A socket's path must be short, so it is relative to its directory.
    os.chdir(directory)
    os.umask(0o077)
    name = Path(socket_name(version))
    lock = os.open(name.with_suffix(".lock"), os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(lock)
        raise AlreadyRunning("the warm process is already running") from None
    try:
        name.unlink(missing_ok=True)
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
            listener.bind(str(name))
            listener.listen(64)
            _Server(listener, name, version, idle_seconds).run()
    finally:
        name.unlink(missing_ok=True)
        os.close(lock)


class _Server:
    """Accepts connections and answers each in its own thread, up to the permitted number at once."""

    def __init__(self, listener: socket.socket, name: Path, version: str, idle_seconds: float) -> None:
        self._listener = listener
        self._name = name
        self._inode = name.stat().st_ino
        self._version = version
        self._idle_seconds = idle_seconds
        self._free = threading.BoundedSemaphore(MOST_AT_ONCE)
        self._answering = Answering()

    def run(self) -> None:
        """Runs until the process has been idle long enough, or the socket is gone and nobody can connect."""
        self._listener.settimeout(min(self._idle_seconds, LOOK_SECONDS))
        asked = time.monotonic()
        while True:
            try:
                connection, _ = self._listener.accept()
            except TimeoutError:
                if time.monotonic() - asked >= self._idle_seconds or not self._is_reachable():
                    return
                continue
            asked = time.monotonic()
            self._free.acquire()
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _is_reachable(self) -> bool:
        try:
            return self._name.lstat().st_ino == self._inode
        except OSError:
            return False

    def _serve(self, connection: socket.socket) -> None:
        try:
            with connection:
                connection.settimeout(READ_SECONDS)
                if is_own_peer(connection):
                    question = json.loads(_line(connection))
                    connection.sendall(json.dumps(self._answer(question)).encode() + b"\n")
        except (OSError, ValueError, RecursionError, AttributeError):
            # The client sees the connection end without an answer, and refuses.
            return
        finally:
            self._free.release()

    def _answer(self, question: dict[str, Any]) -> dict[str, Any]:
        answer = self._answering.answer(
            str(question.get("harness")), str(question.get("input")), str(question.get("home"))
        )
        return {
            "version": self._version,
            "id": question.get("id"),
            "output": answer.output,
            "error": answer.error,
            "code": answer.code,
        }


def _line(connection: socket.socket) -> bytes:
    deadline = time.monotonic() + READ_SECONDS
    received = bytearray()
    while not received.endswith(b"\n"):
        part = connection.recv(1 << 16)
        if not part or len(received) > 2 * MOST_BYTES or time.monotonic() > deadline:
            raise ConnectionResetError
        received += part
    return bytes(received)


def main() -> None:
    """Runs the warm process, as started by the client of a hook."""
    try:
        serve()
    except AlreadyRunning:
        sys.exit(0)
    except DirectoryUnsafe as error:
        sys.exit(str(error))
