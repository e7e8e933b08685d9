"""Decides whether an issued claim's payment is still on the chain. Nothing changes while providers are unclear.

A block's hash commits to its whole content, so a payment exists as long as the chain contains the block recorded when
the claim was issued. If that block is gone, the payment may be in another one.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from contracts.access.claims import Payment
from contracts.access.matching import (
    Agreed,
    Terms,
    from_payer,
    net_covers,
    of_asset,
    pays_amount,
    right_chain,
    settle,
    succeeded,
    to_treasury,
    transfers_of,
)
from contracts.access.provider_views import BlockView, Silence, View

LANDS_AGAIN_WITHIN = timedelta(days=7)
"""Time for which the service searches for a payment that left the chain."""


@dataclass(frozen=True, slots=True)
class Sighting:
    """The answers of one provider about a claim's payment. `held` is its current block at the payment's height."""

    view: View
    held: BlockView | None


@dataclass(frozen=True, slots=True)
class Present:
    """The payment is on the chain, in `block`. `final` is True if no further check is needed."""

    block: BlockView
    final: bool


@dataclass(frozen=True, slots=True)
class Absent:
    """The payment is not on the chain. `for_good` is True after a long enough search."""

    for_good: bool


@dataclass(frozen=True, slots=True)
class Unclear:
    """Providers are silent, behind, or disagree."""


Whereabouts = Present | Absent | Unclear


def recheck(
    payment: Payment,
    terms: Terms,
    sightings: Sequence[Sighting | Silence],
    *,
    now: datetime,
    used: Collection[int] = (),
) -> Whereabouts:
    """Decides where a claim's payment is now.

    `terms` are its quote's, with the payment's amount. `used` contains the log positions that other claims use. The
    time at which the chain included a payment matters only at issue: a payment that lands again later is still valid.
    """
    answers = [sighting for sighting in sightings if isinstance(sighting, Sighting)]
    views = [sighting.view for sighting in answers]
    if not right_chain(terms, views):
        return Unclear()
    same = [sighting for sighting in answers if sighting.held is not None and sighting.held.hash == payment.block_hash]
    other = [sighting for sighting in answers if sighting.held is not None and sighting.held.hash != payment.block_hash]
    if max(len(same), len(other)) < terms.quorum or (same and other):
        return Unclear()
    if same and payment.state == "issued":
        block = same[0].held
        assert block is not None
        return Present(block, _final(terms, views, block))
    settled = settle(terms, views)
    if isinstance(settled, Agreed) and _pays(payment, terms, settled, used):
        return Present(settled.block, _final(terms, views, settled.block))
    if same:
        return Unclear()  # It is back, but not buried deep enough again yet.
    return Absent(for_good=payment.state == "reversed" and now - payment.changed_at > LANDS_AGAIN_WITHIN)


def _pays(payment: Payment, terms: Terms, settled: Agreed, used: Collection[int]) -> bool:
    """Decides whether the transfer that the claim used is at its position again."""
    transfers = transfers_of(settled.receipt)
    return (
        succeeded(settled.receipt)
        and net_covers(terms, transfers, used)
        and any(
            transfer.position == payment.log_position
            and of_asset(terms, transfer)
            and to_treasury(terms, transfer)
            and from_payer(terms, transfer)
            and pays_amount(terms, transfer)
            for transfer in transfers
        )
    )


def _final(terms: Terms, views: Sequence[View], block: BlockView) -> bool:
    return sum(view.finalized is not None and block.number <= view.finalized for view in views) >= terms.quorum
