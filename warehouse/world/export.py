"""Reads the records of an owner's graph, or of the public one, page by page and in order.

One request reads one page, so a page is bounded. All pages of one export are from one revision.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import groupby
from operator import itemgetter
from typing import Any

import msgspec

from contracts.world.identity import given_id, own_id
from contracts.world.own_ontology import NO_WORDS
from contracts.world.portable import (
    GONE,
    DecisionRecord,
    EdgeRecord,
    EndRecord,
    Exported,
    Header,
    NodeRecord,
    OntologyRecord,
    Record,
    edge_record,
    node_record,
)
from contracts.world.proposal import Actor, StageResult
from contracts.world.records import PARTS_OF_THE_SERVICE, Edge, Node
from warehouse.ledger.ledger import Reader, Row
from warehouse.world.ontologies import words_ever_of, words_of

ENTITIES_AT_ONCE = 1_000
"""Maximum number of nodes or edges per page."""

_HIGHEST = "~"
"""Sorts after every id."""


class Position(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """The end of a page: its last node or edge, the last decision, and the number of lines so far."""

    revision: int
    node: str | None = None
    """The last node of the page; `_HIGHEST` if edges follow."""
    edge: tuple[str, str, str] | None = None
    decision: str | None = None
    lines: int = 0


class Page(msgspec.Struct, frozen=True):
    """Records, and the position of the next page, or None after the end."""

    records: list[Record]
    next: Position | None


class _Payload(msgspec.Struct):
    actor: Actor
    stages: list[StageResult]


EdgeKey = tuple[str, str, str]
"""The given source, the type and the given target of an edge."""

_encode = msgspec.json.Encoder().encode
_payload = msgspec.json.Decoder(_Payload).decode
_node = msgspec.json.Decoder(Node).decode
_edge = msgspec.json.Decoder(Edge).decode
_decision_record = msgspec.json.Decoder(DecisionRecord).decode


def export_pages(reader: Reader, owner: str | None, revision: int) -> Iterator[Page]:
    """Yields every page of the graph of `owner` (None: the public one), as it was at a revision."""
    position: Position | None = Position(revision)
    while position is not None:
        page = export_page(reader, owner, position)
        yield page
        position = page.next


def export_page(reader: Reader, owner: str | None, position: Position, entities: int = ENTITIES_AT_ONCE) -> Page:
    """Returns the records after a position: at most `entities` nodes or edges with all their states."""
    writer = _PageWriter(reader, owner, position)
    if position.lines == 0:
        writer.records.append(Header(scope="public" if owner is None else "owner"))
        # the newest words, not those at the revision: a new version of the ontology is not a revision of the graph
        words, ever = words_of(reader, owner), NO_WORDS if owner is None else words_ever_of(reader, owner)
        if ever != NO_WORDS:
            former = None if ever == words else msgspec.json.decode(ever)
            writer.records.append(OntologyRecord(words=msgspec.json.decode(words), former=former))
    node, edge = position.node, position.edge
    if node != _HIGHEST:
        ids = _next_nodes(reader, owner, node or "", entities)
        writer.add_nodes(ids)
        node = ids[-1][0] if len(ids) == entities else _HIGHEST
    else:
        keys = _next_edges(reader, owner, edge or ("", "", ""), entities + 1)
        is_last = len(keys) <= entities
        if not is_last and keys[-1][0] != keys[-2][0]:
            keys = keys[:-1]
        writer.add_edges(keys)
        if is_last:
            lines = position.lines + len(writer.records)
            return Page([*writer.records, EndRecord(lines=lines)], None)
        edge = keys[-1][0]
    lines = position.lines + len(writer.records)
    return Page(writer.records, Position(position.revision, node, edge, writer.decision, lines))


def _prefix(owner: str | None) -> str:
    return "" if owner is None else own_id(owner, "")


def _ranges(owner: str | None, after: str) -> Iterator[tuple[str, str]]:
    """Yields the ranges of stored ids, with both bounds exclusive, whose given ids come after `after`."""
    prefix = _prefix(owner)
    if not prefix:
        yield after, _HIGHEST
        return
    prefix_end = prefix[:-1] + "0"  # the character after the slash
    yield prefix + after, prefix_end
    if after < prefix:
        yield after, prefix
    yield max(after, prefix_end), _HIGHEST


def _next_nodes(reader: Reader, owner: str | None, after: str, limit: int) -> list[tuple[str, str]]:
    """Returns the given and stored ids of the next nodes, ordered by given id."""
    found = [
        [
            (_called(owner, row["id"]), str(row["id"]))
            for row in reader.rows("world_export_nodes", owner=owner or "", after=low, before=high, limit=limit)
        ]
        for low, high in _ranges(owner, after)
    ]
    return list(_first(heapq.merge(*found), limit))


def _next_edges(reader: Reader, owner: str | None, after: EdgeKey, limit: int) -> list[tuple[EdgeKey, str]]:
    """Returns the given source, type and target of the next edges, in that order, with their stored ids."""
    source, edge_type, target = after
    prefix = _prefix(owner)
    found = []
    for low, high in _ranges(owner, source):
        rows = reader.rows(
            "world_export_own_edges" if prefix and low.startswith(prefix) else "world_export_edges",
            owner=owner or "",
            source=low,
            before=high,
            type=edge_type if low in (source, prefix + source) else "",
            target=target if low in (source, prefix + source) else "",
            prefix=prefix or "\x00",
            limit=limit,
        )
        found.append(
            [
                ((_called(owner, row["source"]), row["type"], _called(owner, row["target"])), str(row["id"]))
                for row in rows
            ]
        )
    return list(_first(heapq.merge(*found), limit))


def _called(owner: str | None, node_id: str) -> str:
    return node_id if owner is None else given_id(owner, node_id)


def _first(items: Iterable[Any], limit: int) -> Iterator[Any]:
    for _, item in zip(range(limit), items, strict=False):
        yield item


class _PageWriter:
    """Collects the records of one page."""

    def __init__(self, reader: Reader, owner: str | None, position: Position) -> None:
        self.records: list[Record] = []
        self.decision = position.decision
        self._reader = reader
        self._owner = owner
        self._revision = position.revision
        self._is_own = lru_cache(maxsize=None)(self._find_own)
        self._decided = lru_cache(maxsize=1_000)(self._read_decision)

    def add_nodes(self, ids: list[tuple[str, str]]) -> None:
        """Adds every state of these nodes."""
        for states in self._states("node", [stored for _, stored in ids]):
            nodes = [(row, node) for row in states if (node := _node(row["body"])).owner == self._owner]
            for row, node in nodes:
                if node.erased:
                    continue
                ended_by = node.ended_by if node.ended_by is None or self._is_own(node.ended_by) else GONE
                about = Exported(self._owner, row["commitment"], node is nodes[-1][1], ended_by)
                self._add(node_record(node, about), row)

    def add_edges(self, keys: list[tuple[EdgeKey, str]]) -> None:
        """Adds every state of these edges, given their keys and stored ids."""
        states = zip((key for key, _ in keys), self._states("edge", [edge_id for _, edge_id in keys]), strict=True)
        for _, alike in groupby(states, key=itemgetter(0)):
            together = [rows for _, rows in alike]
            for row, record in self._edge(together[0]) if len(together) == 1 else self._doubled_edge(together):
                self._add(record, row)

    def _edge(self, states: list[Row]) -> Iterator[tuple[Row, EdgeRecord]]:
        edges = [(row, edge) for row in states if (edge := _edge(row["body"])).owner == self._owner]
        for row, edge in edges:
            yield row, edge_record(edge, Exported(self._owner, row["commitment"], edge is edges[-1][1]))

    def _doubled_edge(self, together: list[list[Row]]) -> Iterator[tuple[Row, EdgeRecord]]:
        """Yields the states of one edge that has two ids, without duplicates. Earlier versions gave an edge a second id
        when its owner had taken it over and stated it again."""
        stated: dict[bytes, tuple[Row, EdgeRecord]] = {}
        for row, record in (each for states in together for each in self._edge(states)):
            earlier = msgspec.structs.replace(record, current=False)
            stated.setdefault(_encode(earlier), (row, earlier))
        in_order = sorted(stated.values(), key=lambda each: each[1].recorded_at or "")
        yield from in_order[:-1]
        row, newest = in_order[-1]
        yield row, msgspec.structs.replace(newest, current=True)

    def _states(self, kind: str, ids: list[str]) -> Iterator[list[Row]]:
        """Yields the states of each entity up to the revision, oldest first, in the order of the ids."""
        by_id: dict[str, list[Row]] = {entity_id: [] for entity_id in ids}
        encoded = msgspec.json.encode(ids).decode()
        for row in self._reader.rows("world_export_states", kind=kind, ids=encoded, revision=self._revision):
            by_id[row["entity_id"]].append(row)
        yield from by_id.values()

    def _add(self, record: NodeRecord | EdgeRecord, row: Row) -> None:
        if record.decision is not None and record.decision != self.decision:
            decision = self._decided(record.decision, row["decision_seq"])
            if decision is not None:
                self.records.append(decision)
                self.decision = record.decision
        self.records.append(record)

    def _find_own(self, node_id: str) -> bool:
        row = self._reader.row("world_node_owner", id=node_id)
        return row is not None and row["owner"] in ("", self._owner or "")

    def _read_decision(self, decision_id: str, seq: int) -> DecisionRecord | None:
        row = self._reader.row("world_export_decision", seq=seq)
        if row is None or row["commitment"] != decision_id:
            imported = self._reader.row("world_origin_decision", owner=self._owner or "", id=decision_id)
            return None if imported is None else _decision_record(imported["body"])
        payload = None
        if row["payload"] is not None and row["owner"] in ("", self._owner or ""):
            payload = _payload(row["payload"])
        return DecisionRecord(
            id=decision_id,
            decided_at=row["decided_at"],
            verdict=row["verdict"],
            author=None if payload is None else payload.actor.kind,
            stages=None if payload is None else [self._shown(stage, payload.actor) for stage in payload.stages],
        )

    def _shown(self, stage: StageResult, actor: Actor) -> StageResult:
        reason = stage.reason
        if actor.name not in PARTS_OF_THE_SERVICE:
            reason = reason.replace(actor.name, "operator" if actor.kind == "operator" else "owner")
        if self._owner is not None:
            reason = reason.replace(self._owner, "owner")
        return StageResult(stage.stage, stage.result, _called(self._owner, reason))
