"""The ASGI front: published documents from memory, files from disk, the rate limit, the way in to the rooms."""

from __future__ import annotations

import asyncio
import logging
import secrets
import time
from collections.abc import Awaitable, Callable, MutableMapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from api.client_address import ClientAddresses
from api.negotiation import acceptable_encodings, is_unchanged
from api.published import Encoded, Message, PublishedFile, PublishedSite, is_limited, load_site
from contracts.errors import (
    BodyTooLarge,
    MethodNotAllowed,
    NotAcceptable,
    OperatorProblem,
    RateLimited,
    RequestProblem,
)
from contracts.problems import PROBLEM_MEDIA_TYPE, problem_body
from contracts.routes import OPEN_HEADERS
from contracts.settings import Settings
from warehouse.generations import current_generation

if TYPE_CHECKING:
    from warehouse.counters import Take

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]
TakeOne = Callable[[str, int, int, float], "Take"]

POINTER_EVERY_S = 1.0
WINDOW_S = 60
BODY_LIMIT_BYTES = 64 * 1024
_CHUNK_BYTES = 256 * 1024
_READS = ("GET", "HEAD")
_NO_BODY: Message = {"type": "http.response.body", "body": b""}

_log = logging.getLogger(__name__)


class Front:
    """Answers what is published; everything else goes to `application`.

    `take` counts a limited request (`warehouse.counters.Counters.take`); None switches the limit off. `take_waits` says
    that taking crosses a network, and so must not hold up the loop.
    """

    def __init__(
        self,
        settings: Settings,
        application: Application,
        take: TakeOne | None,
        *,
        take_waits: bool = False,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._application = application
        self._data_dir = settings.data_dir
        self._base_url = settings.public_base_url
        self._limit = settings.rate_limit_per_minute
        self._take = take if self._limit > 0 else None
        self._take_waits = take_waits
        self._policy = f'"permin";q={self._limit};w={WINDOW_S}' if self._take is not None else None
        self._clients = ClientAddresses(settings.trusted_proxies)
        self._clock = clock
        self._pointer: str | None = None
        self._look_again_at = 0.0
        self.site: PublishedSite | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._application(scope, receive, send)
            return
        now_s = self._clock()
        if now_s >= self._look_again_at or now_s < self._look_again_at - POINTER_EVERY_S:
            self.look_again(now_s)
        path: str = scope["path"]
        accept_encoding = if_none_match = x_forwarded_for = forwarded = None
        for name, value in scope["headers"]:
            if name == b"accept-encoding":
                accept_encoding = value if accept_encoding is None else accept_encoding + b"," + value
            elif name == b"if-none-match":
                if_none_match = value if if_none_match is None else if_none_match + b"," + value
            elif name == b"x-forwarded-for":
                x_forwarded_for = value if x_forwarded_for is None else x_forwarded_for + b"," + value
            elif name == b"forwarded":
                forwarded = value if forwarded is None else forwarded + b"," + value

        document = None if self.site is None else self.site.documents.get(path)
        taken: Take | None = None
        if self._take is not None and (is_limited(path) if document is None else document.limited):
            peer = scope["client"][0] if scope.get("client") else "unknown"
            if x_forwarded_for is None and forwarded is None:
                client = self._clients.key(peer)
            else:
                client = self._clients.key(peer, x_forwarded_for, forwarded)
            taken = await self._count(client, now_s)
            if taken is not None and not taken.allowed:
                await self._refuse(scope, send, _over_limit(taken), taken)
                return

        if document is None or (document.has_variants and scope["query_string"]):
            file = None if self.site is None else self.site.files.get(path)
            if file is None:
                await self._pass_on(scope, receive, send, taken)
            elif scope["method"] not in _READS:
                await self._refuse(scope, send, _wrong_method())
            else:
                await _send_file(file, scope["method"], if_none_match, send)
            return

        method = scope["method"]
        if method not in _READS:
            await self._refuse(scope, send, _wrong_method(), taken)
            return
        encodings = document.fresh if now_s < document.stale_at else document.stale
        encoded = _choose(encodings, accept_encoding)
        if encoded is None:
            await self._refuse(scope, send, NotAcceptable("Accept br, zstd, gzip or identity."), taken)
        elif if_none_match is not None and is_unchanged(if_none_match, encoded.etag):
            await send(encoded.not_modified)
            await send(_NO_BODY)
        else:
            await send(encoded.start)
            await send(encoded.body if method == "GET" else _NO_BODY)

    def look_again(self, now_s: float) -> None:
        """Follow the pointer where it moved. A generation that can't be served is logged, and the last one stays."""
        self._look_again_at = now_s + POINTER_EVERY_S
        try:
            pointer = str((self._data_dir / "current").readlink())
        except FileNotFoundError:
            return
        if pointer == self._pointer:
            return
        self._pointer = pointer
        try:
            generation = current_generation(self._data_dir)
            if generation is not None and generation.manifest.base_url != self._base_url:
                _log.error("%s was made for %s and is not served here", generation.id, generation.manifest.base_url)
            elif generation is not None:
                self.site = load_site(generation, self._policy)
        except Exception:
            _log.exception("The generation %s can't be read", pointer)

    async def _count(self, client: str, now_s: float) -> Take | None:
        assert self._take is not None
        try:
            if self._take_waits:
                return await asyncio.to_thread(self._take, f"address:{client}", self._limit, WINDOW_S, now_s)
            return self._take(f"address:{client}", self._limit, WINDOW_S, now_s)
        except OperatorProblem as problem:
            # The limit spreads load; losing it for a moment is better than answering nobody.
            _log.warning("Not counted: %s", problem)
            return None

    async def _refuse(self, scope: Scope, send: Send, problem: RequestProblem, taken: Take | None = None) -> None:
        request_id = _request_id()
        body = problem_body(problem, scope["path"], request_id)
        headers = {
            **OPEN_HEADERS,
            "Content-Type": PROBLEM_MEDIA_TYPE,
            "Content-Length": str(len(body)),
            "Cache-Control": "no-store",
            "X-Request-Id": request_id,
            **problem.headers,
            **self._limit_fields(taken),
        }
        await send({"type": "http.response.start", "status": problem.status, "headers": _encode_headers(headers)})
        await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else body})

    async def _pass_on(self, scope: Scope, receive: Receive, send: Send, taken: Take | None) -> None:
        """Let the application answer: bodies within the limit, HEAD as GET without a body, headers on all answers."""
        is_head = scope["method"] == "HEAD"
        request_id = _request_id()
        if scope["method"] not in (*_READS, "OPTIONS"):
            whole = await _read_body(scope, receive)
            if whole is None:
                await self._refuse(scope, send, BodyTooLarge(f"At most {BODY_LIMIT_BYTES} bytes."), taken)
                return
            receive = _replay(whole, receive)

        async def send_on(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                given = dict(message["headers"])
                cached = b"cache-control" in given
                shared = {**OPEN_HEADERS, "X-Request-Id": request_id}
                if not cached:
                    shared["Cache-Control"] = "no-store"
                shared |= self._limit_fields(taken, policy_alone=cached)
                message = {**message, "headers": [*message["headers"], *_encode_headers(shared)]}
            elif is_head:
                message = {**message, "body": b""}
            await send(message)

        inner = {**scope, "method": "GET" if is_head else scope["method"], "request_id": request_id}
        await self._application(inner, receive, send_on)

    def _limit_fields(self, taken: Take | None, *, policy_alone: bool = False) -> dict[str, str]:
        """The policy; and what is left of it, unless a cache would hand one client's counter to all."""
        if taken is None or self._policy is None:
            return {}
        if policy_alone:
            return {"RateLimit-Policy": self._policy}
        left = f'"permin";r={taken.remaining};t={taken.reset_s}'
        return {"RateLimit-Policy": self._policy, "RateLimit": left}


def _choose(encodings: dict[str, Encoded], accept_encoding: bytes | None) -> Encoded | None:
    for encoding in acceptable_encodings(accept_encoding):
        if encoding in encodings:
            return encodings[encoding]
    return None


async def _send_file(file: PublishedFile, method: str, if_none_match: bytes | None, send: Send) -> None:
    if if_none_match is not None and is_unchanged(if_none_match, file.encoded.etag):
        await send(file.encoded.not_modified)
        await send(_NO_BODY)
        return
    if method == "HEAD":
        await send(file.encoded.start)
        await send(_NO_BODY)
        return
    with Path(file.path).open("rb") as content:
        await send(file.encoded.start)
        while chunk := content.read(_CHUNK_BYTES):
            await send({"type": "http.response.body", "body": chunk, "more_body": True})
        await send(_NO_BODY)


async def _read_body(scope: Scope, receive: Receive) -> bytes | None:
    """The whole body; None where it is larger than the limit."""
    declared = next((value for name, value in scope["headers"] if name == b"content-length"), b"0")
    if declared.isdigit() and int(declared) > BODY_LIMIT_BYTES:
        return None
    body: bytes = b""
    while True:
        message = await receive()
        body += message.get("body", b"")
        if len(body) > BODY_LIMIT_BYTES:
            return None
        if message["type"] == "http.disconnect" or not message.get("more_body"):
            return body


def _replay(body: bytes, receive: Receive) -> Receive:
    given = False

    async def replayed() -> MutableMapping[str, Any]:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return replayed


def _over_limit(taken: Take) -> RateLimited:
    return RateLimited(
        f"{taken.limit} requests a minute are answered for one address.", headers={"Retry-After": str(taken.reset_s)}
    )


def _wrong_method() -> MethodNotAllowed:
    return MethodNotAllowed("The Allow header names the methods of this path.", headers={"Allow": "GET, HEAD"})


def _request_id() -> str:
    return secrets.token_hex(8)


def _encode_headers(headers: dict[str, str]) -> list[tuple[bytes, bytes]]:
    return [(name.lower().encode(), value.encode("latin-1")) for name, value in headers.items()]
