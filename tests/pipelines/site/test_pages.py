"""All pages for people at once: well formed, loading nothing from elsewhere, accessible, true to their documents."""

from __future__ import annotations

import itertools
import json
import re
import struct
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import yaml
from html_pages import Read
from publishing import NOON, House, mint, published_house

from contracts.canonical import sha256_hex
from contracts.discovery.installation import Installation, installation_of
from contracts.open_data.names import INDEX_PATH
from contracts.publish.projection import ExpiringBody
from contracts.publish.registry import PAGE_HEADERS, PROJECTIONS
from contracts.publish.rendering import mark_stale
from contracts.publish.routes import file_of
from contracts.settings import Settings
from contracts.site import figures
from contracts.site.markdown import page_in_markdown
from contracts.site.pages import NOT_FOUND, PAGES
from pipelines.publish.site import ASSETS, SITE, asset_path, filled
from warehouse.duck.tables import tables
from warehouse.publish.generations import current_generation

ROWS = {row.path: row for row in PROJECTIONS}
ROWS |= {page.path: ROWS[page.published_path] for page in PAGES}
LOADED = {("link", "href"), ("script", "src"), ("img", "src")}
PREFIX = "/under/it"
ALL = (*PAGES, NOT_FOUND)
PATHS = [page.path for page in ALL]

SETTINGS = Settings(
    _env_file=None,
    base_url=f"https://svc.example{PREFIX}",
    rpc_urls=("https://node.example",),
    usdc_address="0x" + "12" * 20,
    treasury_address="0x" + "13" * 20,
)
HERE = installation_of(SETTINGS)


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> House:
    """A house with two proven lists, published."""
    return published_house(tmp_path_factory.mktemp("house"), rate_limit_per_minute=0)


@pytest.fixture(scope="module")
def bodies(house: House) -> dict[str, bytes]:
    """Returns the published bodies, by path."""
    generation = current_generation(house.data_dir)
    assert generation is not None
    paths = (*generation.manifest.documents, INDEX_PATH)
    return {path: (house.current / "public" / file_of(path)).read_bytes() for path in paths}


def page_of(path: str, bodies: Mapping[str, bytes], here: Installation = HERE) -> ExpiringBody:
    row = ROWS[path]
    assert row.describe is not None
    body = filled(row, row.describe(here, bodies))
    assert isinstance(body, ExpiringBody)
    return body


def test_a_document_that_a_failed_run_made_stale_names_no_future_time(bodies: dict[str, bytes]):
    marked = mark_stale(ROWS["/api/token/holders"], bodies["/api/token/holders"], "finalized_mismatch")
    text = " ".join(Read(page_of("/holders/", {**bodies, "/api/token/holders": marked}).fresh.decode()).text.split())
    assert "Holders and supply: stale since the last run: " in text


@pytest.fixture(scope="module", params=["published", "nothing published"])
def known(request: pytest.FixtureRequest, bodies: dict[str, bytes]) -> Mapping[str, bytes]:
    """The documents that pages are built from: all, or none yet."""
    return bodies if request.param == "published" else {}


@pytest.fixture(scope="module")
def pages(known: Mapping[str, bytes]) -> dict[str, Read]:
    """Returns every page built from these documents, as a browser reads it."""
    texts = {path: page_of(path, known).fresh.decode() for path in PATHS}
    assert all(text.startswith("<!doctype html>\n") for text in texts.values())
    return {path: Read(text) for path, text in texts.items()}


@pytest.mark.parametrize("path", PATHS)
def test_a_page_is_well_formed_and_its_links_lead_somewhere(path: str, pages: dict[str, Read]):
    page = pages[path]
    assert page.open == []
    ids = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    pointed = [str(each["href"])[1:] for each in page.all("a") if str(each["href"]).startswith("#")]
    pointed += [str(each["data-copy"]) for each in page.all("button") if "data-copy" in each]
    pointed += [str(each["for"]) for each in page.all("label")]
    assert set(pointed) <= set(ids)
    internal = {str(each["href"]).removeprefix(PREFIX).partition("#")[0].partition("?")[0] for each in page.all("a")}
    paths = {link for link in internal if link.startswith("/")}
    assert {link for link in paths if link not in ROWS and not link.startswith("/data/")} <= {"/health", ""}


@pytest.mark.parametrize("path", PATHS)
def test_a_page_loads_nothing_from_elsewhere_and_contains_no_code(path: str, pages: dict[str, Read]):
    page = pages[path]
    loaded = [attributes[name] for tag, attributes in page.elements for each, name in LOADED if each == tag]
    (own,) = [page for page in ALL if page.path == path]
    canonical = set() if own.is_error else {f"https://svc.example{PREFIX}{path}"}
    assert {link for link in loaded if not str(link).startswith(f"{PREFIX}/")} == canonical
    for tag, attributes in page.elements:
        assert tag not in ("style", "iframe", "object", "embed", "base")
        assert not [name for name in attributes if name == "style" or name.startswith("on")]
    scripts = [f"{PREFIX}{asset_path(name)}" for name in ("site.js", *own.scripts)]
    assert [attributes.get("src") for attributes in page.all("script")] == scripts


VENDORED = {each["asset"]: each for each in yaml.safe_load((SITE / "vendored.yaml").read_text())}


def test_vendored_files_are_as_published_and_name_their_licence():
    for name, vendored in VENDORED.items():
        assert sha256_hex((SITE / "assets" / name).read_bytes()) == vendored["sha256"]
        assert vendored["licence"] and "Copyright" in vendored["notice"]


def test_no_asset_asks_elsewhere_or_runs_text():
    for name in ASSETS:
        if name.endswith(".png"):
            continue
        text = (SITE / "assets" / name).read_text()
        if name in VENDORED:
            text = text.partition("\n")[2]  # its first line names its source
        assert "http" not in text and "@import" not in text and "url(" not in text
        assert not re.search(r"\beval\(|new Function|innerHTML|document\.write|\.style\b", text)


def test_the_colour_behind_a_word_of_trust_is_not_behind_the_bar_beside_it():
    rules = re.findall(r"([^{}]+)\{([^{}]*)\}", (SITE / "assets" / "site.css").read_text())
    with_ground = [name.strip() for name, style in rules if "level-none" in name and "background" in style]
    assert with_ground == [".level.level-none"]


def test_the_picture_that_other_sites_show_is_small_and_of_the_usual_size(bodies: dict[str, bytes]):
    picture = (SITE / "assets" / "social.png").read_bytes()
    assert picture.startswith(b"\x89PNG")
    assert struct.unpack(">II", picture[16:24]) == (1200, 630)
    assert len(picture) < 60_000
    page = Read(page_of("/token/", bodies).fresh.decode())
    (shown,) = [each["content"] for each in page.all("meta") if each.get("property") == "og:image"]
    assert shown == f"https://svc.example{PREFIX}{asset_path('social.png')}"


def test_the_policy_allows_only_our_own_files():
    policy = dict(part.strip().split(" ", 1) for part in PAGE_HEADERS["Content-Security-Policy"].split(";"))
    assert policy["default-src"] == "'none'"
    assert (policy["script-src"], policy["style-src"], policy["connect-src"]) == ("'self'", "'self'", "'self'")
    assert policy["img-src"] == "'self' data:"
    assert (policy["form-action"], policy["frame-ancestors"], policy["base-uri"]) == ("'self'", "'none'", "'none'")
    for path in PATHS:
        assert ROWS[path].headers["Content-Security-Policy"] == PAGE_HEADERS["Content-Security-Policy"]


@pytest.mark.parametrize("path", PATHS)
def test_a_blind_person_can_use_a_page(path: str, pages: dict[str, Read]):
    page = pages[path]
    assert page.all("html")[0]["lang"] == "en"
    assert [tag for tag, _ in page.elements].count("h1") == 1
    levels = [int(tag[1]) for tag, _ in page.elements if re.fullmatch("h[1-6]", tag)]
    assert all(after - before <= 1 for before, after in itertools.pairwise(levels))
    assert all("alt" in each for each in page.all("img"))
    labelled = {each["for"] for each in page.all("label")}
    assert {each["id"] for each in page.all("input") + page.all("select")} <= labelled
    assert all(each.get("scope") for each in page.all("th"))
    assert all(each.get("aria-label") or each.get("aria-hidden") for each in page.all("svg"))
    assert {"main", "header", "footer", "nav"} <= {tag for tag, _ in page.elements}
    assert page.all("a")[0]["href"] == "#main"
    assert all(each.get("type") in ("button", "submit") for each in page.all("button"))


@pytest.mark.parametrize("path", PATHS)
def test_a_page_of_the_same_documents_is_the_same(path: str, known: Mapping[str, bytes]):
    assert page_of(path, known) == page_of(path, dict(known))


@pytest.mark.parametrize("path", PATHS)
def test_each_document_that_a_page_names_is_among_its_sources(path: str, bodies: dict[str, bytes]):
    text = page_of(path, bodies).fresh.decode()
    named = set(re.findall(r"<div><dt>Document</dt><dd><a href=\"/under/it([^\"]+)\"", text))
    assert named <= set(ROWS[path].shows)


def test_the_page_of_the_token_shows_count_supply_and_proof(bodies: dict[str, bytes]):
    page = Read(page_of("/token/", bodies).fresh.decode())
    text = " ".join(page.text.split())
    assert "Proven at block 40" in text
    assert "The balances of all 75 holders at block 40 add up" in text
    shown = {each["value"] for each in page.all("data")}
    assert "75" in shown
    assert str(sum(1000 + number for number in range(1, 76))) in shown


def test_the_comparison_says_who_came(bodies: dict[str, bytes]):
    text = " ".join(Read(page_of("/holders/compare/", bodies).fresh.decode()).text.split())
    assert "5 came and 0 left" in text


def test_a_page_says_stale_from_the_first_instant_on_that_a_document_is(bodies: dict[str, bytes]):
    body, until = page_of("/holders/", bodies), NOON + timedelta(seconds=900)
    assert body.stale_after == until
    assert body.stale is not None
    assert "Holders and supply: stale since" not in " ".join(Read(body.fresh.decode()).text.split())
    assert "Holders and supply: stale since" in " ".join(Read(body.stale.decode()).text.split())
    assert f"Holders and supply: stale since {until:%Y-%m-%d %H:%M}" in " ".join(Read(body.stale.decode()).text.split())
    assert f"stale after {until:%Y-%m-%d %H:%M} UTC" in " ".join(Read(body.fresh.decode()).text.split())


def test_a_page_of_documents_that_are_marked_stale_says_so_at_once(house: House, tmp_path_factory):
    other = house.copied(tmp_path_factory.mktemp("other"))
    other.republish_stale("check_failed")
    text = (other.current / "public/holders/index.html").read_text()
    assert "Holders and supply: stale" in text
    assert "a check of the data failed" in text
    assert "stale" in (other.current / "public/holders/index.md").read_text()


def test_the_source_of_a_number_names_its_checks_and_the_command_that_proves_it(bodies: dict[str, bytes]):
    checked = {
        "ok": True,
        "failed": 1,
        "tables": [
            _check("raw_chain__transfers", "transfers_are_complete_and_single", passed=True),
            _check("out_holders__lists", "newest_list_is_of_the_balances", passed=False),
            _check("core_world__nodes", "states_and_edges_are_consistent", passed=True),
        ],
    }
    page = page_of("/holders/", {**bodies, "/checks.json": json.dumps(checked).encode()}).fresh.decode()
    text = " ".join(Read(page).text.split())
    assert "Transfers are complete and single: passed" in text
    assert "Newest list is of the balances: failed" in text
    assert "States and edges" not in text
    assert f"svc verify https://svc.example{PREFIX}" in text
    assert "Checks" not in Read(page_of("/holders/", {**bodies, **NO_CHECKS}).fresh.decode()).text


def test_the_status_shows_the_checks_of_source_tables_that_no_other_page_shows(bodies: dict[str, bytes]):
    check = _check("out_market__eth_price", "what_is_served_was_answered", passed=False)
    checked = json.dumps({"ok": True, "failed": 1, "tables": [check]}).encode()
    page = page_of("/status/", {**bodies, "/checks.json": checked}).fresh.decode()
    sources = re.findall(r'<details class="source .*?</details>', page, re.DOTALL)
    (ether,) = (source for source in sources if "/api/bidwall/eth-price" in source)
    assert "What is served was answered: failed" in " ".join(Read(ether).text.split())


def test_a_number_leads_to_the_sources_and_tables_that_it_is_made_of(bodies: dict[str, bytes]):
    lineage = {
        str(attributes.get("id")) for _, attributes in Read(page_of("/data/lineage/", bodies).fresh.decode()).elements
    }
    led = {}
    for path in PATHS:
        html = page_of(path, bodies).fresh.decode()
        for source in re.findall(r'<details class="source .*?</details>', html, re.DOTALL):
            ((document,), found) = (
                re.findall(rf'<dt>Document</dt><dd><a href="{PREFIX}([^"]+)', source),
                re.findall(rf'<dt>Built from</dt><dd><a href="{PREFIX}/data/lineage/#([^"]+)"', source),
            )
            assert set(found) <= lineage
            led[document] = found
    assert led["/api/token/holders"] == ["token-holders"]
    assert led["/api/v2/trust/registry"] == ["v2-trust-registry"]
    assert {document for document, found in led.items() if not found} == {
        "/api/worldmodel/live",
        "/api/worldmodel/render",
        "/checks.json",
        "/data/index.json",
        "/first-rows.json",
    }


NO_CHECKS = {"/checks.json": b'{"ok": true, "failed": 0, "tables": []}'}


def _check(table: str, name: str, *, passed: bool) -> dict[str, object]:
    judged = {"judgedAt": "2026-01-02T12:00:00Z", "judgedBy": "bounds", "facts": [], "columns": []}
    return {"table": table, "check": name, "promise": "It holds.", "blocking": True, "passed": passed, **judged}


def test_each_table_whose_checks_a_page_shows_has_checks():
    told = {name for page in PAGES for shown in page.shows for name in shown.tables}
    assert told <= {name for name, table in tables().items() if table.checks is not None}


def test_a_page_changes_only_with_its_own_documents_and_a_document_tells_pages_what_is_served_now(
    house: House, tmp_path_factory
):
    now = json.loads((house.current / "public/data/now.json").read_text())
    assert now["generation"] == house.current.name
    assert now["block"] == 40
    assert now["documents"]["/api/token/holders"] == {
        "title": "Holder count with its proof",
        "staleAfter": (NOON + timedelta(seconds=900)).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "staleReason": None,
    }
    assert set(now["pages"]) == {page.path for page in PAGES}
    other = house.copied(tmp_path_factory.mktemp("other"))
    report = other.publish()
    assert not [path for path in report.changed_documents if path in PATHS]
    other.read_chain(mint(1, first=90, block=50), 60)
    changed = set(other.publish().changed_documents)
    assert {"/", "/token/", "/holders/", "/holders/index.md"} <= changed
    assert {"/trust/", "/docs/", "/connect/"}.isdisjoint(changed)
    later = json.loads((other.current / "public/data/now.json").read_text())
    assert (later["block"], later["pages"]["/token/"]) == (60, other.current.name)
    assert later["pages"]["/connect/"] == now["pages"]["/connect/"]
    other.republish_stale("check_failed")
    failed = json.loads((other.current / "public/data/now.json").read_text())
    assert failed["documents"]["/api/token/holders"]["staleReason"] == "check_failed"


def test_volume_and_trades_from_transfers_are_marked_as_estimates_up_to_their_block(bodies: dict[str, bytes]):
    envelope = json.loads(bodies["/api/token/price"])
    traded = {"volume24h": 12.5, "buys24h": 3, "sells24h": 1, "tradesQuality": "estimated", "tradesBlock": 141}
    data = envelope["data"] | traded | {"source": "pool", "quality": "derived", "reason": None, "block": 189}
    data |= {"price": "0.25", "tradesReason": "estimated_from_transfers"}
    price = json.dumps(envelope | {"data": data}).encode()
    page = Read(page_of("/token/", {**bodies, "/api/token/price": price}).fresh.decode())
    text = " ".join(page.text.split())
    assert "Volume, 24 h $12.5 Estimated Estimated from the transfers of the pool, up to block 141." in text
    assert "Trades in 24 h: 3 buys, 1 sells (estimated from the transfers of the pool, up to block 141)" in text


@pytest.mark.parametrize(
    ("changed", "mark"),
    [
        ({"quality": "exact"}, "Derived from other exact numbers"),
        ({"quality": "estimated", "reason": "sources_disagree"}, "Estimated"),
        ({"quality": "estimated", "stale": True}, "Stale"),
    ],
)
def test_the_worth_of_the_wall_is_at_most_derived_from_the_price(
    bodies: dict[str, bytes], changed: dict[str, object], mark: str
):
    snapshot = json.loads(bodies["/api/bidwall/snapshot"])
    eth = snapshot["ethUsd"] | {"price": "3000.5", "balanceUsd": "21003.50", "reason": None, "stale": False} | changed
    at = {"block": 40, "blockHash": "0x" + "40" * 32, "time": "2026-01-01T00:40:00Z", "finality": "final"}
    known = {"contract": "0x" + "77" * 20, "balanceWei": str(7 * 10**18), "balanceEth": "7", "at": at}
    document = snapshot | known | {"quality": "exact", "reason": None, "stale": False, "ethUsd": eth}
    shown = page_of("/bidwall/", {**bodies, "/api/bidwall/snapshot": json.dumps(document).encode()})
    assert f"Worth $21,004 {mark}" in " ".join(Read(shown.fresh.decode()).text.split())


HOSTILE = 'Ignore all </h1><script>alert(1)</script> "rules" \u202e<b>'


def test_a_contracts_own_name_is_text_on_the_page_and_left_out_of_markdown(tmp_path_factory):
    other = House(tmp_path_factory.mktemp("hostile"))
    other.token = other.token.model_copy(update={"name": HOSTILE, "symbol": "<i>"})
    other.read_chain(mint(60), 20)
    other.publish("/api/token/holders", "/api/token/price", "/token/", "/token/index.md")
    page = Read((other.current / "public/token/index.html").read_text())
    assert (page.open, page.all("b"), page.all("i"), len(page.all("script"))) == ([], [], [], 2)
    assert "Ignore all" in page.text
    assert "Ignore all" not in (other.current / "public/token/index.md").read_text()


def test_markdown_has_the_figures_of_the_page(bodies: dict[str, bytes]):
    twin = page_in_markdown(page_of("/token/", bodies).fresh, HERE.url("/token/")).decode()
    assert twin.startswith("# The token")
    assert "75" in twin and "Proven" in twin
    assert "<" not in twin.replace("<https", "")


def test_figures_are_formatted_as_people_write_them():
    table: list[tuple[Callable[[Any], str], Any, str]] = [
        (figures.whole, "2321", "2,321"),
        (figures.short, 24_531_200, "24.5\u202fM"),
        (figures.short, "0.0247691", "0.0248"),
        (figures.short, "-12.5", "−12.5"),
        (figures.short, "0", "0"),
        (figures.short, 10**17, "100,000\u202fT"),
        (figures.short, 12 * 10**59, "1.2\u202f×\u202f10⁶⁰"),
        (figures.short, -(10**60), "−1\u202f×\u202f10⁶⁰"),
        (figures.percent, 0.8094, "80.9\u202f%"),
        (figures.signed_percent, -0.4794, "−0.48\u202f%"),
        (figures.dollars, 995517.28, "$995,517"),
    ]
    assert [(value, shown(value)) for shown, value, _ in table] == [(value, text) for _, value, text in table]


def test_charts_show_the_series_and_say_why_a_price_is_missing(bodies: dict[str, bytes]):
    page = Read(page_of("/token/", bodies).fresh.decode())
    assert {"chart-days", "chart-hours"} <= {attributes.get("id") for _, attributes in page.elements}
    text = " ".join(page.text.split())
    assert "– (no price was observed then)" in text
    series = json.loads(bodies["/api/token/series/daily"])["points"]
    shown = [each["data-x"] for each in page.all("tr") if "data-x" in each]
    assert len(shown) == 3 * len(series) + len(json.loads(bodies["/api/token/series/hourly"])["points"])


def item(kind: str, at: str, title: str) -> dict[str, object]:
    """Returns an event as an item of the feed."""
    return {
        "id": f"{kind}:{at}:{title}", "url": f"https://svc.example/{kind}", "title": title, "content_text": title,
        "date_published": at, "tags": [kind], "_svc": {"kind": kind, "block": 40, "facts": {}},
    }  # fmt: skip


def test_a_chart_marks_the_events_of_the_feed_and_says_how_far_the_feed_reaches(bodies: dict[str, bytes]):
    feed, kinds = json.loads(bodies["/hodlers-care/feed.json"]), iter(("large_mover", "snapshot", "large_mover"))
    today = [item(next(kinds), "2026-01-02T08:00:00Z", f"<i>{at}") for at in range(3)]
    attested = item("attestation", "2026-01-02T07:00:00Z", "An attestation")
    before = item("holder_milestone", "2026-01-01T23:59:59Z", "100 holders")
    told: dict[str, list[list[str]]] = {}
    for name, items in {
        "all": [*today, attested, before, before | {"date_published": "2025-12-31T23:59:59Z"}],
        "full": [*today, *[attested] * 97],
        "of agents": [attested],
    }.items():
        published = {"/hodlers-care/feed.json": json.dumps(feed | {"items": items}).encode()}
        html = page_of("/token/", {**bodies, **published, "/api/token/series/daily": two_days(bodies)}).fresh.decode()
        head, _, rest = html.partition('id="chart-days"')[2].partition('<svg viewBox="0 0 640')
        drawing, _, rest = rest.partition("</svg>")
        told[name] = [
            re.findall(r"<g[^>]*><title>(.*?)</title><path class=\"event ([a-z_]+)\"", drawing),
            re.findall(r'<rect class="gap" .*?<title>(The feed.*?)</title>', drawing),
            [
                row[-1]
                for body in re.findall(r"<tr data-x.*?</tr>", rest)
                if (row := re.findall(r">([^<>]*)</td>", body))
            ][:2],
            re.findall(r"</svg> ([^<]+)</span>", head),
        ]
    movers = [("&lt;i&gt;1", "snapshot"), ("&lt;i&gt;0; &lt;i&gt;2", "large_mover")]
    reaches = "he feed has the newest 100 events, all of them later"
    assert told == {
        "all": [
            [*movers, ("100 holders", "holder_milestone")],
            [],
            ["snapshot, 2 large movers", "holder milestone"],
            ["snapshot", "large mover", "holder milestone"],
        ],
        "full": [movers, [f"T{reaches}"], ["snapshot, 2 large movers", f"– (t{reaches})"], ["snapshot", "large mover"]],
        "of agents": [[], [], ["9", "75"], []],
    }


def test_every_event_that_a_chart_may_mark_is_in_a_table_with_its_whole_title(bodies: dict[str, bytes]):
    feed = json.loads(bodies["/hodlers-care/feed.json"])
    told = {}
    for name, items in {
        "marked": [
            item("threshold_crossed", "2026-01-02T09:00:00Z", "The <contract>"),
            item("attestation", "2026-01-02T08:30:00Z", "An attestation"),
            item("large_mover", "2026-01-02T08:00:00Z", "0x07 gained"),
            item("snapshot", "2025-01-01T08:00:00Z", "Long ago"),
        ],
        "of agents": [item("attestation", "2026-01-02T08:30:00Z", "An attestation")],
    }.items():
        published = {"/hodlers-care/feed.json": json.dumps(feed | {"items": items}).encode()}
        html = page_of("/token/", {**bodies, **published}).fresh.decode()
        told[name] = re.findall(
            r'<path class="event ([a-z_]+)" [^>]*/></svg> <a href="([^"]+)">([^<]+)</a></td>'
            r'<td><time datetime="([^"]+)">[^<]+</time></td><td class="number">(\d+)</td>',
            html,
        )
        assert ("No event to mark" in html) == (name == "of agents")
        assert ("0x07 gained" in page_in_markdown(html.encode(), HERE.url("/token/")).decode()) == (name == "marked")
    assert told == {
        "marked": [
            (kind, f"https://svc.example/{kind}", title, at, "40")
            for kind, title, at in (
                ("threshold_crossed", "The &lt;contract&gt;", "2026-01-02T09:00:00Z"),
                ("large_mover", "0x07 gained", "2026-01-02T08:00:00Z"),
                ("snapshot", "Long ago", "2025-01-01T08:00:00Z"),
            )
        ],
        "of agents": [],
    }


def test_a_chart_shows_only_its_newest_points(bodies: dict[str, bytes]):
    series = json.loads(bodies["/api/token/series/daily"])
    start = datetime(2024, 1, 1, tzinfo=UTC)
    series["points"] = [
        series["points"][0] | {"start": f"{start + timedelta(days=day):%Y-%m-%dT%H:%M:%SZ}", "holders": day}
        for day in range(400)
    ]
    page = Read(page_of("/token/", {**bodies, "/api/token/series/daily": json.dumps(series).encode()}).fresh.decode())
    text = " ".join(page.text.split())
    assert "The last 60 days" in text
    assert "holders from 340 to 399" in text


def test_a_drawing_of_old_numbers_is_grey_and_says_since_when(bodies: dict[str, bytes]):
    days = json.loads(bodies["/api/token/series/daily"])
    days["staleAfter"] = "2026-01-02T12:02:00Z"  # the first to expire
    content = page_of("/holders/", {**bodies, "/api/token/series/daily": json.dumps(days).encode()})
    assert content.stale is not None
    classes = {}
    for name, html in (("fresh", content.fresh), ("stale", content.stale)):
        drawn = [each for each in Read(html.decode()).all("figure") if "data-from" in each]
        classes[name] = {each["data-from"] for each in drawn if "stale" in str(each["class"]).split()}
        assert {each["data-from"] for each in drawn} == {"days", "list", "holders"}
    assert classes == {"fresh": set(), "stale": {"days"}}
    assert "Stale since 2026-01-02 12:02 UTC" in " ".join(Read(content.stale.decode()).text.split())


def two_days(bodies: Mapping[str, bytes]) -> bytes:
    """Returns the daily series with a day before the first."""
    series = json.loads(bodies["/api/token/series/daily"])
    (today,) = series["points"]
    yesterday = today | {"start": "2026-01-01T00:00:00Z", "holders": 70, "top10Share": 0.5}
    today |= {
        "start": "2026-01-02T00:00:00Z",
        "holders": 75,
        "new": 6,
        "returned": 1,
        "left": 2,
        "transfers": 9,
        "top10Share": 0.25,
    }
    return json.dumps(series | {"points": [yesterday, today]}).encode()


def test_the_front_page_answers_what_changed_and_who_holds_most(bodies: dict[str, bytes]):
    text = " ".join(Read(page_of("/", bodies).fresh.decode()).text.split())
    assert "Shown once a whole day has been read." in text
    told = page_of("/", {**bodies, "/api/token/series/daily": two_days(bodies)})
    text = " ".join(Read(told.fresh.decode()).text.split())
    assert "7 came (6 new, 1 returned) and 2 left: 70 holders at the end of 2026-01-01, 75 now. 9 transfers." in text
    assert "The ten largest went from 50.00 % to 25.00 %" in text
    (largest, *_) = json.loads(bodies["/api/token/holders-map"])["holders"]
    assert f"{largest['address'][:6]}…{largest['address'][-4:]}" in text


def test_an_attested_agent_below_every_threshold_is_called_not_trusted(bodies: dict[str, bytes]):
    agents = [
        {"agent": "0x" + digit * 40, "trustScore": score, "weightedScore": score, "attestationCount": count,
         "level": level, "lastAttestedAt": "2026-01-02T11:00:00Z"}
        for digit, score, count, level in (("a", 60, 2, "low"), ("b", 49, 1, "none"))
    ]  # fmt: skip
    registry = json.loads(bodies["/api/v2/trust/registry"])
    registry |= {
        "registry": "0x" + "7a" * 20,
        "totals": {"attestations": 3, "agents": 2, "attesters": 1},
        "agents": agents,
    }
    page = Read(page_of("/trust/", {**bodies, "/api/v2/trust/registry": json.dumps(registry).encode()}).fresh.decode())
    assert [each["data-said"] for each in page.all("tr") if "data-said" in each] == [
        "Trusted: low. Weighted score 60 of 100 from 2 attestations.",
        "Not trusted. Weighted score 49 of 100 from 1 attestation.",
    ]
    (asked,) = [each for each in page.all("input") if each.get("id") == "agent-filter"]
    assert asked["data-none"] == "Nobody attested this address, so it has no score."


def test_the_table_of_freshness_says_of_every_document_that_ages_whether_it_is_current(
    house: House, bodies: dict[str, bytes]
):
    content = page_of("/status/", bodies)
    now = json.loads((house.current / "public/data/now.json").read_text())
    rows = re.findall(
        r'<tr><th scope="row"><a href="/under/it([^"]+)">[^<]+</a></th><td data-lane=', content.fresh.decode()
    )
    assert sorted(rows) == sorted(now["documents"])
    assert content.stale is not None
    for body, word in ((content.fresh, "current"), (content.stale, "stale")):
        _, _, row = body.decode().partition('data-lane="from-holders"')
        assert f"<span>{word}" in row.partition("</td>")[0]


def test_the_history_of_the_status_counts_what_was_read_on_each_day_and_says_why_nothing_was(bodies: dict[str, bytes]):
    def hours(path: str, *runs: tuple[int, dict[str, object]]) -> bytes:
        series = json.loads(bodies[path])
        told = [one for count, one in runs for _ in range(count)]
        start = datetime(2026, 1, 1, tzinfo=UTC)
        points = [one | {"start": f"{start + timedelta(hours=at):%Y-%m-%dT%H:%M:%SZ}"} for at, one in enumerate(told)]
        return json.dumps(series | {"points": points}).encode()

    hour = json.loads(bodies["/api/token/series/hourly"])["points"][0]
    price = {"open": 1, "high": 1, "low": 1, "close": 1, "quality": "exact", "block": 1}
    observed = hour | {"priceUsd": price | {"source": "observed"}, "priceReason": None}
    from_pool = hour | {"priceUsd": price | {"source": "pool"}, "priceReason": None}
    unseen = hour | {"priceUsd": None, "priceReason": "not_observed"}
    nothing = {"balanceEth": None, "lowestWei": None, "highestWei": None, "readings": 0, "at": None}
    silent = nothing | {"balanceWei": None, "quality": "unavailable", "reason": "rpc_unavailable"}
    balance = nothing | {"balanceWei": "1", "quality": "exact", "reason": None}
    read = {
        "/api/token/series/hourly": hours(
            "/api/token/series/hourly", (24, from_pool), (20, observed), (4, unseen), (3, observed)
        ),
        "/api/bidwall/series/hourly": hours("/api/bidwall/series/hourly", (24, silent), (24, balance)),
        "/api/token/series/daily": two_days(bodies),
    }
    html = page_of("/status/", {**bodies, **read}).fresh.decode()
    told = {}
    for name in ("lists", "price", "balance"):
        chart = html.partition(f'id="chart-status-{name}"')[2].partition("</figure>")[0]
        rows = [re.findall(r">([^<>]*)</t[dh]>", row) for row in re.findall(r"<tr data-x.*?</tr>", chart)]
        gaps = re.findall(r'<rect class="gap".*?<title>(.*?)</title>', chart)
        told[name] = (re.findall(r'class="help">(.*?)</span>', chart), rows[:4], len(rows), gaps)
    earlier = ["–", "not known: the series begins later"]
    unreached = "Not known: the series begins later"
    assert told["price"] == (
        ["In 23 of 51 hours of its series, the first on 2026-01-02; in 88 of 90 days not once"],
        [
            ["2026-01-03 00:00, so far", "3 of 3", "–"],
            ["2026-01-02 00:00", "20 of 24", "no price was observed then"],
            ["2026-01-01 00:00", "0 of 24", "before the first price was observed"],
            ["2025-12-31 00:00", *earlier],
        ],
        90,
        [unreached, "Before the first price was observed"],
    )
    rows = [["2026-01-02 00:00, so far", "24 of 24", "–"], ["2026-01-01 00:00", "0 of 24", "rpc unavailable"]]
    assert [told["balance"][1][:2], told["balance"][3]] == [rows, [unreached, "Rpc unavailable"]]
    assert told["lists"][1][0][1:] == ["1 of 1", "–"]
    assert "No history yet" in page_of("/status/", {}).fresh.decode()


def test_the_status_says_how_each_capability_is_known_and_when_it_was_checked(bodies: dict[str, bytes]):
    registry = json.loads(bodies["/.well-known/svc-base-capabilities.json"])
    first, second, third, *_ = registry["capabilities"]
    first.update(title="First", determinedBy="http", checkedAt="2026-01-02T11:30:00Z")
    second.update(title="Second", determinedBy="warehouse", checkedAt="2026-01-02T11:31:00Z")
    third.update(title="Third", determinedBy="settings", checkedAt=None)
    page = page_of("/status/", {**bodies, "/.well-known/svc-base-capabilities.json": json.dumps(registry).encode()})
    entries = {
        title: " ".join(Read(f"<li><span>{entry}").text.split())
        for title in ("First", "Second", "Third")
        for entry in re.findall(rf"<strong>{title}</strong>.*?</li>", page.fresh.decode())
    }
    assert entries["First"].endswith("Queried at its public address, 2026-01-02 11:30 UTC.")
    assert entries["Second"].endswith("Read from its data, 2026-01-02 11:31 UTC.")
    assert entries["Third"].endswith("Read from the settings.")


def test_the_comparison_names_the_period_of_each_part_and_its_largest_change(bodies: dict[str, bytes]):
    told = page_of("/holders/compare/", {**bodies, "/api/token/series/daily": two_days(bodies)}).fresh.decode()
    text = " ".join(Read(told).text.split())
    (lead, rest) = text.split("Between the two newest snapshots, block 20 to 40", 1)
    assert "7 holders came (6 new, 1 returned) and 2 left: 70 then, 75 now." in lead
    assert "The largest single change between the two newest snapshots (block 20 to 40)" in lead
    assert "Since the end of 2026-01-01 UTC Holders now" in lead
    assert "Held at block 40, and not at block 20" in rest and "Held at block 20, and not at block 40" in rest
    assert "Largest gains, block 20 to 40" in rest


def test_until_there_are_two_snapshots_the_comparison_names_the_first_and_the_newest_list(bodies: dict[str, bytes]):
    comparison = json.loads(bodies["/api/token/holders-map-temporal"])
    comparison["snapshots"] = [{"id": "20", "block": 20, "time": "2026-01-01T00:20:00Z"}]
    told = page_of(
        "/holders/compare/", {**bodies, "/api/token/holders-map-temporal": json.dumps(comparison).encode()}
    ).fresh.decode()
    assert "Between the first and the newest list, block 20 to 40" in " ".join(Read(told).text.split())


def test_transfers_among_the_largest_are_in_a_table_and_lead_to_the_listed_ones(bodies: dict[str, bytes]):
    listed, unlisted = (json.loads(bodies["/api/token/holders-map"])["holders"][0]["address"], "0x" + "ab" * 20)
    edge = {
        "from": listed, "to": unlisted, "fromRank": 1, "toRank": 240, "transfers": 1234, "amountRaw": "700",
        "amount": "7", "firstAt": "2026-01-01T00:00:00Z", "lastAt": "2026-01-02T00:00:00Z",
    }  # fmt: skip
    others = [edge | {"from": unlisted, "to": listed, "fromRank": 240, "toRank": 1, "transfers": 1}] * 260
    told = json.loads(bodies["/api/token/holders-map/edges"]) | {"edges": [edge, *others]}
    page = page_of("/holders/", {**bodies, "/api/token/holders-map/edges": json.dumps(told).encode()}).fresh.decode()
    rows = re.findall(r'<tr data-ranks="([^"]+)"><td>(.*?)</td><td>(.*?)</td><td class="number">(.*?)</td>', page)
    assert len(rows) == 100
    assert rows[0] == (
        "1 240",
        f'<a href="#{listed}">1. <code>{listed[:6]}…{listed[-4:]}</code></a>',
        f'240. <code title="{unlisted}">0xabab…abab</code>',
        "1,234",
    )
    assert rows[1][0] == "240 1"
    assert "Transfers among the 250 largest in 30 days: 100 of 261 pairs" in page
    assert "Transfers among" not in page_of("/holders/", bodies).fresh.decode().partition("</main>")[0]


def test_holders_before_the_first_day_who_came_and_who_left_add_up(bodies: dict[str, bytes]):
    series = json.loads(bodies["/api/token/series/daily"])
    first = series["points"][0] | {"holders": 131, "new": 40, "returned": 2, "left": 11}
    second = first | {"start": "2026-01-02T00:00:00Z", "holders": 229, "new": 100, "returned": 0, "left": 2}
    daily = json.dumps(series | {"points": [first, second]}).encode()
    for path in ("/token/", "/holders/", "/holders/compare/"):
        text = " ".join(Read(page_of(path, {**bodies, "/api/token/series/daily": daily}).fresh.decode()).text.split())
        assert "Holders from 100 before the first day to 229; 142 came, 13 left" in text


def test_other_lists_can_be_chosen_where_two_are_known(bodies: dict[str, bytes]):
    read = Read(page_of("/holders/compare/", bodies).fresh.decode())
    (choice,) = [each for each in read.all("details") if each.get("id") == "choose"]
    assert (choice["data-from"], choice["data-to"]) == ("20", "40")
    assert choice["data-lists"] == f"{PREFIX}/data/holder_lists.csv"
    alone = {path: body for path, body in bodies.items() if path != "/api/token/holders-map-temporal"}
    assert 'id="choose"' not in page_of("/holders/compare/", alone).fresh.decode()


def test_with_one_known_list_only_the_part_about_two_says_that_nothing_can_be_compared(bodies: dict[str, bytes]):
    alone = {path: body for path, body in bodies.items() if path != "/api/token/holders-map-temporal"}
    told = page_of("/holders/compare/", {**alone, "/api/token/series/daily": two_days(bodies)}).fresh.decode()
    lead, rest = " ".join(Read(told).text.split()).split("Between the two newest snapshots", 1)
    assert "7 holders came" in lead and "Nothing to compare yet" not in lead
    assert "Nothing to compare yet" in rest


def test_a_page_below_another_marks_that_one_in_the_navigation(bodies: dict[str, bytes]):
    marked = {
        path: [(each["href"], each["aria-current"]) for each in Read(html).all("a") if "aria-current" in each]
        for path in ("/holders/", "/holders/compare/", "/")
        if (html := page_of(path, bodies).fresh.decode())
    }
    assert marked == {
        "/holders/": [(f"{PREFIX}/holders/", "page")],
        "/holders/compare/": [(f"{PREFIX}/holders/", "true")],
        "/": [],
    }


def test_each_state_of_a_figure_has_its_meaning_in_the_legend(bodies: dict[str, bytes]):
    page = Read(page_of("/token/", bodies).fresh.decode())
    assert [each["data-state"] for each in page.all("dd") if "data-state" in each] == list(figures.STATE_WORDS)


def test_a_demo_says_on_every_page_that_its_numbers_are_made_up(bodies: dict[str, bytes]):
    demo = installation_of(SETTINGS.model_copy(update={"demo": True}))
    text = " ".join(Read(page_of("/token/", bodies, demo).fresh.decode()).text.split())
    assert "the chain id of Base (8453), but its tokens, holders and prices are invented" in text
    assert "invented" not in Read(page_of("/token/", bodies).fresh.decode()).text


def test_every_address_of_trust_and_of_the_wall_leads_to_what_it_holds(bodies: dict[str, bytes]):
    agent, attester, other = ("0x" + digit * 40 for digit in "abc")
    registry = json.loads(bodies["/api/v2/trust/registry"])
    registry |= {
        "registry": "0x" + "7a" * 20, "totals": {"attestations": 1, "agents": 1, "attesters": 1},
        "agents": [{"agent": agent, "trustScore": 90, "weightedScore": 90, "attestationCount": 1, "level": "high",
                    "lastAttestedAt": "2026-01-02T11:00:00Z"}],
        "attesters": [{"attester": attester, "attestationCount": 72, "agentCount": 9, "meanScore": 90,
                       "lastAttestedAt": "2026-01-02T11:00:00Z"}],
    }  # fmt: skip
    page = Read(page_of("/trust/", {**bodies, "/api/v2/trust/registry": json.dumps(registry).encode()}).fresh.decode())
    links = {str(each["href"]) for each in page.all("a")}
    assert {f"{PREFIX}/holders/one/?address={each}" for each in (agent, attester)} <= links
    page = Read(
        page_of("/holders/one/", {**bodies, "/api/v2/trust/registry": json.dumps(registry).encode()}).fresh.decode()
    )
    assert [each["data-attester"] for each in page.all("p") if "data-attester" in each] == [attester]
    assert "It attested 72 times itself, to 9 agents." in page.text
    wall = json.loads(bodies["/api/bidwall/snapshot"])
    token = json.loads(bodies["/api/token/holders"])["token"]["address"]
    event = {
        "token": token, "block": 40, "logIndex": 0, "transactionHash": "0x" + "1" * 64, "from": other,
        "to": "0x" + "b1" * 20, "direction": "in", "valueRaw": "12345", "time": "2026-01-02T11:00:00Z",
        "timeQuality": "exact", "finality": "final",
    }  # fmt: skip
    coin = event | {"token": SETTINGS.usdc_address, "valueRaw": "200850000"}
    wall |= {"contract": "0x" + "b1" * 20}
    transfers = json.loads(bodies["/api/bidwall/events"]) | {"events": [event, event | {"token": other}, coin]}
    made = {"/api/bidwall/snapshot": wall, "/api/bidwall/events": transfers}
    page = Read(
        page_of(
            "/bidwall/", {**bodies, **{path: json.dumps(body).encode() for path, body in made.items()}}
        ).fresh.decode()
    )
    links = {str(each["href"]) for each in page.all("a")}
    assert f"{PREFIX}/holders/one/?address={other}" in links
    assert "123.45TKN" in page.text
    assert "12345 smallest units" in " ".join(page.text.split())
    assert "200.85USDC" in page.text
    assert [each["value"] for each in page.all("option")] == ["", token, other, SETTINGS.usdc_address, "", "in"]
    rows = [(each["data-token"], each["data-direction"]) for each in page.all("tr") if "data-token" in each]
    assert rows == [(token, "in"), (other, "in"), (SETTINGS.usdc_address, "in")]


def test_the_wall_draws_its_balance_with_gaps_and_names_the_block_of_each(bodies: dict[str, bytes]):
    def point(hour: int, wei: int | None, finality: str = "final") -> dict[str, object]:
        text = None if wei is None else str(wei)
        block = {"block": hour, "blockHash": "0x" + "1" * 64, "time": f"2026-01-02T{hour:02}:30:00Z"}
        return {
            "start": f"2026-01-02T{hour:02}:00:00Z", "balanceWei": text, "balanceEth": text, "lowestWei": text,
            "highestWei": text, "readings": 0 if wei is None else 1, "at": wei and {**block, "finality": finality},
            "quality": "unavailable" if wei is None else "exact" if finality == "final" else "estimated",
            "reason": "not_read" if wei is None else None,
        }  # fmt: skip

    points = [point(8, 10**18), point(9, None), point(10, 25 * 10**17), point(11, 10**60, "pending")]
    series = json.loads(bodies["/api/bidwall/series/hourly"]) | {"points": points}
    wall = json.loads(bodies["/api/bidwall/snapshot"]) | {"contract": "0x" + "b1" * 20}
    made = {"/api/bidwall/snapshot": wall, "/api/bidwall/series/hourly": series}
    html = page_of("/bidwall/", {**bodies, **{path: json.dumps(body).encode() for path, body in made.items()}}).fresh
    rows = re.findall(r"<tr data-x.*?</tr>", html.decode())
    assert [re.findall(r"<td[^>]*>(.*?)</td>", row) for row in rows] == [
        [*("1\u202f×\u202f10⁴²",) * 3, "11, pending"],
        ["2.5", "2.5", "2.5", "10"],
        ["– (the balance was not read then)", "–", "–", "–"],
        ["1", "1", "1", "8"],
    ]
    assert "The balance was not read then</title>" in html.decode()
