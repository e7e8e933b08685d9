"""Serves signals over HTTP: an agent states something, the validator decides."""

from collections.abc import Callable

from fastapi import APIRouter, Request, Response

from api.deps import authenticated_router, caller_of
from api.responses import problems
from contracts.errors import (
    BodyInvalid,
    BodyTooLarge,
    IdempotencyKeyReused,
    MediaTypeUnsupported,
    RevisionConflict,
)
from contracts.secret_texts import SecretInText
from contracts.world.alignment import Alignment
from contracts.world.graph_documents import decision_fields
from contracts.world.ontology import load_ontology
from contracts.world.proposal import Actor, Decision
from contracts.world.signal import SignalAnswer, SignalRequest, SignalResult, pointed_at_signal, signal_proposal
from warehouse.ledger.ledger import Ledger
from warehouse.world.write import propose


def signals_router(ledger: Callable[[], Ledger], alignment: Alignment) -> APIRouter:
    """Creates the route. `ledger` may raise `OperatorProblem`, and so may `alignment` without guardrail rules."""
    router = authenticated_router("world model")

    @router.post(
        "/world-model/signal",
        response_model=SignalAnswer,
        status_code=201,
        responses=problems(
            BodyInvalid, SecretInText, BodyTooLarge, MediaTypeUnsupported, RevisionConflict, IdempotencyKeyReused
        )
        | {200: {"model": SignalAnswer, "description": "Rejected by a stage: nothing was written"}},
        summary="State something about your world",
        description="One node with its edges, judged by the validator's seven stages. Private to the key's owner "
        "unless `public` is asked for and an operator agrees.",
        operation_id="world_model_signal",
    )
    def signal(body: SignalRequest, request: Request) -> Response:
        caller = caller_of(request)
        proposal = signal_proposal(body, Actor("caller", caller.owner), load_ontology())
        try:
            decision = propose(ledger(), proposal, alignment=alignment, key_id=caller.key_id)
        except BodyInvalid as problem:
            raise pointed_at_signal(problem) from None
        return _answer(proposal.nodes[0].id, decision)

    return router


def _answer(signal_id: str, decision: Decision) -> Response:
    answer = SignalAnswer(data=SignalResult(signal_id=signal_id, **decision_fields(decision)))
    status = 200 if decision.verdict == "rejected" else 201
    return Response(answer.model_dump_json(by_alias=True), status, media_type="application/json")
