"""Serves tools, resources and prompts with the official MCP SDK: one answer per request, without transport sessions.

The SDK is slow to import, so it is loaded by the process's warm-up or, if that comes first, by the first message.
"""

import logging
from collections.abc import Sequence
from typing import Any, Protocol

import mcp_types as types
from mcp.server.caching import CacheHint
from mcp.server.lowlevel.server import Server
from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.shared.exceptions import MCPError

from api.connect.edge import Receive, Scope, Send
from api.connect.outcomes import Question, Reply, ToolCall, ToolOutcome
from api.connect.resources import Resource
from api.key_gate import CALLER
from contracts.connect.jsonrpc import PARAMS_INVALID, PROMPT_UNKNOWN, RESOURCE_UNKNOWN, TOOL_UNKNOWN, ProtocolError
from contracts.connect.key_server import CONFIRMED_WITHIN_S
from contracts.connect.key_tools import Prompt, ResourceTemplate
from contracts.connect.server import MODERN_VERSIONS, ServerIdentity
from contracts.connect.tools import Tool
from contracts.world.pending import LONGEST_CLIENT

TOOLS_MAX_AGE_MS = 3_600_000
RESOURCES_MAX_AGE_MS = 60_000

LINKS_SINCE = "2025-06-18"
"""The first revision whose results may link to resources."""


class Tools(Protocol):
    """The tools of a server in the order of their listing, and the method that calls one."""

    @property
    def listed(self) -> Sequence[Tool]: ...

    async def call(self, call: ToolCall) -> ToolOutcome: ...


class Resources(Protocol):
    """The resources of a server. `read` gets the scope of the request, and returns None for an unknown URI."""

    @property
    def templates(self) -> Sequence[ResourceTemplate]: ...

    def listed(self) -> Sequence[Resource]: ...

    async def read(self, uri: str, scope: Scope) -> tuple[str, str] | None: ...


class Questions:
    """Seals the state that a client must send back with a reply, so that a reply fits only the call, caller and time of
    its question. Neither a process nor a store keeps anything while a client waits."""

    def __init__(self, key: bytes) -> None:
        self._security = RequestStateSecurity(keys=[key], ttl=CONFIRMED_WITHIN_S, bind_principal=_caller_id)

    def boundary(self, audience: str) -> RequestStateBoundary:
        """Returns the middleware that seals and unseals this state."""
        return RequestStateBoundary(self._security, default_audience=audience)


def _caller_id(ctx: Any) -> str:
    key_id: str = ctx.request.scope[CALLER].key_id
    return key_id


class McpServer:
    """An ASGI application that answers one well-formed message in any supported revision of MCP."""

    def __init__(
        self,
        identity: ServerIdentity,
        tools: Tools,
        resources: Resources,
        prompts: Sequence[Prompt] = (),
        questions: Questions | None = None,
    ) -> None:
        # The SDK would log the start of a manager for each request.
        logging.getLogger("mcp.server.streamable_http_manager").setLevel(logging.WARNING)
        self._mcp_tools = tools
        self._resources = resources
        self._prompts = {prompt.name: prompt for prompt in prompts}
        self._names = {tool.name for tool in tools.listed}
        self._tools = types.ListToolsResult(tools=[_tool(tool) for tool in tools.listed])
        lasting = CacheHint(ttl_ms=TOOLS_MAX_AGE_MS, scope="public")
        published = CacheHint(ttl_ms=RESOURCES_MAX_AGE_MS, scope="public")
        own = CacheHint(ttl_ms=0, scope="private")
        self._server: Server[Any] = Server(
            identity.name,
            version=identity.version,
            title=identity.title,
            description=identity.description,
            instructions=identity.instructions,
            cache_hints={
                "server/discover": lasting,
                "tools/list": lasting,
                "prompts/list": lasting,
                "resources/list": published,
                "resources/templates/list": lasting,
                "resources/read": own if resources.templates else published,
            },
            get_tool_input_schema=lambda _: None,
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
            on_list_resources=self._list_resources,
            on_list_resource_templates=self._list_templates,
            on_read_resource=self._read_resource,
            on_list_prompts=self._list_prompts if prompts else None,
            on_get_prompt=self._get_prompt if prompts else None,
        )
        self._questions = questions
        if questions is not None:
            self._server.middleware.append(questions.boundary(identity.name))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        # Each request has its own manager, which owns only that request's tasks, so nothing must be started or stopped
        # with the process.
        manager = StreamableHTTPSessionManager(self._server, json_response=True, stateless=True)
        async with manager.run():
            await manager.handle_request(scope, receive, send)

    async def _list_tools(self, _: Any, __: Any) -> types.ListToolsResult:
        return self._tools

    async def _call_tool(
        self, ctx: Any, params: types.CallToolRequestParams
    ) -> types.CallToolResult | types.InputRequiredResult:
        if params.name not in self._names:
            raise _error(TOOL_UNKNOWN, f"Unknown tool: {params.name[:100]}")
        call = ToolCall(
            name=params.name,
            arguments=params.arguments or {},
            scope=ctx.request.scope,
            can_ask=self._questions is not None and can_ask(ctx),
            reply=None if self._questions is None else reply_of(ctx, params),
        )
        outcome = await self._mcp_tools.call(call)
        if outcome.question is not None:
            return asking(outcome.question)
        content: list[types.ContentBlock] = [types.TextContent(type="text", text=outcome.text)]
        if outcome.resource is not None and ctx.protocol_version >= LINKS_SINCE:
            name = outcome.resource.partition("://")[2]
            content.append(
                types.ResourceLink(
                    type="resource_link", uri=outcome.resource, name=name[:100], mime_type="application/json"
                )
            )
        return types.CallToolResult(
            content=content,
            structured_content=None if outcome.failed else outcome.fields,
            is_error=outcome.failed,
        )

    async def _list_resources(self, _: Any, __: Any) -> types.ListResourcesResult:
        return types.ListResourcesResult(resources=[_resource(resource) for resource in self._resources.listed()])

    async def _list_templates(self, _: Any, __: Any) -> types.ListResourceTemplatesResult:
        # The list may be empty, but clients that see resources request templates too.
        return types.ListResourceTemplatesResult(
            resource_templates=[
                types.ResourceTemplate(
                    uri_template=template.uri_template,
                    name=template.name,
                    title=template.title,
                    description=template.description,
                    mime_type=template.media_type,
                )
                for template in self._resources.templates
            ]
        )

    async def _read_resource(self, ctx: Any, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        document = await self._resources.read(params.uri, ctx.request.scope)
        if document is None:
            raise _error(RESOURCE_UNKNOWN, "No resource has this URI.", uri=params.uri[:1000])
        media_type, text = document
        contents = types.TextResourceContents(uri=params.uri, mime_type=media_type, text=text)
        return types.ReadResourceResult(contents=[contents])

    async def _list_prompts(self, _: Any, __: Any) -> types.ListPromptsResult:
        return types.ListPromptsResult(prompts=[_prompt(prompt) for prompt in self._prompts.values()])

    async def _get_prompt(self, _: Any, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        prompt = self._prompts.get(params.name)
        if prompt is None:
            raise _error(PROMPT_UNKNOWN, f"Unknown prompt: {params.name[:100]}")
        given = params.arguments or {}
        missing = [argument.name for argument in prompt.arguments if argument.required and not given.get(argument.name)]
        if missing:
            raise _error(PARAMS_INVALID, f"The prompt needs {', '.join(missing)}.")
        text = prompt.text
        for argument in prompt.arguments:
            text = text.replace(f"{{{argument.name}}}", given.get(argument.name, ""))
        message = types.PromptMessage(role="user", content=types.TextContent(type="text", text=text))
        return types.GetPromptResult(description=prompt.description, messages=[message])


def can_ask(ctx: Any) -> bool:
    """Decides whether the client of a request can be asked a question, which it would answer with the next request."""
    capabilities = ctx.session.client_capabilities
    elicitation = None if capabilities is None else capabilities.elicitation
    if elicitation is None or ctx.protocol_version not in MODERN_VERSIONS:
        return False
    # `{}` predates the modes and means a form.
    return elicitation.form is not None or elicitation.url is None


def asking(question: Question) -> types.InputRequiredResult:
    """Returns the result that puts a yes-or-no question."""
    params = types.ElicitRequestFormParams(message=question.message, requested_schema=_YES_OR_NO)
    return types.InputRequiredResult(
        input_requests={_QUESTION: types.ElicitRequest(params=params)}, request_state=_ASKED
    )


def reply_of(ctx: Any, params: types.CallToolRequestParams) -> Reply | None:
    """Returns the reply in a call to the question asked about it, or None if there was no question."""
    if params.request_state != _ASKED:
        return None
    answered = (params.input_responses or {}).get(_QUESTION)
    if not isinstance(answered, types.ElicitResult):
        return None
    accepted = answered.action == "accept" and (answered.content or {}).get("confirm") is True
    return Reply(accepted, client_name(ctx))


def client_name(ctx: Any) -> str:
    """Returns the name that the client of a request gives itself, which is unverified."""
    known = ctx.session.client_params
    if known is not None:
        name = f"{known.client_info.name} {known.client_info.version}"
    else:
        name = ctx.request.headers.get("user-agent", "")
    return "".join(char for char in name if char.isprintable())[:LONGEST_CLIENT].strip()


_QUESTION = "confirm"
_ASKED = "asked"
_YES_OR_NO: dict[str, Any] = {
    "type": "object",
    "properties": {"confirm": {"type": "boolean", "title": "Write it", "description": "true: write it; false: don't"}},
    "required": ["confirm"],
}


def _error(error: ProtocolError, message: str, **data: str) -> MCPError:
    return MCPError(error.number, message, {"code": error.code, **data})


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


def _prompt(prompt: Prompt) -> types.Prompt:
    return types.Prompt(
        name=prompt.name,
        title=prompt.title,
        description=prompt.description,
        arguments=[
            types.PromptArgument(name=argument.name, description=argument.description, required=argument.required)
            for argument in prompt.arguments
        ],
    )
