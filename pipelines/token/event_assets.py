"""Events of configured contracts as assets: transfers of the watched contract, attestations, reserves of the pool."""

import asyncio
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import partial

import dagster as dg

from contracts.market import Refusal
from contracts.pools import DECIMALS, PROBES, PoolKind, PoolTerms, currency_of, read_decimals, read_pool
from contracts.settings import Settings
from pipelines.clients.rpc import RpcPool
from pipelines.presentation import POOL, row_count, table_spec
from pipelines.progress import show_progress
from pipelines.resources import Runtime
from pipelines.token.contract_balances import compare_contract_balances
from pipelines.token.engine import IngestReport, ingest
from pipelines.token.events import Events
from pipelines.token.sparse_events import Attestations, ContractTransfers, PoolReserves
from pipelines.token.transfer_assets import GROUP, evm_chain
from warehouse.duck.connection import Connection
from warehouse.token.pool import needs_pool_events, record_pool, recorded_kind
from warehouse.token.transfers import (
    ATTESTATIONS,
    CONTRACT_TRANSFERS,
    POOL_RESERVES,
    EventTables,
    forget_unless_of,
)

_BUDGET_S = 30.0

_ROWS = {
    "raw_chain__contract_transfers": (
        "ERC-20 Transfer events of any token from or to the watched contract, at or below finality."
    ),
    "raw_chain__contract_ranges": (
        "The checkpoints of the watched contract's transfers: contiguous block ranges, each committed with its rows."
    ),
    "raw_chain__contract_tip_transfers": (
        "Transfers of the watched contract above finality, which may still change and are rolled back on a reorg."
    ),
    "raw_chain__attestations": "Attestations of the trust registry at or below finality.",
    "raw_chain__attestation_ranges": (
        "The checkpoints of the attestations: contiguous block ranges, each committed with its rows."
    ),
    "raw_chain__pool_reserves": (
        "Reserves of the token's pool by its Sync or Swap events, at or below finality: prices before the first "
        "observed one are computed from them; later ones are not read."
    ),
    "raw_chain__pool_ranges": (
        "The checkpoints of the pool's events: contiguous block ranges, each committed with its rows."
    ),
}


def _specs(tables: EventTables) -> list[dg.AssetSpec]:
    # The token's ranges come first: reading them stamps the warehouse with this chain.
    return [
        table_spec(name, GROUP, _ROWS[name], deps=[evm_chain, "raw_chain__ranges"], kinds=("evm",))
        for name in tables.names
        if name in _ROWS
    ]


@dg.multi_asset(name="ingest_contract_transfers", specs=_specs(CONTRACT_TRANSFERS), pool=POOL)
def ingest_contract_transfers(runtime: dg.ResourceParam[Runtime]) -> Iterator[dg.MaterializeResult[None]]:
    """Reads from the last checkpoint towards finality, and the tip once caught up. Off without a watched contract."""
    address = runtime.settings.bidwall_address
    yield from _ingested(runtime, CONTRACT_TRANSFERS, address, ContractTransfers, _not_set("SVC_BIDWALL_ADDRESS"))
    if address and runtime.settings.token_address:
        with runtime.warehouse.connect() as connection:
            asyncio.run(_compare_balances(connection, runtime, address))


@dg.multi_asset(name="ingest_attestations", specs=_specs(ATTESTATIONS), pool=POOL)
def ingest_attestations(runtime: dg.ResourceParam[Runtime]) -> Iterator[dg.MaterializeResult[None]]:
    """Reads from the last checkpoint towards finality. Off without a registry."""
    address = runtime.settings.trust_registry_address
    yield from _ingested(runtime, ATTESTATIONS, address, Attestations, _not_set("SVC_TRUST_REGISTRY_ADDRESS"))


@dg.multi_asset(
    name="ingest_pool_reserves",
    specs=[
        *_specs(POOL_RESERVES),
        table_spec(
            "raw_chain__pool",
            GROUP,
            "The token's pool as its contract describes it: its tokens, and the terms that its price depends on.",
            deps=[evm_chain, "raw_chain__ranges"],
            kinds=("evm",),
        ),
    ],
    pool=POOL,
)
def ingest_pool_reserves(runtime: dg.ResourceParam[Runtime]) -> Iterator[dg.MaterializeResult[None]]:
    """Reads from the last checkpoint up to the token's first observed price. Off without a pool."""
    settings = runtime.settings
    pool, token, off = settings.pool_address, settings.token_address, _not_set("SVC_POOL_ADDRESS")
    events_of = None
    if pool and token:
        with runtime.warehouse.connect() as connection:
            kind = asyncio.run(_read_pool(connection, runtime, pool, token))
            if kind is None:
                off = "this pool gives no price: raw_chain__pool has the reason"
            elif not needs_pool_events(connection, token):
                off = "read up to the first observed price"
            else:
                events_of = partial(PoolReserves, kind=kind)
    yield from _ingested(runtime, POOL_RESERVES, pool, events_of, off)
    with runtime.warehouse.connect() as connection:
        yield dg.MaterializeResult(asset_key="raw_chain__pool", metadata=row_count(connection, "raw_chain__pool"))


def _ingested(
    runtime: Runtime, tables: EventTables, address: str | None, events_of: Callable[[str], Events] | None, off: str
) -> Iterator[dg.MaterializeResult[None]]:
    report = None
    with runtime.warehouse.connect() as connection:
        if address and events_of and runtime.settings.token_address:
            forget_unless_of(connection, tables, address, runtime.settings.token_start_block)
            report = asyncio.run(_slice(connection, runtime, events_of(address)))
        counts = {name: row_count(connection, name) for name in tables.names if name in _ROWS}
    for name, metadata in counts.items():
        if report is None:
            metadata["off"] = off
        elif name == tables.rows:
            metadata |= {
                "from_block": report.from_block,
                "to_block": report.to_block,
                "finalized_block": report.finalized_block,
                "new_events": report.log_count,
                "complete": report.complete,
                "tip_blocks": report.tip_block_count,
                "rolled_back_blocks": report.tip_rolled_back,
                "rpc_requests": report.requests,
                "elapsed_s": round(report.elapsed_s, 2),
            }
        yield dg.MaterializeResult(asset_key=name, metadata=metadata)


def _not_set(setting: str) -> str:
    return f"{setting} or SVC_TOKEN_ADDRESS is not set"


async def _slice(connection: Connection, runtime: Runtime, events: Events) -> IngestReport:
    settings = runtime.settings
    async with runtime.rpc_pool() as pool:
        with show_progress() as listener:
            return await ingest(
                pool,
                connection,
                events,
                start_block=settings.token_start_block,
                confirmations=settings.confirmations,
                budget_s=_BUDGET_S,
                progress=listener,
            )


async def _compare_balances(connection: Connection, runtime: Runtime, contract: str) -> None:
    settings = runtime.settings
    assert settings.token_address
    async with runtime.rpc_pool() as pool:
        await compare_contract_balances(
            pool,
            connection,
            contract,
            settings.token_address,
            [settings.usdc_address] if settings.usdc_address else [],
            start_block=settings.token_start_block,
            now=datetime.now(UTC),
        )


async def _read_pool(connection: Connection, runtime: Runtime, pool: str, token: str) -> PoolKind | None:
    """Reads the terms of the pool unless they are recorded, and returns its kind, or None if it gives no price."""
    kind = recorded_kind(connection, pool, token)
    if kind is not None:
        return kind
    async with runtime.rpc_pool() as rpc:
        terms = await pool_terms(rpc, runtime.settings, pool, token)
    record_pool(connection, pool, token, terms, datetime.now(UTC))
    return None if isinstance(terms, Refusal) else terms.kind


async def pool_terms(rpc: RpcPool, settings: Settings, pool: str, token: str) -> PoolTerms | Refusal:
    """Queries the pool and both of its tokens for the terms that its price depends on."""
    answers = await rpc.batch([_call(pool, data) for data in PROBES])
    known = read_pool(dict(zip(PROBES, answers, strict=True)), token)
    if isinstance(known, Refusal):
        return known
    kind, pair = known
    currency = currency_of(pair, chain_id=settings.chain_id, usdc=settings.usdc_address)
    if isinstance(currency, Refusal):
        return currency
    ours, other = await rpc.batch([_call(token, DECIMALS), _call(pair.other, DECIMALS)])
    decimals = read_decimals(ours, other)
    return decimals if isinstance(decimals, Refusal) else PoolTerms(kind, pair, decimals, currency)


def _call(address: str, data: str) -> tuple[str, list[object]]:
    return "eth_call", [{"to": address, "data": data}, "latest"]
