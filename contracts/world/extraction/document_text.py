"""Holds the text of one document, and hides its comments and struck-through text, which state nothing."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right

from contracts.world.extraction.comments import comments_in
from contracts.world.extraction.findings import Part, Span
from contracts.world.extraction.struck import struck_in, without

_WIDEST_GAP = 20
_GAP = re.compile(r"(?<=\S)[ \t]{2,}(?=\S)")


class DocumentText:
    """The text of one document. Offsets are the same with and without comments and struck-through text."""

    def __init__(self, document: str, text: str, *, has_marks: bool = True, has_comments: bool = False) -> None:
        self.document = document
        self.given = text
        """The text as it was sent."""
        self.comments = comments_in(text) if has_comments else []
        self.written = without(text, self.comments)
        """The text without its comments, but with struck-through text."""
        self._struck = struck_in(self.written) if has_marks else []
        self.text = without(self.written, self._struck)
        self.doubles_quotes = False

    def joined(self, text: str) -> str:
        """Returns a piece of the text with one space in place of each comment or struck-through text."""
        return _GAP.sub(" ", text) if self._struck or self.comments else text

    def span(self, part: Part) -> Span:
        """Returns a part of the text as a span."""
        return Span(self.document, part.start, part.end)

    def quote(self, part: Part) -> str:
        """Returns the text of a part."""
        return self.meant(self.text[part.start : part.end])

    def meant(self, text: str) -> str:
        """Returns a text without the doubled quotes of CSV."""
        return text.replace('""', '"') if self.doubles_quotes else text

    def shown(self, part: Part) -> Part:
        """Returns a part without struck-through text at its ends; an empty part if all of it is struck through."""
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
        """Returns a part extended by the struck-through text directly before and after it."""
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
        """Decides whether there are only a few spaces between two offsets."""
        return end - start <= _WIDEST_GAP and not self.written[start:end].strip(" \t")
