"""The ledger: transactions, the change feed and the stamp, on SQLite or PostgreSQL. The one module that writes it.

A room's own tables come by a migration, its questions as `ledger.sql` of its folder, its steps as functions that take a
`Transaction` or a `Reader`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine
from sqlalchemy.engine.interfaces import DBAPICursor

from contracts.errors import ForeignStore
from contracts.settings import Settings
from contracts.times import utc_text as utc_text
from warehouse.ledger.drivers import driver_statement, scrub
from warehouse.ledger.engine import WRITES, begun, failures_named, ledger_location, postgresql_engine, sqlite_engine
from warehouse.ledger.schema import migrate
from warehouse.ledger.writer_queue import WriterQueue
from warehouse.statements import ROOMS

SQL = tuple(sorted(ROOMS.glob("*/ledger.sql")))

QUEUE_WAIT_S = 10.0
"""How long a write waits for earlier ones of its process: several large proposals and hundreds of small ones."""

Clock = Callable[[], datetime]
"""The present instant in UTC."""

Row = dict[str, Any]
"""Values of one row by the names of its columns."""


@dataclass(frozen=True, slots=True)
class LedgerIdentity:
    """What a ledger is of: EIP-155 chain id, genesis block hash (0x hex), token (lower-case address)."""

    chain_id: int
    genesis_hash: str
    token_address: str


@dataclass(frozen=True, slots=True)
class Change:
    """One change of one entity. `seq` counts from 1 without gaps, in the order of commits; `recorded_at` in UTC."""

    seq: int
    kind: str
    entity_id: str
    recorded_at: datetime


class Reader:
    """Named questions to one state of the ledger: what commits meanwhile is not seen."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def rows(self, question: str, **parameters: Any) -> list[Row]:
        """All rows that the statement `question` gives."""
        cursor = self._execute(question, parameters)
        names = [column[0] for column in cursor.description]
        return [dict(zip(names, values, strict=True)) for values in cursor.fetchall()]

    def row(self, question: str, **parameters: Any) -> Row | None:
        """The one row that the statement `question` gives, or None. More than one is an error."""
        rows = self.rows(question, **parameters)
        if len(rows) > 1:
            raise LookupError(f"{question} gave {len(rows)} rows")
        return rows[0] if rows else None

    def head(self) -> int:
        """`seq` of the newest change that this state holds; 0 before the first."""
        return self._number("head")

    def changes_after(self, seq: int, limit: int) -> list[Change]:
        """At most `limit` changes above `seq`, oldest first."""
        return [
            Change(row["seq"], row["kind"], row["entity_id"], datetime.fromisoformat(row["recorded_at"]))
            for row in self.rows("changes_after", seq=seq, limit=limit)
        ]

    def identity(self) -> LedgerIdentity | None:
        """Whose ledger this is, or None before the stamp."""
        row = self.row("identity")
        return None if row is None else LedgerIdentity(**row)

    def _number(self, question: str, **parameters: Any) -> int:
        """The one value that the statement `question` gives."""
        [(number,)] = self._execute(question, parameters).fetchall()
        return int(number)

    def _execute(self, name: str, parameters: Mapping[str, Any]) -> DBAPICursor:
        """Run the statement `name` by the driver itself: SQLAlchemy's results cost more CPU than the statements."""
        cursor = self._connection.connection.cursor()
        cursor.execute(self._statement(name), parameters)
        return cursor

    def _statement(self, name: str) -> str:
        return driver_statement(SQL, name, self._connection.dialect.name)


class Transaction(Reader):
    """The ledger's one writer at this moment: it sees every earlier commit, and nobody writes beside it."""

    def __init__(self, connection: Connection, clock: Clock) -> None:
        super().__init__(connection)
        self._clock = clock

    def now(self) -> datetime:
        """The present instant in UTC, by the ledger's clock."""
        return self._clock()

    def run(self, step: str, **parameters: Any) -> int:
        """Execute the statement `step` and say how many rows it touched."""
        return self._execute(step, parameters).rowcount

    def changed(self, kind: str, entity_id: str) -> int:
        """Put a change of an entity on the feed and give its `seq`. Due in every transaction that changes one."""
        seq = self._number("advance_head")
        self.run("record_change", seq=seq, kind=kind, entity_id=entity_id, recorded_at=utc_text(self._clock()))
        return seq

    def run_each(self, step: str, rows: Sequence[Mapping[str, Any]]) -> None:
        """Execute the statement `step` once for each of `rows`, in order; nothing where there are none."""
        if rows:
            self._connection.connection.cursor().executemany(self._statement(step), rows)

    def changed_each(self, changes: Sequence[tuple[str, str]]) -> list[int]:
        """`changed` for each kind and entity id, in order; the `seq` of each."""
        if not changes:
            return []
        last = self._number("advance_head_by", count=len(changes))
        seqs = list(range(last - len(changes) + 1, last + 1))
        now = utc_text(self._clock())
        self.run_each(
            "record_change",
            [
                {"seq": seq, "kind": kind, "entity_id": entity_id, "recorded_at": now}
                for seq, (kind, entity_id) in zip(seqs, changes, strict=True)
            ],
        )
        return seqs


class Ledger:
    """Open with `open_ledger`. Threads may share it; a forked process needs its own.

    Every method raises `StoreBusy` or `StoreUnusable` where the database can't be used.
    """

    def __init__(self, engine: Engine, store: str, clock: Clock, queue_wait_s: float) -> None:
        self._writer_queue = WriterQueue(store, queue_wait_s)
        self._readers = engine
        self._writers = engine.execution_options(**{WRITES: True})
        if engine.dialect.name == "postgresql":
            self._readers = engine.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
        self._store = store
        self._clock = clock

    @contextmanager
    def transaction(self) -> Iterator[Transaction]:
        """Write: commits at the end of the block, rolls back when it raises.

        One at a time over all processes, on both engines: the lock is taken at the start, so that what a transaction
        reads can't change under it, no two can deadlock, and `seq` follows the order of commits. Threads of this
        process queue before it, so that none of them times out on another's lock. Keep it short; no network inside.
        """
        with self._writer_queue.turn(), failures_named(self._store), begun(self._writers) as connection:
            transaction = Transaction(connection, self._clock)
            if connection.dialect.name == "postgresql":
                transaction.row("lock_head")
            yield transaction

    @contextmanager
    def read(self) -> Iterator[Reader]:
        """Read one state from start to end. Waits for no writer."""
        with failures_named(self._store), begun(self._readers) as connection:
            yield Reader(connection)

    def now(self) -> datetime:
        """The present instant in UTC, by the ledger's clock."""
        return self._clock()

    def head(self) -> int:
        """`seq` of the newest committed change; 0 before the first."""
        with self.read() as reader:
            return reader.head()

    def changes_after(self, seq: int, limit: int) -> list[Change]:
        """At most `limit` committed changes above `seq`, oldest first. What is not here yet comes with a higher seq."""
        with self.read() as reader:
            return reader.changes_after(seq, limit)

    def identity(self) -> LedgerIdentity | None:
        """Whose ledger this is, or None before the stamp."""
        with self.read() as reader:
            return reader.identity()

    def stamp(self, identity: LedgerIdentity) -> None:
        """Make an unstamped ledger that of `identity`. Raises `ForeignStore` where it is of another."""
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
        held = self.identity()
        if held is not None and held != identity:
            raise ForeignStore(
                f"{self._store} is of {_named(held)}, not of {_named(identity)}.",
                cure="Set SVC_DATA_DIR (or SVC_LEDGER_URL) to another place, or chain and token back.",
            )

    def scrub(self) -> None:
        """Leave no byte of what was deleted: SQLite's write-ahead log still has it. When PostgreSQL writes over its own
        is for its operator to say."""
        if self._readers.dialect.name == "sqlite":
            with failures_named(self._store), closing(self._readers.raw_connection()) as connection:
                connection.cursor().execute("pragma wal_checkpoint(truncate)").fetchone()

    def rewrite(self) -> None:
        """Write every table again without what was deleted, which takes as long as the ledger is large.

        SQLite's whole file, and of PostgreSQL the tables that hold texts of people; its own log and its backups are for
        its operator. Raises `StoreBusy` where others keep reading what was there before.
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
        """Give up every connection. The ledger can't be used any more."""
        self._readers.dispose()


def open_ledger(
    settings: Settings,
    data_dir: Path,
    *,
    wait_s: float = 10.0,
    queue_wait_s: float = QUEUE_WAIT_S,
    clock: Clock = lambda: datetime.now(UTC),
) -> Ledger:
    """Open the ledger that the settings name, made and migrated where needed.

    A write waits `queue_wait_s` seconds for earlier writes of this process, then `wait_s` for those of others.
    Raises `SettingsInvalid`, `StoreTooNew`, `StoreBusy`, `StoreUnusable`.
    """
    location = ledger_location(settings.ledger_url, data_dir)
    if isinstance(location, Path):
        store = f"The ledger {location}"
        with failures_named(store):
            engine = sqlite_engine(location, wait_s)
    else:
        store = f"The ledger {location.render_as_string(hide_password=True)}"
        engine = postgresql_engine(location, wait_s)
    try:
        with failures_named(store):
            migrate(engine, store, lambda connection: _finish_migration(Transaction(connection, clock)))
    except BaseException:
        engine.dispose()
        raise
    return Ledger(engine, store, clock, queue_wait_s)


def _finish_migration(tx: Transaction) -> None:
    """What a migration begins in SQL and only the graph's own writing can finish."""
    # only here, since it is needed once, and writes through this module
    from warehouse.access.owners import settle_moved_keys

    settle_moved_keys(tx)


def _named(identity: LedgerIdentity) -> str:
    return f"chain {identity.chain_id} (genesis {identity.genesis_hash[:10]}…), token {identity.token_address.lower()}"
