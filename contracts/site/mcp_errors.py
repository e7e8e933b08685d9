"""Lists the problems with which the MCP servers refuse a message. Pure."""

import json
from collections.abc import Iterator
from dataclasses import dataclass

from contracts.connect.jsonrpc import PARSE_ERROR, problem_as_error
from contracts.errors import (
    BodyInvalid,
    BodyTooLarge,
    EncodingUnsupported,
    HeadersTooLarge,
    HostUnknown,
    InternalFault,
    MediaTypeUnsupported,
    MethodNotAllowed,
    OriginForbidden,
    PaymentAnswered,
    PaymentFailed,
    PaymentRefused,
    PaymentRequired,
    PaymentUsed,
    QuotaExceeded,
    RateLimited,
    RequestProblem,
    SessionLimited,
    SettlementUnavailable,
    StoreUnavailable,
    TargetTooLong,
    Unauthorized,
)
from contracts.site.api_description import Problem

REFUSALS: tuple[type[RequestProblem], ...] = (
    BodyInvalid,
    Unauthorized,
    PaymentRequired,
    PaymentRefused,
    PaymentFailed,
    OriginForbidden,
    MethodNotAllowed,
    PaymentUsed,
    PaymentAnswered,
    BodyTooLarge,
    TargetTooLong,
    MediaTypeUnsupported,
    EncodingUnsupported,
    HostUnknown,
    RateLimited,
    QuotaExceeded,
    SessionLimited,
    HeadersTooLarge,
    InternalFault,
    StoreUnavailable,
    SettlementUnavailable,
)
"""Problems with which a message is refused before it is processed, by status."""


@dataclass(frozen=True)
class Refusal:
    """A refused message: the problem of the HTTP request, and the numbers that `error.code` may have."""

    problem: Problem
    numbers: tuple[int, ...]

    @property
    def title(self) -> str:
        """Returns what was wrong. For a body, that is its meaning to a server of messages."""
        return "The message is not JSON, or not JSON-RPC" if self._is_of_body else self.problem.title

    @property
    def advice(self) -> str:
        """Returns what to do next. A JSON-RPC error has no `errors`: its `message` names the fault."""
        return "Correct what `message` names, then send it again." if self._is_of_body else self.problem.advice

    @property
    def _is_of_body(self) -> bool:
        return self.problem.code == BodyInvalid.code


def refusals() -> Iterator[Refusal]:
    """Yields the problems with which the MCP servers refuse a message."""
    for refused in REFUSALS:
        body = json.loads(problem_as_error(refused("The message is refused."), "", {}))
        unread = (PARSE_ERROR,) if refused is BodyInvalid else ()
        problem = Problem(
            status=refused.status,
            code=refused.code,
            title=refused.title,
            is_retryable=refused.retryable,
            example="",
            media_types=("application/json",),
        )
        yield Refusal(problem, (*unread, body["error"]["code"]))
