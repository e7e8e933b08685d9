"""Turns nodes into the entries of the full-text index, most of them in a second process if there are many."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import msgspec

from warehouse.cycles import without_cycles
from warehouse.world.side_process import SideProcess, side_process
from warehouse.world.text import with_edges, words_of_edges, words_of_text

ENTRIES_AT_ONCE = 5_000

NodeRow = tuple[int, int, int, int, str, list[str] | None, list[str] | None, list[str] | None]
"""The numbers of a node, of its type, domain and owner, its record as JSON, and the types, the properties as JSON and
the aliases' titles of the edges at it."""

IndexEntry = tuple[str, int]
"""The entry as JSON, and the number of the node's own words."""


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
_rows = msgspec.msgpack.Decoder(list[NodeRow]).decode
_entries = msgspec.msgpack.Decoder(list[IndexEntry]).decode


MakeEntries = Callable[[Sequence[NodeRow]], Iterator[IndexEntry]]
"""Begins to make the entries of some nodes, and yields them in order."""


def entries_here(rows: Sequence[NodeRow]) -> Iterator[IndexEntry]:
    """Yields the entry of each node."""
    return map(_entry_of, rows)


@contextmanager
def entries_beside() -> Iterator[MakeEntries]:
    """Yields what has a second process make entries from the moment it is called. Whoever takes them makes those itself
    that the process has not begun by then."""
    with side_process(packed_entries) as helper:
        thread = ThreadPoolExecutor(1)  # so that nobody waits for the pipe

        def made(rows: Sequence[NodeRow]) -> Iterator[IndexEntry]:
            parts = [rows[first : first + ENTRIES_AT_ONCE] for first in range(0, len(rows), ENTRIES_AT_ONCE)]
            return _in_order(parts, [thread.submit(_made_there, helper, part) for part in parts])

        try:
            yield made
        finally:
            thread.shutdown(cancel_futures=True)


def _in_order(parts: Sequence[Sequence[NodeRow]], there: Sequence[Future[list[IndexEntry]]]) -> Iterator[IndexEntry]:
    here: dict[int, list[IndexEntry]] = {}
    begun_before = len(parts)
    for place, answer in enumerate(there):
        while not answer.done() and begun_before > place and there[begun_before - 1].cancel():
            begun_before -= 1
            here[begun_before] = list(entries_here(parts[begun_before]))
        yield from here.pop(place) if place in here else answer.result()


def _made_there(helper: SideProcess, rows: Sequence[NodeRow]) -> list[IndexEntry]:
    helper.ask(_pack(rows))
    answer = helper.answer()
    return list(entries_here(rows)) if answer is None else _entries(answer)


@without_cycles()
def packed_entries(content: bytes) -> bytes:
    """Returns the entries of encoded rows, encoded."""
    return _pack(list(entries_here(_rows(content))))


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
