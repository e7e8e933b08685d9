"""Decides whether an address is a wallet or a contract, from `eth_getCode`."""

from collections.abc import Sequence

from contracts.token.holder_documents import HolderKind
from contracts.token.proof import Missing
from pipelines.clients.rpc_state import Rpc, ask

_DELEGATION = "0xef0100"
"""The prefix of EIP-7702 code, which a wallet has that delegates to a contract."""


async def read_kinds(rpc: Rpc, addresses: Sequence[str], block: int) -> dict[str, HolderKind]:
    """Reads the kinds at `block`, or at the newest block if no node has state that old.

    Leaves out addresses without an answer.
    """
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
    """Returns the kind according to `eth_getCode`: a delegation (EIP-7702) belongs to a wallet."""
    is_wallet = code in ("0x", "") or (code.startswith(_DELEGATION) and len(code) == len(_DELEGATION) + 40)
    return HolderKind.WALLET if is_wallet else HolderKind.CONTRACT
