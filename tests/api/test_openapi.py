import json

import pytest
from openapi_spec_validator import validate

from api.openapi.describing import text
from api.openapi.lowering import lower_schema
from contracts.description import OPENAPI_FILE, description_for
from contracts.discovery.installation import Installation


def test_the_committed_description_is_what_the_routes_say():
    assert OPENAPI_FILE.read_text() == text(), "run `python -m api.openapi`"


def test_the_description_is_a_valid_3_0_3_document():
    description = json.loads(OPENAPI_FILE.read_text())
    validate(description)
    assert (description["openapi"], description["info"]["version"]) == ("3.0.3", "0.2.0")


def test_it_is_published_with_its_own_address():
    assert description_for(Installation("https://svc.example"), {})["servers"] == [{"url": "https://svc.example"}]


@pytest.mark.parametrize(
    ("schema", "lowered"),
    [
        ({"type": "string"}, {"type": "string"}),
        ({"const": True, "type": "boolean"}, {"enum": [True], "type": "boolean"}),
        (
            {"anyOf": [{"type": "integer", "minimum": 0}, {"type": "null"}], "title": "N"},
            {"type": "integer", "minimum": 0, "nullable": True, "title": "N"},
        ),
        (
            {"anyOf": [{"$ref": "#/x"}, {"type": "null"}]},
            {"anyOf": [{"$ref": "#/x"}, {"type": "object", "nullable": True, "enum": [None]}]},
        ),
        (
            {"anyOf": [{"type": "string", "enum": ["a"]}, {"type": "null"}]},
            {"type": "string", "enum": ["a", None], "nullable": True},
        ),
        ({"$ref": "#/x", "description": "D"}, {"allOf": [{"$ref": "#/x"}], "description": "D"}),
        ({"anyOf": [{"type": "string"}, {"type": "integer"}]}, {"anyOf": [{"type": "string"}, {"type": "integer"}]}),
        ({"type": "integer", "exclusiveMinimum": 0}, {"type": "integer", "minimum": 0, "exclusiveMinimum": True}),
        ({"type": "string", "examples": ["a", "b"]}, {"type": "string", "example": "a"}),
        (
            {"type": "object", "properties": {"const": {"const": 1}, "examples": {"type": "string"}}},
            {"type": "object", "properties": {"const": {"enum": [1]}, "examples": {"type": "string"}}},
        ),
        ({"type": "array", "items": {"const": 1}}, {"type": "array", "items": {"enum": [1]}}),
        (True, True),
    ],
)
def test_a_schema_is_said_in_the_older_dialect(schema, lowered):
    assert lower_schema(schema) == lowered


def test_what_the_older_dialect_can_not_say_is_refused():
    with pytest.raises(ValueError, match="prefixItems"):
        lower_schema({"type": "array", "prefixItems": []})
