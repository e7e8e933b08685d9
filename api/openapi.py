"""The OpenAPI description: what the framework says of the routes, lowered to 3.0.3, and committed as a file.

`python -m api.openapi` writes the file; a test says when it is old.
"""

from __future__ import annotations

import json
from typing import Any

from api.app import build_rooms
from api.deps import SECURITY_SCHEMES
from api.stores import Stores
from contracts.description import OPENAPI_FILE
from contracts.problems import Problem
from contracts.projections import PROJECTIONS
from contracts.settings import Settings

OPENAPI_VERSION = "3.0.3"
_NULL = {"type": "object", "nullable": True, "enum": [None]}
"""A schema that only null fits: 3.0 has no type for it, and `nullable` does not reach through a reference."""


def description() -> dict[str, Any]:
    """The whole description, without `servers`, which are known when it is published."""
    app = build_rooms(Stores(Settings(_env_file=None)), lambda: None)
    document = app.openapi()
    schemas = document.setdefault("components", {}).setdefault("schemas", {})
    problem = Problem.model_json_schema(mode="serialization", ref_template="#/components/schemas/{model}")
    schemas |= {**problem.pop("$defs", {}), "Problem": problem}
    for unused in ("HTTPValidationError", "ValidationError"):
        schemas.pop(unused, None)
    for path in document["paths"].values():
        for operation in path.values():
            operation["responses"].pop("422", None)
            operation.setdefault("security", [])
    document["components"]["securitySchemes"] = SECURITY_SCHEMES
    for projection in PROJECTIONS:
        for path in projection.paths:
            content = document["paths"][path]["get"]["responses"]["200"]["content"]
            content[projection.media_type.partition(";")[0]] = content.pop("application/json")
    return lower(document)


def text() -> str:
    """The committed file's text."""
    return json.dumps(description(), indent=2, ensure_ascii=False, sort_keys=True) + "\n"


def lower(document: dict[str, Any]) -> dict[str, Any]:
    """An OpenAPI 3.1 document as 3.0.3: schemas in that version's dialect. Raises `ValueError` on what it can't say."""
    lowered = _lower_within(document)
    components = {**document.get("components", {})}
    components["schemas"] = {
        name: lower_schema(schema) for name, schema in sorted(components.get("schemas", {}).items())
    }
    return {**lowered, "openapi": OPENAPI_VERSION, "components": components}


def lower_schema(schema: Any) -> Any:
    """One JSON Schema 2020-12 object as a 3.0.3 schema object."""
    if not isinstance(schema, dict):
        return schema
    if unsayable := {"prefixItems", "patternProperties", "if", "not", "$defs", "contains"} & set(schema):
        raise ValueError(f"OpenAPI {OPENAPI_VERSION} has no {', '.join(sorted(unsayable))}")
    lowered = {key: _lower_keyword(key, value) for key, value in schema.items() if key not in _REWRITTEN}
    if "const" in schema:
        lowered["enum"] = [schema["const"]]
    if schema.get("examples"):
        lowered["example"] = schema["examples"][0]
    for bound, edge in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
        if bound in schema:
            lowered |= {edge: schema[bound], bound: True}
    options = schema.get("anyOf", [])
    others = [lower_schema(option) for option in options if option != {"type": "null"}]
    if len(others) == len(options):
        return lowered | ({"anyOf": others} if others else {})
    if len(others) == 1 and "type" in others[0]:
        nullable = {**others[0], **lowered, "nullable": True}
        return nullable | ({"enum": [*nullable["enum"], None]} if "enum" in nullable else {})
    return lowered | {"anyOf": [*others, _NULL]}


_REWRITTEN = {"const", "examples", "exclusiveMinimum", "exclusiveMaximum", "anyOf"}


def _lower_keyword(key: str, value: Any) -> Any:
    if key == "properties":
        return {name: lower_schema(schema) for name, schema in value.items()}
    if key in ("items", "additionalProperties"):
        return lower_schema(value)
    if key in ("allOf", "oneOf"):
        return [lower_schema(schema) for schema in value]
    return value


def _lower_within(node: Any) -> Any:
    """Lower every schema that a path holds in its place."""
    if isinstance(node, dict):
        return {key: lower_schema(value) if key == "schema" else _lower_within(value) for key, value in node.items()}
    if isinstance(node, list):
        return [_lower_within(item) for item in node]
    return node


if __name__ == "__main__":
    OPENAPI_FILE.parent.mkdir(exist_ok=True)
    OPENAPI_FILE.write_text(text())
