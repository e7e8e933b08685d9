"""Checks the payer's signature of a quote's hash, by a key (EIP-191, EIP-712) or by a contract (ERC-1271).

Signatures are checked, never compared or stored, because anybody can derive another valid signature from one.
`eth_account` is imported on first use, because few callers need it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field

from contracts.access.eth_accounts import eth_account
from contracts.access.provider_views import Silence
from contracts.base import Document

DOMAIN_NAME = "svc agent access"
DOMAIN_VERSION = "1"

ERC1271_MAGIC = "0x1626ba7e"
"""The answer of a contract that confirms a signature: the selector of `isValidSignature(bytes32,bytes)`."""

LONGEST_SIGNATURE = 4_096
"""Bytes. Contract wallets may pack several signatures into one."""

_UNDEPLOYED = "6492" * 16
"""The last 32 bytes of a signature of a wallet that is not deployed yet (ERC-6492)."""


def _of_a_deployed_wallet(signature: str) -> str:
    if signature.endswith(_UNDEPLOYED):
        raise ValueError(
            "an ERC-6492 signature is not accepted: deploy the wallet, then send one that its contract checks"
        )
    return signature


SignatureText = Annotated[
    str,
    Field(pattern=rf"^0x([0-9a-fA-F]{{2}}){{1,{LONGEST_SIGNATURE}}}$", max_length=2 + 2 * LONGEST_SIGNATURE),
    AfterValidator(_of_a_deployed_wallet),
]

ProofType = Literal["eip712", "eip191", "erc1271"]

Unsure = Literal["rpc_unavailable", "rpc_disagree"]
"""The reason why a contract's answer is unknown: too few providers answer, or they differ."""


class PayerProof(Document):
    """The payer's signature over a quote's hash."""

    type: ProofType = Field(
        description="`eip712`: the typed data in the quote; `eip191`: a personal message, the 64 characters of "
        "quoteHash; `erc1271`: the typed data, checked by the payer's contract"
    )
    signature: SignatureText


@dataclass(frozen=True, slots=True)
class Proved:
    """The payer signed."""


@dataclass(frozen=True, slots=True)
class NotProved:
    """Somebody else signed, or the signature is for another message."""


@dataclass(frozen=True, slots=True)
class AskContract:
    """Only the payer's contract can decide: send `data` (hex) to `address` by `eth_call`."""

    address: str
    data: str


Proof = Proved | NotProved | AskContract


def claim_typed_data(quote_hash: str, chain_id: int) -> dict[str, Any]:
    """Returns the EIP-712 message that a payer signs to claim a quote, in the form that wallets accept."""
    return typed_data("PaidClaim", [("quoteHash", "bytes32")], {"quoteHash": f"0x{quote_hash}"}, chain_id)


def quote_typed_data(payer: str, plan_id: str, issued_at: int, chain_id: int) -> dict[str, Any]:
    """Returns the EIP-712 message with which a payer requests a quote; `issued_at` in Unix seconds."""
    fields = [("payer", "address"), ("planId", "string"), ("issuedAt", "uint256")]
    return typed_data("QuoteRequest", fields, {"payer": payer, "planId": plan_id, "issuedAt": issued_at}, chain_id)


def typed_data(kind: str, fields: list[tuple[str, str]], message: dict[str, Any], chain_id: int) -> dict[str, Any]:
    """Returns a flat EIP-712 message of this service."""
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


def check_claim_proof(proof: PayerProof, *, payer: str, quote_hash: str, chain_id: int) -> Proof:
    """Decides whether `payer` (lower case) signed the quote with this hash."""
    if proof.type == "eip191":
        return check_message(quote_hash, proof.signature, payer)
    message = claim_typed_data(quote_hash, chain_id)
    if proof.type == "erc1271":
        return contract_question(message, proof.signature, payer)
    return check_typed_data(message, proof.signature, payer)


def check_message(text: str, signature: str, signer: str) -> Proved | NotProved:
    """Decides whether `signer` (lower case) signed `text` as a personal message."""
    return _check_signable(eth_account().messages.encode_defunct(text=text), signature, signer)


def check_typed_data(message: dict[str, Any], signature: str, signer: str) -> Proved | NotProved:
    """Decides whether `signer` (lower case) signed a typed message."""
    return _check_signable(eth_account().messages.encode_typed_data(full_message=message), signature, signer)


def contract_question(message: dict[str, Any], signature: str, contract: str) -> AskContract:
    """Returns the question to a contract (lower-case address) that allegedly signed a typed message."""
    from eth_abi.abi import encode

    call = encode(["bytes32", "bytes"], [typed_digest(message), bytes.fromhex(signature[2:])])
    return AskContract(contract, ERC1271_MAGIC + call.hex())


def contract_says(answers: Sequence[str | Silence], quorum: int) -> bool | Unsure:
    """Decides whether the contract confirms the signature, from each provider's `eth_call` result."""
    verdicts = [_is_magic(answer) for answer in answers if not isinstance(answer, Silence)]
    if len(verdicts) < max(quorum, 1):
        return "rpc_unavailable"
    return verdicts[0] if len(set(verdicts)) == 1 else "rpc_disagree"


def _is_magic(result: str) -> bool:
    return len(result) == 66 and result.lower() == ERC1271_MAGIC + "0" * 56


def typed_digest(message: dict[str, Any]) -> bytes:
    """Returns the 32 bytes that a signer of an EIP-712 message signs."""
    from contracts.evm.codec import keccak256

    signable = eth_account().messages.encode_typed_data(full_message=message)
    return keccak256(b"\x19" + signable.version + signable.header + signable.body)


def _check_signable(signable: Any, signature: str, signer: str) -> Proved | NotProved:
    accounts = eth_account()
    from eth_keys.exceptions import BadSignature
    from eth_utils.exceptions import ValidationError

    try:
        recovered = accounts.Account.recover_message(signable, signature=bytes.fromhex(signature[2:]))
    except (BadSignature, ValidationError, ValueError, TypeError):
        return NotProved()
    return Proved() if str(recovered).lower() == signer else NotProved()
