"""Publishing what the warehouse holds, without reading the chain: the first generation, and one for another address."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime

from contracts.partner import host_of
from contracts.settings import Settings
from contracts.token.holder_documents import Token
from pipelines.failure import mark_stale_for
from pipelines.publish.generation import PublishReport, publish
from warehouse.bidwall.contract_balance import is_bidwall_recorded, record_bidwall_status
from warehouse.duck.connection import Connection, Warehouse, run_lock
from warehouse.ledger.ledger import open_ledger
from warehouse.market.prices import are_prices_served
from warehouse.partner.snapshots import serve_figures, serve_partner
from warehouse.publish.generations import current_generation
from warehouse.publish.readers import document_context
from warehouse.token.holder_status import is_status_recorded, record_status
from warehouse.trust.attestations import is_trust_recorded, record_trust_status
from warehouse.world.fold import fold_events
from warehouse.world.load import load_constitution

LOCK_WAIT_S = 600.0


def publish_held(settings: Settings) -> PublishReport:
    """Publish for the settings' BASE_URL, after a run that goes on. A stale mark stays: only a good run takes it away.

    Before anything is read, the documents say `backfilling`, or `not_configured` where no token is, and those of other
    services `not_asked_yet`; the graph holds its constitution and what the ledger has accepted.
    """
    with (
        run_lock(settings.data_dir, wait_s=LOCK_WAIT_S),
        Warehouse(settings.data_dir).connect() as connection,
    ):
        if settings.token_address:
            _record_start(connection, settings, settings.token_address)
        _serve_start(connection, settings)
        with closing(open_ledger(settings, settings.data_dir)) as ledger:
            load_constitution(ledger)
            fold_events(connection, ledger)
        last = current_generation(settings.data_dir)
        report = publish(document_context(connection, settings), settings)
        reasons = [entry.stale_reason for entry in last.manifest.documents.values()] if last else []
        if reason := next(filter(None, reasons), None):
            report = replace(report, generation=mark_stale_for(settings, reason).generation)
    return report


def _record_start(connection: Connection, settings: Settings, token_address: str) -> None:
    """Say of each part that is configured and of which no run has said anything that it is to be read."""
    now = datetime.now(UTC)
    if not is_status_recorded(connection):
        record_status(
            connection,
            chain_id=settings.chain_id,
            token=Token(address=token_address, name=None, symbol=None, decimals=None),
            start_block=settings.token_start_block,
            finalized_block=None,
            now=now,
        )
    if settings.bidwall_address and not is_bidwall_recorded(connection):
        record_bidwall_status(
            connection,
            chain_id=settings.chain_id,
            contract=settings.bidwall_address,
            service_token=token_address,
            trigger_wei=settings.bidwall_trigger_wei,
            finalized_block=None,
            now=now,
        )
    if settings.trust_registry_address and not is_trust_recorded(connection):
        record_trust_status(
            connection,
            chain_id=settings.chain_id,
            registry=settings.trust_registry_address,
            escrow=settings.escrow_address,
            head=None,
            reason=None,
            now=now,
        )


def _serve_start(connection: Connection, settings: Settings) -> None:
    """Say of each service that is configured and was never asked that it was not asked yet."""
    sources = (
        settings.chainlink_feed_address,
        settings.coinbase_url,
        settings.dexscreener_url,
        settings.geckoterminal_url,
    )
    if any((*sources, settings.pool_address)) and not are_prices_served(connection):
        # Only the first start pays for these imports.
        from pipelines.market.observe import choose_eth, choose_token

        now = datetime.now(UTC)
        choose_eth(connection, settings, now)
        choose_token(connection, settings, now)
    partner, marketplace = settings.partner_url, settings.marketplace_url
    serve_partner(connection, partner and host_of(partner))
    serve_figures(connection, marketplace and host_of(marketplace), settings.marketplace_agent_id)
