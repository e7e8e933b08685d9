"""Rows are written by the names of their columns; times keep their instant, whatever their zone."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone

import duckdb
import pytest

from warehouse.duck.rows import aware_utc, insert, naive_utc, replace_all, upsert

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
NOON_IN_TOKYO = NOON.astimezone(timezone(timedelta(hours=9)))


@pytest.fixture
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as connection:
        connection.execute("set timezone = 'America/New_York'")
        connection.execute("create table seen (id varchar primary key, seen_at timestamp, amount bignum, note varchar)")
        yield connection


def rows(connection: duckdb.DuckDBPyConnection) -> list[tuple]:
    return connection.execute("select id, seen_at, amount::varchar, note from seen order by id").fetchall()


def test_a_row_is_written_by_names_with_its_time_in_utc(connection: duckdb.DuckDBPyConnection):
    insert(connection, "seen", {"amount": str(2**255), "seen_at": NOON_IN_TOKYO, "id": "a"})
    assert rows(connection) == [("a", datetime(2026, 1, 1, 12), str(2**255), None)]  # noqa: DTZ001 - as DuckDB has it


def test_several_rows_and_no_rows_are_written_in_one_call(connection: duckdb.DuckDBPyConnection):
    insert(connection, "seen", ({"id": name, "note": name.upper()} for name in "ab"))
    insert(connection, "seen", [])
    assert rows(connection) == [("a", None, None, "A"), ("b", None, None, "B")]


def test_upsert_replaces_the_row_with_its_key(connection: duckdb.DuckDBPyConnection):
    insert(connection, "seen", [{"id": "a", "note": "old"}, {"id": "b", "note": "kept"}])
    upsert(connection, "seen", {"id": "a", "note": "new"})
    assert [(row[0], row[3]) for row in rows(connection)] == [("a", "new"), ("b", "kept")]


def test_replace_all_leaves_the_given_rows_only(connection: duckdb.DuckDBPyConnection):
    insert(connection, "seen", [{"id": "a"}, {"id": "b"}])
    replace_all(connection, "seen", {"id": "c"})
    assert [row[0] for row in rows(connection)] == ["c"]
    replace_all(connection, "seen", ())
    assert rows(connection) == []


def test_times_survive_the_way_to_duckdb_and_back(connection: duckdb.DuckDBPyConnection):
    assert aware_utc(naive_utc(NOON_IN_TOKYO)) == NOON
    assert aware_utc(NOON_IN_TOKYO) == NOON
    assert (naive_utc(None), aware_utc(None)) == (None, None)
