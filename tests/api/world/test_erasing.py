"""Whatever an owner erases is at once in no answer, and in no file once the files are rewritten; nothing else
disappears."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import quote

import pytest
from erased_installation import QUERY, SIGNAL, WORD, Ada, Installation, installed
from keyed_service import bearer, serving

from contracts.settings import Settings
from contracts.standing import SourceClass
from contracts.times import utc_text
from contracts.world.erasure import files_due
from pipelines.definitions import build_definitions
from pipelines.erasure import erase_for_owners, files_due_for_erasures
from pipelines.initial_publish import publish_initial
from pipelines.runs import opened_instance
from warehouse.duck.connection import Warehouse
from warehouse.ledger.ledger import open_ledger
from warehouse.world.fold import fold_events

NODES, ERASE, ONTOLOGY = "/api/v2/world-model/nodes/", "/api/v2/world-model/erase", "/api/v2/world-model/ontology"
BUILD = "/api/v2/knowledge-graph/build"
EVERYTHING = {"everything": True, "confirm": "erase everything of local:ada"}


@pytest.fixture
def installation(
    request: pytest.FixtureRequest, ledger_settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> Installation:
    return installed(request, ledger_settings, monkeypatch)


def test_a_node_and_its_edges_are_gone_at_once_and_from_every_file_when_the_files_were_rewritten(
    installation: Installation,
):
    installation.begin()
    with serving(installation.settings) as service:
        ada, bob = Ada(service), Ada(service, "local:bob")
        kept = ada.post(SIGNAL, {"type": "Goal", "title": "A garden", "source": "me"}, 201)["data"]["signalId"]
        links = [{"type": "PART_OF", "target": kept}]
        node_id = ada.tell(f"The {WORD} plan", links=links)
        ada.post(
            SIGNAL, {"type": "Goal", "title": "No", "source": "me", "links": [{"type": "X", "target": node_id}]}, 400
        )
        refused = {"type": "PURSUES", "target": node_id}
        ada.post(SIGNAL, {"type": "Metric", "title": WORD, "source": "me", "links": [refused]}, 200)
        installation.publish()
        revision = ada.post(QUERY, {})["data"]["revision"]
        assert ada.found() == ada.found(at_revision=revision) == 1

        assert bob.ask("DELETE", NODES + node_id, 404)["code"] == "node_unknown"
        assert ada.ask("DELETE", NODES + "no-such-node", 404)["code"] == "node_unknown"
        assert ada.ask("DELETE", NODES + "x" * 301, 400)["code"] == "parameter_invalid"
        public = ada.post(QUERY, {"scope": "public", "limit": 1})["data"]["nodes"][0]["id"]
        assert ada.ask("DELETE", NODES + public, 404)["code"] == "node_unknown"

        said = ada.ask("DELETE", NODES + node_id)["data"]
        assert (said["scope"], said["nodes"], said["edges"], said["finishedAt"]) == ("node", 1, 1, None)
        assert said["erasedAtOnce"] and said["leftToOperator"]
        assert {each["by"] > said["requestedAt"] for each in said["erasedLater"]} == {True}
        assert ada.found() == ada.found(at_revision=revision) == 0
        assert ada.ask("GET", NODES + node_id, 404)["code"] == "node_unknown"
        assert ada.ask("GET", NODES + kept)["data"]["node"]["title"] == "A garden"
        again = ada.ask("DELETE", NODES + node_id)["data"]
        assert {**again, "revision": 0} == {**said, "revision": 0}
        assert installation.svc("world", "audit")[0]["ok"] is True
        assert installation.places() != set(), "the files are rewritten later"

        assert "wait for the files" in (files_due_for_erasures(installation.settings, datetime.now(UTC)) or "")
        assert erase_for_owners(installation.settings) == 1
        assert installation.places() == set()
        assert files_due_for_erasures(installation.settings, datetime.now(UTC)) is None
        done = ada.ask("DELETE", NODES + node_id)["data"]
        assert (done["erasureId"], done["erasedLater"]) == (said["erasureId"], []) and done["finishedAt"]
        assert ada.found() == ada.found(at_revision=revision) == 0


@pytest.mark.both_engines
def test_an_owners_id_is_erased_by_the_name_that_the_owner_knows(ledger_settings):
    with serving(ledger_settings) as service:
        ada, bob = Ada(service), Ada(service, "local:bob")
        for owner in (ada, bob):
            nodes = [{"id": "plan", "title": f"A {WORD}", "type": "Goal"}]
            owner.post(BUILD, {"nodes": nodes, "mode": "apply"}, 201)
        assert ada.ask("DELETE", NODES + "plan")["data"]["nodes"] == 1
        assert (ada.found(), bob.found()) == (0, 1)
        assert ada.ask("DELETE", NODES + "plan")["data"]["nodes"] == 1, "a repetition gets the same answer"


@pytest.mark.both_engines
@pytest.mark.parametrize("name", [{}, {"idempotencyKey": "rent"}])
def test_a_signal_that_was_erased_is_rejected_as_such_and_taken_under_another_key(ledger_settings, name):
    with serving(ledger_settings) as service:
        ada = Ada(service)
        body = {"type": "Goal", "title": f"Pay a {WORD}", "source": "diary"}
        first = ada.post(SIGNAL, body | name, 201)["data"]
        assert ada.post(ERASE, {"source": "diary"})["data"]["nodes"] == 1
        again = ada.post(SIGNAL, body | name)["data"]
        assert (again["verdict"], again["accepted"], again["nodes"]) == ("rejected", False, [])
        (reason,) = [stage["reason"] for stage in again["stages"] if stage["result"] == "fail"]
        assert reason == f"{first['signalId']}: erased since, and can't come back. State it under another key."
        assert ada.post(SIGNAL, body | {"idempotencyKey": "again"}, 201)["data"]["verdict"] == "approved"
        assert ada.found() == 1


def test_the_erasure_of_a_passage_names_what_else_says_what_stood_there(ledger_settings):
    with serving(ledger_settings) as service:
        ada = Ada(service)
        text = (
            "# Visit\n\n- Diagnosis: measles\n- Clinic: North\n\nWe decided to tell Bo about it because Cy asked.\n\n"
            "Bo came, and Cy.\n\nEmail: Cy Dubois <cy@example.org>\n\n## 2026-11-15\n\nPhone: +41 79 555 01 02\n"
        )
        build = {"graphId": "g", "documents": [{"id": "v", "markdown": text}], "mode": "apply"}
        nodes = {node["title"]: node["id"] for node in ada.post(BUILD, build, 201)["data"]["nodes"]}

        def said_too(title):
            answered = ada.ask("DELETE", NODES + quote(nodes[title], safe=""))["data"]
            assert answered["nodes"] == 1
            return sorted((node["type"], node["title"]) for node in answered["saidToo"])

        assert said_too("Diagnosis: measles") == [("Document", "Visit")]
        assert said_too("Diagnosis: measles") == []
        decided = "We decided to tell Bo about it because Cy asked."
        assert said_too(decided) == [("Decision", "tell Bo about it")]
        assert said_too("Bo came, and Cy.") == []
        assert said_too("Email: Cy Dubois cy@example.org") == [("Document", "Visit"), ("Person", "Cy Dubois")]
        assert said_too("Phone: +41 79 555 01 02") == [("Concept", "2026-11-15")]


def test_an_encoded_id_is_erased_whole_and_not_the_node_named_by_its_beginning(ledger_settings):
    with serving(ledger_settings) as service:
        ada = Ada(service)
        nodes = [{"id": name, "title": f"{name} {WORD}", "type": "Goal"} for name in ("task", "task#1", "task/a:b@c")]
        ada.post(BUILD, {"nodes": nodes, "mode": "apply"}, 201)
        for encoded in ("task%231", "task%2Fa%3Ab%40c"):
            assert ada.ask("DELETE", NODES + encoded)["data"]["nodes"] == 1
        (left,) = ada.post(QUERY, {"search": WORD})["data"]["nodes"]
        assert left["id"] == "task"


@pytest.mark.both_engines
def test_erasing_a_source_removes_its_statements_and_the_earlier_states_of_what_others_stated(ledger_settings):
    with serving(ledger_settings) as service:
        ada, bob = Ada(service), Ada(service, "local:bob")
        ada.tell(f"First {WORD}", source="The Register")
        ada.tell(f"Second {WORD}", source="the register")
        kept = ada.tell(f"Third {WORD}", source="me")
        bob.tell(f"Bob's {WORD}", source="The Register")
        shared = {"id": "plan", "type": "Goal"}
        ada.post(BUILD, {"graphId": "a", "nodes": [{**shared, "title": "Old"}], "mode": "apply"}, 201)
        ada.post(BUILD, {"graphId": "b", "nodes": [{**shared, "title": "New"}], "mode": "apply"}, 201)
        assert ada.post(ERASE, {"source": "THE register"})["data"]["nodes"] == 2
        assert (ada.found(), bob.found()) == (1, 1)
        assert ada.post(ERASE, {"source": "knowledge-graph/build:a"})["data"]["scope"] == "source"
        history = ada.ask("GET", NODES + "plan")["data"]
        assert history["node"]["title"] == "New" and "Old" not in str(history)
        again = ada.post(ERASE, {"source": "the register"})["data"]
        assert (again["nodes"], again["erasureId"] is not None) == (2, True), "the same erasure, not another one"
        nothing = ada.post(ERASE, {"source": "nobody"})["data"]
        assert (nothing["nodes"], nothing["edges"], nothing["erasureId"]) == (0, 0, None)
        assert ada.ask("GET", NODES + kept)["data"]["node"] is not None


def test_everything_goes_with_ontology_and_waiting_proposals_and_only_if_it_is_confirmed(installation: Installation):
    installation.begin()
    with serving(installation.settings) as service:
        ada, bob = Ada(service), Ada(service, "local:bob")
        ada.ask("PUT", ONTOLOGY, json={"single_valued_predicates": [WORD]})
        ada.tell(f"The {WORD} plan")
        ada.tell(f"A public {WORD}", visibility="public")
        service.check(bearer(service.key(owner="local:ada")), json={"action": f"echo {WORD}"})
        service.stores.guardrail_log.write()
        bob.post(SIGNAL, {"type": "Goal", "title": "Bob's plan", "source": "me"}, 201)
        installation.publish()
        for body in ({"everything": True}, {**EVERYTHING, "confirm": "erase everything of local:bob"}):
            answer = ada.ask("POST", ERASE, 400, json=body)
            assert "erase everything of local:ada" in answer["detail"]
        assert ada.ask("POST", ERASE, 400, json={"source": "me", **EVERYTHING})["code"] == "body_invalid"
        said = ada.post(ERASE, EVERYTHING)["data"]
        assert (said["scope"], said["nodes"]) == ("everything", 1)
        assert ada.found() == 0 and ada.ask("GET", ONTOLOGY)["data"]["version"] == 0
        assert installation.svc("world", "pending")[0]["pending"] == []
        assert bob.post(QUERY, {"scope": "own"})["data"]["matched_nodes"] == 1
        assert ada.post(ERASE, EVERYTHING)["data"]["erasureId"] == said["erasureId"]
        with opened_instance(installation.data_dir) as instance:
            job = build_definitions(installation.settings).resolve_job_def("erasure")
            assert job.execute_in_process(instance=instance).success
        assert installation.places() == set()
        assert installation.svc("world", "audit")[0]["ok"] is True


def test_an_erasure_between_folding_and_publishing_of_a_run_is_in_no_answer_and_leaves_no_file(
    installation: Installation,
):
    installation.begin()
    with serving(installation.settings) as service:
        ada = Ada(service)
        node_id = ada.tell(f"The {WORD} plan")
        warehouse = Warehouse(installation.data_dir)
        ledger = open_ledger(installation.settings, installation.data_dir)
        with warehouse.connect() as connection:
            fold_events(connection, ledger)
            assert ada.ask("DELETE", NODES + node_id)["data"]["nodes"] == 1, "no run keeps an owner waiting"
            assert ada.found() == 0
        ledger.close()
        publish_initial(installation.settings)
        assert ada.found() == 0
        erase_for_owners(installation.settings)
        assert ada.found() == 0 and installation.places() == set()


@pytest.mark.both_engines
def test_a_key_erases_nothing_above_its_standing(ledger_settings):
    with serving(ledger_settings) as service:
        ada, agent = Ada(service), Ada(service, max_class=SourceClass.HEARSAY)
        node_id = ada.tell(f"The {WORD} plan", sourceClass="document")
        own = agent.tell(f"Gossip about a {WORD}", source="a neighbour", sourceClass="hearsay")
        refused: list[dict[str, Any]] = [
            agent.ask("DELETE", NODES + node_id, 403),
            agent.ask("POST", ERASE, 403, json={"source": "me"}),
            agent.ask("POST", ERASE, 403, json=EVERYTHING),
        ]
        assert {answer["code"] for answer in refused} == {"standing_too_low"}
        assert ada.found() == 2
        assert agent.ask("DELETE", NODES + own)["data"]["nodes"] == 1
        assert ada.found() == 1


def test_files_are_rewritten_within_an_hour_of_an_erasure_and_at_most_once_in_twenty():
    noon = datetime(2026, 1, 2, 12, tzinfo=UTC)
    hours_ago = {hours: utc_text(noon - timedelta(hours=hours)) for hours in (1, 19, 21)}
    assert not files_due(None, None, noon)
    assert files_due(hours_ago[1], None, noon)
    assert not files_due(hours_ago[1], hours_ago[19], noon)
    assert files_due(hours_ago[1], hours_ago[21], noon)
