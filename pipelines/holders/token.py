"""What a token says of itself and what stands behind an address, read by `eth_call` and `eth_getCode`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from eth_abi.abi import decode
from eth_abi.exceptions import DecodingError

from contracts.evm import selector
from contracts.proof import Missing, decode_uint
from contracts.telemetry import HolderKind, Token
from pipelines.holders.proof import Rpc, ask

_TEXT_LIMIT = 128
_DECIMALS_LIMIT = 77
_DELEGATION = "0xef0100"
"""EIP-7702: the code of a wallet that lends another contract's."""


async def read_token(rpc: Rpc, address: str) -> Token:
    """Name, symbol and decimals at the newest block; what the contract does not answer is None."""
    name, symbol, decimals = await ask(
        rpc,
        [
            ("eth_call", [{"to": address, "data": selector(signature)}, "latest"])
            for signature in ("name()", "symbol()", "decimals()")
        ],
    )
    count = Missing.EMPTY if isinstance(decimals, Missing) else decode_uint(decimals)
    return Token(
        address=address,
        name=decode_text(name),
        symbol=decode_text(symbol),
        decimals=count if not isinstance(count, Missing) and count <= _DECIMALS_LIMIT else None,
    )


async def read_kinds(rpc: Rpc, addresses: Sequence[str], block: int) -> dict[str, HolderKind]:
    """Contract or wallet at `block`, or at the newest block where no state is that old; the unanswered are left out."""
    if not addresses:
        return {}
    kinds: dict[str, HolderKind] = {}
    for tag in (hex(block), "latest"):
        codes = await ask(rpc, [("eth_getCode", [address, tag]) for address in addresses])
        kinds = {
            address: kind_of(code)
            for address, code in zip(addresses, codes, strict=True)
            if isinstance(code, str) and not isinstance(code, Missing)
        }
        if Missing.NO_STATE not in codes:
            break
    return kinds


def kind_of(code: str) -> HolderKind:
    """What `eth_getCode` says: a delegation (EIP-7702) is a wallet's."""
    is_wallet = code in ("0x", "") or (code.startswith(_DELEGATION) and len(code) == len(_DELEGATION) + 40)
    return HolderKind.WALLET if is_wallet else HolderKind.CONTRACT


def decode_text(result: Any) -> str | None:
    """A `string` result, or the `bytes32` of older tokens, as printable text; None where it is neither."""
    if isinstance(result, Missing) or not isinstance(result, str):
        return None
    try:
        data = bytes.fromhex(result.removeprefix("0x"))
        text = data.rstrip(b"\0").decode() if len(data) == 32 else decode(["string"], data)[0]
    except (ValueError, DecodingError, OverflowError):
        return None
    return "".join(character for character in text if character.isprintable())[:_TEXT_LIMIT] or None
