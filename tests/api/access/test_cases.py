"""Money of a wrong amount, too late or sent twice opens a case, and each case is settled (L5, L10).

| money | test |
|---|---|
| too little | `test_too_little_is_topped_up...`, `test_a_supplement...` |
| too much | `test_an_overpayment_is_issued_by_the_operator_who_owes_the_rest` |
| late | `test_a_late_payment_waits_for_the_operator` |
| twice | `test_a_second_transaction...`, `test_a_second_transfer_of_the_same_transaction...` |
| in two parts | `test_two_parts_are_put_together_by_the_operator_only` |
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from case_desk import (
    ALICE,
    CASE,
    MALLORY,
    accept,
    ask_supplement,
    case_of,
    next_of,
    read_case,
    refund,
    refunded,
    signed_request,
    supplement_of,
    waiting,
)
from claim_cases import view_of
from claim_payments import paying
from claim_service import CLAIM, CONFIRMATIONS, Sale, api_key_of, body_of, due_of, new_payer, on_sale, said
from claim_store import count, unsound

from contracts.access.cases import CASE_FOR
from contracts.access.matching import CLAIM_GRACE
from contracts.access.provider_views import read_block
from contracts.access.quotes import QUOTE_TTL
from contracts.access.watching import Sighting
from contracts.canonical import canonical_sha256
from contracts.errors import PaymentNotSettled
from contracts.settings import Settings
from warehouse.access.claims import find_claim, payments_of_claim
from warehouse.access.keys import alive_key_of_claim
from warehouse.access.watch import Outcome, apply_sightings, payments_to_watch


@pytest.fixture
def sale(ledger_settings: Settings) -> Any:
    with on_sale(ledger_settings) as opened:
        yield opened


@pytest.fixture
def sale_here(tmp_path: Any) -> Any:
    with on_sale(Settings(_env_file=None, data_dir=tmp_path)) as opened:
        yield opened


def sent(sale: Sale, by: int, *, payer: str = ALICE.address, plan: str = "api_basic_monthly") -> tuple[Any, str, Any]:
    """Returns a quote for Alice, a payment that differs from it by `by`, and the refusal of its claim."""
    quote = sale.quote(payer, plan)
    transaction = sale.pay(quote, amount=due_of(quote).amount + by)
    return quote, transaction, sale.claim(quote, transaction)


def case_in(refusal: Any) -> str:
    case_id = refusal.json()["caseId"]
    assert refusal.json()["links"]["case"] == "http://test" + CASE.format(case_id)
    assert len(case_id) == len("case_") + 32
    return str(case_id)


def test_a_wrong_amount_is_answered_with_case_and_amounts(sale_here: Sale) -> None:
    quote, _, refusal = sent(sale_here, -2_000_000)
    asked = due_of(quote).amount
    assert said(refusal) == (402, "amount_mismatch")
    body = refusal.json()
    assert (body["sentUnits"], body["askedUnits"]) == (str(asked - 2_000_000), str(asked))
    assert (body["sent"], body["asked"]) == (
        f"{(asked - 2_000_000) / 1e6:.6f}".rstrip("0"),
        f"{asked / 1e6:.6f}".rstrip("0"),
    )
    assert "difference" in body["detail"]
    assert "sends the rest back" in sent(sale_here, 5)[2].json()["detail"]


def test_only_the_sender_reads_a_case(sale: Sale) -> None:
    quote, transaction, refusal = sent(sale, -1)
    case_id = case_in(refusal)
    answer = read_case(sale, case_id)
    assert answer.status_code == 200
    body = answer.json()
    assert (body["state"], body["code"], body["quote"]["quoteId"]) == ("open", "amount_mismatch", quote["quoteId"])
    assert body["payment"]["transactionHash"] == transaction
    assert (body["next"]["action"], body["next"]["missingUnits"], body["next"]["missing"]) == (
        "pay_difference",
        "1",
        "0.000001",
    )
    assert said(read_case(sale, case_id, MALLORY)) == (403, "case_refused")
    assert said(ask_supplement(sale, case_id, MALLORY)) == (403, "case_refused")
    other = case_in(sent(sale, -1)[2])
    crossed = sale.ask("POST", CASE.format(case_id), json=signed_request(sale, other))
    assert said(crossed) == (403, "case_refused")
    early = signed_request(sale, case_id)
    sale.pass_time(601)
    assert said(sale.ask("POST", CASE.format(case_id), json=early)) == (403, "case_refused")
    assert said(sale.ask("GET", CASE.format("case_" + "0" * 32))) == (404, "case_not_found")
    assert said(sale.ask("POST", CASE.format("none"), json=early)) == (404, "case_not_found")


@pytest.mark.parametrize(
    ("stands_by", "reply"),
    [([True, True], 200), ([False, False], 403), ([True, False], 503), ([True, None], 503), ([None, None], 503)],
)
def test_a_contract_reads_its_case_by_its_own_word(sale_here: Sale, stands_by: list[bool | None], reply: int) -> None:
    case_id = case_in(sent(sale_here, -1, payer=new_payer())[2])
    sale_here.providers.stands_by = stands_by
    assert read_case(sale_here, case_id, kind="erc1271").status_code == reply


def test_too_little_is_topped_up_by_a_quote_over_the_difference(sale: Sale) -> None:
    """S1, S2, S8: each transfer pays one quote; both are used by the one claim that issues the first quote's key."""
    first, first_paid, refusal = sent(sale, -3_000_000, plan="api_pro_monthly")
    case_id = case_in(refusal)
    supplement = supplement_of(sale, case_id)
    assert supplement_of(sale, case_id)["quoteId"] == supplement["quoteId"], "the same as long as it is valid"
    terms = supplement["data"]["quote"]
    assert due_of(supplement).amount == 3_000_000
    assert (supplement["price"]["amount"], supplement["price"]["exactAmount"]) == ("3", "3")
    assert read_case(sale, case_id).json()["next"]["missing"] == "3"
    assert terms["supplementTo"] == {"quoteId": first["quoteId"], "caseId": case_id}
    assert canonical_sha256(terms) == supplement["quoteHash"]
    assert canonical_sha256(supplement["data"]["paymentRequirement"]) == supplement["paymentRequirementHash"]
    assert next_of(sale, case_id) == ("supplement_offered", "pay_difference")

    rest_paid = sale.pay(supplement)
    issued = sale.claim(supplement, rest_paid, "k")
    assert said(issued) == (201, "issued")
    data = issued.json()["data"]
    assert (data["claim"]["quoteId"], data["claim"]["planId"]) == (first["quoteId"], "api_pro_monthly")
    receipt = data["receipt"]
    assert receipt["payment"]["transactionHash"] == first_paid
    assert [each["transactionHash"] for each in receipt["furtherPayments"]] == [rest_paid]
    assert said(sale.claim(supplement, rest_paid, "k")) == (201, "replayed")
    assert api_key_of(sale.claim(supplement, rest_paid, "k")) == api_key_of(issued)
    assert said(sale.claim(supplement, rest_paid)) == (409, "claim_exists")
    assert said(sale.claim(first, first_paid)) == (409, "claim_exists")
    assert next_of(sale, case_id) == ("claimed", "recover_key")
    refused = ask_supplement(sale, case_id)
    assert said(refused) == (409, "supplement_not_offered")
    links = refused.json()["links"]
    assert links["recovery"] == read_case(sale, case_id).json()["next"]["url"]
    assert links["case"].endswith(f"/cases/{case_id}")
    with sale.ledger.read() as reader:
        payments = payments_of_claim(reader, data["claim"]["claimId"])
        claim = find_claim(reader, data["claim"]["claimId"])
    assert {payment.transaction_hash for payment in payments} == {first_paid, rest_paid}
    assert claim is not None and claim.amount == sum(payment.amount for payment in payments)
    assert count(sale.ledger, "api_keys") == 1
    assert waiting(sale) == []
    assert unsound(sale.ledger) == set()


@pytest.mark.both_engines
def test_two_open_quotes_over_the_same_difference_differ_by_the_smallest_unit(sale: Sale) -> None:
    cases = [case_in(sent(sale, -2_000_000)[2]) for _ in range(2)]
    supplements = [supplement_of(sale, case_id) for case_id in cases]
    assert [due_of(supplement).amount for supplement in supplements] == [2_000_000, 2_000_001]
    paid = sale.pay(supplements[0])
    assert said(sale.claim(supplements[1], paid)) == (402, "amount_mismatch")
    assert said(sale.claim(supplements[0], paid)) == (201, "issued")
    assert said(sale.claim(supplements[1], sale.pay(supplements[1]))) == (201, "issued")
    assert unsound(sale.ledger) == set()


def test_a_supplement_has_its_own_time_although_the_first_quote_has_expired(sale: Sale) -> None:
    first, _, refusal = sent(sale, -7)
    case_id = case_in(refusal)
    sale.pass_time((QUOTE_TTL + CLAIM_GRACE + timedelta(days=1)).total_seconds())
    sale.quote(ALICE.address)  # this frees the first quote's amount
    old = supplement_of(sale, case_id)
    sale.pass_time(QUOTE_TTL.total_seconds() + 1)
    new = supplement_of(sale, case_id)
    assert new["quoteId"] != old["quoteId"]
    assert said(sale.claim(old, sale.pay(old))) == (402, "payment_late")
    assert said(sale.claim(new, sale.pay(new))) == (201, "issued")
    assert count(sale.ledger, "access_quotes", f"quote_id = '{first['quoteId']}' and state = 'claimed'") == 1
    assert unsound(sale.ledger) == set()


def test_a_supplement_is_offered_for_thirty_days(sale_here: Sale) -> None:
    case_id = case_in(sent(sale_here, -7)[2])
    sale_here.pass_time(CASE_FOR.total_seconds() - 60)
    assert ask_supplement(sale_here, case_id).status_code == 201
    sale_here.pass_time(61)
    assert said(ask_supplement(sale_here, case_id)) == (409, "supplement_not_offered")
    assert next_of(sale_here, case_id) == ("supplement_offered", "wait_for_operator")


@pytest.mark.parametrize("by", [1, 500_000])
def test_an_overpayment_is_issued_by_the_operator_who_owes_the_rest(sale: Sale, by: int) -> None:
    quote, transaction, refusal = sent(sale, by)
    case_id = case_in(refusal)
    assert next_of(sale, case_id) == ("open", "wait_for_operator")
    assert said(ask_supplement(sale, case_id)) == (409, "supplement_not_offered")
    accepted = accept(sale, case_id)
    assert (accepted.rest, accepted.issued.claim.payer) == (by, ALICE.address.lower())
    body = read_case(sale, case_id).json()
    assert (body["state"], body["refund"]["amountUnits"]) == ("refund_due", str(by))
    assert body["claimId"] == accepted.issued.claim.claim_id
    with pytest.raises(PaymentNotSettled, match="is already refund_due"):
        accept(sale, case_id)
    with pytest.raises(PaymentNotSettled, match="is already refund_due"):
        refund(sale, case_id)
    refunded(sale, case_id)
    body = read_case(sale, case_id).json()
    assert (body["state"], body["refund"]["amountUnits"], body["refund"]["transactionHash"]) == (
        *("refunded", str(by)),
        "0x" + "ab" * 32,
    )
    assert said(sale.claim(quote, transaction)) == (409, "claim_exists")
    assert unsound(sale.ledger) == set()


def test_a_late_payment_waits_for_the_operator(sale: Sale) -> None:
    quote = sale.quote(ALICE.address)
    sale.pass_time(QUOTE_TTL.total_seconds() + 5)
    transaction = sale.pay(quote)
    refusal = sale.claim(quote, transaction)
    assert said(refusal) == (402, "payment_late")
    case_id = case_in(refusal)
    assert next_of(sale, case_id) == ("open", "wait_for_operator")
    assert accept(sale, case_id).rest == 0
    assert next_of(sale, case_id) == ("issued", "recover_key")
    assert unsound(sale.ledger) == set()


def test_a_second_transaction_for_a_redeemed_quote_is_recorded(sale: Sale) -> None:
    quote = sale.quote(ALICE.address)
    first, second = sale.pay(quote), sale.pay(quote)
    assert said(sale.claim(quote, first)) == (201, "issued")
    asked = sale.providers.asked
    assert "caseId" not in sale.claim(quote, first).json()
    assert sale.providers.asked == asked, "the paying transaction is not checked again"
    again = sale.claim(quote, second)
    assert said(again) == (409, "claim_exists")
    assert list(again.json()["links"]) == ["receipt", "recovery", "case", "docs", "home"]
    case_id = case_in(again)
    assert case_of(sale, case_id).code == "payment_twice"
    asked = sale.providers.asked
    assert case_in(sale.claim(quote, second)) == case_id
    assert sale.providers.asked == asked, "nor is a recorded one"
    assert next_of(sale, case_id) == ("open", "wait_for_operator")
    with pytest.raises(PaymentNotSettled, match="claimed by another payment"):
        accept(sale, case_id)
    assert refund(sale, case_id).refund_amount == due_of(quote).amount
    assert unsound(sale.ledger) == set()


@pytest.mark.both_engines
@pytest.mark.parametrize("key_of", [lambda quote: quote["quoteId"], lambda quote: f"claim-{quote['quoteId']}"])
def test_a_second_payment_that_is_claimed_with_the_key_of_the_first_claim_is_recorded(
    sale: Sale, key_of: Callable[[dict[str, Any]], str]
) -> None:
    quote = sale.quote(ALICE.address)
    first, second = sale.pay(quote), sale.pay(quote)
    issued = sale.claim(quote, first, key_of(quote))
    assert said(issued) == (201, "issued")
    again = sale.claim(quote, second, key_of(quote))
    assert said(again) == (409, "idempotency_mismatch")
    assert again.json()["claimId"] == issued.json()["data"]["claim"]["claimId"]
    assert list(again.json()["links"]) == ["receipt", "recovery", "case", "docs", "home"]
    case = case_of(sale, case_in(again))
    assert (case.code, case.transfer.amount) == ("payment_twice", due_of(quote).amount)
    assert case_in(sale.claim(quote, second, key_of(quote))) == case.case_id
    assert case_in(sale.claim(quote, second, "fresh")) == case.case_id
    assert said(sale.claim(quote, first, key_of(quote))) == (201, "replayed")
    assert refund(sale, case.case_id).refund_amount == due_of(quote).amount
    assert unsound(sale.ledger) == set()


@pytest.mark.both_engines
def test_a_claim_keeps_its_key_until_the_right_transaction_is_settled(sale: Sale) -> None:
    quote = sale.quote(ALICE.address)
    short = sale.pay(quote, amount=due_of(quote).amount - 1)
    assert said(sale.claim(quote, short, quote["quoteId"])) == (402, "amount_mismatch")
    right = sale.send([paying(due_of(quote))], bury=0)
    assert sale.claim(quote, right, quote["quoteId"]).status_code == 202
    sale.mine(CONFIRMATIONS)
    assert said(sale.claim(quote, right, quote["quoteId"])) == (201, "issued")
    assert said(sale.claim(quote, right, quote["quoteId"])) == (201, "replayed")
    assert said(sale.claim(quote, short, quote["quoteId"])) == (409, "idempotency_mismatch")


@pytest.mark.both_engines
def test_of_two_payments_that_are_claimed_at_once_with_one_key_one_issues_and_the_other_is_recorded(
    sale: Sale,
) -> None:
    quote = sale.quote(ALICE.address)
    payments = [sale.pay(quote), sale.pay(quote)]
    headers = {"Idempotency-Key": quote["quoteId"]}
    sale.monotonic_s += 10
    claims = [("POST", CLAIM, {"json": body_of(quote, payment), "headers": headers}) for payment in payments]
    answers = sale.at_once(*claims)
    assert sorted(said(answer) for answer in answers)[0] == (201, "issued")
    settled = [sale.claim(quote, payment, quote["quoteId"]) for payment in payments]
    assert sorted(map(said, settled)) == [(201, "replayed"), (409, "idempotency_mismatch")]
    (refused,) = (answer for answer in settled if answer.status_code == 409)
    assert case_of(sale, case_in(refused)).code == "payment_twice"
    assert unsound(sale.ledger) == set()


@pytest.mark.both_engines
def test_one_idempotency_key_serves_the_claims_of_two_quotes_of_a_payer(sale: Sale) -> None:
    quotes = [sale.quote(ALICE.address), sale.quote(ALICE.address)]
    payments = [sale.pay(quote) for quote in quotes]
    issued = [sale.claim(quote, paid, "claim-1") for quote, paid in zip(quotes, payments, strict=True)]
    assert [said(answer) for answer in issued] == [(201, "issued"), (201, "issued")]
    again = [sale.claim(quote, paid, "claim-1") for quote, paid in zip(quotes, payments, strict=True)]
    assert [said(answer) for answer in again] == [(201, "replayed"), (201, "replayed")]
    assert [api_key_of(answer) for answer in again] == [api_key_of(answer) for answer in issued]
    crossed = sale.claim(quotes[1], payments[0], "claim-1")
    assert said(crossed) == (409, "idempotency_mismatch")
    assert "caseId" not in crossed.json(), "the payment pays the other quote"
    assert unsound(sale.ledger) == set()


@pytest.mark.both_engines
def test_the_key_of_the_first_claim_serves_the_quote_for_the_difference_too(sale: Sale) -> None:
    quote = sale.quote(ALICE.address)
    short = sale.pay(quote, amount=due_of(quote).amount - 4_000_000)
    case_id = case_in(sale.claim(quote, short, "claim-1"))
    supplement = supplement_of(sale, case_id)
    rest = sale.pay(supplement)
    assert said(sale.claim(supplement, rest, "claim-1")) == (201, "issued")
    assert said(sale.claim(supplement, rest, "claim-1")) == (201, "replayed")
    late = sale.pay(quote)
    assert case_in(sale.claim(quote, late, "claim-1"))
    assert unsound(sale.ledger) == set()


def test_the_transaction_of_another_quote_brings_nothing_for_a_new_one_and_has_no_case(sale: Sale) -> None:
    paid = sale.quote(ALICE.address)
    transaction = sale.pay(paid)
    assert said(sale.claim(paid, transaction)) == (201, "issued")
    refused = sale.claim(sale.quote(ALICE.address), transaction)
    assert said(refused) == (402, "amount_mismatch")
    assert refused.json()["detail"] == "No single transfer has exactly the quoted amount."
    assert "caseId" not in refused.json() and "case" not in refused.json()["links"]


def test_an_unsettled_second_transaction_is_recorded_once_it_is_settled(sale_here: Sale) -> None:
    sale = sale_here
    quote = sale.quote(ALICE.address)
    assert said(sale.claim(quote, sale.pay(quote))) == (201, "issued")
    second = sale.send([paying(due_of(quote))], bury=1)
    unsettled = sale.claim(quote, second)
    assert "caseId" not in unsettled.json()
    assert unsettled.json()["detail"].endswith(
        "This transaction is not settled yet. If it paid a second time, the same claim names its case once it is."
    )
    sale.mine(3)
    assert sale.claim(quote, second, remembered=True).json() == unsettled.json(), "asked a moment ago"
    assert case_in(sale.claim(quote, second))


def test_a_transaction_that_paid_nothing_has_no_case_and_promises_none(sale_here: Sale) -> None:
    sale = sale_here
    quote = sale.quote(ALICE.address)
    assert said(sale.claim(quote, sale.pay(quote))) == (201, "issued")
    failed = sale.send([paying(due_of(quote))], "0x0")
    for remembered in (False, True):
        answer = sale.claim(quote, failed, remembered=remembered).json()
        assert answer["detail"] == (
            "The quote's key was issued. If it is lost, its owner can have it replaced at links.recovery."
        )
        assert "caseId" not in answer


def test_a_second_transfer_of_the_same_transaction_is_recorded_with_the_claim(sale: Sale) -> None:
    quote = sale.quote(ALICE.address)
    due = due_of(quote)
    transaction = sale.send([paying(due), paying(due), paying(due)])
    assert said(sale.claim(quote, transaction)) == (201, "issued")
    assert [(case.code, case.transfer.position) for case in waiting(sale)[::-1]] in (
        [("payment_twice", 1), ("payment_twice", 2)],
        [("payment_twice", 2), ("payment_twice", 1)],
    )
    assert case_in(sale.claim(quote, transaction)) in {case.case_id for case in waiting(sale)}


@pytest.mark.both_engines
def test_two_parts_are_put_together_by_the_operator_only(sale: Sale) -> None:
    quote = sale.quote(ALICE.address)
    amount = due_of(quote).amount
    parts = [sale.pay(quote, amount=amount - 4_000_000), sale.pay(quote, amount=4_000_010)]
    one, two = (case_in(sale.claim(quote, part)) for part in parts)
    assert read_case(sale, one).json()["otherCases"] == [two]
    with pytest.raises(PaymentNotSettled, match="short"):
        accept(sale, one)
    with pytest.raises(PaymentNotSettled, match="not another payment"):
        accept(sale, one, one)
    stranger = case_in(sent(sale, -1, payer=MALLORY.address)[2])
    with pytest.raises(PaymentNotSettled, match="not another payment"):
        accept(sale, one, stranger)
    assert accept(sale, one, two).rest == 10
    assert (case_of(sale, one).state, case_of(sale, two).state) == ("issued", "refund_due")
    assert case_of(sale, two).refund_amount == 10
    assert case_of(sale, stranger).state == "open"
    assert unsound(sale.ledger) == set()


def test_a_supplement_that_is_paid_wrongly_has_a_case_that_offers_no_further_one(sale: Sale) -> None:
    _, _, refusal = sent(sale, -2_000_000)
    case_id = case_in(refusal)
    supplement = supplement_of(sale, case_id)
    wrong = sale.claim(supplement, sale.pay(supplement, amount=due_of(supplement).amount + 9))
    assert said(wrong) == (402, "amount_mismatch")
    second_id = case_in(wrong)
    assert next_of(sale, second_id) == ("open", "wait_for_operator")
    assert said(ask_supplement(sale, second_id)) == (409, "supplement_not_offered")
    with pytest.raises(PaymentNotSettled, match="rest of another quote"):
        accept(sale, second_id)
    assert accept(sale, case_id, second_id).rest == due_of(supplement).amount + 9 - 2_000_000
    assert unsound(sale.ledger) == set()
    other = case_in(sent(sale, -2_000_000)[2])
    again = supplement_of(sale, other)
    sale.claim(again, sale.pay(again, amount=1))
    assert said(sale.claim(again, sale.pay(again))) == (201, "issued"), "the right amount still pays"


def test_money_that_goes_back_pays_nothing_any_more(sale: Sale) -> None:
    first, _, refusal = sent(sale, -2_000_000)
    case_id = case_in(refusal)
    supplement = supplement_of(sale, case_id)
    refund(sale, case_id)
    rest = sale.claim(supplement, sale.pay(supplement))
    assert said(rest) == (402, "case_closed")
    assert next_of(sale, case_in(rest)) == ("open", "wait_for_operator")
    assert next_of(sale, case_id) == ("refund_due", "wait_for_operator")
    assert said(ask_supplement(sale, case_id)) == (409, "supplement_not_offered")
    other = sale.quote(ALICE.address)
    transaction = sale.pay(other)
    case_two = case_in(sale.claim(first, transaction))
    refunded(sale, case_two)
    assert said(sale.claim(other, transaction)) == (409, "transfer_already_used")
    assert count(sale.ledger, "api_keys") == 0
    assert unsound(sale.ledger) == set()


def test_a_first_payment_that_has_left_the_chain_makes_the_supplement_wait(sale_here: Sale) -> None:
    sale = sale_here
    _, first_paid, refusal = sent(sale, -2_000_000)
    supplement = supplement_of(sale, case_in(refusal))
    sale.chain.reorg(3, drop=[first_paid])
    rest_paid = sale.pay(supplement)
    assert said(sale.claim(supplement, rest_paid)) == (202, "unknown_tx")
    sale.chain.mempool.append(first_paid)
    sale.mine(3)
    assert said(sale.claim(supplement, rest_paid)) == (201, "issued")


def watch(sale: Sale) -> set[Outcome]:
    """Checks every payment once, as the watchers do."""
    found = set()
    for watched in payments_to_watch(sale.ledger, sale.service.rail):
        payment = watched.payment
        held = read_block(sale.chain.answer("eth_getBlockByNumber", [hex(payment.block_number), False]))
        sightings = [Sighting(view_of(sale.chain, payment.transaction_hash, name), held) for name in "ab"]
        found.add(apply_sightings(sale.ledger, watched, sightings, now=sale.now))
    return found


@pytest.mark.parametrize("leaves", [0, 1])
def test_either_payment_that_leaves_the_chain_suspends_the_key(sale: Sale, leaves: int) -> None:
    """S12."""
    sale.chain.final_depth = 50
    _, first_paid, refusal = sent(sale, -2_000_000)
    supplement = supplement_of(sale, case_in(refusal))
    rest_paid = sale.pay(supplement)
    claim_id = sale.claim(supplement, rest_paid).json()["data"]["claim"]["claimId"]

    def state() -> tuple[str, str, bool]:
        with sale.ledger.read() as reader:
            claim, key = find_claim(reader, claim_id), alive_key_of_claim(reader, claim_id)
        assert claim is not None and key is not None
        return claim.state, str(key.state), claim.final

    assert watch(sale) == {"stands"}
    assert state() == ("issued", "active", False)
    gone = (first_paid, rest_paid)[leaves]
    sale.chain.reorg(6, drop=[gone])
    assert "reversed" in watch(sale)
    assert state() == ("reversed", "suspended", False)
    sale.chain.mempool.append(gone)
    sale.mine(4)
    assert "reinstated" in watch(sale)
    assert state() == ("issued", "active", False)
    sale.chain.final_depth = 1
    watch(sale)
    assert state() == ("issued", "active", True)
    assert watch(sale) == set()


@pytest.mark.both_engines
def test_simultaneous_supplementary_claims_issue_one_key(sale: Sale) -> None:
    for turn in range(2):
        supplement = supplement_of(sale, case_in(sent(sale, -2_000_000)[2]))
        body = body_of(supplement, sale.pay(supplement))
        requests = [("POST", CLAIM, {"json": body, "headers": {"Idempotency-Key": f"{turn}-{n}"}}) for n in range(8)]
        first, *others = sorted(said(each) for each in sale.at_once(*requests))
        assert first == (201, "issued")
        assert set(others) <= {(409, "claim_exists"), (409, "claim_in_progress")}
        sale.pass_time(20)
    assert count(sale.ledger, "access_claims") == count(sale.ledger, "api_keys") == 2
    assert unsound(sale.ledger) == set()


@pytest.mark.both_engines
@pytest.mark.parametrize("how", [accept, refund, refunded])
def test_a_simultaneous_operator_and_supplementary_claim_settle_a_case_once(sale: Sale, how: Any) -> None:
    for _ in range(4):
        _, _, refusal = sent(sale, -2_000_000)
        case_id = case_in(refusal)
        supplement = supplement_of(sale, case_id)
        body = body_of(supplement, sale.pay(supplement))
        extra = sale.quote(ALICE.address)
        more = case_in(sale.claim(extra, sale.pay(extra, amount=2_000_000)))

        def operate(case_id: str = case_id, more: str = more) -> bool:
            try:
                how(sale, case_id, more) if how is accept else how(sale, case_id)
            except PaymentNotSettled:
                return False
            return True

        with ThreadPoolExecutor(1) as pool:
            operated = pool.submit(operate)
            (answer,) = sale.at_once(("POST", CLAIM, {"json": body}))
            settled = operated.result()
        assert settled != (answer.status_code == 201), (settled, said(answer))
        if settled:
            assert said(answer) in {(402, "case_closed"), (409, "claim_exists")}
        assert unsound(sale.ledger) == set()
