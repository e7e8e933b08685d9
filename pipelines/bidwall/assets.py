"""The watched contract as assets: its balance over time, its newest transfers, and the served rows."""

import asyncio
from datetime import UTC, datetime, timedelta

import dagster as dg

from pipelines.bidwall.source import read_balance
from pipelines.presentation import is_quick, line_chart, markdown_table, row_count, table_asset
from pipelines.resources import Runtime
from warehouse.bidwall.contract_balance import BalanceReading, record_balance, record_bidwall_status, replace_events
from warehouse.duck.inspection import preview
from warehouse.token.chain_head import SeenHead, read_head

GROUP = "contract_balance"
FRESHNESS = dg.FreshnessPolicy.time_window(fail_window=timedelta(minutes=30), warn_window=timedelta(minutes=15))
OFF = {"off": "SVC_BIDWALL_ADDRESS or SVC_TOKEN_ADDRESS is not set"}


def watched(runtime: Runtime) -> str | None:
    """Returns the contract, or None without a token, since the warehouse belongs to a token's chain."""
    return runtime.settings.bidwall_address if runtime.settings.token_address else None


@table_asset(
    GROUP,
    "Native balance of the watched contract in wei (BIGNUM, exact over uint256), each at a named block: the final "
    "one, or the newest if no node has older state.",
    deps=["raw_chain__ranges"],
    kinds=("evm",),
    freshness=FRESHNESS,
    capability="contract_balance",
)
def raw_bidwall__balances(
    context: dg.AssetExecutionContext, runtime: dg.ResourceParam[Runtime]
) -> dg.MaterializeResult[None]:
    """Reads the balance at finality; a failure is a row, not an error."""
    contract = watched(runtime)
    reading = None
    with runtime.warehouse.connect() as connection:
        head = read_head(connection)
        if contract and head:
            reading = asyncio.run(_read(runtime, contract, head))
            record_balance(connection, contract, reading)
        metadata = row_count(connection, "raw_bidwall__balances")
        history = preview(connection, "bidwall_balance_history").rows()
    if contract is None:
        return dg.MaterializeResult(metadata=metadata | OFF)
    if reading is not None and reading.block is not None:
        metadata |= {
            "block": reading.block,
            "balance_wei": str(reading.balance_wei),
            "final": bool(reading.is_final),
        }
    elif reading is not None:
        metadata["failed"] = str(reading.reason)
    if not is_quick(context):
        metadata |= line_chart("balance_over_time", "Balance of the contract", history, "ETH")
    return dg.MaterializeResult(metadata=metadata)


@table_asset(
    GROUP,
    "The newest 40 transfers of each token from or to the watched contract, including pending ones above finality.",
    deps=["raw_chain__contract_transfers", "raw_chain__contract_tip_transfers"],
)
def out_bidwall__events(runtime: dg.ResourceParam[Runtime]) -> dg.MaterializeResult[None]:
    """Rebuilds the newest transfers from the stored ones."""
    contract = watched(runtime)
    with runtime.warehouse.connect() as connection:
        replace_events(connection, contract)
        metadata = row_count(connection, "out_bidwall__events")
        newest = preview(connection, "bidwall_newest_events")
    return dg.MaterializeResult(metadata=metadata | ({"newest": markdown_table(newest)} if contract else OFF))


@table_asset(
    GROUP,
    "The watched contract, its newest balance in wei, its trigger, and the block up to which its transfers are stored.",
    deps=["raw_bidwall__balances", "raw_chain__contract_ranges", "out_bidwall__events"],
)
def out_bidwall__status(runtime: dg.ResourceParam[Runtime]) -> dg.MaterializeResult[None]:
    """Records the served balance, and the block up to which events are read."""
    settings = runtime.settings
    contract = watched(runtime)
    with runtime.warehouse.connect() as connection:
        head = read_head(connection)
        record_bidwall_status(
            connection,
            chain_id=settings.chain_id,
            contract=contract,
            service_token=settings.token_address,
            usdc=settings.usdc_address,
            trigger_wei=settings.bidwall_trigger_wei,
            finalized_block=None if head is None else head.finalized_block,
            now=datetime.now(UTC),
        )
        metadata = row_count(connection, "out_bidwall__status")
        status = preview(connection, "bidwall_status")
    return dg.MaterializeResult(metadata=metadata | {"preview": markdown_table(status)})


async def _read(runtime: Runtime, contract: str, head: SeenHead) -> BalanceReading:
    async with runtime.rpc_pool() as pool:
        return await read_balance(pool, contract, head)
