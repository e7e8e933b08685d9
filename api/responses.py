"""Builds the JSON answers of rooms, and describes published bodies and the problem body for OpenAPI.

`api.openapi.headers` describes the header fields that all answers of a kind have.
"""

from collections.abc import Mapping
from typing import Any

from fastapi import Response
from pydantic import BaseModel

from api.openapi.headers import header_refs
from contracts.access.signed_payments import PaymentPending
from contracts.discovery.examples import PROBLEM_CODES
from contracts.errors import (
    BodyInvalid,
    BodyTooLarge,
    EncodingUnsupported,
    InternalFault,
    MediaTypeUnsupported,
    MethodNotAllowed,
    NotReady,
    PaymentAnswered,
    PaymentFailed,
    PaymentRefused,
    PaymentRequired,
    PaymentUsed,
    RateLimited,
    RequestProblem,
    StoreUnavailable,
)
from contracts.problems import PROBLEM_MEDIA_TYPE
from contracts.secret_texts import SecretInText

STORE_ERRORS = (MethodNotAllowed, RateLimited, InternalFault, StoreUnavailable)
"""Errors of every limited route that reads a store."""

BODY_ERRORS = (BodyInvalid, BodyTooLarge, MediaTypeUnsupported)
"""Errors of every route that accepts a JSON body."""

TEXT_ERRORS = (BodyInvalid, SecretInText, BodyTooLarge, MediaTypeUnsupported)
"""The same for routes that store texts of the body."""

PAYMENT_ERRORS = (PaymentRequired, PaymentRefused, PaymentFailed, PaymentUsed, PaymentAnswered)
"""Errors of every route that accepts a signed payment."""

PROBLEM_SCHEMA = {"$ref": "#/components/schemas/Problem"}

PENDING: dict[int | str, dict[str, Any]] = {
    202: {
        "model": PaymentPending,
        "description": "A signed payment is under way: send the same request and signature again later",
        "headers": header_refs("Retry-After", "Location"),
    }
}
"""The 202 of every route that accepts a signed payment."""

UNCHANGED: dict[int | str, dict[str, Any]] = {304: {"description": "Unchanged for the entity tags in If-None-Match"}}
"""The 304 of a cacheable document."""


def private_document(document: BaseModel, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """Answers with a document that no cache may store."""
    return private_json(document.model_dump_json(by_alias=True), status, headers)


def private_json(body: str | bytes, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """Answers with JSON that no cache may store."""
    return Response(body, status, {"Cache-Control": "no-store", **(headers or {})}, "application/json")


def not_ready() -> NotReady:
    """Returns the problem of a published path before the first generation."""
    return NotReady("The first generation is still being built.", headers={"Retry-After": "5"})


def cached(model: type[BaseModel] | None) -> dict[int | str, dict[str, Any]]:
    """Describes the 200 with `model` (None: any JSON object) and the 304 of a published path."""
    any_object = {"content": {"application/json": {"schema": {"type": "object"}}}}
    body: dict[str, Any] = any_object if model is None else {"model": model}
    varies = header_refs("Vary")
    return {
        200: {"description": "The document", "headers": varies, **body},
        304: {**UNCHANGED[304], "headers": varies},
    }


def problems(*errors: type[RequestProblem]) -> dict[int | str, dict[str, Any]]:
    """Describes one response per status of `errors`, with the problem body.

    The front refuses every compressed body, so an operation that refuses media types refuses encodings too.
    """
    if MediaTypeUnsupported in errors:
        errors = (*errors, EncodingUnsupported)
    return {
        status: problem_answer(*(error for error in errors if error.status == status)) for status in _statuses(errors)
    }


def problem_answer(*errors: type[RequestProblem]) -> dict[str, Any]:
    """Describes the response of `errors`, which share one status."""
    return {
        "description": "; ".join(f"`{error.code}`: {error.title}" for error in errors),
        "content": {PROBLEM_MEDIA_TYPE: {"schema": PROBLEM_SCHEMA, PROBLEM_CODES: [error.code for error in errors]}},
    }


def with_problem(described: Mapping[int | str, dict[str, Any]], error: type[RequestProblem]) -> dict[int | str, Any]:
    """Returns the responses with one more error, merged with the others of its status."""
    added, known = problem_answer(error), described.get(error.status)
    if known is None:
        return {**described, error.status: added}
    content = known["content"][PROBLEM_MEDIA_TYPE]
    codes = [*content[PROBLEM_CODES], error.code]
    joined = {
        "description": f"{known['description']}; {added['description']}",
        "content": {PROBLEM_MEDIA_TYPE: {**content, PROBLEM_CODES: codes}},
    }
    return {**described, error.status: known | joined}


def _statuses(errors: tuple[type[RequestProblem], ...]) -> list[int]:
    return sorted({error.status for error in errors})
