"""Nobody learns of another owner's graph: what exists there is answered as what exists nowhere, on every route."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from keyed_service import bearer, serving

from contracts.access.tiers import Tier
from contracts.discovery.openapi import OPENAPI_FILE
from pipelines.initial_publish import publish_initial

V2 = "/api/v2"
SIGNAL, BUILD, QUERY = f"{V2}/world-model/signal", f"{V2}/knowledge-graph/build", f"{V2}/world-model/query"
NODES, ONTOLOGY = f"{V2}/world-model/nodes/", f"{V2}/world-model/ontology"
ERASE, LIVE = f"{V2}/world-model/erase", f"{V2}/world-model/live"

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
"""What Ada has, and what nobody has: of the same shapes."""

Request = tuple[str, str, dict[str, Any]]


def questions(names: dict[str, str], node_id: str, cursor: str, revision: int, token: str) -> dict[str, Request]:
    """Every way to ask for, or to touch, what may be there, by a name."""
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


_IDS = re.compile(r"(?:signal|node|edge|capsule|kg|own|plan|memory|agent)[:/][0-9a-f]{16,}\S*?(?=[\"\s;,])")


def compared(answer: Any, names: dict[str, str], node_id: str, token: str) -> tuple[int, str]:
    """An answer without what the request itself named, and without numbers that every request moves."""
    text = answer.text
    for number, name in enumerate([token, node_id, *names.values(), names["tie"].lower(), names["word"][:-1] + "x"]):
        text = text.replace(name, f"<{number}>")
    text = re.sub(
        r"(?:signal|node|edge|capsule|kg|own|plan|memory|agent)[:/][0-9a-f]{16,}\S*?(?=[\"\s;,])", "<an id>", text
    )
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
    """What Ada has: a node, edges, an alias, a type, a tie, a source, an id and words, some of it in a snapshot."""
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
    create = {"ownerId": "ada", "name": "World"}
    (capsule,) = service.ask(("POST", "/api/worldmodel/create", {}, {"json": create}))
    return {
        "node_id": node_id,
        "cursor": page.json()["data"]["cursor"],
        "revision": revision,
        "token": capsule.json()["claimToken"],
    }


NAMES = sorted(questions(UNREAL, "signal:" + "0" * 32, "c", 1, "t"))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("asker", ["another owner", "nobody"])
def test_what_another_owner_has_is_answered_as_what_nobody_has(service, ada, name, asker):
    if name == "claim":
        ada = {**ada, "token": "svc_capsule_" + "1" * 32 + "_" + "2" * 64}
    headers = {} if asker == "nobody" else bearer(service.key(Tier.PRO, owner=f"local:bob-{NAMES.index(name)}"))
    unknown = "signal:" + "0" * 32
    token = "svc_capsule_" + "0" * 32 + "_" + "0" * 64
    there = questions(REAL, **ada)[name]
    nowhere = questions(UNREAL, unknown, ada["cursor"], ada["revision"], token)[name]
    for_real, for_unreal = service.ask(*((method, path, headers, rest) for method, path, rest in (there, nowhere)))
    same = compared(for_real, REAL, ada["node_id"], ada["token"])
    assert same == compared(for_unreal, UNREAL, unknown, token)
    for secret in (*REAL.values(), ada["node_id"]):
        named = for_real.text.replace(secret, "") if secret in json.dumps(there) else for_real.text
        assert secret not in named
    if asker == "nobody" and there[1].startswith(V2) and name not in ("schema", "health"):
        assert for_real.status_code == 401


def test_every_route_of_the_graph_is_among_the_questions():
    described = json.loads(OPENAPI_FILE.read_text())["paths"]
    routes = {
        (method.upper(), path.replace("{nodeId}", ""))
        for path, operations in described.items()
        for method, operation in operations.items()
        if "world model" in operation.get("tags", ())
    }
    asked = {
        (method, NODES if path.startswith(NODES) else path)
        for method, path, _ in questions(UNREAL, "a", "c", 1, "t").values()
    }
    assert routes <= asked, routes - asked
