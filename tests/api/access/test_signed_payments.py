"""Payments by signature on a real EVM: what x402 clients buy, how it is bound to a request, and what is refused."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from paid_service import PaidService
from signing_wallets import (
    BUYER,
    CHECK,
    CHECKED,
    LIVE,
    balance,
    front_client,
    header,
    offered,
    payment,
    settled,
    taken,
    taking_signatures,
)

from cli.demo.anvil import Anvil
from contracts.settings import Settings


@pytest.fixture
def paid(ledger_settings: Settings, anvil: Anvil) -> Iterator[PaidService]:
    with taking_signatures(ledger_settings, anvil) as service:
        yield service


@pytest.fixture
def paid_here(tmp_path: Path, anvil: Anvil) -> Iterator[PaidService]:
    with taking_signatures(Settings(_env_file=None, data_dir=tmp_path), anvil) as service:
        yield service


def check(paid: PaidService, payload: Any = None, body: Any = CHECKED, **headers: str) -> httpx.Response:
    return paid.post(CHECK, body, **({} if payload is None else header(payload)), **headers)


def test_a_single_call_is_paid_answered_and_answered_again(paid: PaidService) -> None:
    required = offered(check(paid))
    pays = payment(required)
    answer = check(paid, pays)
    assert answer.status_code == 200, answer.text
    assert answer.json()["data"]["decision"] == "allow"
    assert settled(answer)["success"] is True
    assert (taken(paid), balance(paid, BUYER.address)) == (2_000, 1_000_000_000 - 2_000)
    again = check(paid, pays)
    assert (again.text, again.status_code) == (answer.text, 200)
    assert taken(paid) == 2_000


def test_the_official_python_client_buys_a_call_and_a_key_in_two_requests_each(paid: PaidService) -> None:
    from x402 import x402Client
    from x402.http.clients import x402AsyncTransport
    from x402.mechanisms.evm.exact import ExactEvmScheme

    asked: list[str] = []

    class Counting(httpx.AsyncBaseTransport):
        inner = front_client(paid)

        async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
            asked.append(request.url.path)
            return await self.inner.handle_async_request(request)

    client = x402Client()
    client.register("eip155:8453", ExactEvmScheme(signer=BUYER))
    client.set_spend_controls(False)

    async def buys() -> tuple[httpx.Response, httpx.Response]:
        async with httpx.AsyncClient(transport=x402AsyncTransport(client, Counting()), base_url="http://test") as http:
            return await http.post(CHECK, json=CHECKED), await http.get(LIVE)

    called, bought = paid.service._loop.run(buys())
    assert called.status_code == 200, called.text
    assert bought.status_code == 201, bought.text
    key = bought.json()["data"]["activationPacket"]["apiKey"]
    assert paid.get(LIVE, Authorization=f"Bearer {key}").status_code == 200
    assert asked == [CHECK, CHECK, LIVE, LIVE]
    assert taken(paid) == 2_000 + 5_000_000
    assert int(paid.rpc.call("eth_getBalance", BUYER.address, "latest"), 16) == 0
