"""Prices while sources fail in every possible way: from the next source, else the last price, never an invented one."""

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from feed_server import CHALLENGE, DEAD, HUGE, LIMITED, SLOW, TRICKLE, FeedServer, Reply

from contracts.discovery.installation import Installation
from contracts.market import EthPrice, TokenPrice
from contracts.publish.registry import PROJECTIONS
from contracts.publish.rendering import Origin, render
from contracts.settings import Settings
from pipelines.market.choose import choose_eth, choose_token
from pipelines.market.observe import poll_eth_sources, poll_token_sources, prices_due
from warehouse.document_context import DocumentContext
from warehouse.duck.connection import Warehouse
from warehouse.duck.fetch_log import source_health
from warehouse.publish.readers import read

TOKEN = "0x" + "70" * 20
ORIGIN = Origin("g", datetime(2026, 1, 1, tzinfo=UTC))
ROWS = {row.name: row for row in PROJECTIONS}
DEX, GECKO, COINBASE = "/latest/dex/tokens/", "/gt/networks/base/tokens/", "/v2/prices/ETH-USD/spot"


def pair(price: Any, **changes: Any) -> dict[str, Any]:
    return {
        "chainId": "base",
        "pairAddress": "0x01",
        "baseToken": {"address": TOKEN},
        "quoteToken": {"address": "0x02"},
        "priceUsd": price,
        "liquidity": {"usd": 500_000},
        "volume": {"h24": 1000.5},
        "txns": {"h24": {"buys": 7, "sells": 3}},
        "priceChange": {"h24": 2.5, "h1": -0.5},
        "marketCap": 1_000_000,
    } | changes


def dex(price: Any, **changes: Any) -> Reply:
    return Reply({"schemaVersion": "1.0.0", "pairs": [pair(price, **changes)]})


def gecko(price: Any) -> Reply:
    facts = {"base_token_price_usd": price, "reserve_in_usd": "400000.5", "address": "0x03"}
    sides = {"base_token": {"data": {"id": f"base_{TOKEN}"}}, "quote_token": {"data": {"id": "base_0x02"}}}
    return Reply({"data": [{"attributes": facts, "relationships": sides}]})


def ether(amount: Any) -> Reply:
    return Reply({"data": {"amount": amount, "base": "ETH", "currency": "USD"}})


class Desk:
    """One warehouse and a server of sources. To pass a minute, all stored data is dated back by a minute."""

    def __init__(self, data_dir: Path, server: FeedServer) -> None:
        self.server = server
        self.warehouse = Warehouse(data_dir)
        self.settings = Settings(
            data_dir=data_dir,
            token_address=TOKEN,
            dexscreener_url=server.url,
            geckoterminal_url=f"{server.url}/gt",
            coinbase_url=server.url,
            _env_file=None,
        )

    def look(self, **replies: Reply) -> tuple[dict[str, Any], dict[str, Any]]:
        """Sets the sources' replies from now on, publishes a minute later, and returns the token's `data` and ETH's
        body."""
        self.pass_time(minutes=1)
        paths = {"dex": DEX, "gecko": GECKO, "ether": COINBASE}
        self.server.replies |= {paths[name]: reply for name, reply in replies.items()}
        return self.publish()

    def publish(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Publishes without letting any time pass, and returns the same."""
        now = datetime.now(UTC)
        with self.warehouse.connect() as connection:
            poll_eth_sources(connection, self.settings, now)
            choose_eth(connection, self.settings, now)
            poll_token_sources(connection, self.settings, now)
            choose_token(connection, self.settings, now)
            context = DocumentContext(connection, self.settings.data_dir, Installation("https://svc.example"))
            token = render(ROWS["token_price"], read(ROWS["token_price"], context), ORIGIN)
            eth = render(ROWS["eth_price"], read(ROWS["eth_price"], context), ORIGIN)
        TokenPrice.model_validate_json(token)
        EthPrice.model_validate_json(eth)
        return json.loads(token)["data"], json.loads(eth)

    def pass_time(self, *, minutes: int) -> None:
        with self.warehouse.connect() as connection:
            for table in ("raw_market__token_prices", "raw_market__eth_prices"):
                connection.execute(f"update {table} set fetched_at = fetched_at - to_minutes(?)", [minutes])
            connection.execute(
                "update raw_feeds__attempts "
                "set asked_at = asked_at - to_minutes($m), ask_again_at = ask_again_at - to_minutes($m)",
                {"m": minutes},
            )

    def rows(self, question: str) -> list[Any]:
        with self.warehouse.connect() as connection:
            return connection.execute(question).fetchall()


@pytest.fixture
def server() -> Iterator[FeedServer]:
    with FeedServer() as running:
        yield running


@pytest.fixture
def desk(tmp_path: Path, server: FeedServer) -> Iterator[Desk]:
    made = Desk(tmp_path, server)
    with made.warehouse.kept_open():
        yield made


FAULTS = {
    "dead": (DEAD, "unreachable"),
    "limited": (LIMITED, "rate_limited"),
    "challenge": (CHALLENGE, "html_page"),
    "forbidden": (Reply(b"<html>", status=403), "http_403"),
    "error inside": (Reply({"error": "internal"}), "error_answer"),
    "null price": (dex(None), "no_price"),
    "no keys": (Reply({"schemaVersion": "1.0.0", "pairs": [{}]}), "unknown_token"),
    "negative": (dex("-1"), "no_price"),
    "absurd": (dex("1e40"), "no_price"),
    "huge": (HUGE, "too_large"),
    "cut": (Reply(b'{"pairs": ['), "unreadable"),
    "unknown": (Reply({"schemaVersion": "1.0.0", "pairs": None}), "unknown_token"),
}


@pytest.mark.parametrize(("fault", "reason"), FAULTS.values(), ids=FAULTS.keys())
def test_if_the_first_source_fails_the_next_one_is_served(desk: Desk, fault: Reply, reason: str) -> None:
    token, _ = desk.look(dex=fault, gecko=gecko("0.71"), ether=ether("3000"))
    assert (token["price"], token["source"], token["quality"], token["stale"]) == (
        "0.71",
        "geckoterminal",
        "exact",
        False,
    )
    outcomes = {answer["source"]: (answer["price"], answer["reason"]) for answer in token["sources"]}
    assert outcomes == {"dexscreener": (None, reason), "geckoterminal": ("0.71", None)}


def test_a_source_beyond_three_seconds_is_left(tmp_path: Path) -> None:
    """Both faults at once, each with its own desk, since a poll waits for two sources."""

    def look(name: str, fault: Reply) -> tuple[dict[str, Any], dict[str, Any]]:
        with FeedServer() as server:
            desk = Desk(tmp_path / name, server)
            with desk.warehouse.kept_open():
                return desk.look(dex=fault, gecko=gecko("0.71"), ether=fault)

    with ThreadPoolExecutor(2) as pool:
        looks = list(pool.map(look, ("slow", "trickle"), (SLOW, TRICKLE)))
    for token, eth in looks:
        assert (token["source"], token["sources"][0]["reason"]) == ("geckoterminal", "timeout")
        assert 2900 < token["sources"][0]["latencyMs"] < 20_000
        assert (eth["price"], eth["quality"], eth["reason"]) == (None, "unavailable", "timeout")


def test_if_all_sources_are_dead_the_last_price_is_served_stale_with_its_age(desk: Desk) -> None:
    desk.look(dex=dex("0.7207"), gecko=gecko("0.72"), ether=ether("3000.5"))
    token, eth = desk.look(dex=DEAD, gecko=CHALLENGE, ether=LIMITED)
    assert (token["price"], token["stale"], token["quality"]) == ("0.7207", True, "estimated")
    assert (token["reason"], token["source"], token["volume24h"]) == ("unreachable", "dexscreener", 1000.5)
    assert 50 <= token["ageS"] <= 70
    assert (eth["price"], eth["stale"], eth["reason"], eth["source"]) == ("3000.5", True, "rate_limited", "coinbase")
    token, _ = desk.look()
    assert 110 <= token["ageS"] <= 135
    token, _ = desk.look(dex=dex("0.73"))
    assert (token["price"], token["stale"], token["reason"], token["quality"]) == ("0.73", False, None, "exact")


def test_before_the_first_price_the_reason_is_served(desk: Desk) -> None:
    token, eth = desk.look(dex=DEAD, gecko=DEAD, ether=DEAD)
    assert (token["price"], token["quality"], token["reason"], token["stale"]) == (
        None,
        "unavailable",
        "unreachable",
        False,
    )
    assert (eth["price"], eth["fetchedAt"], eth["ageS"]) == (None, None, None)
    keys = {"price", "mcap", "volume24h", "change24h", "change1h", "buys24h", "sells24h"}
    assert {token[key] for key in keys} == {None}


def test_a_price_of_a_thousand_times_is_kept_as_suspicious_and_never_served(desk: Desk) -> None:
    desk.look(dex=dex("0.72"), gecko=gecko("0.72"), ether=ether("3000"))
    token, eth = desk.look(dex=dex("720"), ether=ether("3"))
    assert (token["price"], token["source"], token["stale"]) == ("0.72", "geckoterminal", False)
    assert [(source["price"], source["suspicious"]) for source in token["sources"]] == [("720", True), ("0.72", False)]
    assert (eth["price"], eth["stale"], eth["quality"], eth["reason"]) == ("3000", True, "estimated", "price_jump")
    token, _ = desk.look(dex=dex("720"), gecko=gecko("721"))
    assert (token["price"], token["stale"], token["reason"], token["quality"]) == (
        "0.72",
        True,
        "price_jump",
        "estimated",
    )
    kept = desk.rows("select price_usd::double from raw_market__token_prices where suspicious order by all")
    assert kept == [(720.0,), (720.0,), (721.0,)]


def test_sources_that_disagree_lower_the_quality(desk: Desk) -> None:
    token, _ = desk.look(dex=dex("1"), gecko=gecko("3"), ether=ether("3000"))
    assert (token["price"], token["quality"], token["reason"]) == ("1", "estimated", "sources_disagree")
    assert token["sources"][1]["differencePercent"] == 200.0


def test_a_limited_source_is_left_alone_until_its_time(desk: Desk) -> None:
    for _ in range(9):
        desk.look(dex=LIMITED, gecko=gecko("1"), ether=ether("3000"))
    assert desk.server.hits[DEX] == 1
    assert desk.server.hits[GECKO] == 9
    desk.pass_time(minutes=2)
    desk.look(dex=dex("1"))
    assert desk.server.hits[DEX] == 2


def test_a_minute_causes_one_request_however_often_it_is_polled(desk: Desk) -> None:
    desk.look(dex=dex("1"), gecko=gecko("1"), ether=ether("3000"))
    minutes = {datetime.now(UTC).minute}
    for _ in range(20):
        desk.publish()
        minutes.add(datetime.now(UTC).minute)
    assert 1 <= min(desk.server.hits.values()) <= max(desk.server.hits.values()) <= len(minutes)


def test_changes_come_from_the_source_and_are_shown_next_to_our_own(desk: Desk) -> None:
    desk.look(dex=dex("1.00"), gecko=gecko("1"), ether=ether("3000"))
    desk.pass_time(minutes=60)
    token, _ = desk.look(dex=dex("1.10"))
    assert (token["change1h"], token["change24h"]) == (-0.5, 2.5)
    assert token["changeCheck"] == {"change1h": 10.0, "change24h": None, "agrees": False}
    token, _ = desk.look(dex=DEAD, gecko=gecko("1.2"))
    assert (token["source"], token["change1h"], token["change24h"]) == ("geckoterminal", 20.0, None)


def test_without_any_source_the_documents_say_so_and_nothing_is_asked(tmp_path: Path, server: FeedServer) -> None:
    desk = Desk(tmp_path, server)
    desk.look(dex=dex("1"), gecko=gecko("1"), ether=ether("3000"))
    desk.settings = Settings(data_dir=tmp_path, token_address=TOKEN, _env_file=None)
    token, eth = desk.look()
    assert (token["price"], token["quality"], token["reason"], token["sources"]) == (
        None,
        "unavailable",
        "not_configured",
        [],
    )
    assert (eth["price"], eth["reason"]) == (None, "not_configured")
    assert prices_due(desk.settings, datetime.now(UTC)) is None
    assert max(server.hits.values()) == 1


def test_health_shows_each_source(desk: Desk) -> None:
    desk.look(dex=dex("1"), gecko=DEAD, ether=ether("3000"))
    with desk.warehouse.connect() as connection:
        health = {each.source: (each.reason, each.quality) for each in source_health(connection)}
    assert health == {
        "coinbase": (None, "exact"),
        "dexscreener": (None, "exact"),
        "geckoterminal": ("unreachable", "unavailable"),
    }
