"""What becomes of claims, of money that matches nothing, and of the lease on a quote that is being redeemed.

| row of the promises | held here by |
|---|---|
| S12 reversal | `test_a_payment_that_leaves_the_chain_suspends_the_key_and_one_that_returns_reinstates_it` |
| S19 monotone states | `test_no_state_of_quote_or_claim_ever_goes_back` |
| L5 money is recorded | `test_money_that_pays_nothing_is_recorded_once_however_often_it_is_claimed` |
| L7 leases | `test_a_lease_is_one_clients_until_it_runs_out` |
"""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from typing import Any

from claim_payments import TREASURY, USDC
from claim_store import (
    NOW,
    PAYER,
    count,
    issue,
    matched,
    open_quote,
    transaction_hash,
    unsound,
)
from sqlalchemy import text

from contracts.commerce.matching import Mismatch, Transfer
from contracts.commerce.views import BlockView
from warehouse.access import (
    LEASE_FOR,
    claims_not_final,
    close_quote,
    find_claim,
    record_unmatched,
    reinstate_claim,
    release_lease,
    reverse_claim,
    settle_claim,
    settle_unmatched,
    take_lease,
    unmatched_payments,
)
from warehouse.keys import KeyState, alive_key_of_claim
from warehouse.ledger import Ledger


def execute(ledger: Ledger, statement: str) -> None:
    """Change the ledger behind the back of the code under test."""
    with ledger._writers.begin() as connection:
        connection.execute(text(statement))


def test_a_payment_that_leaves_the_chain_suspends_the_key_and_one_that_returns_reinstates_it(ledger: Ledger) -> None:
    with ledger.transaction() as tx:
        claim = issue(tx, open_quote(tx), transaction_hash()).claim

    def state() -> tuple[str, KeyState]:
        with ledger.read() as reader:
            held, key = find_claim(reader, claim.claim_id), alive_key_of_claim(reader, claim.claim_id)
        assert held is not None and key is not None
        return held.state, key.state

    assert state() == ("issued", KeyState.ACTIVE)
    for _ in range(2):
        with ledger.transaction() as tx:
            assert reverse_claim(tx, claim, now=NOW)
            assert not reverse_claim(tx, claim, now=NOW)
        assert state() == ("reversed", KeyState.SUSPENDED)
        with ledger.transaction() as tx:
            back = replace(matched(open_quote(tx)).block, number=9, hash="0x" + "99" * 32)
            assert reinstate_claim(tx, claim, back, now=NOW)
            assert not reinstate_claim(tx, claim, back, now=NOW)
        assert state() == ("issued", KeyState.ACTIVE)
    with ledger.transaction() as tx:
        assert settle_claim(tx, claim, now=NOW)
        assert not settle_claim(tx, claim, now=NOW)
        assert claims_not_final(tx) == []
        held = find_claim(tx, claim.claim_id)
        assert held is not None and (held.block_number, held.block_hash) == (9, "0x" + "99" * 32)
    assert unsound(ledger) == set()
    assert count(ledger, "api_keys") == 1


def test_no_state_of_quote_or_claim_ever_goes_back(ledger: Ledger) -> None:
    with ledger.transaction() as tx:
        quote = open_quote(tx)
        assert close_quote(tx, quote.quote_id)
        assert not close_quote(tx, quote.quote_id)
        assert tx.run("access_move_quote", quote_id=quote.quote_id, state="open") == 0
        assert tx.run("access_move_quote", quote_id=quote.quote_id, state="expired") == 0
    assert count(ledger, "access_quotes", "state = 'claimed'") == 1


def mismatch(*positions: int, code: Any = "amount_mismatch", amount: int = 1) -> Mismatch:
    found = tuple(Transfer(each, USDC, PAYER, TREASURY, amount) for each in positions)
    return Mismatch(code, found, BlockView(7, "0x" + "bb" * 32, 1))


def test_money_that_pays_nothing_is_recorded_once_however_often_it_is_claimed(ledger: Ledger) -> None:
    paid_by = transaction_hash()
    with ledger.transaction() as tx:
        quote = open_quote(tx)
    known = {"chain_id": 8453, "transaction_hash": paid_by, "quote_id": quote.quote_id, "now": NOW}
    new = []
    for found in (mismatch(0), mismatch(0), mismatch(0, 3), mismatch(3, code="payment_late"), mismatch()):
        with ledger.transaction() as tx:
            new.append(record_unmatched(tx, found, **known))
    assert new == [1, 0, 1, 0, 0]
    with ledger.transaction() as tx:
        first, second = sorted(unmatched_payments(tx), key=lambda each: each.transfer.position)
        assert (first.code, first.transfer.amount, first.quote_id) == ("amount_mismatch", 1, quote.quote_id)
        assert settle_unmatched(tx, first.payment_id, "refunded", now=NOW, refund_transaction_hash=paid_by)
        assert not settle_unmatched(tx, first.payment_id, "issued", now=NOW)
        assert [each.payment_id for each in unmatched_payments(tx)] == [second.payment_id]


def test_money_of_any_size_is_recorded_exactly(ledger: Ledger) -> None:
    with ledger.transaction() as tx:
        quote = open_quote(tx)
        found = mismatch(0, code="wrong_asset", amount=2**256 - 1)
        record_unmatched(
            tx, found, chain_id=8453, transaction_hash=transaction_hash(), quote_id=quote.quote_id, now=NOW
        )
        assert unmatched_payments(tx)[0].transfer.amount == 2**256 - 1


def test_money_that_a_later_quote_claims_is_no_longer_unmatched(ledger: Ledger) -> None:
    paid_by = transaction_hash()
    with ledger.transaction() as tx:
        quote, other = open_quote(tx), open_quote(tx)
        record_unmatched(tx, mismatch(0), chain_id=8453, transaction_hash=paid_by, quote_id=other.quote_id, now=NOW)
    with ledger.transaction() as tx:
        issue(tx, quote, paid_by)
        assert unmatched_payments(tx) == []
        assert len(unmatched_payments(tx, "claimed")) == 1
    assert unsound(ledger) == set()


def test_where_more_claims_wait_than_are_looked_at_the_newest_are(ledger: Ledger) -> None:
    with ledger.transaction() as tx:
        claims = [
            issue(tx, open_quote(tx), transaction_hash(), now=NOW + timedelta(hours=hour)).claim for hour in range(3)
        ]
        assert claims_not_final(tx, limit=2) == [claims[2], claims[1]]


def test_a_lease_is_one_clients_until_it_runs_out(ledger: Ledger) -> None:
    with ledger.transaction() as tx:
        quote = open_quote(tx)
        assert take_lease(tx, quote.quote_id, "one", now=NOW)
        assert not take_lease(tx, quote.quote_id, "two", now=NOW + LEASE_FOR - timedelta(seconds=1))
        release_lease(tx, quote.quote_id, "two")
        assert not take_lease(tx, quote.quote_id, "two", now=NOW)
        assert take_lease(tx, quote.quote_id, "two", now=NOW + LEASE_FOR)
        release_lease(tx, quote.quote_id, "one")
        assert not take_lease(tx, quote.quote_id, "three", now=NOW + LEASE_FOR)
        release_lease(tx, quote.quote_id, "two")
        assert take_lease(tx, quote.quote_id, "three", now=NOW)


def test_there_is_no_lease_of_a_quote_that_is_redeemed(ledger: Ledger) -> None:
    with ledger.transaction() as tx:
        quote = open_quote(tx)
        assert take_lease(tx, quote.quote_id, "one", now=NOW)
        issue(tx, quote, transaction_hash())
        assert not take_lease(tx, quote.quote_id, "two", now=NOW + LEASE_FOR)
        release_lease(tx, quote.quote_id, "one")
        assert not take_lease(tx, quote.quote_id, "two", now=NOW)


def test_of_many_that_want_a_lease_at_once_one_gets_it(ledger: Ledger) -> None:
    with ledger.transaction() as tx:
        quote = open_quote(tx)
    together = threading.Barrier(8)

    def take(number: int) -> bool:
        together.wait()
        with ledger.transaction() as tx:
            return take_lease(tx, quote.quote_id, f"client-{number}", now=NOW)

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(take, range(8))) == 1
