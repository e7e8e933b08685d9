"""Loads the plans of `plans.yaml` and builds the catalog with their prices and the steps to buy one."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import Field

from contracts.access import signing
from contracts.access.matching import CLAIM_GRACE, SKEW_S
from contracts.access.proofs import DOMAIN_NAME, DOMAIN_VERSION
from contracts.access.rail import (
    ASSET_NAME,
    ASSET_SYMBOL,
    ASSET_VERSION,
    FINALIZED_FROM,
    USDC_DECIMALS,
    PaymentRail,
    units_of,
    usd_of,
)
from contracts.access.tiers import Tier
from contracts.access.trial_offer import TrialOffer, trial_offer
from contracts.base import Document

PLANS_FILE = Path(__file__).with_name("plans.yaml")
DEFAULT_PLAN = "agent_runtime_activation"

PLANS_PATH = "/api/agent-access/plans"
QUOTE_PATH = "/api/agent-access/quote"
CODE_PATH = "/api/agent-access/quotes/{quoteId}/code.svg"
CLAIM_PATH = "/api/agent-access/claim"
RECEIPT_PATH = "/api/agent-access/claims/{claimId}"
CASE_PATH = "/api/agent-access/cases/{caseId}"
CASE_SUPPLEMENT_PATH = CASE_PATH + "/supplement"

UNCLAIMABLE = "payments_not_configured"

SALT_UNITS = 10_000
"""Size of the band of amounts above a price, in smallest units.

A quote's amount lies in that band and is unique among the quotes of its payer.
"""


@dataclass(frozen=True, slots=True)
class Plan:
    """A plan for sale; `price` in the coin's smallest unit."""

    id: str
    name: str
    description: str
    deliverable: str
    price: int
    billing: Literal["one_time", "recurring"]
    tier: Tier
    paid_days: int | None


@dataclass(frozen=True, slots=True)
class Excluded:
    """A member of a body that makes a call need a key: at the path `at`, the value `value`, or any except null."""

    at: tuple[str, ...]
    value: Any = None

    def matches(self, body: Any) -> bool:
        """Decides whether a decoded body has this member."""
        for name in self.at:
            body = body.get(name) if isinstance(body, dict) else None
        return body is not None if self.value is None else bool(body == self.value)


@dataclass(frozen=True, slots=True)
class Call:
    """A single call that can be paid without a key; `price` in the coin's smallest unit."""

    id: str
    name: str
    description: str
    operation: str
    """Method and path."""
    price: int
    unless: tuple[Excluded, ...] = ()

    def covers(self, body: Any) -> bool:
        """Decides whether the call covers a request with this decoded body. If not, the request needs a key."""
        return not any(excluded.matches(body) for excluded in self.unless)


@cache
def load_plans() -> dict[str, Plan]:
    """Returns every plan by its id, in the order of the file."""
    plans = [
        Plan(price=units_of(row.pop("price_usd")), tier=Tier(row.pop("tier")), **row)
        for row in _rows()
        if "operation" not in row
    ]
    return {plan.id: plan for plan in plans}


@cache
def load_calls() -> dict[str, Call]:
    """Returns every single call by its operation, in the order of the file."""
    calls = [
        Call(
            price=units_of(row.pop("price_usd")),
            unless=tuple(Excluded(tuple(each["at"]), each.get("is")) for each in row.pop("unless", ())),
            **row,
        )
        for row in _rows()
        if "operation" in row
    ]
    return {call.operation: call for call in calls}


def _rows() -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = yaml.load(PLANS_FILE.read_text(), yaml.CSafeLoader)
    return rows


class PlanPrice(Document):
    """A price, and the band that contains the amount of a quote."""

    amount: str = Field(description="Decimal")
    currency: Literal["USD"] = "USD"
    billing: Literal["one_time", "recurring"]
    period_days: int | None = Field(description="Days of the paid tier; null: without end")
    amount_units_from: str = Field(description="Smallest amount of a quote, in the asset's smallest unit")
    amount_units_to: str = Field(description="Largest amount of a quote: each quote of a payer has its own")


class PlanPayment(Document):
    """The means of payment of a plan."""

    scheme: Literal["exact"] = "exact"
    network: str
    asset: str | None = Field(description="The coin's contract; null if payments are not set up")
    asset_symbol: str = ASSET_SYMBOL
    decimals: int = USDC_DECIMALS
    pay_to: str | None


class PlanOffer(Document):
    """One plan of the catalog."""

    id: str
    name: str
    description: str
    price: PlanPrice
    payment: PlanPayment
    claimable: bool
    deliverable: str
    status: Literal["available", "unavailable"]
    reason: str | None = Field(description="Why it is not claimable, as a stable code")
    tier: Tier
    requests_per_day: int | None = Field(description="API v2 requests per UTC day; null: unlimited")


class Flow(Document):
    """The steps in order, each with the request to send."""

    discover: str
    quote: str
    pay: str
    claim: str
    receipt: str
    activation: str


class Verification(Document):
    """The rules by which payments are verified."""

    providers: int = Field(description="Number of RPC providers that are queried")
    quorum: int = Field(description="Number of providers that must agree")
    confirmations: int | None = Field(description="Blocks up to head that settle a payment; null: only by the tag")
    tag: Literal["safe"] = Field(default="safe", description="A payment at or below this block is settled")
    finalized_from: str = Field(description="From this amount, only `finalized` settles (smallest units)")
    clock_skew_s: int = SKEW_S


class CallOffer(Document):
    """One call that can be paid without a key."""

    id: str
    name: str
    description: str
    operation: str = Field(description="Method and path")
    amount: str = Field(description="USD, decimal")
    amount_units: str = Field(description="The same in the asset's smallest unit")


class CatalogPayment(PlanPayment):
    """The means of payment and its verification, common to all plans."""

    live: bool
    reason: str | None
    missing: list[str] = Field(description="Settings that the operator still has to set")
    asset_name: str = Field(default=ASSET_NAME, description="Name in the coin's EIP-712 domain")
    asset_version: str = Field(default=ASSET_VERSION, description="Version in the coin's EIP-712 domain")
    exact_amount: Literal[True] = Field(
        default=True, description="Send the quoted amount in one transfer: neither more nor less, and not in parts"
    )
    claim_grace_days: int = Field(
        default=CLAIM_GRACE.days, description="Days after a quote's expiry in which a timely payment can be claimed"
    )
    payer_proof_above: str | None = Field(
        description="Above this amount (smallest units) a claim needs the payer's signature; null: never"
    )
    payment_signature_live: bool = Field(description="Whether this service settles signed payments (x402)")
    calls: list[CallOffer] = Field(description="Single calls that a signed payment buys without a key, with prices")
    verification: Verification


class TypedDataDomain(Document):
    """The EIP-712 domain of the messages that payers sign."""

    name: str = DOMAIN_NAME
    version: str = DOMAIN_VERSION
    chain_id: int


class Signing(Document):
    """The formats of signatures of quotes, receipts and payers."""

    algorithm: Literal["EdDSA"] = "EdDSA"
    format: str = "compact JWS with its payload left out; the payload is the 64 characters of the hash"
    hash: Literal["SHA-256"] = "SHA-256"
    canonicalization: Literal["RFC 8785"] = "RFC 8785"
    keys_url: str
    payer_domain: TypedDataDomain


class QuoteToFill(Document):
    """The body of a request for a quote, complete except for the payer's address. It may name another plan."""

    plan_id: str = DEFAULT_PLAN
    payer_address: str = "0x<the address that pays>"


class QuoteStep(Document):
    """The request for a quote."""

    method: Literal["POST"] = "POST"
    url: str
    headers: dict[str, str]
    body: QuoteToFill = QuoteToFill()


class PlansNext(Document):
    """The next steps with the catalog. Each answer on the way contains the following steps, in the same form."""

    quote: QuoteStep | None = Field(description="Null if nothing can be bought")


class PlansAnswer(Document):
    """The catalog of plans with prices and payment instructions."""

    ok: Literal[True] = True
    schema_: Literal["svc.agent_access.plans.v1"] = Field(default="svc.agent_access.plans.v1", alias="schema")
    artifact: Literal["svc.agent-access.plans"] = "svc.agent-access.plans"
    service: Literal["svc"] = "svc"
    plans: list[PlanOffer]
    quote_url: str
    claim_url: str
    receipt_url_template: str
    flow: Flow
    next: PlansNext
    payment: CatalogPayment
    trial: TrialOffer | None = Field(description="A key without a payment; null if none is issued")
    network: str
    signing: Signing


def plans_answer(
    rail: PaymentRail,
    base_url: str,
    requests_per_day: dict[Tier, int | None],
    *,
    trials: bool,
    problem: str | None = None,
) -> PlansAnswer:
    """Returns the catalog of a service at `base_url`.

    `requests_per_day` is the quota of each tier. `trials` is true if the service issues trial keys. `problem` is a
    stable reason for selling nothing although all settings are set.
    """
    reason = UNCLAIMABLE if rail.missing else problem
    live = reason is None
    where = {"network": rail.network, "asset": rail.asset or None, "pay_to": rail.treasury or None}
    return PlansAnswer(
        plans=[
            PlanOffer(
                id=plan.id,
                name=plan.name,
                description=plan.description,
                price=PlanPrice(
                    amount=usd_of(plan.price),
                    billing=plan.billing,
                    period_days=plan.paid_days,
                    amount_units_from=str(plan.price),
                    amount_units_to=str(plan.price + SALT_UNITS - 1),
                ),
                payment=PlanPayment(**where),
                claimable=live,
                deliverable=plan.deliverable,
                status="available" if live else "unavailable",
                reason=reason,
                tier=plan.tier,
                requests_per_day=requests_per_day[plan.tier],
            )
            for plan in load_plans().values()
        ],
        quote_url=base_url + QUOTE_PATH,
        claim_url=base_url + CLAIM_PATH,
        receipt_url_template=base_url + RECEIPT_PATH,
        flow=_flow(base_url),
        next=PlansNext(quote=_quote_step(base_url) if live else None),
        payment=CatalogPayment(
            **where,
            live=live,
            reason=reason,
            missing=list(rail.missing),
            payment_signature_live=live and rail.takes_signatures,
            calls=[_call_offer(call) for call in load_calls().values()] if live and rail.takes_signatures else [],
            payer_proof_above=None if rail.proof_above is None else str(rail.proof_above),
            verification=verification_of(rail),
        ),
        trial=trial_offer(base_url) if trials else None,
        network=rail.network,
        signing=Signing(
            keys_url=base_url + signing.JWKS_PATH,
            payer_domain=TypedDataDomain(chain_id=rail.chain_id),
        ),
    )


def _call_offer(call: Call) -> CallOffer:
    return CallOffer(
        id=call.id,
        name=call.name,
        description=call.description,
        operation=call.operation,
        amount=usd_of(call.price),
        amount_units=str(call.price),
    )


def verification_of(rail: PaymentRail) -> Verification:
    """Returns the rules by which payments on `rail` are verified."""
    return Verification(
        providers=rail.providers,
        quorum=rail.quorum,
        confirmations=rail.confirmations,
        finalized_from=str(FINALIZED_FROM),
    )


def _quote_step(base_url: str) -> QuoteStep:
    return QuoteStep(url=base_url + QUOTE_PATH, headers={"Content-Type": "application/json"})


def _flow(base_url: str) -> Flow:
    return Flow(
        discover=f"GET {base_url}{PLANS_PATH}",
        quote=f"POST {base_url}{QUOTE_PATH} with planId and payerAddress",
        pay="Send data.paymentRequirement.amount of data.paymentRequirement.asset from payerAddress to "
        "data.paymentRequirement.payTo in one ERC-20 transfer before expiresAt",
        claim=f"POST {base_url}{CLAIM_PATH} with quoteId, transactionHash, quoteHash and paymentRequirementHash, and "
        "an Idempotency-Key header; on 202 repeat it after Retry-After seconds, and never pay twice",
        receipt=f"GET {base_url}{RECEIPT_PATH}",
        activation="Use data.activationPacket.apiKey of the claim's answer as Bearer token or X-Api-Key",
    )
