"""Divides a table by ranges of blocks into files, nearly all of which never change again. Pure.

A range is ten times as long as the ranges within it and begins at a multiple of its length. A range that the chain has
passed becomes one file as soon as it ends, unless it has too many rows. The range that is still growing is divided
until its last file is small. A new block therefore rewrites one small file, each row is written only a few times in its
life, and a reader finds a few dozen files instead of one per run.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

LONGEST_BLOCKS = 1_000_000
MOST_ROWS = 1_000_000
"""Maximum number of rows of a file that is not written again."""

MOST_GROWING_ROWS = 50_000
"""Maximum number of rows of a file that is written again with the next block."""


@dataclass(frozen=True, slots=True)
class RangeFacts:
    """The rows within a range of blocks: their number, their last block, and a digest of their content."""

    rows: int
    last_block: int
    digest: int


@dataclass(frozen=True, slots=True)
class BlockRange:
    """The rows of one file: those of blocks `first` to `last`. A growing range ends ahead of the chain, so that its
    file keeps its name."""

    first: int
    last: int
    facts: RangeFacts


def plan_ranges(
    last_block: int,
    facts_of: Callable[[int, int], RangeFacts],
    *,
    longest_blocks: int = LONGEST_BLOCKS,
    most_rows: int = MOST_ROWS,
    most_growing_rows: int = MOST_GROWING_ROWS,
) -> list[BlockRange]:
    """Returns the files of blocks 0 to `last_block`, in order. A range without rows has no file.

    `facts_of` returns the facts of the blocks from its first to its second argument, both inclusive.
    """

    def within(first: int, length: int) -> Iterator[BlockRange]:
        last = first + length - 1
        complete = last <= last_block
        facts = facts_of(first, min(last, last_block))
        if facts.rows == 0:
            return
        if length == 1 or facts.rows <= (most_rows if complete else most_growing_rows):
            yield BlockRange(first, last, facts)
            return
        step = length // 10
        for start in range(first, min(last, last_block) + 1, step):
            yield from within(start, step)

    return [part for start in range(0, last_block + 1, longest_blocks) for part in within(start, longest_blocks)]
