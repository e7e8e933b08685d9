"""Reads a whole Markdown or plain text, block by block.

Separate modules read headings, paragraphs, list items, labelled lines and messages. Quoted text, and text below a
heading that rejects it, states nothing and is stored as a passage.
"""

from __future__ import annotations

from itertools import zip_longest

from contracts.world.extraction.conversations import is_conversation, read_messages, repeated_labels, turn_in
from contracts.world.extraction.document_reading import Reading
from contracts.world.extraction.entries import read_entry
from contracts.world.extraction.findings import Part
from contracts.world.extraction.headings import read_heading
from contracts.world.extraction.inline_markup import plain
from contracts.world.extraction.labelled_lines import read_field
from contracts.world.extraction.labels import MOST_LABEL_WORDS
from contracts.world.extraction.markdown import Block, Entry, Field, Heading, Table, blocks_of
from contracts.world.extraction.mentions import scan
from contracts.world.extraction.objects import read_members
from contracts.world.extraction.outlines import is_outline
from contracts.world.extraction.passages import keep
from contracts.world.extraction.prose_context import ProseContext, Section
from contracts.world.extraction.quotations import Quotations, is_quoted_over_lines
from contracts.world.extraction.tables import read_table, whole_of
from contracts.world.extraction.titles import is_title_line, title_field, title_of
from contracts.world.extraction.vocabulary import NOTHING

_LISTED_BY_TITLE = frozenset({"Decision", "Task", "Risk", "Goal", "Principle"})
"""Types that a document can list according to its title: "Decision log"."""
_LISTED_BY_LINE = _LISTED_BY_TITLE | {"Person"}
"""Types that a list can contain according to the line above it, which is not a heading: "Next steps"."""


def read_prose(reading: Reading, title: str | None) -> None:
    """Reads a whole Markdown or plain text. `title` overrides the title in the text."""
    quotations = Quotations(reading.text)
    written = (block for whole in blocks_of(reading.written) for block in quotations.split(whole))
    heading, blocks = title_of(
        reading, [_without_struck(reading, block) for block in written], quotations, is_titled=title is not None
    )
    front_title = title_field(reading, blocks) if title is None and heading is None else None
    context = _begin(reading, title, heading, front_title, blocks)
    is_chat = is_conversation(reading, blocks)
    for block, following in zip_longest(blocks, blocks[1:]):
        match block:
            case Heading(_, part) if block is not heading and quotations.contains(part.start):
                context.keep_as_text(part)
            case Heading():
                read_heading(context, block, is_title=block is heading)
            case Table(rows=rows) if context.sections[-1].is_void or quotations.contains(
                rows[0][0].start if rows else 0
            ):
                for row in rows:
                    context.keep_as_text(whole_of(row))
            case Table():
                _read_table(context, block)
            case Field() if block is front_title:
                scan(reading, reading.root, block.whole)
            case Field(whole, nested=(_, *_) as documents):
                read_members(reading, documents)
            case Field(whole, nested=()):
                context.keep_as_text(whole)
            case Field():
                read_field(context, block)
            case Entry(_, lines) if (
                context.sections[-1].is_void
                or quotations.contains(lines[0].start)
                or is_quoted_over_lines(reading.text, lines)
            ):
                context.keep_as_text(Part(lines[0].start, lines[-1].end))
            case Entry(0, lines) if is_chat and any(turn_in(reading.text, line) for line in lines):
                context.below, context.items = None, []
                read_messages(context, lines)
            case Entry(0, (line,)) if isinstance(following, Entry) and following.depth and _announces(context, line):
                read_entry(context, block, announces=True)
            case Entry(depth):
                context.has_items = isinstance(following, Entry) and following.depth > depth > 0
                read_entry(context, block)


def _begin(
    reading: Reading, title: str | None, heading: Heading | None, front_title: Field | None, blocks: list[Block]
) -> ProseContext:
    """Adds the node of the document, and returns the context of its first block."""
    part = Part(0, len(reading.text)).trimmed(reading.text)
    if heading is not None:
        part = heading.part
    elif front_title is not None:
        part = front_title.values[0]
    is_named = heading is not None or front_title is not None
    reading.begin(title or (plain(reading.quote(part)) if is_named else reading.document), part)
    if title is not None and heading is not None:
        reading.describe(reading.root, "heading", reading.quote(part))
    line = "" if heading is None else plain(reading.quote(part))
    announced = None if heading is None else reading.vocabulary.announced(line)
    is_list = announced is not None and announced.many and announced.type in _LISTED_BY_TITLE
    is_void = reading.vocabulary.is_rejected(line) or reading.vocabulary.are_drafts(line)
    return ProseContext(
        reading,
        Section(0, reading.root, announced if is_list else None, is_void=is_void),
        line,
        repeated_labels(reading, blocks),
        is_outline=is_outline(reading.text),
    )


def _without_struck(reading: Reading, block: Block) -> Block:
    """Returns a block without its struck-through text, unless all of it is struck through."""
    match block:
        case Heading(level, part) if not reading.is_struck(part):
            return Heading(level, reading.shown(part))
        case Entry(depth, lines) if not reading.is_struck(Part(lines[0].start, lines[-1].end)):
            return Entry(depth, tuple(reading.shown(line) for line in lines if not reading.is_struck(line)))
        case Field(whole, key, values, None):
            return Field(whole, key, tuple(reading.shown(value) for value in values if not reading.is_struck(value)))
    return block


def _read_table(context: ProseContext, table: Table) -> None:
    """Reads the rows of a table, or stores them as passages if they list decisions that are not made."""
    reading = context.reading
    if not context.has_decisions() and any(_is_of_decisions(reading, cell) for cell in table.header):
        for row in table.rows:
            keep(reading, whole_of(row), context.node, context.section_path, has_decisions=False)
        return
    announced = context.announced
    read_table(reading, table.header, table.rows, context.node, announced and announced.type)


def _is_of_decisions(reading: Reading, cell: Part) -> bool:
    return reading.vocabulary.type_of(plain(reading.quote(cell))) == "Decision"


def _announces(context: ProseContext, line: Part) -> bool:
    """Decides whether a line before a list announces the type of its entries: "Next steps"."""
    text = plain(context.reading.quote(line))
    is_title = is_title_line(context.reading, line) and len(text.split()) <= MOST_LABEL_WORDS
    if is_title and context.announced_by_state(text) is not None:
        return True
    announced = context.announced_by(text) if is_title and text[:1].isupper() else None
    return announced == NOTHING or (announced is not None and announced.many and announced.type in _LISTED_BY_LINE)
