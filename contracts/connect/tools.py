"""Lists the tools of `/mcp` in order: names, descriptions, arguments and results. `api/connect` runs them."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from pydantic import BaseModel

from contracts.access.plans import PLANS_PATH, PlansAnswer
from contracts.connect.messages import (
    CloseResult,
    GraphArguments,
    GraphResult,
    HandshakeArguments,
    HandshakeResult,
    PlanArguments,
    PlanResult,
    ReportStepArguments,
    ReportStepResult,
    SessionArguments,
    StatusResult,
    TalkArguments,
)
from contracts.connect.paired import GuardrailCheckArguments, IntakeStatusArguments, WorldQueryArguments
from contracts.connect.server import FIRST_TOOL
from contracts.connect.talk import TalkAnswer
from contracts.guardrail import GuardrailResult
from contracts.intake.intake_documents import IntakeStatusResponse
from contracts.world.read_api import GraphQueryResult

_SESSION_ERRORS = (
    "Without a paired session it answers `session_required`, after its end `session_ended`: ask the user for a fresh "
    f"pairing code and call {FIRST_TOOL}."
)


CREDENTIALS = frozenset({"pairing_code", "session_token", "api_key"})
"""Arguments that are secrets themselves."""


@dataclass(frozen=True)
class Tool:
    """One tool. The hints are MCP's. All tools except the first need a session's token."""

    name: str
    title: str
    what: str
    arguments: type[BaseModel]
    result: type[BaseModel]
    read_only: bool
    destructive: bool = False
    idempotent: bool = True
    open_world: bool = False
    keeps_texts: bool = True
    """True if the tool refuses secrets in its arguments. Tools that only judge or search store no texts."""

    @property
    def needs_session(self) -> bool:
        return self.name != FIRST_TOOL

    @property
    def description(self) -> str:
        """Returns the tool's purpose and its common errors."""
        return f"{self.what} {_SESSION_ERRORS}" if self.needs_session else self.what

    @cached_property
    def input_schema(self) -> dict[str, Any]:
        """Returns the arguments as one JSON Schema 2020-12 without references. Optional arguments are never null."""
        schema = self.arguments.model_json_schema()
        definitions = schema.pop("$defs", {})
        arguments: dict[str, Any] = _without_titles(_in_one_piece(schema, definitions))
        return arguments

    @cached_property
    def output_schema(self) -> dict[str, Any]:
        """Returns the result of a successful call as JSON Schema 2020-12."""
        result: dict[str, Any] = _without_titles(self.result.model_json_schema(mode="serialization"))
        return result


TOOLS: tuple[Tool, ...] = (
    Tool(
        FIRST_TOOL,
        "Pair with the user",
        "Call this first. Exchanges the user's pairing code for the token of a session of 30 minutes, "
        "which every other tool needs. Consumes the code: it can't be used again. Anything wrong with a code, or "
        "with its verification, answers `pairing_code_rejected`: ask the user for a fresh one. Keep the token secret.",
        HandshakeArguments,
        HandshakeResult,
        read_only=False,
        idempotent=False,
        open_world=True,
    ),
    Tool(
        "svc_connect_plan",
        "Get the set-up plan",
        "Returns the steps that set up a local runtime for the chosen assistant, operating system and runtime profile, "
        "with commands, files, checks and rollbacks. Runs nothing: you do, with the user's consent. Stores the "
        "choice in the session; another choice creates another plan, in which identical steps remain done.",
        PlanArguments,
        PlanResult,
        read_only=False,
    ),
    Tool(
        "svc_connect_report_step",
        "Report a step",
        "Records the outcome of a step of the plan, and returns the next one. Changes only the session's progress. A "
        "step that is not in the plan answers `step_unknown`, one before its turn `step_not_ready`.",
        ReportStepArguments,
        ReportStepResult,
        read_only=False,
        idempotent=False,
    ),
    Tool(
        "svc_connect_status",
        "Status of the set-up",
        "Returns the session, its progress and the next step: enough to resume after a lost context. Changes nothing.",
        SessionArguments,
        StatusResult,
        read_only=True,
    ),
    Tool(
        "svc_connect_talk",
        "Ask about the session",
        "Answers a question about the session and its plan from their data, always in the same way; no model is "
        "called. Changes nothing. If it does not understand a question, it lists those that it does.",
        TalkArguments,
        TalkAnswer,
        read_only=True,
    ),
    Tool(
        "svc_connect_close",
        "End the session",
        "Ends the session: its token becomes invalid, and continuing needs a fresh pairing code. Undoes "
        "no part of the set-up.",
        SessionArguments,
        CloseResult,
        read_only=False,
        destructive=True,
    ),
    Tool(
        "svc_guardrail_check",
        "Judge an action before taking it",
        "Analyses an action's effects and judges them by a policy: whether it may be taken, why not, and what would "
        "make it acceptable. Nothing is run; a check that passes with an `approval_token` uses it up. A request that "
        "can't be judged answers `arguments_invalid`.",
        GuardrailCheckArguments,
        GuardrailResult,
        read_only=True,
        keeps_texts=False,
    ),
    Tool(
        "svc_world_query",
        "Ask the knowledge graph",
        "Searches, fetches, filters and traverses nodes that are public or the user's own. Changes nothing. Unknown "
        "domains, types and cursors answer `arguments_invalid` or `cursor_invalid`.",
        WorldQueryArguments,
        GraphQueryResult,
        read_only=True,
        keeps_texts=False,
    ),
    Tool(
        "svc_plans",
        "What can be bought",
        f"The paid plans, as in GET {PLANS_PATH}: prices, and how to buy an API key. Changes and buys nothing.",
        SessionArguments,
        PlansAnswer,
        read_only=True,
    ),
    Tool(
        "svc_connect_graph",
        "See the graph of a key",
        "Lets this session query the graph of a key's owner with svc_world_query, instead of the profile's: after the "
        "key was presented, as this request's Bearer token or in `api_key`, or after the owner's address signed. "
        "Writing needs the MCP server by key. A wrong key answers `key_rejected`, a wrong signature "
        "`signature_rejected`.",
        GraphArguments,
        GraphResult,
        read_only=False,
    ),
    Tool(
        "svc_intake_status",
        "Status of an intake",
        "The state of a registration, as in GET /api/intake/{intakeId}. Changes nothing. An unknown id "
        "answers `intake_not_found`.",
        IntakeStatusArguments,
        IntakeStatusResponse,
        read_only=True,
    ),
)


def _in_one_piece(node: Any, definitions: dict[str, Any]) -> Any:
    """Returns a schema without references and without null, because some clients support neither."""
    if isinstance(node, list):
        return [_in_one_piece(inner, definitions) for inner in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        definition = definitions[node["$ref"].rpartition("/")[2]]
        return _in_one_piece(
            {**definition, **{key: value for key, value in node.items() if key != "$ref"}}, definitions
        )
    options = [option for option in node.get("anyOf", ()) if option != {"type": "null"}]
    if options != list(node.get("anyOf", ())):
        rest = {key: value for key, value in node.items() if key != "anyOf" and (key, value) != ("default", None)}
        only = options[0] if len(options) == 1 else {"anyOf": options}
        return _in_one_piece({**only, **rest}, definitions)
    return {key: _in_one_piece(value, definitions) for key, value in node.items()}


def _without_titles(node: Any) -> Any:
    """Returns a schema without the titles of models and fields. A property may still have the name `title`."""
    if isinstance(node, list):
        return [_without_titles(inner) for inner in node]
    if not isinstance(node, dict):
        return node
    untitled = {key: value for key, value in node.items() if key != "title" or not isinstance(value, str)}
    return {key: _without_titles(value) for key, value in untitled.items()}
