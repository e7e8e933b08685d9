"""Writes the query copy of a generation from the warehouse, and reads it while generations replace one another."""

import hashlib
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import duckdb

from contracts.discovery.installation import Installation
from contracts.errors import NotReady, StoreUnusable
from contracts.publish.routes import file_of
from warehouse.document_context import DocumentContext
from warehouse.duck.connection import STORAGE_VERSION, transaction
from warehouse.duck.tables import Table, tables
from warehouse.publish.disk import full_disk_named
from warehouse.publish.generations import Generation, Part, current_generation, current_pointer
from warehouse.publish.readers import SHOWN_IN_VARIANTS
from warehouse.statements import literal, read_sql

FILE_NAME = "serving.duckdb"


def table_digests(connection: duckdb.DuckDBPyConnection) -> dict[str, str]:
    """Returns a digest of the rows and the columns of every `out_` table, by name."""
    columns: dict[str, list[str]] = {}
    for table, column, kind in connection.execute(read_sql("columns")).fetchall():
        columns.setdefault(table, []).append(f"{column} {kind}")
    statement = read_sql("table_digest")
    # In one statement, since planning one per table takes longer than reading most tables.
    digests = " union all ".join(
        f"select '{table.name}', * from ({statement.replace('$table', table.name)})"  # noqa: S608 - our own names
        for table in _published()
    )
    return {
        table: hashlib.sha256(repr((columns[table], *digest)).encode()).hexdigest()
        for table, *digest in connection.execute(digests).fetchall()
    }


def serving_copy(connection: duckdb.DuckDBPyConnection, digests: Mapping[str, str]) -> Part:
    """Returns the copy of all `out_` tables as a part of a generation. `digests` are the tables' current ones."""
    comments = "\n".join(table.comments("serving_copy") for table in _published())
    version = hashlib.sha256(repr((duckdb.__version__, comments, sorted(digests.items()))).encode())

    def write(path: Path) -> None:
        rows = ";".join(f"insert into serving_copy.{table} from {table}" for table in digests)
        with full_disk_named(path):
            path.write_bytes(_empty_copy(tuple(connection.execute(read_sql("columns")).fetchall()), comments))
            _execute_attached(connection, path, rows)

    return Part(version.hexdigest(), write=write)


def _published() -> list[Table]:
    return [table for table in tables().values() if table.name.startswith("out_")]


@lru_cache(maxsize=2)
def _empty_copy(columns: tuple[tuple[str, str, str], ...], comments: str) -> bytes:
    """Returns the bytes of a copy without rows. They are cached for a process that publishes repeatedly: declaring
    tables and comments takes longer than writing the rows."""
    published = {table.name for table in _published()}
    declared: dict[str, list[str]] = {}
    for table, column, kind in columns:
        if table in published:
            declared.setdefault(table, []).append(f'"{column}" {kind}')
    created = [f"create table serving_copy.{table} ({', '.join(names)});" for table, names in declared.items()]
    with tempfile.TemporaryDirectory() as directory, duckdb.connect(config={"threads": 1}) as connection:
        path = Path(directory) / "empty.duckdb"
        _execute_attached(connection, path, "\n".join([*created, comments]))
        return path.read_bytes()


def _execute_attached(connection: duckdb.DuckDBPyConnection, path: Path, statements: str) -> None:
    connection.execute(f"attach {literal(path)} as serving_copy (storage_version '{STORAGE_VERSION}')")
    try:
        with transaction(connection):
            connection.execute(statements)
        connection.execute("checkpoint serving_copy")
    finally:
        connection.execute("detach database if exists serving_copy")


@dataclass
class _Open:
    generation: Generation
    connection: duckdb.DuckDBPyConnection
    installation: Installation
    bodies: dict[str, bytes]
    memo: dict[str, Any] = field(default_factory=dict)
    readers: int = 0


@dataclass(frozen=True)
class GenerationReading:
    """One request's view: the generation, and the inputs of its documents."""

    generation: Generation
    context: DocumentContext


class ServedGenerations:
    """Opens the current generation for queries.

    A request keeps the generation that it started with; a superseded one is closed after its last request.
    """

    def __init__(self, data_dir: Path) -> None:
        self.data_dir = data_dir
        self._lock = threading.Lock()
        self._pointer: str | None = None
        self._open: _Open | None = None

    @contextmanager
    def reading(self, *, computes_lists: bool = False) -> Iterator[GenerationReading]:
        """Opens a cursor on one generation for the whole block. Raises `NotReady` before the first.

        Only a worker process `computes_lists`.
        """
        with self._lock:
            opened = self._newest()
            opened.readers += 1
            cursor = opened.connection.cursor()
        try:
            context = DocumentContext(
                cursor,
                opened.generation.path / "holders",
                opened.installation,
                opened.bodies,
                computes_lists=computes_lists,
                memo=opened.memo,
            )
            yield GenerationReading(opened.generation, context)
        finally:
            with self._lock:
                cursor.close()
                opened.readers -= 1
                self._close_unless_needed(opened)

    def remembers(self, name: str) -> bool:
        """Decides whether the current generation is open and has `name` in its cache. Never waits for a thread."""
        opened = self._open
        return opened is not None and name in opened.memo and current_pointer(self.data_dir) == self._pointer

    def close(self) -> None:
        """Closes the open generation now, or when its last request ends."""
        with self._lock:
            opened, self._open, self._pointer = self._open, None, None
            if opened is not None:
                self._close_unless_needed(opened)

    def _newest(self) -> _Open:
        pointer = current_pointer(self.data_dir)
        if pointer is None:
            raise NotReady("The first generation is still being built.", headers={"Retry-After": "5"})
        if self._open is None or pointer != self._pointer:
            generation = current_generation(self.data_dir)
            assert generation is not None, "the pointer is never removed"
            path = generation.path / FILE_NAME
            try:
                connection = duckdb.connect(str(path), read_only=True, config={"threads": 1})
            except duckdb.Error as error:
                cure = "Run `svc publish`, which rebuilds it."
                raise StoreUnusable(f"{path} can't be opened: {error}.", cure=cure) from error
            bodies = {path: (generation.path / "public" / file_of(path)).read_bytes() for path in _shown(generation)}
            installation = Installation(generation.manifest.base_url)
            superseded, self._pointer = self._open, pointer
            self._open = _Open(generation, connection, installation, bodies)
            if superseded is not None:
                self._close_unless_needed(superseded)
        return self._open

    def _close_unless_needed(self, opened: _Open) -> None:
        if opened is not self._open and opened.readers == 0:
            opened.connection.close()


def _shown(generation: Generation) -> list[str]:
    return [path for path in SHOWN_IN_VARIANTS if path in generation.manifest.documents]
