"""Every page in a browser, and documents read by other people's clients: needs Node.js and Chromium."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from addressed_service import addressed_service
from web_fixtures import WebTools

from contracts.site.docs_pages import operation_path
from contracts.site.pages import PAGES
from warehouse.duck.connection import Warehouse
from warehouse.feed.events import record_events
from warehouse.token.holder_lists import lists_dir

pytestmark = pytest.mark.web

PAYER = "0x" + "70" * 20
SAMPLED = ("agent_access_claim", "intake_register", "token_price")
"""Operations whose pages stand for all: their template is one."""
PATHS = [*(page.path for page in PAGES), *map(operation_path, SAMPLED)]
VIEWS = ("narrow", "phone", "phone-dark", "tablet", "wide", "wide-dark", "no-script")
LARGEST_PAGE_BYTES = 60_000
"""HTML, styles and scripts of a page as they are sent."""
LARGEST_SHIFT = 0.02

Views = dict[str, dict[str, dict[str, Any]]]
"""What was seen, by path and view."""


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
def views(base_url: str, web_tools: WebTools, chromium: Path, tmp_path_factory: pytest.TempPathFactory) -> Views:
    """What a browser saw of every page; a picture of each view lies in pytest's directory."""
    pictures = tmp_path_factory.mktemp("pictures")
    seen: Views = web_tools.run("pages.mjs", base_url, str(pictures), *PATHS, CHROMIUM=str(chromium))
    assert [each.stat().st_size > 5_000 for each in pictures.glob("*.png")] == [True] * len(VIEWS) * len(PATHS)
    return seen


@pytest.fixture(scope="module")
def used(base_url: str, web_tools: WebTools, chromium: Path) -> dict[str, Any]:
    """What happened on the connect page when it was used."""
    found: dict[str, Any] = web_tools.run("connect_page.mjs", f"{base_url}/connect/", CHROMIUM=str(chromium))
    return found


@pytest.mark.parametrize("path", PATHS)
def test_a_page_asks_nobody_else_and_complains_of_nothing(views: Views, base_url: str, path: str):
    for view, seen in views[path].items():
        assert [url for url in seen["requests"] if not url.startswith((base_url, "data:"))] == [], view
        assert (seen["console"], seen["failed"]) == ([], []), view


@pytest.mark.parametrize("path", PATHS)
def test_everybody_can_read_a_page(views: Views, path: str):
    for view, seen in views[path].items():
        assert seen.get("violations", []) == [], view
        assert seen["sideways"] == 0, f"{view}: it scrolls sideways"
        assert seen["targets"] == 0, f"{view}: {seen['targets']} buttons or links are too small to touch"


@pytest.mark.parametrize("path", PATHS)
def test_a_page_is_small_and_stays_where_it_is(views: Views, path: str):
    for view, seen in views[path].items():
        assert seen["bytes"] <= LARGEST_PAGE_BYTES, view
        assert seen.get("shift", 0) <= LARGEST_SHIFT, view


@pytest.mark.parametrize("path", PATHS)
def test_dark_is_dark(views: Views, path: str):
    seen = views[path]
    light = {seen[view]["background"] for view in ("narrow", "phone", "tablet", "wide", "no-script")}
    assert len(light) == 1
    assert light != {seen["wide-dark"]["background"]} == {seen["phone-dark"]["background"]}


@pytest.mark.parametrize("path", PATHS)
def test_without_a_script_a_page_says_the_same(views: Views, path: str):
    added = {"Copy"} | set(SCRIPTED.get(path, "").split())
    with_script, without = (set(views[path][view]["text"].split()) for view in ("wide", "no-script"))
    assert with_script - without <= added
    assert without - with_script <= set(NOSCRIPT.get(path, "").split())


SCRIPTED = {
    "/connect/": "Ask this service for a real quote now, and let this browser recompute both hashes. Nothing is paid, "
    "and no key or wallet is asked for. Plan Agent runtime activation, 5.00 USD API Basic, 9.00 USD API Pro, 49.00 USD "
    "Payer 0x and 40 hex digits. This page has drawn one at random, which nobody can pay from; your own will do as "
    "well. Ask and check",
}
"""What scripts add to the text of a page."""
NOSCRIPT = {
    "/connect/": "With a script, this page asks for a quote and recomputes both hashes here. Any program that has "
    "SHA-256 and RFC 8785 can do the same.",
}


def test_hashes_are_recomputed_in_the_browser(used: dict[str, Any]):
    checked = used["checked"]
    assert checked["verdict"] == "Both hashes are equal: a claim will be held to exactly these terms."
    assert len(checked["hashes"]) == 4
    assert used["tampered"]["verdict"] == "The hashes differ: don’t pay this quote."


def test_copying_says_that_it_copied(used: dict[str, Any]):
    assert used["copied"] == {"label": "Copied", "same": True}


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
