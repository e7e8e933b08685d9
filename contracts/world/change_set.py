"""Computes the states that a proposal would write and the changes to known states. It judges nothing.

Example: the fact (token, holders) = 100 holds since 09:00. A proposal of the same standing states 120 from 10:00. The
change set ends the old fact at 10:00 and adds an edge new SUPERSEDES old. A proposal of 90 from 08:00 goes into
history: it holds until 09:00. A fact of lower standing from 10:00 holds alongside the old one, and both are disputed.
`facts.py` decides this; `import_plan.py` computes the changes of imports.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import msgspec

from contracts.standing import SourceClass, higher
from contracts.times import instant_of, is_instant, utc_text
from contracts.world.case import Case, EdgeChange, NodeChange, sees
from contracts.world.corrections import CorrectedEdges, KeptEdge
from contracts.world.facts import claim_of, stated_end
from contracts.world.identity import edge_id
from contracts.world.ontology import SUPERSEDES, Ontology
from contracts.world.proposal import CLOCK_SKEW, Act, EdgeDraft, NodeDraft, Proposal, authority_of
from contracts.world.records import Edge, Node
from contracts.world.timelines import EdgeTimelines, FactTimelines
from contracts.world.view import GraphView

INSTANT = timedelta(microseconds=1)
"""The shortest time for which a state can hold."""


def plan(proposal: Proposal, view: GraphView, ontology: Ontology, now: datetime) -> Case:
    """Computes the changes that a proposal (from `checked`) would write at `now`."""
    recorded_at = utc_text(now)
    acts = _Acts(proposal, view, recorded_at)
    drafted = [_node_change(draft, proposal, view, ontology, acts, recorded_at) for draft in proposal.nodes]
    changed = {change.after.id: change.after for change in drafted if change.is_new_state}
    facts = FactTimelines(view, ontology, recorded_at, changed, acts.targets)
    for change in drafted:
        facts.place(change)
    for target in acts.targets.values():
        facts.place_again(target)
    nodes = tuple(
        NodeChange(change.draft, change.before, facts.proposed.get(change.after.id, change.after)) for change in drafted
    )
    superseding = [edge for edge in proposal.edges if edge.type == SUPERSEDES]
    facts.refuse_unfounded(superseding)
    stated = {(draft.source, draft.type, draft.target) for draft in proposal.edges}
    implied = [
        draft
        for draft in (*facts.successions(), *acts.edges())
        if (draft.source, draft.type, draft.target) not in stated
    ]
    corrected = CorrectedEdges(
        proposal, view, ontology, acts.targets, {change.after.id: change.after for change in nodes}
    )
    kept = [_kept_change(kept, proposal, view, recorded_at) for kept in corrected.kept]
    single_valued = EdgeTimelines(view, ontology)
    stated_edges = _of_one_statement(proposal, drafted) if proposal.is_one_statement else proposal.edges
    drafted_edges = [edge_change(draft, proposal, view, recorded_at) for draft in (*stated_edges, *implied)]
    edges = tuple(single_valued.placed((*drafted_edges, *kept)))
    return Case(
        proposal=proposal,
        view=view,
        ontology=ontology,
        now=recorded_at,
        nodes=nodes,
        edges=edges,
        changed_nodes=tuple(facts.changed()),
        changed_edges=tuple((_replaced_private_edges(edges, proposal, view) | single_valued.changed).values()),
        clashes=(*facts.clashes, *single_valued.clashes),
        outcomes=(*facts.outcomes, *single_valued.outcomes),
        gaps=(*facts.gaps, *single_valued.gaps),
        kept=tuple(corrected.kept_in_words),
        left=tuple(corrected.left_in_words),
        proposed={change.after.id: change.after for change in nodes},
    )


@dataclass
class _Acts:
    """The acts of a proposal on known nodes: corrections, retractions and confirmations."""

    proposal: Proposal
    view: GraphView
    now: str
    targets: dict[str, Node] = field(default_factory=dict)
    """The new states of the known nodes."""

    def __post_init__(self) -> None:
        for act in self.proposal.acts:
            known = self.view.node(act.target)
            if known is not None and sees(self.proposal.actor, known) and not known.erased and not known.retracted:
                self.targets[act.target] = self._done(act, known)

    def corrected_by(self, node_id: str) -> Node | None:
        """Returns the known node that a node of the proposal corrects."""
        corrected = [act.target for act in self.proposal.acts if (act.kind, act.by) == ("corrects", node_id)]
        return self.view.node(corrected[0]) if corrected and corrected[0] in self.targets else None

    def edges(self) -> Iterator[EdgeDraft]:
        """Yields the edge of every act, which records its reason."""
        public = {draft.id for draft in self.proposal.nodes if draft.visibility == "public"}
        for act in self.proposal.acts:
            target = self.targets.get(act.target)
            both_public = act.by in public and target is not None and target.visibility == "public"
            yield act.edge("public" if both_public else "private")

    def _done(self, act: Act, known: Node) -> Node:
        if act.kind == "confirms":
            ceiling = authority_of(self.proposal.actor)
            return msgspec.structs.replace(
                known,
                confirmed_as=higher(claim_of(known).stands_as, ceiling),
                confirmed_at=max(self.now, known.valid_from),
            )
        return msgspec.structs.replace(
            known,
            retracted=True,
            valid_to=known.valid_from,
            stated_to=stated_end(known),
            ended_by=act.by,
            disputed=False,
        )


def _node_change(
    draft: NodeDraft, proposal: Proposal, view: GraphView, ontology: Ontology, acts: _Acts, now: str
) -> NodeChange:
    before = view.node(draft.id)
    owner = proposal.actor.owner if draft.visibility == "private" else None
    known = ontology.part_of(owner).node_types.get(draft.type)
    corrected = acts.corrected_by(draft.id)
    properties, source_class = draft.properties, proposal.actor.claimed(proposal.source_class)
    start = draft.valid_from or (before.valid_from if before else corrected.valid_from if corrected else now)
    end = draft.valid_to
    if proposal.is_act_only:
        start, end = utc_text(instant_of(now) - INSTANT), now
    after = Node(
        id=draft.id,
        title=draft.title,
        type=draft.type,
        domain=known.domain if known else draft.domain or "",
        properties=properties,
        visibility=draft.visibility,
        owner=owner,
        immutable=draft.immutable,
        valid_from=_observed(start, properties, now),
        valid_to=end,
        recorded_at=now,
        source=proposal.source,
        actor=proposal.actor.name,
        revision=0,
        source_class=source_class,
        stated_at=now,
    )
    if corrected is not None:
        after = _correction(after, corrected, authority_of(proposal.actor), now)
    return NodeChange(draft, before, after)


def _correction(after: Node, corrected: Node, authority: SourceClass, now: str) -> Node:
    """Returns a correction that has the subject and at least the standing of the corrected node, confirmed by its
    writer."""
    about = {name: corrected.properties[name] for name in ("subject", "predicate") if name in corrected.properties}
    return msgspec.structs.replace(
        after,
        properties=about | after.properties,
        source_class=higher(after.source_class, claim_of(corrected).stands_as),
        confirmed_as=authority,
        confirmed_at=max(now, after.valid_from),
    )


def _observed(start: str, properties: dict[str, Any], now: str) -> str:
    """Returns the start of an observation: now, if the sender's clock is a little ahead. A plan keeps its start."""
    if start <= now or properties.get("observed_at") != start or not is_instant(start):
        return start
    return now if instant_of(start) <= instant_of(now) + CLOCK_SKEW else start


def _of_one_statement(proposal: Proposal, nodes: Iterable[NodeChange]) -> Iterator[EdgeDraft]:
    """Yields the drafts of edges with the times of the statement's node, which may follow from a node that it
    corrects."""
    (node,) = nodes
    for draft in proposal.edges:
        yield msgspec.structs.replace(draft, valid_from=node.after.valid_from, valid_to=node.after.valid_to)


def edge_change(draft: EdgeDraft, proposal: Proposal, view: GraphView, now: str) -> EdgeChange:
    owner = proposal.actor.owner if draft.visibility == "private" else None
    stated = ((owner and proposal.actor.takes_over) or owner, draft.source, draft.type, draft.target)
    before = view.edge_between(*stated)
    after = Edge(
        id=before.id if before else edge_id(*stated),
        source=draft.source,
        target=draft.target,
        type=draft.type,
        properties=draft.properties,
        visibility=draft.visibility,
        owner=owner,
        valid_from=draft.valid_from or (before.valid_from if before else now),
        valid_to=draft.valid_to,
        recorded_at=now,
        stated_in=proposal.source,
        actor=proposal.actor.name,
        revision=0,
        source_class=proposal.actor.claimed(proposal.source_class),
    )
    return EdgeChange(draft, before, after)


def _kept_change(kept: KeptEdge, proposal: Proposal, view: GraphView, now: str) -> EdgeChange:
    """Returns the change of an edge that continues at another node. It keeps its source, and its class is at most the
    one that the actor may claim."""
    change = edge_change(kept.draft, proposal, view, now)
    source_class = proposal.actor.claimed(kept.edge.source_class)
    after = msgspec.structs.replace(
        change.after, stated_in=kept.edge.stated_in, source_class=source_class, disputed=kept.edge.disputed
    )
    return EdgeChange(change.draft, change.before, after)


def _replaced_private_edges(
    edges: tuple[EdgeChange, ...], proposal: Proposal, view: GraphView
) -> dict[str, tuple[Edge, Edge]]:
    """Ends the private edges that an operator makes public.

    The public edge replaces them; otherwise their owner would see both.
    """
    ended = {}
    for public in (change.after for change in edges if proposal.actor.on_behalf_of and change.after.owner is None):
        private = view.edge_between(proposal.actor.on_behalf_of, public.source, public.type, public.target)
        if private is not None and (private.valid_to is None or private.valid_to > public.valid_from):
            end = max(public.valid_from, private.valid_from)
            ended[private.id] = (private, msgspec.structs.replace(private, valid_to=end))
    return ended
