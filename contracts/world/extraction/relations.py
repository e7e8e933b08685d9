"""Adds the edges and properties that a label, a column or a key announces for its value."""

from __future__ import annotations

import re
from bisect import insort
from collections.abc import Sequence

from contracts.world.extraction.document_reading import Reading
from contracts.world.extraction.due_dates import CARRIED_OUT, due_day_of
from contracts.world.extraction.findings import FoundNode, Part
from contracts.world.extraction.parties import names_in, party_of
from contracts.world.extraction.passages import keep
from contracts.world.extraction.phrases import any_of
from contracts.world.extraction.vocabulary import Relation, plain_words, singular, without_unit

_HELD = frozenset({"OWNED_BY", "ASSIGNED_TO"})
_BEHIND_HOLDER = re.compile(
    r"[(\[（](?P<bracket>[^()\[\]（）\n]{1,80})[)\]）]|(?:[,;]|\s[–—-])\s?(?P<more>(?-i:[^\W\dA-ZÀ-ÖØ-Þ])[^,;()\n]{1,80})"
    rf"|\s(?P<end>(?:{any_of('until')})\b[^\n]{{1,80}})",
    re.IGNORECASE,
)
"""A remark after the name of an owner: "Ada Lovelace (former)", "Ada Lovelace, until May"."""


def relate(
    reading: Reading,
    subject: FoundNode,
    relation: Relation,
    label: str,
    part: Part,
    title: str | None = None,
    *,
    is_one: bool = False,
) -> list[FoundNode]:
    """Adds an edge from `subject` to each node that a part names, and returns the people and organisations.

    The text becomes a property if it contains more than names, or if the label says more than the edge, as "Team
    lead" does. `title` is the meaning of the part if its spelling differs, for example by escapes. `is_one` means that
    the part is an element of a list, and so one name.
    """
    if relation.to in ("Person", "Organization"):
        is_held = not is_ended(reading, relation, part)
        parts = names_in(reading, part, relation, label, is_one=is_one) if is_held else []
        people = [node for named in parts if (node := party_of(reading, *named, relation.to)) is not None]
        for node in people:
            add_edge(reading, subject, node, relation, part, label)
        says_more = (
            singular(label) not in reading.vocabulary.relations and reading.vocabulary.relation_of(label) is not None
        )
        if not parts or len(people) < len(parts) or says_more:
            keep_value(reading, subject, label, part, title)
        return people
    reading.open_relations.append((subject, relation, label, part, title))
    return []


def relate_each(reading: Reading, subject: FoundNode, relation: Relation, label: str, parts: Sequence[Part]) -> None:
    """Adds an edge from `subject` to the people in each element of a list. Other elements become one text property."""
    others = []
    for part in parts:
        names = [] if is_ended(reading, relation, part) else names_in(reading, part, relation, label, is_one=True)
        people = [node for named in names if (node := party_of(reading, *named, relation.to or "Person")) is not None]
        for node in people:
            add_edge(reading, subject, node, relation, part, label)
        if not people:
            others.append(reading.quote(part))
    if others:
        reading.describe(subject, label, ", ".join(others))


def relate_one(
    reading: Reading, subject: FoundNode, relation: Relation, label: str, part: Part, name: str
) -> list[FoundNode]:
    """Adds an edge from `subject` to the party that a part names, and returns it. `name` has the given name first."""
    node = party_of(reading, part, name, relation.to or "Person")
    if node is None:
        return []
    add_edge(reading, subject, node, relation, part, label)
    return [node]


def is_ended(reading: Reading, relation: Relation, part: Part) -> bool:
    """Decides whether a part only names a former owner or assignee: "Ada Lovelace (former)".

    If so, a day in it is not a due date.
    """
    behind = _BEHIND_HOLDER.finditer(reading.text, *part) if relation.type in _HELD else ()
    if not any(reading.vocabulary.is_over(match[match.lastgroup or 0]) for match in behind):
        return False
    insort(reading.ended, part)
    return True


def describe_field(reading: Reading, node: FoundNode, name: str, text: str) -> bool:
    """Sets the property that a column or key names: the reason of a decision, the description, or one of that name.

    A due date also sets `due_on`. A column "Until" contains due dates only for tasks and the like.
    """
    word = without_unit(name)
    is_due = word in reading.vocabulary.dues or (node.type in CARRIED_OUT and word in reading.vocabulary.ends)
    if is_due and (day := due_day_of(text, Part(0, len(text)))) is not None:
        node.properties.setdefault("due_on", day)
    if node.type == "Decision" and word in reading.vocabulary.reasons:
        name = "rationale"
    elif word in reading.vocabulary.descriptions:
        name = "description"
    return reading.describe(node, name, text)


def set_due(reading: Reading, node: FoundNode, part: Part) -> None:
    """Sets the due date of a node, if a part names exactly one day."""
    if (day := due_day_of(reading.text, part)) is not None:
        node.properties.setdefault("due_on", day)


def assign(reading: Reading, task: FoundNode, person: FoundNode, part: Part) -> None:
    """Adds the edge from a task to a person whom the text has named."""
    add_edge(reading, task, person, reading.vocabulary.relations["assignee"], part, reading.quote(part))


def assign_to_known(reading: Reading, task: FoundNode, name: Part) -> None:
    """Stores that a task belongs to a named person; `references` assigns it if the text names that person anywhere."""
    reading.assigned.append((task, name))


def keep_value(reading: Reading, subject: FoundNode, label: str, part: Part, spelt: str | None) -> None:
    """Makes the text after a label a property, or a passage if the property already has another text."""
    if not reading.describe(subject, label, reading.quote(part) if spelt is None else spelt):
        keep(reading, part, subject, None, spelt)


def add_edge(reading: Reading, subject: FoundNode, node: FoundNode, relation: Relation, part: Part, label: str) -> None:
    """Adds the edge of a relation, with its label unless the label only repeats the type of the edge."""
    source, target = (node, subject) if relation.reversed else (subject, node)
    edge_type = relation.type
    if edge_type == "ASSIGNED_TO" and not reading.findings.fits(source, target, edge_type):
        edge_type = "OWNED_BY"  # nobody carries out a thing such as a team: its leader answers for it
    says_more = plain_words(label) != plain_words(edge_type.replace("_", " "))
    reading.findings.tie("relation", source, target, edge_type, reading.span(part), label if says_more else None)
