"""Stores prose as passages with their spans, and collects statements that their sentences make in known forms."""

from __future__ import annotations

import re
from itertools import islice

from contracts.world.extraction.commitments import commitments_in
from contracts.world.extraction.decisions import decided_in
from contracts.world.extraction.dependencies import depends_in, waits_in
from contracts.world.extraction.document_reading import Reading
from contracts.world.extraction.figures import dates_in
from contracts.world.extraction.findings import LONGEST_TEXT, FoundNode, Part, clean_text, is_within
from contracts.world.extraction.inline_markup import is_only_tags, plain
from contracts.world.extraction.mentions import scan
from contracts.world.extraction.segmentation import passages_of
from contracts.world.proposal import LONGEST_TITLE
from contracts.world.text import is_blank

MOST_DEPENDENCIES = 200
"""Maximum number of sentences "X depends on Y" per document: the first ones."""
MOST_COMMITMENTS = 200
"""Maximum number of sentences per document that give somebody a task with a due date: the first ones."""
_QUOTATION = re.compile(
    r"(?<![\w\"])\"(?=\S)[^\"]{1,1000}(?<=\S)\"(?!\w)|“[^“”]{1,1000}”|„[^“”„]{1,1000}[“”]|«[^«»]{1,1000}»|»[^«»]{1,1000}«"
)
"""A quotation within a sentence: "Ruth wrote: “We decided to sail.”"."""


def keep(
    reading: Reading,
    part: Part,
    within: FoundNode,
    section: str | None,
    spelt: str | None = None,
    *,
    stated_from: int | None = None,
    has_decisions: bool = True,
) -> FoundNode | None:
    """Stores a paragraph as a passage, or a long one as several, each of some sentences. Returns the first.

    `spelt` is the unescaped text of a part that is written with escapes. Only sentences from the offset `stated_from`
    on, if it is given, state something, and they state no decisions unless `has_decisions` is True.
    """
    first = None
    part = reading.with_struck(part)
    pieces = [part] if spelt is not None and len(spelt) <= LONGEST_TEXT else passages_of(reading.written, part)
    for piece in pieces:
        written = reading.meant(reading.written[piece.start : piece.end])
        if reading.comments:
            written = reading.joined(written)
        text = clean_text(spelt if spelt is not None and piece is part else written).strip()
        if is_blank(text) or is_only_tags(text):
            continue
        title = plain(text[:LONGEST_TITLE])
        if len(text) > LONGEST_TITLE:
            title = f"{title[: LONGEST_TITLE - 1].rstrip()}…"
        node = reading.findings.add("passage", reading.document, "Passage", title, [reading.span(piece)])
        reading.findings.tie("passage", node, within, "PART_OF", reading.span(piece))
        node.properties["text"] = text
        if section is not None:
            node.properties["section"] = section
        scan(reading, node, piece, stated_from=stated_from or 0)
        stated = Part(max(piece.start, min(stated_from or 0, piece.end)), piece.end)
        _collect_sentences(reading, node, stated, has_decisions=has_decisions)
        first = first or node
    return first


def _collect_sentences(reading: Reading, node: FoundNode, part: Part, *, has_decisions: bool) -> None:
    """Adds the decisions that a passage reports, and stores its dependencies and commitments for `references`."""
    quoted = [Part(*match.span()) for match in _QUOTATION.finditer(reading.text, *part)]
    for decided in decided_in(reading.text, part) if has_decisions else ():
        if is_within(quoted, decided.what.start):
            continue
        decision = reading.add("decided", "Decision", decided.what, node)
        if decided.when is not None and (days := [day for day, _ in dates_in(reading.text, decided.when)]):
            decision.properties["dates"] = days
        if decided.why is not None:
            reading.findings.describe(decision, "rationale", clean_text(plain(reading.quote(decided.why))))
    room = MOST_DEPENDENCIES - len(reading.dependencies)
    reading.dependencies += islice(depends_in(reading.text, part), room)
    reading.waits += islice(waits_in(reading.text, part), MOST_DEPENDENCIES - len(reading.waits))
    room = MOST_COMMITMENTS - len(reading.commitments)
    commitments = (found for found in commitments_in(reading.text, part) if not is_within(quoted, found.who.start))
    reading.commitments += [(node, found) for found in islice(commitments, room)]
