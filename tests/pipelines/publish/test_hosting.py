import asyncio
import http.client
import json
import os
import re
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import caddy
import httpx
import pytest
from addressed_service import running
from document_kinds import CONTENTS, REDIRECT
from nginx import free_port, have_nginx, serving
from patience import HANG_S
from publishing import DOCUMENTS, House, mint, published_house

from api.app import create_app
from api.publish.front import Front
from api.publish.site import PublishedSite, load_site
from contracts.publish.registry import PROJECTIONS
from contracts.publish.routes import CACHE_CONTROL, OPEN_HEADERS, file_of, is_in_folder
from warehouse.publish.generations import current_generation

LIST = "/data/holders-20.csv.gz"
PAGES_OF_COLLECTIONS = {
    kind: [row.path for row in PROJECTIONS if row.collection and (row.collection, row.media_type) == kind]
    for kind in {(row.collection, row.media_type) for row in PROJECTIONS if row.collection}
}
BETWEEN_OTHERS = {path for paths in PAGES_OF_COLLECTIONS.values() for path in paths[1:-1]}
"""Pages of a collection that are neither its first nor its last."""
OF_A_SERVER = ("etag", "vary", "content-length", "location", "accept-ranges", "last-modified")
"""Header fields that each server sets in its own way."""


@pytest.fixture(scope="module", params=["ours", "kinds", "prefixed"])
def house(request, tmp_path_factory):
    """Yields our own published house, and a house with one document of every kind, at the root of a host and under a
    path."""
    base_url = "https://svc.example/under/it" if request.param == "prefixed" else "https://svc.example"
    directory = tmp_path_factory.mktemp(request.param)
    if request.param == "ours":
        return published_house(directory, rate_limit_per_minute=0)
    made = House(directory, rate_limit_per_minute=0, base_url=base_url)
    made.publish_rows(CONTENTS, [REDIRECT])
    return made


def table_of(house) -> dict:
    return json.loads((house.current / "public/routes.json").read_text())


def said(headers) -> dict[str, str]:
    return {name.decode(): value.decode() for name, value in headers if name.decode() not in OF_A_SERVER}


@cache
def site_of(generation: Path) -> PublishedSite:
    """Returns the map in memory of a generation, which takes a tenth of a second to load."""
    current = current_generation(generation.parent.parent)
    assert current.path == generation
    return load_site(current, None)


def expected(house) -> dict[str, dict[str, str]]:
    """Returns the header fields that the map in memory sends with the body of each path and each folder."""
    site = site_of(house.current)
    sent = {path: said(document.fresh["identity"].start["headers"]) for path, document in site.documents.items()}
    for path, route in table_of(house)["routes"].items():
        if "markdown" in route:
            sent[path]["vary"] = "Accept"
    if LIST in site.files:
        assert said(site.files[LIST].encodings["identity"].encoded.start["headers"]) == DATA_HEADERS
    return sent | {
        pattern: {
            **DATA_HEADERS,
            "content-type": folder["mediaType"],
            "cache-control": CACHE_CONTROL[folder["cache"]],
        }
        for pattern, folder in table_of(house)["folders"].items()
    }


def expected_of_indexes(house, *, for_all_readers: bool) -> dict[str, dict[str, str]]:
    """Returns the header fields of paths that answer browsers with a page: one answer for all readers, or the file's
    for programs."""
    sent = expected(house)
    return {
        path: sent[index["page"]] if for_all_readers else {**sent["/data/*.json"], "vary": "Accept"}
        for path, index in table_of(house).get("indexes", {}).items()
    }


def expression(pattern: str) -> str:
    beginning, end = pattern.split("*")
    return f"^{re.escape(beginning)}.+{re.escape(end)}$"


def expected_redirects(house) -> dict[str, tuple[str, dict[str, str]]]:
    """Returns the targets of the redirects in the map in memory, and their header fields."""
    site = site_of(house.current)
    return {
        path: (dict(start["headers"])[b"location"].decode(), said(start["headers"]))
        for path, start in site.redirects.items()
    }


DATA_HEADERS = {
    "content-type": "application/gzip",
    "cache-control": CACHE_CONTROL["immutable"],
    **{name.lower(): value for name, value in OPEN_HEADERS.items()},
}


def unquoted(headers: list[tuple[str, str]]) -> dict[str, str]:
    return {name.lower(): value.replace('\\"', '"') for name, value in headers}


QUOTED = r'"((?:[^"\\]|\\.)*)"'


def test_the_headers_file_says_what_the_map_says(house):
    read: dict[str, dict[str, str]] = {}
    for line in (house.current / "public/_headers").read_text().splitlines():
        if not line.startswith(" "):
            rule = read.setdefault(line, {})
        else:
            name, _, value = line.strip().partition(": ")
            rule[name.lower()] = value
    used = set()
    for path, headers in (expected(house) | expected_of_indexes(house, for_all_readers=True)).items():
        (name,) = [name for name in read if name == path or ("*" in name and is_in_folder(name, path))]
        assert read[name] == headers, path
        used.add(name)
    assert used == set(read)
    assert all(len(line) <= 2000 for line in (house.current / "public/_headers").read_text().splitlines())


def test_the_redirects_file_leads_each_path_to_its_body(house):
    lines = (house.current / "public/_redirects").read_text().splitlines()
    read = {line.split()[0]: tuple(line.split()[1:]) for line in lines}
    assert len(read) == len(lines)
    led_on = {path: (to, "302") for path, (to, _) in expected_redirects(house).items()}
    assert {path: rule for path, rule in read.items() if rule[1] == "302"} == led_on
    site = site_of(house.current)
    for path, document in site.documents.items():
        file, status = read.get(path, (f"{path}index.html" if path.endswith("/") else path, "200"))
        assert status == "200"
        body = (house.current / "public" / file.removeprefix("/")).read_bytes()
        assert body == document.fresh["identity"].body["body"]
    assert set(read) <= {*site.documents, *site.redirects}


def test_the_nginx_configuration_says_what_the_map_says(house):
    text = (house.current / "hosting/nginx.conf").read_text()
    read, led_on, table = {}, {}, table_of(house)
    patterns = {expression(pattern): pattern for pattern in table["folders"]}
    for path, block in re.findall(r"location (?:= |~ \")([/^][^ \"]*)\"? \{\n((?:            .*\n)+)", text):
        path = patterns.get(path.replace("\\\\", "\\"), path)
        headers = unquoted(re.findall(rf"add_header (\S+) {QUOTED};", block))
        if (to := re.search(r"return 302 (\S+);", block)) is not None:
            led_on[path] = (to[1], headers)
            continue
        headers["content-type"] = re.search(rf"default_type {QUOTED};", block)[1]
        read[path] = headers
        route = table["routes"].get(path, {})
        assert ("if ($args)" in block) == bool(route.get("parameters")), path
        assert ("if ($http_accept" in block) == bool(route.get("markdown") or path in table["indexes"]), path
        assert not route or f"try_files /{route['file']} =404;" in block, path
    indexes = expected_of_indexes(house, for_all_readers=False)
    assert (read, led_on) == (expected(house) | indexes, expected_redirects(house))


def test_the_caddy_configuration_says_what_the_map_says(house):
    text = (house.current / "hosting/Caddyfile").read_text()
    table = table_of(house)
    patterns = {expression(pattern): pattern for pattern in table["folders"]}
    found = re.findall(
        r"(@(?:route|redirect|index|folder)\d+) \{\n\t\tmethod GET HEAD\n\t\tpath(?:_regexp)? (\S+)", text
    )
    names = {matcher: patterns.get(path, path) for matcher, path in found}
    read, led_on = {}, {}
    for matcher, block in re.findall(r"\thandle (@(?!spelled)\S+|/\S+) \{\n((?:\t\t.*\n)+)\t\}", text):
        headers = unquoted(re.findall(rf"header (\S+) {QUOTED}", block))
        if (to := re.search(r"redir \* (\S+) 302", block)) is not None:
            led_on[names[matcher]] = (to[1], headers)
        else:
            path = names.get(matcher, matcher)
            read[path] = headers
            route = table["routes"].get(path)
            assert route is None or f"rewrite * /{route['file']}\n" in block, path
    indexes = expected_of_indexes(house, for_all_readers=False)
    assert (read, led_on) == (expected(house) | indexes, expected_redirects(house))


def test_the_route_table_names_files_that_are_there(house):
    table = table_of(house)
    collected = {file_of(path) for row in PROJECTIONS if row.collection for path in row.paths}
    for route in table["routes"].values():
        for suffix in ("", ".gz") if route["file"] in collected else ("", ".br", ".gz", ".zst"):
            assert (house.current / "public" / (route["file"] + suffix)).is_file()
        assert set(route.get("variants", {}).values()) <= set(table["routes"])
    assert set(CACHE_CONTROL) == {"revalidated", "discovery", "immutable"}


def test_a_cdn_takes_the_rules(house):
    rules = [line for line in (house.current / "public/_headers").read_text().splitlines() if line[0] != " "]
    redirects = (house.current / "public/_redirects").read_text().splitlines()
    assert len(rules) <= 100
    assert len(redirects) <= 2000


async def unreachable(scope, receive, send):
    raise AssertionError(f"{scope['path']} must not get here")


nginx_needed = pytest.mark.skipif(not have_nginx() and os.environ.get("CI") != "true", reason="nginx is not installed")
caddy_needed = pytest.mark.skipif(
    not caddy.is_installed() and os.environ.get("CI") != "true", reason="Caddy is not installed"
)


class Answer(NamedTuple):
    """A server's answer that no client has interpreted or changed."""

    status_code: int
    headers: dict[str, str]
    content: bytes


def answer_of_server(connection: http.client.HTTPConnection, method: str, path: str, headers: dict[str, str]) -> Answer:
    connection.request(method, path, headers=headers)
    answer = connection.getresponse()
    sent: dict[str, str] = {}
    for name, value in answer.headers.items():
        sent[name.lower()] = f"{sent[name.lower()]}, {value}" if name.lower() in sent else value
    return Answer(answer.status, sent, answer.read())


async def answer_of_front(front: Front, method: str, path: str, headers: dict[str, str]) -> Answer:
    """Calls the front without an HTTP client, which would take ten times as long as the answer."""
    path, _, query = path.partition("?")
    scope = {"type": "http", "http_version": "1.1", "method": method, "scheme": "https", "root_path": ""}
    scope |= {"path": path, "raw_path": path.encode(), "query_string": query.encode(), "client": ("192.0.2.1", 50000)}
    scope |= {
        "headers": [(b"host", b"svc.example"), *((name.encode(), text.encode()) for name, text in headers.items())]
    }
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b""}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    await front(scope, receive, send)
    start, *bodies = sent
    names = {name.decode(): value.decode() for name, value in start["headers"]}
    assert len(names) == len(start["headers"])
    return Answer(start["status"], names, b"".join(body.get("body", b"") for body in bodies))


async def answers_of_both(house, port: int, **headers: str):
    """Yields paths with what a web server on `port` answers there and what the front does, by GET and HEAD.

    Of the hundreds of pages of a collection, it covers only the first and the last of each media type: the tests of the
    configurations read the rules of all.
    """
    front = Front(house.settings, unreachable, None, clock=house.now.timestamp)
    front.follow_pointer(house.now.timestamp())
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=HANG_S)) as connection:
        documents = [path for path in front.site.documents if path not in BETWEEN_OTHERS]
        paths = [*documents, *front.site.redirects, *front.site.files]
        queried = [f"{path}?any=1" for path in documents if not front.site.documents[path].has_variants]
        for path in (*paths, *queried):
            for method in ("GET", "HEAD"):
                theirs = answer_of_server(connection, method, path, headers)
                yield path, theirs, await answer_of_front(front, method, path, headers)


def statuses_of_other_spellings(house, port: int) -> set[int]:
    """Returns the statuses of other spellings of published paths where no API runs: 502 stands for the API's answer."""
    paths = [path for path in site_of(house.current).documents if path != "/"][:5]
    spelled = [
        f"{before}{path}{query}"
        for path in [*paths, *site_of(house.current).files][:6]
        for before in ("/", "/.", "/x/..", "/%2E")
        for query in ("", "?any=1")
    ]
    spelled += [f"/%{ord(path[1]):x}{path[2:]}" for path in paths]
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=HANG_S)) as connection:
        return {answer_of_server(connection, "GET", path, {}).status_code for path in spelled}


def varied_by(answer: Answer) -> list[str]:
    return answer.headers.get("vary", "").split(", ")


@nginx_needed
def test_nginx_answers_as_the_front_does(house):
    async def compare(port: int, encoding: str) -> None:
        async for path, theirs, ours in answers_of_both(house, port, **{"accept-encoding": encoding}):
            assert theirs.status_code == ours.status_code, path
            assert ours.status_code in (200, 302), path
            same = set(ours.headers) - {"etag"}
            if encoding == "gzip":
                same -= {"accept-ranges"}  # nginx serves no ranges of pre-compressed files
            if ours.status_code == 302:
                same -= {"content-length"}  # nginx sends a page with it
            else:
                assert theirs.content == ours.content, path
            for name in same:
                assert theirs.headers[name] == ours.headers[name], (path, name, encoding)

    with serving(house.data_dir) as (port, _):
        for encoding in ("identity", "gzip"):
            asyncio.run(compare(port, encoding))
        assert statuses_of_other_spellings(house, port) == {502}


@caddy_needed
def test_caddy_answers_as_the_front_does(house):
    async def compare(port: int, encoding: str) -> None:
        async for path, theirs, ours in answers_of_both(house, port, **{"accept-encoding": encoding}):
            assert (theirs.status_code, theirs.content) == (ours.status_code, ours.content), path
            same = set(ours.headers) - {"etag", "vary"}
            if ours.status_code == 302 or encoding != "identity":
                same -= {"content-length", "accept-ranges"}  # Caddy omits both on redirects and compressed files
            for name in same:
                assert theirs.headers[name] == ours.headers[name], (path, name, encoding)
            # Caddy repeats the Vary field on answers that it compressed
            assert set(varied_by(theirs)) == set(varied_by(ours)), path

    with caddy.serving(house.data_dir) as port:
        for encoding in ("identity", "br, gzip;q=0.5"):
            asyncio.run(compare(port, encoding))
        assert statuses_of_other_spellings(house, port) == {502}
        with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=HANG_S)) as connection:
            css = next((house.current / "public/assets/css").glob("*.css"))
            path, asked = f"/assets/css/{css.name}", {"accept-encoding": "gzip", "range": "bytes=1-9"}
            part = answer_of_server(connection, "GET", path, asked)
            assert (part.status_code, part.content) == (206, css.read_bytes()[1:10])
            assert "content-encoding" not in part.headers


@nginx_needed
def test_nginx_hands_what_no_file_answers_to_the_api(tmp_path):
    house = House(tmp_path, base_url=None, port=free_port(), rate_limit_per_minute=0)
    house.read_chain(mint(150), 20)
    house.publish(DOCUMENTS[1], "/openapi.json", "/", "/index.md", "/404.html")
    settings = house.settings.model_copy(update={"rate_limit_per_minute": 20, "trusted_proxies": ("127.0.0.1",)})
    with (
        running(create_app(settings), settings.port),
        serving(tmp_path) as (port, _),
        httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=HANG_S) as client,
    ):
        assert len(client.get(f"{DOCUMENTS[1]}?limit=60").json()["holders"]) == 60
        assert client.get(f"{DOCUMENTS[1]}?limit=59").json()["code"] == "parameter_invalid"
        for nowhere in ("/nowhere", "/.well-known/none.json", "/data/none", "/openapi.json/", "/OpenAPI.json"):
            assert client.get(nowhere).json()["code"] == "route_unknown", nowhere
        page = client.get("/nowhere", headers={"accept": "text/html,*/*;q=0.8"})
        assert (page.status_code, page.content) == (404, (house.current / "public/404.html").read_bytes())
        for path in ("/openapi.json", "/"):
            refused = client.post(path, json={})
            assert (refused.status_code, refused.headers["allow"]) == (405, "GET, HEAD, OPTIONS"), path
            assert refused.json()["code"] == "method_not_allowed"
            leave = client.options(path, headers={"access-control-request-method": "GET"})
            assert (leave.status_code, leave.headers["access-control-allow-methods"]) == (204, "GET, HEAD, OPTIONS")
        part = client.get("/data/index.json", headers={"accept-encoding": "gzip", "range": "bytes=1-9"})
        assert part.status_code == 206
        assert part.content == (house.current / "public/data/index.json").read_bytes()[1:10]
        statuses = [client.get("/api/nowhere").status_code for _ in range(45)]
        # exactly the limit; a window may end meanwhile
        assert 18 <= statuses.count(404) <= 40
        assert statuses.count(404) + statuses.count(429) == 45


@nginx_needed
def test_nginx_answers_304_and_follows_the_pointer(tmp_path):
    house = House(tmp_path)
    house.publish(DOCUMENTS[0])
    with serving(tmp_path) as (port, _), httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=HANG_S) as client:
        first = client.get(DOCUMENTS[0])
        again = client.get(DOCUMENTS[0], headers={"if-none-match": first.headers["etag"]})
        assert again.status_code == 304
        assert again.headers["cache-control"] == first.headers["cache-control"]
        house.read_chain(mint(70), 20)
        house.publish(DOCUMENTS[0])
        moved = client.get(DOCUMENTS[0], headers={"if-none-match": first.headers["etag"]})
        assert moved.json()["holderCount"] == 70
