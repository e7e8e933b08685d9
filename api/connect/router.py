"""The routes of connect, `/mcp` and `/api/v2/mcp`, for the framework and the OpenAPI description. Edges answer them.

The key's route authenticates every request, like all routes that require a key.
"""

from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.routing import APIRoute
from pydantic import BaseModel
from starlette.routing import Match
from starlette.types import Receive, Scope, Send

from api.connect.edge import Edge
from api.deps import AuthenticatedRoute
from api.openapi.headers import header_refs
from api.responses import PAYMENT_ERRORS, problems
from api.routes import merge_routes
from contracts.connect.jsonrpc import JsonRpcAnswer, JsonRpcRefusal, JsonRpcRequest
from contracts.connect.key_server import COUNTING, KEY_MCP_PATH
from contracts.connect.server import FIRST_TOOL, MCP_PATH
from contracts.errors import (
    InternalFault,
    SettlementUnavailable,
    StoreUnavailable,
    Unauthorized,
)

_REFUSED: dict[int, str] = {
    400: "Not JSON (-32700), not a JSON-RPC request (-32600), or another error that MCP answers with 400",
    403: "The Origin belongs to a page that is not allowed",
    404: "A method that does not exist here in revision 2026-07-28 of MCP (-32601); earlier revisions answer 200",
    405: "A method other than POST or OPTIONS: there are no streams",
    413: "The body is larger than 64 KiB",
    414: "Path and query are too long",
    415: "The content type is not application/json, or the body is compressed",
    421: "The Host header names no host of this service",
    429: "The budget of the address or of the session is used up",
    431: "The header fields are too large",
}
_REFUSED_BY_KEY = _REFUSED | {
    413: "The body is larger than 1 MiB",
    429: "The budget of the address or the key's daily quota is used up",
}
_ANSWERED: dict[int | str, dict[str, Any]] = {
    200: {"description": "The answer; an error inside a tool is a result with `isError`"},
    202: {"description": "The notification was accepted", "model": None},
}
_ANY_REVISION = (
    "JSON-RPC 2.0 in any revision of MCP from 2024-11-05 to 2026-07-28, one message per request, without transport "
    "sessions."
)


class _AnyMethod(APIRoute):
    """Lets the framework find the path, whatever the method."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        match, child = super().matches(scope)
        ours = match == Match.PARTIAL and scope["method"] not in ("POST", "OPTIONS")
        return (Match.FULL if ours else match), child


class _Message(Response):
    """Lets an edge answer the request itself."""

    def __init__(self, edge: Edge) -> None:
        super().__init__()
        self._edge = edge

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._edge(scope, receive, send)


def connect_router(edge: Edge, key_edge: Edge) -> APIRouter:
    """Creates the routes over this process's edges: `edge` answers `/mcp`, `key_edge` answers `/api/v2/mcp`."""

    class EdgeRoute(_AnyMethod):
        """Hands every request to the edge."""

        async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
            await edge(scope, receive, send)

    class KeyRoute(_AnyMethod, AuthenticatedRoute):
        """Authenticates messages; lets the edge answer other methods, for which a key makes no difference."""

        async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
            if scope["method"] == "POST":
                await super().handle(scope, receive, send)
            else:
                await key_edge(scope, receive, send)

    class KeyPreflightRoute(_AnyMethod):
        async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
            await key_edge(scope, receive, send)

    router = APIRouter(tags=["connect"], route_class=EdgeRoute)

    @router.post(
        MCP_PATH,
        response_model=JsonRpcAnswer,
        responses={
            **_ANSWERED,
            **{status: _refusal(text) for status, text in _REFUSED.items()},
            **problems(InternalFault),
        },
        summary="Speak MCP",
        description=f"{_ANY_REVISION} `tools/list` lists the tools; call `{FIRST_TOOL}` first.",
        operation_id="mcp",
    )
    def mcp(message: JsonRpcRequest) -> None:
        """Describes the route; the edge answers it."""

    @router.options(
        MCP_PATH,
        status_code=204,
        responses=_preflight(),
        summary="Ask what may be sent",
        description="The preflight of a browser. The answer to a message states whether its page is allowed.",
        operation_id="mcp_preflight",
    )
    def preflight() -> None:
        """Describes the route; the edge answers it."""

    by_key = APIRouter(tags=["connect"], route_class=KeyRoute)

    @by_key.post(
        KEY_MCP_PATH,
        response_model=JsonRpcAnswer,
        responses={
            **_ANSWERED,
            **{status: _refusal(text) for status, text in _REFUSED_BY_KEY.items()},
            **_problems_or_refusals(),
        },
        openapi_extra={"requestBody": _message_body()},
        summary="Speak MCP with a key",
        description=f"{_ANY_REVISION} Tools remember, search, read, correct, build, plan memory, judge actions and "
        f"show holders, plans and the key. {COUNTING}",
        operation_id="mcp_by_key",
    )
    async def mcp_by_key(request: Request) -> Response:
        return _Message(key_edge)

    preflights = APIRouter(tags=["connect"], route_class=KeyPreflightRoute)

    @preflights.options(
        KEY_MCP_PATH,
        status_code=204,
        responses=_preflight(),
        summary="Ask what may be sent with a key",
        description="The preflight of a browser. The answer to a message states whether its page is allowed.",
        operation_id="mcp_by_key_preflight",
    )
    def key_preflight() -> None:
        """Describes the route; the edge answers it."""

    merge_routes(router, by_key, preflights)
    return router


def _preflight() -> dict[int | str, dict[str, Any]]:
    return {
        204: {"description": "What pages may send", "headers": header_refs("Allow")},
        **{status: _refusal(_REFUSED[status]) for status in (414, 431)},
        **problems(InternalFault),
    }


def _message_body() -> dict[str, Any]:
    """Describes the body, which is read by the edge, not by the framework."""
    schema = {"$ref": "#/components/schemas/JsonRpcRequest"}
    return {"required": True, "content": {"application/json": {"schema": schema}}}


def _problems_or_refusals() -> dict[int | str, dict[str, Any]]:
    """Describes refusals that precede reading the message: JSON-RPC for MCP clients, which accept event streams, and a
    problem document for all others."""
    described = problems(
        Unauthorized,
        *PAYMENT_ERRORS,
        InternalFault,
        StoreUnavailable,
        SettlementUnavailable,
    )
    for answer in described.values():
        answer["content"]["application/json"] = {"schema": {"$ref": "#/components/schemas/JsonRpcRefusal"}}
    return described


def _refusal(description: str) -> dict[str, Any]:
    model: type[BaseModel] = JsonRpcRefusal
    return {"description": description, "model": model}
