"""Runs the tools and resources of the MCP server for keys. The rooms behind the HTTP routes do the work."""

import asyncio
import json
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

import msgspec
from pydantic import BaseModel, ValidationError

from api.challenges import unauthorized
from api.connect.outcomes import Question, ToolCall, ToolOutcome, arguments_invalid, outcome_of
from api.connect.resources import RESOURCES, Resource, published_resource, published_text
from api.key_gate import CALLER
from api.publish.site import PublishedSite
from contracts.access.account import AccountData
from contracts.access.plans import PlansAnswer
from contracts.access.tiers import Caller
from contracts.addresses import address_of
from contracts.connect.key_arguments import (
    BuildArguments,
    CorrectArguments,
    GuardrailArguments,
    HoldersArguments,
    MemoryDesignArguments,
    NodeArguments,
    RememberArguments,
    SearchArguments,
)
from contracts.connect.key_results import HOLDER_URI, NODE_URI
from contracts.connect.key_server import RESOURCE_BYTES
from contracts.connect.key_shaping import (
    address_result,
    build_result,
    confirmation_question,
    guardrail_result,
    holders_result,
    key_result,
    node_result,
    plan_result,
    plans_result,
    search_result,
    verify_result,
    waiting_for,
    written_result,
)
from contracts.connect.key_tools import KEY_TEMPLATES, KEY_TOOLS, KeyTool, ResourceTemplate
from contracts.connect.tool_problems import NotConfirmed
from contracts.errors import NotReady, RequestProblem
from contracts.guardrail import GuardrailRequest, GuardrailResult
from contracts.secret_texts import refuse_secrets
from contracts.token.history_documents import TokenHolderParameters
from contracts.token.holder_documents import HoldersMapParameters, MomentParameters
from contracts.world.extraction.build import BuildRequest
from contracts.world.memory.memory_plan import DesignRequest
from contracts.world.pending import PendingState
from contracts.world.proposal import Confirmation
from contracts.world.read_api import GraphQueryRequest, PastParameters
from contracts.world.signal import SignalRequest, SignalResult

HOLDERS_PATH = "/api/token/holders"
HOLDERS_MAP_PATH = "/api/token/holders-map"

Fields = dict[str, Any]


@dataclass(frozen=True, slots=True)
class KeyCapabilities:
    """The functions behind other rooms' HTTP routes, called by tools on behalf of a key. They raise the same errors.

    Each gets the caller, or the owner whose private nodes are visible, and returns the fields of the route's answer.
    """

    state: Callable[[SignalRequest, Caller, Confirmation | None], Awaitable[SignalResult]]
    waits_for_owner: Callable[[SignalRequest, Caller], Awaitable[bool]]
    pending: Callable[[int, str], Awaitable[PendingState]]
    ask_graph: Callable[[GraphQueryRequest, str], Awaitable[Fields]]
    read_node: Callable[[str, str, PastParameters], Awaitable[Fields]]
    build: Callable[[BuildRequest, bytes, Caller], Awaitable[bytes]]
    design: Callable[[DesignRequest, bytes, Caller], Awaitable[bytes]]
    judge: Callable[[GuardrailRequest, Caller], Awaitable[GuardrailResult]]
    holder: Callable[[str, TokenHolderParameters], Awaitable[bytes]]
    holders_at: Callable[[MomentParameters, Caller], Awaitable[bytes]]
    holders_map_at: Callable[[HoldersMapParameters, Caller], Awaitable[bytes]]
    plans: Callable[[], Awaitable[PlansAnswer]]
    own_key: Callable[[Caller], Awaitable[AccountData | None]]
    site: Callable[[], PublishedSite | None]
    base_url: str


class KeyTools:
    """Runs the tools for the caller of each request."""

    def __init__(self, capabilities: KeyCapabilities) -> None:
        self._rooms = capabilities
        self._tools = {tool.name: tool for tool in KEY_TOOLS}
        self._runs: dict[str, Callable[[Any, ToolCall], Awaitable[BaseModel | Question]]] = {
            "svc_remember": self._remember,
            "svc_search": self._search,
            "svc_node": self._node,
            "svc_correct": self._correct,
            "svc_build": self._build,
            "svc_memory_design": self._design,
            "svc_guardrail_check": self._check,
            "svc_holders": self._holders,
            "svc_verify": self._verify,
            "svc_plans": self._plans,
            "svc_my_key": self._own_key,
        }

    @property
    def listed(self) -> tuple[KeyTool, ...]:
        """Returns the tools in the order of their listing."""
        return KEY_TOOLS

    async def call(self, call: ToolCall) -> ToolOutcome:
        """Runs a listed tool. Every failure becomes an outcome."""
        return await outcome_of(call.name, self._run(self._tools[call.name], call))

    async def _run(self, tool: KeyTool, call: ToolCall) -> BaseModel | Question:
        if tool.keeps_texts:
            refuse_secrets(call.arguments)
        try:
            arguments = tool.arguments.model_validate(call.arguments)
            return await self._runs[tool.name](arguments, call)
        except ValidationError as error:
            raise arguments_invalid(error) from None

    async def _remember(self, arguments: RememberArguments, call: ToolCall) -> BaseModel | Question:
        return await self._write(arguments.signal(), call)

    async def _correct(self, arguments: CorrectArguments, call: ToolCall) -> BaseModel | Question:
        known = _json(await self._rooms.read_node(arguments.id, _caller(call).owner, PastParameters()))
        node = known["node"] or known["history"][0]["node"]
        return await self._write(arguments.signal(node["type"], node["properties"]), call)

    async def _write(self, signal: SignalRequest, call: ToolCall) -> BaseModel | Question:
        """Writes a signal. If its owner must agree and the client can ask, asks first and stores nothing before the
        reply."""
        caller, reply = _caller(call), call.reply
        if reply is None and call.can_ask and await self._rooms.waits_for_owner(signal, caller):
            return Question(confirmation_question(signal))
        if reply is not None and not reply.accepted:
            raise NotConfirmed
        confirmation = None if reply is None else Confirmation(reply.client, "mcp")
        written = await self._rooms.state(signal, caller, confirmation)
        waiting = None
        if written.verdict == "escalated":
            pending = await self._rooms.pending(written.decision, caller.owner)
            waiting = None if pending.by is None else waiting_for(pending.by, pending.decision, self._rooms.base_url)
        return written_result(written.model_dump(mode="json", by_alias=True), waiting)

    async def _search(self, arguments: SearchArguments, call: ToolCall) -> BaseModel:
        return search_result(_json(await self._rooms.ask_graph(arguments.request(), _caller(call).owner)))

    async def _node(self, arguments: NodeArguments, call: ToolCall) -> BaseModel:
        found = await self._rooms.read_node(arguments.id, _caller(call).owner, arguments.request())
        return node_result(arguments.id, _json(found))

    async def _build(self, arguments: BuildArguments, call: ToolCall) -> BaseModel:
        request = arguments.request()
        body = request.model_dump_json(by_alias=True, exclude_none=True).encode()
        built = await self._rooms.build(request, body, _caller(call))
        return await asyncio.to_thread(lambda: build_result(json.loads(built)))  # it may be megabytes

    async def _design(self, arguments: MemoryDesignArguments, call: ToolCall) -> BaseModel:
        request = arguments.request()
        body = request.model_dump_json(by_alias=True).encode()
        return plan_result(json.loads(await self._rooms.design(request, body, _caller(call))))

    async def _check(self, arguments: GuardrailArguments, call: ToolCall) -> BaseModel:
        verdict = await self._rooms.judge(arguments.request(), _caller(call))
        return guardrail_result(verdict.model_dump(mode="json"))

    async def _holders(self, arguments: HoldersArguments, call: ToolCall) -> BaseModel:
        if arguments.address is not None:
            return address_result(json.loads(await self._rooms.holder(arguments.address, arguments.request())))
        moment = arguments.moment()
        if moment == _NEWEST:
            largest = self._published(HOLDERS_MAP_PATH)["holders"]
            return holders_result(self._published(HOLDERS_PATH), largest, self._rooms.base_url)
        holders = json.loads(await self._rooms.holders_at(moment, _caller(call)))
        block = None if holders["basis"] is None else holders["basis"]["block"]
        # By block, because the current day may end at another block in a generation published between the two reads.
        page = json.loads(await self._rooms.holders_map_at(HoldersMapParameters(block=block), _caller(call)))
        return holders_result(holders, page["holders"], self._rooms.base_url, at=block)

    async def _verify(self, _: Any, __: ToolCall) -> BaseModel:
        return verify_result(self._published(HOLDERS_PATH), self._rooms.base_url)

    async def _plans(self, _: Any, __: ToolCall) -> BaseModel:
        catalog = await self._rooms.plans()
        return plans_result(catalog.model_dump(mode="json", by_alias=True))

    async def _own_key(self, _: Any, call: ToolCall) -> BaseModel:
        account = await self._rooms.own_key(_caller(call))
        if account is None:  # revoked just now
            raise unauthorized()
        return key_result(account)

    def _published(self, path: str) -> Fields:
        text = published_text(self._rooms.site(), path)
        if text is None:
            raise NotReady("The first generation is still being built.", headers={"Retry-After": "5"})
        published: Fields = json.loads(text)
        return published


@dataclass(frozen=True, eq=False)
class KeyResources:
    """The published documents that are short enough, and nodes and addresses in full."""

    capabilities: KeyCapabilities

    @property
    def templates(self) -> tuple[ResourceTemplate, ...]:
        """Returns the resources that are named by an id."""
        return KEY_TEMPLATES

    def listed(self) -> list[Resource]:
        """Returns the published resources, in their order."""
        site = self.capabilities.site()
        return [] if site is None else [resource for resource in RESOURCES if resource.path in site.documents]

    async def read(self, uri: str, scope: MutableMapping[str, Any]) -> tuple[str, str] | None:
        """Returns the media type and text of a resource, or None if the caller can't see one of this URI."""
        try:
            found = await self._read(uri, scope[CALLER])
        except RequestProblem as problem:
            if problem.status == NotReady.status:
                raise
            return None
        if found is not None and len(found[1].encode()) > RESOURCE_BYTES:
            return "text/plain", f"This resource has more than {RESOURCE_BYTES:,} bytes; read it over HTTP."
        return found

    async def _read(self, uri: str, caller: Caller) -> tuple[str, str] | None:
        if uri.startswith(NODE_URI):
            fields = await self.capabilities.read_node(unquote(uri.removeprefix(NODE_URI)), caller.owner, _NOW)
            return "application/json", msgspec.json.encode(fields).decode()
        if uri.startswith(HOLDER_URI):
            try:
                address = address_of(uri.removeprefix(HOLDER_URI))
            except ValueError:
                return None
            return "application/json", (await self.capabilities.holder(address, TokenHolderParameters())).decode()
        return published_resource(self.capabilities.site(), RESOURCES, uri)


_NOW = PastParameters()
_NEWEST = MomentParameters()


def _caller(call: ToolCall) -> Caller:
    """Returns the caller that the route authenticated."""
    caller: Caller = call.scope[CALLER]
    return caller


def _json(fields: Fields) -> Fields:
    """Converts fields that contain structs and raw JSON to JSON types."""
    decoded: Fields = msgspec.json.decode(msgspec.json.encode(fields))
    return decoded
