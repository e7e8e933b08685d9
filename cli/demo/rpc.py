"""A synchronous JSON-RPC client and ABI encoding for the demo's own transactions. Not for bulk reading."""

from collections.abc import Sequence
from typing import Any, Self

import msgspec
from eth_abi.abi import encode
from eth_utils.crypto import keccak

from warehouse.clients.http import blocking_client


class RpcError(Exception):
    """The node answered a call with an error or with something unreadable."""


class Rpc:
    """Calls one node.

    Raises `RpcError` for an answer that is an error or not JSON-RPC, and `httpx.HTTPError` if the node can't be
    reached.
    """

    def __init__(self, url: str, *, timeout_s: float = 30.0) -> None:
        self.url = url
        self._client = blocking_client(timeout_s)

    def call(self, method: str, *params: Any) -> Any:
        return self.batch([(method, params)])[0]

    def batch(self, calls: Sequence[tuple[str, Sequence[Any]]]) -> list[Any]:
        """Returns results in the order of `calls`, sent as one JSON-RPC batch."""
        body = [
            {"jsonrpc": "2.0", "id": place, "method": method, "params": params}
            for place, (method, params) in enumerate(calls)
        ]
        response = self._client.post(
            self.url, content=msgspec.json.encode(body), headers={"Content-Type": "application/json"}
        )
        response.raise_for_status()
        try:
            answers = {answer["id"]: answer for answer in msgspec.json.decode(response.content)}
            for place, (method, _) in enumerate(calls):
                if "error" in answers[place]:
                    raise RpcError(f"{method}: {answers[place]['error']['message']}")
            return [answers[place]["result"] for place in range(len(calls))]
        except (msgspec.DecodeError, LookupError, TypeError):
            raise RpcError("the answer is not a JSON-RPC batch") from None

    def close(self) -> None:
        self._client.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


def calldata(signature: str, *values: Any) -> str:
    """Encodes call data as 0x-hex for a function without tuple arguments: `calldata("burn(uint256)", 5)`."""
    types = signature[signature.index("(") + 1 : -1]
    arguments = encode(types.split(",") if types else [], values)
    return "0x" + (keccak(text=signature)[:4] + arguments).hex()
