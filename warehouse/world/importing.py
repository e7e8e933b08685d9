"""Imports a graph into an owner's part: the whole file is judged before anything of it is written.

A file is judged and written in parts, each by one decision with one digest of its states. The seven stages judge the
nodes and edges of a part together, over states that are read from the ledger in a few statements. An operator's import
commits a few parts at a time: after a kill the same command goes on, because what is written already is known. An
import of a key commits once. An owner without own words takes over those of the file first, and if the owner's words
change meanwhile, or he erases nodes, everything that is not written yet is judged again.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from itertools import chain, islice
from tempfile import SpooledTemporaryFile
from time import monotonic
from typing import Any

import msgspec
import numpy as np

from contracts.errors import IdTaken, RequestProblem
from contracts.times import utc_text
from contracts.world.alignment import Alignment
from contracts.world.alignment import alignment as guardrails
from contracts.world.edges_alike import EdgesAlike
from contracts.world.identity import dedupe_key, fact_key, own_id
from contracts.world.import_api import IDS_RETURNED
from contracts.world.import_file import (
    FileIndex,
    Imported,
    ImportedEdge,
    ImportedNode,
    Limits,
    Lines,
    StateReader,
    Words,
    named_elsewhere,
    read_import,
    refuse_edges_twice,
    refuse_faults,
    survey,
    words_after,
)
from contracts.world.import_plan import ImportedStates, plan_import
from contracts.world.ontology import SUPERSEDES, Ontology
from contracts.world.own_ontology import ontology_with
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
from contracts.world.portable import DecisionRecord, OntologyRecord
from contracts.world.proposal import Actor, EdgeDraft, Proposal, StageResult, Verdict
from contracts.world.records import Edge, Node
from contracts.world.stages import Judgement
from contracts.world.validator import judge
from warehouse.cycles import without_cycles
from warehouse.ledger.ledger import Ledger, Reader, Row, Transaction
from warehouse.world.audit import DECISION, record
from warehouse.world.bulk_view import BulkView
from warehouse.world.events import Batch, append_batch, decode_edges, decode_nodes, head_revision
from warehouse.world.import_helper import Looking, LookingHere, looking_beside, packed_nodes, unpacked_nodes
from warehouse.world.import_parts import Judged, JudgedParts, Part, Planned, Waiting
from warehouse.world.judging import RecordingView
from warehouse.world.ontologies import put_words, words_ever_of, words_of
from warehouse.world.taken_over import taken_over_edges, took_over_since
from warehouse.world.write import JUDGED_AT_MOST, overtaken

NODES_AND_EDGES_OF_PART = 50_000
"""Nodes and edges that are judged together and written by one decision."""

WRITES_AT_MOST_S = 3.0
"""Seconds after which no more parts join a transaction: a write of others waits three times as long before it fails."""

CACHE_BYTES = 1_000_000_000
"""Of the ledger's file that are kept in memory between two parts: the indexes of some millions of edges."""

SEGMENT_STATES = 500_000
"""States of a large import after which a new segment of the indexes of random keys begins. A commit writes most pages
of the last one, and a search by id looks into each."""

STATES_WORTH_A_SEGMENT = 100_000
"""Nodes and edges of a file from which on it gets segments."""

NODES_WORTH_A_PROCESS = 50_000
"""Nodes of a file from which on a second process looks at them, which takes two seconds to start."""

KEPT_IN_MEMORY_BYTES = 64_000_000
"""Judged parts, compressed, above which they wait in a file until they are written."""

OnProgress = Callable[[str, int, int], None]
"""Is told what is being done, and for how many of how many nodes and edges it is done."""

_encode = msgspec.json.Encoder(order="sorted").encode


@dataclass(frozen=True)
class ImportOutcome:
    """The result of an import. Unless the verdict is `approved`, nothing is written, or nothing more."""

    verdict: Verdict
    stages: tuple[StageResult, ...]
    nodes: int
    edges: int
    """Nodes and edges of the file."""
    written: int
    """States that were written; what the graph has already is not written again."""
    decisions: tuple[int, ...]
    first_ids: tuple[str, ...]
    """The ids of the first nodes, which are kept."""
    revision: int


class _JudgeAgain(Exception):
    """Tells that the owner has other words by now than those by which was judged, or that others wrote what is new in
    the file, or erased nodes of the owner."""


def import_graph(
    ledger: Ledger,
    lines: Lines,
    actor: Actor,
    *,
    alignment: Alignment = guardrails,
    limits: Limits | None = None,
    key_id: str | None = None,
    on_progress: OnProgress = lambda what, done, of: None,
    on_written: Callable[[Transaction, ImportOutcome], None] = lambda tx, outcome: None,
) -> ImportOutcome:
    """Judges a whole file and writes it into the part of `actor.owner` if every stage approves.

    With `limits` it is written in one transaction, of which `on_written` is the last step. Raises `ImportInvalid`,
    `IdTaken`, `SecretInText`, and the ledger's errors; and `StandingTooLow` if the words would
    change facts that stand above the actor.
    """
    with without_cycles(), ExitStack() as helper:
        importer = _Importer(ledger, lines, actor, alignment, key_id, on_progress, helper)
        return _imported(importer, limits, on_written)


def _imported(
    importer: _Importer, limits: Limits | None, on_written: Callable[[Transaction, ImportOutcome], None]
) -> ImportOutcome:
    for _ in range(JUDGED_AT_MOST):
        importer.survey(limits)
        with SpooledTemporaryFile(KEPT_IN_MEMORY_BYTES) as file:
            parts = JudgedParts(file)
            try:
                return importer.write_in_parts(parts) if limits is None else importer.write_whole(parts, on_written)
            except _JudgeAgain:
                continue
    raise overtaken()


class _Importer:
    def __init__(
        self,
        ledger: Ledger,
        lines: Lines,
        actor: Actor,
        alignment: Alignment,
        key_id: str | None,
        on_progress: OnProgress,
        helper: ExitStack,
    ) -> None:
        assert actor.owner is not None, "an import is private"
        self._ledger = ledger
        self._lines = lines
        self._actor = actor
        self._owner: str = actor.owner
        self._alignment = alignment
        self._key_id = key_id
        self._on_progress = on_progress
        self._helper = helper
        """Ends the process that looks at nodes."""
        self._looking: Looking | None = None
        self._known = self._words = Words()
        """The words of the owner that were read, and those by which the file is judged."""
        self._seqs: list[int] = []
        self._states_written = 0
        self._segment = self._states_of_segment = 0
        self._decided: list[tuple[StageResult, ...]] = []
        """The stages of each part that was written."""
        self._index = FileIndex(self._owner)
        self._endings: set[tuple[str, str]] = set()
        self._confirmed: set[str] = set()
        self._titles: set[str] = set()
        """Keys of the plain nodes that were judged: another one of the same type and title is told of."""
        self._seen = 0
        """The revision after the judgement of the file, and then after the last part that was written."""
        self._others_wrote = False
        self._is_new_owner = False
        """True if the graph that is judged against has nothing of the owner, nor what was his."""

    def survey(self, limits: Limits | None) -> None:
        """Reads the whole file once, and the words of the owner."""
        self._on_progress("reading", 0, 0)
        nodes = 0
        with self._ledger.read() as reader:

            def claimed(ids: list[str]) -> dict[str, str]:
                nonlocal nodes
                nodes += len(ids)
                self._begin_looking(nodes)  # the process loads the rules meanwhile
                return _claimed_ids(reader, self._owner, ids)

            self._known = self._words = self._words_of_owner(reader)
            first = next(read_import(self._lines()), None)
            if isinstance(first, OntologyRecord):
                self._words = words_after(first, self._known)
            self._index = survey(
                self._lines,
                self._owner,
                claimed,
                self._ontology,
                limits,
            )
        stored = self._index.stored
        self._endings = {(stored.get(by, by), stored[ended]) for by, ended in self._index.endings}
        self._confirmed = {stored[node_id] for node_id in self._index.confirmed}

    def write_whole(
        self, parts: JudgedParts, on_written: Callable[[Transaction, ImportOutcome], None]
    ) -> ImportOutcome:
        """Judges all parts, and writes all of them in one transaction if nothing that they build on changed."""
        stages, verdict = self._judge(parts)
        if verdict != "approved":
            return self._refused(verdict, stages)
        with self._ledger.transaction() as tx:
            self._refuse_other_words(tx)
            self._notice_others(tx)
            if self._others_wrote:
                for part in parts:
                    self._refuse_known(tx, part)
            if not all(planned.subjects.unchanged_in(tx, planned.revision) for planned in parts.planned):
                raise _JudgeAgain
            self._take_over_words(tx, {key for planned in parts.planned for key in planned.subjects.fact_keys})
            for part in parts:
                self._count(self._append(tx, part, part.planned))
            outcome = self._outcome("approved", stages, head_revision(tx))
            on_written(tx, outcome)
            return outcome

    def write_in_parts(self, parts: JudgedParts) -> ImportOutcome:
        """Judges all parts before it writes any. What is not plain of a part is judged again as it is written, beside
        the parts before it, and the outcome has the stages of that."""
        stages, verdict = self._judge(parts)
        if verdict != "approved":
            return self._refused(verdict, stages)
        with self._ledger.transaction() as tx:
            self._refuse_other_words(tx)
            self._take_over_words(tx)
        self._known, self._decided = self._words, []
        done, waiting = 0, iter(parts)
        part = next(waiting, None)
        with self._ledger.moving_log() as move_log:
            while part is not None:
                if part.unchanged == part.size:
                    self._decided.append(part.planned.stages)
                    done, part = done + part.size, next(waiting, None)
                elif part.rest:
                    planned = self._write(part)
                    if planned.verdict != "approved":
                        return self._outcome_of_parts(planned.verdict, planned.stages)
                    done, part = done + part.size, next(waiting, None)
                else:
                    done, part = self._write_plain(part, waiting, done)
                move_log()
                self._on_progress("writing", done, self._size)
        return self._outcome_of_parts("approved", _merged(self._decided))

    def _write_plain(self, part: Judged, waiting: Iterator[Judged], done: int) -> tuple[int, Judged | None]:
        """Writes a part of which all is plain, and those behind it for as long as others may wait, in one transaction:
        each one writes almost all of an index's last segment.

        Returns how many nodes and edges are done by then, and the next part.
        """
        next_part: Judged | None = part
        appended: list[tuple[int, int]] = []
        with self._ledger.transaction(cache_bytes=CACHE_BYTES) as tx:
            until = monotonic() + WRITES_AT_MOST_S
            self._refuse_other_words(tx)
            self._notice_others(tx)
            while next_part is not None and not next_part.rest and (next_part is part or monotonic() < until):
                self._refuse_known(tx, next_part)
                now = utc_text(self._ledger.now())
                appended += self._append(tx, next_part, replace(next_part.planned, now=now))
                self._decided.append(next_part.planned.stages)
                done, next_part = done + next_part.size, next(waiting, None)
            self._seen = head_revision(tx)
        self._count(appended)
        return done, next_part

    def _refuse_other_words(self, reader: Reader) -> None:
        if self._words_of_owner(reader) != self._known:
            raise _JudgeAgain

    def _words_of_owner(self, reader: Reader) -> Words:
        return Words(words_of(reader, self._owner), words_ever_of(reader, self._owner))

    def _take_over_words(self, tx: Transaction, settled: Collection[str] = ()) -> None:
        """Gives the owner the words of the file. Facts of the keys in `settled` are those that the parts place."""
        if self._words != self._known:
            # as two versions, if what is over needs words that are no more: then an export has both again
            for text in (self._words.ever, self._words.newest):
                put_words(tx, self._actor, text, key_id=self._key_id, settled=settled)

    def _judge(self, parts: JudgedParts) -> tuple[tuple[StageResult, ...], Verdict]:
        """Keeps the judged parts up to the first that is not approved. Returns the stages of all, and the verdict."""
        stages: list[tuple[StageResult, ...]] = []
        self._titles, self._others_wrote = set(), False
        numbers: list[np.ndarray[Any, Any]] = []
        waiting: deque[Waiting] = deque()
        done = 0
        self._begin_looking(len(self._index.types))
        looking, self._looking = self._looking or LookingHere(self._alignment), None
        with self._ledger.read() as reader, self._helper.pop_all():

            def refused(most_waiting: int) -> Verdict | None:
                """Judges parts in order, those that wait for the other process only where more than so many are left.
                Returns the verdict of the first that is not approved, and keeps the judgements of the others.

                Nothing else is left to do where all are waited for: then nodes are looked at here too."""
                while waiting and (len(waiting) > most_waiting or waiting[0].looked_at.done()):
                    while most_waiting == 0 and not waiting[0].looked_at.done() and looking.look_at_next():
                        pass
                    part = waiting.popleft()
                    aligned = part.looked_at.result().aligned
                    nodes, rest = self._nodes_of(reader, part)
                    unchanged = sum(isinstance(node, str) for node in nodes) + len(part.rest) - len(rest)
                    unchanged += part.unchanged_edges
                    planned = self._plan(reader, rest, part.source, aligned, unchanged, is_new=True)
                    stages.append(planned.stages)
                    if planned.verdict != "approved":
                        return planned.verdict
                    parts.judge(part, nodes, rest, planned)
                return None

            self._seen = head_revision(reader)
            self._refuse_other_words(reader)
            self._is_new_owner = self._has_nothing(reader)
            self._index.edge_ids = taken_over_edges(reader, self._owner)
            try:
                for part in self._parts():
                    packed = packed_nodes(self._nodes_and_texts(part))
                    looked_at = looking.ask(packed)
                    of_part, forms, rest = self._edges_of(reader, part)
                    parts.add_edges(of_part, forms)
                    numbers.append(_edge_numbers(of_part))
                    if len(np.unique(numbers[-1])) < len(numbers[-1]):
                        self._refuse_edges_twice(numbers)  # before a stage tells of it
                    # what is not plain waits in memory
                    succeeding = {end for edge in part.edges for end in _succeeding(edge)}
                    unchanged = sum(isinstance(edge, str) for edge in of_part) - len(rest)
                    source = _source_of(part)
                    waiting.append(Waiting(part.decisions, source, rest, unchanged, succeeding, packed, looked_at))
                    if verdict := refused(1 if rest else len(waiting)):
                        return _merged(stages), verdict
                    done += part.size
                    self._on_progress("judging", done, self._size)
                self._refuse_edges_twice(numbers)
            except RequestProblem:
                if verdict := refused(0):  # which is told first, as it stands before
                    return _merged(stages), verdict
                raise
            if verdict := refused(0):
                return _merged(stages), verdict
        return _merged(stages), "approved"

    def _refuse_edges_twice(self, numbers: Sequence[np.ndarray[Any, Any]]) -> None:
        """Raises `ImportInvalid` if the file states an edge twice, of which these are the numbers so far."""
        if suspected := _twice(numbers):
            refuse_edges_twice(read_import(self._lines()), self._reading, suspected)

    def _has_nothing(self, reader: Reader) -> bool:
        """Decides whether the graph has nothing of the owner, and nothing with an id that only he can have given."""
        first = own_id(self._owner, "")
        behind = first[:-1] + chr(ord(first[-1]) + 1)
        return reader.row("world_known_of", owner=self._owner, after=first, before=behind) is None

    def _write(self, part: Judged) -> Planned:
        """Writes a part of which not all is plain, unless that is no longer approved."""
        for _ in range(JUDGED_AT_MOST):
            with self._ledger.read() as reader:
                planned = self._plan(reader, part.rest, part.source, part.aligned, part.unchanged)
            if planned.verdict != "approved":
                return planned
            with self._ledger.transaction(cache_bytes=CACHE_BYTES) as tx:
                self._refuse_other_words(tx)
                self._notice_others(tx)
                self._refuse_known(tx, part)
                if not planned.subjects.unchanged_in(tx, planned.revision):
                    continue
                appended = self._append(tx, part, planned)
                self._seen = head_revision(tx)
            self._count(appended)
            self._decided.append(planned.stages)
            return planned
        raise overtaken()

    def _notice_others(self, tx: Transaction) -> None:
        """Notices whether others wrote. Raises `_JudgeAgain` if the owner took over edges, or if nodes of his were
        erased: an edge to one of them would be plain still."""
        if head_revision(tx) == self._seen:
            return
        self._others_wrote = True
        own, moved = own_id(self._owner, ""), self._index.stored.moved.values()
        erased = [row["id"] for row in tx.rows("world_erased_after", seq=self._seen)]
        is_erased = any(node_id.startswith(own) or node_id in moved for node_id in erased)
        if is_erased or took_over_since(tx, self._owner, self._seen):
            raise _JudgeAgain

    def _refuse_known(self, tx: Transaction, part: Judged) -> None:
        """Raises `_JudgeAgain` if others wrote meanwhile what is new in the file, or something that is like it."""
        if not self._others_wrote:
            return
        nodes = [node for node in part.nodes if not isinstance(node, str)]
        edges = [edge.id for edge in part.edges if not isinstance(edge, str)]
        if (
            _owners(tx, [node.id for node in nodes])
            or _rows(tx, "world_alike_by_keys", [node.dedupe_key for node in nodes])
            or _rows(tx, "world_edges_known", edges)
        ):
            raise _JudgeAgain

    @property
    def _ontology(self) -> Ontology:
        return ontology_with(self._words.newest)

    @property
    def _reading(self) -> StateReader:
        """Returns what tells the stored ids of edges."""
        index = self._index
        return StateReader(self._owner, "", "", self._ontology, index.stored, edge_ids=index.edge_ids)

    @property
    def _size(self) -> int:
        return len(self._index.types) + self._index.edges

    def _refused(self, verdict: Verdict, stages: tuple[StageResult, ...]) -> ImportOutcome:
        """Returns the outcome of a file that the stages do not approve, unless the owner has other words by now."""
        with self._ledger.read() as reader:
            self._refuse_other_words(reader)
        return self._outcome_of_parts(verdict, stages)

    def _outcome_of_parts(self, verdict: Verdict, stages: tuple[StageResult, ...]) -> ImportOutcome:
        with self._ledger.read() as reader:
            revision = head_revision(reader)
        return self._outcome(verdict, stages, revision)

    def _outcome(self, verdict: Verdict, stages: tuple[StageResult, ...], revision: int) -> ImportOutcome:
        return ImportOutcome(
            verdict=verdict,
            stages=stages,
            nodes=len(self._index.types),
            edges=self._index.edges,
            written=self._states_written,
            decisions=tuple(self._seqs),
            first_ids=tuple(islice(self._index.types, IDS_RETURNED)),
            revision=revision,
        )

    def _parts(self) -> Iterator[Part]:
        """Yields the parts of the file. The facts about one subject and predicate are in one part."""
        together = {} if self._size <= NODES_AND_EDGES_OF_PART else self._grouped()
        waiting: dict[str, list[ImportedNode]] = {}
        part = Part()
        for item in read_import(self._lines()):
            if isinstance(item, OntologyRecord):
                continue
            if isinstance(item, DecisionRecord):
                part.decisions.append(item)
                continue
            left = item if isinstance(item, EdgesAlike) else None
            while left is not None:
                left = part.add_alike(left, NODES_AND_EDGES_OF_PART)
                if left is not None:
                    yield part
                    part = Part()
            if isinstance(item, ImportedNode) and (key := together.get(item.id)) is not None:
                facts = waiting.setdefault(key, [])
                facts.append(item)
                if len(facts) == len(self._index.fact_keys[key]):
                    part.add(*waiting.pop(key))
            elif not isinstance(item, EdgesAlike):
                part.add(item)
            if part.size >= NODES_AND_EDGES_OF_PART:
                yield part
                part = Part()
        if part.items or part.decisions:
            yield part

    def _grouped(self) -> dict[str, str]:
        """Returns the fact keys of the nodes that share one with another node of the file."""
        return {node_id: key for key, ids in self._index.fact_keys.items() if len(ids) > 1 for node_id in ids}

    def _begin_looking(self, nodes: int) -> None:
        """Has a process of its own look at nodes if there are many."""
        if self._looking is None and self._alignment is guardrails and nodes >= NODES_WORTH_A_PROCESS:
            self._looking = self._helper.enter_context(looking_beside(self._alignment))

    def _nodes_and_texts(self, part: Part) -> NodesOfPart:
        moved = self._index.stored.moved
        return NodesOfPart(
            actor=self._actor,
            owner=self._owner,
            words=self._words.newest,
            now=utc_text(self._ledger.now()),
            moved={node.id: moved[node.id] for node in part.nodes if node.id in moved} if moved else {},
            nodes=part.nodes,
            # no text of an edge is judged but those of its properties
            edges=[
                EdgeDraft(source=edge.source, target=edge.target, type=edge.type, properties=edge.properties)
                for item in part.edges
                for edge in item.states
                if edge.properties
            ],
        )

    def _nodes_of(self, reader: Reader, part: Waiting) -> tuple[list[NewNode | str], list[Imported]]:
        """Returns nodes as they are stored, or their stored ids if they are not plain or not new, and the items of the
        part that have to be judged, in the order of the file."""
        nodes, rest = part.looked_at.result().nodes, list[Imported](part.rest)
        known: list[ImportedNode] = []
        if part.succeeding or None in nodes:
            known = unpacked_nodes(part.packed_nodes).nodes
            # whether a node may succeed another one is judged of both states
            nodes = [None if item.id in part.succeeding else node for item, node in zip(known, nodes, strict=True)]
        keys = [self._title_key(known[place]) if node is None else node.dedupe_key for place, node in enumerate(nodes)]
        not_new, unchanged = self._nodes_not_new(reader, nodes, keys)
        self._titles.update(keys)
        found: list[NewNode | str] = []
        for place, node in enumerate(nodes):
            if node is not None and node.id in unchanged:
                found.append(node.id)
            elif node is None or node.id in not_new or node.dedupe_key in not_new:
                known = known or unpacked_nodes(part.packed_nodes).nodes
                rest.append(known[place])
                found.append(self._index.stored[known[place].id])
            else:
                found.append(node)
        return found, sorted(rest, key=lambda item: item.line)

    def _edges_of(self, reader: Reader, part: Part) -> tuple[list[NewEdge | str], list[EdgeForm], list[ImportedEdge]]:
        """Returns edges as they are stored, or their stored ids if they are not plain or not new, what such edges
        share, and the edges that have to be judged."""
        plain = PlainEdges(self._index, self._owner, self._actor, self._ontology, utc_text(self._ledger.now()))
        is_possible = may_import_plainly(self._actor)
        edges = list(plain.edges(part.edges)) if is_possible else [None] * len(part.each_edge)
        reading = self._reading
        ids = [
            reading.edge(part.each_edge[place].states[-1]).id if edge is None else edge.id
            for place, edge in enumerate(edges)
        ]
        known = self._known_edges(reader, ids)
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
        return dedupe_key(self._owner, newest.type, newest.title)

    def _nodes_not_new(
        self, reader: Reader, nodes: Sequence[NewNode | None], keys: list[str]
    ) -> tuple[set[str], set[str]]:
        """Returns ids of nodes that the graph has, and keys of titles that it has or that the file has twice; and the
        ids of the nodes whose statement it has."""
        found = _several(keys) | self._titles.intersection(keys)
        if self._is_new_owner:
            return found, set()
        ids = [node.id for node in nodes if node is not None]
        known = {node.id: node for node in decode_nodes(_rows(reader, "world_nodes_by_ids", ids))}
        alike = {row["dedupe_key"] for row in _rows(reader, "world_alike_by_keys", keys)}
        return found | known.keys() | alike, unchanged_nodes(nodes, known)

    def _known_edges(self, reader: Reader, ids: Sequence[str]) -> dict[str, Edge]:
        if self._is_new_owner:
            return {}
        return {edge.id: edge for edge in decode_edges(_rows(reader, "world_edges_by_ids", ids))}

    def _plan(
        self,
        reader: Reader,
        items: list[Imported],
        source: str,
        aligned: Judgement,
        unchanged: int,
        *,
        is_new: bool = False,
    ) -> Planned:
        """Judges items against the graph that `reader` sees, which has so many others of the part `unchanged`. Their
        form is looked at only if they are new.

        Raises `ImportInvalid`, `SecretInText`, `_JudgeAgain`.
        """
        revision = head_revision(reader)
        self._refuse_other_words(reader)
        now = self._ledger.now()
        ontology, stored = self._ontology, self._index.stored
        others = self._stored_elsewhere(reader, named_elsewhere(items, stored))
        nodes, edges = _states_of(
            items,
            StateReader(self._owner, self._actor.name, utc_text(now), ontology, stored, others, self._index.edge_ids),
        )
        if is_new:
            refuse_faults(items, self._owner, nodes, edges)
        imported = ImportedStates(nodes, edges, self._index.current, self._endings, self._confirmed, unchanged)
        view = BulkView(reader)
        _read_together(view, imported, ontology)
        recording = RecordingView(view)
        proposal = Proposal(actor=self._actor, source=source)
        ever = ontology_with(self._words.ever)
        planned = plan_import(imported, proposal, recording, ontology, now, ontology_ever=ever)
        judged = judge(planned.case, aligned, confirmed=True)  # the file is the owner's as a whole
        return Planned(
            proposal=proposal,
            verdict=judged.verdict,
            stages=judged.stages,
            states=planned.written,
            known=planned.known,
            now=utc_text(now),
            revision=revision,
            subjects=recording.subjects,
        )

    def _stored_elsewhere(self, reader: Reader, called: list[str]) -> dict[str, str]:
        """Returns the stored ids of the owner's nodes that the file names and does not hold."""
        owners = _owners(reader, [own_id(self._owner, node_id) for node_id in called])
        return {node_id: own for node_id in called if owners.get(own := own_id(self._owner, node_id)) == self._owner}

    def _append(self, tx: Transaction, part: Judged, planned: Planned) -> list[tuple[int, int]]:
        """Returns the seq of the decision that wrote the part and the number of states, if there are any."""
        states = part.to_write(planned)
        if not states:
            return []
        seq = tx.changed(DECISION, planned.verdict)
        batch = Batch(self._actor.name, self._owner, planned.now, seq, self._segment_for(len(states), seq))
        digest = append_batch(tx, states, part.forms, batch)
        record(tx, seq, planned.verdict, planned.proposal, planned.stages, (), key_id=self._key_id, batch=digest)
        tx.run_each(
            "world_keep_origin_decision",
            [
                {"owner": self._owner, "id": decision.id, "body": _encode(decision).decode()}
                for decision in part.decisions
            ],
        )
        return [(seq, len(states))]

    def _segment_for(self, states: int, decision: int) -> int:
        """Returns the segment of the next states, which the part that writes them begins if nothing is in it."""
        if self._size >= STATES_WORTH_A_SEGMENT:
            if self._states_of_segment == 0 or self._states_of_segment + states > SEGMENT_STATES:
                self._segment, self._states_of_segment = decision, 0
            self._states_of_segment += states
        return self._segment

    def _count(self, appended: list[tuple[int, int]]) -> None:
        for seq, states in appended:
            self._seqs.append(seq)
            self._states_written += states


def _states_of(
    items: Sequence[Imported], reader: StateReader
) -> tuple[tuple[tuple[Node, ...], ...], tuple[tuple[Edge, ...], ...]]:
    """Returns the states of each node and of each edge."""
    return (
        tuple(tuple(map(reader.node, item.states)) for item in items if isinstance(item, ImportedNode)),
        tuple(tuple(map(reader.edge, item.states)) for item in items if isinstance(item, ImportedEdge)),
    )


def _read_together(view: BulkView, imported: ImportedStates, ontology: Ontology) -> None:
    """Reads from the ledger what the stages will ask for."""
    newest = [states[-1] for states in imported.nodes]
    edges = [states[-1] for states in imported.edges]
    owner = newest[0].owner if newest else edges[0].owner if edges else None
    nodes = {node.id for node in newest} | {end for edge in edges for end in (edge.source, edge.target)}
    keys = (fact_key(ontology, owner, node.properties) for node in newest)
    view.read(
        nodes,
        {edge.id for edge in edges},
        {key for key in keys if key is not None},
        {dedupe_key(owner, node.type, node.title) for node in newest},
    )


def _succeeding(item: ImportedEdge | EdgesAlike) -> Iterable[str]:
    """Returns the ids in the file of the nodes that edges let succeed one another."""
    newest = item.states[-1]
    if newest.type != SUPERSEDES:
        return ()
    return chain.from_iterable(item.ends) if isinstance(item, EdgesAlike) else (newest.source, newest.target)


def _source_of(part: Part) -> str:
    """Returns the source of a part's statements, or how many sources they have."""
    sources = {item.states[-1].source for item in part.nodes} | {item.states[-1].stated_in for item in part.edges}
    return sources.pop() if len(sources) == 1 else f"{len(sources):,} sources"


def _claimed_ids(reader: Reader, owner: str, called: Sequence[str]) -> dict[str, str]:
    """Returns the stored ids of the nodes that an owner's file calls by these ids. Raises `IdTaken`."""
    own = {node_id: own_id(owner, node_id) for node_id in called}
    owners = _owners(reader, [*own.values(), *called])
    taken = [node_id for node_id in called if owners.get(node_id) == "" and own[node_id] not in owners]
    if taken:
        raise IdTaken(
            "An id of the file is that of a public node; give your node another one.",
            errors=[("/nodes", f"{node_id} is the id of a public node") for node_id in taken[:MOST_TAKEN]],
        )
    return {
        node_id: node_id if stored not in owners and owners.get(node_id) == owner else stored
        for node_id, stored in own.items()
    }


MOST_TAKEN = 20
"""Taken ids that a problem names."""


def _owners(reader: Reader, ids: Sequence[str]) -> dict[str, str]:
    return {row["id"]: row["owner"] for row in _rows(reader, "world_node_owners", ids)}


def _rows(reader: Reader, question: str, values: Sequence[str]) -> list[Row]:
    return reader.rows(question, values=msgspec.json.encode(values).decode()) if values else []


def _edge_numbers(edges: Sequence[NewEdge | str]) -> np.ndarray[Any, Any]:
    """Returns the `number_of_edge` of each edge."""
    ends = (edge[-16:] if isinstance(edge, str) else edge.id[-16:] for edge in edges)
    return np.frombuffer(bytes.fromhex("".join(ends)), "<u8")


def _several(texts: Sequence[str]) -> set[str]:
    """Returns the texts that are there more than once."""
    if len(set(texts)) == len(texts):
        return set()
    return {text for text, times in Counter(texts).items() if times > 1}


def _twice(numbers: Sequence[np.ndarray[Any, Any]]) -> set[int]:
    """Returns the numbers that are there more than once."""
    if not numbers:
        return set()
    in_order = np.concatenate(numbers)
    in_order.sort()
    return set(in_order[1:][in_order[1:] == in_order[:-1]].tolist())


_WORST = {"pass": 0, "warn": 1, "fail": 2}


def _merged(judged: Sequence[tuple[StageResult, ...]]) -> tuple[StageResult, ...]:
    """Returns, for each stage, the first of its worst results."""
    if not judged:
        return ()
    return tuple(max(results, key=lambda result: _WORST[result.result]) for results in zip(*judged, strict=True))
