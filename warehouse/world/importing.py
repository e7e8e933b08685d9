"""Imports a graph into an owner's part: the whole file is judged before anything of it is written.

A file is judged and written in parts, each by one decision with one digest of its states. The seven stages judge the
nodes and edges of a part together, over states that are read from the ledger in a few statements. An operator's import
commits part by part: after a kill the same command goes on, because what is written already is known. An import of a
key commits once. An owner without own words takes over those of the file first, and if the owner's words change
meanwhile, everything that is not written yet is judged again.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

import msgspec

from contracts.errors import IdTaken, ImportInvalid
from contracts.times import utc_text
from contracts.world.alignment import Alignment
from contracts.world.alignment import alignment as guardrails
from contracts.world.change_set import ImportedStates, edge_draft_of, node_draft_of, plan_import
from contracts.world.identity import dedupe_key, fact_key, own_id
from contracts.world.import_api import IDS_RETURNED
from contracts.world.import_file import (
    FileIndex,
    Imported,
    ImportedEdge,
    ImportedNode,
    Limits,
    StateReader,
    Words,
    named_elsewhere,
    read_import,
    refuse_faults,
    survey,
    words_after,
)
from contracts.world.ontology import Ontology
from contracts.world.own_ontology import ontology_with
from contracts.world.portable import DecisionRecord, NodeRecord, OntologyRecord
from contracts.world.proposal import Actor, Proposal, StageResult, Verdict
from contracts.world.records import Edge, Node
from contracts.world.stages import Judgement
from contracts.world.validator import judge
from warehouse.ledger.ledger import Ledger, Reader, Transaction
from warehouse.world.audit import DECISION, record
from warehouse.world.bulk_view import BulkView
from warehouse.world.events import append_states, head_revision
from warehouse.world.judging import RecordingView, Subjects
from warehouse.world.ontologies import put_words, words_ever_of, words_of
from warehouse.world.write import JUDGED_AT_MOST, overtaken

NODES_AND_EDGES_OF_PART = 5_000
"""Nodes and edges that are judged together and written by one decision."""

Lines = Callable[[], Iterable[bytes]]
"""Opens the lines of a file again, from its beginning."""

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


class _WordsChanged(Exception):
    """Tells that the owner has other words by now than those by which was judged."""


@dataclass
class _Part:
    """Nodes and edges that are judged and written together, and the decisions that stand before them in the file."""

    items: list[Imported] = field(default_factory=list)
    decisions: list[DecisionRecord] = field(default_factory=list)


@dataclass(frozen=True)
class _Prepared:
    """The judgement of a part, the states to write, and what both depend on."""

    proposal: Proposal
    verdict: Verdict
    stages: tuple[StageResult, ...]
    states: tuple[Node | Edge, ...]
    decisions: list[DecisionRecord]
    revision: int
    subjects: Subjects


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
    importer = _Importer(ledger, lines, actor, alignment, key_id, on_progress)
    for _ in range(JUDGED_AT_MOST):
        importer.survey(limits)
        try:
            return importer.write_in_parts() if limits is None else importer.write_whole(on_written)
        except _WordsChanged:
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
    ) -> None:
        assert actor.owner is not None, "an import is private"
        self._ledger = ledger
        self._lines = lines
        self._actor = actor
        self._owner: str = actor.owner
        self._alignment = alignment
        self._key_id = key_id
        self._on_progress = on_progress
        self._known = self._words = Words()
        """The words of the owner that were read, and those by which the file is judged."""
        self._seqs: list[int] = []
        self._states_written = 0
        self._index = FileIndex()
        self._endings: set[tuple[str, str]] = set()
        self._confirmed: set[str] = set()

    def survey(self, limits: Limits | None) -> None:
        """Reads the whole file once, and the words of the owner."""
        self._on_progress("reading", 0, 0)
        with self._ledger.read() as reader:
            self._known = self._words = self._words_of_owner(reader)
            first = next(read_import(self._lines()), None)
            if isinstance(first, OntologyRecord):
                self._words = words_after(first, self._known)
            self._index = survey(
                read_import(self._lines()),
                self._owner,
                lambda ids: _claimed_ids(reader, self._owner, ids),
                self._ontology,
                limits,
            )
        if self._index.twice is not None and self._size > NODES_AND_EDGES_OF_PART:
            raise ImportInvalid(f"The file states the node {self._index.twice} twice.")
        stored = self._index.ids
        self._endings = {(stored.get(by, by), stored[ended]) for by, ended in self._index.endings}
        self._confirmed = {stored[node_id] for node_id in self._index.confirmed}

    def write_whole(self, on_written: Callable[[Transaction, ImportOutcome], None]) -> ImportOutcome:
        """Judges all parts, and writes all of them in one transaction if nothing that they build on changed."""
        aligned = [self._aligned(part) for part in self._parts()]
        for _ in range(JUDGED_AT_MOST):
            with self._ledger.read() as reader:
                revision = head_revision(reader)
                prepared = [
                    self._prepare(reader, part, judgement)
                    for part, judgement in zip(self._parts(), aligned, strict=True)
                ]
            stages, verdict = _merged([part.stages for part in prepared]), _verdict(prepared)
            if verdict != "approved":
                return self._outcome(verdict, stages, 0, (), revision)
            with self._ledger.transaction() as tx:
                self._refuse_other_words(tx)
                if not all(part.subjects.unchanged_in(tx, part.revision) for part in prepared):
                    continue
                self._take_over_words(tx, {key for part in prepared for key in part.subjects.fact_keys})
                seqs = tuple(self._append(tx, part) for part in prepared if part.states)
                written = sum(len(part.states) for part in prepared)
                outcome = self._outcome("approved", stages, written, seqs, head_revision(tx))
                on_written(tx, outcome)
                return outcome
        raise overtaken()

    def write_in_parts(self) -> ImportOutcome:
        """Judges all parts before it writes any, and judges each part again as it is written."""
        aligned, judged = self._judged_in_parts()
        stages = _merged([part.stages for part in judged])
        if judged and judged[-1].verdict != "approved":
            return self._outcome_of_parts(judged[-1].verdict, stages)
        with self._ledger.transaction() as tx:
            self._refuse_other_words(tx)
            self._take_over_words(tx)
        self._known = self._words
        done = 0
        for part, judgement in zip(self._parts(), aligned, strict=True):
            prepared = self._write(part, judgement)
            if prepared.verdict != "approved":
                return self._outcome_of_parts(prepared.verdict, prepared.stages)
            done += len(part.items)
            self._on_progress("writing", done, self._size)
        return self._outcome_of_parts("approved", stages)

    def _refuse_other_words(self, reader: Reader) -> None:
        if self._words_of_owner(reader) != self._known:
            raise _WordsChanged

    def _words_of_owner(self, reader: Reader) -> Words:
        return Words(words_of(reader, self._owner), words_ever_of(reader, self._owner))

    def _take_over_words(self, tx: Transaction, settled: Collection[str] = ()) -> None:
        """Gives the owner the words of the file. Facts of the keys in `settled` are those that the parts place."""
        if self._words != self._known:
            # as two versions, if what is over needs words that are no more: then an export has both again
            for text in (self._words.ever, self._words.newest):
                put_words(tx, self._actor, text, key_id=self._key_id, settled=settled)

    def _judged_in_parts(self) -> tuple[list[Judgement], list[_Prepared]]:
        """Returns the guardrail's judgement of each part, and the judgements up to the first that is not approved."""
        aligned: list[Judgement] = []
        judged: list[_Prepared] = []
        done = 0
        with self._ledger.read() as reader:
            for part in self._parts():
                aligned.append(self._aligned(part))
                prepared = self._prepare(reader, part, aligned[-1])
                judged.append(replace(prepared, states=(), decisions=[], subjects=Subjects()))
                if prepared.verdict != "approved":
                    break
                done += len(part.items)
                self._on_progress("judging", done, self._size)
        return aligned, judged

    def _write(self, part: _Part, aligned: Judgement) -> _Prepared:
        for _ in range(JUDGED_AT_MOST):
            with self._ledger.read() as reader:
                prepared = self._prepare(reader, part, aligned, again=True)
            if prepared.verdict != "approved" or not prepared.states:
                return prepared
            with self._ledger.transaction() as tx:
                self._refuse_other_words(tx)
                if not prepared.subjects.unchanged_in(tx, prepared.revision):
                    continue
                seq = self._append(tx, prepared)
            self._seqs.append(seq)
            self._states_written += len(prepared.states)
            return prepared
        raise overtaken()

    @property
    def _ontology(self) -> Ontology:
        return ontology_with(self._words.newest)

    @property
    def _size(self) -> int:
        return len(self._index.ids) + self._index.edges

    def _outcome_of_parts(self, verdict: Verdict, stages: tuple[StageResult, ...]) -> ImportOutcome:
        with self._ledger.read() as reader:
            revision = head_revision(reader)
        return self._outcome(verdict, stages, self._states_written, tuple(self._seqs), revision)

    def _outcome(
        self, verdict: Verdict, stages: tuple[StageResult, ...], written: int, seqs: tuple[int, ...], revision: int
    ) -> ImportOutcome:
        return ImportOutcome(
            verdict=verdict,
            stages=stages,
            nodes=len(self._index.ids),
            edges=self._index.edges,
            written=written,
            decisions=seqs,
            first_ids=tuple(islice(self._index.ids, IDS_RETURNED)),
            revision=revision,
        )

    def _parts(self) -> Iterator[_Part]:
        """Yields the parts of the file. The facts about one subject and predicate are in one part."""
        together = {} if self._index.twice or self._size <= NODES_AND_EDGES_OF_PART else self._grouped()
        waiting: dict[str, list[ImportedNode]] = {}
        part = _Part()
        for item in read_import(self._lines()):
            if isinstance(item, OntologyRecord):
                continue
            if isinstance(item, DecisionRecord):
                part.decisions.append(item)
                continue
            if isinstance(item, ImportedNode) and (key := together.get(item.id)) is not None:
                facts = waiting.setdefault(key, [])
                facts.append(item)
                if len(facts) == len(self._index.fact_keys[key]):
                    part.items += waiting.pop(key)
            else:
                part.items.append(item)
            if len(part.items) >= NODES_AND_EDGES_OF_PART:
                yield part
                part = _Part()
        if part.items or part.decisions:
            yield part

    def _grouped(self) -> dict[str, str]:
        """Returns the fact keys of the nodes that share one with another node of the file."""
        return {node_id: key for key, ids in self._index.fact_keys.items() if len(ids) > 1 for node_id in ids}

    def _aligned(self, part: _Part) -> Judgement:
        """Judges the texts of all states of a part, also of those that were over when the file was written."""
        nodes, edges = _states_of(part, StateReader(self._owner, self._owner, "", self._ontology, {}))
        named = (
            msgspec.structs.replace(node_draft_of(node), id=own_id(self._owner, node.id))
            for states in nodes
            for node in states
        )
        return self._alignment(
            Proposal(
                actor=self._actor,
                source="import",
                nodes=tuple(named),
                # no text of an edge is judged but those of its properties
                edges=tuple(edge_draft_of(edge) for states in edges for edge in states if edge.properties),
            )
        )

    def _prepare(self, reader: Reader, part: _Part, aligned: Judgement, *, again: bool = False) -> _Prepared:
        """Judges a part against the graph that `reader` sees, `again` without looking at its form.

        Raises `ImportInvalid`, `SecretInText`, `_WordsChanged`.
        """
        revision = head_revision(reader)
        self._refuse_other_words(reader)
        now = self._ledger.now()
        ontology = self._ontology
        others = self._stored_elsewhere(reader, named_elsewhere(part.items, self._index.ids))
        nodes, edges = _states_of(
            part, StateReader(self._owner, self._owner, utc_text(now), ontology, self._index.ids, others)
        )
        if not again:
            refuse_faults(part.items, self._owner, nodes, edges)
        imported = ImportedStates(nodes, edges, self._index.nodes, self._endings, self._confirmed)
        view = BulkView(reader)
        _read_together(view, imported, ontology)
        recording = RecordingView(view)
        proposal = Proposal(actor=self._actor, source=_source_of(part))
        planned = plan_import(
            imported, proposal, recording, ontology, now, ontology_ever=ontology_with(self._words.ever)
        )
        # The file is the owner's as a whole.
        judged = judge(planned.case, aligned, confirmed=True)
        return _Prepared(
            proposal, judged.verdict, judged.stages, planned.written, part.decisions, revision, recording.subjects
        )

    def _stored_elsewhere(self, reader: Reader, called: list[str]) -> dict[str, str]:
        """Returns the stored ids of the owner's nodes that the file names and does not hold."""
        owners = _owners(reader, [own_id(self._owner, node_id) for node_id in called])
        return {node_id: own for node_id in called if owners.get(own := own_id(self._owner, node_id)) == self._owner}

    def _append(self, tx: Transaction, part: _Prepared) -> int:
        seq = tx.changed(DECISION, part.verdict)
        events = append_states(tx, part.states, seq)
        record(tx, seq, part.verdict, part.proposal, part.stages, events, key_id=self._key_id, as_batch=True)
        tx.run_each(
            "world_keep_origin_decision",
            [
                {"owner": self._owner, "id": decision.id, "body": _encode(decision).decode()}
                for decision in part.decisions
            ],
        )
        return seq


def _states_of(part: _Part, reader: StateReader) -> tuple[tuple[tuple[Node, ...], ...], tuple[tuple[Edge, ...], ...]]:
    """Returns the states of each node and of each edge of a part."""
    return (
        tuple(tuple(map(reader.node, item.states)) for item in part.items if isinstance(item, ImportedNode)),
        tuple(tuple(map(reader.edge, item.states)) for item in part.items if isinstance(item, ImportedEdge)),
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


def _source_of(part: _Part) -> str:
    """Returns the source of a part's statements, or how many sources they have."""
    newest = (item.states[-1] for item in part.items)
    sources = {record.source if isinstance(record, NodeRecord) else record.stated_in for record in newest}
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
    if not ids:
        return {}
    rows = reader.rows("world_node_owners", values=msgspec.json.encode(ids).decode())
    return {row["id"]: row["owner"] for row in rows}


_WORST = {"pass": 0, "warn": 1, "fail": 2}


def _merged(judged: Sequence[tuple[StageResult, ...]]) -> tuple[StageResult, ...]:
    """Returns, for each stage, the first of its worst results."""
    if not judged:
        return ()
    return tuple(max(results, key=lambda result: _WORST[result.result]) for results in zip(*judged, strict=True))


def _verdict(prepared: Sequence[_Prepared]) -> Verdict:
    return next((part.verdict for part in prepared if part.verdict != "approved"), "approved")
