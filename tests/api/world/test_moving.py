"""A graph is exported with one key and imported with another, in chunks and as a whole."""

from __future__ import annotations

import hashlib
import json
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest
from keyed_service import bearer, serving

from api.world.moving import APPLIED_HERE_BYTES
from contracts.access.tiers import Tier
from contracts.standing import SourceClass
from contracts.world.import_api import CHUNK_BYTES
from warehouse.access.keys import create_key
from warehouse.ledger.ledger import open_ledger
from warehouse.world.forget import forget_owner
from warehouse.world.load import load_constitution
from warehouse.world.staging import expire

EXPORT, IMPORTS = "/api/v2/world-model/export", "/api/v2/world-model/imports"
CREATE, CLAIM = "/api/worldmodel/create", "/api/v2/world-model/capsules/claim"
SIGNAL, NODES = "/api/v2/world-model/signal", "/api/v2/world-model/nodes/"


@pytest.fixture
def service(ledger_settings):
    settings = ledger_settings.model_copy(update={"rate_limit_per_minute": 0})
    with serving(settings) as running:
        yield running


def key(service, owner="local:ada", **options):
    with service.ledger.transaction() as tx:
        made = create_key(tx, service.pepper, tier=Tier.PRO, owner=owner, now=datetime.now(UTC), **options)
    return bearer(made)


def ask(service, method, path, headers, **options):
    (answer,) = service.ask((method, path, headers, options))
    return answer


def exported(service, headers, **parameters) -> bytes:
    body, asked = b"", (EXPORT, {"params": parameters})
    while asked is not None:
        answer = ask(service, "GET", asked[0], headers, **asked[1])
        assert answer.status_code == 200, answer.text
        body += answer.content
        link = answer.headers.get("link")
        asked = None if link is None else (link.partition(">")[0][1:], {})
    return body


def staged(service, headers, content: bytes, chunk_bytes=CHUNK_BYTES) -> str:
    begun = ask(service, "POST", IMPORTS, headers)
    assert begun.status_code == 201, begun.text
    import_id = begun.json()["data"]["importId"]
    for number, first in enumerate(range(0, len(content), chunk_bytes), 1):
        answer = put(service, headers, import_id, number, content[first : first + chunk_bytes])
        assert answer.status_code == 200, answer.text
    return import_id


def put(service, headers, import_id, number, content, media_type="application/octet-stream"):
    path = f"{IMPORTS}/{import_id}/chunks/{number}"
    return ask(service, "PUT", path, {**headers, "content-type": media_type}, content=content)


def apply(service, headers, import_id, content: bytes):
    digest = hashlib.sha256(content).hexdigest()
    return ask(service, "POST", f"{IMPORTS}/{import_id}/apply", headers, json={"sha256": digest})


def file_of(*records) -> bytes:
    lines = [{"kind": "header", "format": "svc.world.graph", "version": 1, "scope": "owner"}, *records]
    lines.append({"kind": "end", "lines": len(lines)})
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


def node(node_id, **fields):
    return {"kind": "node", "id": node_id, "type": "Goal", "title": f"Goal {node_id}", "source": "a file", **fields}


def stated(service, headers, **fields):
    body = {"type": "Observation", "source": "a sensor", **fields}
    answer = ask(service, "POST", SIGNAL, headers, json=body).json()
    assert answer["data"]["verdict"] == "approved", answer
    return answer["data"]["signalId"]


@pytest.mark.both_engines
def test_a_graph_moves_from_one_owner_to_another(service):
    ada, bob = key(service), key(service, "local:bob")
    door = {"subject": "the door", "predicate": "state"}
    first = stated(service, ada, payload={**door, "value": "open"}, observedAt="2026-01-01T00:00:00Z")
    stated(service, ada, payload={**door, "value": "shut"}, corrects={"id": first, "reason": "it was dark"})
    content = exported(service, ada)
    import_id = staged(service, bob, content, chunk_bytes=700)
    answer = apply(service, bob, import_id, content)
    data = answer.json()["data"]
    assert (answer.status_code, data["verdict"], data["nodes"], first in data["nodeIds"]) == (201, "approved", 2, True)
    assert exported(service, bob) == content
    moved = ask(service, "GET", NODES + first, bob).json()["data"]
    assert moved["node"]["retracted"]
    assert moved["node"]["origin"]["recordedAt"] < moved["node"]["recordedAt"]
    again = apply(service, bob, import_id, content)
    assert (again.status_code, again.json()["data"]) == (200, data)
    shown = ask(service, "GET", f"{IMPORTS}/{import_id}", bob).json()["data"]
    assert (shown["status"], shown["chunks"], shown["result"]) == ("applied", [], data)


def test_an_imported_circle_of_corrections_is_read_like_any_other_history(service):
    ada, bob = key(service), key(service, "local:bob")
    door = {"subject": "the door", "predicate": "state"}
    first = stated(service, ada, payload={**door, "value": "open"})
    second = stated(service, ada, payload={"value": "shut"}, corrects={"id": first, "reason": "it was dark"})
    records = [json.loads(line) for line in exported(service, ada).splitlines()[1:-1]]
    ended = next(record for record in records if record.get("id") == first and record["current"])
    last = next(record for record in records if record.get("id") == second)
    tie = next(record for record in records if record["kind"] == "edge")
    end = {name: ended[name] for name in ("retracted", "validTo", "recordedAt", "decision")}
    place = records.index(last)
    records[place : place + 1] = [last | {"current": False}, last | end | {"endedBy": first}]
    content = file_of(*records, tie | {"source": first, "target": second})
    answer = apply(service, bob, staged(service, bob, content), content)
    assert (answer.status_code, answer.json()["data"]["verdict"]) == (201, "approved"), answer.text
    for node_id, other in ((first, second), (second, first)):
        told = ask(service, "GET", NODES + node_id, bob).json()["data"]
        assert (told["node"]["endedBy"], [act["by"] for act in told["acts"]]) == (other, [other])


@pytest.mark.both_engines
def test_a_claimed_capsule_is_imported_over_itself_without_a_second_edge(service):
    ada, bob = key(service), key(service, "local:bob")
    made = ask(service, "POST", CREATE, {}, json={"ownerId": "a", "name": "cap", "values": ["honesty"]}).json()
    assert ask(service, "POST", CLAIM, ada, json={"claimToken": made["claimToken"]}).status_code == 200
    content = exported(service, ada)
    applied = apply(service, ada, staged(service, ada, content), content).json()["data"]
    assert (applied["verdict"], applied["written"]) == ("approved", 0)
    assert exported(service, ada) == content
    restored = apply(service, bob, staged(service, bob, content), content).json()["data"]
    assert restored["verdict"] == "approved"
    assert exported(service, bob) == content


def test_an_edge_of_a_claimed_capsule_that_a_file_changes_is_the_same_edge(service):
    ada = key(service)
    made = ask(service, "POST", CREATE, {}, json={"ownerId": "a", "name": "cap", "values": ["honesty"]}).json()
    ask(service, "POST", CLAIM, ada, json={"claimToken": made["claimToken"]})
    records = [json.loads(line) for line in exported(service, ada).splitlines()]
    edges = [record for record in records if record["kind"] == "edge"]
    ends = [(edge["source"], edge["type"], edge["target"]) for edge in edges]
    changed = edges[0] | {"properties": {"since": "May"}, "recordedAt": None, "decision": None}
    content = file_of(changed)
    applied = apply(service, ada, staged(service, ada, content), content).json()["data"]
    assert (applied["verdict"], applied["written"]) == ("approved", 1)
    states = [record for record in map(json.loads, exported(service, ada).splitlines()) if record["kind"] == "edge"]
    assert [state["properties"] for state in states if state["current"]].count({"since": "May"}) == 1
    assert edges_of(exported(service, ada)) == ends


def edges_of(content: bytes) -> list[tuple[str, str, str]]:
    records = map(json.loads, content.splitlines())
    return [
        (record["source"], record["type"], record["target"])
        for record in records
        if record["kind"] == "edge" and record["current"]
    ]


def test_every_format_is_served_with_its_media_type(service):
    ada = key(service)
    stated(service, ada, title="Rain & <wind>")
    for form, media_type in (("jsonld", "application/ld+json"), ("graphml", "application/graphml+xml")):
        answer = ask(service, "GET", EXPORT, ada, params={"format": form})
        assert answer.headers["content-type"].startswith(media_type)
        assert b"Rain" in exported(service, ada, format=form)


def test_nothing_of_an_incomplete_or_changed_file_is_written(service):
    ada = key(service)
    content = file_of(node("a"), node("b"))
    half = content[: len(content) // 2]
    import_id = staged(service, ada, half)
    assert apply(service, ada, import_id, content).json()["code"] == "import_incomplete"
    assert apply(service, ada, import_id, half).json()["code"] == "import_invalid"
    put(service, ada, import_id, 3, content[len(half) :])
    assert apply(service, ada, import_id, content).json()["code"] == "import_incomplete"
    assert exported(service, ada).count(b"\n") == 2
    put(service, ada, import_id, 2, content[len(half) :])
    assert apply(service, ada, import_id, content).json()["code"] == "import_incomplete"  # the third exceeds the limit


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (file_of(node("a")).replace(b'"version": 1', b'"version": 2'), "import_version_unsupported"),
        (file_of(node("vision:ground")), "id_taken"),
        (file_of(node("a", title="")), "import_invalid"),
        (file_of(node("a", properties={"x": "-----BEGIN PRIVATE KEY-----\n" + "A" * 64})), "secret_in_text"),
        (b"\n" * 10, "import_invalid"),
    ],
)
def test_a_file_that_can_not_be_taken_is_refused_with_a_code(service, content, code):
    load_constitution(service.ledger)
    ada = key(service)
    import_id = staged(service, ada, content)
    answer = apply(service, ada, import_id, content)
    assert (answer.status_code, answer.json()["code"]) == (400, code)
    assert exported(service, ada).count(b"\n") == 2


def test_a_file_that_a_stage_rejects_is_not_written_and_stays_staged(service):
    ada = key(service, max_class=SourceClass.INFERENCE)
    content = file_of(node("a"), node("b", sourceClass="document"))
    import_id = staged(service, ada, content)
    answer = apply(service, ada, import_id, content)
    assert (answer.status_code, answer.json()["data"]["verdict"]) == (200, "rejected")
    assert exported(service, ada).count(b"\n") == 2
    assert ask(service, "GET", f"{IMPORTS}/{import_id}", ada).json()["data"]["status"] == "open"


def test_two_sources_of_a_file_may_contradict_each_other_from_the_same_time_on_and_one_may_not(service):
    ada, bob = key(service), key(service, "local:bob")
    door = {"subject": "the door", "predicate": "state"}
    sensor = node("a", properties={**door, "value": "open"}, source="a sensor", sourceClass="document")
    letter = node("b", properties={**door, "value": "shut"}, source="a letter", sourceClass="document")
    content = file_of(sensor, letter)
    applied = apply(service, ada, staged(service, ada, content), content)
    assert (applied.status_code, applied.json()["data"]["verdict"]) == (201, "approved")
    states = [json.loads(line) for line in exported(service, ada).splitlines()]
    assert [state["disputed"] for state in states if state["kind"] == "node"] == [True, True]

    content = file_of(sensor, {**letter, "source": "a sensor"})
    refused = apply(service, bob, staged(service, bob, content), content).json()["data"]
    assert refused["verdict"] == "rejected"
    assert "a and b of the proposal contradict each other" in str(refused["stages"])


@pytest.mark.parametrize(
    "given", ["../../x", ".", "-x", "a b", "ä", "own/x", "own/0123456789abcdef0123456789abcde/x", "x" * 164]
)
def test_a_node_by_an_id_that_nothing_else_takes_is_refused_by_its_line(service, given):
    ada = key(service)
    content = file_of(node("a"), node(given))
    refused = apply(service, ada, staged(service, ada, content), content).json()
    assert (refused["code"], refused["errors"][0]["pointer"][:8]) == ("import_invalid", "/lines/3")


def test_ids_that_the_service_makes_are_imported(service):
    ada = key(service)
    given = ["kg:0123456789abcdef0123456789abcdef", "own/0123456789abcdef0123456789abcdef/x", "task#1", "a/b:c@d_e-f.g"]
    content = file_of(*map(node, given))
    assert apply(service, ada, staged(service, ada, content), content).json()["data"]["nodes"] == 4


def test_imports_of_others_are_unknown(service):
    ada, bob = key(service), key(service, "local:bob")
    content = file_of(node("a"))
    import_id = staged(service, ada, content)
    answers = [
        ask(service, "GET", f"{IMPORTS}/{import_id}", bob),
        put(service, bob, import_id, 1, b"x"),
        apply(service, bob, import_id, content),
        ask(service, "DELETE", f"{IMPORTS}/{import_id}", bob),
    ]
    assert [(answer.status_code, answer.json()["code"]) for answer in answers] == [(404, "import_unknown")] * 4


def test_quotas_sizes_and_media_types_hold(service):
    ada = key(service)
    first, second = (staged(service, ada, b"") for _ in range(2))
    third = ask(service, "POST", IMPORTS, ada).json()
    assert third["code"] == "imports_exceeded"
    assert first in third["detail"] and second in third["detail"], "so that one whose answer was lost can be deleted"
    assert put(service, ada, first, 1, b"x" * (CHUNK_BYTES + 1)).status_code == 413
    unfit = put(service, ada, first, 1, b"{}", "application/json")
    assert (unfit.status_code, unfit.json()["title"], unfit.json()["detail"]) == (
        415,
        "The operation does not accept this Content-Type",
        "Send the chunk as application/octet-stream or application/x-ndjson.",
    )
    assert put(service, ada, first, 1, b"").status_code == 400
    assert put(service, ada, first, 0, b"x").status_code == put(service, ada, first, 129, b"x").status_code == 400
    assert ask(service, "DELETE", f"{IMPORTS}/{second}", ada).status_code == 204
    assert ask(service, "DELETE", f"{IMPORTS}/{second}", ada).status_code == 404
    assert ask(service, "POST", IMPORTS, ada).status_code == 201
    assert ask(service, "GET", EXPORT, ada, params={"cursor": "x"}).json()["code"] == "cursor_invalid"


def test_two_simultaneous_imports_write_each_node_once(service):
    ada = key(service)
    content = file_of(*(node(f"n{number}") for number in range(60)))
    assert len(content) > APPLIED_HERE_BYTES  # workers judge them in parallel
    ids = [staged(service, ada, content) for _ in range(2)]
    with ThreadPoolExecutor(2) as pool:
        answers = list(pool.map(lambda import_id: apply(service, ada, import_id, content), ids))
    assert [answer.json()["data"]["verdict"] for answer in answers] == ["approved"] * 2
    assert sorted(answer.json()["data"]["written"] for answer in answers) == [0, 60]


def test_words_of_a_file_change_no_facts_above_the_key_and_the_file_stays_staged(service):
    strong, weak = key(service, max_class=SourceClass.OWNER), key(service, max_class=SourceClass.INFERENCE)
    for value, day in (("sad", 1), ("glad", 2)):
        said = {"subject": "soup", "predicate": "mood", "value": value}
        fields = {"sourceClass": "owner", "observedAt": f"2026-01-0{day}T00:00:00Z", "title": value}
        stated(service, strong, payload=said, **fields)
    content = file_of({"kind": "ontology", "words": {"single_valued_predicates": ["mood"]}}, node("a"))
    import_id = staged(service, weak, content)
    answer = apply(service, weak, import_id, content)
    assert (answer.status_code, answer.json()["code"]) == (403, "standing_too_low")
    assert apply(service, strong, import_id, content).json()["data"]["verdict"] == "approved"
    words = ask(service, "GET", "/api/v2/world-model/ontology", weak).json()["data"]
    assert (words["version"], words["single_valued_predicates"]) == (1, ["mood"])


@pytest.mark.both_engines
@pytest.mark.parametrize("scope", ["node", "source", "everything"])
def test_an_erased_text_is_in_no_staged_file_and_no_imported_decision(service, scope):
    ada, bob = key(service), key(service, "local:bob")
    decision = {"kind": "decision", "id": "d1", "decidedAt": "2026-01-01T00:00:00Z", "verdict": "approved"}
    stages = [{"stage": "temporal", "result": "pass", "reason": "a private text"}]
    there = {"recordedAt": "2026-01-01T00:00:00Z", "decision": "d1", "title": "a private text"}
    words = {"kind": "ontology", "words": {"node_types": {"Recipe": {"domain": "VISION"}}}}
    content = file_of(words, {**decision, "stages": stages}, node("a", **there), node("b", source="another"))
    for owner in (ada, bob):
        assert apply(service, owner, staged(service, owner, content), content).status_code == 201
        staged(service, owner, content)
    kept = exported(service, bob)
    assert b"a private text" in kept and b"a private text" in exported(service, ada)
    if scope == "node":
        answer = ask(service, "DELETE", NODES + "a", ada)
    else:
        everything = {"everything": True, "confirm": "erase everything of local:ada"}
        body = {"source": "a file"} if scope == "source" else everything
        answer = ask(service, "POST", "/api/v2/world-model/erase", ada, json=body)
    assert answer.status_code == 200, answer.text
    left = exported(service, ada)
    assert b"private" not in left and (b'"b"' in left, b"Recipe" in left) == (scope != "everything",) * 2
    with service.ledger.read() as reader:
        assert reader.rows("world_open_imports", owner="local:ada", now="2000") == []
        assert reader.row("world_origin_decision", owner="local:ada", id="d1") is None
        assert len(reader.rows("world_open_imports", owner="local:bob", now="2000")) == 1
    assert exported(service, bob) == kept


def test_a_file_with_what_was_erased_is_refused_for_that_reason(service):
    ada = key(service)
    ends = {"kind": "edge", "type": "PART_OF", "statedIn": "a file"}
    edges = ({**ends, "source": source, "target": target} for source, target in ("ab", "bc"))
    content = file_of(*(node(name) for name in "abc"), *edges)
    assert apply(service, ada, staged(service, ada, content), content).status_code == 201
    assert ask(service, "DELETE", NODES + "b", ada).status_code == 200
    told = apply(service, ada, staged(service, ada, content), content).json()["data"]
    reasons = " ".join(stage["reason"] for stage in told["stages"])
    assert (told["verdict"], reasons.count("was erased, and can't come back")) == ("rejected", 3)
    assert "not yours" not in reasons and "as an id" not in reasons


def test_a_source_that_is_not_in_the_graph_yet_is_erased_from_staged_files(service):
    ada, bob = key(service), key(service, "local:bob")
    content = file_of(node("a", source="zap"))
    of_ada, of_bob = (staged(service, owner, content) for owner in (ada, bob))
    answer = ask(service, "POST", "/api/v2/world-model/erase", ada, json={"source": "zap"})
    assert (answer.status_code, answer.json()["data"]["nodes"]) == (200, 0)
    assert apply(service, ada, of_ada, content).status_code == 404
    assert apply(service, bob, of_bob, content).status_code == 201


@pytest.mark.both_engines
def test_staged_texts_expire_and_are_forgotten_with_their_owner(service):
    ada = key(service)
    content = file_of(node("a", title="a private text"))
    staged(service, ada, content)
    staged(service, ada, content)
    ledger = service.ledger
    forget_owner(ledger, "local:ada", "eve")
    with ledger.read() as reader:
        assert reader.rows("world_open_imports", owner="local:ada", now="2000") == []
    import_id = staged(service, ada, content)
    settings = service.settings
    later = open_ledger(settings, settings.data_dir, clock=lambda: datetime.now(UTC) + timedelta(days=2))
    with later.transaction() as tx:
        assert expire(tx) == 1
    later.close()
    assert apply(service, ada, import_id, content).json()["code"] == "import_unknown"
