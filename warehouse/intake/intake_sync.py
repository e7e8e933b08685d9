"""Syncs intakes from the ledger: proposes those that changed since the last seq to the graph, and copies them to
DuckDB."""

from contracts.intake.graph import intake_proposal
from contracts.intake.requests import Lane
from contracts.world.alignment import Alignment
from contracts.world.alignment import alignment as guardrails
from contracts.world.proposal import Decision, checked
from warehouse.duck.connection import Connection
from warehouse.ledger.ledger import Ledger
from warehouse.ledger.sync import LedgerSync, SyncResult
from warehouse.world.write import decide

INTAKE = LedgerSync("core_intake__state", "intake_newest_change")


def sync_intakes(connection: Connection, ledger: Ledger, *, alignment: Alignment = guardrails) -> SyncResult:
    """Proposes the intakes that changed since the last sync to the graph, and copies them to their table.

    A run that was killed at any point can safely be repeated: nothing changes twice. Raises `StoreBusy`,
    `StoreUnusable`.
    """
    with ledger.read() as reader:
        head = reader.head()
        changed = reader.rows("intake_changed", seq=INTAKE.synced_to(connection))
    decisions = [_propose(ledger, row["graph_key"], alignment) for row in changed if not row["forgotten"]]
    INTAKE.put(connection, {"put_intakes": changed}, head)
    return SyncResult(len(changed), tuple(decision for decision in decisions if decision is not None))


def _propose(ledger: Ledger, graph_key: str, alignment: Alignment) -> Decision | None:
    """Proposes the current state of one intake. Reads it in the same transaction, so a forgotten intake is never
    proposed."""
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
