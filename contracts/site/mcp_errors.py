"""Lists the errors of the MCP servers, which answer in JSON-RPC: refused messages and failed tools. Pure."""

import json
from collections.abc import Iterator
from dataclasses import dataclass

from contracts.connect.jsonrpc import PARSE_ERROR, problem_as_error
from contracts.connect.tool_problems import (
    ToolProblem,
    contract_unsure,
    intake_unknown,
    key_rejected,
    pairing_code_rejected,
    plan_required,
    session_ended,
    session_required,
    signature_rejected,
    store_unavailable,
)
from contracts.errors import (
    BodyInvalid,
    BodyTooLarge,
    HeadersTooLarge,
    HostUnknown,
    InternalFault,
    MediaTypeUnsupported,
    MethodNotAllowed,
    OriginForbidden,
    PaymentAnswered,
    PaymentFailed,
    PaymentRefused,
    PaymentRequired,
    PaymentUsed,
    QuotaExceeded,
    RateLimited,
    RequestProblem,
    SessionLimited,
    SettlementUnavailable,
    StoreUnavailable,
    TargetTooLong,
    Unauthorized,
)
from contracts.site.api_description import Problem

REFUSALS: tuple[type[RequestProblem], ...] = (
    BodyInvalid,
    Unauthorized,
    PaymentRequired,
    PaymentRefused,
    PaymentFailed,
    OriginForbidden,
    MethodNotAllowed,
    PaymentUsed,
    PaymentAnswered,
    BodyTooLarge,
    TargetTooLong,
    MediaTypeUnsupported,
    HostUnknown,
    RateLimited,
    QuotaExceeded,
    SessionLimited,
    HeadersTooLarge,
    InternalFault,
    StoreUnavailable,
    SettlementUnavailable,
)
"""Problems with which a message is refused before it is processed, by status."""

_IN_PLACE = (
    ToolProblem(
        "arguments_invalid",
        "The arguments don't fit the tool.",
        fix="Send arguments that fit the tool's inputSchema; `errors` names each fault.",
    ),
    ToolProblem("internal_fault", "Something failed on our side.", fix="Try again later.", retryable=True),
    ToolProblem(
        "not_confirmed",
        "The owner did not agree, and nothing was written.",
        fix="Leave it, or ask what to write instead.",
    ),
    ToolProblem("intake_not_found", "This session has registered no intake.", fix="Send the intake_id, or register."),
    ToolProblem("profile_unknown", "There is no such runtime profile.", fix="Choose one that `fix` names."),
    ToolProblem("address_unsafe", "The service's address can't stand in a command.", fix="Tell the operator."),
    ToolProblem("plan_changed", "The plan has changed since the set-up began.", fix="Ask for the plan once more."),
    ToolProblem("step_unknown", "The plan has no such step.", fix="Name a step that `fix` names."),
    ToolProblem("step_not_ready", "An earlier step is not done.", fix="Do that step and report it first."),
    ToolProblem("needs_skipped", "A step that this one needs was skipped.", fix="Do that step and report it first."),
    ToolProblem("step_required", "The step can't be skipped.", fix="Do it, or roll back and close the session."),
    ToolProblem("step_is_done", "The step is done.", fix="Roll it back and report rolled_back first."),
    ToolProblem("nothing_to_roll_back", "The step was not begun.", fix="Report the step that was undone."),
    ToolProblem("others_need_it", "A step that is done needs this one.", fix="Roll that step back first."),
    ToolProblem("evidence_unusable", "The step can't use this evidence.", fix="Send what `fix` names, and no other."),
    ToolProblem(
        "secret_in_report",
        "The report holds an API key or a session token.",
        fix="Report without it, and rotate a key that was shown to others.",
    ),
)
"""Failures whose texts name what the call sent, and which are therefore made where they are raised."""


@dataclass(frozen=True)
class Refusal:
    """A refused message: the problem of the HTTP request, and the numbers that `error.code` may have."""

    problem: Problem
    numbers: tuple[int, ...]

    @property
    def title(self) -> str:
        """Returns what was wrong: of a body, what it is to a server of messages."""
        return "The message is not JSON, or not JSON-RPC" if self._is_of_body else self.problem.title

    @property
    def advice(self) -> str:
        """Returns what to do next. A JSON-RPC error has no `errors`: its `message` names the fault."""
        return "Correct what `message` names, then send it again." if self._is_of_body else self.problem.advice

    @property
    def _is_of_body(self) -> bool:
        return self.problem.code == BodyInvalid.code


def refusals() -> Iterator[Refusal]:
    """Yields the problems with which the MCP servers refuse a message."""
    for refused in REFUSALS:
        body = json.loads(problem_as_error(refused("The message is refused."), "", {}))
        unread = (PARSE_ERROR,) if refused is BodyInvalid else ()
        problem = Problem(
            status=refused.status,
            code=refused.code,
            title=refused.title,
            is_retryable=refused.retryable,
            example="",
            media_types=("application/json",),
        )
        yield Refusal(problem, (*unread, body["error"]["code"]))


def tool_failures(app_url: str | None) -> tuple[ToolProblem, ...]:
    """Returns the failures of tools that no operation has. `app_url` is the companion application's address."""
    return (
        pairing_code_rejected(app_url),
        session_required(app_url),
        session_ended(app_url),
        store_unavailable(),
        key_rejected(),
        signature_rejected(),
        contract_unsure(),
        plan_required(),
        intake_unknown(),
        *_IN_PLACE,
    )
