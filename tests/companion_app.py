"""A minimal companion application on 127.0.0.1: it gives out pairing codes and vouches for each once.

`behaviour` makes it anything but honest; without `vouches_once` it vouches for a code any number of times. `asked`
records the requests that it received.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

PATH = "/api/handoff/verify"


class Reply:
    """One reply, signed by default; behaviours alter it before it is sent."""

    def __init__(self, body: bytes, secret: bytes | None) -> None:
        self.status = 200
        self.body = body
        self.secret = secret
        self.timestamp = str(int(time.time()))
        self.nonce = secrets.token_urlsafe(24)
        self.headers: dict[str, str] = {"Content-Type": "application/json"}
        self.wait_s = 0.0
        self.trickle_s: float | None = None
        self.drop = False

    def sign(self) -> None:
        """Adds the three headers, for the reply in its present form."""
        if self.secret is None:
            return
        signed = f"{self.timestamp}.{self.nonce}.".encode() + self.body
        self.headers |= {
            "X-Svc-Timestamp": self.timestamp,
            "X-Svc-Nonce": self.nonce,
            "X-Svc-Signature": "v1=" + hmac.new(self.secret, signed, hashlib.sha256).hexdigest(),
        }


def honest(reply: Reply) -> None:
    """Replies as agreed."""
    reply.sign()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128


class Companion:
    """Use as a context manager."""

    def __init__(self, secret: bytes | None = None) -> None:
        self.secret = secret
        self.behaviour: Callable[[Reply], None] = honest
        self.vouches_once = True
        self.asked: list[str] = []
        self._codes: dict[str, dict[str, Any]] = {}
        self._seen: set[str] = set()
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._server = _Server(("127.0.0.1", 0), self._handler())
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def give(self, code: str | None = None, *, profile: str = "ada", lives: timedelta = timedelta(minutes=5)) -> str:
        """Creates a code for a person's profile page."""
        given, now = code or secrets.token_urlsafe(9), datetime.now(UTC)
        self._codes[given] = {"profileId": profile, "issuedAt": now.isoformat(), "expiresAt": (now + lives).isoformat()}
        return given

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

    def _verdict(self, body: bytes, headers: Any) -> bytes:
        """Returns the verdict on a code. It vouches for none to a caller that does not sign."""
        code = json.loads(body)["pairingCode"]
        with self._lock:
            self.asked.append(code)
            if self.secret is not None and not self._is_ours(self.secret, body, headers):
                return b'{"ok":false}'
            held = self._codes.pop(code, None) if self.vouches_once else self._codes.get(code)
        if held is None or datetime.fromisoformat(held["expiresAt"]) <= datetime.now(UTC):
            return b'{"ok":false}'
        return json.dumps({"ok": True, **held}).encode()

    def _is_ours(self, secret: bytes, body: bytes, headers: Any) -> bool:
        timestamp, nonce = headers["X-Svc-Timestamp"], headers["X-Svc-Nonce"]
        right = hmac.new(secret, f"{timestamp}.{nonce}.".encode() + body, hashlib.sha256).hexdigest()
        fresh = abs(int(timestamp) - time.time()) <= 60 and nonce not in self._seen
        self._seen.add(nonce)
        return fresh and hmac.compare_digest(headers["X-Svc-Signature"], f"v1={right}")

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        companion = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                assert self.path == PATH, self.path
                reply = Reply(companion._verdict(body, self.headers), companion.secret)
                companion.behaviour(reply)
                if reply.drop:
                    self.connection.close()
                    return
                companion._closing.wait(reply.wait_s)
                try:
                    self._send(reply)
                except OSError:
                    self.close_connection = True  # the client has gone, which is what some tests are about

            def _send(self, reply: Reply) -> None:
                self.send_response(reply.status)
                for name, value in reply.headers.items():
                    self.send_header(name, value)
                self.end_headers()
                if reply.trickle_s is None:
                    self.wfile.write(reply.body)
                    return
                for place in range(len(reply.body)):
                    if companion._closing.wait(reply.trickle_s):
                        return
                    self.wfile.write(reply.body[place : place + 1])

            def log_message(self, format: str, *args: Any) -> None:
                """Logs nothing: tests read the recorded requests."""

        return Handler
