"""Calls JSON-RPC over HTTP with failover between nodes, retries and rate limits, in one pool for all chain readers.

`contracts/evm/codec.py` decides what an answer or an error means. A node's URL may contain a key, so only its host
leaves this module.
"""

import asyncio
import logging
import math
import random
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from types import TracebackType
from typing import Any, Self, TypeVar
from urllib.parse import urlsplit

import aiohttp

from contracts.errors import ChainMismatch, RpcUnavailable
from contracts.evm.codec import (
    Fatal,
    RateLimit,
    RpcError,
    TooLarge,
    Transient,
    batch_body,
    classify,
    quantity,
    read_answer,
    read_batch,
    request_body,
)
from warehouse.clients.http import tls_roots

log = logging.getLogger(__name__)

Result = TypeVar("Result")

BATCH_CALLS = 50
"""The most calls in one body: public nodes refuse larger batches."""

_MAX_BODY_BYTES = 128 * 1024 * 1024
_TRIES_PER_NODE = 4
_MANY_FAILURES = 3
_BACKOFF_S = 0.25
_BACKOFF_CAP_S = 10.0
_REFUSED_PENALTY_S = 600.0
_LATE_S = 60.0
_LOOK_S = 0.05
_KEY_LIKE = re.compile(r"(?=.*[0-9])(?=.*[a-z])[0-9a-z]{20,}")
_JSON = {"Content-Type": "application/json", "Accept-Encoding": "gzip, deflate"}


def host_of(url: str) -> str:
    """Returns the host and port of a node's address, the name under which it may be logged, stored and published.

    A label that looks like a key is masked: some providers give each customer a subdomain.
    """
    parts = urlsplit(url)
    name = ".".join("***" if _KEY_LIKE.fullmatch(label) else label for label in str(parts.hostname).split("."))
    return f"{name}:{parts.port}" if parts.port else name


def numbered(hosts: Sequence[str]) -> list[str]:
    """Returns the hosts, with numbers to distinguish equal ones."""
    return [f"{host}#{count + 1}" if (count := hosts[:place].count(host)) else host for place, host in enumerate(hosts)]


class Endpoint:
    """One node: its health, and its limit of concurrent requests (halved on a rate limit, raised after success)."""

    def __init__(
        self,
        url: str,
        session: Callable[[], aiohttp.ClientSession],
        *,
        timeout_s: float,
        connections: int,
        late_until: dict[str, float],
    ) -> None:
        self.host = host_of(url)
        self.request_count = 0
        self.wrong_chain: str | None = None
        self.usable_at = 0.0
        self._url = url
        self._session = session
        self._timeout_s = timeout_s
        self._connections = connections
        self._late_until = late_until
        self._limit = float(connections)
        self._in_flight = 0
        self._failures_in_row = 0
        self._chain_known = False
        self._chain_lock = asyncio.Lock()
        self._freed = asyncio.Condition()

    @property
    def busy(self) -> bool:
        return self._in_flight >= int(self._limit)

    @property
    def resting(self) -> bool:
        """Returns True while the node is paused after a failure or a rate limit."""
        return time.monotonic() < self.usable_at

    @property
    def failing(self) -> bool:
        """Returns True if the node failed several times in a row."""
        return self._failures_in_row >= _MANY_FAILURES

    @property
    def late(self) -> bool:
        """Returns True if the node was slow recently; other nodes are then preferred."""
        return time.monotonic() < self._late_until.get(self._url, 0.0)

    async def call(self, method: str, params: Sequence[Any]) -> Any:
        """Returns the decoded result of one attempt. Raises `RpcError`."""
        return read_answer(await self.post(method, params), method=method)

    async def batch(self, calls: Sequence[tuple[str, Sequence[Any]]]) -> list[Any | RpcError]:
        """Attempts several calls once; each position contains a result or its `RpcError`.

        Raises `RpcError` for the whole batch.
        """
        results: list[Any | RpcError] = []
        for place in range(0, len(calls), BATCH_CALLS):
            part = calls[place : place + BATCH_CALLS]
            try:
                results += read_batch(await self._post(batch_body(part), part[0][0]), part)
            except RpcError as error:
                if error.failure != Fatal():
                    raise
                results += [await self._result(method, params) for method, params in part]  # a node without batches
        return results

    async def _result(self, method: str, params: Sequence[Any]) -> Any | RpcError:
        try:
            return await self.call(method, params)
        except RpcError as error:
            return error

    async def post(self, method: str, params: Sequence[Any]) -> bytes:
        """Returns the undecoded HTTP 200 of one attempt, which may contain a JSON-RPC error. Raises `RpcError`."""
        return await self._post(request_body(method, params), method)

    async def ensure_chain(self, chain_id: int) -> None:
        """Queries the node's chain id once. A wrong chain removes the node from the pool permanently."""
        async with self._chain_lock:
            if self._chain_known:
                return
            answer = await self.call("eth_chainId", [])
            try:
                node_chain_id = quantity(answer)
            except (TypeError, ValueError):
                raise RpcError(Transient(), "an eth_chainId that is not a number") from None
            if node_chain_id != chain_id:
                self.wrong_chain = f"{self.host} answers for chain {node_chain_id}"
                log.warning("%s, not %d: left out", self.wrong_chain, chain_id)
                raise RpcError(Fatal(refused=True), f"chain {node_chain_id}")
            self._chain_known = True

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[None]:
        """Reserves a slot for one piece of work within the node's limit."""
        async with self._freed:
            await self._freed.wait_for(lambda: not self.busy)
            self._in_flight += 1
        try:
            yield
        finally:
            async with self._freed:
                self._in_flight -= 1
                self._freed.notify_all()

    def succeeded(self) -> None:
        self._late_until.pop(self._url, None)
        self._failures_in_row = 0
        self._limit = min(float(self._connections), self._limit + 1 / self._limit)

    def failed(self, error: RpcError) -> None:
        """Pauses the node for as long as it demands, else for longer with every consecutive failure."""
        if self.resting and not isinstance(error.failure, RateLimit):
            return  # concurrent requests fail together, which counts as one failure
        self._failures_in_row += 1
        wait_s = min(_BACKOFF_S * 2 ** (self._failures_in_row - 1), _BACKOFF_CAP_S) * random.uniform(0.5, 1.0)  # noqa: S311
        match error.failure:
            case RateLimit(retry_after_s):
                if not self.resting:
                    self._limit = max(1.0, self._limit / 2)
                wait_s = wait_s if retry_after_s is None else retry_after_s
            case Fatal(refused=True):
                wait_s = _REFUSED_PENALTY_S
        self.usable_at = max(self.usable_at, time.monotonic() + wait_s)

    def overdue(self) -> None:
        """Records that the node was slow to answer."""
        self._late_until[self._url] = time.monotonic() + _LATE_S

    async def _post(self, body: bytes, method: str) -> bytes:
        self.request_count += 1
        try:
            async with self._session().post(
                self._url, data=body, headers=_JSON, timeout=aiohttp.ClientTimeout(total=self._timeout_s)
            ) as response:
                received = await self._body(response, method)
                if response.status != 200:
                    raise self._http_error(response, received, method)
                return received
        except RpcError as error:
            error.host = self.host
            raise
        except TimeoutError:
            # A range that takes too long is too wide: a retry of the same request would take as long.
            failure = classify(method, message="request timed out")
            overdue = self._error(failure, f"no answer within {self._timeout_s:g} s")
            self.failed(overdue)
            self.overdue()
            raise overdue from None
        except aiohttp.ClientError as error:
            # The text of the client's error can contain the URL.
            raise self._error(Transient(), type(error).__name__) from None

    async def _body(self, response: aiohttp.ClientResponse, method: str) -> bytes:
        chunks: list[bytes] = []
        size = 0
        async for chunk in response.content.iter_any():
            size += len(chunk)
            if size > _MAX_BODY_BYTES:
                raise self._error(classify(method, http_status=413), "an answer larger than the limit")
            chunks.append(chunk)
        return b"".join(chunks)

    def _http_error(self, response: aiohttp.ClientResponse, body: bytes, method: str) -> RpcError:
        message, code = f"HTTP {response.status}", None
        try:
            read_answer(body, method=method)
        except RpcError as error:
            if error.code is not None:
                message, code = f"{message}: {error.message}", error.code
        failure = classify(
            method,
            code=code,
            message=message,
            http_status=response.status,
            retry_after=response.headers.get("Retry-After"),
            now=datetime.now(UTC),
        )
        return self._error(failure, message, code)

    def _error(
        self, failure: TooLarge | RateLimit | Transient | Fatal, message: str, code: int | None = None
    ) -> RpcError:
        error = RpcError(failure, message, code=code)
        error.host = self.host
        return error


class RpcPool:
    """Nodes of one chain behind one interface; an async context manager.

    The first healthy URL is preferred; others take over when it fails, limits the rate, is late or has no free slot.
    `timeout_s` is per request, `connections` the most concurrent requests per node, `patience_s` the longest time that
    one call waits for any node to recover, and `grace_s` the time that nodes have after another one has answered.
    Consecutive pools share `late_until`: the time (monotonic) until which a node, by URL, counts as late.
    """

    def __init__(
        self,
        urls: Sequence[str],
        *,
        chain_id: int,
        timeout_s: float = 20.0,
        connections: int = 6,
        patience_s: float = 60.0,
        grace_s: float = 5.0,
        late_until: dict[str, float] | None = None,
    ) -> None:
        self.chain_id = chain_id
        self.timeout_s = timeout_s
        self.connections = connections
        self._patience_s = patience_s
        self._grace_s = grace_s
        self._client: aiohttp.ClientSession | None = None
        late_until = {} if late_until is None else late_until
        self.endpoints = [
            Endpoint(url, self._session, timeout_s=timeout_s, connections=connections, late_until=late_until)
            for url in dict.fromkeys(urls)
        ]
        for endpoint, host in zip(self.endpoints, numbered([node.host for node in self.endpoints]), strict=True):
            endpoint.host = host

    async def __aenter__(self) -> Self:
        self._client = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0, limit_per_host=0, ssl=tls_roots()), read_bufsize=1 << 20
        )
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._client is not None:
            await self._client.close()

    @property
    def request_count(self) -> int:
        """Returns the number of HTTP requests so far, including failed ones."""
        return sum(endpoint.request_count for endpoint in self.endpoints)

    @property
    def live(self) -> list[Endpoint]:
        """Returns the nodes of this chain, healthy ones first, otherwise in the order of the settings.

        Raises `ChainMismatch` if there is none.
        """
        usable = [endpoint for endpoint in self.endpoints if endpoint.wrong_chain is None]
        if self.endpoints and not usable:
            wrong_chains = "; ".join(str(endpoint.wrong_chain) for endpoint in self.endpoints)
            raise ChainMismatch(
                f"No RPC URL belongs to chain {self.chain_id}: {wrong_chains}.",
                cure="Set SVC_CHAIN_ID or SVC_RPC_URLS so that they agree.",
            )
        return sorted(usable, key=lambda endpoint: (endpoint.resting, endpoint.late, endpoint.busy))

    async def call(self, method: str, params: Sequence[Any]) -> Any:
        """Returns the decoded result. Raises `RpcError` if nodes refuse the call itself, else what `attempt` raises."""
        return await self.attempt(lambda endpoint: endpoint.call(method, params))

    async def batch(self, calls: Sequence[tuple[str, Sequence[Any]]]) -> list[Any | RpcError]:
        """Returns results in the order of `calls`; a refused call gives its `RpcError`. Raises as `attempt` does."""
        return await self.attempt(lambda endpoint: _whole_batch(endpoint, calls)) if calls else []

    async def raw(self, method: str, params: Sequence[Any]) -> bytes:
        """Returns the undecoded body of an HTTP 200, in which the caller handles JSON-RPC errors. Raises what `attempt`
        raises."""
        return await self.attempt(lambda endpoint: endpoint.post(method, params))

    async def attempt(
        self, work: Callable[[Endpoint], Awaitable[Result]], *, avoid: Collection[Endpoint] = (), once: bool = False
    ) -> Result:
        """Does `work` on one node, and retries it on another or the same node where that helps.

        After a transient failure or a rate limit the next node is tried; if all nodes are paused, it waits. A refusal
        of the call is raised once every node has refused it; `TooLarge` and a revert are raised at once. Raises
        `RpcError` for these, `RpcUnavailable` if no node answers, `ChainMismatch` if no node is of our chain. With
        `once`, which is for optional answers, each node gets one attempt, and a rate limit counts as one.
        """
        deadline = time.monotonic() + self._patience_s
        most_tries = 1 if once else _TRIES_PER_NODE
        tries: dict[Endpoint, int] = {}
        refused: dict[Endpoint, RpcError] = {}
        last: RpcError | None = None
        while True:
            candidates = [
                endpoint
                for endpoint in self.live
                if endpoint not in avoid and endpoint not in refused and tries.get(endpoint, 0) < most_tries
            ]
            if not candidates or (last is not None and time.monotonic() > deadline):
                raise self._given_up(refused, last)
            endpoint = candidates[0]
            wait_s = min(candidate.usable_at for candidate in candidates) - time.monotonic()
            if wait_s > 0:
                if time.monotonic() + wait_s > deadline:
                    raise self._given_up(refused, last)
                await asyncio.sleep(wait_s)
                continue
            async with endpoint.slot():
                try:
                    await endpoint.ensure_chain(self.chain_id)
                    result = await work(endpoint)
                except RpcError as error:
                    error.host = endpoint.host
                    last = error
                    match error.failure:
                        case TooLarge():
                            raise
                        case Fatal(refused=node_refuses):
                            if error.reverted:
                                raise
                            refused[endpoint] = error
                            if node_refuses:
                                endpoint.failed(error)
                        case RateLimit():
                            endpoint.failed(error)
                            tries[endpoint] = tries.get(endpoint, 0) + once
                        case Transient():
                            endpoint.failed(error)
                            tries[endpoint] = tries.get(endpoint, 0) + 1
                else:
                    endpoint.succeeded()
                    return result

    async def each(
        self,
        work: Callable[[Endpoint], Awaitable[Result]],
        *,
        enough: Callable[[Result], bool],
        avoid: Collection[Endpoint] = (),
        wait_for_resting: bool = False,
    ) -> dict[Endpoint, Result | BaseException]:
        """Does `work` on all nodes concurrently, except those to `avoid`.

        Returns each result, or the error that `attempt` would raise.

        Once an answer is `enough`, the other nodes have the grace time, except those that are late already, or that
        fail (once, or several times with `wait_for_resting`). A node without an answer by then is left out, and counts
        as late.
        """
        tasks = {
            asyncio.create_task(
                self.attempt(work, avoid=[other for other in self.endpoints if other is not endpoint])
            ): endpoint
            for endpoint in self.endpoints
            if endpoint not in avoid
        }
        pending, ends_at = set(tasks), math.inf
        try:
            while pending and time.monotonic() < ends_at:
                done, pending = await asyncio.wait(pending, timeout=_LOOK_S, return_when=asyncio.FIRST_COMPLETED)
                if ends_at == math.inf and any(not task.exception() and enough(task.result()) for task in done):
                    ends_at = time.monotonic() + self._grace_s
                hopeless = [
                    node.late or node.failing or (node.resting and not wait_for_resting)
                    for node in (tasks[task] for task in pending)
                ]
                if ends_at < math.inf and all(hopeless):
                    break
        finally:
            for task in pending:
                task.cancel()
            await asyncio.gather(*pending, return_exceptions=True)
        for endpoint in (tasks[task] for task in pending):
            if not (endpoint.resting or endpoint.late):
                log.warning("%s gives no answer while others do: it is queried last for a while", endpoint.host)
                endpoint.overdue()
        return {endpoint: task.exception() or task.result() for task, endpoint in tasks.items() if task not in pending}

    def _session(self) -> aiohttp.ClientSession:
        if self._client is None:
            raise RuntimeError("the pool is used outside of its context")
        return self._client

    def _given_up(self, refused: dict[Endpoint, RpcError], last: RpcError | None) -> Exception:
        for error in refused.values():
            if error.failure == Fatal():
                return error
        hosts = ", ".join(endpoint.host for endpoint in self.endpoints) or "no URL"
        return RpcUnavailable(
            f"No RPC node gave an answer ({last or hosts}).",
            cure="Check that the addresses in SVC_RPC_URLS answer, and that their keys and limits allow it.",
        )


async def _whole_batch(endpoint: Endpoint, calls: Sequence[tuple[str, Sequence[Any]]]) -> list[Any | RpcError]:
    """Runs a batch, and raises if a single call in it failed for a transient reason, so that all of it is retried."""
    results = await endpoint.batch(calls)
    for result in results:
        if isinstance(result, RpcError) and isinstance(result.failure, Transient | RateLimit):
            raise result
    return results
