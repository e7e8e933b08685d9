"""A faulty HTTP service on 127.0.0.1: each path answers with a body, or fails in one of the ways that services fail."""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self


@dataclass
class Reply:
    """One answer: JSON unless `body` is bytes; `trickle_s` sends it a byte at a time with that pause."""

    body: Any = None
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    wait_s: float = 0.0
    trickle_s: float | None = None
    repeat: int = 1
    """Number of times to send the body, so that a huge one needs no memory here."""

    drop: bool = False
    """Closes the connection without an answer."""


CHALLENGE = Reply(b"<!DOCTYPE html><title>Just a moment...</title>", headers={"content-type": "text/html"})
DEAD = Reply(drop=True)
LIMITED = Reply({"error": "slow down"}, status=429, headers={"retry-after": "600"})
HUGE = Reply(b'{"pairs": []}' + b" " * (1 << 20), repeat=50)
SLOW = Reply({}, wait_s=60.0)
TRICKLE = Reply(b" " * 4096, trickle_s=0.05)


class FeedServer:
    """Use as a context manager. `replies` maps path prefixes to replies; the longest prefix wins."""

    def __init__(self) -> None:
        self.replies: dict[str, Reply | Callable[[str], Reply]] = {}
        self.asked: list[str] = []
        self.headers: list[dict[str, str]] = []
        self._closing = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    @property
    def hits(self) -> Counter[str]:
        """Counts requests by the path prefix that answered them."""
        return Counter(start for path in self.asked if (start := self._start(path)))

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def _start(self, path: str) -> str | None:
        return max((start for start in self.replies if path.startswith(start)), key=len, default=None)

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                server.asked.append(self.path)
                server.headers.append({name.lower(): value for name, value in self.headers.items()})
                start = server._start(self.path)
                chosen = server.replies[start] if start else Reply({"message": "Not found"}, status=404)
                reply = chosen if isinstance(chosen, Reply) else chosen(self.path)
                if reply.drop:
                    self.connection.close()
                    return
                server._closing.wait(reply.wait_s)
                try:
                    self._send(reply)
                except OSError:
                    self.close_connection = True  # the client has gone, which is what some tests are about

            def _send(self, reply: Reply) -> None:
                body = reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()
                self.send_response(reply.status)
                headers = {"content-type": "application/json"} | reply.headers
                for name, value in headers.items():
                    self.send_header(name, value)
                self.end_headers()
                if reply.trickle_s is not None:
                    for place in range(len(body)):
                        if server._closing.is_set():
                            return
                        self.wfile.write(body[place : place + 1])
                        time.sleep(reply.trickle_s)
                    return
                for _ in range(reply.repeat):
                    self.wfile.write(body)

            def log_message(self, format: str, *args: Any) -> None:
                """Logs nothing: tests read the recorded requests."""

        return Handler
