"""The remaining wait of a payment: depth, needed depth and seconds left as providers show them, and when to ask
again."""

from __future__ import annotations

from dataclasses import replace

import pytest
from claim_cases import TERMS
from hypothesis import given
from hypothesis import strategies as st

from api.limits import COUNTED, Counted, earliest_retry_s
from contracts.access.claims import pending_answer
from contracts.access.matching import Unknown, settle
from contracts.access.provider_views import BlockView, ReceiptView, Silence, View
from contracts.access.rail import Burial
from contracts.access.waiting import RETRY_AFTER_S, UNTOLD, Progress, progress_of
from warehouse.ledger.counters import Take

CHAIN = TERMS.chain_id
SILENT = Silence("silent", "timeout")


def view(
    head: int,
    *,
    block: int | None = 100,
    pace_s: int = 2,
    safe: int | None = None,
    finalized: int | None = None,
    moved: bool = False,
) -> View:
    """Returns the view of a provider with a payment in `block` (None: unknown) whose chain produces a block every
    `pace_s` seconds."""
    top = BlockView(head, f"0xh{head}", 1_000 + (head - 100) * pace_s)
    if block is None:
        return View("p", CHAIN, None, None, top, safe, finalized)
    receipt = ReceiptView("0xt", "0x1", block, f"0xh{block}", ())
    place = BlockView(block, "0xother" if moved else f"0xh{block}", 1_000 + (block - 100) * pace_s)
    return View("p", CHAIN, receipt, place, top, safe, finalized)


CASES: list[tuple[str, Burial, list[View | Silence], Progress]] = [
    ("in the newest block", Burial(3, "safe"), [view(100), view(100)], Progress(1, 3, 4)),
    ("at the chain's own pace", Burial(10, "safe"), [view(103, pace_s=12)] * 2, Progress(4, 10, 72)),
    ("the slower of two decides", Burial(3, "safe"), [view(101), view(102)], Progress(2, 3, 2)),
    ("deep enough", Burial(3, "safe"), [view(102), view(102)], Progress(3, 3, 0)),
    ("one of two knows it", Burial(3, "safe"), [view(101), view(101, block=None)], Progress(2, 3, 2)),
    ("one is silent", Burial(3, "safe"), [view(101), SILENT], Progress(2, 3, 2)),
    ("nobody knows it", Burial(3, "safe"), [view(101, block=None)] * 2, Progress(0, 3, None)),
    ("its block has left the chain", Burial(3, "safe"), [view(101, moved=True)] * 2, Progress(0, 3, None)),
    ("nobody answers", Burial(3, "safe"), [SILENT, SILENT], UNTOLD),
    ("too few answer and know nothing", Burial(3, "safe"), [view(101, block=None), SILENT], UNTOLD),
    ("only the tag settles it", Burial(None, "safe"), [view(101, safe=90)] * 2, Progress(2, 12, 20)),
    ("the tag is nearer", Burial(50, "safe"), [view(101, safe=97)] * 2, Progress(2, 5, 6)),
    ("finality is far", Burial(None, "finalized"), [view(110, safe=105, finalized=60)] * 2, Progress(11, 51, 80)),
    ("no tag is known", Burial(None, "safe"), [view(101)] * 2, Progress(2, None, None)),
    ("a chain that stands still", Burial(3, "safe"), [view(101, pace_s=0)] * 2, Progress(2, 3, 2)),
]


@pytest.mark.parametrize(("burial", "views", "progress"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_the_progress_of_a_payment(burial: Burial, views: list[View | Silence], progress: Progress) -> None:
    assert progress_of(replace(TERMS, burial=burial), views) == progress


heads = st.integers(98, 130)
lags = st.none() | st.integers(60, 130)


@given(
    st.lists(
        st.builds(view, heads, block=st.none() | st.integers(95, 125), safe=lags, finalized=lags) | st.just(SILENT),
        max_size=4,
    ),
    st.sampled_from([Burial(1, "safe"), Burial(20, "safe"), Burial(None, "safe"), Burial(None, "finalized")]),
    st.integers(1, 3),
)
def test_the_reported_depth_stays_below_the_needed_one_until_the_payment_settles(
    views: list[View | Silence], burial: Burial, quorum: int
) -> None:
    terms = replace(TERMS, burial=burial, quorum=quorum)
    progress = progress_of(terms, views)
    assert progress.retry_after_s >= RETRY_AFTER_S
    if settle(terms, views) == Unknown("confirmations"):
        assert progress.depth is not None and (progress.needed is None or progress.depth < progress.needed)
        assert progress.needed is None or progress.seconds_left != 0
    pending_answer("confirmations", "q", progress)


RETRIES = [
    (None, 0),
    (Counted("permin", 60, Take(True, 20, 19, 58)), 4),
    (Counted("permin", 60, Take(True, 20, 5, 50)), 10),
    (Counted("permin", 60, Take(True, 20, 1, 31)), 31),
    (Counted("permin", 60, Take(True, 20, 0, 31)), 31),
    (Counted("daily", 86_400, Take(True, 100, 3, 40_000)), 0),
    (Counted("daily", 86_400, Take(True, 100, 0, 40_000)), 40_000),
]


@pytest.mark.parametrize(("counted", "seconds"), RETRIES)
def test_the_budget_of_an_address_is_spread_over_its_minute(counted: Counted | None, seconds: int) -> None:
    assert earliest_retry_s({COUNTED: counted}) == seconds
    assert earliest_retry_s({}) == 0
