"""Decides about cases: states, owners and remedies of money that came with a claim but that no claim uses.

A case is one transfer. `case_access.py` lets a payer read a case, `supplements.py` creates the quote for the
difference.

Example: a quote asks for 5.000123 USDC and the payer sends 4. The claim is refused with `amount_mismatch`, and the
transfer becomes a case. The payer gets a supplementary quote for 1.000123; its claim issues the key of the first quote,
and both transfers count as used.
"""

from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Literal

from contracts.access.matching import (
    CLAIM_GRACE,
    SKEW_S,
    Agreed,
    Match,
    Terms,
    Transfer,
    from_payer,
    net_covers,
    of_asset,
    succeeded,
    to_treasury,
    transfers_of,
)
from contracts.access.provider_views import BlockView
from contracts.access.quotes import Quote

CASE_FOR = timedelta(days=30)
"""Time after a case is recorded during which the payer may pay the difference."""

CaseState = Literal["open", "supplement_offered", "claimed", "issued", "refund_due", "refunded"]

WAITING: tuple[CaseState, ...] = ("open", "supplement_offered", "refund_due")
"""States in which the payer or the operator still has to act."""

MOVES: dict[CaseState, frozenset[CaseState]] = {
    "open": frozenset({"supplement_offered", "claimed", "issued", "refund_due", "refunded"}),
    "supplement_offered": frozenset({"claimed", "issued", "refund_due", "refunded"}),
    "claimed": frozenset(),
    "issued": frozenset({"refund_due"}),
    "refund_due": frozenset({"refunded"}),
    "refunded": frozenset(),
}
"""The states that may follow each state. A case never returns to an earlier state."""


@dataclass(frozen=True, slots=True)
class Case:
    """A recorded transfer.

    `quote_id` is a quote of its sender, or None until a claim of such a quote names the transfer.
    """

    case_id: str
    chain_id: int
    transaction_hash: str
    transfer: Transfer
    block: BlockView
    code: str
    quote_id: str | None
    proven: bool
    """True if the sender signed the claim under which the case is filed."""
    state: CaseState
    refund_amount: int | None
    """The amount to send back, or already sent back, in the token's smallest unit."""
    refund_transaction_hash: str | None
    recorded_at: datetime
    changed_at: datetime


@dataclass(frozen=True, slots=True)
class Filing:
    """A claim that named a transfer: its quote, and whether the payer signed it."""

    quote: Quote
    proven: bool


@dataclass(frozen=True, slots=True)
class CaseStanding:
    """A case with its quote, the claim that uses it, and the amount that can still be paid."""

    case: Case
    quote: Quote | None = None
    terms: Terms | None = None
    missing: int | None = None
    claim_id: str | None = None
    """The claim that uses the money, or that redeemed the quote with other money."""
    needs_signature: bool = False
    """True if the payer must sign a claim of the quote before anything is issued for the money."""
    other_cases: tuple[str, ...] = ()


def may_move(state: CaseState, to: CaseState) -> bool:
    """Decides whether a case may change from one state to another."""
    return to in MOVES[state]


def is_senders(transfer: Transfer, quote: Quote) -> bool:
    """Decides whether a quote is for the sender of a transfer. Money is never filed under another quote."""
    return transfer.sender == quote.payer


def is_payers_own(filing: Filing) -> bool:
    """Decides whether only the payer can gain by a filing.

    Anybody can order a quote for another person's address and name an operator. A quote that names an operator
    therefore counts as the payer's only once the payer signs it.
    """
    return filing.proven or not filing.quote.names_operator


def replaces(new: Filing, old: Filing | None, transfer: Transfer) -> bool:
    """Decides whether a filing replaces an older one. The rule makes the order of claims irrelevant.

    A filing with the payer's signature beats one without. A quote that names no operator beats one that does. Between
    two equal filings, the quote whose amount is nearer to the transfer's wins.
    """
    return is_senders(transfer, new.quote) and (old is None or _strength(new, transfer) > _strength(old, transfer))


def _strength(filing: Filing, transfer: Transfer) -> tuple[bool, bool, int]:
    return filing.proven, is_payers_own(filing), -abs(filing.quote.amount - transfer.amount)


def code_of(transfer: Transfer, quote: Quote, code: str) -> str:
    """Returns a transfer's code under a claim of `quote`. The claim's own `code` applies only to its payer's money."""
    return code if is_senders(transfer, quote) or code == "wrong_asset" else "payer_mismatch"


def shortfall(case: Case, quote: Quote, terms: Terms, *, now: datetime) -> int | None:
    """Returns the missing amount if the payer may pay the difference, or None. `terms` are the quote's.

    Only money that came during the quote's own time counts. An earlier payment from the same address was for something
    else.
    """
    missing = terms.amount - case.transfer.amount
    offered = (
        may_move(case.state, "claimed")
        and case.code == "amount_mismatch"
        and case.chain_id == terms.chain_id
        and of_asset(terms, case.transfer)
        and to_treasury(terms, case.transfer)
        and from_payer(terms, case.transfer)
        and is_payers_own(Filing(quote, case.proven))
        and came_in_time(case, terms)
        and now <= case.recorded_at + CASE_FOR
    )
    return missing if offered and case.transfer.amount > 0 and missing > 0 else None


def came_in_time(case: Case, terms: Terms) -> bool:
    """Decides whether the money came between the creation of the quote and the end of its claim grace."""
    time_s = case.block.time_s
    return terms.issued_at.timestamp() - SKEW_S <= time_s <= (terms.expires_at + CLAIM_GRACE).timestamp()


def terms_of_transfer(terms: Terms, amount: int) -> Terms:
    """Returns the terms of a quote with the amount of another transfer that its claim uses."""
    return replace(terms, amount=amount)


def still_there(case: Case, terms: Terms, settled: Agreed, *, used: Collection[int]) -> Match | None:
    """Returns the current position of a recorded transfer on the chain, or None if it is no longer where it was.

    `terms` are those of its quote. `used` contains the log positions of the transaction that claims use.
    """
    transfers = transfers_of(settled.receipt)
    there = (
        succeeded(settled.receipt)
        and case.transfer in transfers
        and net_covers(terms_of_transfer(terms, case.transfer.amount), transfers, used)
    )
    return Match(case.transfer, settled.block, settled.head) if there else None
