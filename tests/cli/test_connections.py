"""Connections that send or read too slowly are closed; if there are too many, some are closed to make room for a new
one."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import replace
from typing import Any

import pytest
import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from cli.connections import DESCRIPTORS_KEPT_BACK, ConnectionLimits, TimedHttpProtocol

PATIENT = ConnectionLimits(
    most=100, most_of_one_address=100, header_s=600, body_s=600, idle_s=600, stalled_s=600, check_every_s=0.02
)
REQUEST = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
LARGE_BODY = bytes(24 * 1024 * 1024)
"""More than the kernel buffers for a client that does not read."""


async def application(scope: Any, receive: Any, send: Any) -> None:
    if scope["type"] != "http":
        return
    while (message := await receive())["type"] == "http.request" and message.get("more_body"):
        pass
    body = LARGE_BODY if scope["path"] == "/large" else b"answered"
    headers = [(b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})


@contextmanager
def serving(limits: ConnectionLimits) -> Iterator[int]:
    """Yields the port of a server with these limits."""
    chosen = limits

    class Limited(TimedHttpProtocol):
        limits = chosen

    yield from _served(Limited)


def _served(protocol: type[HttpToolsProtocol]) -> Iterator[int]:
    config = uvicorn.Config(
        application, host="127.0.0.1", port=0, http=protocol, ws="none", timeout_keep_alive=600, log_level="critical"
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started and thread.is_alive():
        threading.Event().wait(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    SERVERS[port] = server
    try:
        yield port
    finally:
        server.should_exit = True
        server.force_exit = True
        thread.join()


SERVERS: dict[int, uvicorn.Server] = {}
"""The running servers, by port."""


def wait_until_open(port: int, connections: int, *, answered: int) -> None:
    """Waits until `answered` requests have been answered and `connections` connections are left."""
    state = SERVERS[port].server_state
    while (state.total_requests, len(state.connections)) != (answered, connections):
        threading.Event().wait(0.01)


class Client:
    """One connection to the server."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    def send(self, data: bytes) -> None:
        self._writer.write(data)

    async def answer(self, request: bytes = REQUEST) -> bytes:
        """Sends a request and returns the status line of its answer."""
        self.send(request)
        head = await self._reader.readuntil(b"\r\n\r\n")
        await self._reader.readexactly(len(b"answered"))
        return head.partition(b"\r\n")[0]

    async def rest(self) -> bytes:
        """Returns everything that arrives until the server ends the connection."""
        try:
            return await self._reader.read()
        except ConnectionResetError:
            return b""


async def answered_or_ended(reader: asyncio.StreamReader) -> None:
    """Waits until the server has answered a request or ended the connection."""
    with suppress(asyncio.IncompleteReadError, ConnectionResetError):
        await reader.readuntil(b"answered")


@asynccontextmanager
async def connected(port: int) -> AsyncIterator[Client]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 16)
    try:
        yield Client(reader, writer)
    finally:
        writer.transport.abort()


@pytest.mark.parametrize(
    ("limits", "sent", "status"),
    [
        ({"header_s": 0.1}, b"", b""),
        ({"header_s": 0.1}, b"GET / HTTP/1.1\r\nHo", b"HTTP/1.1 408"),
        (
            {"header_s": 0.1, "body_s": 0.1},
            b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{",
            b"HTTP/1.1 408",
        ),
        # If the connection ends before all of the request was read, TCP may drop the answer too.
        ({}, b"GET / HTTP/1.1\r\nX: " + b"x" * 60_000, (b"HTTP/1.1 431", b"")),
        ({"header_s": 0.1}, REQUEST + b"GET / HT", b"HTTP/1.1 200"),
        ({"idle_s": 0.1}, REQUEST, b"HTTP/1.1 200"),
    ],
    ids=["nothing", "half a header", "half a body", "an endless header", "half a second request", "no second request"],
)
def test_a_connection_whose_client_does_not_finish_is_ended(
    limits: dict[str, Any], sent: bytes, status: bytes | tuple[bytes, ...]
) -> None:
    async def ended(port: int) -> bytes:
        async with connected(port) as client:
            client.send(sent)
            return await client.rest()

    with serving(replace(PATIENT, **limits)) as port:
        assert asyncio.run(ended(port)).startswith(status)


def test_a_header_that_trickles_in_is_ended_although_bytes_keep_coming() -> None:
    async def ended(port: int) -> bytes:
        async with connected(port) as client:

            async def trickle() -> None:
                client.send(b"GET / HTTP/1.1\r\nX: ")
                while True:
                    client.send(b"x")
                    await asyncio.sleep(0.02)

            trickling = asyncio.create_task(trickle())
            rest = await client.rest()
            trickling.cancel()
            return rest

    with serving(replace(PATIENT, header_s=0.2)) as port:
        assert asyncio.run(ended(port)).startswith((b"HTTP/1.1 408", b""))


def test_empty_lines_do_not_keep_a_connection() -> None:
    async def ended(port: int) -> bytes:
        async with connected(port) as client:
            await client.answer()
            client.send(b"\r\n")
            return await client.rest()

    with serving(replace(PATIENT, header_s=0.1)) as port:
        assert asyncio.run(ended(port)).startswith((b"HTTP/1.1 408", b""))


def asking_for_much(port: int) -> socket.socket:
    """Returns a client that requests a large answer and reads nothing of it."""
    client = socket.create_connection(("127.0.0.1", port))
    client.sendall(b"GET /large HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    return client


def received(client: socket.socket) -> int:
    """Returns the number of bytes that still arrive until the connection ends."""
    count = 0
    while data := client.recv(1 << 20):
        count += len(data)
    return count


def test_a_client_that_reads_nothing_of_its_answer_is_ended() -> None:
    with serving(replace(PATIENT, stalled_s=0.1)) as port, asking_for_much(port) as client:
        wait_until_open(port, 0, answered=1)
        assert received(client) < len(LARGE_BODY)


def test_answers_that_nobody_reads_take_a_bounded_amount_of_memory() -> None:
    with (
        serving(replace(PATIENT, unread_bytes=len(LARGE_BODY))) as port,
        asking_for_much(port) as first,
        asking_for_much(port) as second,
    ):
        wait_until_open(port, 1, answered=2)
        assert min(received(client) for client in (first, second)) < len(LARGE_BODY)


@pytest.mark.parametrize("others_send", [b"", b"GET / HT", REQUEST], ids=["half-open", "half a header", "idle"])
@pytest.mark.parametrize("limits", [{"most": 8}, {"most_of_one_address": 8}], ids=["in all", "of one address"])
def test_beyond_the_cap_a_waiting_connection_makes_room_for_an_honest_one(
    limits: dict[str, int], others_send: bytes
) -> None:
    async def answers(port: int) -> list[bytes]:
        others = [await asyncio.open_connection("127.0.0.1", port) for _ in range(40)]
        for _, writer in others:
            writer.write(others_send)
        if others_send == REQUEST:  # no connection makes room while it is being answered
            await asyncio.gather(*(answered_or_ended(reader) for reader, _ in others))
        async with connected(port) as client:
            statuses = [await client.answer(), await client.answer()]
        open_ones = SERVERS[port].server_state.connections
        while len(open_ones) > 8:
            await asyncio.sleep(0.01)
        for _, writer in others:
            writer.transport.abort()
        return statuses

    with serving(replace(PATIENT, **limits)) as port:
        assert asyncio.run(answers(port)) == [b"HTTP/1.1 200 OK"] * 2


def test_a_connection_that_is_being_answered_is_never_ended_for_another() -> None:
    async def statuses(port: int) -> list[bytes]:
        async with connected(port) as first, connected(port) as second:
            for client in (first, second):
                client.send(b"GET /large HTTP/1.1\r\nHost: x\r\n\r\n")
                await client._reader.readuntil(b"\r\n\r\n")
            async with connected(port) as third:
                refused = await third.rest()
            for client in (first, second):
                await client._reader.readexactly(len(LARGE_BODY))
            return [refused]

    with serving(replace(PATIENT, most=2)) as port:
        assert asyncio.run(statuses(port)) == [b""]


def test_an_upgrade_is_answered_as_a_plain_request() -> None:
    upgrade = REQUEST[:-2] + b"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: x\r\n\r\n"

    async def answer(port: int) -> bytes:
        async with connected(port) as client:
            return await client.answer(upgrade)

    with serving(PATIENT) as port:
        assert asyncio.run(answer(port)) == b"HTTP/1.1 200 OK"


def test_there_are_fewer_connections_than_descriptors_and_half_of_them_for_one_address() -> None:
    limits = ConnectionLimits.of_this_process()
    assert limits.most_of_one_address <= limits.most // 2 + 8
    assert DESCRIPTORS_KEPT_BACK >= 64
