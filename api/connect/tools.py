"""Implements the MCP tools. A failure is returned as a result with a reason and a fix."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from api.connect.edge import CLIENT
from api.connect.outcomes import ToolCall, ToolOutcome, arguments_invalid, outcome_of
from api.connect.service import ConnectService
from api.key_gate import presented_key
from api.receiving import values_of
from contracts.access.plans import PlansAnswer
from contracts.connect.paired import GuardrailCheckArguments, IntakeStatusArguments, WorldQueryArguments
from contracts.connect.sessions import Session
from contracts.connect.tool_problems import IntakeNotFound
from contracts.connect.tools import CREDENTIALS, TOOLS, Tool
from contracts.guardrail import GuardrailRequest, GuardrailResult
from contracts.intake.intake_documents import IntakeStatusResponse
from contracts.secret_texts import refuse_secrets
from contracts.world.read_api import GraphQueryRequest


@dataclass(frozen=True, slots=True)
class PairedCapabilities:
    """The capabilities of other rooms that a paired session may use. They run the code behind the HTTP routes and raise
    the same errors.

    All except `ask_graph` block. `judge` takes the action, the session's id and its owner, `ask_graph` the question and
    the owner whose private nodes are visible.
    """

    judge: Callable[[GuardrailRequest, str, str], GuardrailResult]
    ask_graph: Callable[[GraphQueryRequest, str], Awaitable[dict[str, Any]]]
    plans: Callable[[], PlansAnswer]
    intake: Callable[[str], IntakeStatusResponse]


class McpTools:
    """Runs the tools over this process's service."""

    def __init__(self, service: ConnectService, capabilities: PairedCapabilities) -> None:
        self._service = service
        self._capabilities = capabilities
        self._tools = {tool.name: tool for tool in TOOLS}
        self._runs: dict[str, Callable[[Session, Any], Awaitable[Any]]] = {
            "svc_connect_plan": service.plan,
            "svc_connect_report_step": service.report_step,
            "svc_connect_status": lambda session, _: service.status(session),
            "svc_connect_talk": service.talk,
            "svc_connect_close": lambda session, _: service.close(session),
            "svc_guardrail_check": self._guardrail_check,
            "svc_world_query": self._world_query,
            "svc_plans": self._plans,
            "svc_intake_status": self._intake_status,
        }

    @property
    def listed(self) -> tuple[Tool, ...]:
        """Returns the tools in the order of their listing."""
        return TOOLS

    async def call(self, call: ToolCall) -> ToolOutcome:
        """Runs a listed tool. Every failure becomes an outcome."""
        return await outcome_of(call.name, self._run(self._tools[call.name], call))

    async def _run(self, tool: Tool, call: ToolCall) -> Any:
        arguments = call.arguments
        if not tool.needs_session:
            _refuse_secrets(tool, arguments)
            return await self._service.handshake(_arguments(tool, arguments), call.scope[CLIENT])
        # Being unpaired is refused first, whatever else is wrong.
        session = await self._service.session(arguments.get("session_token"))
        _refuse_secrets(tool, arguments)
        if tool.name == "svc_connect_graph":
            return await self._service.open_graph(session, _arguments(tool, arguments), _presented(call))
        return await self._runs[tool.name](session, _arguments(tool, arguments))

    async def _guardrail_check(self, session: Session, arguments: GuardrailCheckArguments) -> GuardrailResult:
        judge = self._capabilities.judge
        return await asyncio.to_thread(judge, arguments.request, session.session_id, session.owner)

    async def _world_query(self, session: Session, arguments: WorldQueryArguments) -> dict[str, Any]:
        return await self._capabilities.ask_graph(arguments.request, await self._service.seen_owner(session))

    async def _plans(self, _: Session, __: Any) -> PlansAnswer:
        return await asyncio.to_thread(self._capabilities.plans)

    async def _intake_status(self, session: Session, arguments: IntakeStatusArguments) -> IntakeStatusResponse:
        intake_id = arguments.intake_id or session.intake_id
        if intake_id is None:
            raise IntakeNotFound
        return await asyncio.to_thread(self._capabilities.intake, intake_id)


def _presented(call: ToolCall) -> str | None:
    """Returns the key in the header of a call's request."""
    headers = call.scope["headers"]
    return presented_key(values_of(headers, b"authorization"), values_of(headers, b"x-api-key"))


def _refuse_secrets(tool: Tool, arguments: dict[str, Any]) -> None:
    if tool.keeps_texts:
        refuse_secrets({name: value for name, value in arguments.items() if name not in CREDENTIALS})


def _arguments(tool: Tool, arguments: dict[str, Any]) -> Any:
    try:
        return tool.arguments.model_validate(arguments)
    except ValidationError as error:
        raise arguments_invalid(error) from None
