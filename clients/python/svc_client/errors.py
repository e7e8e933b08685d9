"""The client's exceptions. A refusal has the problem's code, on which programs can branch, and its links."""

from __future__ import annotations

from typing import Any, ClassVar


class ClientError(Exception):
    """Base class of all exceptions that the client raises on purpose."""


class Unreachable(ClientError):
    """No answer arrived, even after any permitted retries."""


class AddressInvalid(ClientError):
    """The service's address, or a path below it, is invalid, so nothing was sent."""


class KeyInvalid(ClientError):
    """The key is empty or has characters that no API key has, so nothing was sent."""


class Altered(ClientError):
    """A quote does not match its hashes: don't pay it."""


class NotProven(ClientError):
    """A published list does not match the statements about it, or there is no proof."""


class Pending(ClientError):
    """The payment was not settled within the caller's waiting time. Claim again later; never pay again."""

    def __init__(self, answer: Any) -> None:
        super().__init__(f"the payment is not settled yet: {answer['code']}")
        self.answer = answer


class Refused(ClientError):
    """The service answered with a problem (RFC 9457).

    `code` is stable, `detail` is for people, and `links` are the next steps, keyed by their relation. `retry_after_s`
    is None if the service stated no time. `body` is the whole problem.
    """

    statuses: ClassVar[range] = range(400, 600)

    def __init__(self, status: int, body: Any, retry_after_s: float | None) -> None:
        problem: dict[str, Any] = body if isinstance(body, dict) else {}
        self.status = status
        self.code = str(problem.get("code", "unknown"))
        self.title = str(problem.get("title", f"HTTP {status}"))
        self.detail = str(problem.get("detail", ""))
        self.links: dict[str, str] = problem.get("links") or {}
        self.errors: list[dict[str, str]] = problem.get("errors") or []
        self.retryable = bool(problem.get("retryable", False))
        self.request_id: str | None = problem.get("requestId")
        self.retry_after_s = retry_after_s
        self.body = body
        super().__init__(f"{self.code} ({status}): {self.detail or self.title}")


class BadRequest(Refused):
    """The request is invalid."""


class Unauthorized(Refused):
    """The request needs a valid key."""

    statuses = range(401, 402)


class PaymentNeeded(Refused):
    """The request needs a payment, or the one that it names does not match."""

    statuses = range(402, 403)


class Forbidden(Refused):
    """The key does not include this operation."""

    statuses = range(403, 404)


class NotFound(Refused):
    """There is nothing here."""

    statuses = range(404, 405)


class Conflict(Refused):
    """The request conflicts with the current state."""

    statuses = range(409, 410)


class TooManyRequests(Refused):
    """A limit is reached, and waiting for it would take longer than the client waits."""

    statuses = range(429, 430)


class ServerFault(Refused):
    """The service failed or can't answer at the moment."""

    statuses = range(500, 600)


_SPECIFIC = (Unauthorized, PaymentNeeded, Forbidden, NotFound, Conflict, TooManyRequests, ServerFault)


def refusal(status: int, body: Any, retry_after_s: float | None) -> Refused:
    """Returns the exception for an answer that is a refusal."""
    kind = next((error for error in _SPECIFIC if status in error.statuses), BadRequest)
    return kind(status, body, retry_after_s)
