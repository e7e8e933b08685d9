"""Keeps Python from looking for cycles where it would walk very many objects and find nothing to free."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

COLLECTED_AFTER = (20_000, 20, 20)
"""Thresholds of the garbage collector of a process that holds Dagster. By Python's own it took a third of the CPU of
the first run of the chain, and walked again and again what that run makes to stay."""


@contextmanager
def without_cycles() -> Iterator[None]:
    """Lets Python look for no cycles: records have none, and a search through millions of them takes up to a third of
    the time. It also decorates functions."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


@contextmanager
def while_importing() -> Iterator[None]:
    """Lets Python look for no cycles while modules are imported, nor ever again in what they make: it stays as long as
    the process, and the search takes a fifth of the time of importing Dagster and the pipelines.

    For processes that end at once, as `svc` does: one that is taken down says that DuckDB leaks.
    """
    with without_cycles():
        yield
        gc.freeze()


def collect_rarely() -> None:
    """Lets Python look for cycles at the pace of a process that holds Dagster."""
    gc.set_threshold(*COLLECTED_AFTER)
