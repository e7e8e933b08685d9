"""Publishes the warehouse without reading the chain: the first generation, or one for another address."""

from dataclasses import replace
from datetime import UTC, datetime

from contracts.settings import Settings
from pipelines.bidwall import starting as bidwall
from pipelines.market import starting as market
from pipelines.partner import starting as partner
from pipelines.publish.generation import PublishReport, publish
from pipelines.token import starting as token
from pipelines.trust import starting as trust
from pipelines.world import starting as world
from warehouse.duck.connection import Warehouse, run_lock
from warehouse.publish.generations import current_generation
from warehouse.publish.readers import context_for
from warehouse.publish.served_address import served_address

LOCK_WAIT_S = 600.0
ROOMS = (token, bidwall, trust, market, partner, world)
"""The rooms whose documents need rows before the first run."""


def publish_initial(settings: Settings) -> PublishReport:
    """Publishes for the settings' BASE_URL, after any run in progress. A stale mark stays until a good run removes it.

    Before anything is read, the documents' reason is `backfilling`, or `not_configured` without a token, and that of
    documents from other services `not_asked_yet`; the graph contains its constitution and the ledger's events.
    """
    with (
        run_lock(settings.data_dir, wait_s=LOCK_WAIT_S),
        Warehouse(settings.data_dir).connect() as connection,
    ):
        for room in ROOMS:
            room.starting_rows(connection, settings, datetime.now(UTC))
        last = current_generation(settings.data_dir)
        report = publish(context_for(connection, settings), settings)
        reasons = [entry.stale_reason for entry in last.manifest.documents.values()] if last else []
        if reason := next(filter(None, reasons), None):
            from pipelines.failure import mark_stale_for  # imports Dagster, which takes a second

            report = replace(report, generation=mark_stale_for(settings, reason).generation)
    return report


def publish_again(settings: Settings) -> None:
    """Publishes for the served address, or if nothing is served, for that of the last generation. Does nothing before
    the first generation."""
    current = current_generation(settings.data_dir)
    if current is not None:
        address = served_address(settings.data_dir) or current.manifest.base_url
        publish_initial(settings.model_copy(update={"base_url": address}))
