"""A key manages itself: its account, rotation that survives a lost reply, and revocation that takes effect everywhere
at once."""

from __future__ import annotations

import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
from keyed_service import KeyedService, bearer, serving, x_api_key

from contracts.access.account import AccountAnswer, RevocationAnswer, RotationAnswer
from contracts.access.tiers import Tier
from contracts.settings import Settings
from contracts.times import utc_day
from warehouse.access.keys import USES_KEPT, KeyUse, add_uses, find_key, list_keys, suspend_key
from warehouse.world.forget import forget_owner

ME, ROTATE, REVOKE = "/api/v2/me", "/api/v2/me/rotate", "/api/v2/me/revoke"


@pytest.fixture
def service(ledger_settings):
    with serving(ledger_settings.model_copy(update={"rate_limit_per_minute": 0})) as running:
        running.now_s = time.time()
        yield running


def account(service: KeyedService, headers: dict[str, Any], query: str = "") -> dict[str, Any]:
    (answer,) = service.ask(("GET", ME + query, headers, {}))
    assert answer.status_code == 200, answer.text
    AccountAnswer.model_validate_json(answer.content)
    return answer.json()["data"]


def rotation(headers: dict[str, Any], key: str) -> tuple[str, str, dict[str, Any], dict[str, Any]]:
    return "POST", ROTATE, headers | {"Idempotency-Key": key}, {}


def key_of(answer: httpx.Response) -> str:
    RotationAnswer.model_validate_json(answer.content)
    return str(answer.json()["data"]["activationPacket"]["apiKey"])


def works(service: KeyedService, key: str) -> bool:
    return service.check({"X-Api-Key": key})[0].status_code == 200


def test_a_key_reads_its_plan_its_quota_and_its_family(service):
    until = datetime.now(UTC).replace(microsecond=0) + timedelta(days=3)
    issued = service.key(Tier.BASIC, paid_until=until)
    service.check(bearer(issued), times=3)
    shown = account(service, bearer(issued))
    assert (shown["keyId"], shown["owner"], shown["role"]) == (issued.record.key_id, "local:test", "caller")
    assert shown["plan"] == {
        "id": None,
        "name": None,
        "tier": "basic",
        "boughtTier": "basic",
        "expiresAt": f"{until:%Y-%m-%dT%H:%M:%SZ}",
    }
    midnight = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1)
    assert shown["quota"] == {
        "requestsPerDay": 1000,
        "used": 3,
        "remaining": 997,
        "resetsAt": f"{midnight:%Y-%m-%dT%H:%M:%SZ}",
    }
    (only,) = shown["keys"]
    assert (only["hint"], only["state"], only["isThisOne"]) == (issued.key.redacted, "active", True)
    assert issued.key.reveal() not in str(shown)


def test_reading_rotating_and_revoking_cost_the_address_and_not_the_key(ledger_settings):
    with serving(ledger_settings) as service:
        service.now_s = time.time()
        issued = service.key()
        service.check(bearer(issued), times=100)
        assert service.check(bearer(issued))[0].status_code == 429
        read, rotated = service.ask(("GET", ME, bearer(issued), {}), rotation(bearer(issued), str(uuid.uuid4())))
        assert (read.status_code, rotated.status_code) == (200, 201)
        assert read.json()["data"]["quota"]["remaining"] == 0
        assert read.headers["ratelimit"].startswith('"permin";r=19;')
        answers = service.ask(*[("GET", ME, {"X-Api-Key": key_of(rotated)}, {})] * 20)
        assert [answer.status_code for answer in answers] == [200] * 18 + [429] * 2


def test_usage_is_shown_by_day_over_the_whole_family(service):
    first = service.key()
    now = datetime.now(UTC)
    days = [now - timedelta(days=ago) for ago in (0, 1, 29, 30)]
    with service.ledger.transaction() as tx:
        add_uses(tx, [KeyUse(first.record.key_id, utc_day(day), 5 + ago, day) for ago, day in enumerate(days)])
    second = key_of(service.ask(rotation(bearer(first), str(uuid.uuid4())))[0])
    shown = account(service, {"X-Api-Key": second})
    assert shown["usage"] == [{"day": utc_day(day), "requests": 5 + ago} for ago, day in enumerate(days[:3])][::-1]
    assert shown["usageSince"] == utc_day(days[2])
    assert shown["familySize"] == 2
    assert [(key["state"], key["isThisOne"]) for key in shown["keys"]] == [("active", True), ("revoked", False)]
    assert len(account(service, {"X-Api-Key": second}, "?days=31")["usage"]) == 4
    (refused,) = service.ask(("GET", f"{ME}?days=401", {"X-Api-Key": second}, {}))
    assert (refused.status_code, refused.json()["code"]) == (400, "parameter_invalid")


def test_usage_is_forgotten_after_its_time_and_with_its_owner(service):
    issued, other = service.key(owner="local:gone"), service.key(owner="local:stays")
    now = datetime.now(UTC)
    old = now - USES_KEPT - timedelta(days=1)
    with service.ledger.transaction() as tx:
        add_uses(tx, [KeyUse(key.record.key_id, utc_day(old), 1, old) for key in (issued, other)])
        add_uses(tx, [KeyUse(key.record.key_id, utc_day(now), 2, now) for key in (issued, other)])
    assert account(service, bearer(issued), "?days=400")["usage"] == [{"day": utc_day(now), "requests": 2}]
    with service.ledger.read() as reader:
        assert {usage.requests for usage in list_keys(reader, now=now)} == {2}
    forget_owner(service.ledger, "local:gone", "operator")
    assert account(service, bearer(issued))["usage"] == []
    assert account(service, bearer(other))["usage"] == [{"day": utc_day(now), "requests": 2}]


def test_a_rotated_key_is_replaced_and_its_successor_takes_over(service):
    first = service.key(Tier.PRO, "local:mine")
    (answer,) = service.ask(rotation(bearer(first), str(uuid.uuid4())))
    assert (answer.status_code, answer.headers["cache-control"]) == (201, "no-store")
    assert answer.json()["data"]["revokedKeyId"] == first.record.key_id
    assert works(service, key_of(answer)) and not works(service, first.key.reveal())
    shown = account(service, {"X-Api-Key": key_of(answer)})
    assert (shown["owner"], shown["plan"]["tier"], shown["familyId"]) == ("local:mine", "pro", first.record.family_id)


def test_a_lost_reply_of_a_rotation_comes_again_until_the_new_key_is_used(service):
    first, request = service.key(), str(uuid.uuid4())
    answers = service.ask(*[rotation(headers, request) for headers in (bearer(first), bearer(first), x_api_key(first))])
    assert [answer.status_code for answer in answers] == [201] * 3
    assert len({key_of(answer) for answer in answers}) == 1
    assert [answer.headers.get("idempotent-replayed") for answer in answers] == [None, "true", "true"]
    (wrong,) = service.ask(rotation(bearer(first), str(uuid.uuid4())))
    assert (wrong.status_code, wrong.json()["code"]) == (401, "unauthorized")
    assert works(service, key_of(answers[0]))
    (spent,) = service.ask(rotation(bearer(first), request))
    assert spent.status_code == 401


@pytest.mark.parametrize("key", [None, "", "short", "x" * 201])
def test_a_rotation_without_a_random_idempotency_key_is_refused_and_changes_nothing(service, key):
    issued = service.key()
    headers = bearer(issued) | ({} if key is None else {"Idempotency-Key": key})
    (answer,) = service.ask(("POST", ROTATE, headers, {}))
    assert (answer.status_code, answer.json()["code"]) == (400, "parameter_invalid")
    assert works(service, issued.key.reveal())


@pytest.mark.both_engines
def test_simultaneous_rotations_under_one_idempotency_key_give_one_key(service):
    same, request = service.key(), str(uuid.uuid4())
    answers = service.ask_at_once(*[rotation(bearer(same), request)] * 8)
    assert [answer.status_code for answer in answers] == [201] * 8
    assert len({key_of(answer) for answer in answers}) == 1
    apart = service.key(owner="local:apart")
    answers = service.ask_at_once(*[rotation(bearer(apart), str(uuid.uuid4())) for _ in range(8)])
    assert sorted(answer.status_code for answer in answers) == [201] + [401] * 7
    with service.ledger.read() as reader:
        states = sorted((usage.key.owner, usage.key.state) for usage in list_keys(reader, now=datetime.now(UTC)))
    assert states == [
        ("local:apart", "active"),
        ("local:apart", "revoked"),
        ("local:test", "active"),
        ("local:test", "revoked"),
    ]


@pytest.mark.both_engines
def test_simultaneous_rotations_in_two_processes_give_one_key_per_idempotency_key(ledger_settings: Settings):
    with serving(ledger_settings) as service, serving(ledger_settings) as other, ThreadPoolExecutor(2) as threads:
        issued, request = service.key(), rotation({}, str(uuid.uuid4()))
        asked = [(request[0], request[1], request[2] | bearer(issued), {})] * 4
        answers = [each for part in threads.map(lambda one: one.ask_at_once(*asked), (service, other)) for each in part]
        assert [answer.status_code for answer in answers] == [201] * 8
        assert len({key_of(answer) for answer in answers}) == 1
        assert sum(answer.headers.get("idempotent-replayed") is None for answer in answers) == 1


@pytest.mark.both_engines
def test_a_key_that_revokes_itself_is_invalid_at_once_in_every_process(ledger_settings: Settings):
    with serving(ledger_settings) as service, serving(ledger_settings) as other:
        issued = service.key()
        assert works(service, issued.key.reveal()) and works(other, issued.key.reveal())
        (answer,) = service.ask(("POST", REVOKE, bearer(issued), {}))
        RevocationAnswer.model_validate_json(answer.content)
        assert answer.json()["data"]["recovery"] is None
        assert not works(other, issued.key.reveal()) and not works(service, issued.key.reveal())
        (again,) = service.ask(("POST", REVOKE, bearer(issued), {}))
        assert again.status_code == 401
        with service.ledger.read() as reader:
            key = find_key(reader, issued.record.key_id)
        assert key is not None and key.state == "revoked"


def test_a_suspended_key_can_neither_read_rotate_nor_revoke(service):
    issued = service.key()
    service.change(suspend_key, issued)
    asked = [("GET", ME), ("POST", ROTATE), ("POST", REVOKE)]
    headers = bearer(issued) | {"Idempotency-Key": str(uuid.uuid4())}
    answers = service.ask(*[(method, path, headers, {}) for method, path in asked])
    assert [answer.status_code for answer in answers] == [401] * 3
