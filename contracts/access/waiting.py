"""Estimates how long a payment still needs until it is settled, from the views of RPC providers. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from contracts.access.matching import Terms, buried, canonical
from contracts.access.provider_views import BlockView, Silence, View
from contracts.access.rail import Burial

BLOCK_TIME_S = 2.0
"""Assumed seconds between two blocks (Base's), for a payment in the newest block, where no pace can be measured yet."""

RETRY_AFTER_S = 5
"""Minimum number of seconds before a client is told to repeat a request."""


@dataclass(frozen=True, slots=True)
class Progress:
    """The depth of a payment. Depths count blocks up to the head, including the payment's own."""

    depth: int | None
    """0 if the providers know no block of the payment; None if they can't tell."""
    needed: int | None
    """The depth that settles the payment; None if it is not known yet."""
    seconds_left: int | None
    """An estimate; None if the payment is in no block yet, or nobody can tell."""

    @property
    def retry_after_s(self) -> int:
        """Returns the seconds after which repeating the request makes sense."""
        return max(RETRY_AFTER_S, self.seconds_left or 0)


UNTOLD = Progress(None, None, None)


class _Seen(NamedTuple):
    """The progress according to one provider."""

    seconds_left: int
    depth: int
    needed: int


def progress_of(terms: Terms, views: Sequence[View | Silence]) -> Progress:
    """Returns the progress that a quorum of providers has reached, or that of the slowest if fewer can tell.

    Example: 3 confirmations are needed, and the payment is in block 100. Of two providers that must both agree, one has
    head 102 and the other 101: depth 2 of 3, and one block time is left.
    """
    answers = [view for view in views if isinstance(view, View)]
    seen = sorted(each for view in answers if (each := _seen(terms.burial, view)) is not None)
    if seen:
        slowest = seen[min(terms.quorum, len(seen)) - 1]
        return Progress(slowest.depth, slowest.needed, slowest.seconds_left)
    depths = [depth for view in answers if (depth := _depth(view)) is not None]
    if depths:
        return Progress(min(depths), None, None)
    if len(answers) < terms.quorum or not answers:
        return UNTOLD
    needed = [needed for view in answers if (needed := _needed(terms.burial, view)) is not None]
    return Progress(0, max(needed, default=None), None)


def _depth(view: View) -> int | None:
    """Returns the depth of the payment, or None if the provider has no canonical block with it."""
    if view.receipt is None or view.head is None or not canonical(view):
        return None
    return max(view.head.number - view.receipt.block_number + 1, 0)


def _seen(burial: Burial, view: View) -> _Seen | None:
    depth, needed = _depth(view), _needed(burial, view)
    if depth is None or needed is None or view.block is None or view.head is None:
        return None
    if buried(burial, view):
        return _Seen(0, depth, min(needed, max(depth, 1)))
    missing = max(needed - depth, 1)
    return _Seen(math.ceil(missing * _block_time_s(view.block, view.head)), depth, depth + missing)


def _needed(burial: Burial, view: View) -> int | None:
    """Returns the depth that settles a payment: the confirmations, or the distance of the tag if that is less."""
    tagged = view.finalized if burial.tag == "finalized" else view.safe
    depths = [] if burial.confirmations is None else [max(burial.confirmations, 1)]
    if tagged is not None and view.head is not None:
        depths.append(max(view.head.number - tagged, 0) + 1)
    return min(depths, default=None)


def _block_time_s(block: BlockView, head: BlockView) -> float:
    """Returns the average time per block since a payment's block."""
    blocks, seconds = head.number - block.number, head.time_s - block.time_s
    return seconds / blocks if blocks > 0 and seconds > 0 else BLOCK_TIME_S
