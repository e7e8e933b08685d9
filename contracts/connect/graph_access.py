"""Defines what an address signs so that a session sees its graph, and checks the signature. Pure."""

from datetime import datetime
from typing import Any

from contracts.access.proofs import NotProved, PayerProof, Proof, check_typed_data, contract_question, typed_data
from contracts.canonical import sha256_hex

SIGNED_FOR_S = 600
SKEW_S = 60


def graph_typed_data(session_id: str, owner: str, issued_at: int, chain_id: int) -> dict[str, Any]:
    """Returns the EIP-712 message by which `owner` lets a session see its graph; `issued_at` in Unix seconds."""
    fields = [("session", "bytes32"), ("owner", "address"), ("issuedAt", "uint256")]
    message = {"session": f"0x{sha256_hex(session_id.encode())}", "owner": owner, "issuedAt": issued_at}
    return typed_data("SessionGraph", fields, message, chain_id)


def check_graph_proof(
    proof: PayerProof, *, session_id: str, owner: str, issued_at: int, chain_id: int, now: datetime
) -> Proof:
    """Decides whether `owner` (lower case) signed a recent message for this session."""
    if proof.type == "eip191" or not -SKEW_S <= now.timestamp() - issued_at <= SIGNED_FOR_S:
        return NotProved()
    message = graph_typed_data(session_id, owner, issued_at, chain_id)
    if proof.type == "erc1271":
        return contract_question(message, proof.signature, owner)
    return check_typed_data(message, proof.signature, owner)
