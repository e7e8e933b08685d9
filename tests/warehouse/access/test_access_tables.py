"""Paid access in the warehouse: imported through the change feed, summed by day and plan, without data that identifies
a person."""

from __future__ import annotations

import json
from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from access_sales import NOON, PAYER, TREASURY, miss, redeem, sell
from unsynced import has_unsynced_changes

from contracts.settings import Settings
from pipelines.checks import judge
from warehouse.access.cases import cases_in
from warehouse.access.claim_sync import ACCESS, sync_access
from warehouse.access.claims import reverse_claim
from warehouse.access.keys import revoke_key
from warehouse.duck.connection import Connection, Warehouse
from warehouse.duck.facts import gather_facts
from warehouse.duck.inspection import preview_table
from warehouse.duck.rows import refill
from warehouse.duck.tables import tables
from warehouse.ledger.ledger import Ledger

DAY, NEXT = date(2026, 1, 2), date(2026, 1, 3)
SUMS = ("out_access__revenue_daily", "out_access__funnel")


def sync_and_sum(connection: Connection, ledger: Ledger) -> int:
    changed = sync_access(connection, ledger)
    for table in SUMS:
        refill(connection, table)
    return changed


def rows(connection: Connection, table: str) -> list[tuple[Any, ...]]:
    return connection.execute(f"select * from {table} order by all").fetchall()


def failures(connection: Connection, name: str) -> set[str]:
    return {column for _, column, _ in judge(name, gather_facts(connection, name)).failures}


def test_quotes_claims_keys_and_misses_are_taken_over_and_summed_by_day_and_plan(
    ledger: Ledger, tmp_path: Path
) -> None:
    first, second, third = sell(ledger, 1), sell(ledger, 2), sell(ledger, 3)
    sell(ledger, 4, plan="api_pro_monthly", now=NOON + timedelta(days=1))
    redeem(ledger, first)
    redeem(ledger, second, now=NOON + timedelta(days=1))
    miss(ledger, third)
    with Warehouse(tmp_path).connect() as connection:
        assert sync_and_sum(connection, ledger) == 4 + 2 + 2 + 1
        assert rows(connection, "out_access__revenue_daily") == [
            (DAY, "api_basic_monthly", 1, 9_000_001, 0, 0),
            (NEXT, "api_basic_monthly", 1, 9_000_002, 0, 0),
        ]
        assert rows(connection, "out_access__funnel") == [
            (DAY, "api_basic_monthly", 3, 3, 2),
            (NEXT, "api_pro_monthly", 1, 0, 0),
        ]
        assert ACCESS.synced_to(connection) == ledger.head()
        assert sync_and_sum(connection, ledger) == 0
        for name in SUMS:
            assert failures(connection, name) == set()


def test_a_later_change_replaces_the_stored_row(ledger: Ledger, tmp_path: Path) -> None:
    quote = sell(ledger)
    with Warehouse(tmp_path).connect() as connection:
        sync_access(connection, ledger)
        assert not ACCESS.has_moved(ledger, ACCESS.synced_to(connection))
        issued = redeem(ledger, quote)
        assert ACCESS.has_moved(ledger, ACCESS.synced_to(connection))
        sync_access(connection, ledger)
        with ledger.transaction() as tx:
            reverse_claim(tx, issued.claim, now=NOON)
        assert sync_and_sum(connection, ledger) == 2
        assert rows(connection, "out_access__revenue_daily") == [(DAY, "api_basic_monthly", 0, 0, 1, 9_000_001)]
        states = connection.execute("select state from raw_ledger__quotes").fetchall()
        states += connection.execute("select state from raw_ledger__claims").fetchall()
        states += connection.execute("select state from raw_ledger__keys").fetchall()
        assert states == [("claimed",), ("reversed",), ("suspended",)]
        with ledger.transaction() as tx:
            revoke_key(tx, issued.key_id, now=NOON)
        sync_access(connection, ledger)
        assert connection.execute("select state from raw_ledger__keys").fetchall() == [("revoked",)]


def test_changes_of_other_kinds_cause_no_sync(ledger: Ledger) -> None:
    with ledger.transaction() as tx:
        tx.changed("world_event", "goal:1")
    assert not ACCESS.has_moved(ledger, 0)


def test_a_run_is_due_when_sales_have_moved_and_not_twice(ledger_settings: Settings, ledger: Ledger) -> None:
    with Warehouse(ledger_settings.data_dir).connect() as connection:
        sync_access(connection, ledger)
    assert not has_unsynced_changes(ledger_settings, ACCESS)
    sell(ledger)
    assert has_unsynced_changes(ledger_settings, ACCESS)
    with Warehouse(ledger_settings.data_dir).connect() as connection:
        sync_access(connection, ledger)
    assert not has_unsynced_changes(ledger_settings, ACCESS)


def test_no_address_hash_nonce_signature_or_key_reaches_the_warehouse(ledger: Ledger, tmp_path: Path) -> None:
    quote, missed = sell(ledger, 1), sell(ledger, 2)
    issued = redeem(ledger, quote)
    miss(ledger, missed)
    with Warehouse(tmp_path).connect() as connection:
        sync_access(connection, ledger)
        held = "".join(
            str(row)
            for name in tables()
            if name.startswith("raw_ledger__")
            for row in connection.execute(f"select * from {name}").fetchall()
        )
    nonce = json.loads(quote.quote_json)["nonce"]
    with ledger.read() as reader:
        digest = reader.rows("keys", day="2026-01-02")[0]
        (payment,) = cases_in(reader)
    secret = [
        *(PAYER, PAYER[2:], TREASURY, quote.quote_hash, quote.requirement_hash, missed.quote_hash),
        *(issued.key.reveal(), issued.key.redacted, issued.claim.transaction_hash, issued.claim.block_hash),
        *(issued.receipt.receipt_hash, issued.receipt.signature["jws"], payment.transaction_hash, digest["owner"]),
    ]
    assert nonce == f"{1:032x}"
    assert f'"{nonce}"' not in held
    assert [each for each in secret if each in held] == []
    assert issued.claim.claim_id in held


def test_amounts_of_other_tokens_are_exact_over_all_of_uint256(ledger: Ledger, tmp_path: Path) -> None:
    miss(ledger, sell(ledger), code="wrong_asset", amount=2**256 - 1)
    with Warehouse(tmp_path).connect() as connection:
        sync_access(connection, ledger)
        (row,) = connection.execute("select amount_units, code, paid_at from raw_ledger__unmatched_payments").fetchall()
    assert row == (str(2**256 - 1), "wrong_asset", NOON.replace(tzinfo=None))


CLAIM = (
    "insert into raw_ledger__claims values ('c1', 'q1', 'p', 'basic', 1, 5, 900, 'issued', '2026-01-02', '2026-01-02', "
    "null, null)"
)
QUOTE = "insert into raw_ledger__quotes values ('q1', 'p', 900, '2026-01-02', '2026-01-02', 'claimed')"
KEY = "insert into raw_ledger__keys values ('k1', 'k1', 'c1', 'basic', 'active', null, '2026-01-02', '2026-01-02')"
DAILY = "insert into out_access__revenue_daily values ('2026-01-02', 'p', 1, 900, 0, 0)"
FUNNEL = "insert into out_access__funnel values ('2026-01-02', 'p', 1, 1, 1)"
SOUND = (QUOTE, CLAIM, KEY, DAILY, FUNNEL)


@pytest.mark.parametrize(
    ("name", "statements", "failed"),
    [
        ("out_access__revenue_daily", (), set()),
        ("out_access__funnel", (), set()),
        ("out_access__revenue_daily", SOUND, set()),
        ("out_access__funnel", SOUND, set()),
        ("out_access__revenue_daily", (CLAIM,), {"claims_missing", "units_missing"}),
        ("out_access__revenue_daily", (CLAIM, DAILY.replace("900", "901")), {"units_missing"}),
        ("out_access__revenue_daily", (CLAIM.replace("'issued'", "'lost'"), DAILY), {"unknown_states"}),
        (
            "out_access__revenue_daily",
            (CLAIM.replace("900", "0"), DAILY.replace("900", "0")),
            {"claims_of_nothing"},
        ),
        (
            "out_access__revenue_daily",
            (CLAIM, CLAIM.replace("'c1'", "'c2'"), DAILY.replace("1, 900", "2, 1800")),
            {"doubled_quotes"},
        ),
        ("out_access__revenue_daily", (*SOUND, KEY.replace("'k1'", "'k2'")), {"claims_with_two_keys"}),
        (
            "out_access__revenue_daily",
            (CLAIM.replace("'issued'", "'reversed'"), KEY, DAILY.replace("1, 900, 0, 0", "0, 0, 1, 900")),
            {"reversed_with_active_key"},
        ),
        ("out_access__funnel", (QUOTE, CLAIM), {"quotes_missing"}),
        ("out_access__funnel", (QUOTE, CLAIM, FUNNEL.replace("1, 1, 1", "1, 0, 1")), {"steps_out_of_order"}),
        ("out_access__funnel", (CLAIM,), {"claims_without_quote"}),
        ("out_access__funnel", (QUOTE, FUNNEL), {"states_unlike_claims"}),
    ],
)
def test_each_suite_passes_on_sound_rows_and_fails_on_each_fault_that_it_names(
    tmp_path: Path, name: str, statements: tuple[str, ...], failed: set[str]
) -> None:
    with Warehouse(tmp_path).connect() as connection:
        for statement in statements:
            connection.execute(statement)
        assert failures(connection, name) == failed


def test_revenue_is_shown_in_whole_coins(ledger: Ledger, tmp_path: Path) -> None:
    redeem(ledger, sell(ledger, 42))
    with Warehouse(tmp_path).connect() as connection:
        sync_and_sum(connection, ledger)
        (shown,) = preview_table(connection, "out_access__revenue_daily").rows()
    assert shown == ("2026-01-02", "api_basic_monthly", 1, "9.000042", 0)
    assert Decimal(shown[3]) * 10**6 == 9_000_042
