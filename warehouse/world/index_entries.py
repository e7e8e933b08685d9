"""Turns nodes into the entries of the full-text index, half of them in a second process if there are many."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from warehouse.cycles import without_cycles
from warehouse.world.side_process import SideProcess
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


def entries_of(rows: Sequence[NodeRow], helper: SideProcess | None) -> Iterator[IndexEntry]:
    """Yields the entry of each node in order. With a helper, which works on `packed_entries`, it makes every other
    part."""
    if helper is None:
        yield from map(_entry_of, rows)
        return
    parts = [rows[first : first + ENTRIES_AT_ONCE] for first in range(0, len(rows), ENTRIES_AT_ONCE)]
    made: list[IndexEntry] = []
    for place in range(0, len(parts), 2):
        helper.ask(_pack(parts[place]))
        yield from made  # while the helper works on the next ones
        ours = [_entry_of(row) for part in parts[place + 1 : place + 2] for row in part]
        answer = helper.answer()
        made = [*(map(_entry_of, parts[place]) if answer is None else _entries(answer)), *ours]
    yield from made


@without_cycles()
def packed_entries(content: bytes) -> bytes:
    """Returns the entries of encoded rows, encoded."""
    return _pack([_entry_of(row) for row in _rows(content)])


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
