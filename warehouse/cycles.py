"""Restrains the garbage collector where it would walk millions of objects and find no cycle to free."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

COLLECTED_AFTER = (20_000, 20, 20)
"""Thresholds of the garbage collector in a process that has loaded Dagster. With Python's defaults the collector took
a third of the CPU time of the first run of the chain: it repeatedly walked objects that live as long as the process."""


@contextmanager
def without_cycles() -> Iterator[None]:
    """Turns the garbage collector off. Records have no cycles, and walking millions of them takes up to a third of the
    time. Also usable as a decorator."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


@contextmanager
def while_importing() -> Iterator[None]:
    """Turns the garbage collector off while modules are imported, and exempts the objects that they create for good:
    they live as long as the process, and walking them takes a fifth of the time of importing Dagster and the pipelines.

    Only for processes that exit without tearing the interpreter down, as `svc` does: a teardown would report that
    DuckDB leaks.
    """
    with without_cycles():
        yield
        gc.freeze()


def collect_rarely() -> None:
    """Sets the garbage collector's thresholds to `COLLECTED_AFTER`."""
    gc.set_threshold(*COLLECTED_AFTER)
