"""Finds the quotations in a text, and the older mail that it answers, which are not the writer's statements. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

from contracts.world.extraction.findings import Part
from contracts.world.extraction.mails import older_mail_in
from contracts.world.extraction.markdown import Block, Entry
from contracts.world.extraction.outlines import is_outline, quotes_in

_QUOTE = re.compile(r"[ \t]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*>")
"""The beginning of a quoted line."""
_LONGEST_MARKS = 1_000
"""Maximum number of characters before the text of a quoted line."""
_QUOTATION = re.compile(
    r"[*_]{0,3}(?P<quoted>\"[^\"]{1,1000}(?:\"|$)|[“”„][^“”]{1,1000}(?:[“”]|$)|«[^»]{1,1000}(?:»|$)|»[^«]{1,1000}(?:«|$)"
    r"|[‘‚](?=\w).{1,1000}?(?:[’‘](?!\w)|$)|'(?=\w).{1,1000}?'(?!\w)|‹[^›]{1,1000}(?:›|$)"
    r"|[「『][^」』]{1,1000}(?:[」』]|$))(?P<label>[*_]{0,3}\s*(?::|[–—]\s|-\s))?",
    re.DOTALL,
)
"""A quotation at the beginning of an entry. One before a colon or a dash is a label: "“Tender” - an offer"."""


class Quotations:
    """The parts of a text that consist of quoted lines or belong to a mail that the text answers or forwards."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._quotes = quotes_in(text) if is_outline(text) else []
        self._older = older_mail_in(text)

    def contains(self, start: int) -> bool:
        """Decides whether the text at an offset is quoted."""
        if start >= self._older or any(quote.start <= start < quote.end for quote in self._quotes):
            return True
        line = max(self._text.rfind(end, max(0, start - _LONGEST_MARKS), start) for end in "\r\n") + 1
        return (line > 0 or start < _LONGEST_MARKS) and _QUOTE.match(self._text, line, start) is not None

    def split(self, block: Block) -> Iterator[Block]:
        """Yields a block, or two blocks if an older mail begins within it."""
        older = self._older
        if isinstance(block, Entry) and block.lines[0].start < older <= block.lines[-1].start:
            yield Entry(block.depth, tuple(line for line in block.lines if line.start < older))
            yield Entry(block.depth, tuple(line for line in block.lines if line.start >= older))
        else:
            yield block


def quotation_at_start(text: str, part: Part) -> Part | None:
    """Returns the quotation at the beginning of a part, or None. "“Tender”: an offer" begins with a label."""
    quotation = _QUOTATION.match(text, part.start, part.end)
    if quotation is None or (quotation["label"] is not None and ":" not in quotation["quoted"]):
        return None
    return Part(*quotation.span("quoted"))


def is_quoted_over_lines(text: str, lines: tuple[Part, ...]) -> bool:
    """Decides whether an entry begins with a quotation that spans several lines."""
    quotation = quotation_at_start(text, Part(lines[0].start, lines[-1].end))
    return quotation is not None and quotation.end > lines[0].end
