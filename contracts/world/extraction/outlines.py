"""Converts outlines of Org mode to Markdown without changing offsets.

A heading has as many stars as its level, and may begin with a state: "** TODO Call Bo". Lines such as "#+TITLE: Trip"
correspond to front matter. Drawers and code blocks are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from contracts.world.extraction.findings import Part

_HEAD = re.compile(
    r"#\+(?P<key>TITLE|AUTHOR|DATE|SUBTITLE|DESCRIPTION|FILETAGS|KEYWORDS):[ \t]*(?P<value>\S[^\r\n]*)?",
    re.IGNORECASE,
)
_OTHER = re.compile(r"#\+\w+|[ \t]*:[A-Za-z_-]+:(?:\s|$)|#(?:\s|$)")
_BEGINS = re.compile(r"[ \t]*(?:#\+BEGIN_(?P<block>\w+)|:(?:PROPERTIES|LOGBOOK):[ \t]*$)", re.I)
_ENDS = re.compile(r"[ \t]*(?:#\+END_\w+|:END:)", re.I)
_STARS = re.compile(r"\*+(?=[ \t])")
_SURE = re.compile(r"^(?:#\+(?:TITLE|AUTHOR|FILETAGS|STARTUP|OPTIONS):|\*{1,8} (?:TODO|DONE) )", re.MULTILINE)
_PROSE = frozenset({"quote", "verse", "center", "example_list"})

STATE = re.compile(r"(?P<state>TODO|NEXT|WAITING|DONE|CANCELLED)[ \t]+(?:\[#[A-Z]\][ \t]+)?(?=\S)")
"""The state of a task before its words."""

COMMENT = re.compile(r"(?:(?:TODO|NEXT|WAITING|DONE|CANCELLED)[ \t]+)?COMMENT\b")
"""The beginning of a heading that is excluded from the text, with everything below it."""


_QUOTES = re.compile(r"^[ \t]*#\+(?P<side>BEGIN|END)_QUOTE\b", re.MULTILINE | re.IGNORECASE)
_PLANNED = re.compile(r"(?:CLOSED|DEADLINE|SCHEDULED):[ \t]*[<\[][^<>\[\]\r\n]{1,80}[>\]]")
_PLANNING = re.compile(rf"(?:{_PLANNED.pattern}[ \t]*)+")


def planned_in(text: str, line: Part) -> list[Part]:
    """Returns each statement in a planning line: "CLOSED: [2026-02-01 Sun] DEADLINE: <2026-02-03 Tue>"."""
    if _PLANNING.fullmatch(text, *line) is None:
        return []
    return [Part(*match.span()) for match in _PLANNED.finditer(text, *line)]


def quotes_in(text: str) -> list[Part]:
    """Returns the quotations in an outline."""
    begins: int | None = None
    quotes: list[Part] = []
    for match in _QUOTES.finditer(text):
        if match["side"].upper() == "BEGIN":
            begins = match.start() if begins is None else begins
        elif begins is not None:
            quotes.append(Part(begins, match.end()))
            begins = None
    return quotes


def is_outline(text: str) -> bool:
    """Decides whether a text is an outline of Org mode, which has lines that no other form has."""
    return _SURE.search(text) is not None


def fields_of(text: str) -> Iterator[tuple[Part, Part, Part]]:
    """Yields the lines that describe the whole text: the line, its key and its value."""
    for line in re.finditer(r"^#\+[^\r\n]*", text, re.MULTILINE):
        match = _HEAD.match(text, line.start(), line.end())
        if match is not None and match["value"]:
            value = Part(*match.span("value")).trimmed(text)
            yield Part(match.start(), value.end), Part(*match.span("key")), value


def as_markdown(text: str) -> str:
    """Returns the text with Markdown's marks in place of Org mode's; every character keeps its offset."""
    lines = []
    is_hidden = False
    for line in text.splitlines(keepends=True):
        begins = _BEGINS.match(line)
        if is_hidden or begins is not None or _OTHER.match(line):
            is_prose = begins is not None and (begins["block"] or "").lower() in _PROSE
            is_hidden = (is_hidden or (begins is not None and not is_prose)) and not _ENDS.match(line)
            line = re.sub(r"[^\r\n]", " ", line)
        elif (stars := _STARS.match(line)) is not None:
            line = "#" * min(stars.end(), 6) + " " * (stars.end() - min(stars.end(), 6)) + line[stars.end() :]
        lines.append(line)
    return "".join(lines)
