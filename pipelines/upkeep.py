"""When a run is due, and what becomes of old ones. Nothing here reads or writes the warehouse's rows."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import dagster as dg

from contracts.holders import due_snapshot
from contracts.settings import Settings
from pipelines.rpc import RpcPool
from pipelines.transfers.head import ChainHead, probe
from warehouse.chain_head import read_head
from warehouse.duck import Warehouse
from warehouse.generations import current_generation
from warehouse.holder_lists import latest_snapshot_taken_at
from warehouse.holders import read_state

RUNS_KEPT_FOR = timedelta(days=7)
RUNS_DELETED_AT_ONCE = 500


async def look_at_chain(settings: Settings) -> ChainHead:
    """Where the chain stands now, in one batch per node."""
    async with RpcPool(settings.rpc_urls, chain_id=settings.chain_id) as pool:
        return await probe(pool, confirmations=settings.confirmations)


def why_run(settings: Settings, head: ChainHead | None, now: datetime) -> str | None:
    """Why a run would change something, in a few words; None where it would not. Raises `RunBusy` while one goes on.

    `head` is where the chain stands now, None where no token is configured.
    """
    generation = current_generation(settings.data_dir)
    if generation is None or generation.manifest.base_url != settings.public_base_url:
        return "nothing is published for this address"
    if any(document.stale_reason for document in generation.manifest.documents.values()):
        return "what is published is marked stale"
    if head is None:
        return None
    with Warehouse(settings.data_dir).read_only() as connection:
        if connection is None:
            return "nothing is read yet"
        seen, state = read_head(connection), read_state(connection)
        if seen is None or state is None or state.block < head.finalized.number:
            return "there are new final blocks"
        if (seen.head_hash, seen.finalized_hash) != (head.head.hash, head.finalized.hash):
            return "the tip has moved"
        due = due_snapshot(latest_snapshot_taken_at(connection), now)
    return f"the {due} snapshot is due" if due else None


def delete_old_runs(instance: dg.DagsterInstance, now: datetime) -> int:
    """Delete the records of runs that ended more than `RUNS_KEPT_FOR` ago. Returns how many there were."""
    ended = [dg.DagsterRunStatus.SUCCESS, dg.DagsterRunStatus.FAILURE, dg.DagsterRunStatus.CANCELED]
    old = instance.get_run_records(
        dg.RunsFilter(statuses=ended, updated_before=now.astimezone(UTC) - RUNS_KEPT_FOR), limit=RUNS_DELETED_AT_ONCE
    )
    for record in old:
        instance.delete_run(record.dagster_run.run_id)
    return len(old)
