"""The contract-balance and trust routes: parameters, scopes, and one agent's score."""

import asyncio
import json
from datetime import UTC, datetime, timedelta

import pytest
from described import expanded
from openapi_schema_validator import OAS30Validator
from publishing import House

from contracts.discovery.openapi import OPENAPI_FILE
from contracts.publish.registry import PROJECTIONS
from contracts.token.holder_documents import ConsistencyLevel
from pipelines.publish.generation import republish
from warehouse.bidwall.contract_balance import BalanceReading, record_balance, record_bidwall_status, replace_events
from warehouse.duck.connection import Warehouse
from warehouse.publish.readers import context_for
from warehouse.token.chain_head import SeenHead
from warehouse.trust.attestations import fold_scores, record_trust_status

WALL, TOKEN, USDC, ALICE = ("0x" + byte * 20 for byte in ("ba", "70", "cc", "a1"))
REGISTRY, ATTESTER = "0x" + "4e" * 20, "0x" + "a7" * 20
AGENT = "0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed"
CHECKSUMMED = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"  # from EIP-55
NOON = datetime(2026, 1, 1, 12, tzinfo=UTC).replace(tzinfo=None)
HASH = "0x" + "11" * 32
EVENTS, SNAPSHOT, SCORE = "/api/bidwall/events", "/api/bidwall/snapshot", "/api/v2/trust/score"
SERVED = [path for row in PROJECTIONS for path, _ in row.bodies if path.startswith(("/api/bidwall/", "/api/v2/trust/"))]


def blob(text: str) -> bytes:
    return bytes.fromhex(text[2:])


def fill(connection) -> None:
    """Inserts 45 transfers of the token and 3 of USDC, a balance, and three attestations."""
    for number in range(48):
        token = USDC if number >= 45 else TOKEN
        sides = (ALICE, WALL) if number % 2 else (WALL, ALICE)
        connection.execute(
            "insert into raw_chain__contract_transfers values (?, 0, ?, ?, ?, ?, ?, ?, 'exact')",
            [number, bytes(32), *map(blob, (token, *sides)), {"limb3": 0, "limb2": 1, "limb1": 0, "limb0": 5}, NOON],
        )
    for table in ("contract", "attestation"):
        connection.execute(
            f"insert into raw_chain__{table}_ranges values (0, 50, ?, ?, 48, 'digest', 'node', false, ?)",
            [HASH, NOON, NOON],
        )
    now = datetime.now(UTC)
    record_balance(connection, WALL, BalanceReading(7 * 10**18, 50, HASH, NOON.replace(tzinfo=UTC), True, None, now))
    replace_events(connection, WALL)
    record_bidwall_status(
        connection,
        chain_id=8453,
        contract=WALL,
        service_token=TOKEN,
        usdc=None,
        trigger_wei=10**19,
        finalized_block=50,
        now=now,
    )
    connection.execute(
        "insert into out_market__eth_price (source, quality, stale, price, sources, observed_at, fetched_at) "
        "values ('chainlink', 'exact', false, '3000.5', '[]', ?, ?)",
        [NOON, now.replace(tzinfo=None)],
    )
    for number, score in enumerate((40, 80, 90), start=1):
        moment = NOON + timedelta(days=number)
        connection.execute(
            "insert into raw_chain__attestations values (?, 0, ?, ?, ?, ?, ?, ?, ?, 'u', ?, 'exact')",
            [number, bytes(32), blob(AGENT), blob(ATTESTER), bytes(32), number, score, moment, moment],
        )
    fold_scores(connection, REGISTRY, 86_400)
    head = SeenHead(52, HASH, 50, HASH, ConsistencyLevel.FINALIZED)
    record_trust_status(
        connection, chain_id=8453, registry=REGISTRY, escrow=None, head=head, reason=None, now=datetime.now(UTC)
    )


@pytest.fixture(scope="module")
def house(tmp_path_factory) -> House:
    made = House(tmp_path_factory.mktemp("watched"), rate_limit_per_minute=0)
    with Warehouse(made.data_dir).connect() as connection:
        fill(connection)
    made.publish(*SERVED)
    return made


@pytest.fixture(scope="module")
def empty(tmp_path_factory) -> House:
    made = House(tmp_path_factory.mktemp("unwatched"), rate_limit_per_minute=0)
    with Warehouse(made.data_dir).connect() as connection:
        record_bidwall_status(
            connection,
            chain_id=8453,
            contract=None,
            service_token=None,
            usdc=None,
            trigger_wei=None,
            finalized_block=None,
            now=datetime.now(UTC),
        )
        record_trust_status(
            connection, chain_id=8453, registry=None, escrow=None, head=None, reason=None, now=datetime.now(UTC)
        )
    made.publish(*SERVED)
    return made


def get(house: House, path: str, headers=None):
    async def ask():
        async with house.client(application=house.application) as client:
            return await client.get(path, headers=headers or {})

    return asyncio.run(ask())


@pytest.mark.parametrize(
    ("path", "pointer", "said"),
    [
        (f"{EVENTS}?limit=0", "/query/limit", "must be an integer from 1 to 40"),
        (f"{EVENTS}?limit=41", "/query/limit", "must be an integer from 1 to 40"),
        (f"{EVENTS}?limit=x", "/query/limit", "must be an integer from 1 to 40"),
        (f"{EVENTS}?limit=", "/query/limit", "must be an integer from 1 to 40"),
        (f"{EVENTS}?limit=1.0", "/query/limit", "must be an integer from 1 to 40"),
        (f"{EVENTS}?limit=1_0", "/query/limit", "must be an integer from 1 to 40"),
        (f"{EVENTS}?limit=%2B5", "/query/limit", "must be an integer from 1 to 40"),
        (f"{EVENTS}?limit=%205", "/query/limit", "must be an integer from 1 to 40"),
        (f"{EVENTS}?limit=5&limit=5", "/query/limit", "more than once"),
        (f"{EVENTS}?scope=x", "/query/scope", "'all' or 'odai'"),
        (f"{EVENTS}?scope=all&scope=odai", "/query/scope", "more than once"),
        (f"{EVENTS}?token=0x12", "/query/token", "40"),
        (
            f"{EVENTS}?token={CHECKSUMMED.replace('aA', 'Aa')}",
            "/query/token",
            "the capitals of the address are not its EIP-55 checksum",
        ),
        (f"{EVENTS}?events_limit=5", "/query/events_limit", "is not known; there are limit, scope, token"),
        (f"{SNAPSHOT}?events_limit=0", "/query/events_limit", "must be an integer from 1 to 20"),
        (f"{SNAPSHOT}?events_limit=1_0", "/query/events_limit", "must be an integer from 1 to 20"),
        (f"{SNAPSHOT}?events_limit=21", "/query/events_limit", "must be an integer from 1 to 20"),
        (f"{SNAPSHOT}?scope=ALL", "/query/scope", "'all' or 'odai'"),
        (f"{SNAPSHOT}?token=", "/query/token", "40"),
        (f"{SNAPSHOT}?limit=5", "/query/limit", "is not known; there are events_limit, scope, token"),
        (f"{SCORE}/0x12", "/path/address", "40"),
        (f"{SCORE}/{CHECKSUMMED.replace('aA', 'Aa')}", "/path/address", "EIP-55"),
        (f"{SCORE}/{AGENT[2:]}", "/path/address", "40"),
        (f"{SCORE}/{AGENT}%00", "/path/address", "40"),
    ],
)
def test_a_parameter_out_of_range_repeated_or_misspelled_is_400_and_says_what_is_allowed(house, path, pointer, said):
    answer = get(house, path)
    assert (answer.status_code, answer.json()["code"]) == (400, "parameter_invalid")
    (fault,) = answer.json()["errors"]
    assert fault["pointer"] == pointer and said in fault["detail"]
    assert not any(phrase in answer.text for phrase in ("Input", "String", "Value error", "Extra"))


@pytest.mark.parametrize(
    ("query", "shown", "scope"),
    [
        ("", 20, ("all", "all", None)),
        ("?limit=40", 40, ("all", "all", None)),
        ("?limit=1", 1, ("all", "all", None)),
        ("?scope=odai&limit=40", 40, ("odai", "odai", TOKEN)),
        (f"?scope=odai&token={USDC}", 3, ("odai", "token", USDC)),
        (f"?token={USDC.upper().replace('0X', '0x')}&limit=2", 2, ("all", "token", USDC)),
        (f"?token={ALICE}", 0, ("all", "token", ALICE)),
    ],
)
def test_events_are_the_newest_of_their_scope_and_a_token_overrides_it(house, query, shown, scope):
    body = get(house, EVENTS + query).json()
    blocks = [event["block"] for event in body["events"]]
    assert (len(blocks), blocks) == (shown, sorted(blocks, reverse=True))
    assert tuple(body["scope"].values()) == scope
    assert all(event["valueRaw"] == str(2**128 + 5) for event in body["events"])
    if scope[2]:
        assert {event["token"] for event in body["events"]} <= {scope[2]}


def test_the_published_default_and_the_same_variant_are_equal(house):
    for path, query in ((EVENTS, "limit=20"), (SNAPSHOT, "events_limit=8&scope=all")):
        assert get(house, path).json() == get(house, f"{path}?{query}").json()
    with Warehouse(house.data_dir).connect() as connection:  # a minute's run, which does not change the query copy
        connection.execute("update out_market__eth_price set fetched_at = fetched_at + interval 1 minute")
        rows = [row for row in PROJECTIONS if row.name in ("eth_price", "bidwall_snapshot")]
        house.now += timedelta(minutes=1)
        assert republish(context_for(connection, house.settings), house.settings, rows, now=house.now).published
    assert get(house, SNAPSHOT).json() == get(house, f"{SNAPSHOT}?events_limit=8").json()


def test_the_snapshot_holds_balance_worth_progress_and_previewed_events(house):
    body = get(house, f"{SNAPSHOT}?events_limit=3").json()
    assert (body["balanceWei"], body["balanceEth"], body["at"]["finality"]) == ("7000000000000000000", "7", "final")
    assert (body["ethUsd"]["price"], body["ethUsd"]["balanceUsd"]) == ("3000.5", "21003.50")
    assert body["ethUsd"]["staleAfter"] == get(house, "/api/bidwall/eth-price").json()["staleAfter"] is not None
    assert (body["trigger"]["progress"], body["trigger"]["remainingWei"]) == (0.7, "3000000000000000000")
    assert len(body["events"]) == body["eventsLimit"] == 3
    assert (body["quality"], body["stale"], body["cache"]["maxAgeS"]) == ("exact", False, 900)


def test_a_score_has_the_fields_of_the_interface_at_the_top(house):
    answer = get(house, f"{SCORE}/{CHECKSUMMED}")
    body = answer.json()
    # 40 halves twice, 80 once: (10 + 40 + 90) / 1.75 = 80.
    named = ("ok", "agent", "trustScore", "weightedScore", "attestationCount", "registered", "registry", "network")
    assert [body[name] for name in named] == [True, AGENT, 70, 80, 3, True, REGISTRY, "eip155:8453"]
    assert body["thresholds"] == {"low": 50, "medium": 70, "high": 85}
    assert (body["level"], body["consistency"]["block"]) == ("medium", 50)
    again = get(house, f"{SCORE}/{AGENT}", {"if-none-match": answer.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


def test_an_unknown_agent_is_answered_as_not_registered(house):
    body = get(house, f"{SCORE}/{ALICE}").json()
    assert (body["registered"], body["trustScore"], body["weightedScore"], body["attestationCount"]) == (False, 0, 0, 0)


def test_unconfigured_values_are_null_with_a_reason(empty):
    for path in ("/api/bidwall/balance", EVENTS, f"{EVENTS}?scope=odai", SNAPSHOT, f"{SCORE}/{AGENT}"):
        answer = get(empty, path)
        body = answer.json()
        assert (answer.status_code, body["quality"], body["reason"]) == (200, "unavailable", "not_configured"), path
        assert [body.get(name) for name in ("contract", "balanceWei", "trustScore", "registry")] == [None] * 4
    assert get(empty, SNAPSHOT).json()["trigger"]["reason"] == "not_configured"


def test_a_score_is_as_stale_as_the_document_of_the_same_tables(house):
    house.republish_stale("rpc_unavailable")
    try:
        body = get(house, f"{SCORE}/{AGENT}").json()
        assert (body["stale"], body["reason"], body["weightedScore"]) == (True, "rpc_unavailable", 80)
        assert get(house, f"{EVENTS}?limit=1").json()["stale"] is True
    finally:
        house.publish(*SERVED)


def test_a_score_fits_its_description(house, empty):
    description = expanded(json.loads(OPENAPI_FILE.read_text()))
    responses = description["paths"][SCORE + "/{address}"]["get"]["responses"]
    schema = responses["200"]["content"]["application/json"]["schema"]
    check = OAS30Validator({**schema, "components": description["components"]})
    for place in (house, empty):
        check.validate(get(place, f"{SCORE}/{AGENT}").json())
