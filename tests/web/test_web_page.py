"""The connect page in a browser, and documents read by other people's clients: needs Node.js and Chromium."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from addressed_service import addressed_service
from web_fixtures import WebTools

from warehouse.duck.connection import Warehouse
from warehouse.feed.events import record_events
from warehouse.token.holder_lists import lists_dir

pytestmark = pytest.mark.web

PAYER = "0x" + "70" * 20
PAGE = "/connect/"
VIEWS = ("light", "dark", "phone", "phone-dark", "no-script")


@pytest.fixture(scope="module")
def base_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Of a service that has something to tell in its feed."""
    with addressed_service(tmp_path_factory.mktemp("service"), contact_email="ops@svc.example") as (service, address):
        with Warehouse(service.settings.data_dir).connect() as connection:
            lists = lists_dir(service.settings.data_dir)
            assert record_events(connection, lists, contract=None, trigger_wei=None, now=service.house.now)
        service.house.publish()
        time.sleep(2)  # the front looks for a new generation every second
        yield address


@pytest.fixture(scope="module")
def views(
    base_url: str, web_tools: WebTools, chromium: Path, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, dict[str, Any]]:
    """What a browser saw of the page; a picture of each view lies in pytest's directory."""
    pictures = tmp_path_factory.mktemp("pictures")
    seen: dict[str, dict[str, Any]] = web_tools.run("page.mjs", base_url + PAGE, str(pictures), CHROMIUM=str(chromium))
    assert [each.stat().st_size > 10_000 for each in pictures.glob("*.png")] == [True] * len(VIEWS)
    return seen


@pytest.mark.parametrize("view", VIEWS)
def test_the_page_asks_nobody_else_and_complains_of_nothing(views: dict[str, Any], base_url: str, view: str):
    seen = views[view]
    assert [url for url in seen["requests"] if not url.startswith((base_url, "data:"))] == []
    assert (seen["console"], seen["failed"]) == ([], [])


@pytest.mark.parametrize("view", VIEWS)
def test_everybody_can_read_it(views: dict[str, Any], view: str):
    seen = views[view]
    assert seen["violations"] == []
    assert seen["sideways"] == 0, "it scrolls sideways"


def test_dark_is_dark(views: dict[str, Any]):
    assert {views[each]["background"] for each in ("light", "phone", "no-script")} == {views["light"]["background"]}
    assert views["dark"]["background"] == views["phone-dark"]["background"] != views["light"]["background"]


def test_without_a_script_it_says_the_same(views: dict[str, Any]):
    with_script, without = views["light"]["text"], views["no-script"]["text"]
    for said in ("agent_runtime_activation", "api_pro_monthly", "svc pair", "202", "402", "409", "quoteHash"):
        assert said in without
    assert set(words(with_script)) - set(words(without)) <= set(words(views["light"]["scripted"]))


def test_hashes_are_recomputed_in_the_browser(views: dict[str, Any]):
    checked = views["light"]["checked"]
    assert checked["verdict"] == "Both hashes are equal: a claim will be held to exactly these terms."
    assert len(checked["hashes"]) == 4
    assert views["light"]["tampered"]["verdict"] == "The hashes differ: don’t pay this quote."


def test_copying_says_that_it_copied(views: dict[str, Any]):
    assert views["light"]["copied"] == {"label": "Copied", "same": True}


def test_the_feed_fits_the_schema_of_json_feed(base_url: str, web_tools: WebTools):
    found = web_tools.run("feed.mjs", f"{base_url}/hodlers-care/feed.json")
    assert found["errors"] == []
    assert found["items"] > 0


@pytest.mark.parametrize("name", ["guardrail", "worldmodel"])
def test_a_wallet_finds_shows_and_runs_an_action(base_url: str, web_tools: WebTools, name: str):
    found = web_tools.run("blinks.mjs", base_url, f"{base_url}/blink/{name}", PAYER)
    assert found["api"] == f"{base_url}/blink/{name}"
    assert found["metadata"]["blockchainIds"] == ["eip155:8453"]
    assert found["icon"].startswith(base_url)
    assert found["linked"]
    assert found["posted"]["type"] in ("post", "external-link", "message"), json.dumps(found["posted"])


def test_readers_of_paid_apis_find_nothing_that_claims_to_be_payable(base_url: str, web_tools: WebTools):
    found = web_tools.run("agentcash.mjs", base_url)
    assert found["routes"]
    assert [each for each in found["routes"] if each.get("protocols") or each.get("pricing")] == []
    assert [each for each in found["warnings"] if each.get("severity") == "error"] == []


def words(text: str) -> list[str]:
    return text.split()
