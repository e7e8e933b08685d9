"""When a run is due. Nothing here reads or writes the warehouse's rows."""

from __future__ import annotations

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
from warehouse.ledger.sync import Follower
from warehouse.publish.generations import Generation, current_generation
from warehouse.token.chain_head import read_head
from warehouse.token.holder_lists import latest_snapshot_taken_at
from warehouse.token.holders import read_state
from warehouse.world.events import head_revision
from warehouse.world.fold import read_world_state

LOOK_TIMEOUT_S, LOOK_PATIENCE_S = 10.0, 30.0
"""For one request and for all of a look: Dagster ends a tick that takes a minute."""


async def look_at_chain(settings: Settings) -> ChainHead:
    """Where the chain stands now, in one batch per node."""
    async with RpcPool(
        settings.rpc_urls, chain_id=settings.chain_id, timeout_s=LOOK_TIMEOUT_S, patience_s=LOOK_PATIENCE_S
    ) as pool:
        return await probe(pool, confirmations=settings.confirmations)


def why_due(settings: Settings, now: datetime, *, lock_wait_s: float) -> str | None:
    """Look at the chain and say why a run is due, as `why_run` does.

    A chain that can't be looked at is what a failed run would be: what is published is marked stale, and the problem
    raised. Raises `RunBusy` where another run holds the lock for longer than `lock_wait_s` seconds.
    """
    with run_lock(settings.data_dir, wait_s=lock_wait_s):
        try:
            head = asyncio.run(look_at_chain(settings)) if settings.token_address else None
        except OperatorProblem as problem:
            mark_stale(settings, problem)
            raise
        return why_run(settings, head, now)


def graph_has_moved(settings: Settings) -> bool:
    """Whether the ledger holds events of the graph that are not folded yet. Raises `RunBusy` while a run goes on."""
    with closing(open_ledger(settings, settings.data_dir)) as ledger, ledger.read() as reader:
        revision = head_revision(reader)
    with Warehouse(settings.data_dir).read_only() as connection:
        return connection is not None and read_world_state(connection).revision < revision


def room_has_moved(settings: Settings, follower: Follower) -> bool:
    """Whether a room changed in the ledger since a run took it over. Raises `RunBusy` while one goes on."""
    with Warehouse(settings.data_dir).read_only() as connection:
        if connection is None:
            return False
        since = follower.taken_over_to(connection)
    with closing(open_ledger(settings, settings.data_dir)) as ledger:
        return follower.has_moved(ledger, since)


def stated_settings_have_moved(settings: Settings, generation: Generation) -> bool:
    """Whether a document that is made of the settings alone would be another one now than in `generation`."""
    installation = installation_of(settings)
    return any(
        entry is None or entry.inputs != rendered(row, row.make(installation)).inputs_sha256
        for row in PROJECTIONS
        if row.make is not None and row.template is None and row.media_type != SCHEMA_MEDIA_TYPE
        for entry in [generation.manifest.documents.get(row.path)]
    )


def why_run(settings: Settings, head: ChainHead | None, now: datetime) -> str | None:
    """Why a run would change something, in a few words; None where it would not. Raises `RunBusy` while one goes on.

    `head` is where the chain stands now, None where no token is configured.
    """
    generation = current_generation(settings.data_dir)
    if generation is None or generation.manifest.base_url != settings.public_base_url:
        return "nothing is published for this address"
    if any(document.stale_reason for document in generation.manifest.documents.values()):
        return "what is published is marked stale"
    if stated_settings_have_moved(settings, generation):
        return "what documents state of the settings has changed"
    if graph_has_moved(settings):
        return "the graph has moved"
    if room_has_moved(settings, ACCESS):
        return "quotes, claims or keys have changed"
    if room_has_moved(settings, INTAKE):
        return "intakes have changed"
    if room_has_moved(settings, CONNECT):
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
