"""The tests' own Caddy, serving a published tree until the test ends."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from nginx import free_port, wait_until_listening
from patience import HANG_S


def is_installed() -> bool:
    return shutil.which("caddy") is not None


@contextmanager
def serving(data_dir: Path) -> Iterator[int]:
    """Runs Caddy with the generation's own configuration, but on another port and without its administration socket.
    Yields the port."""
    port = free_port()
    generated = (data_dir / "current/hosting/Caddyfile").read_text()
    assert generated.count(":8080 {\n") == 1
    configuration = data_dir / "Caddyfile-test"
    own = f"{{\n\tadmin off\n\tauto_https off\n}}\nhttp://127.0.0.1:{port} {{\n\tbind 127.0.0.1\n"
    configuration.write_text(own + generated.partition(":8080 {\n")[2])
    command = ["caddy", "run", "--adapter", "caddyfile", "--config", str(configuration)]
    home = data_dir / "caddy-home"
    environment = {**os.environ, "XDG_DATA_HOME": str(home), "XDG_CONFIG_HOME": str(home)}
    process = subprocess.Popen(command, cwd=data_dir, env=environment, stderr=subprocess.PIPE, text=True)
    try:
        wait_until_listening(port, process)
        yield port
    finally:
        process.terminate()
        _, said = process.communicate(timeout=HANG_S)
        assert process.returncode == 0, said
