"""Names a full disk, which DuckDB reports as text only."""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb


@contextmanager
def full_disk_named(path: Path) -> Iterator[None]:
    """Raises `OSError` (ENOSPC) where DuckDB finds no room to write `path`. Some of its error classes carry that."""
    try:
        yield
    except duckdb.Error as error:
        if "No space left on device" in str(error):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path)) from error
        raise
