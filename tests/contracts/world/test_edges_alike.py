"""Edges read in bulk equal those that would be read one by one."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from contracts.errors import ImportInvalid
from contracts.world import import_file
from contracts.world.edges_alike import EdgesAlike, lines_like
from contracts.world.import_file import ImportedEdge, read_import
from contracts.world.portable import EdgeRecord, EndRecord, Header, line_of

EDGE = EdgeRecord(source="a", target="b", type="PART_OF", stated_in="a file")


def written(compact: bool = False, **members: Any) -> bytes:
    """Returns a line of an edge with members in this order, as another program writes it."""
    edge = {"kind": "edge", "source": "a", "target": "b", "type": "PART_OF", "statedIn": "a file", **members}
    return json.dumps(edge, separators=(",", ":") if compact else None, ensure_ascii=False).encode() + b"\n"


def edges_of(lines: list[bytes]) -> list[tuple[int, EdgeRecord]] | str:
    """Returns each edge of a file with its line, or the file's fault."""
    edges: list[tuple[int, EdgeRecord]] = []
    try:
        for item in read_import(lines):
            if isinstance(item, EdgesAlike):
                edges += enumerate(item.records(), item.line)
            elif isinstance(item, ImportedEdge):
                edges += [(item.line, state) for state in item.states]
    except ImportInvalid as refused:
        return refused.detail
    return edges


TWICE = b'{"kind":"edge","source":"a","source":"a","target":"t","type":"PART_OF","statedIn":"s"}\n'
TWICE_ESCAPED = TWICE.replace(b'"source":"a","source":"a"', b'"source":"a","s\\u006furce":"z"')

ids = st.sampled_from(["a", "b", "n:1", "two words", 'a "quote"', "back\\slash", "Ä", "", "source", '","source":"c'])
LINES = st.one_of(
    st.builds(written, source=ids, target=ids),
    st.builds(written, st.just(True), source=ids, target=ids),
    st.builds(lambda s, t: line_of(EdgeRecord(source=s, target=t, type="PART_OF", stated_in="a file")), ids, ids),
    st.sampled_from(
        [
            written(type="source"),
            written(properties={"source": "x", "target": "y"}),
            written(statedIn='"source":"a"'),
            written(current=False),
            written(recordedAt="2026-01-01T02:00:00+02:00"),
            written(validFrom="yesterday"),
            written(more=1),
            b'{"kind":"edge","source":"a","source":"b","target":"c","type":"PART_OF","statedIn":"s"}\n',
            b'{"kind":"edge","target":"a","source":"b","type":"PART_OF","statedIn":"s"}\n',
            b'{"kind":"edge","target":"c","source":"d","type":"PART_OF","statedIn":"s"}\n',
            b'{"kind":"node","id":"n","type":"Goal","title":"t","source":"a"}\n',
            written().strip(),
            b" " + written(),
            b"x" + written(),
            written() + written(),
            b"\n",
            b"no JSON\n",
        ]
    ),
)


@given(st.lists(LINES | st.just(written()), max_size=12), st.integers(1, 4))
@example([written(), written(), written(source="c"), written() + written(), b"\n"], 2)
@example([written(), b"", written() + written()], 2)
@example([written(source="a", target="a"), written(source="c", target="a")], 1)
@example([TWICE, TWICE.replace(b'"a"', b'"c"', 1)], 1)
@example([TWICE_ESCAPED, TWICE_ESCAPED.replace(b'"a"', b'"c"', 1)], 1)
@example([written(), written(), b"x" + written()], 2)
def test_edges_are_the_same_however_many_lines_are_read_at_once(lines: list[bytes], at_once: int) -> None:
    whole = [line_of(Header()), *lines, line_of(EndRecord(lines=1 + len(lines)))]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(import_file, "_LINES_AT_ONCE", at_once)
        many = edges_of(whole)
        patch.setattr(import_file, "_lines_like", lambda line: None)
        assert many == edges_of(whole)


def test_many_lines_are_read_as_one_item() -> None:
    lines = [written(source=f"n{number}", target=f"n{number + 1}") for number in range(1_200)]
    items = list(read_import([line_of(Header()), *lines, line_of(EndRecord(lines=1_201))]))
    alike = [item for item in items if isinstance(item, EdgesAlike)]
    assert [(item.line, len(item.ends)) for item in alike] == [(501, 500)]
    assert alike[0].ends[:2] == [("n499", "n500"), ("n500", "n501")]


@pytest.mark.parametrize(
    ("first", "like", "unlike"),
    [
        (written(), written(source="c", target="d"), written(type="INFORMED_BY")),
        (written(compact=True), written(compact=True, target="a b"), written()),
        (line_of(EDGE), line_of(EdgeRecord(source="b", target="a", type="PART_OF", stated_in="a file")), written()),
        (written(), written(source="c:#/@"), written(source='c"')),
        (written(), written(), written().strip()),
        (written(), written(), written() + written()),
    ],
)
def test_lines_are_alike_if_only_their_ends_differ(first: bytes, like: bytes, unlike: bytes) -> None:
    alike = lines_like(first, EDGE)
    assert alike is not None
    assert alike.edges([first, like], 7) is not None
    assert alike.edges([first, unlike], 7) is None
    assert alike.edges([unlike, first], 7) is None


@pytest.mark.parametrize(
    ("line", "edge"),
    [
        (line_of(edge), edge)
        for edge in (
            EdgeRecord(source="a", target="b", type="PART_OF", stated_in="s", current=False),
            EdgeRecord(source="a", target="b", type="PART_OF", stated_in="s", properties={"share": 0.5}),
            EdgeRecord(source='"', target="b", type="PART_OF", stated_in="s"),
            EdgeRecord(source="a", target="b", type="PART_OF", stated_in="Ä"),
            EdgeRecord(source="a", target="b", type="source", stated_in="s"),
        )
    ],
)
def test_an_edge_with_more_members_than_its_ends_is_read_on_its_own(line: bytes, edge: EdgeRecord) -> None:
    assert lines_like(line, edge) is None


def test_a_part_of_edges_is_cut_where_it_is_full() -> None:
    edges = EdgesAlike(EDGE, [("a", "b"), ("c", "d"), ("e", "f")], 10)
    first, left = edges.split(2)
    assert (first, left) == (EdgesAlike(EDGE, edges.ends[:2], 10), EdgesAlike(EDGE, edges.ends[2:], 12))
    assert edges.split(3) == (edges, None)
