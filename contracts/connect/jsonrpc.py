"""Defines the JSON-RPC 2.0 messages of both MCP servers: the accepted envelope, and errors outside of any tool."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import ConfigDict, Field

from contracts.base import Document
from contracts.errors import BodyInvalid, InternalFault, RequestProblem

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
UNSUPPORTED_PROTOCOL_VERSION = -32022


@dataclass(frozen=True)
class ProtocolError:
    """An error that MCP defines: its number, and this service's additions. `title` and `advice` are for people."""

    number: int
    code: str
    title: str
    advice: str


METHOD_UNKNOWN = ProtocolError(
    METHOD_NOT_FOUND, "method_unknown", "The server has no such method", "Call a method that the server announces."
)
TOOL_UNKNOWN = ProtocolError(
    INVALID_PARAMS, "tool_unknown", "The server has no such tool", "Call one that `tools/list` returns."
)
RESOURCE_UNKNOWN = ProtocolError(
    INVALID_PARAMS, "resource_unknown", "No resource has this URI", "Read one that `resources/list` returns."
)
PROMPT_UNKNOWN = ProtocolError(
    INVALID_PARAMS, "prompt_unknown", "The server has no such prompt", "Get one that `prompts/list` returns."
)
PARAMS_INVALID = ProtocolError(
    INVALID_PARAMS, "params_invalid", "The params don't fit the method", "Correct the params that `message` names."
)
REVISION_UNSUPPORTED = ProtocolError(
    UNSUPPORTED_PROTOCOL_VERSION,
    "revision_unsupported",
    "This revision of MCP is not supported",
    "Send one of `supported` in `data`, or call `initialize`, which negotiates an earlier one.",
)
PROTOCOL_ERRORS = (
    METHOD_UNKNOWN,
    TOOL_UNKNOWN,
    RESOURCE_UNKNOWN,
    PROMPT_UNKNOWN,
    PARAMS_INVALID,
    REVISION_UNSUPPORTED,
)
_CODES = {error.number: error.code for error in (METHOD_UNKNOWN, PARAMS_INVALID, REVISION_UNSUPPORTED)} | {
    INTERNAL_ERROR: InternalFault.code
}
"""Codes of errors of which only the number is known."""

RequestId = str | int | float | None

_OTHER_CODES = {429: 429, 500: INTERNAL_ERROR, 503: 503}
"""JSON-RPC codes by HTTP status. JSON-RPC leaves codes outside of -32768 to -32000 to applications."""


_LEAVING_OUT = ConfigDict(json_schema_serialization_defaults_required=False)


class JsonRpcRequest(Document):
    """One request, or a notification if `id` is missing. Arrays of them are not accepted."""

    model_config = ConfigDict(extra="ignore")

    jsonrpc: Literal["2.0"]
    method: str = Field(min_length=1, description="An MCP method: `server/discover`, `tools/list`, `tools/call`, ...")
    id: RequestId = Field(default=None, description="Returned with the answer; without it, there is no answer")
    params: dict[str, Any] | None = Field(default=None, description="For `tools/call`: `name` and `arguments`")


class JsonRpcError(Document):
    """The reason why a message was not answered. An error inside a tool is a result with `isError` instead."""

    model_config = _LEAVING_OUT

    code: int
    message: str
    data: Any = Field(
        default={}, description="A stable `code`, `retryable`, `links` and the `requestId`, and MCP's own members"
    )


class JsonRpcAnswer(Document):
    """The answer to one request: `result`, or `error`."""

    model_config = _LEAVING_OUT

    jsonrpc: Literal["2.0"]
    id: RequestId
    result: dict[str, Any] | None = None
    error: JsonRpcError | None = None


class JsonRpcRefusal(Document):
    """The refusal of a message before it was processed. `id` is null if the message has no readable one."""

    jsonrpc: Literal["2.0"]
    id: RequestId
    error: JsonRpcError


class MessageInvalid(ValueError):
    """JSON that is not a JSON-RPC message."""


def read_message(value: Any) -> dict[str, Any]:
    """Returns `value` if it is one JSON-RPC request or notification. Raises `MessageInvalid` otherwise."""
    if not isinstance(value, dict):
        raise MessageInvalid("The body must be one JSON-RPC object; batches are not accepted.")
    if value.get("jsonrpc") != "2.0":
        raise MessageInvalid('jsonrpc must be "2.0".')
    if not isinstance(value.get("method"), str) or not value["method"]:
        raise MessageInvalid("method must be a string; answers are not accepted.")
    if isinstance(value.get("id"), bool) or not isinstance(value.get("id"), str | int | float | None):
        raise MessageInvalid("id must be a string, a number or null.")
    if not isinstance(value.get("params"), dict | None):
        raise MessageInvalid("params must be an object.")
    return value


def error_body(code: int, message: str, *, id: RequestId = None, data: dict[str, Any] | None = None) -> bytes:
    """Returns the body of an error."""
    error: dict[str, Any] = {"code": code, "message": message}
    if data:
        error["data"] = data
    return json.dumps({"jsonrpc": "2.0", "id": id, "error": error}, ensure_ascii=False, separators=(",", ":")).encode()


def problem_as_error(
    problem: RequestProblem, request_id: str, links: Mapping[str, str], *, id: RequestId = None
) -> bytes:
    """Returns a problem with an HTTP request to an MCP server as a JSON-RPC error with `links`."""
    data: dict[str, Any] = {"code": problem.code, "retryable": problem.retryable, "requestId": request_id}
    data |= problem.extensions
    if "Retry-After" in problem.headers:
        data["retryAfter"] = int(problem.headers["Retry-After"])
    if links:
        data["links"] = dict(links)
    return error_body(_OTHER_CODES.get(problem.status, INVALID_REQUEST), problem.detail, id=id, data=data)


def with_stable_code(error: Mapping[str, Any], request_id: str, links: Mapping[str, str]) -> dict[str, Any]:
    """Returns an error that MCP defines, with the members that this service's errors have in `data` added.

    Data that is not an object, such as the name of an unknown method, becomes `named`.
    """
    data = error.get("data")
    named = data if isinstance(data, dict) else {"named": data} if data else {}
    code = _CODES.get(error["code"], BodyInvalid.code)
    shared = {"code": code, "retryable": error["code"] == INTERNAL_ERROR, "requestId": request_id, "links": dict(links)}
    return {**error, "data": shared | named}


def message_of(body: bytes) -> dict[str, Any]:
    """Returns the message in `body`, or one without method and id if an answer could not repeat them."""
    try:
        message = read_message(json.loads(body))
        json.dumps(message.get("id"), ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, RecursionError):
        return {"method": "", "id": None}
    return message


def session_token_of(body: bytes) -> str | None:
    """Returns the session token in the arguments of a tool call, or None if `body` is not such a call."""
    if b"session_token" not in body:
        return None
    try:
        token = json.loads(body)["params"]["arguments"]["session_token"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    return token if isinstance(token, str) else None
