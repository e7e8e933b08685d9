"""Defines the words that an owner adds to the ontology: types, relationship types and single-valued predicates. Pure.

They apply to the owner's private part, within the seven domains, and change nothing that the service defines. If a
later version of the service defines the same word, the service's definition applies from then on.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Annotated, Literal

from pydantic import AfterValidator, ConfigDict, Field, StrictInt, StringConstraints

from contracts.base import DIGITS, Document
from contracts.canonical import canonical_json
from contracts.errors import BodyInvalid
from contracts.world.graph_documents import OneLine
from contracts.world.ontology import (
    ANY,
    DOMAINS,
    KINDS,
    EdgeType,
    NodeType,
    Ontology,
    edge_type,
    groups_of,
    load_ontology,
)
from contracts.world.proposal import HIGHEST_REVISION
from contracts.world.text import fault_of_title

LARGEST_BYTES = 65_536
MOST_WORDS = 200
"""Maximum number of types, of relationship types and of predicates."""

VERSIONS_SHOWN = 100
LONGEST_NAME = 100
MOST_PROPERTIES, MOST_ENDS, MOST_NAMES = 50, 20, 50

_TYPE, _RELATIONSHIP = re.compile(r"[A-Z][A-Za-z0-9]{0,63}"), re.compile(r"[A-Z][A-Z0-9_]{0,63}")


def _type_name(name: str) -> str:
    if not _TYPE.fullmatch(name):
        raise ValueError("is not a type name: a capital, then up to 63 letters and digits")
    return name


def _relationship_name(name: str) -> str:
    if not _RELATIONSHIP.fullmatch(name):
        raise ValueError("is not a relationship name: a capital, then up to 63 capitals, digits and _")
    return name


def _property_name(name: str) -> str:
    if fault := fault_of_title(name, LONGEST_NAME):
        raise ValueError(fault)
    return name


TypeName = Annotated[str, AfterValidator(_type_name)]
RelationshipName = Annotated[str, AfterValidator(_relationship_name)]
PropertyName = Annotated[str, AfterValidator(_property_name)]
"""A key of an object. The API's version of OpenAPI can't express a pattern for keys."""

End = Annotated[str, StringConstraints(pattern=r"^[A-Z][A-Za-z0-9]{0,63}$")]
Predicate = Annotated[str, StringConstraints(min_length=1, max_length=100), OneLine]
Kind = Literal["text", "texts", "integer", "fraction", "instant", "level"]
DomainName = Literal["FOUNDATION", "VISION", "STRATEGY", "TACTICS", "EXECUTION", "TRACK", "SYMBIOSIS"]


class _Words(Document):
    """Names in the spelling of `/api/v2/schema`."""

    model_config = ConfigDict(alias_generator=None)


class OwnNodeType(_Words):
    """A node type of the owner. Its nodes may have further properties."""

    domain: DomainName
    properties: dict[PropertyName, Kind] = Field(
        default={}, max_length=MOST_PROPERTIES, description="The kinds of the properties to check"
    )


class OwnEnds(_Words):
    """The nodes that a relationship may connect: node types, domains, or ANY."""

    sources: list[End] = Field(default=[ANY], min_length=1, max_length=MOST_NAMES)
    targets: list[End] = Field(default=[ANY], min_length=1, max_length=MOST_NAMES)


class OwnRelationshipType(_Words):
    """A relationship type of the owner."""

    description: Annotated[str, StringConstraints(min_length=1, max_length=300), OneLine]
    ends: list[OwnEnds] = Field(default=[OwnEnds()], min_length=1, max_length=MOST_ENDS)
    single_valued: bool = Field(default=False, strict=True, description="Whether a source has one target at a time")


class OwnOntology(_Words):
    """The words of an owner, in addition to the service's. They apply only to the owner's private nodes and edges."""

    node_types: dict[TypeName, OwnNodeType] = Field(
        default={}, max_length=MOST_WORDS, description="By name: a capital, then up to 63 letters and digits"
    )
    relationship_types: dict[RelationshipName, OwnRelationshipType] = Field(
        default={}, max_length=MOST_WORDS, description="By name: a capital, then up to 63 capitals, digits and `_`"
    )
    single_valued_predicates: list[Predicate] = Field(
        default=[],
        max_length=MOST_WORDS,
        description="Of nodes with one of these as `predicate`, one holds for a `subject` at a time",
    )

    def text(self) -> str:
        """Returns the words in their canonical stored form: equal words give equal texts."""
        stated = self.model_dump(mode="json", include=set(OwnOntology.model_fields))
        stated["single_valued_predicates"] = sorted(stated["single_valued_predicates"])
        return canonical_json(stated).decode()


class OntologyRequest(OwnOntology):
    """All words that apply from now on. Omitted words are removed."""

    expected_version: StrictInt | None = Field(
        default=None,
        ge=0,
        le=HIGHEST_REVISION,
        alias="expectedVersion",
        description="The version that you have read; 409 if there is a newer one. 0 if you have read none",
    )


class OntologyVersionDocument(Document):
    """One version of your ontology."""

    version: int
    recorded_at: str = Field(description="Since when it applies (UTC)")


class OntologyData(OwnOntology):
    """Your words, their version and the earlier ones."""

    version: int = Field(ge=0, description="0 before the first")
    recorded_at: str | None = Field(
        alias="recordedAt", description="Since when they apply (UTC); null before the first version"
    )
    versions: list[OntologyVersionDocument] = Field(description=f"The newest {VERSIONS_SHOWN} versions, newest first")
    changed_facts: list[str] = Field(
        alias="changedFacts",
        description="Nodes whose validity this request changed, because a predicate became single-valued or stopped "
        "being so",
    )


class OntologyAnswer(Document):
    """The envelope of an owner's ontology."""

    ok: Literal[True] = True
    data: OntologyData


class OntologyParameters(Document):
    """Selects a version."""

    version: Annotated[int, Field(ge=0, le=HIGHEST_REVISION), DIGITS] | None = Field(
        default=None, description="A version; default the newest"
    )


NO_WORDS = OwnOntology().text()


def refuse_faults(words: OwnOntology, service: Ontology) -> None:
    """Raises `BodyInvalid`, which names each fault, if the words do not fit the service's or one another."""
    faults = list(_faults(words, service))
    if len(words.text()) > LARGEST_BYTES:
        faults.append(("", f"is larger than {LARGEST_BYTES:,} bytes"))
    if faults:
        raise BodyInvalid("; ".join(f"{pointer[1:]} {fault}" for pointer, fault in faults[:3]), errors=faults)


def _faults(words: OwnOntology, service: Ontology) -> Iterator[tuple[str, str]]:
    known = {name.casefold(): name for name in service.node_types} | {name.casefold(): name for name in (*DOMAINS, ANY)}
    seen: dict[str, str] = {}
    for name, node_type in words.node_types.items():
        at = f"/node_types/{name}"
        if name.casefold() in known:
            yield at, f"is {known[name.casefold()]} of the service, which can't be changed"
        if seen.setdefault(name.casefold(), name) != name:
            yield at, f"differs from {seen[name.casefold()]} only in case"
        for named, kind in node_type.properties.items():
            common = service.common_properties.get(named)
            if common not in (None, kind):
                yield f"{at}/properties/{named}", f"must be {KINDS[str(common)]} in every type"
    ends = {*service.node_types, *words.node_types, *DOMAINS, ANY}
    for name, relationship in words.relationship_types.items():
        at = f"/relationship_types/{name}"
        if name in service.edge_types:
            yield at, "is a relationship type of the service, which can't be changed"
        for number, pair in enumerate(relationship.ends):
            for side, names in (("sources", pair.sources), ("targets", pair.targets)):
                unknown = [end for end in names if end not in ends]
                if unknown:
                    yield f"{at}/ends/{number}/{side}", f"names no node type or domain {', '.join(unknown)}"
    for number, predicate in enumerate(words.single_valued_predicates):
        at = f"/single_valued_predicates/{number}"
        if predicate in service.single_valued_predicates:
            yield at, f"{predicate} is single-valued for everybody"
        if predicate in words.single_valued_predicates[:number]:
            yield at, f"{predicate} occurs twice"


def merged(newest: OwnOntology, earlier: Iterable[OwnOntology]) -> OwnOntology:
    """Returns the newest words merged with those of earlier versions (newest first), to judge states that have ended.

    A changed word accepts whatever any of its versions accepted.
    """
    types, relationships = dict(newest.node_types), dict(newest.relationship_types)
    for words in earlier:
        for name, was in words.node_types.items():
            known = types.setdefault(name, was)
            same = {named: kind for named, kind in known.properties.items() if was.properties.get(named) == kind}
            types[name] = OwnNodeType(domain=known.domain, properties=same)
        for name, had in words.relationship_types.items():
            kept = relationships.setdefault(name, had)
            ends = [*kept.ends, *(pair for pair in had.ends if pair not in kept.ends)]
            relationships[name] = kept.model_copy(update={"ends": ends if len(ends) <= MOST_ENDS else [OwnEnds()]})
    return newest.model_copy(update={"node_types": types, "relationship_types": relationships})


def unfit(words: OwnOntology, known: OwnOntology) -> Iterator[tuple[str, str]]:
    """Yields a pointer and a reason for each word that `known` lacks or defines differently."""
    for name, node_type in words.node_types.items():
        if known.node_types.get(name) != node_type:
            yield f"/node_types/{name}", _unfit(name in known.node_types)
    for name, relationship in words.relationship_types.items():
        if known.relationship_types.get(name) != relationship:
            yield f"/relationship_types/{name}", _unfit(name in known.relationship_types)
    for predicate in words.single_valued_predicates:
        if predicate not in known.single_valued_predicates:
            yield f"/single_valued_predicates/{predicate}", _unfit(False)


def _unfit(is_known: bool) -> str:
    return "means something else in your ontology" if is_known else "is not in your ontology"


@lru_cache(maxsize=256)
def ontology_with(text: str) -> Ontology:
    """Returns the service's ontology with the words of an owner, which come from `OwnOntology.text`."""
    return extended(load_ontology(), OwnOntology.model_validate_json(text))


def extended(service: Ontology, words: OwnOntology) -> Ontology:
    """Returns the service's ontology with an owner's words. The service's definitions have precedence."""
    own = {
        name: NodeType(name, node_type.domain, service.common_properties | node_type.properties)
        for name, node_type in words.node_types.items()
        if name not in service.node_types
    }
    if not own and not words.relationship_types and not words.single_valued_predicates:
        return service
    types = service.node_types | own
    groups = groups_of(types)
    edges = {name: _with_types(known, groups) for name, known in service.edge_types.items()}
    for name, stated in words.relationship_types.items():
        if name not in edges:
            ends = [(pair.sources, pair.targets) for pair in stated.ends]
            edges[name] = edge_type(name, stated.description, ends, groups, single_valued=stated.single_valued)
    return Ontology(
        service.version,
        service.domains,
        service.common_properties,
        types,
        edges,
        service.single_valued_predicates | set(words.single_valued_predicates),
        public=service,
    )


def _with_types(known: EdgeType, groups: Mapping[str, frozenset[str]]) -> EdgeType:
    """Returns a relationship type that can also connect the owner's node types of its domains."""
    return edge_type(known.name, known.description, known.named_ends, groups, single_valued=known.single_valued)
