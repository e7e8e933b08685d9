"""Connects a node to what its text mentions: people, firms, links, notes, dates and amounts of money."""

from __future__ import annotations

import re

from contracts.world.extraction.document_reading import Reading
from contracts.world.extraction.due_dates import CARRIED_OUT, first_due, is_due
from contracts.world.extraction.figures import amounts_in, dates_in
from contracts.world.extraction.findings import FoundNode, Part, is_within
from contracts.world.extraction.inline_markup import MENTION, WIKILINK, code_in, is_link, links_in, plain
from contracts.world.extraction.people import (
    addressed_in,
    called,
    firms_in,
    is_only_involved,
    named_in,
    people_in,
    written_out,
)
from contracts.world.extraction.sources import EVERYWHERE

MOST_DATES = 1_000
"""Maximum number of dates, and of amounts, per node: the first ones in its text."""


def scan(reading: Reading, node: FoundNode, part: Part, *, stated_from: int = 0) -> None:
    """Finds mentions, links and dates in a part and connects them to the node that the part describes.

    No day before the offset `stated_from` is a due date.
    """
    reading.scanned.append((node, part))
    reading.read_as("passage" if node.type == "Passage" else "scan", part)
    quiet = code_in(reading.text, part)
    for match in MENTION.finditer(reading.text, part.start, part.end):
        if not is_within(quiet, match.start()):
            where = Part(match.start(), match.end())
            person = person_of_handle(reading, where)
            carries_out = node.type in CARRIED_OUT and not is_only_involved(reading.text, part.start, where.start)
            edge_type, label = ("ASSIGNED_TO", match[1]) if carries_out else ("MENTIONS", None)
            reading.findings.tie("mention", node, person, edge_type, reading.span(where), label)
    for where, address in addressed_in(reading.text, part):
        person = _add_mention(reading, "person", node, "Person", reading.quote(where), where)
        person.properties.setdefault("email", address)
    for match in WIKILINK.finditer(reading.text, part.start, part.end):
        note = None if is_within(quiet, match.start()) else linked_note(reading, match)
        if note is not None:
            reading.findings.tie("wikilink", node, note, "MENTIONS", reading.span(Part(*match.span())))
    for title, url, where in links_in(reading.text, part, quiet):
        link = reading.findings.refer("link", EVERYWHERE, "Resource", title, [reading.span(where)], address=url)
        link.properties.setdefault("url", url)
        reading.findings.tie("link", node, link, "MENTIONS", reading.span(where))
    dates = dict.fromkeys(node.properties.get("dates", ()))
    due: list[tuple[str, int]] = []
    for date, start in dates_in(reading.text, part):
        if is_within(quiet, start):
            continue
        is_stated = start >= stated_from and not is_within(reading.ended, start)
        if is_stated and is_due(reading.text, part, start, is_carried_out=node.type in CARRIED_OUT):
            due.append((date, start))
        dates[date] = None
    if due:
        node.properties.setdefault("due_on", first_due(reading.text, due))
    amounts = dict.fromkeys((*node.properties.get("amounts", ()), *amounts_in(reading.text, part)))
    for name, found in (("dates", dates), ("amounts", amounts)):
        if found:
            node.properties[name] = list(found)[:MOST_DATES]


def mention(reading: Reading, rule: str, node: FoundNode, name: Part, label: str | None = None) -> None:
    """Adds an edge from a node to the person with a full name. `label` is the person's role towards the node."""
    _add_mention(reading, rule, node, "Person", plain(reading.quote(name)), name, label)


def _add_mention(
    reading: Reading, rule: str, node: FoundNode, node_type: str, name: str, part: Part, label: str | None = None
) -> FoundNode:
    """Adds an edge from a node to the person or firm that a part of its text names, and returns that node."""
    span = reading.span(part)
    mentioned = reading.findings.refer(rule, reading.document, node_type, name, [span])
    reading.findings.tie(rule, node, mentioned, "MENTIONS", span, label)
    return mentioned


def person_of_handle(reading: Reading, part: Part) -> FoundNode:
    """Returns the person of a handle: one of this document if it gives the name, otherwise one for all documents."""
    text = reading.quote(part)
    name = reading.handles.get(text[1:].lower())
    if name is not None:
        person = reading.findings.refer("handle", reading.document, "Person", name, [reading.span(part)])
    else:
        person = reading.findings.refer(
            "mention", EVERYWHERE, "Person", text, [reading.span(part)], address=text.lower()
        )
    person.properties.setdefault("handle", text[1:])
    return person


def linked_note(reading: Reading, wikilink: re.Match[str]) -> FoundNode | None:
    """Returns the concept that a link to another note names. Returns None for the note of a day or a person, which is
    not a concept."""
    title = wikilink[1].rpartition("/")[2].strip()
    if (
        reading.vocabulary.names_nothing(title)
        or any(dates_in(title, Part(0, len(title))))
        or reading.findings.known(reading.document, "Person", plain(wikilink[0]))
    ):
        return None
    span = reading.span(Part(*wikilink.span()))
    note = reading.findings.refer("wikilink", EVERYWHERE, "Concept", title, [span])
    reading.name(note, title)
    return note


def add_link(reading: Reading, part: Part, within: FoundNode) -> FoundNode | None:
    """Adds the resource of a part that consists of exactly one link, and returns it. Returns None for other parts."""
    if not is_link(reading.text, part):
        return None
    scan(reading, within, part)
    (title, url, where), *_ = links_in(reading.text, part)
    link = reading.findings.refer("link", EVERYWHERE, "Resource", title, [reading.span(where)], address=url)
    reading.findings.tie("link", link, within, "PART_OF", reading.span(where))
    return link


def mention_people(reading: Reading) -> None:
    """Adds edges from passages to the people and firms that they mention by name."""
    spelt = written_out(reading.text) if "@" in reading.text else []
    by_itself = dict(zip(spelt, spelt, strict=True))
    for node, part in reading.scanned:
        for _, where in named_in(reading.quote(part), by_itself) if node is reading.root else ():
            mention(reading, "person", node, where.shifted(part.start))
    prose = [(node, part) for node, part in reading.scanned if node.type == "Passage"]
    if not prose:
        return
    text = "\n".join(reading.quote(part) for _, part in prose)
    known = [person.title for person in reading.findings.people(reading.document)]
    surnames = {name.split()[-1] for name in known if " " in name}
    known += [name for name in spelt if name not in known]
    names = called([*known, *(name for name in people_in(text) if name not in known and name not in surnames)])
    elsewhere = {name for name in reading.findings.people_elsewhere - names.keys() if " " in name and name in text}
    names |= {name: name for name in elsewhere}
    for node, part in prose:
        if not reading.findings.has_room_for_mentions:
            return
        for name, where in named_in(reading.quote(part), names):
            span = reading.span(where.shifted(part.start))
            if name in elsewhere:
                person = reading.findings.refer_elsewhere("person", reading.document, name, span)
            else:
                person = reading.findings.refer("person", reading.document, "Person", name, [span])
            reading.findings.tie("person", node, person, "MENTIONS", span)
        for name, where in firms_in(reading.quote(part)):
            _add_mention(reading, "firm", node, "Organization", name, where.shifted(part.start))
