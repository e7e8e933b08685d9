"""Defines the parts of an imported file: as read, while their nodes are being examined, and until they are written."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import cached_property
from os import SEEK_END
from typing import IO, Any, NamedTuple

import msgspec

from contracts.world.edges_alike import EdgesAlike
from contracts.world.import_file import FileIndex, Imported, ImportedEdge, ImportedNode, Item, each_edge, item_of
from contracts.world.plain_import import EdgeForm, NewEdge, NewNode
from contracts.world.portable import DecisionRecord, OntologyRecord, StateRecord
from contracts.world.proposal import Proposal, StageResult, Verdict
from contracts.world.records import Edge, Node
from contracts.world.stages import Judgement
from warehouse.world.import_helper import LookedAt
from warehouse.world.judging import Subjects

OnProgress = Callable[[str, int, int], None]
"""Receives the current activity, and the finished and the total number of nodes and edges."""

NODES_AND_EDGES_OF_PART = 50_000
"""Number of nodes and edges that are judged together and written by one decision."""


@dataclass
class Part:
    """Nodes and edges that are judged and written together, and the decisions that precede them in the file."""

    items: list[Imported | EdgesAlike] = field(default_factory=list)
    decisions: list[DecisionRecord] = field(default_factory=list)
    size: int = 0
    """The number of its nodes and edges."""

    def add(self, *items: Imported) -> None:
        """Adds nodes and edges."""
        self.items += items
        self.size += len(items)

    def add_alike(self, edges: EdgesAlike, most: int) -> EdgesAlike | None:
        """Adds edges until the part has `most` nodes and edges, and returns the remaining edges."""
        added, left = edges.split(most - self.size)
        self.items.append(added)
        self.size += len(added.ends)
        return left

    @cached_property
    def nodes(self) -> list[ImportedNode]:
        """Returns its nodes, in order."""
        return [item for item in self.items if isinstance(item, ImportedNode)]

    @cached_property
    def edges(self) -> list[ImportedEdge | EdgesAlike]:
        """Returns its edges, in order."""
        return [item for item in self.items if isinstance(item, ImportedEdge | EdgesAlike)]

    @cached_property
    def each_edge(self) -> list[ImportedEdge]:
        """Returns its edges one by one, in order."""
        return [edge for item in self.edges for edge in each_edge(item)]


def parts_of(items: Iterable[Item], index: FileIndex) -> Iterator[Part]:
    """Yields the parts of a file. All facts about one subject and predicate are in the same part."""
    most = NODES_AND_EDGES_OF_PART
    together = {} if len(index.types) + index.edges <= most else _grouped(index)
    waiting: dict[str, list[ImportedNode]] = {}
    part = Part()
    for item in items:
        if isinstance(item, OntologyRecord):
            continue
        if isinstance(item, DecisionRecord):
            part.decisions.append(item)
            continue
        left = item if isinstance(item, EdgesAlike) else None
        while left is not None:
            left = part.add_alike(left, most)
            if left is not None:
                yield part
                part = Part()
        if isinstance(item, ImportedNode) and (key := together.get(item.id)) is not None:
            facts = waiting.setdefault(key, [])
            facts.append(item)
            if len(facts) == len(index.fact_keys[key]):
                part.add(*waiting.pop(key))
        elif not isinstance(item, EdgesAlike):
            part.add(item)
        if part.size >= most:
            yield part
            part = Part()
    if part.items or part.decisions:
        yield part


def _grouped(index: FileIndex) -> dict[str, str]:
    """Returns the fact keys of the nodes that share one with another node of the file."""
    return {node_id: key for key, ids in index.fact_keys.items() if len(ids) > 1 for node_id in ids}


@dataclass(frozen=True)
class Planned:
    """The judgement of the items of a part that are not plain, the states to write for them, and the subjects on which
    both depend."""

    proposal: Proposal
    verdict: Verdict
    stages: tuple[StageResult, ...]
    states: tuple[Node | Edge, ...]
    known: int
    """The number of states of nodes and edges that the file does not contain; they come first."""
    now: str
    revision: int
    subjects: Subjects


@dataclass(frozen=True)
class Judged:
    """A judged part: the stored form of plain new nodes and edges, and the stored ids of the others."""

    nodes: list[NewNode | str]
    edges: list[NewEdge | str]
    forms: list[EdgeForm]
    """The members that plain edges share."""
    rest: list[Imported]
    """The items that are neither plain nor unchanged. They are judged now, and again when they are written."""
    decisions: list[DecisionRecord]
    source: str
    aligned: Judgement
    """The judgement of its texts."""
    planned: Planned
    """The judgement of `rest`."""

    @property
    def size(self) -> int:
        """Returns the number of its nodes and edges."""
        return len(self.nodes) + len(self.edges)

    @property
    def unchanged(self) -> int:
        """Returns the number of its nodes and edges that need no decision and no write."""
        return sum(isinstance(entry, str) for entry in (*self.nodes, *self.edges)) - len(self.rest)

    def to_write(self, planned: Planned) -> list[Node | Edge | NewNode | NewEdge]:
        """Returns every state of the part in order: changed known ones, nodes, edges, and resulting edges."""
        by_id: dict[str, list[Node | Edge]] = {}
        for state in planned.states[planned.known :]:
            by_id.setdefault(state.id, []).append(state)
        states: list[Node | Edge | NewNode | NewEdge] = list(planned.states[: planned.known])
        for entry in (*self.nodes, *self.edges):
            if isinstance(entry, str):
                states += by_id.pop(entry, ())
            else:
                states.append(entry)
        return states + [state for following in by_id.values() for state in following]


class Waiting(NamedTuple):
    """A part whose nodes are being examined."""

    decisions: list[DecisionRecord]
    source: str
    rest: list[ImportedEdge]
    unchanged_edges: int
    """The number of edges that need no decision and no write."""
    succeeding: set[str]
    """Ids in the file of the nodes that SUPERSEDES edges of the part connect. These nodes are not plain."""
    packed_nodes: bytes
    looked_at: Future[LookedAt]


class JudgedParts:
    """The judged parts of one import, in order. Their nodes and edges are in an anonymous file, which disappears with
    the process."""

    def __init__(self, file: IO[bytes]) -> None:
        import pyarrow as pa  # takes a tenth of a second, and nothing else in the API needs it

        self._file = file
        self._codec = pa.Codec("lz4")
        self._edges: list[_Kept] = []
        self._judged: list[tuple[_Kept, list[DecisionRecord], str, Judgement, Planned]] = []

    def add_edges(self, edges: list[NewEdge | str], forms: list[EdgeForm]) -> None:
        """Stores the edges of the next part."""
        self._edges.append(self._keep(_pack((edges, forms))))

    def judge(self, part: Waiting, nodes: list[NewNode | str], rest: list[Imported], planned: Planned) -> None:
        """Stores the nodes, the items that are not plain, and the judgement of the first part that has none yet."""
        of_rest = [(item.line, item.states) for item in rest]
        kept = self._keep(_pack((nodes, of_rest)))
        self._judged.append((kept, part.decisions, part.source, part.looked_at.result().aligned, planned))

    @property
    def planned(self) -> list[Planned]:
        """Returns each part's judgement of the items that are not plain."""
        return [planned for *_, planned in self._judged]

    def __iter__(self) -> Iterator[Judged]:
        for of_edges, (of_nodes, decisions, source, aligned, planned) in zip(self._edges, self._judged, strict=True):
            edges, forms = _unpack_edges(self._read(of_edges))
            nodes, rest = _unpack_nodes(self._read(of_nodes))
            items = [item_of(states, line) for line, states in rest]
            yield Judged(nodes, edges, forms, items, decisions, source, aligned, planned)

    def _keep(self, content: bytes) -> _Kept:
        packed = self._codec.compress(content, asbytes=True)
        kept = _Kept(self._file.seek(0, SEEK_END), len(packed), len(content))
        self._file.write(packed)
        return kept

    def _read(self, kept: _Kept) -> Any:
        self._file.seek(kept.start)
        return self._codec.decompress(self._file.read(kept.packed_bytes), kept.bytes)


class _Kept(NamedTuple):
    """The position of compressed content in the file."""

    start: int
    packed_bytes: int
    bytes: int


_pack = msgspec.msgpack.Encoder().encode
_unpack_edges = msgspec.msgpack.Decoder(tuple[list[NewEdge | str], list[EdgeForm]]).decode
_unpack_nodes = msgspec.msgpack.Decoder(tuple[list[NewNode | str], list[tuple[int, list[StateRecord]]]]).decode
