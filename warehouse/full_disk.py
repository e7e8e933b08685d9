"""Decides whether a store failed because its disk is full: free space then cures it, and its files are undamaged."""

import errno
import shutil
from pathlib import Path

from contracts.errors import DiskFull

_FULL = (errno.ENOSPC, errno.EDQUOT)

LEAST_FREE_BYTES = 8_000_000
"""With fewer free bytes than this a disk counts as full for errors that name no cause. One run writes more."""


def is_full(place: Path, error: BaseException) -> bool:
    """Decides whether an error of the operating system or of SQLite at `place` was caused by a full disk.

    SQLite reports "disk I/O error" where it can't enlarge the memory that its processes share, and "unable to open
    database file" where it can't create a file, so the number of free bytes decides. It isn't zero then: the space of
    a write that did not fit completely is released again.
    """
    if isinstance(error, OSError):
        return error.errno in _FULL
    name = str(getattr(error, "sqlite_errorname", None) or "")
    if name.startswith(("SQLITE_IOERR", "SQLITE_CANTOPEN")):
        return has_no_room(place)
    return name.startswith("SQLITE_FULL")


def has_no_room(place: Path) -> bool:
    """Decides whether the disk of `place`, which need not exist, has hardly any space left now."""
    there = next((path for path in (place, *place.absolute().parents) if path.exists()), None)
    return there is not None and shutil.disk_usage(there).free < LEAST_FREE_BYTES


def free_space(place: Path | str) -> str:
    """Returns the cure that error texts give for a full disk."""
    return f"Free space on the disk of {place}, and try again; nothing has to be moved."


def not_written(what: str, place: Path | str, error: BaseException) -> DiskFull | None:
    """Returns the problem if an error on writing `what` at `place` was caused by a full disk, or None."""
    if not is_full(Path(place), error):
        return None
    why = getattr(error, "strerror", None) or "the disk is full"  # or a quota is
    return DiskFull(f"{what} can't be written: {why}.", cure=free_space(place))
