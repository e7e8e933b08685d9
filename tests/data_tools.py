"""Environments of tools that read or validate open data, separate from the project's packages: created once and
reused."""

from __future__ import annotations

import fcntl
import hashlib
import os
import subprocess
import sys
from pathlib import Path
from typing import NoReturn

import pytest
from patience import HANG_S

ROOT = Path(__file__).resolve().parents[1]
PLACE = ROOT / ".venv" / "tools"


def tools_python(*packages: str) -> Path:
    """Returns the Python of an environment with `packages`. Skips the test if they can't be installed, but fails in
    CI."""
    sys.path.insert(0, str(ROOT))
    try:
        from bootstrap import find_uv, uv_environment
    finally:
        sys.path.remove(str(ROOT))
    name = hashlib.sha256("\n".join((sys.version, *packages)).encode()).hexdigest()[:16]
    directory = PLACE / name
    python = directory / "bin" / "python"
    PLACE.mkdir(parents=True, exist_ok=True)
    with (PLACE / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if (directory / "complete").exists():
            return python
        uv = find_uv(Path(sys.executable))
        if uv is None:
            _missing("uv can't be had")
        environment = {**os.environ, **uv_environment()}
        commands: list[list[str | Path]] = [
            [*uv, "venv", "--clear", "--quiet", "--python", sys.executable, directory],
            [*uv, "pip", "install", "--quiet", "--python", python, *packages],
        ]
        for command in commands:
            done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=HANG_S)
            if done.returncode != 0:
                _missing(f"{' '.join(packages)} can't be installed: {done.stderr[-1000:]}")
        (directory / "complete").touch()
    return python


def run_with(packages: tuple[str, ...], *arguments: str | Path, **variables: str) -> str:
    """Returns the output of a program in that environment. Fails if the program does."""
    done = subprocess.run(
        [tools_python(*packages), *arguments],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        timeout=HANG_S,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-4000:]
    return done.stdout


def _missing(reason: str) -> NoReturn:
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)
