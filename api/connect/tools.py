"""Implements the MCP tools. A failure is returned as a result with a reason and a fix."""

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import msgspec
from pydantic import BaseModel, ValidationError

from api.connect.service import ConnectService
from api.wording import in_words, pointer_to
from contracts.access.plans import PlansAnswer
from contracts.connect.paired import GuardrailCheckArguments, IntakeStatusArguments, WorldQueryArguments
from contracts.connect.sessions import Session
from contracts.connect.tool_problems import ToolProblem, store_unavailable
from contracts.connect.tools import CREDENTIALS, TOOLS, Tool
from contracts.errors import OperatorProblem, RequestProblem
from contracts.guardrail import GuardrailRequest, GuardrailResult
from contracts.intake.intake_documents import IntakeStatusResponse
from contracts.secret_texts import refuse_secrets
from contracts.world.read_api import GraphQueryRequest

STORE_RETRY_AFTER_S = 2

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ToolOutcome:
    """The outcome of a call. `fields` are those of the tool's result, or of the problem if it failed."""

    failed: bool
    fields: dict[str, Any]

    @property
    def text(self) -> str:
        """The fields as JSON."""
        return json.dumps(self.fields, ensure_ascii=False, separators=(",", ":"))


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

    def has(self, name: str) -> bool:
        return name in self._tools

    async def call(self, name: str, arguments: dict[str, Any], client: str) -> ToolOutcome:
        """Runs a tool. `client` is the rate-limit key of the client's address. Every failure becomes an outcome."""
        try:
            return ToolOutcome(False, _fields(await self._run(self._tools[name], arguments, client)))
        except ToolProblem as problem:
            return _failed(problem)
        except RequestProblem as problem:
            fix = "Try again in a moment." if problem.retryable else "Send other arguments, as the detail says."
            failure = ToolProblem(problem.code, problem.detail, fix=fix, retryable=problem.retryable)
            return _failed(failure, problem.errors)
        except OperatorProblem as problem:
            _log.warning("%s was not served: %s", name, problem)
            return _failed(store_unavailable())
        except Exception:
            _log.exception("%s failed", name)
            fix = "Try again; if it goes on, tell the operator."
            return _failed(ToolProblem("internal_fault", "Something failed on our side.", fix=fix, retryable=True))

    async def _run(self, tool: Tool, arguments: dict[str, Any], client: str) -> Any:
        if not tool.needs_session:
            _refuse_secrets(tool, arguments)
            return await self._service.handshake(_arguments(tool, arguments), client)
        # An unpaired client gets that refusal first, whatever else is wrong.
        session = await self._service.session(arguments.get("session_token"))
        _refuse_secrets(tool, arguments)
        return await self._runs[tool.name](session, _arguments(tool, arguments))

    async def _guardrail_check(self, session: Session, arguments: GuardrailCheckArguments) -> GuardrailResult:
        judge = self._capabilities.judge
        return await asyncio.to_thread(judge, arguments.request, session.session_id, session.owner)

    async def _world_query(self, session: Session, arguments: WorldQueryArguments) -> dict[str, Any]:
        return await self._capabilities.ask_graph(arguments.request, session.owner)

    async def _plans(self, _: Session, __: Any) -> PlansAnswer:
        return await asyncio.to_thread(self._capabilities.plans)

    async def _intake_status(self, session: Session, arguments: IntakeStatusArguments) -> IntakeStatusResponse:
        intake_id = arguments.intake_id or session.intake_id
        if intake_id is None:
            raise ToolProblem(
                "intake_not_found",
                "This session has registered no intake.",
                fix="Send the intake_id, or register with POST /api/intake as the plan says.",
            )
        return await asyncio.to_thread(self._capabilities.intake, intake_id)


def _refuse_secrets(tool: Tool, arguments: dict[str, Any]) -> None:
    if tool.keeps_texts:
        refuse_secrets({name: value for name, value in arguments.items() if name not in CREDENTIALS})


def _arguments(tool: Tool, arguments: dict[str, Any]) -> Any:
    try:
        return tool.arguments.model_validate(arguments)
    except ValidationError as error:
        faults = [(pointer_to(fault["loc"]), in_words(fault)) for fault in error.errors(include_input=False)]
    raise ArgumentsInvalid(faults)


class ArgumentsInvalid(ToolProblem):
    """Arguments that don't fit the tool's schema, each fault with its JSON pointer."""

    def __init__(self, faults: list[tuple[str, str]]) -> None:
        detail = "; ".join(f"{pointer.strip('/') or 'the arguments'}: {message}" for pointer, message in faults)
        super().__init__("arguments_invalid", f"{detail}.", fix="Send arguments that fit the tool's inputSchema.")
        self.faults = faults


def _failed(problem: ToolProblem, faults: list[tuple[str, str]] | None = None) -> ToolOutcome:
    if isinstance(problem, ArgumentsInvalid):
        faults = problem.faults
    fields: dict[str, Any] = {"code": problem.code, "retryable": problem.retryable}
    if problem.retryable:
        fields["retry_after"] = STORE_RETRY_AFTER_S
    fields |= {"detail": problem.detail, "fix": problem.fix}
    if faults:
        fields["errors"] = [{"pointer": pointer, "detail": detail} for pointer, detail in faults]
    return ToolOutcome(True, fields)


def _fields(result: BaseModel | dict[str, Any]) -> dict[str, Any]:
    """Returns a result as JSON types."""
    if isinstance(result, BaseModel):
        return result.model_dump(mode="json", by_alias=True)
    fields: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(result))
    return fields
