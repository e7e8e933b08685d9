"""Sets the modes of files and directories: a web server that runs as another user can read what is published, and
nothing else.

The umask of every process of the service keeps new files private; only the published tree is given its modes
explicitly. Other users can pass through the directories above that tree, but can't list them.
"""

import errno
import os
import secrets
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
    """Makes this process and its children create files for their owner only. Every entry point calls this."""
    os.umask(UMASK)


def make_data_directory(data_dir: Path) -> None:
    """Creates the data directory and its missing parents. Web servers may pass through them, but list nothing.

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
    """Creates a directory within the existing data directory. Raises `OSError`."""
    path.mkdir(mode=PRIVATE_DIRECTORY, exist_ok=True)
    if stat.S_IMODE(path.stat().st_mode) & ~_OWNER_BITS:
        path.chmod(PRIVATE_DIRECTORY)


def wanted_mode(parts: tuple[str, ...], mode: int) -> int:
    """Returns the mode that a file or directory should have, from its path within the data directory.

    `mode` carries its type and current mode. Examples: `generations/<id>` is 0711, `generations/<id>/public/a.json` is
    0644, `ledger.db` loses every bit of group and others.
    """
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


def write_private_file(path: Path, content: str | bytes, *, replace: bool) -> None:
    """Writes the file completely and privately under another name, then moves it into place.

    No reader sees a partial file. Without `replace` an existing file stays: of two processes that create it, one wins.
    Raises `OSError`.
    """
    draft = path.with_name(f".{path.name}-{os.getpid()}-{secrets.token_hex(4)}")
    try:
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(content.encode() if isinstance(content, str) else content)
            file.flush()
            os.fsync(file.fileno())
        if replace:
            draft.replace(path)
        else:
            try:
                os.link(draft, path)
            except FileExistsError:
                return
        directory = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(directory)
        finally:
            os.close(directory)
    finally:
        draft.unlink(missing_ok=True)


def set_mode(data_dir: Path, path: Path) -> None:
    """Gives a file or directory within the data directory the mode that its path requires. Raises `OSError`."""
    mode = path.stat().st_mode
    wanted = wanted_mode(path.relative_to(data_dir).parts, mode)
    if stat.S_IMODE(mode) != wanted:
        path.chmod(wanted)


def set_open_mode(descriptor: int, inside: tuple[str, ...]) -> None:
    """Does the same for an open file or directory; `inside` is its path within the data directory, in parts.

    Raises `OSError`.
    """
    mode = os.fstat(descriptor).st_mode
    wanted = wanted_mode(inside, mode)
    if stat.S_IMODE(mode) != wanted:
        os.fchmod(descriptor, wanted)


@dataclass(frozen=True, slots=True)
class Correction:
    """A mode that was wrong. `done` is False if another user owns the file or the file system is read-only."""

    path: Path
    before: int
    after: int
    done: bool


def is_shared(data_dir: Path) -> bool:
    """Returns True if other users write in the directory too, as in /tmp: nothing in it may be assumed to be ours."""
    return data_dir.exists() and bool(data_dir.stat().st_mode & stat.S_ISVTX)


def correct_modes(data_dir: Path, *, gates_only: bool = False) -> list[Correction]:
    """Corrects every wrong mode under the data directory and returns the corrections.

    `gates_only` checks only the directories that other users would have to pass: some fifty entries instead of
    thousands.
    """
    if not data_dir.is_dir() or is_shared(data_dir):
        return []
    published = set() if gates_only else {status.st_ino for status in _published_links(data_dir)}
    corrections: list[Correction] = []
    for path, status in _entries(data_dir, gates_only=gates_only):
        wanted = wanted_mode(path.relative_to(data_dir).parts, status.st_mode)
        before = stat.S_IMODE(status.st_mode)
        # A published file has one mode under all its names (hard links); the private directory keeps others out.
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
    """Yields the directory and everything under it except symbolic links; skips entries that vanish meanwhile."""
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
    """Yields published files that have further names (hard links)."""
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
