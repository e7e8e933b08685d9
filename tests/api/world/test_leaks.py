"""Nobody learns of another owner's graph: on every route, what exists there is answered like what exists nowhere."""

from __future__ import annotations

import json
import re
from hashlib import sha256
from typing import Any

import pytest
from keyed_service import bearer, serving

from api.world.moving import export_cursor
from contracts.access.tiers import Tier
from contracts.discovery.openapi import OPENAPI_FILE
from contracts.world.graph_formats import FORMATS
from contracts.world.identity import own_id
from pipelines.initial_publish import publish_initial
from warehouse.world.events import head_revision
from warehouse.world.export import Position

V2 = "/api/v2"
SIGNAL, BUILD, QUERY = f"{V2}/world-model/signal", f"{V2}/knowledge-graph/build", f"{V2}/world-model/query"
NODES, ONTOLOGY = f"{V2}/world-model/nodes/", f"{V2}/world-model/ontology"
ERASE, LIVE = f"{V2}/world-model/erase", f"{V2}/world-model/live"
EXPORT, IMPORTS = f"{V2}/world-model/export", f"{V2}/world-model/imports"

REAL = {
    "word": "quokkaburrow",
    "type": "Wombatry",
    "tie": "NUMBATS_AT",
    "given": "bilby-plan",
    "source": "echidna post",
}
UNREAL = {
    "word": "quolldingles",
    "type": "Potoroos",
    "tie": "NUMBERS_TO",
    "given": "bettong-map",
    "source": "emu press",
}
"""Names that Ada uses and names that nobody uses, of the same shapes."""

Request = tuple[str, str, dict[str, Any]]


def questions(
    names: dict[str, str], node_id: str, cursor: str, revision: int, token: str, import_id: str, page: str, waiting: int
) -> dict[str, Request]:
    """Returns every request that reads or touches, by a name, what may exist."""
    word, own_type, tie, given, source = names.values()
    told = {"type": "Goal", "title": "Mine", "source": "me"}
    build = {"graphId": "g", "mode": "preview"}
    node = {"id": "a", "title": "A", "type": "Goal"}
    asked: dict[str, dict[str, Any]] = {
        "a word": {"search": word},
        "the beginning of a word": {"search": word[:7] + "*"},
        "a misspelt word": {"search": word[:-1] + "x"},
        "a word among one's own": {"search": word, "scope": "own"},
        "a word of a type": {"search": word, "node_types": ["Goal"]},
        "a word that ended": {"search": word, "include_ended": True},
        "a word of the past": {"search": word, "at_revision": revision},
        "a word at an instant": {"search": word, "asOf": "2026-01-01T00:00:00Z"},
        "a misspelt word of the past": {"search": word[:-1] + "x", "at_revision": revision},
        "a type": {"node_types": [own_type]},
        "a node": {"node_id": node_id, "include_edges": True},
        "a node by its given id": {"node_id": given},
        "a node of the past": {"node_id": node_id, "at_revision": revision},
        "a node and a word": {"node_id": node_id, "search": word},
        "neighbours": {"traverse": {"from_id": node_id, "depth": 6, "direction": "both"}},
        "neighbours of the past": {"traverse": {"from_id": node_id, "depth": 2}, "at_revision": revision},
        "another's page": {"search": word, "cursor": cursor},
    }
    acts = ("corrects", "retracts", "confirms")
    return {
        **{f"query {name}": ("POST", QUERY, {"json": body}) for name, body in asked.items()},
        "live page": ("GET", LIVE, {"params": {"cursor": cursor}}),
        "live then": ("GET", LIVE, {"params": {"atRevision": revision, "limit": 20_000}}),
        "history": ("GET", NODES + node_id, {}),
        "history by given id": ("GET", NODES + given, {}),
        "history then": ("GET", NODES + node_id, {"params": {"recordedAsOf": revision}}),
        "erase": ("DELETE", NODES + node_id, {}),
        "erase by given id": ("DELETE", NODES + given, {}),
        "erase a source": ("POST", ERASE, {"json": {"source": source}}),
        "erase everything of another": ("POST", ERASE, {"json": {"everything": True, "confirm": word}}),
        "signal of a type": ("POST", SIGNAL, {"json": {**told, "type": own_type}}),
        "signal with a tie": ("POST", SIGNAL, {"json": {**told, "links": [{"type": tie, "target": "x"}]}}),
        "signal to a node": ("POST", SIGNAL, {"json": {**told, "links": [{"type": "PART_OF", "target": node_id}]}}),
        **{
            f"signal that {act}": ("POST", SIGNAL, {"json": {**told, act: {"id": node_id, "reason": "so"}}})
            for act in acts
        },
        "signal once named": ("POST", SIGNAL, {"json": {**told, "title": f"My {word}", "idempotencyKey": given}}),
        "build a like": ("POST", BUILD, {"json": {**build, "nodes": [{**node, "title": word}]}}),
        "build by given id": (
            "POST",
            BUILD,
            {"json": {**build, "nodes": [{**node, "id": given}]}},
        ),
        "build of a type": (
            "POST",
            BUILD,
            {
                "json": {
                    **build,
                    "nodes": [{**node, "id": "b"}, {**node, "type": own_type}],
                }
            },
        ),
        "build with a tie": (
            "POST",
            BUILD,
            {"json": {**build, "triples": [{"subject": "A", "predicate": tie.lower(), "object": "B"}]}},
        ),
        "ontology": ("GET", ONTOLOGY, {}),
        "version of the ontology": ("GET", ONTOLOGY, {"params": {"version": 1}}),
        "ontology with a type": (
            "PUT",
            ONTOLOGY,
            {"json": {"node_types": {own_type: {"domain": "VISION"}}, "expectedVersion": 1}},
        ),
        "a write that waits": ("GET", f"{V2}/world-model/pending/{waiting}", {}),
        "confirm a write that waits": ("POST", f"{V2}/world-model/pending/{waiting}", {"json": {"confirm": True}}),
        **{f"export as {form}": ("GET", EXPORT, {"params": {"format": form}}) for form in FORMATS},
        "another's page of an export": ("GET", EXPORT, {"params": {"cursor": page}}),
        "begin an import": ("POST", IMPORTS, {}),
        "state of an import": ("GET", f"{IMPORTS}/{import_id}", {}),
        "chunk of an import": (
            "PUT",
            f"{IMPORTS}/{import_id}/chunks/1",
            {"content": word.encode(), "headers": {"content-type": "application/x-ndjson"}},
        ),
        "apply an import": ("POST", f"{IMPORTS}/{import_id}/apply", {"json": {"sha256": "0" * 64}}),
        "delete an import": ("DELETE", f"{IMPORTS}/{import_id}", {}),
        "memory": ("POST", f"{V2}/memory/design", {"json": {"agent": {"id": given}, "goals": [word]}}),
        "claim": ("POST", f"{V2}/world-model/capsules/claim", {"json": {"claimToken": token}}),
        "schema": ("GET", f"{V2}/schema", {}),
        "health": ("GET", f"{V2}/health", {}),
        "projection": ("GET", "/api/worldmodel/live", {}),
        "render": ("GET", "/api/worldmodel/render", {"params": {"view": "hero"}}),
        "blink": ("POST", "/blink/worldmodel", {"json": {"account": "0x" + "1" * 40, "data": {"search": word}}}),
        "create": ("POST", "/api/worldmodel/create", {"json": {"ownerId": "local:ada", "name": word}}),
    }


_VOLATILE = re.compile(
    r'"(?:requestId|query_id|revision|signalId|decision|decidedAt|recordedAt|statedAt|validFrom|requestedAt|confirmedAt|'
    r'planId|id|claimToken|source|target|erasureId|queryId|events|snapshotRevision|by)": ?(?:"[^"]*"|\d+|null)'
)


_IDS = re.compile(
    r"(?:signal|node|edge|capsule|kg|own|plan|memory|agent)[:/][0-9a-f]{16,}\S*?(?=[\"\s;,])|imp_[0-9a-f]{32}"
)


def compared(answer: Any, names: dict[str, str], node_id: str, token: str, waiting: int = 0) -> tuple[int, str]:
    """Returns an answer without the names from the request, and without numbers that every request changes."""
    text = answer.text.replace(f"/pending/{waiting}", "/pending/<a number>")
    for number, name in enumerate([token, node_id, *names.values(), names["tie"].lower(), names["word"][:-1] + "x"]):
        text = text.replace(name, f"<{number}>")
    text = _IDS.sub("<an id>", text)
    return answer.status_code, re.sub(r"\d{4}-\d\d-\d\dT[0-9:.]+Z", "<a time>", _VOLATILE.sub('"<volatile>"', text))


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    from contracts.settings import Settings

    settings = Settings(
        _env_file=None,
        data_dir=tmp_path_factory.mktemp("leaks"),
        rate_limit_per_minute=0,
        rpc_urls=["http://127.0.0.1:9"],
    )
    publish_initial(settings)
    with serving(settings) as running:
        yield running


@pytest.fixture(scope="module")
def ada(service):
    """Gives Ada a node, edges, an alias, a type, a tie, a source, an id and words, some of them in a snapshot."""
    headers = bearer(service.key(Tier.PRO, owner="local:ada"))

    def tell(path: str, body: dict[str, Any], method: str = "POST") -> dict[str, Any]:
        (answer,) = service.ask((method, path, headers, {"json": body}))
        assert answer.status_code in (200, 201), answer.text
        return answer.json()["data"]

    word, own_type, tie, given, source = REAL.values()
    words = {"node_types": {own_type: {"domain": "VISION"}}, "single_valued_predicates": [word]}
    tell(ONTOLOGY, {**words, "relationship_types": {tie: {"description": word}}}, "PUT")
    first = tell(SIGNAL, {"type": own_type, "title": f"The {word}", "source": source, "payload": {"a": word}})
    node_id, revision = first["signalId"], first["revision"]
    goal = {"type": "Goal", "title": word, "source": source, "idempotencyKey": given}
    tell(SIGNAL, {**goal, "links": [{"type": tie, "target": node_id}, {"type": "ALIAS_OF", "target": node_id}]})
    publish_initial(service.settings)
    tell(BUILD, {"graphId": "g", "nodes": [{"id": given, "title": word, "type": "Goal"}], "mode": "apply"})
    fact = {"subject": word, "predicate": word, "value": 1}
    tell(SIGNAL, {"type": "Observation", "title": word, "source": source, "payload": fact})
    (page,) = service.ask(("GET", LIVE, headers, {"params": {"limit": 1}}))
    import_id = tell(IMPORTS, {})["importId"]
    chunk = {"content": word.encode(), "headers": {**headers, "content-type": "application/x-ndjson"}}
    (put,) = service.ask(("PUT", f"{IMPORTS}/{import_id}/chunks/1", chunk.pop("headers"), chunk))
    assert put.status_code == 200, put.text
    with service.ledger.read() as reader:
        begin = Position(head_revision(reader), node=node_id, lines=3)
    waiting = tell(SIGNAL, {"type": "Goal", "title": word, "source": source, "visibility": "public"})["decision"]
    create = {"ownerId": "ada", "name": "World"}
    (capsule,) = service.ask(("POST", "/api/worldmodel/create", {}, {"json": create}))
    return {
        "node_id": node_id,
        "cursor": page.json()["data"]["cursor"],
        "revision": revision,
        "token": capsule.json()["claimToken"],
        "import_id": import_id,
        "page": export_cursor("local:ada", "jsonl", begin),
        "waiting": waiting,
    }


NAMES = sorted(questions(UNREAL, "signal:" + "0" * 32, "c", 1, "t", "i", "p", 1))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("asker", ["another owner", "nobody"])
def test_another_owners_things_are_answered_like_things_that_nobody_has(service, ada, name, asker):
    if name == "claim":
        ada = {**ada, "token": "svc_capsule_" + "1" * 32 + "_" + "2" * 64}
    keyed = {} if asker == "nobody" else bearer(service.key(Tier.PRO, owner=f"local:bob-{NAMES.index(name)}"))
    unknown = "signal:" + "0" * 32
    token = "svc_capsule_" + "0" * 32 + "_" + "0" * 64
    there = questions(REAL, **ada)[name]
    nowhere = questions(
        UNREAL, unknown, ada["cursor"], ada["revision"], token, "imp_" + "0" * 32, ada["page"], 999_999
    )[name]
    for_real, for_unreal = service.ask(*(asked_by(keyed, *request) for request in (there, nowhere)))
    same = compared(for_real, REAL, ada["node_id"], ada["token"], ada["waiting"])
    assert same == compared(for_unreal, UNREAL, unknown, token, 999_999)
    for secret in (*REAL.values(), ada["node_id"]):
        named = for_real.text.replace(secret, "") if secret in str(there) else for_real.text
        assert secret not in named
    if asker == "nobody" and there[1].startswith(V2) and name not in ("schema", "health"):
        assert for_real.status_code == 401


def asked_by(headers: dict[str, str], method: str, path: str, rest: dict[str, Any]) -> tuple[Any, ...]:
    """Returns a request with its own header fields and those of the caller."""
    others = {name: value for name, value in rest.items() if name != "headers"}
    return method, path, {**headers, **rest.get("headers", {})}, others


def files(names: dict[str, str], node_id: str) -> dict[str, list[dict[str, Any]]]:
    """Returns import files that name what may exist."""
    word, own_type, tie, given, source = names.values()
    node = {"kind": "node", "id": "mine", "type": "Goal", "title": "Mine", "source": source}
    stated = {"recordedAt": "2026-01-01T00:00:00Z"}
    words = {"node_types": {own_type: {"domain": "TACTICS"}}, "single_valued_predicates": [word]}
    edge = {"kind": "edge", "source": "mine", "target": node_id, "type": "PART_OF", "statedIn": source}
    fact = {"subject": word, "predicate": word, "value": 2}
    decision = {"kind": "decision", "id": word, "decidedAt": stated["recordedAt"], "verdict": "approved"}
    return {
        "an id": [{**node, "id": node_id}],
        "a given id": [{**node, "id": given}],
        "a stored id": [{**node, "id": own_id("local:ada", given)}],
        "an edge": [node, edge],
        "an alias": [node, {**edge, "type": "ALIAS_OF"}],
        "a tie": [node, {**node, "id": "other"}, {**edge, "target": "other", "type": tie}],
        "an end": [{**node, "endedBy": node_id, "validTo": stated["recordedAt"], "validFrom": "2025-01-01T00:00:00Z"}],
        "a type": [{**node, "type": own_type}],
        "a type of its own": [{"kind": "ontology", "words": words}, {**node, "type": own_type}],
        "former words": [{"kind": "ontology", "words": {}, "former": words}, node],
        "a fact": [{**node, "type": "Observation", "title": word, "properties": fact}],
        "a decision": [decision, {**node, **stated, "decision": word}],
    }


@pytest.mark.parametrize("name", files(UNREAL, "n"))
def test_a_file_that_names_what_another_owner_has_is_taken_or_refused_as_one_that_names_nothing(service, ada, name):
    unknown = "signal:" + "0" * 32
    seen = []
    for names, node_id in ((REAL, ada["node_id"]), (UNREAL, unknown)):
        keyed = bearer(service.key(Tier.PRO, owner=f"local:eve-{name}-{names['given']}"))
        lines = [{"kind": "header"}, *files(names, node_id)[name]]
        lines.append({"kind": "end", "lines": len(lines)})
        content = "".join(json.dumps(line) + "\n" for line in lines).encode()
        (begun,) = service.ask(("POST", IMPORTS, keyed, {}))
        path = f"{IMPORTS}/{begun.json()['data']['importId']}"
        chunk = {**keyed, "content-type": "application/x-ndjson"}
        digest = {"sha256": sha256(content).hexdigest()}
        answers = service.ask(
            ("PUT", f"{path}/chunks/1", chunk, {"content": content}),
            ("POST", f"{path}/apply", keyed, {"json": digest}),
            ("GET", EXPORT, keyed, {}),
            ("GET", ONTOLOGY, keyed, {}),
        )
        assert answers[1].status_code in (200, 201, 400), answers[1].text
        found = (compared(answer, names, node_id, "no token") for answer in answers[1:])
        seen.append([(status, _DIGESTS.sub("<a digest>", text)) for status, text in found])
    assert seen[0] == seen[1]


_DIGESTS = re.compile(r"[0-9a-f]{64}")


def test_every_route_of_the_graph_is_among_the_questions():
    described = json.loads(OPENAPI_FILE.read_text())["paths"]
    routes = {
        (method.upper(), path)
        for path, operations in described.items()
        for method, operation in operations.items()
        if "world model" in operation.get("tags", ())
    }
    asked = {
        (method, path.replace("/nodes/a", "/nodes/{nodeId}").replace("/pending/1", "/pending/{decision}"))
        for method, path, _ in questions(UNREAL, "a", "c", 1, "t", "i", "p", 1).values()
    }
    asked = {
        (method, re.sub(r"/imports/i\b", "/imports/{importId}", path).replace("/chunks/1", "/chunks/{number}"))
        for method, path in asked
    }
    assert routes <= asked, routes - asked
