"""Modes of files and directories: a web server under another user reads what is published, and nobody else anything.

The umask of every process of the service makes what is private; only the published tree is given its modes by name.
Names can't be listed on the way to that tree, only passed through.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

UMASK = 0o077
PASSED_THROUGH = 0o711
PUBLIC_DIRECTORY, PUBLIC_FILE = 0o755, 0o644
PRIVATE_DIRECTORY = 0o700
_OWNER_BITS = 0o700


def keep_files_private() -> None:
    """Make this process and those that it starts create files for their owner only. Every entry point calls this."""
    os.umask(UMASK)


def make_data_directory(data_dir: Path) -> None:
    """Make the data directory and what is missing above it; web servers may pass through, and list nothing.

    Raises `OSError`.
    """
    missing = [path for path in (data_dir, *data_dir.parents) if not path.exists()]
    for path in reversed(missing):
        path.mkdir(exist_ok=True)
        path.chmod(PASSED_THROUGH)
    if not data_dir.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(data_dir))
    if not missing:
        status = data_dir.stat()
        if stat.S_IMODE(status.st_mode) != PASSED_THROUGH and _is_ours(status):
            with suppress(OSError):  # a file system that is read-only can still be served from
                data_dir.chmod(PASSED_THROUGH)


def make_private_directory(path: Path) -> None:
    """Make a directory within the data directory, which exists. Raises `OSError`."""
    path.mkdir(mode=PRIVATE_DIRECTORY, exist_ok=True)
    if stat.S_IMODE(path.stat().st_mode) & ~_OWNER_BITS:
        path.chmod(PRIVATE_DIRECTORY)


def wanted_mode(parts: tuple[str, ...], mode: int) -> int:
    """The mode of a file or directory by its path within the data directory; `mode` is its type and present mode."""
    if parts[:1] == ("demo",):  # a data directory within the data directory
        parts = parts[1:]
    is_directory = stat.S_ISDIR(mode)
    match parts:
        case () | ("generations",) | ("generations", _) if is_directory:
            return PASSED_THROUGH
        case ("generations", _, "public", *_):
            return PUBLIC_DIRECTORY if is_directory else PUBLIC_FILE
        case _:
            return PRIVATE_DIRECTORY if is_directory else stat.S_IMODE(mode) & _OWNER_BITS


def set_mode(data_dir: Path, path: Path) -> None:
    """Give a file or directory within the data directory the mode that its place asks for. Raises `OSError`."""
    mode = path.stat().st_mode
    wanted = wanted_mode(path.relative_to(data_dir).parts, mode)
    if stat.S_IMODE(mode) != wanted:
        path.chmod(wanted)


@dataclass(frozen=True, slots=True)
class Correction:
    """A mode that was wrong. `done` is False where another user owns the file, or the file system is read-only."""

    path: Path
    before: int
    after: int
    done: bool


def is_shared(data_dir: Path) -> bool:
    """Whether other users write in the directory too, as in /tmp: nothing in it may be changed for being ours."""
    return data_dir.exists() and bool(data_dir.stat().st_mode & stat.S_ISVTX)


def correct_modes(data_dir: Path, *, gates_only: bool = False) -> list[Correction]:
    """Correct every wrong mode under the data directory, and say which those were.

    `gates_only` looks no further than what others would have to pass: some fifty entries in place of thousands.
    """
    if not data_dir.is_dir() or is_shared(data_dir):
        return []
    published = set() if gates_only else {status.st_ino for status in _published_links(data_dir)}
    corrections: list[Correction] = []
    for path, status in _entries(data_dir, gates_only=gates_only):
        wanted = wanted_mode(path.relative_to(data_dir).parts, status.st_mode)
        before = stat.S_IMODE(status.st_mode)
        # a file that is published too has one mode under both its names; its directory keeps others out
        if before == wanted or (wanted != PUBLIC_FILE and status.st_ino in published and stat.S_ISREG(status.st_mode)):
            continue
        try:
            path.chmod(wanted)
        except FileNotFoundError:
            continue
        except OSError:
            corrections.append(Correction(path, before, wanted, done=False))
        else:
            corrections.append(Correction(path, before, wanted, done=True))
    return corrections


def _entries(data_dir: Path, *, gates_only: bool) -> Iterator[tuple[Path, os.stat_result]]:
    """Everything under the directory and itself but symbolic links; what vanishes meanwhile is passed over."""
    pending = [data_dir]
    while pending:
        path = pending.pop()
        try:
            status = path.lstat()
            if stat.S_ISLNK(status.st_mode):
                continue
            yield path, status
            is_gate = wanted_mode(path.relative_to(data_dir).parts, status.st_mode) == PASSED_THROUGH
            if stat.S_ISDIR(status.st_mode) and (is_gate or not gates_only):
                pending += path.iterdir()
        except (FileNotFoundError, PermissionError):
            continue


def _published_links(data_dir: Path) -> Iterator[os.stat_result]:
    """Published files that have other names too."""
    for tree in (*data_dir.glob("generations/*/public"), *data_dir.glob("demo/generations/*/public")):
        for directory, _, names in os.walk(tree):
            for name in names:
                try:
                    status = (Path(directory) / name).lstat()
                except FileNotFoundError:
                    continue
                if status.st_nlink > 1:
                    yield status


def _is_ours(status: os.stat_result) -> bool:
    return status.st_uid == os.geteuid() and not status.st_mode & stat.S_ISVTX
