"""The tests' own nginx, serving a published tree until the test ends."""

from __future__ import annotations

import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import cycle
from pathlib import Path
from random import randrange

from patience import HANG_S


def free_port() -> int:
    """Returns a free TCP port of this machine, a different one on each call.

    The system never assigns these ports to programs that request any free port. A demo's chain does so before the API
    listens, and once got the API's port.
    """
    for port in _PORTS:
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
    raise AssertionError("ports never end")


_OURS = range(22_000, 32_000)
_FIRST = randrange(len(_OURS))
_PORTS: Iterator[int] = cycle((*_OURS[_FIRST:], *_OURS[:_FIRST]))
"""Each process begins with a different port."""


def have_nginx() -> bool:
    return shutil.which("nginx") is not None


@contextmanager
def serving(data_dir: Path, user: str = "root") -> Iterator[tuple[int, int]]:
    """Runs nginx with the generation's own configuration, but on another port. Yields port and process id.

    `user` names the user of its workers, and their group if its name differs.
    """
    port = free_port()
    generated = (data_dir / "current/hosting/nginx.conf").read_text()
    assert generated.count("listen 8080;") == 1
    configuration = data_dir / "nginx-test.conf"
    configuration.write_text(generated.replace("listen 8080;", f"listen 127.0.0.1:{port};"))
    command = ["nginx", "-p", str(data_dir), "-c", str(configuration), "-g", f"daemon off; user {user};"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        wait_until_listening(port, process)
        yield port, process.pid
    finally:
        process.terminate()
        _, said = process.communicate(timeout=HANG_S)
        assert process.returncode == 0, said


def wait_until_listening(port: int, process: subprocess.Popen[str]) -> None:
    """Returns once a started server listens on its port. Fails with its output if it ends before that."""
    deadline = time.monotonic() + HANG_S
    while time.monotonic() < deadline:
        assert process.poll() is None, process.communicate()[1]
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            time.sleep(0.02)
    raise AssertionError(f"{process.args!r} does not listen")
