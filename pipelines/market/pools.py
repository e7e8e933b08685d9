"""Derives one quote from a token's pools in a market index: rejects unsound pools and picks one that sets the price.
Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import TypeVar

from contracts.base import Quality
from contracts.market import THIN_USD, Quote, Refusal

Number = TypeVar("Number", int, float)

OUTLIER = Decimal("0.2")
"""A pool whose price differs from the median by more than this fraction counts as broken or abandoned."""


@dataclass(frozen=True)
class Pool:
    """One pool of the token, in USD and percent. Trades are from the token's side: a buy buys the token.

    `inverted` means that the index quotes the other token, and the price was inverted.
    """

    address: str | None
    price_usd: Decimal
    inverted: bool
    liquidity_usd: float
    volume_24h_usd: float | None
    buys_24h: int | None
    sells_24h: int | None
    change_24h_percent: float | None
    change_1h_percent: float | None
    mcap_usd: float | None
    observed_at: datetime | None = None


def as_float(value: Decimal | None) -> float | None:
    return None if value is None else float(value)


def quote_of(pools: Sequence[Pool]) -> Quote | Refusal:
    """Returns the price of the deepest sound pool, with volume and trades summed over all sound pools."""
    if not pools:
        return Refusal("no_price")
    sound = _sound_pools(pools)
    deepest = max(sound, key=lambda pool: pool.liquidity_usd)
    thin = deepest.liquidity_usd < THIN_USD
    quality = Quality.DERIVED if deepest.inverted else Quality.EXACT
    return Quote(
        price_usd=deepest.price_usd,
        quality=Quality.ESTIMATED if thin else quality,
        reason="thin_liquidity" if thin else None,
        observed_at=deepest.observed_at,
        mcap_usd=deepest.mcap_usd,
        volume_24h_usd=_total([pool.volume_24h_usd for pool in sound]),
        change_24h_percent=deepest.change_24h_percent,
        change_1h_percent=deepest.change_1h_percent,
        buys_24h=_total([pool.buys_24h for pool in sound]),
        sells_24h=_total([pool.sells_24h for pool in sound]),
        liquidity_usd=deepest.liquidity_usd,
        pool=deepest.address,
        pools=len(sound),
    )


def _sound_pools(pools: Sequence[Pool]) -> list[Pool]:
    """Returns the pools near the median price, weighted by trades.

    Trades are the weight because a broken pool can report any liquidity, but has few trades.
    """
    by_price = sorted(pools, key=lambda pool: pool.price_usd)
    votes = [1 + (pool.buys_24h or 0) + (pool.sells_24h or 0) for pool in by_price]
    half, passed, middle = sum(votes) / 2, 0, by_price[0].price_usd
    for pool, vote in zip(by_price, votes, strict=True):
        passed += vote
        if passed >= half:
            middle = pool.price_usd
            break
    return [pool for pool in pools if abs(pool.price_usd - middle) <= OUTLIER * middle]


def _total(values: Sequence[Number | None]) -> Number | None:
    known = [value for value in values if value is not None]
    return sum(known[1:], known[0]) if known else None
