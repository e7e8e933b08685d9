"""Defines the dialect and the paths of the JSON Schemas that the service publishes."""

SCHEMA_DIALECT = "https://json-schema.org/draft/2020-12/schema"


def schema_path(name: str) -> str:
    return f"/schemas/{name}.json"
