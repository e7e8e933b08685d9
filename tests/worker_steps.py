"""Work that tests send to processes of the pool, which import this module and as little else as possible."""

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

from contracts.errors import BodyInvalid, StoreBusy


def hold(started: Path, release: Path) -> int:
    """Signals that the work began, and returns the pid once it is released."""
    started.write_text(str(os.getpid()))
    while not release.exists():
        time.sleep(0.005)
    return os.getpid()


def priority() -> int:
    return os.nice(0)


def allocate(size: int) -> int:
    return len(bytes(size))


def allocate_in_duckdb(size: int) -> int:
    import duckdb

    rows = duckdb.sql("select length(repeat('x', $size))", params={"size": size}).fetchall()
    return int(rows[0][0])


def packages_after(function: Callable[..., object], *arguments: object) -> set[str]:
    """Calls the function, and returns the packages that are imported afterwards."""
    function(*arguments)
    return {name.partition(".")[0] for name in sys.modules}


def process_id() -> int:
    return os.getpid()


def refuse() -> None:
    raise BodyInvalid("Too many.", errors=[("/documents", "too many")])


def fail() -> None:
    raise StoreBusy("The ledger is locked.", cure="Try again.")
