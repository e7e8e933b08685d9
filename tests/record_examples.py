"""Records the examples of the OpenAPI description by calling the whole service: `python tests/record_examples.py`.

A file is rewritten only if something changed beyond what differs between runs by chance (ids, times, signatures).
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
import tempfile
import time
from hashlib import sha256
from pathlib import Path
from typing import Any

import httpx
from claim_payments import USDC
from coin_chain import CoinChain
from eth_account import Account
from eth_account.messages import encode_typed_data
from fake_providers import Provider
from patience import HANG_S
from signing_wallets import CHECK, CHECKED, header, offered, payment
from whole_service import REGISTRY, WholeService, listening, whole_service

from api.app import create_app
from api.world.moving import export_cursor
from contracts.access.api_keys import redact_keys
from contracts.access.plans import CASE_SUPPLEMENT_PATH, CODE_PATH, PLANS_PATH, QUOTE_PATH, load_plans
from contracts.access.signing import JWKS_PATH
from contracts.access.tiers import Role, Tier
from contracts.discovery.examples import EXAMPLES_DIR, PRICES, PROBLEM_EXAMPLES, RECORDED_PLANS, references
from contracts.discovery.openapi import OPENAPI_FILE
from contracts.intake.artifacts import EXAMPLE_BODIES
from contracts.intake.requests import Lane
from contracts.problems import PROBLEM_MEDIA_TYPE
from contracts.publish.registry import PROJECTIONS
from warehouse.world.export import Position

AGENT, HUMAN, ENTERPRISE = (EXAMPLE_BODIES[lane] for lane in (Lane.AGENT, Lane.HUMAN, Lane.ENTERPRISE))
PAYER, OPERATOR, NEWCOMER = (Account.from_key("0x" + digits * 32) for digits in ("11", "33", "77"))
INTAKE_KEY = "5b1f0c1e-57a4-4f7f-9a3e-0d1c2b3a4f5e"
CAPSULE_KEY = "0c8e6b52-93d1-4b7a-8f60-2a1b3c4d5e6f"
ROTATION_KEY = "3f2c8a14-6d05-4b39-9c7e-51a0d8e6b273"
APPROVAL_KEY = "7d3e9a40-2b61-4c8e-9f15-3a6b8c0d2e4f"
SETTINGS: dict[str, Any] = {"rate_limit_per_minute": 20, "trusted_proxies": ("127.0.0.1",)}
"""Settings of the recorded service: it has its rate limit, which each request avoids by coming from another address."""

UNRECORDED = {"openapi", "openapi_v2"}
"""Operations that return the descriptions themselves."""

_LONGEST_LIST = 3
_LARGEST_WHOLE_BYTES = 4_096

_SHOWN_WHEN_PUBLISHED = {PLANS_PATH, JWKS_PATH, *(path for row in PROJECTIONS for path in row.paths)}
_SIGNED_OFFERS = {QUOTE_PATH, CODE_PATH, CASE_SUPPLEMENT_PATH}
"""Paths that answer with an amount and an address to pay it to. A recorded address would belong to another
installation."""

_CHANCE = re.compile(
    r"svc_(free|basic|pro)_…?[A-Za-z0-9_-]+|eyJ[A-Za-z0-9_.=-]+|\d{4}-\d\d-\d\d(T[0-9:.]+(Z|[+-]\d\d:\d\d)?)?"
    r"|\d{8}T\d{6}\d*Z?|[0-9a-f]{12,}|[A-Za-z0-9_-]{40,}|uint256=\d+|\d+ rules"
)
_CHANCE_FIELDS = {
    *("amount", "amountUnits", "exactAmount", "exactAmountUnits", "qrCode"),
    *("sent", "sentUnits", "asked", "askedUnits"),
    *("issuedAt", "nonce", "retryAfter", "ageS", "clockSkewS", "observedAgeS", "rules_checked", "revision"),
}
"""Fields that depend on a quote's unique amount, the clock, the order of writing, or the number of rules."""


class Recorder:
    """Calls the service operation by operation, and stores the exchanges by operation id and the problems by code."""

    def __init__(self, service: WholeService, client: httpx.AsyncClient) -> None:
        self.service = service
        self.client = client
        self.key = service.key(Tier.BASIC, role=Role.OPERATOR)
        self.seen: list[tuple[str, httpx.Response]] = []
        self.exchanges: dict[str, list[dict[str, Any]]] = {}
        self.problems: dict[str, Any] = {}
        self.prices: dict[str, str] = {}
        self.operations = {
            operation["operationId"]: (method, path, operation)
            for path, operations in json.loads(OPENAPI_FILE.read_text())["paths"].items()
            for method, operation in operations.items()
        }

    async def ask(self, operation_id: str, name: str = "answer", *, key: str | None = None, **request: Any) -> Any:
        """Returns the JSON of an answer, which is stored as `name` without its secrets.

        `request` has `path`, `query`, `header` and `body`; `key` is sent in place of the recorder's.
        """
        method, path, operation = self.operations[operation_id]
        headers = {"X-Forwarded-For": _address(len(self.seen)), **request.get("header", {})}
        if operation["security"]:
            headers["Authorization"] = f"Bearer {key or self.key}"
        options: dict[str, Any] = {"json": request["body"]} if "body" in request else {}
        if isinstance(request.get("body"), str):
            options = {"content": request["body"].encode()}
            headers["Content-Type"] = "application/octet-stream"
        answer = await self.client.request(
            method,
            path.format(**request.get("path", {})),
            params=request.get("query"),
            headers=headers,
            **options,
        )
        self.seen.append((operation_id, answer))
        kept: dict[str, Any] = {"name": name, "request": request, "status": answer.status_code}
        media_type = answer.headers.get("content-type", "").partition(";")[0]
        if media_type == PROBLEM_MEDIA_TYPE:
            self.keep_problem(answer)
            return answer.json()
        is_json = media_type == "application/json" or media_type.endswith("+json")
        if is_json:
            kept["body"] = json.loads(redact_keys(answer.text))
        elif media_type.startswith("text/") or media_type.endswith(("xml", "ndjson")):
            kept |= {"body": answer.text, "mediaType": media_type}
        self.exchanges.setdefault(operation_id, []).append(kept)
        if operation_id == "agent_access_quote":
            self.prices[kept["body"]["data"]["quote"]["planId"]] = kept["body"]["price"]["amount"]
        return answer.json() if is_json else None

    async def fail(self, method: str, path: str, **options: Any) -> None:
        """Stores the problem that a request results in."""
        headers = {"X-Forwarded-For": _address(len(self.problems)), **options.pop("headers", {})}
        self.keep_problem(await self.client.request(method, path, headers=headers, **options))

    def keep_problem(self, answer: httpx.Response) -> None:
        body = json.loads(answer.text.replace(", ".join(load_plans()), RECORDED_PLANS))
        self.problems.setdefault(body["code"], body)


def _address(number: int) -> str:
    return f"203.0.113.{number % 250}"


async def record(service: WholeService) -> Recorder:
    """Calls every operation, in an order in which one answer leads to the next request."""
    with listening(service) as url:
        async with httpx.AsyncClient(base_url=url, timeout=HANG_S) as client:
            recorder = Recorder(service, client)
            for part in (
                _registrations,
                _purchase,
                _trial,
                _case,
                _signed_payment,
                _own_key,
                _graph,
                _connect,
                _telemetry,
                _documents,
                _problems,
            ):
                await part(recorder)
    return recorder


async def _registrations(recorder: Recorder) -> None:
    agent = await recorder.ask("intake_register", "agent", header={"Idempotency-Key": INTAKE_KEY}, body=AGENT)
    human = await recorder.ask("intake_register", "human", body=HUMAN)
    await recorder.ask("intake_register", "enterprise", body=ENTERPRISE)
    for operation in ("intake_status", "intake_capsule"):
        await recorder.ask(operation, path={"intakeId": agent["intakeId"]})
        await recorder.ask(operation, path={"intakeId": "0" * 32})
    token = {"eraseToken": human["eraseToken"]}
    await recorder.ask("intake_erase", path={"intakeId": "0" * 32}, body=token)
    await recorder.ask("intake_erase", path={"intakeId": human["intakeId"]}, body=token)
    await recorder.ask("intake_stats")
    await recorder.ask("intake_recent")


async def _purchase(recorder: Recorder) -> None:
    quote = await recorder.ask(
        "agent_access_quote",
        body={"planId": "api_basic_monthly", "payerAddress": PAYER.address, "agentId": AGENT["agentId"]},
    )
    for quote_id in (quote["quoteId"], "quote_unknown"):
        await recorder.ask("agent_access_quote_code", path={"quoteId": quote_id})
    body = {name: quote[name] for name in ("quoteId", "quoteHash", "paymentRequirementHash")}
    header = {"Idempotency-Key": "claim-1"}
    unknown = {**body, "transactionHash": "0x" + "ab" * 32}
    await recorder.ask("agent_access_claim", header=header, body={**unknown, "quoteHash": "0" * 64})
    await recorder.ask("agent_access_claim", "pending", header=header, body=unknown)
    paid = {**body, "transactionHash": recorder.service.pay(quote)}
    claim = await recorder.ask("agent_access_claim", "issued", header=header, body=paid)
    await recorder.ask("agent_access_claim", body=paid)
    where = {"claimId": claim["data"]["claim"]["claimId"]}
    await recorder.ask("agent_access_receipt", path=where)
    nowhere = {"claimId": "claim_unknown"}
    await recorder.ask("agent_access_receipt", path=nowhere)
    await recorder.ask("agent_access_recovery_challenge", path=nowhere)
    challenge = await recorder.ask("agent_access_recovery_challenge", path=where)
    refused = {"type": "eip712", "signature": "0x" + "00" * 65}
    for sent in (refused, _signed(challenge)):
        body = {"issuedAt": challenge["issuedAt"], "proof": sent}
        await recorder.ask("agent_access_recovery", path=where, body=body)
    await recorder.ask("agent_access_recovery", path=nowhere, body=body)
    await _consent(recorder)
    await recorder.ask("agent_access_quote", body={"planId": "nothing", "payerAddress": PAYER.address})


async def _consent(recorder: Recorder) -> None:
    """Records a claim whose operator signs when it is issued."""
    wanted = {"planId": "api_basic_monthly", "payerAddress": PAYER.address, "operatorAddress": OPERATOR.address}
    quote = await recorder.ask("agent_access_quote", "operator", body=wanted)
    body = {name: quote[name] for name in ("quoteId", "quoteHash", "paymentRequirementHash")}
    claim = await recorder.ask(
        "agent_access_claim", "operator", body={**body, "transactionHash": recorder.service.pay(quote)}
    )
    claim_id = claim["data"]["claim"]["claimId"]
    where, nowhere = {"claimId": claim_id}, {"claimId": "claim_unknown"}
    challenge = await recorder.ask("agent_access_operator_challenge", path=where)
    signed = OPERATOR.sign_message(encode_typed_data(full_message=challenge["typedData"])).signature.to_0x_hex()
    refused = {"proof": {"type": "eip712", "signature": "0x" + "00" * 65}}
    await recorder.ask("agent_access_operator", path=where, body=refused)
    await recorder.ask("agent_access_operator", path=where, body={"proof": {"type": "eip712", "signature": signed}})
    await recorder.ask("agent_access_operator_challenge", path=nowhere)
    await recorder.ask("agent_access_operator", path=nowhere, body=refused)


async def _own_key(recorder: Recorder) -> None:
    """Records a key that reads its account, rotates itself and revokes itself."""
    key = recorder.service.key(Tier.BASIC)
    await recorder.ask("my_key", key=key, query={"days": 30})
    header = {"Idempotency-Key": ROTATION_KEY}
    rotated = await recorder.ask("my_key_rotate", key=key, header=header)
    await recorder.ask("my_key_revoke", key=rotated["data"]["activationPacket"]["apiKey"])


async def _trial(recorder: Recorder) -> None:
    """Records a wallet that gets a key for its signature, and no second one."""
    where = {"address": NEWCOMER.address}
    challenge = await recorder.ask("agent_access_trial_challenge", path=where)
    refused = {"type": "eip712", "signature": "0x" + "00" * 65}
    for proof in (refused, _signed(challenge, NEWCOMER)):
        await recorder.ask("agent_access_trial", path=where, body={"issuedAt": challenge["issuedAt"], "proof": proof})
    where, body = {"address": PAYER.address}, {"issuedAt": challenge["issuedAt"], "proof": refused}
    await recorder.ask("agent_access_trial", path=where, body=body)


async def _case(recorder: Recorder) -> None:
    """Records a payment that is too small, and the quote for the difference."""
    quote = await recorder.ask(
        "agent_access_quote", "of a payment that is too little", body={"payerAddress": PAYER.address}
    )
    body = {name: quote[name] for name in ("quoteId", "quoteHash", "paymentRequirementHash")}
    short = recorder.service.pay(quote, less=1_000_000)
    refusal = await recorder.ask("agent_access_claim", body={**body, "transactionHash": short})
    where, nowhere = {"caseId": refusal["caseId"]}, {"caseId": "case_unknown"}
    await recorder.ask("agent_access_case_challenge", path=nowhere)
    challenge = await recorder.ask("agent_access_case_challenge", path=where)
    refused, proof = {"type": "eip712", "signature": "0x" + "00" * 65}, _signed(challenge)
    for operation in ("agent_access_case", "agent_access_case_supplement"):
        for signature, path in ((refused, where), (proof, where), (proof, nowhere)):
            await recorder.ask(operation, path=path, body={"issuedAt": challenge["issuedAt"], "proof": signature})


def _signed(challenge: dict[str, Any], signer: Any = PAYER) -> dict[str, str]:
    signature = signer.sign_message(encode_typed_data(full_message=challenge["typedData"])).signature.hex()
    return {"type": "eip712", "signature": f"0x{signature.removeprefix('0x')}"}


async def _graph(recorder: Recorder) -> None:
    goal = {"type": "Goal", "title": "Answer within the hour", "source": "agent-seven"}
    signal = await recorder.ask("world_model_signal", "written", header={"Idempotency-Key": "goal-1"}, body=goal)
    node_id = signal["data"]["signalId"]
    linked = {"type": "Task", "title": "Answer Ada", "source": "agent-seven"}
    wrong = {**linked, "links": [{"type": "PART_OF", "target": "nothing-of-this-name"}]}
    await recorder.ask("world_model_signal", "rejected", body=wrong)
    await recorder.ask("world_model_signal", body={**goal, "title": "Another one", "idempotencyKey": "goal-1"})
    await recorder.ask("world_model_signal", body={**linked, "expectedRevision": 0})
    correction: dict[str, Any] = {"type": "Goal", "title": "Answer within two hours", "source": "agent-seven"}
    correction["corrects"] = {"id": node_id, "reason": "Two hours were agreed"}
    header = {"Idempotency-Key": "goal-2"}
    corrected_signal = await recorder.ask("world_model_signal", "corrected", header=header, body=correction)
    node_id = corrected_signal["data"]["signalId"]
    corrected, stated = {"nodeId": correction["corrects"]["id"]}, signal["data"]["nodes"][0]
    await recorder.ask("world_model_node", path=corrected)
    believed = {"asOf": stated["validFrom"], "recordedAsOf": stated["recordedAt"]}
    await recorder.ask("world_model_node", "believed", path=corrected, query=believed)
    await recorder.ask("world_model_node", "past", path=corrected, query={"atRevision": stated["revision"]})
    await recorder.ask("world_model_node", path=corrected, query={"asOf": "yesterday"})
    await recorder.ask("world_model_node", path={"nodeId": "nothing-of-this-name"})
    await _pending(recorder)
    question = {"search": "hour", "domain": "VISION", "include_edges": True, "limit": 5}
    await recorder.ask("world_model_query", "search", body=question)
    await recorder.ask("world_model_query", "nothingFound", body={"search": "antwort", "scope": "own"})
    await recorder.ask("world_model_query", "traverse", body={"traverse": {"from_id": node_id, "depth": 2}})
    text = "# Notes\n\nWater: a clear liquid.\n\n- Goal: answer within the hour\n"
    document = {"id": "notes", "mediaType": "text/markdown", "text": text}
    for name, mode in (("preview", "preview"), ("written", "apply")):
        await recorder.ask(
            "knowledge_graph_build", name, body={"graphId": "notes", "documents": [document], "mode": mode}
        )
    live = await recorder.ask("world_model_live", query={"limit": 1})
    await recorder.ask("world_model_live", "secondPage", query={"limit": 1, "cursor": live["data"]["cursor"]})
    then = {"asOf": live["data"]["nodes"][0]["validFrom"], "atRevision": live["data"]["revision"]}
    await recorder.ask("world_model_live", "past", query={"limit": 1, **then})
    await recorder.ask("world_model_live", "believed", query={"limit": 1, "recordedAsOf": stated["recordedAt"]})
    await _moving(recorder)
    plan = {
        "agent": {"id": "agent-seven", "role": "support"},
        "goals": [{"title": "Answer customers", "kinds": ["messages"]}],
        "sources": ["Handbook", {"title": "Support inbox", "kinds": ["messages", "contacts"], "specialCategories": []}],
        "constraints": {"retention": "P90D", "privacy": "internal", "budgetTokens": 4000},
    }
    for name, mode in (("preview", "preview"), ("written", "apply")):
        await recorder.ask("memory_design", name, body={**plan, "mode": mode})
    recipe = {"domain": "EXECUTION", "properties": {"servings": "integer"}}
    needs = {"description": "What a recipe needs.", "ends": [{"sources": ["Recipe"], "targets": ["Resource"]}]}
    words = {"node_types": {"Recipe": recipe}, "relationship_types": {"COOKED_WITH": needs}}
    words |= {"single_valued_predicates": ["mood"], "expectedVersion": 0}
    for _ in range(2):
        await recorder.ask("world_model_ontology_set", body=words)
    await recorder.ask("world_model_ontology", query={"version": 1})
    soup = {"type": "Recipe", "title": "Onion soup", "source": "a cookbook", "payload": {"servings": 4}}
    soup_id = (await recorder.ask("world_model_signal", "ownType", body=soup))["data"]["signalId"]
    await recorder.ask("world_model_ontology_set", "unfit", body={"node_types": {}})
    for node_id in (soup_id, "nothing-of-this-name"):
        await recorder.ask("world_model_node_erase", path={"nodeId": node_id})
    await recorder.ask("world_model_erase", "source", body={"source": "a cookbook"})
    await recorder.ask("world_model_erase", "unconfirmed", body={"everything": True})
    create = {"ownerId": "ada", "name": "Ada's world", "isAI": False, "values": ["Honesty"]}
    capsule = await recorder.ask("world_model_create", header={"Idempotency-Key": CAPSULE_KEY}, body=create)
    other = {**create, "name": "Another world"}
    await recorder.ask("world_model_create", header={"Idempotency-Key": CAPSULE_KEY}, body=other)
    for _ in range(2):
        await recorder.ask("world_model_capsule_claim", body={"claimToken": capsule["claimToken"]})
    action = {"action": "rm -rf / --no-preserve-root", "severity": "high", "context": {"environment": "production"}}
    blocked = await recorder.ask("guardrail_check", "blocked", body=action)
    approval = {"digest": blocked["data"]["digest"], "owner": "local:agent-seven", "expires_in": 300}
    await recorder.ask("guardrail_approve", header={"Idempotency-Key": APPROVAL_KEY}, body=approval)
    await recorder.ask("guardrail_approve", body={**approval, "owner": "local:test"})
    caller = {"Authorization": f"Bearer {recorder.service.key()}"}
    await recorder.fail("POST", "/api/v2/guardrail/approvals", json=approval, headers=caller)
    await recorder.ask("guardrail_check", "passed", body={"action": "ls -la"})
    wallet = {"account": PAYER.address}
    await recorder.ask("blink_guardrail_post", query={"action": "ls -la", "severity": "high"}, body=wallet)
    await recorder.ask("blink_worldmodel_post", query={"search": "proof", "domain": "VISION"}, body=wallet)


async def _signed_payment(recorder: Recorder) -> None:
    """Records a call that is paid by signature, at a service with a relayer and a chain that settles at once."""
    chain, kept = CoinChain(time_s=int(time.time()) - 1), recorder.client
    chain.coins[PAYER.address.lower()] = 10**9
    chain.gas[OPERATOR.address.lower()] = 10**21
    with tempfile.TemporaryDirectory() as directory, Provider(chain) as node:
        key_file = Path(directory) / "relayer.key"
        key_file.write_text(OPERATOR.key.hex())
        given = {"data_dir": Path(directory), "rpc_urls": (node.url,), "usdc_address": USDC, "claim_confirmations": 1}
        app = create_app(recorder.service.settings.model_copy(update=given | {"relayer_key_file": key_file}))
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://test") as client:
            asked = await client.post(CHECK, json=CHECKED)
            recorder.keep_problem(asked)
            payload = payment(offered(asked), wallet=PAYER)
            answer = await client.post(CHECK, json=CHECKED, headers=header(payload))
            assert answer.status_code == 200, answer.text
            other = await client.post(CHECK, json={"action": "pwd"}, headers=header(payload))
            recorder.client = client
            payment_id = other.json()["links"]["payment"].rpartition("/")[2]
            await recorder.ask("agent_access_payment", path={"paymentId": payment_id})
            recorder.client = kept
    await recorder.ask("agent_access_payment", path={"paymentId": "pay_unknown"})


async def _moving(recorder: Recorder) -> None:
    await recorder.ask("world_model_export", query={"format": "jsonl"})
    last = Position(revision=1, node="~", edge=("~", "", ""), lines=2)
    cursor = export_cursor("local:test", "jsonl", last)
    await recorder.ask("world_model_export", "lastPage", query={"format": "jsonl", "cursor": cursor})
    node = {"kind": "node", "id": "lighthouse", "type": "Project", "title": "Lighthouse", "source": "my other tool"}
    records = [
        {"kind": "header", "format": "svc.world.graph", "version": 1, "scope": "owner"},
        {**node, "recordedAt": "2025-05-01T09:00:00Z", "validFrom": "2025-05-01T09:00:00Z"},
        {"kind": "end", "lines": 2},
    ]
    content = "".join(json.dumps(record) + "\n" for record in records)
    begun = await recorder.ask("world_model_import_begin")
    import_ = {"importId": begun["data"]["importId"]}
    digest = {"sha256": sha256(content.encode()).hexdigest()}
    await recorder.ask("world_model_import_apply", path=import_, body=digest)
    await recorder.ask("world_model_import_chunk", path={**import_, "number": 1}, body=content)
    await recorder.ask("world_model_import_begin")
    await recorder.ask("world_model_import_begin")
    await recorder.ask("world_model_import_apply", "written", path=import_, body=digest)
    await recorder.ask("world_model_import_apply", "again", path=import_, body=digest)
    await recorder.ask("world_model_import_chunk", path={**import_, "number": 1}, body=content)
    await recorder.ask("world_model_import_state", path=import_)
    await recorder.ask("world_model_import_chunk", path={**import_, "number": 129}, body=content)
    for _ in range(2):
        await recorder.ask("world_model_import_delete", path=import_)
    await recorder.ask("world_model_import_state", path=import_)
    await recorder.ask("world_model_import_chunk", path={**import_, "number": 1}, body=content)
    await recorder.ask("world_model_import_apply", path=import_, body=digest)
    for operation in ("world_model_import_state", "world_model_import_delete"):
        await recorder.ask(operation, path={"importId": "x" * 101})


async def _pending(recorder: Recorder) -> None:
    """Records a plan whose owner confirms what is stored about people."""
    design = {
        "agent": {"id": "agent-seven"},
        "goals": [{"title": "Know customers", "kinds": ["contacts"]}],
        "constraints": {"privacy": "regulated", "confirmation": "owner"},
        "mode": "apply",
    }
    plan = (await recorder.ask("memory_design", "confirmedByOwner", body=design))["data"]
    (rule,) = [rule for rule in plan["writeRules"] if "owner_confirmation" in rule["needs"]]
    record = {"type": "Concept", "title": "Grace likes tea", "source": "a call", "links": [rule["link"]]}
    waiting = (await recorder.ask("world_model_signal", "waitsForOwner", body=record))["data"]["decision"]
    asked = {"decision": waiting}
    await recorder.ask("world_model_pending", path=asked)
    for name in ("confirmed", "settled"):
        await recorder.ask(
            "world_model_pending_confirm", name, path=asked, body={"confirm": True, "client": "a browser"}
        )
    for decision in (0, 1):
        await recorder.ask("world_model_pending", path={"decision": decision})
        await recorder.ask("world_model_pending_confirm", path={"decision": decision}, body={"confirm": False})


async def _connect(recorder: Recorder) -> None:
    header = {"Host": "svc.example", "Accept": "application/json", "MCP-Protocol-Version": "2025-06-18"}
    about = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "agent-seven", "version": "1"}}
    sent = [
        ("initialize", {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": about}),
        ("tools", {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}),
        ("notInitialized", {"jsonrpc": "1.0", "id": 3, "method": "tools/list"}),
    ]
    for name, body in sent:
        await recorder.ask("mcp", name, header=header, body=body)
        await recorder.ask("mcp_by_key", name, header=header, body=body)
    call = {"name": "svc_my_key", "arguments": {}}
    body = {"jsonrpc": "2.0", "id": 4, "method": "tools/call", "params": call}
    await recorder.ask("mcp_by_key", "call", header=header, body=body)


async def _telemetry(recorder: Recorder) -> None:
    first = await recorder.ask("token_holders_map", query={"limit": 60})
    await recorder.ask("token_holders_map", "secondPage", query={"limit": 60, "cursor": first["nextCursor"]})
    await recorder.ask("token_holders_map", query={"limit": 60, "cursor": "unreadable"})
    comparison = await recorder.ask("token_holders_map_temporal")
    compared = {name: str(comparison[name]["block"]) for name in ("from", "to")}
    await recorder.ask("token_holders_map_temporal", "chosen", query=compared)
    await recorder.ask("token_holders_map_temporal", query={"from": "7"})
    await _any_block(recorder, first)
    token = recorder.service.settings.token_address
    await recorder.ask("bidwall_snapshot", query={"events_limit": 5, "scope": "all", "token": token})
    await recorder.ask("bidwall_events", query={"limit": 10, "scope": "all", "token": token})
    await recorder.ask("world_render", query={"view": "hero", "compact": "1"})
    await recorder.ask("trust_score", path={"address": REGISTRY})


async def _any_block(recorder: Recorder, newest: Any) -> None:
    """Records blocks and days at which no list was taken, and those at which nothing is known."""
    last, holder = newest["block"], newest["holders"][0]["address"]
    earlier, day = {"block": last - 5}, {"date": newest["observedAt"][:10]}
    await recorder.ask("token_holders")
    await recorder.ask("token_holders_map", "atABlock", query=earlier)
    await recorder.ask("token_holders_map", "onADay", query=day)
    for operation in ("token_holders", "token_holder", "token_holder_transfers"):
        where: dict[str, Any] = {} if operation == "token_holders" else {"path": {"address": holder}}
        await recorder.ask(operation, "atABlock", **where, query=earlier)
        await recorder.ask(operation, "onADay", **where, query=day)
        if where:
            page = await recorder.ask(operation, **where, query={"limit": 1})
            older = await recorder.ask(operation, **where, query={"limit": 1, "cursor": "MjAuMA"})
            assert older["block"] == page["block"]
    await recorder.ask("token_holder", "unknownAddress", path={"address": REGISTRY})
    await recorder.ask("token_holder", "withRanks", path={"address": holder}, query={"ranks": 2})
    await recorder.ask("token_holders_map_temporal", "anyBlocks", query={"from_block": last - 15, "to_block": last - 5})
    dates = {f"{side}_date": day["date"] for side in ("from", "to")}
    await recorder.ask("token_holders_map_temporal", "days", query=dates)
    for operation in ("token_holders", "token_holders_map", "token_holder", "token_holder_transfers"):
        where = (
            {"path": {"address": holder}}
            if operation.startswith("token_holder_") or operation == "token_holder"
            else {}
        )
        for refused in ({"block": 1}, {"block": last + 1}, {"date": "9998-12-31"}):
            await recorder.ask(operation, **where, query=refused)
    for refused in ({"from_block": 1}, {"to_block": last + 1}):
        await recorder.ask("token_holders_map_temporal", query=refused)


async def _documents(recorder: Recorder) -> None:
    """Records every operation that needs no input, and one file of every folder."""
    for operation_id, (method, path, _) in recorder.operations.items():
        if method != "post" and "{" not in path and operation_id not in recorder.exchanges.keys() | UNRECORDED:
            await recorder.ask(operation_id)
        elif path.endswith("/{file}"):
            await recorder.ask(operation_id, path={"file": a_file_of(recorder.service, path)})


def a_file_of(service: WholeService, path: str) -> str:
    """Returns the name of a file that is published at `path` and is not an encoding of another."""
    folder = service.house.current / "public" / path.strip("/").removesuffix("/{file}")
    return min(each.name for each in folder.iterdir() if not (folder / each.stem).exists())


async def _problems(recorder: Recorder) -> None:
    await recorder.fail("GET", "/api/nothing")
    await recorder.fail("DELETE", "/api/token/price")
    await recorder.fail("GET", "/api/token/price", headers={"Accept-Encoding": "identity;q=0"})
    await recorder.fail("GET", "/api/token/holders-map?limit=1")
    await recorder.fail("GET", "/api/v2/world-model/live")
    await recorder.fail("POST", "/api/intake", json={**AGENT, "consent": False})
    await recorder.fail("POST", "/api/intake", content=b"a=b", headers={"Content-Type": "text/plain"})
    await recorder.fail("POST", "/api/intake", content=b" " * 70_000, headers={"Content-Type": "application/json"})
    payment = {"json": {"payerAddress": PAYER.address}, "headers": {"PAYMENT-SIGNATURE": "e30="}}
    await recorder.fail("POST", "/api/agent-access/quote", **payment)
    await recorder.ask("intake_register", header={"Idempotency-Key": INTAKE_KEY}, body=HUMAN)
    await _limits(recorder)


async def _limits(recorder: Recorder) -> None:
    """Records a service that allows one request per minute, and one that has not published yet."""
    settings = recorder.service.settings.model_copy(update={"rate_limit_per_minute": 1, "trusted_proxies": ()})
    with tempfile.TemporaryDirectory() as empty:
        for given in (settings, settings.model_copy(update={"data_dir": Path(empty)})):
            transport = httpx.ASGITransport(create_app(given))
            async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
                for _ in range(2):
                    answer = await client.get("/api/token/price")
                    if answer.status_code >= 400:
                        recorder.keep_problem(answer)


def same_but_for_chance(one: Any, other: Any) -> bool:
    """Decides whether two recordings are equal, except for values and orders that follow from the clock or chance."""
    return bool(_without_chance(one) == _without_chance(other))


def _without_chance(value: Any, field: str = "") -> Any:
    if field in _CHANCE_FIELDS and not isinstance(value, dict | list):
        return type(value).__name__
    if isinstance(value, dict):
        # on a busy machine the chain's newest block is old before it is recorded
        timely = {"status": ""} if "clockSkewS" in value else {}
        return {name: _without_chance(each, name) for name, each in (value | timely).items()}
    if field == "edges" and isinstance(value, list):
        # their order follows their random ids, so chance decides which of them a cut list shows
        return value[:1] and sorted(value[0])
    if isinstance(value, list):
        return sorted((_without_chance(each, field) for each in value), key=json.dumps)
    return _CHANCE.sub("*", value) if isinstance(value, str) else value


def files_of(recorder: Recorder) -> dict[Path, Any]:
    """Returns the content of every file under `contracts/openapi/examples/`."""
    files: dict[Path, Any] = {}
    for operation_id, exchanges in recorder.exchanges.items():
        _, path, _ = recorder.operations[operation_id]
        examples = [_recorded(path, exchange) for exchange in exchanges]
        if telling := [example for example in examples if example["request"] or "example" in example]:
            files[EXAMPLES_DIR / f"{operation_id}.json"] = telling
    return files | {
        PROBLEM_EXAMPLES: dict(sorted(recorder.problems.items())),
        PRICES: dict(sorted(recorder.prices.items())),
    }


def _recorded(path: str, exchange: dict[str, Any]) -> dict[str, Any]:
    """Returns the exchange as it is recorded: with an example of the body, unless an installation shows its own."""
    recorded = {name: value for name, value in exchange.items() if name != "body"}
    body, is_plain = exchange.get("body"), not exchange["request"]
    if body is None or path in _SIGNED_OFFERS or (is_plain and path in _SHOWN_WHEN_PUBLISHED and not _ages(body)):
        return recorded
    example = example_of(body)
    return recorded if example is None else recorded | {"example": example}


def _ages(body: Any) -> bool:
    """Decides whether a body has a freshness block, at the top or in `data`: an installation may not have its
    numbers."""
    blocks = (body, body.get("data")) if isinstance(body, dict) else ()
    return any(isinstance(block, dict) and "generatedAt" in block for block in blocks)


def example_of(body: Any) -> dict[str, Any] | None:
    """Returns a body as an example, with lists cut to a few items if it is large. A body that names every plan remains
    whole, because readers look up there what other examples buy. Returns None for a long text, and for a body with
    references, which can't appear within a description."""
    text = json.dumps(body)
    is_large = len(text) > _LARGEST_WHOLE_BYTES
    if (is_large and isinstance(body, str)) or any(references(body)):
        return None
    if not is_large or all(f'"{plan}"' in text for plan in load_plans()):
        return {"value": body}
    return {"summary": "Long lists are cut", "value": _cut(body)}


def _cut(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _cut(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_cut(item) for item in value[:_LONGEST_LIST]]
    return value


def outdated(recorder: Recorder) -> list[Path]:
    """Returns the files that differ from what the service answers, and the files of operations that no longer exist."""
    wanted = files_of(recorder)
    gone = [file for file in EXAMPLES_DIR.glob("*.json") if file not in wanted]
    return gone + [file for file, value in wanted.items() if not _says(file, value)]


def _says(file: Path, value: Any) -> bool:
    return file.exists() and same_but_for_chance(json.loads(file.read_text()), json.loads(json.dumps(value)))


def main() -> None:
    with tempfile.TemporaryDirectory() as directory, whole_service(Path(directory), **SETTINGS) as service:
        recorder = asyncio.run(record(service))
    wanted = files_of(recorder)
    EXAMPLES_DIR.mkdir(parents=True, exist_ok=True)
    for file in outdated(recorder):
        if file in wanted:
            file.write_text(json.dumps(wanted[file], indent=1, ensure_ascii=False) + "\n")
        else:
            file.unlink()


if __name__ == "__main__":
    # A process of the worker pool imports the file of its parent's `__main__`, and DuckDB fails in it then.
    sys.modules["__main__"].__file__ = None
    main()
