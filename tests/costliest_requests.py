"""The costliest known requests of each route: hostile, and within every bound that is checked before work.

Add a row for each costlier input that is found; `tests/api/test_costliest_requests.py` measures them.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import Any, NamedTuple

from contracts.world.memory.store_kinds import load_store_kinds

MIB = 1024 * 1024
KIB_64 = 64 * 1024
ADDRESS = "0x" + "a" * 40
KNOWN_ADDRESS = f"0x{1:040x}"
"""An address that holds the token of the small history."""
CASE_ID = "case_" + "a" * 32
PAYMENT_ID = "pay_" + "0" * 32
LONG_HEADERS = {
    "if-none-match": '"x",' * 1_000,
    "accept-encoding": "a;q=0.1," * 450,
    "accept": "a/b;q=0.1," * 350,
}
"""Together nearly the 16 KiB that a request's header fields may have."""

MANY_FORWARDED = {"x-forwarded-for": "127.0.0.1," * 1_500}


class Costly(NamedTuple):
    """One request. `name` says what is costly about it."""

    name: str
    path: str
    content: bytes | None = None
    headers: dict[str, str] | None = None


def costliest(session_token: str, intake_id: str, claim_id: str) -> dict[tuple[str, str], list[Costly]]:
    """Returns requests by method and path of their route, for all routes that take more than a request head."""
    return {
        ("GET", "/data/{file}"): [
            *_names("/data/"),
            Costly("many ranges", "/data/index.json", headers={"range": "bytes=" + "0-," * 5_000}),
            Costly("a range of many digits", "/data/index.json", headers={"range": "bytes=" + "9" * 15_000 + "-"}),
        ],
        ("GET", "/assets/css/{file}"): _names("/assets/css/"),
        ("GET", "/assets/js/{file}"): _names("/assets/js/"),
        ("GET", "/assets/png/{file}"): _names("/assets/png/"),
        ("GET", "/api/token/holders"): _queries("/api/token/holders", date="2026-01-01"),
        ("GET", "/api/token/holders/{address}"): [
            *_names("/api/token/holders/", ADDRESS),
            *_queries(f"/api/token/holders/{KNOWN_ADDRESS}", limit="500", block="20", ranks="60"),
        ],
        ("GET", "/api/token/holders/{address}/transfers"): [
            *_names("/api/token/holders/", f"{ADDRESS}/transfers"),
            *_queries(f"/api/token/holders/{KNOWN_ADDRESS}/transfers", limit="500", block="20"),
        ],
        ("GET", "/api/token/holders-map"): _queries("/api/token/holders-map", limit="5000", view="map"),
        ("GET", "/api/token/holders-map-temporal"): [
            *_queries("/api/token/holders-map-temporal", view="x"),
            *_queries("/api/token/holders-map-temporal", from_block="11", to_block="31"),
        ],
        ("GET", "/api/bidwall/snapshot"): _queries("/api/bidwall/snapshot", view="x"),
        ("GET", "/api/bidwall/events"): _queries("/api/bidwall/events", limit="1000"),
        ("GET", "/api/worldmodel/render"): _queries("/api/worldmodel/render", view="x"),
        ("GET", "/api/v2/trust/score/{address}"): [
            Costly("an address", f"/api/v2/trust/score/{ADDRESS}", headers=LONG_HEADERS),
            Costly("a long address", f"/api/v2/trust/score/0x{'aB' * 4_000}"),
        ],
        ("POST", "/api/v2/guardrail/check"): [
            *_bodies("/api/v2/guardrail/check", KIB_64),
            *(_json("/api/v2/guardrail/check", name, {"action": text}) for name, text in _actions()),
            _json("/api/v2/guardrail/check", "a wide context", {"action": "ls", "context": _wide(900)}),
            _json(
                "/api/v2/guardrail/check",
                "a long context",
                {"action": "ls", "context": {"user_request": "a " * 20_000}},
            ),
        ],
        ("POST", "/api/v2/guardrail/approvals"): [
            *_bodies("/api/v2/guardrail/approvals", KIB_64),
            _json(
                "/api/v2/guardrail/approvals",
                "a long owner",
                {"digest": "a" * 64, "owner": "local:" + "\U0001f600" * 190, "expires_in": 3_600},
            ),
        ],
        ("POST", "/api/agent-access/quote"): [
            *_bodies("/api/agent-access/quote", KIB_64),
            _json(
                "/api/agent-access/quote",
                "long labels",
                {
                    "payerAddress": ADDRESS,
                    "agentId": "a" * 200,
                    "agentName": "b" * 200,
                    "callbackUrl": "https://a.example/" + "c" * 1_900,
                    "integrity": {"type": "eip712", "signature": "0x" + "ab" * 65, "issuedAt": 1},
                },
            ),
        ],
        ("POST", "/api/agent-access/claim"): [
            *_bodies("/api/agent-access/claim", KIB_64),
            _json(
                "/api/agent-access/claim",
                "an unknown quote",
                {
                    "quoteId": "q" * 100,
                    "transactionHash": "0x" + "a" * 64,
                    "quoteHash": "b" * 64,
                    "paymentRequirementHash": "c" * 64,
                },
            ),
        ],
        ("GET", "/api/agent-access/claims/{claimId}"): _names("/api/agent-access/claims/", claim_id),
        ("GET", "/api/agent-access/claims/{claimId}/recovery"): _names(
            "/api/agent-access/claims/", f"{claim_id}/recovery"
        ),
        ("GET", "/api/agent-access/trials/{address}"): _names("/api/agent-access/trials/", ADDRESS),
        ("POST", "/api/agent-access/trials/{address}"): [
            *_bodies(f"/api/agent-access/trials/{ADDRESS}", KIB_64),
            _json(
                f"/api/agent-access/trials/{ADDRESS}",
                "a long signature",
                {"issuedAt": int(time.time()), "proof": {"type": "eip712", "signature": "0x" + "ab" * 4_096}},
            ),
        ],
        ("POST", "/api/agent-access/claims/{claimId}/recovery"): _bodies(
            f"/api/agent-access/claims/{claim_id}/recovery", KIB_64
        ),
        ("GET", "/api/agent-access/claims/{claimId}/operator"): _names(
            "/api/agent-access/claims/", f"{claim_id}/operator"
        ),
        ("POST", "/api/agent-access/claims/{claimId}/operator"): _signed(
            f"/api/agent-access/claims/{claim_id}/operator"
        ),
        ("GET", "/api/agent-access/quotes/{quoteId}/code.svg"): _names("/api/agent-access/quotes/", "quote_a/code.svg"),
        ("GET", "/api/agent-access/payments/{paymentId}"): _names("/api/agent-access/payments/", PAYMENT_ID),
        ("GET", "/api/agent-access/cases/{caseId}"): _names("/api/agent-access/cases/", CASE_ID),
        ("POST", "/api/agent-access/cases/{caseId}"): _signed(f"/api/agent-access/cases/{CASE_ID}"),
        ("POST", "/api/agent-access/cases/{caseId}/supplement"): _signed(
            f"/api/agent-access/cases/{CASE_ID}/supplement"
        ),
        ("POST", "/api/intake"): [
            *_bodies("/api/intake", KIB_64),
            _json("/api/intake", "long fields of an agent", _agent()),
            _json("/api/intake", "long fields of a person", _person()),
            _json(
                "/api/intake", "a long time", {**_person(), "consentAt": "2026-01-01T00:00:00." + "0" * 60_000 + "Z"}
            ),
        ],
        ("GET", "/api/intake/{intakeId}"): _names("/api/intake/", intake_id),
        ("POST", "/api/intake/{intakeId}/erase"): [
            *_bodies(f"/api/intake/{intake_id}/erase", KIB_64),
            _json(f"/api/intake/{intake_id}/erase", "a long token", {"eraseToken": "t" * 60_000}),
        ],
        ("GET", "/api/intake/{intakeId}/capsule"): _names("/api/intake/", f"{intake_id}/capsule"),
        ("POST", "/mcp"): [*_bodies("/mcp", KIB_64), *_messages(session_token)],
        ("POST", "/api/v2/mcp"): [*_bodies("/api/v2/mcp", MIB), *_messages_by_key()],
        ("GET", "/api/v2/world-model/pending/{decision}"): _names("/api/v2/world-model/pending/", "1"),
        ("POST", "/api/v2/world-model/pending/{decision}"): [
            *_bodies("/api/v2/world-model/pending/1", KIB_64),
            _json("/api/v2/world-model/pending/1", "a long client", {"confirm": True, "client": "c" * 60_000}),
        ],
        ("POST", "/blink/guardrail"): [
            *_bodies("/blink/guardrail", KIB_64),
            *(_json("/blink/guardrail", name, {"data": {"action": text}}) for name, text in _actions()),
            *_queries("/blink/guardrail", content=_encoded({"account": ADDRESS}), action="rm%20-rf%20/;" * 150),
        ],
        ("POST", "/blink/worldmodel"): [
            *_bodies("/blink/worldmodel", KIB_64),
            *(_json("/blink/worldmodel", name, {"data": {"search": text}}) for name, text in _searches()),
            *_queries("/blink/worldmodel", content=_encoded({"account": ADDRESS}), search="a*%20" * 250),
        ],
        ("POST", "/api/v2/world-model/signal"): [
            *_bodies("/api/v2/world-model/signal", KIB_64),
            *(_json("/api/v2/world-model/signal", name, signal) for name, signal in _signals()),
        ],
        ("POST", "/api/v2/knowledge-graph/build"): [
            *_bodies("/api/v2/knowledge-graph/build", MIB),
            *(_json("/api/v2/knowledge-graph/build", name, asked) for name, asked in _builds()),
        ],
        ("POST", "/api/v2/memory/design"): [
            *_bodies("/api/v2/memory/design", KIB_64),
            *(_json("/api/v2/memory/design", name, asked) for name, asked in _designs()),
        ],
        ("POST", "/api/worldmodel/create"): [
            *_bodies("/api/worldmodel/create", KIB_64),
            _json(
                "/api/worldmodel/create",
                "many long values",
                {
                    "ownerId": "o" * 300,
                    "name": "n" * 300,
                    "displayName": "d" * 300,
                    "visibility": "public",
                    "values": [f"{number} rm -rf / ; curl x | sh " + "$(x)" * 60 for number in range(32)],
                },
            ),
        ],
        ("POST", "/api/v2/world-model/capsules/claim"): [
            *_bodies("/api/v2/world-model/capsules/claim", KIB_64),
            _json("/api/v2/world-model/capsules/claim", "an unknown token", {"claimToken": "x" * 200}),
        ],
        ("GET", "/api/v2/me"): _queries("/api/v2/me", days="400"),
        ("GET", "/api/v2/world-model/live"): [
            *_queries("/api/v2/world-model/live", limit="20000"),
            *_queries("/api/v2/world-model/live", limit="20000", asOf="2026-01-01T00:00:00Z"),
            *_queries("/api/v2/world-model/live", limit="20000", atRevision="1"),
            *_queries("/api/v2/world-model/live", limit="20000", recordedAsOf="2026-01-01T00:00:00Z"),
        ],
        ("GET", "/api/v2/world-model/nodes/{nodeId:path}"): [
            *_names("/api/v2/world-model/nodes/", "constitution/foundation"),
            *_queries("/api/v2/world-model/nodes/constitution/foundation", recordedAsOf="2026-01-01T00:00:00Z"),
        ],
        ("DELETE", "/api/v2/world-model/nodes/{nodeId:path}"): [
            *_names("/api/v2/world-model/nodes/", "constitution/foundation"),
        ],
        ("POST", "/api/v2/world-model/erase"): [
            *_bodies("/api/v2/world-model/erase", KIB_64),
            _json("/api/v2/world-model/erase", "an unknown source", {"source": "%" * 500}),
            _json("/api/v2/world-model/erase", "not confirmed", {"everything": True, "confirm": "x" * 500}),
        ],
        ("GET", "/api/v2/world-model/ontology"): [
            *_queries("/api/v2/world-model/ontology", version="1"),
        ],
        ("PUT", "/api/v2/world-model/ontology"): [
            *_bodies("/api/v2/world-model/ontology", KIB_64),
            _json("/api/v2/world-model/ontology", "most words", _words()),
        ],
        ("GET", "/api/v2/world-model/export"): [
            *_queries("/api/v2/world-model/export", format="jsonl"),
            *_queries("/api/v2/world-model/export", format="jsonld"),
            *_queries("/api/v2/world-model/export", format="graphml"),
        ],
        ("GET", "/api/v2/world-model/imports/{importId}"): _names("/api/v2/world-model/imports/"),
        ("DELETE", "/api/v2/world-model/imports/{importId}"): _names("/api/v2/world-model/imports/"),
        ("PUT", "/api/v2/world-model/imports/{importId}/chunks/{number}"): [
            Costly(
                "a chunk of noise",
                "/api/v2/world-model/imports/imp_a/chunks/128",
                bytes(range(256)) * 4_096,
                {"content-type": "application/octet-stream"},
            ),
            Costly("a chunk that is too large", "/api/v2/world-model/imports/imp_a/chunks/1", b"x" * (MIB + 1)),
        ],
        ("POST", "/api/v2/world-model/imports/{importId}/apply"): [
            *_bodies("/api/v2/world-model/imports/imp_a/apply", KIB_64),
            _json("/api/v2/world-model/imports/imp_a/apply", "an unknown import", {"sha256": "a" * 64}),
        ],
        ("POST", "/api/v2/world-model/query"): [
            *_bodies("/api/v2/world-model/query", KIB_64),
            *(_json("/api/v2/world-model/query", name, asked) for name, asked in _graph_queries()),
        ],
    }


def bare(path: str) -> list[Costly]:
    """Returns costly requests for a route that takes nothing but a request head."""
    return [
        Costly("long lists", path, headers=LONG_HEADERS),
        Costly("many hops", path, headers=MANY_FORWARDED),
        Costly("many parameters", f"{path}?{'a&' * 3_900}"),
    ]


def _words() -> dict[str, Any]:
    """Returns the largest vocabulary that an ontology accepts, with many relationships among its types."""
    names = [f"T{number}" for number in range(200)]
    ends = [{"sources": names[:50], "targets": names[50:100]}]
    return {
        "node_types": {name: {"domain": "TRACK"} for name in names},
        "relationship_types": {f"R{number}": {"description": "x", "ends": ends} for number in range(70)},
        "single_valued_predicates": [f"p{number}" for number in range(200)],
    }


def _signed(path: str) -> list[Costly]:
    """Returns hostile bodies, and the longest signature that a contract may have to check."""
    proof = {"type": "erc1271", "signature": "0x" + "ab" * 4_096}
    return [*_bodies(path, KIB_64), _json(path, "a long signature", {"proof": proof, "issuedAt": 1, "caseId": CASE_ID})]


def _names(prefix: str, *known: str) -> list[Costly]:
    names = ["a" * 7_000, "%00" * 2_000, "%ff" * 2_000, "..%2f" * 1_300, *known]
    return [Costly(f"name {name[:6]}", prefix + name, headers=LONG_HEADERS) for name in names]


def _queries(path: str, content: bytes | None = None, **parameters: str) -> list[Costly]:
    headers = {"content-type": "application/json"} if content is not None else {}
    given = "&".join(f"{name}={value}" for name, value in parameters.items())
    queries = {
        "given": given,
        "many unknown": "&".join(f"p{number}" for number in range(1_300)),
        "many repeated": "a&" * 4_000,
        "a long cursor": "cursor=" + "eyJh" * 250,
        "digits": "limit=" + "9" * 4_000,
        "escapes": "asOf=" + "%41" * 2_500,
    }
    return [Costly(name, f"{path}?{query}", content, LONG_HEADERS | headers) for name, query in queries.items()]


def _json(path: str, name: str, value: Any) -> Costly:
    return Costly(name, path, _encoded(value), {"content-type": "application/json"})


def _encoded(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()


def _bodies(path: str, limit_bytes: int) -> list[Costly]:
    """Returns bodies of `limit_bytes` that are costly to parse, whatever their purpose."""
    keys = ",".join(f'"{number:x}":0' for number in range(limit_bytes // 9))
    thousand = "{" + ",".join(f'"{number:x}":0' for number in range(1_000)) + "}"
    bodies = {
        "open arrays": "[" * limit_bytes,
        "open objects": '{"a":' * (limit_bytes // 5),
        "empty arrays": "[" + "[]," * (limit_bytes // 3 - 2) + "[]]",
        "most arrays": "[" + "[]," * (4_990 if limit_bytes == KIB_64 else 49_990) + "[]]",
        "small objects": "[" + '{"a":0},' * (limit_bytes // 8 - 2) + "{}]",
        "unknown keys": "{" + keys + "}",
        "a thousand unknown keys": thousand,
        "lists of unknown keys": json.dumps(
            {name: [json.loads(thousand)] * (limit_bytes // 80_000) for name in ("documents", "links", "goals")}
        ),
        "numbers": "[" + "0.5," * (limit_bytes // 4 - 2) + "0]",
        "digits": "9" * (limit_bytes - 1),
        "escapes": '["\\ud83d\\ude00",' + '"\\u00e9",' * (limit_bytes // 9 - 4) + "0]",
        "a text that never ends": '{"a":"' + "\\\\" * (limit_bytes // 2 - 4),
        "one long key": '{"' + "k" * (limit_bytes - 10) + '":0}',
        "bad UTF-16": '"' + "\\ud800" * (limit_bytes // 6 - 2) + '"',
        "blanks": " " * limit_bytes,
    }
    json_type = {"content-type": "application/json"}
    return [Costly(name, path, body.encode(), json_type) for name, body in bodies.items()]


def _wide(count: int) -> dict[str, Any]:
    return {f"k{number}": [number, "rm -rf / $(x)"] for number in range(count)}


_ACTION_PARTS = {
    "destruction": "rm -rf / ; ",
    "substitutions": "$(",
    "backticks": "`a`",
    "quotes": "'\"",
    "backslashes": "\\",
    "pipes": "a|",
    "nested shells": "bash -c '",
    "evals": "eval ",
    "heredocs": "cat <<A\n",
    "assignments": "a=$a ",
    "encoded": "echo cm0gLXJmIC8= | base64 -d | sh\n",
    "one long word": "a",
    "base64": "cm0gLXJmIC8gCg",
    "hex": "\\x72\\x6d",
    "percent": "%72%6d",
    "braces": "{a,b}",
    "calls": "os.system(",
    "strings added": "'r'+'m'+",
    "JSON": '{"a":[',
    "SQL": "DROP TABLE a; ",
    "addresses": "https://a.example/x?y=z ",
    "secrets": "AKIAIOSFODNN7EXAMPLE ",
    "key lines": "-----BEGIN PRIVATE KEY-----\n",
    "amounts": "1,000,000.00 USD ",
    "prose": "please delete everything and send the money to ",
    "accents": "é\u0301",
    "wide letters": "\uff52\uff4d",
    "invisible": "r\u200bm ",
    "line ends": "\n",
    "tabs": "\t ",
    "commas": "a,",
    "parentheses": "(",
    "globs": "*/?[a]",
    "variables": "${a:-${a:-",
    "sudo": "sudo -u a ",
    "find": "find / -exec rm {} \\; ",
    "YAML": "a: &a [*a, *a]\n",
    "comments": "# x\n",
    "ranges in braces": "{1..9}",
    "programs by pattern": "/* ",
    "additions": "a+=a;",
    "redirections": "a > b ",
}
ACTION_NAMES = frozenset(_ACTION_PARTS)


def _actions() -> Iterator[tuple[str, str]]:
    """Yields actions of nearly 32 KiB."""
    size = 32_000
    for name, part in _ACTION_PARTS.items():
        yield name, (part * (size // len(part.encode()) + 1)).encode()[:size].decode(errors="ignore")


def _searches() -> Iterator[tuple[str, str]]:
    yield "prefixes", " ".join(f"{a}{b}{c}*" for a in "aeiost" for b in "aeiorn" for c in "abcdeln")[:1_000]
    yield "short words", " ".join("abcdefghijklmnopqrstuvwxyz" * 19)
    yield "stars", "*" * 1_000
    yield "one word", "a" * 1_000
    yield "operators", 'a AND (b OR "c") NOT d^2 ~3 [a TO b] ' * 26
    yield "accents", "e\u0301" * 500
    yield "punctuation", ".-/" * 333


def _graph_queries() -> Iterator[tuple[str, Any]]:
    most = {"limit": 1_000, "include_edges": True}
    for name, text in _searches():
        yield name, {"search": text, **most}
    yield "many types", {"node_types": ["Concept"] * 100, **most}
    yield "unknown types", {"node_types": ["x"] * 20_000}
    for direction in ("both", "inbound", "outbound"):
        yield (
            f"traversal {direction}",
            {
                "traverse": {"from_id": "constitution/foundation", "depth": 6, "direction": direction},
                **most,
            },
        )
    yield "a cursor", {"cursor": "eyJh" * 250, **most}
    yield "what ended, too", {"search": "a* b* ser*", "include_ended": True, **most}
    yield "a belief", {"search": "a* b* ser*", "recordedAsOf": "2100-01-01T00:00:00Z", **most}
    yield "everything", {"search": "a* b* ser*", "node_types": ["Concept"], **most}


def _signals() -> Iterator[tuple[str, Any]]:
    base = {"type": "Observation", "title": "t", "source": "s"}
    links = [{"type": "RELATED_TO", "target": f"node/{number}"} for number in range(100)]
    acts = {name: {"id": f"node/{name}", "reason": "r " * 250} for name in ("corrects", "retracts", "confirms")}
    yield "every act", {**base, **acts, "links": links, "sourceClass": "owner", "signature": "A" * 200}
    yield "a large payload", {**base, "payload": {f"k{n}": "rm -rf / $(" for n in range(900)}}
    yield "a deep payload", {**base, "payload": {"a": json.loads('{"a":' * 14 + "1" + "}" * 14)}}
    yield "long text", {**base, "payload": {"text": "rm -rf / ; curl x | sh ; " * 900}}
    yield "encoded text", {**base, "payload": {"text": "cm0gLXJmIC8gCg" * 1_600}}
    yield "many texts", {**base, "payload": {f"k{n}": "$(`" * 6 for n in range(800)}}
    yield "a goal", {**base, "type": "Goal", "payload": {"text": "os.system('" * 2_000}}
    yield "many links", {**base, "links": links}
    yield "a long time", {**base, "observedAt": "2026-01-01T00:00:00." + "0" * 60_000 + "Z"}
    yield "a long title", {**base, "title": "t" * 60_000}
    yield "a long source", {**base, "source": "s" * 60_000}


def _designs() -> Iterator[tuple[str, Any]]:
    goals = [f"{n} " + "remember every customer, order, ticket and promise, recent and old " * 4 for n in range(50)]
    long = [text[:299] for text in goals]
    for mode in ("preview", "apply"):
        yield (
            f"many goals, {mode}",
            {
                "agent": {"id": "a", "role": "r" * 200},
                "goals": [{"title": text, "kinds": [*load_store_kinds().data_kinds]} for text in long],
                "sources": [{"title": text, "kinds": [*load_store_kinds().data_kinds]} for text in long],
                "mode": mode,
            },
        )


def _agent() -> dict[str, Any]:
    line = "a" * 200
    return {
        "lane": "agent",
        "agentId": "a" * 100,
        "serviceOffer": "b" * 1_000,
        "endpoint": "https://a.example/" + "c" * 900,
        "runtime": line,
        "wallet": line,
        "rail": line,
        "domain": line,
        "agentContact": line,
        "proof": "ipfs://" + "d" * 500,
        "consent": True,
    }


def _person() -> dict[str, Any]:
    return {
        "lane": "human",
        "name": "n" * 100,
        "useCase": "u " * 900,
        "telegram": "@" + "t" * 60,
        "firstMission": "m " * 900,
        "email": "a" * 60 + "@" + "b." * 50 + "example",
        "worldSources": ["s" * 100] * 8,
        "executionSurfaces": ["s" * 100] * 6,
        "consent": True,
    }


def _messages(token: str) -> Iterator[Costly]:
    calls: dict[str, tuple[str, dict[str, Any]]] = {
        "talk": ("svc_connect_talk", {"session_token": token, "question": "what do I do next, and why? " * 35}),
        "plan": ("svc_connect_plan", {"session_token": token}),
        "status": ("svc_connect_status", {"session_token": token}),
        "plans": ("svc_plans", {"session_token": token}),
        "a wrong token": ("svc_connect_status", {"session_token": "x" * 200}),
        "a long code": ("svc_connect_handshake", {"pairing_code": "x" * 60_000}),
        "wide arguments": ("svc_connect_talk", {"session_token": token, **_wide(900)}),
    }
    for name, text in _actions():
        calls[f"check {name}"] = ("svc_guardrail_check", {"session_token": token, "action": text})
    for name, asked in _graph_queries():
        calls[f"query {name}"] = ("svc_world_query", {"session_token": token, **asked})
    for name, (tool, arguments) in calls.items():
        yield _message(name, "tools/call", {"name": tool, "arguments": arguments})
    yield _message("tools", "tools/list", {})
    yield _message("resources", "resources/list", {})
    yield _message("the description", "resources/read", {"uri": "svc://openapi.json"})
    yield _message("a long URI", "resources/read", {"uri": "svc://" + "a" * 60_000})
    yield _message("a long method", "m" * 60_000, {})
    one = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    yield _json("/mcp", "a batch", [one] * 1_200)


def _messages_by_key() -> Iterator[Costly]:
    """Yields the costliest calls of each tool. Inputs measured on a tool's own HTTP route cost the same here."""
    path = "/api/v2/mcp"
    calls: dict[str, tuple[str, dict[str, Any]]] = {
        "remember": ("svc_remember", {"title": "t" * 300, "details": "d " * 9_000, "properties": _wide(200)}),
        "wide arguments": ("svc_remember", {"title": "t", **_wide(900)}),
        "wide properties": ("svc_remember", {"title": "t", "properties": _wide(900)}),
        "many links": ("svc_remember", {"title": "t", "links": [{"type": "PART_OF", "target": "x"}] * 100}),
        "correct": ("svc_correct", {"id": "principle:governed-change", "action": "corrects", "reason": "r" * 500}),
        "node": ("svc_node", {"id": "principle:governed-change"}),
        "holders": ("svc_holders", {}),
        "a holder": ("svc_holders", {"address": KNOWN_ADDRESS, "block": 20}),
        "verify": ("svc_verify", {}),
        "plans": ("svc_plans", {}),
        "key": ("svc_my_key", {}),
        "a long check": ("svc_guardrail_check", {"action": "a " * 16_000, "context": _wide(500)}),
        "design": (
            "svc_memory_design",
            {"agent_id": "a" * 200, "goals": [{"title": "g" * 300}] * 50, "sources": [{"title": "s" * 300}] * 50},
        ),
    }
    for name, text in _searches():
        calls[f"search {name}"] = ("svc_search", {"query": text, "limit": 50})
    for name, asked in _builds():
        if list(asked) == ["documents"] and "text" in asked["documents"][0]:
            documents = [
                {name: part[key] for name, key in _DOCUMENT.items() if key in part} for part in asked["documents"]
            ]
            calls[f"build {name}"] = ("svc_build", {"documents": documents})
    triple = {"subject": "a", "predicate": "PART_OF", "object": "b"}
    calls["many triples"] = ("svc_build", {"triples": [triple | {"object": f"b{n}"} for n in range(1_000)]})
    for name, (tool, arguments) in calls.items():
        yield _message(name, "tools/call", {"name": tool, "arguments": arguments}, path)
    yield _message("tools", "tools/list", {}, path)
    yield _message("a prompt", "prompts/get", {"name": "before_acting", "arguments": {"action": "a" * 900_000}}, path)
    yield _message("a long URI", "resources/read", {"uri": "svc://nodes/" + "%41" * 300_000}, path)
    state = {"name": "svc_my_key", "arguments": {}, "requestState": "v1." + "A" * 900_000}
    yield _message("a long state", "tools/call", state, path)


_DOCUMENT = {"text": "text", "media_type": "mediaType"}


def _message(name: str, method: str, params: dict[str, Any], path: str = "/mcp") -> Costly:
    return _json(path, name, {"jsonrpc": "2.0", "id": 1, "method": method, "params": params})


def _builds() -> Iterator[tuple[str, Any]]:
    """Yields texts of nearly a MiB: some that are refused for having too many parts, and the largest that are
    parsed."""
    texts = [
        ("headings", "text/markdown", "# a\n", 9_900),
        ("open links", "text/markdown", "[", 49_000),
        ("links", "text/markdown", "[a](http://b) ", 16_000),
        ("emphasis", "text/markdown", "*a_", 300_000),
        ("items", "text/markdown", "- a\n", 24_000),
        ("quotes", "text/markdown", "> " * 20 + "\n", 24_000),
        ("code", "text/markdown", "`a``", 250_000),
        ("cells", "text/markdown", "|a", 49_000),
        ("table rows", "text/markdown", "|a|b|\n", 9_000),
        ("mentions", "text/markdown", "@a ", 49_000),
        ("dates", "text/markdown", "2026-01-01 ", 90_000),
        ("labels", "text/plain", "a: b\n", 24_000),
        ("references by name", "text/plain", "Depends on: a\n\n", 12_000),
        ("people", "text/plain", "owner: A, B, C\n", 12_000),
        ("people in a line", "text/plain", "A, ", 49_000),
        ("front matter", "text/markdown", "---\n", 24_000),
        ("angles", "text/markdown", "<", 1_000_000),
        ("definitions", "text/markdown", "[a]: b\n", 16_000),
        ("addresses", "text/plain", "https://a ", 49_000),
        ("rows", "text/csv", "a,b,c,d,e\n", 8_200),
        ("columns", "text/csv", "a,", 49_000),
        ("open quotes", "text/csv", '"a', 250_000),
        ("JSON lists", "application/json", "[1],", 24_000),
        ("JSON objects", "application/json", '{"name":"a","b":1},', 12_000),
        ("line ends", "text/plain", "\n", 24_000),
        ("blanks", "text/markdown", " ", 1_000_000),
        ("sentences", "text/plain", "A. ", 300_000),
        ("one letter", "text/plain", "a", 1_000_000),
        ("paragraphs", "text/plain", "a\n\n", 9_900),
        ("turns", "text/plain", "Aa: b\n\n", 9_900),
        ("people in prose", "text/plain", "Dr. Aa Bb said. ", 60_000),
        ("dependencies", "text/plain", "X depends on Y ", 60_000),
        ("decisions", "text/plain", "We decided to a because b. ", 30_000),
        ("amounts", "text/plain", "$1 ", 300_000),
    ]
    for name, kind, part, count in texts:
        most = (MIB - 20_000) // len(json.dumps(part)[1:-1])
        for suffix, documents, times in (
            ("", 1, min(count, most)),
            (" in 100", 100, count // 100),
            (" in a MiB", 1, most),
        ):
            text = part * times
            whole = f"[{text[:-1]}]" if kind == "application/json" else text
            yield name + suffix, {"documents": [{"text": whole, "mediaType": kind}] * documents}
    nodes = [{"id": f"n{n}", "title": f"t{n}", "type": "Concept", "properties": {"a": n}} for n in range(9_900)]
    yield "nodes", {"nodes": nodes}
    yield (
        "nodes and edges",
        {
            "nodes": [{"id": f"n{n}", "title": "t", "type": "Concept"} for n in range(100)],
            "edges": [
                {"source": f"n{a}", "target": f"n{b}", "type": "RELATED_TO"} for a in range(100) for b in range(100)
            ],
        },
    )
    yield "bad statements", {"triples": [{"subject": n} for n in range(10_000)], "edges": [1] * 50_000}
    yield "triples", {"triples": [{"subject": f"s{n}", "predicate": "knows", "object": f"o{n}"} for n in range(10_000)]}
    yield "one subject", {"triples": [{"subject": "s", "predicate": f"p{n}", "object": f"o{n}"} for n in range(9_000)]}
