"""Every page in a browser, and documents read by other people's clients; needs Node.js and Chromium."""

from __future__ import annotations

import json
import runpy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from addressed_service import addressed_service
from holder_rows import address
from rounds import ROUNDS, SOAK_ROUNDS
from web_fixtures import WebTools
from whole_service import wait_until_served

from contracts.problem_links import operation_docs_path
from contracts.site.pages import PAGES
from warehouse.duck.connection import Warehouse
from warehouse.feed.events import record_events
from warehouse.token.holder_lists import lists_dir

pytestmark = pytest.mark.web

PAYER = "0x" + "70" * 20
SAMPLED = ("agent_access_claim", "intake_register", "token_price")
"""Operations whose pages represent all, since they share one template."""
PATHS = [*(page.path for page in PAGES), *map(operation_docs_path, SAMPLED)]
VIEWS = ("narrow", "phone", "phone-dark", "tablet", "wide", "wide-dark", "no-script")
LARGEST_PAGE_BYTES = 60_000
"""Largest total of what a first visit to a page loads, as sent."""
LARGEST_SHIFT = 0.02

Views = dict[str, dict[str, dict[str, Any]]]
"""Observations of a browser, by path and view."""


@pytest.fixture(scope="module")
def base_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a service that has events in its feed."""
    with addressed_service(tmp_path_factory.mktemp("service"), contact_email="ops@svc.example") as (service, address):
        with Warehouse(service.settings.data_dir).connect() as connection:
            lists = lists_dir(service.settings.data_dir)
            assert record_events(connection, lists, contract=None, trigger_wei=None, now=service.house.now)
        service.house.publish()
        wait_until_served(service, address)
        yield address


@pytest.fixture(scope="module")
def pictures(views: Views, pictures_folder: Path) -> Path:
    """Returns the folder of the pictures of all pages, once they are taken."""
    return pictures_folder


@pytest.fixture(scope="module")
def pictures_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("pictures")


@pytest.fixture(scope="module")
def views(base_url: str, web_tools: WebTools, chromium: Path, pictures_folder: Path) -> Views:
    """Returns what a browser saw of every page. Pictures are in pytest's directory: wide ones, or every view with
    PICTURES=all."""
    judged = {"JUDGED": ",".join(VIEWS)} if ROUNDS >= SOAK_ROUNDS else {}
    seen: Views = web_tools.run("pages.mjs", base_url, str(pictures_folder), *PATHS, CHROMIUM=str(chromium), **judged)
    assert {path: set(by_view) for path, by_view in seen.items()} == {path: set(VIEWS) for path in PATHS}
    return seen


@pytest.fixture(scope="module")
def used(base_url: str, web_tools: WebTools, chromium: Path) -> dict[str, Any]:
    """Uses the connect page and returns what happened."""
    found: dict[str, Any] = web_tools.run("connect_page.mjs", f"{base_url}/connect/", CHROMIUM=str(chromium))
    return found


@pytest.mark.parametrize("path", PATHS)
def test_a_page_contacts_no_other_host_and_logs_no_errors(views: Views, base_url: str, path: str):
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
def test_the_dark_view_has_a_dark_background(views: Views, path: str):
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


_BUYING = (
    "Plan Agent runtime activation, 5.00 USD API Basic, 9.00 USD API Pro, 49.00 USD The wallet shows the transfer "
    "before it sends it. This page recomputes both hashes of the quote first, and pays only the terms that they cover. "
    "Wallet No wallet found in this browser Pay with the wallet Wallet connected, on eip155:8453 Quote checked "
    "Transfer sent Transfer deep enough in the chain Key issued"
)
_NOT_BUYING = (
    "With a script, this page can pay with a browser wallet. Without one, svc quote, svc pay and svc claim do the same."
)
_CALCULATED = (
    "At your number of calls Calls a day API Basic is enough: 9.00 USD for 30 days, which is 0.0006 USD a call."
)
_HEALTH = "All 19 documents are current."
SCRIPTED = {
    "/": _HEALTH,
    "/status/": _HEALTH,
    "/graph/": "+ − ◻",
    "/holders/": "+ − ◻ The newest list, block 40, 2026-01-01 00:40 UTC: 65 holders",
    "/docs/pricing/": f"{_BUYING} {_CALCULATED}",
    "/connect/": "Request a real quote from this service now, and let this browser recompute both hashes. Nothing is "
    "paid, and no key or wallet is needed. Payer 0x and 40 hex digits. This page has filled in a random one, from "
    f"which nobody can pay; your own works as well. Ask and check {_BUYING}",
}
"""The text that scripts add to a page."""
NOSCRIPT = {
    "/holders/": "The list of block 40",
    "/": "Nothing was stale when this page was built.",
    "/status/": "Nothing was stale when this page was built.",
    "/holders/one/": "Looking up an address here needs a script. Without one, the same numbers are at "
    "/api/token/holders/0x…, /api/token/holders/0x…/transfers and /api/v2/trust/score/0x…, and those of the largest "
    "holders are in the list.",
    "/data/": "Checking in the browser needs a script. The command below does the same, and more.",
    "/guardrail/": "Judging a text of your own here needs a script. The examples below were judged when this page was "
    "built, and the command at the end of this page judges any text.",
    "/docs/pricing/": _NOT_BUYING,
    "/connect/": "With a script, this page requests a quote and recomputes both hashes here. Any program that has "
    f"SHA-256 and RFC 8785 can do the same. {_NOT_BUYING}",
}


def test_hashes_are_recomputed_in_the_browser(used: dict[str, Any]):
    checked = used["checked"]
    assert checked["verdict"] == "Both hashes are equal: a claim is bound to exactly these terms."
    assert len(checked["hashes"]) == 4
    assert used["tampered"]["verdict"] == "The hashes differ: don’t pay this quote."


def test_copying_says_that_it_copied(used: dict[str, Any]):
    assert used["copied"] == {"label": "Copied", "same": True}


@pytest.fixture(scope="module")
def site_used(base_url: str, web_tools: WebTools, chromium: Path) -> dict[str, Any]:
    """Uses the pages and returns what happened."""
    found: dict[str, Any] = web_tools.run("site_use.mjs", base_url, HOLDER, PAYER, CHROMIUM=str(chromium))
    return found


HOLDER = address(64)


def test_the_drawer_of_a_number_says_where_it_is_from_and_how_to_prove_it(site_used: dict[str, Any], base_url: str):
    words = site_used["drawer"]
    for said in (
        "Holders",
        "65",
        "Exact",
        "Block",
        "40",
        "Stale after",
        f"svc verify {base_url}",
        "/api/token/holders",
    ):
        assert said in words, said
    assert (site_used["focusIn"], site_used["closed"]) == (True, True)


def test_a_chart_shows_the_numbers_under_the_pointer_and_by_keys(site_used: dict[str, Any]):
    hovered, cells = site_used["hover"]
    assert all(cell.strip() in hovered for cell in cells)
    assert site_used["keys"] == site_used["before"]


def test_a_holder_is_looked_up_and_shown_with_the_command_that_proves_it(site_used: dict[str, Any], base_url: str):
    assert site_used["lookedUp"] == f"{base_url}/holders/one/?address=+{HOLDER}+"
    for said in ("10.64", "Rank", "Prove it", "balanceOf(address)(uint256)", "--block 40", "# 1064", "The numbers as"):
        assert said in site_used["holder"], said
    assert site_used["line"].startswith("M62 20")
    assert f"curl {base_url}/api/token/holders/{HOLDER}" in site_used["holderDrawer"]
    assert site_used["ranks"] == {
        "summary": "From 1 to 2 over the newest 2 snapshots; the best was 1",
        "line": "M62 20L640 190",
        "dots": 2,
        "rows": [["2026-01-01 00:40", "2", "40"], ["2026-01-01 00:20", "1", "20"]],
    }


def test_a_holder_without_a_history_of_ranks_is_shown_the_reason_next_to_its_balance(site_used: dict[str, Any]):
    assert site_used["withoutRanks"] == [
        ["balance", "No ranks over time. They are drawn from the second snapshot on; there is none yet."],
        ["balance", "No ranks over time. They are drawn from the second snapshot on; there is one so far."],
        ["balance", "No ranks over time. It held nothing at any of the newest 2 snapshots."],
    ]


def test_an_empty_address_and_an_invalid_one_are_told_so(site_used: dict[str, Any]):
    assert "No transfer up to this block involves the address" in site_used["stranger"]
    assert "This installation has no trust registry." in site_used["stranger"]
    assert site_used["nonsense"] == "“nonsense <b>” is no address. An address is 0x and 40 hexadecimal digits."
    assert site_used["complaintsOfNonsense"] == 0  # nothing is requested


def test_a_holder_who_attested_has_only_its_own_line(site_used: dict[str, Any]):
    assert site_used["attesters"] == [PAYER]


def test_an_unanswered_look_up_of_a_holder_is_shown_with_the_reason_and_the_wait(site_used: dict[str, Any]):
    assert site_used["refused"] == [
        "No answer: Too many requests. Try again in 7 s.",
        "No answer: The store is locked. Try again in 9 s.",
        "The answer can’t be read. Try again in a minute.",
    ]


def test_a_wrong_clock_makes_nothing_stale(site_used: dict[str, Any]):
    now, age = site_used["clock"]
    assert "documents are current" in now
    assert "day" not in age


def test_an_open_page_marks_what_expires_and_offers_newer_numbers(site_used: dict[str, Any]):
    assert "Newer numbers are published" in site_used["newer"]
    assert "Holders and supply: stale since" in site_used["expired"]
    assert site_used["marks"][0] == "Stale"


def test_a_page_shows_below_what_is_served_now_or_that_nobody_answers(site_used: dict[str, Any]):
    assert "Generation 2" in site_used["now"] and "list of holders is of block 40" in site_used["now"]
    assert "does not answer" in site_used["unreachable"]
    assert site_used["complaints"] == []


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
    assert [route for route in found["routes"] if route.get("protocols") or route.get("pricing")] == []
    assert [warning for warning in found["warnings"] if warning.get("severity") == "error"] == []


def test_the_pictures_of_the_pages_fit_a_sheet(pictures: Path, tmp_path: Path):
    tools = runpy.run_path(str(Path(__file__).parents[2] / "docs/pictures.py"))
    stems = [page.path.replace("/", "-").strip("-") or "home" for page in PAGES]
    tools["contact_sheet"]([pictures / f"{stem}-wide.png" for stem in stems], tmp_path / "pages.webp")
    assert 50_000 < (tmp_path / "pages.webp").stat().st_size < 600_000
