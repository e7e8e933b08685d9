"""Reads edges of consecutive lines that differ by their ends alone, without parsing each line. Pure.

Most lines of a large file are edges, and those that were written together have all members in common but their ends. So
a line is compared with the one before it, as a text in which two values may differ.

Example: after `{"kind":"edge","source":"a","target":"b",...}`, the line `{"kind":"edge","source":"c","target":"d",...}`
states the same of c and d if the dots stand for the same text. Lines with ends that JSON escapes are parsed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import msgspec

from contracts.world.portable import EdgeRecord

_END = r"([ !#-\[\]-~]+)"
"""Characters that JSON does not escape: printable ASCII without the quote and the backslash."""


class EdgesAlike(msgspec.Struct, frozen=True, gc=False):
    """Edges that have one state each, without properties, and all in common but their ends."""

    record: EdgeRecord
    """An edge that is like them."""
    ends: list[tuple[str, str]]
    """The source and the target of each, which JSON does not escape."""
    line: int
    """The number of the first line."""

    @property
    def states(self) -> tuple[EdgeRecord]:
        """Returns the state that they share."""
        return (self.record,)

    def split(self, count: int) -> tuple[EdgesAlike, EdgesAlike | None]:
        """Returns the first `count` of them, and the others if there are any."""
        if len(self.ends) <= count:
            return self, None
        first = EdgesAlike(self.record, self.ends[:count], self.line)
        return first, EdgesAlike(self.record, self.ends[count:], self.line + count)

    def records(self) -> Iterator[EdgeRecord]:
        """Yields each edge."""
        for source, target in self.ends:
            yield msgspec.structs.replace(self.record, source=source, target=target)


class LinesAlike:
    """Recognises lines of edges that are like a first one."""

    def __init__(self, record: EdgeRecord, pattern: re.Pattern[str], *, target_first: bool) -> None:
        self._record = record
        self._pattern = pattern
        self._target_first = target_first

    def edges(self, lines: Sequence[bytes], number: int) -> EdgesAlike | None:
        """Returns the edges of these lines, the first of which has this number, or None unless all of them are like the
        first one."""
        if not all(line[-1:] == b"\n" for line in lines):
            return None
        text = b"".join(lines)
        if not text.isascii() or self._pattern.match(content := text.decode("ascii")) is None:
            return None
        # a match is one whole line: as many of them as there are lines are all
        ends = self._pattern.findall(content)
        if not len(ends) == len(lines) == content.count("\n"):
            return None
        if self._target_first:
            ends = [(source, target) for target, source in ends]
        return EdgesAlike(self._record, ends, number)


def lines_like(line: bytes, record: EdgeRecord) -> LinesAlike | None:
    """Returns what recognises lines like this one, of which `record` is the content, or None if it can't be told where
    its ends stand."""
    if not line.isascii() or line[-1:] != b"\n" or record.properties or not record.current:
        return None
    text = line.decode("ascii")
    places = [_place(text, name, value) for name, value in (("source", record.source), ("target", record.target))]
    if None in places or text.count("\n") != 1:
        return None
    (start, end), (later_start, later_end) = sorted(place for place in places if place is not None)
    around = text[:start], text[end:later_start], text[later_end:]
    pattern = re.compile("^" + _END.join(map(re.escape, around)), re.MULTILINE)
    return LinesAlike(record, pattern, target_first=places[0] == (later_start, later_end))


def _place(text: str, name: str, value: str) -> tuple[int, int] | None:
    """Returns where the value of a member stands, if only one place can be it: no text within JSON holds a quote that
    is not escaped, and a record without properties nests no object."""
    found = re.search(rf'"{name}"\s*:\s*"{_END}"', text)
    if found is None or found[1] != value or text.count(f'"{name}"') != 1:
        return None
    return found.span(1)
