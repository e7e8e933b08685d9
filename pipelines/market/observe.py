"""Polls the due price sources, and stores their answers. The caller holds the run lock."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from contracts.settings import Settings
from pipelines.market.ask import ask_sources
from pipelines.market.choose import fresh_eth
from pipelines.market.price_source import PriceSource
from pipelines.market.sources import PRICE_SOURCES, configured_sources
from warehouse.duck.connection import Connection, Warehouse, publish_lock
from warehouse.market.prices import Market, SourceAnswer, pool_past, record_prices


@dataclass(frozen=True)
class PollResult:
    """The queried sources, and those among them that gave no price, with the reason."""

    asked: tuple[str, ...]
    failed: dict[str, str]


def poll_eth_sources(connection: Connection, settings: Settings, now: datetime) -> PollResult:
    """Queries the sources of ETH/USD that are due this minute, and stores their answers."""
    due = _due(connection, "eth", settings, now)
    answers = asyncio.run(ask_sources(due, settings)) if due else []
    return _stored(connection, "eth", answers, settings)


def poll_token_sources(connection: Connection, settings: Settings, now: datetime) -> PollResult:
    """Queries the token's sources that are due this minute, and stores their answers."""
    due = _due(connection, "token", settings, now)
    if not due:
        return PollResult((), {})
    eth_usd = fresh_eth(connection, settings, now)
    past = pool_past(connection, settings.pool_address, now) if settings.pool_address else None
    answers = asyncio.run(ask_sources(due, settings, eth_usd=eth_usd, past=past))
    return _stored(connection, "token", answers, settings)


def prices_configured(settings: Settings, now: datetime) -> str | None:
    """Returns why a poll is due at every minute's tick, or None if no source is configured.

    It queries no store: a run that reads the chain may hold the warehouse, and prices don't wait for it. Within the run
    each source is checked again for whether it may be queried.
    """
    return "a minute has passed" if any(source.is_configured(settings) for source in PRICE_SOURCES) else None


def prices_due(settings: Settings, now: datetime) -> str | None:
    """Returns why a poll is due, in a few words; None if no source is configured, or all were queried this minute.

    Raises `RunBusy` while a run writes the warehouse.
    """
    configured = [source for source in PRICE_SOURCES if source.is_configured(settings)]
    if not configured:
        return None
    with Warehouse(settings.data_dir).read_only() as connection:
        due = [source.name for source in configured if connection is None or source.is_due(connection, settings, now)]
    return f"prices of {', '.join(due)} are due" if due else None


def _due(connection: Connection, market: Market, settings: Settings, now: datetime) -> list[PriceSource]:
    return [source for source in configured_sources(market, settings) if source.is_due(connection, settings, now)]


def _stored(connection: Connection, market: Market, answers: Sequence[SourceAnswer], settings: Settings) -> PollResult:
    with publish_lock(settings.data_dir):
        record_prices(connection, market, answers, token=settings.token_address if market == "token" else None)
    failed = {answer.attempt.source: answer.attempt.reason for answer in answers if answer.attempt.reason is not None}
    return PollResult(tuple(answer.attempt.source for answer in answers), failed)
