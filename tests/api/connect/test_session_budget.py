"""Messages of a paired session count against that session's budget, 120 per minute; all others against the address."""

import json
from datetime import UTC, datetime

import pytest
from keyed_service import serving
from mcp_service import JSON, message

from contracts.connect.key_server import KEY_MCP_PATH
from contracts.connect.server import SESSION_REQUESTS_A_MINUTE
from warehouse.connect.sessions import close_session, find_session, issue_code

ADDRESS_LIMIT = 3
HERE = {**JSON, "host": "127.0.0.1:8000"}


@pytest.fixture
def service(ledger_settings):
    with serving(ledger_settings.model_copy(update={"rate_limit_per_minute": ADDRESS_LIMIT})) as running:
        # not in the last second of a minute, which would give the budgets twice
        running.now_s = datetime.now(UTC).timestamp() // 60 * 60 + 5
        yield running


def post(body, **headers):
    return ("POST", "/mcp", HERE | headers, {"content": body})


def call(tool, **arguments):
    return message("tools/call", {"name": tool, "arguments": arguments})


def paired(service):
    """Returns a session token; its handshake used one request of the address."""
    with service.ledger.transaction() as tx:
        code = issue_code(tx, service.pepper).code
    (answer,) = service.ask(post(call("svc_connect_handshake", pairing_code=code)))
    return answer.json()["result"]["structuredContent"]["session_token"]


def told(answer):
    return answer.status_code, answer.headers["ratelimit-policy"], answer.headers["ratelimit"].partition(";t=")[0]


@pytest.mark.both_engines
def test_a_session_has_its_own_budget_per_minute(service):
    token = paired(service)
    status = post(call("svc_connect_status", session_token=token))
    *answers, last = service.ask(*[status] * (SESSION_REQUESTS_A_MINUTE + 1))
    policy = f'"session";q={SESSION_REQUESTS_A_MINUTE};w=60'
    assert told(answers[0]) == (200, policy, f'"session";r={SESSION_REQUESTS_A_MINUTE - 1}')
    assert {answer.status_code for answer in answers} == {200}
    assert told(last) == (429, policy, '"session";r=0')
    error = last.json()["error"]
    assert (error["data"]["code"], error["data"]["retryable"]) == ("session_limited", True)
    assert str(error["data"]["retryAfter"]) == last.headers["retry-after"]
    assert told(service.ask(post(message("ping")))[0]) == (200, f'"permin";q={ADDRESS_LIMIT};w=60', '"permin";r=1')
    service.now_s += 60
    assert service.ask(status)[0].status_code == 200


def test_a_token_that_opens_nothing_counts_against_the_address(service):
    token = paired(service)
    bad = ["svcs_" + "a" * 43, "x", token[:-1], f"{token} "]
    answers = service.ask(*[post(call("svc_connect_status", session_token=each)) for each in bad])
    assert [answer.status_code for answer in answers] == [200, 200, 429, 429]
    assert '"permin"' in answers[0].headers["ratelimit-policy"]
    refused = answers[-1].json()
    assert (refused["id"], refused["error"]["data"]["code"]) == (1, "rate_limited")
    assert service.ask(post(call("svc_connect_status", session_token=token)))[0].status_code == 200


def test_a_session_that_has_ended_counts_against_the_address(service):
    token = paired(service)
    with service.ledger.transaction() as tx:
        close_session(tx, find_session(tx, service.pepper, token).session_id)
    (answer,) = service.ask(post(call("svc_connect_status", session_token=token)))
    assert told(answer) == (200, f'"permin";q={ADDRESS_LIMIT};w=60', '"permin";r=1')
    assert json.loads(answer.json()["result"]["content"][0]["text"])["code"] == "session_ended"


def test_a_session_takes_precedence_over_a_key_and_a_message_that_needs_no_key_ignores_it(service):
    token = paired(service)
    key = {"x-api-key": service.key().key.reveal()}
    of_session, of_key = service.ask(
        post(call("svc_connect_status", session_token=token), **key), post(message("ping"), **key)
    )
    assert told(of_session)[2] == f'"session";r={SESSION_REQUESTS_A_MINUTE - 1}'
    assert told(of_key)[2] == '"permin";r=1', "a message that needs no key does not use it"


def test_messages_by_key_other_than_tool_calls_use_the_addresss_minute_and_then_the_keys_day(service):
    key = HERE | {"authorization": f"Bearer {service.key().key.reveal()}"}
    ping, check = message("ping"), call("svc_guardrail_check", action="ls")
    bodies = [check, *[ping] * (ADDRESS_LIMIT + 1), check]
    answers = service.ask(*[("POST", KEY_MCP_PATH, key, {"content": body}) for body in bodies])
    assert [told(answer)[2] for answer in answers] == [
        '"daily";r=99',
        '"permin";r=2',
        '"permin";r=1',
        '"permin";r=0',
        '"daily";r=98',
        '"daily";r=97',
    ]


def test_a_token_elsewhere_in_the_message_counts_for_nothing(service):
    token = paired(service)
    (answer,) = service.ask(post(message("ping", {"session_token": token})))
    assert '"permin"' in answer.headers["ratelimit-policy"]


def test_oversized_messages_are_counted_and_refused(service):
    async def in_pieces():
        yield b" " * 40_000
        yield b" " * 40_000

    asked = [post("x" * 70_000), post("x" * 70_000), post(in_pieces()), post("x")]
    assert [answer.status_code for answer in service.ask(*asked)] == [413, 413, 413, 429]


def test_without_rate_limits_sessions_have_none_either(ledger_settings):
    with serving(ledger_settings.model_copy(update={"rate_limit_per_minute": 0})) as service:
        token = paired(service)
        (answer,) = service.ask(post(call("svc_connect_status", session_token=token)))
        assert (answer.status_code, "ratelimit-policy" in answer.headers) == (200, False)
