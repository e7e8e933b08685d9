"""Whether an issued claim's payment is still on the chain, by what RPC providers say; where they don't, nothing moves.

A block's hash commits to all that is in it, so a payment stands as long as the chain holds the block that it was issued
on. Where that block is gone, the payment may have landed in another one.
"""

from __future__ import annotations

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
"""How long a payment that left the chain is looked for."""


@dataclass(frozen=True, slots=True)
class Sighting:
    """What one provider says of a claim's payment; `held` is the block that it has at the payment's height now."""

    view: View
    held: BlockView | None


@dataclass(frozen=True, slots=True)
class Stands:
    """The payment is on the chain, in `block`; `final` where nobody need look again."""

    block: BlockView
    final: bool


@dataclass(frozen=True, slots=True)
class Gone:
    """The payment is not on the chain; `for_good` where it has been looked for long enough."""

    for_good: bool


@dataclass(frozen=True, slots=True)
class Unclear:
    """Providers are silent, behind or differ."""


Standing = Stands | Gone | Unclear


def look_again(
    payment: Payment,
    terms: Terms,
    sightings: Sequence[Sighting | Silence],
    *,
    now: datetime,
    used: Collection[int] = (),
) -> Standing:
    """Where a claim's payment is now. `terms` are its quote's for the payment's amount; `used` are log positions that
    other claims have used.

    When a payment was taken by the chain counts once only, at issue: one that lands again later is as good.
    """
    heard = [each for each in sightings if isinstance(each, Sighting)]
    views = [each.view for each in heard]
    if not right_chain(terms, views):
        return Unclear()
    same = [each for each in heard if each.held is not None and each.held.hash == payment.block_hash]
    other = [each for each in heard if each.held is not None and each.held.hash != payment.block_hash]
    if max(len(same), len(other)) < terms.quorum or (same and other):
        return Unclear()
    if same and payment.state == "issued":
        held = same[0].held
        assert held is not None
        return Stands(held, _final(terms, views, held))
    settled = settle(terms, views)
    if isinstance(settled, Agreed) and _pays(payment, terms, settled, used):
        return Stands(settled.block, _final(terms, views, settled.block))
    if same:
        return Unclear()  # it is back, and not buried again yet
    return Gone(for_good=payment.state == "reversed" and now - payment.changed_at > LANDS_AGAIN_WITHIN)


def _pays(payment: Payment, terms: Terms, settled: Agreed, used: Collection[int]) -> bool:
    """Whether the transfer that the claim used is at its place again."""
    transfers = transfers_of(settled.receipt)
    return (
        succeeded(settled.receipt)
        and net_covers(terms, transfers, used)
        and any(
            each.position == payment.log_position
            and of_asset(terms, each)
            and to_treasury(terms, each)
            and from_payer(terms, each)
            and pays_amount(terms, each)
            for each in transfers
        )
    )


def _final(terms: Terms, views: Sequence[View], block: BlockView) -> bool:
    return sum(view.finalized is not None and block.number <= view.finalized for view in views) >= terms.quorum
