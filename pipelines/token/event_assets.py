"""Events of configured contracts as assets: transfers that touch the watched contract, attestations of the registry."""

import asyncio
from collections.abc import Callable, Iterator

import dagster as dg

from pipelines.presentation import POOL, row_count, table_spec
from pipelines.progress import show_progress
from pipelines.resources import Runtime
from pipelines.token.engine import IngestReport, ingest
from pipelines.token.events import Events
from pipelines.token.sparse_events import Attestations, ContractTransfers
from pipelines.token.transfer_assets import GROUP, evm_chain
from warehouse.duck.connection import Connection
from warehouse.token.transfers import ATTESTATIONS, CONTRACT_TRANSFERS, EventTables, forget_unless_of

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
}


def _specs(tables: EventTables) -> list[dg.AssetSpec]:
    # The token's ranges come first: with them the warehouse is marked as being of this chain.
    return [
        table_spec(name, GROUP, _ROWS[name], deps=[evm_chain, "raw_chain__ranges"], kinds=("evm",))
        for name in tables.names
        if name in _ROWS
    ]


@dg.multi_asset(name="ingest_contract_transfers", specs=_specs(CONTRACT_TRANSFERS), pool=POOL)
def ingest_contract_transfers(runtime: dg.ResourceParam[Runtime]) -> Iterator[dg.MaterializeResult[None]]:
    """Reads from the last checkpoint towards finality, and the tip once caught up. Off without a watched contract."""
    address = runtime.settings.bidwall_address
    yield from _ingested(runtime, CONTRACT_TRANSFERS, address, ContractTransfers, "SVC_BIDWALL_ADDRESS")


@dg.multi_asset(name="ingest_attestations", specs=_specs(ATTESTATIONS), pool=POOL)
def ingest_attestations(runtime: dg.ResourceParam[Runtime]) -> Iterator[dg.MaterializeResult[None]]:
    """Reads from the last checkpoint towards finality. Off without a registry."""
    address = runtime.settings.trust_registry_address
    yield from _ingested(runtime, ATTESTATIONS, address, Attestations, "SVC_TRUST_REGISTRY_ADDRESS")


def _ingested(
    runtime: Runtime, tables: EventTables, address: str | None, events_of: Callable[[str], Events], setting: str
) -> Iterator[dg.MaterializeResult[None]]:
    report = None
    with runtime.warehouse.connect() as connection:
        if address and runtime.settings.token_address:
            forget_unless_of(connection, tables, address, runtime.settings.token_start_block)
            report = asyncio.run(_slice(connection, runtime, events_of(address)))
        counts = {name: row_count(connection, name) for name in tables.names if name in _ROWS}
    for name, metadata in counts.items():
        if report is None:
            metadata["off"] = f"{setting} or SVC_TOKEN_ADDRESS is not set"
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
