"""Resolves the references of a document by name, after all of it has been read.

The difficulty is that a text may use a name before it introduces it. Example:

    ## Tasks
    - Build the parser
      - depends on: Design

    ## Design

`relate` can't resolve "Design" when it reads the list, so it stores the reference. `resolve_references` resolves all
references once every name is known, and adds the edge from the task to the heading's node. If no node has the name, a
relation with a target type makes a node from the sentence; otherwise the text becomes a property of the task. Names of
people and teams need not wait, because a name denotes the same node in the whole document.
"""

from __future__ import annotations

import re

from contracts.world.extraction.commitments import Commitment
from contracts.world.extraction.dependencies import Depends
from contracts.world.extraction.document_reading import Reading
from contracts.world.extraction.findings import FoundNode, Part
from contracts.world.extraction.inline_markup import WIKILINK, plain
from contracts.world.extraction.mentions import linked_note, mention_people
from contracts.world.extraction.parties import BETWEEN_NAMES
from contracts.world.extraction.relations import add_edge, assign, keep_value
from contracts.world.extraction.segmentation import elements_of, first_sentence
from contracts.world.extraction.triples import resolve_triples
from contracts.world.extraction.vocabulary import Relation, load_vocabulary

_PROPER_WORD = r"(?:[A-Z][/&](?=[A-Z0-9]))?[A-Z0-9][\w.’'-]{0,40}(?:&[A-Z][\w-]{0,40})?"
_PROPER = re.compile(rf"{_PROPER_WORD}(?:\s{_PROPER_WORD}){{0,3}}")


def resolve_references(reading: Reading) -> None:
    """Adds the edges of all stored references."""
    for subject, relation, label, part, title in reading.open_relations:
        parts = [part] if reading.named(part) else elements_of(reading.text, part, BETWEEN_NAMES)
        named = [
            (name_part, node)
            for name_part in parts
            if (node := reading.named(name_part) or _proper(reading, name_part, relation)) is not None
        ]
        for name_part, node in named:
            add_edge(reading, subject, node, relation, name_part, label)
        if len(named) < len(parts) and (named or relation.to is None or reading.names_nothing(part)):
            keep_value(reading, subject, label, part, title)
        elif not named and relation.to is not None:
            sentence = first_sentence(reading.text, part)
            node = reading.add("relation", relation.to, sentence, reading.root, title)
            add_edge(reading, subject, node, relation, sentence, label)
    resolve_triples(reading)
    for depends in reading.dependencies:
        source, target = _ends_of(reading, depends)
        if source is not None and target is not None:
            _add_dependency(reading, source, target)
    for waits in reading.waits:
        _add_dependency(reading, waits.what, waits.on)
    mention_people(reading)
    for task, name in reading.assigned:
        if (person := reading.person_at(name, is_full=True)) is not None:
            assign(reading, task, person, name)
    for node, commitment in reading.commitments:
        _add_commitment(reading, node, commitment)


def _ends_of(reading: Reading, depends: Depends) -> tuple[Part | None, Part | None]:
    """Returns the names on both sides of "depends on", each None if that side has no name."""
    source, target = (
        next((part for part in parts if reading.named(part) or _is_proper(reading.quote(part))), None)
        for parts in (depends.before, depends.after)
    )
    if source is not None and target is None and reading.named(source) is not None:
        target = depends.definite
    return source, target


def _add_dependency(reading: Reading, source: Part, target: Part) -> None:
    """Adds the edge from a thing to another one on which it depends, unless there is one already."""
    subject, resource = (
        reading.named(part)
        or reading.findings.refer("depends_on", reading.document, to, plain(reading.quote(part)), [reading.span(part)])
        for part, to in ((source, "Concept"), (target, "Resource"))
    )
    span = reading.span(Part(source.start, target.end))
    reading.findings.tie("depends_on", subject, resource, "DEPENDS_ON", span)


def _add_commitment(reading: Reading, node: FoundNode, commitment: Commitment) -> None:
    """Adds the task that a sentence gives to a person of the document, or to a party of a contract."""
    person = None if commitment.is_party else reading.person_at(commitment.who, is_full=False)
    if person is not None or commitment.is_party:
        task = reading.add("commitment", "Task", commitment.what, node)
        task.properties["due_on"] = commitment.day
        if person is not None:
            assign(reading, task, person, commitment.who)


def _proper(reading: Reading, part: Part, relation: Relation) -> FoundNode | None:
    """Returns a node for a target that is certainly a name, if the relation has a type for it."""
    name_part = Part(part.start, part.end).trimmed(reading.text, " .")
    text = reading.text[name_part.start : name_part.end]
    if (wikilink := WIKILINK.fullmatch(text)) is not None:
        return linked_note(reading, wikilink)
    marked = reading.text[name_part.start - 1 : name_part.end + 1]
    if relation.named is None or not (_is_proper(text) or _is_proper(marked)):
        return None
    return reading.findings.refer("relation", reading.document, relation.named, plain(text), [reading.span(name_part)])


def _is_proper(name: str) -> bool:
    """Decides whether a text is certainly a name: every word begins with a capital, or it is marked as code."""
    if len(name) > 2 and name[0] == name[-1] == "`":
        return "`" not in name[1:-1]
    vocabulary = load_vocabulary()
    return (
        _PROPER.fullmatch(name) is not None
        and any(char.isalpha() for char in name)
        and name.split()[0].lower() not in vocabulary.openers
        and not vocabulary.names_nothing(name)
    )
