"""An nginx of the tests' own on a published tree, ended with the test."""

from __future__ import annotations

import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from patience import HANG_S


def free_port() -> int:
    """A TCP port of this machine that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def have_nginx() -> bool:
    return shutil.which("nginx") is not None


@contextmanager
def serving(data_dir: Path, user: str = "root") -> Iterator[tuple[int, int]]:
    """Run nginx with the generation's own configuration, its port apart. Gives port and process id.

    `user` names whom its workers run as, and their group where it has another name.
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
    """Returns when a server that was started listens on its port. Fails with what it said where it ends before."""
    deadline = time.monotonic() + HANG_S
    while time.monotonic() < deadline:
        assert process.poll() is None, process.communicate()[1]
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            time.sleep(0.02)
    raise AssertionError(f"{process.args!r} does not listen")
