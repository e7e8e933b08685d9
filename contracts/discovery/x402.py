"""Makes the payment manifest and its metadata (x402 v2). They offer nothing as payable by signature yet."""

from typing import Any

from contracts.access.plans import CLAIM_PATH, PLANS_PATH, QUOTE_PATH, RECEIPT_PATH, load_plans
from contracts.access.quotes import QUOTE_TTL
from contracts.access.rail import ASSET_NAME, ASSET_SYMBOL, ASSET_VERSION, USDC_DECIMALS, usd_of
from contracts.access.refusals import PaymentSignatureNotLive
from contracts.discovery.capabilities import capability_states
from contracts.discovery.installation import Installation
from contracts.discovery.service import OPENAPI_PATH, X402_METADATA_PATH, X402_PATH
from contracts.evm.codec import checksum_address

X402_VERSION = 2
SCHEME = "exact"
MANIFEST_SCHEMA = "svc.x402.v1"
METADATA_SCHEMA = "svc.x402_metadata.v1"


def x402_manifest(installation: Installation) -> dict[str, Any]:
    """Makes the list of payable things: by a receipt on the chain where that is set up, by signature not yet.

    `items` is what an indexer may probe and pay, so it is empty; planned items are in `planned`.
    """
    states = capability_states(installation)
    receipt, signature = states["paid_access"], states["payment_signature"]
    return {
        "schema": MANIFEST_SCHEMA,
        "x402Version": X402_VERSION,
        "network": installation.network,
        "status": {
            "receiptVerification": receipt.status.value,
            "receiptVerificationReason": receipt.reason,
            "missingSettings": list(receipt.missing),
            "paymentSignatureSettlement": signature.status.value,
            "paymentSignatureReason": signature.reason,
            "facilitator": None,
        },
        "headers": {
            "request": "PAYMENT-SIGNATURE",
            "challenge": "PAYMENT-REQUIRED",
            "response": "PAYMENT-RESPONSE",
            "accepted": False,
            "refusedWith": PaymentSignatureNotLive.code,
            "note": "Quote and claim refuse a request that carries PAYMENT-SIGNATURE, and no answer carries the other "
            "two. A 402 of a claim says that a transfer does not match; it is no challenge.",
        },
        "items": [],
        "pagination": {"limit": 0, "offset": 0, "total": 0},
        "planned": _planned(installation) if receipt.live else [],
        "live": {
            "plans": installation.url(PLANS_PATH),
            "quote": installation.url(QUOTE_PATH),
            "claim": installation.url(CLAIM_PATH),
            "receipt": installation.url(RECEIPT_PATH),
        }
        if receipt.live
        else {"plans": installation.url(PLANS_PATH)},
        "metadata": installation.url(X402_METADATA_PATH),
        "openapi": installation.url(OPENAPI_PATH),
    }


def x402_metadata(installation: Installation) -> dict[str, Any]:
    """Makes the kinds of payment as a facilitator lists them (`/supported`): none yet, and the planned ones."""
    kind = {"x402Version": X402_VERSION, "scheme": SCHEME, "network": installation.network}
    receipt = capability_states(installation)["paid_access"]
    return {
        "schema": METADATA_SCHEMA,
        "kinds": [],
        "plannedKinds": [kind],
        "extensions": [],
        "signers": {},
        "assets": [_asset(installation)] if receipt.live else [],
        "receiptVerification": receipt.status.value,
        "manifest": installation.url(X402_PATH),
    }


def _planned(installation: Installation) -> list[dict[str, Any]]:
    rail = installation.rail
    return [
        {
            "resource": installation.url(CLAIM_PATH),
            "type": "http",
            "x402Version": X402_VERSION,
            "status": "planned",
            "accepts": [
                {
                    "scheme": SCHEME,
                    "network": installation.network,
                    "amount": str(plan.price),
                    "asset": checksum_address(rail.asset),
                    "payTo": checksum_address(rail.treasury),
                    "maxTimeoutSeconds": int(QUOTE_TTL.total_seconds()),
                    "extra": {"name": ASSET_NAME, "version": ASSET_VERSION},
                }
            ],
            "metadata": {"planId": plan.id, "name": plan.name, "priceUsd": usd_of(plan.price), "tier": plan.tier.value},
        }
        for plan in load_plans().values()
    ]


def _asset(installation: Installation) -> dict[str, Any]:
    return {
        "network": installation.network,
        "asset": checksum_address(installation.rail.asset),
        "symbol": ASSET_SYMBOL,
        "decimals": USDC_DECIMALS,
        "eip712": {"name": ASSET_NAME, "version": ASSET_VERSION},
    }
