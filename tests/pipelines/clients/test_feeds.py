"""Requests to other services: whatever they answer becomes a value or a reason, in bounded time and memory."""

import asyncio
import logging
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import httpx
import msgspec
import pytest
from feed_server import CHALLENGE, DEAD, HUGE, LIMITED, SLOW, TRICKLE, FeedServer, Reply
from pydantic import SecretStr

from contracts.base import Quality
from pipelines.clients.http_json import Feeds, JsonAnswer
from warehouse.duck.connection import Warehouse
from warehouse.duck.fetch_log import Attempt, may_ask, record_attempt, source_health

KEY = "k-5c21d8"


@pytest.fixture
def server() -> Iterator[FeedServer]:
    with FeedServer() as running:
        yield running


class Count(msgspec.Struct):
    count: int


def ask(url: str, shape: Any = Any, *, timeout_s: float = 30.0, **options: Any) -> JsonAnswer[Any]:
    async def go() -> JsonAnswer[Any]:
        async with Feeds(timeout_s=timeout_s) as feeds:
            return await feeds.get(url, shape, **options)

    return asyncio.run(go())


def test_json_comes_as_its_shape_with_the_time_it_took(server: FeedServer) -> None:
    server.replies["/count"] = Reply({"count": 7, "more": "is not read"})
    answer = ask(f"{server.url}/count", Count)
    assert (answer.value, answer.reason) == (Count(7), None)
    assert 0 <= answer.latency_ms < 30_000
    assert abs(datetime.now(UTC) - answer.fetched_at) < timedelta(seconds=60)


def test_numbers_with_a_point_keep_their_digits(server: FeedServer) -> None:
    server.replies["/"] = Reply(b'{"price": 0.10000000000000000001, "count": 3}')
    assert ask(server.url + "/").value == {"price": Decimal("0.10000000000000000001"), "count": 3}


@pytest.mark.parametrize(
    ("reply", "reason", "asked"),
    [
        (DEAD, "unreachable", 2),
        (LIMITED, "rate_limited", 1),
        (CHALLENGE, "html_page", 1),
        (HUGE, "too_large", 1),
        (Reply({}, status=502), "http_502", 2),
        (Reply(b"<html>challenge</html>", status=403), "http_403", 1),
        (Reply({}, status=302, headers={"location": "/count"}), "http_302", 1),
        (Reply(b'{"count": 7'), "unreadable", 1),
        (Reply(b'{"count": NaN}'), "unreadable", 1),
        (Reply(b'{"count": "\xff"}'), "unreadable", 1),
        (Reply(b"[" * 100_000), "unreadable", 1),
        (Reply(b""), "unreadable", 1),
        (Reply({"count": "7"}), "unreadable", 1),
        (Reply(None), "unreadable", 1),
        (Reply(b"\x1f\x8b", headers={"content-encoding": "gzip"}), "unreadable", 1),
    ],
)
def test_a_fault_is_a_reason_and_only_a_failing_server_is_retried(
    server: FeedServer, reply: Reply, reason: str, asked: int
) -> None:
    server.replies["/count"] = reply
    answer = ask(f"{server.url}/count", Count)
    assert (answer.value, answer.reason) == (None, reason)
    assert len(server.asked) == asked


@pytest.mark.parametrize("reply", [SLOW, TRICKLE, Reply({}, status=503, wait_s=0.3)], ids=["slow", "trickle", "retry"])
def test_all_tries_together_end_in_time(server: FeedServer, reply: Reply) -> None:
    server.replies["/"] = reply
    started = time.monotonic()
    assert ask(server.url + "/", timeout_s=0.5).reason == "timeout"
    assert time.monotonic() - started < 50  # the slow one would take sixty


def test_a_service_that_recovers_at_once_is_read(server: FeedServer) -> None:
    replies = iter([DEAD, Reply({"count": 1})])
    server.replies["/"] = lambda _: next(replies)
    assert ask(server.url + "/", Count).value == Count(1)


@pytest.mark.parametrize("url", ["http://127.0.0.1:1/", "http://no-such-host.invalid/", "http://[bad/", "ftp://x/"])
def test_an_address_where_nobody_answers_is_unreachable(url: str) -> None:
    assert ask(url).reason == "unreachable"


@pytest.mark.parametrize(
    ("retry_after", "wait_s"),
    [
        ("600", 600),
        ("0", 0),
        ("99999999", 3600),
        ("9" * 400, 3600),
        (None, 60),
        ("soon", 60),
        ("Sat, 01 Jan 2000 00:00:00 GMT", 0),
        ("Fri, 31 Dec 9999 23:59:59 -2359", 3600),
    ],
)
def test_a_limit_names_the_time_to_ask_again(server: FeedServer, retry_after: str | None, wait_s: int) -> None:
    headers = {} if retry_after is None else {"retry-after": retry_after}
    server.replies["/"] = Reply({}, status=429, headers=headers)
    answer = ask(server.url + "/")
    assert answer.ask_again_at is not None
    assert abs(answer.ask_again_at - answer.fetched_at - timedelta(seconds=wait_s)) < timedelta(seconds=2)


def test_a_secret_header_is_sent_and_shows_nowhere(server: FeedServer, caplog: pytest.LogCaptureFixture) -> None:
    server.replies["/"] = DEAD
    with caplog.at_level(logging.DEBUG):
        answer = ask(f"{server.url}/?apikey={KEY}", headers={"x-api-key": SecretStr(KEY)})
    assert [headers["x-api-key"] for headers in server.headers] == [KEY, KEY]
    assert KEY not in repr(answer)
    said = [record.getMessage() for record in caplog.records if record.name.startswith(("httpx", "httpcore"))]
    assert said == []


def test_an_error_that_is_not_the_sources_fault_is_raised() -> None:
    def broken(_: httpx.Request) -> httpx.Response:
        raise RuntimeError("ours")

    async def go() -> None:
        async with Feeds(transport=httpx.MockTransport(broken)) as feeds:
            await feeds.get("http://x.example/")

    with pytest.raises(RuntimeError, match="ours"):
        asyncio.run(go())


NOON = datetime(2026, 1, 2, 12, 0, 30, tzinfo=UTC)


def test_a_source_is_polled_once_per_minute_and_not_during_its_back_off(tmp_path) -> None:
    with Warehouse(tmp_path).connect() as connection:
        assert may_ask(connection, "dexscreener", NOON)
        record_attempt(connection, Attempt("dexscreener", NOON, 40, None, Quality.EXACT))
        assert not may_ask(connection, "dexscreener", NOON + timedelta(seconds=29))
        assert may_ask(connection, "dexscreener", NOON + timedelta(seconds=30))
        assert not may_ask(connection, "dexscreener", NOON + timedelta(seconds=30), every=timedelta(hours=1))
        assert may_ask(connection, "geckoterminal", NOON)
        rest = NOON + timedelta(minutes=10)
        record_attempt(connection, Attempt("dexscreener", NOON, 40, "rate_limited", Quality.UNAVAILABLE, rest))
        assert [may_ask(connection, "dexscreener", NOON + timedelta(minutes=m)) for m in (9, 10)] == [False, True]


def test_health_is_the_newest_attempt_and_the_last_success(tmp_path) -> None:
    later, last = NOON + timedelta(minutes=1), NOON + timedelta(days=8)
    with Warehouse(tmp_path).connect() as connection:
        record_attempt(connection, Attempt("coinbase", NOON, 40, None, Quality.EXACT))
        record_attempt(connection, Attempt("coinbase", later, 3000, "timeout", Quality.UNAVAILABLE))
        (coinbase,) = source_health(connection)
        assert (coinbase.asked_at, coinbase.succeeded_at) == (later, NOON)
        assert (coinbase.latency_ms, coinbase.reason, coinbase.quality) == (3000, "timeout", Quality.UNAVAILABLE)
        assert (coinbase.attempts, coinbase.failures) == (2, 1)
        record_attempt(connection, Attempt("coinbase", last, 5, None, None))
        (coinbase,) = source_health(connection)
        assert (coinbase.attempts, coinbase.quality) == (1, None)
