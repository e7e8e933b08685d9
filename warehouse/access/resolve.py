"""Applies an operator's decision on a case: a key is issued, or the money is refunded. The operator sends refunds
itself; the service never sends money."""

from dataclasses import dataclass
from datetime import datetime

from contracts.access.cases import Case, CaseStanding, may_move
from contracts.access.claims import Paid
from contracts.access.matching import Match
from contracts.access.quotes import is_intact
from contracts.access.rail import PaymentRail
from contracts.access.supplements import is_supplement
from contracts.errors import PaymentNotSettled
from warehouse.access.cases import find_case, move_case
from warehouse.access.issue import Issued, Issuer, issue_claim
from warehouse.access.supplements import standing_of
from warehouse.ledger.ledger import Transaction


@dataclass(frozen=True, slots=True)
class IssuedForCase:
    """A key that was issued for a case. `rest` is the amount paid beyond the price, which is due to be refunded."""

    issued: Issued
    rest: int


def issue_for_case(
    tx: Transaction, issuer: Issuer, case_id: str, received_id: str | None, *, now: datetime
) -> IssuedForCase:
    """Redeems the quote that a case is filed under. `received_id` is a second case of the sender that paid the rest.

    A key is issued only for a quote that asked the sender of the money to pay. Raises `PaymentNotSettled`,
    `PaymentUnknown`.
    """
    standing = standing_of(tx, find_case(tx, case_id), issuer.rail, now=now)
    quote, terms = standing.quote, standing.terms
    cases = [standing.case, *([] if received_id is None else [find_case(tx, received_id)])]
    _require_issuable(standing, cases, issuer.rail)
    assert quote is not None and terms is not None
    rest = sum(case.transfer.amount for case in cases) - terms.amount
    if rest < 0:
        raise PaymentNotSettled(
            f"It is {-rest} short of the {terms.amount} that {quote.quote_id} asks for.",
            cure="Pass --received CASE for another payment of the sender, --supplement, or --refund.",
        )
    paid = [Paid(quote.quote_id, case.transaction_hash, _match(case)) for case in cases]
    issued = issue_claim(
        tx,
        issuer,
        quote,
        paid[0].match,
        paid[0].transaction_hash,
        now=now,
        further=paid[1:],
        cases_become="issued",
    )
    if rest > 0:
        move_case(tx, find_case(tx, cases[-1].case_id), "refund_due", now=now, refund_amount=rest)
    return IssuedForCase(issued, rest)


def mark_refund(tx: Transaction, case_id: str, *, now: datetime) -> Case:
    """Records that the whole amount is due to be refunded. Raises `PaymentNotSettled`, `PaymentUnknown`."""
    case = find_case(tx, case_id)
    if case.state == "issued" or not move_case(tx, case, "refund_due", now=now, refund_amount=case.transfer.amount):
        raise _settled(case)
    return find_case(tx, case_id)


def mark_refunded(tx: Transaction, case_id: str, transaction_hash: str, *, now: datetime) -> Case:
    """Records the transaction that refunded money. Raises `PaymentNotSettled`, `PaymentUnknown`."""
    case = find_case(tx, case_id)
    amount = case.transfer.amount if case.refund_amount is None else case.refund_amount
    if not move_case(tx, case, "refunded", now=now, refund_amount=amount, refund_transaction_hash=transaction_hash):
        raise _settled(case)
    return find_case(tx, case_id)


def _require_issuable(standing: CaseStanding, cases: list[Case], rail: PaymentRail) -> None:
    quote, terms, first = standing.quote, standing.terms, standing.case
    for case in cases:
        if not may_move(case.state, "issued"):
            raise _settled(case)
        if case.transfer.asset != rail.asset or case.chain_id != rail.chain_id:
            raise PaymentNotSettled("It is not the coin in which prices are paid.", cure="Refund it.")
        if case.transfer.sender != first.transfer.sender or (case is not first and case.case_id == first.case_id):
            raise PaymentNotSettled(
                f"{case.case_id} is not another payment of {first.transfer.sender}.",
                cure="Name a payment of the same sender.",
            )
    if quote is None or terms is None:
        raise PaymentNotSettled(
            f"Its sender, {first.transfer.sender}, has not claimed a quote with it.",
            cure="Let the sender claim a quote of its own with this transaction, or refund it.",
        )
    if terms.payer != first.transfer.sender or not is_intact(quote):
        raise PaymentNotSettled(
            f"{quote.quote_id} asks {terms.payer} to pay, but {first.transfer.sender} paid.", cure="Refund it."
        )
    if standing.claim_id is not None:
        raise PaymentNotSettled(f"Quote {quote.quote_id} was claimed by another payment.", cure="Refund this one.")
    if is_supplement(quote):
        raise PaymentNotSettled(
            f"{quote.quote_id} asks for the rest of another quote's price.",
            cure="Resolve the case of the first payment, with --received and this case; or refund it.",
        )
    if standing.needs_signature:
        raise PaymentNotSettled(
            f"{quote.quote_id} names an operator other than the payer, who has not signed for it.",
            cure="Let the payer claim it with `integrity`, or refund it.",
        )


def _match(case: Case) -> Match:
    return Match(case.transfer, case.block, case.block.number)


def _settled(case: Case) -> PaymentNotSettled:
    return PaymentNotSettled(
        f"{case.case_id} is already {case.state}.", cure="`svc claim unmatched` shows the waiting cases."
    )
