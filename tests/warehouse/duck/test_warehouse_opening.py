"""Opening the warehouse: a query that a signal ended, a file that is no warehouse, a file that others have open."""

import subprocess
import sys
from pathlib import Path

import pytest

from contracts.errors import RunBusy, StoreUnusable
from warehouse.duck.connection import Warehouse, large_commits
from warehouse.duck.inspection import derived_tables
from warehouse.duck.rows import refill
from warehouse.duck.tables import tables
from warehouse.publish.generations import current_generation


def test_a_query_that_a_signal_ended_is_an_interruption_and_no_fault_of_the_data(tmp_path: Path):
    # As DuckDB reports it; whether it checks for signals during a query depends on the thread that works on it.
    with pytest.raises(KeyboardInterrupt), Warehouse(tmp_path).connect():
        raise RuntimeError("Query interrupted")


def test_any_other_fault_stays_what_it_is(tmp_path: Path):
    with pytest.raises(RuntimeError, match="something else"), Warehouse(tmp_path).connect():
        raise RuntimeError("something else")


@pytest.mark.parametrize("content", [b"", b"junk", bytes(8192)])
def test_a_file_that_is_no_database_is_reported_as_such(tmp_path: Path, content: bytes):
    (tmp_path / "warehouse.duckdb").write_bytes(content)
    for opened in (Warehouse(tmp_path).connect(), Warehouse(tmp_path).read_only()):
        with pytest.raises(StoreUnusable, match="not a valid DuckDB database") as raised, opened:
            pass
        assert "move it away" in raised.value.cure
    assert (tmp_path / "warehouse.duckdb").read_bytes() == content


def test_a_file_that_another_program_holds_is_busy(tmp_path: Path):
    with Warehouse(tmp_path).connect():
        pass
    path = str(tmp_path / "warehouse.duckdb")
    code = f"import duckdb; held = duckdb.connect({path!r}); print('held', flush=True); input()"
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout and other.stdout.readline() == b"held\n"
        for opened in (Warehouse(tmp_path).connect(), Warehouse(tmp_path).read_only()):
            with pytest.raises(RunBusy, match=str(other.pid)), opened:
                pass
        other.kill()


def test_a_data_directory_that_is_a_file_holds_no_generation(tmp_path: Path):
    (tmp_path / "file").touch()
    assert current_generation(tmp_path / "file") is None


def test_a_new_file_has_every_declared_table(tmp_path: Path):
    with Warehouse(tmp_path / "new").connect() as connection:
        made = {name for (name,) in connection.execute("select table_name from duckdb_tables()").fetchall()}
        assert made >= tables().keys()
        assert connection.execute("select count(*) from schema_applied").fetchall() == [(1,)]


def test_a_table_that_another_version_lacked_is_created_at_the_next_opening(tmp_path: Path):
    """Covers a file from before the schema's digest was stored, and one with another digest."""
    for undo in ("drop table schema_applied", "update schema_applied set schema_sha256 = 'of another version'"):
        with Warehouse(tmp_path).connect() as connection:
            connection.execute("drop table raw_feeds__attempts")
            connection.execute(undo)
        with Warehouse(tmp_path).connect() as connection:
            assert connection.execute("select count(*) from raw_feeds__attempts").fetchall() == [(0,)]
            assert connection.execute("select count(*) from schema_applied").fetchall() == [(1,)]


def test_columns_that_another_version_lacked_are_added_with_their_types_at_the_next_opening(tmp_path: Path):
    read = "select table_name, column_name, data_type from duckdb_columns() where not internal order by all"
    with Warehouse(tmp_path).connect() as connection:
        declared = connection.execute(read).fetchall()
        for table, columns in ((name, list(table.meanings)) for name, table in tables().items()):
            for column in columns[1:]:
                connection.execute(f"alter table {table} drop column {column}")
        connection.execute("insert into raw_chain__transfers values (7)")
        connection.execute("update schema_applied set schema_sha256 = 'of another version'")
    with Warehouse(tmp_path).connect() as connection:
        assert connection.execute(read).fetchall() == declared
        assert connection.execute("select block_number, value_raw from raw_chain__transfers").fetchall() == [(7, None)]
        for table in derived_tables():
            refill(connection, table)


def test_a_large_commit_goes_to_the_file_at_once_and_later_ones_to_the_log_again(tmp_path: Path):
    log = tmp_path / "warehouse.duckdb.wal"
    with Warehouse(tmp_path).connect() as connection:
        before = connection.execute("select current_setting('checkpoint_threshold')").fetchall()
        connection.execute("create table texts (text varchar)")
        with large_commits(connection):
            connection.execute("insert into texts select repeat('ä', 20) || range from range(100_000)")
        assert not log.exists() or log.stat().st_size == 0
        assert connection.execute("select current_setting('checkpoint_threshold')").fetchall() == before
        connection.execute("insert into texts select repeat('ä', 20) || range from range(100_000)")
        assert log.stat().st_size > 1_000_000
    with Warehouse(tmp_path).connect() as connection:
        assert connection.execute("select count(*) from texts").fetchall() == [(200_000,)]


def test_a_file_that_is_kept_open_is_checkpointed_once_when_it_is_closed(tmp_path: Path):
    warehouse, log = Warehouse(tmp_path), tmp_path / "warehouse.duckdb.wal"
    with warehouse.kept_open():
        for step in (1, 2):
            with warehouse.connect() as connection:
                connection.execute("insert into core_checks__watermarks values (?, 7)", [f"step {step}"])
            assert log.stat().st_size > 0, "a step is in the log before the next one begins"
    assert not log.exists()
    with warehouse.read_only() as reader:
        assert reader is not None
        assert reader.execute("select count(*) from core_checks__watermarks").fetchall() == [(2,)]


def test_steps_of_a_killed_process_are_in_a_file_that_it_kept_open(tmp_path: Path):
    code = f"""
from pathlib import Path
from warehouse.duck.connection import Warehouse
warehouse = Warehouse(Path({str(tmp_path)!r}))
with warehouse.kept_open():
    with warehouse.connect() as connection:
        connection.execute("insert into core_checks__watermarks values ('ended', 7)")
    with warehouse.connect() as connection:
        connection.begin()
        connection.execute("insert into core_checks__watermarks values ('under way', 7)")
        print("held", flush=True)
        input()
"""
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout and other.stdout.readline() == b"held\n"
        other.kill()
    for opened in (Warehouse(tmp_path).read_only(), Warehouse(tmp_path).connect()):
        with opened as connection:
            assert connection is not None
            assert connection.execute("select suite from core_checks__watermarks").fetchall() == [("ended",)]
