"""A secret in the text of a write is refused, and neither stored nor repeated; routes that judge or search accept
it."""

import json
import logging

import pytest
from cryptography.hazmat.primitives.asymmetric import ed25519
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from fastapi.routing import APIRoute
from intakes import AGENT, ENTERPRISE, HUMAN, INTAKE
from keyed_service import KeyedService, bearer, serving
from mcp_service import JSON, message

from api.app import build_rooms
from api.bodies import JsonRoute
from api.stores import Stores
from contracts.access.api_keys import new_key
from contracts.access.tiers import Tier
from contracts.settings import Settings
from warehouse.connect.sessions import issue_code

PHRASE = "legal winner thank year wave sausage worth useful legal winner thank yellow"
PEM = ed25519.Ed25519PrivateKey.generate().private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
SECRETS = (PHRASE, PEM, new_key(Tier.PRO).reveal())
HERE = {**JSON, "host": "127.0.0.1:8000"}

SIGNAL = {"type": "Goal", "title": "Answer within the hour", "source": "a test"}
CAPSULE = {"ownerId": "ada", "name": "Ada"}
DOCUMENT = {"title": "Notes", "text": "# Notes\n", "mediaType": "text/markdown"}
PLAN = {"agent": {"id": "a", "role": "support"}, "goals": ["Answer"], "sources": ["Handbook"]}
PAYER = "0x" + "ab" * 20

WRITES = {
    "an agent's offer": (INTAKE, lambda text: AGENT | {"serviceOffer": text}, "/serviceOffer"),
    "a person's use case": (INTAKE, lambda text: HUMAN | {"useCase": text}, "/useCase"),
    "a person's sources": (INTAKE, lambda text: HUMAN | {"worldSources": ["notes", text]}, "/worldSources"),
    "an enterprise's name": (INTAKE, lambda text: ENTERPRISE | {"orgName": text}, "/orgName"),
    "a capsule's value": ("/api/worldmodel/create", lambda text: CAPSULE | {"values": [text]}, "/values"),
    "an agent's name": (
        "/api/agent-access/quote",
        lambda text: {"payerAddress": PAYER, "agentName": text},
        "/agentName",
    ),
    "a signal's title": ("/api/v2/world-model/signal", lambda text: SIGNAL | {"title": text}, "/title"),
    "a signal's payload": (
        "/api/v2/world-model/signal",
        lambda text: SIGNAL | {"payload": {"note": {"kept": text}}},
        "/payload/note/kept",
    ),
    "a document": (
        "/api/v2/knowledge-graph/build",
        lambda text: {"documents": [DOCUMENT | {"text": f"# Notes\n\n{text}\n"}], "mode": "apply"},
        "/documents/0/text",
    ),
    "a memory's goal": ("/api/v2/memory/design", lambda text: PLAN | {"goals": [text]}, "/goals"),
}


@pytest.fixture
def service(ledger_settings):
    with serving(ledger_settings.model_copy(update={"rate_limit_per_minute": 0})) as opened:
        yield opened


def post(service: KeyedService, path: str, body, headers=None):
    (answer,) = service.ask(("POST", path, headers or {}, {"json": body}))
    return answer


def traces(service: KeyedService, secret: str) -> list[str]:
    """Returns the files of the data directory that contain the secret, or one of its longer lines."""
    parts = {secret.encode(), *(line.encode() for line in secret.splitlines() if len(line) > 40)}
    files = [file for file in service.settings.data_dir.rglob("*") if file.is_file()]
    return [file.name for file in files if any(part in file.read_bytes() for part in parts)]


@pytest.mark.parametrize("write", WRITES)
def test_a_write_with_a_secret_is_refused_and_leaves_nothing_and_without_one_it_is_not(service, caplog, write):
    caplog.set_level(logging.DEBUG)
    path, body, pointer = WRITES[write]
    headers = bearer(service.key(Tier.PRO))
    with service.ledger.read() as reader:
        head = reader.head()
    for secret in SECRETS:
        refused = post(service, path, body(f"Use this: {secret}"), headers)
        problem = refused.json()
        assert (refused.status_code, problem["code"], problem["ok"]) == (400, "secret_in_text", False), refused.text
        assert [error["pointer"] for error in problem["errors"]] == [pointer]
        assert "replace the secret" in problem["detail"]
        assert secret[:30] not in refused.text
        assert secret[:30] not in caplog.text
        assert traces(service, secret) == []
    with service.ledger.read() as reader:
        assert reader.head() == head
    harmless = post(service, path, body("0x" + "ab" * 32), headers)
    assert harmless.json().get("code") != "secret_in_text"


def test_every_route_with_a_body_keeps_its_texts_or_is_known_to_keep_none(tmp_path):
    stores = Stores(Settings(_env_file=None, data_dir=tmp_path))
    routes = [route for route in build_rooms(stores, lambda: None).routes if isinstance(route, APIRoute)]
    reading = {
        route.operation_id
        for route in routes
        if isinstance(route, JsonRoute) and route.body_field is not None and not route.keeps_texts
    }
    assert reading == {"guardrail_check", "world_model_query", "blink_guardrail_post", "blink_worldmodel_post"}


def test_the_guardrail_judges_an_action_with_a_secret_and_keeps_nothing_of_it(service):
    log, headers = service.stores.guardrail_log, bearer(service.key())
    for number, secret in enumerate(SECRETS):
        (answer,) = service.check(headers, json={"action": f"post to a forum: {secret}"})
        assert (answer.status_code, "passed" in answer.json()["data"]) == (200, True)
        log.write()
        kept = list(log.after(0, 10))[number]
        assert kept.check_id == answer.json()["data"]["check_id"]
        assert traces(service, secret) == []


def test_a_tool_of_connect_refuses_what_it_would_keep_and_judges_the_rest(service):
    with service.ledger.transaction() as tx:
        code = issue_code(tx, service.pepper).code

    def call(tool: str, **arguments):
        body = message("tools/call", {"name": tool, "arguments": arguments})
        (answer,) = service.ask(("POST", "/mcp", HERE, {"content": body}))
        result = answer.json()["result"]
        return json.loads(result["content"][0]["text"]), result.get("isError", False)

    refused, failed = call("svc_connect_handshake", pairing_code=code, agent=PHRASE)
    assert (refused["code"], failed) == ("secret_in_text", True)
    token = call("svc_connect_handshake", pairing_code=code)[0]["session_token"]
    call("svc_connect_plan", session_token=token)
    for tool, arguments in (
        ("svc_connect_talk", {"question": f"Is this right: {PHRASE}?"}),
        ("svc_connect_report_step", {"step_id": "any", "outcome": "failed", "detail": PHRASE}),
    ):
        refused, failed = call(tool, session_token=token, **arguments)
        assert (refused["code"], failed, "winner" in json.dumps(refused)) == ("secret_in_text", True, False), tool
    verdict, failed = call("svc_guardrail_check", session_token=token, action=PHRASE)
    assert (failed, "passed" in verdict) == (False, True)
    unpaired, _ = call("svc_connect_talk", session_token="nobody", question=PHRASE)
    assert unpaired["code"] == "session_required"
    service.stores.guardrail_log.write()
    assert traces(service, PHRASE) == []
