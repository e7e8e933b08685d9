"""The history of balances: any address's balance at any block equals that computed in Python, however the history was
cut."""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from holder_rows import Row, address, block_time, put_transfers, replay
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from recorded_material import RecordedMaterial
from rounds import ROUNDS

from contracts.errors import StoreUnusable
from contracts.token.holders import ZERO_ADDRESS
from warehouse.duck.connection import Warehouse
from warehouse.token.fold import fold_balances
from warehouse.token.history import History
from warehouse.token.history_files import (
    doubles,
    integers,
    narrowed,
    numbers_of,
    places_of_numbers,
    rank_key,
    rank_keys,
)
from warehouse.token.history_writer import Sizes, extend_history, history_dir
from warehouse.token.holders import read_state

UINT256 = (1 << 256) - 1
A, B, C, D = (address(number) for number in (0xA, 0xB, 0xC, 0xD))
ENDS_IN_ZEROS = "0x" + "12" * 10 + "00" * 10
SMALL = Sizes(changes=3, state=7)


@pytest.fixture
def warehouse(tmp_path: Path) -> Iterator[Any]:
    with Warehouse(tmp_path).connect() as opened:
        yield opened


def raw(text: str) -> bytes:
    return bytes.fromhex(text[2:])


def extended(connection: Any, data_dir: Path, rows: Sequence[Row], upto: int, sizes: Sizes = SMALL) -> History:
    put_transfers(connection, rows, upto)
    fold_balances(connection)
    state = read_state(connection)
    assert state is not None
    return extend_history(connection, data_dir, state, sizes)


def ranked(rows: Sequence[Row], block: int) -> list[tuple[int, str]]:
    """Returns the holders at a block in Python integers, largest first, without the zero address."""
    balances = replay(row for row in rows if row[0] <= block)
    balances.pop(ZERO_ADDRESS, None)
    return sorted(((-value, holder) for holder, value in balances.items() if value > 0))


def assert_equal_to_replay(history: History, rows: Sequence[Row], blocks: Sequence[int]) -> None:
    parties = sorted({party for _, *both, _ in rows for party in both} - {ZERO_ADDRESS})
    for block in blocks:
        balances = replay(row for row in rows if row[0] <= block)
        order = ranked(rows, block)
        for party in parties:
            number = history.id_of(raw(party))
            assert number is not None
            held = history.balance_at(number, block)
            assert held == balances.get(party, 0)
            if held > 0:
                assert history.rank_at(raw(party), held, block, 0) == order.index((-held, party)) + 1
        holdings = history.holdings_at(block)
        found = zip(holdings.addresses, integers(holdings.balances), strict=True)
        assert {"0x" + bytes(who).ljust(20, b"\0").hex(): value for who, value in found} == {
            who: -value for value, who in order
        }
        minted = sum(value for at, sender, _, value in rows if at <= block and sender == ZERO_ADDRESS)
        burned = sum(value for at, _, recipient, value in rows if at <= block and recipient == ZERO_ADDRESS)
        assert history.supply_at(block) == (minted, burned)


amounts = st.one_of(
    st.integers(0, 20),
    st.integers(0, UINT256),
    st.sampled_from([0, 1, 2**56, 2**64 - 1, 2**64, 2**127, 2**128 - 1, 2**192, 2**255, UINT256]),
)
parties = st.sampled_from([ZERO_ADDRESS, A, B, C, D, ENDS_IN_ZEROS])
transfers = st.lists(st.tuples(st.integers(0, 2), parties, parties, amounts), min_size=1, max_size=40)


@settings(max_examples=8 * ROUNDS, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(moves=transfers, cuts=st.lists(st.integers(0, 80), max_size=4))
def test_any_address_at_any_block_equals_a_replay_however_the_history_was_cut(
    warehouse: Any, tmp_path: Path, moves: list[tuple[int, str, str, int]], cuts: list[int]
) -> None:
    tables = ("core_holders__balances", "core_holders__state", "out_holders__history")
    for table in ("raw_chain__transfers", "raw_chain__ranges", *tables):
        warehouse.execute(f"delete from {table}")
    shutil.rmtree(history_dir(tmp_path), ignore_errors=True)
    block, rows = 0, []
    for step, sender, recipient, value in moves:
        block += step
        rows.append((block, sender, recipient, value))
    last = -1
    history = None
    for upto in sorted({*(cut for cut in cuts if cut < block), block}):
        history = extended(warehouse, tmp_path, [row for row in rows if last < row[0] <= upto], upto)
        last = upto
    assert history is not None and history.to_block == block
    assert_equal_to_replay(history, rows, range(block + 1))


def test_changes_of_an_address_come_newest_first_and_in_pages(warehouse: Any, tmp_path: Path) -> None:
    rows = [(1, ZERO_ADDRESS, A, 100), *((block, A, B, 1) for block in range(2, 30))]
    history = extended(warehouse, tmp_path, rows, 40)
    number = history.id_of(raw(A))
    page = history.changes_of(number, 20, 5)
    assert [(change.block, change.balance, change.change) for change in page] == [
        (block, 101 - block, -1) for block in (20, 19, 18, 17, 16)
    ]
    whole = history.changes_of(number, 40, 100)
    assert [change.block for change in whole] == list(range(29, 0, -1))
    assert (whole[-1].balance, whole[-1].change, whole[-1].time_s) == (100, 100, int(block_time(1).timestamp()))


def test_transfers_of_an_address_come_newest_first_and_go_on_below_a_position(warehouse: Any, tmp_path: Path) -> None:
    rows = [
        (1, ZERO_ADDRESS, A, 9), (1, A, A, 2), (2, A, B, 3), (2, C, B, 0), (3, B, A, 1), (9, A, ZERO_ADDRESS, 1)
    ]  # fmt: skip
    history = extended(warehouse, tmp_path, rows, 9)
    number = history.id_of(raw(A))
    first = history.transfers_of(number, (10, 0), 2)
    assert [(seen.block, seen.sender, seen.recipient, seen.value) for seen in first] == [
        (9, A, ZERO_ADDRESS, 1), (3, B, A, 1)
    ]  # fmt: skip
    rest = history.transfers_of(number, (first[-1].block, first[-1].log_index), 100)
    assert [(seen.block, seen.sender, seen.recipient, seen.value) for seen in rest] == [
        (2, A, B, 3), (1, A, A, 2), (1, ZERO_ADDRESS, A, 9)
    ]  # fmt: skip
    zero = history.transfers_of(history.id_of(raw(ZERO_ADDRESS)), (10, 0), 100)
    assert [seen.block for seen in zero] == [9, 1]


def test_first_seen_and_first_held_are_two_times(warehouse: Any, tmp_path: Path) -> None:
    history = extended(warehouse, tmp_path, [(1, ZERO_ADDRESS, A, 9), (2, A, B, 0), (8, A, B, 1), (9, B, A, 1)], 9)
    ids = history.ids_of(history.addresses_of(history.holdings_at(8).ids))
    assert dict(zip(map(int, ids), history.first_held(ids)[0].tolist(), strict=True)) == {
        history.id_of(raw(A)): 1, history.id_of(raw(B)): 8,
    }  # fmt: skip
    assert history.first_seen(ids)[0].tolist() == [1, 2]


def test_blocks_are_found_by_time_and_times_by_block(warehouse: Any, tmp_path: Path) -> None:
    rows = [(block, ZERO_ADDRESS, A, 1) for block in (5, 7, 9, 11, 13, 15, 17, 30)]
    history = extended(warehouse, tmp_path, rows, 40)
    seconds = {block: int(block_time(block).timestamp()) for block in range(50)}
    assert history.first_block == 5
    assert history.known_before(seconds[5]) is None
    for block in range(6, 50):
        known = max(at for at in (*(row[0] for row in rows), 40) if at < block)
        assert history.known_before(seconds[block]) == (known, seconds[known])
        assert history.known_at(block - 1) == (known, seconds[known])


def test_a_history_that_lost_a_file_is_rebuilt(warehouse: Any, tmp_path: Path) -> None:
    rows = [(block, ZERO_ADDRESS, address(block), block) for block in range(1, 30)]
    extended(warehouse, tmp_path, rows, 29)
    min(history_dir(tmp_path).glob("state-*")).unlink()
    more = [(30, address(3), address(4), 1)]
    history = extended(warehouse, tmp_path, more, 30)
    assert_equal_to_replay(history, [*rows, *more], [0, 1, 15, 29, 30])
    assert {path.name for path in history_dir(tmp_path).iterdir()} == {file.name for file in history.files}


def test_a_run_without_new_blocks_writes_nothing(warehouse: Any, tmp_path: Path) -> None:
    rows = [(block, ZERO_ADDRESS, address(block), block) for block in range(1, 30)]
    extended(warehouse, tmp_path, rows, 29)
    before = {path.name: path.stat().st_mtime_ns for path in history_dir(tmp_path).iterdir()}
    state = read_state(warehouse)
    assert state is not None
    extend_history(warehouse, tmp_path, state, SMALL)
    assert {path.name: path.stat().st_mtime_ns for path in history_dir(tmp_path).iterdir()} == before


def test_new_blocks_leave_closed_files_as_they_are(warehouse: Any, tmp_path: Path) -> None:
    rows = [(block, ZERO_ADDRESS, address(block), block) for block in range(1, 30)]
    extended(warehouse, tmp_path, rows, 29)
    closed = {path.name for path in history_dir(tmp_path).glob("state-*")}
    extended(warehouse, tmp_path, [(30, address(3), address(4), 1)], 30)
    assert {path.name for path in history_dir(tmp_path).glob("state-*")} == closed
    written = warehouse.execute("select count(*) from out_holders__history where to_block = 30").fetchall()
    assert written == [(1,)]


def test_a_file_of_something_else_is_refused_with_a_cure(warehouse: Any, tmp_path: Path) -> None:
    history = extended(warehouse, tmp_path, [(1, ZERO_ADDRESS, A, 1)], 1)
    (path,) = history_dir(tmp_path).iterdir()
    path.write_bytes(b"something else, long enough to be mapped")
    with pytest.raises(StoreUnusable, match="another format"):
        History(history_dir(tmp_path), history.files).balance_at(1, 1)


def test_a_history_of_another_format_is_rebuilt(warehouse: Any, tmp_path: Path) -> None:
    rows = [(block, ZERO_ADDRESS, A, block) for block in range(1, 9)]
    extended(warehouse, tmp_path, rows, 8)
    for path in history_dir(tmp_path).iterdir():
        path.write_bytes(b"svchist0" + path.read_bytes()[8:])
    history = extended(warehouse, tmp_path, [(9, A, B, 5)], 9)
    assert_equal_to_replay(history, [*rows, (9, A, B, 5)], range(10))


def test_files_that_do_not_touch_an_address_are_not_read_for_its_changes(warehouse: Any, tmp_path: Path) -> None:
    often = [(block, ZERO_ADDRESS, A, 1) for block in range(1, 60)]
    rows = sorted([*often, (2, A, B, 1), (30, B, C, 1)])
    history = extended(warehouse, tmp_path, rows, 60)
    touched = {2, 30}
    changes = [file for file in history.files if file.kind == "changes"]
    others = [file for file in changes[:-1] if not touched & set(range(file.from_block, file.to_block + 1))]
    assert len(others) > 3
    for file in others:
        (history_dir(tmp_path) / file.name).unlink()
    number = history.id_of(raw(B))
    assert number is not None
    assert [(change.block, change.balance) for change in history.changes_of(number, 60, 9)] == [(30, 0), (2, 1)]
    assert [seen.block for seen in history.transfers_of(number, (61, 0), 9)] == [30, 2]


numbers = st.integers(-(2**286), 2**286)
addresses = st.binary(min_size=20, max_size=20) | st.sampled_from([bytes(20), bytes(19) + b"\1", b"\xff" * 20])


@given(
    st.lists(st.tuples(numbers | st.integers(-3, 3), addresses), min_size=1, max_size=8),
    st.tuples(numbers | st.integers(-3, 3), addresses),
)
def test_numbers_stay_exact_through_places_narrowing_and_the_order_of_ranks(
    holders: list[tuple[int, bytes]], other: tuple[int, bytes]
) -> None:
    values = [value for value, _ in holders]
    limbs = [[(value >> (32 * place)) & 0xFFFFFFFF for place in range(8)] + [value >> 256] for value in values]
    wide = numbers_of(np.array(limbs, np.int64))
    assert integers(wide) == values
    (narrow,) = narrowed(wide)
    assert integers(narrow) == values
    assert (numbers_of(places_of_numbers(narrow)) == wide).all()
    keys = rank_keys(narrow, np.array([who for _, who in holders], "S20"))
    for value, who in (other, (values[0], other[1]), holders[0]):
        wanted = rank_key(value, who, narrow.shape[1])
        stand_before = [held > value or (held == value and address < who) for held, address in holders]
        assert (keys > wanted).tolist() == stand_before
    assert doubles(narrow).tolist() == pytest.approx([float(max(value, 0)) for value in values])


def test_the_real_history_of_a_token_answers_a_thousand_random_pairs_and_its_published_sheet(
    warehouse: Any, tmp_path: Path, recorded_material: RecordedMaterial
) -> None:
    sheet_block, last_block = 16132364, 16273318
    published = recorded_material.json(f"data/hum/balanceSheet.block-{sheet_block}.json.gz")
    sheet = {holder.lower(): int(value) for holder, value in published.items()}
    rows: list[Row] = []
    for log in recorded_material.json_lines("data/hum/hum_transfer_logs.rpc.jsonl.gz"):
        sender, recipient = ("0x" + topic[-40:] for topic in log["topics"][1:])
        rows.append((int(log["blockNumber"], 16), sender, recipient, int(log["data"], 16)))
    for after, upto in ((-1, 12_000_000), (12_000_000, sheet_block), (sheet_block, last_block)):
        fresh = [row for row in rows if after < row[0] <= upto]
        history = extended(warehouse, tmp_path, fresh, upto, Sizes(changes=500, state=4_000))
    at_sheet = history.holdings_at(sheet_block)
    found = zip(at_sheet.addresses, integers(at_sheet.balances), strict=True)
    assert {"0x" + bytes(who).ljust(20, b"\0").hex(): value for who, value in found} == sheet

    dice = random.Random(18)
    everybody = sorted({party for row in rows for party in row[1:3]} - {ZERO_ADDRESS})
    pairs = sorted((dice.randint(rows[0][0], last_block), dice.choice(everybody)) for _ in range(1_000))
    balances: dict[str, int] = {}
    coming = iter(rows)
    row = next(coming, None)
    for block, party in pairs:
        while row is not None and row[0] <= block:
            balances[row[1]] = balances.get(row[1], 0) - row[3]
            balances[row[2]] = balances.get(row[2], 0) + row[3]
            row = next(coming, None)
        number = history.id_of(raw(party))
        assert number is not None
        assert history.balance_at(number, block) == balances.get(party, 0)
        if dice.random() < 0.05 and (held := balances.get(party, 0)) > 0:
            above = [(-value, who) for who, value in balances.items() if value > 0 and who != ZERO_ADDRESS]
            assert history.rank_at(raw(party), held, block, 0) == sorted(above).index((-held, party)) + 1
