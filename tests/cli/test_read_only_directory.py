"""A data directory that became read-only: each command ends in one line with a cure, and the API keeps serving."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from installation import SVC, Installation
from patience import HANG_S
from publishing import FEW, commands_publish

from contracts.settings import Settings

MOUNT = 'mount --bind "$1" "$1" && mount -o remount,ro,bind "$1" && shift && exec "$@"'
"""Makes a directory read-only for one command, in its own mount namespace."""


def read_only(directory: Path, *command: str | Path) -> list[str]:
    return ["unshare", "--mount", "sh", "-c", MOUNT, "sh", str(directory), *map(str, command)]


def make_writable(directory: Path, process_id: int) -> None:
    """Makes the directory writable again for a running process."""
    command = ["nsenter", f"--target={process_id}", "--mount", "mount", "-o", "remount,rw,bind", str(directory)]
    subprocess.run(command, check=True)


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installation:
    """A published generation whose directory can be made read-only here; no command can change it."""
    data_dir = tmp_path_factory.mktemp("installed") / "data"
    data_dir.mkdir()
    if os.geteuid() != 0 or subprocess.run(read_only(data_dir, "true"), capture_output=True).returncode != 0:
        pytest.skip("only root with the right to mount can make a directory read-only for itself")
    installation = Installation(Settings(_env_file=None, data_dir=data_dir))
    with pytest.MonkeyPatch.context() as patch:
        commands_publish(patch, *FEW)
        installation.called("publish")
    return installation


COMMANDS = (
    ("keys", "create", "--tier", "free", "--owner", "ada"),
    ("pipeline", "run"),
    ("publish",),
    ("world", "audit"),
    ("pair",),
    ("run",),
)
CALLER = """
import json, os, sys
from commands import called
results = [called(os.environ, *command) for command in json.loads(sys.argv[1])]
print(json.dumps([[result.exit_code, result.stdout, result.stderr] for result in results]))
"""
"""Calls commands in one process, which sees the mount."""


def test_every_command_says_in_one_line_what_to_do(installed: Installation) -> None:
    ran = subprocess.run(
        read_only(installed.data_dir, sys.executable, "-c", CALLER, json.dumps(COMMANDS)),
        env=installed.environment | {"PYTHONPATH": str(Path(__file__).parents[1])},
        capture_output=True,
        text=True,
        timeout=HANG_S,
    )
    assert ran.returncode == 0, ran.stderr
    for command, (exit_code, stdout, stderr) in zip(COMMANDS, json.loads(ran.stdout.splitlines()[-1]), strict=True):
        assert exit_code == 1, (command, stdout, stderr)
        message, cure = [line for line in stderr.splitlines() if line.startswith(("svc: ", "     "))]
        assert "Read-only file system" in message, command
        assert "Make it writable, or set SVC_DATA_DIR" in cure, command
        assert "Traceback" not in stdout + stderr, command


def test_the_api_serves_what_is_published_and_names_what_it_cannot_write(installed: Installation) -> None:
    key = installed.keys("create", "--tier", "pro", "--owner", "ada")["apiKey"]
    write = {"Content-Type": "application/json", "Authorization": f"Bearer {key}"}
    signal = json.dumps({"type": "Goal", "title": "A goal", "source": "me"})
    with _served(installed, read_only(installed.data_dir, SVC, "serve")) as server:
        for path in FEW:
            assert installed.ask("GET", path, {}) == 200, path
        for method, path, body in (
            ("POST", "/api/v2/world-model/signal", signal),
            ("POST", "/api/intake", json.dumps({"lane": "agent"})),
        ):
            status, content = installed.answer(method, path, write, body)
            assert status in (400, 503), content
            assert json.loads(content)["ok"] is False
        assert installed.answer("POST", "/api/v2/world-model/signal", write, signal)[0] == 503
        make_writable(installed.data_dir, server.pid)
        assert installed.answer("POST", "/api/v2/world-model/signal", write, signal)[0] == 201, "writable again"


@contextmanager
def _served(installation: Installation, command: list[str]) -> Iterator[subprocess.Popen[bytes]]:
    log = installation.data_dir.parent / "read-only.log"
    with log.open("wb") as file:
        server = subprocess.Popen(command, env=installation.environment, stdout=file, stderr=file)
    try:
        _wait(lambda: installation.ask("GET", "/llms.txt", {}) == 200, server, log)
        yield server
    finally:
        server.terminate()
        server.wait(60)
    assert b"Traceback" not in log.read_bytes()


def _wait(answers: Callable[[], bool], server: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + HANG_S
    while time.monotonic() < deadline and server.poll() is None:
        try:
            if answers():
                return
        except OSError:
            time.sleep(0.1)
    raise AssertionError(log.read_text())
