"""Starting states that tests of one run share as copies: each is created by the first process that needs it."""

from __future__ import annotations

import atexit
import fcntl
import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

_RUN = "TESTS_SHARED_STATE"
"""Names the run's directory in the environment of all its processes."""


def share() -> None:
    """Creates the directory of this run, unless another process has done so; it is removed when this process ends."""
    if _RUN not in os.environ:
        os.environ[_RUN] = tempfile.mkdtemp(prefix="svc-shared-")
        atexit.register(shutil.rmtree, os.environ[_RUN], ignore_errors=True)


def copied(key: str, make: Callable[[Path], object], target: Path) -> None:
    """Fills `target` with a copy of what `make` puts into a directory, which it does once per key in the whole run."""
    share()
    made = Path(os.environ[_RUN]) / hashlib.sha256(key.encode()).hexdigest()
    with made.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not made.exists():
            with tempfile.TemporaryDirectory(dir=made.parent) as directory:
                make(Path(directory) / "made")
                (Path(directory) / "made").rename(made)
    copy_with_links(made, target)


def copy_with_links(source: Path, target: Path) -> None:
    """Copies a directory, preserving hard links.

    `cp` needs less than half of Python's CPU for the thousand small files of a generation.
    """
    target.mkdir(parents=True, exist_ok=True)
    _, status = os.waitpid(os.posix_spawnp("cp", ["cp", "-a", f"{source}/.", str(target)], os.environ), 0)
    assert status == 0, f"{source} was not copied"
