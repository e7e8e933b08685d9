"""Recognises the turns of a conversation by their speakers, and stores each message as a passage."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from contracts.world.extraction.decisions import is_joke
from contracts.world.extraction.document_reading import Reading
from contracts.world.extraction.findings import Part
from contracts.world.extraction.labels import is_known, label_of
from contracts.world.extraction.markdown import Block, Entry, Heading
from contracts.world.extraction.mentions import mention
from contracts.world.extraction.parties import names_people
from contracts.world.extraction.passages import keep
from contracts.world.extraction.prose_context import ProseContext

_CLOCK = r"\d{1,2}:\d\d(?::\d\d)?(?:[ \u202f]?[AaPp]\.?[Mm]\.?)?"
TURN = re.compile(
    r"\[?(?:\d{4}-\d\d-\d\d|\d{1,2}[./]\d{1,2}[./](?:\d{4}|\d\d))?,?[ T]{0,2}"
    rf"{_CLOCK}\]?(?: - | {{1,3}}|: )"
    r"<?(?P<name>[^\s:<>\[\]|][^:<>\[\]|\n]{0,39})>?(?P<colon>:(?:\s|$)|$)"
)
"""The time and the speaker before a message: "[2026-03-02 10:04] Ada: hello", or on a line above it."""
_LEVEL = re.compile(r"[A-Z]{4,}")
"""A log level between time and message, as in "INFO". Logs have no speakers."""
_FEWEST_TURNS = 3
_MOST_BETWEEN = 4
"""Number of messages within which a speaker may take one back."""


def repeated_labels(reading: Reading, blocks: Sequence[Block]) -> frozenset[tuple[int, str]]:
    """Returns the labels of speakers, each with its section's number: labels that announce nothing and are repeated."""
    seen: set[tuple[int, str]] = set()
    repeated: set[tuple[int, str]] = set()
    section = 0
    for block in blocks:
        if isinstance(block, Heading):
            section += 1
        elif isinstance(block, Entry) and block.depth == 0:
            for line in block.lines:
                labelled = label_of(reading, line)
                if labelled is not None and not is_known(reading.vocabulary, labelled.head):
                    key = (section, labelled.label.casefold())
                    (repeated if key in seen else seen).add(key)
    return frozenset(repeated)


def turn_in(text: str, line: Part) -> re.Match[str] | None:
    """Matches the time and the speaker at the beginning of a line."""
    return TURN.match(text, line.start, line.end)


def is_conversation(reading: Reading, blocks: Sequence[Block]) -> bool:
    """Decides whether the text is a record of messages: most are from people who wrote several."""
    turns = [
        turn["name"]
        for block in blocks
        if isinstance(block, Entry) and block.depth == 0
        for line in block.lines
        if (turn := turn_in(reading.text, line)) is not None and not _LEVEL.fullmatch(turn["name"])
    ]
    names = Counter(turns)
    return len(turns) >= _FEWEST_TURNS and 2 * sum(count for count in names.values() if count > 1) >= len(turns)


def read_messages(context: ProseContext, lines: tuple[Part, ...]) -> None:
    """Stores each message as a passage, which mentions its author if the full name is given."""
    reading = context.reading
    starts = sorted({0, *(number for number, line in enumerate(lines) if turn_in(reading.text, line) is not None)})
    messages = [Part(lines[first].start, lines[end - 1].end) for first, end in pairwise([*starts, len(lines)])]
    turns = [turn_in(reading.text, lines[first]) for first in starts]
    for number, (part, turn) in enumerate(zip(messages, turns, strict=True)):
        stated_from = None if turn is None else turn.end()
        if turn is not None and _is_taken_back(reading, turn, messages[number + 1 :], turns[number + 1 :]):
            stated_from = part.end
        passage = keep(reading, part, context.node, context.section_path, stated_from=stated_from)
        name = None if turn is None else Part(*turn.span("name")).trimmed(reading.text)
        if passage is not None and name is not None and names_people(reading, name):
            mention(reading, "turn", passage, name)


def _is_taken_back(
    reading: Reading, turn: re.Match[str], messages: Sequence[Part], turns: Sequence[re.Match[str] | None]
) -> bool:
    """Decides whether the next message of the same speaker only says that this one is a joke."""
    following = (
        reading.text[other.end() : message.end]
        for message, other in zip(messages[:_MOST_BETWEEN], turns, strict=False)
        if other is not None and other["name"] == turn["name"]
    )
    return is_joke(next(following, ""))
