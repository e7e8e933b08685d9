"""One look at every source that is due: ask, keep, choose. Runs without Dagster; the caller holds the run lock."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import datetime

from contracts.settings import Settings
from pipelines.market.source import ask_eth_sources, ask_token_sources, eth_sources, token_sources
from warehouse.duck.connection import Connection, Warehouse
from warehouse.duck.fetch_log import may_ask
from warehouse.market.prices import (
    Market,
    SourceAnswer,
    choose_eth_price,
    choose_token_price,
    fresh_eth_price,
    pool_past,
    record_prices,
)


@dataclass(frozen=True)
class PollResult:
    """Which sources were asked, and which of them gave no price, with the reason."""

    asked: tuple[str, ...]
    failed: dict[str, str]


def poll_eth_sources(connection: Connection, settings: Settings, now: datetime) -> PollResult:
    """Ask the sources of ETH/USD that are due this minute, and keep what they say."""
    wanted = _due(connection, eth_sources(settings), now)
    answers = asyncio.run(ask_eth_sources(settings, wanted)) if wanted else []
    return _kept(connection, "eth", answers)


def poll_token_sources(connection: Connection, settings: Settings, now: datetime) -> PollResult:
    """Ask the token's sources that are due this minute, and keep what they say."""
    wanted = _due(connection, token_sources(settings), now)
    if not wanted:
        return PollResult((), {})
    eth_usd = fresh_eth_price(connection, eth_sources(settings), now)
    past = pool_past(connection, settings.pool_address, now) if settings.pool_address else None
    answers = asyncio.run(ask_token_sources(settings, wanted, eth_usd=eth_usd, past=past))
    return _kept(connection, "token", answers, token=settings.token_address)


def choose_eth(connection: Connection, settings: Settings, now: datetime) -> None:
    """Choose the ETH/USD that is served from now on."""
    choose_eth_price(connection, eth_sources(settings), now)


def choose_token(connection: Connection, settings: Settings, now: datetime) -> None:
    """Choose the token price that is served from now on."""
    choose_token_price(connection, settings.token_address, token_sources(settings), now)


def prices_due(settings: Settings, now: datetime) -> str | None:
    """Why a look is due, in a few words; None where no source is configured, or each was asked this minute.

    The first look is that of the first whole run: before it there is nothing to publish prices into. Raises `RunBusy`
    while a run writes the warehouse.
    """
    configured = (*eth_sources(settings), *token_sources(settings))
    if not configured:
        return None
    with Warehouse(settings.data_dir).read_only() as connection:
        if connection is None:
            return None
        due = [source for source in configured if may_ask(connection, source, now)]
    return f"prices of {', '.join(due)} are due" if due else None


def _due(connection: Connection, sources: tuple[str, ...], now: datetime) -> list[str]:
    return [source for source in sources if may_ask(connection, source, now)]


def _kept(
    connection: Connection, market: Market, answers: list[SourceAnswer], *, token: str | None = None
) -> PollResult:
    record_prices(connection, market, answers, token=token)
    failed = {answer.attempt.source: answer.attempt.reason for answer in answers if answer.attempt.reason is not None}
    return PollResult(tuple(answer.attempt.source for answer in answers), failed)
