"""Requests to nodes about a list: balances that changed, some others, and random ranges and blocks."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from holder_rows import address, put_transfers

from contracts.token.holders import ZERO_ADDRESS
from contracts.token.nodes import Disagreement, DisputedFact
from pipelines.checks import judge
from warehouse.duck.connection import Warehouse
from warehouse.duck.facts import gather_facts
from warehouse.token.disputes import (
    all_open_disputes,
    count_open_disputes,
    drop_from,
    open_disputes,
    ranges_to_reread,
    record_disputes,
    settle_disputes,
    stored_range,
)
from warehouse.token.fold import fold_balances
from warehouse.token.holders import balances_of, read_state
from warehouse.token.node_questions import RangeTotals, balances_to_compare, drawn_blocks, range_totals
from warehouse.token.transfers import ATTESTATIONS, TRANSFERS

A, B, C = address(0xA), address(0xB), address(0xC)
NOW = datetime(2026, 2, 1, tzinfo=UTC)


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[Any]:
    with Warehouse(tmp_path).connect() as opened:
        yield opened


def list_of(connection: Any, block: int, *, complete: bool) -> None:
    proof = '{"nodes": {"balances": {"complete": %s}}}' % ("true" if complete else "false")
    connection.execute(
        "insert into out_holders__lists (block, block_hash, block_time, level, taken_at, snapshot, holders, sum_raw, "
        "zero_held_raw, csv_sha256, csv_bytes, quality, proof, concentration) "
        "values (?, '0x', now(), 'finalized', now(), false, 1, '1', '0', '', 1, 'exact', ?, '{}')",
        [block, proof],
    )


def test_every_balance_is_compared_at_first_and_then_what_changed_and_some_others(connection):
    holders = [address(number) for number in range(100, 140)]
    put_transfers(connection, [(1, ZERO_ADDRESS, holder, 7) for holder in holders], 9)
    fold_balances(connection)
    first = balances_to_compare(connection, "seed", most=1000, others=5)
    assert (first.balances, first.since, first.cut) == (dict.fromkeys(holders, 7), None, False)
    list_of(connection, 9, complete=True)
    put_transfers(connection, [(10, holders[0], holders[1], 2)], 12)
    fold_balances(connection)
    list_of(connection, 11, complete=False)
    later = balances_to_compare(connection, "seed", most=1000, others=5)
    assert (later.since, len(later.balances), later.cut) == (9, 7, False)
    assert set(list(later.balances)[:2]) == set(holders[:2])
    others = [set(balances_to_compare(connection, f"seed {n}", most=1000, others=5).balances) for n in range(8)]
    assert len({frozenset(chosen) for chosen in others}) > 1


def test_a_selection_above_the_limit_is_cut_and_marked(connection):
    put_transfers(connection, [(1, ZERO_ADDRESS, address(number), 7) for number in range(100, 140)], 9)
    fold_balances(connection)
    cut = balances_to_compare(connection, "seed", most=10, others=5)
    assert (len(cut.balances), cut.cut) == (10, True)


def test_addresses_without_a_balance_are_not_asked_about(connection):
    put_transfers(connection, [(1, ZERO_ADDRESS, A, 7), (2, A, B, 7)], 9)
    fold_balances(connection)
    assert balances_to_compare(connection, "seed", most=10, others=5).balances == {B: 7}


def test_the_newest_block_with_transfers_is_drawn_and_others_by_chance(connection):
    for block in range(1, 40):
        put_transfers(connection, [(block, ZERO_ADDRESS, A, block)], block)
        connection.execute("update raw_chain__ranges set from_block = to_block")
    put_transfers(connection, [], 50)
    connection.execute("update raw_chain__ranges set from_block = 40 where to_block = 50")
    fold_balances(connection)
    state = read_state(connection)
    assert state is not None
    draws = [[drawn.number for drawn in drawn_blocks(connection, state, f"{seed}", 3)] for seed in range(12)]
    assert all(draw[0] == 39 and len(set(draw)) == 3 for draw in draws)
    assert len({tuple(draw) for draw in draws}) > 1


def test_ranges_are_counted_with_those_read_twice_and_the_nodes_that_delivered_rows(connection):
    assert range_totals(connection) == RangeTotals(0, 0, frozenset())
    for block, host, rows in ((1, "a", 1), (2, "b", 1), (3, "b", 2), (4, "c", 0)):
        put_transfers(connection, [(block, ZERO_ADDRESS, A, 1)] * rows, block)
        connection.execute(
            "update raw_chain__ranges set rpc_host = ?, reasked = ? where to_block = ?", [host, block > 2, block]
        )
    assert range_totals(connection) == RangeTotals(4, 2, frozenset({"a", "b"}))


def test_ranges_with_transfers_of_a_disputed_address_are_read_again_first(connection):
    for block in range(1, 30):
        put_transfers(connection, [(block, ZERO_ADDRESS, C if block == 17 else A, block)], block)
        connection.execute("update raw_chain__ranges set from_block = to_block")
    firsts = [
        ranges_to_reread(connection, TRANSFERS, seed=f"{seed}", count=2, addresses=[C])[0].to_block for seed in range(9)
    ]
    assert set(firsts) == {17}
    plain = {ranges_to_reread(connection, TRANSFERS, seed=f"{seed}", count=1)[0].to_block for seed in range(9)}
    assert len(plain) > 1
    assert ranges_to_reread(connection, TRANSFERS, seed="0", count=2, most_rows=0) == []
    assert ranges_to_reread(connection, ATTESTATIONS, seed="0", count=2, addresses=[C]) == []


def test_dropped_rows_are_folded_again_from_the_first_one(connection):
    put_transfers(connection, [(1, ZERO_ADDRESS, A, 10)], 4)
    connection.execute("update raw_chain__ranges set from_block = 0")
    put_transfers(connection, [(5, A, B, 3)], 9)
    connection.execute("update raw_chain__ranges set from_block = 5 where to_block = 9")
    fold_balances(connection)
    list_of(connection, 4, complete=True)
    list_of(connection, 9, complete=True)
    drop_from(connection, TRANSFERS, 5)
    assert read_state(connection) is None
    assert connection.execute("select block from out_holders__lists").fetchall() == [(4,)]
    put_transfers(connection, [(5, A, B, 4)], 9)
    fold_balances(connection)
    assert balances_of(connection, [A, B]) == {A: 6, B: 4}


def told(answer: str, subject: str | None = A) -> list[Disagreement]:
    return [Disagreement(DisputedFact.BALANCE, subject, 9, (("a", "1"), ("b", answer)))]


def test_a_dispute_keeps_its_first_time_and_its_newest_answers(connection):
    record_disputes(connection, told("2"), NOW)
    record_disputes(connection, told("3"), NOW + timedelta(hours=1))
    (dispute,) = open_disputes(connection)
    assert (dispute.first_seen_at, dispute.last_seen_at) == (NOW, NOW + timedelta(hours=1))
    assert [answer.answer for answer in dispute.answers] == ["1", "3"]


def test_a_settled_dispute_keeps_its_history_and_a_new_one_is_another(connection):
    record_disputes(connection, told("2"), NOW)
    settle_disputes(connection, [(DisputedFact.BALANCE, A)], "nodes_agree", NOW + timedelta(hours=1))
    assert open_disputes(connection) == []
    record_disputes(connection, told("4"), NOW + timedelta(hours=2))
    rows = connection.execute("select settled_by from out_chain__disputes order by first_seen_at").fetchall()
    assert rows == [("nodes_agree",), (None,)]


def test_disputes_about_other_rows_are_kept_apart_and_counted_together(connection):
    record_disputes(connection, told("2", None), NOW)
    record_disputes(connection, told("2", None), NOW, tables=ATTESTATIONS)
    settle_disputes(connection, [(DisputedFact.BALANCE, None)], "nodes_agree", NOW)
    assert (len(open_disputes(connection)), len(open_disputes(connection, ATTESTATIONS))) == (0, 1)
    assert (len(all_open_disputes(connection)), count_open_disputes(connection)) == (1, 1)


def test_the_newest_thousand_settled_disputes_and_every_open_one_are_kept(connection):
    record_disputes(connection, told("2"), NOW - timedelta(days=1))
    for number in range(4):
        record_disputes(connection, told("2", f"{number}-"), NOW + timedelta(minutes=number), settled_by="receipts")
        connection.execute(
            "insert into out_chain__disputes by name select disputes.* replace (subject || n as subject) "
            "from out_chain__disputes as disputes, range(399) as numbers(n) where subject = ?",
            [f"{number}-"],
        )
    record_disputes(connection, told("3"), NOW)
    settled, still_open = connection.execute(
        "select count(settled_at), count(*) filter (settled_at is null) from out_chain__disputes"
    ).fetchone()
    assert 1000 <= settled <= 1200
    assert still_open == 1


def test_a_range_is_found_by_its_blocks(connection):
    put_transfers(connection, [(5, A, B, 3)], 9)
    found = stored_range(connection, TRANSFERS, 0, 9)
    assert found is not None
    assert (found.name, found.log_count, found.rpc_host) == ("0-9", 1, "node")
    assert stored_range(connection, TRANSFERS, 0, 8) is None


def test_an_open_dispute_breaks_the_check_of_the_table_and_a_settled_one_does_not(connection):
    record_disputes(connection, told("2"), NOW, settled_by="receipts")
    assert judge("out_chain__disputes", gather_facts(connection, "out_chain__disputes")).passed
    record_disputes(connection, told("3"), NOW)
    verdict = judge("out_chain__disputes", gather_facts(connection, "out_chain__disputes"))
    assert [(column, observed) for _, column, observed in verdict.failures] == [("open_disputes", 1)]
