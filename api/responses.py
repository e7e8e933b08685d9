"""How routes describe their answers in OpenAPI: published bodies, and the one body of every error they may give."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

from contracts.errors import NotReady, RequestProblem
from contracts.problems import PROBLEM_MEDIA_TYPE

PROBLEM_SCHEMA = {"$ref": "#/components/schemas/Problem"}

_HEADERS: dict[str, Any] = {
    "ETag": {"description": "Strong; changes with the content and its encoding", "schema": {"type": "string"}},
    "Cache-Control": {"schema": {"type": "string"}},
    "Vary": {"schema": {"type": "string"}},
    "RateLimit-Policy": {"description": "Budget of one client address", "schema": {"type": "string"}},
    "RateLimit": {"description": "What is left of the budget", "schema": {"type": "string"}},
    "Retry-After": {"description": "Seconds", "schema": {"type": "integer"}},
    "Allow": {"schema": {"type": "string"}},
    "Location": {"schema": {"type": "string"}},
    "X-Request-Id": {"schema": {"type": "string"}},
}


_OWN_HEADERS = {405: ("Allow",), 429: ("Retry-After", "RateLimit-Policy", "RateLimit"), 503: ("Retry-After",)}


def not_ready() -> NotReady:
    """What a published path answers before the first generation."""
    return NotReady("The first generation is still being built.", headers={"Retry-After": "5"})


def cached(model: type[BaseModel] | None, *, limited: bool) -> dict[int | str, dict[str, Any]]:
    """200 with `model` (None: any JSON object) and 304, as every published path answers."""
    names = ["ETag", "Cache-Control", "Vary"] + (["RateLimit-Policy"] if limited else [])
    any_object = {"content": {"application/json": {"schema": {"type": "object"}}}}
    body: dict[str, Any] = any_object if model is None else {"model": model}
    return {
        200: {"description": "The document", "headers": _headers(names), **body},
        304: {"description": "Unchanged for the entity tags in If-None-Match", "headers": _headers(names)},
    }


def redirected(*, limited: bool) -> dict[int | str, dict[str, Any]]:
    """302 without a body."""
    names = ["Location", "Cache-Control"] + (["RateLimit-Policy"] if limited else [])
    return {302: {"description": "The path to go on to", "headers": _headers(names)}}


def problems(*errors: type[RequestProblem]) -> dict[int | str, dict[str, Any]]:
    """One response for each status of `errors`, with the problem body."""
    return {status: _problem([error for error in errors if error.status == status]) for status in _statuses(errors)}


def _statuses(errors: tuple[type[RequestProblem], ...]) -> list[int]:
    return sorted({error.status for error in errors})


def _problem(errors: list[type[RequestProblem]]) -> dict[str, Any]:
    names = ["X-Request-Id", *_OWN_HEADERS.get(errors[0].status, ())]
    return {
        "description": "; ".join(f"`{error.code}`: {error.title}" for error in errors),
        "headers": _headers(names),
        "content": {PROBLEM_MEDIA_TYPE: {"schema": PROBLEM_SCHEMA}},
    }


def _headers(names: list[str]) -> dict[str, Any]:
    return {name: _HEADERS[name] for name in names}
