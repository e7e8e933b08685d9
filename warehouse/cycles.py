"""Keeps Python from looking for cycles while very many records are made, of which none is part of one."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager


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
def importing() -> Iterator[None]:
    """Lets Python look for no cycles while modules are imported, nor from then on in what they hold: searches take a
    third of the CPU of importing Dagster. Where all were imported before, everything stays as it is."""
    imported = len(sys.modules)
    with without_cycles():
        yield
    if len(sys.modules) > imported:
        gc.freeze()
