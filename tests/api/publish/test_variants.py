import asyncio

import httpx
import pytest
from publishing import House, mint
from starlette.applications import Starlette
from starlette.responses import Response
from starlette.routing import Route

from api.compression import COMPRESSED_FROM_BYTES, Compression

MAP = "/api/token/holders-map"
TEMPORAL = "/api/token/holders-map-temporal"


@pytest.fixture(scope="module")
def house(tmp_path_factory):
    made = House(tmp_path_factory.mktemp("variants"), rate_limit_per_minute=0)
    made.read_chain(mint(150), 20)
    made.read_chain([(30, "0x" + "0" * 40, "0x" + "ee" * 20, 5)], 40)
    made.publish(MAP, TEMPORAL)
    return made


def get(house, path, headers=None):
    async def ask():
        async with house.client(application=house.application) as client:
            return await client.get(path, headers=headers or {})

    return asyncio.run(ask())


@pytest.mark.parametrize(
    ("query", "pointer"),
    [
        ("limit=59", "/query/limit"),
        ("limit=5001", "/query/limit"),
        ("limit=x", "/query/limit"),
        ("limit=", "/query/limit"),
        ("limit=60&limit=60", "/query/limit"),
        ("surprise=1", "/query/surprise"),
        ("cursor=" + "a" * 200, "/query/cursor"),
    ],
)
def test_a_parameter_out_of_range_repeated_or_unknown_is_400_and_named(house, query, pointer):
    answer = get(house, f"{MAP}?{query}")
    assert (answer.status_code, answer.json()["code"]) == (400, "parameter_invalid")
    assert answer.json()["errors"][0]["pointer"] == pointer


@pytest.mark.parametrize("cursor", ["broken", "%00", "AAAA"])
def test_a_broken_cursor_is_400(house, cursor):
    assert get(house, f"{MAP}?cursor={cursor}").json()["code"] == "cursor_invalid"


def test_a_walk_over_all_pages_finds_every_holder_once(house):
    path, seen = f"{MAP}?limit=60", []
    while path:
        page = get(house, path).json()
        seen += [holder["address"] for holder in page["holders"]]
        path = page["links"]["next"]
    assert len(seen) == len(set(seen)) == 151


def test_the_default_file_and_the_same_variant_have_equal_rows(house):
    published, computed = get(house, MAP).json(), get(house, f"{MAP}?limit=100").json()
    for field in ("holders", "total", "generation", "generatedAt", "snapshot", "nextCursor"):
        assert computed[field] == published[field]


def test_a_variant_answers_conditional_requests_too(house):
    first = get(house, f"{MAP}?limit=60")
    again = get(house, f"{MAP}?limit=60", {"if-none-match": f'"x", W/{first.headers["etag"]}'})
    assert (again.status_code, again.content) == (304, b"")
    assert again.headers["etag"] == first.headers["etag"]
    assert again.headers["cache-control"] == first.headers["cache-control"]


@pytest.mark.parametrize("encoding", ["br", "zstd", "gzip"])
def test_a_variant_is_encoded_as_its_client_accepts(house, encoding):
    plain = get(house, f"{MAP}?limit=60")
    encoded = get(house, f"{MAP}?limit=60", {"accept-encoding": f"{encoding}, identity;q=0.5"})
    assert encoded.headers["content-encoding"] == encoding
    assert encoded.headers["etag"] != plain.headers["etag"]
    assert encoded.content == plain.content
    assert "content-encoding" not in plain.headers
    headers = {"accept-encoding": encoding, "if-none-match": encoded.headers["etag"]}
    assert get(house, f"{MAP}?limit=60", headers).status_code == 304


VARIANT = f"{MAP}?limit=60"


@pytest.mark.parametrize("query", ["", "?limit=60", "?limit=120"])
@pytest.mark.parametrize(
    ("accepted", "status", "encoding"),
    [
        ("*;q=0", 406, None),
        ("identity;q=0", 406, None),
        ("identity;q=0, gzip", 200, "gzip"),
        ("*;q=0, br", 200, "br"),
        ("gzip;q=0", 200, None),
        ("identity, gzip;q=0.5", 200, None),
        ("deflate", 200, None),
        ("", 200, None),
    ],
)
def test_accepted_encodings_mean_the_same_with_a_query_and_without(house, query, accepted, status, encoding):
    answer = get(house, MAP + query, {"accept-encoding": accepted})
    assert (answer.status_code, answer.headers.get("content-encoding")) == (status, encoding)
    if status == 406:
        assert answer.json()["code"] == "not_acceptable"


@pytest.mark.parametrize("query", ["", "?limit=60"])
def test_a_range_means_the_same_with_a_query_and_without(house, query):
    path = MAP + query
    whole = get(house, path)
    size = len(whole.content)
    assert whole.headers["accept-ranges"] == "bytes"
    part = get(house, path, {"range": "bytes=10-19", "accept-encoding": "gzip"})
    assert (part.status_code, part.content) == (206, whole.content[10:20])
    assert part.headers["content-range"] == f"bytes 10-19/{size}"
    assert (part.headers["etag"], "content-encoding" in part.headers) == (whole.headers["etag"], False)
    assert "accept-ranges" not in part.headers
    refused = get(house, path, {"range": f"bytes={size}-"})
    assert (refused.status_code, refused.headers["content-range"]) == (416, f"bytes */{size}")
    assert refused.json()["code"] == "range_not_satisfiable"
    for ignored in (
        {"range": "bytes=5-2"},
        {"range": "bytes=0-1,4-5"},
        {"range": "bytes=0-1", "if-range": '"another"'},
        {"range": "bytes=0-1", "accept-encoding": "gzip, identity;q=0"},
    ):
        answer = get(house, path, ignored)
        assert (answer.status_code, answer.content) == (200, whole.content), ignored
    unchanged = get(house, path, {"range": "bytes=0-1", "if-none-match": whole.headers["etag"]})
    assert (unchanged.status_code, unchanged.content) == (304, b"")


def test_head_of_a_variant_has_no_range(house):
    async def head():
        async with house.client(application=house.application) as client:
            return await client.head(VARIANT, headers={"range": "bytes=0-1"})

    answer = asyncio.run(head())
    assert (answer.status_code, answer.content) == (200, b"")
    assert answer.headers["content-length"] == str(len(get(house, VARIANT).content))


@pytest.mark.parametrize(
    ("fields", "encoding"),
    [
        ({"accept-encoding": "gzip"}, "gzip"),
        ({"accept-encoding": "br, gzip"}, "gzip"),
        ({"accept-encoding": "gzip;q=0"}, None),
        ({"accept-encoding": "identity, gzip;q=0.5"}, None),
        ({"accept-encoding": "gzip", "range": "bytes=0-1"}, None),
        ({}, None),
    ],
)
def test_a_large_answer_of_a_room_is_compressed_for_who_prefers_that(fields, encoding):
    async def large(request):
        return Response(b"a" * COMPRESSED_FROM_BYTES)

    async def asked():
        transport = httpx.ASGITransport(Compression(Starlette(routes=[Route("/", large)])))
        async with httpx.AsyncClient(
            transport=transport, base_url="http://test", headers={"accept-encoding": ""}
        ) as client:
            del client.headers["accept-encoding"]
            return await client.get("/", headers=fields)

    answer = asyncio.run(asked())
    assert (answer.headers.get("content-encoding"), answer.headers["vary"]) == (encoding, "Accept-Encoding")


def test_two_snapshots_can_be_named(house):
    body = get(house, f"{TEMPORAL}?from=20&to=40").json()
    assert (body["from"]["id"], body["to"]["id"], body["churn"]["entered"]) == ("20", "40", 1)
    assert get(house, f"{TEMPORAL}?from=21").json()["code"] == "snapshot_unknown"


def test_a_variant_of_a_generation_marked_stale_is_stale_too(tmp_path):
    house = House(tmp_path)
    house.read_chain(mint(70), 20)
    house.publish(MAP)
    house.republish_stale("check_failed")
    body = get(house, f"{MAP}?limit=60").json()
    assert (body["stale"], body["reason"]) == (True, "check_failed")
