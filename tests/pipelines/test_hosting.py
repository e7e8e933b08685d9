import asyncio
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest
from nginx import free_port, have_nginx, serving
from publishing import DOCUMENTS, House, mint

from api.front import Front
from api.published import load_site
from contracts.routes import CACHE_CONTROL, OPEN_HEADERS
from warehouse.generations import current_generation

PATHS = (*DOCUMENTS, "/openapi.json")
LIST = "/data/holders-20.csv.gz"
SAME = ("content-type", "cache-control", *(name.lower() for name in OPEN_HEADERS))


@pytest.fixture(scope="module")
def house(tmp_path_factory):
    made = House(tmp_path_factory.mktemp("hosting"), rate_limit_per_minute=0)
    made.read_chain(mint(150), 20)
    made.publish()
    return made


def expected(house) -> dict[str, dict[str, str]]:
    """What the map in memory sends of each path, and from which file."""
    site = load_site(current_generation(house.data_dir), None)
    sent = {path: document.fresh["identity"].start["headers"] for path, document in site.documents.items()}
    sent |= {"/data/*": site.files[LIST].encoded.start["headers"]}
    return {
        path: {name.decode(): value.decode() for name, value in headers if name.decode() in SAME}
        for path, headers in sent.items()
    }


def test_the_headers_file_says_what_the_map_says(house):
    read: dict[str, dict[str, str]] = {}
    for line in (house.current / "public/_headers").read_text().splitlines():
        if not line.startswith(" "):
            rule = read.setdefault(line, {})
        else:
            name, _, value = line.strip().partition(": ")
            rule[name.lower()] = value
    for path, headers in expected(house).items():
        assert read.pop(path) == headers, path
    assert set(read) == {f"{path}.json" for path in DOCUMENTS}
    assert all(len(line) <= 2000 for line in (house.current / "public/_headers").read_text().splitlines())


def test_the_redirects_file_leads_each_path_to_its_body(house):
    lines = (house.current / "public/_redirects").read_text().splitlines()
    read = {line.split()[0]: line.split()[1:] for line in lines}
    assert read == {path: [f"{path}.json", "200"] for path in DOCUMENTS}
    site = load_site(current_generation(house.data_dir), None)
    for path, (file, _) in read.items():
        body = (house.current / "public" / file.removeprefix("/")).read_bytes()
        assert body == site.documents[path].fresh["identity"].body["body"]


def test_the_nginx_configuration_says_what_the_map_says(house):
    text = (house.current / "hosting/nginx.conf").read_text()
    read = {}
    for path, block in re.findall(r"location (?:= )?(/\S+) \{\n((?:            .*\n)+)", text):
        headers = {name.lower(): value for name, value in re.findall(r'add_header (\S+) "([^"]*)";', block)}
        headers["content-type"] = re.search(r"default_type (\S+);", block)[1]
        read["/data/*" if path == "/data/" else path] = headers
        assert ("if ($args)" in block) == (path in DOCUMENTS[1:])
    assert read == expected(house)


def test_the_caddy_configuration_says_what_the_map_says(house):
    text = (house.current / "hosting/Caddyfile").read_text()
    names = dict(re.findall(r"(@route\d+) \{\n\t\tmethod GET HEAD\n\t\tpath (\S+)", text))
    read = {}
    for matcher, block in re.findall(r"\thandle (@\S+|/\S+) \{\n((?:\t\t.*\n)+)\t\}", text):
        headers = {name.lower(): value for name, value in re.findall(r'header (\S+) "([^"]*)"', block)}
        read[names.get(matcher, matcher)] = headers
    assert read == expected(house)


def test_the_route_table_names_files_that_are_there(house):
    table = json.loads((house.current / "public/routes.json").read_text())
    assert set(table["routes"]) == set(PATHS)
    for route in table["routes"].values():
        for suffix in ("", ".br", ".gz", ".zst"):
            assert (house.current / "public" / (route["file"] + suffix)).is_file()
    assert set(CACHE_CONTROL) == {"revalidated", "immutable"}


async def unreachable(scope, receive, send):
    raise AssertionError(f"{scope['path']} must not get here")


nginx_needed = pytest.mark.skipif(not have_nginx() and os.environ.get("CI") != "true", reason="nginx is not installed")


@nginx_needed
@pytest.mark.parametrize("encoding", ["identity", "gzip"])
def test_nginx_answers_as_the_front_does(house, encoding):
    async def both(port):
        theirs = httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}")
        theirs.headers.clear()
        front = Front(house.settings, unreachable, None, clock=house.now.timestamp)
        async with theirs, house.client(application=front) as ours:
            for path in (*PATHS, f"{DOCUMENTS[0]}?any=1", LIST):
                for method in ("GET", "HEAD"):
                    yield (
                        path,
                        *[
                            await client.request(method, path, headers={"accept-encoding": encoding})
                            for client in (theirs, ours)
                        ],
                    )

    async def compare():
        with serving(house.data_dir) as (port, _):
            async for path, theirs, ours in both(port):
                assert theirs.status_code == ours.status_code == 200, path
                assert theirs.content == ours.content, path
                for name in (*SAME, "content-length", "content-encoding"):
                    assert theirs.headers.get(name) == ours.headers.get(name), (path, name)
                if path != LIST:
                    assert theirs.headers["vary"] == ours.headers["vary"]

    asyncio.run(compare())


@nginx_needed
def test_nginx_hands_what_no_file_answers_to_the_api(tmp_path):
    house = House(tmp_path, base_url=None, port=free_port(), rate_limit_per_minute=0)
    house.read_chain(mint(150), 20)
    house.publish()
    environment = {
        **os.environ,
        "SVC_DATA_DIR": str(tmp_path),
        "SVC_PORT": str(house.settings.port),
        "SVC_RPC_URLS": "http://127.0.0.1:1",
        "SVC_TRUSTED_PROXIES": "127.0.0.1",
    }
    process = subprocess.Popen([Path(sys.executable).with_name("svc"), "serve", "--workers", "2"], env=environment)
    try:
        with serving(tmp_path) as (port, _), httpx.Client(base_url=f"http://127.0.0.1:{port}") as client:
            deadline = time.monotonic() + 60
            while client.get("/health").status_code != 200:
                assert time.monotonic() < deadline
                time.sleep(0.1)
            assert len(client.get(f"{DOCUMENTS[1]}?limit=60").json()["holders"]) == 60
            assert client.get(f"{DOCUMENTS[1]}?limit=59").json()["code"] == "parameter_invalid"
            assert client.get("/nowhere").json()["code"] == "route_unknown"
            statuses = [client.get("/api/nowhere").status_code for _ in range(45)]
            # exactly the limit over both processes; a window may end on the way
            assert 18 <= statuses.count(404) <= 40
            assert statuses.count(404) + statuses.count(429) == 45
    finally:
        process.terminate()
        process.wait(15)


@nginx_needed
def test_nginx_answers_304_405_and_404_and_follows_the_pointer(tmp_path):
    house = House(tmp_path)
    house.publish()
    with serving(tmp_path) as (port, _), httpx.Client(base_url=f"http://127.0.0.1:{port}") as client:
        first = client.get(DOCUMENTS[0])
        again = client.get(DOCUMENTS[0], headers={"if-none-match": first.headers["etag"]})
        assert again.status_code == 304
        assert again.headers["cache-control"] == first.headers["cache-control"]
        assert client.post(DOCUMENTS[0]).status_code == 405
        assert client.get("/data/none").status_code == 404
        house.read_chain(mint(70), 20)
        house.publish()
        moved = client.get(DOCUMENTS[0], headers={"if-none-match": first.headers["etag"]})
        assert moved.json()["holderCount"] == 70
