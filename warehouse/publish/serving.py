"""Writes the query copy inside a generation from the warehouse, and reads it while generations come and go."""

import hashlib
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import duckdb

from contracts.discovery.installation import Installation
from contracts.errors import NotReady, StoreUnusable
from contracts.publish.routes import file_of
from warehouse.document_context import DocumentContext
from warehouse.duck.connection import STORAGE_VERSION, transaction
from warehouse.duck.tables import tables
from warehouse.publish.disk import full_disk_named
from warehouse.publish.generations import Generation, Part, current_generation, current_pointer
from warehouse.publish.readers import SHOWN_IN_VARIANTS
from warehouse.statements import read_sql

FILE_NAME = "serving.duckdb"


def serving_copy(connection: duckdb.DuckDBPyConnection) -> Part:
    """Makes the copy of every `out_` table as a part of a generation; its version is a digest of all its content."""
    published = [table for table in tables().values() if table.name.startswith("out_")]
    comments = "\n".join(table.comments("serving_copy") for table in published)
    digest = hashlib.sha256((duckdb.__version__ + comments).encode())
    for table in published:
        digest.update(repr(connection.execute(f"describe {table.name}").fetchall()).encode())
        rows = read_sql("table_digest").replace("$table", table.name)
        digest.update(repr(connection.execute(rows).fetchall()).encode())

    def write(path: Path) -> None:
        name = str(path).replace("'", "''")
        with full_disk_named(path):
            connection.execute(f"attach '{name}' as serving_copy (storage_version '{STORAGE_VERSION}')")
            try:
                with transaction(connection):
                    for table in published:
                        connection.execute(f"create table serving_copy.{table.name} as from {table.name}")
                    connection.execute(comments)
                connection.execute("checkpoint serving_copy")
            finally:
                connection.execute("detach database if exists serving_copy")

    return Part(digest.hexdigest(), write=write)


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

    A request keeps the one it began with; a superseded one closes behind its last request.
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
        """Decides whether the current generation is open and its readers remember `name`. Never waits for a thread."""
        opened = self._open
        return opened is not None and name in opened.memo and current_pointer(self.data_dir) == self._pointer

    def close(self) -> None:
        """Closes the open generation, at the latest when its last request ends."""
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
                cure = "Run `svc publish`, which makes it again."
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
