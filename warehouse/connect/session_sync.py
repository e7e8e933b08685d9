"""Set-ups in the graph and in DuckDB: sessions that changed in the ledger are taken over by its seq, and counted."""

from __future__ import annotations

from contracts.connect.anonymised import session_key, session_row, step_rows
from contracts.connect.graph import setup_proposal
from contracts.connect.progress import Progress
from contracts.intake.graph import node_ids as intake_node_ids
from contracts.world.alignment import Alignment
from contracts.world.alignment import alignment as guardrails
from contracts.world.proposal import Decision, checked
from warehouse.duck.connection import Connection
from warehouse.ledger.ledger import Ledger, Reader
from warehouse.ledger.sync import Follower, TakenOver
from warehouse.world.events import decode_nodes
from warehouse.world.write import decide

CONNECT = Follower("connect", {"out_connect__daily": "count_daily", "out_connect__steps": "count_steps"})


def take_over_sessions(connection: Connection, ledger: Ledger, *, alignment: Alignment = guardrails) -> TakenOver:
    """Tell the graph of set-ups that were finished since the last time, put sessions in their tables, and count.

    Killed anywhere, the next run does it again, which changes nothing twice. Raises `StoreBusy`, `StoreUnusable`.
    """
    with ledger.read() as reader:
        head = reader.head()
        changed = reader.rows("connect_changed", seq=CONNECT.taken_over_to(connection))
    sessions = [session_row(row) for row in changed]
    steps = [step for row in changed for step in step_rows(row)]
    decisions = [
        _tell(ledger, row["session_id"], row["day"], alignment)
        for row, session in zip(changed, sessions, strict=True)
        if session["finished"]
    ]
    CONNECT.put(connection, {"put_sessions": sessions, "forget_steps": steps, "put_steps": steps}, head)
    return TakenOver(len(changed), tuple(each for each in decisions if each is not None))


def _tell(ledger: Ledger, session_id: str, day: str, alignment: Alignment) -> Decision | None:
    """Propose a set-up as it is now; its row is asked in the transaction, so that what is forgotten is not told."""
    with ledger.transaction() as tx:
        row = tx.row("connect_told", session_id=session_id)
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
                intake_key=row["graph_key"] if _is_told(tx, row["graph_key"]) else None,
            )
        )
        return decide(tx, proposal, alignment(proposal))


def _is_told(reader: Reader, intake_key: str | None) -> bool:
    """Whether the graph knows an intake."""
    if intake_key is None:
        return False
    held = decode_nodes(reader.rows("world_node", id=intake_node_ids(intake_key)[0]))
    return any(not node.erased for node in held)
