"""Holds the parts of a file that is imported: as they are read, prepared, judged, and until they are written."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import IO, NamedTuple

import msgspec

from contracts.world.import_file import Imported, ImportedEdge, ImportedNode, item_of
from contracts.world.plain_import import EdgeForm, NewEdge, NewNode
from contracts.world.portable import DecisionRecord, StateRecord
from contracts.world.proposal import Proposal, StageResult, Verdict
from contracts.world.records import Edge, Node
from contracts.world.stages import Judgement
from warehouse.world.judging import Subjects


@dataclass
class Part:
    """Nodes and edges that are judged and written together, and the decisions that stand before them in the file."""

    items: list[Imported] = field(default_factory=list)
    decisions: list[DecisionRecord] = field(default_factory=list)

    @cached_property
    def nodes(self) -> list[ImportedNode]:
        """Returns its nodes, in order."""
        return [item for item in self.items if isinstance(item, ImportedNode)]

    @cached_property
    def edges(self) -> list[ImportedEdge]:
        """Returns its edges, in order."""
        return [item for item in self.items if isinstance(item, ImportedEdge)]


@dataclass(frozen=True)
class Planned:
    """The judgement of what is not plain of a part, the states to write of it, and what both depend on."""

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
class Prepared:
    """A part to judge: its nodes and edges as they are stored, where they are plain, else by their stored ids."""

    nodes: list[NewNode | str]
    edges: list[NewEdge | str]
    forms: list[EdgeForm]
    """The members that plain edges share with one another."""
    rest: list[Imported]
    """The items that are not plain, which are judged, and again when they are written."""
    decisions: list[DecisionRecord]
    source: str

    @property
    def size(self) -> int:
        """Returns the number of its nodes and edges."""
        return len(self.nodes) + len(self.edges)

    def to_write(self, planned: Planned) -> list[Node | Edge | NewNode | NewEdge]:
        """Returns every state of the part in order: known ones that change, nodes, edges, and edges that follow."""
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


@dataclass(frozen=True)
class Judged(Prepared):
    """A judged part: with the judgement of its texts, and of what is not plain."""

    aligned: Judgement
    planned: Planned


class Waiting(NamedTuple):
    """A part without what is plain of it, and the judgement of its texts that is to come."""

    part: Prepared
    texts: Future[Judgement]


class JudgedParts:
    """The judged parts of one import, in order. Their nodes and edges are in a file without a name, which is gone with
    its process."""

    def __init__(self, file: IO[bytes]) -> None:
        import pyarrow as pa  # takes a tenth of a second, and nothing else of the API needs it

        self._file = file
        self._codec = pa.Codec("lz4")
        self._parts: list[tuple[Prepared, int, int]] = []
        self._judgements: list[tuple[Judgement, Planned]] = []

    def clear(self) -> None:
        """Gives up all parts."""
        self._file.seek(0)
        self._file.truncate()
        self._parts.clear()
        self._judgements.clear()

    def add(self, part: Prepared) -> None:
        """Keeps a part, of which the judgement may follow."""
        rest = [(item.line, item.states) for item in part.rest]
        content = _pack((part.nodes, part.edges, part.forms, rest))
        packed = self._codec.compress(content, asbytes=True)
        self._file.write(packed)
        self._parts.append((replace(part, nodes=[], edges=[], forms=[], rest=[]), len(packed), len(content)))

    def judge(self, aligned: Judgement, planned: Planned) -> None:
        """Keeps the judgement of the first part that has none."""
        self._judgements.append((aligned, planned))

    @property
    def planned(self) -> list[Planned]:
        """Returns the judgement of what is not plain of each part."""
        return [planned for _, planned in self._judgements]

    def __iter__(self) -> Iterator[Judged]:
        self._file.seek(0)
        for (part, packed_bytes, size), (aligned, planned) in zip(self._parts, self._judgements, strict=True):
            packed = self._file.read(packed_bytes)
            nodes, edges, forms, rest = _unpack(self._codec.decompress(packed, size))
            items = [item_of(states, line) for line, states in rest]
            yield Judged(nodes, edges, forms, items, part.decisions, part.source, aligned, planned)


_pack = msgspec.msgpack.Encoder().encode
_unpack = msgspec.msgpack.Decoder(
    tuple[list[NewNode | str], list[NewEdge | str], list[EdgeForm], list[tuple[int, list[StateRecord]]]]
).decode
