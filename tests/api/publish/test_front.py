import asyncio
import gzip
import json
from collections import Counter
from datetime import timedelta

import pytest
from publishing import DOCUMENTS, House, mint

from api.app import create_app
from api.publish.front import Front
from api.receiving import BODY_LIMIT_BYTES
from contracts.logs import TextLines
from warehouse.ledger.counters import Take

HOLDERS = "/api/token/holders"
SERVED = (*DOCUMENTS, "/openapi.json", "/api/token/price")


@pytest.fixture(scope="module")
def house(tmp_path_factory):
    made = House(tmp_path_factory.mktemp("front"), rate_limit_per_minute=0)
    made.read_chain(mint(70), 20)
    made.read_chain(mint(1, first=71, block=30), 40)
    made.publish(*SERVED)
    return made


def answers(house, *requests, application=None, peer="192.0.2.1"):
    """Returns the responses to `(method, path, headers)`, in order, from one client."""

    async def ask():
        async with house.client(application=application, peer=peer) as client:
            return [await client.request(method, path, headers=headers) for method, path, headers in requests]

    return asyncio.run(ask())


def ask(house, method, path, headers=None, **options):
    return answers(house, (method, path, headers or {}), **options)[0]


async def unreachable(scope, receive, send):
    raise AssertionError(f"{scope['path']} must not get here")


def front(house, *, at=None, take=None, application=unreachable, **settings):
    moment = (at or house.now).timestamp()
    return Front(House(house.data_dir, **settings).settings, application, take, clock=lambda: moment)


class Budget:
    """Counters in memory: `limit` for each key, and the keys that were counted."""

    def __init__(self):
        self.used = Counter()

    def take(self, key, limit, window_s, now_s):
        self.used[key] += 1
        left = limit - self.used[key]
        return Take(left >= 0, limit, max(left, 0), 42)


@pytest.mark.parametrize("path", [*DOCUMENTS, "/openapi.json"])
@pytest.mark.parametrize("encoding", ["identity", "gzip", "br", "zstd"])
def test_each_document_has_one_body_in_every_encoding(house, path, encoding):
    application = front(house, rate_limit_per_minute=0)
    plain = ask(house, "GET", path, application=application)
    encoded = ask(house, "GET", path, {"accept-encoding": encoding}, application=application)
    assert encoded.status_code == 200
    assert encoded.content == plain.content
    assert encoded.headers.get("content-encoding", "identity") == encoding
    assert encoded.headers["vary"] == "Accept-Encoding"
    assert (encoded.headers["etag"] == plain.headers["etag"]) == (encoding == "identity")


def test_headers_are_those_that_caches_and_pages_need(house):
    headers = ask(house, "GET", HOLDERS, application=front(house, rate_limit_per_minute=0)).headers
    assert headers["cache-control"] == "public, max-age=60, stale-while-revalidate=300, stale-if-error=86400"
    assert headers["content-type"] == "application/json"
    assert headers["access-control-allow-origin"] == "*"
    assert headers["x-content-type-options"] == "nosniff"
    assert "ratelimit-policy" not in headers


def test_head_is_get_without_a_body(house):
    application = front(house)
    get, head = answers(house, ("GET", HOLDERS, {}), ("HEAD", HOLDERS, {}), application=application)
    assert head.content == b""
    assert head.headers == get.headers


@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_an_unchanged_document_is_304_with_the_same_headers(house, method):
    application = front(house)
    first = ask(house, "GET", HOLDERS, {"accept-encoding": "br"}, application=application)
    listed = f'"other", W/{first.headers["etag"]}'
    again = ask(house, method, HOLDERS, {"accept-encoding": "br", "if-none-match": listed}, application=application)
    assert (again.status_code, again.content) == (304, b"")
    for name in ("etag", "cache-control", "vary", "access-control-allow-origin"):
        assert again.headers[name] == first.headers[name]
    assert "content-length" not in again.headers
    other_encoding = ask(house, "GET", HOLDERS, {"if-none-match": first.headers["etag"]}, application=application)
    assert other_encoding.status_code == 200


def test_no_acceptable_encoding_is_406(house):
    answer = ask(house, "GET", HOLDERS, {"accept-encoding": "*;q=0"}, application=front(house))
    assert (answer.status_code, answer.json()["code"]) == (406, "not_acceptable")


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH"])
def test_other_methods_are_405_and_name_the_right_ones(house, method):
    answer = ask(house, method, HOLDERS, application=front(house))
    assert (answer.status_code, answer.headers["allow"], answer.json()["ok"]) == (405, "GET, HEAD, OPTIONS", False)


def test_a_document_without_parameters_ignores_a_query_as_a_cdn_does(house):
    application = front(house)
    asked = ("GET", "/api/token/price", {}), ("GET", "/api/token/price?a=1&a=2", {})
    plain, queried = answers(house, *asked, application=application)
    assert queried.content == plain.content


def test_an_expired_document_is_served_as_its_stale_variant(house):
    late = front(house, at=house.now + timedelta(hours=1))
    fresh = ask(house, "GET", HOLDERS, application=front(house))
    stale = ask(house, "GET", HOLDERS, application=late)
    assert fresh.json()["stale"] is False
    assert (stale.json()["stale"], stale.json()["reason"]) == (True, "expired")
    assert fresh.headers["etag"] != stale.headers["etag"]
    again = ask(house, "GET", HOLDERS, {"if-none-match": fresh.headers["etag"]}, application=late)
    assert again.status_code == 200


def test_a_list_is_sent_from_disk_whole_and_immutable(house):
    application = front(house)
    path = "/data/holders-20.csv.gz"
    get, head = answers(house, ("GET", path, {}), ("HEAD", path, {}), application=application)
    assert get.content == (house.data_dir / "holders/holders-20.csv.gz").read_bytes()
    assert get.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert get.headers["content-type"] == "application/gzip"
    assert "content-encoding" not in get.headers
    assert (head.content, head.headers) == (b"", get.headers)
    again = ask(house, "GET", path, {"if-none-match": get.headers["etag"]}, application=application)
    assert again.status_code == 304
    assert ask(house, "POST", path, application=application).status_code == 405
    assert ask(house, "OPTIONS", path, application=application).headers["allow"] == "GET, HEAD, OPTIONS"


@pytest.mark.parametrize(
    "path",
    [
        "/data/../manifest.json",
        "/data/%2e%2e/%2e%2e/manifest.json",
        "/data/..%2f..%2fserving.duckdb",
        "/data//etc/passwd",
        "/data/holders-20.csv.gz/../../routes.json",
        "/../manifest.json",
        "/serving.duckdb",
        "/public/routes.json",
        "/api/token/holders.json",
        "//api/token/holders",
        "/API/token/holders",
        "/api/token/holders/",
        "/data/holders-20.csv.gz%00",
    ],
)
def test_only_published_paths_are_answered(house, path):
    answer = ask(house, "GET", path)
    assert (answer.status_code, answer.json()["code"]) == (404, "route_unknown")


def test_the_front_follows_the_pointer_at_most_twice_a_second(tmp_path):
    house = House(tmp_path)
    house.publish(HOLDERS)
    now = [house.now.timestamp()]
    following = Front(house.settings, unreachable, None, clock=lambda: now[0])
    first = ask(house, "GET", HOLDERS, application=following)
    house.read_chain(mint(70), 20)
    house.publish(HOLDERS)
    now[0] += 0.4
    assert ask(house, "GET", HOLDERS, application=following).content == first.content
    now[0] += 0.2
    assert ask(house, "GET", HOLDERS, application=following).json()["holderCount"] == 70


def test_a_generation_for_another_address_or_a_broken_one_leaves_the_last_one_up(tmp_path):
    house = House(tmp_path)
    house.publish(HOLDERS)
    now = [house.now.timestamp()]
    following = Front(house.settings, unreachable, None, clock=lambda: now[0])
    first = ask(house, "GET", HOLDERS, application=following)
    house.settings = House(tmp_path, base_url="https://other.example").settings
    house.read_chain(mint(70), 20)
    house.publish(HOLDERS)
    now[0] += 2
    assert ask(house, "GET", HOLDERS, application=following).content == first.content
    (tmp_path / "current").unlink()
    (tmp_path / "current").symlink_to("generations/none")
    now[0] += 2
    assert ask(house, "GET", HOLDERS, application=following).content == first.content


def test_exactly_the_limit_is_answered_to_one_address_and_304_counts_too(house):
    budget = Budget()
    limited = front(house, take=budget.take)
    tag = ask(house, "GET", HOLDERS, application=limited).headers["etag"]
    statuses = [
        answer.status_code
        for answer in answers(house, *[("GET", HOLDERS, {"if-none-match": tag})] * 21, application=limited)
    ]
    assert statuses == [304] * 19 + [429] * 2
    assert ask(house, "GET", HOLDERS, application=limited, peer="192.0.2.2").status_code == 200
    assert set(budget.used) == {"address:192.0.2.1", "address:192.0.2.2"}


def test_a_refusal_says_when_to_come_back(house):
    def none_left(key, limit, window_s, now_s):
        return Take(False, limit, 0, 17)

    answer = ask(house, "GET", HOLDERS, application=front(house, take=none_left))
    assert answer.status_code == 429
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.headers["retry-after"] == "17"
    assert answer.headers["ratelimit-policy"] == '"permin";q=20;w=60'
    assert answer.headers["ratelimit"] == '"permin";r=0;t=17'
    assert answer.headers["cache-control"] == "no-store"
    problem = answer.json()
    assert (problem["code"], problem["retryable"], problem["ok"]) == ("rate_limited", True, False)
    assert problem["requestId"] == answer.headers["x-request-id"]


def test_a_cacheable_document_carries_only_the_policy(house):
    headers = ask(house, "GET", HOLDERS, application=front(house, take=Budget().take)).headers
    assert headers["ratelimit-policy"] == '"permin";q=20;w=60'
    assert "ratelimit" not in headers


def test_discovery_data_and_health_are_not_counted(house):
    budget = Budget()

    async def health(scope, receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"{}"})

    counting = front(house, take=budget.take, application=health)
    for path in ("/openapi.json", "/data/holders-20.csv.gz", "/health", "/nowhere"):
        assert ask(house, "GET", path, application=counting).status_code == 200
    assert not budget.used
    for path in ("/api/nothing", "/mcp", "/blink/nothing"):
        answer = ask(house, "GET", path, application=counting)
        assert answer.headers["ratelimit"].startswith('"permin";r=')
    assert budget.used.total() == 3


def test_behind_a_trusted_proxy_each_client_has_its_own_budget(house):
    budget = Budget()
    limited = front(house, take=budget.take, trusted_proxies=("10.0.0.1",))
    for client in ("198.51.100.1", "198.51.100.2"):
        requests = [("GET", HOLDERS, {"x-forwarded-for": f"203.0.113.{n}, {client}"}) for n in range(21)]
        statuses = [a.status_code for a in answers(house, *requests, application=limited, peer="10.0.0.1")]
        assert statuses == [200] * 20 + [429]
    spoofed = [("GET", HOLDERS, {"x-forwarded-for": f"203.0.113.{n}"}) for n in range(21)]
    statuses = [a.status_code for a in answers(house, *spoofed, application=limited, peer="192.0.2.9")]
    assert statuses == [200] * 20 + [429]


def test_workers_share_the_limit_through_the_store(tmp_path):
    house = House(tmp_path)
    house.publish(HOLDERS)

    async def traffic():
        workers = create_app(house.settings), create_app(house.settings)
        async with house.client(application=workers[0]) as one, house.client(application=workers[1]) as other:
            asked = [await client.get(HOLDERS) for client in (one, other) * 15]
            return Counter(answer.status_code for answer in asked)

    counts = asyncio.run(traffic())
    # a window may end meanwhile, which lets at most the rest through
    assert counts[200] >= 20
    assert counts[200] + counts[429] == 30


def test_documents_are_still_answered_if_the_counter_store_fails(house):
    from contracts.errors import StoreBusy

    def busy(key, limit, window_s, now_s):
        raise StoreBusy("locked", cure="wait")

    assert ask(house, "GET", HOLDERS, application=front(house, take=busy)).status_code == 200


@pytest.mark.parametrize("declared", [True, False])
def test_a_body_above_the_limit_is_413_before_anybody_reads_it(house, declared):
    async def send_chunks():
        for _ in range(5):
            yield b"x" * (BODY_LIMIT_BYTES // 4)

    async def post():
        async with house.client(application=front(house)) as client:
            content = b"x" * (BODY_LIMIT_BYTES + 1) if declared else send_chunks()
            return await client.post("/api/intake", content=content)

    answer = asyncio.run(post())
    assert (answer.status_code, answer.json()["code"]) == (413, "body_too_large")


def posted(house, path, content, headers, application=None):
    async def post():
        async with house.client(application=application) as client:
            return await client.post(path, content=content, headers=headers)

    return asyncio.run(post())


@pytest.mark.parametrize(
    ("encodings", "named"),
    [
        ([b"gzip"], "gzip"),
        ([b"x-gzip"], "x-gzip"),
        ([b"br"], "br"),
        ([b"Zstd"], "Zstd"),
        ([b"identity, deflate"], "deflate"),
        ([b"gzip", b"br"], "gzip, br"),
        ([b"aes128gcm" * 9], "aes128gcmaes128gcmaes128gcmaes128gcmaes1"),
    ],
)
@pytest.mark.parametrize("path", ["/api/intake", "/api/agent-access/claim", "/blink/guardrail", "/mcp", "/api/v2/mcp"])
def test_a_compressed_body_is_415_and_names_the_encoding(house, path, encodings, named):
    headers = [(b"content-encoding", encoding) for encoding in encodings]
    answer = posted(house, path, gzip.compress(b"{}"), headers, front(house))
    problem = answer.json()["error"]["data"] if path.endswith("mcp") else answer.json()
    assert (answer.status_code, problem["code"]) == (415, "content_encoding_unsupported")
    assert f"The body has the Content-Encoding {named}. Send it uncompressed, without that field." in answer.text
    assert answer.headers["accept-encoding"] == "identity"


@pytest.mark.parametrize("encoding", ["identity", "", " Identity ,"])
def test_a_body_that_is_not_compressed_may_say_so(house, encoding):
    headers = {"Content-Encoding": encoding, "Content-Type": "application/json"}
    assert posted(house, "/api/intake", b"{}", headers).json()["code"] == "body_invalid"


def test_a_content_encoding_without_a_body_is_ignored(house):
    headers = {"Content-Encoding": "gzip", "Content-Type": "application/json"}
    assert posted(house, "/api/intake", b"", headers).json()["code"] == "body_invalid"
    assert ask(house, "GET", HOLDERS, headers).status_code == 200


def test_a_body_within_the_limit_arrives_whole(house):
    async def echo(scope, receive, send):
        message = await receive()
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": message["body"]})

    async def post():
        async with house.client(application=front(house, application=echo)) as client:
            return await client.post("/api/intake", content=b"x" * BODY_LIMIT_BYTES)

    assert len(asyncio.run(post()).content) == BODY_LIMIT_BYTES


def test_everything_is_503_until_the_first_generation(tmp_path):
    house = House(tmp_path)
    for path in (*DOCUMENTS, "/api/token/holders-map?limit=60", "/openapi.json", "/health"):
        answer = ask(house, "GET", path)
        assert (answer.status_code, answer.json()["code"]) == (503, "not_ready"), path
        assert answer.headers["retry-after"] == "5"
    house.publish(HOLDERS)
    assert ask(house, "GET", HOLDERS).status_code == 200


def test_health_names_the_generation_and_what_is_stale(house):
    answer = ask(house, "GET", "/health")
    body = answer.json()
    assert answer.headers["cache-control"] == "no-store"
    assert body["ok"] is True
    assert body["generation"] == house.current.name
    assert body["ledgerReachable"] is True
    assert set(body["staleDocuments"]) >= set(DOCUMENTS)
    assert body["status"] == "degraded"
    assert ask(house, "HEAD", "/health").content == b""


def test_problems_have_one_body_and_no_trace(house):
    for method, path, status in (("GET", "/nowhere", 404), ("POST", "/health", 405), ("GET", "/data/none", 404)):
        answer = ask(house, method, path)
        assert answer.status_code == status
        assert answer.headers["content-type"] == "application/problem+json"
        assert answer.json()["requestId"] == answer.headers["x-request-id"]
    assert ask(house, "POST", "/health").headers["allow"] == "GET, HEAD"


def test_a_fault_of_ours_is_500_without_a_trace(house, caplog):
    from api.app import build_rooms
    from api.stores import Stores

    def broken():
        raise RuntimeError("secret detail")

    rooms = build_rooms(Stores(house.settings), lambda: None)

    @rooms.get("/broken")
    def fail():
        broken()

    caplog.handler.setFormatter(TextLines())
    answer = ask(house, "GET", "/broken", application=front(house, application=rooms))
    assert (answer.status_code, answer.json()["code"]) == (500, "internal_fault")
    assert "secret" not in answer.text
    assert f"request_id={json.loads(answer.text)['requestId']}\nTraceback" in caplog.text
