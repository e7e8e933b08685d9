"""Cases: money that came with a claim and that no claim uses. Their states, whose they are, and what can be done.

One case is one transfer. How a payer reads a case is in `case_access.py`, what it is offered in `supplements.py`.
"""

from __future__ import annotations

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
"""How long after it was recorded a case offers the payer to pay the difference."""

CaseState = Literal["open", "supplement_offered", "claimed", "issued", "refund_due", "refunded"]

WAITING: tuple[CaseState, ...] = ("open", "supplement_offered", "refund_due")
"""States in which somebody still has to do something."""

MOVES: dict[CaseState, frozenset[CaseState]] = {
    "open": frozenset({"supplement_offered", "claimed", "issued", "refund_due", "refunded"}),
    "supplement_offered": frozenset({"claimed", "issued", "refund_due", "refunded"}),
    "claimed": frozenset(),
    "issued": frozenset({"refund_due"}),
    "refund_due": frozenset({"refunded"}),
    "refunded": frozenset(),
}
"""The states that may follow each. No state is reached twice."""


@dataclass(frozen=True, slots=True)
class Case:
    """A transfer that was recorded. `quote_id` is a quote of its sender, None while no claim of one has named it."""

    case_id: str
    chain_id: int
    transaction_hash: str
    transfer: Transfer
    block: BlockView
    code: str
    quote_id: str | None
    proven: bool
    """Whether the sender signed the claim that it is filed by."""
    state: CaseState
    refund_amount: int | None
    """What is, or was, to be sent back, in the token's smallest unit."""
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
    """A case among quotes and claims: what it was sent for, what uses it, and what can be paid for the rest."""

    case: Case
    quote: Quote | None = None
    terms: Terms | None = None
    missing: int | None = None
    claim_id: str | None = None
    """The claim that uses the money, or that redeemed the quote with other money."""
    needs_signature: bool = False
    """Whether the payer has to sign a claim of the quote before anything is issued for the money."""
    other_cases: tuple[str, ...] = ()


def may_move(state: CaseState, to: CaseState) -> bool:
    """Decides whether a case may go from one state to another."""
    return to in MOVES[state]


def is_senders(transfer: Transfer, quote: Quote) -> bool:
    """Decides whether a quote asks the sender of a transfer to pay. Money is filed under no other quote."""
    return transfer.sender == quote.payer


def is_payers_own(filing: Filing) -> bool:
    """Decides whether only the payer can gain by a filing.

    Anybody can order a quote for somebody else's address and name an operator of their own; so such a quote is the
    payer's own only once the payer signed for it.
    """
    return filing.proven or not filing.quote.names_operator


def replaces(new: Filing, old: Filing | None, transfer: Transfer) -> bool:
    """Decides whether a filing takes the place of an older one, so that the order of claims does not matter.

    The payer's signature is stronger than any claim without it, a quote that names nobody else is stronger than one
    that does, and of two alike the one that asks for the amount nearer to what was sent.
    """
    return is_senders(transfer, new.quote) and (old is None or _strength(new, transfer) > _strength(old, transfer))


def _strength(filing: Filing, transfer: Transfer) -> tuple[bool, bool, int]:
    return filing.proven, is_payers_own(filing), -abs(filing.quote.amount - transfer.amount)


def code_of(transfer: Transfer, quote: Quote, code: str) -> str:
    """Returns the code of a transfer that a claim of `quote` found. The claim's own is for its payer's money."""
    return code if is_senders(transfer, quote) or code == "wrong_asset" else "payer_mismatch"


def shortfall(case: Case, quote: Quote, terms: Terms, *, now: datetime) -> int | None:
    """Returns how much is missing where the payer may pay the difference, or None. `terms` are the quote's.

    Only money that came in the quote's own time counts: what an address sent before for something else does not.
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
    """Decides whether the money came between the making of the quote and the end of its claim grace."""
    time_s = case.block.time_s
    return terms.issued_at.timestamp() - SKEW_S <= time_s <= (terms.expires_at + CLAIM_GRACE).timestamp()


def terms_of_transfer(terms: Terms, amount: int) -> Terms:
    """The terms of a quote for a transfer of another amount that a claim of it uses."""
    return replace(terms, amount=amount)


def still_there(case: Case, terms: Terms, settled: Agreed, *, used: Collection[int]) -> Match | None:
    """Returns where the chain holds a recorded transfer now, or None where it is not at its place any more.

    `terms` are its quote's; `used` are log positions of the transaction that claims use.
    """
    transfers = transfers_of(settled.receipt)
    there = (
        succeeded(settled.receipt)
        and case.transfer in transfers
        and net_covers(terms_of_transfer(terms, case.transfer.amount), transfers, used)
    )
    return Match(case.transfer, settled.block, settled.head) if there else None
