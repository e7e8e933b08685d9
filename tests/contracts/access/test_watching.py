"""The location of an issued claim's payment according to the providers: in the chain, gone, back, or undecidable."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from contracts.access.claims import Payment
from contracts.access.matching import Terms
from contracts.access.provider_views import BlockView, LogView, ReceiptView, Silence, View
from contracts.access.rail import Burial
from contracts.access.watching import LANDS_AGAIN_WITHIN, Absent, Present, Sighting, Unclear, recheck
from contracts.evm.codec import TRANSFER_TOPIC

USDC, PAYER, TREASURY = "0x" + "83" * 20, "0x" + "a1" * 20, "0x" + "7e" * 20
SENT, OLD, NEW = "0x" + "11" * 32, "0x" + "bb" * 32, "0x" + "cc" * 32
NOON = datetime(2026, 1, 2, 12, tzinfo=UTC)
TERMS = Terms(8453, USDC, PAYER, TREASURY, 900, NOON, NOON + timedelta(minutes=30), Burial(3, "safe"), quorum=2)
PAYMENT = Payment(
    claim_id="c",
    quote_id="q",
    chain_id=8453,
    transaction_hash=SENT,
    log_position=0,
    amount=900,
    block_number=100,
    block_hash=OLD,
    state="issued",
    changed_at=NOON,
    final=False,
)
REVERSED = replace(PAYMENT, state="reversed")


def log(amount: int = 900, sender: str = PAYER, recipient: str = TREASURY, asset: str = USDC) -> LogView:
    topics = (TRANSFER_TOPIC, "0x" + "0" * 24 + sender[2:], "0x" + "0" * 24 + recipient[2:])
    return LogView(asset, topics, f"0x{amount:064x}", False)


def seen(
    held: str | None = OLD,
    *,
    landed: tuple[int, str] | None = (100, OLD),
    head: int = 110,
    finalized: int | None = 90,
    status: str = "0x1",
    logs: tuple[LogView, ...] = (log(),),
    chain_id: int = 8453,
    time_s: int = 1_800_000_000,
) -> Sighting:
    """Returns what a provider with block `held` at height 100 reports, with the transaction in the block `landed`."""
    receipt = block = None
    if landed is not None:
        receipt = ReceiptView(SENT, status, *landed, logs)
        block = BlockView(*landed, time_s)
    view = View("host", chain_id, receipt, block, BlockView(head, "0x" + "ee" * 32, time_s), finalized, finalized)
    return Sighting(view, None if held is None else BlockView(100, held, time_s))


def gone(**changed: object) -> Sighting:
    return seen(NEW, **({"landed": None} | changed))


OLD_BLOCK, NEW_BLOCK = BlockView(100, OLD, 1_800_000_000), BlockView(102, NEW, 1_800_000_000)
SILENT = Silence("host", "timeout")


@pytest.mark.parametrize(
    ("claim", "sightings", "standing"),
    [
        pytest.param(PAYMENT, [seen(), seen()], Present(OLD_BLOCK, False), id="its block is there"),
        pytest.param(PAYMENT, [seen(finalized=100)] * 2, Present(OLD_BLOCK, True), id="final where both say so"),
        pytest.param(
            PAYMENT, [seen(finalized=100), seen()], Present(OLD_BLOCK, False), id="not final where one says so"
        ),
        pytest.param(PAYMENT, [seen(finalized=None)] * 2, Present(OLD_BLOCK, False), id="no finalized tag"),
        pytest.param(PAYMENT, [seen(landed=None)] * 2, Present(OLD_BLOCK, False), id="receipts pruned, block there"),
        pytest.param(PAYMENT, [gone(), gone()], Absent(False), id="another block and no transaction"),
        pytest.param(
            PAYMENT, [gone(landed=(102, NEW))] * 2, Present(NEW_BLOCK, False), id="landed in another block and buried"
        ),
        pytest.param(PAYMENT, [gone(landed=(109, NEW))] * 2, Absent(False), id="landed and not buried yet"),
        pytest.param(PAYMENT, [gone(landed=(102, NEW), status="0x0")] * 2, Absent(False), id="landed and failed"),
        pytest.param(PAYMENT, [gone(landed=(102, NEW), logs=(log(899),))] * 2, Absent(False), id="landed short"),
        pytest.param(
            PAYMENT,
            [gone(landed=(102, NEW), logs=(log(), log(900, TREASURY, PAYER)))] * 2,
            Absent(False),
            id="bounced",
        ),
        pytest.param(
            PAYMENT,
            [gone(landed=(102, NEW), logs=(log(1), log()))] * 2,
            Absent(False),
            id="at another place",
        ),
        pytest.param(PAYMENT, [gone(), seen()], Unclear(), id="providers differ"),
        pytest.param(PAYMENT, [gone(), SILENT], Unclear(), id="one of two is silent"),
        pytest.param(PAYMENT, [seen(), SILENT], Unclear(), id="one of two is silent, the other has it"),
        pytest.param(PAYMENT, [SILENT, SILENT], Unclear(), id="nobody answers"),
        pytest.param(PAYMENT, [], Unclear(), id="nobody is asked"),
        pytest.param(PAYMENT, [seen(None, landed=None, head=99)] * 2, Unclear(), id="both are behind"),
        pytest.param(PAYMENT, [gone(), seen(None, landed=None, head=99)], Unclear(), id="one is behind"),
        pytest.param(PAYMENT, [gone(chain_id=1), gone()], Unclear(), id="one is of another chain"),
        pytest.param(REVERSED, [seen(), seen()], Present(OLD_BLOCK, False), id="back in its block"),
        pytest.param(REVERSED, [seen(head=101)] * 2, Unclear(), id="back in its block, not buried again"),
        pytest.param(REVERSED, [gone(), gone()], Absent(False), id="still gone"),
        pytest.param(REVERSED, [gone(landed=(102, NEW))] * 2, Present(NEW_BLOCK, False), id="back in another block"),
        pytest.param(
            REVERSED, [gone(landed=(102, NEW), finalized=102)] * 2, Present(NEW_BLOCK, True), id="back and final"
        ),
        pytest.param(
            REVERSED,
            [gone(landed=(102, NEW), time_s=2_000_000_000)] * 2,
            Present(replace(NEW_BLOCK, time_s=2_000_000_000), False),
            id="back after the quote's expiry",
        ),
    ],
)
def test_a_standing_is_what_enough_providers_say_alike(claim, sightings, standing) -> None:
    assert recheck(claim, TERMS, sightings, now=NOON + timedelta(minutes=1)) == standing


def test_one_provider_suffices_where_one_is_configured() -> None:
    alone = replace(TERMS, quorum=1)
    assert recheck(PAYMENT, alone, [gone()], now=NOON) == Absent(False)
    assert recheck(PAYMENT, alone, [seen(finalized=100)], now=NOON) == Present(OLD_BLOCK, True)


def test_a_payment_that_does_not_come_back_is_looked_for_a_week() -> None:
    for age, for_good in ((LANDS_AGAIN_WITHIN, False), (LANDS_AGAIN_WITHIN + timedelta(seconds=1), True)):
        assert recheck(REVERSED, TERMS, [gone()] * 2, now=NOON + age) == Absent(for_good)


def test_an_issued_claim_is_never_given_up_at_once() -> None:
    assert recheck(PAYMENT, TERMS, [gone()] * 2, now=NOON + timedelta(days=30)) == Absent(False)


def test_the_amounts_that_other_claims_used_of_the_transaction_must_be_covered_too() -> None:
    batch = [gone(landed=(102, NEW), logs=(log(), log(), log(900, TREASURY, PAYER)))] * 2
    assert recheck(PAYMENT, TERMS, batch, now=NOON) == Present(NEW_BLOCK, False)
    assert recheck(PAYMENT, TERMS, batch, now=NOON, used={1}) == Absent(False)
