"""Checks payments of issued claims against the chain until they are final, and applies the results."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from contracts.access.cases import terms_of_transfer
from contracts.access.claims import Claim, Payment
from contracts.access.matching import Terms
from contracts.access.provider_views import Silence
from contracts.access.quotes import terms_of
from contracts.access.rail import PaymentRail
from contracts.access.watching import Absent, Present, Sighting, Unclear, recheck
from warehouse.access.claims import (
    find_claim,
    find_quote,
    move_payment,
    payments_not_final,
    payments_of_claim,
    reinstate_claim,
    reverse_claim,
    settle_claim,
    settle_payment,
    used_positions,
)
from warehouse.ledger.ledger import Ledger, Reader, Transaction

Outcome = Literal["stands", "final", "reversed", "reinstated", "missing", "given_up", "unclear", "overtaken"]
"""`missing` is a payment off the chain that has not landed again. `stands`, `unclear` and `overtaken` mean that nothing
was changed; the others name the change."""


@dataclass(frozen=True, slots=True)
class Watched:
    """A payment of a claim that may still leave the chain, with the terms of its quote."""

    payment: Payment
    terms: Terms


def payments_to_watch(ledger: Ledger, rail: PaymentRail) -> list[Watched]:
    """Returns payments on the rail's chain that may still leave it, those of the newest claims first."""
    with ledger.read() as reader:
        payments = [(payment, find_quote(reader, payment.quote_id)) for payment in payments_not_final(reader)]
    return [
        Watched(payment, terms_of_transfer(terms_of(quote.quote, rail), payment.amount))
        for payment, quote in payments
        if quote is not None and payment.chain_id == rail.chain_id
    ]


def newest_final_block(reader: Reader, chain_id: int) -> tuple[int, str] | None:
    """Returns the newest block (number, hash) of a chain with a payment that is no longer checked, or None."""
    row = reader.row("access_newest_final_block", chain_id=chain_id)
    return None if row is None else (row["block_number"], row["block_hash"])


def apply_sightings(
    ledger: Ledger, watched: Watched, sightings: Sequence[Sighting | Silence], *, now: datetime
) -> Outcome:
    """Judges a payment by its sightings and, if something changed, moves payment, claim and key in one transaction.

    Idempotent. Returns `overtaken` if somebody else moved the payment since it was read: the sightings may be older
    than that move.

    Example: a reorg removed the payment's block. The first pass reverses payment and claim and suspends the key
    (`reversed`); later passes find it still gone (`missing`), until it lands again (`reinstated`) or was searched for
    long enough (`given_up`).
    """
    payment, terms = watched.payment, watched.terms
    match recheck(payment, terms, sightings, now=now):
        case Unclear():
            return "unclear"
        case Present(block, final=False) if payment.state == "issued" and block.hash == payment.block_hash:
            return "stands"
    with ledger.transaction() as tx:
        claim = find_claim(tx, payment.claim_id)
        if claim is None or payment not in payments_of_claim(tx, payment.claim_id):
            return "overtaken"
        used = used_positions(tx, payment.chain_id, payment.transaction_hash) - {payment.log_position}
        match recheck(payment, terms, sightings, now=now, used=used):
            case Present(block, final):
                moved = payment.state == "reversed" or block.hash != payment.block_hash
                if moved:
                    move_payment(tx, payment, "issued", block, now=now)
                    _follow_payments(tx, claim, now=now)
                if final:
                    _settle(tx, claim, payment, now=now)
                return "reinstated" if moved else "final" if final else "stands"
            case Absent(for_good):
                if payment.state == "issued":
                    move_payment(tx, payment, "reversed", None, now=now)
                    _follow_payments(tx, claim, now=now)
                    return "reversed"
                if for_good:
                    _settle(tx, claim, payment, now=now)
                    return "given_up"
                return "missing"
            case Unclear():
                return "unclear"


def _follow_payments(tx: Transaction, claim: Claim, *, now: datetime) -> None:
    """Reverses the claim, and reinstates it if all of its payments are on the chain."""
    payments = payments_of_claim(tx, claim.claim_id)
    reverse_claim(tx, claim, now=now)  # does nothing if it is reversed already
    if all(payment.state == "issued" for payment in payments):
        own = next(payment for payment in payments if _is_own(claim, payment))
        reinstate_claim(tx, claim, own.block_number, own.block_hash, now=now)


def _settle(tx: Transaction, claim: Claim, payment: Payment, *, now: datetime) -> None:
    settle_payment(tx, payment, now=now)
    if all(other.final for other in payments_of_claim(tx, claim.claim_id)):
        settle_claim(tx, claim, now=now)


def _is_own(claim: Claim, payment: Payment) -> bool:
    return (payment.transaction_hash, payment.log_position) == (claim.transaction_hash, claim.log_position)
