"""Serves graphs from documents and memory plans over HTTP: as a preview, or as a proposal that the validator judges.

A small request is computed in a thread of this process, a larger one in a process of the worker pool.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import msgspec
from fastapi import APIRouter, Request, Response
from starlette.concurrency import run_in_threadpool

from api.deps import authenticated_router, caller_of
from api.responses import problems
from api.stores import Stores
from api.workers import CLIENT_LEFT, unless_disconnected
from api.world.actors import actor_of
from api.world.large import (
    Prepared,
    judge_in_worker,
    prepare_build,
    prepare_build_in_worker,
    prepare_design,
    prepare_design_in_worker,
    unpacked,
)
from api.world.shown import shown_stages
from contracts.access.tiers import Caller
from contracts.base import Document
from contracts.errors import (
    BodyInvalid,
    BodyTooLarge,
    IdTaken,
    MediaTypeUnsupported,
    StoreUnavailable,
    TrialExcluded,
    TrialFull,
    WorkersBusy,
)
from contracts.secret_texts import SecretInText
from contracts.world.extraction.build import MOST_PIECES, BuildAnswer, BuildRequest
from contracts.world.graph_documents import StageDocument
from contracts.world.memory.memory_plan import DesignAnswer, DesignRequest
from contracts.world.proposal import Actor, Decision
from warehouse.world.events import head_revision
from warehouse.world.write import JUDGED_AT_MOST, decide, is_large, overtaken, write_judged

PREVIEWED_HERE_BYTES = 4_000
APPLIED_HERE_BYTES = 500
"""Largest bodies, by mode, that are computed in this process, in some 40 ms of CPU at most. Every line may become a
node, which costs far more to judge than to find."""

_REFUSALS = (
    BodyInvalid,
    SecretInText,
    BodyTooLarge,
    MediaTypeUnsupported,
    TrialExcluded,
    TrialFull,
    StoreUnavailable,
    WorkersBusy,
)
_ERRORS = problems(*_REFUSALS)
_BUILD_ERRORS = problems(*_REFUSALS, IdTaken)


def knowledge_router(stores: Stores) -> APIRouter:
    """Creates the routes. Stores may raise `OperatorProblem`, and so may the guardrail without rules."""
    router = authenticated_router("world model")

    @router.post(
        "/knowledge-graph/build",
        response_model=BuildAnswer,
        responses=_written(BuildAnswer) | _BUILD_ERRORS,
        summary="A graph from your documents",
        description="Passages, typed nodes and edges from Markdown, plain text, JSON and CSV, each with the text span "
        "and the rule behind it, and your own triples, nodes and edges, each accepted or refused by itself. No model "
        "takes part: the same input gives the same graph. Possible duplicates are reported and never merged. `apply` "
        "proposes it to the validator; building a document again with the same `graphId` and `id` replaces its earlier "
        "statements. A preview lists the parts that were not understood, and the forms that are. The body may have at "
        f"most 1 MiB, and its texts at most {MOST_PIECES:,} lines, cells, values, names and links.",
        operation_id="knowledge_graph_build",
    )
    async def knowledge_graph_build(build_request: BuildRequest, request: Request) -> Response:
        async def answer(caller: Caller) -> Response:
            return _answer(await build(stores, build_request, await request.body(), caller))

        return await _unless_gone(request, answer)

    @router.post(
        "/memory/design",
        response_model=DesignAnswer,
        responses=_written(DesignAnswer) | _ERRORS,
        summary="A memory plan for an agent",
        description="Stores with schemas, retention, retrieval routes, write rules, budget and risks that follow from "
        "goals, sources and constraints. No model takes part. `apply` proposes it as nodes of your graph.",
        operation_id="memory_design",
    )
    async def memory_design(design_request: DesignRequest, request: Request) -> Response:
        async def answer(caller: Caller) -> Response:
            return _answer(await design(stores, design_request, await request.body(), caller))

        return await _unless_gone(request, answer)

    return router


@dataclass(frozen=True, slots=True)
class Outcome:
    """The fields of a result as a JSON object, and whether anything was written or waits."""

    fields: bytes
    is_written: bool


async def build(stores: Stores, request: BuildRequest, body: bytes, caller: Caller) -> Outcome:
    """Builds a graph as `caller`; the fields are those of `BuildResult`. `body` is the request's valid body.

    Raises `BodyInvalid`, `IdTaken`, `WorkersBusy`.
    """
    actor = actor_of(caller)
    if _is_small(request.mode, body):
        prepared = await run_in_threadpool(_prepare_build, stores, request, actor)
    else:
        prepared = await stores.workers.run(caller.owner, prepare_build_in_worker, stores.settings, body, actor)
    decision = await _written_down(stores, prepared.to_be_written, caller)
    return await run_in_threadpool(_outcome, stores, prepared, request.mode, decision, actor.name, {})


async def design(stores: Stores, request: DesignRequest, body: bytes, caller: Caller) -> Outcome:
    """Designs a memory plan as `caller`; the fields are those of `DesignResult`. `body` is the request's valid body.

    Raises `BodyInvalid`, `WorkersBusy`.
    """
    actor = actor_of(caller)
    if _is_small(request.mode, body):
        prepared = await run_in_threadpool(_prepare_design, stores, request, actor)
    else:
        prepared = await stores.workers.run(caller.owner, prepare_design_in_worker, stores.settings, body, actor)
    decision = await _written_down(stores, prepared.to_be_written, caller)
    is_approved = decision is not None and decision.verdict == "approved"
    more = {"nodeIds": prepared.node_ids if is_approved else ()}
    return await run_in_threadpool(_outcome, stores, prepared, request.mode, decision, actor.name, more)


def _prepare_build(stores: Stores, request: BuildRequest, actor: Actor) -> Prepared:
    return prepare_build(stores.ledger, request, actor)


def _prepare_design(stores: Stores, request: DesignRequest, actor: Actor) -> Prepared:
    return prepare_design(stores.ledger, request, actor)


def _is_small(mode: str, body: bytes) -> bool:
    return len(body) <= (PREVIEWED_HERE_BYTES if mode == "preview" else APPLIED_HERE_BYTES)


async def _unless_gone(request: Request, answer: Callable[[Caller], Awaitable[Response]]) -> Response:
    answered = await unless_disconnected(request.receive, answer(caller_of(request)))
    return Response(status_code=CLIENT_LEFT) if answered is None else answered


async def _written_down(stores: Stores, packed: bytes | None, caller: Caller) -> Decision | None:
    """Writes a proposal and returns the decision, or None without a proposal.

    A large proposal is judged again if others changed its subjects meanwhile. Raises `StoreBusy` if that happens every
    time.
    """
    if packed is None:
        return None
    for judged in range(1, JUDGED_AT_MOST + 1):
        decision = await run_in_threadpool(_decided, stores, packed, caller.key_id)
        if decision is not None:
            return decision
        if judged < JUDGED_AT_MOST:
            packed = await stores.workers.run(caller.owner, judge_in_worker, stores.settings, packed)
    raise overtaken()


def _decided(stores: Stores, packed: bytes, key_id: str) -> Decision | None:
    prepared = unpacked(packed)
    if is_large(prepared.proposal):
        return write_judged(stores.ledger, prepared.proposal, prepared.judgment, key_id=key_id)
    with stores.ledger.transaction() as tx:
        return decide(tx, prepared.proposal, prepared.aligned, key_id=key_id)


def _written(model: type[Document]) -> dict[int | str, dict[str, Any]]:
    return {
        200: {"model": model, "description": "A preview, or rejected by a stage: nothing was written"},
        201: {"model": model, "description": "Written, or waiting until an operator agrees"},
    }


def _outcome(
    stores: Stores, prepared: Prepared, mode: str, decision: Decision | None, owner: str, more: dict[str, Any]
) -> Outcome:
    """Builds the outcome from the prepared fields and the decision. It does not decode the fields again, because they
    may be megabytes."""
    if decision is None:
        with stores.ledger.read() as reader:
            outcome: dict[str, Any] = {"verdict": None, "stages": [], "revision": head_revision(reader)}
    else:
        stages = [
            StageDocument(**msgspec.structs.asdict(stage)).model_dump(mode="json", by_alias=True)
            for stage in shown_stages(decision.stages, owner)
        ]
        outcome = {"verdict": decision.verdict, "stages": stages, "revision": decision.revision}
    rest = msgspec.json.encode({"mode": mode, **outcome, **more})
    is_written = decision is not None and decision.verdict != "rejected"
    return Outcome(prepared.fields[:-1] + b"," + rest[1:], is_written)


def _answer(outcome: Outcome) -> Response:
    body = b'{"ok":true,"data":' + outcome.fields + b"}"
    return Response(body, 201 if outcome.is_written else 200, media_type="application/json")
