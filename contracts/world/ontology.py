"""Loads the ontology, which defines the possible content of the graph, from `ontology.yaml`. Pure: the file is data.

`own_ontology.py` adds an owner's words, which apply only to that owner's private part.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from contracts.times import is_instant

DOMAINS = ("FOUNDATION", "VISION", "STRATEGY", "TACTICS", "EXECUTION", "TRACK", "SYMBIOSIS")
ANY = "ANY"
SUPERSEDES = "SUPERSEDES"
PART_OF = "PART_OF"
GOVERNED_BY = "GOVERNED_BY"
OWNER_CONFIRMATION = "owner_confirmation"
"""An entry in the `needs` of a rule that governs a store: its records wait until their owner confirms them."""

ACT_EDGES = frozenset({"CORRECTS", "RETRACTS", "CONFIRMS"})
"""Relationships that only the acts of signals create."""

BUILDS_ON = frozenset({"DERIVED_FROM", "DEPENDS_ON", "INFORMED_BY"})
"""Relationships whose source may be wrong if its target is."""


@dataclass(frozen=True)
class NodeType:
    """One type of node: its domain, and the kind of value of each named property."""

    name: str
    domain: str
    properties: dict[str, str]


@dataclass(frozen=True)
class EdgeType:
    """One type of relationship, and the node types that it may connect."""

    name: str
    description: str
    ends: tuple[tuple[frozenset[str], frozenset[str]], ...]
    single_valued: bool
    named_ends: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...] = ()
    """The ends as written in the file: node types, domains or ANY."""

    def allows(self, source: str, target: str) -> bool:
        """Decides whether an edge of this type may go from a node of type `source` to one of type `target`."""
        return any(source in sources and target in targets for sources, targets in self.ends)


@dataclass(frozen=True)
class Ontology:
    """The content of `ontology.yaml`; an owner's ontology also contains the owner's words."""

    version: str
    domains: dict[str, str]
    common_properties: dict[str, str]
    node_types: dict[str, NodeType]
    edge_types: dict[str, EdgeType]
    single_valued_predicates: frozenset[str]
    public: Ontology | None = None
    """The ontology of the public graph, if this one contains an owner's words."""

    def part_of(self, owner: str | None) -> Ontology:
        """Returns the ontology of a private part (`owner` is set) or of the public graph (None)."""
        return self if owner is not None or self.public is None else self.public

    def faults_of(self, node_type: str, properties: dict[str, Any]) -> list[str]:
        """Returns the faults in the named properties of a node of a known type."""
        kinds = self.node_types[node_type].properties
        return [
            f"`{name}` must be {KINDS[kinds[name]]}"
            for name, value in properties.items()
            if name in kinds and value is not None and not _fits(kinds[name], value)
        ]


KINDS = {
    "text": "a text",
    "texts": "a list of texts",
    "integer": "an integer",
    "fraction": "a number from 0 to 1",
    "instant": "an RFC 3339 time with its offset",
    "level": "one of low, medium, high, critical",
}
"""Kinds of property values with their descriptions for people."""


def _fits(kind: str, value: Any) -> bool:
    match kind:
        case "text":
            return isinstance(value, str)
        case "texts":
            return isinstance(value, list) and all(isinstance(text, str) for text in value)
        case "integer":
            return isinstance(value, int) and not isinstance(value, bool)
        case "fraction":
            return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1
        case "instant":
            return isinstance(value, str) and is_instant(value)
        case _:
            return value in ("low", "medium", "high", "critical")


@cache
def load_ontology() -> Ontology:
    """Returns the ontology of this version. Raises `ValueError` if the file contradicts itself."""
    return read_ontology((Path(__file__).parent / "ontology.yaml").read_text())


def read_ontology(text: str) -> Ontology:
    """Parses an ontology from YAML. Raises `ValueError` for an unknown domain, kind or end."""
    raw = yaml.load(text, yaml.CSafeLoader)
    if tuple(raw["domains"]) != DOMAINS:
        raise ValueError(f"the domains must be {', '.join(DOMAINS)}, in this order")
    common = raw["common_properties"]
    types = {
        name: NodeType(name, fields["domain"], common | fields["properties"])
        for name, fields in raw["node_types"].items()
    }
    for node_type in types.values():
        if node_type.domain not in DOMAINS:
            raise ValueError(f"{node_type.name}: no domain {node_type.domain}")
        if unknown := set(node_type.properties.values()) - set(KINDS):
            raise ValueError(f"{node_type.name}: no kind {', '.join(sorted(unknown))}")
    groups = groups_of(types)
    edges = {
        name: edge_type(
            name, fields["description"], fields["ends"], groups, single_valued=fields.get("single_valued", False)
        )
        for name, fields in raw["relationship_types"].items()
    }
    return Ontology(raw["version"], raw["domains"], common, types, edges, frozenset(raw["single_valued_predicates"]))


def groups_of(types: Mapping[str, NodeType]) -> dict[str, frozenset[str]]:
    """Returns the types that each end of a relationship stands for: a type itself, a domain, or ANY."""
    domains: dict[str, set[str]] = {}
    for node_type in types.values():
        domains.setdefault(node_type.domain, set()).add(node_type.name)
    groups = {ANY: frozenset(types)} | {domain: frozenset(names) for domain, names in domains.items()}
    return {name: frozenset([name]) for name in types} | groups


def edge_type(
    name: str,
    description: str,
    ends: Sequence[Sequence[Sequence[str]]],
    groups: Mapping[str, frozenset[str]],
    *,
    single_valued: bool,
) -> EdgeType:
    """Returns a relationship type whose ends are `groups_of` types. Raises `ValueError` for an unknown end."""
    named = tuple((tuple(sources), tuple(targets)) for sources, targets in ends)
    resolved = tuple((_ends(name, sources, groups), _ends(name, targets, groups)) for sources, targets in named)
    return EdgeType(name, description, resolved, single_valued, named)


def _ends(edge_type: str, named: Sequence[str], groups: Mapping[str, frozenset[str]]) -> frozenset[str]:
    unknown = [name for name in named if name not in groups]
    if unknown:
        raise ValueError(f"{edge_type}: no node type or domain {', '.join(unknown)}")
    none: frozenset[str] = frozenset()
    return none.union(*(groups[name] for name in named))
