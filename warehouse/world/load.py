"""Loads the constitution into the graph: amends nodes and edges that differ from its files, and ends those that the
files no longer contain."""

from __future__ import annotations

from datetime import datetime

from contracts.errors import ConstitutionRefused
from contracts.times import utc_text
from contracts.world.alignment import Alignment
from contracts.world.alignment import alignment as guardrails
from contracts.world.change_set import plan
from contracts.world.constitution import SOURCE, load_constitution_drafts
from contracts.world.identity import edge_id
from contracts.world.ontology import load_ontology
from contracts.world.proposal import (
    CONSTITUTION,
    Decision,
    EdgeDraft,
    NodeDraft,
    Proposal,
    checked,
    ended_edge,
    ended_node,
)
from contracts.world.records import Edge, Node, is_live
from warehouse.ledger.ledger import Ledger, Reader
from warehouse.world.events import decode_edges, decode_nodes
from warehouse.world.view import LedgerView
from warehouse.world.write import decide

Drafts = tuple[tuple[NodeDraft, ...], tuple[EdgeDraft, ...]]


def load_constitution(
    ledger: Ledger, drafts: Drafts | None = None, *, alignment: Alignment = guardrails
) -> Decision | None:
    """Makes the graph match the constitution's files, through the validator. Returns None if nothing differs.

    Raises `ConstitutionRefused` if a stage rejects it.
    """
    stated = load_constitution_drafts() if drafts is None else drafts
    with ledger.read() as reader:
        amendment = _amendment(reader, stated, ledger.now())
    if amendment is None:
        return None
    aligned = alignment(amendment)  # loading the rules takes seconds; no writer should wait for that
    with ledger.transaction() as tx:
        amendment = _amendment(tx, stated, tx.now())
        if amendment is None:
            return None
        decision = decide(tx, amendment, aligned)
        if decision.verdict != "approved":
            reasons = "; ".join(f"{stage.stage}: {stage.reason}" for stage in decision.stages if stage.result == "fail")
            raise ConstitutionRefused(
                f"The constitution breaks the graph's own rules: {reasons}.",
                cure="Correct the files in contracts/world/constitution; nothing was written.",
            )
        return decision


def _amendment(reader: Reader, stated: Drafts, instant: datetime) -> Proposal | None:
    nodes, edges = stated
    now = utc_text(instant)
    kept_nodes = {draft.id for draft in nodes}
    kept_edges = {edge_id(None, draft.source, draft.type, draft.target) for draft in edges}
    dropped_nodes = [ended_node(node, now) for node in _live_nodes(reader) if node.id not in kept_nodes]
    dropped_edges = [ended_edge(edge, now) for edge in _live_edges(reader) if edge.id not in kept_edges]
    proposal = checked(
        Proposal(
            actor=CONSTITUTION,
            source=SOURCE,
            nodes=(*nodes, *dropped_nodes),
            edges=(*edges, *dropped_edges),
        )
    )
    case = plan(proposal, LedgerView(reader), load_ontology(), instant)
    return proposal if any(change.is_new_state for change in case.changes) else None


def _live_nodes(reader: Reader) -> list[Node]:
    return [node for node in decode_nodes(reader.rows("world_nodes_of_constitution")) if is_live(node)]


def _live_edges(reader: Reader) -> list[Edge]:
    return [edge for edge in decode_edges(reader.rows("world_edges_of_constitution")) if is_live(edge)]
