"""The exceptions of the client. A refusal has the problem's code, by which programs branch, and its links."""

from __future__ import annotations

from typing import Any, ClassVar


class ClientError(Exception):
    """Root of everything that the client raises on purpose."""


class Unreachable(ClientError):
    """No answer came, also after what may be sent again was sent again."""


class AddressInvalid(ClientError):
    """The service's address, or a path below it, can't be one, so nothing was sent."""


class KeyInvalid(ClientError):
    """The key is empty, or has characters that no key of a service has, so nothing was sent."""


class Altered(ClientError):
    """A quote is not what its hashes say: don't pay it."""


class NotProven(ClientError):
    """A published list does not add up to what is said of it, or there is no proof."""


class Pending(ClientError):
    """A payment was not settled in the time that the caller would wait. Claim again later; never pay again."""

    def __init__(self, answer: Any) -> None:
        super().__init__(f"the payment is not settled yet: {answer['code']}")
        self.answer = answer


class Refused(ClientError):
    """The service answered with a problem (RFC 9457).

    `code` is stable, `detail` is for people, `links` says where to go on, by what is there. `retry_after_s` is None
    where the service named no time. `body` is the whole problem.
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
    """The request can't be used as it is."""


class Unauthorized(Refused):
    """A valid key is needed."""

    statuses = range(401, 402)


class PaymentNeeded(Refused):
    """A payment is needed, or the one that was named does not match."""

    statuses = range(402, 403)


class Forbidden(Refused):
    """The key does not include this."""

    statuses = range(403, 404)


class NotFound(Refused):
    """There is nothing here."""

    statuses = range(404, 405)


class Conflict(Refused):
    """The request does not fit the current state."""

    statuses = range(409, 410)


class TooManyRequests(Refused):
    """A limit is reached, and its wait is longer than the client's."""

    statuses = range(429, 430)


class ServerFault(Refused):
    """The service failed, or can't answer at the moment."""

    statuses = range(500, 600)


_SPECIFIC = (Unauthorized, PaymentNeeded, Forbidden, NotFound, Conflict, TooManyRequests, ServerFault)


def refusal(status: int, body: Any, retry_after_s: float | None) -> Refused:
    """Returns the exception of an answer that is a refusal."""
    kind = next((error for error in _SPECIFIC if status in error.statuses), BadRequest)
    return kind(status, body, retry_after_s)
