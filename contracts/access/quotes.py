"""Quotes: what a payer may ask for, what it is given, and the terms that a payment is later held against."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, ConfigDict, Field, model_validator

from contracts.access.matching import CLAIM_GRACE, Terms
from contracts.access.plans import CLAIM_PATH, DEFAULT_PLAN, SALT_UNITS, Plan, load_plans
from contracts.access.proofs import SignatureText
from contracts.access.rail import ASSET_NAME, ASSET_VERSION, PaymentRail, usd_of
from contracts.access.tiers import Tier
from contracts.addresses import AskedAddress
from contracts.base import Document, storable
from contracts.canonical import canonical_json, canonical_sha256, sha256_hex
from contracts.evm.codec import checksum_address
from contracts.settings import web_address
from contracts.times import utc_seconds

QUOTE_TTL = timedelta(minutes=30)

LIVE_QUOTES_MAX = 100
"""Unclaimed quotes of one payer that hold an amount; past that the payer has to ask for more with a signature."""

PROVEN_QUOTES_MAX = 5_000
"""The same, with a signature; well below the number of amounts there are."""

REQUEST_PROOF_AGE = timedelta(minutes=5)


Text = Annotated[str, Field(max_length=200), AfterValidator(storable)]
Label = Annotated[str, Field(min_length=1, max_length=200), AfterValidator(storable)]
WebAddress = Annotated[
    str,
    Field(max_length=2_000, json_schema_extra={"format": "uri"}),
    AfterValidator(web_address),
    AfterValidator(storable),
]


class QuoteProof(Document):
    """The payer's signature of a quote request, for payers with many open quotes: EIP-712 `QuoteRequest`."""

    type: Literal["eip712", "erc1271"] = Field(
        description="`eip712`: by the payer's key; `erc1271`: checked by the payer's contract"
    )
    signature: SignatureText
    issued_at: int = Field(strict=True, ge=0, lt=2**53, description="Unix seconds, at most five minutes from now")


class QuoteRequest(Document):
    """Who pays for what. One of the two addresses is needed: the payer is payerAddress, else operatorAddress."""

    model_config = ConfigDict(
        json_schema_extra={
            "anyOf": [
                {"required": [name], "properties": {name: {"type": "string"}}}
                for name in ("payerAddress", "operatorAddress")
            ]
        }
    )

    operator_address: AskedAddress | None = Field(
        default=None,
        description="Who may become the owner of the key and of what is written with it, by a signature of its own. "
        "Until it has signed this is a label, and the payer is the owner",
    )
    payer_address: AskedAddress | None = Field(
        default=None, description="Who sends the transfer, and so owns the key; default operatorAddress"
    )
    plan_id: str = Field(default=DEFAULT_PLAN, max_length=100, json_schema_extra={"enum": list(load_plans())})
    agent_id: Label | None = None
    agent_name: Text | None = None
    assistant_id: Text | None = None
    user_id: Text | None = None
    callback_url: WebAddress | None = Field(default=None, description="Kept with the quote; nothing is ever sent there")
    integrity: QuoteProof | None = None

    @model_validator(mode="after")
    def _somebody_pays(self) -> QuoteRequest:
        if self.operator_address is None and self.payer_address is None:
            raise ValueError("operatorAddress or payerAddress is needed")
        return self

    @property
    def payer(self) -> str:
        """Who has to send the transfer, in lower case."""
        payer = self.payer_address or self.operator_address
        assert payer is not None
        return payer

    @property
    def operator(self) -> str:
        """The address that the request names as operator, in lower case; the payer where it names no other."""
        return self.operator_address or self.payer


@dataclass(frozen=True, slots=True)
class Quote:
    """A quote as the ledger keeps it: canonical bytes as text, with their hashes."""

    quote_id: str
    plan_id: str
    payer: str
    operator: str
    """A label until that address signs an `OperatorConsent`; the payer where no other address is named."""
    amount: int
    issued_at: datetime
    expires_at: datetime
    agent_id: str | None
    user_id: str | None
    quote_json: str
    requirement_json: str
    quote_hash: str
    requirement_hash: str

    @property
    def names_operator(self) -> bool:
        """Whether an address other than the payer may become the owner of the key."""
        return self.operator != self.payer

    @property
    def amount_held_until(self) -> datetime:
        """Until when no other quote of the payer has this amount."""
        return self.expires_at + CLAIM_GRACE


def free_amount(price: int, taken: Collection[int], draw: int) -> int:
    """An amount for a price that none of the payer's quotes has: the first free one from the `draw`-th on, going round.

    Raises `ValueError` where none is left.
    """
    for salt in range(draw, draw + SALT_UNITS):
        amount = price + salt % SALT_UNITS
        if amount not in taken:
            return amount
    raise ValueError("every amount for the price is taken")


def make_quote(
    asked: QuoteRequest,
    plan: Plan,
    rail: PaymentRail,
    base_url: str,
    *,
    quote_id: str,
    nonce: str,
    amount: int,
    now: datetime,
) -> Quote:
    """The quote for a request. `nonce` is 32 random hex digits: without them nobody can guess the hashes."""
    issued_at = now.replace(microsecond=0)
    expires_at = issued_at + QUOTE_TTL
    requirement = {
        "scheme": "exact",
        "network": rail.network,
        "amount": str(amount),
        "asset": checksum_address(rail.asset),
        "payTo": checksum_address(rail.treasury),
        "maxTimeoutSeconds": int(QUOTE_TTL.total_seconds()),
        "extra": {"name": ASSET_NAME, "version": ASSET_VERSION, "quoteId": quote_id, "nonce": nonce},
    }
    requirement_json = canonical_json(requirement).decode()
    requirement_hash = sha256_hex(requirement_json.encode())
    quote = {
        "schema": "svc.agent_access.quote.v1",
        "quoteId": quote_id,
        "planId": plan.id,
        "tier": plan.tier.value,
        "paidDays": plan.paid_days,
        "payer": asked.payer,
        "owner": asked.payer,
        "operator": asked.operator,
        "chainId": rail.chain_id,
        "network": rail.network,
        "asset": rail.asset,
        "payTo": rail.treasury,
        "amount": str(amount),
        "price": {"amount": usd_of(plan.price), "currency": "USD"},
        "nonce": nonce,
        "issuedAt": utc_seconds(issued_at),
        "expiresAt": utc_seconds(expires_at),
        "paymentRequirementHash": requirement_hash,
        "claimUrl": base_url + CLAIM_PATH,
        "agentId": asked.agent_id,
        "agentName": asked.agent_name,
        "assistantId": asked.assistant_id,
        "userId": asked.user_id,
        "callbackUrl": asked.callback_url,
    }
    quote_json = canonical_json(quote).decode()
    return Quote(
        quote_id=quote_id,
        plan_id=plan.id,
        payer=asked.payer,
        operator=asked.operator,
        amount=amount,
        issued_at=issued_at,
        expires_at=expires_at,
        agent_id=asked.agent_id,
        user_id=asked.user_id,
        quote_json=quote_json,
        requirement_json=requirement_json,
        quote_hash=sha256_hex(quote_json.encode()),
        requirement_hash=requirement_hash,
    )


def is_intact(quote: Quote) -> bool:
    """Whether a quote read from a store is the one that was made: its bytes hash as it says and say what it says."""
    if sha256_hex(quote.quote_json.encode()) != quote.quote_hash:
        return False
    if sha256_hex(quote.requirement_json.encode()) != quote.requirement_hash:
        return False
    said = json.loads(quote.quote_json)
    return canonical_sha256(said) == quote.quote_hash and _columns(said) == (
        quote.quote_id,
        quote.plan_id,
        quote.payer,
        quote.operator,
        quote.amount,
        quote.issued_at,
        quote.expires_at,
        quote.agent_id,
        quote.user_id,
        quote.requirement_hash,
    )


def owner_of(quote: Quote, *, operator_proven: bool) -> str:
    """Who owns the key of a quote: the address that paid, or the operator once that has signed."""
    return quote.operator if operator_proven else quote.payer


def _columns(said: dict[str, Any]) -> tuple[Any, ...]:
    """What stands beside a quote's bytes, as these say it."""
    return (
        said["quoteId"],
        said["planId"],
        said["payer"],
        said["operator"] if "operator" in said else said["owner"],  # earlier versions called it the owner
        int(said["amount"]),
        datetime.fromisoformat(said["issuedAt"]),
        datetime.fromisoformat(said["expiresAt"]),
        said["agentId"],
        said["userId"],
        said["paymentRequirementHash"],
    )


def terms_of(quote: Quote, rail: PaymentRail) -> Terms:
    """What a payment is held against: taken from the quote's own bytes, never from columns beside them."""
    said: dict[str, Any] = json.loads(quote.quote_json)
    amount = int(said["amount"])
    return Terms(
        chain_id=said["chainId"],
        asset=said["asset"],
        payer=said["payer"],
        pay_to=said["payTo"],
        amount=amount,
        issued_at=datetime.fromisoformat(said["issuedAt"]),
        expires_at=datetime.fromisoformat(said["expiresAt"]),
        burial=rail.burial_of(amount),
        quorum=rail.quorum,
    )


@dataclass(frozen=True, slots=True)
class Entitlement:
    """What a quote promises: a key of `tier` that holds for `paid_days`, or without end."""

    tier: Tier
    paid_days: int | None

    def expires_at(self, issued_at: datetime) -> datetime | None:
        """Until when a key that is issued now has the tier."""
        return None if self.paid_days is None else issued_at + timedelta(days=self.paid_days)


def entitlement_of(quote: Quote) -> Entitlement:
    """What the quote's own bytes promise, whatever became of the plan since."""
    said: dict[str, Any] = json.loads(quote.quote_json)
    return Entitlement(Tier(said["tier"]), said["paidDays"])
