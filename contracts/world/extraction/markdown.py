"""Splits Markdown and plain text into a flat sequence of blocks with offsets."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from markdown_it import MarkdownIt
from markdown_it.token import Token

from contracts.world.extraction.findings import Part
from contracts.world.extraction.outlines import as_markdown, fields_of, is_outline, planned_in
from contracts.world.extraction.yaml_texts import Composed, yaml_in

_LINE_END = re.compile(r"\r\n|\n|\r")
_CELL_END = re.compile(r"(?<!\\)\|")
_FRONT_MATTER = re.compile(r"---[ \t]*\r?\n(.*?)^(?:---|\.\.\.)[ \t]*$", re.DOTALL | re.MULTILINE)
_FIELD = re.compile(r"(?P<key>[^\s:#'\"\[\]{}-][^:\r\n]{0,80}?)\s*:(?:\s+(?P<value>.*)|$)")
_BLOCK_MARKS = frozenset({None, "", "|", "|-", "|+", ">", ">-", ">+"})
"""Signs after a key whose value is below it."""
_FLOW_ITEM = re.compile(r"[^\s,](?:[^,]*[^\s,])?")
_QUOTED = re.compile(r"\"[^\"]*\"|'[^']*'")
_DEEPEST = 20
_LONGEST_UNDERLINED = 120
_SENTENCE_ENDS = (".", ":", ";", ",", "\\")


@dataclass(frozen=True)
class Heading:
    """A heading of `level` 1 to 6. In an outline levels begin at 2, because its title is a field."""

    level: int
    part: Part


@dataclass(frozen=True)
class Entry:
    """A paragraph (`depth` 0) or the text of a list item, `depth` lists deep, with one part for each of its lines."""

    depth: int
    lines: tuple[Part, ...]


@dataclass(frozen=True)
class Field:
    """A key of the front matter, with its value or the values of its list. `nested` are the objects below it."""

    whole: Part
    key: Part
    values: tuple[Part, ...]
    nested: tuple[Composed, ...] | None = None


@dataclass(frozen=True)
class Table:
    """The cells of the header and of each row. Rows have as many cells as the header."""

    header: tuple[Part, ...]
    rows: tuple[tuple[Part, ...], ...]


Block: TypeAlias = Heading | Entry | Field | Table


def blocks_of(text: str) -> Iterator[Block]:
    """Yields the blocks of a Markdown text in order. Code, HTML and comments are not blocks."""
    body, front = _without_front_matter(text)
    if front is not None:
        yield from _fields(text, front)
    above = 0
    if is_outline(text):
        yield from (Field(whole, key, (value,)) for whole, key, value in fields_of(text))
        body, above = as_markdown(body), 1
    lines = list(_line_parts(body))
    tokens = _parser(has_code=not above).parse(body)
    depth = 0
    number = 0
    while number < len(tokens):
        token = tokens[number]
        if token.type == "list_item_open":
            depth += 1
        elif token.type == "list_item_close":
            depth -= 1
        elif token.type == "table_open":
            end = next(n for n in range(number, len(tokens)) if tokens[n].type == "table_close")
            yield _table(body, lines, tokens[number:end])
            number = end
        elif token.type == "inline":
            parts = tuple(_inline_parts(body, lines, token))
            opened = tokens[number - 1]
            if parts:
                is_heading = opened.type == "heading_open" and not _is_before_rule(body, opened, parts)
                if is_heading:
                    yield Heading(int(opened.tag[1]) + above, parts[0])
                else:
                    yield from _entries(body, depth, parts) if above else (Entry(depth, parts),)
        number += 1


def _is_before_rule(text: str, heading: Token, parts: Sequence[Part]) -> bool:
    """Decides whether a heading is meant as a paragraph before a rule, "---", without the empty line between them."""
    last = text[parts[-1].start : parts[-1].end]
    is_sentence = len(parts) > 1 or len(last) > _LONGEST_UNDERLINED or last.endswith(_SENTENCE_ENDS)
    return heading.markup in ("-", "=") and is_sentence


def _without_front_matter(text: str) -> tuple[str, Part | None]:
    """Returns the text with its byte order mark and front matter blanked, which preserves offsets, and the part of the
    front matter."""
    start = 1 if text.startswith("\ufeff") else 0
    front_matter = _FRONT_MATTER.match(text, start)
    if front_matter is None:
        return " " * start + text[start:], None
    blank = re.sub(r"[^\r\n]", " ", text[: front_matter.end()])
    return blank + text[front_matter.end() :], Part(front_matter.start(1), front_matter.end(1))


def _fields(text: str, front: Part) -> Iterator[Field | Entry]:
    """Yields each key of front matter with its value on the same line or indented below it, and lines without a key."""
    key: Part | None = None
    values: list[Part] = []
    end = front.start
    for line in _line_parts(text[front.start : front.end]):
        whole = Part(front.start + line.start, front.start + line.end)
        shown = whole.trimmed(text)
        if shown.start == shown.end or text[whole.start] == "#":
            continue
        is_item = text.startswith("- ", shown.start)
        if key is not None and (is_item or whole.start < shown.start):
            end = shown.end
            if is_item or not values:
                values.append(Part(shown.start + 2 * is_item, shown.end).trimmed(text))
            else:
                values[-1] = Part(values[-1].start, shown.end)
            continue
        if key is not None:
            yield _field(text, key, end, values)
        match = _FIELD.match(text, shown.start, shown.end)
        key = None if match is None else Part(*match.span("key"))
        if match is None:
            yield Entry(0, (shown,))
            continue
        end = shown.end
        values = [] if match["value"] in _BLOCK_MARKS else [Part(*match.span("value"))]
    if key is not None:
        yield _field(text, key, end, values)


def _field(text: str, key: Part, end: int, values: Sequence[Part]) -> Field:
    nested = yaml_in(text, Part(key.start, end), has_headings=False)
    if nested is not None:
        return Field(Part(key.start, end), key, tuple(values), tuple(nested))
    if len(values) == 1 and text[values[0].start] == "[" and text[values[0].end - 1] == "]":
        inner = Part(values[0].start + 1, values[0].end - 1)
        values = [Part(*match.span()).trimmed(text) for match in _FLOW_ITEM.finditer(text, *inner)]
    unquoted = (Part(value.start + 1, value.end - 1) if _QUOTED.fullmatch(text, *value) else value for value in values)
    return Field(Part(key.start, end), key, tuple(value for value in unquoted if value.start < value.end))


def _entries(text: str, depth: int, lines: tuple[Part, ...]) -> Iterator[Entry]:
    """Yields a paragraph of an outline, with the days in its first line as separate labelled lines."""
    planned = planned_in(text, lines[0])
    if planned:
        yield Entry(depth, tuple(planned))
    if rest := lines[1 if planned else 0 :]:
        yield Entry(depth, rest)


def _parser(*, has_code: bool) -> MarkdownIt:
    """Returns a parser of blocks. In an outline indented lines are not code."""
    parser = MarkdownIt("commonmark", {"html": False, "maxNesting": _DEEPEST}).enable("table")
    if not has_code:
        parser.disable("code")
    # inline markup is read from the text itself, which has the offsets
    parser.core.ruler.enableOnly(["normalize", "block"])
    return parser


def _line_parts(text: str) -> Iterator[Part]:
    start = 0
    for end in _LINE_END.finditer(text):
        yield Part(start, end.start())
        start = end.end()
    yield Part(start, len(text))


def _inline_parts(text: str, lines: Sequence[Part], token: Token) -> Iterator[Part]:
    first, _ = token.map or (0, 0)
    for offset, content in enumerate(token.content.split("\n")):
        wanted = content.strip()
        line = lines[first + offset]
        start = text.find(wanted, line.start, line.end)
        if wanted and start >= 0:
            yield Part(start, start + len(wanted))


def _table(text: str, lines: Sequence[Part], tokens: Sequence[Token]) -> Table:
    rows = [
        _cells(text, lines[token.map[0]], len(_cells_of(tokens, number)))
        for number, token in enumerate(tokens)
        if token.type == "tr_open" and token.map
    ]
    return Table(rows[0], tuple(rows[1:]))


def _cells_of(tokens: Sequence[Token], row: int) -> list[Token]:
    end = next(n for n in range(row, len(tokens)) if tokens[n].type == "tr_close")
    return [token for token in tokens[row:end] if token.type == "inline"]


def _cells(text: str, line: Part, count: int) -> tuple[Part, ...]:
    """Returns the cells of a line. Missing cells are empty parts at its end."""
    whole = line.trimmed(text)
    start = whole.start
    while start < whole.end and text[start] in "> ":
        start += 1
    if start < whole.end and text[start] == "|":
        start += 1
    ends = [match.start() for match in _CELL_END.finditer(text, start, whole.end)]
    if not ends or ends[-1] < whole.end - 1:
        ends.append(whole.end)
    starts = [start, *(end + 1 for end in ends)]
    cells = [Part(a, b).trimmed(text) for a, b in zip(starts, ends, strict=False)][:count]
    return (*cells, *[Part(whole.end, whole.end)] * (count - len(cells)))
