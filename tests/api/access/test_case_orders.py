"""S24: money is never filed under another payer's quote, whatever the order of claims, and never buys anybody else a
key."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from case_desk import ALICE, MALLORY, accept, case_of, next_of, refund, supplement_of, waiting
from claim_service import Sale, due_of, on_sale, said
from claim_store import count, unsound
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rounds import ROUNDS
from sqlalchemy import text
from typer.testing import CliRunner

from cli.app import app
from contracts.access.proofs import claim_typed_data
from contracts.errors import PaymentNotSettled
from contracts.settings import Settings

ALICE_PAYS, MALLORY_PAYS = ALICE.address.lower(), MALLORY.address.lower()


@pytest.fixture
def sale(ledger_settings: Settings) -> Iterator[Sale]:
    with on_sale(ledger_settings) as opened:
        yield opened


def signature_of(quote: dict[str, Any], account: Any = ALICE) -> dict[str, Any]:
    signed = account.sign_typed_data(full_message=claim_typed_data(quote["quoteHash"], 8453))
    return {"type": "eip712", "signature": signed.signature.to_0x_hex()}


ORDERS = pytest.mark.parametrize("attacker_first", [True, False], ids=["attacker first", "payer first"])


@ORDERS
@pytest.mark.parametrize("by", [-1_000_000, 1_000_000])
def test_a_strangers_money_is_never_filed_under_an_unpaid_quote(sale: Sale, attacker_first: bool, by: int) -> None:
    """FINDINGS A4: the attacker's claim came first, was recorded, and the operator issued to the attacker."""
    unpaid, own = sale.quote(MALLORY_PAYS), sale.quote(ALICE_PAYS)
    transaction = sale.pay(own, amount=due_of(own).amount + by)
    replies = {
        quote["quoteId"]: sale.claim(quote, transaction)
        for quote in ((unpaid, own) if attacker_first else (own, unpaid))
    }
    assert said(replies[unpaid["quoteId"]]) == (402, "payer_mismatch")
    assert said(replies[own["quoteId"]]) == (402, "amount_mismatch")
    (case,) = waiting(sale)
    assert (case.quote_id, case.code, case.transfer.sender) == (own["quoteId"], "amount_mismatch", ALICE_PAYS)
    assert {reply.json()["caseId"] for reply in replies.values()} == {case.case_id}
    assert "sentUnits" not in replies[unpaid["quoteId"]].json()
    if by > 0:
        issued = accept(sale, case.case_id).issued.claim
        assert (issued.quote_id, issued.payer, issued.owner) == (own["quoteId"], ALICE_PAYS, ALICE_PAYS)
    else:
        rest = supplement_of(sale, case.case_id)
        assert said(sale.claim(rest, sale.pay(rest))) == (201, "issued")
    assert said(sale.claim(unpaid, transaction)) in {(402, "payer_mismatch"), (409, "transfer_already_used")}
    assert count(sale.ledger, "access_claims", f"payer <> '{ALICE_PAYS}'") == 0
    assert unsound(sale.ledger) == set()


def test_money_that_only_a_stranger_named_is_issued_to_nobody(sale: Sale) -> None:
    unpaid = sale.quote(MALLORY_PAYS)
    transaction = sale.pay(sale.quote(ALICE_PAYS), amount=due_of(unpaid).amount)
    case_id = sale.claim(unpaid, transaction).json()["caseId"]
    assert case_of(sale, case_id).quote_id is None
    assert next_of(sale, case_id) == ("open", "wait_for_operator")
    with pytest.raises(PaymentNotSettled, match="has not claimed a quote with it"):
        accept(sale, case_id)
    assert refund(sale, case_id).state == "refund_due"


@ORDERS
def test_a_quote_that_a_stranger_ordered_for_the_payer_gets_nothing_either(sale: Sale, attacker_first: bool) -> None:
    """Anybody may order a quote for Alice's address and name an operator, who would own the key."""
    ordered, own = sale.quote(ALICE_PAYS, operatorAddress=MALLORY_PAYS), sale.quote(ALICE_PAYS)
    transaction = sale.pay(own, amount=due_of(own).amount + 20_000)
    for quote in (ordered, own) if attacker_first else (own, ordered):
        assert said(sale.claim(quote, transaction)) == (402, "amount_mismatch")
    (case,) = waiting(sale)
    assert case.quote_id == own["quoteId"]
    assert accept(sale, case.case_id).issued.claim.owner == ALICE_PAYS


@pytest.mark.both_engines
def test_a_quote_with_another_operator_needs_the_payers_signature_before_the_operator_can_issue(sale: Sale) -> None:
    ordered = sale.quote(ALICE_PAYS, operatorAddress=MALLORY_PAYS)
    transaction = sale.pay(ordered, amount=due_of(ordered).amount + 1)
    case_id = sale.claim(ordered, transaction).json()["caseId"]
    assert next_of(sale, case_id) == ("open", "claim_with_signature")
    with pytest.raises(PaymentNotSettled, match="has not signed"):
        accept(sale, case_id)
    stolen = sale.claim(ordered, transaction, integrity=signature_of(ordered, MALLORY))
    assert said(stolen) == (402, "payer_proof_invalid")
    assert said(sale.claim(ordered, transaction, integrity=signature_of(ordered))) == (402, "amount_mismatch")
    assert next_of(sale, case_id) == ("open", "wait_for_operator")
    assert accept(sale, case_id).rest == 1


def test_the_payers_signature_decides_which_quote_money_came_for(sale: Sale) -> None:
    one, two = sale.quote(ALICE_PAYS, "api_pro_monthly"), sale.quote(ALICE_PAYS)
    transaction = sale.pay(two, amount=due_of(two).amount + 5)
    for quote, proof in ((one, {}), (two, {}), (one, {"integrity": signature_of(one)}), (two, {})):
        sale.claim(quote, transaction, **proof)
    (case,) = waiting(sale)
    assert (case.quote_id, case.proven) == (one["quoteId"], True)


def test_the_command_names_both_sides_of_a_case_that_it_shows_or_refuses(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same case through the command, with an operator who is talked into issuing the key."""
    with on_sale(Settings(_env_file=None, data_dir=tmp_path)) as sale:
        unpaid = sale.quote(MALLORY_PAYS)
        own = sale.quote(ALICE_PAYS)
        transaction = sale.pay(own, amount=due_of(own).amount + 1_000_000)
        sale.claim(unpaid, transaction)
        given = sale.settings
    environment = {
        "SVC_DATA_DIR": str(tmp_path),
        "SVC_RPC_URLS": ",".join(given.rpc_urls),
        "SVC_USDC_ADDRESS": given.usdc_address,
        "SVC_TREASURY_ADDRESS": given.treasury_address,
    }

    def svc(*arguments: str) -> dict[str, Any]:
        result = CliRunner().invoke(app, ["claim", *arguments, "--json"], env=environment)
        return dict(json.loads(result.stdout))

    (listed,) = svc("unmatched")["cases"]
    assert listed["payment"]["from"] == ALICE_PAYS
    assert (listed["quote"], listed["quotePayer"]) == (None, None)
    refused = svc("resolve", listed["caseId"], "--issue")
    assert (refused["ok"], refused["code"]) == (False, "payment_not_settled")
    assert ALICE_PAYS in refused["detail"]


STEPS = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 4)), min_size=1, max_size=14)
"""Sequences of (quote, transaction): each step claims that quote with that transaction."""


def played(sale: Sale, steps: Sequence[tuple[int, int]]) -> None:
    """Claims Alice's and Mallory's quotes over the same five transactions, then settles every case."""
    alice, other = f"0x{count(sale.ledger, 'access_quotes') + 10:040x}", MALLORY_PAYS
    quotes = [
        sale.quote(alice),
        sale.quote(alice, "api_pro_monthly"),
        sale.quote(alice, operatorAddress=other),
        sale.quote(other),
        sale.quote(other, "api_pro_monthly"),
        sale.quote(other, operatorAddress=alice),
    ]
    amounts = [due_of(quotes[0]).amount + by for by in (0, -500_000, 700_000, 0)]
    transactions = [sale.pay(quotes[0], amount=amount) for amount in amounts]
    transactions.append(sale.pay(quotes[1], amount=due_of(quotes[3]).amount))
    sent = dict(zip(transactions, [*amounts, due_of(quotes[3]).amount], strict=True))
    before = count(sale.ledger, "access_claims")
    named = set()
    for quote, transaction in steps:
        answer = sale.claim(quotes[quote], transactions[transaction])
        reply = said(answer)
        assert reply[0] in (201, 402, 409)
        if reply[1] == "issued":
            assert answer.json()["data"]["receipt"]["claim"]["payer"] == alice
        if reply[0] in (201, 402) or "caseId" in answer.json():
            named.add(transactions[transaction])
    for case in waiting(sale):
        if case.transaction_hash in sent:
            try:
                issued = accept(sale, case.case_id).issued
            except PaymentNotSettled:
                continue
            assert issued.claim.payer == case.transfer.sender == alice
    placed = money_of(sale, transactions)
    assert placed == {transaction: sent[transaction] for transaction in named}
    assert count(sale.ledger, "access_claims", f"payer = '{other}'") == 0
    assert count(sale.ledger, "access_claims") - before <= 3
    assert unsound(sale.ledger) == set()


def money_of(sale: Sale, transactions: Sequence[str]) -> dict[str, int]:
    """Returns the amount recorded for each transaction: by the claim that uses it, otherwise by its case."""
    statement = text("""
        select transaction_hash, amount from access_payments
        union all
        select transaction_hash, cast(amount as bigint) from access_cases k where not exists (
            select 1 from access_payments p
            where p.transaction_hash = k.transaction_hash and p.log_position = k.log_position
        )""")
    with sale.ledger._readers.begin() as connection:
        rows = connection.execute(statement).all()
    assert len(rows) == len({transaction for transaction, _ in rows})
    return {transaction: int(amount) for transaction, amount in rows if transaction in transactions}


def test_whatever_the_order_of_claims_the_payer_only_gets_a_key_and_no_money_is_lost(
    ledger_settings: Settings,
) -> None:
    with on_sale(ledger_settings) as sale:

        @settings(max_examples=5 * ROUNDS, deadline=None, database=None, suppress_health_check=list(HealthCheck))
        @given(STEPS)
        def holds(steps: list[tuple[int, int]]) -> None:
            played(sale, steps)

        holds()
        played(sale, [(quote, transaction) for transaction in range(5) for quote in range(5, -1, -1)])
