"""Opens DuckDB for the pipelines' only writer, with its lock and its schema.

Statements and declarations of tables are text files in each room.
"""

import fcntl
import os
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import TypeAlias

import duckdb

from contracts.errors import DiskFull, ForeignStore, OperatorProblem, RunBusy, StoreUnusable
from warehouse.duck.instances import give_back, take_instance
from warehouse.duck.rows import insert, replace_all
from warehouse.duck.tables import missing_columns, schema
from warehouse.file_modes import make_data_directory, write_private_file
from warehouse.full_disk import has_no_room
from warehouse.statements import literal, read_sql

STORAGE_VERSION = "v1.5.0"
"""Files can be read by DuckDB 1.5 and by 2.x."""

Connection: TypeAlias = duckdb.DuckDBPyConnection
"""The connection that pipelines pass on to the modules of this package without importing the store."""

_LOGGED = "64MB"
"""Size at which the write-ahead log is checkpointed. A chain that is read slowly is committed in small pieces; with
checkpoints at 16 MB these were half of the cost."""

SPILL = "spill"
"""The directory to which queries too large for memory spill."""


@contextmanager
def transaction(connection: Connection) -> Iterator[None]:
    """Commits all of the block's writes or none of them."""
    connection.begin()
    try:
        yield
    except BaseException:
        connection.rollback()
        raise
    connection.commit()


@contextmanager
def large_commits(connection: Connection) -> Iterator[None]:
    """Makes commits of about 1 MB or more write to the file, which is closed soon, and not to the log first."""
    connection.execute("set checkpoint_threshold = '1MB'")
    try:
        yield
    finally:
        connection.execute(f"set checkpoint_threshold = '{_LOGGED}'")


@dataclass(frozen=True)
class ChainIdentity:
    """The identity of a store: chain id, genesis block hash (0x hex), token (lower-case address), first block read."""

    chain_id: int
    genesis_hash: str
    token_address: str
    start_block: int


class Warehouse:
    """The file `<data_dir>/warehouse.duckdb`. It is open only while a run writes; then no other process can open it."""

    def __init__(self, data_dir: Path) -> None:
        self.data_dir = data_dir
        self.path = data_dir / "warehouse.duckdb"
        self._opening = threading.Lock()
        self._kept: ExitStack | None = None
        self._database: duckdb.DuckDBPyConnection | None = None

    @contextmanager
    def kept_open(self) -> Iterator[None]:
        """Keeps the file open within the block from the first `connect` on: each opening costs 0.1 s of CPU time.

        The file is checkpointed once, when it is closed. Until then commits are safe in its log.
        """
        with ExitStack() as self._kept:
            try:
                yield
            finally:
                self._kept, self._database = None, None

    @contextmanager
    def connect(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """Opens a short read-write connection with the schema in place, and closes it at the end. Outside `kept_open`
        this checkpoints the file.

        Raises `KeyboardInterrupt` if a signal ends a query; `RunBusy` and `StoreUnusable` as `read_only` does.
        """
        with ExitStack() as alone:
            try:
                with self._opening:  # threads that share a kept file share its one instance
                    database = self._database
                    if database is None:
                        database = (self._kept or alone).enter_context(self._opened())
                        self._database = database if self._kept else None
                with _failures_named(self.path):
                    connection = alone.enter_context(closing(database.cursor()))
                    connection.execute("use warehouse")
                    yield connection
            except RuntimeError as error:
                if str(error) == "Query interrupted":  # DuckDB swallowed the exception of a signal's handler
                    raise KeyboardInterrupt from error
                raise

    def rewrite(self) -> None:
        """Replaces this file with a new one that contains the same rows, since its free pages still contain deleted
        ones.

        The caller holds the run lock. Raises `RunBusy` if another program has the file open, `StoreUnusable`,
        `DiskFull`; the file is then unchanged.
        """
        shutil.rmtree(self.data_dir / SPILL, ignore_errors=True)  # left by a killed run
        fresh = self.path.with_name(f"{self.path.name}.rewritten")
        for left in (fresh, fresh.with_name(f"{fresh.name}.wal")):
            left.unlink(missing_ok=True)
        if not self.path.exists():
            return
        try:
            with self._opened() as connection, _failures_named(self.path):
                connection.execute(f"attach {literal(fresh)} as rewritten (storage_version '{STORAGE_VERSION}')")
                connection.execute("copy from database warehouse to rewritten")
                connection.execute("checkpoint rewritten")
                connection.execute("detach rewritten")
            with fresh.open("rb") as file:
                os.fsync(file.fileno())
            fresh.replace(self.path)
        except BaseException:
            fresh.unlink(missing_ok=True)
            raise

    @contextmanager
    def _opened(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """Opens the file under its own instance, with the schema in place, and checkpoints it at the end."""
        make_data_directory(self.data_dir)
        if not self.path.exists() and not self.path.with_name(f"{self.path.name}.wal").exists():
            with suppress(OSError, duckdb.Error):  # DuckDB then creates the file, or reports why it can't
                write_private_file(self.path, _empty_file(), replace=False)
        connection, whole = take_instance(), False
        try:
            with _failures_named(self.path):
                connection.execute(f"set temp_directory = {literal(self.data_dir / SPILL)}")
                connection.execute(f"set checkpoint_threshold = '{_LOGGED}'")
                _attach(connection, self.path)
            yield connection
            with _failures_named(self.path), suppress(duckdb.TransactionException):
                # While another thread writes, the checkpoint is refused; that thread checkpoints at its own end.
                connection.execute("checkpoint warehouse")
                whole = not (self.data_dir / SPILL).exists()  # an instance that spilled stays with its directory
        finally:
            if whole:
                give_back(connection, "warehouse")
            else:
                connection.close()

    @contextmanager
    def read_only(self) -> Iterator[duckdb.DuckDBPyConnection | None]:
        """Opens the file briefly for reading; yields None if there is nothing to read yet.

        Raises `RunBusy` while a run writes it, `StoreUnusable` if the file is damaged or not ours.
        """
        if not self.path.exists():
            yield None
            return
        connection, whole = take_instance(), False
        try:
            with _failures_named(self.path):
                connection.execute(f"attach {literal(self.path)} as warehouse (read_only); use warehouse")
                tables = {name for (name,) in connection.execute("select table_name from duckdb_tables()").fetchall()}
                if tables and not tables >= _OLDEST_TABLES:
                    raise StoreUnusable(f"{self.path} is the database of another program.", cure=_RESTORE)
                yield connection if tables else None
            whole = True
        finally:
            if whole:
                give_back(connection, "warehouse")
            else:
                connection.close()

    def identity(self) -> ChainIdentity | None:
        """Returns the identity of this warehouse, or None while it is empty."""
        with self.read_only() as connection:
            row = connection.execute(read_sql("chain_identity")).fetchone() if connection else None
        return ChainIdentity(*row) if row else None


def _attach(connection: duckdb.DuckDBPyConnection, path: Path) -> None:
    connection.execute(f"attach {literal(path)} as warehouse (storage_version '{STORAGE_VERSION}')")
    connection.execute("use warehouse")
    _apply_schema(connection)


@cache
def _empty_file() -> bytes:
    """Returns the bytes of a warehouse without rows: for a process that opens many, copying them takes a tenth of the
    time of creating the schema."""
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "empty.duckdb"
        with duckdb.connect(config={"threads": 1}) as connection:
            _attach(connection, path)
        return path.read_bytes()


def _apply_schema(connection: duckdb.DuckDBPyConnection) -> None:
    """Applies the schema unless the same one was applied before: its statements take longer than opening the file."""
    digest = sha256(schema().encode()).hexdigest()
    try:
        if connection.execute(read_sql("schema_applied")).fetchall() == [(digest,)]:
            return
    except duckdb.CatalogException:
        pass  # a new file, or one of an earlier version that did not record this
    with transaction(connection):
        columns = connection.execute(read_sql("warehouse_columns")).fetchall()
        connection.execute(missing_columns(columns))
        connection.execute(schema())
        replace_all(connection, "schema_applied", {"schema_sha256": digest})


def stamp(connection: duckdb.DuckDBPyConnection, identity: ChainIdentity) -> None:
    """Records `identity` in an empty warehouse. Raises `ForeignStore` if the warehouse has another one."""
    row = connection.execute(read_sql("chain_identity")).fetchone()
    if row is None:
        insert(connection, "raw_chain__identity", asdict(identity) | {"stamped_at": datetime.now(UTC)})
        return
    stored = ChainIdentity(*row)
    if stored != identity:
        raise ForeignStore(
            f"The warehouse contains {_identity_text(stored)}; the settings name {_identity_text(identity)}.",
            cure="Set SVC_DATA_DIR to another directory, or restore the earlier settings.",
        )


@contextmanager
def publish_lock(data_dir: Path) -> Iterator[None]:
    """Holds the lock under which a thread reads and builds a generation, or writes rows that another thread publishes.

    Threads of one process share the run lock, so that prices never wait for a slice of the chain. They exclude one
    another here.
    """
    make_data_directory(data_dir)
    with (data_dir / "publish.lock").open("a") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


@contextmanager
def run_lock(data_dir: Path, *, wait_s: float, waiting: Callable[[], None] = lambda: None) -> Iterator[None]:
    """Holds the lock under which a run writes the warehouse and generations.

    Waits up to `wait_s` seconds, calling `waiting` once if it must wait; then raises `RunBusy`. The kernel drops the
    lock with the process, so a killed run never leaves it behind.
    """
    make_data_directory(data_dir)
    with (data_dir / "run.lock").open("a") as handle:
        deadline = time.monotonic() + wait_s
        announced = False
        while True:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() >= deadline:
                    raise RunBusy(
                        "Another run is using the warehouse.", cure="Wait for it to end and try again."
                    ) from None
                if not announced:
                    waiting()
                    announced = True
                time.sleep(0.2)
        yield


@contextmanager
def _failures_named(path: Path) -> Iterator[None]:
    """Turns DuckDB's errors about a busy file, a damaged file or a full disk into an `OperatorProblem`.

    Errors of the program itself (bad SQL, a violated constraint) pass unchanged.
    """
    try:
        yield
    except duckdb.Error as error:
        problem = problem_of(path, error)
        if problem is None:
            raise
        raise problem from error


def problem_of(path: Path, error: duckdb.Error) -> OperatorProblem | None:
    """Returns the operator's view of a DuckDB error on the file, or None if the program itself is at fault."""
    text = " ".join(str(error).split())
    what = f"{path} can't be used: {text.rstrip('.')}."
    if "Could not set lock" in text:
        return RunBusy(what, cure="Wait for the run that writes it, or close the program that has it open.")
    if "No space left on device" in text:
        return DiskFull(f"The disk filled up while {path} was written.", cure="Free some space and try again.")
    # DuckDB has no separate class for damaged files.
    damaged = type(error) is duckdb.Error or isinstance(error, duckdb.IOException | duckdb.SerializationException)
    if damaged or isinstance(error, duckdb.FatalException | duckdb.InternalException):
        if has_no_room(path):
            return DiskFull(what, cure="Its disk is full: free space there first, and try again.")
        return StoreUnusable(what, cure=_RESTORE)
    return None


_RESTORE = "Restore it, or move it away: chain and ledger are read again, and the prices start over."
_OLDEST_TABLES = {"raw_chain__identity", "raw_chain__ranges"}
"""The tables that every warehouse has, whichever version created it."""


def _identity_text(identity: ChainIdentity) -> str:
    return (
        f"chain {identity.chain_id} (genesis {identity.genesis_hash[:10]}…), token {identity.token_address} "
        f"from block {identity.start_block}"
    )
