"""Does the work of requests that may be large, in functions that run in this process or in a worker of the pool.

Arguments and results are plain values. A worker opens its stores with its first request and, except for imports, only
reads; the answering process does the writing.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from api.world.shown import shown_dispute, shown_stages, shown_state, stored_id
from contracts.errors import IdTaken
from contracts.settings import Settings
from contracts.standing import UNSTATED, SourceClass
from contracts.times import utc_text
from contracts.world.alignment import alignment
from contracts.world.corrections import corrections_of
from contracts.world.extraction.build import (
    BuildRequest,
    BuiltGraph,
    PossibleDuplicate,
    build_graph,
    graph_proposal,
    read_graph,
)
from contracts.world.extraction.known_people import people_of
from contracts.world.extraction.moved_documents import BuiltDocument, built_documents
from contracts.world.extraction.rebuild import Former, documents_in, rebuilt, without
from contracts.world.extraction.rules import load_rules
from contracts.world.extraction.same_statements import (
    Recognised,
    Recognition,
    Statement,
    built_statements,
    stored_statements,
    together,
)
from contracts.world.extraction.sources import source_of
from contracts.world.facts import Dispute
from contracts.world.graph_documents import StageDocument
from contracts.world.identity import dedupe_key, given_id, own_id
from contracts.world.import_api import LIMITS, ImportResult
from contracts.world.memory.design import design_memory, plan_node_id, plan_proposal
from contracts.world.memory.memory_plan import DesignRequest
from contracts.world.ontology import Ontology
from contracts.world.proposal import Actor, Proposal, checked
from contracts.world.records import FORGOTTEN, Node, is_live
from contracts.world.stages import Judgement
from warehouse.ledger.ledger import Ledger, Reader, open_ledger
from warehouse.world import query, staging
from warehouse.world.asof import PastView
from warehouse.world.disputes import disputes_among
from warehouse.world.events import events_after
from warehouse.world.history import Past
from warehouse.world.importing import ImportOutcome, import_graph
from warehouse.world.judging import Judgment
from warehouse.world.ontologies import ontology_of
from warehouse.world.taken_over import former_names
from warehouse.world.view import LedgerView
from warehouse.world.write import is_large, judge_outside

if TYPE_CHECKING:
    from warehouse.publish.serving import ServedGenerations

MOST_EVENTS = 1_000_000
"""Limit of the events that a query of the past lays over a generation: in effect all of them."""


IDS_AT_ONCE = 20_000
"""Maximum number of ids per look-up statement."""


class ToBeWritten(msgspec.Struct, frozen=True):
    """A proposal as returned by `checked`, the guardrail's result, and, for a large proposal, its judgment.

    It is sent between processes as bytes, because unpickling ten thousand nodes would block the event loop for a
    quarter of a second.
    """

    proposal: Proposal
    aligned: Judgement
    judgment: Judgment | None

    def packed(self) -> bytes:
        """Encodes it as bytes."""
        return _pack(self)


_pack = msgspec.msgpack.Encoder().encode
unpacked = msgspec.msgpack.Decoder(ToBeWritten).decode
"""Decodes the bytes of `ToBeWritten.packed`."""


@dataclass(frozen=True)
class Prepared:
    """The fields of an answer as a JSON object, the ids of the nodes to be written, and the packed `ToBeWritten`."""

    fields: bytes
    node_ids: tuple[str, ...] = ()
    to_be_written: bytes | None = None


@dataclass(frozen=True)
class ShownAnswer:
    """An answer from the graph as the owner sees it: nodes and edges as JSON arrays, and the size of the graph."""

    revision: int
    matched: int
    nodes: bytes
    edges: bytes | None
    disputes: bytes
    truncated: bool
    next_after: str | None
    next_skip: int | None
    node_count: int
    edge_count: int
    hints: query.Hints | None


def shown(
    answer: query.Answer, disputes: Sequence[Dispute], owner: str, node_count: int, edge_count: int
) -> ShownAnswer:
    """Returns `answer` in the form for `owner`."""
    return ShownAnswer(
        revision=answer.revision,
        matched=answer.matched,
        nodes=_json([shown_state(node, owner) for node in answer.nodes]),
        edges=None if answer.edges is None else _json([shown_state(edge, owner) for edge in answer.edges]),
        disputes=_json([shown_dispute(dispute, owner) for dispute in disputes]),
        truncated=answer.truncated,
        next_after=answer.next_after,
        next_skip=answer.next_skip,
        node_count=node_count,
        edge_count=edge_count,
        hints=answer.hints,
    )


def as_stored(view: query.View, wanted: query.Query, owner: str) -> query.Query:
    """Returns a query with the graph's stored ids in place of those that `owner` uses."""

    def is_known(node_id: str) -> bool:
        return view.node(node_id) is not None

    traverse = wanted.traverse
    return replace(
        wanted,
        node_id=wanted.node_id and stored_id(is_known, owner, wanted.node_id),
        traverse=traverse and replace(traverse, from_id=stored_id(is_known, owner, traverse.from_id)),
    )


@dataclass(frozen=True)
class Surveyed:
    """Facts about all documents of a graph, collected before some of them are built: the statements that the graph has
    under other ids, and the names of people."""

    same: Recognised
    people: frozenset[str]


def prepare_build(ledger: Ledger, request: BuildRequest, actor: Actor, surveyed: Surveyed | None = None) -> Prepared:
    """Returns the graph of a request, and its proposal if it is to be applied.

    Without `surveyed` it only considers the request's documents and the stored graph. Raises the errors of
    `build_graph` and `propose`, and `IdTaken`.
    """
    now = ledger.now()
    documents = {document.id or f"document-{number + 1}" for number, document in enumerate(request.documents)}
    same = None if surveyed is None else surveyed.same
    with ledger.read() as reader:
        ontology = ontology_of(reader, actor.owner)
        is_known = request.graph_id is not None and request.visibility == "private" and surveyed is None
        people = _people_of(reader, request.graph_id or "", actor.name, documents) if is_known else set()
    built = build_graph(request, actor.name, now, ontology, people if surveyed is None else surveyed.people)
    if request.visibility == "private":
        with ledger.read() as reader:
            built = _as_written_before(
                reader, built, actor.name, lambda name: build_graph(request, name, now, ontology)
            )
            built = _as_imported(reader, built, actor.name)
            same = same or _recognised(reader, request.graph_id, actor.name, built_statements(built))
        built = _with_ids(built, same.ids)
    proposal = msgspec.structs.replace(
        graph_proposal(built, actor, request.visibility), source_class=_class_of(request)
    )
    with ledger.read() as reader:
        view = LedgerView(reader)
        _refuse_taken(view, built, actor.name)
        duplicates = [*built.duplicates, *_in_live_graph(view, built, actor.name)]
        known = {node.id: node for draft in proposal.nodes if (node := view.node(draft.id)) is not None}
        is_again = request.graph_id is not None and request.visibility == "private" and documents
        nodes, edges = view.stated_in(actor.name, proposal.source) if is_again else ([], [])
        corrections = _corrections(view, known.values(), actor.name)
        settled = _settled(view, corrections.values(), proposal, ontology)
    former = Former(known, nodes, edges, frozenset() if same is None else same.moved, corrections, settled)
    again = rebuilt(proposal, documents, former, ontology, utc_text(now))
    fields = msgspec.json.decode(
        _as_called(built.model_copy(update={"duplicates": duplicates}), actor.name).model_dump_json(by_alias=True)
    ) | {
        "forms": [form.model_dump(by_alias=True) for form in load_rules()] if request.mode == "preview" else [],
        "replaced": [given_id(actor.name, node_id) for node_id in again.replaced],
        "withheld": [{"id": given_id(actor.name, node.id), "reason": node.reason} for node in again.withheld],
    }
    is_written = request.mode == "apply" and (again.proposal.nodes or again.proposal.edges)
    return Prepared(_json(fields), to_be_written=_judged(ledger, again.proposal) if is_written else None)


def statements_of(
    ledger: Ledger, request: BuildRequest, owner: str, people: Collection[str]
) -> tuple[list[Statement], frozenset[str]]:
    """Returns the statements of a private request's documents, given these known people, and the names of the people
    whom the documents themselves name as people. Writes nothing. Raises the errors of `build_graph`."""
    with ledger.read() as reader:
        built, named = read_graph(request, owner, ledger.now(), ontology_of(reader, owner), people)
        return built_statements(_as_imported(reader, built, owner)), named


def known_people(ledger: Ledger, graph_id: str, owner: str, documents: Collection[str]) -> set[str]:
    """Returns the people of an owner's graph whom documents other than these name, or to whom something is assigned."""
    with ledger.read() as reader:
        return _people_of(reader, graph_id, owner, documents)


def _people_of(reader: Reader, graph_id: str, owner: str, documents: Collection[str]) -> set[str]:
    view = LedgerView(reader)
    nodes, edges = view.stated_in(owner, source_of(graph_id))
    people = (node for node in nodes if node.type == "Person")
    return people_of(nodes, edges, documents, _corrections(view, people, owner))


def recognise(
    ledger: Ledger, graph_id: str, owner: str, stated: Iterable[Statement], gone: Collection[str]
) -> Recognised:
    """Returns the statements of all documents of an owner's graph that the graph has under other ids."""
    with ledger.read() as reader:
        return _recognised(reader, graph_id, owner, together(stated), gone)


def _corrections(view: LedgerView, nodes: Iterable[Node], owner: str) -> dict[str, list[Node]]:
    """Returns the nodes that correct the corrected ones of these nodes, by the ids of the corrected ones."""
    return {
        node.id: [by for by in corrections_of(node, view) if by.owner in (None, owner)]
        for node in nodes
        if node.retracted
    }


def _settled(
    view: LedgerView, corrections: Iterable[Sequence[Node]], proposal: Proposal, ontology: Ontology
) -> set[tuple[str, str]]:
    """Returns pairs of a node id and a single-valued type of which the node has an edge from another source."""
    stated = {draft.type for draft in proposal.edges}
    types = [name for name in stated if name in ontology.edge_types and ontology.edge_types[name].single_valued]
    return {
        (node.id, name)
        for node in (nodes[-1] for nodes in corrections if nodes)
        for name in types
        if any(is_live(edge) and edge.stated_in != proposal.source for edge in view.edges_from(node.id, name))
    }


def documents_built(ledger: Ledger, graph_id: str, owner: str) -> set[str]:
    """Returns the documents of which an owner's graph still contains statements."""
    with ledger.read() as reader:
        nodes, edges = LedgerView(reader).stated_in(owner, source_of(graph_id))
    return documents_in(nodes, edges)


def former_documents(ledger: Ledger, graph_id: str, owner: str) -> dict[str, BuiltDocument]:
    """Returns the stored content of each document of an owner's graph, by id."""
    with ledger.read() as reader:
        nodes, _ = LedgerView(reader).stated_in(owner, source_of(graph_id))
    return built_documents(nodes)


def prepare_ending(ledger: Ledger, graph_id: str, documents: Collection[str], actor: Actor) -> bytes:
    """Returns the packed `ToBeWritten` that ends the statements that only these documents made in earlier builds."""
    with ledger.read() as reader:
        nodes, edges = LedgerView(reader).stated_in(actor.name, source_of(graph_id))
    proposal = Proposal(actor=actor, source=source_of(graph_id), source_class=SourceClass.DOCUMENT)
    return _judged(ledger, without(proposal, documents, nodes, edges, utc_text(ledger.now())))


def _as_written_before(
    reader: Reader, graph: BuiltGraph, owner: str, built_as: Callable[[str], BuiltGraph]
) -> BuiltGraph:
    """Returns a graph in which nodes that the owner took over with a key have their old ids, which earlier builds
    derived from the key's former owner."""
    for name in former_names(reader, owner):
        formerly = {node.id: before.id for node, before in zip(graph.nodes, built_as(name).nodes, strict=True)}
        owners = _owners(reader, [*formerly, *formerly.values()])
        taken_over = {new: old for new, old in formerly.items() if owners.get(old) == owner and new not in owners}
        graph = _with_ids(graph, taken_over)
    return graph


def _as_imported(reader: Reader, graph: BuiltGraph, owner: str) -> BuiltGraph:
    """Returns a graph in which nodes of earlier builds have the ids that an import gave them: those of the file with
    the owner's prefix. So an imported graph can be rebuilt from the texts from which it was built."""
    own = {node.id: own_id(owner, node.id) for node in graph.nodes}
    known = _owners(reader, [*own, *own.values()])
    stored = {node_id: imported for node_id, imported in own.items() if imported in known and node_id not in known}
    return _with_ids(graph, stored)


def _recognised(
    reader: Reader, graph_id: str | None, owner: str, stated: Sequence[Statement], gone: Collection[str] = ()
) -> Recognised:
    """Returns the statements that an owner's graph has under other ids. `stated` are the statements of the documents
    that were read; those in `gone` no longer state anything."""
    if graph_id is None or not stated:
        return Recognised()
    nodes, _ = LedgerView(reader).stated_in(owner, source_of(graph_id))
    documents = {*gone, *(name for statement in stated for name in statement.documents)}
    known = _owners(reader, [statement.id for statement in stated]).keys()
    recognition = Recognition(f"{owner}/{graph_id}", stated, stored_statements(nodes), known, documents)
    return recognition.result(_erased(reader, recognition.ids_elsewhere()))


def _erased(reader: Reader, pairs: Iterator[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Yields the pairs whose first id belongs to an erased node."""
    if reader.row("world_any_node_of", owner=FORGOTTEN) is None:
        return
    while chunk := list(islice(pairs, IDS_AT_ONCE)):
        owners = _owners(reader, [node_id for node_id, _ in chunk])
        yield from (pair for pair in chunk if owners.get(pair[0]) == FORGOTTEN)


def _owners(reader: Reader, ids: Collection[str]) -> dict[str, str]:
    """Returns the owners of the nodes with these ids, by id; public nodes have an empty owner."""
    values = msgspec.json.encode(list(ids)).decode()
    return {row["id"]: row["owner"] for row in reader.rows("world_node_owners", values=values)} if ids else {}


def _as_called(graph: BuiltGraph, owner: str) -> BuiltGraph:
    """Returns a graph with the ids that its owner uses for its nodes."""
    duplicates = (node_id for pair in graph.duplicates for node_id in pair.nodes)
    ids = {node.id for node in graph.nodes}.union(duplicates)
    return _with_ids(graph, {node_id: given_id(owner, node_id) for node_id in ids})


def _with_ids(graph: BuiltGraph, ids: Mapping[str, str]) -> BuiltGraph:
    """Returns a graph in which some nodes have other ids; `ids` maps the old ids to the new ones."""

    def renamed(node_id: str) -> str:
        return ids.get(node_id, node_id)

    if not ids:
        return graph
    return graph.model_copy(
        update={
            "nodes": [node.model_copy(update={"id": renamed(node.id)}) for node in graph.nodes],
            "edges": [
                edge.model_copy(update={"source": renamed(edge.source), "target": renamed(edge.target)})
                for edge in graph.edges
            ],
            "contradictions": [
                edge.model_copy(
                    update={
                        "source": renamed(edge.source),
                        "taken": renamed(edge.taken),
                        "not_taken": renamed(edge.not_taken),
                    }
                )
                for edge in graph.contradictions
            ],
            "duplicates": [
                pair.model_copy(update={"nodes": [renamed(node_id) for node_id in pair.nodes]})
                for pair in graph.duplicates
            ],
        }
    )


def _refuse_taken(view: LedgerView, graph: BuiltGraph, owner: str) -> None:
    """Raises `IdTaken` if a statement gives the id of a public node."""
    given = [called for node in graph.nodes if (called := given_id(owner, node.id)) != node.id]
    taken = [node_id for node_id in given if (known := view.node(node_id)) is not None and known.owner is None]
    if taken:
        raise IdTaken(
            "An id of yours is that of a public node; give your node another one.",
            errors=[("/nodes", f"{node_id} is the id of a public node") for node_id in taken],
        )


def _class_of(request: BuildRequest) -> SourceClass:
    """Returns the class of a built graph: DOCUMENT if all of it was read from documents, otherwise UNSTATED."""
    return UNSTATED if request.triples or request.nodes or request.edges else SourceClass.DOCUMENT


def prepare_design(ledger: Ledger, request: DesignRequest, actor: Actor) -> Prepared:
    """Returns the memory plan of a request, and its proposal if it is to be applied. Raises the errors of `propose`."""
    plan = design_memory(request, actor.name)
    with ledger.read() as reader:
        author = _author_of_plan(reader, plan.plan_id, actor.name)
    if author != actor.name:
        plan = design_memory(request, author)
    fields = plan.model_dump_json(by_alias=True).encode()
    if request.mode == "preview":
        return Prepared(fields)
    proposal = plan_proposal(plan, request.goals, actor, author)
    return Prepared(fields, tuple(node.id for node in proposal.nodes), _judged(ledger, proposal))


def _author_of_plan(reader: Reader, plan_id: str, owner: str) -> str:
    """Returns the former owner of a key with which `owner` took over a memory plan; `owner` for any other plan."""
    names = {plan_node_id(name, plan_id): name for name in (owner, *former_names(reader, owner))}
    owners = _owners(reader, names)
    return next((name for node_id, name in names.items() if owners.get(node_id) == owner), owner)


def answer_past(
    ledger: Ledger, served: ServedGenerations, wanted: query.Query, past: Past, owner: str, after: int
) -> ShownAnswer:
    """Answers `owner`'s query of the graph of `past`.

    `after` is a revision that every generation contains. Raises `NotReady`.
    """
    with ledger.read() as reader:
        events = events_after(reader, after, MOST_EVENTS)
    with served.reading() as generation:
        view = PastView(generation.context.connection, events, past, owner)
        answer = query.answer(view, as_stored(view, wanted, owner))
        disputes = disputes_among(answer.nodes, view.holding, past.ontology)
        return shown(answer, disputes, owner, view.node_count(), view.edge_count())


def prepare_build_in_worker(settings: Settings, body: bytes, actor: Actor) -> Prepared:
    """Calls `prepare_build` with a worker's stores. `body` is the request's valid body."""
    request = BuildRequest.model_validate_json(body)
    return prepare_build(_ledger(settings), request, actor)


def prepare_design_in_worker(settings: Settings, body: bytes, actor: Actor) -> Prepared:
    """Calls `prepare_design` with a worker's stores."""
    request = DesignRequest.model_validate_json(body)
    return prepare_design(_ledger(settings), request, actor)


def judge_in_worker(settings: Settings, packed: bytes) -> bytes:
    """Judges a packed proposal again with a worker's ledger."""
    judged = unpacked(packed)
    judgment = judge_outside(_ledger(settings), judged.proposal, judged.aligned)
    return msgspec.structs.replace(judged, judgment=judgment).packed()


@dataclass(frozen=True)
class AppliedImport:
    """The result of an import, and whether this request wrote it."""

    result: ImportResult
    is_new: bool


def apply_import(ledger: Ledger, actor: Actor, key_id: str, import_id: str, sha256: str) -> AppliedImport:
    """Judges the whole file of an import and writes it in one transaction, or returns the result of an earlier call.

    Raises the errors of `staging` and `import_graph`.
    """
    with ledger.read() as reader:
        state = staging.state_of(reader, actor.name, import_id, ledger.now())
        if state.result is not None:
            return AppliedImport(state.result, is_new=False)
        content = staging.whole_file(reader, actor.name, import_id, sha256, ledger.now())
    outcome = import_graph(
        ledger,
        lambda: BytesIO(content),
        actor,
        limits=LIMITS,
        key_id=key_id,
        on_written=lambda tx, outcome: staging.finish(tx, actor.name, import_id, _import_result(outcome, actor.name)),
    )
    return AppliedImport(_import_result(outcome, actor.name), is_new=outcome.verdict == "approved")


def apply_import_in_worker(settings: Settings, actor: Actor, key_id: str, import_id: str, sha256: str) -> AppliedImport:
    """Calls `apply_import` with a worker's ledger.

    Unlike other work it writes in the worker, because a file's states are too large to send to the answering process.
    """
    return apply_import(_ledger(settings), actor, key_id, import_id, sha256)


def _import_result(outcome: ImportOutcome, owner: str) -> ImportResult:
    return ImportResult(
        verdict=outcome.verdict,
        stages=[StageDocument(**msgspec.structs.asdict(stage)) for stage in shown_stages(outcome.stages, owner)],
        nodes=outcome.nodes,
        edges=outcome.edges,
        written=outcome.written,
        decisions=len(outcome.decisions),
        node_ids=list(outcome.first_ids),
        revision=outcome.revision,
    )


def answer_past_in_worker(settings: Settings, wanted: query.Query, past: Past, owner: str, after: int) -> ShownAnswer:
    """Calls `answer_past` with a worker's stores."""
    return answer_past(_ledger(settings), _generations(settings.data_dir), wanted, past, owner, after)


def _judged(ledger: Ledger, proposal: Proposal) -> bytes:
    shaped = checked(proposal)
    aligned = alignment(shaped)
    judgment = judge_outside(ledger, shaped, aligned) if is_large(shaped) else None
    return ToBeWritten(shaped, aligned, judgment).packed()


def _in_live_graph(view: LedgerView, graph: BuiltGraph, owner: str) -> list[PossibleDuplicate]:
    """Returns existing nodes of the same type and title that the caller can see: public ones and its own."""
    return [
        PossibleDuplicate(nodes=[node.id, known], reason="in_live_graph")
        for node in graph.nodes
        if node.type != "Passage"
        for whose in (None, owner)
        for known in view.alike(dedupe_key(whose, node.type, node.title))
        if known != node.id
    ]


_json = msgspec.json.Encoder().encode
_ledgers: dict[tuple[Path, str | None], Ledger] = {}


def _ledger(settings: Settings) -> Ledger:
    location = (settings.data_dir, settings.ledger_url)
    if location not in _ledgers:
        _ledgers[location] = open_ledger(settings, settings.data_dir)
    return _ledgers[location]


@cache
def _generations(data_dir: Path) -> ServedGenerations:
    # it imports every document's model, more than half of a worker's start-up, and only queries of the past need it
    from warehouse.publish.serving import ServedGenerations

    return ServedGenerations(data_dir)
