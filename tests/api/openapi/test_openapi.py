import gzip
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import brotli
import pytest
import yaml
from claim_payments import TREASURY, USDC
from described import expanded
from publishing import House

from api.openapi.describing import text
from api.openapi.lowering import lower_schema
from api.receiving import LARGER_BODIES
from contracts.access import plans as plans_module
from contracts.access.plans import CLAIM_PATH, PLANS_FILE, PLANS_PATH, QUOTE_PATH, RECEIPT_PATH, load_plans
from contracts.discovery import examples
from contracts.discovery.examples import PROBLEM_CODES, RECORDED_AT, prices_now
from contracts.discovery.installation import Installation
from contracts.discovery.openapi import OPENAPI_FILE, OPENAPI_PATH, description_for, openapi_json
from contracts.guardrail import loaded_guardrail
from contracts.publish.registry import PROJECTIONS
from warehouse.duck.connection import Warehouse
from warehouse.publish.readers import context_for

PRICE = "/api/token/price"


def test_the_committed_description_is_what_the_routes_say():
    assert OPENAPI_FILE.read_text() == text(), "run `python -m api.openapi`"


def test_the_description_says_that_it_is_openapi_3_0_3():
    description = json.loads(OPENAPI_FILE.read_text())
    assert (description["openapi"], description["info"]["version"]) == ("3.0.3", "0.2.0")


def test_a_route_that_takes_a_larger_body_than_most_says_how_large():
    paths = json.loads(OPENAPI_FILE.read_text())["paths"]
    sizes = {
        "/api/v2/guardrail/check": "256 KiB",
        "/api/v2/knowledge-graph/build": "1 MiB",
        "/api/v2/mcp": "1 MiB",
    }
    assert sizes.keys() == LARGER_BODIES.keys()
    for path, size in sizes.items():
        operation = paths[path]["post"]
        assert size in operation["description"] + operation["responses"]["413"].get("description", ""), path


def test_the_description_as_it_is_sent_is_small():
    body = openapi_json(Installation("https://svc.example"), [path for row in PROJECTIONS for path in row.paths])
    assert len(brotli.compress(body, quality=9)) <= 100_000
    assert len(gzip.compress(body, 9)) <= 127_000


def test_the_committed_description_has_no_examples():
    description = json.loads(OPENAPI_FILE.read_text())
    operations = [operation for path in description["paths"].values() for operation in path.values()]
    responses = [answer for operation in operations for answer in operation["responses"].values()]
    parameters = [*(each for operation in operations for each in operation.get("parameters", []))]
    parameters += description["components"]["parameters"].values()
    contents = [answer.get("content", {}) for answer in [*responses, *description["components"]["responses"].values()]]
    contents += [operation["requestBody"]["content"] for operation in operations if "requestBody" in operation]
    assert [media for content in contents for media in content.values() if "examples" in media] == []
    assert not any("example" in parameter for parameter in parameters)
    assert "examples" not in description["components"]


def test_published_problems_have_a_body_for_each_code_and_no_list_of_codes():
    described = expanded(description_for(Installation("https://svc.example"), []))
    media = described["paths"][QUOTE_PATH]["post"]["responses"]["400"]["content"]["application/problem+json"]
    codes = set(media["examples"])
    assert codes >= {"body_invalid", "plan_unknown", "payment_signature_not_live"}
    shown = described["components"]["examples"]
    assert {shown[code]["value"]["code"] for code in codes} == codes
    assert PROBLEM_CODES not in json.dumps(described)


def test_the_description_is_published_with_the_services_own_address():
    assert description_for(Installation("https://svc.example"), [])["servers"] == [{"url": "https://svc.example"}]


def test_recorded_examples_have_the_services_address_too_but_signed_parts_stay_unchanged():
    described = description_for(Installation("https://here.test/runtime"), [])
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
    guardrail = loaded_guardrail()
    assert set(re.findall(r'(\d+) rules of|"rules_checked": (\d+)', shown)) == {
        (str(guardrail.rules_checked), ""),
        ("", str(guardrail.rules_checked)),
    }
    assert set(re.findall(r"rules of ruleset (\w+)", shown)) == {guardrail.ruleset_version}


def shown(described: dict, path: str) -> dict:
    (media,) = described["paths"][path]["get"]["responses"]["200"]["content"].values()
    return media["examples"]


def test_a_published_document_is_its_own_example_so_that_no_number_changes_the_description():
    here = Installation("https://svc.example")
    examples = shown(description_for(here, [PRICE, "/nowhere"]), PRICE)
    assert examples["published"] == {"externalValue": f"https://svc.example{PRICE}"}
    assert "answer" in examples, "a recorded answer shows what an installation may not have"
    assert "published" not in shown(description_for(here, []), PRICE)


def test_a_purchase_recorded_at_another_price_is_left_out_but_not_its_refusals(monkeypatch, tmp_path):
    def receipts(published: dict) -> list[dict]:
        operations = published["paths"]
        return [
            operations[CLAIM_PATH]["post"]["responses"]["201"]["content"]["application/json"],
            operations[RECEIPT_PATH]["get"]["responses"]["200"]["content"]["application/json"],
        ]

    here = Installation("https://svc.example")
    assert all("examples" in media for media in receipts(description_for(here, [])))
    recorded = json.loads(examples.PRICES.read_text())
    assert recorded.items() <= prices_now().items()
    changed = tmp_path / "prices.json"
    changed.write_text(json.dumps(recorded | {"api_basic_monthly": "11"}))
    monkeypatch.setattr(examples, "PRICES", changed)
    published = expanded(
        description_for(Installation("https://svc.example/later"), {})
    )  # a process reads the recorded files once
    assert not any("examples" in media for media in receipts(published))
    refused = published["paths"][CLAIM_PATH]["post"]["responses"]["402"]["content"]["application/problem+json"]
    assert "quote_mismatch" in refused["examples"]
    assert shown(published, PLANS_PATH)["published"]["value"]["plans"][1]["price"]["amount"] == "9"


DESCRIBED = tuple(row.path for row in PROJECTIONS if row.is_described)
"""Documents whose bodies are examples, which excludes pages."""


@contextmanager
def with_plans(data_dir: Path, monkeypatch, count: int) -> Iterator[House]:
    """Yields a house with nothing published, while `plans.yaml` has `count` plans."""
    plans = yaml.safe_load(PLANS_FILE.read_text())
    known = sum("tier" in row for row in plans)
    more = [plans[-1] | {"id": f"api_more_{number}"} for number in range(known, count)]
    file = data_dir / f"{count}.yaml"
    file.write_text(yaml.safe_dump(plans + more))
    given = {"rpc_urls": ("http://node.invalid",), "usdc_address": USDC, "treasury_address": TREASURY}
    try:
        with monkeypatch.context() as patched:
            patched.setattr(plans_module, "PLANS_FILE", file)
            load_plans.cache_clear()
            # at another address, since a process caches what it built for one
            yield House(data_dir / str(count), base_url=f"https://{count}.plans.example", **given)
    finally:
        load_plans.cache_clear()


def description_of(house: House) -> dict:
    """Returns the description as publishing builds it, without the rest of a generation."""
    (row,) = [row for row in PROJECTIONS if row.path == OPENAPI_PATH]
    with Warehouse(house.data_dir).connect() as connection:
        described: dict = json.loads(row.describe(context_for(connection, house.settings).installation, {}))
    return described


def names_of_examples(described: dict) -> set[tuple[str, ...]]:
    return {
        (operation["operationId"], status, media_type, name)
        for operations in described["paths"].values()
        for operation in operations.values()
        for status, answer in operation["responses"].items()
        for media_type, media in answer.get("content", {}).items()
        for name in media.get("examples", {})
    }


def test_every_example_stays_when_plans_are_added_and_the_catalog_is_whole(tmp_path, monkeypatch):
    names = {}
    now, one_more = len(load_plans()), len(load_plans()) + 1
    for count in (now, one_more):
        with with_plans(tmp_path, monkeypatch, count) as house:
            described = description_of(house)
        names[count] = names_of_examples(described)
        assert len(shown(described, PLANS_PATH)["published"]["value"]["plans"]) == count
    with with_plans(tmp_path, monkeypatch, 3 * now) as house:
        house.publish(*DESCRIBED)
    described = json.loads((house.current / "public" / OPENAPI_PATH.strip("/")).read_bytes())
    assert len(shown(described, PLANS_PATH)["published"]["value"]["plans"]) == 3 * now
    assert names_of_examples(described) == names[one_more] == names[now]
    assert {name for name, *_ in names[now]} >= {"agent_access_quote", "agent_access_claim", "agent_access_receipt"}


@pytest.mark.parametrize(
    ("schema", "lowered"),
    [
        ({"type": "string"}, {"type": "string"}),
        ({"const": True, "type": "boolean"}, {"enum": [True], "type": "boolean"}),
        (
            {"anyOf": [{"type": "integer", "minimum": 0}, {"type": "null"}], "title": "N"},
            {"type": "integer", "minimum": 0, "nullable": True},
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
def test_a_schema_is_lowered_to_the_older_dialect(schema, lowered):
    assert lower_schema(schema) == lowered


def test_a_schema_that_the_older_dialect_can_not_express_is_refused():
    with pytest.raises(ValueError, match="prefixItems"):
        lower_schema({"type": "array", "prefixItems": []})


def test_every_operation_that_takes_a_signed_payment_may_answer_with_a_key():
    document = expanded(json.loads(OPENAPI_FILE.read_text()))
    key = {"$ref": "#/components/schemas/ClaimAnswer"}
    operations = [operation for item in document["paths"].values() for operation in item.values()]
    sold = [row for row in operations if "PAYMENT-REQUIRED" in row["responses"].get("402", {}).get("headers", {})]
    assert {"world_model_live", "my_key", "world_model_signal"} <= {row["operationId"] for row in sold}
    for operation in sold:
        bought = operation["responses"]["201"]
        schema = bought["content"]["application/json"]["schema"]
        assert key in (schema, *schema.get("anyOf", ())), operation["operationId"]
        assert "PAYMENT-RESPONSE" in bought["headers"]


def test_an_example_is_listed_under_its_media_type():
    described = expanded(description_for(Installation("https://svc.example"), []))
    content = described["paths"]["/api/v2/world-model/export"]["get"]["responses"]["200"]["content"]
    assert {media_type for media_type, media in content.items() if "examples" in media} == {"application/x-ndjson"}
