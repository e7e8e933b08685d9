"""Runs a tool and turns its result or failure into an outcome. A failure has a reason and a fix."""

import json
import logging
from collections.abc import Awaitable, MutableMapping
from dataclasses import dataclass
from typing import Any

import msgspec
from pydantic import BaseModel, ValidationError

from api.wording import in_words, pointer_to
from contracts.connect.tool_problems import ArgumentsInvalid, InternalFault, StoreUnavailable, ToolProblem
from contracts.errors import BodyInvalid, OperatorProblem, ParameterInvalid, RequestProblem

STORE_RETRY_AFTER_S = 2

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Question:
    """A yes-or-no question that a client puts to its user before a call continues."""

    message: str


@dataclass(frozen=True, slots=True)
class Reply:
    """A user's reply to a question, as a client reports it: `accepted`, and the client's name."""

    accepted: bool
    client: str


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call: the tool's name and arguments, the scope of its request, and what its client can do.

    `can_ask` is True if the client can put questions to its user; `reply` is the user's reply about this call.
    """

    name: str
    arguments: dict[str, Any]
    scope: MutableMapping[str, Any]
    can_ask: bool = False
    reply: Reply | None = None


@dataclass(frozen=True, slots=True)
class ToolOutcome:
    """The outcome of a call. `fields` are those of the tool's result, or of the problem if the call failed.

    `resource` is the URI of the full text of a shortened result. With a `question` there is no result yet.
    """

    failed: bool
    fields: dict[str, Any]
    resource: str | None = None
    question: Question | None = None

    @property
    def text(self) -> str:
        """The fields as JSON."""
        return json.dumps(self.fields, ensure_ascii=False, separators=(",", ":"))


async def outcome_of(name: str, run: Awaitable[BaseModel | dict[str, Any] | Question]) -> ToolOutcome:
    """Runs the tool `name`. Every failure becomes an outcome."""
    try:
        result = await run
    except (ToolProblem, RequestProblem) as problem:
        return _failed(problem)
    except OperatorProblem as problem:
        _log.warning("%s was not served: %s", name, problem)
        return _failed(StoreUnavailable())
    except Exception:
        _log.exception("%s failed", name)
        return _failed(InternalFault())
    if isinstance(result, Question):
        return ToolOutcome(False, {}, question=result)
    fields = _fields(result)
    resource = fields.get("resource")
    return ToolOutcome(False, fields, resource if isinstance(resource, str) and resource.startswith("svc://") else None)


def arguments_invalid(error: ValidationError) -> ArgumentsInvalid:
    """Returns the problem with arguments that a model refused."""
    faults = [(pointer_to(fault["loc"]), in_words(fault)) for fault in error.errors(include_input=False)[:MOST_FAULTS]]
    detail = "; ".join(f"{pointer.strip('/') or 'the arguments'}: {message}" for pointer, message in faults[:10])
    return ArgumentsInvalid(f"{detail}.", errors=faults)


MOST_FAULTS = 50


def _failed(problem: ToolProblem | RequestProblem) -> ToolOutcome:
    wait_s = STORE_RETRY_AFTER_S
    if isinstance(problem, ToolProblem):
        fix = problem.fix
    elif problem.retryable:
        wait_s = int(problem.headers.get("Retry-After", wait_s))
        fix = f"Try again after {wait_s} seconds."
    else:
        fix = "Send other arguments, as the detail says."
    # A route's problem with its body or a parameter: a tool has only arguments.
    code = ArgumentsInvalid.code if problem.code in (BodyInvalid.code, ParameterInvalid.code) else problem.code
    fields: dict[str, Any] = {"code": code, "retryable": problem.retryable}
    if problem.retryable:
        fields["retry_after"] = wait_s
    fields |= {"detail": problem.detail, "fix": fix}
    if problem.errors:
        faults = problem.errors[:MOST_FAULTS]
        fields["errors"] = [{"pointer": pointer, "detail": detail} for pointer, detail in faults]
    return ToolOutcome(True, fields)


def _fields(result: BaseModel | dict[str, Any]) -> dict[str, Any]:
    """Returns a result as JSON types."""
    if isinstance(result, BaseModel):
        return result.model_dump(mode="json", by_alias=True)
    fields: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(result))
    return fields
