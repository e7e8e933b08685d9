"""The ASGI front: published documents from memory, files from disk, the rate limit, the way in to the rooms."""

from __future__ import annotations

import asyncio
import logging
import secrets
import time
from collections.abc import Awaitable, Callable, MutableMapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from api.client_address import ClientAddresses
from api.key_gate import CALLER, DAY_S, STORE_FAILED, Admission, presented_key
from api.negotiation import acceptable_encodings, is_unchanged, prefers_markdown
from api.published import READ_ALONE, READS, Encoded, Message, PublishedFile, PublishedSite, load_site
from contracts.connect.jsonrpc import problem_as_error, session_token_of
from contracts.connect.server import MCP_PATH
from contracts.errors import (
    BodyTooLarge,
    MethodNotAllowed,
    NotAcceptable,
    OperatorProblem,
    QuotaExceeded,
    RateLimited,
    RequestProblem,
    SessionLimited,
)
from contracts.problems import PROBLEM_MEDIA_TYPE, problem_body
from contracts.routes import BLINK_PREFIX, OPEN_HEADERS, PREFLIGHT_HEADERS, action_headers, is_limited
from contracts.settings import Settings
from warehouse.generations import current_generation

if TYPE_CHECKING:
    from warehouse.counters import Take

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]
TakeOne = Callable[[str, int, int, float], "Take"]


class Keys(Protocol):
    """Whose keys and sessions are valid, as `KeyGate` knows it."""

    async def admit(self, presented: str, now_s: float) -> Admission | None: ...

    async def give_back(self, admission: Admission, now_s: float) -> None: ...

    async def take_of_session(self, token: str, now_s: float) -> Take | None: ...


class Counted(NamedTuple):
    """What a request was counted against: a named policy of `limit` in `window_s` seconds."""

    policy: str
    window_s: int
    taken: Take


POINTER_EVERY_S = 1.0
WINDOW_S = 60
BODY_LIMIT_BYTES = 64 * 1024
LARGER_BODIES = {"/api/v2/knowledge-graph/build": 1024 * 1024}
"""Limits of paths that take more than the others, in bytes."""

_TOO_LARGE = bytes(BODY_LIMIT_BYTES + 1)
"""Stands for a body that was not read to its end."""

_CHUNK_BYTES = 256 * 1024
_READS = ("GET", "HEAD")
_NO_BODY: Message = {"type": "http.response.body", "body": b""}

_log = logging.getLogger(__name__)


class Front:
    """Answers what is published; everything else goes to `application`.

    `take` counts a limited request (`warehouse.counters.Counters.take`); None switches the limit off. `take_waits` says
    that taking crosses a network, and so must not hold up the loop. A limited request with a key that `keys` admits is
    counted against that key's day, and a message of a paired session against that session's minute, not against its
    address.
    """

    def __init__(
        self,
        settings: Settings,
        application: Application,
        take: TakeOne | None,
        *,
        take_waits: bool = False,
        keys: Keys | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._application = application
        self._data_dir = settings.data_dir
        self._base_url = settings.public_base_url
        self._limit = settings.rate_limit_per_minute
        self._take = take if self._limit > 0 else None
        self._take_waits = take_waits
        self._keys = keys
        self._policy = _policy("permin", self._limit, WINDOW_S) if self._take is not None else None
        self._clients = ClientAddresses(settings.trusted_proxies)
        self._action_headers = {**OPEN_HEADERS, **action_headers(settings.chain_id)}
        self._action_fields = _encode_headers(self._action_headers)
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
        method = scope["method"]
        if method == "OPTIONS" and (leave := self._leave(scope)) is not None:
            await send(leave)
            await send(_NO_BODY)
            return
        accept_encoding = if_none_match = x_forwarded_for = forwarded = None
        authorization: list[bytes] = []
        x_api_key: list[bytes] = []
        for name, value in scope["headers"]:
            if name == b"accept-encoding":
                accept_encoding = value if accept_encoding is None else accept_encoding + b"," + value
            elif name == b"if-none-match":
                if_none_match = value if if_none_match is None else if_none_match + b"," + value
            elif name == b"x-forwarded-for":
                x_forwarded_for = value if x_forwarded_for is None else x_forwarded_for + b"," + value
            elif name == b"forwarded":
                forwarded = value if forwarded is None else forwarded + b"," + value
            elif name == b"authorization":
                authorization.append(value)
            elif name == b"x-api-key":
                x_api_key.append(value)

        document = None if self.site is None else self.site.documents.get(path)
        admission: Admission | None = None
        counted: Counted | None = None
        limited = is_limited(path) if document is None else document.limited
        if path == MCP_PATH and method == "POST" and self._take is not None and self._keys is not None:
            body = await _read_body(scope, receive, BODY_LIMIT_BYTES)
            receive = _replay(_TOO_LARGE if body is None else body, receive)
            counted = await self._count_session(body or b"", now_s)
        if limited and counted is None and (authorization or x_api_key) and self._keys is not None:
            admission = await self._admit(scope, presented_key(authorization, x_api_key), now_s)
        if admission is not None:
            if admission.taken is not None:
                counted = Counted("daily", DAY_S, admission.taken)
        elif limited and counted is None and self._take is not None:
            peer = scope["client"][0] if scope.get("client") else "unknown"
            if x_forwarded_for is None and forwarded is None:
                client = self._clients.key(peer)
            else:
                client = self._clients.key(peer, x_forwarded_for, forwarded)
            taken = await self._count(client, now_s)
            counted = None if taken is None else Counted("permin", WINDOW_S, taken)
        if counted is not None and not counted.taken.allowed:
            await self._refuse(scope, send, _over_limit(counted), counted)
            return

        if document is not None and document.has_variants and scope["query_string"]:
            document = document.variants.get(scope["query_string"])
        if document is None:
            file = None if self.site is None else self.site.files.get(path)
            redirect = None if self.site is None else self.site.redirects.get(path)
            if file is None and redirect is None:
                await self._pass_on(scope, receive, send, counted, admission)
            elif method not in _READS:
                await self._refuse(scope, send, _wrong_method(), counted)
            elif file is not None:
                await _send_file(file, method, if_none_match, send)
            elif redirect is not None:
                await send(redirect)
                await send(_NO_BODY)
            return

        if method not in _READS:
            await self._refuse(scope, send, _wrong_method(), counted)
            return
        if document.markdown is not None and prefers_markdown(_accept(scope)):
            document = document.markdown
        encodings = document.fresh if now_s < document.stale_at else document.stale
        encoded = _choose(encodings, accept_encoding)
        if encoded is None:
            await self._refuse(scope, send, NotAcceptable("Accept br, zstd, gzip or identity."), counted)
        elif if_none_match is not None and is_unchanged(if_none_match, encoded.etag):
            await send(encoded.not_modified)
            await send(_NO_BODY)
        else:
            await send(encoded.start)
            await send(encoded.body if method == "GET" else _NO_BODY)

    def _leave(self, scope: Scope) -> Message | None:
        """The answer to OPTIONS: of what is published, or to a browser that asks leave for a page of another origin.
        None where the rooms answer it."""
        path = scope["path"]
        if self.site is not None:
            if (document := self.site.documents.get(path)) is not None:
                return document.options
            if path in self.site.redirects or path in self.site.files:
                return READ_ALONE
        if path == MCP_PATH or path.startswith(BLINK_PREFIX):
            return None
        return _PREFLIGHT if any(name == _ASKS_LEAVE for name, _ in scope["headers"]) else None

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

    async def _admit(self, scope: Scope, presented: str | None, now_s: float) -> Admission | None:
        """The admission of a valid key, which goes on in the scope as the caller."""
        if presented is None:
            return None
        assert self._keys is not None
        try:
            admission = await self._keys.admit(presented, now_s)
        except OperatorProblem as problem:
            _log.warning("No key can be looked up: %s", problem)
            scope[CALLER] = STORE_FAILED
            return None
        if admission is not None:
            scope[CALLER] = admission.caller
        return admission

    async def _count_session(self, body: bytes, now_s: float) -> Counted | None:
        """What the message took of the minute of its paired session; None where it names none."""
        assert self._keys is not None
        token = session_token_of(body)
        if token is None:
            return None
        try:
            taken = await self._keys.take_of_session(token, now_s)
        except OperatorProblem as problem:
            _log.warning("No session can be looked up: %s", problem)
            return None
        return None if taken is None else Counted("session", WINDOW_S, taken)

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

    async def _refuse(self, scope: Scope, send: Send, problem: RequestProblem, counted: Counted | None = None) -> None:
        request_id = _request_id()
        if scope["path"] == MCP_PATH:
            media_type, body = "application/json", problem_as_error(problem, request_id)
        else:
            media_type, body = PROBLEM_MEDIA_TYPE, problem_body(problem, scope["path"], request_id)
        headers = {
            **(self._action_headers if scope["path"].startswith(BLINK_PREFIX) else OPEN_HEADERS),
            "Content-Type": media_type,
            "Content-Length": str(len(body)),
            "Cache-Control": "no-store",
            "X-Request-Id": request_id,
            **problem.headers,
            **_limit_fields(counted),
        }
        await send({"type": "http.response.start", "status": problem.status, "headers": _encode_headers(headers)})
        await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else body})

    async def _pass_on(
        self, scope: Scope, receive: Receive, send: Send, counted: Counted | None, admission: Admission | None
    ) -> None:
        """Let the application answer: bodies within the limit, HEAD as GET without a body, headers on all answers."""
        is_head = scope["method"] == "HEAD"
        request_id = _request_id()
        if scope["method"] not in (*_READS, "OPTIONS"):
            limit = LARGER_BODIES.get(scope["path"], BODY_LIMIT_BYTES)
            whole = await _read_body(scope, receive, limit)
            if whole is None:
                await self._refuse(scope, send, BodyTooLarge(f"At most {limit} bytes."), counted)
                return
            receive = _replay(whole, receive)
        opening = self._action_fields if scope["path"].startswith(BLINK_PREFIX) else _OPEN

        async def send_on(message: MutableMapping[str, Any]) -> None:
            nonlocal counted
            if message["type"] == "http.response.start":
                if admission is not None and counted is not None and _came_to_nothing(message["status"]):
                    assert self._keys is not None
                    await self._keys.give_back(admission, self._clock())
                    counted = counted._replace(taken=counted.taken._replace(remaining=counted.taken.remaining + 1))
                given = dict(message["headers"])
                cache = given.get(b"cache-control")
                shared = {"X-Request-Id": request_id}
                if cache is None:
                    shared["Cache-Control"] = "no-store"
                shared |= _limit_fields(counted, policy_alone=cache not in (None, b"no-store"))
                message = {**message, "headers": [*message["headers"], *opening, *_encode_headers(shared)]}
            elif is_head:
                message = {**message, "body": b""}
            await send(message)

        inner = {**scope, "method": "GET" if is_head else scope["method"], "request_id": request_id}
        await self._application(inner, receive, send_on)


def _policy(name: str, limit: int, window_s: int) -> str:
    return f'"{name}";q={limit};w={window_s}'


def _limit_fields(counted: Counted | None, *, policy_alone: bool = False) -> dict[str, str]:
    """The policy; and what is left of it, unless a cache would hand one client's counter to all."""
    if counted is None:
        return {}
    taken = counted.taken
    policy = _policy(counted.policy, taken.limit, counted.window_s)
    if policy_alone:
        return {"RateLimit-Policy": policy}
    return {"RateLimit-Policy": policy, "RateLimit": f'"{counted.policy}";r={taken.remaining};t={taken.reset_s}'}


def _came_to_nothing(status: int) -> bool:
    """Whether an answer is one that does not count against a key's day."""
    return status >= 500 or status in (401, 429)


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


async def _read_body(scope: Scope, receive: Receive, limit: int) -> bytes | None:
    """The whole body; None where it is larger than the limit."""
    declared = next((value for name, value in scope["headers"] if name == b"content-length"), b"0")
    if declared.isdigit() and int(declared) > limit:
        return None
    body: bytes = b""
    while True:
        message = await receive()
        body += message.get("body", b"")
        if len(body) > limit:
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


def _over_limit(counted: Counted) -> RateLimited:
    taken = counted.taken
    wait = {"Retry-After": str(taken.reset_s)}
    if counted.policy == "daily":
        return QuotaExceeded(f"This key has {taken.limit} requests a UTC day.", headers=wait)
    if counted.policy == "session":
        return SessionLimited(f"{taken.limit} requests a minute are answered for one session.", headers=wait)
    return RateLimited(f"{taken.limit} requests a minute are answered for one address.", headers=wait)


def _wrong_method() -> MethodNotAllowed:
    return MethodNotAllowed("The Allow header names the methods of this path.", headers={"Allow": READS})


def _request_id() -> str:
    return secrets.token_hex(8)


def _encode_headers(headers: dict[str, str]) -> list[tuple[bytes, bytes]]:
    return [(name.lower().encode(), value.encode("latin-1")) for name, value in headers.items()]


def _accept(scope: Scope) -> bytes:
    return b",".join(value for name, value in scope["headers"] if name == b"accept")


_OPEN = _encode_headers(OPEN_HEADERS)
_PREFLIGHT: Message = {
    "type": "http.response.start",
    "status": 204,
    "headers": _encode_headers({**OPEN_HEADERS, **PREFLIGHT_HEADERS, "Cache-Control": "no-store"}),
}
_ASKS_LEAVE = b"access-control-request-method"
