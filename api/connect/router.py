"""The one route of connect, `/mcp`, for the framework and the description. The edge answers all its methods."""

from typing import Any

from fastapi import APIRouter
from fastapi.routing import APIRoute
from pydantic import BaseModel
from starlette.routing import Match
from starlette.types import Receive, Scope, Send

from api.connect.edge import Edge
from api.openapi.headers import header_refs
from api.responses import problems
from contracts.connect.jsonrpc import JsonRpcAnswer, JsonRpcRefusal, JsonRpcRequest
from contracts.connect.server import FIRST_TOOL, MCP_PATH
from contracts.errors import InternalFault

_REFUSED: dict[int, str] = {
    400: "No JSON (-32700), no JSON-RPC request (-32600), or what MCP answers so",
    403: "The Origin is of a page that is not let in",
    404: "A method that revision 2026-07-28 of MCP does not have here (-32601); earlier ones answer 200",
    405: "Another method than POST or OPTIONS: no stream is held",
    413: "The body is larger than 64 KiB",
    414: "Path and query are too long",
    415: "The content type is not application/json",
    421: "The Host header names none of this service",
    429: "The budget of the address or of the session is used up",
    431: "The header fields are too large",
}


def connect_router(edge: Edge) -> APIRouter:
    """Creates the route of `/mcp` over this process's edge."""

    class EdgeRoute(APIRoute):
        """Lets the framework find the path and the edge do the rest."""

        def matches(self, scope: Scope) -> tuple[Match, Scope]:
            match, child = super().matches(scope)
            ours = match == Match.PARTIAL and scope["method"] not in ("POST", "OPTIONS")
            return (Match.FULL if ours else match), child

        async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
            await edge(scope, receive, send)

    router = APIRouter(tags=["connect"], route_class=EdgeRoute)

    @router.post(
        MCP_PATH,
        response_model=JsonRpcAnswer,
        responses={
            200: {"description": "The answer; what goes wrong inside a tool is a result with `isError`"},
            202: {"description": "A notification was taken", "model": None},
            **{status: _refusal(text) for status, text in _REFUSED.items()},
            **problems(InternalFault),
        },
        summary="Speak MCP",
        description="JSON-RPC 2.0 in any revision of MCP from 2024-11-05 to 2026-07-28, one message a request, without "
        f"sessions of the transport. `tools/list` tells what there is; call `{FIRST_TOOL}` first.",
        operation_id="mcp",
    )
    def mcp(message: JsonRpcRequest) -> None:
        """Describes the route; the edge answers it."""

    @router.options(
        MCP_PATH,
        status_code=204,
        responses={
            204: {"description": "What pages may send", "headers": header_refs("Allow")},
            **{status: _refusal(_REFUSED[status]) for status in (414, 429, 431)},
            **problems(InternalFault),
        },
        summary="Ask what may be sent",
        description="The preflight of a browser. The answer to a message states whether its page is allowed.",
        operation_id="mcp_preflight",
    )
    def preflight() -> None:
        """Describes the route; the edge answers it."""

    return router


def _refusal(description: str) -> dict[str, Any]:
    model: type[BaseModel] = JsonRpcRefusal
    return {"description": description, "model": model}
