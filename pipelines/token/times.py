"""Derives block times from a few known headers, and recognises times that no chain can have. Pure."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from contracts.evm.codec import BlockHeader


def block_times(blocks: NDArray[np.int64], anchors: Sequence[BlockHeader]) -> tuple[NDArray[np.int64], bool]:
    """Returns the Unix seconds of `blocks`, which are all within the anchors, and whether they are exact.

    They are exact if block time is constant over the anchors: at least three on one line, with whole seconds per block.
    Otherwise they are interpolated between the nearest two.
    """
    ordered = {anchor.number: anchor.time_s for anchor in sorted(anchors, key=lambda anchor: anchor.number)}
    numbers = np.fromiter(ordered.keys(), np.int64)
    times = np.fromiter(ordered.values(), np.int64)
    known = bool(np.isin(blocks, numbers).all())
    if known or len(numbers) < 2:
        return np.interp(blocks, numbers, times).astype(np.int64), known
    step, rest = divmod(int(times[-1] - times[0]), int(numbers[-1] - numbers[0]))
    on_line = rest == 0 and step > 0 and bool((times == times[0] + (numbers - numbers[0]) * step).all())
    dense = int(numbers[-1] - numbers[0]) == len(numbers) - 1
    if on_line and (len(numbers) >= 3 or dense):
        return times[0] + (blocks - numbers[0]) * step, True
    # np.interp computes in doubles, which represent Unix seconds exactly.
    return np.interp(blocks, numbers, times).astype(np.int64), False


def are_possible(blocks: NDArray[np.int64], times: NDArray[np.int64], last: BlockHeader) -> bool:
    """Decides whether a chain can have Unix seconds `times` for `blocks`, which are in order and at most `last`.

    A block has only one time, which is not earlier than that of any previous block, and the time of `last` is known.
    Some nodes give 0 for blocks whose time they did not look up.
    """
    if len(blocks) == 0:
        return True
    blocks, times = np.append(blocks, last.number), np.append(times, last.time_s)
    later = np.diff(times)
    return bool(times[0] > 0 and (later >= 0).all() and (later[np.diff(blocks) == 0] == 0).all())
