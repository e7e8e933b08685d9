"""Builds the full-text index entries of nodes, most of them in a second process if there are many."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import msgspec
import pyarrow as pa

from warehouse.cycles import without_cycles
from warehouse.world.side_process import SideProcess, side_process
from warehouse.world.snapshot import NOBODY
from warehouse.world.text import with_edges, words_of_edges, words_of_text

ENTRIES_AT_ONCE = 5_000

NODE_COLUMNS = ("num", "type", "domain", "owner", "body", "edge_types", "edge_properties", "aliases")
"""Columns of nodes: the numbers of the node and of its type, domain and owner, its record as JSON, and the types,
properties (as JSON) and alias titles of its edges."""

NodeRow = tuple[int, int, int, int, str, list[str] | None, list[str] | None, list[str] | None]

IndexEntry = tuple[str, int]
"""The entry as JSON, and the number of the node's words without its edges."""


class _Text(msgspec.Struct):
    title: str
    properties: dict[str, Any]


class _Entry(msgspec.Struct):
    num: int
    type: int
    domain: int
    owner: int
    written: str
    title: str
    body: str
    edges: str


_text = msgspec.json.Decoder(_Text).decode
_properties = msgspec.json.Decoder(dict[str, Any]).decode
_encode = msgspec.json.Encoder().encode
_pack = msgspec.msgpack.Encoder().encode
_entries = msgspec.msgpack.Decoder(list[IndexEntry]).decode


MakeEntries = Callable[[pa.RecordBatch], Iterator[IndexEntry]]
"""Starts building the entries of nodes with `NODE_COLUMNS`, and yields them in order, except those of invisible
nodes."""


def entries_here(nodes: pa.RecordBatch) -> Iterator[IndexEntry]:
    """Yields the entry of each visible node."""
    rows: Iterator[NodeRow] = zip(*(column.to_pylist() for column in nodes.columns), strict=True)
    return (_entry_of(row) for row in rows if row[3] != NOBODY)


@contextmanager
def entries_beside() -> Iterator[MakeEntries]:
    """Yields a function that makes a second process start building entries when it is called. The consumer of the
    entries builds those itself that the process has not begun by then."""
    with side_process(packed_entries) as helper:
        thread = ThreadPoolExecutor(1)  # so that callers don't wait for the pipe

        def made(nodes: pa.RecordBatch) -> Iterator[IndexEntry]:
            parts = [nodes.slice(first, ENTRIES_AT_ONCE) for first in range(0, len(nodes), ENTRIES_AT_ONCE)]
            return _in_order(parts, [thread.submit(_made_there, helper, part) for part in parts])

        try:
            yield made
        finally:
            thread.shutdown(cancel_futures=True)


def _in_order(parts: Sequence[pa.RecordBatch], there: Sequence[Future[list[IndexEntry]]]) -> Iterator[IndexEntry]:
    here: dict[int, list[IndexEntry]] = {}
    begun_before = len(parts)
    for place, answer in enumerate(there):
        while not answer.done() and begun_before > place and there[begun_before - 1].cancel():
            begun_before -= 1
            here[begun_before] = list(entries_here(parts[begun_before]))
        yield from here.pop(place) if place in here else answer.result()


def _made_there(helper: SideProcess, nodes: pa.RecordBatch) -> list[IndexEntry]:
    packed = pa.BufferOutputStream()
    with pa.ipc.new_stream(packed, nodes.schema) as stream:
        stream.write_batch(nodes)
    helper.ask(packed.getvalue().to_pybytes())
    answer = helper.answer()
    return list(entries_here(nodes)) if answer is None else _entries(answer)


@without_cycles()
def packed_entries(content: bytes) -> bytes:
    """Returns the entries of encoded nodes, encoded."""
    with pa.ipc.open_stream(content) as batches:
        return _pack([entry for nodes in batches for entry in entries_here(nodes)])


def _entry_of(row: NodeRow) -> IndexEntry:
    number, node_type, domain, owner, body, types, properties, aliases = row
    text = _text(body)
    words = words_of_text(text.title, text.properties)
    if types:
        decoded = [_properties(values) for values in properties or ()]
        words = with_edges(words, [words_of_edges(types, decoded, aliases or ())])
    join = " ".join
    entry = _Entry(
        number,
        node_type,
        domain,
        owner,
        join((*words.written, *words.edges_written)),
        join(words.title),
        join(words.forms - words.title),
        join(words.edges),
    )
    return _encode(entry).decode(), len(words.written)
