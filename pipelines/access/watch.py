"""Checks issued claims against the chain on a clock, as the API does between requests. Either one suffices."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from datetime import UTC, datetime
from typing import Any

from contracts.access.provider_views import Silence, View, read_block, read_receipt
from contracts.access.rail import rail_of
from contracts.access.watching import Sighting
from contracts.errors import ChainMismatch, RpcUnavailable
from contracts.evm.codec import RpcError, quantity
from contracts.settings import Settings
from pipelines.clients.rpc import Endpoint, RpcPool
from warehouse.access.watch import Outcome, Watched, apply_sightings, payments_to_watch
from warehouse.ledger.ledger import Ledger, open_ledger

TIMEOUT_S = 5.0


def claims_due(settings: Settings, now: datetime) -> str | None:
    """Returns why claims must be watched, or None where payments are not set up or every claim is final."""
    rail = rail_of(settings)
    if rail.missing:
        return None
    with closing(open_ledger(settings, settings.data_dir)) as ledger:
        return "a claim is not final" if payments_to_watch(ledger, rail) else None


def watch_claims(settings: Settings) -> Counter[Outcome]:
    """Checks every payment that is not final once, and counts the outcomes. Raises `StoreBusy` or `StoreUnusable`."""
    rail = rail_of(settings)
    if rail.missing:
        return Counter()
    with closing(open_ledger(settings, settings.data_dir)) as ledger:
        watched = payments_to_watch(ledger, rail)
        return asyncio.run(_watch(settings, ledger, watched)) if watched else Counter()


async def _watch(settings: Settings, ledger: Ledger, watched: Sequence[Watched]) -> Counter[Outcome]:
    outcomes: Counter[Outcome] = Counter()
    async with RpcPool(settings.rpc_urls, chain_id=settings.chain_id, timeout_s=TIMEOUT_S) as pool:
        for claim in watched:
            sightings = await asyncio.gather(*(_sighting_or_silence(endpoint, claim) for endpoint in pool.endpoints))
            outcomes[apply_sightings(ledger, claim, sightings, now=datetime.now(UTC))] += 1
    return outcomes


async def _sighting_or_silence(endpoint: Endpoint, watched: Watched) -> Sighting | Silence:
    try:
        return await _sighting(endpoint, watched)
    except (RpcError, RpcUnavailable, ChainMismatch, ValueError, TypeError) as error:
        return Silence(endpoint.host, type(error).__name__)


async def _sighting(endpoint: Endpoint, watched: Watched) -> Sighting:
    payment = watched.payment
    answers = await endpoint.batch(
        [
            ("eth_chainId", []),
            ("eth_getTransactionReceipt", [payment.transaction_hash]),
            *(("eth_getBlockByNumber", [which, False]) for which in (hex(payment.block_number), "latest")),
            *(("eth_getBlockByNumber", [tag, False]) for tag in ("safe", "finalized")),
        ]
    )
    chain_id, raw_receipt, raw_block, head = (_result(answer) for answer in answers[:4])
    safe, finalized = (None if isinstance(answer, RpcError) else read_block(answer) for answer in answers[4:])
    receipt = read_receipt(raw_receipt, payment.transaction_hash)
    block = None
    if receipt is not None:
        block = read_block(await endpoint.call("eth_getBlockByNumber", [hex(receipt.block_number), False]))
    view = View(
        endpoint.host,
        quantity(chain_id),
        receipt,
        block,
        read_block(head),
        None if safe is None else safe.number,
        None if finalized is None else finalized.number,
    )
    return Sighting(view, read_block(raw_block))


def _result(answer: Any) -> Any:
    if isinstance(answer, RpcError):
        raise answer
    return answer
