"""An owner's own vocabulary over HTTP: types, relationships and single-valued predicates, versioned, private and
checked."""

from __future__ import annotations

from typing import Any

import pytest
from keyed_service import bearer, serving

from contracts.access.tiers import Tier
from contracts.standing import SourceClass

ONTOLOGY, SIGNAL = "/api/v2/world-model/ontology", "/api/v2/world-model/signal"
QUERY, BUILD = "/api/v2/world-model/query", "/api/v2/knowledge-graph/build"

KITCHEN: dict[str, Any] = {
    "node_types": {"Recipe": {"domain": "EXECUTION", "properties": {"servings": "integer"}}},
    "relationship_types": {
        "COOKED_WITH": {
            "description": "Its needs.",
            "ends": [{"sources": ["Recipe"], "targets": ["Resource"]}],
        }
    },
    "single_valued_predicates": ["mood"],
}


@pytest.fixture
def service(ledger_settings):
    settings = ledger_settings.model_copy(update={"rate_limit_per_minute": 0})
    with serving(settings) as running:
        yield running


class Owner:
    """A caller with a key."""

    def __init__(self, service, name: str = "local:ada", **options: Any) -> None:
        self._service = service
        self._headers = bearer(service.key(Tier.PRO, owner=name, **options))

    def ask(self, method: str, path: str, status: int, **rest: Any) -> dict[str, Any]:
        (answer,) = self._service.ask((method, path, self._headers, rest))
        assert answer.status_code == status, answer.text
        return answer.json()

    def set(self, words: dict[str, Any], status: int = 200, **more: Any) -> dict[str, Any]:
        answer = self.ask("PUT", ONTOLOGY, status, json={**words, **more})
        return answer["data"] if status == 200 else answer

    def read(self, **parameters: Any) -> dict[str, Any]:
        return self.ask("GET", ONTOLOGY, 200, params=parameters)["data"]

    def tell(self, type: str, title: str, status: int = 201, **fields: Any) -> dict[str, Any]:
        body = {"type": type, "title": title, "source": "me", **fields}
        answer = self.ask("POST", SIGNAL, status, json=body)
        return answer["data"] if status < 400 else answer

    def find(self, **asked: Any) -> dict[str, Any]:
        return self.ask("POST", QUERY, 200, json=asked)["data"]

    def feel(self, value: str, **fields: Any) -> dict[str, Any]:
        payload = {"subject": "Ada", "predicate": "mood", "value": value}
        return self.tell("Observation", f"Ada is {value}", payload=payload, **fields)


def words_of(answer: dict[str, Any]) -> dict[str, Any]:
    return {name: answer[name] for name in ("node_types", "relationship_types", "single_valued_predicates")}


@pytest.mark.both_engines
def test_words_are_set_read_back_by_version_and_used_by_signals_queries_and_builds(service):
    ada = Owner(service)
    assert (ada.read()["version"], ada.read()["versions"]) == (0, [])
    ada.tell("Recipe", "Pancakes", 400)
    first = ada.set(KITCHEN, expectedVersion=0)
    assert (first["version"], first["changedFacts"]) == (1, [])
    assert first["node_types"] == KITCHEN["node_types"]
    milk = ada.tell("Resource", "Milk")["signalId"]
    links = [{"type": "COOKED_WITH", "target": milk}]
    pancakes = ada.tell("Recipe", "Pancakes", payload={"servings": 4}, links=links)
    assert pancakes["nodes"][0]["domain"] == "EXECUTION"
    assert [edge["type"] for edge in pancakes["edges"]] == ["COOKED_WITH"]
    assert ada.tell("Recipe", "Soup", 200, payload={"servings": "many"})["verdict"] == "rejected"
    assert ada.tell("Goal", "No recipe", 200, links=links)["verdict"] == "rejected"
    assert [node["title"] for node in ada.find(node_types=["Recipe"])["nodes"]] == ["Pancakes"]
    assert ada.find(search="nothing of this", scope="own")["hints"]["node_types"] == {"Recipe": 1, "Resource": 1}

    text = "# Notes\n\n- Recipe: Onion soup\n"
    document = {"id": "n", "mediaType": "text/markdown", "text": text}
    built = ada.ask("POST", BUILD, 200, json={"documents": [document]})["data"]
    assert ("Recipe", "Onion soup") in {(node["type"], node["title"]) for node in built["nodes"]}
    triple = {"subject": {"title": "Soup", "type": "Recipe"}, "predicate": "cooked with"}
    triples = [{**triple, "object": {"title": "Salt", "type": "Resource"}}]
    built = ada.ask("POST", BUILD, 201, json={"triples": triples, "mode": "apply"})["data"]
    assert ([edge["type"] for edge in built["edges"]], built["verdict"]) == (["COOKED_WITH"], "approved")

    second = ada.set({**KITCHEN, "single_valued_predicates": []}, expectedVersion=1)
    assert (second["version"], [version["version"] for version in second["versions"]]) == (2, [2, 1])
    assert words_of(ada.read(version=1)) == words_of(first) and ada.read(version=0)["node_types"] == {}
    assert ada.set(words_of(second))["version"] == 2, "the same words are no new version"
    assert ada.set(KITCHEN, 409, expectedVersion=1)["code"] == "revision_conflict"
    to_come = ada.set(KITCHEN, 400, expectedVersion=3)
    assert (to_come["code"], to_come["detail"]) == (
        "body_invalid",
        "Version 3 of the ontology does not exist yet: the newest one is 2.",
    )
    assert to_come["errors"] == [{"pointer": "/expectedVersion", "detail": "is above 2"}]
    assert ada.ask("GET", ONTOLOGY, 400, params={"version": 9})["code"] == "parameter_invalid"


@pytest.mark.both_engines
def test_facts_of_an_owners_predicate_follow_the_rule_of_standing_once_it_is_single_valued(service):
    ada = Owner(service)
    glad = ada.feel("glad", observedAt="2026-01-01T00:00:00Z")["signalId"]
    tired = ada.feel("tired", observedAt="2026-01-02T00:00:00Z")["signalId"]
    before = ada.find()["revision"]
    assert ada.find(search="ada", scope="own")["matched_nodes"] == 2
    assert ada.set(KITCHEN)["changedFacts"] == [glad]
    assert [node["id"] for node in ada.find(search="ada", scope="own")["nodes"]] == [tired]
    assert ada.find(node_id=glad, at_revision=before)["nodes"][0]["endedBy"] is None, "it was not so then"
    hearsay = ada.feel("sad", sourceClass="hearsay", source="a neighbour")
    assert hearsay["nodes"][-1]["disputed"] and len(hearsay["disputes"][0]["claims"]) == 2
    assert ada.find(node_id=tired)["disputes"] != []
    assert ada.find(node_id=tired, at_revision=before)["disputes"] == []
    freed = ada.set({**KITCHEN, "single_valued_predicates": []})["changedFacts"]
    assert set(freed) == {glad, tired, hearsay["signalId"]}
    found = ada.find(search="ada", scope="own")
    assert (found["matched_nodes"], found["disputes"]) == (3, [])
    assert not any(node["disputed"] for node in found["nodes"])


@pytest.mark.both_engines
def test_an_ontology_that_nodes_or_edges_would_not_fit_is_refused_with_their_names(service):
    ada = Owner(service)
    ada.set(KITCHEN)
    milk = ada.tell("Resource", "Milk")["signalId"]
    links = [{"type": "COOKED_WITH", "target": milk}]
    pancakes = ada.tell("Recipe", "Pancakes", payload={"servings": 4, "author": 7}, links=links)["signalId"]
    kitchen = KITCHEN["node_types"]["Recipe"]
    unfit = {
        "the type": {**KITCHEN, "node_types": {}, "relationship_types": {}},
        "its domain": {**KITCHEN, "node_types": {"Recipe": {**kitchen, "domain": "TACTICS"}}},
        "a value": {**KITCHEN, "node_types": {"Recipe": {"domain": "EXECUTION", "properties": {"author": "text"}}}},
        "the edge": {**KITCHEN, "relationship_types": {}},
        "its ends": {
            **KITCHEN,
            "relationship_types": {"COOKED_WITH": {"description": "x", "ends": [{"targets": ["Goal"]}]}},
        },
    }
    for what, words in unfit.items():
        answer = ada.set(words, 409)
        assert answer["code"] == "ontology_unfit", what
        assert pancakes in answer["errors"][0]["detail"], what
        assert pancakes in answer["detail"], what
    assert ada.read()["version"] == 1
    ada.tell("Recipe", "Waffles", retracts={"id": pancakes, "reason": "it was none"})
    sugar = ada.tell("Resource", "Sugar")["signalId"]
    ada.tell("Recipe", "Cake", links=[{"type": "COOKED_WITH", "target": each} for each in (milk, sugar)])
    single = {"COOKED_WITH": {**KITCHEN["relationship_types"]["COOKED_WITH"], "single_valued": True}}
    assert sugar in ada.set({**KITCHEN, "relationship_types": single}, 409)["detail"]


@pytest.mark.parametrize(
    ("words", "pointer"),
    [
        ({"node_types": {"Goal": {"domain": "TRACK"}}}, "/node_types/Goal"),
        ({"node_types": {"GOAL": {"domain": "TRACK"}}}, "/node_types/GOAL"),
        ({"node_types": {"Vision": {"domain": "TRACK"}}}, "/node_types/Vision"),
        ({"node_types": {"Recipe": {"domain": "KITCHEN"}}}, "/node_types/Recipe/domain"),
        (
            {"node_types": {"Recipe": {"domain": "TRACK", "properties": {"a": "colour"}}}},
            "/node_types/Recipe/properties/a",
        ),
        (
            {"node_types": {"Recipe": {"domain": "TRACK", "properties": {"tags": "text"}}}},
            "/node_types/Recipe/properties/tags",
        ),
        ({"relationship_types": {"PART_OF": {"description": "x"}}}, "/relationship_types/PART_OF"),
        ({"relationship_types": {"CORRECTS": {"description": "x"}}}, "/relationship_types/CORRECTS"),
        (
            {"relationship_types": {"EATS": {"description": "x", "ends": [{"sources": ["Dog"]}]}}},
            "/relationship_types/EATS/ends/0/sources",
        ),
        ({"single_valued_predicates": ["value"]}, "/single_valued_predicates/0"),
        ({"single_valued_predicates": ["a", "a"]}, "/single_valued_predicates/1"),
        ({"predicates": []}, "/predicates"),
    ],
)
def test_words_that_do_not_fit_the_services_are_refused_by_their_place(service, words, pointer):
    answer = Owner(service).set(words, 400)
    assert answer["code"] == "body_invalid"
    assert pointer in [error["pointer"] for error in answer["errors"]]


@pytest.mark.both_engines
def test_nobody_else_has_or_learns_the_words_and_nothing_public_takes_them(service):
    ada, bob = Owner(service), Owner(service, "local:bob")
    ada.set(KITCHEN)
    assert (bob.read()["version"], bob.read()["node_types"]) == (0, {})
    (schema,) = service.ask(("GET", "/api/v2/schema", {}, {}))
    refused = [
        bob.ask("POST", QUERY, 400, json={"node_types": ["Recipe"]}),
        bob.tell("Recipe", "Pancakes", 400),
        bob.tell("Goal", "x", 400, links=[{"type": "COOKED_WITH", "target": "y"}]),
        bob.ask("POST", QUERY, 400, json={"node_types": ["Nothing"]}),
        bob.ask("POST", BUILD, 400, json={"nodes": [{"id": "a", "title": "A", "type": "Nothing"}]}),
        schema.json(),
    ]
    for answer in refused[3:]:
        assert "Recipe" not in str(answer)
    for answer in refused[:3]:
        assert "COOKED_WITH" not in answer["detail"].replace("COOKED_WITH is", "") and "Recipe," not in answer["detail"]
    assert "Recipe" in ada.ask("POST", QUERY, 400, json={"node_types": ["Nothing"]})["detail"]
    told = ada.tell("Recipe", "For all", 400, visibility="public")
    assert "Recipe" not in told["detail"]
    for mood in ("open", "shut"):
        answer = ada.feel(mood, visibility="public")
        assert (answer["verdict"], answer["disputes"]) == ("escalated", [])
    both = [bob.feel(mood)["signalId"] for mood in ("open", "shut")]
    assert {node["id"] for node in bob.find(search="ada", scope="own")["nodes"]} == set(both)


def test_a_key_can_not_change_facts_above_its_standing_through_its_words(service):
    ada, agent = Owner(service), Owner(service, max_class=SourceClass.HEARSAY)
    fact = ada.feel("glad", sourceClass="document", observedAt="2026-01-01T00:00:00Z")["signalId"]
    ada.feel("tired", sourceClass="document", observedAt="2026-01-02T00:00:00Z")
    answer = agent.set(KITCHEN, 403)
    assert answer["code"] == "standing_too_low" and fact in answer["detail"]
    assert ada.set(KITCHEN)["changedFacts"] == [fact]
