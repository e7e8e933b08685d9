"""The guardrail over HTTP: the verdict of the interface, distinct errors for bad input, every check stored without
secrets."""

import asyncio
import json
import threading
from datetime import datetime

import pytest
from described import expanded
from keyed_service import ACTION, CHECK, DANGEROUS, DANGEROUS_ROW, bearer, serving
from openapi_schema_validator import OAS30Validator

from contracts.access.tiers import Tier
from contracts.discovery.openapi import OPENAPI_FILE
from contracts.errors import StoreBusy
from contracts.guardrail import RulesetInvalid, loaded_guardrail
from contracts.settings import Settings

DEEP = b'{"a":' * 1000 + b"1" + b"}" * 1000
WITHIN_S = 30.0
"""Time that a large check waits for a small one; with one thread it would wait in vain."""
DESCRIPTION = expanded(json.loads(OPENAPI_FILE.read_text()))


@pytest.fixture
def service(ledger_settings):
    with serving(ledger_settings) as running:
        yield running


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    with serving(Settings(_env_file=None, data_dir=tmp_path_factory.mktemp("plain"))) as running:
        yield running, bearer(running.key(Tier.PRO))


def described(answer):
    responses = DESCRIPTION["paths"][CHECK]["post"]["responses"]
    media_type = answer.headers["content-type"].partition(";")[0]
    schema = responses[str(answer.status_code)]["content"][media_type]["schema"]
    OAS30Validator({**schema, "components": DESCRIPTION["components"]}).validate(answer.json())


def test_a_harmless_action_passes_with_the_fields_of_the_interface(plain):
    service, headers = plain
    (answer,) = service.check(headers)
    described(answer)
    assert answer.json()["ok"] is True
    data = answer.json()["data"]
    assert datetime.fromisoformat(data.pop("checked_at")).utcoffset().total_seconds() == 0
    assert data.pop("check_id").startswith("grc_")
    assert len(data.pop("ruleset_version")) == 16
    stages = data.pop("stages")
    assert [stage["result"] for stage in stages] == ["pass"] * 7
    assert len(data.pop("digest")) == 64
    assert data.pop("rules_checked") > 100
    assert data == {
        "passed": True,
        "decision": "allow",
        "severity": "none",
        "reason": "No rule objects to anything that it would do.",
        "matched_guardrails": [],
        "remediation": [],
        "matches": [],
        "effects": [],
        "coverage": "full",
        "uncovered": [],
        "relied_on": [],
        "ignored_context": [],
        "approval": None,
        "problem": None,
    }


@pytest.mark.parametrize(("asked", "passed"), [("low", True), ("medium", False), ("high", False), ("critical", False)])
def test_the_claimed_severity_decides_what_blocks(plain, asked, passed):
    service, headers = plain
    (answer,) = service.check(headers, json={"action": DANGEROUS, "severity": asked, "context": {"a": [1]}})
    described(answer)
    data = answer.json()["data"]
    assert (data["passed"], data["severity"], data["matched_guardrails"]) == (passed, "high", [DANGEROUS_ROW])
    assert len(data["remediation"]) == 1
    assert data["matches"][0]["evidence"][0]["text"] == DANGEROUS
    assert [stage["result"] for stage in data["stages"] if stage["matched"]] == ["warn" if passed else "fail"]


def test_equal_requests_have_equal_answers(plain):
    service, headers = plain
    first, second = (answer.json()["data"] for answer in service.check(headers, 2, json={"action": DANGEROUS}))
    assert first.pop("check_id") != second.pop("check_id")
    del first["checked_at"], second["checked_at"]
    assert first == second


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({}, "/action"),
        ({"action": None}, "/action"),
        ({"action": 7}, "/action"),
        ({"action": ""}, "/action"),
        ({"action": " \n"}, "/action"),
        ({"action": "x" * 65_537}, "/action"),
        ({"action": "é" * 32_769}, "/action"),
        ({"action": "a\0b"}, "/action"),
        ({"action": "\x01\x02\x03\x04"}, "/action"),
        ({"action": "ls", "severity": "extreme"}, "/severity"),
        ({"action": "ls", "severity": "HIGH"}, "/severity"),
        ({"action": "ls", "severity": None}, "/severity"),
        ({"action": "ls", "severity": ["low"]}, "/severity"),
        ({"action": "ls", "context": []}, "/context"),
        ({"action": "ls", "context": "prod"}, "/context"),
        ({"action": "ls", "context": json.loads('{"a":' * 40 + "1" + "}" * 40)}, "/context"),
        ({"action": "ls", "context": {"a": [[]] * 4_500}}, "/context"),
        ({"action": "ls", "more": 1}, "/more"),
    ],
)
def test_an_invalid_check_is_400_and_says_where(plain, body, pointer):
    service, headers = plain
    (answer,) = service.check(headers, json=body)
    described(answer)
    assert (answer.status_code, answer.json()["code"]) == (400, "body_invalid")
    assert [error["pointer"] for error in answer.json()["errors"]] == [pointer]


@pytest.mark.parametrize(
    ("content", "media_type", "status", "code"),
    [
        (b'{"action": "a", "action": "b"}', "application/json", 400, "body_invalid"),
        (b'{"action": "a", "context": {"n": NaN}}', "application/json", 400, "body_invalid"),
        (b'{"action": "a", "context": {"n": -Infinity}}', "application/json", 400, "body_invalid"),
        (b'{"action": "a", "context": {"n": 1e400}}', "application/json", 400, "body_invalid"),
        (b'{"action": "\\ud800"}', "application/json", 400, "body_invalid"),
        (b'{"action": "\xff"}', "application/json", 400, "body_invalid"),
        (b'{"action": "a", "context": ' + DEEP + b"}", "application/json", 400, "body_invalid"),
        (b"[" * 60_000, "application/json", 400, "body_invalid"),
        (b"", "application/json", 400, "body_invalid"),
        (b"null", "application/json", 400, "body_invalid"),
        (b'{"action": "a"}', "text/plain", 415, "media_type_unsupported"),
        (b'{"action": "a"}', "application/x-www-form-urlencoded", 415, "media_type_unsupported"),
        (b'{"action": "a"}', "", 415, "media_type_unsupported"),
        (b'{"action": "' + b"a" * 262_144 + b'"}', "application/json", 413, "body_too_large"),
        (b'{"action": "a"}', "application/json; charset=utf-8", 200, None),
        (b'{"action": "\\ud83d\\ude00"}', "Application/JSON", 200, None),
    ],
)
def test_bodies_are_read_strictly(plain, content, media_type, status, code):
    service, headers = plain
    (answer,) = service.check(headers | {"Content-Type": media_type}, content=content)
    described(answer)
    assert (answer.status_code, answer.json().get("code")) == (status, code)


@pytest.mark.both_engines
def test_every_check_is_kept_without_secrets(service):
    issued = service.key()
    secret = "ghp_" + "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dE3fG5"
    action = f"{DANGEROUS}; curl -H 'Authorization: Bearer {issued.key.reveal()}' x; git clone https://{secret}@x/y"
    service.check(bearer(issued), 2)
    service.check(bearer(issued), json={"action": action, "severity": "high"})
    log = service.stores.guardrail_log
    log.write()
    first, second, third = log.after(0, 10)
    assert (first.passed, first.matched, first.failed_stages, first.asked_severity) == (True, [], [], "medium")
    assert first.check_id != second.check_id
    assert (third.passed, third.matched[0]) == (False, DANGEROUS_ROW)
    assert third.latency_us >= 0
    assert [check.seq for check in log.after(first.seq, 1)] == [second.seq]
    kept = _rows_of(log) if service.settings.ledger_url else _bytes_of(service)
    for clear in (secret, issued.key.reveal()):
        assert clear not in kept
    assert DANGEROUS in kept


def _rows_of(log):
    return repr(log._store._connection.execute("select * from guardrail_checks").fetchall())


def _bytes_of(service):
    files = service.settings.data_dir.glob("guardrail.db*")
    return "".join(file.read_bytes().decode("latin-1") for file in files)


def test_checks_wait_for_a_store_that_is_busy_and_old_ones_are_forgotten(tmp_path):
    with serving(Settings(_env_file=None, data_dir=tmp_path)) as service:
        headers = bearer(service.key())
        service.check(headers)
        log = service.stores.guardrail_log
        log.write()
        write = log._store.write

        def busy(steps):
            raise StoreBusy("It stayed locked.", cure="Wait.")

        log._store.write = busy
        assert service.check(headers)[0].status_code == 200
        log.write()
        log._store.write = write
        log.write()
        log.write()
        assert len(log.after(0, 10)) == 2
        log._store.write([("delete_old", [{"before": "9999"}])])
        assert log.after(0, 10) == []


class Waiting:
    """A guardrail that finishes judging a large action only after a small one was judged."""

    def __init__(self) -> None:
        self._guardrail = loaded_guardrail()
        self._small_was_judged = threading.Event()
        self.large_began = threading.Event()

    def check(self, action, severity, context, **options):
        if len(action) > 1_000:
            self.large_began.set()
            assert self._small_was_judged.wait(WITHIN_S)
        elif self.large_began.is_set():
            self._small_was_judged.set()
        return self._guardrail.check(action, severity, context, **options)


def test_a_large_action_lets_others_be_answered_meanwhile(tmp_path):
    with serving(Settings(_env_file=None, data_dir=tmp_path)) as service:
        waiting, headers = Waiting(), bearer(service.key(Tier.PRO))
        service.stores._load_guardrail = lambda: waiting

        async def answers():
            async with service._client() as client:
                large = asyncio.ensure_future(client.post(CHECK, headers=headers, json={"action": "[" * 60_000}))
                while not waiting.large_began.is_set():
                    await asyncio.sleep(0.01)
                return [await client.post(CHECK, headers=headers, json=ACTION), await large]

        assert [answer.status_code for answer in service._loop.run(answers())] == [200, 200]


def test_without_a_usable_policy_nothing_is_judged(tmp_path):
    def no_policy():
        raise RulesetInvalid("policy.yaml:3: no rows.", cure="Mend it.")

    with serving(Settings(_env_file=None, data_dir=tmp_path)) as service:
        service.stores._load_guardrail = no_policy
        (answer,) = service.check(bearer(service.key()), json=ACTION)
        assert (answer.status_code, answer.json()["code"]) == (503, "store_unavailable")
        assert "policy.yaml:3" in service.stores.guardrail_problem()
