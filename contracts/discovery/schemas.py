"""Makes the JSON Schemas of our own documents from their models, and their paths."""

SCHEMA_DIALECT = "https://json-schema.org/draft/2020-12/schema"


def schema_path(name: str) -> str:
    return f"/schemas/{name}.json"
