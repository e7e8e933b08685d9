"""Attacks on identity: key owners, recovery of keys, pairing of assistants, and what others' queries reveal."""

from __future__ import annotations

import json
import secrets
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
from eth_account import Account

from .registry import Outcome, attack
from .service import Service

SIGNAL = "/api/v2/world-model/signal"
QUERY = "/api/v2/world-model/query"
BUILD = "/api/v2/knowledge-graph/build"
RACERS = 12


@attack("H3", "another owner's private node shows in any answer")
def query_leaks(service: Service) -> Outcome:
    marker = "qz" + secrets.token_hex(8)
    node = _private_node(service, service.pro_key, marker)
    service.written["private_marker"] = marker
    named = {"documents": [{"text": f"# {marker}\n\nA text that names {marker}."}], "mode": "preview"}
    questions: list[tuple[str, str, dict[str, Any] | None]] = [
        ("search", QUERY, {"search": marker}),
        ("prefix", QUERY, {"search": marker[:6]}),
        ("id", QUERY, {"node_id": node}),
        ("traversal", QUERY, {"node_id": node, "depth": 6, "include_edges": True}),
        ("type", QUERY, {"node_types": ["Goal"], "limit": 1000, "include_edges": True}),
        ("domain", QUERY, {"domain": "VISION", "limit": 1000}),
        ("as of", QUERY, {"search": marker, "asOf": "2099-01-01T00:00:00Z"}),
        ("revision", QUERY, {"node_id": node, "atRevision": 2**40}),
        ("live", "/api/v2/world-model/live?limit=20000", None),
        ("health", "/api/v2/health", None),
        ("schema", "/api/v2/schema", None),
        ("public projection", "/api/worldmodel/live", None),
        ("render", "/api/worldmodel/render?view=full", None),
        ("metrics", "/api/site-metrics", None),
        ("link", SIGNAL, {"type": "Goal", "title": "x", "source": "x", "links": [{"target": node, "type": "PURSUES"}]}),
        ("build", BUILD, named),
    ]
    broken = []
    for name, path, body in questions:
        key = service.other_key
        text = (service.get(path, key) if body is None else service.post(path, body, key)).text
        text = text.replace(node, "") if name in ("id", "traversal", "link", "revision") else text
        sent = json.dumps(body)
        if text.count(marker) and marker not in sent:
            broken.append(f"{name} shows it")
        elif name in ("search", "as of") and '"matched_nodes":0' not in text and '"status":400' not in text:
            broken.append(f"{name} finds it")
        elif name == "build" and node in text:
            broken.append("a build names it as a duplicate")
    return Outcome(broken, f"{len(questions)} questions")


@attack("A1", "a key bought in a victim's name reads the victim's private nodes")
def named_operator(service: Service) -> Outcome:
    victim, attacker = service.wallet(), service.wallet()
    marker = "wm" + secrets.token_hex(8)
    victims_key = service.bought_key(victim)
    node = _private_node(service, victims_key, marker)
    stolen = service.bought_key(attacker, operatorAddress=victim)
    broken = []
    if _matches(service, stolen, search=marker):
        broken.append("the stranger's key finds the victim's private node")
    if _matches(service, stolen, node_id=node):
        broken.append("the stranger's key reads the victim's private node by its id")
    if not _matches(service, victims_key, search=marker):
        broken.append("the victim lost its own node")
    return Outcome(broken, "5 USDC")


@attack("H1", "a lost key is recovered by somebody who did not pay")
def recovery(service: Service) -> Outcome:
    payer, thief = Account.create(), Account.create()
    service.fund(payer.address)
    quote = service.quote(payer.address)
    issued = service.claim(quote, service.pay(quote, payer.address)).json()["data"]
    path = f"/api/agent-access/claims/{issued['claim']['claimId']}/recovery"
    challenge = service.get(path).json()
    broken = []
    for signer, kind in ((thief, "eip712"), (thief, "erc1271")):
        answer = _recover(service, path, challenge, signer, kind)
        if answer.status_code < 400:
            broken.append(f"a thief's {kind} signature gave {answer.status_code}")
    stale = challenge | {"issuedAt": challenge["issuedAt"] - 86_400}
    if _recover(service, path, stale, payer).status_code < 400:
        broken.append("a signature of another challenge counted")
    first = _recover(service, path, challenge, payer)
    if first.status_code not in (200, 201):
        broken.append(f"the payer's own recovery gave {first.status_code}")
    if _recover(service, path, challenge, payer).status_code < 400:
        broken.append("one signature recovered twice")
    return Outcome(broken)


def _recover(
    service: Service, path: str, challenge: dict[str, Any], signer: Any, kind: str = "eip712"
) -> httpx.Response:
    signature = signer.sign_typed_data(full_message=challenge["typedData"]).signature.hex()
    proof = {"type": kind, "signature": "0x" + signature.removeprefix("0x")}
    return service.post(path, {"issuedAt": challenge["issuedAt"], "proof": proof})


@attack("H2", "one pairing code opens several sessions, and guesses open one")
def pairing(service: Service) -> Outcome:
    code = json.loads(service.svc("pair", "--json"))["pairingCode"]
    with ThreadPoolExecutor(RACERS) as pool:
        answers = list(pool.map(lambda _: handshake(service, code), range(RACERS)))
    sessions = sum("session_token" in text for text in answers)
    guesses = [secrets.token_urlsafe(12) for _ in range(20)] + ["000000", "' or 1=1 --", "a" * 5_000, ""]
    guessed = sum("session_token" in handshake(service, guess) for guess in guesses)
    broken = [] if sessions == 1 else [f"one code opened {sessions} sessions"]
    if guessed:
        broken.append(f"{guessed} guesses opened a session")
    return Outcome(broken, f"{RACERS} at once, {len(guesses)} guesses")


def handshake(service: Service, code: str) -> str:
    call = {"name": "svc_connect_handshake", "arguments": {"pairing_code": code}}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
    answer = service.post("/mcp", body, Accept="application/json, text/event-stream")
    found = answer.json() if answer.headers.get("content-type", "").startswith("application/json") else {}
    structured = found.get("result", {}).get("structuredContent") or {}
    return json.dumps([name for name, text in structured.items() if text])


def _private_node(service: Service, key: str, title: str) -> str:
    written = service.post(SIGNAL, {"type": "Goal", "title": title, "source": "me"}, key)
    assert written.status_code == 201, written.text
    return str(written.json()["data"]["signalId"])


def _matches(service: Service, key: str, **question: Any) -> int:
    answer = service.post(QUERY, question, key)
    return int(answer.json()["data"]["matched_nodes"]) if answer.is_success else 0
