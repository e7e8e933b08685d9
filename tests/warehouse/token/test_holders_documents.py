"""The three holder documents from literal lists: every field, every page of a walk, every reason for an empty one."""

from __future__ import annotations

import math
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from grown_lists import NOW, THE_TOKEN, body, grow
from holder_rows import TOKEN, address, block_hash, put_transfers
from hypothesis import given
from hypothesis import strategies as st

from contracts.discovery.installation import Installation
from contracts.errors import CursorInvalid, DateInFuture, SnapshotUnknown
from contracts.token.history_documents import TokenHolderParameters
from contracts.token.holder_documents import (
    HoldersMapParameters,
    HoldersTemporalParameters,
    MomentParameters,
)
from contracts.token.holders import ZERO_ADDRESS, encode_cursor
from warehouse.document_context import DocumentContext
from warehouse.duck.connection import Warehouse
from warehouse.token.fold import fold_balances
from warehouse.token.history_documents import read_token_holder
from warehouse.token.holder_lists import lists_dir
from warehouse.token.holder_status import backfill_percent, known_token, record_source, record_status
from warehouse.token.holders import compare, concentration

A, B, C, D = (address(number) for number in (0xA, 0xB, 0xC, 0xD))


@pytest.fixture
def context(tmp_path: Path) -> Iterator[DocumentContext]:
    with Warehouse(tmp_path).connect() as opened:
        yield DocumentContext(opened, lists_dir(tmp_path), Installation("https://svc.example"))


@pytest.mark.parametrize("name", ["token_holders", "token_holders_map", "token_holders_map_temporal"])
def test_without_a_token_a_document_says_that_none_is_configured(context: DocumentContext, name: str) -> None:
    assert body(name, context)["reason"] == "not_configured"
    record_status(context.connection, chain_id=8453, token=None, start_block=0, finalized_block=None, now=NOW)
    answer = body(name, context)
    assert (answer["quality"], answer["reason"], answer["chainId"]) == ("unavailable", "not_configured", 8453)


@pytest.mark.parametrize("name", ["token_holders", "token_holders_map", "token_holders_map_temporal"])
def test_during_the_backfill_a_document_says_so(context: DocumentContext, name: str) -> None:
    put_transfers(context.connection, [(1, ZERO_ADDRESS, A, 5)], 49)
    fold_balances(context.connection)
    record_status(context.connection, chain_id=8453, token=THE_TOKEN, start_block=0, finalized_block=199, now=NOW)
    answer = body(name, context)
    assert (answer["quality"], answer["reason"]) == ("unavailable", "backfilling")
    if name != "token_holders_map_temporal":
        assert answer["backfill"] == {"percent": 25.0, "block": 49, "finalizedBlock": 199}
    assert known_token(context.connection) == THE_TOKEN


def test_a_day_to_come_is_refused_before_there_is_any_list(context: DocumentContext) -> None:
    record_status(context.connection, chain_id=8453, token=THE_TOKEN, start_block=0, finalized_block=199, now=NOW)
    assert body("token_holders_map", context, HoldersMapParameters(date="2026-01-01"))["reason"] == "backfilling"
    with pytest.raises(DateInFuture, match="Today is"):
        body("token_holders_map", context, HoldersMapParameters(date="9998-12-31"))


def test_the_holders_document_carries_count_supply_proof_and_concentration(context: DocumentContext) -> None:
    grow(context, [(1, ZERO_ADDRESS, A, 1000), (2, A, B, 250)], 5)
    record_source(context.connection, "scan.example", counters_holders=3, token_holders=4, reason=None, fetched_at=NOW)
    record_source(
        context.connection, "down.example", counters_holders=None, token_holders=None, reason="timeout", fetched_at=NOW
    )
    answer = body("token_holders", context)
    assert (answer["ok"], answer["quality"], answer["reason"], answer["holderCount"]) == (True, "exact", None, 2)
    assert (answer["totalSupplyRaw"], answer["totalSupply"]) == ("1000", "10")
    assert (answer["observedAt"], answer["fetchedAt"]) == ("2026-01-01T00:05:00Z", "2026-02-01T00:00:00Z")
    assert answer["token"] == {"address": TOKEN, "name": "Demo", "symbol": "DMO", "decimals": 2}
    assert answer["consistency"]["level"] == "finalized" and answer["consistency"]["blockHash"] == block_hash(5)
    assert set(answer["consistency"]["proof"]) == {
        "block", "blockHash", "sumOfBalances", "totalSupply", "minted", "burned", "negativeBalances",
        "sampledBalanceOf", "rangesReasked", "verdict", "reason", "holderList", "nodes", "storage",
    }  # fmt: skip
    assert answer["consistency"]["proof"]["storage"] == {
        "verdict": "unproven", "reason": "header_mismatch", "proven": 0, "unequal": 0, "supply": None,
        "balanceLayout": None, "supplyLayout": None, "file": None,
    }  # fmt: skip
    assert answer["concentration"] == {"top10Share": 1.0, "gini": 0.25, "hhi": 0.625}
    assert answer["snapshots"] == [{"id": "5", "block": 5, "time": "2026-01-01T00:05:00Z"}]
    down, scan = answer["discrepancy"]
    assert (down["theirs"], down["absolute"], down["percent"], down["reason"]) == (None, None, None, "timeout")
    assert (scan["theirs"], scan["ours"], scan["absolute"], scan["percent"]) == (3, 2, 1, 50.0)


@pytest.mark.parametrize(
    ("odd", "quality", "reason"),
    [
        ({"empty": True}, "derived", "no_balance_of"),
        ({"supply": 7}, "estimated", "supply_mismatch"),
    ],
)
def test_an_unproven_list_is_never_exact(context: DocumentContext, odd: Any, quality: str, reason: str) -> None:
    grow(context, [(1, ZERO_ADDRESS, A, 1000)], 5, **odd)
    for name in ("token_holders", "token_holders_map"):
        answer = body(name, context)
        assert (answer["quality"], answer["reason"]) == (quality, reason)


@pytest.mark.parametrize(
    ("code", "reason"), [({}, "no_contract"), ({TOKEN: "0x6080"}, "no_supply")], ids=["no contract", "another contract"]
)
def test_an_address_at_which_nothing_shows_a_token_has_no_numbers(
    context: DocumentContext, code: dict[str, str], reason: str
) -> None:
    grow(context, [], 5, empty=True, code=code)
    holders = body("token_holders", context)
    assert (holders["quality"], holders["reason"], holders["source"]) == ("unavailable", reason, None)
    assert [holders[name] for name in ("holderCount", "totalSupplyRaw", "concentration", "consistency", "basis")] == (
        [None] * 5
    )
    assert holders["backfill"] == {"percent": 100.0, "block": 5, "finalizedBlock": 5}
    page = body("token_holders_map", context)
    assert (page["quality"], page["reason"], page["total"], page["holders"]) == ("unavailable", reason, None, [])
    # Its first transfer makes it a token, whatever its contract answers.
    grow(context, [(7, ZERO_ADDRESS, A, 10)], 9, empty=True, code={TOKEN: "0x6080"})
    assert (body("token_holders", context)["holderCount"], body("token_holders", context)["quality"]) == (1, "derived")


def test_a_token_that_nobody_holds_yet_is_proven_to_have_no_holders(context: DocumentContext) -> None:
    grow(context, [], 5, code={TOKEN: "0x6080"})
    holders = body("token_holders", context)
    assert (holders["quality"], holders["holderCount"], holders["totalSupplyRaw"]) == ("exact", 0, "0")


def test_a_walk_by_cursor_gives_every_holder_once_and_stays_on_its_list(context: DocumentContext) -> None:
    grow(context, [(1, ZERO_ADDRESS, address(number), 1000 + number // 2) for number in range(1, 151)], 5)
    page = body("token_holders_map", context, HoldersMapParameters(limit=60))
    grow(context, [(7, ZERO_ADDRESS, address(0xFFF), 10**6)], 9)
    seen = list(page["holders"])
    while page["nextCursor"] is not None:
        assert page["links"]["next"] == f"/api/token/holders-map?limit=60&cursor={page['nextCursor']}"
        page = body("token_holders_map", context, HoldersMapParameters(limit=60, cursor=page["nextCursor"]))
        assert (page["snapshot"], page["block"], page["total"], page["limit"]) == ("5", 5, 150, 60)
        seen += page["holders"]
    assert page["links"] == {"next": None}
    assert [row["rank"] for row in seen] == list(range(1, 151))
    assert [(int(row["balanceRaw"]), row["address"]) for row in seen] == sorted(
        ((1000 + number // 2, address(number)) for number in range(1, 151)), key=lambda pair: (-pair[0], pair[1])
    )
    assert sum(row["share"] for row in seen) == pytest.approx(1)
    newest = body("token_holders_map", context)
    assert (newest["block"], newest["limit"], len(newest["holders"])) == (9, 100, 100)
    assert newest["holders"][0] == {
        "rank": 1, "address": address(0xFFF), "balanceRaw": "1000000", "balance": "10000",
        "share": pytest.approx(10**6 / (10**6 + sum(1000 + number // 2 for number in range(1, 151)))),
        "firstSeenAt": "2026-01-01T00:07:00Z", "firstHeldAt": "2026-01-01T00:07:00Z",
        "lastActiveAt": "2026-01-01T00:07:00Z", "kind": "wallet",
        "cohort": "whale",
    }  # fmt: skip


@pytest.fixture(scope="module")
def three_lists(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DocumentContext]:
    """Transfers in blocks 1 and 7, lists at 5, 9 and 20; only to be read."""
    directory = tmp_path_factory.mktemp("three_lists")
    with Warehouse(directory).connect() as opened:
        context = DocumentContext(opened, lists_dir(directory), Installation("https://svc.example"))
        for rows, listed in ([(1, ZERO_ADDRESS, A, 10)], 5), ([(7, A, B, 1)], 9), ([], 20):
            grow(context, rows, listed)
        yield context


@pytest.mark.parametrize(
    ("block", "known"), [(1, 1), (4, 1), (5, 5), (6, 5), (7, 7), (8, 7), (9, 9), (10, 9), (19, 9), (20, 20)]
)
def test_the_time_of_a_block_is_of_the_newest_transfer_or_list_up_to_it(
    three_lists: DocumentContext, block: int, known: int
) -> None:
    answer = body("token_holders", three_lists, MomentParameters(block=block))
    assert answer["observedAt"] == answer["basis"]["time"] == f"2026-01-01T00:{known:02}:00Z"


@pytest.mark.parametrize("cursor", ["x", "!!!", encode_cursor(4, 0), encode_cursor(5, 3), "NS4wLjAwMDAwMDAw"])
def test_a_cursor_that_is_not_ours_or_of_no_readable_list_is_refused(three_lists: DocumentContext, cursor: str) -> None:
    with pytest.raises(CursorInvalid):
        body("token_holders_map", three_lists, HoldersMapParameters(cursor=cursor))


def test_one_snapshot_is_not_enough_to_compare(context: DocumentContext) -> None:
    grow(context, [(1, ZERO_ADDRESS, A, 10)], 5)
    answer = body("token_holders_map_temporal", context)
    assert (answer["quality"], answer["reason"]) == ("unavailable", "not_enough_snapshots")
    assert (answer["from"], answer["to"], answer["churn"]) == (None, None, None)
    assert [snapshot["id"] for snapshot in answer["snapshots"]] == ["5"]


def test_until_there_are_two_snapshots_the_first_and_the_latest_list_are_compared(context: DocumentContext) -> None:
    for block in (5, 6, 7, 8, 9):
        grow(context, [(block, ZERO_ADDRESS, address(block), 10)], block, snapshot=None)
    answer = body("token_holders_map_temporal", context)
    assert [snapshot["id"] for snapshot in answer["snapshots"]] == ["5"]
    assert (answer["from"]["id"], answer["to"]["id"], answer["churn"]["entered"]) == ("5", "9", 4)
    by_its_ids = HoldersTemporalParameters(from_=answer["from"]["id"], to=answer["to"]["id"])
    assert body("token_holders_map_temporal", context, by_its_ids)["churn"] == answer["churn"]


def test_one_list_is_compared_with_any_block_before_it(context: DocumentContext) -> None:
    grow(context, [(1, ZERO_ADDRESS, A, 10), (3, A, B, 1), (4, B, C, 1)], 5)
    answer = body("token_holders_map_temporal", context, HoldersTemporalParameters(from_block=3))
    assert (answer["from"]["block"], answer["to"]["block"], answer["reason"]) == (3, 5, "replayed")
    assert answer["churn"] == {"entered": 1, "left": 1, "retained": 1, "rate": 0.5}


def test_a_list_distinguishes_the_first_transfer_from_the_first_holding(context: DocumentContext) -> None:
    grow(context, [(1, ZERO_ADDRESS, A, 10), (2, A, B, 0), (4, A, B, 1)], 5)
    rows = {
        row["address"]: (row["firstSeenAt"], row["firstHeldAt"])
        for row in body("token_holders_map", context)["holders"]
    }
    assert rows[B] == ("2026-01-01T00:02:00Z", "2026-01-01T00:04:00Z")


def test_tokens_that_the_zero_address_holds_have_a_rank_at_any_block(context: DocumentContext) -> None:
    # This contract keeps what is sent to zero: its supply stays, and it reports that zero holds it.
    rows = [(1, ZERO_ADDRESS, A, 100), (2, A, B, 30), (3, A, ZERO_ADDRESS, 20), (6, A, ZERO_ADDRESS, 25)]
    grow(context, rows, 9, supply=100, balances={ZERO_ADDRESS: 45})
    for block, zero, rank in ((2, 0, None), (4, 20, 3), (7, 45, 1)):
        page = body("token_holders_map", context, HoldersMapParameters(block=block))
        held = {row["address"]: (row["rank"], int(row["balanceRaw"])) for row in page["holders"]}
        assert held.get(ZERO_ADDRESS) == ((rank, zero) if zero else None)
        assert sum(value for _, value in held.values()) == 100
        for who, (place, value) in held.items():
            one = read_token_holder(context, who, TokenHolderParameters(block=block))
            assert (one["rank"], one["balance_raw"]) == (place, str(value))
            assert one["share"] == pytest.approx(value / 100)


def test_a_holder_has_its_rank_in_the_snapshots_up_to_its_block(context: DocumentContext) -> None:
    day = 24 * 60
    grow(context, [(1, ZERO_ADDRESS, A, 100), (1, ZERO_ADDRESS, B, 50)], 5)
    grow(context, [(day, A, B, 60), (day, A, C, 40)], day)
    grow(context, [(2 * day, B, C, 110)], 2 * day + 1, snapshot=None)
    grow(context, [(3 * day, C, A, 149)], 3 * day)
    steps = (5, day, 3 * day)
    for who, ranks in ((A, [1, None, 1]), (B, [2, 1, None]), (C, [None, 2, 2]), (D, [None, None, None])):
        one = read_token_holder(context, who, TokenHolderParameters(ranks=60))
        assert [(point.block, point.rank) for point in one["ranks"]] == list(zip(steps, ranks, strict=True))[::-1]
        assert one["rank"] == ranks[-1]
        earlier = read_token_holder(context, who, TokenHolderParameters(ranks=1, block=2 * day))
        assert [(point.block, point.rank) for point in earlier["ranks"]] == [(day, ranks[1])]
        assert read_token_holder(context, who, TokenHolderParameters())["ranks"] == []


@pytest.mark.parametrize(
    ("kept", "history"),
    [(0, []), (25, [(6, "25", "25")]), (30, []), (45, [(6, "45", "25"), (3, "20", "20")])],
)
def test_the_history_of_the_zero_address_ends_at_its_balance(
    context: DocumentContext, kept: int, history: list[tuple[int, str, str]]
) -> None:
    rows = [(1, ZERO_ADDRESS, A, 100), (3, A, ZERO_ADDRESS, 20), (6, A, ZERO_ADDRESS, 25)]
    grow(context, rows, 9, supply=55 + kept, balances={ZERO_ADDRESS: kept})
    zero = read_token_holder(context, ZERO_ADDRESS, TokenHolderParameters())
    assert [(point["block"], point["balanceRaw"], point["changeRaw"]) for point in zero["history"]] == history
    assert zero["balance_raw"] == str(kept)


def test_two_snapshots_compared_tell_who_came_left_and_moved(context: DocumentContext) -> None:
    minutes_a_day = 24 * 60
    grow(context, [(1, ZERO_ADDRESS, A, 600), (1, ZERO_ADDRESS, B, 300), (1, ZERO_ADDRESS, C, 100)], 5)
    later = 2 * minutes_a_day
    grow(context, [(later, B, D, 300), (later, A, C, 50), (later, ZERO_ADDRESS, C, 5)], later)
    answer = body("token_holders_map_temporal", context)
    assert (answer["from"]["id"], answer["to"]["id"], answer["to"]["sumRaw"]) == ("5", str(later), "1005")
    assert answer["churn"] == {"entered": 1, "left": 1, "retained": 2, "rate": pytest.approx(1 / 3)}
    assert answer["movers"]["up"] == [
        {"address": D, "beforeRaw": "0", "afterRaw": "300", "changeRaw": "300", "rankBefore": None, "rankAfter": 2},
        {"address": C, "beforeRaw": "100", "afterRaw": "155", "changeRaw": "55", "rankBefore": 3, "rankAfter": 3},
    ]
    assert [(row["address"], row["changeRaw"]) for row in answer["movers"]["down"]] == [(B, "-300"), (A, "-50")]
    assert answer["cohorts"]["size"][0] == {"cohort": "whale", "before": 3, "after": 3, "change": 0}
    ages = {row["cohort"]: (row["before"], row["after"]) for row in answer["cohorts"]["age"]}
    assert ages == {
        "under_1_day": (3, 1), "under_7_days": (0, 2), "under_30_days": (0, 0), "under_90_days": (0, 0),
        "90_days_or_more": (0, 0),
    }  # fmt: skip
    turned = body("token_holders_map_temporal", context, HoldersTemporalParameters(from_=str(later), to="5"))
    assert (turned["churn"]["entered"], turned["movers"]["up"][0]["address"]) == (1, B)


def test_from_and_to_choose_among_readable_snapshots(context: DocumentContext) -> None:
    for block in (5, 6, 7):
        grow(context, [(block, ZERO_ADDRESS, address(block), 10)], block)
    chosen = body("token_holders_map_temporal", context, HoldersTemporalParameters(from_="5"))
    assert (chosen["from"]["id"], chosen["to"]["id"], chosen["churn"]["entered"]) == ("5", "7", 2)
    earlier = body("token_holders_map_temporal", context, HoldersTemporalParameters(to="6"))
    assert (earlier["from"]["id"], earlier["to"]["id"]) == ("5", "6")
    with pytest.raises(SnapshotUnknown) as problem:
        body("token_holders_map_temporal", context, HoldersTemporalParameters(to="8"))
    assert problem.value.errors == [("/query/to", "is not among `snapshots`")]


def test_movers_compare_exactly_beyond_what_floats_tell_apart(context: DocumentContext, tmp_path: Path) -> None:
    connection = context.connection
    for name, amounts in (("before", (2**200, 2**200)), ("after", (2**200 + 1, 2**200 - 2))):
        rows = ", ".join(
            f"({rank}, '{who}', '{amount}', 'whale', timestamp '2026-01-01')"
            for rank, (who, amount) in enumerate(zip((A, B), amounts, strict=True), start=1)
        )
        connection.execute(
            f"copy (from (values {rows}) as list(rank, address, balance_raw, cohort, first_seen_at)) "
            f"to '{tmp_path / name}.parquet'"
        )
    moment = datetime(2026, 1, 2)  # noqa: DTZ001  (the warehouse keeps UTC without an offset)
    found = compare(
        connection,
        tmp_path / "before.parquet",
        tmp_path / "after.parquet",
        before_time=moment,
        after_time=moment + timedelta(days=1),
    )
    moved = [(row["address"], row["changeRaw"]) for side in ("up", "down") for row in found["movers"][side]]
    assert moved == [(A, "1"), (B, "-2")]


@pytest.mark.parametrize(
    ("balances", "expected"),
    [
        ([1], (1.0, 0.0, 1.0)),
        ([5, 5, 5, 5], (1.0, 0.0, 0.25)),
        ([9, 0.5, 0.5], (1.0, 0.5666666666666667, 0.815)),
        ([1] * 20, (0.5, 0.0, 0.05)),
        ([], (0.0, 0.0, 0.0)),
    ],
)
def test_concentration_of_literal_lists(
    context: DocumentContext, tmp_path: Path, balances: list[float], expected: tuple[float, float, float]
) -> None:
    total = sum(balances)
    rows = ", ".join(f"({rank}, {amount / total}::double)" for rank, amount in enumerate(balances, start=1))
    source = f"values {rows}" if balances else "select 1, 1.0::double where false"
    path = tmp_path / "list.parquet"
    context.connection.execute(f"copy (from ({source}) as list(rank, share)) to '{path}'")
    found = concentration(context.connection, path)
    for value, wanted in zip(found.values(), expected, strict=True):
        assert math.isclose(value, wanted, abs_tol=1e-12)


@given(start=st.integers(0, 10**7), read_blocks=st.integers(0, 10**7), ahead=st.integers(0, 10**7))
def test_the_backfill_is_at_one_hundred_percent_only_when_it_is_done(start: int, read_blocks: int, ahead: int) -> None:
    block, finalized = start + read_blocks, start + read_blocks + ahead
    percent = backfill_percent(start, block, finalized)
    assert 0 <= percent <= 100 and (percent == 100) == (ahead == 0)
    assert backfill_percent(start, None, finalized) == 0
