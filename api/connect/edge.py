"""The HTTP edge in front of the MCP SDK: passes on only single, well-formed messages from permitted clients.

On its own, the SDK would report a message that is not JSON-RPC as bad parameters, treat `id: null` as a notification,
and hold a GET open forever.
"""

import asyncio
import json
import threading
from collections.abc import Awaitable, Callable, MutableMapping
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import Response

from api.bodies import strict_json
from api.publish.client_address import ClientAddresses
from api.work import work_of
from contracts.connect.jsonrpc import (
    INVALID_REQUEST,
    PARSE_ERROR,
    UNSUPPORTED_PROTOCOL_VERSION,
    MessageInvalid,
    RequestId,
    error_body,
    problem_as_error,
    read_message,
    with_stable_code,
)
from contracts.connect.server import MODERN_VERSIONS, PROTOCOL_VERSIONS
from contracts.errors import (
    BodyInvalid,
    HostUnknown,
    MediaTypeUnsupported,
    MethodNotAllowed,
    OriginForbidden,
    RequestProblem,
)
from contracts.problem_links import problem_links
from contracts.settings import Settings

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

CLIENT = "svc.client"
"""Scope key under which the SDK's handlers find the rate-limit key of the client's address."""

METHODS = "POST, OPTIONS"
PREFLIGHT = {
    "Allow": METHODS,
    "Access-Control-Allow-Methods": METHODS,
    "Access-Control-Allow-Headers": "Accept, Authorization, Content-Type, MCP-Protocol-Version, Mcp-Method, Mcp-Name, "
    "Mcp-Session-Id, X-Api-Key",
    "Access-Control-Max-Age": "86400",
}

_JSON = "application/json"
_ACCEPT = b"application/json, text/event-stream"
_VERSION = b"mcp-protocol-version"
_OURS = (b"accept", b"content-length", b"content-type")
_OUR_ID = "id-of-the-edge"
_PORTS = {"http": 80, "https": 443}


class Edge:
    """An ASGI application for one path. `open_server` creates the message server; it is called once, in a thread.

    `is_work` decides by a message's method whether it counts against the daily quota of its key.
    """

    def __init__(
        self,
        settings: Settings,
        open_server: Callable[[], Application],
        is_work: Callable[[str], bool] = lambda method: True,
    ) -> None:
        self._policy = OriginPolicy(settings)
        self._problem_links = problem_links(settings)
        self._open_server = open_server
        self._is_work = is_work
        self._opening = threading.Lock()
        self._server: Application | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] == "OPTIONS":
            await Response(status_code=204, headers=PREFLIGHT)(scope, receive, send)
            return
        request = Request(scope, receive)
        work_of(scope).began = False  # whether it is work depends on the message's method, read below
        try:
            self._policy.check(request)
            _check_media_type(request)
            message = read_message(strict_json(await request.body()))
        except (BodyInvalid, MessageInvalid) as invalid:
            parsed = isinstance(invalid, MessageInvalid)
            code, text = (INVALID_REQUEST, str(invalid)) if parsed else (PARSE_ERROR, f"Parse error: {invalid}")
            links = self._problem_links.of(BodyInvalid(text), scope["method"], scope["path"])
            data = {"code": BodyInvalid.code, "retryable": False, "requestId": scope["request_id"], "links": links}
            await _error(400, error_body(code, text, data=data))(scope, receive, send)
        except RequestProblem as problem:
            links = self._problem_links.of(problem, scope["method"], scope["path"])
            body = problem_as_error(problem, scope["request_id"], links)
            await _error(problem.status, body, problem.headers)(scope, receive, send)
        else:
            await self._answer(message, scope, receive, send)

    async def _answer(self, message: dict[str, Any], scope: Scope, receive: Receive, send: Send) -> None:
        version = dict(scope["headers"]).get(_VERSION, PROTOCOL_VERSIONS[0].encode()).decode("latin-1").strip()
        if version not in PROTOCOL_VERSIONS:
            data = {"supported": list(MODERN_VERSIONS), "requested": version}
            text = "Unsupported protocol version; for an older revision, negotiate it with initialize."
            body = error_body(UNSUPPORTED_PROTOCOL_VERSION, text, id=message.get("id"), data=data)
            await _error(400, self._completed(body, scope, message.get("id")))(scope, receive, send)
            return
        if "id" not in message:
            await Response(status_code=202)(scope, receive, send)
            return
        work_of(scope).began = self._is_work(message["method"])
        server = await asyncio.to_thread(self._open_once) if self._server is None else self._server
        # White space around a value is not part of it, but not every server in front of us strips it.
        forwarded = [(name, value.strip()) for name, value in scope["headers"] if name not in _OURS]
        answer = self._answering(scope, message["id"], send)
        if not isinstance(message["id"], str | int):
            message = {**message, "id": _OUR_ID}  # the SDK accepts neither null nor fractions
        body = json.dumps(message).encode()
        length = (b"content-length", str(len(body)).encode())
        # The SDK compares content types case-sensitively, although media types are not.
        headers = [*forwarded, (b"accept", _ACCEPT), (b"content-type", _JSON.encode()), length]
        inner = {**scope, "headers": headers, CLIENT: self._policy.client(scope)}
        await server(inner, _whole(body), answer)

    def _answering(self, scope: Scope, id: RequestId, send: Send) -> Send:
        """Returns a `send` for the SDK's answer that restores the message's original `id` and completes an error."""
        start: MutableMapping[str, Any] = {}

        async def complete(message: MutableMapping[str, Any]) -> None:
            nonlocal start
            if message["type"] == "http.response.start":
                start = message
                return
            body = message.get("body", b"")
            if body:
                body = self._completed(body, scope, id)
            headers = [(name, value) for name, value in start["headers"] if name != b"content-length"]
            headers.append((b"content-length", str(len(body)).encode()))
            await send({**start, "headers": headers})
            await send({**message, "body": body})

        return complete

    def _completed(self, body: bytes, scope: Scope, id: RequestId) -> bytes:
        """Returns the answer with this id; adds a stable code and links to the `data` of an error."""
        is_our_id = not isinstance(id, str | int)
        if not is_our_id and b'"error"' not in body:
            return body
        answer = json.loads(body)
        if is_our_id and answer.get("id") == _OUR_ID:
            answer["id"] = id
        if "error" in answer:
            links = self._problem_links.of(BodyInvalid(answer["error"]["message"]), scope["method"], scope["path"])
            answer["error"] = with_stable_code(answer["error"], scope["request_id"], links)
        return json.dumps(answer, ensure_ascii=False, separators=(",", ":")).encode()

    def _open_once(self) -> Application:
        with self._opening:
            if self._server is None:
                self._server = self._open_server()
            return self._server


class OriginPolicy:
    """Decides who may send messages: the Host must be one of ours, and an Origin must be ours or an allowed one.

    So no page of another origin can make a browser act here, even if that page's name resolves to our address.
    """

    def __init__(self, settings: Settings) -> None:
        public = urlsplit(settings.public_base_url)
        assert public.hostname is not None
        self._hosts = {public.netloc.lower(), public.hostname.lower()}
        self._hosts.add(settings.listens_at.lower())
        if _PORTS.get(public.scheme) and public.port is None:
            self._hosts.add(f"{public.hostname}:{_PORTS[public.scheme]}".lower())
        self._origins = {_origin(f"{public.scheme}://{public.netloc}")}
        self._origins |= {_origin(origin) for origin in settings.allowed_origins}
        self._clients = ClientAddresses(settings.trusted_proxies)

    def check(self, request: Request) -> None:
        """Raises `MethodNotAllowed`, `HostUnknown` or `OriginForbidden`."""
        if request.method != "POST":
            raise MethodNotAllowed("Send messages by POST; there are no streams.", headers={"Allow": METHODS})
        host = request.headers.get("host", "").lower()
        if not self._is_ours(host, request):
            raise HostUnknown("The Host header names none of our hosts; send the host of the base address.")
        origin = request.headers.get("origin")
        if origin is not None and _origin(origin) not in self._origins and _netloc(origin.lower()) != host:
            raise OriginForbidden("Pages of this origin are not allowed; the operator configures those that are.")

    def client(self, scope: Scope) -> str:
        """Returns the rate-limit key of the request's address."""
        return self._clients.key(scope["client"][0] if scope.get("client") else "unknown", scope["headers"])

    def _is_ours(self, host: str, request: Request) -> bool:
        if host in self._hosts or _is_loopback(host):
            return True
        if request.client is not None and self._clients.trusts(request.client.host):
            # A proxy may use its own name for us.
            return True
        listening = request.scope.get("server")
        return listening is not None and host == f"{listening[0]}:{listening[1]}"


def _is_loopback(host: str) -> bool:
    try:
        name = urlsplit(f"//{host}").hostname
        return name == "localhost" or (name is not None and ip_address(name).is_loopback)
    except ValueError:
        return False


def _netloc(origin: str) -> str | None:
    """Returns the host and port of an origin, or None if it is not a URL."""
    try:
        return urlsplit(origin).netloc
    except ValueError:
        return None


def _origin(text: str) -> str:
    return text.lower().rstrip("/")


def _check_media_type(request: Request) -> None:
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type != _JSON:
        raise MediaTypeUnsupported("Send the message as application/json.")


def _error(status: int, body: bytes, headers: dict[str, str] | None = None) -> Response:
    return Response(body, status, headers, _JSON)


def _whole(body: bytes) -> Receive:
    """Returns a receive that provides `body` and then waits, as if the client stayed connected."""
    provided = False

    async def receive() -> MutableMapping[str, Any]:
        nonlocal provided
        if provided:
            await asyncio.Event().wait()
        provided = True
        return {"type": "http.request", "body": body, "more_body": False}

    return receive
