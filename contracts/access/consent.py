"""Defines the consent by which the operator that a quote names becomes the owner of the quote's key.

The operator signs either the quote's hash, together with the claim, or later the claim's id, because a receipt contains
no quote hash. Each message names the operator, so nobody can present a consent as a payer's proof or as another
operator's consent.
"""

from dataclasses import dataclass
from typing import Any, Literal

from pydantic import Field

from contracts.access.plans import RECEIPT_PATH
from contracts.access.proofs import (
    AskContract,
    NotProved,
    ProofType,
    Proved,
    SignatureText,
    check_message,
    check_typed_data,
    contract_question,
    typed_data,
)
from contracts.base import AddressText, Document

CONSENT_PATH = RECEIPT_PATH + "/operator"

CONTRACT_UNSURE = "operator_contract_unsure"
"""The reason why an operator is not proven yet: too few providers return the same answer of its contract."""


class OperatorProof(Document):
    """The operator's signature by which it becomes the owner of a key."""

    type: ProofType = Field(
        description="`eip712`: the typed data that the quote or the claim gives for the operator; `eip191`: the text "
        "given with it, as a personal message; `erc1271`: the typed data, checked by the operator's contract"
    )
    signature: SignatureText


class OperatorState(Document):
    """The operator that a quote names, and whether it owns the key."""

    address: AddressText
    state: Literal["proven", "unproven", "unsure"] = Field(
        description="`proven`: it has signed and owns the key; `unproven`: a label that grants nothing; `unsure`: its "
        "contract could not be queried, and the payer is the owner until it has signed at consentUrl"
    )
    reason: str | None = Field(description="Why it is unsure, as a stable code; null otherwise")
    consent_url: str = Field(description="GET returns the message for the operator to sign, POST accepts the signature")


class OperatorStep(Document):
    """How the operator of a quote becomes the owner of the key: with the claim, or after it."""

    address: AddressText
    typed_data: dict[str, Any] = Field(description="EIP-712 `OperatorConsent`, for `eip712` and `erc1271`")
    text: str = Field(description="The personal message for `eip191`")
    field: Literal["integrity.operator"] = "integrity.operator"
    later: str = Field(description="Where the operator of an issued claim signs; GET returns the message")


class OperatorProofToFill(Document):
    """The placeholder for the operator's signature. `type` is `eip191` for the text, `erc1271` for a contract."""

    type: Literal["eip712"] = "eip712"
    signature: str = "0x<the operator's signature of typedData>"


class ConsentToFill(Document):
    """The body of the request with the consent, complete except for the signature."""

    proof: OperatorProofToFill = OperatorProofToFill()


class OperatorChallenge(Document):
    """The operator and the owner of a claim's key, and the message by which the operator becomes the owner."""

    ok: Literal[True] = True
    schema_: Literal["svc.agent_access.operator_challenge.v1"] = Field(
        default="svc.agent_access.operator_challenge.v1", alias="schema"
    )
    claim_id: str
    owner: AddressText
    operator: OperatorState
    typed_data: dict[str, Any] = Field(description="EIP-712 `ClaimConsent`, for `eip712` and `erc1271`")
    text: str = Field(description="The personal message for `eip191`")
    method: Literal["POST"] = "POST"
    url: str
    body: ConsentToFill = Field(description="Body to send there, as application/json")


class ConsentRequest(Document):
    """The operator's signature of the claim's message or of the message that came with the quote."""

    proof: OperatorProof
    over: Literal["claim", "quote"] = Field(
        default="claim", description="The signed message: that of the claim's challenge, or that of the quote"
    )


class MovedParts(Document):
    """The nodes and edges that the key has written and that this consent moved to the operator."""

    nodes: int
    edges: int
    left: int = Field(
        description="Nodes and edges that stayed with the payer: another key of the payer wrote them too, or they "
        "contradict the operator's own"
    )


class ConsentData(Document):
    """A claim whose operator is the owner."""

    claim_id: str
    owner: AddressText
    operator: OperatorState
    moved: MovedParts = Field(description="All 0 if the operator was the owner before")


class ConsentAnswer(Document):
    """The operator owns the claim's key."""

    ok: Literal[True] = True
    schema_: Literal["svc.agent_access.operator_response.v1"] = Field(
        default="svc.agent_access.operator_response.v1", alias="schema"
    )
    data: ConsentData


@dataclass(frozen=True, slots=True)
class Consent:
    """The message that an operator signs, as typed data and as text."""

    operator: str
    typed_data: dict[str, Any]
    text: str


def consent_to_quote(quote_hash: str, operator: str, chain_id: int) -> Consent:
    """Returns the consent that accompanies the claim of a quote; `operator` in lower case."""
    fields = [("quoteHash", "bytes32"), ("operatorAddress", "address")]
    message = {"quoteHash": f"0x{quote_hash}", "operatorAddress": operator}
    return Consent(
        operator,
        typed_data("OperatorConsent", fields, message, chain_id),
        _text(operator, f"quote {quote_hash}", chain_id),
    )


def consent_to_claim(claim_id: str, operator: str, chain_id: int) -> Consent:
    """Returns the consent for an already issued claim; `operator` in lower case."""
    fields = [("claimId", "string"), ("operatorAddress", "address")]
    message = {"claimId": claim_id, "operatorAddress": operator}
    return Consent(
        operator, typed_data("ClaimConsent", fields, message, chain_id), _text(operator, f"claim {claim_id}", chain_id)
    )


def check_consent(proof: OperatorProof, consent: Consent) -> Proved | NotProved | AskContract:
    """Decides whether the operator signed the consent."""
    match proof.type:
        case "eip191":
            return check_message(consent.text, proof.signature, consent.operator)
        case "eip712":
            return check_typed_data(consent.typed_data, proof.signature, consent.operator)
        case "erc1271":
            return contract_question(consent.typed_data, proof.signature, consent.operator)


def operator_state(
    operator: str, owner: str, payer: str, consent_url: str, *, was_unsure: bool = False
) -> OperatorState | None:
    """Returns the operator of a claim whose key `owner` owns, or None if the quote names only the payer."""
    if operator == payer:
        return None
    proven = owner == operator
    unsure = was_unsure and not proven
    return OperatorState(
        address=operator,
        state="proven" if proven else "unsure" if unsure else "unproven",
        reason=CONTRACT_UNSURE if unsure else None,
        consent_url=consent_url,
    )


def operator_step(quote_hash: str, operator: str, chain_id: int, base_url: str) -> OperatorStep:
    """Returns the instructions of a quote for the operator that it names."""
    consent = consent_to_quote(quote_hash, operator, chain_id)
    return OperatorStep(
        address=operator, typed_data=consent.typed_data, text=consent.text, later=base_url + CONSENT_PATH
    )


def consent_url(base_url: str, claim_id: str) -> str:
    return base_url + CONSENT_PATH.replace("{claimId}", claim_id)


def _text(operator: str, subject: str, chain_id: int) -> str:
    return (
        f"svc agent access: {operator} becomes the owner of the API key of {subject} on chain {chain_id}, and of what "
        "that key writes. Whoever holds the key reads the private data of this address."
    )
