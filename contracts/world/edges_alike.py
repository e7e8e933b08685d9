"""Reads consecutive edge lines that differ only in their ends, without parsing each line. Pure.

Most lines of a large file are edges, and edges written together have all members in common except their ends. So each
line is compared with a first one, as a text in which two values may differ.

Example: after `{"kind":"edge","source":"a","target":"b",...}`, the line `{"kind":"edge","source":"c","target":"d",...}`
states the same of c and d if the dots stand for the same text. Lines whose ends JSON escapes are parsed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import msgspec

from contracts.world.portable import EdgeRecord

_END = r"([ !#-\[\]-~]+)"
"""Characters that JSON does not escape: printable ASCII without the quote and the backslash."""


class EdgesAlike(msgspec.Struct, frozen=True, gc=False):
    """Edges with one state each and no properties, which differ only in their ends."""

    record: EdgeRecord
    """A record with the shared members."""
    ends: list[tuple[str, str]]
    """The source and target of each edge, which JSON does not escape."""
    line: int
    """The number of the first line."""

    @property
    def states(self) -> tuple[EdgeRecord]:
        """Returns the state that they share."""
        return (self.record,)

    def split(self, count: int) -> tuple[EdgesAlike, EdgesAlike | None]:
        """Returns the first `count` edges, and the others if there are any."""
        if len(self.ends) <= count:
            return self, None
        first = EdgesAlike(self.record, self.ends[:count], self.line)
        return first, EdgesAlike(self.record, self.ends[count:], self.line + count)

    def records(self) -> Iterator[EdgeRecord]:
        """Yields the record of each edge."""
        for source, target in self.ends:
            yield msgspec.structs.replace(self.record, source=source, target=target)


class LinesAlike:
    """Recognises edge lines that differ from a first line only in their ends."""

    def __init__(self, record: EdgeRecord, pattern: re.Pattern[str], *, target_first: bool) -> None:
        self._record = record
        self._pattern = pattern
        self._target_first = target_first

    def edges(self, lines: Sequence[bytes], number: int) -> EdgesAlike | None:
        """Returns the edges of these lines, of which the first has this number, or None unless every line matches."""
        if not all(line[-1:] == b"\n" for line in lines):
            return None
        text = b"".join(lines)
        if not text.isascii() or self._pattern.match(content := text.decode("ascii")) is None:
            return None
        # each match is a whole line, so as many matches as lines means that every line matched
        ends = self._pattern.findall(content)
        if not len(ends) == len(lines) == content.count("\n"):
            return None
        if self._target_first:
            ends = [(source, target) for target, source in ends]
        return EdgesAlike(self._record, ends, number)


def lines_like(line: bytes, record: EdgeRecord) -> LinesAlike | None:
    """Returns a recogniser of lines like this one, whose content is `record`, or None if the positions of its ends are
    ambiguous."""
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
    """Returns the span of a member's value, or None if more than one place could be it.

    No JSON string contains an unescaped quote, and a record without properties nests no object.
    """
    found = re.search(rf'"{name}"\s*:\s*"{_END}"', text)
    if found is None or found[1] != value or text.count(f'"{name}"') != 1:
        return None
    return found.span(1)
