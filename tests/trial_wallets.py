"""Wallets that request trial keys from a service."""

from __future__ import annotations

from typing import Any

import httpx
from eth_account import Account
from keyed_service import KeyedService

PATH = "/api/agent-access/trials/"


def wallet(number: int) -> Any:
    return Account.from_key(f"0x{number:064x}")


def signed(account: Any, challenge: dict[str, Any], **message: Any) -> dict[str, Any]:
    """Returns the body that answers a challenge; `message` changes what is signed."""
    typed = challenge["typedData"] | {"message": challenge["typedData"]["message"] | message}
    signature = Account.sign_typed_data(account.key, full_message=typed).signature
    return {
        "issuedAt": challenge["issuedAt"],
        "proof": {"type": "eip712", "signature": signature.to_0x_hex()},
    }


def challenged(service: KeyedService, account: Any) -> dict[str, Any]:
    (answer,) = service.ask(("GET", PATH + account.address, {}, {}))
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def post(service: KeyedService, account: Any, body: dict[str, Any], **headers: str) -> httpx.Response:
    return service.ask(("POST", PATH + account.address, dict(headers), {"json": body}))[0]


def asked(service: KeyedService, account: Any, **headers: str) -> httpx.Response:
    """Returns the answer to a challenge that the wallet signs."""
    return post(service, account, signed(account, challenged(service, account)), **headers)


def trial_key(service: KeyedService, account: Any) -> dict[str, Any]:
    """Returns the packet of a new trial key."""
    answer = asked(service, account)
    assert answer.status_code == 201, answer.text
    return dict(answer.json()["data"])
