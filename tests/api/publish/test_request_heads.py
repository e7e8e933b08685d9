"""Bounds on everything before a body: header fields, target, upgrades and chunks, in process and over a socket."""

import asyncio
import contextlib
import json
import socket
import threading
import time
from collections import Counter

import pytest
import uvicorn
from mcp_service import JSON, message
from publishing import House, mint

from api.app import create_app
from api.http_protocol import BoundedHttpProtocol
from api.publish.front import Front
from api.receiving import HEAD_LIMIT_BYTES, TARGET_LIMIT_BYTES, read_body
from contracts.errors import BodyInvalid
from warehouse.ledger.counters import Take

DOCUMENT = "/llms.txt"
CHEAP_CPU_S = 0.125


@pytest.fixture(scope="module")
def house(tmp_path_factory):
    made = House(tmp_path_factory.mktemp("heads"), rate_limit_per_minute=0)
    made.read_chain(mint(3), 20)
    made.publish(DOCUMENT, "/api/context")
    return made


@pytest.fixture(scope="module")
def address(house):
    """Yields the address of a service that listens as `svc serve` does."""
    with listening(house, http=BoundedHttpProtocol, ws="none") as served:
        yield served


@contextlib.contextmanager
def listening(house, **options):
    config = uvicorn.Config(create_app(house.settings), host="127.0.0.1", port=0, log_level="critical", **options)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started and thread.is_alive():
        threading.Event().wait(0.01)
    address = server.servers[0].sockets[0].getsockname()
    # two services of one process must not import their rooms at the same time
    assert status_of(sent(address, b"GET /api/nowhere HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")) == 404
    yield address
    server.should_exit = True
    thread.join()


async def unreachable(scope, receive, send):
    raise AssertionError(f"{scope['path']} must not get here")


def ask(house, method, path, headers, application=None):
    async def answer():
        async with house.client(application=application or front(house)) as client:
            return await client.request(method, path, headers=headers)

    return asyncio.run(answer())


def front(house, take=None, **settings):
    return Front(House(house.data_dir, **settings).settings, unreachable, take, clock=house.now.timestamp)


def sent(address, *pieces):
    """Sends bytes and returns the server's whole answer, until it closes the connection."""
    with socket.create_connection(address, timeout=60) as connection:
        answer = b""
        try:
            for piece in pieces:
                connection.sendall(piece)
            while received := connection.recv(65536):
                answer += received
        except ConnectionError:
            pass
        return answer


def status_of(answer):
    return int(answer.split(b" ", 2)[1]) if answer else None


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("if-none-match", '"x",' * 250_000),
        ("accept-encoding", "a;q=1," * 170_000),
        ("accept", "a/b;q=1," * 125_000),
        ("x-forwarded-for", "192.0.2.1," * 100_000),
        ("forwarded", "for=192.0.2.1;" * 70_000),
        ("x" * 20_000, "1"),
    ],
)
@pytest.mark.parametrize("path", [DOCUMENT, "/api/context", "/api/nowhere"])
def test_a_head_of_more_than_16_kib_is_431_at_once(house, name, value, path):
    application = front(house)
    ask(house, "GET", DOCUMENT, {}, application)
    began = time.process_time()
    refused = ask(house, "GET", path, {name: value}, application)
    assert time.process_time() - began < CHEAP_CPU_S
    assert (refused.status_code, refused.json()["code"]) == (431, "headers_too_large")
    assert str(f"{HEAD_LIMIT_BYTES:,}") in refused.json()["detail"]


def test_the_largest_head_that_is_allowed_is_cheap(house):
    application = front(house, trusted_proxies=("127.0.0.1",))
    ask(house, "GET", DOCUMENT, {}, application)  # reads the generation
    for name, value in [
        ("if-none-match", '"x",' * 4_000),
        ("if-none-match", '"' * 16_000),
        ("accept-encoding", "a," * 8_000),
        ("accept", ";" * 16_000),
        ("x-forwarded-for", "127.0.0.1," * 1_600),
        ("forwarded", 'for="' * 3_200),
    ]:
        began = time.process_time()
        assert ask(house, "GET", DOCUMENT, {name: value}, application).status_code == 200, name
        assert time.process_time() - began < CHEAP_CPU_S, name


def test_a_refused_head_is_counted_against_its_address(house):
    counted = Counter()

    def take(key, limit, window_s, now_s):
        counted[key] += 1
        return Take(True, limit, 1, 42)

    application = front(house, take, rate_limit_per_minute=20)
    assert ask(house, "GET", "/api/nowhere", {"x": "y" * 20_000}, application).status_code == 431
    assert list(counted.values()) == [1]


def test_a_long_target_is_414(house):
    application = front(house)
    for target in (f"/{'a' * TARGET_LIMIT_BYTES}", f"{DOCUMENT}?{'a&' * TARGET_LIMIT_BYTES}"):
        refused = ask(house, "GET", target, {}, application)
        assert (refused.status_code, refused.json()["code"]) == (414, "target_too_long")


def test_repeated_list_fields_are_one_list(house):
    application = front(house)
    etag = ask(house, "GET", DOCUMENT, {}, application).headers["etag"]
    fields = [("if-none-match", '"other"'), ("if-none-match", etag), ("accept-encoding", "identity")]
    assert ask(house, "GET", DOCUMENT, fields, application).status_code == 304


def test_a_body_of_many_small_messages_is_read_in_one_pass():
    messages = [{"type": "http.request", "body": b"x" * 8, "more_body": True}] * 131_000

    async def receive():
        return messages.pop() if messages else {"type": "http.request", "body": b"", "more_body": False}

    began = time.process_time()
    body = asyncio.run(read_body({"headers": []}, receive, 1024 * 1024))
    assert len(body) == 8 * 131_000
    assert time.process_time() - began < 1


def test_a_body_that_was_cut_off_is_not_taken_for_the_whole():
    messages = [{"type": "http.disconnect"}, {"type": "http.request", "body": b'{"lane": "agent"}', "more_body": True}]

    async def receive():
        return messages.pop()

    assert asyncio.run(read_body({"headers": []}, receive, 65_536)) == b""


@pytest.mark.parametrize("length", [b"9" * 5_000, b"70000", b"0070000"])
def test_a_declared_length_above_the_limit_is_not_waited_for(length):
    async def receive():
        raise AssertionError("read")

    assert asyncio.run(read_body({"headers": [(b"content-length", length)]}, receive, 65_536)) is None


HANDSHAKE = (
    b"Host: x\r\nConnection: Upgrade, close\r\nUpgrade: WebSocket\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
)


@pytest.mark.parametrize(
    "request_line", [b"GET /llms.txt", b"GET /mcp", b"GET /api/nowhere", b"POST /mcp", b"GET /api/context"]
)
def test_a_websocket_handshake_is_refused(address, request_line):
    answer = sent(address, request_line + b" HTTP/1.1\r\n" + HANDSHAKE)
    assert status_of(answer) == 400
    assert b"without the Upgrade field" in answer


def test_a_handshake_from_another_server_is_refused(house):
    with listening(house) as address:
        assert status_of(sent(address, b"GET /llms.txt HTTP/1.1\r\n" + HANDSHAKE)) == 403


@pytest.mark.parametrize(
    ("request_line", "statuses"),
    [
        (b"FOO / HTTP/1.1", {400}),
        (b"PURGE /llms.txt HTTP/1.1", {405}),
        (b"PROPFIND /api/nowhere HTTP/1.1", {404}),
        (b"GET /%00%ff%zz HTTP/1.1", {404}),
        (b"GET /\xff HTTP/1.1", {400}),
        (b"GET http://[ HTTP/1.1", {400}),
        (b"CONNECT x:1 HTTP/1.1", {400, 404, 405}),
        (b"OPTIONS * HTTP/1.1", {400, 404, 405}),
        (b"GET /llms.txt?" + b"a&" * 4_100 + b" HTTP/1.1", {414}),
        (b"GET / HTTP/9.9", {400}),
        (b"POST /llms.txt HTTP/1.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked", {400}),
        (b"GET /llms.txt HTTP/1.1\r\nConnection: upgrade\r\nUpgrade: h2c", {200}),
        (b"POST /mcp HTTP/1.1\r\nContent-Length: 9\r\nConnection: upgrade\r\nUpgrade: h2c", {421}),
    ],
)
def test_a_malformed_request_is_a_4xx(address, request_line, statuses):
    assert status_of(sent(address, request_line + b"\r\nHost: x\r\nConnection: close\r\n\r\n")) in statuses


@pytest.mark.parametrize(
    "request_head",
    [b"FOO / HTTP/1.1\r\nHost: x", b"GET / HTTP/9.9\r\nHost: x", b"GET / HTTP/1.1\r\nHost", b"\x16\x03\x01\x02\x00"],
    ids=["unknown method", "unknown version", "field without a colon", "TLS"],
)
def test_an_unreadable_request_is_answered_with_a_problem_and_closed(address, request_head):
    head, _, body = sent(address, request_head + b"\r\n\r\n").partition(b"\r\n\r\n")
    assert b"content-type: application/problem+json" in head
    assert b"connection: close" in head
    problem = json.loads(body)
    assert (problem["status"], problem["code"]) == (400, "request_unreadable")
    assert b"x-request-id: " + problem["requestId"].encode() in head


def test_an_unreadable_pipelined_request_closes_the_connection_and_writes_nothing_into_the_answer_before(address):
    answer = sent(address, b"GET /llms.txt HTTP/1.1\r\nHost: x\r\n\r\nFOO / HTTP/1.1\r\nHost: x\r\n\r\n")
    assert answer.count(b"HTTP/1.1 ") <= 2
    assert status_of(answer) in (200, None)
    assert b"request_unreadable" not in answer or answer.index(b"HTTP/1.1 400") > answer.index(b"HTTP/1.1 200")


def test_a_head_that_never_ends_is_431_and_closed(address):
    pieces = [b"GET / HTTP/1.1\r\nHost: x\r\nX: ", *[b"y" * 1_000] * 100]
    assert status_of(sent(address, *pieces)) in (431, None)  # None: closed while we were still sending
    whole = b"GET /llms.txt HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX: " + b"y" * 20_000 + b"\r\n\r\n"
    answer = sent(address, whole)
    assert status_of(answer) == 431
    assert b"headers_too_large" in answer


@pytest.mark.parametrize(
    "pieces",
    [
        [b"1;" + b"x" * 500 + b"\r\n{\r\n"] * 1_000,
        [b"1\r\n \r\n"] * 60_000,
        [b"0\r\n", *[b"X-Trailer: " + b"y" * 1_000 + b"\r\n"] * 200],
    ],
    ids=["extensions", "single bytes", "trailers"],
)
def test_chunks_of_more_framing_than_data_are_a_400_and_closed(address, pieces):
    head = b"POST /api/nowhere HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
    assert status_of(sent(address, head, *pieces)) in (400, None)


def test_honest_chunks_and_pipelined_requests_are_answered(address):
    head = b"POST /api/nowhere HTTP/1.1\r\nHost: x\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n"
    chunks = [b"400\r\n" + b" " * 0x400 + b"\r\n"] * 50
    assert status_of(sent(address, head, *chunks, b"0\r\n\r\n")) == 404
    request, last = (b"GET /llms.txt HTTP/1.1\r\nHost: x\r\n" + end for end in (b"\r\n", b"Connection: close\r\n\r\n"))
    assert sent(address, request * 1_999 + last).count(b"HTTP/1.1 200") == 2_000


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        ({"host": "["}, 421),
        ({"host": "[::1"}, 421),
        ({"host": "[x]"}, 421),
        ({"host": "a" * 8_000}, 421),
        ({"origin": "http://["}, 403),
        ({"origin": "http://[x]"}, 403),
        ({"origin": "http://\u2100"}, 403),
        ({"origin": "null"}, 403),
        ({"host": "localhost", "origin": "http://localhost"}, 200),
    ],
)
def test_a_malformed_host_or_origin_of_a_message_is_a_4xx(house, fields, status):
    async def answer():
        async with house.client(application=create_app(house.settings)) as client:
            headers = [
                (name.encode(), value.encode()) for name, value in (JSON | {"host": "localhost"} | fields).items()
            ]
            return await client.post("/mcp", headers=headers, content=message("ping"))

    refused = asyncio.run(answer())
    assert refused.status_code == status
    if status != 200:
        assert refused.json()["error"]["data"]["code"] != BodyInvalid.code
