"""Defines the message that an address signs to let a session see its graph, and checks the signature. Pure."""

from datetime import datetime
from typing import Any

from contracts.access.proofs import NotProved, Proof, typed_data
from contracts.access.recovery import RecoveryProof, check_proof
from contracts.canonical import sha256_hex

SIGNED_FOR_S = 600
SKEW_S = 60


def graph_typed_data(session_id: str, owner: str, issued_at: int, chain_id: int) -> dict[str, Any]:
    """Returns the EIP-712 message with which `owner` lets a session see its graph; `issued_at` in Unix seconds."""
    fields = [("session", "bytes32"), ("owner", "address"), ("issuedAt", "uint256")]
    message = {"session": f"0x{sha256_hex(session_id.encode())}", "owner": owner, "issuedAt": issued_at}
    return typed_data("SessionGraph", fields, message, chain_id)


def check_graph_proof(
    proof: RecoveryProof, *, session_id: str, owner: str, issued_at: int, chain_id: int, now: datetime
) -> Proof:
    """Decides whether `owner` (lower case) signed a recent message for this session."""
    if not -SKEW_S <= now.timestamp() - issued_at <= SIGNED_FOR_S:
        return NotProved()
    return check_proof(proof, graph_typed_data(session_id, owner, issued_at, chain_id), signer=owner)
