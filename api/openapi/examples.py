"""Examples that are real: exchanges recorded with the service itself, and one body for each code of a problem.

`tests/record_examples.py` records them into `contracts/openapi/examples/`, a file an operation.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from contracts.discovery.openapi import EXAMPLES_DIR, PROBLEM_EXAMPLES, example_of, references
from contracts.errors import RequestProblem
from contracts.problems import problem_body

_PROBLEM_REF = "#/components/examples/"


def recorded(operation_id: str) -> list[dict[str, Any]]:
    """The exchanges of one operation: `{name, request: {path, query, header, body}, status, body}`."""
    file = EXAMPLES_DIR / f"{operation_id}.json"
    exchanges: list[dict[str, Any]] = json.loads(file.read_text()) if file.exists() else []
    return exchanges


def add_examples(document: dict[str, Any]) -> None:
    """Put what was recorded into parameters, bodies and answers, in place, and define the problems that are named."""
    for path, operations in document["paths"].items():
        for operation in operations.values():
            for exchange in recorded(operation["operationId"]):
                _add_exchange(path, operation, exchange)
    document["components"]["examples"] = _problem_examples(document)


def problem_refs(*errors: type[RequestProblem]) -> dict[str, dict[str, str]]:
    """References to the examples of problems, by code."""
    return {error.code: {"$ref": _PROBLEM_REF + error.code} for error in errors}


def _add_exchange(path: str, operation: dict[str, Any], exchange: dict[str, Any]) -> None:
    name, request = exchange["name"], exchange["request"]
    for parameter in operation.get("parameters", []):
        given = request.get(parameter["in"], {})
        if parameter["name"] in given:
            parameter.setdefault("example", given[parameter["name"]])
    if "body" in request and exchange["status"] < 400:
        (media,) = operation["requestBody"]["content"].values()
        media.setdefault("examples", {})[name] = {"value": request["body"]}
    response = operation["responses"].get(str(exchange["status"]))
    if response is not None and "body" in exchange:
        media = next(iter(response["content"].values()))
        example = example_of(exchange["body"], path if not request else None)
        if example is not None:
            media.setdefault("examples", {})[name] = example


def _problem_examples(document: dict[str, Any]) -> dict[str, Any]:
    kept: dict[str, Any] = json.loads(PROBLEM_EXAMPLES.read_text()) if PROBLEM_EXAMPLES.exists() else {}
    classes = {each.code: each for each in _subclasses(RequestProblem)}
    codes = sorted({ref.removeprefix(_PROBLEM_REF) for ref in references(document) if ref.startswith(_PROBLEM_REF)})
    return {
        code: {"summary": classes[code].title, "value": kept.get(code) or _rendered(classes[code])} for code in codes
    }


def _rendered(problem: type[RequestProblem]) -> Any:
    """The body of a problem that can't be brought about at will, as the service writes it."""
    return json.loads(problem_body(problem(f"{problem.title}."), "/api/example", "0123456789abcdef"))


def _subclasses(root: type[RequestProblem]) -> Iterator[type[RequestProblem]]:
    yield root
    for each in root.__subclasses__():
        yield from _subclasses(each)
