"""Facts of columns and their bounds, which of them are judged again, and which are published."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from contracts.discovery.installation import Installation
from pipelines import checks
from pipelines.checks import BOUNDS, check_table, judge, run_suite, warm_up
from warehouse.discovery.checks import read_checks
from warehouse.document_context import DocumentContext
from warehouse.duck.connection import Connection, Warehouse
from warehouse.duck.facts import Bounded, ColumnFacts, asserted_facts, gather_columns

TABLE = "core_trust__scores"


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[Connection]:
    with Warehouse(tmp_path).connect() as connection:
        yield connection


def test_a_warm_process_judges_everything_by_great_expectations_without_the_modules_for_charts(
    monkeypatch: pytest.MonkeyPatch,
):
    facts, columns = {"scores_out_of_range": 0}, [ColumnFacts("average_score", 3, 0, 3, 1.0, 100.0, None)]
    assert judge(TABLE, facts, columns).judge == BOUNDS
    monkeypatch.setattr(checks, "READINESS", checks.Readiness())
    warm_up()
    assert judge(TABLE, facts, columns).judge.startswith("great_expectations ")
    assert "altair" not in sys.modules


def test_an_empty_table_has_columns_without_values_and_nothing_to_bound(connection: Connection):
    columns = gather_columns(connection, TABLE)
    assert {(column.rows, column.nulls, column.least) for column in columns} == {(0, 0, None)}
    assert asserted_facts(TABLE, {"malformed": 0}, columns) == [Bounded("malformed", 0)]


def test_a_column_is_reduced_to_facts(connection: Connection):
    connection.execute(
        "insert into raw_feeds__attempts select 'source ' || n % 3, '2026-01-01'::timestamp, n, true, null, null, null "
        "from range(1, 101) t(n)"
    )
    facts = {column.column_name: column for column in gather_columns(connection, "raw_feeds__attempts")}
    latency, reason = facts["latency_ms"], facts["reason"]
    assert (latency.rows, latency.nulls, latency.least, latency.greatest) == (100, 0, 1.0, 100.0)
    assert latency.distinct_about == pytest.approx(100, rel=0.1)
    assert latency.deciles is not None
    assert latency.deciles == pytest.approx([10 * tenth for tenth in range(1, 10)], abs=3)
    assert (reason.nulls, reason.least, reason.deciles) == (100, None, None)
    assert facts["source"].distinct_about == 3


@pytest.mark.parametrize(
    ("least", "greatest", "failed"),
    [(1.0, 100.0, set()), (0.0, 100.0, {"average_score.least"}), (1.0, 101.0, {"average_score.greatest"})],
)
def test_a_column_outside_of_its_declared_bounds_fails_by_the_name_of_its_edge(
    least: float, greatest: float, failed: set[str]
):
    columns = [ColumnFacts("average_score", 3, 0, 3, least, greatest, None)]
    facts = {"scores_out_of_range": 0}
    verdict = run_suite(TABLE, facts, columns)
    assert {fact for _, fact, _ in verdict.failures} == failed
    assert verdict.passed == (not failed)
    assert all(bounded.within for bounded in asserted_facts(TABLE, facts, columns)) == verdict.passed
    assert judge(TABLE, facts, columns) == verdict


def test_equal_facts_are_judged_once(connection: Connection):
    first = check_table(connection, "core_feed__events", quick=False)
    assert first.judged == f"now, by {BOUNDS}"
    again = check_table(connection, "core_feed__events", quick=True)
    assert again.judged.startswith("equal to what passed at")


def test_results_are_published_with_value_and_bounds_and_the_columns(connection: Connection):
    check_table(connection, "core_feed__events", quick=False)
    published = read_checks(DocumentContext(connection, Path(), Installation("https://svc.example")))
    (table,) = published.tables
    assert (table.table, table.check, table.blocking, table.passed) == (
        "core_feed__events",
        "events_differ",
        True,
        True,
    )
    assert {(fact.value, fact.minimum, fact.maximum, fact.passed) for fact in table.facts} == {(0.0, 0.0, 0.0, True)}
    assert "doubled_ids" in {fact.fact for fact in table.facts}
    assert {column.column for column in table.columns} >= {"id"}
    assert published.failed == 0
    json.loads(published.model_dump_json())


def test_a_failure_is_recorded_and_judged_again_each_time(connection: Connection):
    connection.execute("insert into core_holders__balances values ('\\x00'::blob, 5, '2026-01-01', '2026-01-01', 1, 1)")
    for _ in range(2):
        outcome = check_table(connection, "core_holders__balances", quick=True)
        assert not outcome.verdict.passed
        assert outcome.judged.startswith("now, by great_expectations")
    published = read_checks(DocumentContext(connection, Path(), Installation("https://svc.example")))
    assert (published.failed, published.tables[0].passed) == (1, False)
