"""Reads a token's own metadata with contract calls."""

from __future__ import annotations

from typing import Any, Final

from eth_abi.abi import decode
from eth_abi.exceptions import DecodingError

from contracts.evm.codec import selector
from contracts.token.holder_documents import Token
from pipelines.clients.rpc_state import Rpc, ask

_FUNCTIONS: Final = ("name", "symbol", "decimals")
_DECIMALS_LIMIT = 77


async def read_token(rpc: Rpc, address: str) -> Token:
    """Reads name, symbol and decimals at the newest block; None for each that the contract does not answer."""
    calls = [("eth_call", [{"to": address, "data": selector(f"{name}()")}, "latest"]) for name in _FUNCTIONS]
    name, symbol, decimals = await ask(rpc, calls)
    count = _decoded(decimals, "uint256")
    return Token(
        address=address,
        name=_text(name),
        symbol=_text(symbol),
        decimals=count if count is not None and count <= _DECIMALS_LIMIT else None,
    )


def _text(answer: Any) -> str | None:
    """Decodes a `string`, or the `bytes32` of older tokens, else None. `Token` cleans it."""
    text: str | None = _decoded(answer, "string")
    if text is not None:
        return text
    word: bytes = _decoded(answer, "bytes32") or b""
    try:
        return word.rstrip(b"\0").decode()
    except UnicodeDecodeError:
        return None


def _decoded(answer: Any, kind: str) -> Any:
    """Decodes one value of a call's result. Returns None where the result is something else, or missing."""
    try:
        (value,) = decode([kind], bytes.fromhex(answer.removeprefix("0x")))
    except (AttributeError, ValueError, DecodingError, OverflowError):  # missing, no hex, no text, or of another kind
        return None
    return value
