"""Builds the payment manifest and its metadata (x402 v2). It lists payments by signature only while they work."""

from collections.abc import Mapping
from typing import Any

from contracts.access.offers import (
    REQUIRED_HEADER,
    RESPONSE_HEADER,
    SCHEME,
    SIGNATURE_HEADER,
    X402_VERSION,
    Offer,
    bazaar,
    offers_at,
    requirement_of,
)
from contracts.access.plans import CLAIM_PATH, PLANS_PATH, QUOTE_PATH, RECEIPT_PATH, load_calls
from contracts.access.rail import ASSET_NAME, ASSET_SYMBOL, ASSET_VERSION, USDC_DECIMALS, usd_of
from contracts.access.refusals import PaymentSignatureNotLive
from contracts.access.signed_payments import PAYMENT_PATH
from contracts.discovery.capabilities import CapabilityState, Status, capability_states
from contracts.discovery.installation import Installation
from contracts.discovery.registry import NOT_LOOKED, Finding
from contracts.discovery.service import OPENAPI_PATH, X402_METADATA_PATH, X402_PATH
from contracts.evm.codec import checksum_address

MANIFEST_SCHEMA = "svc.x402.v1"
METADATA_SCHEMA = "svc.x402_metadata.v1"

KEY_RESOURCE = ("GET", "/api/v2/world-model/live")
"""The listed request for buying a key. Every other request that needs a key sells them too."""


def x402_manifest(installation: Installation, findings: Mapping[str, Finding]) -> dict[str, Any]:
    """Builds the list of things that can be paid by a receipt on the chain, or by signature while a probe confirms
    that.

    Both have the status that the registry states. `items` lists what an indexer may probe and pay now; `planned` lists
    what becomes payable once payment by signature works.
    """
    states = capability_states(installation)
    receipt, signature = states["paid_access"], states["payment_signature"]
    finding = findings.get(signature.capability.id)
    status, reason = _standing(signature, finding)
    verification, verification_reason = _standing(receipt, findings.get(receipt.capability.id))
    live = status is Status.LIVE
    resources = _resources(installation) if receipt.live else []
    updated = 0 if finding is None else int(finding.checked_at.timestamp())
    return {
        "schema": MANIFEST_SCHEMA,
        "x402Version": X402_VERSION,
        "network": installation.network,
        "status": {
            "receiptVerification": verification.value,
            "receiptVerificationReason": verification_reason,
            "missingSettings": list(receipt.missing),
            "paymentSignatureSettlement": status.value,
            "paymentSignatureReason": reason,
            "paymentSignatureMissingSettings": list(signature.missing),
            "facilitator": None,
        },
        "headers": {
            "request": SIGNATURE_HEADER,
            "challenge": REQUIRED_HEADER,
            "response": RESPONSE_HEADER,
            "accepted": live,
            "refusedWith": None if live else PaymentSignatureNotLive.code,
            "note": "A request without any key to a path under /api/v2/ is answered 402 with offers, and this service "
            "settles the payment itself. Quote and claim accept no signed payment: a 402 of a claim means that a "
            "transfer does not match, and is not a challenge."
            if live
            else "Quote and claim refuse a request with PAYMENT-SIGNATURE, and no answer has the other "
            "two fields. A 402 of a claim means that a transfer does not match; it is not a challenge.",
        },
        "items": [{**each, "lastUpdated": updated} for each in resources] if live else [],
        "pagination": {
            "limit": len(resources) if live else 0,
            "offset": 0,
            "total": len(resources) if live else 0,
        },
        "planned": [] if live else [{**each, "status": "planned"} for each in resources],
        "live": {
            "plans": installation.url(PLANS_PATH),
            "quote": installation.url(QUOTE_PATH),
            "claim": installation.url(CLAIM_PATH),
            "receipt": installation.url(RECEIPT_PATH),
            **({"payment": installation.url(PAYMENT_PATH)} if live else {}),
        }
        if receipt.live
        else {"plans": installation.url(PLANS_PATH)},
        "metadata": installation.url(X402_METADATA_PATH),
        "openapi": installation.url(OPENAPI_PATH),
    }


def x402_metadata(installation: Installation, findings: Mapping[str, Finding]) -> dict[str, Any]:
    """Builds the kinds of payment as a facilitator lists them (`/supported`), while they work."""
    kind = {"x402Version": X402_VERSION, "scheme": SCHEME, "network": installation.network}
    states = capability_states(installation)
    receipt, signature = states["paid_access"], states["payment_signature"]
    live = _standing(signature, findings.get(signature.capability.id))[0] is Status.LIVE
    return {
        "schema": METADATA_SCHEMA,
        "kinds": [kind] if live else [],
        "plannedKinds": [] if live else [kind],
        "extensions": ["bazaar"] if live else [],
        "signers": {},
        "assets": [_asset(installation)] if receipt.live else [],
        "receiptVerification": _standing(receipt, findings.get(receipt.capability.id))[0].value,
        "manifest": installation.url(X402_PATH),
    }


def _standing(state: CapabilityState, finding: Finding | None) -> tuple[Status, str | None]:
    """Returns the status and reason of a capability as the registry states it: live only if a probe confirmed it."""
    if not state.live:
        return state.status, state.reason
    if finding is None or finding.determined_by == "settings":
        return Status.UNKNOWN, NOT_LOOKED
    return finding.status, finding.reason


def _resources(installation: Installation) -> list[dict[str, Any]]:
    """Returns every single call with its price, and a request at which each plan's key is sold."""
    calls = [
        _resource(installation, *operation.split(" "), offers=[Offer(call)]) for operation, call in load_calls().items()
    ]
    return [*calls, _resource(installation, *KEY_RESOURCE, offers=offers_at(*KEY_RESOURCE))]


def _resource(installation: Installation, method: str, path: str, *, offers: list[Offer]) -> dict[str, Any]:
    return {
        "resource": installation.url(path),
        "type": "http",
        "x402Version": X402_VERSION,
        "accepts": [requirement_of(offer, installation.rail) for offer in offers],
        "metadata": {
            "method": method,
            "offers": [
                {
                    "id": offer.id,
                    "name": offer.sells.name,
                    "description": offer.sells.description,
                    "priceUsd": usd_of(offer.amount),
                    "sells": "call" if offer.is_call else "key",
                }
                for offer in offers
            ],
        },
        "extensions": {"bazaar": bazaar(method)},
    }


def _asset(installation: Installation) -> dict[str, Any]:
    return {
        "network": installation.network,
        "asset": checksum_address(installation.rail.asset),
        "symbol": ASSET_SYMBOL,
        "decimals": USDC_DECIMALS,
        "eip712": {"name": ASSET_NAME, "version": ASSET_VERSION},
    }
