"""Runs web3.py on our pool, for contract calls. Separate from `rpc.py` because importing web3 takes over a second."""

from collections.abc import Sequence
from typing import Any, Protocol, cast

from web3.providers.async_base import AsyncBaseProvider
from web3.types import RPCEndpoint, RPCResponse

from contracts.evm.codec import RpcError


class Caller(Protocol):
    """The interface of the pool that this module uses."""

    async def call(self, method: str, params: Sequence[Any]) -> Any: ...

    async def batch(self, calls: Sequence[tuple[str, Sequence[Any]]]) -> list[Any]: ...


class PoolProvider(AsyncBaseProvider):
    """Adapter for `AsyncWeb3(PoolProvider(pool))`: every request gets the pool's failover, patience and limits."""

    def __init__(self, pool: Caller) -> None:
        super().__init__()
        self._pool = pool

    async def make_request(self, method: RPCEndpoint, params: Any) -> RPCResponse:
        try:
            return _answer(await self._pool.call(method, params))
        except RpcError as error:
            return _answer(error)

    async def make_batch_request(self, requests: list[tuple[RPCEndpoint, Any]]) -> list[RPCResponse]:
        calls = [(str(method), params) for method, params in requests]
        return [_answer(result) for result in await self._pool.batch(calls)]


def _answer(result: Any) -> RPCResponse:
    if isinstance(result, RpcError):
        code = -32603 if result.code is None else result.code
        error = {"code": code, "message": result.message, "data": result.data}
        return cast(RPCResponse, {"jsonrpc": "2.0", "id": 1, "error": error})
    return cast(RPCResponse, {"jsonrpc": "2.0", "id": 1, "result": result})
