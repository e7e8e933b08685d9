"""Checks issued claims against the chain on a schedule, as the API does between requests. Either of them suffices."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from datetime import UTC, datetime

from contracts.access.provider_views import Silence, ask_about
from contracts.access.rail import rail_of
from contracts.access.watching import Sighting
from contracts.errors import ChainMismatch, RpcUnavailable
from contracts.evm.codec import RpcError
from contracts.settings import Settings
from pipelines.clients.rpc import Endpoint, RpcPool
from warehouse.access.watch import Outcome, Watched, apply_sightings, payments_to_watch
from warehouse.ledger.ledger import Ledger, open_ledger

TIMEOUT_S = 5.0


def claims_due(settings: Settings, now: datetime) -> str | None:
    """Returns why claims must be checked, or None if payments are not set up or every claim is final."""
    rail = rail_of(settings)
    if rail.missing:
        return None
    with closing(open_ledger(settings, settings.data_dir)) as ledger:
        return "a claim is not final" if payments_to_watch(ledger, rail) else None


def watch_claims(settings: Settings, *, timeout_s: float = TIMEOUT_S) -> Counter[Outcome]:
    """Checks every payment that is not final once, and counts the outcomes. Raises `StoreBusy` or `StoreUnusable`."""
    rail = rail_of(settings)
    if rail.missing:
        return Counter()
    with closing(open_ledger(settings, settings.data_dir)) as ledger:
        watched = payments_to_watch(ledger, rail)
        return asyncio.run(_watch(settings, ledger, watched, timeout_s)) if watched else Counter()


async def _watch(settings: Settings, ledger: Ledger, watched: Sequence[Watched], timeout_s: float) -> Counter[Outcome]:
    outcomes: Counter[Outcome] = Counter()
    async with RpcPool(settings.rpc_urls, chain_id=settings.chain_id, timeout_s=timeout_s) as pool:
        for claim in watched:
            sightings = await asyncio.gather(*(_sighting_or_silence(endpoint, claim) for endpoint in pool.endpoints))
            outcomes[apply_sightings(ledger, claim, sightings, now=datetime.now(UTC))] += 1
    return outcomes


async def _sighting_or_silence(endpoint: Endpoint, watched: Watched) -> Sighting | Silence:
    try:
        payment = watched.payment
        return Sighting(*await ask_about(endpoint.host, payment.transaction_hash, endpoint.batch, payment.block_number))
    except (RpcError, RpcUnavailable, ChainMismatch, ValueError) as error:
        return Silence(endpoint.host, type(error).__name__)
