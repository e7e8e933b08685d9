"""Defines the answers about a payment by signature: while it is pending, and its state at its own address."""

from datetime import UTC, datetime
from typing import Any, Literal

from pydantic import Field

from contracts.access.authorizations import Authorization
from contracts.access.offers import header_of
from contracts.access.plans import PLANS_PATH
from contracts.access.rail import network_of, usd_of
from contracts.base import Document, Timestamp

PAYMENT_PATH = PLANS_PATH.rpartition("/")[0] + "/payments/{paymentId}"


class PaymentLinks(Document):
    """Links to the payment and its receipt."""

    payment: str
    receipt: str | None = Field(description="The receipt of the claim; null before the payment is settled")


class PaymentPending(Document):
    """The payment was sent but is not settled yet. The client repeats the same request with the same signature."""

    ok: Literal[True] = True
    code: Literal["settlement_pending"] = "settlement_pending"
    payment_id: str
    retry_after: int = Field(description="Seconds")
    links: PaymentLinks


class SignedPayment(Document):
    """The state of one payment by signature. It contains neither the signature nor the purchase."""

    ok: Literal[True] = True
    schema_: Literal["svc.agent_access.signed_payment.v1"] = Field(
        default="svc.agent_access.signed_payment.v1", alias="schema"
    )
    payment_id: str
    status: Literal["pending", "settled", "failed", "reversed"] = Field(
        description="`reversed`: settled, but its block has left the chain since"
    )
    reason: str | None = Field(description="Why it failed, as an x402 code; nothing was taken then")
    offer: str
    network: str
    asset: str
    amount_units: str
    amount: str
    payer: str
    pay_to: str
    transaction_hash: str | None = Field(description="Null before it is settled")
    claim_id: str | None
    stored_at: Timestamp
    expires_at: Timestamp = Field(description="Expiry of the authorization")
    links: PaymentLinks


def payment_url(base_url: str, payment_id: str) -> str:
    return base_url + PAYMENT_PATH.replace("{paymentId}", payment_id)


def ends_at(authorization: Authorization) -> datetime:
    return datetime.fromtimestamp(authorization.valid_before, UTC)


def amount_fields(authorization: Authorization) -> dict[str, str]:
    """Returns chain, coin and amount of an authorization."""
    return {
        "network": network_of(authorization.chain_id),
        "asset": authorization.asset,
        "amount_units": str(authorization.value),
        "amount": usd_of(authorization.value),
    }


def settle_response(
    authorization: Authorization, transaction_hash: str | None, *, reason: str | None = None, detail: str | None = None
) -> str:
    """Returns a PAYMENT-RESPONSE field: x402 v2 `SettleResponse`, a success unless it has a `reason`."""
    response: dict[str, Any] = {
        "success": reason is None,
        "payer": authorization.payer,
        "transaction": transaction_hash or "",
        "network": network_of(authorization.chain_id),
        "amount": str(authorization.value),
    }
    if reason is not None:
        response |= {"errorReason": reason, "errorMessage": detail or reason}
        del response["amount"]
    return header_of(response)
