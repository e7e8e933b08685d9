"""Describes the answers to a request whose head is too large, once for all operations."""

from typing import Any

from api.openapi.headers import header_refs
from api.responses import problem_answer
from contracts.connect.key_server import KEY_MCP_PATH
from contracts.connect.server import MCP_PATH
from contracts.errors import HeadersTooLarge, RequestProblem, TargetTooLong

HEAD_PROBLEMS: tuple[type[RequestProblem], ...] = (TargetTooLong, HeadersTooLarge)


def add_heads(document: dict[str, Any]) -> None:
    """Adds references to both answers to every operation, in place; the MCP servers describe their own."""
    for path, operations in document["paths"].items():
        for operation in operations.values() if path not in (MCP_PATH, KEY_MCP_PATH) else ():
            for problem in HEAD_PROBLEMS:
                operation["responses"][str(problem.status)] = {"$ref": f"#/components/responses/{problem.code}"}
    document["components"]["responses"] = {problem.code: _answer(problem) for problem in HEAD_PROBLEMS}


def _answer(problem: type[RequestProblem]) -> dict[str, Any]:
    return problem_answer(problem) | {"headers": header_refs("X-Request-Id", "Link", "RateLimit-Policy", "RateLimit")}
