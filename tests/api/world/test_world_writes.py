"""Signals, capsules and the schema over HTTP: each answer matches OpenAPI, and each fault has its own error."""

import json
from datetime import UTC, datetime

import pytest
from described import expanded
from keyed_service import bearer, serving
from openapi_schema_validator import OAS30Validator

from contracts.access.tiers import Tier
from contracts.discovery.openapi import OPENAPI_FILE
from contracts.settings import Settings
from contracts.standing import SourceClass
from contracts.world.ontology import load_ontology
from contracts.world.proposal import Actor
from contracts.world.records import is_live
from contracts.world.signal import SignalRequest, signal_proposal
from warehouse.access.keys import create_key
from warehouse.world.events import current_node, events_after
from warehouse.world.write import approve

SIGNAL = "/api/v2/world-model/signal"
CREATE = "/api/worldmodel/create"
CLAIM = "/api/v2/world-model/capsules/claim"
SCHEMA = "/api/v2/schema"
DESCRIPTION = expanded(json.loads(OPENAPI_FILE.read_text()))
STAGES = [
    "immutability",
    "temporal",
    "referential_integrity",
    "authority",
    "deduplication",
    "provenance",
    "alignment",
]


@pytest.fixture
def service(tmp_path):
    with serving(Settings(_env_file=None, data_dir=tmp_path, rate_limit_per_minute=0)) as running:
        yield running


@pytest.fixture(scope="module")
def lasting(tmp_path_factory):
    """One service for all refused bodies."""
    given = {"data_dir": tmp_path_factory.mktemp("lasting"), "rate_limit_per_minute": 0}
    with serving(Settings(_env_file=None, **given)) as running:
        yield running


@pytest.fixture
def ada(service):
    return bearer(service.key(Tier.PRO))


@pytest.fixture
def bob(service):
    with service.ledger.transaction() as tx:
        issued = create_key(tx, service.pepper, tier=Tier.PRO, owner="local:bob", now=datetime.now(UTC))
    return bearer(issued)


def ask(service, method, path, headers=None, **options):
    (answer,) = service.ask((method, path, headers or {}, options))
    responses = DESCRIPTION["paths"][path][method.lower()]["responses"]
    media_type = answer.headers["content-type"].partition(";")[0]
    schema = responses[str(answer.status_code)]["content"][media_type]["schema"]
    OAS30Validator({**schema, "components": DESCRIPTION["components"]}).validate(answer.json())
    return answer


def signal(service, headers, **fields):
    return ask(service, "POST", SIGNAL, headers, json={"type": "Goal", "source": "a test", **fields})


def test_a_signal_becomes_a_private_node_with_each_stage_explained(service, ada):
    answer = signal(
        service, ada, title="Learn to sail", domain="VISION", payload={"why": "wind"}, confidence=0.8,
        observedAt="2026-01-01T00:00:00+01:00",
    )  # fmt: skip
    assert answer.status_code == 201
    data = answer.json()["data"]
    assert (data["verdict"], data["edges"]) == ("approved", [])
    assert [stage["stage"] for stage in data["stages"]] == STAGES
    assert all(stage["reason"] for stage in data["stages"])
    (node,) = data["nodes"]
    assert node["id"] == data["signalId"]
    assert node["revision"] == data["revision"]
    assert (node["title"], node["domain"], node["visibility"], node["owner"]) == (
        "Learn to sail",
        "VISION",
        "private",
        "local:test",
    )
    assert node["validFrom"] == "2025-12-31T23:00:00.000000Z"
    assert node["properties"] == {"why": "wind", "confidence": 0.8, "observed_at": "2025-12-31T23:00:00.000000Z"}


def test_the_same_signal_twice_is_one_node_and_the_same_answer(service, ada, bob):
    first, second = signal(service, ada, title="Once"), signal(service, ada, title="Once")
    assert first.json() == second.json()
    assert (first.status_code, second.status_code) == (201, 201)
    other = signal(service, bob, title="Once").json()["data"]
    assert other["signalId"] != first.json()["data"]["signalId"]
    with service.ledger.read() as reader:
        assert len(events_after(reader, 0, 10)) == 2


def test_a_signal_keeps_the_id_and_the_digest_that_it_had_before_signals_had_classes_and_acts():
    body = SignalRequest.model_validate({"type": "Goal", "title": "Answer within the hour", "source": "me"})
    body = body.model_copy(update={"confidence": 0.5})
    proposal = signal_proposal(body, Actor("caller", "local:ada", max_class=SourceClass.HEARSAY), load_ontology())
    assert proposal.nodes[0].id == "signal:b6a024a2854e947405903177e176f12d"
    assert proposal.request_sha256() == "7cb4996028b94598aa590813f97f18e4541f11cccdd5b576aa39800080f1dca6"


def test_an_idempotency_key_names_one_signal(service, ada):
    first = signal(service, ada, title="One", idempotencyKey="k")
    assert signal(service, ada, title="One", idempotencyKey="k").json() == first.json()
    reused = signal(service, ada, title="Two", idempotencyKey="k")
    assert (reused.status_code, reused.json()["code"]) == (409, "idempotency_key_reused")
    assert reused.json()["detail"].endswith("repeat that one unchanged, or send a fresh key.")
    assert list(reused.json()["links"]) == ["query", "docs", "home"]
    apart = signal(service, ada, title="One", idempotencyKey="k2").json()["data"]
    assert apart["signalId"] != first.json()["data"]["signalId"]
    assert [s["result"] for s in apart["stages"] if s["stage"] == "deduplication"] == ["warn"]


@pytest.mark.parametrize("by_header", [True, False])
def test_a_repeated_signal_is_marked_as_repeated(service, ada, by_header):
    headers = {**ada, "Idempotency-Key": "again"} if by_header else ada
    fields = {} if by_header else {"idempotencyKey": "again"}
    answers = [signal(service, headers, title="Said twice", **fields) for _ in range(3)]
    assert [answer.headers.get("idempotent-replayed") for answer in answers] == [None, "true", "true"]
    other = signal(service, ada, title="Said twice", idempotencyKey="fresh")
    assert "idempotent-replayed" not in other.headers


def test_a_signal_that_waits_is_marked_when_it_is_repeated_and_a_rejected_one_is_judged_again(service, ada):
    nowhere = [{"type": "RELATED_TO", "target": "goal:nowhere"}]
    for fields, verdict, mark in (
        ({"visibility": "public"}, "escalated", "true"),
        ({"links": nowhere}, "rejected", None),
    ):
        first, again = (signal(service, ada, title=verdict, idempotencyKey=verdict, **fields) for _ in range(2))
        assert first.json()["data"]["verdict"] == again.json()["data"]["verdict"] == verdict
        assert [answer.headers.get("idempotent-replayed") for answer in (first, again)] == [None, mark]


def test_the_header_names_a_signal_as_its_body_does_and_may_not_name_another(service, ada):
    first = signal(service, ada, title="One", idempotencyKey="by header").json()
    headed = {**ada, "Idempotency-Key": "by header"}
    assert signal(service, headed, title="One").json() == first
    assert signal(service, headed, title="One", idempotencyKey="by header").json() == first
    reused = signal(service, headed, title="Two")
    assert (reused.status_code, reused.json()["code"]) == (409, "idempotency_key_reused")
    for header, fields in (("another", {"idempotencyKey": "by header"}), ("", {}), ("k" * 151, {})):
        refused = signal(service, {**ada, "Idempotency-Key": header}, title="One", **fields)
        assert (refused.status_code, refused.json()["errors"][0]["pointer"]) == (400, "/header/Idempotency-Key")


def test_an_outdated_revision_is_409(service, ada):
    seen = signal(service, ada, title="One").json()["data"]["revision"]
    two = signal(service, ada, title="Two", expectedRevision=seen)
    assert two.status_code == 201
    late = signal(service, ada, title="Three", expectedRevision=seen)
    assert (late.status_code, late.json()["code"]) == (409, "revision_conflict")
    early = signal(service, ada, title="Three", expectedRevision=10**15)
    assert (early.status_code, early.json()["errors"]) == (
        400,
        [{"pointer": "/expectedRevision", "detail": f"is above {two.json()['data']['revision']}"}],
    )
    for newest in (seen, seen + 1, None):
        assert signal(service, ada, title="Two", expectedRevision=newest).status_code == 201, "the retry"


def test_links_go_either_way_and_an_edge_to_nothing_is_rejected(service, ada, bob):
    goal = signal(service, ada, title="A goal").json()["data"]["signalId"]
    tied = signal(
        service, ada, type="Task", title="A task",
        links=[{"type": "PURSUES", "target": goal}, {"type": "RELATED_TO", "target": goal, "direction": "inbound"}],
    ).json()["data"]  # fmt: skip
    assert tied["accepted"] is True
    assert [(edge["source"], edge["type"]) for edge in tied["edges"]] == [
        (tied["signalId"], "PURSUES"),
        (goal, "RELATED_TO"),
    ]
    for headers, target in ((ada, "nothing"), (bob, goal)):
        answer = signal(service, headers, title="Lost", links=[{"type": "PURSUES", "target": target}])
        assert answer.status_code == 200
        data = answer.json()["data"]
        assert (data["verdict"], data["accepted"]) == ("rejected", False)
        assert (data["verdict"], data["nodes"], data["edges"]) == ("rejected", [], [])
        assert [s["reason"] for s in data["stages"] if s["result"] == "fail"] == [f"there is no node {target}"]


def test_a_rule_of_the_guardrail_rejects(service, ada):
    answer = signal(service, ada, type="Task", title="Run `rm -rf /` on the server")
    assert answer.status_code == 200
    (failed,) = [stage for stage in answer.json()["data"]["stages"] if stage["result"] == "fail"]
    assert failed["stage"] == "alignment"
    assert "lost-files.home-or-system" in failed["reason"]


@pytest.mark.parametrize(
    ("fields", "pointer"),
    [
        ({"type": "Wish"}, "/type"),
        ({"domain": "DREAMS"}, "/domain"),
        ({"observedAt": "0001-01-01T00:00:00+14:00"}, "/observedAt"),
        ({"observedAt": "2026-01-01T00:00:00"}, "/observedAt"),
        ({"observedAt": 0}, "/observedAt"),
        ({"validTo": "10000-01-01T00:00:00Z"}, "/validTo"),
        ({"links": [{"type": "LIKES", "target": "x"}]}, "/links/0/type"),
        ({"links": [{"type": "PURSUES", "target": "a b"}]}, "/links/0"),
        ({"title": "x" * 10_000}, "/title"),
        ({"title": ""}, "/title"),
        ({"title": "a\x00b"}, "/title"),
        ({"title": "a\x07b"}, "/title"),
        ({"title": "abc\u202egnp"}, "/title"),
        ({"payload": {"a": "\x00"}}, "/payload"),
        ({"payload": {"a": 2**60}}, "/payload"),
        ({"payload": []}, "/payload"),
        ({"source": ""}, "/source"),
        ({"observedAt": "yesterday"}, "/observedAt"),
        ({"observedAt": "2026-01-01T00:00:00"}, "/observedAt"),
        ({"confidence": 1.5}, "/confidence"),
        ({"confidence": True}, "/confidence"),
        ({"expectedRevision": -1}, "/expectedRevision"),
        ({"expectedRevision": "1"}, "/expectedRevision"),
        ({"idempotencyKey": ""}, "/idempotencyKey"),
        ({"visibility": "secret"}, "/visibility"),
        ({"links": [{"type": "PURSUES", "target": "x"}] * 101}, "/links"),
        ({"colour": "red"}, "/colour"),
    ],
)
def test_an_invalid_signal_is_400_with_a_pointer(lasting, fields, pointer):
    headers = bearer(lasting.key(Tier.PRO))
    before = lasting.ledger.head()
    answer = signal(lasting, headers, **{"title": "A title", **fields})
    assert answer.status_code == 400
    assert answer.json()["errors"][0]["pointer"].startswith(pointer)
    assert lasting.ledger.head() == before, "nothing was written"


def test_a_lone_surrogate_is_400_and_right_to_left_text_survives(service, ada):
    body = b'{"type": "Goal", "source": "s", "title": "\\ud800"}'
    headers = {**ada, "Content-Type": "application/json"}
    assert ask(service, "POST", SIGNAL, headers, content=body).status_code == 400
    (node,) = signal(service, ada, title="שלום עולם", payload={"مرحبا": "🏔️"}).json()["data"]["nodes"]
    assert (node["title"], node["properties"]) == ("שלום עולם", {"مرحبا": "🏔️"})


@pytest.mark.parametrize(
    ("fields", "stage"),
    [
        ({"observedAt": "2026-01-02T00:00:00Z", "validTo": "2026-01-01T00:00:00Z"}, "temporal"),
        ({"observedAt": "2999-01-01T00:00:00Z"}, "temporal"),
        ({"validTo": "9999-12-31T00:00:00Z"}, "temporal"),
        ({"domain": "TRACK"}, "referential_integrity"),
        ({"payload": {"tags": "one"}}, "referential_integrity"),
    ],
)
def test_a_signal_that_does_not_fit_the_graph_is_rejected_by_the_stage_concerned(lasting, fields, stage):
    answer = signal(lasting, bearer(lasting.key(Tier.PRO)), title="A title", **fields)
    assert answer.status_code == 200
    assert [each["stage"] for each in answer.json()["data"]["stages"] if each["result"] == "fail"] == [stage]


def test_a_signal_without_a_title_gets_one(service, ada):
    door = {"subject": "the door", "predicate": "state", "value": "open"}
    assert signal(service, ada, type="Observation", payload=door).json()["data"]["nodes"][0]["title"] == (
        "Observation of the door"
    )
    assert signal(service, ada).json()["data"]["nodes"][0]["title"] == "Goal from a test"


def test_a_public_signal_waits_for_an_operator(service, ada):
    answer = signal(service, ada, title="For all", visibility="public")
    assert answer.status_code == 201
    data = answer.json()["data"]
    assert (data["verdict"], data["accepted"], data["nodes"]) == ("escalated", True, [])
    approve(service.ledger, data["decision"], "eve")
    with service.ledger.read() as reader:
        node = current_node(reader, data["signalId"])
    assert node is not None and (node.visibility, node.owner, node.actor) == ("public", None, "operator:eve")


def test_a_signal_needs_a_key(service):
    assert signal(service, {}, title="x").status_code == 401
    assert ask(service, "POST", CLAIM, json={"claimToken": "x"}).status_code == 401


def test_the_schema_lists_what_may_be_and_counts_what_is_public(service, ada):
    signal(service, ada, title="Mine")
    answer = ask(service, "GET", SCHEMA)
    assert answer.headers["cache-control"] == "no-store"
    data = answer.json()["data"]
    assert [domain["name"] for domain in data["domains"]][0::6] == ["FOUNDATION", "SYMBIOSIS"]
    assert {domain["node_count"] for domain in data["domains"]} == {0}
    assert "Goal" in data["node_types"] and "SUPERSEDES" in data["relationship_types"]
    assert data["ontology"]["node_types"]["Goal"]["domain"] == "VISION"
    assert "Metric" in data["ontology"]["relationship_types"]["TRACKS"]["ends"][0]["sources"]
    assert data["revision"] == 3


CAPSULE = {"ownerId": "ada@home", "name": "Ada", "isAI": False, "values": ["Honesty", "Care", "Honesty"]}


def test_a_capsule_is_a_graph_of_its_own_with_a_token_that_works_once(service, ada, bob):
    answer = ask(service, "POST", CREATE, json=CAPSULE)
    assert answer.status_code == 201
    body = answer.json()
    assert body["ok"] is True and len(body["id"]) == 32
    assert body["identity"]["type"] == "Person"
    assert [value["title"] for value in body["values"]] == ["Honesty", "Care"]
    assert [step["step"] for step in body["plan"]] == [1, 2, 3, 4, 5]
    foundation = [node for node in body["nodes"] if node["domain"] == "FOUNDATION"]
    assert {node["type"] for node in foundation} == {"Person", "Value"}
    assert {node["owner"] for node in body["nodes"]} == {f"capsule:{body['id']}"}
    assert body["review"] == {"requested": "private", "state": "not_required", "decision": None}
    claimed = ask(service, "POST", CLAIM, ada, json={"claimToken": body["claimToken"]})
    assert claimed.status_code == 200
    data = claimed.json()["data"]
    assert {state["owner"] for state in (*data["nodes"], *data["edges"])} == {"local:test"}
    assert (len(data["nodes"]), len(data["edges"])) == (len(body["nodes"]), len(body["edges"]))
    again = ask(service, "POST", CLAIM, bob, json={"claimToken": body["claimToken"]})
    forged = ask(service, "POST", CLAIM, bob, json={"claimToken": f"svc_capsule_{body['id']}_{'0' * 64}"})
    assert {(each.status_code, each.json()["detail"]) for each in (again, forged)} == {
        (404, "No capsule waits for this token.")
    }


def test_a_capsule_is_created_once_per_idempotency_key(service, ada):
    headers = {"Idempotency-Key": "5b1f0c1e-57a4-4f7f-9a3e-0d1c2b3a4f5e"}
    first = ask(service, "POST", CREATE, headers, json=CAPSULE)
    assert ask(service, "POST", CREATE, headers, json=CAPSULE).json() == first.json()
    reused = ask(service, "POST", CREATE, headers, json={**CAPSULE, "name": "Bob"})
    assert (reused.status_code, reused.json()["code"]) == (409, "idempotency_mismatch")
    assert ask(service, "POST", CREATE, json=CAPSULE).json()["id"] != first.json()["id"]
    ask(service, "POST", CLAIM, ada, json={"claimToken": first.json()["claimToken"]})
    assert ask(service, "POST", CREATE, headers, json=CAPSULE).json()["claimToken"] is None


def test_a_public_capsule_is_private_until_an_operator_agrees(service):
    body = ask(service, "POST", CREATE, json={**CAPSULE, "visibility": "public"}).json()
    assert (body["visibility"], body["review"]["state"]) == ("private", "pending")
    approve(service.ledger, body["review"]["decision"], "eve")
    with service.ledger.read() as reader:
        node = current_node(reader, body["identity"]["nodeId"])
    assert node is not None and (node.visibility, node.owner) == ("public", None)


@pytest.mark.parametrize("claimed_first", [False, True])
def test_the_owner_of_a_published_capsule_sees_each_edge_once(service, ada, claimed_first):
    body = ask(service, "POST", CREATE, json={**CAPSULE, "visibility": "public"}).json()
    steps = [
        lambda: ask(service, "POST", CLAIM, ada, json={"claimToken": body["claimToken"]}),
        lambda: approve(service.ledger, body["review"]["decision"], "eve"),
    ]
    for step in steps if claimed_first else reversed(steps):
        step()
    with service.ledger.read() as reader:
        newest = {event.edge.id: event.edge for event in events_after(reader, 0, 10_000) if event.edge is not None}
    live = [edge for edge in newest.values() if is_live(edge) and edge.owner in (None, "local:test", "local:ada")]
    ties = [(edge.source, edge.type, edge.target) for edge in live if edge.source.startswith("capsule/")]
    assert len(ties) == len(set(ties)) == len(body["edges"])
    assert {edge.owner for edge in live} == {None}


def test_a_founder_whose_display_name_is_empty_goes_by_its_name(lasting):
    answer = ask(lasting, "POST", CREATE, json={"ownerId": "a", "name": "Ada", "displayName": ""})
    assert (answer.status_code, answer.json()["identity"]["displayName"]) == (201, "Ada")


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"name": "Ada"}, "/ownerId"),
        ({"ownerId": "a"}, "/name"),
        ({"ownerId": "", "name": "Ada"}, "/ownerId"),
        ({"ownerId": "a", "name": " "}, "/name"),
        ({"ownerId": "a", "name": "Ada", "values": ["x"] * 33}, "/values"),
        ({"ownerId": "a", "name": "Ada", "values": ["ok", "a\x00"]}, "/values/1"),
        ({"ownerId": "a", "name": "Ada", "values": ["x" * 301]}, "/values/0"),
        ({"ownerId": "a", "name": "Ada\x07"}, "/name"),
        ({"ownerId": "a\nb", "name": "Ada"}, "/ownerId"),
        ({"ownerId": "a", "name": "Ada", "displayName": "a\x00"}, "/displayName"),
        ({"ownerId": "a", "name": "Ada", "visibility": "open"}, "/visibility"),
        ({"ownerId": "a", "name": "Ada", "isAI": "yes"}, "/isAI"),
    ],
)
def test_an_invalid_capsule_is_400(lasting, body, pointer):
    before = lasting.ledger.head()
    answer = ask(lasting, "POST", CREATE, json=body)
    assert answer.status_code == 400
    assert answer.json()["errors"][0]["pointer"] == pointer
    assert lasting.ledger.head() == before, "nothing was written"
