"""A separate small file system, if the machine allows mounting one, and a way to fill it."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def small_disk(place: Path, *, otherwise: str) -> Iterator[Path]:
    """Mounts 64 MB at `place`. Skips the test if that is not allowed; `otherwise` says what covers the case then."""
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs", str(place)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True).returncode != 0:
        pytest.skip(f"mounting is not allowed here; {otherwise}")
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)


def fill(path: Path, *, leave: int) -> None:
    """Writes a file that leaves `leave` bytes free on its disk."""
    status = os.statvfs(path.parent)
    with path.open("wb") as file:
        file.write(bytes(max(0, status.f_bavail * status.f_frsize - leave)))
