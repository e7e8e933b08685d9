"""Serves our tools and resources with the official MCP SDK: one answer a request, without transport sessions.

It is slow to import, so the first message loads it, or the process while it answers its first requests.
"""

import asyncio
import logging
from typing import Any

import mcp_types as types
from mcp.server.caching import CacheHint
from mcp.server.lowlevel.server import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.shared.exceptions import MCPError

from api.connect.edge import CLIENT, Receive, Scope, Send
from api.connect.resources import Resource, Resources
from api.connect.tools import McpTools
from contracts.connect.jsonrpc import INVALID_PARAMS
from contracts.connect.server import (
    INSTRUCTIONS,
    SERVER_DESCRIPTION,
    SERVER_NAME,
    SERVER_TITLE,
    SERVER_VERSION,
)
from contracts.connect.tools import TOOLS, Tool

TOOLS_MAX_AGE_MS = 3_600_000
RESOURCES_MAX_AGE_MS = 60_000


class McpServer:
    """An ASGI application that answers one well-formed message in any supported revision of MCP."""

    def __init__(self, tools: McpTools, resources: Resources) -> None:
        # The SDK would log the start of a manager for each request.
        logging.getLogger("mcp.server.streamable_http_manager").setLevel(logging.WARNING)
        self._mcp_tools = tools
        self._resources = resources
        self._tools = types.ListToolsResult(tools=[_tool(tool) for tool in TOOLS])
        lasting = CacheHint(ttl_ms=TOOLS_MAX_AGE_MS, scope="public")
        published = CacheHint(ttl_ms=RESOURCES_MAX_AGE_MS, scope="public")
        self._server: Server[Any] = Server(
            SERVER_NAME,
            version=SERVER_VERSION,
            title=SERVER_TITLE,
            description=SERVER_DESCRIPTION,
            instructions=INSTRUCTIONS,
            cache_hints={
                "server/discover": lasting,
                "tools/list": lasting,
                "resources/list": published,
                "resources/templates/list": lasting,
                "resources/read": published,
            },
            get_tool_input_schema=lambda _: None,
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
            on_list_resources=self._list_resources,
            on_list_resource_templates=self._list_templates,
            on_read_resource=self._read_resource,
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        # Each request has its own manager, which holds only the tasks of that request, so nothing has to be started or
        # ended with the process.
        manager = StreamableHTTPSessionManager(self._server, json_response=True, stateless=True)
        async with manager.run():
            await manager.handle_request(scope, receive, send)

    async def _list_tools(self, _: Any, __: Any) -> types.ListToolsResult:
        return self._tools

    async def _call_tool(self, ctx: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        if not self._mcp_tools.has(params.name):
            raise MCPError(INVALID_PARAMS, f"Unknown tool: {params.name[:100]}")
        client = ctx.request.scope[CLIENT]
        outcome = await self._mcp_tools.call(params.name, params.arguments or {}, client)
        return types.CallToolResult(
            content=[types.TextContent(type="text", text=outcome.text)],
            structured_content=None if outcome.failed else outcome.fields,
            is_error=outcome.failed,
        )

    async def _list_resources(self, _: Any, __: Any) -> types.ListResourcesResult:
        return types.ListResourcesResult(resources=[_resource(resource) for resource in self._resources.listed()])

    async def _list_templates(self, _: Any, __: Any) -> types.ListResourceTemplatesResult:
        # The list is empty, but clients that see resources ask for templates too.
        return types.ListResourceTemplatesResult(resource_templates=[])

    async def _read_resource(self, _: Any, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        document = await asyncio.to_thread(self._resources.read, params.uri)
        if document is None:
            raise MCPError(INVALID_PARAMS, "No resource has this URI.", {"uri": params.uri[:1000]})
        resource, text = document
        contents = types.TextResourceContents(uri=resource.uri, mime_type=resource.media_type, text=text)
        return types.ReadResourceResult(contents=[contents])


def _tool(tool: Tool) -> types.Tool:
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=tool.input_schema,
        output_schema=tool.output_schema,
        annotations=types.ToolAnnotations(
            title=tool.title,
            read_only_hint=tool.read_only,
            destructive_hint=tool.destructive,
            idempotent_hint=tool.idempotent,
            open_world_hint=tool.open_world,
        ),
    )


def _resource(resource: Resource) -> types.Resource:
    return types.Resource(
        uri=resource.uri,
        name=resource.name,
        title=resource.title,
        description=resource.description,
        mime_type=resource.media_type,
    )
