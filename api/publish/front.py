"""The ASGI front: serves published documents from memory and files from disk, counts requests, and passes the rest to
the rooms."""

from __future__ import annotations

import asyncio
import logging
import secrets
import time
from collections import Counter
from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from api.key_gate import CALLER, DAY_S, STORE_FAILED, Admission, is_counted, presented_key
from api.leaving import leave_first
from api.limits import COUNTED, Counted, limit_fields, over_limit, policy_of
from api.publish.client_address import ClientAddresses
from api.publish.negotiation import IDENTITY, is_unchanged, prefers_markdown, prefers_page
from api.publish.ranges import Unsatisfiable, no_such_range, select_bytes
from api.publish.site import READ_ALONE, READS, Message, PublishedFile, PublishedSite, choose_encoding, load_site
from api.receiving import (
    HEAD_LIMIT_BYTES,
    TARGET_LIMIT_BYTES,
    body_limit,
    encoding_unsupported,
    head_too_large,
    joined_values,
    read_body,
    replay,
    values_of,
)
from api.work import MESSAGE, WORK, Work
from contracts.connect.jsonrpc import message_of, problem_as_error, session_token_of
from contracts.connect.key_server import COUNTED_METHODS, KEY_MCP_PATH
from contracts.connect.server import MCP_PATH
from contracts.errors import (
    BodyTooLarge,
    MethodNotAllowed,
    NotAcceptable,
    NotReady,
    OperatorProblem,
    RequestProblem,
    RouteUnknown,
    StoreUnavailable,
    UpgradeUnsupported,
)
from contracts.logs import REQUESTS, log_fields
from contracts.problem_links import link_field, problem_links
from contracts.problems import PROBLEM_MEDIA_TYPE, problem_body
from contracts.publish.routes import (
    BLINK_PREFIX,
    OPEN_HEADERS,
    PREFLIGHT_HEADERS,
    action_headers,
    is_free,
    is_limited,
    is_metered,
)
from contracts.settings import Settings
from warehouse.publish.generations import current_generation, current_pointer
from warehouse.tracing import span

if TYPE_CHECKING:
    from warehouse.ledger.counters import Take

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]
TakeOne = Callable[[str, int, int, float], "Take"]


class Keys(Protocol):
    """Admits valid keys and sessions, as `KeyGate` does."""

    async def admit(self, presented: str, now_s: float, *, counts: bool = True) -> Admission | None: ...

    async def give_back(self, admission: Admission, now_s: float) -> None: ...

    async def take_of_session(self, token: str, now_s: float) -> Take | None: ...


HEALTH_PATH = "/health"
POINTER_EVERY_S = 0.5
WINDOW_S = 60
_MCP_PATHS = (MCP_PATH, KEY_MCP_PATH)
_CHUNK_BYTES = 256 * 1024
_READS = ("GET", "HEAD")
_TRACE_FIELDS = (b"traceparent", b"tracestate")
_NO_BODY: Message = {"type": "http.response.body", "body": b""}

_log = logging.getLogger(__name__)
_requests = logging.getLogger(REQUESTS)


class Front:
    """Answers published paths; passes everything else on to `application`.

    `take` counts a limited request (`Counters.take`); None switches the limit off. `take_waits` means that it crosses a
    network and must not block the loop. A limited request is counted against its address, except that one that needs a
    key is counted against the key's day, and a message of a paired session against the session's minute. A request that
    needs no key is counted against the key's day only once its address has nothing left.
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
        self._problem_links = problem_links(settings)
        self._limit = settings.rate_limit_per_minute
        self._take = take if self._limit > 0 else None
        self._take_waits = take_waits
        self._keys = keys
        self._policy = policy_of("permin", self._limit, WINDOW_S) if self._take is not None else None
        self._clients = ClientAddresses(settings.trusted_proxies)
        self._action_headers = {**OPEN_HEADERS, **action_headers(settings.chain_id)}
        self._action_fields = _encode_headers(self._action_headers)
        self._clock = clock
        self._pointer: str | None = None
        self._next_check_at = 0.0
        self._drain_seconds = settings.drain_seconds
        self._leaving = False
        self.site: PublishedSite | None = None
        self.answered: Counter[tuple[str, int]] = Counter()
        """Answer counts by origin (front, published, file or rooms) and HTTP status, for `/metrics`."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Checks the head of a request, counts the request, and answers it, in this order.

        Most requests are for published documents and spend some 2 us here, so their path stays in this coroutine; code
        that only some requests need is in methods. Examples:

        - `GET /llms.txt` is published and not counted: it is answered from memory.
        - `GET /api/token/holders` is published and limited: it counts against its address and is answered from memory.
          With a key it counts against the key's day once the address has nothing left. So does `POST /api/intake`.
        - `POST /api/v2/world-model/signal` with a key counts against the key's day and is passed on to the rooms.
          Without a valid key it counts against its address, and the room answers 401.
        - `GET /api/v2/me` counts against the address, and the room answers for the key.
        - `POST /mcp` counts against the minute of the paired session that it names, otherwise against its address.
        - `POST /api/v2/mcp` with a key counts against the key's day, but is given back unless it calls a tool or reads
          a resource. Once the day is used up, those two are refused, and other messages count against the address.
        - A request with a head of 20 KiB counts against its address and is refused, so that refusals are not free.
        """
        if scope["type"] != "http":
            await self._answer_other_protocol(scope, receive, send)
            return
        now_s = self._clock()
        # A clock that is set back must not suspend the checks until it has caught up.
        if now_s >= self._next_check_at or now_s < self._next_check_at - POINTER_EVERY_S:
            self.follow_pointer(now_s)
        site, path, method = self.site, scope["path"], scope["method"]
        if method == "OPTIONS" and (options := self._options_answer(scope)) is not None:
            await send(options)
            await send(_NO_BODY)
            return
        headers = scope["headers"]
        fields = dict(headers)
        refused = _refusal_of_head(scope, fields)
        document = None if site is None else site.documents.get(path)
        if b"%" in scope.get("raw_path", b"") and _is_published(site, path):
            refused = refused or RouteUnknown("Published paths have no escapes; request the path as it is written.")

        admission: Admission | None = None
        counted: Counted | None = None
        if (is_limited(path) and not _asks_what_may_be_sent(method, path)) if document is None else document.limited:
            names_key = (
                self._keys is not None
                and refused is None
                and (path in _MCP_PATHS or b"authorization" in fields or b"x-api-key" in fields)
            )
            if names_key and document is None:
                receive, admission, counted = await self._identify(scope, receive, now_s)
            if admission is None and counted is None and self._take is not None:
                take = await self._count(scope, now_s)
                counted = None if take is None else Counted("permin", WINDOW_S, take)
                if names_key and is_free(path) and counted is not None and not counted.taken.allowed:
                    admission = await self._admit(scope, now_s, counts=True)
                    counted = counted if admission is None else _counted_for(admission)
            if counted is not None and not counted.taken.allowed:
                await self._refuse(scope, send, over_limit(counted), counted)
                return
        if refused is not None:
            await self._refuse(scope, send, refused, counted)
            return

        if document is not None and document.has_variants and scope["query_string"]:
            document = document.variants.get(scope["query_string"])
        file = None if document is not None or site is None else site.files.get(path)
        if file is not None and file.page is not None and prefers_page(joined_values(headers, b"accept") or b""):
            document = file.page
        if document is None:
            redirect = None if site is None else site.redirects.get(path)
            if file is None and redirect is None:
                await self._pass_on(scope, receive, send, counted, admission)
            elif method not in _READS:
                await self._refuse(scope, send, _wrong_method(), counted, admission)
            elif file is not None:
                self.answered["file", 200] += 1
                await self._send_file(scope, send, file)
            elif redirect is not None:
                self.answered["published", 302] += 1
                await send(redirect)
                await send(_NO_BODY)
            return

        if method not in _READS:
            await self._refuse(scope, send, _wrong_method(), counted, admission)
            return
        if document.markdown is not None and prefers_markdown(joined_values(headers, b"accept") or b""):
            document = document.markdown
        if len(fields) == len(headers):
            accept_encoding, if_none_match = fields.get(b"accept-encoding"), fields.get(b"if-none-match")
        else:  # a field was sent more than once: all its values count
            accept_encoding = joined_values(headers, b"accept-encoding")
            if_none_match = joined_values(headers, b"if-none-match")
        encodings = document.fresh if now_s < document.stale_at else document.stale
        for_range = b"range" in fields and method == "GET"
        encoded = choose_encoding(encodings, accept_encoding, for_range=for_range)
        if encoded is None and for_range:  # a client that refuses an unencoded body gets the whole of it
            for_range, encoded = False, choose_encoding(encodings, accept_encoding)
        if encoded is None:
            problem = NotAcceptable("Accept br, zstd, gzip or identity.")
            await self._refuse(scope, send, problem, counted, admission)
        elif if_none_match is not None and is_unchanged(if_none_match, encoded.etag):
            self.answered["published", 304] += 1
            await send(encoded.not_modified)
            await send(_NO_BODY)
        elif for_range:
            try:
                part = select_bytes(
                    joined_values(headers, b"range"), fields.get(b"if-range"), encoded.size, encoded.etag
                )
            except Unsatisfiable:
                await self._refuse(scope, send, no_such_range(encoded.size), counted, admission)
                return
            body = encoded.body["body"]
            self.answered["published", 200 if part is None else 206] += 1
            await send(encoded.start if part is None else encoded.partial_start(part))
            await send(_body(body if part is None else body[part.first : part.last + 1]))
        else:
            self.answered["published", 200] += 1
            await send(encoded.start)
            await send(encoded.body if method == "GET" else _NO_BODY)

    async def _answer_other_protocol(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Closes a WebSocket; passes on the lifespan once the documents are loaded."""
        if scope["type"] == "websocket":
            # Reached only under servers that do the handshake themselves. `svc serve` passes the upgrade request on
            # instead, and `_refusal_of_head` refuses it.
            await receive()
            await send({"type": "websocket.close", "code": 1008})
        else:
            # First, because later each of a thousand files would wait for the interpreter while a thread imports the
            # rooms.
            self.follow_pointer(self._clock())
            if self._drain_seconds:
                leave_first(self._drain_seconds, self._leave)
            await self._application(scope, receive, send)

    def _leave(self) -> None:
        self._leaving = True

    def _options_answer(self, scope: Scope) -> Message | None:
        """Returns the answer to OPTIONS for published paths, and to a browser's preflight for a page of another origin.

        Returns None if the rooms answer it.
        """
        path = scope["path"]
        if self.site is not None:
            if (document := self.site.documents.get(path)) is not None:
                return document.options
            if path in self.site.redirects or path in self.site.files:
                return READ_ALONE
        if path in _MCP_PATHS or path.startswith(BLINK_PREFIX):
            return None
        return _PREFLIGHT if any(name == _PREFLIGHT_FIELD for name, _ in scope["headers"]) else None

    async def _identify(
        self, scope: Scope, receive: Receive, now_s: float
    ) -> tuple[Receive, Admission | None, Counted | None]:
        """Counts a request against the paired session or the key that it names.

        Returns neither an admission nor a count without a valid key, or for a request that needs no key or is about the
        key itself; such a request counts against its address. A message's session, method and id are in its body, so
        the returned `Receive` replays a body that was read.
        """
        path = scope["path"]
        if path in _MCP_PATHS and scope["method"] == "POST":
            body = await read_body(scope, receive, body_limit(path))
            receive = replay(body, receive)
            scope[MESSAGE] = body or b""
            if path == MCP_PATH and self._take is not None:
                counted = await self._count_session(scope[MESSAGE], now_s)
                if counted is not None:
                    return receive, None, counted
        admission = await self._admit(scope, now_s, counts=is_metered(path))
        if not is_metered(path):
            return receive, None, None
        if (
            admission is not None
            and admission.taken is not None
            and MESSAGE in scope
            and not admission.taken.allowed
            and message_of(scope[MESSAGE])["method"] not in COUNTED_METHODS
        ):
            return receive, None, None
        return receive, admission, None if admission is None else _counted_for(admission)

    def follow_pointer(self, now_s: float) -> None:
        """Follows the pointer if it moved. If the new generation can't be served, logs that and keeps the last one."""
        self._next_check_at = now_s + POINTER_EVERY_S
        try:
            pointer = current_pointer(self._data_dir)
        except OperatorProblem as problem:
            _log.warning("The pointer can't be followed; the last generation is still served: %s", problem)
            return
        if pointer is None or pointer == self._pointer:
            return
        self._pointer = pointer
        try:
            generation = current_generation(self._data_dir)
            if generation is not None and generation.manifest.base_url != self._base_url:
                _log.error("%s was built for %s and is not served here", generation.id, generation.manifest.base_url)
            elif generation is not None:
                self.site = load_site(generation, self._policy)
        except Exception:
            _log.exception("The generation %s can't be read", pointer)

    async def _admit(self, scope: Scope, now_s: float, *, counts: bool) -> Admission | None:
        """Returns the admission of a valid key and puts its caller into the scope."""
        headers = scope["headers"]
        presented = presented_key(values_of(headers, b"authorization"), values_of(headers, b"x-api-key"))
        if presented is None:
            return None
        assert self._keys is not None
        try:
            admission = await self._keys.admit(presented, now_s, counts=counts)
        except OperatorProblem as problem:
            _log.warning("No key can be looked up: %s", problem)
            scope[CALLER] = STORE_FAILED
            return None
        if admission is not None:
            scope[CALLER] = admission.caller
        return admission

    async def _count_session(self, body: bytes, now_s: float) -> Counted | None:
        """Counts a message against the minute of its paired session. Returns None if it names no valid session."""
        assert self._keys is not None
        token = session_token_of(body)
        if token is None:
            return None
        try:
            take = await self._keys.take_of_session(token, now_s)
        except OperatorProblem as problem:
            _log.warning("No session can be looked up: %s", problem)
            return None
        return None if take is None else Counted("session", WINDOW_S, take)

    async def _count(self, scope: Scope, now_s: float) -> Take | None:
        """Takes one request from the minute of the client's address. Returns None if counting failed."""
        assert self._take is not None
        peer = scope["client"][0] if scope.get("client") else "unknown"
        key = f"address:{self._clients.key(peer, scope['headers'])}"
        try:
            if self._take_waits:
                return await asyncio.to_thread(self._take, key, self._limit, WINDOW_S, now_s)
            return self._take(key, self._limit, WINDOW_S, now_s)
        except OperatorProblem as problem:
            # The limit spreads load; losing it for a moment is better than answering nobody.
            _log.warning("Not counted: %s", problem)
            return None

    async def _settle(
        self, scope: Scope, admission: Admission | None, counted: Counted | None, status: int, work_began: bool
    ) -> Counted | None:
        """Gives back to its key a request that should not count. Returns the budget that the request counts against.

        A request that was refused before work began counts against the address's minute instead. If the address has
        nothing left, it counts against the key after all, so that nobody can repeat such requests endlessly.
        """
        if admission is None or counted is None or is_counted(status, work_began):
            return counted
        now_s = self._clock()
        if status != StoreUnavailable.status and self._take is not None:
            paid = await self._count(scope, now_s)
            if paid is not None and not paid.allowed:
                return counted
        else:
            paid = None
        assert self._keys is not None
        await self._keys.give_back(admission, now_s)
        if paid is not None:
            return Counted("permin", WINDOW_S, paid)
        return counted._replace(taken=counted.taken._replace(remaining=counted.taken.remaining + 1))

    async def _send_file(self, scope: Scope, send: Send, file: PublishedFile) -> None:
        """Answers with a file or a range of it, in chunks, so that no whole file is ever in memory."""
        headers = scope["headers"]
        # a client that refuses an unencoded file gets it nevertheless
        accept_encoding, asked = joined_values(headers, b"accept-encoding"), joined_values(headers, b"range")
        for_range = asked is not None and scope["method"] == "GET"
        chosen = choose_encoding(file.encodings, accept_encoding, for_range=for_range) or file.encodings[IDENTITY]
        encoded = chosen.encoded
        if_none_match = joined_values(headers, b"if-none-match")
        if if_none_match is None:
            unchanged = joined_values(headers, b"if-modified-since") == encoded.last_modified
        else:
            unchanged = is_unchanged(if_none_match, encoded.etag)
        if unchanged:
            await send(encoded.not_modified)
            await send(_NO_BODY)
            return
        if scope["method"] == "HEAD":
            await send(encoded.start)
            await send(_NO_BODY)
            return
        condition = joined_values(headers, b"if-range")
        try:
            part = select_bytes(asked, condition, encoded.size, encoded.etag, encoded.last_modified)
        except Unsatisfiable:
            await self._refuse(scope, send, no_such_range(encoded.size))
            return
        left = encoded.size if part is None else part.length
        with chosen.path.open("rb") as content:
            content.seek(0 if part is None else part.first)
            await send(encoded.start if part is None else encoded.partial_start(part))
            while left and (chunk := content.read(min(left, _CHUNK_BYTES))):
                left -= len(chunk)
                await send({"type": "http.response.body", "body": chunk, "more_body": True})
                await asyncio.sleep(0)  # a fast client must not keep the others waiting for a whole file
            await send(_NO_BODY)

    async def _refuse(
        self,
        scope: Scope,
        send: Send,
        problem: RequestProblem,
        counted: Counted | None = None,
        admission: Admission | None = None,
    ) -> None:
        """Answers with `problem` before any work begins."""
        counted = await self._settle(scope, admission, counted, problem.status, work_began=False)
        request_id = _request_id()
        links = self._problem_links.of(problem, scope["method"], scope["path"])
        if scope["path"] in _MCP_PATHS:
            id = message_of(scope.get(MESSAGE, b"")).get("id")
            media_type, body = "application/json", problem_as_error(problem, request_id, links, id=id)
        else:
            media_type, body = PROBLEM_MEDIA_TYPE, problem_body(problem, scope["path"], request_id, links)
        headers = {
            **(self._action_headers if scope["path"].startswith(BLINK_PREFIX) else OPEN_HEADERS),
            "Content-Type": media_type,
            "Content-Length": str(len(body)),
            "Cache-Control": "no-store",
            "X-Request-Id": request_id,
            **link_field(links),
            **problem.headers,
            **limit_fields(counted),
        }
        self.answered["front", problem.status] += 1
        with log_fields(request_id=request_id):
            _log_answer(scope, problem.status, code=problem.code)
        await send({"type": "http.response.start", "status": problem.status, "headers": _encode_headers(headers)})
        await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else body})

    async def _pass_on(
        self, scope: Scope, receive: Receive, send: Send, counted: Counted | None, admission: Admission | None
    ) -> None:
        """Lets the application answer: limits the body and refuses a compressed one, treats HEAD as GET without a body,
        adds headers to every answer."""
        if self._leaving and scope["path"] == HEALTH_PATH:
            await self._refuse(
                scope, send, NotReady("This host is about to stop. Ask another one."), counted, admission
            )
            return
        is_head = scope["method"] == "HEAD"
        request_id = _request_id()
        if scope["method"] not in (*_READS, "OPTIONS"):
            limit = body_limit(scope["path"])
            whole = await read_body(scope, receive, limit)
            if whole is None:
                await self._refuse(scope, send, BodyTooLarge(f"Send at most {limit:,} bytes."), counted, admission)
                return
            if whole and (encoded := encoding_unsupported(scope["headers"])) is not None:
                await self._refuse(scope, send, encoded, counted, admission)
                return
            receive = replay(whole, receive)
        opening = self._action_fields if scope["path"].startswith(BLINK_PREFIX) else _OPEN
        work = Work()
        status = 0
        began_s = time.perf_counter()

        async def send_on(message: MutableMapping[str, Any]) -> None:
            nonlocal counted, status
            if message["type"] == "http.response.start":
                status = message["status"]
                self.answered["rooms", status] += 1
                counted = await self._settle(scope, admission, counted, message["status"], work.began)
                sent = dict(message["headers"])
                cache = sent.get(b"cache-control")
                shared = {"X-Request-Id": request_id}
                if cache is None:
                    shared["Cache-Control"] = "no-store"
                shared |= limit_fields(counted, policy_alone=cache not in (None, b"no-store"))
                message = {**message, "headers": [*message["headers"], *opening, *_encode_headers(shared)]}
            elif is_head:
                message = {**message, "body": b""}
            await send(message)

        inner = {
            **scope,
            "method": "GET" if is_head else scope["method"],
            "headers": _without_range(scope["headers"]) if is_head else scope["headers"],
            "request_id": request_id,
            WORK: work,
            COUNTED: counted,
        }
        with log_fields(request_id=request_id), span(inner["method"], "server", headers=_sender(scope)) as answer:
            try:
                await self._application(inner, receive, send_on)
            finally:  # the framework re-raises a fault after it has answered
                if (route := _route(inner)) is not None:
                    answer.update_name(f"{inner['method']} {route}")
                    answer.set_attribute("http.route", route)
                answer.set_attribute("http.request.method", scope["method"])
                answer.set_attribute("http.response.status_code", status)
                answer.set_attribute("svc.request_id", request_id)
                _log_answer(inner, status, duration_ms=round((time.perf_counter() - began_s) * 1000, 2))


def _refusal_of_head(scope: Scope, fields: dict[bytes, bytes]) -> RequestProblem | None:
    """Returns the problem with a request's header fields or target, if any."""
    size_bytes = 0
    for name, value in scope["headers"]:
        size_bytes += len(name) + len(value)
    if size_bytes > HEAD_LIMIT_BYTES or len(scope["path"]) + len(scope["query_string"]) > TARGET_LIMIT_BYTES:
        return head_too_large(size_bytes)
    if b"upgrade" in fields and fields[b"upgrade"].lower() == b"websocket":
        return UpgradeUnsupported("Send the request without the Upgrade field; there are no WebSockets here.")
    return None


def _is_published(site: PublishedSite | None, path: str) -> bool:
    return site is not None and (path in site.documents or path in site.files or path in site.redirects)


def _asks_what_may_be_sent(method: str, path: str) -> bool:
    """Returns whether a request is an OPTIONS that a room answers; like those of other paths, it is not counted."""
    return method == "OPTIONS" and (path in _MCP_PATHS or path.startswith(BLINK_PREFIX))


def _log_answer(scope: Scope, status: int, **fields: str | float) -> None:
    """Logs an answer under the pattern of its route, because the path itself may name a wallet or a node."""
    if _requests.isEnabledFor(logging.INFO):
        method, route = scope["method"], _route(scope)
        message = f"{method} {route or 'a request'}: {status}"
        _requests.info(message, extra={"fields": {"method": method, "route": route, "status": status, **fields}})


def _without_range(headers: Sequence[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """Returns the header fields for answering HEAD as GET, without the range, which is only defined for GET."""
    return [(name, value) for name, value in headers if name != b"range"]


def _route(scope: Scope) -> str | None:
    """Returns the path pattern of the route that answered, such as `/api/token/holders/{address}`, or None."""
    return getattr(scope.get("route"), "path", None)


def _sender(scope: Scope) -> dict[str, str]:
    """Returns the header fields that name the sender's span."""
    return {name.decode(): value.decode("latin-1") for name, value in scope["headers"] if name in _TRACE_FIELDS}


def _body(content: bytes) -> Message:
    return {"type": "http.response.body", "body": content}


def _wrong_method() -> MethodNotAllowed:
    return MethodNotAllowed("The Allow header names the methods of this path.", headers={"Allow": READS})


def _counted_for(admission: Admission) -> Counted | None:
    return None if admission.taken is None else Counted("daily", DAY_S, admission.taken)


def _request_id() -> str:
    return secrets.token_hex(8)


def _encode_headers(headers: dict[str, str]) -> list[tuple[bytes, bytes]]:
    return [(name.lower().encode(), value.encode("latin-1")) for name, value in headers.items()]


_OPEN = _encode_headers(OPEN_HEADERS)
_PREFLIGHT: Message = {
    "type": "http.response.start",
    "status": 204,
    "headers": _encode_headers({**OPEN_HEADERS, **PREFLIGHT_HEADERS, "Cache-Control": "no-store"}),
}
_PREFLIGHT_FIELD = b"access-control-request-method"
