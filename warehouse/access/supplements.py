"""Relates a case to its quotes and claims, and offers a quote for the missing amount."""

import secrets
from datetime import datetime

from contracts.access.cases import Case, CaseStanding, Filing, is_payers_own, shortfall
from contracts.access.quotes import PROVEN_QUOTES_MAX, Quote, free_amount, terms_of
from contracts.access.rail import PaymentRail
from contracts.access.signing import SigningKey
from contracts.access.supplements import is_supplement, make_supplement
from warehouse.access.cases import cases_of_quote, keep_supplement, newest_supplement
from warehouse.access.claims import KeptQuote, amounts_held, claim_of_quote, claim_of_transfer, find_quote
from warehouse.ledger.ledger import Reader, Transaction


def standing_of(reader: Reader, case: Case, rail: PaymentRail, *, now: datetime) -> CaseStanding:
    """Returns a case with its quote, its claim and the missing amount."""
    stored = None if case.quote_id is None else find_quote(reader, case.quote_id)
    user = claim_of_transfer(reader, case.chain_id, case.transaction_hash, case.transfer.position)
    if stored is None:
        return CaseStanding(case, claim_id=None if user is None else user.claim_id)
    quote, terms = stored.quote, terms_of(stored.quote, rail)
    redeemed = user or claim_of_quote(reader, quote.quote_id)
    open_to_more = redeemed is None and not is_supplement(quote)
    others = [other.case_id for other in cases_of_quote(reader, quote.quote_id) if other.case_id != case.case_id]
    return CaseStanding(
        case,
        quote=quote,
        terms=terms,
        missing=shortfall(case, quote, terms, now=now) if open_to_more and _on_rail(quote, rail) else None,
        claim_id=None if redeemed is None else redeemed.claim_id,
        needs_signature=open_to_more and not is_payers_own(Filing(quote, case.proven)),
        other_cases=tuple(others),
    )


def _on_rail(quote: Quote, rail: PaymentRail) -> bool:
    """Decides whether the quote's chain, coin and recipient are still those of the payments that we accept."""
    terms = terms_of(quote, rail)
    return (terms.chain_id, terms.asset, terms.pay_to) == (rail.chain_id, rail.asset, rail.treasury)


def offer_supplement(tx: Transaction, standing: CaseStanding, signer: SigningKey, *, now: datetime) -> KeptQuote | None:
    """Returns a quote for the missing amount: the last one offered if it can still be paid, else a new one.

    Returns None if nothing is missing or the payer has too many open quotes.
    """
    case, first, missing = standing.case, standing.quote, standing.missing
    if first is None or missing is None:
        return None
    last = newest_supplement(tx, case)
    if last is not None and last.state == "open" and now <= last.quote.expires_at:
        return last
    reserved = amounts_held(tx, first.payer, now=now)
    if len(reserved) >= PROVEN_QUOTES_MAX:
        return None
    quote = make_supplement(
        first,
        case,
        missing,
        quote_id=f"quote_{secrets.token_hex(16)}",
        nonce=secrets.token_hex(16),
        amount=free_amount(missing, reserved, 0),
        now=now,
    )
    signature = signer.sign(quote.quote_hash)
    keep_supplement(tx, case, quote, signature, now=now)
    return KeptQuote(quote, signature, "open")
