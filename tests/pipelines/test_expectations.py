"""The checks of the token's tables pass on sound rows, and each fails on the fault that it names."""

from collections.abc import Callable

import duckdb
import pytest

from pipelines.checks import judge, run_suite
from warehouse.duck.connection import Warehouse
from warehouse.duck.facts import gather_facts, mark_checked

ALICE, BOB = "\\x0a" * 20, "\\x0b" * 20
ZERO = "\\x00" * 20
HASH = "\\x11" * 32

SOUND = f"""
insert into raw_chain__ranges values
    (0, 9, '0x01', '2026-01-01 00:00:20', 2, 'aa', 'node', false, '2026-01-02'),
    (10, 19, '0x02', '2026-01-01 00:00:40', 1, 'bb', 'node', false, '2026-01-02');
insert into raw_chain__transfers
select t.block, t.log_index, '{HASH}'::blob, t.sender::blob, t.recipient::blob,
       {{limb3: 0, limb2: 0, limb1: 0, limb0: t.amount}}::u256, t.seen::timestamp, 'exact'
from (values
    (1, 0, '{ZERO}', '{ALICE}', 100, '2026-01-01 00:00:02'),
    (1, 1, '{ALICE}', '{BOB}', 40, '2026-01-01 00:00:02'),
    (12, 0, '{BOB}', '{ALICE}', 0, '2026-01-01 00:00:24')
) t(block, log_index, sender, recipient, amount, seen);
insert into core_holders__balances values
    ('{ALICE}'::blob, 60, '2026-01-01', '2026-01-01', 1, 12),
    ('{BOB}'::blob, 40, '2026-01-01', '2026-01-01', 1, 12);
insert into core_holders__state values (19, '0x02', '2026-01-01 00:00:40', 100, 0, 0, 3);
"""


@pytest.fixture
def facts_after(tmp_path) -> Callable[..., dict]:
    def gather(name: str, *statements: str) -> dict:
        with Warehouse(tmp_path).connect() as connection:
            connection.execute(SOUND)
            for statement in statements:
                connection.execute(statement)
            return gather_facts(connection, name)

    return gather


def failed_columns(name: str, facts: dict) -> set[str]:
    return {column for _, column, _ in judge(name, facts).failures}


@pytest.mark.parametrize("name", ["raw_chain__transfers", "core_holders__balances"])
def test_sound_rows_pass(facts_after, name):
    facts = facts_after(name)
    assert judge(name, facts) == run_suite(name, facts)
    assert judge(name, facts).passed


@pytest.mark.parametrize("count", [1, -1, None, 0.5, False, "0"])
def test_any_count_but_zero_is_left_to_the_suite(count: object):
    facts = {"range_gaps": count, "doubled_events": 0}
    assert judge("raw_chain__transfers", facts) == run_suite("raw_chain__transfers", facts)


@pytest.mark.parametrize(
    ("name", "fault", "column"),
    [
        (
            "raw_chain__transfers",
            "insert into raw_chain__transfers select * from raw_chain__transfers where block_number = 12",
            "doubled_events",
        ),
        ("raw_chain__transfers", "update raw_chain__transfers set from_address = '\\x01'::blob", "malformed_rows"),
        ("raw_chain__transfers", "delete from raw_chain__transfers where log_index = 1", "rows_missing_from_ranges"),
        ("raw_chain__transfers", "update raw_chain__ranges set from_block = 11 where from_block = 10", "range_gaps"),
        (
            "raw_chain__transfers",
            "update raw_chain__transfers set block_time = '2025-01-01' where block_number = 12",
            "times_going_back",
        ),
        ("core_holders__balances", "update core_holders__state set block = 9", "blocks_not_folded"),
        (
            "core_holders__balances",
            "insert into core_holders__balances "
            "select * replace (0::bignum as balance_raw) from core_holders__balances",
            "doubled_addresses",
        ),
        (
            "core_holders__balances",
            f"insert into core_holders__balances values ('{ZERO}'::blob, 0, '2026-01-01', '2026-01-01', 1, 1)",
            "zero_address_rows",
        ),
        ("core_holders__balances", "update core_holders__state set minted_raw = 101", "held_unlike_supply"),
    ],
)
def test_each_fault_fails_the_expectation_that_names_it(facts_after, name, fault, column):
    assert column in failed_columns(name, facts_after(name, fault))


def test_a_null_fact_fails(facts_after):
    facts = facts_after("raw_chain__transfers") | {"range_gaps": None}
    assert failed_columns("raw_chain__transfers", facts) == {"range_gaps"}


def test_rows_that_passed_are_not_checked_again(tmp_path):
    with Warehouse(tmp_path).connect() as connection:
        connection.execute(SOUND)
        assert gather_facts(connection, "raw_chain__transfers")["checked_rows"] == 3
        mark_checked(connection, "raw_chain__transfers", 9)
        assert gather_facts(connection, "raw_chain__transfers")["checked_rows"] == 1


def test_duckdb_is_the_release_whose_sums_are_right():
    assert tuple(map(int, duckdb.__version__.split(".")[:2])) >= (2, 0)
