"""A proxy in front of the local S3 that is slow, refuses requests, lists outdated contents, or alters objects."""

from __future__ import annotations

import http.client
import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

from patience import HANG_S

UNAVAILABLE = (503, b"<Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message></Error>")
FORBIDDEN = (403, b"<Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>")
_LISTED = re.compile(rb"<Contents>.*?</Contents>", re.DOTALL)
_NUMBER = re.compile(rb"/(\d{12})\.json<")


class FaultyStore(ThreadingHTTPServer):
    """Forwards everything to the S3 at `address` unless told otherwise. Created by `faulty_store`."""

    daemon_threads = True

    def __init__(self, address: str) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.behind = urlsplit(address).netloc
        self.refuses: tuple[int, bytes] | None = None
        self.delay_s = 0.0
        self.alters = False
        self.lists_up_to: int | None = None
        self.newest = 0
        """The highest pointer number listed so far."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def heal(self) -> None:
        self.refuses, self.delay_s, self.alters, self.lists_up_to = None, 0.0, False, None

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignores clients that were killed in the middle of a request."""

    def seen(self, path: str, body: bytes) -> bytes:
        """Returns the body of an answer as this store presents it."""
        if self.alters and ("/objects/" in path or path.endswith(".parquet")) and body:
            return bytes([body[0] ^ 1]) + body[1:]
        if "list-type=2" in path:
            numbers = [int(number) for number in _NUMBER.findall(body)]
            self.newest = max([self.newest, *numbers])
            if self.lists_up_to is not None:
                return _LISTED.sub(self._if_old, body)
        return body

    def _if_old(self, listed: re.Match[bytes]) -> bytes:
        number = _NUMBER.search(listed[0])
        assert self.lists_up_to is not None
        return listed[0] if number is None or int(number[1]) <= self.lists_up_to else b""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: FaultyStore

    def answer(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        asked = self.rfile.read(length)
        time.sleep(self.server.delay_s)
        if self.server.refuses is not None:
            self._send(self.server.refuses[0], {"Content-Type": "application/xml"}, self.server.refuses[1])
            return
        behind = http.client.HTTPConnection(self.server.behind, timeout=HANG_S)
        try:
            behind.request(self.command, self.path, asked, dict(self.headers))
            answer = behind.getresponse()
            body = answer.read()
        finally:
            behind.close()
        kept = {
            name: value
            for name, value in answer.getheaders()
            if name.lower() not in ("content-length", "transfer-encoding", "connection", "server", "date")
        }
        if self.command == "HEAD":
            kept["Content-Length"] = answer.getheader("Content-Length") or "0"
        self._send(answer.status, kept, self.server.seen(self.path, body) if self.command == "GET" else body)

    do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = answer

    def log_message(self, *_: Any) -> None:
        """Logs nothing."""

    def _send(self, status: int, headers: dict[str, str], body: bytes) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        if "Content-Length" not in headers:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)


@contextmanager
def faulty_store(address: str) -> Iterator[FaultyStore]:
    with FaultyStore(address) as store:
        thread = threading.Thread(target=store.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield store
        finally:
            store.shutdown()
            thread.join()
