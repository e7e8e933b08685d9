"""Defines claims: the request, the receipt, the activation packet, and the answer that tells a client to wait."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, ConfigDict, Field, model_validator

from contracts.access.consent import OperatorProof, OperatorState, consent_url, operator_state
from contracts.access.matching import Match, UnknownCode
from contracts.access.plan_warnings import PlanWarning
from contracts.access.plans import PLANS_PATH, RECEIPT_PATH, Verification, verification_of
from contracts.access.proofs import PayerProof, ProofType, SignatureText
from contracts.access.rail import ASSET_SYMBOL, USDC_DECIMALS, PaymentRail, network_of, usd_of
from contracts.access.signing import Signature
from contracts.access.tiers import Tier
from contracts.access.waiting import RETRY_AFTER_S, Progress
from contracts.base import AddressText, Document, Timestamp, storable
from contracts.canonical import canonical_json, canonical_sha256

ANSWER_KEPT = timedelta(hours=24)
"""Time for which an answer can be repeated under its Idempotency-Key, unless the key is used before."""

Sha256Asked = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class ClaimIntegrity(Document):
    """Signatures that accompany a claim: the payer's, that of the operator that the quote names, both or neither."""

    model_config = ConfigDict(
        json_schema_extra={
            "anyOf": [
                {
                    "required": ["type", "signature"],
                    "properties": {"type": {"type": "string"}, "signature": {"type": "string"}},
                },
                {"required": ["operator"], "properties": {"operator": {"type": "object"}}},
                {"type": "object", "maxProperties": 0},
            ]
        }
    )

    type: ProofType | None = Field(default=None, description=PayerProof.model_fields["type"].description)
    signature: SignatureText | None = Field(default=None, description="The payer's signature")
    operator: OperatorProof | None = Field(
        default=None, description="Makes the operator that the quote names the owner of the key"
    )

    @model_validator(mode="after")
    def _is_complete(self) -> ClaimIntegrity:
        if (self.type is None) != (self.signature is None):
            raise ValueError("type and signature of the payer's proof must both be present, or neither")
        return self

    @property
    def payer(self) -> PayerProof | None:
        if self.type is None or self.signature is None:
            return None
        return PayerProof(type=self.type, signature=self.signature)


class ClaimRequest(Document):
    """The transaction that paid a quote, with the quote's two hashes."""

    quote_id: Annotated[str, Field(min_length=1, max_length=100), AfterValidator(storable)]
    transaction_hash: Annotated[str, Field(pattern=r"^0x[0-9a-fA-F]{64}$"), AfterValidator(str.lower)]
    quote_hash: Sha256Asked
    payment_requirement_hash: Sha256Asked
    integrity: ClaimIntegrity | None = None

    @property
    def payer_proof(self) -> PayerProof | None:
        return None if self.integrity is None else self.integrity.payer

    @property
    def operator_proof(self) -> OperatorProof | None:
        return None if self.integrity is None else self.integrity.operator

    @property
    def digest(self) -> str:
        """Returns a hash that is equal for equal requests, regardless of their spelling."""
        return canonical_sha256(self.model_dump(mode="json"))


ClaimState = Literal["issued", "reversed"]


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim as the ledger stores it.

    `log_position`, together with chain and transaction, identifies the transfer that was sent for its quote. `amount`
    is the sum of all its payments.
    """

    claim_id: str
    receipt_id: str
    quote_id: str
    plan_id: str
    tier: Tier
    payer: str
    operator: str
    """The operator that the quote names; the payer if it names no other address."""
    owner: str
    """The owner of the claim's keys: the payer, or the operator once it has signed."""
    agent_id: str | None
    user_id: str | None
    chain_id: int
    transaction_hash: str
    log_position: int
    amount: int
    block_number: int
    block_hash: str
    state: ClaimState
    issued_at: datetime
    changed_at: datetime
    access_expires_at: datetime | None
    final: bool
    """True if the payment's block is final, so that it needs no further checks."""


@dataclass(frozen=True, slots=True)
class Payment:
    """A transfer that a claim uses, and the quote for which it was sent.

    A claim has two payments if a supplementary quote brought the rest. It is valid while all of them are on the chain.
    """

    claim_id: str
    quote_id: str
    chain_id: int
    transaction_hash: str
    log_position: int
    amount: int
    block_number: int
    block_hash: str
    state: ClaimState
    """`reversed` while the transfer is off the chain."""
    changed_at: datetime
    final: bool


class PendingAnswer(Document):
    """The payment is not settled yet, or the providers can't tell. The client should retry, and must not pay again."""

    ok: Literal[True] = True
    code: UnknownCode
    quote_id: str
    retry_after: int = Field(
        ge=RETRY_AFTER_S,
        description="Seconds after which to repeat the request, as Retry-After: not before the payment can be deep "
        "enough, nor before the budget of the client's address allows it",
    )
    depth: int | None = Field(
        ge=0,
        description="Blocks up to the head of the chain, including the payment's own; 0 if it is in no block yet, "
        "null if the providers can't tell",
    )
    needed_depth: int | None = Field(ge=1, description="The depth that settles the payment; null if not known yet")
    seconds_left: int | None = Field(
        ge=0, description="Estimated time until then; null while the payment is in no block, or if nobody can tell"
    )


def pending_answer(code: UnknownCode, quote_id: str, progress: Progress) -> PendingAnswer:
    return PendingAnswer(
        code=code,
        quote_id=quote_id,
        retry_after=progress.retry_after_s,
        depth=progress.depth,
        needed_depth=progress.needed,
        seconds_left=progress.seconds_left,
    )


class ReceiptClaim(Document):
    """The grant: the plan, the owner and the key."""

    claim_id: str
    plan_id: str
    tier: Tier
    owner: str = Field(description="Owner of the key when it was issued")
    payer: str
    agent_id: str | None
    key_id: str | None = Field(description="Null if a single call was bought")
    key_hint: str | None = Field(
        description="Prefix and last four characters of the key; receipts never contain its text"
    )


class ReceiptPayment(Document):
    """The transfer that paid."""

    network: str
    asset: str
    asset_symbol: str = ASSET_SYMBOL
    decimals: int = USDC_DECIMALS
    amount_units: str
    amount: str
    sender: str = Field(alias="from")
    to: str
    transaction_hash: str
    log_position: int = Field(description="Index of the transfer among the logs of the transaction's receipt, from 0")
    block_number: int
    block_hash: str
    paid_at: Timestamp = Field(description="Time of that block")


class ReceiptGovernance(Document):
    """The verification of the payment, and the consequence for the key if the payment leaves the chain."""

    verification: Verification
    head_at_issue: int = Field(description="Lowest head of the providers that agreed")
    on_reorganisation: str = (
        "A payment that leaves the chain suspends the key and reverses the claim; both are restored when it is back"
    )


class ReceiptRecovery(Document):
    """The way to replace a lost key: its owner signs for a new one, and the old one is revoked."""

    method: Literal["payer_signed_rotation", "owner_signed_rotation"]
    signer: str = Field(description="The owner when the claim was issued; the challenge at `url` names the current one")
    url: str


class ReceiptLinks(Document):
    """Links for the next steps."""

    receipt: str
    recovery: str
    plans: str
    keys: str = Field(description="The key set that verifies the signature")


class ReceiptIntegrity(Document):
    """The fields from which receiptHash is computed."""

    algorithm: Literal["SHA-256"] = "SHA-256"
    canonicalization: Literal["RFC 8785"] = "RFC 8785"
    hashed_fields: list[str] = Field(description="receiptHash covers an object of these fields")
    signature_of: Literal["receiptHash"] = "receiptHash"


class ReceiptBody(Document):
    """The part of a receipt that is hashed and signed, and never changes."""

    schema_: Literal["svc.agent_access.receipt.v1"] = Field(default="svc.agent_access.receipt.v1", alias="schema")
    artifact: Literal["svc.agent-access.receipt"] = "svc.agent-access.receipt"
    receipt_id: str
    claim_id: str
    quote_id: str
    claimed_at: Timestamp
    access_expires_at: Timestamp | None = Field(description="From then the key has the free tier; null: never")
    claim: ReceiptClaim
    payment: ReceiptPayment
    further_payments: list[ReceiptPayment] = Field(
        default=[], description="Payments of a supplementary quote, because the first payment was too little"
    )
    governance: ReceiptGovernance
    recovery: ReceiptRecovery
    links: ReceiptLinks


class Receipt(ReceiptBody):
    """The redacted, signed record of a claim. `status`, `owner` and `operator` are current values and not signed."""

    ok: Literal[True] = True
    receipt_hash: str
    signature: Signature
    status: ClaimState
    owner: AddressText = Field(description="Owner of the key, its private nodes and its replacement")
    operator: OperatorState | None = Field(description="Null if the quote names no address other than the payer's")
    integrity: ReceiptIntegrity


class ClaimRecord(Document):
    """The claim as it was issued."""

    claim_id: str
    quote_id: str
    plan_id: str
    status: ClaimState
    claimed_at: Timestamp
    operator: OperatorState | None = Field(description="Null if the quote names no address other than the payer's")


class ActivationPacket(Document):
    """The API key, which appears only here, and instructions for its use."""

    api_key: str = Field(repr=False)
    key_id: str
    tier: Tier
    requests_per_day: int | None = Field(description="API v2 requests per UTC day; null: unlimited")
    access_expires_at: Timestamp | None
    headers: dict[str, str] = Field(repr=False, description="Send one of these")
    base_url: str
    first_request: str


class ClaimData(Document):
    """The result of a claim."""

    claim: ClaimRecord
    receipt: Receipt
    activation_packet: ActivationPacket
    warnings: list[PlanWarning] = Field(
        default=[],
        description="Only for a signed payment, which has no quote: that its payer has already had a key of the plan",
    )


class ClaimAnswer(Document):
    """An issued claim with its key."""

    ok: Literal[True] = True
    schema_: Literal["svc.agent_access.claim_response.v1"] = Field(
        default="svc.agent_access.claim_response.v1", alias="schema"
    )
    data: ClaimData


def activation_packet(
    *,
    tier: Tier,
    access_expires_at: datetime | None,
    key_text: str,
    key_id: str,
    requests_per_day: int | None,
    base_url: str,
) -> ActivationPacket:
    return ActivationPacket(
        api_key=key_text,
        key_id=key_id,
        tier=tier,
        requests_per_day=requests_per_day,
        access_expires_at=access_expires_at,
        headers={"Authorization": f"Bearer {key_text}", "X-Api-Key": key_text},
        base_url=f"{base_url}/api/v2",
        first_request=f"GET {base_url}/api/v2/world-model/live",
    )


@dataclass(frozen=True, slots=True)
class Paid:
    """A transfer that pays all or a part, the quote for which it was sent, and its position on the chain."""

    quote_id: str
    transaction_hash: str
    match: Match


def receipt_body(
    claim: Claim,
    paid: Sequence[Paid],
    *,
    key_id: str | None,
    key_hint: str | None,
    rail: PaymentRail,
    base_url: str,
    keys_url: str,
) -> ReceiptBody:
    """Returns the receipt of a claim with these transfers and this key."""
    first, *further = (_receipt_payment(claim.chain_id, transfer) for transfer in paid)
    recovery = recovery_url(base_url, claim.claim_id)
    return ReceiptBody(
        receipt_id=claim.receipt_id,
        claim_id=claim.claim_id,
        quote_id=claim.quote_id,
        claimed_at=claim.issued_at,
        access_expires_at=claim.access_expires_at,
        claim=ReceiptClaim(
            claim_id=claim.claim_id,
            plan_id=claim.plan_id,
            tier=claim.tier,
            owner=claim.owner,
            payer=claim.payer,
            agent_id=claim.agent_id,
            key_id=key_id,
            key_hint=key_hint,
        ),
        payment=first,
        further_payments=further,
        governance=ReceiptGovernance(
            verification=verification_of(rail), head_at_issue=min(transfer.match.head for transfer in paid)
        ),
        recovery=ReceiptRecovery(
            method="payer_signed_rotation" if claim.owner == claim.payer else "owner_signed_rotation",
            signer=claim.owner,
            url=recovery,
        ),
        links=ReceiptLinks(
            receipt=receipt_url(base_url, claim.claim_id),
            recovery=recovery,
            plans=base_url + PLANS_PATH,
            keys=keys_url,
        ),
    )


def _receipt_payment(chain_id: int, paid: Paid) -> ReceiptPayment:
    transfer, block = paid.match.transfer, paid.match.block
    return ReceiptPayment(
        network=network_of(chain_id),
        asset=transfer.asset,
        amount_units=str(transfer.amount),
        amount=usd_of(transfer.amount),
        sender=transfer.sender,
        to=transfer.recipient,
        transaction_hash=paid.transaction_hash,
        log_position=transfer.position,
        block_number=block.number,
        block_hash=block.hash,
        paid_at=datetime.fromtimestamp(block.time_s, UTC),
    )


def receipt_json(body: ReceiptBody) -> str:
    """Returns the canonical bytes covered by a receipt's hash, as text."""
    return canonical_json(body.model_dump(mode="json", by_alias=True)).decode()


def operator_of(claim: Claim, base_url: str, *, was_unsure: bool = False) -> OperatorState | None:
    """Returns the operator that a claim's quote names, in its current state, or None if it is the payer."""
    return operator_state(
        claim.operator, claim.owner, claim.payer, consent_url(base_url, claim.claim_id), was_unsure=was_unsure
    )


def receipt_fields(
    body_json: str, receipt_hash: str, signature: dict[str, str], claim: Claim, base_url: str
) -> dict[str, Any]:
    """Returns the fields of a stored receipt (`Receipt`). The hashed part is copied unchanged."""
    body: dict[str, Any] = json.loads(body_json)
    integrity = ReceiptIntegrity(hashed_fields=sorted(body))
    operator = operator_of(claim, base_url)
    return {
        "ok": True,
        **body,
        "receiptHash": receipt_hash,
        "signature": signature,
        "status": claim.state,
        "owner": claim.owner,
        "operator": operator and operator.model_dump(mode="json", by_alias=True),
        "integrity": integrity.model_dump(mode="json", by_alias=True),
    }


def claim_fields(
    claim: Claim,
    receipt: dict[str, Any],
    packet: ActivationPacket,
    operator: OperatorState | None,
    warnings: Sequence[PlanWarning] = (),
) -> dict[str, Any]:
    """Returns the fields of the answer that issues a key (`ClaimAnswer`), also when the answer is repeated."""
    record = ClaimRecord(
        claim_id=claim.claim_id,
        quote_id=claim.quote_id,
        plan_id=claim.plan_id,
        status=claim.state,
        claimed_at=claim.issued_at,
        operator=operator,
    )
    return {
        "ok": True,
        "schema": "svc.agent_access.claim_response.v1",
        "data": {
            "claim": record.model_dump(mode="json", by_alias=True),
            "receipt": receipt,
            "activationPacket": packet.model_dump(mode="json", by_alias=True),
            "warnings": [warning.model_dump(mode="json", by_alias=True) for warning in warnings],
        },
    }


def receipt_url(base_url: str, claim_id: str) -> str:
    return base_url + RECEIPT_PATH.replace("{claimId}", claim_id)


def recovery_url(base_url: str, claim_id: str) -> str:
    """Returns the URL at which a lost key is replaced."""
    return f"{receipt_url(base_url, claim_id)}/recovery"
