"""Creates quotes for payers, and reads back the terms against which a payment is compared."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, ConfigDict, Field, ModelWrapValidatorHandler, PrivateAttr, model_validator

from contracts.access.authorizations import Authorization
from contracts.access.matching import CLAIM_GRACE, Terms
from contracts.access.offers import Offer, requirement_of
from contracts.access.plans import CLAIM_PATH, DEFAULT_PLAN, SALT_UNITS, Plan
from contracts.access.proofs import SignatureText
from contracts.access.rail import ASSET_NAME, ASSET_VERSION, PaymentRail, usd_of
from contracts.access.tiers import Tier
from contracts.addresses import AnyCaseAddress, has_wrong_checksum
from contracts.base import Document, storable
from contracts.canonical import canonical_json, canonical_sha256, sha256_hex
from contracts.evm.codec import checksum_address
from contracts.settings import web_address
from contracts.times import utc_seconds

QUOTE_TTL = timedelta(minutes=30)

LIVE_QUOTES_MAX = 100
"""Maximum number of a payer's unclaimed quotes that reserve an amount. Further ones need the payer's signature."""

PROVEN_QUOTES_MAX = 5_000
"""The maximum with a signature; well below the number of amounts in the band."""

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
    """The payer and the plan. One of the two addresses is required: the payer is payerAddress, else operatorAddress."""

    model_config = ConfigDict(
        json_schema_extra={
            "anyOf": [
                {"required": [name], "properties": {name: {"type": "string"}}}
                for name in ("payerAddress", "operatorAddress")
            ]
        }
    )

    operator_address: AnyCaseAddress | None = Field(
        default=None,
        description="Address that may become the owner of the key and of everything written with it, by its signature. "
        "Until it signs, it is only a label, and the payer is the owner. Any capitals, as in `payerAddress`",
    )
    payer_address: AnyCaseAddress | None = Field(
        default=None,
        description="Sender of the transfer, who therefore owns the key; default operatorAddress. Any capitals: a "
        "wrong EIP-55 checksum only causes a warning",
    )
    plan_id: str = Field(default=DEFAULT_PLAN, max_length=100)
    agent_id: Label | None = None
    agent_name: Text | None = None
    assistant_id: Text | None = None
    user_id: Text | None = None
    callback_url: WebAddress | None = Field(
        default=None, description="Stored with the quote; nothing is ever sent there"
    )
    integrity: QuoteProof | None = None

    _misspelled: tuple[str, ...] = PrivateAttr(default=())

    @model_validator(mode="wrap")
    @classmethod
    def _note_spelling(cls, sent: Any, validate: ModelWrapValidatorHandler[QuoteRequest]) -> QuoteRequest:
        request = validate(sent)
        if isinstance(sent, dict):
            names = ("payerAddress", "operatorAddress")
            request._misspelled = tuple(name for name in names if has_wrong_checksum(sent.get(name) or ""))
        return request

    @model_validator(mode="after")
    def _has_payer(self) -> QuoteRequest:
        if self.operator_address is None and self.payer_address is None:
            raise ValueError("operatorAddress or payerAddress is needed")
        return self

    @property
    def misspelled(self) -> tuple[str, ...]:
        """Returns the names of the addresses that were sent with capitals that are not their checksum."""
        return self._misspelled

    @property
    def payer(self) -> str:
        """Returns the address that must send the transfer, in lower case."""
        payer = self.payer_address or self.operator_address
        assert payer is not None
        return payer

    @property
    def operator(self) -> str:
        """Returns the operator that the request names, in lower case, or the payer if it names no other address."""
        return self.operator_address or self.payer


@dataclass(frozen=True, slots=True)
class Quote:
    """A quote as the ledger stores it: canonical bytes as text, with their hashes."""

    quote_id: str
    plan_id: str
    payer: str
    operator: str
    """A label until that address signs an `OperatorConsent`; the payer if the quote names no other address."""
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
        """Decides whether an address other than the payer may become the owner of the key."""
        return self.operator != self.payer

    @property
    def amount_held_until(self) -> datetime:
        """Returns the time until which no other quote of the payer has this amount."""
        return self.expires_at + CLAIM_GRACE


def free_amount(price: int, taken_amounts: Collection[int], draw: int) -> int:
    """Returns the first unused amount in a price's band, starting at the `draw`-th and wrapping around.

    `taken_amounts` are those of the payer's other quotes. Raises `ValueError` if no amount is left.
    """
    for salt in range(draw, draw + SALT_UNITS):
        amount = price + salt % SALT_UNITS
        if amount not in taken_amounts:
            return amount
    raise ValueError("every amount for the price is taken")


def make_quote(
    request: QuoteRequest,
    plan: Plan,
    rail: PaymentRail,
    base_url: str,
    *,
    quote_id: str,
    nonce: str,
    amount: int,
    now: datetime,
) -> Quote:
    """Creates the quote for a request. `nonce` is 32 random hex digits, so that nobody can guess the hashes."""
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
    quote = {
        "schema": "svc.agent_access.quote.v1",
        "quoteId": quote_id,
        "planId": plan.id,
        "tier": plan.tier.value,
        "paidDays": plan.paid_days,
        "payer": request.payer,
        "owner": request.payer,
        "operator": request.operator,
        "chainId": rail.chain_id,
        "network": rail.network,
        "asset": rail.asset,
        "payTo": rail.treasury,
        "amount": str(amount),
        "price": {"amount": usd_of(plan.price), "currency": "USD"},
        "nonce": nonce,
        "issuedAt": utc_seconds(issued_at),
        "expiresAt": utc_seconds(expires_at),
        "paymentRequirementHash": canonical_sha256(requirement),
        "claimUrl": base_url + CLAIM_PATH,
        "agentId": request.agent_id,
        "agentName": request.agent_name,
        "assistantId": request.assistant_id,
        "userId": request.user_id,
        "callbackUrl": request.callback_url,
    }
    return _quote_of(quote, requirement)


def authorized_quote(
    offer: Offer, authorization: Authorization, rail: PaymentRail, base_url: str, *, quote_id: str, now: datetime
) -> Quote:
    """Creates the quote of an offer that an authorization has paid, valid until the authorization expires.

    Nobody can claim it by hand: its hashes are never published, and the payment with its nonce belongs to it.
    """
    issued_at = now.replace(microsecond=0)
    expires_at = datetime.fromtimestamp(authorization.valid_before, UTC)
    requirement = requirement_of(offer, rail)
    requirement["extra"] |= {"quoteId": quote_id, "nonce": authorization.nonce}
    plan = offer.sells if isinstance(offer.sells, Plan) else None
    quote = {
        "schema": "svc.agent_access.quote.v1",
        "quoteId": quote_id,
        "planId": offer.id,
        "sells": "call" if plan is None else "key",
        "tier": (Tier.FREE if plan is None else plan.tier).value,
        "paidDays": None if plan is None else plan.paid_days,
        "payer": authorization.payer,
        "owner": authorization.payer,
        "operator": authorization.payer,
        "chainId": rail.chain_id,
        "network": rail.network,
        "asset": rail.asset,
        "payTo": rail.treasury,
        "amount": str(offer.amount),
        "price": {"amount": usd_of(offer.amount), "currency": "USD"},
        "nonce": authorization.nonce[2:],
        "issuedAt": utc_seconds(issued_at),
        "expiresAt": utc_seconds(expires_at),
        "paymentRequirementHash": canonical_sha256(requirement),
        "claimUrl": base_url + CLAIM_PATH,
        "agentId": None,
        "userId": None,
    }
    return _quote_of(quote, requirement)


def _quote_of(quote: dict[str, Any], requirement: dict[str, Any]) -> Quote:
    quote_json, requirement_json = (canonical_json(each).decode() for each in (quote, requirement))
    return Quote(
        quote_id=quote["quoteId"],
        plan_id=quote["planId"],
        payer=quote["payer"],
        operator=quote["operator"],
        amount=int(quote["amount"]),
        issued_at=datetime.fromisoformat(quote["issuedAt"]),
        expires_at=datetime.fromisoformat(quote["expiresAt"]),
        agent_id=quote["agentId"],
        user_id=quote["userId"],
        quote_json=quote_json,
        requirement_json=requirement_json,
        quote_hash=sha256_hex(quote_json.encode()),
        requirement_hash=sha256_hex(requirement_json.encode()),
    )


def is_intact(quote: Quote) -> bool:
    """Decides whether a stored quote is unchanged: its bytes match its hashes, and its columns match its bytes."""
    if sha256_hex(quote.quote_json.encode()) != quote.quote_hash:
        return False
    if sha256_hex(quote.requirement_json.encode()) != quote.requirement_hash:
        return False
    body = json.loads(quote.quote_json)
    return canonical_sha256(body) == quote.quote_hash and _columns(body) == (
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
    """Returns the owner of a quote's key: the payer, or the operator if its signature is proven."""
    return quote.operator if operator_proven else quote.payer


def _columns(body: dict[str, Any]) -> tuple[Any, ...]:
    """Returns, from a quote's bytes, the values of the columns that a store keeps next to them."""
    return (
        body["quoteId"],
        body["planId"],
        body["payer"],
        body["operator"] if "operator" in body else body["owner"],  # earlier versions called it the owner
        int(body["amount"]),
        datetime.fromisoformat(body["issuedAt"]),
        datetime.fromisoformat(body["expiresAt"]),
        body["agentId"],
        body["userId"],
        body["paymentRequirementHash"],
    )


def terms_of(quote: Quote, rail: PaymentRail) -> Terms:
    """Returns the terms against which a payment is compared, from the quote's bytes and never from its columns."""
    body: dict[str, Any] = json.loads(quote.quote_json)
    amount = int(body["amount"])
    return Terms(
        chain_id=body["chainId"],
        asset=body["asset"],
        payer=body["payer"],
        pay_to=body["payTo"],
        amount=amount,
        issued_at=datetime.fromisoformat(body["issuedAt"]),
        expires_at=datetime.fromisoformat(body["expiresAt"]),
        burial=rail.burial_of(amount),
        quorum=rail.quorum,
    )


@dataclass(frozen=True, slots=True)
class Entitlement:
    """The promise of a quote: a key of `tier` for `paid_days` (None: without end), or a single call without a key."""

    tier: Tier
    paid_days: int | None
    with_key: bool = True

    def expires_at(self, issued_at: datetime) -> datetime | None:
        """Returns the time until which a key issued now has the tier, or None if it has no end."""
        return None if self.paid_days is None else issued_at + timedelta(days=self.paid_days)


def entitlement_of(quote: Quote) -> Entitlement:
    """Returns the promise in the quote's bytes, even if the plan has changed since."""
    body: dict[str, Any] = json.loads(quote.quote_json)
    return Entitlement(Tier(body["tier"]), body["paidDays"], body.get("sells", "key") == "key")
