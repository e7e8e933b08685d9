"""Approvals over HTTP: who may give one, which check its token passes once, and what it never permits."""

from __future__ import annotations

import asyncio
import json
import re
from datetime import UTC, datetime, timedelta

import pytest
from keyed_service import ACTION, CHECK, DANGEROUS, KeyedService, bearer, serving

from contracts.access.tiers import Role, Tier
from contracts.errors import StoreBusy
from contracts.guardrail_approvals import LONGEST_APPROVAL, USUAL_APPROVAL
from contracts.secrets import derive_secrets
from contracts.settings import Settings
from guardrail.approval import Approval, make_token
from warehouse.access.keys import find_key, rotate_key

APPROVALS = "/api/v2/guardrail/approvals"
CHECKED = {"action": DANGEROUS, "severity": "medium", "context": {"environment": "production"}}
AGENT = "local:agent"


@pytest.fixture
def service(ledger_settings):
    with serving(ledger_settings.model_copy(update={"rate_limit_per_minute": 0})) as running:
        yield running


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    settings = Settings(_env_file=None, data_dir=tmp_path_factory.mktemp("plain"), rate_limit_per_minute=0)
    with serving(settings) as running:
        yield running


def headers_of(service: KeyedService, owner: str = AGENT, role: Role = Role.CALLER) -> dict[str, str]:
    return bearer(service.key(Tier.PRO, owner, role=role))


def operators(service: KeyedService) -> dict[str, str]:
    return headers_of(service, "local:operator", Role.OPERATOR)


def checked(service: KeyedService, headers: dict[str, str], token: object = None, **changed: object) -> dict:
    """Returns the verdict on the action, with the token in its context if there is one."""
    body = {**CHECKED, **changed}
    if token is not None:
        body["context"] = {**body["context"], "approval_token": token}
    (answer,) = service.check(headers, json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()["data"]


def approve(service: KeyedService, headers: dict[str, str], status: int = 201, **body: object) -> dict:
    key = body.pop("idempotency_key", None)
    more = {} if key is None else {"Idempotency-Key": key}
    (answer,) = service.ask(("POST", APPROVALS, headers | more, {"json": body}))
    assert answer.status_code == status, answer.text
    return answer.json()


def token_for(service: KeyedService, digest: str, owner: str = AGENT, **options: object) -> str:
    return approve(service, operators(service), digest=digest, owner=owner, **options)["data"]["approval_token"]


@pytest.mark.both_engines
def test_an_approved_action_passes_once(service):
    agent = headers_of(service)
    blocked = checked(service, agent)
    assert (blocked["passed"], blocked["approval"]) == (False, None)
    before = datetime.now(UTC)
    made = approve(service, operators(service), digest=blocked["digest"], owner=AGENT)["data"]
    lives = datetime.fromisoformat(made["expires_at"]) - before
    assert timedelta(seconds=-1) <= lives - USUAL_APPROVAL <= timedelta(seconds=30)
    assert (made["digest"], made["owner"]) == (blocked["digest"], AGENT)
    passed = checked(service, agent, made["approval_token"])
    assert (passed["passed"], passed["decision"], passed["approval"]) == (True, "allow", "accepted")
    assert passed["relied_on"][0]["source"] == "approval_token"
    assert [passed[name] for name in ("digest", "matches")] == [blocked[name] for name in ("digest", "matches")]
    again = checked(service, agent, made["approval_token"])
    assert (again["passed"], again["approval"]) == (False, "taken")
    assert made["approval_token"] not in json.dumps([passed, again])


@pytest.mark.both_engines
def test_only_one_of_simultaneous_checks_with_one_token_passes(service):
    agent = headers_of(service)
    token = token_for(service, checked(service, agent)["digest"])
    body = {**CHECKED, "context": {**CHECKED["context"], "approval_token": token}}
    answers = service.ask_at_once(*[("POST", CHECK, agent, {"json": body})] * 12)
    verdicts = [answer.json()["data"] for answer in answers]
    assert sorted(verdict["approval"] for verdict in verdicts) == ["accepted"] + ["taken"] * 11
    assert sum(verdict["passed"] for verdict in verdicts) == 1


def test_a_token_is_for_one_action_and_one_owner(plain):
    agent = headers_of(plain)
    token = token_for(plain, checked(plain, agent)["digest"])
    refused = {
        "other_action": (
            checked(plain, agent, token, action=f"{DANGEROUS} "),
            checked(plain, agent, token, severity="high"),
            checked(plain, agent, token, context={}),
            checked(plain, agent, token, context={"environment": "production", "approved": True}),
        ),
        "other_owner": (
            checked(plain, headers_of(plain, "local:other"), token),
            checked(plain, operators(plain), token),
        ),
    }
    for outcome, verdicts in refused.items():
        assert [(verdict["passed"], verdict["approval"]) for verdict in verdicts] == [(False, outcome)] * len(verdicts)
    # None of these attempts used the token up, and another key of the owner may use it.
    assert checked(plain, headers_of(plain), token)["passed"]


def test_a_token_that_is_forged_damaged_or_expired_lets_nothing_pass(plain):
    agent, key = headers_of(plain), plain.stores.secrets.approval_key
    digest = checked(plain, agent)["digest"]
    now_s = int(datetime.now(UTC).timestamp())
    good = token_for(plain, digest)
    head, payload, signature = good.split(".")
    other = make_token(Approval(digest, AGENT, now_s + 600, "a" * 32), derive_secrets("n" * 32).approval_key)
    peppered = make_token(Approval(digest, AGENT, now_s + 600, "b" * 32), plain.stores.secrets.pepper)
    outcomes = {
        other: "forged",
        peppered: "forged",
        f"{head}.{payload}.{other.split('.')[2]}": "forged",
        f"{head}.{payload}": "malformed",
        f"{good}.": "malformed",
        f"svcga2.{payload}.{signature}": "malformed",
        make_token(Approval(digest, AGENT, now_s, "c" * 32), key): "expired",
    }
    for token, outcome in outcomes.items():
        verdict = checked(plain, agent, token)
        assert (verdict["passed"], verdict["approval"], verdict["digest"]) == (False, outcome, digest)
    for unusable in (7, ["x"], {"a": "b"}, True):
        (answer,) = plain.check(agent, json={**CHECKED, "context": {"approval_token": unusable}})
        assert (answer.status_code, answer.json()["code"]) == (400, "body_invalid")
    assert checked(plain, agent, good)["passed"]


def test_an_action_that_passes_uses_no_token_up(plain):
    agent = headers_of(plain)
    harmless = checked(plain, agent, action=ACTION["action"])
    token = token_for(plain, harmless["digest"])
    for _ in range(2):
        verdict = checked(plain, agent, token, action=ACTION["action"])
        assert (verdict["passed"], verdict["approval"]) == (True, None)


def test_only_an_operator_approves_and_never_for_itself(plain):
    agent, operator = headers_of(plain), operators(plain)
    digest = checked(plain, agent)["digest"]
    problem = approve(plain, agent, 403, digest=digest, owner="local:other")
    assert (problem["code"], problem["retryable"]) == ("operator_role_needed", False)
    assert approve(plain, agent, 403, digest=digest, owner=AGENT)["code"] == "operator_role_needed"
    assert approve(plain, operator, 403, digest=digest, owner="local:operator")["code"] == "own_approval"
    second = headers_of(plain, "0x" + "ab" * 20, Role.OPERATOR)
    assert approve(plain, second, 403, digest=digest, owner="0x" + "AB" * 20)["code"] == "own_approval"
    assert approve(plain, {}, 401, digest=digest, owner=AGENT)["code"] == "unauthorized"
    own = checked(plain, operator)
    assert (own["passed"], own["digest"]) == (False, digest)
    token = approve(plain, second, digest=digest, owner="local:operator")["data"]["approval_token"]
    assert checked(plain, operator, token)["passed"]


def test_a_rotated_operators_key_keeps_its_role(plain):
    issued = plain.key(owner="local:operator", role=Role.OPERATOR)
    rotated = plain.change(lambda tx, key_id, now: rotate_key(tx, plain.pepper, key_id, now=now), issued)
    assert rotated.record.role is Role.OPERATOR
    with plain.ledger.read() as reader:
        assert find_key(reader, rotated.record.key_id).role is Role.OPERATOR
    assert approve(plain, bearer(rotated), digest="a" * 64, owner=AGENT)["ok"] is True
    approve(plain, bearer(issued), 401, digest="a" * 64, owner=AGENT)


@pytest.mark.parametrize(
    ("changed", "pointer"),
    [
        ({"digest": "a" * 63}, "/digest"),
        ({"digest": "A" * 64}, "/digest"),
        ({"digest": "a" * 64 + "\n"}, "/digest"),
        ({"digest": None}, "/digest"),
        ({"owner": ""}, "/owner"),
        ({"owner": "alice"}, "/owner"),
        ({"owner": "local:"}, "/owner"),
        ({"owner": "local: a"}, "/owner"),
        ({"owner": "local:a\nb"}, "/owner"),
        ({"owner": "local:a\u0007b"}, "/owner"),
        ({"owner": "0x" + "a" * 39}, "/owner"),
        ({"owner": "local:" + "a" * 200}, "/owner"),
        ({"owner": "local:" + "😀" * 150}, "/owner"),
        ({"owner": 7}, "/owner"),
        ({"expires_in": 0}, "/expires_in"),
        ({"expires_in": 3_601}, "/expires_in"),
        ({"expires_in": "600"}, "/expires_in"),
        ({"expires_in": True}, "/expires_in"),
        ({"more": 1}, "/more"),
    ],
)
def test_an_invalid_approval_is_400_and_says_where(plain, changed, pointer):
    problem = approve(plain, operators(plain), 400, **{"digest": "a" * 64, "owner": AGENT, **changed})
    assert problem["code"] == "body_invalid"
    assert [error["pointer"] for error in problem["errors"]] == [pointer]


def test_a_token_lives_an_hour_at_most(plain):
    most = int(LONGEST_APPROVAL.total_seconds())
    made = approve(plain, operators(plain), digest="a" * 64, owner=AGENT, expires_in=most)["data"]
    assert datetime.fromisoformat(made["expires_at"]) <= datetime.now(UTC) + LONGEST_APPROVAL


def test_requests_with_one_idempotency_key_share_one_use(plain):
    agent, operator = headers_of(plain), operators(plain)
    digest = checked(plain, agent)["digest"]
    asked = {"digest": digest, "owner": AGENT, "idempotency_key": "again"}
    first, second = (approve(plain, operator, **asked)["data"]["approval_token"] for _ in range(2))
    another = approve(plain, headers_of(plain, "local:boss", Role.OPERATOR), **asked)["data"]["approval_token"]
    fresh = approve(plain, operator, digest=digest, owner=AGENT)["data"]["approval_token"]
    outcomes = [checked(plain, agent, token)["approval"] for token in (first, second, another, fresh)]
    assert outcomes == ["accepted", "taken", "accepted", "accepted"]


def test_a_check_without_a_fitting_token_opens_no_ledger(tmp_path):
    with serving(Settings(_env_file=None, data_dir=tmp_path, rate_limit_per_minute=0)) as service:
        agent = headers_of(service)
        digest = checked(service, agent)["digest"]
        token = token_for(service, digest)
        opened = service.stores._ledger

        def busy():
            raise StoreBusy("The ledger stayed locked.", cure="Wait.")

        opened.transaction = busy
        for other in (None, "svcga1.x.y"):
            assert not checked(service, agent, other)["passed"]
        with_token = {**CHECKED, "context": {**CHECKED["context"], "approval_token": token}}
        (answer,) = service.check(agent, json=with_token)
        assert (answer.status_code, answer.json()["code"]) == (503, "store_unavailable")
        assert "retry-after" in answer.headers
        del opened.transaction
        assert checked(service, agent, token)["approval"] == "accepted"


@pytest.mark.both_engines
def test_a_token_that_waits_for_a_locked_ledger_holds_up_no_other_check(service):
    agent = headers_of(service)
    token = token_for(service, checked(service, agent)["digest"])
    waiting = {**CHECKED, "context": {**CHECKED["context"], "approval_token": token}}

    async def answers() -> list[tuple[int, str | None]]:
        async with service._client() as client:
            under_way = [
                asyncio.create_task(client.post(CHECK, headers=agent, json=body)) for body in (waiting, CHECKED)
            ]
            done = [await each for each in asyncio.as_completed(under_way)]
        return [(answer.status_code, answer.json().get("code")) for answer in done]

    with service.ledger.transaction():
        assert service._loop.run(answers()) == [(200, None), (503, "store_unavailable")]
    assert checked(service, agent, token)["approval"] == "accepted"


def test_neither_a_log_nor_a_store_holds_a_token(tmp_path, caplog):
    caplog.set_level("DEBUG")
    with serving(Settings(_env_file=None, data_dir=tmp_path, rate_limit_per_minute=0)) as service:
        agent = headers_of(service)
        token = token_for(service, checked(service, agent)["digest"])
        assert checked(service, agent, token)["passed"]
        service.stores.guardrail_log.write()
        kept = "".join(file.read_bytes().decode("latin-1") for file in tmp_path.rglob("*") if file.is_file())
    signature = token.rpartition(".")[2]
    assert signature not in kept and signature not in caplog.text
    assert re.search(r"Key key_[0-9a-f]{32} approved [0-9a-f]{64} for local:agent: approval [0-9a-f]{32}", caplog.text)
