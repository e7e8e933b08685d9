"""Reads rows and objects that consist of a subject, a predicate and an object: "Ada, likes, Bo".

The ends are resolved by name once the whole document has been read, so that they can be nodes that come later. A row
that denies or doubts its predicate, or has a value that may limit it, states nothing and is stored as a passage.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from contracts.world.extraction.dependencies import DOUBTFUL
from contracts.world.extraction.document_reading import Reading
from contracts.world.extraction.figures import MEASURED, is_figure
from contracts.world.extraction.findings import FoundNode, Part
from contracts.world.extraction.inline_markup import MENTION
from contracts.world.extraction.mentions import person_of_handle, scan
from contracts.world.extraction.passages import keep
from contracts.world.extraction.phrases import any_of
from contracts.world.extraction.predicates import End, Stated, tie_predicate
from contracts.world.extraction.vocabulary import Vocabulary, plain_words
from contracts.world.proposal import LONGEST_TITLE

_CASES = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|_")
_DENIES = re.compile(r"\b(?:used\sto|ne\s|n[’'](?!t\b))|(?<!\w)(?:ex|non|anti)-", re.IGNORECASE)
"""Words within a predicate, besides the negations, that deny or end it: "n'est plus", "used to like"."""
_POSSIBLY = re.compile(rf"\b(?:{any_of('possibly')})\b", re.IGNORECASE)
_LITERALS = frozenset({"true", "false", "yes", "no"})


class Columns(NamedTuple):
    """The numbers of the columns that hold the parts of a statement. Without a predicate its ends are just related."""

    subject: int
    predicate: int | None
    object: int
    types: tuple[int | None, int | None]
    """The columns with the types of the subject and of the object."""
    details: tuple[int, ...]
    """The columns with properties of a statement, which do not limit it."""
    others: tuple[int, ...]
    is_named: bool
    """True if a column has the name of a row, so that a row is a thing rather than a statement."""

    @property
    def are_statements(self) -> bool:
        """Decides whether each row is a statement."""
        return not self.is_named and (self.predicate is not None or not self.others)


def columns_of(vocabulary: Vocabulary, words: Sequence[str]) -> Columns | None:
    """Returns the columns of statements, given the words of all columns or keys; None if there is no pair of ends."""
    if vocabulary.statement_subjects.isdisjoint(words):
        return None
    for form in vocabulary.statements:
        subject, predicate, target = (
            next((words.index(word) for word in ordered if word in words), None)
            for ordered in (form.subject, form.predicate, form.object)
        )
        if subject is None or target is None or (predicate is None and not form.is_complete_without_predicate):
            continue
        types = tuple(
            next((number for number, word in enumerate(words) if word == f"{words[end]} type"), None)
            for end in (subject, target)
        )
        rest = [number for number in range(len(words)) if number not in (subject, predicate, target, *types)]
        details = [number for number in rest if words[number] in vocabulary.statement_details | vocabulary.numbers]
        others = [number for number in rest if number not in details]
        is_named = any(words[number] in vocabulary.names for number in others)
        return Columns(subject, predicate, target, (types[0], types[1]), tuple(details), tuple(others), is_named)
    return None


def read_triple(
    reading: Reading,
    columns: Columns,
    names: Sequence[str],
    values: Sequence[End | None],
    whole: Part,
    within: FoundNode,
    spelt: str | None = None,
) -> None:
    """Stores a statement for `resolve_triples`, or keeps it as a passage if it asserts nothing.

    `values` are those of all columns, with None for an empty one. `spelt` is the text of the passage if its spelling
    differs from the document's.
    """
    subject, target = values[columns.subject], values[columns.object]
    relation = None if columns.predicate is None else values[columns.predicate]
    predicate = "" if relation is None else relation.name
    details = _details(columns, names, values)
    is_asserted = columns.predicate is None or _is_asserted(reading.vocabulary, predicate)
    if (
        subject is None
        or target is None
        or details is None
        or not is_asserted
        or any(values[number] is not None for number in columns.others)
        or any(end.node is None and reading.vocabulary.names_nothing(end.name) for end in (subject, target))
    ):
        keep(reading, whole, within, None, spelt, stated_from=whole.end)
        return
    types = [
        None if number is None or (of_end := values[number]) is None else reading.vocabulary.type_of(of_end.name)
        for number in columns.types
    ]
    reading.triples.append(
        Stated(
            subject._replace(type=types[0]), predicate, target._replace(type=types[1]), details, whole, within, spelt
        )
    )
    reading.read_as("triple", whole)


def resolve_triples(reading: Reading) -> None:
    """Adds the edges of all stored statements. A figure as an object becomes a property of the subject."""
    for stated in reading.triples:
        subject, target = stated.subject, stated.object
        is_literal = target.node is None and _is_literal(target.name)
        is_done = not _is_literal(subject.name) or _known(reading, subject) is not None
        if is_done and is_literal and _known(reading, target) is None:
            is_done = bool(stated.predicate) and not stated.properties
            is_done = is_done and reading.describe(
                _node_of(reading, subject, stated.within), stated.predicate, target.name
            )
        elif is_done:
            source, node = (_node_of(reading, end, stated.within) for end in (subject, target))
            is_done = source.id != node.id and tie_predicate(
                reading.findings, source, node, stated.predicate, stated.properties, reading.span(stated.whole)
            )
        if not is_done:
            keep(reading, stated.whole, stated.within, None, stated.spelt, stated_from=stated.whole.end)


def _is_literal(name: str) -> bool:
    """Decides whether an object is a figure or a long text, which is not a name."""
    is_value = is_figure(name) or MEASURED.fullmatch(name) is not None or name.lower() in _LITERALS
    return is_value or len(name) > LONGEST_TITLE


def _is_asserted(vocabulary: Vocabulary, predicate: str) -> bool:
    """Decides whether a predicate says that something holds: "likes", not "is no longer the boss of" or "may like"."""
    spaced = _CASES.sub(" ", predicate)
    words = frozenset(plain_words(spaced).split())
    weak = vocabulary.denying | vocabulary.doubting | vocabulary.rejecting
    is_weak = any(pattern.search(spaced) for pattern in (_DENIES, _POSSIBLY, DOUBTFUL))
    return any(map(str.isalpha, spaced)) and not is_weak and not vocabulary.denies(spaced) and words.isdisjoint(weak)


def _details(columns: Columns, names: Sequence[str], values: Sequence[End | None]) -> dict[str, Any] | None:
    """Returns the properties of a statement, or None if its confidence is not one from 0 to 1."""
    details: dict[str, Any] = {}
    for number in columns.details:
        value = values[number]
        name = "_".join(plain_words(names[number]).replace("-", " ").split())
        if value is None or not name:
            continue
        details[name] = value.name
        if name == "confidence":
            if re.fullmatch(r"0(?:\.\d{1,17})?|1(?:\.0*)?", value.name) is None:
                return None
            details[name] = float(value.name)
    return details


def _known(reading: Reading, end: End) -> FoundNode | None:
    """Returns the node that an end names, if the document has it in another place."""
    if end.node is not None:
        return end.node
    person = reading.findings.known(reading.document, "Person", end.name)
    known = reading.node_called(end.name) or person
    return known if known is None or end.type in (None, known.type) else None


def _node_of(reading: Reading, end: End, within: FoundNode) -> FoundNode:
    known = _known(reading, end)
    if known is not None:
        known.spans += [span for span in [reading.span(end.part)] if span not in known.spans]
        return known
    if MENTION.fullmatch(end.name):
        return person_of_handle(reading, end.part)
    span = reading.span(end.part)
    node = reading.findings.refer("triple", reading.document, end.type or "Concept", end.name, [span])
    reading.findings.tie("triple", node, within, "PART_OF", span)
    scan(reading, node, end.part)
    return node
