"""Holders as assets: balances folded from transfers, the list with its proof, and the counts of other sources."""

import asyncio
from datetime import UTC, datetime

import dagster as dg

from contracts.access.eth_accounts import eth_account
from contracts.token.holder_documents import Token
from contracts.token.holders import due_snapshot
from contracts.token.proof import Verdict
from pipelines.clients.http_json import Feeds
from pipelines.presentation import POOL, line_chart, markdown_table, proof_markdown, row_count, table_asset
from pipelines.resources import Runtime
from pipelines.token.blockscout import HolderCounts, fetch_blockscout
from pipelines.token.holder_lists import take_list
from warehouse.duck.connection import Connection
from warehouse.duck.fetch_log import Attempt, record_attempt
from warehouse.duck.inspection import preview
from warehouse.token.chain_head import read_head
from warehouse.token.disputes import count_open_disputes
from warehouse.token.fold import fold_balances
from warehouse.token.holder_lists import HolderList, latest_snapshot_taken_at, prune_lists, recorded_list
from warehouse.token.holder_status import known_token, record_source, record_status
from warehouse.token.holders import read_state

GROUP = "holders"


class ListConfig(dg.Config):
    """Options of a list.

    `snapshot`: persist it as a snapshot on demand, in addition to the hourly and daily ones.
    """

    snapshot: bool = False


@table_asset(
    GROUP,
    "Balance of every address that ever sent or received the token, in its smallest unit (BIGNUM, exact over "
    "uint256), folded up to the last range.",
    deps=["raw_chain__transfers"],
)
def core_holders__balances(runtime: dg.ResourceParam[Runtime]) -> dg.MaterializeResult[None]:
    """Folds the transfers after the last fold into the balances."""
    with runtime.warehouse.connect() as connection:
        folded = fold_balances(connection)
        metadata = row_count(connection, "core_holders__balances")
    if folded is not None:
        metadata |= {
            "block": folded.state.block,
            "new_transfers": folded.new_transfers,
            "touched_addresses": folded.touched,
        }
    return dg.MaterializeResult(metadata=metadata)


@table_asset(
    GROUP,
    "Holder counts from a Blockscout instance, including failed answers with their reason. Off without "
    "SVC_BLOCKSCOUT_URL.",
    kinds=("rest",),
)
def raw_blockscout__holder_counts(runtime: dg.ResourceParam[Runtime]) -> dg.MaterializeResult[None]:
    """Queries Blockscout if it is configured; its failure is a row, not an error."""
    settings = runtime.settings
    if not settings.blockscout_url or not settings.token_address:
        return dg.MaterializeResult(metadata={"off": "SVC_BLOCKSCOUT_URL is not set"})
    counts, attempt = asyncio.run(_ask_blockscout(settings.blockscout_url, settings.token_address))
    with runtime.warehouse.connect() as connection:
        record_source(
            connection,
            counts.source,
            counters_holders=counts.counters_holders,
            token_holders=counts.token_holders,
            reason=counts.reason,
            fetched_at=attempt.asked_at,
        )
        record_attempt(connection, attempt)
        metadata = row_count(connection, "raw_blockscout__holder_counts")
    return dg.MaterializeResult(metadata=metadata)


@table_asset(
    GROUP,
    "The latest holder count of each other source, for comparison with ours.",
    deps=["raw_blockscout__holder_counts"],
)
def out_holders__sources(runtime: dg.ResourceParam[Runtime]) -> dg.MaterializeResult[None]:
    """Shows the counts of other sources; recording an answer maintains this table."""
    with runtime.warehouse.connect() as connection:
        metadata = row_count(connection, "out_holders__sources")
        latest = preview(connection, "holder_sources")
    return dg.MaterializeResult(metadata=metadata | {"preview": markdown_table(latest)})


@table_asset(
    GROUP,
    "The token as its contract names itself, and how far the chain is read.",
    deps=["raw_chain__transfers", "core_holders__balances"],
)
def out_holders__status(runtime: dg.ResourceParam[Runtime]) -> dg.MaterializeResult[None]:
    """Records the token, and how far balances are folded towards the finalized block."""
    settings = runtime.settings
    with runtime.warehouse.connect() as connection:
        head = read_head(connection)
        token = known_token(connection)
        if settings.token_address and (token is None or token.decimals is None):
            token = asyncio.run(_read_token(runtime, settings.token_address))
        record_status(
            connection,
            chain_id=settings.chain_id,
            token=token,
            start_block=settings.token_start_block,
            finalized_block=None if head is None else head.finalized_block,
            now=datetime.now(UTC),
        )
        metadata = row_count(connection, "out_holders__status")
        status = preview(connection, "holder_status")
    return dg.MaterializeResult(metadata=metadata | {"preview": markdown_table(status)})


@table_asset(
    GROUP,
    "Holder lists: every holder at one finalized block, as Parquet and CSV, with the proof that its sum is "
    "minted - burned = totalSupply() there. Persisted as a snapshot when one is due or requested.",
    deps=["core_holders__balances", "out_holders__status"],
    kinds=("parquet",),
)
def out_holders__lists(runtime: dg.ResourceParam[Runtime], config: ListConfig) -> dg.MaterializeResult[None]:
    """Takes and proves the list at the block of the last fold, once the chain is read up to finality."""
    now = datetime.now(UTC)
    with runtime.warehouse.connect() as connection:
        holder_list = asyncio.run(_take(connection, runtime, now, on_demand=config.snapshot))
        pruned = prune_lists(connection, runtime.data_dir, now)
        metadata = row_count(connection, "out_holders__lists")
        counts = preview(connection, "snapshot_counts")
    metadata["pruned_lists"] = len(pruned)
    if holder_list is not None:
        metadata |= {
            "block": holder_list.block,
            "holders": holder_list.holders,
            "snapshot": holder_list.snapshot,
            "proof": proof_markdown(holder_list.proof),
            "verdict": holder_list.proof.verdict.value,
            **({} if holder_list.proof.reason is None else {"reason": holder_list.proof.reason}),
        }
        if holder_list.snapshot:
            metadata |= line_chart("holders_over_snapshots", "Holders over snapshots", counts.rows(), "holders")
    return dg.MaterializeResult(metadata=metadata)


@table_asset(
    GROUP,
    "Facts about which the RPC nodes gave different answers: open ones, which make the holder list disputed, and "
    "settled ones with what settled them.",
    deps=["raw_chain__transfers", "raw_chain__contract_transfers", "raw_chain__attestations", "out_holders__lists"],
)
def out_chain__disputes(runtime: dg.ResourceParam[Runtime]) -> dg.MaterializeResult[None]:
    """Shows the disputes; reading ranges and proving lists maintain this table."""
    with runtime.warehouse.connect() as connection:
        metadata = row_count(connection, "out_chain__disputes")
        metadata["open_disputes"] = count_open_disputes(connection)
        newest = preview(connection, "newest_disputes")
    return dg.MaterializeResult(metadata=metadata | {"preview": markdown_table(newest)})


@dg.asset_check(
    asset=dg.AssetKey(["document", "api", "token", "holders"]),
    pool=POOL,
    description="Nothing contradicts the newest list: its sum is the chain's, and the nodes agree. A token that breaks "
    "the rule is flagged. A list without enough answers for a proof passes, with the verdict unproven.",
)
def proof(runtime: dg.ResourceParam[Runtime]) -> dg.AssetCheckResult:
    """Never blocks publishing: a list is published with its verdict."""
    with runtime.warehouse.connect() as connection:
        state = read_state(connection)
        newest = recorded_list(connection, state.block) if state else None
    if newest is None:
        return dg.AssetCheckResult(passed=True, metadata={"list": "none yet"})
    return dg.AssetCheckResult(
        passed=newest.proof.verdict in (Verdict.PROVEN, Verdict.UNPROVEN),
        severity=dg.AssetCheckSeverity.WARN,
        metadata={
            "proof": proof_markdown(newest.proof),
            "block": newest.block,
            "list": dg.MetadataValue.asset(dg.AssetKey("out_holders__lists")),
        },
    )


async def _ask_blockscout(base_url: str, token_address: str) -> tuple[HolderCounts, Attempt]:
    async with Feeds() as feeds:
        return await fetch_blockscout(feeds, base_url, token_address)


async def _read_token(runtime: Runtime, address: str) -> Token:
    eth_account()  # before web3 imports it, which would take twice as long and raise the recursion limit
    from pipelines.token.token_calls import read_token  # importing web3 takes a second, and a token is read only once

    async with runtime.rpc_pool() as pool:
        return await read_token(pool, address)


async def _take(connection: Connection, runtime: Runtime, now: datetime, *, on_demand: bool) -> HolderList | None:
    head, state, token = read_head(connection), read_state(connection), known_token(connection)
    if head is None or state is None or token is None or state.block < head.finalized_block:
        return None
    due = due_snapshot(latest_snapshot_taken_at(connection), now)
    async with runtime.rpc_pool() as pool:
        return await take_list(
            connection,
            pool,
            runtime.data_dir,
            token=token,
            level=head.level,
            snapshot_reason="demand" if on_demand else due,
            now=now,
        )
