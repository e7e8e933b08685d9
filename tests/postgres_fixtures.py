"""A temporary PostgreSQL for the session, and the fixtures that run a test on both ledger engines."""

from __future__ import annotations

import ctypes
import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg
import pytest
from patience import HANG_S
from psycopg import sql
from rounds import ROUNDS

from contracts.settings import Settings
from warehouse.ledger.ledger import Ledger, open_ledger

ENGINES = ("sqlite", "postgresql")
WAREHOUSE_TESTS = Path(__file__).with_name("warehouse")
_DIE_WITH_PARENT = 1  # PR_SET_PDEATHSIG
_TEMPLATE = "empty_ledger"


@dataclass
class TemporaryPostgres:
    """A running server without durability, reached over a socket in its own directory."""

    socket_dir: Path
    start: Callable[[], subprocess.Popen[bytes]]
    process: subprocess.Popen[bytes] = field(init=False)
    made: int = 0
    emptied: list[str] = field(default_factory=list)
    emptying: sql.Composed | None = None
    """The statements that reset any ledger to the rows of an empty one; None until there is a template."""
    shape: str = ""
    emptiers: dict[str, psycopg.Connection] = field(default_factory=dict)
    """A connection to each returned ledger: with its catalogue cached, emptying takes a tenth of the work."""

    def __post_init__(self) -> None:
        self.process = self.start()

    def crash(self) -> None:
        """Ends the server as a lost machine does, and restarts it on what it had written."""
        self.stop()
        self.process = self.start()

    def stop(self) -> None:
        while self.emptiers:
            self.emptiers.popitem()[1].close()
        self.process.send_signal(signal.SIGQUIT)
        try:
            self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def url(self, database: str) -> str:
        return f"postgresql+psycopg://svc@/{database}?host={self.socket_dir}"

    def connect(self, database: str = "postgres") -> psycopg.Connection:
        return psycopg.connect(host=str(self.socket_dir), user="svc", dbname=database, autocommit=True)

    def new_database(self) -> str:
        """Creates an empty database and returns its name."""
        self.made += 1
        name = f"test_{self.made}"
        with self.connect() as connection:
            connection.execute(f"create database {name}")
        return name

    def new_ledger(self) -> str:
        """Returns the name of a database with an empty ledger: a returned one, or a copy of the template."""
        return self.emptied.pop() if self.emptied else self.unused_ledger()

    def unused_ledger(self) -> str:
        """Returns the name of a database with an empty, never used ledger: the files of a returned one still contain
        deleted rows."""
        if self.emptying is None:
            self._make_template()
        self.made += 1
        name = f"test_{self.made}"
        with self.connect() as connection:
            # half of the work of the default strategy, which logs each page
            connection.execute(f"create database {name} template {_TEMPLATE} strategy file_copy")
        return name

    def give_back(self, database: str) -> None:
        """Empties a ledger for the next test, which takes a tenth of the work of a new one. Drops it if a test changed
        more than rows, and drops any other database."""
        connection = self.emptiers.pop(database, None) or self.connect(database)
        connection.execute(_END_OTHERS)
        if self.emptying is not None and connection.execute(_SHAPE).fetchone() == (self.shape,):
            connection.execute(self.emptying)
            self.emptiers[database] = connection
            self.emptied.append(database)
        else:
            connection.close()
            self.drop(database)

    def _make_template(self) -> None:
        with self.connect() as connection:
            connection.execute(f"create database {_TEMPLATE}")
        with tempfile.TemporaryDirectory() as directory:
            settings = Settings(_env_file=None, data_dir=Path(directory), ledger_url=self.url(_TEMPLATE))
            open_ledger(settings, settings.data_dir).close()
        with self.connect(_TEMPLATE) as connection:
            self.emptying = _emptying(connection)
            ((self.shape,),) = connection.execute(_SHAPE).fetchall()

    def drop(self, database: str) -> None:
        """Drops a database, and ends connections to it."""
        with self.connect() as connection:
            connection.execute(f"drop database {database} with (force)")


_END_OTHERS = """
select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()
"""
_SHAPE = """
select md5(string_agg(version, ' ' order by version)) from (
    select oid || ':' || xmin as version from pg_class where relnamespace = 'public'::regnamespace
    union all select oid || ':' || xmin from pg_trigger
    union all select oid || ':' || xmin from pg_constraint where connamespace = 'public'::regnamespace
    union all select oid || ':' || xmin from pg_attrdef
    union all select oid || ':' || xmin from pg_proc where pronamespace = 'public'::regnamespace
) as versions
"""
"""Differs as soon as a table, trigger, constraint, default or function does; copies match their template."""


def _emptying(connection: psycopg.Connection) -> sql.Composed:
    """Reads an empty ledger; returns the statements that restore its rows and sequences in a used one."""
    statements: list[sql.Composable] = [sql.SQL("set session_replication_role = replica")]  # no trigger refuses
    tables = connection.execute("select tablename from pg_tables where schemaname = 'public'").fetchall()
    for name in (sql.Identifier(table) for (table,) in tables):
        statements.append(sql.SQL("delete from {}").format(name))
        select = sql.SQL("select json_agg(kept)::text from {} as kept").format(name)
        ((rows,),) = connection.execute(select).fetchall()
        if rows is not None:
            insert = "insert into {} overriding system value select * from json_populate_recordset(null::{}, {})"
            statements.append(sql.SQL(insert).format(name, name, sql.Literal(rows)))
    sequences = "select sequencename, coalesce(last_value, start_value), last_value is not null from pg_sequences"
    for sequence, value, is_called in connection.execute(sequences).fetchall():
        statements.append(sql.SQL("select setval({}, {}, {})").format(sequence, value, is_called))
    return sql.SQL("; ").join(statements)


def postgres_binaries() -> Path | None:
    """Returns the directory of `initdb` and `postgres`: on PATH, else Debian's newest."""
    on_path = shutil.which("initdb")
    candidates = [Path(on_path).resolve().parent] if on_path else []
    candidates += sorted(
        Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name), reverse=True
    )
    return next((path for path in candidates if (path / "initdb").exists() and (path / "postgres").exists()), None)


def unprivileged_user() -> pwd.struct_passwd | None:
    """Returns the user to run the server as: None unless we are root, under which PostgreSQL refuses to run."""
    if os.geteuid() != 0:
        return None
    names = {entry.pw_name: entry for entry in pwd.getpwall()}
    return names.get("postgres") or names["nobody"]


@pytest.fixture(scope="session")
def postgres() -> Iterator[TemporaryPostgres]:
    """Yields the session's server, started on first use and stopped at the end."""
    binaries = postgres_binaries()
    if binaries is None:
        reason = "no PostgreSQL server here (initdb and postgres): install one to run the ledger's tests on it"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    with temporary_postgres(binaries) as server:
        yield server


@contextmanager
def temporary_postgres(binaries: Path) -> Iterator[TemporaryPostgres]:
    """Yields a private server while the context is open, and removes all of it afterwards."""
    home = Path(tempfile.mkdtemp(prefix="svc-pg-"))
    user = unprivileged_user()
    if user is not None:
        os.chown(home, user.pw_uid, user.pw_gid)
    try:
        data = home / "data"
        _run_initdb(binaries, data, user)
        server = TemporaryPostgres(home, lambda: _started(binaries, data, home, user))
        try:
            yield server
        finally:
            server.stop()
    finally:
        shutil.rmtree(home, ignore_errors=True)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Runs tests of a ledger on both engines; outside of the warehouse's tests only on SQLite until a soak, unless they
    are marked `both_engines`. A test that names the engines itself runs on those."""
    stated = {mark.args[0] for mark in metafunc.definition.iter_markers("parametrize")}
    for fixture in ({"ledger_settings", "unopened_settings"} & set(metafunc.fixturenames)) - stated:
        marked = metafunc.definition.get_closest_marker("both_engines") is not None
        both = marked or ROUNDS > 1 or WAREHOUSE_TESTS in metafunc.definition.path.parents
        metafunc.parametrize(fixture, ENGINES if both else ENGINES[:1], indirect=True)


@pytest.fixture
def unopened_settings(
    request: pytest.FixtureRequest,
    tmp_path: Path,
    migrated_ledgers: Callable[[], AbstractContextManager[None]],
) -> Iterator[Settings]:
    """Yields settings of a ledger that the test itself migrates: SQLite in `tmp_path`, or an empty PostgreSQL
    database."""
    with migrated_ledgers():
        yield from _settings_on(request, tmp_path, TemporaryPostgres.new_database)


@pytest.fixture
def ledger_settings(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Settings]:
    """Yields settings of an empty private ledger: SQLite in `tmp_path`, or a migrated PostgreSQL database."""
    yield from _settings_on(request, tmp_path, TemporaryPostgres.new_ledger)


def _settings_on(
    request: pytest.FixtureRequest, tmp_path: Path, make: Callable[[TemporaryPostgres], str]
) -> Iterator[Settings]:
    """Yields settings on the engine of the test; a database is returned for reuse, since each has 9 MB of files."""
    if request.param == "sqlite":
        yield Settings(_env_file=None, data_dir=tmp_path)
        return
    server: TemporaryPostgres = request.getfixturevalue("postgres")
    database = make(server)
    yield Settings(_env_file=None, data_dir=tmp_path, ledger_url=server.url(database))
    server.give_back(database)


@pytest.fixture
def ledger(ledger_settings: Settings) -> Iterator[Ledger]:
    """Yields an empty ledger, once on each engine."""
    opened = open_ledger(ledger_settings, ledger_settings.data_dir)
    yield opened
    opened.close()


def _run_initdb(binaries: Path, data: Path, user: pwd.struct_passwd | None) -> None:
    options = ["-U", "svc", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"]
    command: list[str | Path] = [binaries / "initdb", "-D", data, *options]
    subprocess.run(command, check=True, capture_output=True, cwd="/", **_as(user))


def _started(binaries: Path, data: Path, home: Path, user: pwd.struct_passwd | None) -> subprocess.Popen[bytes]:
    server = _start(binaries, data, home, user)
    try:
        _wait_until_it_answers(server, home)
    except BaseException:
        server.kill()
        server.wait()
        raise
    return server


def _start(binaries: Path, data: Path, home: Path, user: pwd.struct_passwd | None) -> subprocess.Popen[bytes]:
    options = {
        "listen_addresses": "",
        "unix_socket_directories": home,
        "fsync": "off",
        "synchronous_commit": "off",
        "full_page_writes": "off",
        "wal_level": "minimal",
        "max_wal_senders": "0",
        "autovacuum": "off",  # it would visit each of hundreds of databases that live for a test
        "shared_buffers": "32MB",
        "max_connections": 60,
    }
    command: list[str | Path] = [binaries / "postgres", "-D", data]
    for name, value in options.items():
        command += ["-c", f"{name}={value}"]
    with (home / "log").open("w") as log:
        return subprocess.Popen(command, stdout=log, stderr=log, cwd="/", preexec_fn=_die_with_parent, **_as(user))


def _as(user: pwd.struct_passwd | None) -> dict[str, Any]:
    return {} if user is None else {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}


def _die_with_parent() -> None:
    """Ties the server's life to its parent's, so that a killed test run leaves no server running."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, signal.SIGQUIT)


def _wait_until_it_answers(server: subprocess.Popen[bytes], home: Path) -> None:
    deadline = time.monotonic() + HANG_S
    while True:
        try:
            psycopg.connect(host=str(home), user="svc", dbname="postgres", connect_timeout=2).close()
            return
        except psycopg.OperationalError:
            if server.poll() is not None or time.monotonic() > deadline:
                pytest.fail(f"PostgreSQL did not start:\n{(home / 'log').read_text()}")
            time.sleep(0.05)
