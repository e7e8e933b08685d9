"""Routes of intake. All answers come from the ledger, and no cache may store them."""

import re
from collections.abc import Callable, Coroutine
from datetime import UTC, datetime
from typing import Annotated, Any

from fastapi import APIRouter, Body, Path, Request, Response
from fastapi.exceptions import RequestValidationError

from api.bodies import JsonRoute
from api.deps import key_owner
from api.parameters import REPLAYED_HEADERS, IdempotencyKey, replayed_header
from api.responses import STORE_ERRORS, TEXT_ERRORS, private_document, problems
from contracts.errors import IdempotencyMismatch, ParameterInvalid
from contracts.idempotency import request_digest
from contracts.intake import answers
from contracts.intake.answers import CAPSULE_PATH, ERASE_PATH, INTAKE_PATH, STATUS_PATH, ServiceUrls
from contracts.intake.intake_documents import (
    IntakeErased,
    IntakeEraseRequest,
    IntakeProvisioningCapsule,
    IntakeResponse,
    IntakeStats,
    IntakeStatusResponse,
    RecentIntakes,
)
from contracts.intake.intake_problems import IntakeNotFound, RegistrationErased
from contracts.intake.requests import IntakeRequest, Lane
from contracts.intake.states import IntakeRecord
from warehouse.intake.intakes import accept, count_intakes, find_intake, recent_intakes
from warehouse.intake.rights import erase_intake
from warehouse.ledger.ledger import Ledger

IntakeId = Annotated[str, Path(alias="intakeId", description="As the registration gave it")]

_REPLAYED: dict[int | str, dict[str, Any]] = {
    201: {
        "description": "Registered, or already registered by the same request",
        "headers": REPLAYED_HEADERS,
    }
}


class IntakeRoute(JsonRoute):
    """Lets a body's errors point to its fields instead of to the model of the lane that found them."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        answer = super().get_route_handler()

        async def pointed(request: Request) -> Response:
            try:
                return await answer(request)
            except RequestValidationError as error:
                raise RequestValidationError([_at_its_field(fault) for fault in error.errors()]) from None

        return pointed


def intake_router(urls: ServiceUrls, ledger: Callable[[], Ledger], pepper: Callable[[], bytes]) -> APIRouter:
    """Creates the routes. `pepper` is used for digests of stored identities and keys. `ledger` and `pepper` may raise
    `OperatorProblem`."""
    router = APIRouter(tags=["intake"], route_class=IntakeRoute)

    @router.post(
        INTAKE_PATH,
        response_model=IntakeResponse,
        status_code=201,
        responses=_REPLAYED
        | problems(*TEXT_ERRORS, ParameterInvalid, IdempotencyMismatch, RegistrationErased, *STORE_ERRORS),
        summary="Register an agent, a person or an enterprise",
        description="Requires consent. URIs are stored as text and never fetched. Contact data is stored separately "
        "and never disclosed. The answer's erase token deletes what is stored, without an operator.",
        operation_id="intake_register",
    )
    def register(
        request: Request, body: Annotated[IntakeRequest, Body()], idempotency_key: IdempotencyKey = None
    ) -> Response:
        secret, owner = pepper(), key_owner(request)
        key = None if idempotency_key is None else request_digest(secret, INTAKE_PATH, owner, idempotency_key)
        with ledger().transaction() as tx:
            accepted = accept(tx, secret, body, key)
        answer = answers.registered(accepted.record, urls, accepted.erase_token)
        return private_document(answer, 201, replayed_header(accepted.replayed))

    @router.get(
        f"{INTAKE_PATH}/stats",
        response_model=IntakeStats,
        responses=problems(*STORE_ERRORS),
        summary="Registrations counted",
        description="By lane, and by UTC day over the last thirty days. Erased registrations remain counted.",
        operation_id="intake_stats",
    )
    def stats() -> Response:
        with ledger().read() as reader:
            return private_document(count_intakes(reader, datetime.now(UTC)))

    @router.get(
        f"{INTAKE_PATH}/recent",
        response_model=RecentIntakes,
        responses=problems(*STORE_ERRORS),
        summary="Recent registrations, anonymised",
        description="Lane, UTC day, runtime profile and state; not who or where, and no id.",
        operation_id="intake_recent",
    )
    def recent() -> Response:
        with ledger().read() as reader:
            return private_document(recent_intakes(reader))

    @router.get(
        STATUS_PATH,
        response_model=IntakeStatusResponse,
        responses=problems(IntakeNotFound, *STORE_ERRORS),
        summary="The current state of an intake",
        description="Its states, what is missing and links to the next steps, for the holder of the id.",
        operation_id="intake_status",
    )
    def status(intake_id: IntakeId) -> Response:
        return private_document(intake_status(ledger(), urls, intake_id))

    @router.get(
        CAPSULE_PATH,
        response_model=IntakeProvisioningCapsule,
        responses=problems(IntakeNotFound, *STORE_ERRORS),
        summary="The provisioning capsule of an intake",
        description="The intake as a versioned artifact, the same until something changes.",
        operation_id="intake_capsule",
    )
    def capsule(intake_id: IntakeId) -> Response:
        return private_document(answers.capsule(_known_intake(ledger(), intake_id), urls))

    @router.post(
        ERASE_PATH,
        response_model=IntakeErased,
        responses=problems(*TEXT_ERRORS, IntakeNotFound, *STORE_ERRORS),
        summary="Erase an intake",
        description="Deletes what is stored of an intake, including contact data and graph nodes, for the holder of "
        "the erase token. Lane, profile, UTC day and states remain for the counts. Repeating the request changes "
        "nothing. An unknown id and a wrong token get the same answer.",
        operation_id="intake_erase",
    )
    def erase(intake_id: IntakeId, body: IntakeEraseRequest) -> Response:
        erase_intake(ledger(), pepper(), intake_id, body.erase_token)
        return private_document(IntakeErased(intake_id=intake_id))

    return router


def intake_status(ledger: Ledger, urls: ServiceUrls, intake_id: str) -> IntakeStatusResponse:
    """Returns the intake's current state. Raises `IntakeNotFound`."""
    return answers.status(_known_intake(ledger, intake_id), urls)


def _known_intake(ledger: Ledger, intake_id: str) -> IntakeRecord:
    with ledger.read() as reader:
        record = find_intake(reader, intake_id) if _ID.fullmatch(intake_id) else None
    if record is None:
        raise IntakeNotFound("No intake has this id.")
    return record


_ID = re.compile(r"[0-9a-f]{32}")
_LANES = {lane.value for lane in Lane}


def _at_its_field(fault: dict[str, Any]) -> dict[str, Any]:
    where, *parts = fault["loc"]
    if where == "body" and str(fault["type"]).startswith("union_tag"):
        shown = ", ".join(lane.value for lane in Lane)
        return {**fault, "loc": ("body", "lane"), "msg": f"must be one of {shown}"}
    if where == "body" and parts and parts[0] in _LANES:
        return {**fault, "loc": ("body", *parts[1:])}
    return fault
