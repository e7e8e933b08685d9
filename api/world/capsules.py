"""Serves onboarding capsules over HTTP: anybody creates them, a key claims them."""

from collections.abc import Callable
from typing import Any

from fastapi import APIRouter, Request, Response

from api.bodies import JsonRoute
from api.deps import authenticated_router, caller_of, key_owner
from api.parameters import REPLAYED_HEADERS, IdempotencyKey, replayed_header
from api.responses import private_document, problems
from api.routes import merge_routes
from contracts.errors import (
    BodyInvalid,
    BodyTooLarge,
    ClaimTokenUnknown,
    IdempotencyMismatch,
    InternalFault,
    MediaTypeUnsupported,
    MethodNotAllowed,
    ParameterInvalid,
    ProposalRejected,
    RateLimited,
    StoreUnavailable,
)
from contracts.idempotency import request_digest
from contracts.secret_texts import SecretInText
from contracts.world.alignment import Alignment
from contracts.world.capsule import (
    CapsuleAnswer,
    CapsuleClaimAnswer,
    CapsuleClaimRequest,
    CapsuleClaimResult,
    CapsuleReview,
    WorldModelCreateRequest,
    capsule_proposal,
    identity_of,
    links_of,
    plan_of,
    values_of,
)
from contracts.world.graph_documents import decision_fields
from warehouse.ledger.ledger import Ledger
from warehouse.world.capsules import Capsule, claim_capsule, claim_token, create_capsule, rejected

CREATE_PATH = "/api/worldmodel/create"

_REPLAYED: dict[int | str, dict[str, Any]] = {
    201: {"description": "Created now, or before by the same request", "headers": REPLAYED_HEADERS}
}


def capsules_router(
    base_url: str, ledger: Callable[[], Ledger], pepper: Callable[[], bytes], alignment: Alignment
) -> APIRouter:
    """Creates the routes. `pepper` derives claim tokens; stores and rules may raise `OperatorProblem`."""
    router = APIRouter(tags=["world model"], route_class=JsonRoute)

    @router.post(
        CREATE_PATH,
        response_model=CapsuleAnswer,
        status_code=201,
        responses=_REPLAYED
        | problems(
            BodyInvalid,
            SecretInText,
            ParameterInvalid,
            ProposalRejected,
            MethodNotAllowed,
            IdempotencyMismatch,
            BodyTooLarge,
            MediaTypeUnsupported,
            RateLimited,
            InternalFault,
            StoreUnavailable,
        ),
        summary="Start your own world model",
        description="A capsule: a subgraph with an identity, its values and a plan of next steps, private until a key "
        "claims it with the one-time token.",
        operation_id="world_model_create",
    )
    def create(request: Request, body: WorldModelCreateRequest, idempotency_key: IdempotencyKey = None) -> Response:
        secret, owner = pepper(), key_owner(request)
        key = None if idempotency_key is None else request_digest(secret, CREATE_PATH, owner, idempotency_key)
        capsule = create_capsule(ledger(), body, request_key=key, alignment=alignment)
        if capsule.id is None:
            raise rejected(capsule.decision)
        token = claim_token(secret, capsule.id) if capsule.token_state == "shown" else None  # noqa: S105 - a state
        answer = _created(body, capsule.id, capsule, token, base_url)
        return private_document(answer, 201, replayed_header(capsule.replayed))

    claims = authenticated_router("world model")

    @claims.post(
        "/world-model/capsules/claim",
        response_model=CapsuleClaimAnswer,
        responses=problems(
            BodyInvalid, SecretInText, ProposalRejected, BodyTooLarge, MediaTypeUnsupported, ClaimTokenUnknown
        ),
        summary="Attach a capsule to your key",
        description="Makes the nodes of a capsule private nodes of the key's owner, once.",
        operation_id="world_model_capsule_claim",
    )
    def claim(body: CapsuleClaimRequest, request: Request) -> Response:
        caller = caller_of(request)
        capsule_id, decision = claim_capsule(
            ledger(), pepper(), body.claim_token, caller.owner, alignment=alignment, key_id=caller.key_id
        )
        answer = CapsuleClaimAnswer(data=CapsuleClaimResult(id=capsule_id, **decision_fields(decision)))
        return Response(answer.model_dump_json(by_alias=True), media_type="application/json")

    merge_routes(router, claims)
    return router


def _created(
    request: WorldModelCreateRequest, capsule_id: str, capsule: Capsule, token: str | None, base_url: str
) -> CapsuleAnswer:
    proposal = capsule_proposal(request, capsule_id, "private")
    waits = capsule.public_decision is not None
    return CapsuleAnswer(
        id=capsule_id,
        visibility="private",
        identity=identity_of(request, capsule_id),
        values=values_of(proposal),
        plan=plan_of(proposal),
        review=CapsuleReview(
            requested=request.visibility,
            state="pending" if waits else "not_required",
            decision=capsule.public_decision,
        ),
        links=links_of(base_url),
        claim_token=token,
        claim_token_state=capsule.token_state,
        **decision_fields(capsule.decision),
    )
