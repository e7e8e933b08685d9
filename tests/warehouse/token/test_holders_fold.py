"""Balances folded from transfers: exact over all of uint256, whatever the cuts, and only new transfers are read."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest
from holder_rows import address, put_transfers, replay
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from recorded_material import RecordedMaterial
from rounds import ROUNDS

from contracts.token.holders import ZERO_ADDRESS
from contracts.token.proof import SAMPLE_LARGEST, pick_sample, sample_points
from warehouse.duck.connection import Warehouse
from warehouse.token.fold import fold_balances
from warehouse.token.holders import balances_of, folded_supply, read_state, sampled_balances

UINT256 = (1 << 256) - 1
A, B, C = address(0xA), address(0xB), address(0xC)


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[Any]:
    with Warehouse(tmp_path).connect() as opened:
        yield opened


def held(connection: Any) -> dict[str, int]:
    rows = connection.execute("select address, balance_raw::varchar from core_holders__balances").fetchall()
    return {"0x" + key.hex(): int(value) for key, value in rows}


def test_nothing_is_folded_before_anything_is_read(connection: Any) -> None:
    assert fold_balances(connection) is None
    assert read_state(connection) is None


def test_mint_transfer_self_transfer_zero_value_and_burn(connection: Any) -> None:
    rows = [
        (1, ZERO_ADDRESS, A, 100),
        (2, A, B, 30),
        (3, B, B, 7),
        (4, A, C, 0),
        (5, B, ZERO_ADDRESS, 10),
    ]
    put_transfers(connection, rows, 9)

    folded = fold_balances(connection)

    assert folded is not None and (folded.new_transfers, folded.touched) == (5, 3)
    assert held(connection) == {A: 70, B: 20, C: 0}
    state = folded.state
    assert (state.block, state.minted, state.sent_to_zero, state.zero_to_zero) == (9, 100, 10, 0)
    supply = folded_supply(connection, state)
    assert (supply.holders, supply.held, supply.negative_balances) == (2, 90, 0)
    active = connection.execute(
        "select first_block, last_block from core_holders__balances where balance_raw = 20::bignum"
    ).fetchone()
    assert active == (2, 5)


def test_a_mint_from_zero_to_zero_counts_as_minted_and_makes_no_holder(connection: Any) -> None:
    put_transfers(connection, [(1, ZERO_ADDRESS, ZERO_ADDRESS, 1000), (2, ZERO_ADDRESS, A, 5)], 2)
    folded = fold_balances(connection)
    assert folded is not None
    assert (folded.state.minted, folded.state.sent_to_zero, folded.state.zero_to_zero) == (1005, 1000, 1000)
    assert held(connection) == {A: 5}


def test_a_second_fold_without_new_blocks_does_nothing(connection: Any) -> None:
    put_transfers(connection, [(1, ZERO_ADDRESS, A, 100)], 1)
    fold_balances(connection)
    again = fold_balances(connection)
    assert again is not None and (again.new_transfers, again.touched) == (0, 0)
    assert held(connection) == {A: 100}


def test_a_fold_that_fails_half_way_leaves_nothing_behind(connection: Any) -> None:
    put_transfers(connection, [(1, ZERO_ADDRESS, A, 100)], 1)
    fold_balances(connection)
    put_transfers(connection, [(2, A, B, 1)], 2)
    connection.execute("alter table core_holders__state rename to elsewhere")
    with pytest.raises(duckdb.CatalogException):
        fold_balances(connection)
    connection.execute("alter table elsewhere rename to core_holders__state")
    assert held(connection) == {A: 100}
    fold_balances(connection)
    assert held(connection) == {A: 99, B: 1}


amounts = st.one_of(
    st.integers(0, UINT256),
    st.sampled_from([0, 1, 2**56, 2**64 - 1, 2**64, 2**120, 2**126, 2**127 - 1, 2**127, 2**192, 2**255, UINT256]),
)
parties = st.sampled_from([ZERO_ADDRESS, A, B, C, address(0xD)])
transfers = st.lists(st.tuples(parties, parties, amounts), min_size=1, max_size=40)


@settings(max_examples=10 * ROUNDS, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(moves=transfers, cut=st.integers(0, 40))
def test_any_transfers_in_any_two_folds_give_what_python_integers_give(
    connection: Any, moves: list[tuple[str, str, int]], cut: int
) -> None:
    for table in ("raw_chain__transfers", "raw_chain__ranges", "core_holders__balances", "core_holders__state"):
        connection.execute(f"delete from {table}")
    rows = [(block, sender, recipient, value) for block, (sender, recipient, value) in enumerate(moves)]
    put_transfers(connection, rows[:cut], max(cut - 1, 0))
    fold_balances(connection)
    put_transfers(connection, [row for row in rows if row[0] > max(cut - 1, 0)], 100)
    if cut == 0:
        put_transfers(connection, [], 101)
        rows = rows[1:]
    fold_balances(connection)

    expected = replay(rows)
    expected.pop(ZERO_ADDRESS, None)
    assert held(connection) == expected
    state = read_state(connection)
    assert state is not None
    assert sum(expected.values()) == state.minted - state.sent_to_zero == folded_supply(connection, state).held


def test_bignum_sums_of_the_rows_agree_with_the_fold(connection: Any) -> None:
    rows = [(n, address(n % 7 + 1), address(n % 5 + 1), (n * 0x9E3779B97F4A7C15) ** 4 % UINT256) for n in range(300)]
    put_transfers(connection, rows, 300)
    fold_balances(connection)
    connection.execute("create temp table texts (address varchar, amount varchar)")
    for _, sender, recipient, value in rows:
        connection.execute("insert into texts values (?, ?), (?, ?)", [sender, str(-value), recipient, str(value)])
    summed = connection.execute("select address, sum(amount::bignum)::varchar from texts group by address").fetchall()
    assert held(connection) == {key: int(value) for key, value in summed}


@pytest.mark.parametrize("power", [55, 56, 57, 119, 120, 121])
def test_integers_become_bignum_exactly_around_the_powers_that_once_went_wrong(power: int) -> None:
    # duckdb#25939: 1.5.x cast integers near 2^56 and 2^120 to a wrong BIGNUM.
    connection = duckdb.connect()
    for value in (2**power - 1, 2**power, 2**power + 1, -(2**power), -(2**power) - 1):
        assert connection.execute(f"select ({value}::hugeint)::bignum::varchar").fetchone() == (str(value),)


def test_a_hugeint_sum_that_overflows_raises_and_never_wraps() -> None:
    # duckdb#24081: 1.5.x wrapped silently when partial sums of several threads were combined.
    connection = duckdb.connect(config={"threads": 4})
    connection.execute(
        "create table big as select 85070591730234615865843651857942052864::hugeint as value from range(500000)"
    )
    with pytest.raises(duckdb.OutOfRangeException):
        connection.execute("select sum(value) from big").fetchone()


def test_the_sample_is_the_largest_holders_then_the_next_after_each_point(connection: Any) -> None:
    mints = [(1, ZERO_ADDRESS, address(number), number) for number in (0x10, 0x20, 0x30)]
    put_transfers(connection, [*mints, (2, address(0x40), address(0x10), 1)], 2)
    fold_balances(connection)
    points = [address(0x20), address(0x31), address(0x39)]
    sample = sampled_balances(connection, points, 1)
    assert list(sample.items()) == [(address(0x30), 0x30), (address(0x20), 0x20), (address(0x10), 0x11)]
    assert balances_of(connection, [address(0x40), address(0x99)]) == {address(0x40): -1, address(0x99): 0}


def test_the_sample_drawn_in_sql_is_the_one_that_anybody_draws_from_the_list(connection: Any) -> None:
    balances = {f"0x{n * 0x9E3779B97F4A7C15F39CC0605CEDC835 % 2**160:040x}": 10**20 + n**3 % 997 for n in range(1, 400)}
    put_transfers(connection, [(1, ZERO_ADDRESS, holder, value) for holder, value in balances.items()], 1)
    fold_balances(connection)
    largest_first = sorted(balances, key=lambda holder: (-balances[holder], holder))
    for block in range(5):
        drawn = sampled_balances(connection, sample_points(f"0x{block:064x}"), SAMPLE_LARGEST)
        assert list(drawn) == pick_sample(largest_first, f"0x{block:064x}")
        assert drawn.items() <= balances.items()


def test_the_real_history_of_a_token_gives_the_published_sheet_address_by_address(
    connection: Any, recorded_material: RecordedMaterial
) -> None:
    published = recorded_material.json("data/hum/balanceSheet.block-16132364.json.gz")
    sheet = {key.lower(): int(value) for key, value in published.items()}
    rows = []
    for log in recorded_material.json_lines("data/hum/hum_transfer_logs.rpc.jsonl.gz"):
        block = int(log["blockNumber"], 16)
        if block <= 16132364:
            sender, recipient = ("0x" + topic[-40:] for topic in log["topics"][1:])
            rows.append((block, sender, recipient, int(log["data"], 16)))
    # Cut anywhere: folding in one step must not differ from folding in three.
    for upto in (10_000_000, 13_000_000, 16132364):
        done = read_state(connection)
        after = -1 if done is None else done.block
        put_transfers(connection, [row for row in rows if after < row[0] <= upto], upto)
        fold_balances(connection)
    assert {key: value for key, value in held(connection).items() if value} == sheet
