"""A trial key costs a signature: one per wallet, a few per network, a daily quota for all, one per challenge."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from keyed_service import ACTION, CHECK, KeyedService, serving
from trial_wallets import PATH, asked, challenged, post, signed, trial_key, wallet

from contracts.access.tiers import Tier
from contracts.access.trial_keys import challenge_sha256
from contracts.access.trial_plan import trial_plan
from contracts.settings import Settings
from warehouse.access.keys import list_keys
from warehouse.access.trials import answered
from warehouse.ledger.master_secret import load_secrets

ADA, BOB = wallet(1), wallet(2)
SIGNAL, QUERY, LIVE = "/api/v2/world-model/signal", "/api/v2/world-model/query", "/api/v2/world-model/live"
GOAL = {"type": "Goal", "title": "Answer within the hour", "source": "me"}


@pytest.fixture
def service(ledger_settings: Settings) -> Iterator[KeyedService]:
    trusting = {"trusted_proxies": ("192.0.2.1",), "rate_limit_per_minute": 0}
    with serving(ledger_settings.model_copy(update=trusting)) as keyed:
        keyed.now_s = datetime.now(UTC).timestamp()
        yield keyed


def send(service: KeyedService, key: str, method: str, path: str, body: Any = None) -> Any:
    (answer,) = service.ask((method, path, {"X-Api-Key": key}, {} if body is None else {"json": body}))
    return answer


def keys_of(service: KeyedService) -> list[Any]:
    with service.ledger.read() as reader:
        return [each.key for each in list_keys(reader, now=datetime.now(UTC))]


@pytest.mark.both_engines
def test_a_signature_gives_a_key_that_reads_asks_checks_and_writes(service: KeyedService) -> None:
    packet = trial_key(service, ADA)
    assert packet["apiKey"].startswith("svc_free_")
    assert (packet["owner"], packet["requestsPerDay"], packet["privateNodes"]) == (ADA.address.lower(), 20, 100)
    lasts = datetime.fromisoformat(packet["accessExpiresAt"]) - datetime.now(UTC)
    assert timedelta(days=6, hours=23) < lasts < timedelta(days=7)
    key = packet["apiKey"]
    answer = send(service, key, "POST", CHECK, ACTION)
    assert answer.status_code == 200
    assert answer.headers["ratelimit-policy"] == '"daily";q=20;w=86400'
    assert send(service, key, "POST", SIGNAL, GOAL).json()["data"]["verdict"] == "approved"
    found = send(service, key, "POST", QUERY, {"search": "hour", "scope": "own"}).json()["data"]["nodes"]
    assert [node["title"] for node in found] == [GOAL["title"]]
    assert send(service, key, "GET", LIVE).status_code == 200


def test_a_lost_answer_is_given_again_until_the_key_is_used(service: KeyedService) -> None:
    body = signed(ADA, challenged(service, ADA))
    first, again = post(service, ADA, body), post(service, ADA, body)
    assert (first.status_code, again.status_code) == (201, 201)
    assert first.json() == again.json()
    assert ("idempotent-replayed" in first.headers, again.headers["idempotent-replayed"]) == (False, "true")
    assert again.headers["cache-control"] == "no-store"
    send(service, first.json()["data"]["apiKey"], "POST", CHECK, ACTION)
    used = post(service, ADA, body)
    assert (used.status_code, used.json()["code"]) == (409, "trial_answered")


def test_a_lost_answer_is_kept_for_a_day(service: KeyedService) -> None:
    challenge = challenged(service, ADA)
    key = post(service, ADA, signed(ADA, challenge)).json()["data"]["apiKey"]
    derived, digest, now = load_secrets(service.settings), challenge_sha256(challenge["typedData"]), datetime.now(UTC)
    with service.ledger.read() as reader:
        kept = answered(reader, derived, digest, now=now + timedelta(hours=23))
        assert kept is not None and kept.key_text == key
        assert answered(reader, derived, digest, now=now + timedelta(hours=25)) is None
        assert answered(reader, derived, "0" * 64, now=now) is None


@pytest.mark.both_engines
def test_simultaneous_answers_to_one_challenge_give_one_key(service: KeyedService) -> None:
    body = signed(ADA, challenged(service, ADA))
    answers = service.ask_at_once(*[("POST", PATH + ADA.address, {}, {"json": body})] * 6)
    assert {answer.status_code for answer in answers} == {201}
    assert len({answer.json()["data"]["apiKey"] for answer in answers}) == 1
    assert len(keys_of(service)) == 1


@pytest.mark.both_engines
def test_simultaneous_wallets_of_one_network_get_as_many_keys_as_the_network_allows(service: KeyedService) -> None:
    wallets = [wallet(number) for number in range(10, 18)]
    bodies = [signed(each, challenged(service, each)) for each in wallets]
    answers = service.ask_at_once(
        *(
            ("POST", PATH + each.address, {"X-Forwarded-For": f"203.0.113.{number}"}, {"json": body})
            for number, (each, body) in enumerate(zip(wallets, bodies, strict=True))
        )
    )
    assert sorted(answer.status_code for answer in answers) == [201] * 3 + [429] * 5
    refused = next(answer for answer in answers if answer.status_code == 429)
    assert refused.json()["code"] == "trials_exhausted"
    assert refused.json()["links"]["plans"].endswith("/api/agent-access/plans")
    assert 0 < int(refused.headers["retry-after"]) <= 86_401
    assert len(keys_of(service)) == 3


def test_a_network_is_an_ipv4_24_or_an_ipv6_64(service: KeyedService) -> None:
    numbers = iter(range(20, 60))

    def from_(address: str) -> int:
        return int(asked(service, wallet(next(numbers)), **{"X-Forwarded-For": address}).status_code)

    assert [from_(f"198.51.100.{last}") for last in (1, 2, 254, 3)] == [201, 201, 201, 429]
    assert from_("198.51.101.1") == 201
    assert [from_(f"2001:db8::{last}") for last in (1, 2, 3, 4)] == [201, 201, 201, 429]
    assert from_("2001:db8:0:1::1") == 201


def test_a_wallet_gets_one_trial_per_month_and_none_next_to_another_key(service: KeyedService) -> None:
    trial_key(service, ADA)
    time.sleep(1.01)  # a challenge of the same second is the same challenge
    again = asked(service, ADA)
    assert (again.status_code, again.json()["code"]) == (409, "trial_taken")
    service.key(Tier.FREE, owner=BOB.address.lower())
    owns = asked(service, BOB)
    assert (owns.status_code, owns.json()["code"]) == (409, "trial_taken")
    assert owns.json()["links"]["plans"].endswith("/api/agent-access/plans")


def test_an_installation_issues_as_many_a_day_as_its_setting_says(ledger_settings: Settings) -> None:
    with serving(ledger_settings.model_copy(update={"trial_keys_per_day": 1})) as service:
        assert asked(service, ADA).status_code == 201
        second = asked(service, BOB)
        assert (second.status_code, second.json()["code"]) == (429, "trials_exhausted")


def test_an_installation_may_issue_none(ledger_settings: Settings) -> None:
    with serving(ledger_settings.model_copy(update={"trial_keys_per_day": 0})) as service:
        body = {"issuedAt": 1, "proof": {"type": "eip712", "signature": "0x" + "00" * 65}}
        for method, options in (("GET", {}), ("POST", {"json": body})):
            (answer,) = service.ask((method, PATH + ADA.address, {}, options))
            assert (answer.status_code, answer.json()["code"]) == (503, "trials_off")
            assert answer.json()["retryable"] is False


def test_a_challenge_says_to_its_signer_what_is_signed_and_where(service: KeyedService) -> None:
    challenge = challenged(service, ADA)
    message, base_url = challenge["typedData"]["message"], service.settings.public_base_url
    assert message["statement"] == "Issue a trial API key to this wallet. It costs nothing."
    assert (message["service"], message["wallet"]) == (base_url, ADA.address.lower())
    assert challenge["url"] == base_url + PATH + ADA.address.lower()
    assert (challenge["trial"]["requestsPerDay"], challenge["trial"]["days"]) == (20, 7)


FORGED: dict[str, Callable[[KeyedService], dict[str, Any]]] = {
    "another signer": lambda service: signed(BOB, challenged(service, ADA)),
    "another wallet's challenge": lambda service: signed(ADA, challenged(service, BOB)),
    "another service": lambda service: signed(ADA, challenged(service, ADA), service="https://other.example"),
    "another nonce": lambda service: signed(ADA, challenged(service, ADA), nonce="0x" + "00" * 32),
    "another time": lambda service: signed(ADA, challenged(service, ADA)) | {"issuedAt": 1_700_000_000},
    "of the future": lambda service: (
        signed(ADA, challenged(service, ADA)) | {"issuedAt": challenged(service, ADA)["issuedAt"] + 600}
    ),
}


@pytest.mark.parametrize("forged", FORGED)
def test_a_signature_that_is_not_the_wallets_of_this_challenge_gives_nothing(
    service: KeyedService, forged: str
) -> None:
    answer = post(service, ADA, FORGED[forged](service))
    assert (answer.status_code, answer.json()["code"]) == (403, "trial_refused")
    assert keys_of(service) == []


def test_nothing_is_kept_that_names_the_network(service: KeyedService) -> None:
    asked(service, ADA, **{"X-Forwarded-For": "198.51.100.77"})
    with service.ledger.transaction() as tx:
        row = tx._connection.exec_driver_sql("select * from access_trials").one()
    assert not any("198.51" in str(value) or ADA.address.lower() in str(value).lower() for value in row)


def test_an_expired_trial_key_is_invalid_and_does_not_become_a_free_key(service: KeyedService) -> None:
    key = trial_key(service, ADA)["apiKey"]
    service.now_s += 7 * 86_400 - 60
    assert send(service, key, "POST", CHECK, ACTION).status_code == 200
    service.now_s += 120
    assert send(service, key, "POST", CHECK, ACTION).status_code == 401


def test_the_day_of_a_trial_key_has_its_own_number_of_requests(service: KeyedService) -> None:
    key = trial_key(service, ADA)["apiKey"]
    answers = [send(service, key, "POST", CHECK, ACTION) for _ in range(21)]
    assert [answer.status_code for answer in answers] == [200] * 20 + [429]
    assert answers[-1].json()["code"] == "quota_exceeded"


@pytest.mark.parametrize(
    "method, path, body",
    [
        ("POST", "/api/v2/world-model/imports", {"format": "jsonl"}),
        ("POST", "/api/v2/world-model/ontology", {}),
        ("PUT", "/api/v2/world-model/ontology", {}),
        ("POST", "/api/v2/guardrail/approvals", {"digest": "a" * 64, "owner": "local:b", "expires_in": 60}),
    ],
)
def test_routes_outside_a_trial_are_refused_before_the_body_is_read(
    service: KeyedService, method: str, path: str, body: Any
) -> None:
    answer = send(service, trial_key(service, ADA)["apiKey"], method, path, body)
    if answer.status_code != 405:
        assert (answer.status_code, answer.json()["code"]) == (403, "trial_excluded")


def test_a_trial_key_writes_nothing_public(service: KeyedService) -> None:
    key = trial_key(service, ADA)["apiKey"]
    answer = send(service, key, "POST", SIGNAL, GOAL | {"visibility": "public"})
    assert (answer.status_code, answer.json()["code"]) == (403, "trial_excluded")
    assert send(service, key, "POST", QUERY, {"search": "hour"}).json()["data"]["nodes"] == []
    with service.ledger.read() as reader:
        assert reader.rows("world_waiting", limit=9) == []


@pytest.mark.both_engines
def test_the_owner_of_a_trial_key_keeps_a_hundred_nodes_however_they_are_written(service: KeyedService) -> None:
    key = trial_key(service, ADA)["apiKey"]
    build = "/api/v2/knowledge-graph/build"

    def nodes(first: int, last: int) -> dict[str, Any]:
        named = [{"id": f"goal:{each}", "type": "Goal", "title": f"Goal {each}"} for each in range(first, last)]
        return {"mode": "apply", "graphId": "g", "nodes": named}

    most = trial_plan().private_nodes
    assert send(service, key, "POST", build, nodes(0, most - 1)).status_code == 201
    assert send(service, key, "POST", SIGNAL, GOAL).status_code == 201
    for path, body in ((SIGNAL, GOAL | {"title": "One more"}), (build, nodes(200, 201)), (build, nodes(200, 350))):
        answer = send(service, key, "POST", path, body)
        assert (answer.status_code, answer.json()["code"]) == (403, "trial_full"), answer.text
    (erased,) = send(service, key, "POST", QUERY, {"search": "Goal 7", "scope": "own", "limit": 1}).json()["data"][
        "nodes"
    ]
    assert send(service, key, "DELETE", f"/api/v2/world-model/nodes/{erased['id']}").status_code == 200
    assert send(service, key, "POST", SIGNAL, GOAL | {"title": "One more"}).status_code == 201
