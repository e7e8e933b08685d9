"""Intakes in the graph and in DuckDB: what changed in the ledger is proposed, taken over by its seq, and counted."""

from __future__ import annotations

from contracts.intake.graph import intake_proposal
from contracts.intake.requests import Lane
from contracts.world.alignment import Alignment
from contracts.world.alignment import alignment as guardrails
from contracts.world.proposal import Decision, checked
from warehouse.duck.connection import Connection
from warehouse.ledger.ledger import Ledger
from warehouse.ledger.sync import Follower, TakenOver
from warehouse.world.write import decide

INTAKE = Follower("intake", {"out_intake__stats": "count_stats", "out_intake__funnel": "count_intake_funnel"})


def take_over_intakes(connection: Connection, ledger: Ledger, *, alignment: Alignment = guardrails) -> TakenOver:
    """Tell the graph of the intakes that changed since the last time, put them in their table, and count.

    Killed anywhere, the next run does it again, which changes nothing twice. Raises `StoreBusy`, `StoreUnusable`.
    """
    with ledger.read() as reader:
        head = reader.head()
        changed = reader.rows("intake_changed", seq=INTAKE.taken_over_to(connection))
    decisions = [_tell(ledger, row["graph_key"], alignment) for row in changed if not row["forgotten"]]
    INTAKE.put(connection, {"put_intakes": changed}, head)
    return TakenOver(len(changed), tuple(each for each in decisions if each is not None))


def _tell(ledger: Ledger, graph_key: str, alignment: Alignment) -> Decision | None:
    """Propose one intake as it is now; its row is asked in the transaction, so that what is forgotten is not told."""
    with ledger.transaction() as tx:
        row = tx.row("intake_of_graph_key", graph_key=graph_key)
        if row is None:
            return None
        proposal = checked(
            intake_proposal(
                graph_key,
                lane=Lane(row["lane"]),
                profile_id=row["profile_id"],
                day=row["day"],
                state=row["current_state"],
            )
        )
        return decide(tx, proposal, alignment(proposal))
