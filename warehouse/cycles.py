"""Keeps Python from looking for cycles while very many records are made, of which none is part of one."""

from __future__ import annotations

import gc
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
