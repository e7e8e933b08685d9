"""The suites of the partner's tables and of the events: each passes on sound rows and fails on each fault that it
names."""

from pathlib import Path

import pytest

from pipelines.checks import judge
from warehouse.duck.connection import Warehouse
from warehouse.duck.facts import gather_facts

PARTNER = (
    "insert into out_partner__snapshot values "
    "('p.example', 'estimated', null, false, null, '2026-01-01', 0, '{}', 'aa', '2026-01-01')"
)
REVENUE = (
    "insert into out_marketplace__revenue values "
    "('m.example', 'estimated', null, false, null, '2026-01-01', 0, '84', '5.5', '7', null, 1, 1, 99, null, '[]')"
)
EVENT = (
    "insert into core_feed__events values "
    "('snapshot:1', 'snapshot', '2026-01-01', 1, 'title', 'text', '/', '{}', '2026-01-01')"
)


def failures(tmp_path: Path, name: str, *statements: str) -> set[str]:
    with Warehouse(tmp_path).connect() as connection:
        for statement in statements:
            connection.execute(statement)
        facts = gather_facts(connection, name)
    return {column for _, column, _ in judge(name, facts).failures}


@pytest.mark.parametrize(
    ("name", "statements"),
    [
        ("out_partner__snapshot", []),
        ("out_partner__snapshot", [PARTNER]),
        ("out_marketplace__revenue", []),
        ("out_marketplace__revenue", [REVENUE]),
        ("core_feed__events", []),
        ("core_feed__events", [EVENT]),
    ],
)
def test_empty_tables_and_sound_rows_pass(tmp_path, name, statements):
    assert failures(tmp_path, name, *statements) == set()


@pytest.mark.parametrize(
    ("name", "statements", "failed"),
    [
        ("out_partner__snapshot", [PARTNER, PARTNER], {"rows_beyond_the_first"}),
        ("out_partner__snapshot", [PARTNER.replace("estimated", "exact")], {"better_than_estimated"}),
        ("out_partner__snapshot", [PARTNER.replace("'{}'", "null")], {"estimated_without_snapshot"}),
        ("out_partner__snapshot", [PARTNER.replace("estimated", "unavailable")], {"missing_without_reason"}),
        ("out_partner__snapshot", [PARTNER.replace("false", "true")], {"stale_without_reason"}),
        ("out_marketplace__revenue", [REVENUE.replace("'5.5'", "'-5.5'")], {"negative_amounts"}),
        ("out_marketplace__revenue", [REVENUE.replace("'5.5'", "'8'")], {"unnamed_revenue_above_gross"}),
        ("out_marketplace__revenue", [REVENUE.replace("false", "true")], {"stale_without_reason"}),
        ("core_feed__events", [EVENT, EVENT], {"doubled_ids"}),
        ("core_feed__events", [EVENT.replace("'snapshot',", "'news',")], {"unknown_kinds"}),
        ("core_feed__events", [EVENT.replace("'text'", "''")], {"without_text"}),
    ],
)
def test_each_fault_fails_its_expectation(tmp_path, name, statements, failed):
    assert failures(tmp_path, name, *statements) == failed
