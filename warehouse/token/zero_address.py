"""Computes the zero address's balance at any block, where transfers and holder lists determine it.

Most contracts burn a transfer to zero and some keep it, and the event does not show which. A proven list includes the
supply at its block, and so the zero address's balance there. Between two such lists the kept transfers sum up to the
difference of its balances; each transfer is kept or burned as a whole.

Example: burns of 5 in block 6 and of 1 in block 9, a transfer of 2 that is kept in block 271, and a list of block 343
according to which the zero address holds 2. Only the transfer of block 271 gives 2, so the balance is zero up to block
270. If the burn of block 9 were also 2, either transfer could be the kept one, and the balance at the blocks 9 to 270
would be unknown.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import NamedTuple

from warehouse.token.history import History

MOST_TRANSFERS = 5_000
"""The most transfers to zero between two lists, each no larger than the amount kept, that are considered one by one. If
there are more, only their total counts."""
MOST_SUMS = 50_000
"""The most sums of kept transfers that are computed between two lists. If there are more, only the bounds count."""


class Bounds(NamedTuple):
    """The least and the most that the zero address can hold, in smallest units; equal if its balance is known."""

    least: int
    most: int


NOTHING = Bounds(0, 0)


class Moment(NamedTuple):
    """A block and its time in seconds."""

    block: int
    time_s: int


class KnownBalance(NamedTuple):
    """The balance of the zero address according to the list of a block, in smallest units."""

    block: int
    held: int


@dataclass(frozen=True)
class _Interval:
    """The bounds between two lists: `before` applies up to the first moment, and `bounds` from each moment on.

    If `bounds` is None, they are computed from the amount sent up to a block, and only the first moment is recorded.
    """

    before: Bounds
    moments: Sequence[Moment]
    bounds: Sequence[Bounds] | None


class ZeroAddress:
    """The zero address in a history. `known` are its balances according to lists, oldest first.

    Above the last list nothing is known: callers must not look beyond its block.
    """

    def __init__(self, history: History, known: Sequence[KnownBalance]) -> None:
        self._history = history
        self._known = [KnownBalance(-1, 0), *known]
        self._blocks = [balance.block for balance in self._known]
        self._never_held = not any(balance.held for balance in known)
        self._intervals: dict[int, _Interval] = {}

    def bounds_at(self, block: int) -> Bounds:
        """Returns the bounds of its balance at the end of `block`."""
        if self._never_held:
            return NOTHING
        after = bisect_left(self._blocks, block)
        if after == len(self._known):
            after -= 1
        upper, lower = self._known[after], self._known[max(0, after - 1)]
        if upper.block <= block or upper.held == lower.held:
            return Bounds(upper.held, upper.held)
        interval = self._interval(after)
        at = bisect_right(interval.moments, block, key=lambda moment: moment.block)
        return self._bounds_behind(after, at - 1, block) if at else interval.before

    def first_held(self, block: int) -> Moment | None:
        """Returns the block, at or below `block`, at whose end it first had a balance, and its time.

        Returns None if it had none, or if that block is unknown.
        """
        for after in range(1, len(self._known)):
            if self._known[after].held == self._known[after - 1].held:
                continue
            interval = self._interval(after)
            if interval.before.most > 0:
                return None
            for at, moment in enumerate(interval.moments):
                least, most = self._bounds_behind(after, at, moment.block)
                if most > 0:
                    return moment if least > 0 and moment.block <= block else None
        return None

    def _bounds_behind(self, after: int, at: int, block: int) -> Bounds:
        """Returns the bounds at a block from the moment `at` on, in the interval that ends with the list `after`."""
        bounds = self._interval(after).bounds
        if bounds is not None:
            return bounds[at]
        lower, upper = self._known[after - 1], self._known[after]
        sent = [self._history.supply_at(known)[1] for known in (lower.block, block, upper.block)]
        kept = upper.held - lower.held
        least, most = max(0, kept - (sent[2] - sent[1])), min(kept, sent[1] - sent[0])
        return Bounds(lower.held + least, lower.held + most) if least <= most else Bounds(lower.held, upper.held)

    def _interval(self, after: int) -> _Interval:
        interval = self._intervals.get(after)
        if interval is None:
            lower, upper = self._known[after - 1], self._known[after]
            interval = self._intervals[after] = _weighed(self._history, lower, upper)
        return interval


def _weighed(history: History, lower: KnownBalance, upper: KnownBalance) -> _Interval:
    """Decides which transfers to zero between two lists can be the kept ones."""
    kept, before = upper.held - lower.held, Bounds(lower.held, lower.held)
    if kept < 0:
        return _Interval(Bounds(upper.held, lower.held), [], [])
    sent, are_all = history.sent_to_zero(lower.block, upper.block, limit=MOST_TRANSFERS, at_most=kept)
    if not are_all and sent:
        return _Interval(before, [Moment(*sent[0][:2])], None)
    sums = _bounds([value for _, _, value in sent], kept) if are_all else None
    if sums is None:  # no transfers sum up to the difference, so the contract keeps parts of them
        sent, _ = history.sent_to_zero(lower.block, upper.block, limit=1)
        if not sent:
            return _Interval(Bounds(lower.held, upper.held), [], [])
        sums = [(0, kept)] * len(sent)
    bounds = {  # the last transfer of a block wins
        Moment(block, time_s): Bounds(lower.held + least, lower.held + most)
        for (block, time_s, _), (least, most) in zip(sent, sums, strict=True)
    }
    return _Interval(before, list(bounds), list(bounds.values()))


def _bounds(values: Sequence[int], kept: int) -> list[tuple[int, int]] | None:
    """Returns the least and the most of `kept` that can be reached after each value; None if no values sum up to it."""
    upto = list(accumulate(values))
    total = upto[-1] if upto else 0
    if not 0 <= kept <= total:
        return None
    plain = [(max(0, kept - (total - reached)), min(kept, reached)) for reached in upto]
    if all(least == most for least, most in plain):
        return plain
    # First forwards: the sums of the first values that can still lead to `kept`. Then backwards: those that do.
    budget = MOST_SUMS
    sums: list[set[int]] = [{0}]
    for value, (least, most) in zip(values, plain, strict=True):
        reached = {part for part in sums[-1] | {part + value for part in sums[-1]} if least <= part <= most}
        budget -= len(reached)
        if budget < 0:
            return plain
        sums.append(reached)
    if kept not in sums[-1]:
        return None
    fitting = [{kept}]
    for value, reached in zip(reversed(values), reversed(sums[:-1]), strict=True):
        fitting.append({part for part in reached if part in fitting[-1] or part + value in fitting[-1]})
    return [(min(parts), max(parts)) for parts in fitting[-2::-1]]
