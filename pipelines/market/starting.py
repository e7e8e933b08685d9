"""Writes the rows of prices before the first poll."""

from datetime import datetime

from contracts.settings import Settings
from pipelines.market.choose import choose_eth, choose_token
from warehouse.duck.connection import Connection
from warehouse.market.prices import are_prices_served


def starting_rows(connection: Connection, settings: Settings, now: datetime) -> None:
    """Records that the configured sources were not queried yet, unless a run has chosen a price."""
    if not are_prices_served(connection):
        choose_eth(connection, settings, now)
        choose_token(connection, settings, now)
