"""Reads a chain's state with calls whose failures are values, so that one failing contract stops no other call."""

from collections.abc import Sequence
from typing import Any, Protocol

from contracts.errors import RpcUnavailable
from contracts.evm.codec import RpcError
from contracts.token.proof import Missing, why_missing

Call = tuple[str, Sequence[Any]]


class Rpc(Protocol):
    """The interface of a node or a pool of nodes that this module uses."""

    async def call(self, method: str, params: Sequence[Any]) -> Any: ...

    async def batch(self, calls: Sequence[Call]) -> list[Any]: ...


async def ask(rpc: Rpc, calls: Sequence[Call]) -> list[Any | Missing]:
    """Returns the results of read-only calls: the decoded JSON, or why it is missing. Doesn't raise if nodes fail.

    Calls for which one node lacks the state are repeated one by one, since another node may have it.
    """
    try:
        results = [_result_or_missing(result) for result in await rpc.batch(calls)]
    except (RpcError, RpcUnavailable) as error:
        return [_why(error)] * len(calls)
    if Missing.NO_STATE not in results:
        return results
    for place, call in enumerate(calls):
        if results[place] is Missing.NO_STATE:
            try:
                results[place] = await rpc.call(*call)
            except (RpcError, RpcUnavailable) as error:
                if _why(error) is Missing.NO_STATE:
                    return results  # no node has it, and the other calls are for the same block
                results[place] = _why(error)
    return results


def _result_or_missing(result: Any) -> Any | Missing:
    return _why(result) if isinstance(result, Exception) else result


def _why(error: Exception) -> Missing:
    if isinstance(error, RpcError):
        return why_missing(error.code, error.message)
    return Missing.NO_STATE if why_missing(None, str(error)) is Missing.NO_STATE else Missing.RPC_UNAVAILABLE
