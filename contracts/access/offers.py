"""Builds the offers of a protected route for x402 clients: a plan's key, or a single call. Pure values and JSON.

The discovery documents and the service's 402 answers use the same offers.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from contracts.access.plans import Call, Plan, load_calls, load_plans
from contracts.access.rail import ASSET_NAME, ASSET_VERSION, PaymentRail
from contracts.evm.codec import checksum_address

X402_VERSION = 2
SCHEME = "exact"

REQUIRED_HEADER = "PAYMENT-REQUIRED"
SIGNATURE_HEADER = "PAYMENT-SIGNATURE"
RESPONSE_HEADER = "PAYMENT-RESPONSE"

MAX_TIMEOUT_S = 60
"""Seconds for which a client should sign, and for which a request waits for its payment to settle."""


@dataclass(frozen=True, slots=True)
class Offer:
    """Something that one payment buys; `amount` is in the coin's smallest unit."""

    sells: Plan | Call

    @property
    def id(self) -> str:
        return self.sells.id

    @property
    def amount(self) -> int:
        return self.sells.price

    @property
    def is_call(self) -> bool:
        """Returns true if it buys the answer to the request itself, false if it buys a key."""
        return isinstance(self.sells, Call)

    def covers(self, body: Any) -> bool:
        """Decides whether it buys a request with this decoded body. A key always does."""
        return not isinstance(self.sells, Call) or self.sells.covers(body)


def offers_at(method: str, path: str) -> list[Offer]:
    """Returns the offers for a request without a key: the single call first if it has a price, then every key."""
    call = load_calls().get(f"{method} {path}")
    return [*([] if call is None else [Offer(call)]), *map(Offer, load_plans().values())]


def requirement_of(offer: Offer, rail: PaymentRail) -> dict[str, Any]:
    """Returns an offer as x402 v2 `PaymentRequirements`. `extra.offer` distinguishes offers of the same amount."""
    return {
        "scheme": SCHEME,
        "network": rail.network,
        "asset": checksum_address(rail.asset),
        "amount": str(offer.amount),
        "payTo": checksum_address(rail.treasury),
        "maxTimeoutSeconds": MAX_TIMEOUT_S,
        "extra": {"name": ASSET_NAME, "version": ASSET_VERSION, "offer": offer.id},
    }


def payment_required(
    offers: Sequence[Offer], rail: PaymentRail, *, method: str, url: str, error: str
) -> dict[str, Any]:
    """Returns the x402 v2 `PaymentRequired` of a request, with its entry for a bazaar."""
    return {
        "x402Version": X402_VERSION,
        "error": error,
        "resource": {
            "url": url,
            "description": offers[0].sells.description if offers else "A key",
            "mimeType": "application/json",
        },
        "accepts": [requirement_of(offer, rail) for offer in offers],
        "extensions": {"bazaar": bazaar(method)},
    }


def header_of(document: dict[str, Any]) -> str:
    """Returns a document as the value of an x402 header field: base64 of its JSON."""
    return base64.b64encode(json.dumps(document, separators=(",", ":")).encode()).decode()


def bazaar(method: str) -> dict[str, Any]:
    """Returns how to request a resource, in the form of x402's discovery extension."""
    asked: dict[str, Any] = {"type": "http", "method": method}
    if method == "POST":
        asked |= {"bodyType": "json", "body": {}}
    properties: dict[str, Any] = {"type": {"const": "http"}, "method": {"const": method}}
    return {
        "info": {"input": asked, "output": {"type": "json"}},
        "schema": {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "properties": {"input": {"type": "object", "properties": properties, "required": ["type", "method"]}},
            "required": ["input"],
        },
    }
