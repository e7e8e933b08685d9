"""Holds the text of one document, and hides its struck text, which states nothing."""

from __future__ import annotations

from bisect import bisect_left, bisect_right

from contracts.world.extraction.findings import Part, Span
from contracts.world.extraction.struck import struck_in, without

_WIDEST_GAP = 20


class DocumentText:
    """The text of one document. Offsets are the same with and without what is struck through."""

    def __init__(self, document: str, text: str, *, has_marks: bool = True) -> None:
        self.document = document
        self.written = text
        """The text as it stands, with what is struck through."""
        self._struck = struck_in(text) if has_marks else []
        self.text = without(text, self._struck)
        self.doubles_quotes = False

    @property
    def has_struck(self) -> bool:
        """Returns whether anything is struck through."""
        return bool(self._struck)

    def span(self, part: Part) -> Span:
        """Returns a part of the text as a span."""
        return Span(self.document, part.start, part.end)

    def quote(self, part: Part) -> str:
        """Returns the text of a part."""
        return self.meant(self.text[part.start : part.end])

    def meant(self, text: str) -> str:
        """Returns a text as it is meant: in CSV a quote is doubled."""
        return text.replace('""', '"') if self.doubles_quotes else text

    def shown(self, part: Part) -> Part:
        """Returns a part without what is struck through at its ends; without anything if all of it is."""
        return part.trimmed(self.text) if self._struck else part

    def is_struck(self, part: Part) -> bool:
        """Decides whether a part has text, and all of it is struck through."""
        if not self._struck or self.text[part.start : part.end].strip():
            return False
        return bool(self.written[part.start : part.end].strip())

    def is_remark(self, part: Part) -> bool:
        """Decides whether a part may be a remark on struck text before it: "~~Call Bo~~ done"."""
        if not self._struck or self.with_struck(part).start == part.start:
            return False
        text = self.quote(part)
        return not text[:1].isupper() or len(text.split()) == 1

    def with_struck(self, part: Part) -> Part:
        """Returns a part with what is struck through directly before and behind it."""
        start, end = part
        number = bisect_right(self._struck, start, key=lambda struck: struck.end) - 1
        while number >= 0 and self._is_gap(self._struck[number].end, start):
            start = self._struck[number].start
            number -= 1
        number = bisect_left(self._struck, end, key=lambda struck: struck.start)
        while number < len(self._struck) and self._is_gap(end, self._struck[number].start):
            end = self._struck[number].end
            number += 1
        return Part(start, end)

    def _is_gap(self, start: int, end: int) -> bool:
        """Decides whether only a few spaces stand between two offsets."""
        return end - start <= _WIDEST_GAP and not self.written[start:end].strip(" \t")
