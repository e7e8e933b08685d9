"""The chain as assets: transfers below finality with their ranges, and the tip above it."""

import asyncio
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime

import dagster as dg

from contracts.errors import StartBlockAhead
from pipelines.presentation import POOL, markdown_table, other_spec, row_count, table_spec
from pipelines.progress import show_progress
from pipelines.resources import Runtime
from pipelines.token.engine import IngestReport, ingest
from pipelines.token.events import TokenTransfers
from pipelines.token.head import probe
from pipelines.token.partition_following import Followed, follow_partitions
from warehouse.duck.connection import ChainIdentity, Connection, stamp
from warehouse.duck.inspection import preview
from warehouse.ledger.ledger import LedgerIdentity, open_ledger
from warehouse.token.chain_head import SeenHead, record_head

GROUP = "chain"

evm_chain = other_spec(
    "evm_chain", GROUP, "The EVM chain behind SVC_RPC_URLS: blocks, logs and contract state, by JSON-RPC.", "evm"
)


@dg.multi_asset(
    name="ingest_transfers",
    specs=[
        table_spec(
            "raw_chain__transfers",
            GROUP,
            "Transfer events of the token at or below finality.",
            deps=[evm_chain],
            kinds=("evm",),
        ),
        table_spec(
            "raw_chain__ranges",
            GROUP,
            "The checkpoints: contiguous block ranges in the order of reading, each committed with its transfers.",
            deps=[evm_chain],
            kinds=("evm",),
        ),
        table_spec(
            "raw_chain__tip_transfers",
            GROUP,
            "Transfer events above finality, which may still change and are rolled back on a reorg.",
            deps=[evm_chain],
            kinds=("evm",),
        ),
    ],
    pool=POOL,
)
def ingest_transfers(runtime: dg.ResourceParam[Runtime]) -> Iterator[dg.MaterializeResult[None]]:
    """Reads one slice of the token's history: from the last checkpoint towards finality, and the tip once caught up."""
    settings = runtime.settings
    with runtime.warehouse.connect() as connection:
        followed, report = asyncio.run(_slice(connection, runtime)) if settings.token_address else (None, None)
        tables = {
            name: row_count(connection, name)
            for name in ("raw_chain__transfers", "raw_chain__ranges", "raw_chain__tip_transfers")
        }
        newest = preview(connection, "newest_ranges")
    if followed is not None and settings.partition_blocks is not None:
        tables["raw_chain__transfers"] |= {"new_partitions": followed.partitions, "from_partitions": followed.transfers}
        tables["raw_chain__ranges"] |= {} if followed.waiting is None else {"waiting_for": followed.waiting}
    for name, metadata in tables.items():
        if report is None:
            metadata |= {"off": "SVC_TOKEN_ADDRESS is not set"} if followed is None else {}
        elif name == "raw_chain__transfers":
            metadata |= {
                "from_block": report.from_block,
                "to_block": report.to_block,
                "finalized_block": report.finalized_block,
                "new_transfers": report.log_count,
                "complete": report.complete,
                "backfill_percent": report.percent,
                "rpc_requests": report.requests,
                "elapsed_s": round(report.elapsed_s, 2),
            }
        elif name == "raw_chain__ranges":
            metadata |= {
                "new_ranges": report.range_count,
                "reasked_ranges": report.reasked_count,
                "disagreements": report.disagreement_count,
                "newest_ranges": markdown_table(newest),
            }
        else:
            metadata |= {"tip_blocks": report.tip_block_count, "rolled_back_blocks": report.tip_rolled_back}
        yield dg.MaterializeResult(asset_key=name, metadata=metadata)


async def _slice(connection: Connection, runtime: Runtime) -> tuple[Followed, IngestReport | None]:
    """Imports finished partitions if workers read them, and continues reading here unless it must wait for one."""
    settings = runtime.settings
    assert settings.token_address
    async with runtime.rpc_pool() as pool:
        seen = await probe(pool, confirmations=settings.confirmations)
        if settings.token_start_block > seen.head.number:  # before the store is stamped with it
            raise StartBlockAhead(
                f"SVC_TOKEN_START_BLOCK is {settings.token_start_block}, and the chain's newest block is "
                f"{seen.head.number}: there is nothing to read.",
                cure="Set it to the block in which the token was deployed; on a new chain, wait for that block.",
            )
        identity = ChainIdentity(seen.chain_id, seen.genesis_hash, settings.token_address, settings.token_start_block)
        stamp(connection, identity)
        with closing(open_ledger(settings, runtime.data_dir)) as ledger:
            ledger.stamp(LedgerIdentity(identity.chain_id, identity.genesis_hash, identity.token_address))
        record_head(
            connection,
            SeenHead(seen.head.number, seen.head.hash, seen.finalized.number, seen.finalized.hash, seen.level),
            now=datetime.now(UTC),
        )
        followed = Followed()
        if settings.partition_blocks is not None:
            followed = await asyncio.to_thread(follow_partitions, connection, settings, seen.finalized.number)
            if followed.waiting is not None:
                return followed, None
        with show_progress() as listener:
            return followed, await ingest(
                pool,
                connection,
                TokenTransfers(settings.token_address),
                start_block=settings.token_start_block,
                confirmations=settings.confirmations,
                up_to=followed.read_to,
                progress=listener,
            )
