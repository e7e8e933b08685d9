"""Plans which blocks to request next, and how many at once. Pure: values in, values out."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final

from contracts.evm.codec import TooLarge

START_BLOCKS: Final = 10
"""The first width. It is small because nothing is known yet: a node without limits answered 1,000 busy blocks with
190 MB."""

TARGET_LOGS: Final = 6_000
"""Number of logs to request per answer: about 6 MB of JSON, the cap of the strictest public nodes."""

_EMPTY_GROWTH: Final = 10
_SPARSE_GROWTH: Final = 4
_CAREFUL_GROWTH: Final = 1.25
_MAX_BLOCKS: Final = 1 << 40
_SHARE_OF: Final = 16

Range = tuple[int, int]
"""First and last block, both included."""


@dataclass(frozen=True)
class Span:
    """The number of blocks to request at once.

    It grows fast until an answer is refused as too large, and then carefully. A width that was refused as such is
    recorded in `ceiling` and never tried again. `careful` ends when answers become nearly empty. An example:

        request       answer                          next width
        10 blocks     no rows                         100, ten times as many
        100 blocks    60 rows                         400, at most four times as many while rows are sparse
        400 blocks    9,000 rows                      266, so that one answer has about `TARGET_LOGS` rows
        266 blocks    too large                       133, half as many, and `careful` from now on
        133 blocks    5,000 rows                      167, a quarter more
        167 blocks    the node allows 150 at most     150, now the `ceiling`, which no later width exceeds
    """

    blocks: int = START_BLOCKS
    ceiling: int = _MAX_BLOCKS
    careful: bool = False

    @classmethod
    def resumed(cls, newest: Range, log_count: int) -> Span:
        """Returns the span with which to continue after a slice that ended with the range `newest`."""
        width = _width(newest)
        return cls(blocks=max(START_BLOCKS, min(2 * width, width * TARGET_LOGS // max(1, log_count))))

    def after_success(self, requested: Range, log_count: int) -> Span:
        """Returns the span after `requested` gave `log_count` rows. A range with another width changes nothing."""
        if _width(requested) != self.blocks:
            return self
        careful = self.careful and log_count > TARGET_LOGS // 20
        if log_count > TARGET_LOGS:
            wanted = self.blocks * TARGET_LOGS // log_count
        elif careful:
            wanted = int(self.blocks * _CAREFUL_GROWTH) + 1
        elif log_count == 0:
            wanted = self.blocks * _EMPTY_GROWTH
        else:
            wanted = min(self.blocks * _SPARSE_GROWTH, self.blocks * TARGET_LOGS // log_count)
        return replace(self, blocks=max(1, min(wanted, self.ceiling)), careful=careful)

    def after_too_large(self, requested: Range, cause: TooLarge) -> Span:
        """Returns the span after `requested` was refused: the node's suggestion if that is narrower, else half."""
        width = _width(requested)
        ceiling = self.ceiling
        if cause.structural and width > 1:
            ceiling = min(ceiling, width - 1, max(1, cause.max_blocks or width - 1))
        suggested = cause.suggested
        if suggested is not None and suggested[0] == requested[0] and requested[0] <= suggested[1] < requested[1]:
            wanted = _width(suggested)
        elif cause.max_blocks is not None and 0 < cause.max_blocks < width:
            wanted = cause.max_blocks
        else:
            wanted = width // 2
        return Span(blocks=max(1, min(self.blocks, wanted, ceiling)), ceiling=ceiling, careful=True)


def next_range(active: Iterable[Range], *, from_block: int, to_block: int, blocks: int) -> Range | None:
    """Returns the lowest range in [from_block, to_block] that no `active` range covers, or None if all is covered.

    The range is at most `blocks` wide. With 100 to 129 active, `from_block` 100, `to_block` 199 and `blocks` 50, it is
    130 to 179. With 120 to 129 active, it is 100 to 119, which fills the gap before the active range.
    """
    first = from_block
    for start, end in sorted(active):
        if first < start:
            return first, min(start - 1, first + blocks - 1)
        first = end + 1
    return (first, min(to_block, first + blocks - 1)) if first <= to_block else None


def drawn(chance: random.Random) -> bool:
    """Decides at random whether another node confirms a range: 1 in 16, unpredictable for any node."""
    return chance.randrange(_SHARE_OF) == 0


def overlaps(one: Range, other: Range) -> bool:
    """Returns True if two ranges have a block in common."""
    return one[0] <= other[1] and other[0] <= one[1]


def covers(ranges: Iterable[Range], wanted: Range) -> bool:
    """Returns True if every block of `wanted` is in one of the ranges."""
    return next_range(ranges, from_block=wanted[0], to_block=wanted[1], blocks=1) is None


def _width(blocks: Range) -> int:
    return blocks[1] - blocks[0] + 1
