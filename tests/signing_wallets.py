"""Wallets that sign x402 payments, and a service on anvil that accepts them."""

from __future__ import annotations

import base64
import copy
import json
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
from eth_account import Account
from paid_service import TREASURY, PaidService, selling

from cli.demo.anvil import Anvil
from cli.demo.rpc import calldata
from contracts.access.rail import ASSET_NAME, ASSET_VERSION
from contracts.settings import Settings

CHECK = "/api/v2/guardrail/check"
QUERY = "/api/v2/world-model/query"
DESIGN = "/api/v2/memory/design"
BUILD = "/api/v2/knowledge-graph/build"
LIVE = "/api/v2/world-model/live"

CHECKED = {"action": "ls -la"}
RELAYER = Account.from_key("0x" + "33" * 32)
BUYER = Account.from_key("0x" + "44" * 32)
"""Holds USDC and never any ETH."""


@contextmanager
def taking_signatures(settings: Settings, anvil: Anvil, **options: Any) -> Iterator[PaidService]:
    """Yields a service whose relayer has gas. Its buyer has 1,000 USDC and 0 ETH."""
    key_file = settings.data_dir / "relayer.key"
    key_file.write_text(RELAYER.key.hex())
    anvil.rpc.call("anvil_setBalance", RELAYER.address, hex(10**18))
    given = {"relayer_key_file": key_file, "base_url": "http://test", "claim_confirmations": 1}
    with selling(settings, anvil, **given | options) as paid:
        paid.mint(BUYER.address, 1_000_000_000)
        yield paid


def offered(answer: httpx.Response) -> dict[str, Any]:
    """Returns the decoded PAYMENT-REQUIRED field of a 402."""
    assert answer.status_code == 402, answer.text
    return dict(json.loads(base64.b64decode(answer.headers["payment-required"])))


def settled(answer: httpx.Response) -> dict[str, Any]:
    return dict(json.loads(base64.b64decode(answer.headers["payment-response"])))


def payment(
    required: dict[str, Any],
    *,
    wallet: Any = BUYER,
    offer: str | None = None,
    now_s: float | None = None,
    domain: dict[str, Any] | None = None,
    accepted: dict[str, Any] | None = None,
    **changed: Any,
) -> dict[str, Any]:
    """Returns an x402 payload for the offer, by default the first. `changed` are members of its authorization; `domain`
    and `accepted` change what is signed and what is named."""
    required = copy.deepcopy(required)
    terms = next(each for each in required["accepts"] if offer in (None, each["extra"]["offer"]))
    authorization = {
        "from": wallet.address,
        "to": terms["payTo"],
        "value": terms["amount"],
        "validAfter": "0",
        "validBefore": str(int(now_s or time.time()) + terms["maxTimeoutSeconds"]),
        "nonce": "0x" + secrets.token_hex(32),
    } | changed
    return {
        "x402Version": 2,
        "payload": {"authorization": authorization, "signature": signature(wallet, terms, authorization, domain or {})},
        "accepted": terms | (accepted or {}),
        "resource": required["resource"],
    }


def signature(wallet: Any, terms: dict[str, Any], authorization: dict[str, Any], domain: dict[str, Any]) -> str:
    names = ["from", "to", "value", "validAfter", "validBefore", "nonce"]
    kinds = ["address", "address", "uint256", "uint256", "uint256", "bytes32"]
    message = authorization | {name: int(authorization[name]) for name in ("value", "validAfter", "validBefore")}
    own = {
        "name": ASSET_NAME,
        "version": ASSET_VERSION,
        "chainId": int(terms["network"].partition(":")[2]),
        "verifyingContract": terms["asset"],
    }
    types = {"TransferWithAuthorization": [{"name": n, "type": k} for n, k in zip(names, kinds, strict=True)]}
    signed = Account.sign_typed_data(wallet.key, own | domain, types, message)
    return "0x" + bytes(signed.signature).hex()


def header(payload: Any) -> dict[str, str]:
    return {"PAYMENT-SIGNATURE": base64.b64encode(json.dumps(payload).encode()).decode()}


def balance(paid: PaidService, address: str) -> int:
    return int(
        paid.rpc.call("eth_call", {"to": paid.usdc, "data": calldata("balanceOf(address)", address)}, "latest"), 16
    )


def taken(paid: PaidService) -> int:
    """Returns the treasury's balance, in smallest units."""
    return balance(paid, TREASURY)


def front_client(paid: PaidService) -> Any:
    """Returns a transport to the service that official clients accept."""
    return httpx.ASGITransport(paid.service.front, raise_app_exceptions=False, client=("192.0.2.1", 50000))
