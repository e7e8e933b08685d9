"""Blockscout's holder count: parsed strictly, and a value with a reason if it is unavailable."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import httpx
import pytest
from recorded_material import RecordedMaterial

from pipelines.clients.http_json import Feeds
from pipelines.token.blockscout import HolderCounts, fetch_blockscout

BASE = "https://scan.example"
TOKEN = "0x" + "70" * 20


def fetch(answer: Callable[[httpx.Request], httpx.Response]) -> HolderCounts:
    async def ask() -> HolderCounts:
        async with Feeds(transport=httpx.MockTransport(answer)) as feeds:
            counts, attempt = await fetch_blockscout(feeds, BASE, TOKEN)
        assert (attempt.source, attempt.reason) == ("blockscout", counts.reason)
        return counts

    return asyncio.run(ask())


def test_the_recorded_answers_of_one_token_disagree_with_each_other(recorded_material: RecordedMaterial) -> None:
    recorded = recorded_material.json("upstream/blockscout_token_endpoints_verified_2026-09-08.json")

    def answer(request: httpx.Request) -> httpx.Response:
        end = "/counters" if request.url.path.endswith("/counters") else ""
        assert request.url.path == f"/api/v2/tokens/{TOKEN}{end}"
        return httpx.Response(200, json=recorded["GET /api/v2/tokens/{addr}" + end])

    assert fetch(answer) == HolderCounts("scan.example", 84990, 85036, None)


@pytest.mark.parametrize(
    ("response", "reason"),
    [
        (httpx.Response(404, json={"message": "Not found"}), "http_404"),
        (httpx.Response(403, text="<html>challenge</html>"), "http_403"),
        (httpx.Response(200, text="<html>"), "html_page"),
        (httpx.Response(200, json=None), "unreadable"),
        (httpx.Response(200, json={"token_holders_count": "-1", "holders_count": 1.5}), "unreadable"),
        (httpx.Response(200, json={"token_holders_count": "9" * 40, "holders_count": None}), "unreadable"),
    ],
)
def test_an_odd_answer_is_a_reason_and_no_number(response: httpx.Response, reason: str) -> None:
    assert fetch(lambda _: response) == HolderCounts("scan.example", None, None, reason)


def test_one_of_the_two_numbers_is_enough() -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        if request.url.path.endswith("/counters"):
            return httpx.Response(500)
        return httpx.Response(200, json={"holders_count": 7})

    assert fetch(answer) == HolderCounts("scan.example", None, 7, None)
