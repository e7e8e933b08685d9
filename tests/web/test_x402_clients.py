"""The official x402 clients of npm and PyPI buy from a listening service, as agents that know only its URL."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from addressed_service import running
from nginx import free_port
from paid_service import PaidService
from signing_wallets import BUYER, CHECK, CHECKED, LIVE, settled, taken, taking_signatures
from x402 import x402Client
from x402.http.clients import x402AsyncTransport
from x402.mechanisms.evm.exact import ExactEvmScheme

from api.app import create_app
from cli.demo.anvil import PRUNED, Anvil
from contracts.settings import Settings

pytestmark = pytest.mark.web


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, PaidService]]:
    port = free_port()
    base_url = f"http://127.0.0.1:{port}"
    settings = Settings(_env_file=None, data_dir=tmp_path_factory.mktemp("x402"))
    with (
        Anvil(flags=PRUNED) as anvil,
        taking_signatures(settings, anvil, base_url=base_url, port=port) as paid,
        running(create_app(paid.service.settings), port),
    ):
        until = time.monotonic() + 60
        while httpx.get(base_url + LIVE).status_code != 402 and time.monotonic() < until:
            time.sleep(0.1)
        yield base_url, paid


def test_the_npm_client_buys_a_call_and_a_key_in_two_requests_each_without_gas(
    web_tools: Any, base: tuple[str, PaidService]
) -> None:
    base_url, paid = base
    before = taken(paid)
    seen = web_tools.run("x402_client.mjs", base_url, "0x" + BUYER.key.hex().removeprefix("0x"))
    assert (seen["call"]["status"], seen["call"]["requests"]) == (200, 2)
    assert (seen["plan"]["status"], seen["plan"]["requests"], seen["used"]) == (201, 2, 200)
    assert [seen[name]["settled"]["success"] for name in ("call", "plan")] == [True, True]
    assert taken(paid) - before == 2_000 + 5_000_000
    assert int(paid.rpc.call("eth_getBalance", seen["payer"], "latest"), 16) == 0
    print({name: round(seen[name]["ms"]) for name in ("call", "plan")}, "ms")


def test_the_pypi_client_buys_a_call_and_a_key_without_gas(base: tuple[str, PaidService]) -> None:
    base_url, paid = base
    before = taken(paid)
    client = x402Client()
    client.register("eip155:8453", ExactEvmScheme(signer=BUYER))
    client.set_spend_controls(False)

    async def buys() -> list[httpx.Response]:
        async with httpx.AsyncClient(transport=x402AsyncTransport(client), base_url=base_url, timeout=60) as http:
            return [await http.post(CHECK, json=CHECKED), await http.get(LIVE)]

    called, bought = asyncio.run(buys())
    assert (called.status_code, bought.status_code) == (200, 201)
    assert settled(called)["success"] and settled(bought)["success"]
    assert taken(paid) - before == 2_000 + 5_000_000
