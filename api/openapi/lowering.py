"""Translates the framework's OpenAPI 3.1 to 3.0.3 and its dialect of JSON Schema. Pure."""

from typing import Any

OPENAPI_VERSION = "3.0.3"
_NULL = {"type": "object", "nullable": True, "enum": [None]}
"""A schema that only null matches: 3.0 has no type for it, and `nullable` does not reach through a reference."""


def lower(document: dict[str, Any]) -> dict[str, Any]:
    """Returns an OpenAPI 3.1 document as 3.0.3. Raises `ValueError` for a schema that 3.0.3 can't express."""
    lowered = _lower_within(document)
    components = {**document.get("components", {})}
    components["schemas"] = {
        name: lower_schema(schema) for name, schema in sorted(components.get("schemas", {}).items())
    }
    return {**lowered, "openapi": OPENAPI_VERSION, "components": components}


def lower_schema(schema: Any) -> Any:
    """Returns a JSON Schema 2020-12 object as a 3.0.3 schema object."""
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
    if "$ref" in lowered and len(lowered) > 1:
        lowered["allOf"] = [{"$ref": lowered.pop("$ref")}]
    options = schema.get("anyOf", [])
    others = [lower_schema(option) for option in options if option != {"type": "null"}]
    if len(others) == len(options):
        return lowered | ({"anyOf": others} if others else {})
    if len(others) == 1 and "type" in others[0]:
        nullable = {**others[0], **lowered, "nullable": True}
        return nullable | ({"enum": [*nullable["enum"], None]} if "enum" in nullable else {})
    return lowered | {"anyOf": [*others, _NULL]}


_REWRITTEN = {"title", "const", "examples", "exclusiveMinimum", "exclusiveMaximum", "anyOf"}


def _lower_keyword(key: str, value: Any) -> Any:
    if key == "properties":
        return {name: lower_schema(schema) for name, schema in value.items()}
    if key in ("items", "additionalProperties"):
        return lower_schema(value)
    if key in ("allOf", "oneOf"):
        return [lower_schema(schema) for schema in value]
    return value


def _lower_within(node: Any) -> Any:
    """Lowers every schema within a path, in place."""
    if isinstance(node, dict):
        return {key: lower_schema(value) if key == "schema" else _lower_within(value) for key, value in node.items()}
    if isinstance(node, list):
        return [_lower_within(item) for item in node]
    return node
