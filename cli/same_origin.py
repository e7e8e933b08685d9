"""Protects a local web application: only its own pages and programs on this machine may use it.

A browser sends requests to this machine on behalf of any page that it shows: for an image, a form, a WebSocket, or
through a name that the page's owner points at 127.0.0.1 (DNS rebinding). All of these are refused here.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any
from urllib.parse import parse_qs, urlsplit

from contracts.errors import HostUnknown, MediaTypeUnsupported, MethodNotAllowed, OriginForbidden, RequestProblem
from contracts.problems import PROBLEM_MEDIA_TYPE, problem_body

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

LOOPBACK_ADDRESS = "127.0.0.1"
LOOPBACK_NAMES = frozenset({LOOPBACK_ADDRESS, "localhost", "::1"})
_READS = frozenset({"GET", "HEAD", "OPTIONS"})
_POLICY_VIOLATION = 1008
"""Close code of a refused WebSocket."""


class SameOrigin:
    """An ASGI application that passes on to `application` only requests that a page of another origin can't send."""

    def __init__(self, application: Application) -> None:
        self._application = application

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "lifespan":
            try:
                check_request(scope)
            except RequestProblem as problem:
                await _refuse(problem, scope, send)
                return
        await self._application(scope, receive, send)


def check_request(scope: Scope) -> None:
    """Raises `HostUnknown`, `OriginForbidden`, `MethodNotAllowed` or `MediaTypeUnsupported`."""
    headers = _Headers(scope)
    host = headers.only("host")
    if host is None or _name_of(host) not in LOOPBACK_NAMES:
        raise HostUnknown("Open it as http://127.0.0.1:PORT or http://localhost:PORT on this machine.")
    origin = headers.only("origin")
    if headers.has("origin") and (origin is None or origin.lower() != f"http://{host.lower()}"):
        raise OriginForbidden("Only its own pages may use this server; open it in a separate tab.")
    if _comes_from_elsewhere(scope, headers):
        raise OriginForbidden("Another page's request was refused; open this server in a separate tab.")
    if scope["type"] == "websocket":
        return
    if scope["method"] not in _READS:
        _check_media_type(headers)
    elif "query" in parse_qs(scope.get("query_string", b"").decode("latin-1"), keep_blank_values=True):
        raise MethodNotAllowed("Send GraphQL by POST as application/json.", headers={"Allow": "POST"})


def _comes_from_elsewhere(scope: Scope, headers: _Headers) -> bool:
    """Decides by the browser's Fetch Metadata headers. A link that a person follows to a page is allowed."""
    site = headers.only("sec-fetch-site") if headers.has("sec-fetch-site") else "none"
    if site in ("none", "same-origin"):
        return False
    navigates = headers.only("sec-fetch-mode") == "navigate" and headers.only("sec-fetch-dest") == "document"
    return not (scope["type"] == "http" and scope["method"] == "GET" and navigates)


def _check_media_type(headers: _Headers) -> None:
    """Requires JSON, because a page of another origin can send texts and forms without a preflight, but not JSON."""
    media_type = (headers.only("content-type") or "").partition(";")[0].strip().lower()
    if media_type != "application/json":
        raise MediaTypeUnsupported("Send the request with Content-Type: application/json.")


class _Headers:
    """Header fields of one request by lower-case name."""

    def __init__(self, scope: Scope) -> None:
        self._values: dict[str, list[str]] = {}
        for name, value in scope["headers"]:
            self._values.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1").strip())

    def has(self, name: str) -> bool:
        return name in self._values

    def only(self, name: str) -> str | None:
        """Returns the value of a field that was sent exactly once, or None if it is missing or repeated."""
        values = self._values.get(name, [])
        return values[0] if len(values) == 1 else None


def _name_of(host: str) -> str | None:
    """Returns the host name in lower case, or None if the field is malformed."""
    try:
        parts = urlsplit(f"//{host}")
        _ = parts.port
    except ValueError:
        return None
    return parts.hostname if parts.netloc == host and "@" not in host else None


async def _refuse(problem: RequestProblem, scope: Scope, send: Send) -> None:
    if scope["type"] == "websocket":  # refused before the handshake, the server answers 403
        await send({"type": "websocket.close", "code": _POLICY_VIOLATION, "reason": problem.code})
        return
    body = problem_body(problem, scope["path"], "", {})
    headers = {"content-type": PROBLEM_MEDIA_TYPE, "content-length": str(len(body)), **problem.headers}
    fields = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": problem.status, "headers": fields})
    await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else body})
