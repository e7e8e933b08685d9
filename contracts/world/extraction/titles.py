"""Finds the title of a text: its first heading, a first line that looks like one, or a field of the front matter."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import dropwhile

from contracts.world.extraction.conversations import TURN
from contracts.world.extraction.document_reading import Reading
from contracts.world.extraction.findings import Part
from contracts.world.extraction.inline_markup import plain
from contracts.world.extraction.labels import gives_detail, has_sentence_before_colon, is_known, label_of
from contracts.world.extraction.markdown import Block, Entry, Field, Heading
from contracts.world.extraction.quotations import Quotations

_LONGEST_TITLE_LINE = 80
_LONGEST_VALUE = 60
"""Maximum length of each value of a record: labelled lines directly below the title of a text."""
_MOST_TITLE_LINES = 3
"""Maximum number of lines between the title of a text and the labelled lines below it."""


def title_of(
    reading: Reading, blocks: list[Block], quotations: Quotations, *, is_titled: bool
) -> tuple[Heading | None, list[Block]]:
    """Returns the title, and the blocks with the title as a heading.

    The title is the first heading if that is of level 1, otherwise a first line that looks like a title, otherwise
    None. If the request gives a title (`is_titled`), the first line is a line like any other.
    """
    first = next((block for block in blocks if isinstance(block, Heading)), None)
    if first is not None and (reading.is_struck(first.part) or quotations.contains(first.part.start)):
        first = None
    if first is not None and first.level == 1:
        names_a_part = reading.vocabulary.names_a_part(plain(reading.quote(first.part)))
        return None if names_a_part else first, blocks
    match blocks:
        case [Entry(0, (line, *_)), *_] if quotations.contains(line.start):
            return None, blocks
        case [Entry(0, (line,)), *rest] if not is_titled and is_title_line(reading, line):
            title = Heading(1, line)
            return title, [title, *rest] if rest else blocks
        case [Entry(0, (line, *others)), *rest] if not is_titled and is_title_line(reading, line):
            fields = list(dropwhile(lambda other: is_title_line(reading, other), others))
            filled = [
                labelled
                for field in fields
                if (labelled := label_of(reading, field)) is not None and labelled.rest.start < labelled.rest.end
            ]
            is_record = len(filled) > 1 and all(field.rest.end - field.rest.start <= _LONGEST_VALUE for field in filled)
            is_head = len(filled) == len(fields) and (
                is_record or any(is_known(reading.vocabulary, field.head) for field in filled)
            )
            if len(others) - len(fields) <= _MOST_TITLE_LINES and is_head:
                title = Heading(1, line)
                between = tuple(others[: len(others) - len(fields)])
                return title, [title, *([Entry(0, between)] if between else []), Entry(0, tuple(fields)), *rest]
    return None, blocks


def is_title_line(reading: Reading, line: Part) -> bool:
    """Decides whether a line looks like a title: it is short, does not end like a sentence and has no label."""
    text = plain(reading.quote(line))
    is_short = 0 < len(text) <= _LONGEST_TITLE_LINE and text[-1] not in ".,;:!?"
    if text.startswith("[^") or has_sentence_before_colon(text) or gives_detail(reading.vocabulary, text):
        return False
    return is_short and label_of(reading, line) is None and TURN.match(text) is None


def title_field(reading: Reading, blocks: Sequence[Block]) -> Field | None:
    """Returns the title of the front matter, or None."""
    fields = {
        reading.quote(block.key).lower(): block
        for block in blocks
        if isinstance(block, Field) and len(block.values) == 1
    }
    return fields.get("title") or fields.get("subject")
