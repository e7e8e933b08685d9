"""Decides whether an owner's ontology may change, given the existing states, and which states change with it. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import msgspec

from contracts.world.facts import stated_end
from contracts.world.ontology import EdgeType, NodeType, Ontology
from contracts.world.records import Edge, Node, overlap


@dataclass(frozen=True)
class OntologyChange:
    """The ontologies of an owner before and after a change."""

    before: Ontology
    after: Ontology

    @property
    def node_types(self) -> list[str]:
        """Returns the types whose nodes may no longer fit."""
        own = self.before.node_types.keys() - self.before.part_of(None).node_types.keys()
        return sorted(name for name in own if not _goes_on(self.before, self.after, name))

    @property
    def edge_types(self) -> list[str]:
        """Returns the relationship types whose edges may no longer fit."""
        own = self.before.edge_types.keys() - self.before.part_of(None).edge_types.keys()
        return sorted(name for name in own if _narrows(self.before.edge_types[name], self.after.edge_types.get(name)))

    @property
    def gained_predicates(self) -> list[str]:
        """Returns the predicates that become single-valued."""
        return sorted(self.after.single_valued_predicates - self.before.single_valued_predicates)

    @property
    def lost_predicates(self) -> list[str]:
        """Returns the predicates that are no longer single-valued."""
        return sorted(self.before.single_valued_predicates - self.after.single_valued_predicates)

    def faults(
        self, nodes: Iterable[Node], edges: Iterable[Edge], end: Callable[[str], Node | None]
    ) -> Iterator[tuple[str, str]]:
        """Yields a pointer into the new ontology and a sentence for each state that it would make invalid.

        `nodes` and `edges` are the present and future states of the types above; `end` returns the node with an id.
        """
        for node in nodes:
            known = self.after.node_types.get(node.type)
            at = f"/node_types/{node.type}"
            if known is None:
                yield at, f"{node.id} is a {node.type}"
            elif known.domain != node.domain:
                yield at, f"{node.id} is of {node.domain}"
            else:
                yield from ((at, f"{node.id}: {fault}") for fault in self.after.faults_of(node.type, node.properties))
        yield from self._faults_of_edges(list(edges), end)

    def _faults_of_edges(self, edges: list[Edge], end: Callable[[str], Node | None]) -> Iterator[tuple[str, str]]:
        told: dict[tuple[str, str], list[Edge]] = {}
        for edge in edges:
            known = self.after.edge_types.get(edge.type)
            at, name = f"/relationship_types/{edge.type}", f"{edge.source} {edge.type} {edge.target}"
            if known is None:
                yield at, f"{name} is there"
                continue
            source, target = end(edge.source), end(edge.target)
            if source is not None and target is not None and not known.allows(source.type, target.type):
                yield at, f"{name} goes from a {source.type} to a {target.type}"
            others = told.setdefault((edge.source, edge.type), [])
            if known.single_valued and any(overlap(edge, other) for other in others):
                yield at, f"{edge.source} has {', '.join(other.target for other in others)} and {edge.target}"
            others.append(edge)


def freed(facts: Iterable[Node]) -> Iterator[Node]:
    """Yields facts of a predicate that is no longer single-valued, as stated, if other facts had changed them."""
    for fact in facts:
        as_stated = msgspec.structs.replace(
            fact, valid_to=stated_end(fact), ended_by=None, stated_to=None, disputed=False
        )
        if not fact.erased and not fact.retracted and as_stated != fact:
            yield as_stated


def _goes_on(before: Ontology, after: Ontology, name: str) -> bool:
    """Decides whether every node of a type still fits."""
    was: NodeType = before.node_types[name]
    now = after.node_types.get(name)
    return now is not None and now.domain == was.domain and now.properties.items() <= was.properties.items()


def _narrows(was: EdgeType, now: EdgeType | None) -> bool:
    """Decides whether an edge of a type may no longer fit."""
    if now is None or (now.single_valued and not was.single_valued):
        return True
    return was.named_ends != now.named_ends
