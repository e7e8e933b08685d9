"""One file declares a table: DuckDB returns its columns, meanings and grain, here and in the copy that is served."""

from pathlib import Path

import duckdb
import pytest

from warehouse.duck.connection import Warehouse
from warehouse.duck.facts import gather_facts, violations_of
from warehouse.duck.inspection import derived_tables, empty_warehouse, preview_table, tables_read
from warehouse.duck.rows import refill
from warehouse.duck.tables import read_table, tables
from warehouse.publish.serving import serving_copy, table_digests

DECLARATION = """\
-- One row per day.
create table if not exists out_shop__days (
    day date not null,  -- UTC day; its first instant is
    -- midnight
    revenue_units decimal(38, 8)  -- The shop's revenue, in the smallest unit
);

-- rows: The two days
-- of the shop.
select unnest(['2026-01-01'::date, '2026-01-01']) as day, 1 as revenue_units

-- checks (warning): Every day is counted once.
select count(*) - count(distinct day) as doubled_days from out_shop__days
"""


def test_a_declaration_is_read_whole():
    table = read_table(DECLARATION, room="shop")
    assert (table.name, table.grain) == ("out_shop__days", "One row per day.")
    assert table.meanings == {
        "day": "UTC day; its first instant is midnight",
        "revenue_units": "The shop's revenue, in the smallest unit",
    }
    assert table.rows is not None and table.checks is not None
    assert table.rows.meaning == "The two days of the shop."
    assert (table.checks.promise, table.checks.blocking) == ("Every day is counted once.", False)
    with duckdb.connect() as connection:
        connection.execute(table.sql + table.comments("memory"))
        connection.execute(f"insert into out_shop__days by name {table.rows.query}")
        assert connection.execute(table.checks.query).fetchall() == [(1,)]


@pytest.mark.parametrize(
    ("line", "instead", "problem"),
    [
        ("-- One row per day.\n", "", "not the declaration"),
        ("date not null,  -- UTC day; its first instant is\n    -- midnight", "date not null,", "no meaning: day"),
        (" 8)  -- The shop's revenue, in the smallest unit", " 8)", "no meaning: revenue_units"),
        ("(warning)", "(sometimes)", "not the declaration"),
        ("select unnest(['2026-01-01'::date, '2026-01-01']) as day, 1 as revenue_units\n", "", "not the declaration"),
    ],
)
def test_a_declaration_that_lacks_something_is_refused(line: str, instead: str, problem: str):
    assert line in DECLARATION
    with pytest.raises(ValueError, match=problem):
        read_table(DECLARATION.replace(line, instead), room="shop")


def described(connection: duckdb.DuckDBPyConnection) -> dict[str, tuple[str, dict[str, str]]]:
    columns: dict[str, dict[str, str]] = {}
    for table, column, comment in connection.execute(
        "select table_name, column_name, comment from duckdb_columns() where not internal order by column_index"
    ).fetchall():
        columns.setdefault(table, {})[column] = comment
    grains = dict(connection.execute("select table_name, comment from duckdb_tables()").fetchall())
    return {table: (grains[table], columns[table]) for table in grains}


def test_duckdb_has_every_declared_table_and_the_published_copy_their_grains_and_meanings(tmp_path: Path):
    declared = {name: (table.grain, dict(table.meanings)) for name, table in tables().items()}
    with Warehouse(tmp_path).connect() as connection:
        assert {name: set(columns) for name, (_, columns) in described(connection).items()} == {
            name: set(columns) for name, (_, columns) in declared.items()
        }
        part = serving_copy(connection, table_digests(connection))
        assert part.write is not None
        part.write(tmp_path / "copy.duckdb")
    with duckdb.connect(str(tmp_path / "copy.duckdb"), read_only=True) as copy:
        assert described(copy) == {name: said for name, said in declared.items() if name.startswith("out_")}


@pytest.mark.parametrize("table", derived_tables())
def test_the_rows_of_a_derived_table_have_its_columns_and_follow_from_others_before_it(table: str):
    order, rows = list(derived_tables()), derived_tables()[table]
    assert all(order.index(read) < order.index(table) for read in tables_read(rows.query) if read in order)
    with empty_warehouse().cursor() as connection:
        refill(connection, table)
        assert set(connection.sql(rows.query).columns) == set(tables()[table].meanings)
        preview_table(connection, table)


def test_every_check_counts_violations_and_finds_none_in_empty_tables(tmp_path: Path):
    with Warehouse(tmp_path).connect() as connection:
        for table in tables().values():
            if table.checks is not None:
                counts = violations_of(gather_facts(connection, table.name))
                assert counts and set(counts.values()) == {0}, table.name


def test_new_warehouses_of_one_process_are_alike_private_and_independent(tmp_path: Path):
    first, second = Warehouse(tmp_path / "first"), Warehouse(tmp_path / "second")
    with first.connect() as one, second.connect() as other:
        assert described(one) == described(other)
        one.execute("insert into raw_chain__identity values (1, 'genesis', 'token', 0, now()::timestamp)")
    assert first.identity() is not None
    assert second.identity() is None
    assert {path.stat().st_mode & 0o777 for path in (first.path, second.path)} == {0o600}
