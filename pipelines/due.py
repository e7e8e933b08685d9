"""Decides whether a run of the chain job is due, why, and which of its inputs have changed."""

import asyncio
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
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
from warehouse.duck.connection import Connection, Warehouse, run_lock
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
"""Limits for one request and for a complete poll. Dagster aborts a tick that takes a minute."""

LOCK_PATIENCE_S = 5.0
"""The longest time that a tick of the chain waits for a run of another job to end."""


@dataclass(frozen=True)
class DueRun:
    """The reason for a due run, in a few words, and the assets whose inputs changed: the run materializes these and
    those downstream.

    `moved` is None if the run materializes all assets.
    """

    why: str
    moved: frozenset[str] | None = None


async def poll_chain(settings: Settings) -> ChainHead:
    """Reads the head of the chain, with one batch request per node."""
    async with RpcPool(
        settings.rpc_urls, chain_id=settings.chain_id, timeout_s=POLL_TIMEOUT_S, patience_s=POLL_PATIENCE_S
    ) as pool:
        return await probe(pool, confirmations=settings.confirmations)


def chain_due(settings: Settings, now: datetime, *, lock_wait_s: float = LOCK_PATIENCE_S) -> DueRun | None:
    """Polls the chain and returns `due_run` for its head.

    An unreachable chain counts as a failed run: published documents are marked stale, and the problem is raised. Raises
    `RunBusy` if another run holds the lock for longer than `lock_wait_s` seconds.
    """
    with run_lock(settings.data_dir, wait_s=lock_wait_s):
        try:
            head = asyncio.run(poll_chain(settings)) if settings.token_address else None
        except OperatorProblem as problem:
            mark_stale(settings, problem)
            raise
        return due_run(settings, head, now)


def stated_settings_changed(settings: Settings, generation: Generation) -> bool:
    """Decides whether any document that depends only on the settings would differ from the one in `generation`."""
    installation = installation_of(settings)
    return any(
        entry is None or entry.inputs != rendered(row, row.made_for(installation)).inputs_sha256
        for row in PROJECTIONS
        if row.make is not None and row.template is None and row.media_type != SCHEMA_MEDIA_TYPE
        for entry in [generation.manifest.documents.get(row.path)]
    )


SYNCED_ROOMS: tuple[tuple[str, LedgerSync, frozenset[str]], ...] = (
    ("quotes, claims or keys have changed", ACCESS, frozenset({"raw_ledger__quotes"})),
    ("intakes have changed", INTAKE, frozenset({"raw_ledger__intakes"})),
    ("connect sessions have changed", CONNECT, frozenset({"raw_ledger__connect_sessions"})),
)
"""Per room, the reason that its changes in the ledger give, its sync, and an asset of the step that syncs them."""

CHAIN = frozenset({"evm_chain"})
WORLD = frozenset({"core_world__nodes"})


def due_run(settings: Settings, head: ChainHead | None, now: datetime) -> DueRun | None:
    """Returns the run that would change something, or None. Raises `RunBusy` during a run.

    `head` is the current head of the chain, None if no token is configured. For an hourly or daily snapshot the run
    materializes everything, so that assets which depend only on time are never older than an hour.
    """
    generation = current_generation(settings.data_dir)
    if generation is None or generation.manifest.base_url != settings.public_base_url:
        return DueRun("nothing is published for this address")
    if any(document.stale_reason for document in generation.manifest.documents.values()):
        return DueRun("published documents are marked stale")
    if stated_settings_changed(settings, generation):
        return DueRun("settings that documents state have changed")
    with Warehouse(settings.data_dir).read_only() as connection:
        if connection is None:
            return None if head is None else DueRun("nothing is read yet")
        snapshot = due_snapshot(latest_snapshot_taken_at(connection), now) if head else None
        if snapshot:
            return DueRun(f"the {snapshot} snapshot is due")
        reasons = [*_ledger_moved(settings, connection), *_chain_moved(connection, head)]
    if not reasons:
        return None
    return DueRun("; ".join(why for why, _ in reasons), frozenset().union(*(moved for _, moved in reasons)))


def _ledger_moved(settings: Settings, connection: Connection) -> Iterator[tuple[str, frozenset[str]]]:
    """Yields the changes in the ledger that no run has synced, each as a reason and the assets that it moves."""
    with closing(open_ledger(settings, settings.data_dir)) as ledger:
        with ledger.read() as reader:
            revision = head_revision(reader)
        if read_world_state(connection).revision != revision:
            yield "the graph has moved", WORLD
        for why, room, assets in SYNCED_ROOMS:
            if room.has_moved(ledger, room.synced_to(connection)):
                yield why, assets


def _chain_moved(connection: Connection, head: ChainHead | None) -> Iterator[tuple[str, frozenset[str]]]:
    """Yields the changes of the chain that no run has read, likewise."""
    if head is None:
        return
    seen, state = read_head(connection), read_state(connection)
    if seen is None or state is None or state.block < head.finalized.number:
        yield "there are new final blocks", CHAIN
    elif (seen.head_hash, seen.finalized_hash) != (head.head.hash, head.finalized.hash):
        yield "the tip has moved", CHAIN
