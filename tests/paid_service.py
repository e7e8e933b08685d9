"""The API with a real anvil and the USDC stand-in: quotes, transfers and claims as an agent makes them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
from eth_account import Account
from keyed_service import KeyedService

from cli.demo.anvil import Anvil
from cli.demo.rpc import calldata
from cli.demo.write import deploy, mined_receipt
from contracts.settings import Settings

PAYER = Account.from_key("0x" + "11" * 32)
STRANGER = Account.from_key("0x" + "22" * 32)
TREASURY = "0x" + "7e" * 20

QUOTE = "/api/agent-access/quote"
CLAIM = "/api/agent-access/claim"
PLANS = "/api/agent-access/plans"


class PaidService:
    """Created by `selling`. The payer and the stranger hold 1,000 USDC each."""

    def __init__(self, settings: Settings, anvil: Anvil, **options: Any) -> None:
        self.rpc = anvil.rpc
        self.deployer = anvil.rpc.call("eth_accounts")[0]
        self.usdc = deploy(anvil.rpc, self.deployer, "UsdcStandIn")
        for holder in (PAYER.address, STRANGER.address):
            self.mint(holder, 1_000_000_000)
        given: dict[str, Any] = {
            "rpc_urls": (anvil.url,),
            "usdc_address": self.usdc,
            "treasury_address": TREASURY,
            "rate_limit_per_minute": 0,
        }
        self.service = KeyedService(settings.model_copy(update=given | options))

    def mint(self, holder: str, units: int) -> None:
        self.sent(self.deployer, calldata("mint(address,uint256)", holder, units))

    def sent(self, sender: str, data: str, to: str | None = None) -> dict[str, Any]:
        """Sends a transaction from any address, whoever holds its key, and returns its receipt."""
        self.rpc.call("anvil_impersonateAccount", sender)
        self.rpc.call("anvil_setBalance", sender, hex(10**18))
        transaction = {"from": sender, "to": to or self.usdc, "data": data, "gas": hex(1_000_000)}
        return mined_receipt(self.rpc, self.rpc.call("eth_sendTransaction", transaction))

    def pay(self, quote: dict[str, Any], *, sender: str = PAYER.address, **changed: Any) -> str:
        """Pays a quote, or a variation of it (`to`, `units`), mines blocks on top, and returns the transaction's
        hash."""
        step = quote["data"]["next"]["pay"]
        units = changed.get("units", int(step["amountUnits"]))
        data = calldata("transfer(address,uint256)", changed.get("to", step["to"]), units)
        receipt = self.sent(sender, data)
        self.bury()
        return str(receipt["transactionHash"])

    def bury(self, blocks: int = 3) -> None:
        self.rpc.call("anvil_mine", hex(blocks))

    def post(self, path: str, body: dict[str, Any], **headers: str) -> httpx.Response:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return self.service.ask(("POST", path, named, {"json": body}))[0]

    def get(self, path: str, **headers: str) -> httpx.Response:
        return self.service.ask(("GET", path, headers, {}))[0]

    def quoted(self, **changed: Any) -> dict[str, Any]:
        answer = self.post(QUOTE, {"payerAddress": PAYER.address} | changed)
        assert answer.status_code == 201, answer.text
        return dict(answer.json())

    def claim(self, quote: dict[str, Any], transaction_hash: str, **headers: str) -> httpx.Response:
        return self.post(CLAIM, claim_body(quote, transaction_hash), **headers)

    def together(self, *bodies: dict[str, Any], **headers: str) -> list[httpx.Response]:
        """Returns the answers to claims that are sent simultaneously."""

        async def asked() -> list[httpx.Response]:
            transport = httpx.ASGITransport(self.service.front, client=("192.0.2.1", 50000))
            async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
                return await asyncio.gather(*(client.post(CLAIM, json=body, headers=headers) for body in bodies))

        return asyncio.run(asked())

    def close(self) -> None:
        self.service.close()


def claim_body(quote: dict[str, Any], transaction_hash: str, **changed: Any) -> dict[str, Any]:
    """Returns the body of a claim, as in the quote's own example."""
    body: dict[str, Any] = quote["data"]["next"]["claim"]["body"]
    return body | {"transactionHash": transaction_hash} | changed


@contextmanager
def selling(settings: Settings, anvil: Anvil, **options: Any) -> Iterator[PaidService]:
    paid = PaidService(settings, anvil, **options)
    try:
        yield paid
    finally:
        paid.close()
