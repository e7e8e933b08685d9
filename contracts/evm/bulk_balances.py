"""Builds one `eth_call` that returns the digest of many balances, so that comparing a node costs little. Pure.

The call has no recipient: its data is code that runs as if to create a contract, queries the token for `balanceOf` of
each address that follows the code, and returns the hash of all answers. Nothing needs to be deployed for it, and the
answer has 32 bytes for any number of addresses.
"""

from collections.abc import Sequence
from typing import Any, Final

from contracts.evm.codec import keccak256

ADDRESSES_PER_CALL: Final = 1_000
"""About 5 million gas and 40 kB per call. Nodes allow 50 million gas, and 48 kB of code."""

_CODE: Final = bytes.fromhex(
    # Memory 0..4 contains the selector of balanceOf(address), and 16..36 the current address. Answers begin at 64.
    "6370a08231 60e0 1b 6000 52"
    "6014 605c 602c 39 6020 51"  # stack: the token, which follows this code of 92 bytes
    "6040 6070"  # stack: the token, the position of the next answer, the position of the next address
    "5b 80 38 11 15 6045 57"  # loop: jump to the end if no address is left
    "6014 81 6010 39"  # copy the address into memory
    "6020 82 6024 6000 86 5a fa"  # static call; its answer goes to its position
    "3d 601f 10 16 15 6056 57"  # jump to failure if the call fails, or returns less than a word
    "6014 01 90 6020 01 90 6019 56"  # advance to the next address and position, and repeat
    "5b 50 6040 90 03 6040 20 6001 52 6021 6000 f3"  # end: one byte with which code may begin, then the hash
    "5b 6000 6000 fd"  # failure: revert
)


def balances_digest_call(token: str, addresses: Sequence[str], block: int) -> tuple[str, list[Any]]:
    """Returns method and parameters of the call for `balanceOf` of these addresses (0x hex) at a block."""
    tail = "".join(address.removeprefix("0x") for address in (token, *addresses))
    return "eth_call", [{"data": "0x" + _CODE.hex() + tail}, hex(block)]


def read_balances_digest(result: object) -> bytes | None:
    """Returns the digest in the answer, or None for any other answer."""
    if not isinstance(result, str) or not result.startswith("0x70") or len(result) != 68:
        return None
    try:
        return bytes.fromhex(result[4:])
    except ValueError:
        return None


def balances_digest(balances: Sequence[int]) -> bytes:
    """Returns the digest that the call returns if the token has these balances, in the order of the addresses."""
    return keccak256(b"".join(balance.to_bytes(32) for balance in balances))
