"""What stands behind an address, read by `eth_getCode`."""

from __future__ import annotations

from collections.abc import Sequence

from contracts.token.holder_documents import HolderKind
from contracts.token.proof import Missing
from pipelines.clients.rpc_state import Rpc, ask

_DELEGATION = "0xef0100"
"""EIP-7702: the code of a wallet that lends another contract's."""


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
