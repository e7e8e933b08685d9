"""The work of requests that may be large, as functions that run in this process or in one of the worker pool.

Arguments and results are plain values. A worker opens its stores with its first request and only reads; the process
that answers does all writing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from api.world.shown import shown_state
from contracts.settings import Settings
from contracts.standing import UNSTATED, SourceClass
from contracts.world.alignment import alignment
from contracts.world.extraction.build import BuildRequest, BuiltGraph, PossibleDuplicate, build_graph, graph_proposal
from contracts.world.facts import Dispute
from contracts.world.identity import dedupe_key
from contracts.world.memory.design import design_memory, plan_proposal
from contracts.world.memory.memory_plan import DesignRequest
from contracts.world.proposal import Actor, Proposal, checked
from contracts.world.stages import Judgement
from warehouse.ledger.ledger import Ledger, open_ledger
from warehouse.world import query
from warehouse.world.asof import PastView
from warehouse.world.disputes import disputes_among
from warehouse.world.events import events_after
from warehouse.world.history import Past
from warehouse.world.judging import Judgment
from warehouse.world.view import LedgerView
from warehouse.world.write import is_large, judge_outside

if TYPE_CHECKING:
    from warehouse.publish.serving import ServedGenerations

MOST_EVENTS = 1_000_000
"""Events that a query of the past lays over a generation: all of them."""


class ToBeWritten(msgspec.Struct, frozen=True):
    """A proposal as returned by `checked`, the guardrail's judgement, and the judgment of a large one.

    It travels between processes as bytes: unpickling ten thousand nodes would stop the event loop for a quarter of a
    second.
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
    """An answer of the graph as its owner sees it: nodes and edges as JSON arrays, and the size of the graph."""

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
    """Returns `answer` in the form that `owner` is shown."""
    return ShownAnswer(
        revision=answer.revision,
        matched=answer.matched,
        nodes=_json([shown_state(node, owner) for node in answer.nodes]),
        edges=None if answer.edges is None else _json([shown_state(edge, owner) for edge in answer.edges]),
        disputes=_json(disputes),
        truncated=answer.truncated,
        next_after=answer.next_after,
        next_skip=answer.next_skip,
        node_count=node_count,
        edge_count=edge_count,
        hints=answer.hints,
    )


def prepare_build(ledger: Ledger, request: BuildRequest, actor: Actor) -> Prepared:
    """Returns the graph of a request, and its proposal if it is to be applied. Raises the errors of `build_graph` and
    `propose`."""
    built = build_graph(request, actor.name)
    graph = built.model_copy(update={"duplicates": [*built.duplicates, *_in_live_graph(ledger, built, actor.name)]})
    fields = graph.model_dump_json(by_alias=True).encode()
    if request.mode == "preview":
        return Prepared(fields)
    proposal = msgspec.structs.replace(
        graph_proposal(graph, actor, request.visibility), source_class=_class_of(request)
    )
    return Prepared(fields, to_be_written=_judged(ledger, proposal))


def _class_of(request: BuildRequest) -> SourceClass:
    """Returns the class of a built graph: documents can be read again, what a caller worked out is inferred."""
    return UNSTATED if request.triples or request.nodes or request.edges else SourceClass.DOCUMENT


def prepare_design(ledger: Ledger, request: DesignRequest, actor: Actor) -> Prepared:
    """Returns the memory plan of a request, and its proposal if it is to be applied. Raises the errors of `propose`."""
    plan = design_memory(request, actor.name)
    fields = plan.model_dump_json(by_alias=True).encode()
    if request.mode == "preview":
        return Prepared(fields)
    proposal = plan_proposal(plan, request.goals, actor)
    return Prepared(fields, tuple(node.id for node in proposal.nodes), _judged(ledger, proposal))


def answer_past(
    ledger: Ledger, served: ServedGenerations, wanted: query.Query, past: Past, owner: str, after: int
) -> ShownAnswer:
    """Answers `owner`'s question about the graph of `past`.

    `after` is a revision that every generation contains at least. Raises `NotReady`.
    """
    with ledger.read() as reader:
        events = events_after(reader, after, MOST_EVENTS)
    with served.reading() as generation:
        view = PastView(generation.context.connection, events, past, owner)
        answer = query.answer(view, wanted)
        disputes = disputes_among(answer.nodes, view.holding)
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


def answer_past_in_worker(settings: Settings, wanted: query.Query, past: Past, owner: str, after: int) -> ShownAnswer:
    """Calls `answer_past` with a worker's stores."""
    return answer_past(_ledger(settings), _generations(settings.data_dir), wanted, past, owner, after)


def _judged(ledger: Ledger, proposal: Proposal) -> bytes:
    shaped = checked(proposal)
    aligned = alignment(shaped)
    judgment = judge_outside(ledger, shaped, aligned) if is_large(shaped) else None
    return ToBeWritten(shaped, aligned, judgment).packed()


def _in_live_graph(ledger: Ledger, graph: BuiltGraph, owner: str) -> list[PossibleDuplicate]:
    """Returns nodes of the same type and title that the caller can see already: public ones and its own."""
    with ledger.read() as reader:
        view = LedgerView(reader)
        return [
            PossibleDuplicate(nodes=[node.id, known], reason="in_live_graph")
            for node in graph.nodes
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
    # It brings every document's model, more than half of a worker's start, and only questions about the past need it.
    from warehouse.publish.serving import ServedGenerations

    return ServedGenerations(data_dir)
