"""Writes a snapshot of the graph from the tables of a DuckDB connection to a directory that readers map into memory.

`snapshot.py` defines the layout. Nodes, edges and texts are streamed; only numbers stay in memory, some 24 bytes per
edge.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import tantivy
from msgspec.structs import replace

from warehouse.cycles import without_cycles
from warehouse.duck.columns import plain
from warehouse.duck.connection import Connection
from warehouse.file_modes import PRIVATE_DIRECTORY
from warehouse.statements import read_sql
from warehouse.world.digested_files import DigestedFiles, Write
from warehouse.world.index_entries import NODE_COLUMNS, IndexEntry, MakeEntries, entries_beside, entries_here
from warehouse.world.snapshot import (
    FORMAT,
    MANIFEST,
    NOBODY,
    PRIVATE_TEXT,
    PUBLIC_TEXT,
    SEPARATED,
    FileEntry,
    SnapshotManifest,
    index_schema,
    numbers_file,
    sealed,
    segment_sizes,
    separated,
)
from warehouse.world.text import MOST_EDGES

BATCH_ROWS = 10_000
"""Number of nodes or edges whose records stay in the processor's cache until they are written."""

MEMORY_LIMIT = "1500MB"
INDEX_HEAP_BYTES = 1_000_000_000
"""More than a million nodes need, so that an index has one segment and equal scores stay in the order of ids."""

SMALL_INDEX_HEAP_BYTES = 32_000_000
SMALL_INDEX_NODES = 20_000

NODES_WORTH_A_PROCESS = 50_000
"""Minimum number of nodes for which a second process, which takes a second to start, builds most index entries."""

_BUILDING = ".building-"


@without_cycles()
def write_snapshot(connection: Connection, directory: Path, revision: int, recorded_at: str | None = None) -> None:
    """Writes the graph at `revision`, whose event was recorded at `recorded_at`, to `directory`, which appears
    atomically.

    Reads `snapshot_input_nodes` (id, type, domain, owner, live, body) and `snapshot_input_edges` (id, source, target,
    owner, live, body). `owner` is null for public state; `body` is the record as JSON (`contracts.world.records`).
    Edges with an end that is not a node are left out. Only one writer at a time may write below a parent directory.
    Nothing is synced to disk here; publishing the generation does that.
    """
    directory.parent.mkdir(mode=PRIVATE_DIRECTORY, parents=True, exist_ok=True)
    for left in directory.parent.glob(f"{_BUILDING}*"):
        shutil.rmtree(left)
    building = directory.with_name(_BUILDING + directory.name)
    building.mkdir()
    try:
        with _bounded_memory(connection):
            manifest = _write_graph(connection, building, revision)
        (building / MANIFEST).write_bytes(sealed(replace(manifest, recorded_at=recorded_at)))
        if directory.exists():
            # first moved away as a whole: a process killed while deleting would leave half of it under its name
            former = directory.with_name(f"{_BUILDING}former-{directory.name}")
            directory.rename(former)
            building.rename(directory)
            shutil.rmtree(former)
        else:
            building.rename(directory)
    except BaseException:
        shutil.rmtree(building, ignore_errors=True)
        raise


def _write_graph(connection: Connection, directory: Path, revision: int) -> SnapshotManifest:
    connection.execute(read_sql("snapshot_owners"))
    connection.execute(read_sql("snapshot_nodes"))
    nodes, private_nodes, types, domains = connection.execute(read_sql("snapshot_names")).fetchall()[0]
    makes_entries = entries_beside() if nodes >= NODES_WORTH_A_PROCESS else nullcontext(entries_here)
    with DigestedFiles(directory) as files, makes_entries as entries_of:
        columns = _Columns(files)
        owners = columns.texts("owners")
        for batch in _batches(connection, "snapshot_owner_rows"):
            owners.append(batch["owner"])
        edges = _write_edges(connection, columns, nodes)
        with _Indexes(directory, nodes, private_nodes) as indexes:
            _write_nodes(connection, columns, indexes, types, domains, entries_of)
    for table in ("snapshot_owners", "snapshot_nodes", "snapshot_edge_texts"):
        connection.execute(f"drop table {table}")
    for lock in directory.rglob("*.lock"):
        lock.unlink()
    entries = files.entries()
    names = (path.relative_to(directory).as_posix() for path in directory.rglob("*") if path.is_file())
    entries |= {name: _entry(directory / name) for name in names if name not in entries}  # those of the indexes
    return SnapshotManifest(FORMAT, revision, nodes, edges, types, domains, dict(sorted(entries.items())))


def _write_nodes(
    connection: Connection,
    columns: _Columns,
    indexes: _Indexes,
    types: list[str],
    domains: list[str],
    entries_of: MakeEntries,
) -> None:
    number_of_type = {name: number for number, name in enumerate(types)}
    number_of_domain = {name: number for number, name in enumerate(domains)}
    ids, records = columns.texts("ids"), columns.texts("nodes")
    type_column, domain_column = columns.numbers("node_type.u16"), columns.numbers("node_domain.u8")
    owner_column, length_column = columns.numbers("node_owner.u32"), columns.numbers("node_words.u32")
    revision_column = columns.numbers("node_revision.u64")
    next_column = columns.numbers("node_next.u32")

    def index(owners: list[int], entries: Iterator[IndexEntry]) -> None:
        lengths = [0] * len(owners)
        live = (place for place, owner in enumerate(owners) if owner != NOBODY)
        for place, (entry, length) in zip(live, entries, strict=True):
            indexes.add(entry, private=owners[place] != 0)
            lengths[place] = length
        length_column.append(lengths)

    begun: tuple[list[int], Iterator[IndexEntry]] | None = None
    for batch in _batches(connection, "snapshot_node_rows"):
        node_types = _coded(batch["type"], number_of_type.__getitem__)
        node_domains = _coded(batch["domain"], number_of_domain.__getitem__)
        owners = _numbers_of(batch["owner"])
        ids.append(batch["id"])
        records.append(batch["body"])
        type_column.append(node_types)
        domain_column.append(node_domains)
        owner_column.append(owners)
        revision_column.append(_numbers_of(batch["revision"]))
        next_column.append(_numbers_of(batch["next"]))
        batch |= {"type": plain(node_types, pa.uint32()), "domain": plain(node_domains, pa.uint32())}
        following = owners.tolist(), entries_of(pa.record_batch({name: batch[name] for name in NODE_COLUMNS}))
        if begun is not None:
            index(*begun)  # while the entries of the current rows are being built
        begun = following
    if begun is not None:
        index(*begun)


def _write_edges(connection: Connection, columns: _Columns, nodes: int) -> int:
    """Writes the edges and creates the table `snapshot_edge_texts` with their texts for their nodes. Returns the number
    of edges."""
    records = columns.texts("edges")
    parts: dict[str, list[np.ndarray[Any, Any]]] = {
        name: [np.zeros(0, "<u4")] for name in ("source", "target", "owner", "edge_type")
    }
    number_of_type: dict[str, int] = {}
    texts = False

    def number_of(edge_type: str) -> int:
        return number_of_type.setdefault(edge_type, len(number_of_type))

    for batch in _batches(connection, "snapshot_edges"):
        records.append(batch["body"])
        for name in ("source", "target", "owner"):
            parts[name].append(_numbers_of(batch[name]).copy())  # a view would keep its batch's records in memory
        parts["edge_type"].append(_coded(batch["edge_type"], number_of))
        texts = texts or batch["texts"].true_count > 0
    numbers = {name: np.concatenate(of_name) for name, of_name in parts.items()}
    _make_edge_texts(connection, numbers, list(number_of_type), texts)
    owner, source, target = numbers["owner"], numbers["source"], numbers["target"]
    by_target = _order(target)
    in_order = by_target[_order(source[by_target])]  # sorts only numbers, because records are many times larger
    owner, source, target = owner[in_order], source[in_order], target[in_order]
    columns.numbers("edge_record.u32").append(in_order)
    columns.numbers("edge_owner.u32").append(owner)
    columns.numbers("edge_source.u32").append(source)
    columns.numbers("edge_target.u32").append(target)
    columns.numbers("in_edge.u32").append(_order(target))
    columns.numbers("out_start.u64").append(_starts(source, nodes))
    columns.numbers("in_start.u64").append(_starts(target, nodes))
    return len(source)


def _make_edge_texts(
    connection: Connection, numbers: dict[str, np.ndarray[Any, Any]], types: list[str], texts: bool
) -> None:
    table = pa.table({name: plain(of_name, pa.uint32()) for name, of_name in numbers.items()})
    connection.register("snapshot_edge_numbers", table)
    try:
        parameters = {"most": MOST_EDGES, "types": types, "texts": texts}
        connection.execute(read_sql("snapshot_edge_texts"), parameters)
    finally:
        connection.unregister("snapshot_edge_numbers")


def _numbers_of(column: pa.Array) -> np.ndarray[Any, Any]:
    """Views a column of integers without nulls as an array. Arrow's own conversion imports pandas, which takes a third
    of a second."""
    assert pa.types.is_integer(column.type) and not column.null_count
    kind = np.dtype(column.type.to_pandas_dtype())
    return np.frombuffer(column.buffers()[1], kind, len(column), kind.itemsize * column.offset)


def _coded(column: pa.Array, number_of: Callable[[str], int]) -> np.ndarray[Any, Any]:
    """Returns the number of each name in a column with few distinct names."""
    coded = column.dictionary_encode()
    numbers = np.array([number_of(name) for name in coded.dictionary.to_pylist()], "<u4")
    return numbers.take(_numbers_of(coded.indices))


def _order(numbers: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Returns the indexes that sort 32-bit numbers stably. numpy sorts numbers with their index in the lower half in a
    fraction of the time of `argsort`."""
    keys = numbers.astype("<u8") << np.uint64(32)
    keys |= np.arange(len(keys), dtype="<u8")
    keys.sort()
    return keys.astype("<u4")  # the lower half


def _starts(ends: np.ndarray[Any, Any], nodes: int) -> np.ndarray[Any, Any]:
    """Returns the start of each node's edges, and the end of the last, for edges in the order of `ends`."""
    return np.concatenate([[0], np.cumsum(np.bincount(ends, minlength=nodes))])


def _batches(connection: Connection, question: str) -> Iterator[dict[str, pa.Array]]:
    for batch in connection.sql(read_sql(question)).to_arrow_reader(BATCH_ROWS):
        yield dict(zip(batch.schema.names, batch.columns, strict=True))


class _Columns:
    """Opens the files of a snapshot."""

    def __init__(self, files: DigestedFiles) -> None:
        self._open = files.open

    def numbers(self, name: str) -> _Numbers:
        """Opens a file of numbers, whose name ends with their width."""
        return _Numbers(self._open(name), f"<u{int(name.rpartition('u')[2]) // 8}")

    def texts(self, name: str) -> _Texts:
        """Opens a file for texts stored back to back, and another for their offsets."""
        return _Texts(self._open(f"{name}.bin"), self.numbers(f"{name}.u64"))


class _Numbers:
    def __init__(self, write: Write, dtype: str) -> None:
        self._write = write
        self._dtype = dtype

    def append(self, values: Any) -> None:
        self._write(np.asarray(values).astype(self._dtype, copy=False).data)


class _Texts:
    def __init__(self, write: Write, starts: _Numbers) -> None:
        self._write = write
        self._starts = starts
        self._starts.append([0])
        self._end = 0

    def append(self, texts: pa.Array) -> None:
        """Appends Arrow strings, whose buffers already have this layout."""
        _, offsets, content = texts.cast(pa.large_string()).buffers()
        ends = np.frombuffer(offsets, "<i8")[texts.offset : texts.offset + len(texts) + 1]
        if content is not None:
            self._write(memoryview(content)[ends[0] : ends[-1]])
        self._starts.append(ends[1:] - ends[0] + self._end)
        self._end += int(ends[-1] - ends[0])


class _Indexes:
    """Writes the full-text indexes. Private nodes have a separate index, so that they don't influence the ranking of
    public ones."""

    def __init__(self, directory: Path, nodes: int, private_nodes: int) -> None:
        self._directory = directory
        self._public = _index_writer(directory / PUBLIC_TEXT, nodes)
        self._private = _index_writer(directory / PRIVATE_TEXT, private_nodes)

    def add(self, entry: str, *, private: bool) -> None:
        """Adds the entry of a node."""
        (self._private if private else self._public).add_json(entry)

    def __enter__(self) -> _Indexes:
        return self

    def __exit__(self, failure: type[BaseException] | None, *_: object) -> None:
        for writer in (self._public, self._private):
            if failure is None:
                writer.commit()
            else:
                writer.rollback()
            writer.wait_merging_threads()  # these threads write into the directory
        if failure is None:
            for name in (PUBLIC_TEXT, PRIVATE_TEXT):
                write_numbers(self._directory / name)


def _index_writer(directory: Path, nodes: int) -> tantivy.IndexWriter:
    directory.mkdir()
    index = tantivy.Index(index_schema(), str(directory))
    index.register_tokenizer(SEPARATED, separated)
    heap = SMALL_INDEX_HEAP_BYTES if nodes < SMALL_INDEX_NODES else INDEX_HEAP_BYTES
    return index.writer(heap_size=heap, num_threads=1)


def write_numbers(directory: Path) -> None:
    """Writes the numbers of an index's nodes, in document order, to a file next to it."""
    index = tantivy.Index.open(str(directory))
    index.config_reader("manual")  # by default a thread of the index watches the directory
    searcher = index.searcher()
    with (directory.parent / numbers_file(directory.name)).open("wb") as file:
        for segment, size in enumerate(segment_sizes(directory)):
            for first in range(0, size, BATCH_ROWS):
                documents = range(first, min(first + BATCH_ROWS, size))
                addresses = [tantivy.DocAddress(segment, document) for document in documents]
                file.write(np.array(searcher.fast_field_values("num", addresses), "<u4").tobytes())


@contextmanager
def _bounded_memory(connection: Connection) -> Iterator[None]:
    """Limits DuckDB's memory, so that larger sorts use disk, in the connection's `temp_directory`."""
    connection.execute(f"set memory_limit = '{MEMORY_LIMIT}'")
    try:
        yield
    finally:
        connection.execute("reset memory_limit")


def _entry(path: Path) -> FileEntry:
    with path.open("rb") as file:
        return FileEntry(path.stat().st_size, hashlib.file_digest(file, "sha256").hexdigest())
