"""A running service whose companion application issues the codes: pairing over HTTP, from many addresses."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from clock_windows import stay_within
from companion_app import Companion
from mcp_service import JSON, McpService, message
from patience import HANG_S
from pydantic import SecretStr

from api.connect.service import CODE_WINDOW_S, TRIES_OF_A_CODE
from contracts.settings import Settings

SECRET = "the secret of both"
TRIES = 100


@pytest.fixture
def companion() -> Iterator[Companion]:
    with Companion(SECRET.encode()) as running:
        yield running


@pytest.fixture
def service(companion: Companion, ledger_settings: Settings) -> Iterator[McpService]:
    with McpService(
        ledger_settings.data_dir,
        documents=("/api/token/holders",),
        ledger_url=ledger_settings.ledger_url,
        app_url=companion.url,
        handoff_secret=SecretStr(SECRET),
        rate_limit_per_minute=20,
        trusted_proxies=("127.0.0.1",),
    ) as running:
        yield running


async def handshake(client: httpx.AsyncClient, service: McpService, code: object, address: str) -> dict[str, Any]:
    params = {"name": "svc_connect_handshake", "arguments": {"pairing_code": code}}
    headers = {**JSON, "accept": "application/json, text/event-stream", "x-forwarded-for": address}
    answer = await client.post(service.url, content=message("tools/call", params), headers=headers)
    assert answer.status_code == 200, answer.text
    result = answer.json()["result"]
    return {"is_error": result["isError"], **json.loads(result["content"][0]["text"])}


def test_a_code_tried_from_a_hundred_addresses_is_locked_and_another_one_pairs(
    companion: Companion, service: McpService
):
    async def attack() -> None:
        async with httpx.AsyncClient(timeout=HANG_S, limits=httpx.Limits(max_connections=50)) as client:
            tries = [handshake(client, service, "123456", f"10.0.{n // 250}.{n % 250}") for n in range(TRIES)]
            refused = await asyncio.gather(*tries)
            assert {json.dumps(each) for each in refused} == {json.dumps(refused[0])}
            assert (refused[0]["is_error"], refused[0]["code"]) == (True, "pairing_code_rejected")
            assert f"{companion.url}/profile" in refused[0]["fix"]
            assert companion.asked == ["123456"] * TRIES_OF_A_CODE
            companion.give("123456")
            assert (await handshake(client, service, "123456", "10.1.0.1"))["is_error"]
            paired = await handshake(client, service, companion.give(profile="ada"), "10.1.0.2")
            assert (paired["is_error"], paired["profile"]) == (False, "profile:ada")

    stay_within(CODE_WINDOW_S, for_s=20)
    asyncio.run(attack())


def test_without_the_secret_nobody_can_speak_for_the_companion(companion: Companion, service: McpService):
    async def asked() -> None:
        async with httpx.AsyncClient(timeout=HANG_S) as client:
            code = companion.give()
            companion.secret = b"another secret"
            assert (await handshake(client, service, code, "10.0.0.1"))["code"] == "pairing_code_rejected"

    asyncio.run(asked())
