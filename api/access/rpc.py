"""Queries every RPC provider, concurrently and within bounds. Other modules judge the answers.

Answers are untrusted: capped in size and time and parsed strictly. A provider without a usable answer counts as silent.
A provider's URL may contain a key, so only its host leaves this module.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Coroutine, Sequence
from functools import partial
from typing import Any, TypeVar
from urllib.parse import urlsplit

import httpx

from contracts.access.proofs import AskContract, NotProved, Proof, Proved, Unsure, contract_says
from contracts.access.provider_views import BlockView, Call, Silence, View, ask_about, read_block, read_chain_id
from contracts.access.watching import Sighting
from contracts.evm.codec import RpcError, read_answer, request_body
from warehouse.clients.http import ask, client

CALL_TIMEOUT_S = 3.0
ALL_CALLS_TIMEOUT_S = 6.5
"""For one round of calls to a provider. A claim takes at most two rounds, which together are shorter than its lease."""

MAX_BODY_BYTES = 4 * 1024 * 1024
CHAIN_ID_FOR_S = 60.0

_JSON = {"Content-Type": "application/json"}
_log = logging.getLogger(__name__)

Value = TypeVar("Value")


class Providers:
    """The configured RPC providers, usable from any event loop. All `urls` are queried concurrently."""

    def __init__(
        self,
        urls: Sequence[str],
        *,
        timeout_s: float = CALL_TIMEOUT_S,
        all_calls_timeout_s: float = ALL_CALLS_TIMEOUT_S,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._timeout_s = timeout_s
        self._all_calls_timeout_s = all_calls_timeout_s
        self._providers = [_Provider(url, timeout_s, monotonic) for url in dict.fromkeys(urls)]

    async def views(self, transaction_hash: str) -> list[View | Silence]:
        """Asks about a transaction (0x hex, lower case), with at most six calls to each provider."""
        return await self._all(lambda provider, http: provider.view(http, transaction_hash))

    async def sightings(self, transaction_hash: str, block_number: int) -> list[Sighting | Silence]:
        """Asks about a transaction and the block at a height, with at most seven calls to each provider."""
        return await self._all(lambda provider, http: provider.sighting(http, transaction_hash, block_number))

    async def heads(self) -> list[BlockView | Silence]:
        """Asks for the newest block."""
        return await self._all(lambda provider, http: provider.head(http))

    async def calls(self, address: str, data: str) -> list[str | Silence]:
        """Asks for the result of an `eth_call` at the head; a revert is the empty answer `0x`."""
        return await self._all(lambda provider, http: provider.call_contract(http, address, data))

    async def ask(self, calls: Sequence[Call]) -> list[list[Any | RpcError] | Silence]:
        """Sends the same calls, at most six. An answer has a decoded result or an `RpcError` for each call."""
        return await self._all(lambda provider, http: provider.answers(http, calls))

    async def send(self, raw: str) -> None:
        """Sends a signed transaction to every provider. Their replies decide nothing, so they are not returned."""
        await self.ask([("eth_sendRawTransaction", [raw])])

    async def _all(
        self, question: Callable[[_Provider, httpx.AsyncClient], Coroutine[Any, Any, Value]]
    ) -> list[Value | Silence]:
        async with client(self._timeout_s) as http:
            return list(
                await asyncio.gather(
                    *(self._answer_of(provider.host, question(provider, http)) for provider in self._providers)
                )
            )

    async def _answer_of(self, host: str, question: Coroutine[Any, Any, Value]) -> Value | Silence:
        try:
            async with asyncio.timeout(self._all_calls_timeout_s):
                return await question
        except TimeoutError:
            return _silent(host, "timeout")
        except httpx.HTTPError as error:
            return _silent(host, type(error).__name__)
        except RpcError as error:
            return _silent(host, f"an error ({error.code})")
        except ValueError as error:
            return _silent(host, str(error)[:100])


async def settle(proof: Proof, providers: Providers, quorum: int) -> Proved | NotProved | Unsure:
    """Settles a proof, asking the signer's contract if only that can decide."""
    if not isinstance(proof, AskContract):
        return proof
    verdict = contract_says(await providers.calls(proof.address, proof.data), quorum)
    if isinstance(verdict, str):
        return verdict
    return Proved() if verdict else NotProved()


class _Provider:
    def __init__(self, url: str, timeout_s: float, monotonic: Callable[[], float]) -> None:
        parts = urlsplit(url)
        self.host = f"{parts.hostname}:{parts.port}" if parts.port else str(parts.hostname)
        self._url = url
        self._timeout_s = timeout_s
        self._monotonic = monotonic
        self._chain_id: tuple[float, str] | None = None

    async def view(self, http: httpx.AsyncClient, transaction_hash: str) -> View:
        view, _ = await ask_about(self.host, transaction_hash, partial(self._round, http))
        return view

    async def sighting(self, http: httpx.AsyncClient, transaction_hash: str, block_number: int) -> Sighting:
        return Sighting(*await ask_about(self.host, transaction_hash, partial(self._round, http), block_number))

    async def head(self, http: httpx.AsyncClient) -> BlockView:
        block = read_block(await self._call(http, "eth_getBlockByNumber", ["latest", False]))
        if block is None:
            raise ValueError("no newest block")
        return block

    async def call_contract(self, http: httpx.AsyncClient, address: str, data: str) -> str:
        try:
            found = await self._call(http, "eth_call", [{"to": address, "data": data}, "latest"])
        except RpcError as error:
            if error.reverted:
                return "0x"
            raise
        if not isinstance(found, str):
            raise ValueError("an eth_call that gave no text")
        return found

    async def answers(self, http: httpx.AsyncClient, calls: Sequence[Call]) -> list[Any | RpcError]:
        return await self._round(http, calls)

    async def _round(self, http: httpx.AsyncClient, calls: Sequence[Call]) -> list[Any | RpcError]:
        return list(await asyncio.gather(*(self._answer(http, method, params) for method, params in calls)))

    async def _answer(self, http: httpx.AsyncClient, method: str, params: list[Any]) -> Any | RpcError:
        try:
            return await (self._chain(http) if method == "eth_chainId" else self._call(http, method, params))
        except RpcError as error:
            return error

    async def _chain(self, http: httpx.AsyncClient) -> Any:
        now = self._monotonic()
        if self._chain_id is None or now - self._chain_id[0] > CHAIN_ID_FOR_S:
            found = await self._call(http, "eth_chainId", [])
            read_chain_id(found)
            self._chain_id = (now, found)
        return self._chain_id[1]

    async def _call(self, http: httpx.AsyncClient, method: str, params: list[Any]) -> Any:
        reply = await ask(
            http,
            "POST",
            self._url,
            timeout_s=self._timeout_s,
            max_bytes=MAX_BODY_BYTES,
            headers=_JSON,
            content=request_body(method, params),
        )
        if reply.status != 200:
            raise ValueError(f"HTTP {reply.status}")
        return read_answer(reply.body, method=method)


def _silent(host: str, reason: str) -> Silence:
    _log.warning("RPC provider %s gave no usable answer: %s", host, reason)
    return Silence(host, reason)
