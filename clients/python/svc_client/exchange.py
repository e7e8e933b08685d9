"""Requests and answers as data, and the rule for retries. Pure: `clients.py` does the sending."""

from __future__ import annotations

import json
from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, TypeAlias, TypeVar

from svc_client.errors import Unreachable

T = TypeVar("T")

ATTEMPTS = 4
"""Most times that a request is sent."""

FIRST_PAUSE_S = 0.25
"""Pause before the second attempt if the service stated no time; it doubles before each further one."""


@dataclass(frozen=True)
class Request:
    """One request. `repeatable` means that sending it twice has the effect of sending it once."""

    method: str
    path: str
    repeatable: bool
    query: Mapping[str, Any] = field(default_factory=dict)
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Wait:
    """A pause before the next request, in seconds."""

    seconds: float


@dataclass(frozen=True)
class Use:
    """The API key to send from then on."""

    key: str


@dataclass(frozen=True)
class Response:
    """One answer. `retry_after_s` is None if it states no time."""

    status: int
    content: bytes
    media_type: str
    retry_after_s: float | None

    @property
    def body(self) -> Any:
        """Returns the decoded JSON of the answer, or its text if it is not JSON."""
        if self.media_type == "application/json" or self.media_type.endswith("+json"):
            return json.loads(self.content)
        return self.content.decode(errors="replace")


@dataclass(frozen=True)
class Lost:
    """No answer arrived, and it is unknown whether the service got the request."""

    reason: str


Step: TypeAlias = Request | Wait | Use
Flow: TypeAlias = Generator[Step, Any, T]
"""An operation: it yields requests, and gets a `Response` for each."""


def persistent(flow: Flow[T], most_wait_s: float) -> Generator[Step, Response | Lost | None, T]:
    """Drives a flow with answers and adds retries. The caller sends back a `Response` or `Lost` for each request.

    Raises `Unreachable`.
    """
    step = next(flow, None)
    try:
        while step is not None:
            if not isinstance(step, Request):
                yield step
                step = next(flow)
                continue
            attempt, reply = 1, (yield step)
            assert reply is not None
            while (pause_s := pause_before_again(step, reply, attempt, most_wait_s)) is not None:
                yield Wait(pause_s)
                attempt, reply = attempt + 1, (yield step)
                assert reply is not None
            if isinstance(reply, Lost):
                raise Unreachable(f"{step.method} {step.path} got no answer: {reply.reason}")
            step = flow.send(reply)
    except StopIteration as done:
        result: T = done.value
        return result
    raise AssertionError("every operation asks something")


def seconds_of(retry_after: str | None, now: datetime) -> float | None:
    """Converts a `Retry-After` field, which is in seconds or a date, to seconds from `now`; None if it is neither."""
    if retry_after is None:
        return None
    try:
        return max(0.0, float(retry_after))
    except ValueError:
        pass
    try:
        at = parsedate_to_datetime(retry_after)
    except ValueError:
        return None
    return max(0.0, ((at if at.tzinfo else at.replace(tzinfo=UTC)) - now).total_seconds())


def pause_before_again(request: Request, reply: Response | Lost, attempt: int, most_wait_s: float) -> float | None:
    """Returns the seconds to wait before a retry after attempt number `attempt` (from 1), or None to stop.

    A 429 means that the request was refused before any work, so it may always be retried.
    """
    if attempt >= ATTEMPTS:
        return None
    if isinstance(reply, Lost):
        return FIRST_PAUSE_S * 2 ** (attempt - 1) if request.repeatable else None
    if not _may_differ_later(reply) or not (request.repeatable or reply.status == 429):
        return None
    named = reply.retry_after_s
    pause: float = FIRST_PAUSE_S * 2 ** (attempt - 1) if named is None else named
    return pause if pause <= most_wait_s else None


def _may_differ_later(response: Response) -> bool:
    if response.status < 400:
        return False
    body = response.body
    if isinstance(body, dict) and "retryable" in body:
        return bool(body["retryable"])
    return response.status in (429, 502, 503, 504)
