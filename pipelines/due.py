"""Decides whether a run of the chain job is due, and why."""

import asyncio
from contextlib import closing
from datetime import datetime

from contracts.discovery.installation import installation_of
from contracts.discovery.service import SCHEMA_MEDIA_TYPE
from contracts.errors import OperatorProblem
from contracts.publish.registry import PROJECTIONS
from contracts.publish.rendering import rendered
from contracts.settings import Settings
from contracts.token.holders import due_snapshot
from pipelines.clients.rpc import RpcPool
from pipelines.failure import mark_stale
from pipelines.token.head import ChainHead, probe
from warehouse.access.claim_sync import ACCESS
from warehouse.connect.session_sync import CONNECT
from warehouse.duck.connection import Warehouse, run_lock
from warehouse.intake.intake_sync import INTAKE
from warehouse.ledger.ledger import open_ledger
from warehouse.ledger.sync import LedgerSync
from warehouse.publish.generations import Generation, current_generation
from warehouse.token.chain_head import read_head
from warehouse.token.holder_lists import latest_snapshot_taken_at
from warehouse.token.holders import read_state
from warehouse.world.events import head_revision
from warehouse.world.fold import read_world_state

POLL_TIMEOUT_S, POLL_PATIENCE_S = 10.0, 30.0
"""Limits for one request and for a whole poll. Dagster ends a tick that takes a minute."""

LOCK_PATIENCE_S = 5.0
"""Limit on how long a tick of the chain waits for a run of another job to end."""


async def poll_chain(settings: Settings) -> ChainHead:
    """Reads the head of the chain, in one batch per node."""
    async with RpcPool(
        settings.rpc_urls, chain_id=settings.chain_id, timeout_s=POLL_TIMEOUT_S, patience_s=POLL_PATIENCE_S
    ) as pool:
        return await probe(pool, confirmations=settings.confirmations)


def chain_due(settings: Settings, now: datetime, *, lock_wait_s: float = LOCK_PATIENCE_S) -> str | None:
    """Polls the chain and returns `due_reason` for its head.

    An unreachable chain is treated like a failed run: published documents are marked stale, and the problem is raised.
    Raises `RunBusy` where another run holds the lock for longer than `lock_wait_s` seconds.
    """
    with run_lock(settings.data_dir, wait_s=lock_wait_s):
        try:
            head = asyncio.run(poll_chain(settings)) if settings.token_address else None
        except OperatorProblem as problem:
            mark_stale(settings, problem)
            raise
        return due_reason(settings, head, now)


def graph_has_unsynced_changes(settings: Settings) -> bool:
    """Returns whether the ledger holds graph events that are not folded yet. Raises `RunBusy` during a run."""
    with closing(open_ledger(settings, settings.data_dir)) as ledger, ledger.read() as reader:
        revision = head_revision(reader)
    with Warehouse(settings.data_dir).read_only() as connection:
        return connection is not None and read_world_state(connection).revision < revision


def has_unsynced_changes(settings: Settings, room: LedgerSync) -> bool:
    """Returns whether the ledger holds changes of a room that no run has synced. Raises `RunBusy` during a run."""
    with Warehouse(settings.data_dir).read_only() as connection:
        if connection is None:
            return False
        since = room.synced_to(connection)
    with closing(open_ledger(settings, settings.data_dir)) as ledger:
        return room.has_moved(ledger, since)


def stated_settings_changed(settings: Settings, generation: Generation) -> bool:
    """Returns whether a document that depends only on the settings would differ from the one in `generation`."""
    installation = installation_of(settings)
    return any(
        entry is None or entry.inputs != rendered(row, row.made_for(installation)).inputs_sha256
        for row in PROJECTIONS
        if row.make is not None and row.template is None and row.media_type != SCHEMA_MEDIA_TYPE
        for entry in [generation.manifest.documents.get(row.path)]
    )


def due_reason(settings: Settings, head: ChainHead | None, now: datetime) -> str | None:
    """Returns why a run would change something, in a few words, or None. Raises `RunBusy` during a run.

    `head` is the current head of the chain, None where no token is configured.
    """
    generation = current_generation(settings.data_dir)
    if generation is None or generation.manifest.base_url != settings.public_base_url:
        return "nothing is published for this address"
    if any(document.stale_reason for document in generation.manifest.documents.values()):
        return "what is published is marked stale"
    if stated_settings_changed(settings, generation):
        return "what documents state of the settings has changed"
    if graph_has_unsynced_changes(settings):
        return "the graph has moved"
    if has_unsynced_changes(settings, ACCESS):
        return "quotes, claims or keys have changed"
    if has_unsynced_changes(settings, INTAKE):
        return "intakes have changed"
    if has_unsynced_changes(settings, CONNECT):
        return "connect sessions have changed"
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
