"""The JSON Schemas of our own documents, made from their models, and where they lie."""

from __future__ import annotations

SCHEMA_DIALECT = "https://json-schema.org/draft/2020-12/schema"


def schema_path(name: str) -> str:
    """The path of a published JSON Schema."""
    return f"/schemas/{name}.json"
