"""Stores every answer of every price source, and the price that is served."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime, timedelta
from decimal import Decimal
from math import sqrt
from typing import Any, Literal

import duckdb

from contracts.base import Quality
from contracts.market import (
    MAX_AGE,
    REFERENCE_AGE,
    ChangeCheck,
    PriceObservation,
    Quote,
    agrees,
    change_percent,
    decimal_of,
    disagree,
    is_jump,
)
from warehouse.duck.connection import transaction
from warehouse.duck.fetch_log import Attempt, record_attempt
from warehouse.duck.rows import aware_utc, insert, naive_utc, replace_all
from warehouse.statements import read_sql

Market = Literal["token", "eth"]

_ANSWERS: dict[Market, str] = {"token": "raw_market__token_prices", "eth": "raw_market__eth_prices"}
_SERVED: dict[Market, str] = {"token": "out_market__token_price", "eth": "out_market__eth_price"}
_LATEST: dict[Market, str] = {"token": "latest_token_prices", "eth": "latest_eth_prices"}
_LAST_SOUND: dict[Market, str] = {"token": "last_sound_token_price", "eth": "last_sound_eth_price"}

_ETH_FIELDS = ("observed_at", "quality", "reason", "price_usd", "block")
_TOKEN_FIELDS = tuple(field.name for field in fields(Quote))
"""Fields of a quote that the tables store."""

_HOUR, _DAY = timedelta(hours=1), timedelta(days=1)
_NEAR = {_HOUR: timedelta(minutes=5), _DAY: timedelta(minutes=30)}
"""The distance in time up to which an observation counts as the price of an hour or a day ago."""

Row = dict[str, Any]


@dataclass(frozen=True)
class SourceAnswer:
    """A request to a source and the quote it returned. `quote` is None if `attempt.reason` is set."""

    attempt: Attempt
    quote: Quote | None


def record_prices(
    connection: duckdb.DuckDBPyConnection, market: Market, answers: Sequence[SourceAnswer], *, token: str | None = None
) -> None:
    """Stores answers, and marks prices that jump from the last sound price as suspicious. `token` is set for prices of
    the token."""
    reference = _reference(connection, market, token, answers)
    with transaction(connection):
        for answer in answers:
            record_attempt(connection, answer.attempt)
            insert(
                connection,
                _ANSWERS[market],
                {
                    **_token_column(token),
                    "source": answer.attempt.source,
                    "fetched_at": answer.attempt.asked_at,
                    "latency_ms": answer.attempt.latency_ms,
                    **_quote_columns(market, answer, reference),
                },
            )


def fresh_eth_price(connection: duckdb.DuckDBPyConnection, sources: Sequence[str], now: datetime) -> Decimal | None:
    """Returns the price of ETH in USD from the first of `sources` that has a sound one now, or None."""
    chosen = _choose(connection, "eth", None, sources, now)
    return None if chosen is None or chosen.row is None or chosen.stale else chosen.row["price_usd"]


def choose_eth_price(connection: duckdb.DuckDBPyConnection, sources: Sequence[str], now: datetime) -> None:
    """Replaces the served row with the answer of the first of `sources` that has a sound price.

    If no source is configured, there is no row. If no source has a sound price now, the last sound one is served as
    stale.
    """
    chosen = _choose(connection, "eth", None, sources, now)
    row = None
    if chosen is not None:
        block = chosen.row and chosen.row["block"]
        row = {**chosen.freshness, "price": chosen.price, "block": block, "sources": chosen.sources}
    _serve(connection, "eth", row)


def choose_token_price(
    connection: duckdb.DuckDBPyConnection, token: str | None, sources: Sequence[str], now: datetime
) -> None:
    """Replaces the served row, as `choose_eth_price` does. Changes that the source lacks come from our history."""
    chosen = None if token is None else _choose(connection, "token", token, sources, now)
    if chosen is None or token is None:
        _serve(connection, "token", None)
        return
    row: Mapping[str, Any] = chosen.row or {}
    hour, day = (_own_change(connection, token, chosen.row, span) for span in (_HOUR, _DAY))
    theirs_hour, theirs_day = row.get("change_1h_percent"), row.get("change_24h_percent")
    verdicts = {agrees(theirs_hour, hour), agrees(theirs_day, day)} - {None}
    check = ChangeCheck(change_1h=hour, change_24h=day, agrees=all(verdicts) if verdicts else None)
    _serve(
        connection,
        "token",
        {
            "token_address": token,
            **chosen.freshness,
            "price": chosen.price,
            "mcap_usd": row.get("mcap_usd"),
            "volume_24h_usd": row.get("volume_24h_usd"),
            "change_24h_percent": day if theirs_day is None else theirs_day,
            "change_1h_percent": hour if theirs_hour is None else theirs_hour,
            **{name: row.get(name) for name in ("buys_24h", "sells_24h", "trades_block")},
            **{name: row.get(name) for name in ("liquidity_usd", "pool", "pools", "block")},
            "change_check": check.model_dump_json(by_alias=True),
            "sources": chosen.sources,
        },
    )


def are_prices_served(connection: duckdb.DuckDBPyConnection) -> bool:
    """Returns True if any run has chosen a price to serve, of the token or of ETH."""
    return bool(_rows(connection, "served_prices", {}))


@dataclass(frozen=True)
class Traded:
    """The traded amounts of a day, in the token's smallest unit, by which USD prices are known around each trade.

    A trade moves its pool's price, so its price is the geometric mean of the prices before and after it.
    """

    valued: float = 0.0
    """Sum of amounts times their prices, for trades with a later price."""
    before: float = 0.0
    """Sum of amounts times the square root of the price before them, for trades since which no price was read."""
    unvalued: float = 0.0
    """Sum of amounts without any price around them."""

    def usd(self, price_now: float) -> float:
        """Returns the trades' worth, with `price_now` as the price after the last ones.

        All prices are USD per whole token, so the result must still be divided by the smallest units in a token.
        """
        return self.valued + self.before * sqrt(price_now) + self.unvalued * price_now


@dataclass(frozen=True)
class PoolPast:
    """A pool's last day according to the stored transfers: the trades, their amounts and the block up to which they are
    counted (all None until the chain is read that far), and the blocks of an hour and of a day ago."""

    buys: int | None
    sells: int | None
    traded: Traded | None
    trades_block: int | None
    hour_block: int | None
    day_block: int | None


def pool_past(connection: duckdb.DuckDBPyConnection, pool: str, now: datetime) -> PoolPast:
    """Reads a pool's last day, estimated from transfers.

    A transfer out of the pool counts as a buy, one into it as a sell; mints and amounts of zero don't count. Adding or
    removing liquidity and plain transfers count like trades.
    """
    moment = naive_utc(now)
    address = bytes.fromhex(pool.removeprefix("0x"))
    (trades,) = _rows(connection, "pool_trades", {"pool": address, "named": pool, "since": moment - _DAY})
    blocks = [
        next((row["block"] for row in _rows(connection, "block_before", {"moment": moment - span})), None)
        for span in (_HOUR, _DAY)
    ]
    if trades["read_to"] is None or trades["read_to"] < moment - _HOUR:
        return PoolPast(None, None, None, None, *blocks)
    traded = Traded(trades["valued"], trades["before"], trades["unvalued"])
    return PoolPast(trades["buys"], trades["sells"], traded, trades["block"], *blocks)


@dataclass(frozen=True)
class _Chosen:
    """The price to serve: `row` is the observation, None if there never was a sound one."""

    row: Row | None
    quality: Quality
    reason: str | None
    stale: bool
    age_s: int | None
    sources: str

    @property
    def price(self) -> str | None:
        return None if self.row is None else decimal_of(self.row["price_usd"])

    @property
    def freshness(self) -> Row:
        row = self.row or {}
        return {
            "source": row.get("source"),
            "quality": self.quality,
            "reason": self.reason,
            "stale": self.stale,
            "observed_at": row.get("observed_at"),
            "fetched_at": row.get("fetched_at"),
            "age_s": self.age_s,
        }


def _choose(
    connection: duckdb.DuckDBPyConnection, market: Market, token: str | None, sources: Sequence[str], now: datetime
) -> _Chosen | None:
    if not sources:
        return None
    latest = {row["source"]: row for row in _rows(connection, _LATEST[market], _token_column(token))}
    answers = [latest[source] for source in sources if source in latest]
    fresh = [row for row in answers if row["price_usd"] is not None and _age_s(row, now) <= MAX_AGE.total_seconds()]
    sound = [row for row in fresh if not row["suspicious"]]
    served = next(iter(sound), None) or _last_sound(connection, market, token, sources)
    listed = json.dumps([_listed(row, served) for row in answers])
    jump = "price_jump" if fresh else None
    why_none = jump or next((row["reason"] for row in answers if row["reason"]), None) or "not_asked_yet"
    if served is None:
        return _Chosen(None, Quality.UNAVAILABLE, why_none, stale=False, age_s=None, sources=listed)
    age_s = _age_s(served, now)
    if not sound:
        return _Chosen(served, Quality.ESTIMATED, why_none, stale=True, age_s=age_s, sources=listed)
    quality, reason = Quality(served["quality"]), served["reason"]
    if any(disagree(served["price_usd"], row["price_usd"]) for row in sound):
        quality, reason = Quality.ESTIMATED, "sources_disagree"
    return _Chosen(served, quality, reason, stale=False, age_s=age_s, sources=listed)


def _listed(row: Row, served: Row | None) -> dict[str, Any]:
    price: Decimal | None = row["price_usd"]
    difference = None if price is None or served is None else change_percent(price, served["price_usd"])
    return PriceObservation(
        source=row["source"],
        price=None if price is None else decimal_of(price),
        quality=Quality(row["quality"]),
        reason=row["reason"],
        suspicious=row["suspicious"],
        difference_percent=difference,
        observed_at=aware_utc(row["observed_at"]),
        fetched_at=aware_utc(row["fetched_at"]),
        latency_ms=row["latency_ms"],
    ).model_dump(mode="json", by_alias=True)


def _own_change(connection: duckdb.DuckDBPyConnection, token: str, served: Row | None, span: timedelta) -> float | None:
    """Returns the served price's change in percent since the same source's answer `span` before, or None."""
    if served is None:
        return None
    parameters = {
        "token_address": token,
        "source": served["source"],
        "moment": served["fetched_at"] - span,
        "tolerance": _NEAR[span],
    }
    before = next(iter(_rows(connection, "token_price_near", parameters)), None)
    return None if before is None else change_percent(served["price_usd"], before["price_usd"])


def _reference(
    connection: duckdb.DuckDBPyConnection, market: Market, token: str | None, answers: Sequence[SourceAnswer]
) -> Decimal | None:
    """Returns the last sound price before these answers, if it is recent enough for a comparison."""
    last = _last_sound(connection, market, token, ())
    if last is None or not answers:
        return None
    age = naive_utc(answers[0].attempt.asked_at) - last["fetched_at"]
    price: Decimal = last["price_usd"]
    return price if age <= REFERENCE_AGE else None


def _last_sound(
    connection: duckdb.DuckDBPyConnection, market: Market, token: str | None, sources: Sequence[str]
) -> Row | None:
    """Returns the newest sound observation; of several within one minute, that of the first of `sources`."""
    parameters = {**_token_column(token), "sources": list(sources)}
    return next(iter(_rows(connection, _LAST_SOUND[market], parameters)), None)


def _quote_columns(market: Market, answer: SourceAnswer, reference: Decimal | None) -> Row:
    """Returns the columns that come from a quote; they are null without one."""
    names = _TOKEN_FIELDS if market == "token" else _ETH_FIELDS
    quote = answer.quote
    if quote is None:
        missing = {"quality": Quality.UNAVAILABLE, "reason": answer.attempt.reason, "suspicious": False}
        return dict.fromkeys(names) | missing
    suspicious = is_jump(quote.price_usd, reference)
    return {name: getattr(quote, name) for name in names} | {"suspicious": suspicious}


def _serve(connection: duckdb.DuckDBPyConnection, market: Market, row: Row | None) -> None:
    with transaction(connection):
        replace_all(connection, _SERVED[market], () if row is None else row)


def _rows(connection: duckdb.DuckDBPyConnection, question: str, parameters: Mapping[str, Any]) -> list[Row]:
    cursor = connection.execute(read_sql(question), dict(parameters))
    names = [column[0] for column in cursor.description or ()]
    return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


def _token_column(token: str | None) -> dict[str, str]:
    return {} if token is None else {"token_address": token}


def _age_s(row: Row, now: datetime) -> int:
    fetched_at: datetime = row["fetched_at"]
    return max(0, round((naive_utc(now) - fetched_at).total_seconds()))
