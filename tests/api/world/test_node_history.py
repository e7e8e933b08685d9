"""A node with its history over HTTP: states, decisions, sources and actions, by what is believed now and by what was
believed earlier."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest
from described import expanded
from keyed_service import bearer, serving
from openapi_schema_validator import OAS30Validator

from contracts.access.tiers import Tier
from contracts.discovery.openapi import OPENAPI_FILE
from warehouse.access.keys import create_key
from warehouse.world.forget import forget_owner
from warehouse.world.write import approve

SIGNAL, NODES = "/api/v2/world-model/signal", "/api/v2/world-model/nodes/"
QUERY = "/api/v2/world-model/query"
DESCRIPTION = expanded(json.loads(OPENAPI_FILE.read_text()))
DOOR = {"subject": "the door", "predicate": "state"}


@pytest.fixture
def service(ledger_settings):
    settings = ledger_settings.model_copy(update={"rate_limit_per_minute": 0})
    with serving(settings) as running:
        yield running


def key(service, owner="local:ada"):
    with service.ledger.transaction() as tx:
        return bearer(create_key(tx, service.pepper, tier=Tier.PRO, owner=owner, now=datetime.now(UTC)))


def state(service, headers, value, **fields):
    body = {"type": "Observation", "source": "a sensor", "payload": {**DOOR, "value": value}, **fields}
    (answer,) = service.ask(("POST", SIGNAL, headers, {"json": body}))
    assert answer.json()["data"]["verdict"] == "approved", answer.json()
    return answer.json()["data"]


def read(service, headers, node_id, **parameters):
    (answer,) = service.ask(("GET", NODES + node_id, headers, {"params": parameters}))
    responses = DESCRIPTION["paths"][NODES + "{nodeId}"]["get"]["responses"]
    schema = responses[str(answer.status_code)]["content"][answer.headers["content-type"].partition(";")[0]]["schema"]
    OAS30Validator({**schema, "components": DESCRIPTION["components"]}).validate(answer.json())
    return answer


@pytest.mark.both_engines
def test_a_node_shows_its_states_decisions_sources_and_who_corrected_it_and_why(service):
    ada = key(service)
    first = state(service, ada, "open", observedAt="2026-01-01T00:00:00Z")
    node_id = first["signalId"]
    second = state(service, ada, "shut", corrects={"id": node_id, "reason": "it was dark"})
    data = read(service, ada, node_id).json()["data"]
    assert data["node"]["retracted"] and data["node"]["endedBy"] == second["signalId"]
    assert [each["node"]["retracted"] for each in data["history"]] == [True, False]
    assert data["history"][1]["retiredAt"] == data["history"][0]["node"]["recordedAt"]
    assert [decision["decision"] for decision in data["decisions"]] == [second["decision"], first["decision"]]
    assert [stage["stage"] for stage in data["decisions"][0]["stages"]][:2] == ["immutability", "temporal"]
    assert [(source["source"], source["sourceClass"]) for source in data["sources"]] == [("a sensor", "inference")]
    (act,) = data["acts"]
    assert (act["kind"], act["by"], act["reason"]) == ("corrects", second["signalId"], "it was dark")


@pytest.mark.both_engines
def test_a_belief_is_read_back_by_its_instant_or_its_revision(service):
    ada = key(service)
    first = state(service, ada, "open", observedAt="2026-01-01T00:00:00Z")
    node_id, then = first["signalId"], first["nodes"][0]["recordedAt"]
    state(service, ada, "shut", corrects={"id": node_id, "reason": "it was dark"})
    as_of = "2026-02-01T00:00:00Z"
    assert read(service, ada, node_id, asOf=as_of).json()["data"]["node"] is None
    for belief in ({"recordedAsOf": then}, {"recordedAsOf": first["revision"]}, {"atRevision": first["revision"]}):
        data = read(service, ada, node_id, asOf=as_of, **belief).json()["data"]
        assert data["node"]["properties"]["value"] == "open", belief
        assert (len(data["history"]), data["acts"], data["revision"]) == (1, [], first["revision"])
    before = read(service, ada, node_id, asOf="2025-12-31T00:00:00Z", atRevision=first["revision"])
    assert before.json()["data"]["node"] is None
    both = read(service, ada, node_id, recordedAsOf=first["revision"], atRevision=0).json()["data"]
    assert (both["node"], both["revision"]) == (None, 0), "the earlier belief counts"
    unborn = read(service, ada, node_id, recordedAsOf="2020-01-01T00:00:00Z").json()["data"]
    assert (unborn["node"], unborn["history"], unborn["revision"]) == (None, [], 0)


def test_a_query_for_one_node_answers_the_past_before_anything_is_published(service):
    ada = key(service)
    first = state(service, ada, "open", observedAt="2026-01-01T00:00:00Z")
    node_id = first["signalId"]
    state(service, ada, "shut", corrects={"id": node_id, "reason": "it was dark"})

    def found(**question):
        (answer,) = service.ask(("POST", QUERY, ada, {"json": {"node_id": node_id, **question}}))
        data = answer.json()["data"]
        assert data["matched_nodes"] == len(data["nodes"])
        return [node["properties"]["value"] for node in data["nodes"]]

    as_of = "2026-02-01T00:00:00Z"
    assert found() == found(asOf=as_of) == []
    assert found(include_ended=True) == found(asOf=as_of, include_ended=True) == ["open"]
    assert found(asOf=as_of, recordedAsOf=first["revision"]) == ["open"]
    assert found(recordedAsOf=first["nodes"][0]["recordedAt"], search="open") == ["open"]
    assert found(recordedAsOf=first["revision"], search="shut") == []
    assert found(recordedAsOf=first["revision"], domain="VISION") == []
    assert found(recordedAsOf=0) == []


def test_the_changes_of_one_decision_become_visible_together(service):
    ada = key(service)
    first = state(service, ada, "open")
    second = state(service, ada, "shut")
    assert second["decision"] < second["nodes"][0]["revision"] < second["revision"]
    for revision in range(first["revision"], second["revision"]):
        old, new = (
            read(service, ada, each["signalId"], atRevision=revision).json()["data"]["node"] for each in (first, second)
        )
        assert (old["validTo"], new) == (None, None), "neither change, or both"
    assert read(service, ada, first["signalId"], atRevision=second["revision"]).json()["data"]["node"]["validTo"]


def test_a_disputed_node_shows_every_value(service):
    ada = key(service)
    node_id = state(service, ada, "open", sourceClass="document")["signalId"]
    state(service, ada, "shut", source="a joke", confidence=0.05)
    data = read(service, ada, node_id).json()["data"]
    assert data["node"]["disputed"]
    assert [claim["value"] for claim in data["disputes"][0]["claims"]] == ["open", "shut"]


def test_nodes_of_others_forgotten_ones_and_unknown_ones_are_answered_alike(service):
    ada, bob = key(service), key(service, "local:bob")
    his = state(service, bob, "open")["signalId"]
    hers = state(service, ada, "open")["signalId"]
    state(service, ada, "shut", corrects={"id": hers, "reason": "Ada's reason"})
    forget_owner(service.ledger, "local:ada", "eve")
    answers = [
        read(service, ada, node_id, **past)
        for node_id in (his, hers, "signal:unknown", "a/b/c", "%00")
        for past in ({}, {"recordedAsOf": 2}, {"asOf": "2026-01-01T00:00:00Z"})
    ]
    bodies = {(each.status_code, each.json()["code"], each.json()["detail"]) for each in answers}
    assert bodies == {(404, "node_unknown", "There is no node with this id, or none that your key can see.")}
    assert read(service, bob, his).status_code == 200


def test_a_reader_learns_nothing_of_the_proposal_that_made_a_node_public(service):
    ada, bob = key(service), key(service, "local:bob")
    body = {"type": "Goal", "title": "For all", "source": "me", "visibility": "public"}
    (answer,) = service.ask(("POST", SIGNAL, ada, {"json": body}))
    approve(service.ledger, answer.json()["data"]["decision"], "eve")
    for headers in (ada, bob):
        data = read(service, headers, answer.json()["data"]["signalId"]).json()["data"]
        assert data["node"]["actor"] == "operator" and "operator:eve" not in json.dumps(data)
        assert (data["decisions"][0]["stages"] is None) == (headers is bob)


@pytest.mark.parametrize(
    ("parameters", "pointer"),
    [
        ({"asOf": "yesterday"}, "/query/asOf"),
        ({"recordedAsOf": "yesterday"}, "/query/recordedAsOf"),
        ({"recordedAsOf": "-1"}, "/query/recordedAsOf"),
        ({"recordedAsOf": "9" * 30}, "/query/recordedAsOf"),
        ({"recordedAsOf": "99999"}, "/query/recordedAsOf"),
        ({"atRevision": "99999"}, "/query/atRevision"),
        ({"colour": "red"}, "/query/colour"),
    ],
)
def test_an_invalid_time_is_400_with_a_pointer(service, parameters, pointer):
    ada = key(service)
    answer = read(service, ada, state(service, ada, "open")["signalId"], **parameters)
    assert answer.status_code == 400
    assert answer.json()["errors"][0]["pointer"] == pointer


def test_a_history_needs_a_key(service):
    assert read(service, {}, "x").status_code == 401
