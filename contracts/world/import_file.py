"""Reads the lines of an import into nodes and edges with their states. Pure: it compares nothing with the graph."""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from itertools import islice
from sys import intern
from typing import Any, cast

import msgspec
from pydantic import ValidationError

from contracts.errors import BodyInvalid, ImportInvalid, ImportVersionUnsupported
from contracts.secret_texts import SecretInText, refuse_secrets
from contracts.times import normal_instant
from contracts.world.drafts import edge_draft_of, node_draft_of
from contracts.world.edges_alike import EdgesAlike, LinesAlike, lines_like
from contracts.world.identity import edge_id, fact_key, given_id, own_id
from contracts.world.ontology import Ontology, load_ontology
from contracts.world.own_ontology import NO_WORDS, OwnOntology, merged, unfit
from contracts.world.own_ontology import refuse_faults as refuse_faulty_words
from contracts.world.portable import (
    COUNTING_EDGES,
    FORMAT,
    GONE,
    VERSION,
    WHOLE,
    CountedEdge,
    DecisionRecord,
    EdgeRecord,
    EndRecord,
    Header,
    NodeRecord,
    OntologyRecord,
    Record,
    RecordDecoder,
    StateRecord,
    is_other_version,
    origin_of,
    record_of,
    records_of,
)
from contracts.world.proposal import LONGEST_SOURCE, PIPELINE, EdgeDraft, NodeDraft, Proposal, checked, is_id
from contracts.world.records import Edge, Node
from contracts.world.text import fault_of_title

_STATES = (NodeRecord, EdgeRecord)

LONGEST_LINE = 1 << 20
"""Maximum bytes per line."""

LONGEST_DECISION_ID = 200
ONTOLOGY_LINE = 2
MOST_NAMED = 20
_DRAFTS_AT_ONCE = 10_000
_LINES_AT_ONCE = 500

_OWN_OF_NOBODY = re.compile(r"own/(?![0-9a-f]{32}/)")

_FACT_PROPERTIES = ("subject", "predicate", "value", "confidence")


class ImportedNode(msgspec.Struct, frozen=True, gc=False):
    """A node of the file: its states, oldest first. The last one is current."""

    states: tuple[NodeRecord, ...]
    line: int

    @property
    def id(self) -> str:
        """Returns the id in the file."""
        return self.states[-1].id


class ImportedEdge(msgspec.Struct, frozen=True, gc=False):
    """An edge of the file: its states, oldest first. The last one is current."""

    states: tuple[EdgeRecord, ...]
    line: int


def each_edge(item: ImportedEdge | EdgesAlike) -> Iterable[ImportedEdge]:
    """Returns edges one by one."""
    if isinstance(item, ImportedEdge):
        return (item,)
    return (ImportedEdge((record,), line) for line, record in enumerate(item.records(), item.line))


Lines = Callable[[], Iterable[bytes]]
"""Opens the lines of a file again, from its beginning."""

Imported = ImportedNode | ImportedEdge
Item = Imported | EdgesAlike | DecisionRecord | OntologyRecord


def read_import(lines: Iterable[bytes]) -> Iterator[Item]:
    """Yields the words, nodes, edges and decisions of a file in order. Similar edges may come as one `EdgesAlike`.

    Only the exhausted iterator guarantees that nothing is missing. Raises `ImportVersionUnsupported`, and
    `ImportInvalid` with the line number.
    """
    return cast("Iterator[Item]", _read(lines, WHOLE))


def read_nodes(lines: Iterable[bytes]) -> Iterator[Item | CountedEdge]:
    """Yields the items of `read_import`, but decodes edges only enough to count their states: most lines are edges, and
    a first pass needs none of their fields."""
    return _read(lines, COUNTING_EDGES)


def _read(lines: Iterable[bytes], decoder: RecordDecoder) -> Iterator[Item | CountedEdge]:
    number, ended = 0, False
    states: list[StateRecord] = []
    for record in _records(lines, decoder):
        number += 1
        if isinstance(record, CountedEdge | EdgesAlike) and number > 1:
            if states:
                raise _invalid(number, "begins before the current state of the previous node or edge")
            if isinstance(record, EdgesAlike):
                yield msgspec.structs.replace(record, record=_timed(number, record.record))
                number += len(record.ends) - 1
            else:
                yield record
        elif isinstance(record, _STATES) and number > 1:
            record = _timed(number, record)
            if record.current and not states:
                yield (
                    ImportedNode((record,), number)
                    if isinstance(record, NodeRecord)
                    else ImportedEdge((record,), number)
                )
                continue
            if states and _identity(states[-1]) != _identity(record):
                raise _invalid(number, "begins before the current state of the previous node or edge")
            states.append(record)
            if record.current:
                yield item_of(states, number)
                states = []
        elif number == 1 or isinstance(record, Header):
            _check_header(number, record)
        elif isinstance(record, EndRecord):
            if states:
                raise _invalid(number, "ends the file before the current state of a node or an edge")
            if record.lines != number - 1:
                raise _invalid(number, f"counts {record.lines:,} lines, but {number - 1:,} precede it")
            ended = True
        elif isinstance(record, OntologyRecord):
            if number != ONTOLOGY_LINE:
                raise _invalid(number, "has an ontology, which must directly follow the header")
            yield record
        elif isinstance(record, DecisionRecord):
            yield record
    if not ended:
        raise ImportInvalid(f"The file ends after line {number:,} without its end record: a part of it is missing.")


def _timed(number: int, record: StateRecord) -> StateRecord:
    """Returns a record with its times in the form of the graph."""
    times: tuple[str | None, ...] = (record.valid_from, record.valid_to, record.recorded_at)
    if isinstance(record, NodeRecord):
        times = (*times, record.stated_at, record.stated_to, record.confirmed_at)
    if _are_normal(times):
        return record
    fields = {"valid_from": record.valid_from, "valid_to": record.valid_to, "recorded_at": record.recorded_at}
    if isinstance(record, NodeRecord):
        fields |= {"stated_at": record.stated_at, "stated_to": record.stated_to, "confirmed_at": record.confirmed_at}
    try:
        normal = {name: normal_instant(time) for name, time in fields.items() if time is not None}
    except ValueError:
        raise _invalid(
            number, "has a time that is not RFC 3339 with its offset, such as 2026-01-31T12:00:00Z"
        ) from None
    return msgspec.structs.replace(record, **normal)


@lru_cache(maxsize=10_000)
def _are_normal(times: tuple[str | None, ...]) -> bool:
    return all(time is None or _is_normal(time) for time in times)


_NORMAL = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", re.ASCII)


@lru_cache(maxsize=10_000)
def _is_normal(time: str) -> bool:
    try:
        return _NORMAL.fullmatch(time) is not None and datetime.fromisoformat(time) is not None
    except ValueError:
        return False


def item_of(states: list[StateRecord], line: int) -> Imported:
    """Returns the node or edge that has exactly these states."""
    newest = states[-1]
    if isinstance(newest, NodeRecord):
        return ImportedNode(tuple(state for state in states if isinstance(state, NodeRecord)), line)
    return ImportedEdge(tuple(state for state in states if isinstance(state, EdgeRecord)), line)


def _identity(record: StateRecord) -> tuple[str, ...]:
    if isinstance(record, NodeRecord):
        return (record.id,)
    return (record.source, record.type, record.target)


def _records(lines: Iterable[bytes], decoder: RecordDecoder) -> Iterator[Record | CountedEdge | EdgesAlike]:
    """Yields the record of each line up to the end. Decodes many lines at once; where that fails, one by one."""
    rest = iter(lines)
    number, ended = 0, False
    alike: LinesAlike | None = None
    while together := list(islice(rest, _LINES_AT_ONCE)):
        records = None
        if number and not ended and max(map(len, together)) <= LONGEST_LINE:
            if alike is not None and (edges := alike.edges(together, number + 1)) is not None:
                yield edges
                number += len(together)
                continue
            records = records_of(together, decoder)
        if records is not None and EndRecord not in map(type, records):
            yield from records
            number += len(records)
            alike = _lines_like(together[-1])
            continue
        for line in together:
            number += 1
            if ended:
                raise _invalid(number, "follows the end")
            record = _record(number, line, decoder)
            ended = isinstance(record, EndRecord)
            yield record
        alike = _lines_like(together[-1])


def _lines_like(line: bytes) -> LinesAlike | None:
    try:
        record = record_of(line)
    except (ValueError, RecursionError):
        return None  # an edge that is only counted; the later full read reports its fault
    return lines_like(line, record) if isinstance(record, EdgeRecord) else None


def _record(number: int, line: bytes, decoder: RecordDecoder) -> Record | CountedEdge:
    if len(line) > LONGEST_LINE:
        raise _invalid(number, f"has more than {LONGEST_LINE:,} bytes")
    if number == 1:
        line = line.removeprefix(codecs.BOM_UTF8)  # editors add it
    if number == 1 and is_other_version(line):
        raise ImportVersionUnsupported(
            f"The file is of another version of the format {FORMAT} than {VERSION}.",
            errors=[("/lines/1", f"`version` must be {VERSION}")],
        )
    try:
        return record_of(line, decoder)
    except (ValueError, RecursionError) as error:
        raise _invalid(number, f"is not a record: {str(error)[:200]}") from None


def _stated_again(line: int, what: str, before: int) -> ImportInvalid:
    return _invalid(
        line,
        f"states {what[:200]} again, which line {before:,} states: states of one must be consecutive",
    )


def _check_header(number: int, record: object) -> None:
    if number != 1 or not isinstance(record, Header) or record.format != FORMAT:
        raise _invalid(number, f"must be the header of {FORMAT}" if number == 1 else "is a second header")


def _invalid(number: int, what: str) -> ImportInvalid:
    return ImportInvalid(f"Line {number:,} {what}.", errors=[(f"/lines/{number}", what)])


@dataclass(frozen=True)
class Words:
    """An owner's words, without and with those of earlier versions, each as `OwnOntology.text` writes them."""

    newest: str = NO_WORDS
    ever: str = NO_WORDS


def words_after(record: OntologyRecord, known: Words) -> Words:
    """Returns an owner's words after the import of a file with these words.

    An owner without words gets those of the file. Otherwise the owner's words stay, and must include all of the file's.
    Raises `ImportInvalid`, which names what does not fit, and `SecretInText`.
    """
    words = _words(record.words)
    ever = words if record.former is None else merged(words, [_words(record.former)])
    if known.newest == NO_WORDS:
        return Words(words.text(), merged(ever, [OwnOntology.model_validate_json(known.ever)]).text())
    faults = list(unfit(words, OwnOntology.model_validate_json(known.newest)))
    had = OwnOntology.model_validate_json(known.ever)
    for kind, stated, held in (
        ("node_types", ever.node_types, had.node_types),
        ("relationship_types", ever.relationship_types, had.relationship_types),
    ):
        named = {pointer for pointer, _ in faults}
        missing = [f"/{kind}/{name}" for name in stated if name not in held]
        faults += [(at, "is not, and was not, in your ontology") for at in missing if at not in named]
    if faults:
        raise _invalid_words("has words that do not fit yours", faults)
    return known


def _words(stated: dict[str, Any]) -> OwnOntology:
    try:
        words = OwnOntology.model_validate(stated)
        refuse_faulty_words(words, load_ontology())
    except ValidationError as error:
        faults = [("/" + "/".join(map(str, fault["loc"])), fault["msg"]) for fault in error.errors()]
        raise _invalid_words("has no ontology", faults) from None
    except BodyInvalid as problem:
        raise _invalid_words("has no ontology", list(problem.errors)) from None
    _refuse_secret_in(ONTOLOGY_LINE, stated)
    return words


def _invalid_words(what: str, faults: list[tuple[str, str]]) -> ImportInvalid:
    named = "; ".join(f"{pointer[1:]} {fault}" for pointer, fault in faults[:MOST_NAMED])
    more = f"; and {len(faults) - MOST_NAMED} more" if len(faults) > MOST_NAMED else ""
    at = f"/lines/{ONTOLOGY_LINE}/words"
    return ImportInvalid(
        f"Line {ONTOLOGY_LINE} {what}: {named}{more}.",
        errors=[(f"{at}{pointer}", fault) for pointer, fault in faults[:MOST_NAMED]],
    )


class StoredIds(Mapping[str, str]):
    """Maps the id of every node in a file to its stored id."""

    def __init__(self, owner: str, nodes: Mapping[str, object]) -> None:
        self.prefix = own_id(owner, "")
        """Prefix of the stored id of every node that is not in `moved`."""
        self.moved: dict[str, str] = {}
        """The stored ids that date from before ids had a prefix per owner."""
        self._nodes = nodes
        self._called: dict[str, str] = {}

    def claim(self, stored: Mapping[str, str]) -> None:
        """Records the stored ids of some nodes."""
        moved = {called: held for called, held in stored.items() if held != self.prefix + called}
        self.moved |= moved
        self._called |= {held: called for called, held in moved.items()}

    def called(self, stored: str) -> str | None:
        """Returns the id in the file of a node with a stored id, or None."""
        called = self._called.get(stored)
        if called is None and stored.startswith(self.prefix):
            called = stored[len(self.prefix) :]
        return called if called is not None and called in self._nodes and self[called] == stored else None

    def __getitem__(self, called: str) -> str:
        if called not in self._nodes:
            raise KeyError(called)
        return self.moved.get(called) or self.prefix + called

    def __iter__(self) -> Iterator[str]:
        return iter(self._nodes)

    def __len__(self) -> int:
        return len(self._nodes)


class CurrentNodes(Mapping[str, Node]):
    """The current state of every node of a file by stored id, without fields that no stage compares."""

    def __init__(self, stored: StoredIds, types: Mapping[str, str | Node], owner: str) -> None:
        self._stored = stored
        self._types = types
        self._owner = owner

    def __getitem__(self, stored: str) -> Node:
        called = self._stored.called(stored)
        if called is None:
            raise KeyError(stored)
        known = self._types[called]
        return known if isinstance(known, Node) else _node_of_type(stored, known, self._owner)

    def __iter__(self) -> Iterator[str]:
        return iter(self._stored.values())

    def __len__(self) -> int:
        return len(self._types)


def _node_of_type(stored: str, node_type: str, owner: str) -> Node:
    return Node(
        id=stored,
        title="",
        type=node_type,
        domain="",
        properties={},
        visibility="private",
        owner=owner,
        immutable=False,
        valid_from="",
        valid_to=None,
        recorded_at="",
        source="",
        actor="",
        revision=0,
    )


@dataclass
class FileIndex:
    """Facts about a whole file that the judgement of one part needs."""

    owner: str
    types: dict[str, str | Node] = field(default_factory=dict)
    """By id in the file: the type of a node that holds and states no fact, or the current state of any other node."""
    fact_keys: dict[str, list[str]] = field(default_factory=dict)
    """The ids in the file of the nodes about one subject and single-valued predicate."""
    endings: set[tuple[str, str]] = field(default_factory=set)
    """Pairs of ids in the file: a node, and another that it ended in some state."""
    confirmed: set[str] = field(default_factory=set)
    """Ids in the file of the nodes that are confirmed in some state."""
    escaped: set[str] = field(default_factory=set)
    """Ids in the file with characters that JSON escapes."""
    edge_ids: Mapping[str, str] = field(default_factory=dict)
    """The ids of the edges that the owner took over, by the ids that new edges of the owner would get."""
    edges: int = 0
    states: int = 0
    stored: StoredIds = field(init=False)
    current: CurrentNodes = field(init=False)

    def __post_init__(self) -> None:
        self.stored = StoredIds(self.owner, self.types)
        self.current = CurrentNodes(self.stored, self.types, self.owner)


@dataclass(frozen=True)
class Limits:
    """The maximum size of one import."""

    nodes: int
    states: int


Resolve = Callable[[list[str]], Mapping[str, str]]
"""Returns the stored ids of the nodes that have these ids in a file. Raises `IdTaken`."""

IDS_AT_ONCE = 5_000


def survey(
    lines: Lines,
    owner: str,
    resolve: Resolve,
    ontology: Ontology,
    limits: Limits | None = None,
) -> FileIndex:
    """Reads a whole file once, skipping the fields of most edges, and returns its index.

    Raises `ImportInvalid`, `IdTaken` and the errors of `read_import`.
    """
    index = FileIndex(owner)
    pending: list[ImportedNode] = []
    nodes = 0
    for item in read_nodes(lines()):
        if isinstance(item, CountedEdge):
            index.states += 1
            index.edges += item.current
        elif isinstance(item, DecisionRecord | OntologyRecord):
            continue
        elif isinstance(item, EdgesAlike):
            index.states += len(item.ends)
            index.edges += len(item.ends)
        elif isinstance(item, ImportedEdge):
            index.states += len(item.states)
            index.edges += 1
        else:
            index.states += len(item.states)
            nodes += 1
            pending.append(item)
            if len(pending) >= IDS_AT_ONCE:
                _index_nodes(index, pending, lines, resolve, ontology)
                pending = []
        if limits is not None and (nodes > limits.nodes or index.states > limits.states):
            raise ImportInvalid(
                f"One import may have at most {limits.nodes:,} nodes, and {limits.states:,} states of nodes and edges. "
                "Split the file, or let an operator import it."
            )
    _index_nodes(index, pending, lines, resolve, ontology)
    return index


def _index_nodes(
    index: FileIndex, nodes: list[ImportedNode], lines: Lines, resolve: Resolve, ontology: Ontology
) -> None:
    index.stored.claim(resolve([node.id for node in nodes]))
    reader = StateReader(index.owner, "", "", ontology, index.stored)
    for imported in nodes:
        newest = imported.states[-1]
        if imported.id in index.types:
            raise _stated_again(imported.line, imported.id, _line_of_node(lines, imported.id))
        if '"' in imported.id or "\\" in imported.id or not imported.id.isprintable():
            index.escaped.add(imported.id)
        if _holds_without_fact(newest):
            index.types[imported.id] = intern(newest.type)
        else:
            index.types[imported.id] = newest.type
            node = reader.node(newest)
            slim = {name: node.properties[name] for name in _FACT_PROPERTIES if name in node.properties}
            index.types[imported.id] = msgspec.structs.replace(node, properties=slim)
            key = fact_key(ontology, index.owner, node.properties)
            if key is not None:
                index.fact_keys.setdefault(key, []).append(imported.id)
        for state in imported.states:
            if state.ended_by is not None:
                index.endings.add((state.ended_by, imported.id))
            if state.confirmed_as is not None:
                index.confirmed.add(imported.id)


def _line_of_node(lines: Lines, node_id: str) -> int:
    nodes = (item for item in read_nodes(lines()) if isinstance(item, ImportedNode))
    return next(node.line for node in nodes if node.id == node_id)


def _holds_without_fact(newest: NodeRecord) -> bool:
    stands = newest.valid_to is None and not newest.retracted and not newest.immutable
    return stands and "predicate" not in newest.properties


@dataclass(frozen=True)
class StateReader:
    """Turns records into states of `owner` that `actor` imports at `now`. `ids` maps ids in the file to stored ids."""

    owner: str
    actor: str
    now: str
    ontology: Ontology
    ids: Mapping[str, str]
    others: Mapping[str, str] = field(default_factory=dict)
    """The stored ids of the owner's nodes that the file only names."""
    edge_ids: Mapping[str, str] = field(default_factory=dict)
    """`FileIndex.edge_ids`."""

    def node(self, record: NodeRecord) -> Node:
        """Returns the state of a node, without a revision. Its times are those of the file."""
        known = self.ontology.node_types.get(record.type)
        return Node(
            id=self._stored(record.id),
            title=record.title,
            type=record.type,
            domain=record.domain or (known.domain if known else ""),
            properties=record.properties,
            visibility="private",
            owner=self.owner,
            immutable=record.immutable,
            valid_from=record.valid_from or "",
            valid_to=record.valid_to,
            recorded_at=self.now,
            source=record.source,
            actor=self.actor,
            revision=0,
            source_class=record.source_class,
            stated_at=record.stated_at or record.recorded_at or self.now,
            stated_to=record.stated_to,
            ended_by=record.ended_by and self._stored(record.ended_by),
            retracted=record.retracted,
            confirmed_as=record.confirmed_as,
            confirmed_at=record.confirmed_at,
            disputed=record.disputed,
            origin=origin_of(record),
        )

    def edge(self, record: EdgeRecord) -> Edge:
        """Returns the state of an edge, without a revision."""
        source, target = self._stored(record.source), self._stored(record.target)
        own = edge_id(self.owner, source, record.type, target)
        return Edge(
            id=self.edge_ids.get(own, own),
            source=source,
            target=target,
            type=record.type,
            properties=record.properties,
            visibility="private",
            owner=self.owner,
            valid_from=record.valid_from or "",
            valid_to=record.valid_to,
            recorded_at=self.now,
            stated_in=record.stated_in,
            actor=self.actor,
            revision=0,
            source_class=record.source_class,
            disputed=record.disputed,
            origin=origin_of(record),
        )

    def _stored(self, called: str) -> str:
        return self.ids.get(called) or self.others.get(called, called)


def refuse_edges_twice(items: Iterable[Item], reader: StateReader, suspected: Collection[int]) -> None:
    """Raises `ImportInvalid` for the first edge of a file that repeats an earlier one.

    Compares only edges whose `number_of_edge` is suspected.
    """
    lines: dict[str, int] = {}
    for item in items:
        if not isinstance(item, ImportedEdge | EdgesAlike):
            continue
        for edge in each_edge(item):
            record = edge.states[-1]
            stored = reader.edge(record).id
            if number_of_edge(stored) not in suspected:
                continue
            if stored in lines:
                raise _stated_again(edge.line, f"{record.source} {record.type} {record.target}", lines[stored])
            lines[stored] = edge.line


def number_of_edge(stored_id: str) -> int:
    """Returns 64 bits of an edge's id, which another edge is very unlikely to share."""
    return int.from_bytes(bytes.fromhex(stored_id[-16:]), "little")


def named_elsewhere(items: Iterable[Imported], ids: Mapping[str, str]) -> list[str]:
    """Returns the ids that these nodes and edges name but that no node of the file has."""
    named: dict[str, None] = {}
    for item in items:
        if isinstance(item, ImportedEdge):
            named |= dict.fromkeys((item.states[-1].source, item.states[-1].target))
        else:
            named |= dict.fromkeys(state.ended_by for state in item.states if state.ended_by is not None)
    return [called for called in named if called not in ids and called != GONE]


def refuse_faults(
    items: Iterable[Imported], owner: str, nodes: Iterable[tuple[Node, ...]], edges: Iterable[tuple[Edge, ...]]
) -> None:
    """Raises `ImportInvalid` for content that proposals may not contain either, and `SecretInText`, each with the line.

    `nodes` and `edges` are the states of the items, in the same order.
    """
    drafts: list[tuple[int, NodeDraft | EdgeDraft]] = []
    next_node, next_edge = iter(nodes), iter(edges)
    for item in items:
        states: tuple[Node | Edge, ...]
        if isinstance(item, ImportedNode):
            states = next(next_node)
            if not is_importable_id(owner, item.id):
                raise _invalid(
                    item.line,
                    "has a node with an invalid id: letters, digits and . _ : / @ # -, not `own/`, no mark first",
                )
        else:
            states = next(next_edge)
        records: tuple[StateRecord, ...] = item.states
        for record, state in zip(records, states, strict=True):
            if fault := fault_of_source(state.source if isinstance(state, Node) else state.stated_in):
                raise _invalid(item.line, f"has a source that {fault}")
            if record.decision is not None and len(record.decision) > LONGEST_DECISION_ID:
                raise _invalid(item.line, "names a decision with more than 200 characters")
            drafts.append((item.line, node_draft_of(state) if isinstance(state, Node) else edge_draft_of(state)))
            _refuse_secrets(item.line, state)
    for first in range(0, len(drafts), _DRAFTS_AT_ONCE):
        _refuse_drafts(drafts[first : first + _DRAFTS_AT_ONCE])


def is_importable_id(owner: str, given: str) -> bool:
    """Decides whether a file may use an id for a node: one that a build may use, or an export of a claimed capsule."""
    return is_id(given) and given_id(owner, given) == given and _OWN_OF_NOBODY.match(given) is None


@lru_cache(maxsize=10_000)
def fault_of_source(source: str) -> str | None:
    """Returns why a text can't be the source of a state, or None."""
    return fault_of_title(source, LONGEST_SOURCE)


def _refuse_secrets(line: int, state: Node | Edge) -> None:
    texts = [state.title, state.properties] if isinstance(state, Node) else state.properties
    if texts:
        _refuse_secret_in(line, texts)


def _refuse_secret_in(line: int, texts: Any) -> None:
    try:
        refuse_secrets(texts)
    except SecretInText as problem:
        raise SecretInText(problem.detail, errors=[(f"/lines/{line}", problem.errors[0][1])]) from None


def _refuse_drafts(drafts: list[tuple[int, Any]]) -> None:
    nodes = [(line, draft) for line, draft in drafts if isinstance(draft, NodeDraft)]
    edges = [(line, draft) for line, draft in drafts if isinstance(draft, EdgeDraft)]
    try:
        checked(
            Proposal(
                actor=PIPELINE,
                source="import",
                nodes=tuple(draft for _, draft in nodes),
                edges=tuple(draft for _, draft in edges),
            )
        )
    except BodyInvalid as problem:
        faults = []
        for pointer, fault in problem.errors:
            _, kind, number, *rest = pointer.split("/")
            line = (nodes if kind == "nodes" else edges)[int(number)][0]
            faults.append((f"/lines/{line}/{'/'.join(rest)}", fault))
        pointer, fault = faults[0]
        raise ImportInvalid(f"Line {pointer.split('/')[2]}: {pointer.split('/')[3]} {fault}.", errors=faults) from None
