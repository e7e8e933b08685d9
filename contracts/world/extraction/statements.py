"""Adds statements that need no reading: triples, and complete nodes and edges. Each is accepted or refused by itself.

A caller's model may have written them, so an invalid one is reported with its reason and does not affect the others.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, Field, GetCoreSchemaHandler, GetJsonSchemaHandler, ValidationError
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

from contracts.base import Document
from contracts.canonical import canonical_json
from contracts.times import instant_of, utc_text
from contracts.world.extraction.findings import FALLBACK, Findings, FoundEdge, FoundNode
from contracts.world.extraction.predicates import is_implied, record_predicate, type_name
from contracts.world.graph_documents import Instant
from contracts.world.identity import LONGEST_GIVEN_ID, fact_key
from contracts.world.ontology import Ontology
from contracts.world.proposal import CLOCK_SKEW, ID_PATTERN, fault_of_properties
from contracts.world.stages import FURTHEST_END, FURTHEST_START
from contracts.world.text import is_blank

STATED = "statements"
"""The scope of names in statements: the same name and type is the same node."""

_GIVEN_ID = re.compile(ID_PATTERN)


def _visible(title: str) -> str:
    if is_blank(title):
        raise ValueError("is empty")
    return title


Title = Annotated[str, Field(min_length=1, max_length=300), AfterValidator(_visible)]
Confidence = Annotated[float, Field(ge=0, le=1, description="How sure its author is, from 0 to 1")]
GivenId = Annotated[str, Field(min_length=1, max_length=LONGEST_GIVEN_ID)]


class Thing(Document):
    """One end of a triple. `id` is that of a node in the request, or the one that the new node is to have."""

    title: Title
    type: str = Field(default="Concept", description="A node type of the schema")
    id: GivenId | None = None


class _Dated(Document):
    """A statement with the time for which it holds, and its author's confidence."""

    confidence: Confidence | None = None
    valid_from: Instant | None = Field(default=None, description="From when it holds; default now")
    valid_to: Instant | None = Field(default=None, description="Until when it holds; null = until further notice")


class Triple(_Dated):
    """Subject, predicate, object. A predicate of the schema is the edge's type; any other becomes its property.

    A subject or object given as a text is the node of the request with this id or title, otherwise a Concept.
    """

    id: GivenId | None = Field(default=None, description="Your name for it, stored as a property of its edge")
    subject: Title | Thing
    predicate: str = Field(min_length=1, max_length=100, pattern=r"\S")
    object: Title | Thing


class NodeStatement(_Dated):
    """A complete node. You choose `id`: it is stored, identifies one of your private nodes in every request, and is
    shown to nobody else."""

    id: GivenId
    title: Title
    type: str
    properties: dict[str, Any] = Field(default={})


class EdgeStatement(_Dated):
    """An edge between nodes of the request. A type that the schema does not know becomes a property, as in a triple.

    Statements about the same nodes and type share one edge, with the period that holds now or begins last; its property
    `also` contains the others.
    """

    source: str
    target: str
    type: str = Field(min_length=1, max_length=100, pattern=r"\S")
    properties: dict[str, Any] = Field(default={})


class StatementRefusal(Document):
    """A refused statement, with the reason. All others were accepted."""

    pointer: str = Field(description="Where it is in the body (RFC 6901)")
    reason: str


_Statement = TypeVar("_Statement", bound=Document)


@dataclass(frozen=True)
class _ReadLater:
    """Accepts any value for a statement, so that `read_statements` can refuse an invalid one alone, and gives the JSON
    schema of a valid one."""

    model: type[Document]

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.any_schema()

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return handler(self.model.__pydantic_core_schema__)


StatedTriple = Annotated[Any, _ReadLater(Triple)]
StatedNode = Annotated[Any, _ReadLater(NodeStatement)]
StatedEdge = Annotated[Any, _ReadLater(EdgeStatement)]

_FIELDS = frozenset(
    field.alias or name
    for model in (Thing, Triple, NodeStatement, EdgeStatement)
    for name, field in model.model_fields.items()
)
"""Names of fields. Pydantic's fault locations also name members of unions, which a body does not contain."""


class _RefusedError(Exception):
    """A statement that can't be accepted; `at` is the place of the fault within it."""

    def __init__(self, at: str, reason: str) -> None:
        super().__init__(reason)
        self.at, self.reason = at, reason


def read_statements(
    findings: Findings,
    ontology: Ontology,
    triples: Sequence[Any],
    nodes: Sequence[Any],
    edges: Sequence[Any],
    stored_id: Callable[[str], str],
    now: datetime,
) -> list[StatementRefusal]:
    """Adds statements to the findings and returns those that can't be accepted.

    `stored_id` returns the graph's id for a given one. `now` bounds the times of statements.
    """
    statements = _Statements(findings, ontology, stored_id, now)
    return [
        *_refused("/nodes", nodes, NodeStatement, statements.node),
        *_refused("/triples", triples, Triple, statements.triple),
        *_refused("/edges", edges, EdgeStatement, statements.edge),
    ]


def _refused(
    pointer: str, stated: Sequence[Any], model: type[_Statement], take: Callable[[_Statement], None]
) -> Iterator[StatementRefusal]:
    for number, value in enumerate(stated):
        try:
            take(_of_shape(model, value))
        except _RefusedError as refusal:
            yield StatementRefusal(pointer=f"{pointer}/{number}{refusal.at}", reason=refusal.reason)


def _of_shape(model: type[_Statement], value: Any) -> _Statement:
    try:
        return model.model_validate(value)
    except ValidationError as error:
        fault = error.errors(include_url=False, include_context=False, include_input=False)[0]
        at = "".join(f"/{part}" for part in fault["loc"] if part in _FIELDS)
        raise _RefusedError(at, fault["msg"]) from None


@dataclass(frozen=True)
class _EdgeClaim:
    """One statement about an edge."""

    properties: dict[str, Any]
    valid_from: str | None
    valid_to: str | None

    def in_short(self) -> dict[str, Any]:
        """Returns the claim as an entry of `also`."""
        period = {"validFrom": self.valid_from, "validTo": self.valid_to}
        return self.properties | {name: instant for name, instant in period.items() if instant is not None}


class _Statements:
    def __init__(self, findings: Findings, ontology: Ontology, stored_id: Callable[[str], str], now: datetime) -> None:
        self._latest_start, self._latest_end = utc_text(now + FURTHEST_START), utc_text(now + FURTHEST_END)
        self._now, self._soon = utc_text(now), now + CLOCK_SKEW
        self._findings = findings
        self._ontology = ontology
        self._stored_id = stored_id
        self._by_id: dict[str, FoundNode] = {}
        self._by_title: dict[str, FoundNode] = {}
        self._facts: dict[tuple[str, str | None], bytes] = {}
        self._claims: dict[tuple[str, str, str], list[_EdgeClaim]] = {}
        """The claims about each edge, by its ends and type."""

    def node(self, statement: NodeStatement) -> None:
        self._refuse_type(statement.type, "/type")
        if statement.id in self._by_id:
            raise _RefusedError("/id", f"{statement.id} occurs twice")
        properties = dict(statement.properties)
        if statement.confidence is not None:
            properties["confidence"] = statement.confidence
        self._refuse_properties(properties)
        for fault in self._ontology.faults_of(statement.type, properties):
            raise _RefusedError("/properties", fault)
        observed_at = properties.get("observed_at")
        if observed_at is not None and instant_of(observed_at) > self._soon:
            raise _RefusedError("/properties/observed_at", "is in the future")
        self._refuse_period(statement)
        self._refuse_contradiction(statement, properties)
        node = self._named(statement.id, statement.type, statement.title, "/id")
        node.properties = properties
        node.valid_from, node.valid_to = statement.valid_from, statement.valid_to
        self._by_title.setdefault(statement.title.casefold(), node)

    def triple(self, statement: Triple) -> None:
        for name, end in (("subject", statement.subject), ("object", statement.object)):
            if isinstance(end, Thing) and (end.id is None or end.id not in self._by_id):
                self._refuse_type(end.type, f"/{name}/type")
                self._refuse_id(end.id, f"/{name}/id")
        self._refuse_period(statement)
        self._refuse_type_of_act(type_name(statement.predicate), "/predicate")
        if _key(statement.subject) == _key(statement.object):
            raise _RefusedError("/object", "is the subject itself")
        subject, target = self._thing(statement.subject), self._thing(statement.object)
        if subject.id == target.id:
            raise _RefusedError("/object", "is the subject itself")
        properties = {} if statement.id is None else {"id": statement.id}
        self._tie(subject, target, statement.predicate, statement, properties)

    def edge(self, statement: EdgeStatement) -> None:
        for name, end in (("source", statement.source), ("target", statement.target)):
            if end not in self._by_id:
                raise _RefusedError(f"/{name}", f"no node of the request has the id {end}")
        if statement.source == statement.target:
            raise _RefusedError("/target", "is the source itself")
        self._refuse_type_of_act(type_name(statement.type), "/type")
        self._refuse_properties(statement.properties)
        self._refuse_period(statement)
        source, target = self._by_id[statement.source], self._by_id[statement.target]
        known = self._ontology.edge_types.get(statement.type)
        if known is not None and not known.allows(source.type, target.type):
            raise _RefusedError("/type", f"{statement.type} does not go from {source.type} to {target.type}")
        self._tie(source, target, statement.type, statement, statement.properties)

    def _tie(
        self, source: FoundNode, target: FoundNode, predicate: str, statement: _Dated, properties: dict[str, Any]
    ) -> None:
        name = type_name(predicate)
        stated = dict(properties)
        if statement.confidence is not None:
            stated["confidence"] = statement.confidence
        claim = _EdgeClaim(stated, statement.valid_from, statement.valid_to)
        known = name if name in self._ontology.edge_types else FALLBACK
        edge = self._findings.state(source, target, known, self._start_of(claim), claim.valid_to)
        record_predicate(edge, source, target, predicate, stated)
        self._add(edge, claim)

    def _start_of(self, claim: _EdgeClaim) -> str:
        """Returns the start of a claim: now by default, or before every time if it ended before now."""
        if claim.valid_from is not None:
            return claim.valid_from
        return self._now if claim.valid_to is None or claim.valid_to > self._now else ""

    def _add(self, edge: FoundEdge, claim: _EdgeClaim) -> None:
        """Adds a claim to its edge. The edge has the period of the first claim that holds now, or else of the one that
        begins last; its property `also` contains the other claims."""
        before = self._claims.setdefault((edge.source, edge.target, edge.type), [])
        if claim in before:
            return
        claims = [*before, claim]
        chosen = next(filter(self._holds_now, claims), None) or max(
            claims, key=lambda claim: (self._start_of(claim), claim.valid_to is None, claim.valid_to)
        )
        properties = chosen.properties
        if also := [other.in_short() for other in claims if other is not chosen]:
            given = properties.get("also", [])
            properties = properties | {"also": [*(given if isinstance(given, list) else [given]), *also]}
            if fault_of_properties(properties):
                raise _RefusedError("", "states more about one edge than it can contain")
        before.append(claim)
        edge.properties, edge.valid_from, edge.valid_to = properties, chosen.valid_from, chosen.valid_to

    def _holds_now(self, claim: _EdgeClaim) -> bool:
        return self._start_of(claim) <= self._now and (claim.valid_to is None or self._now < claim.valid_to)

    def _thing(self, stated: str | Thing) -> FoundNode:
        if isinstance(stated, str):
            known = self._by_id.get(stated) or self._by_title.get(stated.casefold())
            return known or self._findings.refer("statement", STATED, "Concept", stated, [])
        if stated.id is None:
            known = self._by_title.get(stated.title.casefold())
            if known is not None and known.type == stated.type:
                return known
            return self._findings.refer("statement", STATED, stated.type, stated.title, [])
        return self._by_id.get(stated.id) or self._named(stated.id, stated.type, stated.title, "/id")

    def _named(self, given: str, node_type: str, title: str, at: str) -> FoundNode:
        self._refuse_id(given, at)
        self._by_id[given] = node = self._findings.named(self._stored_id(given), node_type, title)
        return node

    def _refuse_id(self, given: str | None, at: str) -> None:
        if given is not None and (not _GIVEN_ID.fullmatch(given) or given.startswith("own/")):
            raise _RefusedError(
                at,
                "is not a valid id: letters, digits and . _ : / @ # -, the first one a letter or digit, and not `own/`",
            )

    def _refuse_type(self, name: str, at: str) -> None:
        if name not in self._ontology.node_types:
            raise _RefusedError(at, f"is not one of {', '.join(sorted(self._ontology.node_types))}")

    def _refuse_type_of_act(self, name: str, at: str) -> None:
        if is_implied(name):
            raise _RefusedError(at, f"{name} follows from facts and from a signal's acts, and can't be stated")

    def _refuse_properties(self, properties: dict[str, Any]) -> None:
        if fault := fault_of_properties(properties):
            raise _RefusedError("/properties", fault)

    def _refuse_period(self, statement: _Dated) -> None:
        start, end = statement.valid_from, statement.valid_to
        if start is not None and end is not None and end <= start:
            raise _RefusedError("/validTo", "is not after `validFrom`")
        if start is not None and start > self._latest_start:
            raise _RefusedError("/validFrom", "is more than ten years from now")
        if end is not None and end > self._latest_end:
            raise _RefusedError("/validTo", "is more than a hundred years from now")

    def _refuse_contradiction(self, statement: NodeStatement, properties: dict[str, Any]) -> None:
        """Refuses the second of two values of one fact with the same start, because nothing decides between them."""
        key = fact_key(self._ontology, STATED, properties)
        if key is None:
            return
        value = canonical_json(properties.get("value", statement.title))
        if self._facts.setdefault((key, statement.valid_from), value) != value:
            raise _RefusedError("/properties/value", "contradicts another node of the request about the same fact")


def _key(stated: str | Thing) -> tuple[str, str]:
    if isinstance(stated, str):
        return "Concept", stated.casefold()
    return stated.type, stated.id or stated.title.casefold()
