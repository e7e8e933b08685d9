"""The ledger on SQLite or PostgreSQL: transactions, the change feed and the identity stamp. Only this module writes it.

A room adds its tables by a migration, its statements in the `ledger.sql` of its folder, and its operations as functions
that accept a `Transaction` or a `Reader`.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pysqlite3.dbapi2 as sqlite
from sqlalchemy import Connection, Engine
from sqlalchemy.engine.interfaces import DBAPICursor

from contracts.errors import ForeignStore
from contracts.settings import Settings
from contracts.times import utc_text as utc_text
from warehouse.ledger.drivers import driver_statement, scrub
from warehouse.ledger.engine import WRITES, begun, failures_named, ledger_location, postgresql_engine, sqlite_engine
from warehouse.ledger.schema import migrate
from warehouse.ledger.server_clock import SQL as SERVER_CLOCK_SQL
from warehouse.ledger.server_clock import ServerClock
from warehouse.ledger.writer_queue import WriterQueue
from warehouse.statements import ROOMS

SQL = tuple(sorted(ROOMS.glob("*/ledger.sql")))

QUEUE_WAIT_S = 10.0
"""The longest time that a write waits for earlier ones of its process: it is enough for several large proposals and
hundreds of small ones."""

LOG_BYTES_OF_BULK = 1_000_000_000
"""Size of SQLite's log, during a big import, at which a commit moves into the database file what `moving_log` has not
moved yet. Only then does the log start over."""

Clock = Callable[[], datetime]
"""Returns the current instant in UTC."""

Row = dict[str, Any]
"""Values of one row by column name."""


@dataclass(frozen=True, slots=True)
class LedgerIdentity:
    """The chain and token of a ledger: EIP-155 chain id, genesis block hash (0x hex), lower-case token address."""

    chain_id: int
    genesis_hash: str
    token_address: str


@dataclass(frozen=True, slots=True)
class Change:
    """One change of one entity. `seq` counts from 1 without gaps in the order of commits; `recorded_at` is in UTC."""

    seq: int
    kind: str
    entity_id: str
    recorded_at: datetime


class Reader:
    """Runs named queries on one state of the ledger; it does not see later commits."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def rows(self, question: str, **parameters: Any) -> list[Row]:
        """Returns all rows of the statement `question`."""
        cursor = self._execute(question, parameters)
        names = [column[0] for column in cursor.description]
        return [dict(zip(names, values, strict=True)) for values in cursor.fetchall()]

    def values(self, question: str, **parameters: Any) -> list[tuple[Any, ...]]:
        """Returns all rows of the statement `question` as tuples in the order of its columns, for very many rows."""
        return list(self._execute(question, parameters).fetchall())

    def row(self, question: str, **parameters: Any) -> Row | None:
        """Returns the only row of the statement `question`, or None. More than one row is an error."""
        rows = self.rows(question, **parameters)
        if len(rows) > 1:
            raise LookupError(f"{question} gave {len(rows)} rows")
        return rows[0] if rows else None

    def head(self) -> int:
        """Returns the `seq` of the newest change in this state; 0 before the first."""
        return self._number("head")

    def changes_after(self, seq: int, limit: int) -> list[Change]:
        """Returns at most `limit` changes after `seq`, oldest first."""
        return [
            Change(row["seq"], row["kind"], row["entity_id"], datetime.fromisoformat(row["recorded_at"]))
            for row in self.rows("changes_after", seq=seq, limit=limit)
        ]

    def identity(self) -> LedgerIdentity | None:
        """Returns the chain and token of this ledger, or None before the stamp."""
        row = self.row("identity")
        return None if row is None else LedgerIdentity(**row)

    def _number(self, question: str, **parameters: Any) -> int:
        """Returns the single value of the statement `question`."""
        [(number,)] = self._execute(question, parameters).fetchall()
        return int(number)

    def _execute(self, name: str, parameters: Mapping[str, Any]) -> DBAPICursor:
        """Runs the statement `name` on the driver directly: SQLAlchemy's results cost more CPU than the statements."""
        cursor = self._connection.connection.cursor()
        cursor.execute(self._statement(name), parameters)
        return cursor

    def _statement(self, name: str) -> str:
        return driver_statement(SQL, name, self._connection.dialect.name)


class Transaction(Reader):
    """The ledger's only writer while it is open: it sees every earlier commit, and nobody else writes meanwhile."""

    def __init__(self, connection: Connection, clock: Clock) -> None:
        super().__init__(connection)
        self._clock = clock

    def now(self) -> datetime:
        """Returns the current instant in UTC from the ledger's clock."""
        return self._clock()

    def run(self, step: str, **parameters: Any) -> int:
        """Executes the statement `step` and returns the number of affected rows."""
        return self._execute(step, parameters).rowcount

    def changed(self, kind: str, entity_id: str) -> int:
        """Adds a change of an entity to the change feed and returns its `seq`. Every transaction that changes an entity
        must call this."""
        seq = self._number("advance_head")
        self.run("record_change", seq=seq, kind=kind, entity_id=entity_id, recorded_at=utc_text(self._clock()))
        return seq

    def run_each(self, step: str, rows: Sequence[Mapping[str, Any]]) -> None:
        """Executes the statement `step` once for each of `rows`, in order. Does nothing without rows."""
        if rows:
            self._connection.connection.cursor().executemany(self._statement(step), rows)

    def append_rows(self, table: str, columns: Sequence[str], rows: Sequence[tuple[Any, ...]]) -> None:
        """Bulk-inserts rows that the table does not have yet: many rows take the time of a few statements."""
        if not rows:
            return
        cursor = self._connection.connection.cursor()
        names = ", ".join(columns)
        if self._connection.dialect.name == "postgresql":
            with cursor.copy(f"copy {table} ({names}) from stdin") as copy:
                for row in rows:
                    copy.write_row(row)
        else:
            values = ", ".join("?" * len(columns))
            cursor.executemany(f"insert into {table} ({names}) values ({values})", rows)  # noqa: S608 - our own names

    def changed_each(self, changes: Sequence[tuple[str, str]]) -> list[int]:
        """Adds a change to the change feed for each kind and entity id, in order, and returns their `seq`s."""
        seqs = self.next_seqs(len(changes))
        now = utc_text(self._clock())
        rows = [(seq, kind, entity_id, now) for seq, (kind, entity_id) in zip(seqs, changes, strict=True)]
        self.append_rows("ledger_changes", ("seq", "kind", "entity_id", "recorded_at"), rows)
        return list(seqs)

    def next_seqs(self, count: int) -> range:
        """Reserves the next `seq`s of the change feed for events of the graph, which need no entry of their own."""
        if not count:
            return range(0)
        last = self._number("advance_head_by", count=count)
        return range(last - count + 1, last + 1)


class Ledger:
    """Opens transactions. Create it with `open_ledger`. Threads may share it; a forked process needs its own ledger.

    Every method raises `StoreBusy` or `StoreUnusable` if the database can't be used.
    """

    def __init__(self, engine: Engine, store: str, clock: Clock, keep_time: Callable[[], None] | None = None) -> None:
        self._writer_queue = WriterQueue(store, QUEUE_WAIT_S)
        self._readers = engine
        self._writers = engine.execution_options(**{WRITES: True})
        if engine.dialect.name == "postgresql":
            self._readers = engine.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
        self._store = store
        self._clock = clock
        self._keep_time = keep_time

    @contextmanager
    def transaction(self, cache_bytes: int | None = None) -> Iterator[Transaction]:
        """Opens a write transaction that commits at the end of the block and rolls back if it raises.

        There is one at a time over all processes, on both engines. It takes the lock at the start, so nothing that it
        reads can change meanwhile, no two transactions can deadlock, and `seq` follows the order of commits. Threads of
        this process queue before that, so none times out on another's lock. Keep the block short, without network
        calls.

        `cache_bytes` is for programs that write very much: from then on SQLite keeps that much of its file in memory,
        and checkpoints its log less often.
        """
        self._ask_time()
        with self._writer_queue.turn(), failures_named(self._store), begun(self._writers) as connection:
            transaction = Transaction(connection, self._clock)
            if cache_bytes is not None and connection.dialect.name == "sqlite":
                cursor = connection.connection.cursor()
                cursor.execute(f"pragma cache_size = -{cache_bytes // 1_000}")
                (page_bytes,) = cursor.execute("pragma page_size").fetchone()
                cursor.execute(f"pragma wal_autocheckpoint = {LOG_BYTES_OF_BULK // page_bytes}")
            if connection.dialect.name == "postgresql":
                transaction.row("lock_head")
            yield transaction

    @contextmanager
    def moving_log(self) -> Iterator[Callable[[], None]]:
        """Yields a function that starts a checkpoint of SQLite's log, in parallel with the next transactions, and
        returns at once. At the end of the block the rest is checkpointed, and the log's space released unless there
        are readers. Does nothing on PostgreSQL, which checkpoints by itself."""
        moved: Future[None] = Future()
        moved.set_result(None)
        is_sqlite = self._readers.dialect.name == "sqlite"

        def move() -> None:
            nonlocal moved
            if is_sqlite and moved.done():
                moved = thread.submit(self._move_log, "passive")

        with ThreadPoolExecutor(1) as thread:
            yield move
        if is_sqlite:
            # Truncating blocks writers while it moves pages; the passive checkpoint leaves it few.
            self._move_log("passive", "truncate")

    def _move_log(self, *modes: str) -> None:
        # On a separate connection: the pool's last one has in memory what the next transaction writes.
        with suppress(sqlite.Error), closing(sqlite.connect(str(self._readers.url.database), timeout=0)) as connection:
            connection.execute("pragma synchronous = full")
            for mode in modes:
                connection.execute(f"pragma wal_checkpoint({mode})").fetchone()

    @contextmanager
    def read(self) -> Iterator[Reader]:
        """Opens a reader that sees the same state throughout the block. It waits for no writer."""
        self._ask_time()
        with failures_named(self._store), begun(self._readers) as connection:
            yield Reader(connection)

    def now(self) -> datetime:
        """Returns the current instant in UTC from the ledger's clock."""
        return self._clock()

    def head(self) -> int:
        """Returns the `seq` of the newest committed change; 0 before the first."""
        with self.read() as reader:
            return reader.head()

    def changes_after(self, seq: int, limit: int) -> list[Change]:
        """Returns at most `limit` committed changes after `seq`, oldest first. Later commits get a higher seq."""
        with self.read() as reader:
            return reader.changes_after(seq, limit)

    def identity(self) -> LedgerIdentity | None:
        """Returns the chain and token of this ledger, or None before the stamp."""
        with self.read() as reader:
            return reader.identity()

    def stamp(self, identity: LedgerIdentity) -> None:
        """Stamps a new ledger with `identity`. Raises `ForeignStore` if it belongs to another chain or token."""
        if self.identity() is None:
            with self.transaction() as tx:
                if tx.identity() is None:
                    tx.run(
                        "stamp",
                        chain_id=identity.chain_id,
                        genesis_hash=identity.genesis_hash,
                        token_address=identity.token_address,
                        stamped_at=utc_text(self._clock()),
                    )
        stamped = self.identity()
        if stamped is not None and stamped != identity:
            raise ForeignStore(
                f"{self._store} belongs to {_chain_and_token(stamped)}, not to {_chain_and_token(identity)}.",
                cure="Set SVC_DATA_DIR (or SVC_LEDGER_URL) to another place, or restore the chain and the token.",
            )

    def scrub(self) -> None:
        """Removes all deleted content that SQLite's write-ahead log still contains.

        Does nothing on PostgreSQL, whose operator decides when its log is overwritten.
        """
        if self._readers.dialect.name == "sqlite":
            with failures_named(self._store), closing(self._readers.raw_connection()) as connection:
                connection.cursor().execute("pragma wal_checkpoint(truncate)").fetchone()

    def rewrite(self) -> None:
        """Rewrites every table without deleted content. The time depends on the size of the ledger.

        On SQLite this is the whole file, on PostgreSQL the tables that contain people's texts; its log and backups are
        left to its operator. Raises `StoreBusy` if others keep reading the old content.
        """
        with failures_named(self._store):
            if self._readers.dialect.name == "sqlite":
                with closing(self._readers.raw_connection()) as connection:
                    cursor = connection.cursor()
                    cursor.execute("pragma query_only = off")
                    scrub(cursor, self._store)
            else:
                autocommit = self._writers.execution_options(isolation_level="AUTOCOMMIT")
                with autocommit.connect() as connection:
                    for row in Reader(connection).rows("tables_with_texts"):
                        connection.exec_driver_sql(f'vacuum (full, analyze) "{row["name"]}"')

    def close(self) -> None:
        self._readers.dispose()

    def _ask_time(self) -> None:
        if self._keep_time is not None:
            with failures_named(self._store):
                self._keep_time()


def open_ledger(
    settings: Settings,
    data_dir: Path,
    *,
    wait_s: float = 10.0,
    clock: Clock | None = None,
) -> Ledger:
    """Opens the configured ledger, and creates and migrates it if needed.

    Unless `clock` is given, its clock is this machine's, or on PostgreSQL the server's. A write waits at most
    `QUEUE_WAIT_S` seconds for earlier writes of this process, then `wait_s` for those of others. Raises
    `SettingsInvalid`, `StoreTooNew`, `StoreBusy`, `StoreUnusable`.
    """
    location = ledger_location(settings.ledger_url, data_dir)
    if isinstance(location, Path):
        store = f"The ledger {location}"
        with failures_named(store):
            engine = sqlite_engine(location, wait_s)
    else:
        store = f"The ledger {location.render_as_string(hide_password=True)}"
        engine = postgresql_engine(location, wait_s)
    keep_time = None
    try:
        if clock is None and not isinstance(location, Path):
            clock, keep_time = _server_clock(engine, store)
        elif clock is None:
            clock = _this_machine
        with failures_named(store):
            migrate(engine, store, lambda connection: _finish_migration(Transaction(connection, clock)))
    except BaseException:
        engine.dispose()
        raise
    return Ledger(engine, store, clock, keep_time)


def _this_machine() -> datetime:
    return datetime.now(UTC)


def _server_clock(engine: Engine, store: str) -> tuple[Clock, Callable[[], None]]:
    """Returns the clock of a PostgreSQL server, and the function that queries its time when that is due."""

    def ask() -> float:
        with begun(engine) as connection:
            question = driver_statement((SERVER_CLOCK_SQL,), "server_time", "postgresql")
            return float(connection.exec_driver_sql(question).scalar_one())

    server = ServerClock(ask)
    with failures_named(store):
        server.keep_right()
    return lambda: datetime.fromtimestamp(server.now_s(), UTC), server.keep_right


def _finish_migration(tx: Transaction) -> None:
    """Finishes what a migration begins in SQL but only the graph's write path can complete."""
    # Imported here because it is needed once and itself imports this module.
    from warehouse.access.owners import settle_moved_keys

    settle_moved_keys(tx)


def _chain_and_token(identity: LedgerIdentity) -> str:
    return f"chain {identity.chain_id} (genesis {identity.genesis_hash[:10]}…), token {identity.token_address.lower()}"
