"""Writes the rows of the partner and the marketplace before they are queried."""

from datetime import datetime

from contracts.partner import host_of
from contracts.settings import Settings
from warehouse.duck.connection import Connection
from warehouse.partner.snapshots import serve_figures, serve_partner


def starting_rows(connection: Connection, settings: Settings, now: datetime) -> None:
    """Serves the newest answers of the configured services, or records that they were not queried yet."""
    partner, marketplace = settings.partner_url, settings.marketplace_url
    serve_partner(connection, partner and host_of(partner))
    serve_figures(connection, marketplace and host_of(marketplace), settings.marketplace_agent_id)
