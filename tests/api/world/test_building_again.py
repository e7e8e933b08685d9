"""Building the same graph again over HTTP, and nodes that their owner identifies by their own ids."""

import pytest
from keyed_service import bearer, serving

from contracts.world.proposal import CONSTITUTION, NodeDraft, Proposal
from pipelines.initial_publish import publish_initial
from warehouse.world.write import propose

BUILD, QUERY, SIGNAL = (
    f"/api/v2/{name}" for name in ("knowledge-graph/build", "world-model/query", "world-model/signal")
)
NODES = "/api/v2/world-model/nodes/"


@pytest.fixture
def service(ledger_settings):
    with serving(ledger_settings) as running:
        yield running


def post(service, headers, path, body):
    (answer,) = service.ask(("POST", path, headers, {"json": body}))
    assert answer.status_code in (200, 201), answer.text
    return answer.json()["data"]


def build(service, headers, **texts):
    documents = [{"id": name, "markdown": text} for name, text in texts.items()]
    data = post(service, headers, BUILD, {"graphId": "plan", "documents": documents, "mode": "apply"})
    assert data["verdict"] in ("approved", None), data["stages"]
    return data


def titles(service, headers, node_type="Task"):
    return {node["title"] for node in post(service, headers, QUERY, {"node_types": [node_type]})["nodes"]}


def id_of(built, title):
    return next(node["id"] for node in built["nodes"] if node["title"] == title)


@pytest.mark.both_engines
def test_a_statement_that_its_document_drops_ends_and_may_come_back(service):
    headers = bearer(service.key())
    first = build(service, headers, notes="# N\n\n- [ ] paint\n- [ ] sweep\n\nIt rained.", other="# O\n\n- [ ] cook")
    second = build(service, headers, notes="# N\n\n- [ ] paint\n\nIt rained.")
    assert second["replaced"] == [id_of(first, "sweep")]
    assert titles(service, headers) == {"paint", "cook"}
    (answer,) = service.ask(("GET", NODES + id_of(first, "sweep"), headers, {}))
    assert [state["node"]["validTo"] is None for state in answer.json()["data"]["history"]] == [False, True]

    again = build(service, headers, notes="# N\n\n- [ ] paint\n- [ ] sweep\n\nIt rained.")
    assert (again["replaced"], titles(service, headers)) == ([], {"paint", "sweep", "cook"})
    same = build(service, headers, notes="# N\n\n- [ ] paint\n- [ ] sweep\n\nIt rained.")
    assert same["revision"] == again["revision"]


def test_a_person_in_two_documents_stays_until_neither_names_them(service):
    headers = bearer(service.key())
    build(service, headers, a="# A\n\nask @ada", b="# B\n\nask @ada")
    build(service, headers, a="# A\n\nask nobody")
    assert titles(service, headers, "Person") == {"@ada"}
    build(service, headers, a="# A\n\nask nobody", b="# B\n\nask nobody")
    assert titles(service, headers, "Person") == set()


def test_an_owner_of_work_that_changes_is_replaced(service):
    headers = bearer(service.key())
    for name in ("Ada Lovelace", "Bo Li", "Ada Lovelace"):
        data = build(service, headers, plan=f"# P\n\nOwner: {name}")
        walk = {"traverse": {"from_id": id_of(data, "P"), "depth": 1, "direction": "outbound"}}
        assert [node["title"] for node in post(service, headers, QUERY, walk)["nodes"]] == ["P", name]


def test_the_first_of_two_owners_in_one_document_owns_it_and_the_other_is_only_related(service):
    headers = bearer(service.key())
    built = build(service, headers, plan="# P\n\nOwner: Ada Lovelace\nOwner: Bo Li")
    ties = {(edge["type"], edge["target"]) for edge in built["edges"] if edge["source"] == id_of(built, "P")}
    owner, other = id_of(built, "Ada Lovelace"), id_of(built, "Bo Li")
    assert ties == {("OWNED_BY", owner), ("RELATED_TO", other)}
    assert built["contradictions"] == [
        {"source": id_of(built, "P"), "type": "OWNED_BY", "taken": owner, "notTaken": other}
    ]


def test_nodes_that_the_owner_corrected_or_confirmed_are_left_unchanged(service):
    headers = bearer(service.key())
    first = build(service, headers, notes="# N\n\n- [ ] paint\n- [ ] sweep")
    for kind, title in (("corrects", "paint"), ("confirms", "sweep")):
        act = {"type": "Task", "title": f"{title}, really", "source": "me"}
        post(service, headers, SIGNAL, act | {kind: {"id": id_of(first, title), "reason": "I know"}})
    second = build(service, headers, notes="# N\n\n- [ ] paint")
    assert second["withheld"] == [{"id": id_of(first, "paint"), "reason": "corrected"}]
    assert second["replaced"] == []
    assert titles(service, headers) == {"sweep", "paint, really", "sweep, really"}


STATED = {
    "graphId": "talk",
    "mode": "apply",
    "nodes": [{"id": "n/1", "title": "Win", "type": "Goal"}, {"id": "n/2", "title": "Train", "type": "Task"}],
    "edges": [{"source": "n/2", "target": "n/1", "type": "PURSUES"}],
}


def test_an_owner_names_his_nodes_by_his_ids_everywhere_and_nobody_else_sees_them(service):
    mine, theirs = (bearer(service.key(owner=f"local:{name}")) for name in ("me", "you"))
    built = post(service, mine, BUILD, STATED)
    assert [node["id"] for node in built["nodes"]] == ["n/1", "n/2"]
    assert [(edge["source"], edge["target"]) for edge in built["edges"]] == [("n/2", "n/1")]
    (node,) = post(service, mine, QUERY, {"node_id": "n/1"})["nodes"]
    assert (node["id"], node["title"]) == ("n/1", "Win")
    walk = {"traverse": {"from_id": "n/1", "depth": 1, "direction": "inbound"}, "include_edges": True}
    walked = post(service, mine, QUERY, walk)
    assert ({node["id"] for node in walked["nodes"]}, walked["edges"][0]["source"]) == ({"n/1", "n/2"}, "n/2")
    signal = {"type": "Task", "title": "Rest", "source": "me", "links": [{"type": "PURSUES", "target": "n/1"}]}
    written = post(service, mine, SIGNAL, signal | {"retracts": {"id": "n/2", "reason": "too hard"}})
    assert {edge["target"] for edge in written["edges"]} == {"n/1", "n/2"}
    (history,) = service.ask(("GET", f"{NODES}n/2", mine, {}))
    assert history.json()["data"]["history"][0]["node"]["id"] == "n/2"
    assert "own/" not in history.text

    assert post(service, theirs, QUERY, {"node_id": "n/1"})["nodes"] == []
    assert service.ask(("GET", f"{NODES}n/1", theirs, {}))[0].status_code == 404
    assert post(service, theirs, BUILD, STATED)["verdict"] == "approved"
    assert [node["id"] for node in post(service, theirs, QUERY, {"search": "win"})["nodes"]] == ["n/1"]


def test_the_id_of_a_public_node_is_taken(service):
    node = NodeDraft(id="n/1", type="Goal", title="Public", visibility="public")
    propose(service.ledger, Proposal(actor=CONSTITUTION, source="constitution", nodes=(node,)))
    (answer,) = service.ask(("POST", BUILD, bearer(service.key()), {"json": STATED}))
    assert (answer.status_code, answer.json()["code"]) == (400, "id_taken")


def test_a_known_id_of_another_type_is_left_alone_and_spoils_nothing(service):
    headers = bearer(service.key())
    post(service, headers, BUILD, STATED)
    nodes = [{"id": "n/1", "title": "Win", "type": "Risk"}, {"id": "n/3", "title": "Eat", "type": "Task"}]
    built = post(service, headers, BUILD, {"graphId": "talk", "mode": "apply", "nodes": nodes})
    assert (built["verdict"], built["withheld"]) == ("approved", [{"id": "n/1", "reason": "other_type"}])
    assert titles(service, headers) == {"Train", "Eat"}


def test_a_search_finds_passages_by_their_words_and_their_neighbours(service):
    headers = bearer(service.key())
    text = "# N\n\nWhere is the anchor?\n\nBelow the bench.\n\nThe sun shines."
    build(service, headers, notes=text)
    found = [node["title"] for node in post(service, headers, QUERY, {"search": "anchor bench"})["nodes"]]
    assert found[:2] == ["Below the bench.", "Where is the anchor?"]


@pytest.mark.both_engines
def test_a_line_that_goes_to_another_document_of_the_same_build_keeps_its_id(service):
    headers = bearer(service.key())
    first = build(service, headers, open="# Open\n\n- [ ] paint\n- [ ] sweep", home="# Home\n\n- [ ] cook")
    service.ask(("DELETE", NODES + id_of(first, "sweep"), headers, {}))
    moved = build(service, headers, open="# Open\n\nDone.", home="# Home\n\n- [ ] cook\n- [ ] paint\n- [ ] sweep")
    assert (id_of(moved, "paint"), moved["replaced"]) == (id_of(first, "paint"), [])
    assert moved["withheld"] == [{"id": id_of(first, "sweep"), "reason": "forgotten"}]
    assert titles(service, headers) == {"cook", "paint"}


def test_a_document_may_refer_to_a_person_whom_another_document_of_its_graph_introduces(service):
    headers = bearer(service.key())
    build(service, headers, team="# Team\n\nPresent: Luis Ortega")
    build(service, headers, pier="# Pier\n\nLuis Ortega will replace the piles by 2026-08-20.")
    assert titles(service, headers) == {"replace the piles"}


def test_a_document_still_refers_to_a_person_whose_name_was_corrected_where_it_is_introduced(service):
    headers = bearer(service.key())
    team = build(service, headers, team="# Team\n\nPresent: Luis Ortega")
    pier = "# Pier\n\nLuis Ortega will replace the piles by 2026-08-20."
    build(service, headers, pier=pier)
    right = {"id": id_of(team, "Luis Ortega"), "reason": "spelling"}
    post(service, headers, SIGNAL, {"type": "Person", "title": "Luis Hortega", "source": "me", "corrects": right})
    assert build(service, headers, pier=pier)["replaced"] == []
    assert titles(service, headers, "Person") == {"Luis Ortega", "Luis Hortega"}


def test_owners_one_after_the_other_are_each_the_owner_in_their_time(service):
    headers = bearer(service.key())
    since = {"validFrom": "2019-01-01T00:00:00Z"}
    people = [{"id": name, "title": name, "type": "Person", **since} for name in ("Ann", "Ben")]
    gate = {"id": "gate", "title": "Gate", "type": "Resource", **since}
    owned = {"source": "gate", "type": "OWNED_BY"}
    change = "2022-01-01T00:00:00Z"
    stated = {
        "graphId": "gates",
        "mode": "apply",
        "nodes": [gate, *people],
        "edges": [
            owned | {"target": "Ann", "validFrom": "2020-01-01T00:00:00Z", "validTo": change},
            owned | {"target": "Ben", "validFrom": change},
        ],
    }
    built = post(service, headers, BUILD, stated)
    assert (built["verdict"], built["contradictions"]) == ("approved", [])
    assert post(service, headers, BUILD, stated)["revision"] == built["revision"]
    publish_initial(service.settings)

    def owners(**when):
        walk = {"from_id": "gate", "depth": 1, "direction": "outbound"}
        return [node["title"] for node in post(service, headers, QUERY, {"traverse": walk, **when})["nodes"]][1:]

    assert [owners(), owners(as_of="2021-06-01T00:00:00Z"), owners(as_of="2019-06-01T00:00:00Z")] == [
        ["Ben"], ["Ann"], []
    ]  # fmt: skip
