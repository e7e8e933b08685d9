"""A paired session reaches the rest of the service through tools: the answers of the HTTP routes, and their
problems."""

import json
from datetime import UTC, datetime

import pytest
from eth_account import Account
from eth_account.messages import encode_typed_data
from keyed_service import bearer, serving
from mcp_service import JSON, message

from contracts.access.tiers import Role
from contracts.errors import StoreBusy
from guardrail.approval import Approval, make_token
from warehouse.access.keys import revoke_key
from warehouse.connect.sessions import find_session, issue_code, opened_graph
from warehouse.guardrail.log import open_guardrail_log
from warehouse.world.forget import callers_of

HERE = {**JSON, "host": "127.0.0.1:8000"}
OWN = "profile:svc-pair"
INTAKE = {
    "lane": "agent",
    "agentId": "agent-seven",
    "serviceOffer": "answers questions",
    "endpoint": "https://agent.example",
    "consent": True,
}


@pytest.fixture
def service(ledger_settings):
    with serving(ledger_settings.model_copy(update={"rate_limit_per_minute": 0})) as running:
        yield running


def call(service, tool, **arguments):
    """Returns the fields that a tool answers, and whether it failed."""
    body = message("tools/call", {"name": tool, "arguments": arguments})
    (answer,) = service.ask(("POST", "/mcp", HERE, {"content": body}))
    result = answer.json()["result"]
    return json.loads(result["content"][0]["text"]), result.get("isError", False)


def paired(service):
    with service.ledger.transaction() as tx:
        code = issue_code(tx, service.pepper).code
    fields, _ = call(service, "svc_connect_handshake", pairing_code=code)
    return fields["session_token"]


def test_the_graph_is_what_is_public_and_the_session_s_own(service):
    for owner, title in ((OWN, "Mine"), ("profile:another", "Theirs")):
        signal = {"type": "Goal", "title": title, "source": "a test"}
        sent = ("POST", "/api/v2/world-model/signal", bearer(service.key(owner=owner)), {"json": signal})
        assert service.ask(sent)[0].status_code == 201
    token = paired(service)
    found, failed = call(service, "svc_world_query", session_token=token, node_types=["Goal"])
    assert ([node["title"] for node in found["nodes"]], failed) == (["Mine"], False)
    same = service.ask(
        ("POST", "/api/v2/world-model/query", bearer(service.key(owner=OWN)), {"json": {"node_types": ["Goal"]}})
    )
    assert same[0].json()["data"] == found


def test_a_check_is_the_engine_s_and_its_text_is_kept_until_the_session_s_profile_is_forgotten(service):
    token = paired(service)
    action = "rm -rf ~ # " + "x" * 3_000
    verdict, failed = call(service, "svc_guardrail_check", session_token=token, action=action)
    assert (verdict["passed"], verdict["matched_guardrails"], failed) == (False, ["lost-files.home-or-system"], False)
    with service.ledger.read() as reader:
        callers = callers_of(reader, OWN)
    service.stores.guardrail_log.close()
    service.stores._guardrail_log = None
    log = open_guardrail_log(service.settings, service.settings.data_dir)
    (kept,) = log.after(0, 10)
    seen = log.known(verdict["digest"])
    log.forget(callers)
    forgotten = log.known(verdict["digest"])
    log.close()
    assert (kept.source, kept.check_id) == ("mcp", verdict["check_id"])
    assert token not in repr(kept)
    assert seen is not None
    assert (seen.action, forgotten) == (action[:2_000], None)


def test_an_intake_is_found_by_its_id_or_by_the_session(service):
    token = paired(service)
    (registered,) = service.ask(("POST", "/api/intake", {}, {"json": INTAKE}))
    intake_id = registered.json()["intakeId"]
    status, failed = call(service, "svc_intake_status", session_token=token, intake_id=intake_id)
    assert (status["intakeId"], failed) == (intake_id, False)
    assert status == service.ask(("GET", f"/api/intake/{intake_id}", {}, {}))[0].json()
    problem, failed = call(service, "svc_intake_status", session_token=token)
    assert (problem["code"], failed) == ("intake_not_found", True)


@pytest.mark.parametrize(
    ("tool", "arguments", "code"),
    [
        ("svc_guardrail_check", {"action": ""}, "arguments_invalid"),
        ("svc_guardrail_check", {"action": " "}, "arguments_invalid"),
        ("svc_guardrail_check", {"action": "a\0b"}, "arguments_invalid"),
        ("svc_guardrail_check", {"action": "ls", "severity": "LOW"}, "arguments_invalid"),
        ("svc_world_query", {"cursor": "nonsense"}, "cursor_invalid"),
        ("svc_world_query", {"limit": 1001}, "arguments_invalid"),
        ("svc_world_query", {"domain": "NOWHERE"}, "arguments_invalid"),
        ("svc_world_query", {"node_types": ["Nope"]}, "arguments_invalid"),
        ("svc_world_query", {"at_revision": 10**9}, "arguments_invalid"),
        ("svc_intake_status", {"intake_id": "0" * 32}, "intake_not_found"),
        ("svc_intake_status", {"intake_id": "../x"}, "intake_not_found"),
        ("svc_connect_talk", {}, "arguments_invalid"),
        ("svc_connect_report_step", {"step_id": "x", "outcome": "done"}, "plan_required"),
    ],
)
def test_a_problem_says_what_to_do(service, tool, arguments, code):
    problem, failed = call(service, tool, session_token=paired(service), **arguments)
    assert (failed, problem["code"], problem["retryable"]) == (True, code, False)
    assert problem["detail"]
    assert problem["fix"]


def test_a_failing_store_is_worth_a_retry(service):
    token = paired(service)

    class Broken:
        def __getattr__(self, name):
            raise StoreBusy("The log is locked.", cure="Wait.")

    service.stores._guardrail_log, log = Broken(), service.stores.guardrail_log
    problem, failed = call(service, "svc_guardrail_check", session_token=token, action="ls")
    service.stores._guardrail_log = log
    assert (failed, problem["code"], problem["retryable"], problem["retry_after"]) == (
        True,
        "store_unavailable",
        True,
        2,
    )


def test_an_approval_of_the_session_s_owner_lets_one_check_of_a_tool_pass(service):
    token = paired(service)
    asked = {"session_token": token, "action": "rm -rf ~"}
    blocked, _ = call(service, "svc_guardrail_check", **asked)
    operator = bearer(service.key(owner="local:operator", role=Role.OPERATOR))
    approvals = {}
    for owner in (OWN, "profile:another"):
        body = {"digest": blocked["digest"], "owner": owner}
        (answer,) = service.ask(("POST", "/api/v2/guardrail/approvals", operator, {"json": body}))
        approvals[owner] = {"context": {"approval_token": answer.json()["data"]["approval_token"]}}
    outcomes = []
    for owner in ("profile:another", OWN, OWN):
        verdict, failed = call(service, "svc_guardrail_check", **asked, **approvals[owner])
        outcomes.append((verdict["approval"], verdict["passed"], failed))
    assert outcomes == [("other_owner", False, False), ("accepted", True, False), ("taken", False, False)]


def test_an_approval_that_the_ledger_can_not_take_is_a_problem_of_the_store(service):
    token = paired(service)
    asked = {"session_token": token, "action": "rm -rf ~"}
    blocked, _ = call(service, "svc_guardrail_check", **asked)
    key, expires_at = service.stores.secrets.approval_key, int(datetime.now(UTC).timestamp()) + 600
    approval = make_token(Approval(blocked["digest"], OWN, expires_at, "a" * 32), key)
    ledger = service.stores._ledger

    def busy():
        raise StoreBusy("The ledger stayed locked.", cure="Wait.")

    ledger.transaction = busy
    problem, failed = call(service, "svc_guardrail_check", **asked, context={"approval_token": approval})
    assert (problem["code"], problem["retryable"], failed) == ("store_unavailable", True, True)


# The graph of a key.


def titles(service, token):
    found, failed = call(service, "svc_world_query", session_token=token, node_types=["Goal"], scope="own")
    assert not failed
    return [node["title"] for node in found["nodes"]]


def stated(service, owner, title):
    """Returns a key of `owner`, who has one goal."""
    issued = service.key(owner=owner)
    signal = {"type": "Goal", "title": title, "source": "a test"}
    (answer,) = service.ask(("POST", "/api/v2/world-model/signal", bearer(issued), {"json": signal}))
    assert answer.status_code == 201
    return issued


@pytest.mark.both_engines
def test_a_session_sees_the_graph_of_a_key_after_the_key_was_presented_in_it(service):
    issued, other = stated(service, "local:ada", "Ada's"), stated(service, "local:bob", "Bob's")
    token, another = paired(service), paired(service)
    assert titles(service, token) == []
    opened, failed = call(service, "svc_connect_graph", session_token=token, api_key=issued.key.reveal())
    assert (opened["owner"], opened["by"], failed) == ("local:ada", "key", False)
    assert issued.key.reveal() not in json.dumps(opened)
    assert (titles(service, token), titles(service, another)) == (["Ada's"], [])

    body = message("tools/call", {"name": "svc_connect_graph", "arguments": {"session_token": token}})
    (answer,) = service.ask(("POST", "/mcp", HERE | bearer(other), {"content": body}))
    assert answer.json()["result"]["structuredContent"]["owner"] == "local:bob"
    assert titles(service, token) == ["Bob's"]

    for wrong in ({"api_key": "svc_free_wrong"}, {}):
        refused, failed = call(service, "svc_connect_graph", session_token=token, **wrong)
        assert (refused["code"], failed) == ("key_rejected", True)
    assert titles(service, token) == ["Bob's"]


@pytest.mark.both_engines
def test_a_revoked_key_closes_the_graph_that_it_opened(service):
    issued, token = stated(service, "local:ada", "Ada's"), paired(service)
    call(service, "svc_connect_graph", session_token=token, api_key=issued.key.reveal())
    assert titles(service, token) == ["Ada's"]
    service.change(revoke_key, issued)
    assert titles(service, token) == []
    assert call(service, "svc_connect_graph", session_token=token, api_key=issued.key.reveal())[1]


def test_an_address_that_signs_opens_its_own_graph_and_no_other(service):
    account, stranger = Account.from_key("0x" + "11" * 32), Account.from_key("0x" + "22" * 32)
    address = account.address.lower()
    stated(service, address, "Ada's")
    token = paired(service)

    def asked():
        fields, failed = call(service, "svc_connect_graph", session_token=token, address=account.address)
        assert (fields["owner"], fields["by"], failed) == (None, None, False)
        return fields

    def signed(by, fields, **changed):
        signable = encode_typed_data(full_message=fields["typed_data"])
        proof = {"type": "eip712", "signature": "0x" + by.sign_message(signable).signature.hex().removeprefix("0x")}
        sent = {"address": address, "issued_at": fields["issued_at"], "proof": proof} | changed
        return call(service, "svc_connect_graph", session_token=token, **sent)

    fields = asked()
    for by, changed in (
        (stranger, {}),
        (account, {"issued_at": fields["issued_at"] - 1}),
        (account, {"address": stranger.address}),
    ):
        refused, failed = signed(by, fields, **changed)
        assert (refused["code"], failed) == ("signature_rejected", True)
    assert titles(service, token) == []
    opened, failed = signed(account, fields)
    assert (opened["owner"], opened["by"], failed) == (address, "signature", False)
    assert titles(service, token) == ["Ada's"]

    another = paired(service)
    proof = {"type": "eip712", "signature": "0x" + "00" * 65}
    sent = {"address": address, "issued_at": fields["issued_at"], "proof": proof}
    assert call(service, "svc_connect_graph", session_token=another, **sent)[0]["code"] == "signature_rejected"
    call(service, "svc_connect_close", session_token=token)
    with service.ledger.read() as reader:
        assert opened_graph(reader, find_session(reader, service.pepper, token).session_id) is None
