import json

import pytest
from openapi_spec_validator import validate

from api.openapi.describing import text
from api.openapi.lowering import lower_schema
from contracts.access.plans import PLANS_PATH, QUOTE_PATH, load_plans
from contracts.access.rail import usd_of
from contracts.discovery.installation import Installation
from contracts.discovery.openapi import (
    OPENAPI_FILE,
    OPENAPI_PATH,
    RECORDED_AT,
    description_for,
    drop_other_prices,
    openapi_json,
)

PRICE = "/api/token/price"


def test_the_committed_description_is_what_the_routes_say():
    assert OPENAPI_FILE.read_text() == text(), "run `python -m api.openapi`"


def test_the_description_is_a_valid_3_0_3_document():
    description = json.loads(OPENAPI_FILE.read_text())
    validate(description)
    assert (description["openapi"], description["info"]["version"]) == ("3.0.3", "0.2.0")


def test_it_is_published_with_its_own_address():
    assert description_for(Installation("https://svc.example"), {})["servers"] == [{"url": "https://svc.example"}]


def test_recorded_examples_have_its_address_too_but_what_is_signed_stays_as_it_is():
    described = description_for(Installation("https://here.test/runtime"), {})
    signed: list[str] = []

    def unsigned(value):
        if isinstance(value, list):
            return [unsigned(each) for each in value]
        if isinstance(value, dict) and "signature" in value:
            signed.append(json.dumps(value))
            return None
        return {name: unsigned(each) for name, each in value.items()} if isinstance(value, dict) else value

    shown = json.dumps(unsigned(described))
    assert RECORDED_AT not in shown and "GET https://here.test/runtime/api/v2/world-model/live" in shown
    assert any(f"{RECORDED_AT}/api/agent-access/claims/" in each for each in signed)
    assert not any("here.test" in each for each in signed if '"receiptHash"' in each)


def priced(price: str, at: str, quality: str = "exact") -> dict[str, bytes]:
    return {
        PRICE: json.dumps({"ok": True, "data": {"priceUsd": price, "generatedAt": at, "quality": quality}}).encode()
    }


def shown(published: bytes, path: str) -> dict:
    (media,) = json.loads(published)["paths"][path]["get"]["responses"]["200"]["content"].values()
    return media["examples"]


def test_examples_of_numbers_that_move_stay_for_an_hour_and_what_is_missing_is_none():
    here = Installation("https://svc.example")
    first = openapi_json(here, priced("1", "2026-11-21T10:00:00Z"))
    assert shown(first, PRICE)["published"]["value"]["data"]["priceUsd"] == "1"
    assert openapi_json(here, priced("2", "2026-11-21T10:59:59Z") | {OPENAPI_PATH: first}) == first
    later = openapi_json(here, priced("2", "2026-11-21T11:00:00Z") | {OPENAPI_PATH: first})
    assert shown(later, PRICE)["published"]["value"]["data"]["priceUsd"] == "2"
    assert "published" not in shown(openapi_json(here, priced("0", "2026-11-21T10:00:00Z", "unavailable")), PRICE)


def test_prices_are_those_of_the_plans_and_examples_at_others_are_left_out():
    published = openapi_json(Installation("https://svc.example"), {})
    now = {plan["id"]: plan["price"]["amount"] for plan in shown(published, PLANS_PATH)["published"]["value"]["plans"]}
    assert now == {plan.id: usd_of(plan.price) for plan in load_plans().values()}
    described = json.loads(OPENAPI_FILE.read_text())
    drop_other_prices(described, now)
    assert described == json.loads(OPENAPI_FILE.read_text())
    drop_other_prices(described, now | {"api_basic_monthly": "11"})
    quote = described["paths"][QUOTE_PATH]["post"]["responses"]
    assert "examples" not in quote["201"]["content"]["application/json"]
    assert "examples" in quote["400"]["content"]["application/problem+json"]


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
