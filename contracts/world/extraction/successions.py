"""Orders the targets of a single-valued type of edge in time: a thing may have several owners one after the other."""

from __future__ import annotations

from bisect import bisect_left
from typing import NamedTuple


class Tenure(NamedTuple):
    """The time for which a target holds, with its end excluded. An empty `start` is before every time."""

    start: str
    end: str | None
    target: str


ALWAYS = ("", None)
"""The period of a statement in a text, which names no period."""


class Succession:
    """The targets of one node by one single-valued type of edge, of which no two hold at the same time."""

    def __init__(self) -> None:
        self._tenures: list[Tenure] = []
        """In order, and without overlap."""

    def take(self, target: str, start: str, end: str | None) -> str | None:
        """Adds a period for which a target holds, unless another target already holds in a part of it.

        Returns that other target, the last one if there are several, or None.
        """
        last = len(self._tenures) if end is None else bisect_left(self._tenures, end, key=lambda tenure: tenure.start)
        first = last
        while first and _ends_after(self._tenures[first - 1], start):
            first -= 1
            if self._tenures[first].target != target:
                return self._tenures[first].target
        starts, ends = [start], [end]
        for tenure in self._tenures[first:last]:
            starts.append(tenure.start)
            ends.append(tenure.end)
        latest = None if None in ends else max(filter(None, ends))
        self._tenures[first:last] = [Tenure(min(starts), latest, target)]
        return None


def _ends_after(tenure: Tenure, instant: str) -> bool:
    return tenure.end is None or tenure.end > instant
