"""Serves erasures by owners over HTTP: of a node, a source, or everything of the key's owner."""

from typing import Annotated

from fastapi import APIRouter, Path, Request, Response

from api.deps import authenticated_router, caller_of
from api.responses import private_document, problems
from api.stores import Stores
from api.world.actors import actor_of
from contracts.errors import (
    BodyInvalid,
    BodyTooLarge,
    MediaTypeUnsupported,
    NodeUnknown,
    ParameterInvalid,
    StandingTooLow,
)
from contracts.secret_texts import SecretInText
from contracts.world.erasure import EraseRequest, ErasureAnswer, ErasureData, SaidToo, confirmation, schedule_of
from contracts.world.identity import given_id
from warehouse.ledger.ledger import Ledger
from warehouse.world.events import head_revision
from warehouse.world.forget import Erasure, erase_everything, erase_node, erase_source


def erasing_router(stores: Stores) -> APIRouter:
    """Creates the routes. The ledger may raise `OperatorProblem`."""
    router = authenticated_router("world model")

    @router.delete(
        "/world-model/nodes/{nodeId:path}",
        response_model=ErasureAnswer,
        responses=problems(ParameterInvalid, NodeUnknown, StandingTooLow),
        summary="Erase a node of yours",
        description="Deletes the texts of a private node and of its edges, in all their states: at once from every "
        "answer and the ledger, later from the files, as the answer states. Public nodes and those of others count as "
        "unknown. Repeating the request returns the same erasure.",
        operation_id="world_model_node_erase",
    )
    def erase_one(
        request: Request, node_id: Annotated[str, Path(alias="nodeId", min_length=1, max_length=300)]
    ) -> Response:
        actor = actor_of(caller_of(request))
        return _answer(stores.ledger, actor.name, erase_node(stores.ledger, actor, node_id))

    @router.post(
        "/world-model/erase",
        response_model=ErasureAnswer,
        responses=problems(BodyInvalid, SecretInText, BodyTooLarge, MediaTypeUnsupported, StandingTooLow),
        summary="Erase a source, or everything of yours",
        description="Erases all private nodes and edges that one source stated, or everything of the key's owner, "
        "including ontology and waiting proposals. Statements that another source has made again since stay, without "
        "their earlier states, and so do public ones. Erasing everything requires `confirm`. A key can't erase "
        "statements of a higher class than it may claim.",
        operation_id="world_model_erase",
    )
    def erase(body: EraseRequest, request: Request) -> Response:
        actor = actor_of(caller_of(request))
        if body.source is not None:
            return _answer(stores.ledger, actor.name, erase_source(stores.ledger, actor, body.source))
        if body.confirm != confirmation(actor.name):
            raise BodyInvalid(
                f"To erase everything send `confirm` with {confirmation(actor.name)!r}.",
                errors=[("/confirm", f"must be {confirmation(actor.name)!r}")],
            )
        return _answer(stores.ledger, actor.name, erase_everything(stores.ledger, actor))

    return router


def _answer(ledger: Ledger, owner: str, erasure: Erasure) -> Response:
    with ledger.read() as reader:
        revision = head_revision(reader)
    data = ErasureData(
        erasure_id=erasure.id,
        scope=erasure.scope,
        nodes=erasure.nodes,
        edges=erasure.edges,
        said_too=[SaidToo(id=given_id(owner, node.id), type=node.type, title=node.title) for node in erasure.said_too],
        requested_at=erasure.requested_at,
        finished_at=erasure.finished_at,
        revision=revision,
        **schedule_of(erasure.requested_at, erasure.finished_at),
    )
    return private_document(ErasureAnswer(data=data))
