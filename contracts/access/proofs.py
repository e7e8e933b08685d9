"""The payer's own word: a signature of the quote's hash, by a key (EIP-191, EIP-712) or by a contract (ERC-1271).

Signatures are checked, never compared or remembered: of one signature anybody can make another that also holds.
`eth_account` is imported on first use: few callers need it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import Field

from contracts.access.eth_accounts import eth_account
from contracts.access.provider_views import Silence
from contracts.base import Document

DOMAIN_NAME = "svc agent access"
DOMAIN_VERSION = "1"

ERC1271_MAGIC = "0x1626ba7e"
"""What a contract answers that stands by a signature: the selector of `isValidSignature(bytes32,bytes)`."""

LONGEST_SIGNATURE = 4_096
"""Bytes; wallets that are contracts may pack several signatures into one."""

SignatureText = Annotated[
    str,
    Field(pattern=rf"^0x([0-9a-fA-F]{{2}}){{1,{LONGEST_SIGNATURE}}}$", max_length=2 + 2 * LONGEST_SIGNATURE),
]

ProofType = Literal["eip712", "eip191", "erc1271"]

Unsure = Literal["rpc_unavailable", "rpc_disagree"]
"""Why it is not known what a contract says: too few providers answer, or they differ."""


class PayerProof(Document):
    """The payer's signature over a quote's hash."""

    type: ProofType = Field(
        description="`eip712`: the typed data that the quote gives; `eip191`: a personal message, the 64 characters of "
        "quoteHash; `erc1271`: the typed data, checked by the payer's contract"
    )
    signature: SignatureText


@dataclass(frozen=True, slots=True)
class Proved:
    """The payer signed."""


@dataclass(frozen=True, slots=True)
class NotProved:
    """Somebody else signed, or something else was signed."""


@dataclass(frozen=True, slots=True)
class AskContract:
    """Only the payer's contract can say: an `eth_call` of `data` (hex) to `address` decides."""

    address: str
    data: str


def claim_typed_data(quote_hash: str, chain_id: int) -> dict[str, Any]:
    """The EIP-712 message that a payer signs to claim a quote, as wallets take it."""
    return typed_data("PaidClaim", [("quoteHash", "bytes32")], {"quoteHash": f"0x{quote_hash}"}, chain_id)


def quote_typed_data(payer: str, plan_id: str, issued_at: int, chain_id: int) -> dict[str, Any]:
    """The EIP-712 message by which a payer asks for a quote; `issued_at` in Unix seconds."""
    fields = [("payer", "address"), ("planId", "string"), ("issuedAt", "uint256")]
    return typed_data("QuoteRequest", fields, {"payer": payer, "planId": plan_id, "issuedAt": issued_at}, chain_id)


def typed_data(kind: str, fields: list[tuple[str, str]], message: dict[str, Any], chain_id: int) -> dict[str, Any]:
    """A flat EIP-712 message of this service."""
    return {
        "types": {
            "EIP712Domain": [
                {"name": "name", "type": "string"},
                {"name": "version", "type": "string"},
                {"name": "chainId", "type": "uint256"},
            ],
            kind: [{"name": name, "type": kind_of} for name, kind_of in fields],
        },
        "primaryType": kind,
        "domain": {"name": DOMAIN_NAME, "version": DOMAIN_VERSION, "chainId": chain_id},
        "message": message,
    }


def check_claim_proof(
    proof: PayerProof, *, payer: str, quote_hash: str, chain_id: int
) -> Proved | NotProved | AskContract:
    """Whether `payer` (lower case) signed the quote with this hash."""
    if proof.type == "eip191":
        return check_message(quote_hash, proof.signature, payer)
    message = claim_typed_data(quote_hash, chain_id)
    if proof.type == "erc1271":
        return contract_question(message, proof.signature, payer)
    return check_typed_data(message, proof.signature, payer)


def check_message(text: str, signature: str, signer: str) -> Proved | NotProved:
    """Whether `signer` (lower case) signed `text` as a personal message."""
    return _recovered(eth_account().messages.encode_defunct(text=text), signature, signer)


def check_typed_data(message: dict[str, Any], signature: str, signer: str) -> Proved | NotProved:
    """Whether `signer` (lower case) signed a typed message."""
    return _recovered(eth_account().messages.encode_typed_data(full_message=message), signature, signer)


def contract_question(message: dict[str, Any], signature: str, contract: str) -> AskContract:
    """What to ask a contract (lower-case address) that is said to have signed a typed message."""
    from eth_abi.abi import encode

    call = encode(["bytes32", "bytes"], [typed_digest(message), bytes.fromhex(signature[2:])])
    return AskContract(contract, ERC1271_MAGIC + call.hex())


def contract_says(answers: Sequence[str | Silence], quorum: int) -> bool | Unsure:
    """Whether the contract stands by the signature, by what `eth_call` returned at each provider."""
    said = [_agrees(answer) for answer in answers if not isinstance(answer, Silence)]
    if len(said) < max(quorum, 1):
        return "rpc_unavailable"
    return said[0] if len(set(said)) == 1 else "rpc_disagree"


def _agrees(result: str) -> bool:
    return len(result) == 66 and result.lower() == ERC1271_MAGIC + "0" * 56


def typed_digest(message: dict[str, Any]) -> bytes:
    """The 32 bytes that are signed of an EIP-712 message."""
    from contracts.evm.codec import keccak256

    signable = eth_account().messages.encode_typed_data(full_message=message)
    return keccak256(b"\x19" + signable.version + signable.header + signable.body)


def _recovered(signable: Any, signature: str, signer: str) -> Proved | NotProved:
    accounts = eth_account()
    from eth_keys.exceptions import BadSignature
    from eth_utils.exceptions import ValidationError

    try:
        found = accounts.Account.recover_message(signable, signature=bytes.fromhex(signature[2:]))
    except (BadSignature, ValidationError, ValueError, TypeError):
        return NotProved()
    return Proved() if str(found).lower() == signer else NotProved()
