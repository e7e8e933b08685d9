"""A faulty line is refused alike wherever it is: lines after the first few hundred are decoded in bulk."""

from __future__ import annotations

import re

import pytest

from contracts.errors import ImportInvalid
from contracts.world.edges_alike import EdgesAlike
from contracts.world.import_file import ImportedEdge, ImportedNode, each_edge, read_import
from contracts.world.portable import EdgeRecord, EndRecord, Header, NodeRecord, line_of

HEADER = line_of(Header())
NODE = line_of(NodeRecord(id="n", type="Goal", title="A title", source="a file"))
EDGE = line_of(EdgeRecord(source="n", target="m", type="PART_OF", stated_in="a file"))
MANY = 1_500
NUMBER = re.compile(r"\d[\d,]*")

FAULTY: dict[str, list[bytes]] = {
    "no JSON": [b"{]}\n"],
    "an unknown field": [b'{"kind":"node","id":"n","type":"Goal","title":"t","source":"s","more":1}\n'],
    "an empty line": [b"\n"],
    "two records in a line and one in none": [EDGE.strip() + EDGE, b"\n"],
    "two records in a line and one in two": [EDGE.strip() + EDGE, EDGE[:10] + b"\n", EDGE[10:]],
    "a record in two lines": [EDGE.replace(b",", b"\n,", 1)[: EDGE.index(b",") + 1], EDGE[EDGE.index(b",") :]],
    "a second header": [HEADER],
    "an ontology": [b'{"kind":"ontology","words":{}}\n'],
    "a time without an offset": [NODE.replace(b'"validFrom":null', b'"validFrom":"2026-01-01T00:00:00"')],
    "a line that is too long": [NODE.replace(b"A title", b"t" * (1 << 20))],
    "a state that another one follows": [NODE.replace(b'"current":true', b'"current":false'), EDGE],
    "no end": [],
    "an end that counts wrongly": [line_of(EndRecord(lines=7))],
}


def problem_of(lines: list[bytes]) -> str:
    with pytest.raises(ImportInvalid) as refused:
        list(read_import(lines))
    return str(refused.value.detail)


def line_named(problem: str) -> int:
    return int(NUMBER.findall(problem)[0].replace(",", ""))


def behind(count: int, faulty: list[bytes]) -> list[bytes]:
    return [HEADER, *([NODE] * count), *faulty]


@pytest.mark.parametrize("name", FAULTY)
def test_a_faulty_line_is_refused_alike_after_two_lines_and_after_many(name: str) -> None:
    faulty = [*FAULTY[name], EDGE] if FAULTY[name] else []
    first, later = (problem_of(behind(count, faulty)) for count in (2, MANY))
    assert NUMBER.sub("N", first) == NUMBER.sub("N", later)
    assert line_named(later) - line_named(first) == MANY - 2


@pytest.mark.parametrize("count", [2, 498, 499, 500, MANY])
@pytest.mark.parametrize("following", [b"no JSON\n", NODE, b"\n"])
def test_nothing_follows_the_end(count: int, following: bytes) -> None:
    whole = behind(count, [line_of(EndRecord(lines=count + 1))])
    assert len(list(read_import(whole))) == count
    assert problem_of([*whole, following]) == f"Line {count + 3:,} follows the end."


def test_a_byte_order_mark_before_the_header_is_no_part_of_it() -> None:
    marked, *rest = behind(2, [line_of(EndRecord(lines=3))])
    assert len(list(read_import([b"\xef\xbb\xbf" + marked, *rest]))) == 2
    assert line_named(problem_of([marked, b"\xef\xbb\xbf" + NODE])) == 2


@pytest.mark.parametrize("count", [2, MANY])
def test_the_last_value_of_a_repeated_name_in_a_line_counts(count: int) -> None:
    twice = b'{"kind":"node","id":"n","type":"Goal","title":"A","title":"B","source":"s","properties":{"p":1,"p":2}}\n'
    *_, last = read_import(behind(count, [twice, line_of(EndRecord(lines=count + 2))]))
    assert isinstance(last, ImportedNode)
    assert (last.states[-1].title, last.states[-1].properties) == ("B", {"p": 2})


@pytest.mark.parametrize("count", [2, MANY])
def test_the_last_value_of_a_repeated_name_counts_for_edges_read_in_bulk_or_one_by_one(count: int) -> None:
    twice = b'{"kind":"edge","source":"n","target":"x","target":"m","type":"PART_OF","statedIn":"s"}\n'
    lines = [HEADER, *([twice] * count), line_of(EndRecord(lines=count + 1))]
    edges = [
        edge for item in read_import(lines) if isinstance(item, ImportedEdge | EdgesAlike) for edge in each_edge(item)
    ]
    assert len(edges) == count
    assert {edge.states[-1].target for edge in edges} == {"m"}
