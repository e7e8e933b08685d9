"""Recovers a lost key: its owner signs a challenge that names the key, and gets the next key of its family.

A challenge is valid for one rotation, because that revokes the key that it names. The service therefore stores no
challenges.
"""

from datetime import UTC, datetime, timedelta
from typing import Any, ClassVar, Literal

from pydantic import Field

from contracts.access.claims import ActivationPacket, recovery_url
from contracts.access.matching import SKEW_S
from contracts.access.plans import RECEIPT_PATH
from contracts.access.proofs import (
    AskContract,
    NotProved,
    Proved,
    SignatureText,
    check_typed_data,
    contract_question,
    typed_data,
)
from contracts.base import Document, Timestamp
from contracts.errors import Conflict, Leads, RequestProblem

RECOVERY_PATH = RECEIPT_PATH + "/recovery"
CHALLENGE_FOR = timedelta(minutes=10)


class RecoveryRefused(RequestProblem):
    status = 403
    code = "recovery_refused"
    title = "The signature is not the owner's, or its challenge was used or has expired"
    leads: ClassVar[Leads] = ("challenge", "docs")


class KeyNotRecoverable(Conflict):
    code = "key_not_recoverable"
    title = "The claim has no key that could be replaced"
    leads: ClassVar[Leads] = ("plans", "quote", "docs")


class RecoveryProof(Document):
    """The owner's signature of the challenge."""

    type: Literal["eip712", "erc1271"] = Field(
        description="`eip712`: by the owner's key; `erc1271`: checked by the owner's contract"
    )
    signature: SignatureText


class RecoveryRequest(Document):
    """A signed challenge."""

    issued_at: int = Field(strict=True, ge=0, lt=2**53, description="Copied from the challenge: Unix seconds")
    proof: RecoveryProof


class ProofToFill(Document):
    """The placeholder for a signature. `type` is `erc1271` if the signer is a contract."""

    type: Literal["eip712"] = "eip712"
    signature: str = "0x<the signer's signature of typedData>"


class SignedBody(Document):
    """The body of the request with the signed challenge, complete except for the signature."""

    issued_at: int
    proof: ProofToFill = ProofToFill()


class RecoveryChallenge(Document):
    """The message that the owner of the key must sign, and the URL for the signature."""

    ok: Literal[True] = True
    schema_: Literal["svc.agent_access.recovery_challenge.v1"] = Field(
        default="svc.agent_access.recovery_challenge.v1", alias="schema"
    )
    claim_id: str
    signer: str = Field(description="The owner of the key: the payer, or the operator once it has signed")
    typed_data: dict[str, Any] = Field(description="EIP-712, in the form that wallets accept")
    issued_at: int = Field(description="Unix seconds; repeat it in the request")
    expires_at: Timestamp
    method: Literal["POST"] = "POST"
    url: str
    body: SignedBody = Field(description="Body to send there, as application/json")


class RecoveryData(Document):
    """The new key. The old one is revoked."""

    claim_id: str
    revoked_key_id: str
    activation_packet: ActivationPacket


class RecoveryAnswer(Document):
    """A key that replaced a lost one."""

    ok: Literal[True] = True
    schema_: Literal["svc.agent_access.recovery_response.v1"] = Field(
        default="svc.agent_access.recovery_response.v1", alias="schema"
    )
    data: RecoveryData


def recovery_typed_data(claim_id: str, key_id: str, issued_at: int, chain_id: int) -> dict[str, Any]:
    """Returns the EIP-712 message with which an owner replaces a claim's key; `issued_at` in Unix seconds."""
    fields = [("claimId", "string"), ("keyId", "string"), ("issuedAt", "uint256")]
    message = {"claimId": claim_id, "keyId": key_id, "issuedAt": issued_at}
    return typed_data("KeyRotation", fields, message, chain_id)


def recovery_challenge(
    claim_id: str, key_id: str, signer: str, *, chain_id: int, base_url: str, now: datetime
) -> RecoveryChallenge:
    issued_at = int(now.timestamp())
    return RecoveryChallenge(
        claim_id=claim_id,
        signer=signer,
        typed_data=recovery_typed_data(claim_id, key_id, issued_at, chain_id),
        issued_at=issued_at,
        expires_at=datetime.fromtimestamp(issued_at, UTC) + CHALLENGE_FOR,
        url=recovery_url(base_url, claim_id),
        body=SignedBody(issued_at=issued_at),
    )


def check_recovery(
    request: RecoveryRequest, *, claim_id: str, key_id: str, signer: str, chain_id: int, now: datetime
) -> Proved | NotProved | AskContract:
    """Decides whether `signer` (lower case) signed a recent challenge for this key of the claim."""
    message = recovery_typed_data(claim_id, key_id, request.issued_at, chain_id)
    return check_challenge(request, message, signer=signer, now=now)


def check_challenge(
    request: RecoveryRequest, message: dict[str, Any], *, signer: str, now: datetime
) -> Proved | NotProved | AskContract:
    """Decides whether `signer` (lower case) signed `message`, the typed data of a recent challenge."""
    age_s = now.timestamp() - request.issued_at
    if not -SKEW_S <= age_s <= CHALLENGE_FOR.total_seconds():
        return NotProved()
    return check_proof(request.proof, message, signer=signer)


def check_proof(proof: RecoveryProof, message: dict[str, Any], *, signer: str) -> Proved | NotProved | AskContract:
    """Decides whether `signer` (lower case) signed the typed data `message`."""
    if proof.type == "erc1271":
        return contract_question(message, proof.signature, signer)
    return check_typed_data(message, proof.signature, signer)
