"""Reads headings. One that announces a type determines the type of the entries below it; any other is a node.

Below "Open risks" each list item is a Risk. "Decision: one queue" is a Decision, and "The engine" a Concept, unless the
heading names a part of any document, such as "License".
"""

from __future__ import annotations

import re

from contracts.world.extraction.figures import is_figure
from contracts.world.extraction.findings import Part
from contracts.world.extraction.inline_markup import plain, undecorated
from contracts.world.extraction.labels import ONLY_DAY, without_day
from contracts.world.extraction.listed_states import announced_by_state
from contracts.world.extraction.markdown import Heading
from contracts.world.extraction.mentions import scan
from contracts.world.extraction.outlines import COMMENT, STATE
from contracts.world.extraction.parties import names_people
from contracts.world.extraction.prose_context import ProseContext, Section
from contracts.world.extraction.segmentation import first_sentence
from contracts.world.extraction.vocabulary import NOTHING, Announced

_KINDED = re.compile(r"(?P<kind>[A-Za-z][A-Za-z -]{1,30}?)(?:\s+[#A-Z]?\d[\w.-]*)?\s*[:–—]\s+(?=\S)")


def read_heading(context: ProseContext, heading: Heading, *, is_title: bool) -> None:
    """Adds the node of a heading, if it has one, and begins its section."""
    reading = context.reading
    context.items, context.below = [], None
    context.number += 1
    if is_title:
        scan(reading, reading.root, heading.part)
        return
    while context.sections[-1].level >= heading.level:
        context.sections.pop()
    above = context.sections[-1]
    heading = Heading(heading.level, undecorated(reading.text, heading.part))
    text = reading.quote(heading.part)
    vocabulary = reading.vocabulary
    is_off = vocabulary.is_rejected(plain(text)) or vocabulary.are_drafts(plain(text))
    is_off = is_off or (context.is_outline and COMMENT.match(text) is not None)
    if above.is_void or is_off or reading.is_struck(heading.part):
        reading.read_as("heading", heading.part)
        name = plain(reading.written[heading.part.start : heading.part.end])
        context.sections.append(Section(heading.level, above.node, None, name, is_void=True))
        return
    state = STATE.match(text) if context.is_outline else None
    if state is not None:
        part = Part(heading.part.start + state.end(), heading.part.end)
        task = context.add_node("checkbox", "Task", first_sentence(reading.text, part), part, above.node)
        task.properties["status"] = "open" if state["state"] == "TODO" else state["state"].lower()
        context.sections.append(Section(heading.level, task, None, task.title))
        return
    by_state = _announced_by_state(context, text)
    if by_state is not None:
        reading.read_as("heading", heading.part)
        is_void = by_state == NOTHING
        announced = None if is_void else by_state
        context.sections.append(Section(heading.level, above.node, announced, plain(text), is_void=is_void))
        return
    kinded = _KINDED.match(text)
    kind = vocabulary.type_of(kinded["kind"]) if kinded else None
    if kinded and kind and reading.states_none(kind, Part(heading.part.start + kinded.end(), heading.part.end)):
        reading.read_as("heading", heading.part)
        context.sections.append(Section(heading.level, above.node, None, plain(text)))
        return
    announced = None if kind else vocabulary.announced(plain(text))
    if announced is not None or (kind is None and vocabulary.names_a_part(plain(text))):
        reading.read_as("heading", heading.part)
        context.sections.append(Section(heading.level, above.node, announced, plain(text)))
        return
    below_many = above.announced.type if above.announced and above.announced.many else None
    is_day = below_many is not None and ONLY_DAY.fullmatch(plain(text)) is not None
    if above.level == 0 and not is_day:
        below_many = None
    is_of_person = below_many == "Task" and reading.is_person(plain(text))
    if is_of_person or (below_many == "Person" and not names_people(reading, heading.part)):
        reading.read_as("heading", heading.part)
        context.sections.append(Section(heading.level, above.node, above.announced, plain(text)))
        return
    is_none = below_many is not None and reading.states_none(below_many, heading.part)
    if is_none or vocabulary.announces_none(plain(text)):
        below_many = None
    day, part = None, heading.part
    if kinded and kind and not is_figure(text[kinded.end() :]):
        part = Part(part.start + kinded.end(), part.end)
    elif below_many is not None:
        if is_day:
            reading.read_as("heading", part)
            context.sections.append(Section(heading.level, above.node, above.announced, plain(text), part))
            return
        day, part = without_day(reading, part)
    node = reading.add("heading", kind or below_many or "Concept", part, above.node)
    if kinded and part.start > heading.part.start:
        reading.name(node, text[: kinded.end()].rstrip(" :–—"))
    scan(reading, node, part)
    context.set_day(node, day)
    context.sections.append(Section(heading.level, node, None, plain(text)))


def _announced_by_state(context: ProseContext, text: str) -> Announced | None:
    """Returns what a heading announces that only gives a state: "Done" below "Tasks", or "Decisions: proposed"."""
    vocabulary = context.reading.vocabulary
    kinded = _KINDED.match(text)
    kind = vocabulary.type_of_each(kinded["kind"]) if kinded else None
    if kinded is not None and kind is not None:
        return announced_by_state(vocabulary, Announced(kind, many=True), text[kinded.end() :])
    return context.announced_by_state(plain(text))
