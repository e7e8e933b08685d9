"""Graphs from documents and memory plans over HTTP: a preview, or a proposal that the validator judges."""

from collections.abc import Callable
from typing import Any

import msgspec
from fastapi import APIRouter, Request, Response

from api.deps import authenticated_router, caller_of
from api.responses import problems
from contracts.base import Document
from contracts.errors import BodyInvalid, BodyTooLarge, MediaTypeUnsupported
from contracts.knowledge.build import (
    MOST_PIECES,
    BuildAnswer,
    BuildRequest,
    BuildResult,
    BuiltGraph,
    PossibleDuplicate,
    build_graph,
    graph_proposal,
)
from contracts.memory.design import design_memory, plan_proposal
from contracts.memory.plan import DesignAnswer, DesignRequest, DesignResult
from contracts.secret_texts import SecretInText
from contracts.world.alignment import Alignment
from contracts.world.documents import StageDocument
from contracts.world.identity import dedupe_key
from contracts.world.proposal import Actor, Decision
from warehouse.ledger import Ledger
from warehouse.world.events import head_revision
from warehouse.world.view import LedgerView
from warehouse.world.write import propose

_ERRORS = problems(BodyInvalid, SecretInText, BodyTooLarge, MediaTypeUnsupported)


def knowledge_router(ledger: Callable[[], Ledger], alignment: Alignment) -> APIRouter:
    """`ledger` may raise `OperatorProblem`, as `alignment` may where the guardrail has no rules."""
    router = authenticated_router("world model")

    @router.post(
        "/knowledge-graph/build",
        response_model=BuildAnswer,
        responses=_written(BuildAnswer) | _ERRORS,
        summary="A graph from your documents",
        description="Typed nodes and edges from Markdown, plain text, JSON, CSV and triples, each with the text span "
        "behind it. No model takes part: the same input gives the same graph. Possible duplicates are reported and "
        "never merged. `apply` proposes it to the validator. A body of at most 1 MiB, and in its texts at most "
        f"{MOST_PIECES:,} lines, cells, values, names and links.",
        operation_id="knowledge_graph_build",
    )
    def build(asked: BuildRequest, request: Request) -> Response:
        caller = caller_of(request)
        graph = build_graph(asked, caller.owner)
        duplicates = graph.duplicates + _in_live_graph(ledger(), graph, caller.owner)
        decision = None
        if asked.mode == "apply":
            proposal = graph_proposal(graph, Actor("caller", caller.owner), asked.visibility)
            decision = propose(ledger(), proposal, alignment=alignment, key_id=caller.key_id)
        fields = dict(graph) | {"duplicates": duplicates, "mode": asked.mode, **_outcome(decision, ledger)}
        return _answer(BuildAnswer(data=BuildResult(**fields)), decision)

    @router.post(
        "/memory/design",
        response_model=DesignAnswer,
        responses=_written(DesignAnswer) | _ERRORS,
        summary="A memory plan for an agent",
        description="Stores with schemas, retention, retrieval routes, write rules, budget and risks that follow from "
        "goals, sources and constraints. No model takes part. `apply` proposes it as nodes of your graph.",
        operation_id="memory_design",
    )
    def design(asked: DesignRequest, request: Request) -> Response:
        caller = caller_of(request)
        plan = design_memory(asked)
        decision = None
        node_ids: list[str] = []
        if asked.mode == "apply":
            proposal = plan_proposal(plan, asked.goals, Actor("caller", caller.owner))
            decision = propose(ledger(), proposal, alignment=alignment, key_id=caller.key_id)
            if decision.verdict == "approved":
                node_ids = [node.id for node in proposal.nodes]
        fields = dict(plan) | {"mode": asked.mode, "node_ids": node_ids, **_outcome(decision, ledger)}
        return _answer(DesignAnswer(data=DesignResult(**fields)), decision)

    return router


def _written(model: type[Document]) -> dict[int | str, dict[str, Any]]:
    return {
        200: {"model": model, "description": "A preview, or rejected by a stage: nothing was written"},
        201: {"model": model, "description": "Written, or kept until an operator agrees"},
    }


def _outcome(decision: Decision | None, ledger: Callable[[], Ledger]) -> dict[str, Any]:
    if decision is None:
        with ledger().read() as reader:
            return {"verdict": None, "stages": [], "revision": head_revision(reader)}
    stages = [StageDocument(**msgspec.structs.asdict(stage)) for stage in decision.stages]
    return {"verdict": decision.verdict, "stages": stages, "revision": decision.revision}


def _answer(answer: Document, decision: Decision | None) -> Response:
    written = decision is not None and decision.verdict != "rejected"
    return Response(answer.model_dump_json(by_alias=True), 201 if written else 200, media_type="application/json")


def _in_live_graph(ledger: Ledger, graph: BuiltGraph, owner: str) -> list[PossibleDuplicate]:
    """Nodes that the caller sees already, of the same type and title: public ones and its own."""
    with ledger.read() as reader:
        view = LedgerView(reader)
        return [
            PossibleDuplicate(nodes=[node.id, known], reason="in_live_graph")
            for node in graph.nodes
            for whose in (None, owner)
            for known in view.alike(dedupe_key(whose, node.type, node.title))
            if known != node.id
        ]
