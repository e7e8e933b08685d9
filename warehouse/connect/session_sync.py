"""Syncs set-up sessions from the ledger to the graph and to DuckDB: copies what changed since the last seq."""

from contracts.connect.anonymised import session_key, session_row, step_rows
from contracts.connect.graph import setup_proposal
from contracts.connect.progress import Progress
from contracts.intake.graph import node_ids as intake_node_ids
from contracts.world.alignment import Alignment
from contracts.world.alignment import alignment as guardrails
from contracts.world.proposal import Decision, checked
from warehouse.duck.connection import Connection
from warehouse.ledger.ledger import Ledger, Reader
from warehouse.ledger.sync import LedgerSync, SyncResult
from warehouse.world.events import decode_nodes
from warehouse.world.write import decide

CONNECT = LedgerSync("core_connect__state", "connect_newest_change")


def sync_sessions(connection: Connection, ledger: Ledger, *, alignment: Alignment = guardrails) -> SyncResult:
    """Proposes the set-ups that were finished since the last sync to the graph, and copies sessions to their tables.

    A run that was killed at any point can safely be repeated: nothing changes twice. Raises `StoreBusy`,
    `StoreUnusable`.
    """
    with ledger.read() as reader:
        head = reader.head()
        changed = reader.rows("connect_changed", seq=CONNECT.synced_to(connection))
    sessions = [session_row(row) for row in changed]
    steps = [step for row in changed for step in step_rows(row)]
    decisions = [
        _propose(ledger, row["session_id"], row["day"], alignment)
        for row, session in zip(changed, sessions, strict=True)
        if session["finished"]
    ]
    CONNECT.put(connection, {"put_sessions": sessions, "forget_steps": steps, "put_steps": steps}, head)
    return SyncResult(len(changed), tuple(decision for decision in decisions if decision is not None))


def _propose(ledger: Ledger, session_id: str, day: str, alignment: Alignment) -> Decision | None:
    """Proposes the current state of a set-up. Reads it in the same transaction, so never proposes a forgotten one."""
    with ledger.transaction() as tx:
        row = tx.row("connect_to_propose", session_id=session_id)
        if row is None or row["progress_json"] is None:
            return None
        progress = Progress.model_validate_json(row["progress_json"])
        if not progress.finished:
            return None
        proposal = checked(
            setup_proposal(
                session_key(session_id),
                choice=progress.choice,
                day=day,
                done=progress.steps_done,
                skipped=len(progress.steps) - progress.steps_done,
                intake_key=row["graph_key"] if _is_in_graph(tx, row["graph_key"]) else None,
            )
        )
        return decide(tx, proposal, alignment(proposal))


def _is_in_graph(reader: Reader, intake_key: str | None) -> bool:
    """Returns True if the graph contains the intake's node, and it is not erased."""
    if intake_key is None:
        return False
    nodes = decode_nodes(reader.rows("world_node", id=intake_node_ids(intake_key)[0]))
    return any(not node.erased for node in nodes)
