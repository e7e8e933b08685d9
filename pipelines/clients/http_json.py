"""Reads JSON from other services over HTTP, within limits of time, size and shape.

The adapter decides what an answer means, including an error inside a 200. For chain nodes there is `rpc.py`.
"""

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from types import TracebackType
from typing import Any, Generic, Self, TypeVar, overload

import httpx
import msgspec
from pydantic import SecretStr

from contracts.base import Quality
from contracts.times import retry_after_s
from warehouse.clients.http import BodyCompressed, Reply, ReplyTooLarge, ask, client
from warehouse.duck.fetch_log import Attempt

TIMEOUT_S = 3.0
"""Total time limit of one request, including its retry."""

MAX_BYTES = 1024 * 1024
BACK_OFF = timedelta(minutes=1)
"""The back-off after a 429 without a time."""

BACK_OFF_CAP = timedelta(hours=1)

_TRIES = 2
_PAUSE_S = 0.1

Shape = TypeVar("Shape")


@dataclass(frozen=True)
class JsonAnswer(Generic[Shape]):
    """A source's value, or the reason why it gave none.

    `reason`, a stable code, is set exactly if `value` is missing: timeout, unreachable, rate_limited, http_<status>,
    too_large, html_page, unreadable. `ask_again_at` is set if the source demanded a pause until then.
    """

    value: Shape | None
    reason: str | None
    latency_ms: int
    fetched_at: datetime
    ask_again_at: datetime | None = None

    def attempt(self, source: str, *, quality: Quality | None = None, reason: str | None = None) -> Attempt:
        """Returns the row to store about this request. An adapter that can't use the value passes its `reason`."""
        why = reason or self.reason
        recorded_quality = Quality.UNAVAILABLE if why else quality
        return Attempt(source, self.fetched_at, self.latency_ms, why, recorded_quality, self.ask_again_at)


class _Refused(Exception):
    """An unusable answer; the text is the reason code."""

    def __init__(self, reason: str, *, again: bool = False, ask_again_at: datetime | None = None) -> None:
        super().__init__(reason)
        self.again = again
        self.ask_again_at = ask_again_at


class Feeds:
    """Queries sources; an async context manager. A fault is a `JsonAnswer` with a reason, never an exception."""

    def __init__(self, *, timeout_s: float = TIMEOUT_S, transport: httpx.AsyncBaseTransport | None = None) -> None:
        self._timeout_s = timeout_s
        self._client = client(timeout_s, proxied=True, transport=transport)

    async def __aenter__(self) -> Self:
        await self._client.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._client.__aexit__(kind, error, trace)

    @overload
    async def get(
        self, url: str, *, headers: Mapping[str, str | SecretStr] | None = None, max_bytes: int = MAX_BYTES
    ) -> JsonAnswer[Any]: ...

    @overload
    async def get(
        self,
        url: str,
        shape: type[Shape],
        *,
        headers: Mapping[str, str | SecretStr] | None = None,
        max_bytes: int = MAX_BYTES,
    ) -> JsonAnswer[Shape]: ...

    async def get(
        self,
        url: str,
        shape: Any = Any,
        *,
        headers: Mapping[str, str | SecretStr] | None = None,
        max_bytes: int = MAX_BYTES,
    ) -> JsonAnswer[Any]:
        """Returns the JSON at `url`, decoded into a `shape` that msgspec supports.

        If `shape` is `Any`, numbers with a decimal point become `Decimal`.

        Retries once within the time limit after a server or connection failure, but not after an answer that is merely
        unusable.
        """
        started = time.monotonic()
        asked_at = datetime.now(UTC)
        value, reason, ask_again_at = None, None, None
        try:
            async with asyncio.timeout(self._timeout_s):
                value = read_json(await self._body(url, headers or {}, max_bytes), shape)
        except TimeoutError:
            reason = "timeout"
        except _Refused as refusal:
            reason, ask_again_at = str(refusal), refusal.ask_again_at
        latency_ms = round((time.monotonic() - started) * 1000)
        return JsonAnswer(value, reason, latency_ms, asked_at + timedelta(milliseconds=latency_ms), ask_again_at)

    async def _body(self, url: str, headers: Mapping[str, str | SecretStr], max_bytes: int) -> bytes:
        for left in reversed(range(_TRIES)):
            try:
                return await self._try(url, headers, max_bytes)
            except _Refused as refusal:
                if not (left and refusal.again):
                    raise
            await asyncio.sleep(_PAUSE_S)
        raise AssertionError("the last try returns or raises")

    async def _try(self, url: str, headers: Mapping[str, str | SecretStr], max_bytes: int) -> bytes:
        plain = {"accept": "application/json"} | {name: _revealed(value) for name, value in headers.items()}
        try:
            reply = await ask(self._client, "GET", url, timeout_s=self._timeout_s, max_bytes=max_bytes, headers=plain)
        except httpx.TimeoutException:
            raise _Refused("timeout", again=True) from None
        except ReplyTooLarge:
            raise _Refused("too_large") from None
        except BodyCompressed:
            raise _Refused("unreadable") from None
        except TimeoutError:
            raise
        except (httpx.HTTPError, httpx.InvalidURL, OSError):
            raise _Refused("unreachable", again=True) from None
        _check_status(reply)
        return reply.body


def read_json(body: bytes, shape: Any = Any) -> Any:
    """Parses a body as JSON into a `shape`. Raises `_Refused` with `html_page` or `unreadable`."""
    if body.lstrip()[:1] == b"<":
        raise _Refused("html_page")
    try:
        return msgspec.json.Decoder(shape, float_hook=Decimal).decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, ArithmeticError):
        raise _Refused("unreadable") from None


def _check_status(reply: Reply) -> None:
    if reply.status == 429:
        raise _Refused("rate_limited", ask_again_at=_ask_again_at(reply.headers.get("retry-after")))
    if reply.status != 200:
        raise _Refused(f"http_{reply.status}", again=reply.status >= 500)


def _ask_again_at(retry_after: str | None) -> datetime:
    """Returns the time at which a `Retry-After` (seconds or a date) has passed, at most an hour from now."""
    now = datetime.now(UTC)
    wait_s = None if retry_after is None else retry_after_s(retry_after, now)
    cap_s = BACK_OFF_CAP.total_seconds()
    return now + (BACK_OFF if wait_s is None else timedelta(seconds=min(max(wait_s, 0.0), cap_s)))


def _revealed(value: str | SecretStr) -> str:
    return value.get_secret_value() if isinstance(value, SecretStr) else value
