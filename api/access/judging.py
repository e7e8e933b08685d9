"""Fetches and judges what a claim's transaction pays, by itself or together with an insufficient first payment."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from api.access.rpc import Providers
from contracts.access.case_access import recorded_of
from contracts.access.cases import Case, Filing, still_there
from contracts.access.claims import Paid
from contracts.access.matching import Match, Mismatch, Unknown, settle, verify
from contracts.access.provider_views import Silence, View
from contracts.access.quotes import Quote, terms_of
from contracts.access.rail import PaymentRail
from contracts.access.refusals import Recorded
from contracts.access.settling import USED_TOPIC
from contracts.access.waiting import Progress, progress_of
from warehouse.access import claims
from warehouse.access.authorizations import authorization_of_nonce
from warehouse.access.cases import case_of_supplement, record_money
from warehouse.ledger.ledger import Reader, Transaction


@dataclass(frozen=True, slots=True)
class Named:
    """The quote that a claim names and the one it redeems: the first quote if the named one is a supplement."""

    quote: Quote
    redeems: Quote
    case: Case | None
    """The case of the first payment if the named quote is a supplement."""


@dataclass(frozen=True, slots=True)
class Seen:
    """Provider responses about a claim's transaction, and about the first payment's if that was insufficient."""

    views: Sequence[View | Silence]
    first_views: Sequence[View | Silence]


Judged = list[Paid] | Mismatch | Unknown
"""The transfers that redeem the quote, starting with the redeemed quote's own; or the reason why none does."""


def named_by(reader: Reader, quote: Quote) -> Named:
    """Returns the quotes of a claim that names `quote`."""
    case = case_of_supplement(reader, quote.quote_id)
    first = None if case is None or case.quote_id is None else claims.find_quote(reader, case.quote_id)
    return Named(quote, quote if first is None else first.quote, case)


async def see(providers: Providers, transaction_hash: str, named: Named) -> Seen:
    """Asks every provider about the transaction that a claim names and about the first payment's."""
    if named.case is None:
        return Seen(await providers.views(transaction_hash), [])
    return Seen(*await asyncio.gather(*map(providers.views, (transaction_hash, named.case.transaction_hash))))


def judge_claim(
    tx: Transaction, rail: PaymentRail, named: Named, transaction_hash: str, seen: Seen, *, now: datetime
) -> Judged:
    """Judges the transaction that a claim names, taking into account which of its transfers are already used."""
    spent = claims.spent_positions(tx, rail.chain_id, transaction_hash)
    verdict = verify(terms_of(named.quote, rail), seen.views, now=now, used=spent)
    if not isinstance(verdict, Match):
        return verdict
    if _is_authorized(tx, rail, verdict, seen.views):
        return Mismatch("transfer_already_used", block=verdict.block)
    paid = Paid(named.quote.quote_id, transaction_hash, verdict)
    case = case_of_supplement(tx, named.quote.quote_id)
    if case is None:
        return [paid]
    if case.state != "supplement_offered":
        return Mismatch("case_closed", (verdict.transfer, *verdict.surplus), verdict.block)
    first = _first_match(tx, rail, named, case, seen)
    return first if isinstance(first, Unknown) else [Paid(named.redeems.quote_id, case.transaction_hash, first), paid]


def progress_of_claim(named: Named, rail: PaymentRail, seen: Seen) -> Progress:
    """Returns how deep a claim's payment is, or the first payment's depth once only that one is unsettled."""
    progress = progress_of(terms_of(named.quote, rail), seen.views)
    if named.case is None or progress.seconds_left != 0:
        return progress
    return progress_of(terms_of(named.redeems, rail), seen.first_views)


def _is_authorized(tx: Transaction, rail: PaymentRail, match: Match, views: Sequence[View | Silence]) -> bool:
    """Decides whether the transaction carries out a stored signed payment of the same payer and amount.

    If so, the transfer pays for what was bought with that signature, not a quote that happens to ask for its amount.
    """
    receipt = next(view.receipt for view in views if isinstance(view, View) and view.receipt is not None)
    transfer, payer = match.transfer, "0x" + match.transfer.sender[2:].rjust(64, "0")
    used = [log.topics for log in receipt.logs if log.address == rail.asset and log.topics[:2] == (USED_TOPIC, payer)]
    stored = (authorization_of_nonce(tx, rail.chain_id, rail.asset, transfer.sender, nonce) for *_, nonce in used)
    return any(each is not None and each.authorization.value == transfer.amount for each in stored)


def _first_match(tx: Transaction, rail: PaymentRail, named: Named, case: Case, seen: Seen) -> Match | Unknown:
    """Returns the first payment's present match. It was settled when recorded but may have left the chain since."""
    terms = terms_of(named.redeems, rail)
    settled = settle(terms, seen.first_views)
    if isinstance(settled, Unknown):
        return settled
    used = claims.used_positions(tx, rail.chain_id, case.transaction_hash)
    return still_there(case, terms, settled, used=used) or Unknown("not_canonical", "the first payment has changed")


def record_unused(
    tx: Transaction,
    rail: PaymentRail,
    base_url: str,
    filing: Filing,
    transaction_hash: str,
    judged: Judged,
    *,
    now: datetime,
) -> Recorded | None:
    """Records any money in the transaction that the claim does not use. Returns the case for the answer, or None."""
    code: str
    match judged:
        case Mismatch(mismatch, unused, block) if block is not None:
            code = mismatch
        case [*_, Paid(match=Match(_, block, _, unused))]:
            code = "payment_twice"
        case _:
            return None
    chain_id = rail.chain_id
    cases = record_money(tx, unused, block, code, filing, chain_id=chain_id, transaction_hash=transaction_hash, now=now)
    return recorded_of(cases[0], filing.quote, base_url) if cases else None
