"""Serves waiting proposals over HTTP: owners read theirs, and confirm or decline those that need their agreement."""

from typing import Annotated

import msgspec
from fastapi import APIRouter, Path, Request, Response
from starlette.concurrency import run_in_threadpool

from api.deps import authenticated_router, caller_of
from api.responses import private_document, problems
from api.stores import Stores
from api.world.shown import shown_stages
from contracts.base import DIGITS
from contracts.errors import (
    BodyInvalid,
    BodyTooLarge,
    MediaTypeUnsupported,
    ParameterInvalid,
    PendingSettled,
    PendingUnknown,
)
from contracts.secret_texts import SecretInText
from contracts.world.alignment import alignment
from contracts.world.graph_documents import StageDocument
from contracts.world.identity import given_id
from contracts.world.pending import (
    PENDING_PATH,
    ConfirmAnswer,
    ConfirmRequest,
    ConfirmResult,
    PendingAct,
    PendingState,
    PendingStatement,
    PendingWriteAnswer,
)
from contracts.world.proposal import HIGHEST_REVISION, Confirmation
from warehouse.world.write import PendingProposal, confirm, decline, owner_may_confirm, pending_of

MOST_SHOWN = 20

_Decision = Annotated[
    int, Path(ge=1, le=HIGHEST_REVISION, description="`decision` of the answer that escalated"), DIGITS
]


def pending_router(stores: Stores) -> APIRouter:
    """Creates the routes. The ledger may raise `OperatorProblem`."""
    router = authenticated_router("world model")
    path = PENDING_PATH.removeprefix(router.prefix)

    @router.get(
        path,
        response_model=PendingWriteAnswer,
        responses=problems(ParameterInvalid, PendingUnknown),
        summary="A waiting write",
        description="What would be written, and whose agreement it waits for. A write of somebody else counts as "
        "unknown.",
        operation_id="world_model_pending",
    )
    def pending(decision: _Decision, request: Request) -> Response:
        return private_document(PendingWriteAnswer(data=pending_state(stores, decision, caller_of(request).owner)))

    @router.post(
        path,
        response_model=ConfirmAnswer,
        responses=problems(
            ParameterInvalid,
            BodyInvalid,
            SecretInText,
            BodyTooLarge,
            MediaTypeUnsupported,
            PendingUnknown,
            PendingSettled,
        ),
        summary="Confirm or decline a waiting write",
        description="For writes that wait for the owner by a rule of the owner's graph, such as records of a memory "
        "plan with `confirmation`. Public writes need the operator. The audit records as a claim that the owner "
        "confirmed it, and through which client.",
        operation_id="world_model_pending_confirm",
    )
    async def answer(decision: _Decision, body: ConfirmRequest, request: Request) -> Response:
        return await run_in_threadpool(_answered, stores, decision, body, request)

    return router


def pending_state(stores: Stores, decision: int, owner: str) -> PendingState:
    """Returns a proposal of `owner` that waits or waited. Raises `PendingUnknown`."""
    waiting = _find(stores, decision, owner)
    by = None
    if waiting.decided_seq is None:
        by = "owner" if owner_may_confirm(stores.ledger, waiting, alignment=alignment) else "operator"
    proposal = waiting.proposal
    return PendingState(
        decision=waiting.seq,
        state="waiting" if waiting.decided_seq is None else "settled",
        by=by,
        decided_at=waiting.decided_at,
        settled_by=waiting.decided_seq,
        source=proposal.source,
        statements=[
            PendingStatement(
                id=given_id(owner, node.id),
                type=node.type,
                title=node.title,
                properties=node.properties,
                visibility=node.visibility,
            )
            for node in proposal.nodes[:MOST_SHOWN]
        ],
        acts=[
            PendingAct(kind=act.kind, id=given_id(owner, act.target), reason=act.reason)
            for act in proposal.acts[:MOST_SHOWN]
        ],
    )


def _answered(stores: Stores, decision: int, body: ConfirmRequest, request: Request) -> Response:
    caller = caller_of(request)
    _find(stores, decision, caller.owner)
    claim = Confirmation(body.client, "http")
    if body.confirm:
        made = confirm(stores.ledger, decision, caller.owner, claim, alignment=alignment, key_id=caller.key_id)
    else:
        made = decline(stores.ledger, decision, caller.owner, claim, key_id=caller.key_id)
    if made is None:
        raise PendingSettled("This write was confirmed or declined before; the address shows by which decision.")
    result = ConfirmResult(
        decision=made.seq,
        verdict=made.verdict,
        stages=[StageDocument(**msgspec.structs.asdict(stage)) for stage in shown_stages(made.stages, caller.owner)],
        revision=made.revision,
    )
    return private_document(ConfirmAnswer(data=result))


def _find(stores: Stores, decision: int, owner: str) -> PendingProposal:
    with stores.ledger.read() as reader:
        waiting = pending_of(reader, decision, owner)
    if waiting is None:
        raise PendingUnknown("No write of your owner waits or waited under this number.")
    return waiting
