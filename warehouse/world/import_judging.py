"""Judges an imported file, part by part, before any of it is written.

The seven stages judge the nodes and edges of a part together, against states that are read from the ledger in a few
statements. Plain new nodes and edges need only a check, as `plain_import.py` explains.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from contracts.errors import RequestProblem
from contracts.times import utc_text
from contracts.world.edges_alike import EdgesAlike
from contracts.world.identity import dedupe_key
from contracts.world.import_file import Imported, ImportedEdge, ImportedNode, read_import, refuse_edges_twice
from contracts.world.ontology import SUPERSEDES
from contracts.world.plain_import import (
    EdgeForm,
    NewEdge,
    NewNode,
    NodesOfPart,
    PlainEdges,
    may_import_plainly,
    unchanged_edges,
    unchanged_nodes,
)
from contracts.world.proposal import EdgeDraft, StageResult, Verdict
from contracts.world.records import Edge
from warehouse.ledger.ledger import Clock, Ledger, Reader
from warehouse.world.events import decode_edges, decode_nodes, head_revision
from warehouse.world.import_helper import ImportHelper, Looking, packed_nodes, unpacked_nodes
from warehouse.world.import_parts import JudgedParts, OnProgress, Part, Waiting, parts_of
from warehouse.world.import_planning import plan_items
from warehouse.world.import_questions import has_nothing_of, rows_of
from warehouse.world.import_survey import SurveyedFile
from warehouse.world.taken_over import taken_over_edges


class FileJudgement(NamedTuple):
    """The judgement of a file, with the merged stages of all parts up to the first that is not approved."""

    verdict: Verdict
    stages: tuple[StageResult, ...]
    revision: int
    """The graph's revision against which it was judged."""


def judge_file(
    ledger: Ledger, file: SurveyedFile, parts: JudgedParts, helper: ImportHelper, on_progress: OnProgress
) -> FileJudgement:
    """Judges a file, and stores its judged parts in `parts` up to the first that is not approved.

    Raises `ImportInvalid`, `SecretInText`, `JudgeAgain`.
    """
    with ledger.read() as reader, helper.looking(len(file.index.types)) as looking:
        revision = head_revision(reader)
        file.refuse_other_words(reader)
        file.index.edge_ids = taken_over_edges(reader, file.owner)
        judge = _FileJudge(reader, ledger.now, file, parts, looking)
        verdict = judge.judge(on_progress)
        return FileJudgement(verdict, merged_stages(judge.stages), revision)


class _FileJudge:
    def __init__(self, reader: Reader, now: Clock, file: SurveyedFile, parts: JudgedParts, looking: Looking) -> None:
        self.stages: list[tuple[StageResult, ...]] = []
        """The stages of each judged part."""
        self._reader = reader
        self._now = now
        self._file = file
        self._parts = parts
        self._looking = looking
        self._waiting: deque[Waiting] = deque()
        self._edge_numbers: list[np.ndarray[Any, Any]] = []
        self._titles: set[str] = set()
        """Title keys of the judged nodes. Another node of the same type and title is not new and is judged."""
        self._is_new_owner = has_nothing_of(reader, file.owner)
        """True if the graph has nothing that belongs or belonged to the owner."""

    def judge(self, on_progress: OnProgress) -> Verdict:
        """Judges all parts up to the first that is not approved, and returns the verdict."""
        try:
            refusal = self._begin_parts(on_progress)
        except RequestProblem:
            if refusal := self._refusal(0):  # reported first, because it comes earlier in the file
                return refusal
            raise
        return refusal or self._refusal(0) or "approved"

    def _begin_parts(self, on_progress: OnProgress) -> Verdict | None:
        done = 0
        for part in parts_of(read_import(self._file.lines()), self._file.index):
            self._begin(part)
            if refusal := self._refusal(1 if self._waiting[-1].rest else len(self._waiting)):
                return refusal
            done += part.size
            on_progress("judging", done, self._file.size)
        self._refuse_edges_twice()
        return None

    def _begin(self, part: Part) -> None:
        """Examines the edges of a part, and queues its nodes for examination."""
        packed = packed_nodes(self._nodes_and_texts(part))
        looked_at = self._looking.ask(packed)
        edges, forms, rest = self._edges_of(part)
        self._parts.add_edges(edges, forms)
        self._edge_numbers.append(_edge_numbers(edges))
        if len(np.unique(self._edge_numbers[-1])) < len(edges):
            self._refuse_edges_twice()  # before a stage reports it
        succeeding = {end for edge in part.edges for end in _succeeding(edge)}
        unchanged = sum(isinstance(edge, str) for edge in edges) - len(rest)
        source = _source_of(part)
        # items that are not plain wait in memory
        self._waiting.append(Waiting(part.decisions, source, rest, unchanged, succeeding, packed, looked_at))

    def _refusal(self, most_waiting: int) -> Verdict | None:
        """Judges examined parts in order, and waits for the other process only while more than `most_waiting` parts
        are left. Returns the verdict of the first that is not approved, and stores the judgements of the others.

        With `most_waiting` 0 this process has nothing else to do, so it examines nodes too.
        """
        waiting = self._waiting
        while waiting and (len(waiting) > most_waiting or waiting[0].looked_at.done()):
            while most_waiting == 0 and not waiting[0].looked_at.done() and self._looking.look_at_next():
                pass
            verdict = self._judge(waiting.popleft())
            if verdict != "approved":
                return verdict
        return None

    def _judge(self, part: Waiting) -> Verdict:
        aligned = part.looked_at.result().aligned
        nodes, rest = self._nodes_of(part)
        unchanged = sum(isinstance(node, str) for node in nodes) + len(part.rest) - len(rest) + part.unchanged_edges
        planned = plan_items(self._reader, self._file, rest, part.source, aligned, unchanged, self._now(), is_new=True)
        self.stages.append(planned.stages)
        if planned.verdict == "approved":
            self._parts.judge(part, nodes, rest, planned)
        return planned.verdict

    def _refuse_edges_twice(self) -> None:
        """Raises `ImportInvalid` if the file states an edge twice in the parts so far."""
        if suspected := _twice(self._edge_numbers):
            refuse_edges_twice(read_import(self._file.lines()), self._file.reading, suspected)

    def _nodes_and_texts(self, part: Part) -> NodesOfPart:
        moved = self._file.index.stored.moved
        return NodesOfPart(
            actor=self._file.actor,
            owner=self._file.owner,
            words=self._file.words.newest,
            now=utc_text(self._now()),
            moved={node.id: moved[node.id] for node in part.nodes if node.id in moved} if moved else {},
            nodes=part.nodes,
            # the only texts of an edge that are judged are in its properties
            edges=[
                EdgeDraft(source=edge.source, target=edge.target, type=edge.type, properties=edge.properties)
                for item in part.edges
                for edge in item.states
                if edge.properties
            ],
        )

    def _nodes_of(self, part: Waiting) -> tuple[list[NewNode | str], list[Imported]]:
        """Returns the stored form of each plain new node and the stored id of each other one, and the items of the part
        that must be judged, in the order of the file."""
        nodes, rest = part.looked_at.result().nodes, list[Imported](part.rest)
        known: list[ImportedNode] = []
        if part.succeeding or None in nodes:
            known = unpacked_nodes(part.packed_nodes).nodes
            # whether a node may succeed another one is judged from the states of both
            nodes = [None if item.id in part.succeeding else node for item, node in zip(known, nodes, strict=True)]
        keys = [self._title_key(known[place]) if node is None else node.dedupe_key for place, node in enumerate(nodes)]
        not_new, unchanged = self._nodes_not_new(nodes, keys)
        self._titles.update(keys)
        found: list[NewNode | str] = []
        for place, node in enumerate(nodes):
            if node is not None and node.id in unchanged:
                found.append(node.id)
            elif node is None or node.id in not_new or node.dedupe_key in not_new:
                known = known or unpacked_nodes(part.packed_nodes).nodes
                rest.append(known[place])
                found.append(self._file.index.stored[known[place].id])
            else:
                found.append(node)
        return found, sorted(rest, key=lambda item: item.line)

    def _edges_of(self, part: Part) -> tuple[list[NewEdge | str], list[EdgeForm], list[ImportedEdge]]:
        """Returns the stored form of each plain new edge and the stored id of each other one, the forms that plain
        edges share, and the edges that must be judged."""
        file = self._file
        plain = PlainEdges(file.index, file.owner, file.actor, file.ontology, utc_text(self._now()))
        is_possible = may_import_plainly(file.actor)
        edges = list(plain.edges(part.edges)) if is_possible else [None] * len(part.each_edge)
        reading = file.reading
        ids = [
            reading.edge(part.each_edge[place].states[-1]).id if edge is None else edge.id
            for place, edge in enumerate(edges)
        ]
        known = self._known_edges(ids)
        unchanged = unchanged_edges(edges, plain.forms, known)
        found = [
            stored_id if edge is None or stored_id in known else edge
            for edge, stored_id in zip(edges, ids, strict=True)
        ]
        rest = [
            part.each_edge[place]
            for place, edge in enumerate(found)
            if isinstance(edge, str) and (edges[place] is None or edge not in unchanged)
        ]
        return found, plain.forms, rest

    def _title_key(self, item: ImportedNode) -> str:
        newest = item.states[-1]
        return dedupe_key(self._file.owner, newest.type, newest.title)

    def _nodes_not_new(self, nodes: Sequence[NewNode | None], keys: list[str]) -> tuple[set[str], set[str]]:
        """Returns the ids of nodes that the graph has together with title keys that it has or that the file has twice,
        and the ids of nodes whose statement the graph has."""
        found = _several(keys) | self._titles.intersection(keys)
        if self._is_new_owner:
            return found, set()
        ids = [node.id for node in nodes if node is not None]
        known = {node.id: node for node in decode_nodes(rows_of(self._reader, "world_nodes_by_ids", ids))}
        alike = {row["dedupe_key"] for row in rows_of(self._reader, "world_alike_by_keys", keys)}
        return found | known.keys() | alike, unchanged_nodes(nodes, known)

    def _known_edges(self, ids: Sequence[str]) -> dict[str, Edge]:
        if self._is_new_owner:
            return {}
        return {edge.id: edge for edge in decode_edges(rows_of(self._reader, "world_edges_by_ids", ids))}


def _succeeding(item: ImportedEdge | EdgesAlike) -> Iterable[str]:
    """Returns the ids in the file of the nodes that SUPERSEDES edges connect."""
    newest = item.states[-1]
    if newest.type != SUPERSEDES:
        return ()
    return chain.from_iterable(item.ends) if isinstance(item, EdgesAlike) else (newest.source, newest.target)


def _source_of(part: Part) -> str:
    """Returns the source of a part's statements, or a text with the number of sources if there are several."""
    sources = {item.states[-1].source for item in part.nodes} | {item.states[-1].stated_in for item in part.edges}
    return sources.pop() if len(sources) == 1 else f"{len(sources):,} sources"


def _edge_numbers(edges: Sequence[NewEdge | str]) -> np.ndarray[Any, Any]:
    """Returns the `number_of_edge` of each edge."""
    ends = (edge[-16:] if isinstance(edge, str) else edge.id[-16:] for edge in edges)
    return np.frombuffer(bytes.fromhex("".join(ends)), "<u8")


def _several(texts: Sequence[str]) -> set[str]:
    """Returns the texts that occur more than once."""
    if len(set(texts)) == len(texts):
        return set()
    return {text for text, times in Counter(texts).items() if times > 1}


def _twice(numbers: Sequence[np.ndarray[Any, Any]]) -> set[int]:
    """Returns the numbers that occur more than once."""
    if not numbers:
        return set()
    in_order = np.concatenate(numbers)
    in_order.sort()
    return set(in_order[1:][in_order[1:] == in_order[:-1]].tolist())


_WORST = {"pass": 0, "warn": 1, "fail": 2}


def merged_stages(judged: Sequence[tuple[StageResult, ...]]) -> tuple[StageResult, ...]:
    """Returns the worst result of each stage, and of equal ones the first."""
    if not judged:
        return ()
    return tuple(max(results, key=lambda result: _WORST[result.result]) for results in zip(*judged, strict=True))
