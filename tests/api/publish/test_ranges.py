"""Byte ranges: from memory, from disk and from nginx."""

import asyncio
import os

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nginx import have_nginx, serving
from patience import HANG_S
from publishing import House, mint

from api.publish.front import Front
from api.publish.ranges import Slice, Unsatisfiable, select_bytes

LIST = "/data/holders-20.csv.gz"
DOCUMENT = "/api/token/holders"

TAG, SIZE = b'"abc"', 1000
MODIFIED = b"Fri, 02 Jan 2026 12:00:00 GMT"


@pytest.mark.parametrize(
    ("field", "selected"),
    [
        ("bytes=0-99", (0, 99)),
        ("bytes=0-0", (0, 0)),
        ("bytes=900-", (900, 999)),
        ("bytes=-100", (900, 999)),
        ("bytes=-5000", (0, 999)),
        ("bytes=900-5000", (900, 999)),
        ("bytes=999-999", (999, 999)),
        ("Bytes=0-1", (0, 1)),
        ("bytes= 0-1 ", (0, 1)),
        ("bytes=0 - 1", (0, 1)),
        ("bytes=2000-,0-1", (0, 1)),
        (f"bytes=0-{10**40}", (0, 999)),
        ("bytes=0-0,-1", None),
        ("bytes=0-99,0-99", None),
        ("bytes=" + ",".join(["0-"] * 200), None),
        ("bytes=" + ",".join(["0-9"] * 100_000), None),
        ("lines=1-2", None),
        ("bytes=", None),
        ("", None),
        ("bytes=1000-", Unsatisfiable),
        (f"bytes={10**40}-", Unsatisfiable),
        ("bytes=1005-1002", None),
        ("bytes=-0", Unsatisfiable),
        ("bytes=5-2", None),
        ("bytes=0-1,5-2", None),
        ("bytes=a-b", None),
        ("bytes=0-1,a", None),
        ("bytes=--1", None),
        ("bytes=1", None),
        ("bytes=0x1-2", None),
        ("bytes=\u0661-2", None),
    ],
)
def test_a_range_field_selects_one_range_the_whole_body_or_nothing(field, selected):
    encoded = field.encode()
    if selected is Unsatisfiable:
        with pytest.raises(Unsatisfiable):
            select_bytes(encoded, None, SIZE, TAG)
    else:
        assert select_bytes(encoded, None, SIZE, TAG) == (selected and Slice(*selected))


@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        (b'"abc"', True),
        (b' "abc" ', True),
        (MODIFIED, True),
        (b'W/"abc"', False),
        (b'"other"', False),
        (b'"abc", "other"', False),
        (b"Fri, 02 Jan 2026 12:00:01 GMT", False),
        (b"*", False),
        (b"", False),
    ],
)
def test_if_range_gives_a_range_only_of_the_same_body(condition, holds):
    assert select_bytes(b"bytes=0-9", condition, SIZE, TAG, MODIFIED) == (Slice(0, 9) if holds else None)


@given(st.text(alphabet="bytes=0123456789-, ", max_size=60), st.integers(0, 50))
def test_no_range_field_selects_more_than_the_body(field, size):
    try:
        selected = select_bytes(f"bytes={field}".encode(), None, size, TAG)
    except Unsatisfiable:
        return
    assert selected is None or 0 <= selected.first <= selected.last < size


@pytest.fixture(scope="module")
def house(tmp_path_factory):
    made = House(tmp_path_factory.mktemp("ranges"), rate_limit_per_minute=0)
    made.read_chain(mint(3000), 20)
    made.publish(DOCUMENT, "/data/index.html", "/data/index.md")
    return made


async def unreachable(scope, receive, send):
    raise AssertionError(f"{scope['path']} must not get here")


def front(house):
    return Front(house.settings, unreachable, None, clock=house.now.timestamp)


def ask(house, method, path, headers=None):
    async def asked():
        async with house.client(application=front(house)) as client:
            return await client.request(method, path, headers=headers or {})

    return asyncio.run(asked())


@pytest.mark.parametrize("path", [LIST, DOCUMENT, "/data/holders-20.parquet", "/data/svc.duckdb"])
def test_parts_of_a_body_make_the_body(house, path):
    whole = ask(house, "GET", path)
    assert (whole.status_code, whole.headers["accept-ranges"]) == (200, "bytes")
    half = len(whole.content) // 2
    parts = [ask(house, "GET", path, {"range": field}) for field in (f"bytes=0-{half - 1}", f"bytes={half}-")]
    assert [part.status_code for part in parts] == [206, 206]
    assert b"".join(part.content for part in parts) == whole.content
    assert parts[0].headers["content-range"] == f"bytes 0-{half - 1}/{len(whole.content)}"
    for name in ("etag", "cache-control", "content-type", "access-control-allow-origin"):
        assert parts[0].headers[name] == whole.headers[name]


@pytest.mark.parametrize("path", [DOCUMENT, "/data/holder_lists.csv", "/data/", "/data/manifest.json"])
def test_a_range_is_of_the_body_as_it_is_also_for_a_client_that_accepts_gzip(house, path):
    plain, packed = (ask(house, "GET", path, {"accept-encoding": coding}) for coding in ("identity", "gzip"))
    assert (packed.headers["content-encoding"], packed.content) == ("gzip", plain.content)
    assert int(packed.headers["content-length"]) < len(plain.content)
    assert packed.headers["etag"] == f'{plain.headers["etag"][:-1]}-gz"'
    assert (
        plain.headers["vary"]
        == packed.headers["vary"]
        == ("Accept-Encoding, Accept" if path == "/data/" else "Accept-Encoding")
    )
    asked = {"accept-encoding": "gzip", "range": "bytes=1-2"}
    part = ask(house, "GET", path, asked)
    assert (part.status_code, part.content) == (206, plain.content[1:3])
    assert part.headers["content-range"] == f"bytes 1-2/{len(plain.content)}"
    assert (part.headers["etag"], "content-encoding" in part.headers) == (plain.headers["etag"], False)
    # The client has the other representation.
    whole = ask(house, "GET", path, {**asked, "if-range": packed.headers["etag"]})
    assert (whole.status_code, whole.headers["etag"]) == (200, plain.headers["etag"])
    again = ask(house, "GET", path, {"accept-encoding": "gzip", "if-none-match": packed.headers["etag"]})
    assert (again.status_code, again.headers["etag"]) == (304, packed.headers["etag"])


@pytest.mark.parametrize("path", [LIST, DOCUMENT])
def test_a_client_that_excludes_the_identity_encoding_gets_no_range(house, path):
    asked = {"accept-encoding": "gzip, identity;q=0", "range": "bytes=1-2"}
    whole = ask(house, "GET", path, asked)
    if path == DOCUMENT:
        assert (whole.status_code, whole.headers["content-encoding"]) == (200, "gzip")
        assert whole.content == ask(house, "GET", path).content
        refused = ask(house, "GET", path, {**asked, "accept-encoding": "identity;q=0"})
        assert refused.status_code == 406
    else:  # this file has no other encoding
        assert whole.status_code == 206


@pytest.mark.parametrize("path", [LIST, DOCUMENT])
def test_a_range_outside_of_the_body_is_refused_with_its_size(house, path):
    size = len(ask(house, "GET", path).content)
    refused = ask(house, "GET", path, {"range": f"bytes={size}-"})
    assert (refused.status_code, refused.headers["content-range"]) == (416, f"bytes */{size}")
    assert refused.json()["code"] == "range_not_satisfiable"


@pytest.mark.parametrize("path", [LIST, DOCUMENT])
@pytest.mark.parametrize("field", ["bytes=5-2", "bytes=a-b"])
def test_an_invalid_range_is_ignored_and_the_whole_body_sent(house, path, field):
    whole, answer = ask(house, "GET", path), ask(house, "GET", path, {"range": field})
    assert (answer.status_code, answer.content) == (200, whole.content)
    assert "content-range" not in answer.headers


@pytest.mark.parametrize("path", [LIST, DOCUMENT])
def test_head_has_no_ranges_and_what_is_unchanged_is_not_sent(house, path):
    whole = ask(house, "GET", path)
    head = ask(house, "HEAD", path, {"range": "bytes=0-1"})
    assert (head.status_code, head.content, head.headers["content-length"]) == (200, b"", str(len(whole.content)))
    unchanged = ask(house, "GET", path, {"range": "bytes=0-1", "if-none-match": whole.headers["etag"]})
    assert (unchanged.status_code, unchanged.content) == (304, b"")


def test_a_file_is_unchanged_since_the_time_that_it_names(house):
    whole = ask(house, "GET", LIST)
    unchanged = ask(house, "GET", LIST, {"if-modified-since": whole.headers["last-modified"]})
    assert (unchanged.status_code, unchanged.headers["etag"]) == (304, whole.headers["etag"])


def test_pages_of_other_origins_may_ask_for_ranges_and_read_what_they_got(house):
    headers = ask(house, "GET", LIST, {"range": "bytes=0-1", "origin": "https://elsewhere.example"}).headers
    assert {"Accept-Ranges", "Content-Range", "ETag"} <= set(headers["access-control-expose-headers"].split(", "))
    leave = ask(house, "OPTIONS", LIST, {"access-control-request-method": "GET"}).headers
    assert {"Range", "If-Range"} <= set(leave["access-control-allow-headers"].split(", "))


def test_a_large_file_is_sent_in_small_pieces(house, tmp_path):
    large = house.copied(tmp_path / "copy")
    size = 40_000_000
    path = large.current / "public/data/svc.duckdb"
    application = front(large)
    application.follow_pointer(large.now.timestamp())
    file = application.site.files["/data/svc.duckdb"]
    path.unlink()
    with path.open("wb") as handle:
        handle.truncate(size)
    sent = []

    async def send(message):
        sent.append(len(message.get("body", b"")))

    object.__setattr__(file.encodings["identity"].encoded, "size", size)
    scope = {"type": "http", "method": "GET", "path": "/data/svc.duckdb", "query_string": b"", "headers": []}
    asyncio.run(application(scope, None, send))
    assert sum(sent) == size
    assert max(sent) <= 256 * 1024


@pytest.mark.skipif(not have_nginx() and os.environ.get("CI") != "true", reason="nginx is not installed")
def test_nginx_answers_ranges_as_the_front_does_and_refuses_invalid_ones(house):
    fields = [
        "bytes=0-99",
        "bytes=100-",
        "bytes=-100",
        "bytes=-99999999",
        "bytes=50-99999999",
        "bytes=0-0,-1",
        "bytes=0-99,50-149",
        "bytes=99999999-,0-9",
        "bytes=" + ",".join(["0-1"] * 50),
        "bytes=99999999-",
        "bytes=-0",
        "bytes=",
        "lines=0-1",
    ]

    async def compare():
        with serving(house.data_dir) as (port, _):
            theirs = httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=HANG_S)
            theirs.headers.clear()
            async with theirs, house.client(application=front(house)) as ours:
                for path in (LIST, DOCUMENT, "/data/holders-20.parquet", "/data/"):
                    for field in fields:
                        answers = [await client.get(path, headers={"range": field}) for client in (theirs, ours)]
                        nginx, front_ = answers
                        assert nginx.status_code == front_.status_code, (path, field)
                        assert nginx.headers.get("content-range") == front_.headers.get("content-range"), (path, field)
                        if nginx.status_code != 416:
                            assert nginx.content == front_.content, (path, field)
                    for field in ("bytes=5-2", "bytes=a-b", "bytes=0-1,"):
                        answers = [await client.get(path, headers={"range": field}) for client in (theirs, ours)]
                        assert [answer.status_code for answer in answers] == [416, 200], "RFC 9110 leaves it to each"
                    for client in (theirs, ours):
                        first = await client.get(path)
                        for condition, status in (
                            (first.headers["etag"], 206),
                            ('"other"', 200),
                            (f"W/{first.headers['etag']}", 200),
                        ):
                            asked = {"range": "bytes=0-9", "if-range": condition}
                            assert (await client.get(path, headers=asked)).status_code == status, (path, condition)

    asyncio.run(compare())
