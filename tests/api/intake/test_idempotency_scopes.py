"""Idempotency-Keys of registrations and capsules: anonymous callers can't squat one, owners don't share theirs, and a
one-time token is repeated for ten minutes (A13)."""

import sqlite3
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

import httpx
import psycopg
import pytest
from intakes import AGENT, INTAKE
from keyed_service import KeyedService, bearer, serving

from contracts.idempotency import SHORTEST_ANONYMOUS_KEY
from warehouse.ledger.ledger import open_ledger

CREATE = "/api/worldmodel/create"
CLAIM = "/api/v2/world-model/capsules/claim"
CAPSULE = {"ownerId": "ada", "name": "Ada's world", "values": ["Honesty"]}
ROUTES = {INTAKE: (AGENT, {"serviceOffer": "Another offer of mine"}), CREATE: (CAPSULE, {"name": "Another world"})}
TOKENS = {INTAKE: "eraseToken", CREATE: "claimToken"}
RANDOM = "5b1f0c1e-57a4-4f7f-9a3e-0d1c2b3a4f5e"
NOON = datetime(2026, 1, 2, 12, tzinfo=UTC)


@pytest.fixture
def service(ledger_settings):
    with serving(ledger_settings.model_copy(update={"rate_limit_per_minute": 0})) as opened:
        yield opened


@contextmanager
def clock_of(service: KeyedService):
    """Yields the list from which the routes' ledger reads the time."""
    clock = [NOON]
    service.stores._ledger = open_ledger(service.settings, service.settings.data_dir, clock=lambda: clock[0])
    yield clock


def post(service: KeyedService, route: str, body, key: str | None = None, headers=None):
    sent = {**(headers or {}), **({} if key is None else {"Idempotency-Key": key})}
    (answer,) = service.ask(("POST", route, sent, {"json": body}))
    return answer


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("length", [1, SHORTEST_ANONYMOUS_KEY - 1])
def test_an_anonymous_key_that_others_could_guess_is_refused_with_what_to_do(service, route, length):
    refused = post(service, route, ROUTES[route][0], "1" * length)
    assert (refused.status_code, refused.json()["code"]) == (400, "parameter_invalid")
    assert [error["pointer"] for error in refused.json()["errors"]] == ["/header/Idempotency-Key"]
    assert "at least 22 characters: send a random UUID" in refused.json()["detail"]
    with service.ledger.read() as reader:
        assert reader.head() == 0


@pytest.mark.parametrize("route", ROUTES)
def test_without_an_idempotency_key_each_request_gets_a_new_id(service, route):
    first, second = (post(service, route, ROUTES[route][0]) for _ in range(2))
    assert (first.status_code, second.status_code) == (201, 201)
    assert first.json()["id"] != second.json()["id"]
    assert "idempotent-replayed" not in first.headers


@pytest.mark.both_engines
@pytest.mark.parametrize("route", ROUTES)
def test_the_same_key_and_body_replay_and_another_body_is_a_conflict(service, route):
    body, change = ROUTES[route]
    key = "k" * SHORTEST_ANONYMOUS_KEY
    first, again = (post(service, route, body, key) for _ in range(2))
    assert (first.status_code, again.status_code) == (201, 201)
    assert again.json() == first.json()
    assert again.headers["idempotent-replayed"] == "true"
    assert first.headers["cache-control"] == again.headers["cache-control"] == "no-store"
    refused = post(service, route, {**body, **change}, key)
    assert (refused.status_code, refused.json()["code"]) == (409, "idempotency_mismatch")
    assert refused.json()["detail"].endswith("repeat that one unchanged, or send a fresh key.")
    assert first.json()["id"] not in refused.text, "a key that several people send must not tell whose it was first"


@pytest.mark.parametrize("route", [*ROUTES, "/api/agent-access/claim", "/api/v2/world-model/signal"])
def test_two_keys_are_one_too_many(service, route):
    keys = [("Idempotency-Key", "a" * 22), ("Idempotency-Key", "b" * 22)]
    headers = httpx.Headers([*keys, *bearer(service.key()).items()])
    (answer,) = service.ask(("POST", route, headers, {"json": ROUTES[route][0] if route in ROUTES else {}}))
    assert (answer.status_code, answer.json()["code"]) == (400, "parameter_invalid")
    assert answer.json()["errors"][0]["pointer"] == "/header/Idempotency-Key"


def test_a_capsule_is_found_by_its_key_whatever_label_its_owner_has(service):
    assert post(service, CREATE, CAPSULE, RANDOM).status_code == 201
    refused = post(service, CREATE, {**CAPSULE, "ownerId": "bob"}, RANDOM)
    assert (refused.status_code, refused.json()["code"]) == (409, "idempotency_mismatch")


@pytest.mark.parametrize("route", ROUTES)
def test_the_scope_of_an_api_key_is_its_owner(service, route):
    ada, adas_other, bob = (service.key(owner=owner) for owner in ("local:ada", "local:ada", "local:bob"))
    body = ROUTES[route][0]
    ids = [post(service, route, body, "1", bearer(key)).json()["id"] for key in (ada, adas_other, bob)]
    assert ids[0] == ids[1] != ids[2]
    anonymous = post(service, route, body, RANDOM).json()["id"]
    assert post(service, route, body, RANDOM, bearer(ada)).json()["id"] not in {anonymous, *ids}
    invalid = {"Authorization": "Bearer svc_free_" + "0" * 36}
    assert post(service, route, body, "1", invalid).status_code == 400


def test_one_key_names_one_request_of_each_route(service):
    intake, capsule = (post(service, route, ROUTES[route][0], RANDOM) for route in (INTAKE, CREATE))
    assert (intake.status_code, capsule.status_code) == (201, 201)


@pytest.mark.parametrize("route", ROUTES)
def test_a_one_time_token_is_repeated_for_ten_minutes_and_then_said_to_be_withheld(service, route):
    token = TOKENS[route]
    with clock_of(service) as clock:
        first = post(service, route, ROUTES[route][0], RANDOM).json()
        clock[0] = NOON + timedelta(minutes=10)
        assert post(service, route, ROUTES[route][0], RANDOM).json() == first
        clock[0] += timedelta(seconds=1)
        late = post(service, route, ROUTES[route][0], RANDOM)
    assert len(first[token]) >= 64
    assert first[f"{token}State"] == "shown"
    assert late.json() == first | {token: None, f"{token}State": "no_longer_shown"}
    assert late.headers["idempotent-replayed"] == "true"


def test_a_token_that_is_no_longer_shown_is_still_valid(service):
    with clock_of(service) as clock:
        token = post(service, CREATE, CAPSULE, RANDOM).json()["claimToken"]
        clock[0] = NOON + timedelta(days=2)
        claimed = post(service, CLAIM, {"claimToken": token}, headers=bearer(service.key()))
        assert claimed.status_code == 200
        used = post(service, CREATE, CAPSULE, RANDOM).json()
    assert (used["claimToken"], used["claimTokenState"]) == (None, "used")


def everything_kept(service: KeyedService) -> str:
    if service.settings.ledger_url is None:
        with sqlite3.connect(service.settings.data_dir / "ledger.db") as connection:
            return "\n".join(connection.iterdump())
    with psycopg.connect(service.settings.ledger_url.replace("+psycopg", "")) as connection:
        names = connection.execute("select tablename from pg_tables where schemaname = 'public'").fetchall()
        return repr([connection.execute(f"select * from {name}").fetchall() for (name,) in names])


def test_neither_keys_nor_tokens_are_kept_in_any_form_that_gives_them_back(service):
    tokens = [post(service, route, ROUTES[route][0], RANDOM).json()[TOKENS[route]] for route in ROUTES]
    kept = everything_kept(service)
    assert "agent-seven" in kept
    assert not [secret for secret in (RANDOM, *tokens, *(t[-64:] for t in tokens)) if secret in kept]
