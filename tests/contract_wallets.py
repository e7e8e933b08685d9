"""Wallets that are contracts (ERC-1271), assembled by hand and deployed by tests."""

from __future__ import annotations

from typing import Any

from eth_account import Account

from cli.demo.rpc import Rpc
from cli.demo.write import deploy_code

ERC6492_SUFFIX = "6492" * 16
"""Suffix of the signatures of wallets that are not deployed yet (ERC-6492)."""

# isValidSignature(bytes32 hash, bytes signature) of a wallet with one owner. The call has the hash at 0x04, the
# signature's r at 0x64, s at 0x84 and v in the byte at 0xa4.
_KEEP_HASH = "600435600052"  # mstore(0x00, calldataload(0x04))
_KEEP_V = "60a43560001a602052"  # mstore(0x20, byte(0, calldataload(0xa4)))
_KEEP_R_AND_S = "606435604052" + "608435606052"  # mstore(0x40, r), mstore(0x60, s)
_RECOVER = "60206000608060006001" + "5afa50"  # ecrecover at address 1: mem[0x00:0x80] -> mem[0x00:0x20]
_IS_OWNER = "60005173{owner}14"  # eq(mload(0x00), owner)
_ANSWER = "631626ba7e60e01b02" + "60005260206000f3"  # return mul(the magic value, eq)


def owned_wallet(rpc: Rpc, deployer: str, owner: str) -> str:
    """Deploys a wallet that accepts what `owner` signed; returns its address."""
    is_owner = _IS_OWNER.format(owner=owner.removeprefix("0x").lower())
    runtime = _KEEP_HASH + _KEEP_V + _KEEP_R_AND_S + _RECOVER + is_owner + _ANSWER
    size = len(runtime) // 2
    return deploy_code(rpc, deployer, f"0x60{size:02x}600c60003960{size:02x}6000f3{runtime}")


def proof_of(owner: Any, typed_data: dict[str, Any]) -> dict[str, str]:
    """Returns the proof that a wallet of `owner` sends for a challenge: the signature that its contract checks."""
    signature = Account.sign_typed_data(owner.key, full_message=typed_data).signature.to_0x_hex()
    return {"type": "erc1271", "signature": signature}


def undeployed(proof: dict[str, str]) -> dict[str, str]:
    """Returns the proof as an undeployed wallet signs it: wrapped with what would deploy the wallet."""
    return proof | {"signature": proof["signature"] + "00" * 31 + ERC6492_SUFFIX}
