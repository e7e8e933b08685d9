"""Authenticates routes: the caller that the front found by the request's key, and routes that require one."""

from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import APIRouter, Request, Response

from api.bodies import JsonRoute, ReadingRoute
from api.key_gate import CALLER, STORE_FAILED
from api.problems import store_unavailable
from api.responses import problems
from contracts.access.tiers import Caller
from contracts.errors import (
    InternalFault,
    MethodNotAllowed,
    QuotaExceeded,
    RateLimited,
    StoreUnavailable,
    Unauthorized,
)

SECURITY_SCHEMES = {
    "bearer": {
        "type": "http",
        "scheme": "bearer",
        "description": "An API key, `svc_<tier>_...`",
    },
    "apiKey": {"type": "apiKey", "in": "header", "name": "X-Api-Key", "description": "The same key"},
}
"""The two ways of sending a key, for OpenAPI."""

SECURITY: list[dict[str, list[str]]] = [{name: []} for name in SECURITY_SCHEMES]

_CHALLENGE = {"WWW-Authenticate": 'Bearer realm="svc"'}


def caller_of(request: Request) -> Caller:
    """Returns the caller of a valid key. Raises the same `Unauthorized` for every other key, or `StoreUnavailable`.

    This is a plain function: resolving a dependency costs FastAPI about as much CPU as the key's lookup.
    """
    caller = request.scope.get(CALLER)
    if isinstance(caller, Caller):
        return caller
    if caller == STORE_FAILED:
        raise store_unavailable()
    raise Unauthorized("Send a valid API key, as a Bearer token or in X-Api-Key.", headers=_CHALLENGE)


def key_owner(request: Request) -> str | None:
    """Returns the owner of the request's key on a route that does not require one; None for an anonymous caller.

    Raises `StoreUnavailable`.
    """
    caller = request.scope.get(CALLER)
    return None if caller is None else caller_of(request).owner


class AuthenticatedRoute(JsonRoute):
    """A route that answers 401 before it reads anything else of a request."""

    def __init__(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:
        described = {"security": SECURITY} | (options.pop("openapi_extra", None) or {})
        super().__init__(path, endpoint, openapi_extra=described, **options)

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        answer = super().get_route_handler()

        async def answer_callers(request: Request) -> Response:
            caller_of(request)
            return await answer(request)

        return answer_callers


class AuthenticatedReadingRoute(AuthenticatedRoute, ReadingRoute):
    """A route that requires a key and stores no text."""


def authenticated_router(tag: str, route_class: type[AuthenticatedRoute] = AuthenticatedRoute) -> APIRouter:
    """Creates a router of API v2 routes that require a key. Its routes need not name 401, 429 or 503."""
    return APIRouter(
        prefix="/api/v2",
        tags=[tag],
        route_class=route_class,
        responses=problems(MethodNotAllowed, Unauthorized, RateLimited, QuotaExceeded, InternalFault, StoreUnavailable),
    )
