"""Chooses the prices to serve, from stored answers. Makes no requests."""

from datetime import datetime
from decimal import Decimal

from contracts.settings import Settings
from pipelines.market.sources import configured_sources
from warehouse.duck.connection import Connection, publish_lock
from warehouse.market.prices import Market, choose_eth_price, choose_token_price, fresh_eth_price


def choose_eth(connection: Connection, settings: Settings, now: datetime) -> None:
    """Chooses the ETH/USD price to serve from now on."""
    with publish_lock(settings.data_dir):
        choose_eth_price(connection, _names("eth", settings), now)


def choose_token(connection: Connection, settings: Settings, now: datetime) -> None:
    """Chooses the token price to serve from now on."""
    with publish_lock(settings.data_dir):
        choose_token_price(connection, settings.token_address, _names("token", settings), now)


def fresh_eth(connection: Connection, settings: Settings, now: datetime) -> Decimal | None:
    """Returns the ETH/USD price of the first source with a sound one now, or None."""
    return fresh_eth_price(connection, _names("eth", settings), now)


def _names(market: Market, settings: Settings) -> list[str]:
    return [source.name for source in configured_sources(market, settings)]
