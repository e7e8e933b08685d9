"""Reads lines of the form "label: value": owners, dates, decisions and anything else that the label names."""

from __future__ import annotations

import re

from contracts.world.extraction.document_reading import Reading
from contracts.world.extraction.figures import amounts_in, dates_in
from contracts.world.extraction.findings import FoundNode, Part
from contracts.world.extraction.labels import Labelled, is_known
from contracts.world.extraction.markdown import Field
from contracts.world.extraction.mentions import scan
from contracts.world.extraction.parties import names_people, party_type
from contracts.world.extraction.people import NAME
from contracts.world.extraction.phrases import any_of
from contracts.world.extraction.prose_context import Position, ProseContext
from contracts.world.extraction.relations import add_edge, is_ended, relate, relate_each, set_due
from contracts.world.extraction.segmentation import elements_of, first_sentence
from contracts.world.extraction.vocabulary import NOTHING, Announced, plain_words, singular

_AGREED = frozenset({"agreed", "resolved"})
"""Words before the day of a decision: "Agreed 2026-03-01: ..."."""
_NUMBERED = re.compile(r"(?:(?P<word>[^\W\d]+(?: [^\W\d]+)?)[ #]{1,2}|(?P<short>KR) ?)\d{1,3}(?:\.\d{1,3})?")
_OF_NUMBER = frozenset({"Goal", "Risk", "Decision", "Principle", "Observation"})
"""Types that a numbered label can state: "Risk 2: Frost", "KR1: Sell ten boats"."""
_STATED_BY_PEOPLE = frozenset(
    {"Decision", "Risk", "Goal", "Outcome", "Agreement", "Observation", "Aspiration", "Deliverable", "Assignment"}
)
"""Types of list entries that may begin with a person. With an unknown name, which may also be a topic, the whole entry
is the title."""
_ENTRIES = _STATED_BY_PEOPLE | {"Task", "Action", "Person", "Project"}
"""Types of list entries whose label may be a key, such as "Title". In a glossary such a word is a term."""
_BETWEEN_PEOPLE = re.compile(r"\s?[,&/+]\s?|\s(?:and|und|et|y|e|en)\s")
_SEVERAL = re.compile(rf"{NAME.pattern}(?:(?:{_BETWEEN_PEOPLE.pattern}|\s(?:{any_of('or')})\s){NAME.pattern}){{1,4}}")
"""A label that may name several people, or one of several: "Ada or Bo"."""
_CARRIED_BY = frozenset({"Goal", "Deliverable", "Assignment"})
_LONGEST_FIELD = 200
"""Maximum length of the value in a paragraph "label: value"; a longer one is prose."""
_IDENTIFIER = re.compile(r"[A-Z]{1,5}[-#. ]?\d{1,4}|#?\d{1,3}")
"""A label that only numbers an entry: "D1: sell the boat"."""
_MOST_VALUE_WORDS = 3


def read_field(context: ProseContext, field: Field) -> None:
    """Reads a key of the front matter as a label. A list under a label without a known meaning is read as one text."""
    reading, values = context.reading, field.values
    label = reading.quote(field.key)
    relation = reading.vocabulary.relation_of(label)
    if relation is None and reading.vocabulary.type_of(label) == "Person":
        relation = reading.vocabulary.relations["attendee"]
    if len(values) > 1 and relation is not None and relation.to in ("Person", "Organization"):
        relate_each(reading, reading.root, relation, label, values)
        scan(reading, reading.root, field.whole)
        return
    if len(values) == 1 or is_known(reading.vocabulary, label):
        reading.read_as("label", field.key)
        for value in values:
            labelled = Labelled(label, field.key, value, False, label, is_one=len(values) > 1)
            part = field.whole if len(values) == 1 else value
            read_labelled(context, labelled, part, reading.root, None, "field")
    elif values:
        if not reading.describe(reading.root, label, ", ".join(map(reading.quote, values))):
            context.keep(field.whole, reading.root)
        scan(reading, reading.root, field.whole)


def read_labelled(
    context: ProseContext,
    labelled: Labelled,
    part: Part,
    above: FoundNode,
    under: Announced | None,
    place: Position,
) -> FoundNode | None:
    """Reads a labelled entry, and adds the day and the properties in its label to the node that it gives."""
    made = _read_label(context, labelled, part, above, under, place)
    context.set_day(made, labelled.day)
    if made is not None and made.type != "Passage":
        for name, value in labelled.pairs:
            context.reading.describe(made, name, value)
    return made


def _read_label(
    context: ProseContext, labelled: Labelled, part: Part, above: FoundNode, under: Announced | None, place: Position
) -> FoundNode | None:
    """Returns the node that a label and the text after it give, or None."""
    reading, vocabulary = context.reading, context.reading.vocabulary
    empty = labelled.rest.start >= labelled.rest.end
    is_off = under is not None and vocabulary.is_rejected(labelled.label)
    of_list = under.type if under is not None and under.many and place == "item" else None
    if not empty and (is_off or vocabulary.is_denied(labelled.label, of_list) or _is_undecided(context, labelled)):
        return context.keep(part, above)
    relation = vocabulary.relation_of(labelled.head)
    is_of_people = relation is not None and relation.to in ("Person", "Organization")
    if labelled.is_dashed and not (is_of_people and singular(labelled.head) in vocabulary.relations):
        relation = None  # a definition: "`require` - matches modules"
    named_type = vocabulary.type_of(labelled.head)
    if labelled.day is not None and labelled.head.lower() in _AGREED:
        named_type = "Decision"
    numbered = _NUMBERED.fullmatch(labelled.head) if named_type is None else None
    if numbered is not None:
        numbered_type = "Goal" if numbered["short"] else vocabulary.type_of(numbered["word"])
        named_type = numbered_type if numbered_type in _OF_NUMBER else None
    if reading.states_none(named_type, labelled.rest):
        named_type = None
    if empty:
        context.below = context.announced_by(labelled.label) or vocabulary.announced(labelled.head)
        is_entry = place == "item" and under is not None and not vocabulary.names_a_part(labelled.label)
        if under is not None and under.type == "Person":
            is_entry = is_entry and names_people(reading, labelled.label_part)
        if context.below is None and under is not None and is_entry:
            return context.add_node("announced", under.type, labelled.label_part, labelled.label_part, above)
        if context.below is None or context.below == NOTHING:
            return context.keep(part, above)
        reading.read_as("label", part)
        return None
    if context.is_speaker(labelled):
        return context.keep(part, above)
    if singular(labelled.head) in vocabulary.reasons and above.type == "Decision":
        reading.describe(above, "rationale", reading.quote(labelled.rest))
        scan(reading, above, part)
        return None
    if singular(labelled.head) in vocabulary.dues and above.type != "Passage":
        set_due(reading, above, labelled.rest)
    if is_of_people and relation is not None and is_ended(reading, relation, labelled.rest):
        return context.keep(part, above)
    is_of_person = under is not None and under.type == "Person" and place == "item"
    if is_of_person and relation is not None and relation.type in ("ASSIGNED_TO", "OWNED_BY"):
        return _read_holder(context, labelled, part, above)
    if relation is not None and (relation.to in ("Person", "Organization") or named_type is None):
        people = relate(reading, above, relation, labelled.head, labelled.rest, is_one=labelled.is_one)
        scan(reading, above, labelled.rest)
        if labelled.head != labelled.label:
            context.keep(part, above)
        return people[0] if len(people) == 1 else None
    if named_type is not None and not (labelled.is_term and under):
        if named_type == "Person":
            people = relate(reading, above, vocabulary.relations["attendee"], labelled.head, labelled.rest)
            scan(reading, above, labelled.rest)
            return people[0] if len(people) == 1 else None
        sentence = first_sentence(reading.text, labelled.rest)
        label = labelled.label if labelled.day is None else labelled.head
        node = context.add_node("label", named_type, sentence, labelled.rest, above, label)
        if relation is not None:
            source, target = (node, above) if relation.reversed else (above, node)
            reading.findings.tie("label", source, target, relation.type, reading.span(labelled.rest))
        return node
    if vocabulary.is_held(labelled.label) and names_people(reading, labelled.rest):
        return _read_holder(context, labelled, part, above)
    listed = under if under is not None and under.many and place == "item" else None
    if listed is not None and listed.type != "Person" and _IDENTIFIER.fullmatch(labelled.label):
        sentence = first_sentence(reading.text, labelled.rest)
        node = context.add_node("announced", listed.type, sentence, labelled.rest, above)
        reading.name(node, labelled.label)
        reading.describe(node, "number", labelled.label)
        return node
    is_nested = place == "item" and above is not context.node
    if (labelled.is_term and place != "field" and not _is_attribute(reading, labelled, is_nested=is_nested)) or listed:
        node_type = listed.type if listed is not None else "Concept"
        if node_type == "Person" and party_type(reading.vocabulary, labelled.label, "Person") != "Person":
            return _read_holder(context, labelled, part, above)
        whole = Part(labelled.label_part.start, labelled.rest.end)
        if reading.states_none(node_type, labelled.rest) or (
            node_type == "Decision"
            and any(reading.states_none(node_type, told) for told in (labelled.label_part, whole))
        ):
            return context.keep(part, above)
        if listed is not None and not labelled.is_dashed and node_type in _ENTRIES:
            field = singular(labelled.head)
            if field in vocabulary.names and node_type == "Person":
                people = relate(reading, above, vocabulary.relations["attendee"], labelled.head, labelled.rest)
                scan(reading, above, part)
                return people[0] if len(people) == 1 else None
            if field in vocabulary.names:
                sentence = first_sentence(reading.text, labelled.rest)
                return context.add_node("announced", node_type, sentence, labelled.rest, above)
            if field in vocabulary.states | vocabulary.dues | vocabulary.numbers | vocabulary.type_words:
                return context.keep(part, above)
            if node_type != "Person" and (named := _people_before(reading, labelled, node_type)):
                return _read_of_people(context, labelled, named, part, above, node_type)
            if node_type != "Person" and labelled.label_part.start == part.start and _may_be_names(labelled, node_type):
                node = context.add_node("announced", node_type, first_sentence(reading.text, part), part, above)
                reading.name(node, labelled.label)
                return node
        node = reading.add("term", node_type, labelled.label_part, above)
        reading.describe(node, "description", reading.quote(labelled.rest))
        scan(reading, node, labelled.rest)
        return node
    is_field = place == "field" or (place == "item" and above is not context.node and above.type != "Passage")
    if is_field and not labelled.pairs and reading.describe(above, labelled.label, reading.quote(labelled.rest)):
        scan(reading, above, part)
        return None
    if not is_field and labelled.rest.end - labelled.rest.start <= _LONGEST_FIELD:
        reading.describe(above, labelled.label, reading.quote(labelled.rest))
    return context.keep(part, above)


def _is_undecided(context: ProseContext, labelled: Labelled) -> bool:
    """Decides whether a bracket in a label, or a heading above, denies a decision: "Decision (pending)"."""
    vocabulary = context.reading.vocabulary
    if not context.has_decisions():
        return vocabulary.type_of(labelled.head) == "Decision"
    qualification = labelled.label[len(labelled.head) :].lower()
    words = f" {plain_words(qualification)} "
    is_decision = vocabulary.type_of(labelled.head) == "Decision"
    return is_decision and labelled.day is None and any(f" {word} " in words for word in vocabulary.undecided)


def _people_before(reading: Reading, labelled: Labelled, listed: str) -> list[tuple[Part, FoundNode]]:
    """Returns the people whom the label of an entry names, if the text has named all of them before."""
    if listed not in _STATED_BY_PEOPLE or labelled.pairs:
        return []
    names = elements_of(reading.text, labelled.label_part, _BETWEEN_PEOPLE)
    people = [(name, person) for name in names if (person := reading.person_at(name, is_full=True)) is not None]
    return people if len(people) == len(names) else []


def _may_be_names(labelled: Labelled, listed: str) -> bool:
    """Decides whether a label may name people whom the text does not introduce: "@ada", "Ada or Bo", "Marc"."""
    is_name = listed in _STATED_BY_PEOPLE and not labelled.pairs and NAME.fullmatch(labelled.label) is not None
    return is_name or "@" in labelled.label or _SEVERAL.fullmatch(labelled.label) is not None


def _read_of_people(
    context: ProseContext,
    labelled: Labelled,
    people: list[tuple[Part, FoundNode]],
    part: Part,
    above: FoundNode,
    listed: str,
) -> FoundNode:
    """Reads an entry that begins with people, who carry it out if it can be assigned: "Ada: sell the boat".

    A decision or a risk only mentions them, because they may have proposed or reported it.
    """
    reading = context.reading
    sentence = first_sentence(reading.text, labelled.rest)
    node = context.add_node("announced", listed, sentence, labelled.rest, above)
    relation = reading.vocabulary.relations["assignee" if listed in _CARRIED_BY else "attendee"]
    for name, person in people:
        add_edge(reading, node, person, relation, name, reading.quote(name))
    reading.describe(node, "text", reading.quote(part))
    return node


def _is_attribute(reading: Reading, labelled: Labelled, *, is_nested: bool) -> bool:
    """Decides whether a bold label and its value describe the node above, rather than define a term.

    "**Severity:** minor" describes it. A label with an amount of money as its value defines a term.
    """
    text = reading.text
    words = len(reading.quote(labelled.rest).split())
    is_short = words <= _MOST_VALUE_WORDS or any(dates_in(text, labelled.rest))
    return not labelled.is_dashed and (is_nested or is_short) and not any(amounts_in(text, labelled.rest))


def _read_holder(context: ProseContext, labelled: Labelled, part: Part, above: FoundNode) -> FoundNode | None:
    """Reads an entry about people whose label names a post or a department: "CTO: Ada Lovelace"."""
    reading = context.reading
    people = relate(reading, above, reading.vocabulary.relations["attendee"], labelled.label, labelled.rest)
    if len(people) != 1 or is_ended(reading, reading.vocabulary.relations["owner"], labelled.rest):
        return context.keep(part, above)
    reading.describe(people[0], "role", labelled.label)
    scan(reading, above, labelled.rest)
    return people[0]
