"""Intakes in the graph and in DuckDB: what changed in the ledger is proposed, taken over by its seq, and counted."""

from __future__ import annotations

import json
from dataclasses import dataclass

from contracts.intake.graph import intake_proposal
from contracts.intake.requests import Lane
from contracts.world.alignment import Alignment
from contracts.world.alignment import alignment as guardrails
from contracts.world.proposal import Decision, checked
from warehouse.duck import Connection, read_sql, transaction
from warehouse.ledger import Ledger
from warehouse.world.write import decide


@dataclass(frozen=True)
class TakenOver:
    """What a run took over: how many intakes had changed, and what the validator said of each that is not forgotten."""

    changed: int
    decisions: tuple[Decision, ...]


def take_over_intakes(connection: Connection, ledger: Ledger, *, alignment: Alignment = guardrails) -> TakenOver:
    """Tell the graph of the intakes that changed since the last time, put them in their table, and count.

    Killed anywhere, the next run does it again, which changes nothing twice. Raises `StoreBusy`, `StoreUnusable`.
    """
    with ledger.read() as reader:
        head = reader.head()
        changed = [dict(row) for row in reader.rows("intake_changed", seq=taken_over_to(connection))]
    decisions = [_tell(ledger, row["graph_key"], alignment) for row in changed if not row["forgotten"]]
    with transaction(connection):
        if changed:
            connection.execute(read_sql("intake", "put_intakes"), {"rows": json.dumps(changed)})
            connection.execute("delete from out_intake__stats")
            connection.execute(read_sql("intake", "count_stats"))
            connection.execute("delete from out_intake__funnel")
            connection.execute(read_sql("intake", "count_funnel"))
        connection.execute("insert or replace into core_intake__state values (true, ?)", [head])
    return TakenOver(len(changed), tuple(each for each in decisions if each is not None))


def taken_over_to(connection: Connection) -> int:
    """The ledger's seq up to which intakes are here; 0 before any are."""
    row = connection.execute("select seq from core_intake__state").fetchone()
    return int(row[0]) if row else 0


def intakes_have_moved(ledger: Ledger, since: int) -> bool:
    """Whether an intake changed in the ledger above a seq."""
    with ledger.read() as reader:
        row = reader.row("intake_newest_change", seq=since)
    return row is not None and row["seq"] is not None


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
