"""Recognises plain imported nodes and edges, which no stage could object to, and encodes them in their stored form.

A plain node or edge has one state that holds until further notice, states no single-valued fact, and fits the ontology.
If it is new, or equals what the graph already has, this check is all it needs. Only the rest of a file is planned and
judged by the stages one by one. A state that is not plain is not necessarily at fault. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import msgspec

from contracts.secret_texts import SecretInText, refuse_secrets
from contracts.standing import rank
from contracts.world.drafts import is_same_statement
from contracts.world.edges_alike import EdgesAlike
from contracts.world.identity import dedupe_key, edge_id, own_id, statement_key
from contracts.world.import_file import (
    LONGEST_DECISION_ID,
    FileIndex,
    ImportedEdge,
    ImportedNode,
    StateReader,
    fault_of_source,
    is_importable_id,
)
from contracts.world.ontology import ACT_EDGES, SUPERSEDES, Ontology
from contracts.world.own_ontology import ontology_with
from contracts.world.portable import EdgeRecord, NodeRecord
from contracts.world.proposal import (
    HIGHEST_REVISION,
    LARGEST_PROPERTIES_BYTES,
    LONGEST_TITLE,
    Actor,
    EdgeDraft,
    NodeDraft,
    Proposal,
    authority_of,
    fault_of_properties,
    is_id,
)
from contracts.world.records import Edge, Node, State
from contracts.world.text import fault_of_title

NOW = "\x00now"
"""Placeholder for the time of the import in an encoded state. No text of the graph can contain the character."""

_NOW_ENCODED = '"\\u0000now"'
_REVISION = ',"revision":0,'
_NO_ENDS = '{"id":"","source":"","target":"",'
_UNSEEN = -1
_BYTES_OF_VALUE = 32
"""Upper bound for an encoded number and the punctuation around it."""

_FACTS = frozenset(("predicate", "confidence", "observed_at"))
"""Properties that the stages check."""

_encode = msgspec.json.Encoder().encode
_node = msgspec.json.Decoder(Node).decode
_edge = msgspec.json.Decoder(Edge).decode


class NewNode(NamedTuple):
    """A plain node in its stored form, except for its revision and the time of the import."""

    id: str
    source: str
    body: tuple[str, str]
    """The state as JSON, split before and after its revision."""
    domain: str
    dedupe_key: str
    fact_key: str | None


class NewEdge(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """A plain edge, without the members that it shares with others: `shared` is the index of an `EdgeForm`."""

    id: str
    source: str
    target: str
    shared: int


class EdgeForm(NamedTuple):
    """The members that many edges share: all except their own id and their ends' ids, which JSON does not escape."""

    type: str
    stated_in: str
    body: tuple[str, str]
    """The state as JSON after its ids, split before and after its revision."""


def stored_body(body: tuple[str, str], revision: int, now: str) -> str:
    """Returns the state of a node as JSON with its revision and the time of the import."""
    head, tail = body
    return f'{head},"revision":{revision},{tail}'.replace(_NOW_ENCODED, f'"{now}"')


def recorded_at(form: EdgeForm, now: str) -> EdgeForm:
    """Returns the form with the time of the import."""
    head, tail = form.body
    return form._replace(body=(head.replace(_NOW_ENCODED, f'"{now}"'), tail.replace(_NOW_ENCODED, f'"{now}"')))


class NodesOfPart(msgspec.Struct, frozen=True):
    """The nodes of a part of a file, with all that a process needs to judge the texts and find the plain nodes."""

    actor: Actor
    owner: str
    words: str
    """The owner's words: `OwnOntology.text`."""
    now: str
    """The time of judging."""
    moved: dict[str, str]
    """Stored ids that date from before ids had a prefix per owner, by id in the file."""
    nodes: list[ImportedNode]
    edges: list[EdgeDraft]
    """Edges with texts."""

    @property
    def texts(self) -> Proposal:
        """Returns the texts of the part for the guardrail: those of all states, including ones that had ended."""
        return Proposal(
            actor=self.actor,
            source="import",
            nodes=tuple(
                NodeDraft(id=own_id(self.owner, node.id), type=node.type, title=node.title, properties=node.properties)
                for item in self.nodes
                for node in item.states
            ),
            edges=tuple(self.edges),
        )

    def plain(self) -> list[NewNode | None]:
        """Returns the stored form of each plain node, and None for the others."""
        if not may_import_plainly(self.actor):
            return [None] * len(self.nodes)
        reader = _NodeReader(self)
        return [reader.node(item) for item in self.nodes]


def may_import_plainly(actor: Actor) -> bool:
    """Decides whether an actor's imports can be plain at all."""
    return actor.kind in ("caller", "operator")


@dataclass(frozen=True)
class _Holding:
    """Recognises states that hold until further notice and that an actor may import."""

    time: str
    highest: int

    @classmethod
    def now(cls, actor: Actor, now: str) -> _Holding:
        return cls(now, rank(authority_of(actor)))

    def is_plain(self, record: NodeRecord | EdgeRecord) -> bool:
        source = record.source if isinstance(record, NodeRecord) else record.stated_in
        return (
            record.valid_to is None
            and not record.disputed
            and (record.valid_from is None or record.valid_from <= self.time)
            and (record.recorded_at is None or record.recorded_at <= self.time)
            and rank(record.source_class) <= self.highest
            and (record.decision is None or len(record.decision) <= LONGEST_DECISION_ID)
            and fault_of_source(source) is None
        )


class _NodeReader:
    def __init__(self, part: NodesOfPart) -> None:
        ontology = ontology_with(part.words)
        ids = {item.id: part.moved.get(item.id) or own_id(part.owner, item.id) for item in part.nodes}
        self._owner = part.owner
        self._ontology = ontology.part_of(part.owner)
        self._holding = _Holding.now(part.actor, part.now)
        self._reader = StateReader(part.owner, part.actor.name, NOW, ontology, ids)

    def node(self, item: ImportedNode) -> NewNode | None:
        """Returns the stored form of a plain node, or None."""
        record = item.states[-1]
        known = self._ontology.node_types.get(record.type)
        if (
            len(item.states) > 1
            or known is None
            or record.domain not in (None, known.domain)
            or record.immutable
            or record.ended_by is not None
            or record.retracted
            or record.confirmed_as is not None
            or record.confirmed_at is not None
            or record.stated_to is not None
            or not self._holding.is_plain(record)
        ):
            return None
        properties = record.properties
        if properties and not (_FACTS.isdisjoint(properties) and has_plain_values(properties)):
            return None
        node = self._reader.node(record)
        if (
            not is_importable_id(self._owner, record.id)
            or not is_id(node.id)
            or fault_of_title(record.title, LONGEST_TITLE) is not None
            or self._ontology.faults_of(record.type, properties)
            or _holds_secret([record.title, properties])
        ):
            return None
        return NewNode(
            node.id,
            node.source,
            _split(node),
            node.domain,
            dedupe_key(self._owner, node.type, node.title),
            statement_key(self._owner, properties),
        )


class PlainEdges:
    """Turns plain edges of a file into their stored form, and others into None. `now` is the time of judging."""

    def __init__(self, index: FileIndex, owner: str, actor: Actor, ontology: Ontology, now: str) -> None:
        self._types = index.types
        self._escaped = index.escaped
        self._owner = owner
        self._holding = _Holding.now(actor, now)
        self._reader = StateReader(owner, actor.name, NOW, ontology, index.stored)
        self._edge_types = {
            name: known
            for name, known in ontology.part_of(owner).edge_types.items()
            if not known.single_valued and name != SUPERSEDES and name not in ACT_EDGES
        }
        self._allowed: dict[tuple[str, str, str], bool] = {}
        self._ids = index.stored
        self._edge_ids = index.edge_ids
        self._known: dict[tuple[str | None, ...], int | None] = {}
        self.forms: list[EdgeForm] = []
        """The members that plain edges share."""

    def edges(self, items: Iterable[ImportedEdge | EdgesAlike]) -> Iterator[NewEdge | None]:
        """Yields the stored form of each plain edge between nodes of the file, and None for the others.

        A file has many edges, so the members that they share are checked only once.
        """
        escaped = self._escaped
        for item in items:
            record = item.states[-1]
            shared = self._shared(record) if len(item.states) == 1 else None
            if isinstance(item, EdgesAlike):
                for source, target in item.ends:
                    yield None if shared is None else self._edge(record.type, source, target, shared)
            elif shared is None or record.source in escaped or record.target in escaped:
                yield None
            else:
                yield self._edge(record.type, record.source, record.target, shared)

    def _edge(self, edge_type: str, source: str, target: str, shared: int) -> NewEdge | None:
        """Returns an edge with plain shared members if its ends are plain too, or None. JSON must not escape them."""
        source_type, target_type = self._types.get(source), self._types.get(target)
        if (
            not isinstance(source_type, str)
            or not isinstance(target_type, str)
            or source == target
            or not self._allows(edge_type, source_type, target_type)
        ):
            return None
        prefix, moved = self._ids.prefix, self._ids.moved
        stored_source, stored_target = moved.get(source) or prefix + source, moved.get(target) or prefix + target
        stored_id = edge_id(self._owner, stored_source, edge_type, stored_target)
        return NewEdge(self._edge_ids.get(stored_id, stored_id), stored_source, stored_target, shared)

    def _shared(self, record: EdgeRecord) -> int | None:
        """Returns the index in `forms` of the members that an edge shares with others, or None if it is not plain."""
        if record.properties or record.valid_to is not None or record.disputed:
            return self._formed(record)
        # edges that differ only in their ends are checked once
        about = (
            record.type,
            record.stated_in,
            record.valid_from,
            record.recorded_at,
            record.decision,
            record.author,
            record.source_class,
        )
        shared = self._known.get(about, _UNSEEN)
        if shared == _UNSEEN:
            shared = self._known[about] = self._formed(record)
        return shared

    def _formed(self, record: EdgeRecord) -> int | None:
        """Adds the members that an edge shares to `forms` and returns their index, or None if it is not plain."""
        properties = record.properties
        if not self._holding.is_plain(record) or (
            properties and (not has_plain_values(properties) or _holds_secret(properties))
        ):
            return None
        head, tail = _split(msgspec.structs.replace(self._reader.edge(record), id="", source="", target=""))
        self.forms.append(EdgeForm(record.type, record.stated_in, (head.removeprefix(_NO_ENDS), tail)))
        return len(self.forms) - 1

    def _allows(self, edge_type: str, source: str, target: str) -> bool:
        ends = (edge_type, source, target)
        allowed = self._allowed.get(ends)
        if allowed is None:
            known = self._edge_types.get(edge_type)
            allowed = self._allowed[ends] = known is not None and known.allows(source, target)
        return allowed


def unchanged_nodes(nodes: Iterable[NewNode | None], known: Mapping[str, Node]) -> set[str]:
    """Returns the ids of the plain nodes whose newest state in `known` makes the same statement, so that there is
    nothing to decide or write."""
    return {
        node.id
        for node in nodes
        if node is not None
        and (before := known.get(node.id)) is not None
        and _is_stated_again(before, _node(stored_body(node.body, 0, "")))
    }


def unchanged_edges(edges: Iterable[NewEdge | None], forms: Sequence[EdgeForm], known: Mapping[str, Edge]) -> set[str]:
    """Returns the ids of the plain edges whose newest state in `known` makes the same statement."""
    formed = [_edge(stored_body((_NO_ENDS + form.body[0], form.body[1]), 0, "")) for form in forms] if known else []
    return {
        edge.id
        for edge in edges
        if edge is not None
        and (before := known.get(edge.id)) is not None
        and _is_stated_again(
            before, msgspec.structs.replace(formed[edge.shared], source=edge.source, target=edge.target)
        )
    }


def _is_stated_again(before: State, stated: State) -> bool:
    if not stated.valid_from:  # then the start of the known state stays
        stated = msgspec.structs.replace(stated, valid_from=before.valid_from)
    return is_same_statement(before, stated)


def _split(state: Node | Edge) -> tuple[str, str]:
    if not state.valid_from:
        state = msgspec.structs.replace(state, valid_from=NOW)
    # the last match is the state's own revision: no member after it contains an object that a writer controls
    head, _, tail = _encode(state).decode().rpartition(_REVISION)
    return head, tail


def _holds_secret(texts: Any) -> bool:
    try:
        refuse_secrets(texts)
    except SecretInText:
        return True
    return False


def has_plain_values(properties: dict[str, Any]) -> bool:
    """Decides whether these properties are free of faults. Short ASCII values need no check of the encoded form."""
    size = 0
    for name, value in properties.items():
        text = f"{name}{value}" if isinstance(value, str) else name
        size += len(text)
        is_other = isinstance(value, float | list | dict) or (isinstance(value, int) and abs(value) > HIGHEST_REVISION)
        if is_other or not (text.isascii() and text.isprintable()):
            return fault_of_properties(properties) is None
    return 2 * size + _BYTES_OF_VALUE * len(properties) <= LARGEST_PROPERTIES_BYTES
