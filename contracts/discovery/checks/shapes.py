"""Checks each document against its standard: the schemas of `shapes.yaml`, and the text checkers."""

import json
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from jsonschema import Draft202012Validator, ValidationError

from contracts.discovery.checks import texts
from contracts.discovery.checks.evidence import EXAMPLES, Defect, Evidence, values_in
from contracts.discovery.checks.expected import SHAPES
from contracts.problems import PROBLEM_MEDIA_TYPE

SHAPES_FILE = Path(__file__).with_name("shapes.yaml")

_LONGEST = 200
_MOST_FINDINGS = 5
"""Limit of defects per document, because a fault throughout a document needs no more mentions."""

_TEXTS: dict[str, Callable[[str, Evidence], Iterator[Defect]]] = {
    "llms": texts.llms_defects,
    "agents": texts.agents_defects,
    "robots": texts.robots_defects,
    "security": texts.security_defects,
    "sitemap": texts.sitemap_defects,
    "skill": texts.skill_defects,
    "markdown": texts.markdown_defects,
    "page": texts.page_defects,
}


def shape_defects(evidence: Evidence) -> Iterator[Defect]:
    """Yields deviations of documents from their standards."""
    for path, answer in evidence.documents.items():
        shape = SHAPES[path]
        if shape in _TEXTS:
            yield from _TEXTS[shape](path, evidence)
            continue
        value = answer.value
        if value is None:
            yield Defect(path, "can't be parsed as its media type", "Publish well-formed JSON or YAML.")
            continue
        errors = list(_validator(shape).iter_errors(value))
        for error in errors[:_MOST_FINDINGS]:
            place = "/".join(map(str, error.absolute_path)) or "the document"
            yield Defect(path, f"{place}: {_message(error)}", "Fix it according to this document's standard.")
        if shape == "openapi" and not errors:
            yield from _description_defects(path, value)


def _message(error: ValidationError) -> str:
    """Returns an error's message without repeating a long value."""
    message = str(error.message)
    value = repr(error.instance)
    return message.replace(value, "it")[:_LONGEST] if len(value) > _LONGEST // 2 else message[:_LONGEST]


def _description_defects(path: str, description: dict[str, Any]) -> Iterator[Defect]:
    """Yields OpenAPI faults that no schema can find: duplicate names, broken references, path parameters."""
    names: list[str] = []
    for route, item in description["paths"].items():
        for method, operation in item.items():
            if not isinstance(operation, dict) or "operationId" not in operation:
                continue
            names.append(operation["operationId"])
            parameters = [*item.get("parameters", []), *operation.get("parameters", [])]
            declared = {parameter.get("name") for parameter in parameters if parameter.get("in") == "path"}
            wanted = {part[1:-1] for part in route.split("/") if part.startswith("{")}
            if wanted != declared and not any("$ref" in parameter for parameter in parameters):
                yield Defect(path, f"{method} {route} declares other path parameters", f"Declare {sorted(wanted)}.")
    for name in sorted({repeated for repeated in names if names.count(repeated) > 1}):
        yield Defect(path, f"the operationId {name!r} stands twice", "Name each operation once.")
    yield from _repeated_problems(path, description)
    for reference in sorted(_references(description)):
        if not _resolves(description, reference):
            yield Defect(path, f"{reference} leads nowhere", "Define it under components.")


def _repeated_problems(path: str, description: dict[str, Any]) -> Iterator[Defect]:
    """Yields a defect if several operations describe errors in full."""
    operations = [one for item in description["paths"].values() for one in item.values() if isinstance(one, dict)]
    answers = [answer for one in operations for answer in one.get("responses", {}).values()]
    inline = Counter(
        json.dumps(answer, sort_keys=True) for answer in answers if PROBLEM_MEDIA_TYPE in answer.get("content", {})
    )
    if repeated := sum(times for times in inline.values() if times > 1):
        yield Defect(path, f"repeats {repeated} errors in full", "Define each once, under components/responses.")


def _references(value: Any) -> set[str]:
    members = (inner.get("$ref") for inner in values_in(value, without=EXAMPLES) if isinstance(inner, dict))
    return {member for member in members if isinstance(member, str)}


def _resolves(description: dict[str, Any], reference: str) -> bool:
    if not reference.startswith("#/"):
        return False
    target: Any = description
    for part in reference[2:].split("/"):
        key = part.replace("~1", "/").replace("~0", "~")
        if not isinstance(target, dict) or key not in target:
            return False
        target = target[key]
    return True


@cache
def _validator(shape: str) -> Draft202012Validator:
    return Draft202012Validator({**_shapes(), "$ref": f"#/$defs/{shape}"})


@cache
def _shapes() -> dict[str, Any]:
    shapes: dict[str, Any] = yaml.load(SHAPES_FILE.read_text(), yaml.CSafeLoader)
    return shapes
