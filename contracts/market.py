"""Defines the price documents and the rules that decide whether an observation counts.

The modules of `pipelines/market/sources/` parse the sources' answers.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Context, Decimal, InvalidOperation
from typing import Any

from pydantic import Field

from contracts.base import (
    AddressText,
    DecimalAmount,
    Document,
    Freshness,
    Quality,
    TelemetryDocument,
    TelemetryEnvelope,
    Timestamp,
)

PLACES = Decimal("1e-24")
"""Prices have 24 decimal places."""

_WIDE = Context(prec=60)

LOWEST_USD, HIGHEST_USD = Decimal("1e-18"), Decimal("1e9")
"""Prices outside these bounds are absurd and are refused."""

JUMP = 10
"""A price is suspicious if it is this many times the last sound price or more, or this many times less."""

MAX_AGE = timedelta(seconds=90)
"""Age up to which a price is fresh.

The pipeline queries the sources every minute and a run takes some seconds, so a price stays fresh until the next one.
"""

REFERENCE_AGE = timedelta(hours=24)
"""Age up to which the last sound price is a reference for jumps."""

DISAGREEMENT = Decimal("0.5")
"""Largest difference between two sources, as a fraction of the larger price.

A larger difference lowers the quality of the price that is served.
"""

THIN_USD = 1000
"""Liquidity in USD below which anybody can set a price."""

_ESTIMATE = (
    "For the source `pool`, an estimate from transfers of the token out of the pool (buys) and into it (sells), of "
    "amounts above zero: added or removed liquidity and plain transfers count too"
)

CHANGE_TOLERANCE = 5.0
"""Percentage points by which a source's change may differ from the change in our own history."""


@dataclass(frozen=True)
class Quote:
    """One source's answer about a price. Amounts are in USD, changes in percent; a value that the source lacks is None.

    `observed_at` is the source's own time, `pool` the origin of the price, `pools` the number of sound pools, `block`
    the block of the price, and `trades_block` the one up to which volume, buys and sells are counted.
    """

    price_usd: Decimal
    quality: Quality = Quality.EXACT
    reason: str | None = None
    observed_at: datetime | None = None
    mcap_usd: float | None = None
    volume_24h_usd: float | None = None
    change_24h_percent: float | None = None
    change_1h_percent: float | None = None
    buys_24h: int | None = None
    sells_24h: int | None = None
    trades_block: int | None = None
    liquidity_usd: float | None = None
    pool: str | None = None
    pools: int | None = None
    block: int | None = None


@dataclass(frozen=True)
class Refusal:
    """The reason for refusing a source's answer, as a stable code such as error_answer, unknown_token or no_price."""

    reason: str


def number(value: Any, lowest: Decimal | float, highest: Decimal | float) -> Decimal | None:
    """Returns a JSON number or decimal string within the bounds, or None for anything else (NaN, infinity, ...)."""
    if isinstance(value, bool) or not isinstance(value, (int, float, Decimal, str)):
        return None
    if isinstance(value, str) and len(value) > 80:
        return None
    try:
        parsed = Decimal(str(value))
    except InvalidOperation:
        return None
    return parsed if parsed.is_finite() and lowest <= parsed <= highest else None


def usd_price(value: Any) -> Decimal | None:
    """Returns a price in USD to 24 places, or None if it is missing, zero, negative or absurd."""
    price = number(value, LOWEST_USD, HIGHEST_USD)
    return None if price is None else price.quantize(PLACES, context=_WIDE)


def is_jump(price: Decimal, reference: Decimal | None) -> bool:
    """Decides whether a price is too far from the last sound price to be credible."""
    return reference is not None and not reference / JUMP < price < reference * JUMP


def disagree(price: Decimal, other: Decimal) -> bool:
    """Decides whether two sources differ so much that they can't refer to the same price."""
    return abs(price - other) > DISAGREEMENT * max(price, other)


def change_percent(now: Decimal, before: Decimal) -> float:
    return round(float(100 * (now - before) / before), 4)


def agrees(theirs: float | None, ours: float | None) -> bool | None:
    """Decides whether a source's change equals ours within the tolerance. Returns None if one of them is missing."""
    return None if theirs is None or ours is None else abs(theirs - ours) <= CHANGE_TOLERANCE


def decimal_of(price: Decimal) -> str:
    """Returns a price as a decimal string for publication, without exponent or trailing zeros."""
    text = f"{price:f}"
    return (text.rstrip("0").rstrip(".") if "." in text else text) or "0"


class PriceObservation(Document):
    """The latest answer of one source."""

    source: str
    price: DecimalAmount | None = Field(description="In USD; null if the source gave none")
    quality: Quality
    reason: str | None = Field(description="Why it is missing or degraded, as a stable code")
    suspicious: bool = Field(description="More than ten times, or less than a tenth of, the last sound price")
    difference_percent: float | None = Field(description="100 * (this - served) / served")
    observed_at: Timestamp | None = Field(description="The source's own time (UTC)")
    fetched_at: Timestamp
    latency_ms: int = Field(ge=0)


class ChangeCheck(Document):
    """Changes computed from our own observations, for comparison with those of the source."""

    change_1h: float | None = Field(alias="change1h", description="Percent, from our observation of an hour ago")
    change_24h: float | None = Field(alias="change24h", description="Percent, from our observation of a day ago")
    agrees: bool | None = Field(
        description="Whether the source's changes are within 5 percentage points of ours; null without both"
    )


class TokenPriceData(Freshness):
    """The price of the service token and its market over the last 24 hours.

    A figure is null next to a price if its source does not report it, or has not read far enough back yet.
    """

    price: DecimalAmount | None = Field(description="USD for one whole token")
    mcap: float | None = Field(description="Market capitalisation in USD, else fully diluted value")
    volume_24h: float | None = Field(
        alias="volume24h", description=f"USD traded in 24 hours, over all sound pools. {_ESTIMATE}"
    )
    change_24h: float | None = Field(alias="change24h", description="Percent over 24 hours")
    change_1h: float | None = Field(alias="change1h", description="Percent over one hour")
    buys_24h: int | None = Field(alias="buys24h", description=f"Buys in 24 hours, over all sound pools. {_ESTIMATE}")
    sells_24h: int | None = Field(alias="sells24h", description=f"Sells in 24 hours, over all sound pools. {_ESTIMATE}")
    trades_quality: Quality = Field(
        description="Quality of `volume24h`, `buys24h` and `sells24h`: `estimated` if counted from transfers"
    )
    trades_reason: str | None = Field(
        description="Why they are missing, degraded or stale: `estimated_from_transfers` for the source `pool`"
    )
    trades_block: int | None = Field(description="Block up to which they are counted; null unless from transfers")
    age_s: int | None = Field(description="Seconds from `fetchedAt` to the tick that published it")
    token: AddressText | None
    pool: str | None = Field(description="The pool that provided the price")
    pools: int | None = Field(description="Number of sound pools whose volume and trades are summed")
    liquidity_usd: float | None = Field(description="USD in that pool")
    block: int | None = Field(description="Block of a price that was read on the chain")
    change_check: ChangeCheck
    sources: list[PriceObservation] = Field(
        description="Latest answer of every configured source, the most trusted first"
    )


class TokenPrice(TelemetryEnvelope):
    """`ok` and `data`."""

    data: TokenPriceData


class EthPrice(TelemetryDocument):
    """ETH in USD: the answer of Chainlink's feed on the chain, or else a spot price."""

    price: DecimalAmount | None = Field(description="USD for one ETH")
    age_s: int | None = Field(description="Seconds from `fetchedAt` to the tick that published it")
    block: int | None = Field(description="Block at which Chainlink's feed was read")
    sources: list[PriceObservation] = Field(
        description="Latest answer of every configured source, the most trusted first"
    )


def inner(value: Any, *path: str) -> Any:
    """Returns the value at `path` of nested JSON objects, or None if the path leads nowhere."""
    for name in path:
        if not isinstance(value, Mapping):
            return None
        value = value.get(name)
    return value
