"""Turns DuckDB's report of a full disk, which is only text, into an `OSError`."""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb


@contextmanager
def full_disk_named(path: Path) -> Iterator[None]:
    """Raises `OSError` (ENOSPC) if DuckDB has no space to write `path`. Several of its error classes report that."""
    try:
        yield
    except duckdb.Error as error:
        if "No space left on device" in str(error):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path)) from error
        raise
