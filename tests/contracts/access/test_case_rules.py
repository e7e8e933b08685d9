"""Cases as values: which state follows which, under whose quote money is filed, and when a difference can be paid."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.access.cases import (
    CASE_FOR,
    MOVES,
    WAITING,
    Case,
    CaseState,
    Filing,
    code_of,
    may_move,
    replaces,
    shortfall,
    still_there,
)
from contracts.access.matching import CLAIM_GRACE, SKEW_S, Agreed, Transfer
from contracts.access.plans import load_plans
from contracts.access.provider_views import BlockView, LogView, ReceiptView
from contracts.access.quotes import Quote, QuoteRequest, is_intact, make_quote, terms_of
from contracts.access.rail import PaymentRail
from contracts.access.supplements import is_supplement, make_supplement
from contracts.evm.codec import TRANSFER_TOPIC

USDC, TREASURY = "0x" + "83" * 20, "0x" + "7e" * 20
ALICE, MALLORY = "0x" + "a1" * 20, "0x" + "b2" * 20
NOON = datetime(2026, 1, 2, 12, tzinfo=UTC)
RAIL = PaymentRail(8453, USDC, TREASURY, providers=1, confirmations=3, proof_above=None, missing=())
STATES: tuple[CaseState, ...] = ("open", "supplement_offered", "claimed", "issued", "refund_due", "refunded")

FOLLOWS = {
    ("open", "supplement_offered"),
    ("open", "claimed"),
    ("open", "issued"),
    ("open", "refund_due"),
    ("open", "refunded"),
    ("supplement_offered", "claimed"),
    ("supplement_offered", "issued"),
    ("supplement_offered", "refund_due"),
    ("supplement_offered", "refunded"),
    ("issued", "refund_due"),
    ("refund_due", "refunded"),
}
"""S19: every pair of states that may follow one another. There is no way back, and no way around."""


@pytest.mark.parametrize("before", STATES)
@pytest.mark.parametrize("after", STATES)
def test_a_state_follows_another_where_the_table_has_it(before: CaseState, after: CaseState) -> None:
    assert may_move(before, after) == ((before, after) in FOLLOWS)


def test_no_state_is_reached_twice() -> None:
    def later(state: CaseState) -> set[CaseState]:
        return {reached for after in MOVES[state] for reached in {after, *later(after)}}

    assert set(MOVES) == set(STATES)
    assert all(state not in later(state) for state in STATES)
    assert {state for state in STATES if not MOVES[state]} == {"claimed", "refunded"}
    assert all(MOVES[state] for state in WAITING)


def quote_of(payer: str = ALICE, *, owner: str | None = None, amount: int = 9_000_000, number: int = 1) -> Quote:
    return make_quote(
        QuoteRequest(payer_address=payer, operator_address=owner, plan_id="api_basic_monthly"),
        load_plans()["api_basic_monthly"],
        RAIL,
        "http://test",
        quote_id=f"quote_{number:032x}",
        nonce=f"{number:032x}",
        amount=amount,
        now=NOON,
    )


def transfer_of(amount: int = 8_000_000, sender: str = ALICE, **changed: object) -> Transfer:
    return replace(Transfer(0, USDC, sender, TREASURY, amount), **changed)


STRANGERS = Filing(quote_of(MALLORY), proven=True)
OPERATED = Filing(quote_of(owner=MALLORY, amount=8_000_000, number=2), proven=False)
FAR = Filing(quote_of(amount=49_000_000, number=3), proven=False)
NEAR = Filing(quote_of(number=4), proven=False)
SIGNED = Filing(quote_of(owner=MALLORY, amount=60_000_000, number=5), proven=True)

STRENGTH = [OPERATED, FAR, NEAR, SIGNED]
"""Weakest first. A stranger's quote is not among them, whoever signed it."""


def filed(filings: list[Filing]) -> Filing | None:
    kept: Filing | None = None
    for filing in filings:
        kept = filing if replaces(filing, kept, transfer_of()) else kept
    return kept


def test_money_is_filed_under_the_senders_strongest_claim_in_whatever_order_they_come() -> None:
    for order in permutations([STRANGERS, *STRENGTH]):
        assert filed(list(order)) == SIGNED
        assert filed([filing for filing in order if filing is not SIGNED]) == NEAR
        assert filed([filing for filing in order if filing in (STRANGERS, OPERATED)]) == OPERATED


def test_no_claim_of_a_stranger_files_money() -> None:
    assert filed([STRANGERS]) is None
    assert code_of(transfer_of(), STRANGERS.quote, "amount_mismatch") == "payer_mismatch"
    assert code_of(transfer_of(), STRANGERS.quote, "wrong_asset") == "wrong_asset"
    assert code_of(transfer_of(), NEAR.quote, "payment_late") == "payment_late"


QUOTE = quote_of()
TERMS = terms_of(QUOTE, RAIL)
CASE = Case(
    case_id="case_1",
    chain_id=8453,
    transaction_hash="0x" + "11" * 32,
    transfer=transfer_of(),
    block=BlockView(7, "0x" + "bb" * 32, int(NOON.timestamp()) + 60),
    code="amount_mismatch",
    quote_id=QUOTE.quote_id,
    proven=False,
    state="open",
    refund_amount=None,
    refund_transaction_hash=None,
    recorded_at=NOON,
    changed_at=NOON,
)


def paid_at(instant: datetime, offset_s: int = 0) -> BlockView:
    return replace(CASE.block, time_s=int(instant.timestamp()) + offset_s)


@pytest.mark.parametrize(
    ("case", "quote", "now", "missing"),
    [
        pytest.param(CASE, QUOTE, NOON, 1_000_000, id="too little"),
        pytest.param(replace(CASE, state="supplement_offered"), QUOTE, NOON, 1_000_000, id="offered before"),
        pytest.param(replace(CASE, transfer=transfer_of(8_999_999)), QUOTE, NOON, 1, id="the least"),
        pytest.param(replace(CASE, transfer=transfer_of(9_000_000)), QUOTE, NOON, None, id="nothing is missing"),
        pytest.param(replace(CASE, transfer=transfer_of(9_000_001)), QUOTE, NOON, None, id="too much"),
        pytest.param(replace(CASE, transfer=transfer_of(0)), QUOTE, NOON, None, id="nothing was sent"),
        pytest.param(replace(CASE, transfer=transfer_of(sender=MALLORY)), QUOTE, NOON, None, id="another sender"),
        pytest.param(replace(CASE, transfer=transfer_of(asset=MALLORY)), QUOTE, NOON, None, id="another coin"),
        pytest.param(replace(CASE, transfer=transfer_of(recipient=ALICE)), QUOTE, NOON, None, id="not to us"),
        pytest.param(replace(CASE, chain_id=1), QUOTE, NOON, None, id="another chain"),
        pytest.param(replace(CASE, code="payment_returned"), QUOTE, NOON, None, id="taken back"),
        pytest.param(CASE, quote_of(owner=MALLORY), NOON, None, id="another owner named"),
        pytest.param(replace(CASE, proven=True), quote_of(owner=MALLORY), NOON, 1_000_000, id="and signed for"),
        pytest.param(replace(CASE, state="refund_due"), QUOTE, NOON, None, id="going back"),
        pytest.param(replace(CASE, state="issued"), QUOTE, NOON, None, id="issued"),
        pytest.param(replace(CASE, state="claimed"), QUOTE, NOON, None, id="claimed"),
        pytest.param(CASE, QUOTE, NOON + CASE_FOR, 1_000_000, id="on the last day"),
        pytest.param(CASE, QUOTE, NOON + CASE_FOR + timedelta(seconds=1), None, id="after thirty days"),
        pytest.param(replace(CASE, block=paid_at(NOON, -SKEW_S)), QUOTE, NOON, 1_000_000, id="within the skew"),
        pytest.param(replace(CASE, block=paid_at(NOON, -SKEW_S - 1)), QUOTE, NOON, None, id="older than the quote"),
        pytest.param(
            replace(CASE, block=paid_at(QUOTE.expires_at + CLAIM_GRACE)), QUOTE, NOON, 1_000_000, id="in the grace"
        ),
        pytest.param(
            replace(CASE, block=paid_at(QUOTE.expires_at + CLAIM_GRACE, 1)), QUOTE, NOON, None, id="past the grace"
        ),
    ],
)
def test_a_difference_can_be_paid_where_the_payers_own_money_was_too_little(
    case: Case, quote: Quote, now: datetime, missing: int | None
) -> None:
    assert shortfall(case, quote, terms_of(quote, RAIL), now=now) == missing


@given(st.integers(1, 8_999_999), st.integers(0, 9_999))
def test_a_supplementary_quote_is_complete_and_differs_only_where_it_must(sent: int, salt: int) -> None:
    case = replace(CASE, transfer=transfer_of(sent))
    missing = shortfall(case, QUOTE, TERMS, now=NOON)
    assert missing is not None and missing + sent == TERMS.amount
    later = NOON + timedelta(days=3, microseconds=7)
    made = make_supplement(QUOTE, case, missing, quote_id="quote_s", nonce="ab" * 16, amount=missing + salt, now=later)
    assert is_intact(made) and is_supplement(made) and not is_supplement(QUOTE)
    terms = terms_of(made, RAIL)
    assert terms == replace(
        TERMS,
        amount=missing + salt,
        issued_at=later.replace(microsecond=0),
        expires_at=made.expires_at,
    )
    assert (made.quote_hash, made.requirement_hash) != (QUOTE.quote_hash, QUOTE.requirement_hash)
    assert (made.payer, made.plan_id, made.operator) == (QUOTE.payer, QUOTE.plan_id, QUOTE.operator)


def log_of(transfer: Transfer) -> LogView:
    topics = (TRANSFER_TOPIC, *("0x" + "0" * 24 + address[2:] for address in (transfer.sender, transfer.recipient)))
    return LogView(transfer.asset, topics, f"0x{transfer.amount:064x}", False)


BACK = transfer_of(1, TREASURY, recipient=ALICE)


@pytest.mark.parametrize(
    ("status", "logs", "there"),
    [
        pytest.param("0x1", [transfer_of()], True, id="there"),
        pytest.param("0x0", [transfer_of()], False, id="failed since"),
        pytest.param("0x1", [], False, id="gone"),
        pytest.param("0x1", [BACK, transfer_of()], False, id="at another place"),
        pytest.param("0x1", [transfer_of(7)], False, id="of another amount"),
        pytest.param("0x1", [transfer_of(), BACK], False, id="partly taken back"),
    ],
)
def test_a_recorded_transfer_is_looked_for_at_its_place(status: str, logs: list[Transfer], there: bool) -> None:
    block = BlockView(9, "0x" + "cc" * 32, 5)
    receipt = ReceiptView(CASE.transaction_hash, status, 9, block.hash, tuple(map(log_of, logs)))
    found = still_there(CASE, TERMS, Agreed(receipt, block, 12), used=set())
    assert (found is not None) == there
    assert found is None or (found.transfer, found.block, found.head) == (CASE.transfer, block, 12)
