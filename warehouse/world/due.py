"""Records states again when they begin or cease to hold, so that planned facts become part of the graph on their day.

A state is judged when it is stated. When its time comes, it is not judged again: the rule of standing is applied to the
facts of its subject at that time, and the result is written as one decision.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from contracts.times import utc_text
from contracts.world.facts import place
from contracts.world.identity import fact_key
from contracts.world.proposal import PIPELINE, Proposal, StageResult
from contracts.world.records import Edge, Node, recorded_again
from warehouse.ledger.ledger import Ledger, Reader, Transaction
from warehouse.world.audit import DECISION, record
from warehouse.world.events import append_states, decode_edges, decode_nodes
from warehouse.world.ontologies import ontology_of
from warehouse.world.view import LedgerView

SOURCE = "a stated time has come"
STATES_AT_ONCE = 500


def next_due(reader: Reader) -> str | None:
    """Returns the next time at which a node or an edge begins or ceases to hold, or None if none is known."""
    row = reader.row("world_next_due")
    return None if row is None else row["due"]


def settle_due(ledger: Ledger) -> int:
    """Records again every state whose time has come, and the facts that it makes disputed or undisputed.

    Returns the number of written states.
    """
    written = 0
    while True:
        with ledger.transaction() as tx:
            states = _due_states(tx)
            if not states:
                return written
            seq = tx.changed(DECISION, "approved")
            events = append_states(tx, states, seq)
            stages = (StageResult("temporal", "pass", "The times that were stated have come."),)
            record(tx, seq, "approved", Proposal(actor=PIPELINE, source=SOURCE), stages, events)
            written += len(states)


def _due_states(tx: Transaction) -> list[Node | Edge]:
    now = utc_text(tx.now())
    nodes = decode_nodes(tx.rows("world_due_nodes", now=now, limit=STATES_AT_ONCE))
    edges = decode_edges(tx.rows("world_due_edges", now=now, limit=STATES_AT_ONCE))
    states: list[Node | Edge] = [*_with_facts(tx, nodes, now), *edges]
    return [recorded_again(state, now) for state in states]


def _with_facts(reader: Reader, due: Sequence[Node], now: str) -> list[Node]:
    """Returns the nodes that are due, and the other facts of their subjects that change with them."""
    states = {node.id: node for node in due}
    states |= {node.id: node for node in placed_again(reader, due, now, always=states)}
    return list(states.values())


def placed_again(reader: Reader, nodes: Sequence[Node], now: str, *, always: Collection[str] = ()) -> list[Node]:
    """Returns the facts about the subjects and predicates of these nodes whose state at `now` differs from the record.

    The facts in `always` are always returned.
    """
    view, changed = LedgerView(reader), []
    ontologies = {owner: ontology_of(reader, owner) for owner in {node.owner for node in nodes}}
    for key in dict.fromkeys(fact_key(ontologies[node.owner], node.owner, node.properties) for node in nodes):
        known = {} if key is None else {node.id: node for node in view.facts(key) if not node.erased}
        for node_id, placed in place(known.values(), now).items():
            if node_id in always or placed != known[node_id]:
                changed.append(placed)
    return changed
