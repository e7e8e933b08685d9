"""Building graphs and designing memory over HTTP: previews write nothing, applied graphs are governed and private."""

import json
import re
from pathlib import Path

import pytest
from described import expanded
from keyed_service import bearer, serving
from openapi_schema_validator import OAS30Validator

from contracts.access.tiers import Tier
from contracts.discovery.openapi import OPENAPI_FILE
from contracts.settings import Settings

BUILD, DESIGN, QUERY = "/api/v2/knowledge-graph/build", "/api/v2/memory/design", "/api/v2/world-model/query"
DOCS = Path(__file__).resolve().parents[3] / "docs"
CHAPTERS = [(DOCS / f"{name}.md").read_text() for name in ("promises", "glossary")]
HANDBOOK = "# svc\n\n" + re.sub("^#", "##", "\n".join(CHAPTERS), flags=re.MULTILINE)
"""Pages of this repository as chapters of one document; the heading "Promises" names a kind of node."""
DESCRIPTION = expanded(json.loads(OPENAPI_FILE.read_text()))


@pytest.fixture
def service(ledger_settings):
    with serving(ledger_settings) as running:
        yield running


@pytest.fixture(scope="module")
def lasting(tmp_path_factory):
    """One service for many bodies."""
    given = {"data_dir": tmp_path_factory.mktemp("lasting"), "rate_limit_per_minute": 0}
    with serving(Settings(_env_file=None, **given)) as running:
        yield running


def post(service, headers, path, body):
    (answer,) = service.ask(("POST", path, headers, {"json": body}))
    schema = DESCRIPTION["paths"][path]["post"]["responses"][str(answer.status_code)]["content"]
    media_type = answer.headers["content-type"].partition(";")[0]
    OAS30Validator({**schema[media_type]["schema"], "components": DESCRIPTION["components"]}).validate(answer.json())
    return answer


def found(service, headers, node_id):
    return service.ask(("POST", QUERY, headers, {"json": {"node_id": node_id}}))[0].json()["data"]["nodes"]


def test_the_documentation_of_this_repository_becomes_a_graph_that_only_its_owner_sees(service):
    mine, theirs = (bearer(service.key(Tier.PRO, owner=f"local:{name}")) for name in ("me", "you"))
    body = {"graphId": "handbook", "documents": [{"id": "handbook.md", "markdown": HANDBOOK}]}
    preview = post(service, mine, BUILD, body)
    assert (preview.status_code, preview.json()["data"]["verdict"]) == (200, None)
    document = preview.json()["data"]["nodes"][0]["id"]
    assert found(service, mine, document) == []

    applied = post(service, mine, BUILD, body | {"mode": "apply"})
    assert (applied.status_code, applied.json()["data"]["verdict"]) == (201, "approved")
    assert applied.json()["data"]["nodes"] == preview.json()["data"]["nodes"]
    assert applied.json()["data"]["edges"] == preview.json()["data"]["edges"]
    assert [node["title"] for node in found(service, mine, document)] == ["svc"]
    assert found(service, theirs, document) == []

    walk = {"traverse": {"from_id": document, "depth": 1, "direction": "inbound"}}
    reached = service.ask(("POST", QUERY, mine, {"json": walk}))[0].json()["data"]
    assert "Promises" not in {node["title"] for node in reached["nodes"]}
    assert {"Concept", "Agreement"} <= {node["type"] for node in reached["nodes"]}

    again = post(service, mine, BUILD, body | {"mode": "apply"})
    assert again.json()["data"]["revision"] == applied.json()["data"]["revision"]


def test_duplicates_in_the_live_graph_are_reported_and_not_merged(service):
    headers = bearer(service.key())
    goal = {"type": "Goal", "title": "Drink more water", "source": "me"}
    (signal,) = service.ask(("POST", "/api/v2/world-model/signal", headers, {"json": goal}))
    built = post(service, headers, BUILD, {"documents": [{"text": "Goal: drink more  water"}]}).json()["data"]
    assert built["duplicates"] == [
        {"nodes": [built["nodes"][1]["id"], signal.json()["data"]["signalId"]], "reason": "in_live_graph"}
    ]


def test_a_graph_that_the_rules_forbid_is_rejected_whole(service):
    headers = bearer(service.key())
    body = {"mode": "apply", "documents": [{"markdown": "# Plan\n\n- [ ] Delete all backups\n- [ ] tidy up"}]}
    answer = post(service, headers, BUILD, body)
    assert (answer.status_code, answer.json()["data"]["verdict"]) == (200, "rejected")
    assert found(service, headers, answer.json()["data"]["nodes"][0]["id"]) == []


@pytest.mark.both_engines
def test_a_memory_plan_is_applied_as_nodes_of_its_owner(service):
    headers = bearer(service.key())
    body = {"agent": {"id": "helper"}, "goals": ["Answer mail"], "sources": ["inbox"], "mode": "apply"}
    answer = post(service, headers, DESIGN, body)
    assert (answer.status_code, answer.json()["data"]["verdict"]) == (201, "approved")
    (plan,) = found(service, headers, answer.json()["data"]["nodeIds"][0])
    assert (plan["type"], plan["title"]) == ("Strategy", "Memory of helper")
    retried = post(service, headers, DESIGN, body).json()["data"]
    assert retried["nodeIds"] == answer.json()["data"]["nodeIds"]


def test_every_route_of_a_plan_finds_what_its_write_rule_wrote(service):
    headers = bearer(service.key())
    kinds = ["messages", "tasks", "code", "measurements", "payments", "risks"]
    body = {"agent": {"id": "helper"}, "goals": [{"title": "Settle the tea bill", "kinds": kinds}], "mode": "apply"}
    plan = post(service, headers, DESIGN, body).json()["data"]
    assert len(plan["stores"]) == 9
    for store, rule, route in zip(plan["stores"], plan["writeRules"], plan["retrieval"], strict=True):
        signal = {
            "type": store["nodeTypes"][0],
            "title": f"Tea bill in {store['id']}",
            "source": "test",
            "links": [rule["link"]],
        }
        (written,) = service.ask(("POST", "/api/v2/world-model/signal", headers, {"json": signal}))
        (answer,) = service.ask(("POST", QUERY, headers, {"json": route["query"]}))
        titles = [node["title"] for node in answer.json()["data"]["nodes"]]
        assert (written.status_code, answer.status_code) == (201, 200) and signal["title"] in titles


@pytest.mark.parametrize(
    ("path", "body", "pointer"),
    [
        (BUILD, {}, ""),
        (BUILD, {"documents": [{"url": "https://x.example"}]}, "/documents/0"),
        (BUILD, {"documents": [{"text": "{", "mediaType": "application/json"}]}, "/documents/0/text"),
        (BUILD, {"documents": [{"text": "a", "mediaType": "application/pdf"}]}, "/documents/0/mediaType"),
        (BUILD, {"documents": [{"text": "a"}], "mode": "force"}, "/mode"),
        (BUILD, {"nodes": [{"id": "a", "title": "a", "type": "Dragon"}]}, "/nodes/0/type"),
        (BUILD, {"nodes": [{"id": "a", "title": "a", "type": "Goal", "properties": {"n": [2**61]}}]}, "/nodes"),
        (BUILD, {"documents": [{"text": "a", "url": "https://x.example/\x00"}]}, "/documents/0/url"),
        (DESIGN, {"agent": {"id": "a"}, "goals": []}, "/goals"),
        (DESIGN, {"agent": {"id": "a\x00"}, "goals": ["x"]}, "/agent/id"),
        (DESIGN, {"agent": {"id": "a"}, "goals": ["x", "a\nb"]}, "/goals/1/title"),
        (DESIGN, {"agent": {"id": "a"}, "goals": ["x"], "constraints": {"privacy": "none"}}, "/constraints/privacy"),
        (DESIGN, {"agent": {"id": "a"}, "goals": [{"title": "x", "kinds": ["mail"]}]}, "/goals/0/kinds/0"),
        (
            DESIGN,
            {"agent": {"id": "a"}, "goals": ["x"], "constraints": {"privacy": "regulated", "retention": "P2Y"}},
            "/constraints/retention",
        ),
    ],
)
def test_bad_input_is_400_with_the_place(lasting, path, body, pointer):
    answer = post(lasting, bearer(lasting.key()), path, body)
    assert (answer.status_code, answer.json()["code"]) == (400, "body_invalid")
    assert answer.json()["errors"][0]["pointer"] == pointer


def test_a_document_of_a_megabyte_is_taken_and_a_larger_one_is_413(lasting):
    headers = bearer(lasting.key())
    assert post(lasting, headers, BUILD, {"documents": [{"text": "a " * 500_000}]}).status_code == 200
    assert post(lasting, headers, BUILD, {"documents": [{"text": "a " * 600_000}]}).status_code == 413
