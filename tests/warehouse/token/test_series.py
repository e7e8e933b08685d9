"""Hours and days of the holders: the points that literal transfers give, equal however often the history was
extended."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import polars as pl
import pytest
from holder_rows import ORIGIN, TOKEN, Row, address, put_transfers, replay
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rounds import ROUNDS

from contracts.market import Refusal
from contracts.pools import CONCENTRATED, PAIR, PoolKind
from contracts.token.holders import ZERO_ADDRESS
from warehouse.duck.connection import Warehouse
from warehouse.duck.tables import tables
from warehouse.token.concentration import concentration_of
from warehouse.token.fold import fold_balances
from warehouse.token.history_writer import Sizes, extend_history, history_dir
from warehouse.token.holders import read_state
from warehouse.token.pool import needs_pool_events, record_pool, recorded_kind
from warehouse.token.series import record_bucket_prices

A, B, C, D = (address(number) for number in (0xA, 0xB, 0xC, 0xD))
DAY = 24 * 60
"""Number of blocks, one per minute."""


@pytest.fixture
def warehouse(tmp_path: Path) -> Iterator[Any]:
    with Warehouse(tmp_path).connect() as opened:
        yield opened


def extend(connection: Any, data_dir: Path, rows: Sequence[Row], upto: int) -> None:
    put_transfers(connection, rows, upto)
    fold_balances(connection)
    state = read_state(connection)
    assert state is not None
    extend_history(connection, data_dir, state, Sizes(changes=3, state=7))


def daily(connection: Any) -> list[tuple[Any, ...]]:
    return connection.execute(
        "select (start::date - date '2026-01-01')::integer, last_block, holders, new_holders, returned, left_holders, "
        "transfers, volume_raw from out_holders__daily order by start"
    ).fetchall()


def test_a_day_counts_holders_who_came_came_back_and_left(warehouse: Any, tmp_path: Path) -> None:
    extend(
        warehouse,
        tmp_path,
        [
            (5, ZERO_ADDRESS, A, 100),
            (6, A, B, 40),
            (7, B, C, 40),  # B comes and leaves within the day
            (DAY + 1, C, A, 40),
            (2 * DAY + 1, A, C, 1),
            (2 * DAY + 2, A, B, 1),
            (2 * DAY + 3, A, D, 0),
        ],
        4 * DAY + 9,
    )
    assert daily(warehouse) == [
        (0, 7, 2, 2, 0, 0, 3, "180"),
        (1, DAY + 1, 1, 0, 0, 1, 1, "40"),
        (2, 2 * DAY + 3, 3, 0, 2, 0, 3, "2"),
        (3, 2 * DAY + 3, 3, 0, 0, 0, 0, "0"),
        (4, 2 * DAY + 3, 3, 0, 0, 0, 0, "0"),
    ]


def test_an_hour_that_was_counted_half_is_completed_by_the_next_run(warehouse: Any, tmp_path: Path) -> None:
    extend(warehouse, tmp_path, [(1, ZERO_ADDRESS, A, 10), (2, A, B, 1)], 10)
    extend(warehouse, tmp_path, [(61, A, C, 2), (62, B, A, 1)], 70)
    extend(warehouse, tmp_path, [(80, C, B, 2), (81, A, ZERO_ADDRESS, 8)], 90)
    rows = warehouse.execute(
        "select hour(start), holders, new_holders, returned, left_holders, transfers, volume_raw "
        "from out_holders__hourly order by start"
    ).fetchall()
    # B left and came back within the hour, C came and left: of both nothing remains
    assert rows == [(0, 2, 2, 0, 0, 2, "11"), (1, 1, 0, 0, 1, 4, "13")]


def test_hours_older_than_ninety_days_go(warehouse: Any, tmp_path: Path) -> None:
    rows = [(1, ZERO_ADDRESS, A, 1), (100 * DAY, ZERO_ADDRESS, B, 1)]
    extend(warehouse, tmp_path, rows, 100 * DAY + 1)
    ((first, last, count),) = warehouse.execute(
        "select min(start), max(start), count(*) from out_holders__hourly"
    ).fetchall()
    assert (last - first).days == 90
    assert count == 90 * 24 + 1
    assert len(daily(warehouse)) == 101


def expected_days(rows: Sequence[Row], upto: int) -> list[tuple[Any, ...]]:
    """Returns the series in plain Python, with a whole replay for every day."""
    first_held: dict[str, int] = {}
    balances: dict[str, int] = {}
    for block, sender, recipient, value in sorted(rows, key=lambda row: row[0]):
        moved = replay([(block, sender, recipient, value)])
        for who, change in moved.items():
            balances[who] = balances.get(who, 0) + change
    by_block = sorted({row[0] for row in rows})
    for block in by_block:
        state = replay(row for row in rows if row[0] <= block)
        for who, held in state.items():
            if held > 0 and who != ZERO_ADDRESS:
                first_held.setdefault(who, block)
    days = []
    for day in range(by_block[0] // DAY, upto // DAY + 1):
        before, after = (
            {
                who
                for who, held in replay(row for row in rows if row[0] < end).items()
                if held > 0 and who != ZERO_ADDRESS
            }
            for end in (day * DAY, (day + 1) * DAY)
        )
        here = [row for row in rows if row[0] // DAY == day]
        came = after - before
        new = sum(first_held[who] >= day * DAY for who in came)
        last_block = max(block for block in by_block if block < (day + 1) * DAY)
        amount = str(sum(row[3] for row in here))
        days.append((day, last_block, len(after), new, len(came) - new, len(before - after), len(here), amount))
    return days


SERIES = ("out_holders__daily", "out_holders__hourly")


def stored(connection: Any, table: str) -> list[tuple[Any, ...]]:
    return connection.execute(f"select * from {table} order by start").fetchall()


def extend_in_runs(connection: Any, data_dir: Path, rows: Sequence[Row], ends: Sequence[int]) -> None:
    """Empties the warehouse, and reads the chain again in one run per end."""
    tables = ("core_holders__balances", "core_holders__state", "out_holders__history")
    for table in ("raw_chain__transfers", "raw_chain__ranges", *tables):
        connection.execute(f"delete from {table}")
    shutil.rmtree(history_dir(data_dir), ignore_errors=True)
    last = -1
    for upto in sorted(set(ends)):
        extend(connection, data_dir, [row for row in rows if last < row[0] <= upto], upto)
        last = upto


@pytest.mark.parametrize("ends", [[], [70], [119], [130], [70, 119, 130, 170], list(range(61, 190, 7))])
def test_the_last_block_of_an_hour_is_that_of_the_newest_transfer_however_many_runs_read_it(
    warehouse: Any, tmp_path: Path, ends: list[int]
) -> None:
    rows = [(1, ZERO_ADDRESS, A, 10), (61, A, B, 1), (65, B, A, 1), (190, A, C, 2)]
    extend_in_runs(warehouse, tmp_path, rows, [*ends, 245])
    hours = warehouse.execute("select hour(start), last_block from out_holders__hourly order by start").fetchall()
    assert hours == [(0, 1), (1, 65), (2, 65), (3, 190), (4, 190)]


def test_last_blocks_that_an_earlier_version_stored_are_corrected_at_the_next_opening(tmp_path: Path) -> None:
    read = [f"select start, last_block from {table} order by start" for table in SERIES]
    with Warehouse(tmp_path).connect() as connection:
        rows = [(1, ZERO_ADDRESS, A, 10), (DAY + 5, A, B, 1), (3 * DAY + 61, B, A, 1)]
        extend_in_runs(connection, tmp_path, rows, [DAY + 30, 3 * DAY + 200])
        put_transfers(connection, [(3 * DAY + 210, B, A, 1)], 3 * DAY + 220)  # read, and not in the series yet
        correct = [connection.execute(query).fetchall() for query in read]
        for table in SERIES:
            connection.execute(f"update {table} set last_block = last_block + 7")
        connection.execute("update schema_applied set schema_sha256 = 'of another version'")
    with Warehouse(tmp_path).connect() as connection:
        assert [connection.execute(query).fetchall() for query in read] == correct
        assert [block for _, block in correct[0]] == [1, DAY + 5, DAY + 5, 3 * DAY + 61]


parties = st.sampled_from([ZERO_ADDRESS, A, B, C, D])
steps = st.sampled_from([0, 1, 400, 900, 3000])
amounts = st.sampled_from([0, 1, 2, 5, 2**200, 2**255])


@settings(max_examples=8 * ROUNDS, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    moves=st.lists(st.tuples(steps, parties, parties, amounts), min_size=1, max_size=25),
    cuts=st.lists(st.integers(0, 20_000), max_size=4),
)
def test_days_equal_a_whole_replay_however_the_history_was_extended(
    warehouse: Any, tmp_path: Path, moves: list[tuple[int, str, str, int]], cuts: list[int]
) -> None:
    block, rows = 0, []
    for step, sender, recipient, value in moves:
        block += step
        rows.append((block, sender, recipient, value))
    upto = max(block, *cuts, 0)
    extend_in_runs(warehouse, tmp_path, rows, [*cuts, upto])
    assert daily(warehouse) == expected_days(rows, upto)
    many_runs = [stored(warehouse, table) for table in SERIES]
    extend_in_runs(warehouse, tmp_path, rows, [upto])
    assert [stored(warehouse, table) for table in SERIES] == many_runs


@pytest.mark.parametrize(
    ("balances", "expected"),
    [
        ([1.0], (1.0, 0.0, 1.0)),
        ([5.0, 5.0, 5.0, 5.0], (1.0, 0.0, 0.25)),
        ([9.0, 0.5, 0.5, 0.0], (1.0, 0.5666666666666667, 0.815)),
        ([1.0] * 20, (0.5, 0.0, 0.05)),
        ([], (0.0, 0.0, 0.0)),
        ([2.0**255, 2.0**255], (1.0, 0.0, 0.5)),
    ],
)
def test_concentration_of_literal_balances(balances: list[float], expected: tuple[float, float, float]) -> None:
    measured = concentration_of(pl.Series(balances, dtype=pl.Float64))
    assert tuple(measured.values()) == pytest.approx(expected)


def test_days_without_transfers_repeat_the_concentration(warehouse: Any, tmp_path: Path) -> None:
    extend(warehouse, tmp_path, [(1, ZERO_ADDRESS, A, 3), (2, ZERO_ADDRESS, B, 1)], 3 * DAY)
    measured = warehouse.execute("select top10_share, gini, hhi from out_holders__daily").fetchall()
    assert measured == [(1.0, 0.25, 0.625)] * 4


def test_prices_of_a_day_are_those_of_the_first_source_of_each_minute(warehouse: Any, tmp_path: Path) -> None:
    extend(warehouse, tmp_path, [(1, ZERO_ADDRESS, A, 3)], 2 * DAY)
    answers = [
        (DAY + 5, "second", 9, False), (DAY + 5, "first", 2, False), (DAY + 6, "first", 700, True),
        (DAY + 7, "second", 4, False), (DAY + 8, "first", 1, False), (DAY + 9, "first", 3, False),
    ]  # fmt: skip
    for minute, source, price, suspicious in answers:
        at = datetime.fromtimestamp(ORIGIN.timestamp() + 60 * minute, UTC).replace(tzinfo=None)
        warehouse.execute(
            "insert into raw_market__token_prices (token_address, source, fetched_at, latency_ms, quality, suspicious, "
            "price_usd) values (?, ?, ?, 1, 'exact', ?, ?)",
            [TOKEN, source, at, suspicious, price],
        )
    warehouse.execute(
        "insert into out_market__token_price (token_address, quality, stale, change_check, sources) "
        """values (?, 'exact', false, '{}', '[{"source": "first"}, {"source": "second"}]')""",
        [TOKEN],
    )
    for _ in range(2):
        record_bucket_prices(warehouse, TOKEN)
        prices = warehouse.execute(
            "select price_open, price_high, price_low, price_close from out_holders__daily order by start"
        ).fetchall()
        assert prices == [(None,) * 4, (2.0, 4.0, 1.0, 3.0), (None,) * 4]


POOL = address(0x9001)


def put_pool(
    connection: Any,
    *,
    currency: str | None = "usd",
    reason: str | None = None,
    token_place: int = 0,
    kind: PoolKind = PAIR,
) -> None:
    """Inserts a pool of our token (2 decimals) against one with 6."""
    connection.execute("delete from raw_chain__pool")
    connection.execute(
        "insert into raw_chain__pool values (?, ?, ?, 2, 6, ?, ?, '2026-01-01', ?)",
        [POOL, TOKEN, token_place, currency, reason, None if reason else kind.name],
    )


def put_syncs(connection: Any, rows: Sequence[tuple[int, int, int]], read_to: int) -> None:
    """Inserts reserves (whole tokens) at blocks, and the checkpoint of what is read."""
    for index, (block, reserve0, reserve1) in enumerate(rows):
        limbs = [(raw >> 64, raw & (2**64 - 1)) for raw in (reserve0 * 10**2, reserve1 * 10**6)]
        (high0, low0), (high1, low1) = limbs
        connection.execute(
            "insert into raw_chain__pool_reserves "
            "values (?, ?, ''::blob, row(0, 0, ?, ?)::u256, row(0, 0, ?, ?)::u256, ?, 'exact', null, null)",
            [block, index, high0, low0, high1, low1, naive(block)],
        )
    connection.execute(
        "insert into raw_chain__pool_ranges values (0, ?, '0x', ?, ?, 'd', 'n', false, ?)",
        [read_to, naive(read_to), len(rows), naive(read_to)],
    )


def put_swaps(connection: Any, rows: Sequence[tuple[int, int, int]], read_to: int) -> None:
    """Inserts root of the price and liquidity of a concentrated pool at blocks, and the checkpoint of what is read."""
    for index, (block, root, liquidity) in enumerate(rows):
        limbs = [number >> shift & (2**64 - 1) for number, shift in ((root, 128), (root, 64), (root, 0))]
        connection.execute(
            "insert into raw_chain__pool_reserves "
            "values (?, ?, ''::blob, null, null, ?, 'exact', row(0, ?, ?, ?)::u256, row(0, 0, ?, ?)::u256)",
            [block, index, naive(block), *limbs, liquidity >> 64, liquidity & (2**64 - 1)],
        )
    connection.execute(
        "insert into raw_chain__pool_ranges values (0, ?, '0x', ?, ?, 'd', 'n', false, ?)",
        [read_to, naive(read_to), len(rows), naive(read_to)],
    )


def price_blocks(connection: Any) -> list[int | None]:
    return [
        block for (block,) in connection.execute("select price_block from out_holders__daily order by start").fetchall()
    ]


def naive(minute: int) -> datetime:
    return datetime.fromtimestamp(ORIGIN.timestamp() + 60 * minute, UTC).replace(tzinfo=None)


def put_price(connection: Any, table: str, minute: int, price: float, quality: str = "exact") -> None:
    token = ", token_address" if table == "raw_market__token_prices" else ""
    connection.execute(
        f"insert into {table} (source, fetched_at, latency_ms, quality, suspicious, price_usd{token}) "
        f"values ('s', ?, 1, ?, false, ?{', ?' if token else ''})",
        [naive(minute), quality, price, *([TOKEN] if token else [])],
    )


def candles(connection: Any, table: str = "out_holders__daily") -> list[tuple[Any, ...]]:
    record_bucket_prices(connection, TOKEN)
    rows = connection.execute(
        "select price_open, price_high, price_low, price_close, price_source, price_quality, price_reason "
        f"from {table} order by start"
    ).fetchall()
    return [(*row[:4], *row[4:6]) if row[3] is not None else row[6] for row in rows if row[3] is None or row[6] is None]


def test_days_before_the_first_observed_price_have_the_pools(warehouse: Any, tmp_path: Path) -> None:
    extend(warehouse, tmp_path, [(1, ZERO_ADDRESS, A, 3)], 6 * DAY)
    put_pool(warehouse)
    put_syncs(
        warehouse,
        [
            (DAY + 5, 1000, 2000),
            (DAY + 6, 1000, 5000),
            (DAY + 6, 1000, 1000),
            (DAY + 9, 1000, 3000),
            (3 * DAY + 1, 1000, 4000),
            (4 * DAY + 9, 1000, 999_000),
            (4 * DAY + 701, 1000, 1),
        ],
        read_to=6 * DAY,
    )
    put_price(warehouse, "raw_market__token_prices", 4 * DAY + 700, 8.0, "estimated")
    put_price(warehouse, "raw_market__token_prices", 4 * DAY + 702, 7.0)
    expected = [
        "before_pool",
        (2.0, 5.0, 1.0, 3.0, "pool", "derived"),
        (3.0, 3.0, 3.0, 3.0, "pool", "derived"),  # no trade: the reserves stay
        (3.0, 4.0, 3.0, 4.0, "pool", "derived"),
        (4.0, 999.0, 4.0, 7.0, "pool_then_observed", "estimated"),
        "not_observed",
        "not_observed",
    ]
    assert candles(warehouse) == expected
    assert candles(warehouse) == expected
    # The block of the event behind the day's last price, also on a day without any event; no source named a block.
    assert price_blocks(warehouse) == [None, DAY + 9, DAY + 9, 3 * DAY + 1, None, None, None]


@pytest.mark.parametrize(
    ("syncs", "prices", "expected"),
    [
        # The pool's price applies at the start of the day, and moves until the first observed one.
        ([(5, 1000, 3000)], [(DAY + 60, 2.0, "exact")], (3.0, 3.0, 2.0, 2.0, "pool_then_observed", "derived")),
        ([(DAY + 59, 1000, 3000)], [(DAY + 60, 2.0, "exact")], (3.0, 3.0, 2.0, 2.0, "pool_then_observed", "derived")),
        ([(DAY + 1, 1000, 3000), (DAY + 9, 1000, 4000)], [(DAY + 10, 8.0, "exact"), (DAY + 20, 6.0, "exact")],
         (3.0, 8.0, 3.0, 6.0, "pool_then_observed", "derived")),
        ([(5, 1000, 3000)], [(DAY + 60, 2.0, "estimated")], (3.0, 3.0, 2.0, 2.0, "pool_then_observed", "estimated")),
        ([(5, 100, 300)], [(DAY + 60, 2.0, "exact")], (3.0, 3.0, 2.0, 2.0, "pool_then_observed", "estimated")),
        # The pool has no price before it.
        ([(5, 1000, 3000)], [(DAY, 2.0, "exact")], (2.0, 2.0, 2.0, 2.0, "observed", "exact")),
        ([(DAY + 60, 1000, 3000)], [(DAY + 60, 2.0, "exact")], (2.0, 2.0, 2.0, 2.0, "observed", "exact")),
        ([(5, 0, 0)], [(DAY + 60, 2.0, "exact")], (2.0, 2.0, 2.0, 2.0, "observed", "exact")),
    ],
)  # fmt: skip
def test_the_day_of_the_first_observed_price_has_the_pools_before_it(
    warehouse: Any, tmp_path: Path, syncs: Any, prices: Any, expected: tuple[Any, ...]
) -> None:
    extend(warehouse, tmp_path, [(1, ZERO_ADDRESS, A, 3)], 3 * DAY)
    put_pool(warehouse)
    for minute, price, quality in (*prices, (2 * DAY + 60, 9.0, "exact")):
        put_price(warehouse, "raw_market__token_prices", minute, price, quality)
    only_observed = candles(warehouse)  # before the pool's events are read
    put_syncs(warehouse, syncs, read_to=4 * DAY)
    after = ((9.0, 9.0, 9.0, 9.0, "observed", "exact"), "not_observed")
    assert candles(warehouse)[1:] == [expected, *after]
    assert candles(warehouse)[1:] == [expected, *after]
    # Its prices are removed when another pool replaces it, and the observed ones stay.
    record_pool(warehouse, address(0x9002), TOKEN, Refusal("no_pair"), datetime.now(UTC))
    assert candles(warehouse)[1:] == only_observed[1:]


def test_hours_without_an_answer_after_the_first_observed_price_are_not_the_pools(
    warehouse: Any, tmp_path: Path
) -> None:
    extend(warehouse, tmp_path, [(100 * DAY, ZERO_ADDRESS, A, 3)], 100 * DAY + 150)
    put_pool(warehouse)
    put_syncs(warehouse, [(5, 1000, 3000)], read_to=101 * DAY)
    for minute in (9, 100 * DAY + 70):
        put_price(warehouse, "raw_market__token_prices", minute, 2.0)
    observed = (2.0, 2.0, 2.0, 2.0, "observed", "exact")
    assert candles(warehouse, "out_holders__hourly") == ["not_observed", observed, "not_observed"]


def test_a_pool_that_is_read_in_pieces_gives_the_same_prices(warehouse: Any, tmp_path: Path) -> None:
    extend(warehouse, tmp_path, [(1, ZERO_ADDRESS, A, 3)], 3 * DAY)
    put_pool(warehouse)
    put_syncs(warehouse, [(5, 1000, 2000)], read_to=DAY + 30)
    assert candles(warehouse) == [
        (2.0, 2.0, 2.0, 2.0, "pool", "derived"),
        (2.0, 2.0, 2.0, 2.0, "pool", "derived"),
        "pool_not_read_yet",
        "pool_not_read_yet",
    ]
    put_syncs(warehouse, [(DAY + 40, 1000, 6000), (2 * DAY + 40, 1000, 1000)], read_to=4 * DAY)
    assert candles(warehouse) == [
        (2.0, 2.0, 2.0, 2.0, "pool", "derived"),
        (2.0, 6.0, 2.0, 6.0, "pool", "derived"),
        (6.0, 6.0, 1.0, 1.0, "pool", "derived"),
        (1.0, 1.0, 1.0, 1.0, "pool", "derived"),
    ]


def test_hours_have_the_pools_prices_too_and_thin_ones_are_estimated(warehouse: Any, tmp_path: Path) -> None:
    extend(warehouse, tmp_path, [(1, ZERO_ADDRESS, A, 3)], 150)
    put_pool(warehouse)
    put_syncs(warehouse, [(5, 1000, 2000), (61, 100, 400), (130, 0, 0)], read_to=200)
    assert candles(warehouse, "out_holders__hourly") == [
        (2.0, 2.0, 2.0, 2.0, "pool", "derived"),
        (2.0, 4.0, 2.0, 4.0, "pool", "estimated"),
        (4.0, 4.0, 4.0, 4.0, "pool", "estimated"),
    ]


ONE = 2**96
"""The root of a price of one, in smallest units. With 2 and 6 decimals, a dollar is 100 times as much."""
DEEP = 10**9


@pytest.mark.parametrize("token_place", [0, 1])
def test_a_concentrated_pool_has_the_price_of_its_swaps_whichever_token_is_ours(
    warehouse: Any, tmp_path: Path, token_place: int
) -> None:
    extend(warehouse, tmp_path, [(1, ZERO_ADDRESS, A, 3)], 3 * DAY)
    put_pool(warehouse, token_place=token_place, kind=CONCENTRATED)
    roots = [(5, 1600), (9, 3200), (DAY + 1, 800), (2 * DAY + 9, 1600)]  # times 1/800: 4, 16, 1 and 4 dollars
    swaps = [(block, ONE * 100 * root // 800 if token_place == 0 else ONE * 8 // root) for block, root in roots]
    put_swaps(warehouse, [(block, root, DEEP) for block, root in swaps], read_to=4 * DAY)
    assert [(*(round(price, 12) for price in row[:4]), *row[4:]) for row in candles(warehouse)] == [
        (4.0, 16.0, 4.0, 16.0, "pool", "derived"),
        (16.0, 16.0, 1.0, 1.0, "pool", "derived"),
        (1.0, 4.0, 1.0, 4.0, "pool", "derived"),
        (4.0, 4.0, 4.0, 4.0, "pool", "derived"),
    ]


@pytest.mark.parametrize(
    ("state", "out_of_range"),
    [
        ((2**112 - 1, 2**112 - 1, None, None), 0),
        ((None, None, 2**160 - 1, 2**128 - 1), 0),
        ((2**112, 1, None, None), 1),
        ((1, 2**112, None, None), 1),
        ((None, None, 2**160, 1), 1),
        ((None, None, 1, 2**128), 1),
        ((None, None, None, None), 1),
        ((1, 1, 1, 1), 1),
        ((1, None, None, None), 1),
        ((None, None, 1, None), 1),
    ],
)
def test_an_event_of_a_pool_has_the_two_numbers_of_one_kind_within_their_bounds(
    warehouse: Any, state: tuple[int | None, ...], out_of_range: int
) -> None:
    names = ("reserve0_raw", "reserve1_raw", "sqrt_price_x96", "liquidity_raw")
    limbs = [None if n is None else [n >> shift & (2**64 - 1) for shift in (192, 128, 64, 0)] for n in state]
    values = ["null" if limb is None else f"row({', '.join(map(str, limb))})::u256" for limb in limbs]
    warehouse.execute(
        f"insert into raw_chain__pool_reserves (block_number, log_index, tx_hash, block_time, block_time_quality, "
        f"{', '.join(names)}) values (1, 1, ''::blob, '2026-01-01', 'exact', {', '.join(values)})"
    )
    checks = tables()["raw_chain__pool_reserves"].checks
    assert checks is not None
    (*_, found) = warehouse.execute(checks.query).fetchone()  # its last column: reserves_out_of_range
    assert found == out_of_range


def test_a_concentrated_pool_is_thin_by_its_depth_and_empty_without_any(warehouse: Any, tmp_path: Path) -> None:
    extend(warehouse, tmp_path, [(1, ZERO_ADDRESS, A, 3)], 3 * DAY)
    put_pool(warehouse, kind=CONCENTRATED)
    # At 4 dollars the other reserve is 200 times the liquidity, in millionths of a dollar, and it counts twice.
    depths = [(5, 0), (DAY, 2_499_999), (2 * DAY, 2_500_000)]
    put_swaps(warehouse, [(block, ONE * 200, liquidity) for block, liquidity in depths], read_to=4 * DAY)
    assert candles(warehouse) == [
        "empty_pool",
        (4.0, 4.0, 4.0, 4.0, "pool", "estimated"),
        (4.0, 4.0, 4.0, 4.0, "pool", "estimated"),  # as at the start
        (4.0, 4.0, 4.0, 4.0, "pool", "derived"),
    ]


@pytest.mark.parametrize("token_place", [0, 1])
def test_prices_of_a_concentrated_pool_are_the_exact_ones_as_doubles(
    warehouse: Any, tmp_path: Path, token_place: int
) -> None:
    count = 40
    extend(warehouse, tmp_path, [(1, ZERO_ADDRESS, A, 3)], count * 60 - 1)
    put_pool(warehouse, token_place=token_place, kind=CONCENTRATED)
    random = Random(18)
    bits = (75, 112) if token_place == 0 else (79, 116)  # prices of 10^-14 to 10^8 dollars, about
    roots = [random.getrandbits(160) >> (160 - random.randint(*bits)) for _ in range(count)]
    swaps = [(60 * hour, root, random.getrandbits(100) + 1) for hour, root in enumerate(roots)]
    put_swaps(warehouse, swaps, read_to=count * 60)
    exact = [Fraction(root, ONE) ** (2 - 4 * token_place) / 10**4 for root in roots]
    found = [row[3] for row in candles(warehouse, "out_holders__hourly")]
    assert max(abs(Fraction(price) / expected - 1) for price, expected in zip(found, exact, strict=True)) < 2e-15


def test_a_pool_against_ether_has_prices_where_ether_has_one(warehouse: Any, tmp_path: Path) -> None:
    extend(warehouse, tmp_path, [(1, ZERO_ADDRESS, A, 3)], 2 * DAY)
    put_pool(warehouse, currency="eth", token_place=1)
    put_syncs(warehouse, [(5, 2000, 10**7), (DAY + 100, 4000, 10**7), (DAY + 300, 9000, 10**7)], read_to=3 * DAY)
    put_price(warehouse, "raw_market__eth_prices", DAY + 90, 3000.0)
    (first, second, third) = candles(warehouse)
    assert (first, third) == ("no_eth_price", "no_eth_price")
    # token0 has 10^2 of its 2 decimals, and is what ours costs: 4000 * 10^2 of 10^7 * 10^6, at decimals 2 and 6
    assert second[0] == second[3] == pytest.approx(4000 * 10**2 / (10**7 * 10**6) * 10 ** (2 - 6) * 3000)


@pytest.mark.parametrize("reason", ["no_pair", "other_pair", "unknown_pool", "unknown_quote_token"])
def test_a_pool_that_gives_no_price_is_the_reason(warehouse: Any, tmp_path: Path, reason: str) -> None:
    extend(warehouse, tmp_path, [(1, ZERO_ADDRESS, A, 3)], 10)
    put_pool(warehouse, currency=None, reason=reason)
    assert candles(warehouse) == [reason]


def test_without_a_pool_days_before_the_first_price_say_so(warehouse: Any, tmp_path: Path) -> None:
    extend(warehouse, tmp_path, [(1, ZERO_ADDRESS, A, 3)], DAY)
    assert candles(warehouse) == ["not_observed", "not_observed"]
    put_price(warehouse, "raw_market__token_prices", DAY, 8.0)
    assert candles(warehouse) == ["before_first_observation", (8.0, 8.0, 8.0, 8.0, "observed", "exact")]


def test_an_emptied_pool_has_no_price_until_it_is_filled_again(warehouse: Any, tmp_path: Path) -> None:
    extend(warehouse, tmp_path, [(1, ZERO_ADDRESS, A, 3)], 2 * DAY)
    put_pool(warehouse)
    put_syncs(warehouse, [(1, 0, 0), (DAY + 9, 0, 10), (2 * DAY + 1, 1000, 2000)], read_to=3 * DAY)
    assert candles(warehouse) == ["empty_pool", "empty_pool", (2.0, 2.0, 2.0, 2.0, "pool", "derived")]


def test_another_pool_replaces_the_prices_of_the_first(warehouse: Any, tmp_path: Path) -> None:
    extend(warehouse, tmp_path, [(1, ZERO_ADDRESS, A, 3)], 10)
    put_pool(warehouse)
    put_syncs(warehouse, [(2, 1000, 2000)], read_to=20)
    assert candles(warehouse) == [(2.0, 2.0, 2.0, 2.0, "pool", "derived")]
    assert recorded_kind(warehouse, POOL, TOKEN) == PAIR
    record_pool(warehouse, address(0x9002), TOKEN, Refusal("no_pair"), datetime.now(UTC))
    assert recorded_kind(warehouse, address(0x9002), TOKEN) is None
    assert candles(warehouse) == ["no_pair"]
    assert price_blocks(warehouse) == [None]


def test_an_observed_price_has_the_block_of_its_last_source_if_that_one_names_any(
    warehouse: Any, tmp_path: Path
) -> None:
    extend(warehouse, tmp_path, [(1, ZERO_ADDRESS, A, 3)], DAY)
    for minute in (3, 5, DAY + 3, DAY + 5):
        put_price(warehouse, "raw_market__token_prices", minute, 8.0)
    for minute, block in ((5, 40), (DAY + 3, 50)):
        warehouse.execute("update raw_market__token_prices set block = ? where fetched_at = ?", [block, naive(minute)])
    record_bucket_prices(warehouse, TOKEN)
    assert price_blocks(warehouse) == [40, None]


def test_events_of_the_pool_are_needed_up_to_the_first_sound_price(warehouse: Any) -> None:
    assert needs_pool_events(warehouse, TOKEN)
    put_syncs(warehouse, [], read_to=DAY)
    assert needs_pool_events(warehouse, TOKEN)
    put_price(warehouse, "raw_market__token_prices", DAY + 1, 8.0)
    assert needs_pool_events(warehouse, TOKEN)
    put_syncs(warehouse, [], read_to=DAY + 2)
    assert not needs_pool_events(warehouse, TOKEN)
