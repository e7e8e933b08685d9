"""Splits Markdown and plain text into a flat sequence of blocks whose parts know their offsets."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from markdown_it import MarkdownIt
from markdown_it.token import Token

from contracts.world.extraction.findings import Part

_LINE_END = re.compile(r"\r\n|\n|\r")
_CELL_END = re.compile(r"(?<!\\)\|")
_FRONT_MATTER = re.compile(r"---[ \t]*\r?\n(.*?)^(?:---|\.\.\.)[ \t]*$", re.DOTALL | re.MULTILINE)
_DEEPEST = 20


@dataclass(frozen=True)
class Heading:
    """A heading; `level` 1 to 6."""

    level: int
    part: Part


@dataclass(frozen=True)
class Entry:
    """A paragraph (`depth` 0) or the text of a list item, `depth` lists deep, with one part for each of its lines."""

    depth: int
    lines: tuple[Part, ...]


@dataclass(frozen=True)
class Table:
    """Cells of the header and of each row. Rows have as many cells as the header."""

    header: tuple[Part, ...]
    rows: tuple[tuple[Part, ...], ...]


Block: TypeAlias = Heading | Entry | Table


def blocks_of(text: str) -> Iterator[Block]:
    """Yields the blocks of a Markdown text in order. Code, HTML and comments are not blocks."""
    body, front = _without_front_matter(text)
    if front is not None:
        yield Entry(0, tuple(_lines_within(text, front)))
    lines = list(_line_parts(body))
    tokens = _parser().parse(body)
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
                is_heading = opened.type == "heading_open"
                yield Heading(int(opened.tag[1]), parts[0]) if is_heading else Entry(depth, parts)
        number += 1


def _without_front_matter(text: str) -> tuple[str, Part | None]:
    """Returns the text with its front matter blanked, which keeps the offsets, and the part of the front matter."""
    front_matter = _FRONT_MATTER.match(text)
    if front_matter is None:
        return text, None
    return re.sub(r"[^\r\n]", " ", front_matter[0]) + text[front_matter.end() :], Part(
        front_matter.start(1), front_matter.end(1)
    )


def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "maxNesting": _DEEPEST}).enable("table")
    # Inline markup is read from the text itself, which has the offsets.
    parser.core.ruler.enableOnly(["normalize", "block"])
    return parser


def _line_parts(text: str) -> Iterator[Part]:
    start = 0
    for end in _LINE_END.finditer(text):
        yield Part(start, end.start())
        start = end.end()
    yield Part(start, len(text))


def _lines_within(text: str, part: Part) -> Iterator[Part]:
    for line in _line_parts(text[part.start : part.end]):
        trimmed = Part(part.start + line.start, part.start + line.end).trimmed(text)
        if trimmed.start < trimmed.end:
            yield trimmed


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
