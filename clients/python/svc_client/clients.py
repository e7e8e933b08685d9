"""Sends the requests that the flows yield: `Client` blocks, `AsyncClient` awaits. Both have the same operations."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Awaitable, Callable, Coroutine
from datetime import UTC, datetime
from typing import Any, Concatenate, ParamSpec, TypeVar

import httpx

from svc_client import flows
from svc_client.errors import AddressInvalid, KeyInvalid
from svc_client.exchange import Flow, Lost, Request, Response, Use, Wait, persistent, seconds_of

P = ParamSpec("P")
T = TypeVar("T")

USER_AGENT = "svc-client/0.2.0"
TIMEOUT_S = 60.0
MOST_WAIT_S = 65.0
"""Longest pause before a retry: it outlasts a per-minute limit, but not a daily one."""


class _Base:
    """The part that the sync and the async client share: the address and the key."""

    def __init__(self, base_url: str, key: str | None, most_wait_s: float) -> None:
        self.base_url = base_url.rstrip("/")
        self.key = key
        self.most_wait_s = most_wait_s

    def _prepared(self, request: Request, http: httpx.Client | httpx.AsyncClient) -> httpx.Request:
        """Builds the HTTP request. Raises `KeyInvalid` and `AddressInvalid`, for which a retry would not help."""
        headers = {"User-Agent": USER_AGENT, **request.headers}
        if self.key is not None:
            if not re.fullmatch("[!-~]+", self.key):  # a header field can't contain others, nor end with a space
                raise KeyInvalid("an API key has printable ASCII characters without spaces, and at least one")
            headers["Authorization"] = f"Bearer {self.key}"
        if not request.path.startswith("/"):  # it would extend the host name
            raise AddressInvalid(f"a path begins with a slash: {request.path!r}")
        query = {name: value for name, value in request.query.items() if value is not None}
        try:
            url = httpx.URL(self.base_url + request.path)
            params = url.params.merge(query) or None  # empty parameters would remove the path's own query
            made = http.build_request(request.method, url, params=params, json=request.body, headers=headers)
        except httpx.InvalidURL as error:
            raise AddressInvalid(f"{self.base_url + request.path!r} is not an address: {error}") from error
        if not _has_a_host(made.url) or not set("?#").isdisjoint(self.base_url):
            raise AddressInvalid(f"a service's address is http:// or https:// and a host: {self.base_url!r}")
        return made


def _has_a_host(url: httpx.URL) -> bool:
    try:
        url.raw_host.decode().encode("idna")  # as for its DNS look-up
    except UnicodeError:
        return False
    return url.scheme in ("http", "https") and url.host != "" and "%20" not in url.host and (url.port or 0) < 2**16


def _sync(flow: Callable[P, Flow[T]]) -> Callable[Concatenate[Client, P], T]:
    def operation(self: Client, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return self.run(flow(*args, **kwargs))

    return _named(operation, flow)


def _async(flow: Callable[P, Flow[T]]) -> Callable[Concatenate[AsyncClient, P], Coroutine[Any, Any, T]]:
    async def operation(self: AsyncClient, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self.run(flow(*args, **kwargs))

    return _named(operation, flow)


def _named(operation: T, flow: Callable[..., Any]) -> T:
    for name in ("__name__", "__doc__", "__annotations__"):
        setattr(operation, name, getattr(flow, name))
    return operation


class Client(_Base):
    """A blocking client. `key` is the API key, if there is one yet; `http` is used instead of a new connection pool.

    Requests that may be repeated are retried after the time that the service states (at most `most_wait_s` seconds).
    """

    def __init__(
        self,
        base_url: str,
        key: str | None = None,
        *,
        http: httpx.Client | None = None,
        most_wait_s: float = MOST_WAIT_S,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        super().__init__(base_url, key, most_wait_s)
        self._http = http or httpx.Client(timeout=TIMEOUT_S)
        self._sleep = sleep

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._http.close()

    def run(self, flow: Flow[T]) -> T:
        """Leads a flow to its end."""
        steps, reply = persistent(flow, self.most_wait_s), None
        while True:
            try:
                step = steps.send(reply)
            except StopIteration as done:
                result: T = done.value
                return result
            reply = None
            match step:
                case Request():
                    reply = self._send(step)
                case Wait(seconds):
                    self._sleep(seconds)
                case Use(key):
                    self.key = key

    def _send(self, request: Request) -> Response | Lost:
        try:
            return _response_of(self._http.send(self._prepared(request, self._http)))
        except httpx.TransportError as error:
            return Lost(repr(error))

    document = _sync(flows.document)
    plans = _sync(flows.plans)
    trial_key = _sync(flows.trial_key)
    quote = _sync(flows.quote)
    claim = _sync(flows.claim)
    query = _sync(flows.query)
    node = _sync(flows.node)
    signal = _sync(flows.signal)
    erase = _sync(flows.erase)
    build = _sync(flows.build)
    design_memory = _sync(flows.design_memory)
    check = _sync(flows.check)
    holders = _sync(flows.holders)
    holder = _sync(flows.holder)
    verify = _sync(flows.verify)


class AsyncClient(_Base):
    """The asyncio counterpart of `Client`."""

    def __init__(
        self,
        base_url: str,
        key: str | None = None,
        *,
        http: httpx.AsyncClient | None = None,
        most_wait_s: float = MOST_WAIT_S,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        super().__init__(base_url, key, most_wait_s)
        self._http = http or httpx.AsyncClient(timeout=TIMEOUT_S)
        self._sleep = sleep

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        await self._http.aclose()

    async def run(self, flow: Flow[T]) -> T:
        """Leads a flow to its end."""
        steps, reply = persistent(flow, self.most_wait_s), None
        while True:
            try:
                step = steps.send(reply)
            except StopIteration as done:
                result: T = done.value
                return result
            reply = None
            match step:
                case Request():
                    reply = await self._send(step)
                case Wait(seconds):
                    await self._sleep(seconds)
                case Use(key):
                    self.key = key

    async def _send(self, request: Request) -> Response | Lost:
        try:
            return _response_of(await self._http.send(self._prepared(request, self._http)))
        except httpx.TransportError as error:
            return Lost(repr(error))

    document = _async(flows.document)
    plans = _async(flows.plans)
    trial_key = _async(flows.trial_key)
    quote = _async(flows.quote)
    claim = _async(flows.claim)
    query = _async(flows.query)
    node = _async(flows.node)
    signal = _async(flows.signal)
    erase = _async(flows.erase)
    build = _async(flows.build)
    design_memory = _async(flows.design_memory)
    check = _async(flows.check)
    holders = _async(flows.holders)
    holder = _async(flows.holder)
    verify = _async(flows.verify)


def _response_of(answer: httpx.Response) -> Response:
    media_type = answer.headers.get("content-type", "").partition(";")[0].strip().lower()
    after_s = seconds_of(answer.headers.get("retry-after"), datetime.now(UTC))
    return Response(answer.status_code, answer.content, media_type, after_s)
