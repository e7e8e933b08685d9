"""The states of claims, of money that matches nothing, and of the lease on a quote that is being redeemed.

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
from datetime import timedelta

from claim_payments import TREASURY, USDC
from claim_store import (
    NOW,
    PAYER,
    count,
    issue,
    open_quote,
    transaction_hash,
    unsound,
)
from sqlalchemy import text

from contracts.access.cases import Case, Filing
from contracts.access.matching import Transfer
from contracts.access.provider_views import BlockView
from contracts.access.quotes import Quote
from warehouse.access.cases import cases_in, move_case, record_money
from warehouse.access.claims import (
    LEASE_FOR,
    close_quote,
    find_claim,
    payments_not_final,
    reinstate_claim,
    release_lease,
    reverse_claim,
    settle_claim,
    take_lease,
)
from warehouse.access.keys import KeyState, alive_key_of_claim
from warehouse.ledger.ledger import Ledger, Transaction


def execute(ledger: Ledger, statement: str) -> None:
    """Changes the ledger without the knowledge of the code under test."""
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
            back = (9, "0x" + "99" * 32)
            assert reinstate_claim(tx, claim, *back, now=NOW)
            assert not reinstate_claim(tx, claim, *back, now=NOW)
        assert state() == ("issued", KeyState.ACTIVE)
    with ledger.transaction() as tx:
        assert settle_claim(tx, claim, now=NOW)
        assert not settle_claim(tx, claim, now=NOW)
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


def money(*positions: int, amount: int = 1) -> list[Transfer]:
    return [Transfer(position, USDC, PAYER, TREASURY, amount) for position in positions]


BLOCK = BlockView(7, "0x" + "bb" * 32, 1)


def record(
    tx: Transaction, found: list[Transfer], quote: Quote, paid_by: str, code: str = "amount_mismatch"
) -> list[Case]:
    filing = Filing(quote, proven=False)
    return record_money(tx, found, BLOCK, code, filing, chain_id=8453, transaction_hash=paid_by, now=NOW)


def test_money_that_pays_nothing_is_recorded_once_however_often_it_is_claimed(ledger: Ledger) -> None:
    paid_by = transaction_hash()
    with ledger.transaction() as tx:
        quote = open_quote(tx)
    for found, code in (
        (money(0), "amount_mismatch"),
        (money(0), "amount_mismatch"),
        (money(0, 3), "amount_mismatch"),
        (money(3), "payment_late"),
        (money(), "payment_late"),
    ):
        with ledger.transaction() as tx:
            record(tx, found, quote, paid_by, code)
    with ledger.transaction() as tx:
        first, second = sorted(cases_in(tx), key=lambda case: case.transfer.position)
        assert (first.code, first.transfer.amount, first.quote_id) == ("amount_mismatch", 1, quote.quote_id)
        assert second.code == "amount_mismatch"
        assert move_case(tx, first, "refunded", now=NOW, refund_transaction_hash=paid_by)
        assert not move_case(tx, first, "issued", now=NOW)
        assert cases_in(tx) == [second]


def test_money_of_any_size_is_recorded_exactly(ledger: Ledger) -> None:
    with ledger.transaction() as tx:
        record(tx, money(0, amount=2**256 - 1), open_quote(tx), transaction_hash(), "wrong_asset")
        assert cases_in(tx)[0].transfer.amount == 2**256 - 1


def test_money_that_a_later_quote_claims_waits_for_nobody(ledger: Ledger) -> None:
    paid_by = transaction_hash()
    with ledger.transaction() as tx:
        quote, other = open_quote(tx), open_quote(tx)
        record(tx, money(0), other, paid_by)
    with ledger.transaction() as tx:
        issue(tx, quote, paid_by)
        assert cases_in(tx) == []
        assert len(cases_in(tx, "claimed")) == 1
    assert unsound(ledger) == set()


def test_if_too_many_claims_wait_the_newest_are_checked(ledger: Ledger) -> None:
    with ledger.transaction() as tx:
        claims = [
            issue(tx, open_quote(tx), transaction_hash(), now=NOW + timedelta(hours=hour)).claim for hour in range(3)
        ]
        newest = [payment.claim_id for payment in payments_not_final(tx, limit=2)]
        assert newest == [claims[2].claim_id, claims[1].claim_id]


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


def test_a_redeemed_quote_has_no_lease(ledger: Ledger) -> None:
    with ledger.transaction() as tx:
        quote = open_quote(tx)
        assert take_lease(tx, quote.quote_id, "one", now=NOW)
        issue(tx, quote, transaction_hash())
        assert not take_lease(tx, quote.quote_id, "two", now=NOW + LEASE_FOR)
        release_lease(tx, quote.quote_id, "one")
        assert not take_lease(tx, quote.quote_id, "two", now=NOW)


def test_only_one_of_many_simultaneous_requests_gets_a_lease(ledger: Ledger) -> None:
    with ledger.transaction() as tx:
        quote = open_quote(tx)
    together = threading.Barrier(8)

    def take(number: int) -> bool:
        together.wait()
        with ledger.transaction() as tx:
            return take_lease(tx, quote.quote_id, f"client-{number}", now=NOW)

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(take, range(8))) == 1
