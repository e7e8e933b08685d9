"""Asking every RPC provider about one transaction, at once and within bounds. What the answers mean is for others.

Answers are untrusted: capped in size and time, read strictly, and whoever gives none that can be believed is silent. A
provider's URL may hold a key: only its host leaves this module.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, TypeVar
from urllib.parse import urlsplit

import httpx

from api.tls import tls_roots
from contracts.access.provider_views import BlockView, ReceiptView, Silence, View, read_block, read_receipt
from contracts.access.watching import Sighting
from contracts.evm.codec import RpcError, quantity, read_answer, request_body

CALL_TIMEOUT_S = 3.0
ALL_CALLS_TIMEOUT_S = 6.5
"""For one round of questions to a provider; a claim takes at most two, which is less than its lease."""

MAX_BODY_BYTES = 4 * 1024 * 1024
CHAIN_ID_FOR_S = 60.0

_JSON = {"Content-Type": "application/json"}
_log = logging.getLogger(__name__)

Value = TypeVar("Value")


class Providers:
    """The configured RPC providers. Any event loop may use it; `urls` are asked side by side, each on its own."""

    def __init__(
        self,
        urls: Sequence[str],
        *,
        timeout_s: float = CALL_TIMEOUT_S,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._providers = [_Provider(url, timeout_s, monotonic) for url in dict.fromkeys(urls)]

    async def views(self, transaction_hash: str) -> list[View | Silence]:
        """What each provider says of a transaction (0x hex, lower case); at most six calls each."""
        return await self._all(lambda provider, client: provider.view(client, transaction_hash))

    async def sightings(self, transaction_hash: str, block_number: int) -> list[Sighting | Silence]:
        """What each provider says of a transaction, and the block that it has at a height; at most seven calls each."""
        return await self._all(lambda provider, client: provider.sighting(client, transaction_hash, block_number))

    async def heads(self) -> list[BlockView | Silence]:
        """Each provider's newest block."""
        return await self._all(lambda provider, client: provider.head(client))

    async def calls(self, address: str, data: str) -> list[str | Silence]:
        """What each provider says that `eth_call` gives at its head; a revert is the empty answer `0x`."""
        return await self._all(lambda provider, client: provider.call_contract(client, address, data))

    async def _all(
        self, ask: Callable[[_Provider, httpx.AsyncClient], Coroutine[Any, Any, Value]]
    ) -> list[Value | Silence]:
        async with httpx.AsyncClient(verify=tls_roots(), trust_env=False, timeout=CALL_TIMEOUT_S) as client:
            return list(
                await asyncio.gather(*(_heard(provider.host, ask(provider, client)) for provider in self._providers))
            )


class _Provider:
    def __init__(self, url: str, timeout_s: float, monotonic: Callable[[], float]) -> None:
        parts = urlsplit(url)
        self.host = f"{parts.hostname}:{parts.port}" if parts.port else str(parts.hostname)
        self._url = url
        self._timeout_s = timeout_s
        self._monotonic = monotonic
        self._chain_id: tuple[float, int] | None = None

    async def view(self, client: httpx.AsyncClient, transaction_hash: str) -> View:
        chain_id, receipt = await asyncio.gather(self._chain(client), self._receipt(client, transaction_hash))
        if receipt is None:
            return View(self.host, chain_id)
        block, head, safe, finalized = await asyncio.gather(
            self._block(client, hex(receipt.block_number)),
            self._block(client, "latest"),
            self._tagged(client, "safe"),
            self._tagged(client, "finalized"),
        )
        return View(self.host, chain_id, receipt, block, head, safe, finalized)

    async def sighting(self, client: httpx.AsyncClient, transaction_hash: str, block_number: int) -> Sighting:
        view, held = await asyncio.gather(self.view(client, transaction_hash), self._block(client, hex(block_number)))
        return Sighting(view, held)

    async def head(self, client: httpx.AsyncClient) -> BlockView:
        block = await self._block(client, "latest")
        if block is None:
            raise ValueError("no newest block")
        return block

    async def call_contract(self, client: httpx.AsyncClient, address: str, data: str) -> str:
        try:
            found = await self._call(client, "eth_call", [{"to": address, "data": data}, "latest"])
        except RpcError as error:
            if error.reverted:
                return "0x"
            raise
        if not isinstance(found, str):
            raise ValueError("an eth_call that gave no text")
        return found

    async def _chain(self, client: httpx.AsyncClient) -> int:
        now = self._monotonic()
        if self._chain_id is None or now - self._chain_id[0] > CHAIN_ID_FOR_S:
            found = await self._call(client, "eth_chainId", [])
            if not isinstance(found, str):
                raise ValueError("an eth_chainId that is no text")
            self._chain_id = (now, quantity(found))
        return self._chain_id[1]

    async def _receipt(self, client: httpx.AsyncClient, transaction_hash: str) -> ReceiptView | None:
        return read_receipt(await self._call(client, "eth_getTransactionReceipt", [transaction_hash]), transaction_hash)

    async def _block(self, client: httpx.AsyncClient, which: str) -> BlockView | None:
        return read_block(await self._call(client, "eth_getBlockByNumber", [which, False]))

    async def _tagged(self, client: httpx.AsyncClient, tag: str) -> int | None:
        """The height of a tag; None where the provider does not know it."""
        try:
            block = await self._block(client, tag)
        except RpcError:
            return None
        return None if block is None else block.number

    async def _call(self, client: httpx.AsyncClient, method: str, params: list[Any]) -> Any:
        body = bytearray()
        request = request_body(method, params)
        async with (
            asyncio.timeout(self._timeout_s),
            client.stream("POST", self._url, content=request, headers=_JSON) as response,
        ):
            if response.status_code != 200:
                raise ValueError(f"HTTP {response.status_code}")
            async for chunk in response.aiter_bytes():
                body += chunk
                if len(body) > MAX_BODY_BYTES:
                    raise ValueError("an answer that is too large")
        return read_answer(bytes(body), method=method)


async def _heard(host: str, asked: Coroutine[Any, Any, Value]) -> Value | Silence:
    try:
        async with asyncio.timeout(ALL_CALLS_TIMEOUT_S):
            return await asked
    except TimeoutError:
        return _silent(host, "timeout")
    except httpx.HTTPError as error:
        return _silent(host, type(error).__name__)
    except RpcError as error:
        return _silent(host, f"an error ({error.code})")
    except ValueError as error:
        return _silent(host, str(error)[:100])


def _silent(host: str, reason: str) -> Silence:
    _log.warning("RPC provider %s gave no usable answer: %s", host, reason)
    return Silence(host, reason)
