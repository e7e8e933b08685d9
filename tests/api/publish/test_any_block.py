"""Any address, any block and any day over HTTP, against a replay in Python; refusals name the nearest value."""

import random
from datetime import UTC, datetime, timedelta

import pytest
from holder_rows import address, block_time, replay
from lasting_loop import LastingLoop
from publishing import House
from rounds import ROUNDS
from worker_steps import packages_after

from api.publish.variants import variant_in_worker
from api.workers import WorkerPool
from contracts.evm.codec import checksum_address
from contracts.token.holders import ZERO_ADDRESS

DAY = 24 * 60
HOLDERS, MAP, TEMPORAL = "/api/token/holders", "/api/token/holders-map", "/api/token/holders-map-temporal"
SERVED = (HOLDERS, MAP, TEMPORAL, f"{MAP}/edges", "/api/token/series/daily", "/api/token/series/hourly")
PARTIES = [address(number) for number in range(1, 180)]


def a_history():
    dice = random.Random(18)
    rows = [(10, ZERO_ADDRESS, party, 10**6) for party in PARTIES[:60]]
    balances = replay(rows)
    for block in range(11, 3 * DAY, 37):
        sender, recipient = dice.sample(PARTIES, 2)
        value = dice.choice([0, dice.randint(0, 10**6), balances.get(sender, 0)])
        value = min(value, balances.get(sender, 0))
        rows.append((block, sender, recipient, value))
        balances[sender] = balances.get(sender, 0) - value
        balances[recipient] = balances.get(recipient, 0) + value
    return rows


ROWS = a_history()
LOOP = LastingLoop()
LISTED, LAST = DAY + 500, 3 * DAY - 5


@pytest.fixture(scope="module")
def house(tmp_path_factory):
    made = House(tmp_path_factory.mktemp("blocks"), rate_limit_per_minute=0)
    made.now = datetime.now(UTC).replace(microsecond=0) + timedelta(minutes=10)
    made.read_chain([row for row in ROWS if row[0] <= LISTED], LISTED)
    made.read_chain([row for row in ROWS if LISTED < row[0] <= LAST], LAST)
    made.publish(*SERVED)
    yield made
    LOOP.close()


def get(house, path, **headers):
    async def ask():
        async with house.client(application=house.application) as client:
            return await client.get(path, headers=headers)

    return LOOP.run(ask())


def holders_at(block):
    """Returns (balance, address) by rank, computed in plain Python."""
    balances = replay(row for row in ROWS if row[0] <= block)
    balances.pop(ZERO_ADDRESS, None)
    return sorted(((held, who) for who, held in balances.items() if held > 0), key=lambda pair: (-pair[0], pair[1]))


def test_random_addresses_at_random_blocks_equal_a_replay(house):
    dice = random.Random(3)
    for _ in range(12 * ROUNDS):
        party, block = dice.choice(PARTIES), dice.randint(10, LAST)
        body = get(house, f"{HOLDERS}/{party}?block={block}").json()
        order = holders_at(block)
        held = {who: value for value, who in order}.get(party, 0)
        assert (body["block"], body["balanceRaw"]) == (block, str(held))
        assert body["rank"] == (order.index((held, party)) + 1 if held else None)
        if held:
            assert body["share"] == pytest.approx(held / sum(value for value, _ in order))
        touched = [row[0] for row in ROWS if party in row[1:3] and row[0] <= block]
        assert [point["block"] for point in body["history"]] == sorted(touched, reverse=True)[:20]
        assert body["reason"] == ("replayed" if held else ("no_balance" if touched else "unknown_address"))


def test_at_the_newest_list_an_address_is_as_exact_as_the_list(house):
    (held, who), *_ = holders_at(LAST)
    body = get(house, f"{HOLDERS}/{who}").json()
    row = get(house, MAP).json()["holders"][0]
    assert (body["quality"], body["reason"], body["rank"]) == ("exact", None, 1)
    assert (body["balanceRaw"], body["balance"]) == (str(held), row["balance"])
    for name in ("address", "share", "cohort", "firstSeenAt", "firstHeldAt", "lastActiveAt"):
        assert body[name] == row[name]
    assert body["basis"] == {
        "kind": "list", "block": LAST, "time": block_time(LAST).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "provenBlock": LAST, "provenBlockHash": f"0x{LAST:064x}", "verdict": "proven",
    }  # fmt: skip


def test_an_unknown_address_is_200_with_a_balance_of_zero_and_a_reason(house):
    body = get(house, f"{HOLDERS}/{'0x' + 'ef' * 20}").json()
    assert (body["balanceRaw"], body["balance"], body["reason"], body["quality"]) == (
        "0", "0", "unknown_address", "exact",
    )  # fmt: skip
    for name in ("rank", "share", "cohort", "firstSeenAt", "firstSeenBlock", "firstHeldAt", "lastActiveAt"):
        assert body[name] is None
    assert (body["history"], body["nextCursor"]) == ([], None)


def test_capitals_of_an_address_are_its_checksum_or_refused(house):
    lower = "0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed"
    for path in ("", "/transfers"):
        assert get(house, f"{HOLDERS}/{checksum_address(lower)}{path}").json()["address"] == lower
        for wrong in (
            "0x5Aaeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
            "0x5aaeb6",
            "5aaeb6053f3e94c9b9a09f33669435e7ef1beaed",
        ):
            answer = get(house, f"{HOLDERS}/{wrong}{path}")
            assert (answer.status_code, answer.json()["code"]) == (400, "parameter_invalid")
            assert answer.json()["errors"][0]["pointer"] == "/path/address"


def test_the_history_of_a_balance_is_walked_by_cursor(house):
    party = PARTIES[5]
    path, seen = f"{HOLDERS}/{party}?block={2 * DAY}&limit=3", []
    while path:
        body = get(house, path).json()
        assert len(body["history"]) <= 3
        assert body["lastActiveAt"] is not None
        seen += body["history"]
        path = body["links"]["next"]
    expected, held = [], 0
    for block, sender, recipient, value in ROWS:
        if block <= 2 * DAY and party in (sender, recipient):
            change = value * ((recipient == party) - (sender == party))
            held += change
            expected.append((block, str(held), str(change)))
    assert [(point["block"], point["balanceRaw"], point["changeRaw"]) for point in seen] == expected[::-1]


def test_transfers_of_an_address_are_walked_by_cursor(house):
    party = PARTIES[5]
    path, seen = f"{HOLDERS}/{party}/transfers?limit=4", []
    while path:
        body = get(house, path).json()
        seen += body["transfers"]
        path = body["links"]["next"]
    expected = [row for row in ROWS if party in row[1:3] and row[0] <= LAST][::-1]
    assert [(row["block"], row["from"], row["to"], int(row["valueRaw"])) for row in seen] == expected
    upto = get(house, f"{HOLDERS}/{party}/transfers?block={DAY}&limit=500").json()
    assert [row["block"] for row in upto["transfers"]] == [row[0] for row in expected if row[0] <= DAY]


@pytest.mark.parametrize("path", [HOLDERS, MAP, f"{HOLDERS}/{PARTIES[0]}", f"{HOLDERS}/{PARTIES[0]}/transfers"])
@pytest.mark.parametrize(
    ("query", "status", "code", "nearest"),
    [
        ("block=9", 404, "before_token", {"block": "10", "date": "2026-01-01"}),
        (f"block={LAST + 1}", 409, "block_not_proven", {"block": str(LAST), "date": "2026-01-03"}),
        ("date=2025-12-31", 404, "before_token", {"block": "10", "date": "2026-01-01"}),
        ("date=9998-12-31", 400, "date_in_future", {"block": str(LAST), "date": "2026-01-03"}),
        ("date=2026-01-04", 409, "block_not_proven", {"block": str(LAST), "date": "2026-01-03"}),
        ("date=2026-02-30", 400, "parameter_invalid", None),
        ("date=1767225600", 400, "parameter_invalid", None),
        ("block=-1", 400, "parameter_invalid", None),
        ("block=10&date=2026-01-01", 400, "parameter_invalid", None),
        ("block=1&block=2", 400, "parameter_invalid", None),
        ("block=99999999999999999999", 400, "parameter_invalid", None),
    ],
)
def test_a_block_or_day_without_balances_is_refused_with_the_nearest_one(house, path, query, status, code, nearest):
    answer = get(house, f"{path}?{query}")
    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert answer.json().get("nearest") == nearest


PAST = (
    f"{HOLDERS}?block={LISTED}",
    f"{HOLDERS}?block={LISTED + 1}",
    f"{MAP}?date=2026-01-02",
    f"{HOLDERS}/{PARTIES[0]}?block=20",
    f"{HOLDERS}/{PARTIES[0]}/transfers?block=20",
    f"{TEMPORAL}?from_block=10&to_block=20",
    f"{TEMPORAL}?to_block={LISTED}",
)


@pytest.mark.parametrize("path", PAST)
def test_numbers_at_a_past_block_do_not_age(house, path):
    body = get(house, path).json()
    assert (body["stale"], body["staleAfter"]) == (False, None)
    assert body["fetchedAt"] is not None


NEWEST = (HOLDERS, f"{HOLDERS}?block={LAST}", f"{HOLDERS}/{PARTIES[0]}", TEMPORAL)


@pytest.mark.parametrize("path", NEWEST)
def test_numbers_of_the_newest_list_do_age(house, path):
    assert get(house, path).json()["staleAfter"] is not None


@pytest.mark.parametrize(("reason", "past_is_stale"), [("run_failed", False), ("check_failed", True)])
def test_a_failed_run_makes_nothing_of_the_past_stale_and_a_failed_check_does(house, tmp_path, reason, past_is_stale):
    marked = house.copied(tmp_path)
    marked.republish_stale(reason)
    stale = {path: (body["stale"], body["reason"]) for path in (*PAST, *NEWEST) for body in [get(marked, path).json()]}
    assert {path: stale[path] for path in NEWEST} == dict.fromkeys(NEWEST, (True, reason))
    assert {path: stale[path][0] for path in PAST} == dict.fromkeys(PAST, past_is_stale)
    assert stale[f"{HOLDERS}?block={LISTED + 1}"][1] == (reason if past_is_stale else "replayed")


def test_a_day_is_its_last_block_before_midnight(house):
    last_of_day = max(row[0] for row in ROWS if row[0] < DAY)
    first, third = (get(house, f"{HOLDERS}?date=2026-01-0{day}").json() for day in (1, 3))
    assert first["basis"]["block"] == last_of_day
    assert first["holderCount"] == len(holders_at(last_of_day))
    assert third["basis"]["block"] == LAST
    same = get(house, f"{HOLDERS}?block={last_of_day}").json()
    assert {**same, "generatedAt": None} == {**first, "generatedAt": None}


def test_a_list_at_any_block_is_walked_and_equals_a_replay(house):
    block = DAY + 777
    path, seen = f"{MAP}?block={block}&limit=60", []
    while path:
        page = get(house, path).json()
        assert (page["block"], page["quality"], page["reason"]) == (block, "derived", "replayed")
        assert (page["basis"]["kind"], page["basis"]["provenBlock"], page["consistency"]) == ("replay", LAST, None)
        seen += page["holders"]
        path = page["links"]["next"]
    assert [(int(row["balanceRaw"]), row["address"]) for row in seen] == holders_at(block)
    assert [row["rank"] for row in seen] == list(range(1, len(seen) + 1))
    assert page["total"] == len(seen) > 60, "more than a page"
    first_seen = {who: min(row[0] for row in ROWS if who in row[1:3]) for who in PARTIES[:60]}
    assert seen[0]["firstSeenAt"] == block_time(first_seen[seen[0]["address"]]).strftime("%Y-%m-%dT%H:%M:%SZ")


def test_a_cursor_of_another_block_is_refused(house):
    page = get(house, f"{MAP}?block={DAY + 777}&limit=60").json()
    answer = get(house, f"{MAP}?block={DAY}&cursor={page['nextCursor']}")
    assert (answer.status_code, answer.json()["code"]) == (400, "cursor_invalid")
    assert answer.json()["detail"] == (
        f"The cursor walks the list of block {DAY + 777}, and the request names block {DAY}: leave out one."
    )
    assert answer.json()["errors"] == [{"pointer": "/query/block", "detail": "contradicts the cursor"}]
    assert get(house, f"{MAP}?cursor={page['nextCursor']}").json()["code"] == "cursor_invalid"


def test_the_list_of_a_block_that_was_taken_carries_its_proof(house):
    body = get(house, f"{HOLDERS}?block={LISTED}").json()
    assert (body["quality"], body["consistency"]["block"], body["basis"]["kind"]) == ("exact", LISTED, "list")
    assert body["holderCount"] == len(holders_at(LISTED))


def test_a_computed_list_has_the_concentration_of_a_taken_one(house):
    near = max(row[0] for row in ROWS if row[0] < LISTED) if LISTED not in {row[0] for row in ROWS} else None
    taken, computed = (get(house, f"{HOLDERS}?block={block}").json() for block in (LISTED, near))
    assert computed["concentration"] == pytest.approx(taken["concentration"])
    assert (computed["totalSupplyRaw"], computed["holderCount"]) == (taken["totalSupplyRaw"], taken["holderCount"])


def test_the_first_list_of_a_process_does_not_wait_for_pandas(house):
    asked = (house.data_dir, "token_holders_map", {"block": str(LISTED - 1)})
    packages = LOOP.run(WorkerPool().run("ann", packages_after, variant_in_worker, *asked))
    assert "polars" in packages, "a list was computed"
    assert "pandas" not in packages


def test_two_blocks_or_days_are_compared(house):
    before, after = DAY // 2, 2 * DAY + 5
    body = get(house, f"{TEMPORAL}?from_block={before}&to_block={after}").json()
    were, are = ({who for _, who in holders_at(block)} for block in (before, after))
    assert (body["from"]["holders"], body["to"]["holders"]) == (len(were), len(are))
    assert body["churn"]["entered"] == len(are - were)
    assert body["churn"]["left"] == len(were - are)
    assert (body["quality"], body["reason"]) == ("derived", "replayed")
    assert sum(row["after"] for row in body["cohorts"]["held"]) == len(are)
    days = get(house, f"{TEMPORAL}?from_date=2026-01-01&to=%d" % LAST).json()
    assert days["from"]["block"] == max(row[0] for row in ROWS if row[0] < DAY)
    assert days["to"]["block"] == LAST


def test_with_only_the_later_side_it_is_compared_with_the_list_before_or_the_end_of_the_day_before(house):
    sides = {
        to: get(house, f"{TEMPORAL}?to_block={to}").json()["from"]["block"] for to in (LAST - 1, LISTED - 1, DAY + 60)
    }
    midnight = max(row[0] for row in ROWS if row[0] < DAY)
    assert sides == {LAST - 1: LISTED, LISTED - 1: midnight, DAY + 60: midnight}
    assert get(house, f"{TEMPORAL}?to_block=20").json()["code"] == "before_token"


@pytest.mark.parametrize(
    ("query", "status", "code", "pointer"),
    [
        ("from_block=1", 404, "before_token", "/query/from_block"),
        (f"to_block={LAST + 9}", 409, "block_not_proven", "/query/to_block"),
        ("to_date=9998-01-01", 400, "date_in_future", "/query/to_date"),
        ("from=10&from_block=10", 400, "parameter_invalid", None),
        ("from=11", 400, "snapshot_unknown", "/query/from"),
    ],
)
def test_a_side_that_can_not_be_compared_is_refused_and_named(house, query, status, code, pointer):
    answer = get(house, f"{TEMPORAL}?{query}")
    assert (answer.status_code, answer.json()["code"]) == (status, code)
    if pointer:
        assert answer.json()["errors"][0]["pointer"] == pointer


def test_days_and_hours_are_published_with_the_lists_that_prove_them(house):
    days = get(house, "/api/token/series/daily").json()
    assert [point["start"] for point in days["points"]] == [f"2026-01-0{day}T00:00:00Z" for day in (1, 2, 3)]
    assert [point["holders"] for point in days["points"]] == [
        len(holders_at(end)) for end in (DAY - 1, 2 * DAY - 1, LAST)
    ]
    assert sum(point["transfers"] for point in days["points"]) == sum(row[0] <= LAST for row in ROWS)
    assert [point["provenBlock"] for point in days["points"]] == [None, LISTED, LAST]
    assert [point["quality"] for point in days["points"]] == ["derived", "derived", "exact"]
    blocks = [row[0] for row in ROWS]
    assert [point["lastBlock"] for point in days["points"]] == [
        max(block for block in blocks if block <= end) for end in (DAY - 1, 2 * DAY - 1, LAST)
    ]
    assert days["points"][-1]["lastBlock"] < LAST, "the list proves the state after its last transfer"
    assert {point["priceReason"] for point in days["points"]} == {"not_observed"}
    newest = get(house, HOLDERS).json()
    last = days["points"][-1]
    measures = {name: last[name] for name in ("top10Share", "gini", "hhi")}
    assert measures == pytest.approx(newest["concentration"])
    hours = get(house, "/api/token/series/hourly").json()["points"]
    assert len(hours) == 72
    assert hours[-1]["holders"] == newest["holderCount"]


def test_edges_among_the_largest_are_sums_of_transfers(house):
    body = get(house, f"{MAP}/edges").json()
    holders = {who for _, who in holders_at(LAST)}
    sums = {}
    for block, sender, recipient, value in ROWS:
        if block <= LAST and {sender, recipient} <= holders:
            count, amount = sums.get((sender, recipient), (0, 0))
            sums[sender, recipient] = (count + 1, amount + value)
    assert {(edge["from"], edge["to"]): (edge["transfers"], int(edge["amountRaw"])) for edge in body["edges"]} == sums
    assert (body["among"], body["days"], body["block"]) == (250, 30, LAST)


def test_before_any_list_an_address_is_answered_without_numbers(tmp_path):
    house = House(tmp_path, rate_limit_per_minute=0)
    house.now = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(days=1)
    house.publish(HOLDERS)
    body = get(house, f"{HOLDERS}/{PARTIES[0]}").json()
    assert (body["quality"], body["reason"], body["balanceRaw"], body["block"]) == (
        "unavailable", "not_configured", None, None,
    )  # fmt: skip
