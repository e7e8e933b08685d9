"""Authentication for routes: the caller whom the front found by the request's key, and routes that require one."""

import re
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from typing import Any, Protocol

from fastapi import APIRouter, FastAPI, Request, Response

from api.bodies import JsonRoute, ReadingRoute
from api.challenges import unauthorized
from api.key_gate import CALLER, STORE_FAILED
from api.problems import store_unavailable
from api.responses import PAYMENT_ERRORS, PENDING, problems, with_problem
from contracts.access.tiers import Caller
from contracts.access.trial_plan import may_ask, trial_plan
from contracts.errors import (
    InternalFault,
    MethodNotAllowed,
    QuotaExceeded,
    RateLimited,
    SettlementUnavailable,
    StoreUnavailable,
    TrialExcluded,
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
"""The two ways to send a key, for OpenAPI."""

SECURITY: list[dict[str, list[str]]] = [{name: []} for name in SECURITY_SCHEMES]

_CREDENTIALS = ("authorization", "x-api-key")
_CONVERTER = re.compile(r":\w+}")


class TakesPayments(Protocol):
    """Answers requests without credentials in return for a payment, as `SignedPayments` does."""

    async def answer(self, request: Request, answer: Callable[[Request], Awaitable[Response]]) -> Response | None: ...


def set_payments(app: FastAPI, payments: TakesPayments) -> None:
    """Sets the object that answers requests without credentials at the application's routes that require a key."""
    app.state.payments = payments


def caller_of(request: Request) -> Caller:
    """Returns the caller of a valid key. Raises the same `Unauthorized` for every other key, or `StoreUnavailable`.

    This is a plain function because resolving a dependency costs FastAPI about as much CPU as looking up the key.
    """
    caller = request.scope.get(CALLER)
    if isinstance(caller, Caller):
        return caller
    if caller == STORE_FAILED:
        raise store_unavailable()
    raise unauthorized()


def key_owner(request: Request) -> str | None:
    """Returns the owner of the request's key on a route that does not require one; None for an anonymous caller.

    Raises `StoreUnavailable`.
    """
    caller = request.scope.get(CALLER)
    return None if caller is None else caller_of(request).owner


def refuse_excluded(caller: Caller, operation: str) -> None:
    """Raises `TrialExcluded` if the caller's key does not include an operation, such as `GET /api/v2/schema`."""
    if not may_ask(caller, operation):
        included = ", ".join(sorted(trial_plan().operations))
        raise TrialExcluded(f"{operation} needs a key of a plan. A trial key includes reading and {included}.")


class AuthenticatedRoute(JsonRoute):
    """A route that requires a key, or a payment where payments are accepted. A request with neither is refused unread,
    as is one with a trial key that does not include the route."""

    def __init__(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:
        described = {"security": SECURITY} | (options.pop("openapi_extra", None) or {})
        if not all(map(trial_plan().includes, _operations(path, options.get("methods")))):
            options["responses"] = with_problem(options.get("responses") or {}, TrialExcluded)
        super().__init__(path, endpoint, openapi_extra=described, **options)

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        answer = super().get_route_handler()
        operations = {operation.partition(" ")[0]: operation for operation in _operations(self.path, self.methods)}

        async def answer_callers(request: Request) -> Response:
            payments: TakesPayments | None = getattr(request.app.state, "payments", None)
            if payments is not None and not any(name in request.headers for name in _CREDENTIALS):
                paid = await payments.answer(request, answer)
                if paid is not None:
                    return paid
            refuse_excluded(caller_of(request), operations[request.method])
            return await answer(request)

        return answer_callers


def _operations(path: str, methods: Iterable[str] | None) -> list[str]:
    """Returns the operations of a route as `trial.yaml` names them."""
    named = _CONVERTER.sub("}", path)
    return [f"{method} {named}" for method in methods or ("GET",)]


class AuthenticatedReadingRoute(AuthenticatedRoute, ReadingRoute):
    """A route that requires a key and stores no text."""


def authenticated_router(tag: str, route_class: type[AuthenticatedRoute] = AuthenticatedRoute) -> APIRouter:
    """Creates a router of API v2 routes that require a key. Its routes need not name 401, 429 or 503."""
    return APIRouter(
        prefix="/api/v2",
        tags=[tag],
        route_class=route_class,
        responses=PENDING
        | problems(
            MethodNotAllowed,
            Unauthorized,
            *PAYMENT_ERRORS,
            RateLimited,
            QuotaExceeded,
            InternalFault,
            StoreUnavailable,
            SettlementUnavailable,
        ),
    )
