"""Decides whether a store failed because its disk is full: then space cures it, and its files are as they were."""

import errno
import shutil
from pathlib import Path

_FULL = (errno.ENOSPC, errno.EDQUOT)

LEAST_FREE_BYTES = 8_000_000
"""With less than this a disk counts as full for an error that says nothing of it. One run writes more."""


def is_full(place: Path, error: BaseException) -> bool:
    """Decides whether an operating system's or SQLite's error at `place` comes of a full disk.

    SQLite says "disk I/O error" where it can't enlarge the memory that its processes share, and "unable to open
    database file" where it can't make a file, so the free bytes decide. They are not zero then: what did not fit whole
    is given back.
    """
    if isinstance(error, OSError):
        return error.errno in _FULL
    name = str(getattr(error, "sqlite_errorname", None) or "")
    if name.startswith(("SQLITE_IOERR", "SQLITE_CANTOPEN")):
        return has_no_room(place)
    return name.startswith("SQLITE_FULL")


def has_no_room(place: Path) -> bool:
    """Decides whether hardly anything is free now on the disk of `place`, which need not exist."""
    there = next((path for path in (place, *place.absolute().parents) if path.exists()), None)
    return there is not None and shutil.disk_usage(there).free < LEAST_FREE_BYTES


def free_space(place: Path | str) -> str:
    """Returns the cure."""
    return f"Free space on the disk of {place}, and try again; nothing has to be moved."
