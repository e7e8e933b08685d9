"""The graph's read routes: shapes, limits, visibility, and a write that is visible to the next query."""

import json
from datetime import UTC, datetime

import pytest
from described import expanded
from keyed_service import bearer, serving
from openapi_schema_validator import OAS30Validator
from world_graphs import T0, T1, edge, node

from contracts.access.tiers import Tier
from contracts.discovery.openapi import OPENAPI_FILE
from contracts.settings import Settings
from contracts.times import utc_text
from contracts.world.ontology import DOMAINS, load_ontology
from warehouse.access.keys import create_key
from warehouse.world.events import append_states

LIVE, QUERY, HEALTH = "/api/v2/world-model/live", "/api/v2/world-model/query", "/api/v2/health"
DESCRIPTION = expanded(json.loads(OPENAPI_FILE.read_text()))


def write(service, *states):
    """Writes states past the validator and returns the revision after them."""
    with service.ledger.transaction() as tx:
        return append_states(tx, states, 1)[-1].seq


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    settings = Settings(_env_file=None, data_dir=tmp_path_factory.mktemp("graph"), rate_limit_per_minute=0)
    with serving(settings) as running:
        write(
            running,
            node("v1", type="Value", title="Honesty", properties={"note": "say what is"}),
            node("g1", title="A treasury that lasts", actor="0xperson"),
            node("t1", type="Task", title="Count the treasury"),
            node("p1", title="My secret plan", owner="local:test"),
            node("p2", title="Their secret plan", owner="0xother"),
            edge("g1", "t1"),
            edge("g1", "p1", owner="local:test"),
            edge("p1", "t1", owner="local:test"),
            edge("g1", "p2", owner="0xother"),
        )
        yield running


@pytest.fixture(scope="module")
def mine(service):
    with service.ledger.transaction() as tx:
        issued = create_key(tx, service.pepper, tier=Tier.PRO, owner="local:test", now=datetime.now(UTC))
    return bearer(issued)


def described(answer, path, method):
    responses = DESCRIPTION["paths"][path][method]["responses"]
    media_type = answer.headers["content-type"].partition(";")[0]
    schema = responses[str(answer.status_code)]["content"][media_type]["schema"]
    OAS30Validator({**schema, "components": DESCRIPTION["components"]}).validate(answer.json())
    return answer


def ask(service, headers, **body):
    (answer,) = service.ask(("POST", QUERY, headers, {"json": body}))
    return described(answer, QUERY, "post")


def live(service, headers, **parameters):
    (answer,) = service.ask(("GET", LIVE, headers, {"params": parameters}))
    return described(answer, LIVE, "get")


def ids(answer):
    return [each["id"] for each in answer.json()["data"]["nodes"]]


def test_the_live_graph_is_what_is_public_and_what_is_ones_own(service, mine):
    answer = live(service, mine)
    assert answer.headers["cache-control"] == "no-store"
    data = answer.json()["data"]
    assert ids(answer) == ["g1", "p1", "t1", "v1"]
    assert (data["nodeCount"], data["edgeCount"], data["truncated"], data["cursor"]) == (4, 3, False, None)
    assert [(each["source"], each["target"], each["type"]) for each in data["edges"]] == [
        ("g1", "p1", "PURSUES"),
        ("g1", "t1", "PURSUES"),
        ("p1", "t1", "PURSUES"),
    ]
    assert {each["id"]: each["actor"] for each in data["nodes"]}["g1"] == "other"


def test_live_pages_by_id(service, mine):
    first = live(service, mine, limit=3)
    data = first.json()["data"]
    assert ids(first) == ["g1", "p1", "t1"] and data["truncated"] and data["nodeCount"] == 4
    second = live(service, mine, limit=3, cursor=data["cursor"])
    assert ids(second) == ["v1"] and second.json()["data"]["cursor"] is None


def test_a_large_answer_is_compressed_for_clients_that_take_that(tmp_path):
    owners = {"local:short": (1_000, None), "local:long": (60_000, "gzip")}
    with serving(Settings(_env_file=None, data_dir=tmp_path, rate_limit_per_minute=0)) as service:
        for owner, (length, encoding) in owners.items():
            note = {"note": "n" * length}
            write(service, *(node(f"{owner}-{number}", properties=note, owner=owner) for number in (1, 2)))
            with service.ledger.transaction() as tx:
                headers = bearer(create_key(tx, service.pepper, tier=Tier.PRO, owner=owner, now=datetime.now(UTC)))
            plain, packed = (
                live(service, {**headers, "accept-encoding": accepted}) for accepted in ("identity", "br, gzip")
            )
            assert [answer.headers.get("content-encoding") for answer in (plain, packed)] == [None, encoding]
            assert plain.content == packed.content


def test_the_present_instant_is_answered_from_the_present_graph(service, mine, monkeypatch):
    present = ids(ask(service, mine, search="treasury plan"))
    with monkeypatch.context() as patched:
        patched.setattr("api.world.queries.answer_past", lambda *_: pytest.fail("the past is asked"))
        assert ids(ask(service, mine, search="treasury plan", asOf=utc_text(service.ledger.now()))) == present


def test_a_query_searches_fetches_filters_and_traverses(service, mine):
    assert ids(ask(service, mine, search="treasury")) == ["t1", "g1"]
    assert ids(ask(service, mine, search="treas")) == ["t1", "g1"]
    assert ids(ask(service, mine, search="treasury", domain="TACTICS")) == ["t1"]
    assert ids(ask(service, mine, node_id="v1")) == ["v1"]
    assert ids(ask(service, mine, node_types=["Value", "Task"])) == ["t1", "v1"]
    reached = ask(service, mine, traverse={"from_id": "g1", "depth": 1, "direction": "outbound"}, include_edges=True)
    assert ids(reached) == ["g1", "p1", "t1"]
    assert len(reached.json()["data"]["edges"]) == 3
    assert reached.json()["data"]["matched_nodes"] == 3
    assert ask(service, mine).json()["data"]["edges"] is None
    assert ids(ask(service, mine, traverse={"from_id": "t1", "direction": "inbound"})) == ["t1", "g1", "p1"]


def test_a_query_can_be_limited_to_own_nodes_and_list_the_newest(service, mine):
    assert ids(ask(service, mine, scope="own")) == ["p1"]
    assert ids(ask(service, mine, scope="public")) == ["g1", "t1", "v1"]
    newest = [each["revision"] for each in ask(service, mine, order="recent").json()["data"]["nodes"]]
    assert newest == sorted(newest, reverse=True) and len(newest) == 4


def test_a_search_without_hits_says_what_was_searched(service, mine):
    hints = ask(service, mine, search="treasorys").json()["data"]["hints"]
    assert hints["near_words"] == ["treasury"]
    assert (hints["own_nodes"], hints["public_nodes"], sum(hints["node_types"].values())) == (1, 3, 4)
    assert ask(service, mine, search="treasury").json()["data"]["hints"] is None


def test_the_same_question_has_the_same_id(service, mine):
    first, again, other = (ask(service, mine, search=text).json()["data"] for text in ("plan", "plan", "plans"))
    assert first["query_id"] == again["query_id"] != other["query_id"]


def test_other_owners_private_nodes_seem_not_to_exist(service, mine):
    assert ids(ask(service, mine, node_id="p2")) == []
    assert ids(ask(service, mine, traverse={"from_id": "p2", "depth": 6, "direction": "both"})) == []
    assert ids(ask(service, mine, search="secret")) == ["p1"]
    unknown = ask(service, mine, node_id="no such node").json()["data"]
    hidden = ask(service, mine, node_id="p2").json()["data"]
    assert {**hidden, "query_id": ""} == {**unknown, "query_id": ""}


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"limit": 0}, "/limit"),
        ({"limit": -1}, "/limit"),
        ({"scope": "mine"}, "/scope"),
        ({"order": "newest"}, "/order"),
        ({"limit": 10**9}, "/limit"),
        ({"limit": "50"}, "/limit"),
        ({"limit": True}, "/limit"),
        ({"traverse": {"from_id": "g1", "depth": 99}}, "/traverse/depth"),
        ({"traverse": {"from_id": "g1", "depth": 0}}, "/traverse/depth"),
        ({"traverse": {"from_id": "g1", "direction": "sideways"}}, "/traverse/direction"),
        ({"traverse": {}}, "/traverse/from_id"),
        ({"domain": "LEGACY"}, "/domain"),
        ({"node_types": ["Goal", "Nonsense"]}, "/node_types/1"),
        ({"search": "x" * 1001}, "/search"),
        ({"asOf": "yesterday"}, "/asOf"),
        ({"asOf": "2026-11-21T10:00:00"}, "/asOf"),
        ({"asOf": "9999-12-31T23:59:59-10:00"}, "/asOf"),
        ({"atRevision": -1}, "/atRevision"),
        ({"atRevision": 10**6}, "/atRevision"),
        ({"atRevision": 46739313577427040}, "/atRevision"),
        ({"unheard": 1}, "/unheard"),
    ],
)
def test_bad_questions_are_answered_with_their_fault(service, mine, body, pointer):
    answer = ask(service, mine, **body)
    assert answer.status_code == 400 and answer.json()["code"] == "body_invalid"
    assert answer.json()["errors"][0]["pointer"] == pointer


def test_unknown_names_are_answered_with_the_known_ones(service, mine):
    detail = ask(service, mine, domain="LEGACY").json()["detail"]
    assert all(name in detail for name in DOMAINS)
    detail = ask(service, mine, node_types=["Nonsense"]).json()["detail"]
    assert all(name in detail for name in load_ontology().node_types)


@pytest.mark.parametrize(
    "parameters", ["limit=0", "limit=20001", "limit=1_0", "limit=5.0", "limit=5&limit=6", "asOf=now", "unheard=1"]
)
def test_bad_parameters_of_live_are_refused(service, mine, parameters):
    (answer,) = service.ask(("GET", f"{LIVE}?{parameters}", mine, {}))
    assert described(answer, LIVE, "get").status_code == 400


def test_cursors_belong_to_their_query(service, mine):
    cursor = ask(service, mine, limit=1).json()["data"]["cursor"]
    assert ask(service, mine, limit=1, cursor=cursor).status_code == 200
    for body in ({"cursor": cursor, "domain": "TRACK"}, {"cursor": "nonsense"}, {"cursor": "AAAA"}):
        answer = ask(service, mine, **body)
        assert answer.status_code == 400 and answer.json()["code"] == "cursor_invalid"


@pytest.mark.parametrize("search", ["", "   ", "!!!", "*", "\u202eesrever", "a\u0000b", "'; drop table", "x*" * 400])
def test_odd_searches_are_answered(service, mine, search):
    assert ask(service, mine, search=search).status_code == 200


def test_without_a_key_nothing_is_read(service):
    answers = service.ask(("GET", LIVE, {}, {}), ("POST", QUERY, {}, {"json": {}}), ("GET", HEALTH, {}, {}))
    assert [answer.status_code for answer in answers] == [401, 401, 200]


def test_health_counts_what_is_public_at_a_revision(service):
    (answer,) = service.ask(("GET", HEALTH, {}, {}))
    data = described(answer, HEALTH, "get").json()["data"]
    assert data["graph"]["nodeCount"] == 3
    assert data["graph"]["domain_counts"] == dict.fromkeys(DOMAINS, 0) | {"FOUNDATION": 1, "VISION": 1, "TACTICS": 1}
    assert data["overlay"] == {"events": 9, "snapshotRevision": 0, "publishRequested": False}


def test_an_accepted_write_is_seen_by_the_next_query(tmp_path):
    with serving(Settings(_env_file=None, data_dir=tmp_path, rate_limit_per_minute=0)) as service:
        headers = bearer(service.key())
        ask(service, headers)
        for number in range(5):
            write(service, node(f"n{number}", title=f"number{number}"))
            assert ids(ask(service, headers, node_id=f"n{number}")) == [f"n{number}"]
        assert ids(ask(service, headers, search="number4")) == ["n4"]
        write(service, node("n0", valid_to=T0, recorded_at=T1))
        assert ids(ask(service, headers, node_id="n0")) == []
