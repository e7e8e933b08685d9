"""Opening a ledger: created, migrated and stamped once, refused if it is another's, newer, damaged or not writable."""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

import pysqlite3.dbapi2 as sqlite
import pytest
from ledger_process import hold_uncommitted, open_and_close, started, write_until_killed
from patience import HANG_S
from postgres_fixtures import TemporaryPostgres
from rounds import ROUNDS
from sqlalchemy import text

from contracts.errors import ForeignStore, SettingsInvalid, StoreTooNew, StoreUnusable
from contracts.settings import Settings
from warehouse.ledger.drivers import OLDEST_SQLITE, problem_of
from warehouse.ledger.ledger import Ledger, LedgerIdentity, open_ledger
from warehouse.ledger.schema import revisions
from warehouse.statements import dialect_statement, without_comments

BASE = LedgerIdentity(8453, "0x" + "ab" * 32, "0x" + "11" * 20)


def test_an_unstamped_ledger_opens_and_is_nobodys(ledger: Ledger) -> None:
    assert ledger.identity() is None


def test_a_stamp_stays_and_may_be_repeated(ledger: Ledger) -> None:
    ledger.stamp(BASE)
    ledger.stamp(BASE)
    assert ledger.identity() == BASE


@pytest.mark.parametrize(
    "other",
    [
        LedgerIdentity(1, BASE.genesis_hash, BASE.token_address),
        LedgerIdentity(BASE.chain_id, "0x" + "cd" * 32, BASE.token_address),
        LedgerIdentity(BASE.chain_id, BASE.genesis_hash, "0x" + "22" * 20),
    ],
    ids=["chain", "genesis", "token"],
)
def test_a_ledger_of_another_chain_or_token_is_refused_with_a_cure(
    ledger_settings: Settings, other: LedgerIdentity
) -> None:
    first = open_ledger(ledger_settings, ledger_settings.data_dir)
    first.stamp(BASE)
    first.close()
    second = open_ledger(ledger_settings, ledger_settings.data_dir)
    with pytest.raises(ForeignStore, match="belongs to chain 8453") as caught:
        second.stamp(other)
    assert "SVC_DATA_DIR" in caught.value.cure
    assert second.identity() == BASE
    second.close()


def test_the_log_is_moved_into_the_file_during_the_next_transactions(tmp_path: Path) -> None:
    """A copy of the file without its log contains what was committed before, whoever reads and writes meanwhile."""
    ledger = open_ledger(Settings(_env_file=None), tmp_path)

    def in_file() -> list[str]:
        copy = shutil.copy(tmp_path / "ledger.db", tmp_path / "copy.db")
        with closing(sqlite3.connect(copy)) as connection:
            return [row[0] for row in connection.execute("select entity_id from ledger_changes order by seq")]

    with ledger.transaction(cache_bytes=1_000_000) as tx:
        tx.changed("intake", "i1")
    with ledger.transaction() as tx, ledger.read():
        with ledger.moving_log() as move_log:
            move_log()
        assert in_file() == ["i1"]
        tx.changed("intake", "i2")
    with ledger.moving_log() as move_log:
        move_log()
    assert in_file() == ["i1", "i2"]
    assert ledger.head() == 2
    ledger.close()


def test_the_space_of_a_long_log_is_given_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """At the end of the move, or, if somebody reads at that time, once the log begins again."""
    monkeypatch.setattr("warehouse.ledger.engine.LOG_BYTES", 500_000)
    ledger = open_ledger(Settings(_env_file=None), tmp_path)
    log = tmp_path / "ledger.db-wal"

    def write_much() -> int:
        with ledger.transaction(cache_bytes=1_000_000) as tx:
            for number in range(200):
                tx.changed("intake", f"{number:010000}")
        return log.stat().st_size

    with ledger.moving_log():
        assert write_much() > 2_000_000
    assert log.stat().st_size == 0
    with ledger.read() as reader:
        reader.head()
        with ledger.moving_log():
            assert write_much() > 2_000_000
    assert log.stat().st_size > 2_000_000, "the reader may need it"
    with closing(sqlite.connect(str(tmp_path / "ledger.db"))) as connection:
        connection.execute("pragma wal_checkpoint(passive)").fetchone()  # as the next commit does if the log is long
    with ledger.transaction() as tx:
        tx.changed("intake", "i1")
    assert log.stat().st_size <= 500_000
    assert ledger.head() == 401
    ledger.close()


def test_moving_the_log_changes_nothing_on_any_engine(ledger: Ledger) -> None:
    with ledger.moving_log() as move_log:
        with ledger.transaction() as tx:
            tx.changed("intake", "i1")
        move_log()
    assert ledger.head() == 1


def test_opening_again_keeps_what_was_written(ledger_settings: Settings) -> None:
    first = open_ledger(ledger_settings, ledger_settings.data_dir)
    with first.transaction() as tx:
        tx.changed("intake", "i1")
    first.close()
    second = open_ledger(ledger_settings, ledger_settings.data_dir)
    assert second.head() == 1
    second.close()


def test_processes_that_open_a_new_ledger_simultaneously_all_succeed(unopened_settings: Settings) -> None:
    with ExitStack() as stack:
        starting = [stack.enter_context(started(open_and_close, unopened_settings)) for _ in range(2)]
        assert [process.wait(timeout=HANG_S) for process in starting] == [0, 0]
    ledger = open_ledger(unopened_settings, unopened_settings.data_dir)
    assert ledger.head() == 0
    ledger.close()


def test_threads_that_open_a_new_ledger_at_the_same_instant_all_succeed(unopened_settings: Settings) -> None:
    together = threading.Barrier(6)

    def open_and_look(_: int) -> int:
        together.wait()
        ledger = open_ledger(unopened_settings, unopened_settings.data_dir)
        head = ledger.head()
        ledger.close()
        return head

    with ThreadPoolExecutor(6) as pool:
        assert list(pool.map(open_and_look, range(6))) == [0] * 6


def test_a_ledger_of_a_later_version_is_refused_and_left_alone(ledger_settings: Settings) -> None:
    ledger = open_ledger(ledger_settings, ledger_settings.data_dir)
    with ledger._writers.begin() as connection:
        connection.execute(text("update alembic_version set version_num = '9999'"))
    ledger.close()
    with pytest.raises(StoreTooNew, match=f"revision 9999; this version knows up to {revisions()[-1]}") as caught:
        open_ledger(ledger_settings, ledger_settings.data_dir)
    assert "later one" in caught.value.cure


def test_a_writing_process_that_is_killed_leaves_no_half_transaction(ledger_settings: Settings) -> None:
    for _ in range(ROUNDS):
        with started(write_until_killed, ledger_settings) as process:
            assert process.stdout is not None
            process.stdout.readline()
            ledger = open_ledger(ledger_settings, ledger_settings.data_dir)
            start = ledger.head()
            while ledger.head() < start + 9:
                time.sleep(0.003)
            process.kill()
            process.wait()
        if ledger_settings.ledger_url is None:
            ledger.close()
            ledger = open_ledger(ledger_settings, ledger_settings.data_dir)
        with ledger.transaction() as tx:  # waits until PostgreSQL has noticed the death
            head = tx.head()
        changes = ledger.changes_after(0, 1_000_000)
        assert [change.seq for change in changes] == list(range(1, head + 1))
        assert [change.entity_id for change in changes] == ["a", "b", "c"] * (head // 3)
        ledger.close()


def test_an_open_transaction_of_a_killed_process_is_undone_and_its_lock_is_free(ledger_settings: Settings) -> None:
    with started(hold_uncommitted, ledger_settings) as process:
        assert process.stdout is not None
        process.stdout.readline()
        process.kill()
        process.wait()
    ledger = open_ledger(ledger_settings, ledger_settings.data_dir)
    with ledger.transaction() as tx:
        assert tx.changed("part", "first") == 1
    ledger.close()


def test_commits_before_a_kill_are_read_back_from_the_write_ahead_log(tmp_path: Path) -> None:
    settings = Settings(_env_file=None, data_dir=tmp_path)
    with started(write_until_killed, settings) as process:
        assert process.stdout is not None
        process.stdout.readline()
        log = tmp_path / "ledger.db-wal"
        migrated = log.stat().st_size
        while not log.stat().st_size > migrated + 40_000:
            time.sleep(0.003)
        process.kill()
        process.wait()
    crashed = tmp_path / "crashed"
    crashed.mkdir()
    for name in ("ledger.db", "ledger.db-wal"):
        shutil.copy(tmp_path / name, crashed / name)
    (tmp_path / "ledger.db-wal").unlink()
    (tmp_path / "ledger.db-shm").unlink()
    with sqlite3.connect(f"file:{crashed}/ledger.db?mode=ro&immutable=1", uri=True) as without_log:
        checkpointed = without_log.execute("select name from sqlite_master where name = 'ledger_head'").fetchall()
    without_log.close()
    ledger = open_ledger(settings, crashed)
    assert ledger.head() > 0
    assert ledger.head() % 3 == 0
    assert checkpointed == [], "the main file by itself contained nothing yet, so the log counted"
    ledger.close()


def test_a_file_that_is_no_database_is_named_with_a_cure(tmp_path: Path) -> None:
    (tmp_path / "ledger.db").write_bytes(b"not a database, but long enough to be looked at" * 200)
    with pytest.raises(StoreUnusable, match="is not an SQLite database") as caught:
        open_ledger(Settings(_env_file=None), tmp_path)
    assert "backup" in caught.value.cure


def test_a_database_with_damaged_pages_is_named_with_a_cure(tmp_path: Path) -> None:
    open_ledger(Settings(_env_file=None), tmp_path).close()
    content = bytearray((tmp_path / "ledger.db").read_bytes())
    content[4096:] = os.urandom(len(content) - 4096)
    (tmp_path / "ledger.db").write_bytes(content)
    with pytest.raises(StoreUnusable, match="is damaged"):
        open_ledger(Settings(_env_file=None), tmp_path).head()


def test_a_directory_without_write_access_is_named_with_a_cure() -> None:
    with _foreign_directory() as directory, pytest.raises(StoreUnusable, match="Permission denied") as caught:
        open_ledger(Settings(_env_file=None), directory)
    assert "write access" in caught.value.cure


def test_a_data_directory_that_is_a_file_is_named_with_a_cure(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("")
    with pytest.raises(StoreUnusable, match="taken"):
        open_ledger(Settings(_env_file=None), tmp_path / "taken")


def test_the_file_is_readable_only_by_its_owner(tmp_path: Path) -> None:
    open_ledger(Settings(_env_file=None), tmp_path).close()
    assert (tmp_path / "ledger.db").stat().st_mode & 0o777 == 0o600


def test_a_reader_of_the_ledger_cannot_write(ledger: Ledger) -> None:
    with pytest.raises(StoreUnusable, match="is read-only"), ledger.read() as reader:
        reader.row("advance_head")
    assert ledger.head() == 0


def test_sqlite_is_at_least_the_pinned_one_and_as_durable_as_promised(tmp_path: Path) -> None:
    ledger = open_ledger(Settings(_env_file=None), tmp_path)
    with ledger._writers.begin() as connection:
        version = connection.exec_driver_sql("select sqlite_version()").scalar_one()
        held = [
            connection.exec_driver_sql(f"pragma {name}").scalar()
            for name in ("journal_mode", "synchronous", "foreign_keys", "busy_timeout")
        ]
    assert tuple(map(int, version.split("."))) >= OLDEST_SQLITE
    assert held == ["wal", 2, 1, 10_000]
    ledger.close()


@pytest.mark.parametrize("url", ["sqlite:///x.db", "postgresql://svc:hunter2@host/db", "hunter2"])
def test_a_ledger_address_of_another_kind_is_refused_without_showing_it(url: str, tmp_path: Path) -> None:
    with pytest.raises(SettingsInvalid) as caught:
        open_ledger(Settings(_env_file=None, ledger_url=url), tmp_path)
    assert "hunter2" not in str(caught.value)


def test_a_postgresql_that_does_not_answer_is_named_without_its_password(tmp_path: Path) -> None:
    url = f"postgresql+psycopg://svc:hunter2@/ledger?host={tmp_path}"
    with pytest.raises(StoreUnusable, match="can't be reached") as caught:
        open_ledger(Settings(_env_file=None, ledger_url=url), tmp_path)
    assert "hunter2" not in str(caught.value)


def test_a_postgresql_without_that_database_is_named(postgres: TemporaryPostgres, tmp_path: Path) -> None:
    with pytest.raises(StoreUnusable, match='database "nowhere" does not exist') as caught:
        open_ledger(Settings(_env_file=None, ledger_url=postgres.url("nowhere")), tmp_path)
    assert "SVC_LEDGER_URL" in caught.value.cure


def test_a_ledger_keeps_working_after_postgresql_dropped_its_connections(
    postgres: TemporaryPostgres, tmp_path: Path
) -> None:
    database = postgres.new_database()
    ledger = open_ledger(Settings(_env_file=None, ledger_url=postgres.url(database)), tmp_path)
    with postgres.connect() as admin:
        admin.execute("select pg_terminate_backend(pid) from pg_stat_activity where datname = %s", [database])
    with ledger.transaction() as tx:
        assert tx.changed("intake", "after") == 1
    ledger.close()


def test_a_transaction_whose_connection_postgresql_ends_says_so_and_the_next_one_has_another(
    postgres: TemporaryPostgres, tmp_path: Path
) -> None:
    database = postgres.new_database()
    ledger = open_ledger(Settings(_env_file=None, ledger_url=postgres.url(database)), tmp_path)
    ended = "select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = %s"
    with postgres.connect() as admin:
        for begun in (ledger.transaction, ledger.read):
            with pytest.raises(StoreUnusable, match="ended the connection"), begun() as reader:
                admin.execute(ended, [database])
                reader.head()
            assert ledger.head() == 0
    ledger.close()


def test_a_statement_that_postgresql_cancels_while_another_writes_is_no_fault_of_the_program(
    postgres: TemporaryPostgres, tmp_path: Path
) -> None:
    database = postgres.new_database()
    settings = Settings(_env_file=None, ledger_url=postgres.url(database))
    writing = open_ledger(settings, tmp_path)
    with postgres.connect() as admin:
        admin.execute(f"alter database {database} set statement_timeout = '100ms'")
    impatient = open_ledger(settings, tmp_path)
    with (
        writing.transaction(),
        pytest.raises(StoreUnusable, match="cancelled a statement"),
        impatient.transaction(),
    ):
        pass
    assert impatient.head() == 0
    impatient.close()
    writing.close()


def test_a_fault_of_the_program_is_not_passed_off_as_the_operators() -> None:
    assert problem_of("The ledger", sqlite3.IntegrityError("UNIQUE constraint failed")) is None
    assert problem_of("The ledger", ValueError("x")) is None


def test_a_colon_in_a_comment_is_no_parameter(tmp_path: Path) -> None:
    assert without_comments("-- changes above :seq\nselect 1\n") == "select 1\n"


def test_a_block_named_in_braces_is_inserted_into_a_statement_in_its_dialect(tmp_path: Path) -> None:
    file = tmp_path / "ledger.sql"
    file.write_text(
        "-- name: keys\n-- Every key.\nselect {columns} from keys\n\n-- name: key\n{keys} where id = '{}'\n\n"
        "-- name: columns\nid, tier\n\n-- name: columns (postgresql)\nid, tier::text\n"
    )
    assert dialect_statement((file,), "key", "sqlite").strip() == "select id, tier from keys where id = '{}'"
    assert dialect_statement((file,), "keys", "postgresql").strip() == "select id, tier::text from keys"


@contextmanager
def _foreign_directory() -> Iterator[Path]:
    """Yields a directory that we may read and not write; as root we act as `nobody` meanwhile."""
    directory = Path(tempfile.mkdtemp())
    directory.chmod(0o555)
    as_root = os.geteuid() == 0
    if as_root:
        os.seteuid(65534)
    try:
        yield directory
    finally:
        if as_root:
            os.seteuid(0)
        directory.rmdir()
