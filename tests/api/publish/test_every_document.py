"""Every published document at once, under a base URL with a path: methods, spellings, neighbouring paths."""

import asyncio
import json
import re
from xml.etree import ElementTree

import pytest
from publishing import House, mint

from api.app import create_app
from contracts.problems import Problem
from contracts.publish.registry import PROJECTIONS, REDIRECTS
from contracts.site.pages import OPERATION_PAGES, PAGES

PREFIX = "/under/it"
PATHS = sorted(path for row in PROJECTIONS for path in row.paths)
DISCOVERY = sorted(
    path for row in PROJECTIONS if row.is_described for path in row.paths if not path.startswith("/api/")
)


class Site:
    """A published house, and the whole API over it."""

    def __init__(self, data_dir) -> None:
        self.house = House(data_dir, base_url=f"https://svc.example{PREFIX}", rate_limit_per_minute=0)
        self.house.read_chain(mint(70), 20)
        self.house.publish()
        self.application = create_app(self.house.settings)

    def ask(self, *requests):
        """Returns the answers to `(method, path, headers)`, in order."""

        async def asked():
            async with self.house.client(application=self.application) as client:
                return [await client.request(method, path, headers=headers) for method, path, headers in requests]

        return asyncio.run(asked())

    def each(self, method, paths, **headers):
        return zip(paths, self.ask(*[(method, path, headers) for path in paths]), strict=True)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    return Site(tmp_path_factory.mktemp("site"))


def test_head_says_what_get_says_and_sends_nothing(site):
    got = dict(site.each("GET", PATHS))
    for path, head in site.each("HEAD", PATHS):
        assert (head.status_code, head.content) == (200, b"")
        assert head.headers == got[path].headers, path


def test_every_document_is_cacheable_conditional_and_readable_by_any_page(site):
    got = dict(site.each("GET", PATHS))
    again = site.ask(*[("GET", path, {"if-none-match": got[path].headers["etag"]}) for path in PATHS])
    for path, answer in zip(PATHS, again, strict=True):
        first = got[path].headers
        assert (answer.status_code, answer.content) == (304, b"")
        assert re.fullmatch(r'"[0-9a-f]{32}"', first["etag"])
        assert "s-maxage" not in first["cache-control"]
        assert int(re.search(r"max-age=(\d+)", first["cache-control"])[1]) >= 60
        assert first["access-control-allow-origin"] == "*"
        assert first["x-content-type-options"] == "nosniff"
        assert answer.headers["cache-control"] == first["cache-control"]


def test_a_query_that_a_document_does_not_know_changes_nothing(site):
    plain = [path for path in PATHS if site.application.site.documents[path].has_variants is False]
    assert len(plain) > 40
    for (path, got), (_, queried) in zip(
        site.each("GET", plain), site.each("GET", [f"{path}?utm=1&x" for path in plain]), strict=True
    ):
        assert queried.content == got.content, path


@pytest.mark.parametrize(
    "spelled",
    [
        pytest.param(lambda path: f"{path}/", id="a slash more"),
        pytest.param(lambda path: path.upper(), id="upper case"),
        pytest.param(lambda path: f"{path}.bak", id="a neighbour"),
        pytest.param(lambda path: re.sub(r"(?<=.)/", "//", path, count=1), id="two slashes"),
        pytest.param(lambda path: re.sub(r"(?<=.)/", "%2F", path, count=1), id="an escaped slash"),
        pytest.param(lambda path: path.replace(".", "%2E"), id="escaped dots"),
        pytest.param(lambda path: f"/%{ord(path[1]):x}{path[2:]}", id="an escaped letter"),
        pytest.param(lambda path: f"{PREFIX}{path}", id="the path of the base URL, which a proxy takes off"),
    ],
)
def test_another_spelling_is_another_path_and_answers_so_in_json(site, spelled):
    paths = [spelled(path) for path in DISCOVERY if path != spelled(path)]
    for path, answer in site.each("GET", paths):
        problem = Problem.model_validate_json(answer.content)
        assert (answer.status_code, problem.code) == (404, "route_unknown"), path
        assert answer.headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize(
    "path",
    [
        "/.well-known/",
        "/.well-known",
        "/.well-known/none",
        "/.well-known/none.json",
        "/.well-known/agent-card.json.br",
        "/connect/none",
        "/connect/index.html",
        "/assets/css/none.css",
        "/assets/js/connect.js",
        "/docs/operations/",
        "/docs/operations/none/",
        "/index.html",
        "/robots.txt.gz",
        "/%00",
        "/.env",
    ],
)
def test_neighbours_that_do_not_exist_are_404_in_json(site, path):
    for accept in ({}, {"accept": "*/*"}, {"accept": "application/json, text/html;q=0.5"}):
        (answer,) = site.ask(("GET", path, accept))
        assert answer.status_code == 404
        assert answer.headers["content-type"] == "application/problem+json"
        assert answer.headers["access-control-allow-origin"] == "*"
        assert Problem.model_validate_json(answer.content).code == "route_unknown"


A_BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8"


@pytest.mark.parametrize("path", ["/nothing", "/connect/none", "/%00", "/data/none.csv"])
@pytest.mark.parametrize("encoding", ["br", "identity"])
def test_a_browser_at_an_unknown_address_gets_the_page_that_a_cdn_sends(site, path, encoding):
    headers = {"accept": A_BROWSER, "accept-encoding": encoding}
    answer, page = site.ask(("GET", path, headers), ("GET", "/404.html", {}))
    assert answer.status_code == 404
    assert answer.text == page.text and "There is nothing at this address" in page.text
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert answer.headers["content-security-policy"] == page.headers["content-security-policy"]
    assert (answer.headers["cache-control"], answer.headers["vary"]) == ("no-store", "Accept, Accept-Encoding")
    assert "etag" not in answer.headers
    assert answer.headers.get_list("access-control-allow-origin") == ["*"]


@pytest.mark.parametrize("path", ["/.well-known/none.json", "/api/none", "/blink/none", "/metrics"])
def test_unknown_addresses_of_programs_answer_browsers_with_a_problem_too(site, path):
    (answer,) = site.ask(("GET", path, {"accept": A_BROWSER}))
    assert (answer.status_code, answer.headers["content-type"]) == (404, "application/problem+json")


def test_other_methods_are_405_and_options_names_the_right_ones(site):
    for path, answer in site.each("POST", DISCOVERY):
        assert (answer.status_code, answer.headers["allow"]) == (405, "GET, HEAD, OPTIONS"), path
        assert answer.json()["code"] == "method_not_allowed"
    for path, answer in site.each("OPTIONS", PATHS, **{"access-control-request-method": "GET"}):
        assert (answer.status_code, answer.content) == (204, b""), path
        assert "GET" in answer.headers["access-control-allow-methods"]


def test_links_and_redirects_name_paths_under_the_base_url_that_answer(site):
    led = {}
    for path, answer in site.each("GET", [redirect.path for redirect in REDIRECTS]):
        assert answer.status_code == 302
        led[path] = answer.headers["location"]
    for _, answer in site.each("GET", [*PATHS, *led]):
        led |= {target: target for target in re.findall(r"<([^>]*)>", answer.headers.get("link", ""))}
    assert len(led) >= 8
    for target in led.values():
        assert target.startswith(f"{PREFIX}/"), target
    for target, answer in site.each("GET", [target.removeprefix(PREFIX) for target in led.values()]):
        assert answer.status_code == 200, target


@pytest.mark.parametrize("path", [page.path for page in PAGES])
def test_a_page_says_where_to_read_on_and_loads_nothing_from_elsewhere(site, path):
    page, bare = site.ask(("GET", path, {"accept": "text/html"}), ("GET", path.rstrip("/") or path, {}))
    relations = set(re.findall(r'rel="([^"]*)"', page.headers["link"]))
    assert {"api-catalog", "service-desc", "service-doc", "describedby"} <= relations
    assert 'rel="alternate"; type="text/markdown"' in page.headers["link"]
    assert page.headers["content-security-policy"].startswith("default-src 'none'")
    assert path == "/" or (bare.status_code, bare.headers["location"]) == (302, f"{PREFIX}{path}")


@pytest.mark.parametrize("path", [page.path for page in PAGES])
def test_a_program_that_prefers_markdown_gets_the_page_in_it(site, path):
    twin, named = site.ask(("GET", path, {"accept": "text/markdown"}), ("GET", f"{path}index.md", {}))
    assert twin.headers["content-type"].startswith("text/markdown")
    assert twin.text == named.text and twin.text.startswith("# ")


def test_the_assets_of_a_page_are_immutable(site):
    (page,) = site.ask(("GET", "/connect/", {}))
    loaded = re.findall(rf'(?:src|href)="{PREFIX}(/assets/[^"]+)"', page.text)
    assert len(loaded) == 4
    for path, answer in site.each("GET", loaded):
        assert answer.status_code == 200
        assert "immutable" in answer.headers["cache-control"]
        assert answer.headers["content-type"] == (
            "text/css; charset=utf-8" if path.endswith(".css") else "text/javascript; charset=utf-8"
        )
        assert (answer.headers["vary"], "content-encoding" in answer.headers) == ("Accept-Encoding", False)


@pytest.mark.parametrize("encoding", ["br", "zstd", "gzip"])
def test_the_assets_of_a_page_are_sent_compressed(site, encoding):
    (page,) = site.ask(("GET", "/connect/", {}))
    for path in re.findall(rf'(?:src|href)="{PREFIX}(/assets/[^"]+)"', page.text):
        plain, packed = site.ask(("GET", path, {}), ("GET", path, {"accept-encoding": encoding}))
        (again,) = site.ask(
            ("GET", path, {"accept-encoding": encoding, "if-none-match": packed.headers["etag"]}),
        )
        assert (packed.headers["content-encoding"], packed.content) == (encoding, plain.content)
        assert int(packed.headers["content-length"]) < len(plain.content) * 0.7
        assert (again.status_code, plain.headers["etag"] == packed.headers["etag"]) == (304, False)


def test_no_sibling_of_a_page_asset_has_an_address(site):
    (page,) = site.ask(("GET", "/connect/", {}))
    (sheet,) = re.findall(rf'href="{PREFIX}(/assets/[^"]+\.css)"', page.text)
    assert (site.house.current / f"public{sheet}.br").is_file()
    (answer,) = site.ask(("GET", f"{sheet}.br", {}))
    assert answer.json()["code"] == "route_unknown"


def test_every_address_of_the_sitemap_answers_and_none_is_disallowed_by_robots_txt(site):
    sitemap, robots = site.ask(("GET", "/sitemap.xml", {}), ("GET", "/robots.txt", {}))
    urls = [each.text for each in ElementTree.fromstring(sitemap.content).findall("{*}url/{*}loc")]
    paths = {url.removeprefix(f"https://svc.example{PREFIX}") for url in urls}
    assert {*(page.path for page in PAGES), *(page.path for page in OPERATION_PAGES), "/llms.txt"} <= paths
    disallowed = re.findall(r"^Disallow: (.*)$", robots.text, re.MULTILINE)
    for url in urls:
        assert not any(url.startswith(f"https://svc.example{each}") for each in disallowed)
    for path, answer in site.each("GET", [url.removeprefix(f"https://svc.example{PREFIX}") for url in urls]):
        assert answer.status_code == 200, path


def test_the_registry_of_actions_says_so_to_wallets(site):
    for answer in site.ask(
        ("GET", "/actions.json", {}), ("HEAD", "/actions.json", {}), ("OPTIONS", "/actions.json", {})
    ):
        assert answer.headers["x-action-version"] == "2.4"
        assert answer.headers["x-blockchain-ids"] == "eip155:8453"
        assert answer.headers["access-control-allow-methods"] == "GET,POST,PUT,OPTIONS"
    rules = site.ask(("GET", "/actions.json", {}))[0].json()["rules"]
    assert {rule["apiPath"] for rule in rules} == {
        f"{PREFIX}/blink/guardrail",
        f"{PREFIX}/blink/worldmodel",
        f"{PREFIX}/blink/**",
    }


def test_publishing_again_changes_no_byte_of_what_describes_the_service(site):
    table = json.loads((site.house.current / "public/routes.json").read_text())["routes"]
    files = {path: site.house.current / "public" / table[path]["file"] for path in DISCOVERY}
    before = {path: (file.read_bytes(), file.stat().st_mtime) for path, file in files.items()}
    site.house.read_chain(mint(3, first=300, block=30), 40)
    site.house.publish()
    files = {path: site.house.current / "public" / table[path]["file"] for path in DISCOVERY}
    moved = {path for path, file in files.items() if (file.read_bytes(), file.stat().st_mtime) != before[path]}
    assert moved <= {"/hodlers-care/feed.json", "/first-rows.json", "/openapi.json", "/openapi-v2.yaml"}
