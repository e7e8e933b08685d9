"""Reads paragraphs and list items.

An entry becomes a node of a type if a heading or a line above announces the type, if it is a checkbox or a defined term
("**API** - ..."), or if its label names a type ("Goal: ..."). Every other entry is stored as a passage.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from contracts.world.extraction.document_reading import Reading
from contracts.world.extraction.due_dates import states_due_day
from contracts.world.extraction.findings import FoundNode, Part
from contracts.world.extraction.inline_markup import is_code, plain, undecorated
from contracts.world.extraction.labelled_lines import read_labelled
from contracts.world.extraction.labels import (
    Labelled,
    begins_label,
    details_of,
    gives_detail,
    is_known,
    label_of,
    without_day,
)
from contracts.world.extraction.listed_states import ListedState, state_before, state_behind
from contracts.world.extraction.markdown import Entry
from contracts.world.extraction.mentions import add_link, scan
from contracts.world.extraction.parties import named_owners
from contracts.world.extraction.passages import keep
from contracts.world.extraction.people import given_first
from contracts.world.extraction.prose_context import Position, ProseContext
from contracts.world.extraction.quotations import quotation_at_start
from contracts.world.extraction.relations import relate, relate_one
from contracts.world.extraction.segmentation import first_sentence
from contracts.world.extraction.tasks import ASSIGNABLE, add_task, is_assigned, is_no_task
from contracts.world.extraction.vocabulary import NOTHING, Announced, singular

_CHECKBOX = re.compile(r"\[([ xX/-])\]\s+")
_STATES = {" ": "open", "/": "open", "-": "cancelled"}
"""States of a task by the sign in its box. In an outline "-" means that a part of it is done."""
_NUMBERING = re.compile(r"^(?:\d+(?:\.\d+)*[.)]?)\s+")
_LONGEST_STATE = 40
"""Maximum length of a paragraph below "Status" that counts as a status."""
_PARTIES = frozenset({"Person", "Organization", "Agent"})
_STATED = frozenset({"Decision", "Vision", "Strategy", "Outcome", "Goal", "Aspiration", "Pattern"})
"""Types that a paragraph below a heading with the type's word can state."""
_NEVER_QUOTED = frozenset({"Decision", "Task", "Action", "Goal", "Risk", "Agreement", "Outcome"})
"""Types that a quoted list entry never states. With other types it is a title: "“Moby-Dick” by Melville"."""
_BOLD = re.compile(r"\*\*[^*]+\*\*")
_WILL = re.compile(
    r"(?:We|It|The(?: [\w-]+){1,3}) (?:will|shall|must|have (?:decided|agreed)|has decided|are going to)\b"
)


def read_entry(context: ProseContext, entry: Entry, *, announces: bool = False) -> None:
    """Reads a paragraph or list item. `announces` is True if it is the title of the list below it."""
    if entry.depth == 0:
        context.items = []
        pieces = list(_lines_or_whole(context, entry))
    else:
        del context.items[entry.depth - 1 :]
        context.items += [None] * (entry.depth - 1 - len(context.items))
        pieces = list(_fields_of_item(context.reading, entry))
    if 0 < entry.depth <= context.below_depth:
        context.below = None
    above = next((node for node in reversed(context.items) if node is not None), context.node)
    is_void = context.below == NOTHING and entry.depth > 0
    announced = None if context.below == NOTHING else context.announced
    is_below_none = bool(context.items) and context.items[-1] is None
    below = context.below
    context.below = below if entry.depth else None
    place: Position = "item" if entry.depth else "field" if len(pieces) > 1 else "paragraph"
    if place == "paragraph":
        _read_state_of_section(context, pieces[0], above)
    is_mixed = place == "field" and not all(label_of(context.reading, line) for line in entry.lines)
    if is_mixed:
        context.keep(Part(entry.lines[0].start, entry.lines[-1].end), above)
        context.is_kept = True
    for part in pieces[: 1 if entry.depth else None]:
        if announces:
            context.below = context.announced_by(plain(context.reading.quote(part)))
            made = context.keep(part, above) if context.below == NOTHING else None
            context.reading.read_as("label", part)
        elif is_void:
            made = keep(context.reading, part, above, context.section_path, stated_from=part.end)
        elif _is_crossed_out(context.reading, part, place) or (
            is_below_none and _describes(context.reading, part, below)
        ):
            made = context.keep(part, above)
        else:
            made = _read_statement(context, part, above, announced, place)
        if made is not None and announced is not None and made.type == announced.type:
            context.set_day(made, context.sections[-1].day)
        if made is not None and made.type == "Task" and below is None and context.is_below_finished():
            made.properties.setdefault("status", "done")
        if made is not None and announced is not None and announced.state and made.type == announced.type:
            made.properties.setdefault("status", announced.state)
        is_listed = made is not None and announced is not None and announced.many and made.type == announced.type
        if made is not None and is_listed and place == "item" and _is_done_behind(context.reading, made, part):
            made.properties.setdefault("status", "done")
        if entry.depth:
            context.items.append(above if _is_field_of(context, part, made, announced) else made)
    for part in pieces[1:] if entry.depth else ():
        if is_void or _is_crossed_out(context.reading, part, place):
            keep(context.reading, part, above, context.section_path, stated_from=part.end)
        else:
            _read_statement(context, part, context.items[-1] or above, None, "item")
    context.is_kept = False
    if context.below is not below:
        context.below_depth = entry.depth


def _is_done_behind(reading: Reading, made: FoundNode, part: Part) -> bool:
    """Decides whether an entry ends with a remark that it is done: "Mow (done)"."""
    return state_behind(reading.vocabulary, made.type, reading.quote(part)) == "done"


def _is_field_of(context: ProseContext, part: Part, made: FoundNode | None, announced: Announced | None) -> bool:
    """Decides whether an item is a label followed by a party. Items below "Owner: Ada" state nothing about Ada."""
    labelled = label_of(context.reading, part) if made is not None and made.type in _PARTIES else None
    is_of_people = announced is not None and announced.type == "Person"
    return labelled is not None and not is_of_people and is_known(context.reading.vocabulary, labelled.head)


def _is_below_field(context: ProseContext) -> bool:
    """Decides whether the item above is a label followed by a party."""
    if not context.items or context.items[-1] is None:
        return False
    return context.items[-1] is next((node for node in reversed(context.items[:-1]) if node is not None), context.node)


def _is_crossed_out(reading: Reading, part: Part, place: Position) -> bool:
    """Decides whether a part is struck through, or an item that may be a remark on struck text."""
    return reading.is_struck(part) or (place == "item" and reading.is_remark(part))


def _read_state_of_section(context: ProseContext, part: Part, above: FoundNode) -> None:
    """Reads a paragraph below "Status" as a property, and one below "Rationale" as the reason of the only decision
    before it."""
    reading, section = context.reading, context.sections[-1]
    word = singular(_NUMBERING.sub("", section.heading or ""))
    if word in reading.vocabulary.states and part.end - part.start <= _LONGEST_STATE:
        reading.describe(above, word, reading.quote(undecorated(reading.text, part)))
    elif word in reading.vocabulary.reasons and len(context.decisions) == 1 and not reading.quote(part).endswith(":"):
        reading.describe(context.decisions[0], "rationale", reading.quote(part))


def _describes(reading: Reading, part: Part, below: Announced | None) -> bool:
    """Decides whether an entry describes the entry above it. `below` is what the entry above announces."""
    labelled = label_of(reading, part)
    if labelled is None:
        return False
    relation = reading.vocabulary.relation_of(labelled.head)
    if relation is not None:
        return below is None or below.type != relation.to
    is_typed = reading.vocabulary.type_of(labelled.head) is not None
    return not (is_typed or labelled.is_term or below)


def _lines_or_whole(context: ProseContext, entry: Entry) -> Iterator[Part]:
    """Yields the lines of a paragraph if each has a label, because they are separate statements; otherwise the turns of
    a conversation, or the whole paragraph."""
    reading = context.reading
    labels = [label_of(reading, line) for line in entry.lines]
    if all(labels):
        yield from entry.lines
        return
    begins = [
        label is not None or begins_label(reading, line) or gives_detail(reading.vocabulary, reading.quote(line))
        for line, label in zip(entry.lines, labels, strict=True)
    ]
    if labels[0] is not None and sum(begins) > 1 and not any(map(context.is_speaker, labels)):
        start = entry.lines[0].start
        for line, is_begun in zip(entry.lines[1:], begins[1:], strict=True):
            if is_begun or _BOLD.fullmatch(reading.text[start : line.start].strip()):
                yield Part(start, line.start).trimmed(reading.text)
                start = line.start
        yield Part(start, entry.lines[-1].end)
        return
    starts = [line.start for line, label in zip(entry.lines, labels, strict=True) if context.is_speaker(label)]
    ends = [line.end for line in entry.lines]
    start = entry.lines[0].start
    for turn in starts:
        if turn > start:
            yield Part(start, turn).trimmed(reading.text)
        start = turn
    yield Part(start, ends[-1])


def _fields_of_item(reading: Reading, entry: Entry) -> Iterator[Part]:
    """Yields a list item whole, or its fields if it begins with one: "Owner: Ada", "Former owner: Bo"."""
    first = label_of(reading, entry.lines[0])
    starts = [entry.lines[0].start]
    if first is not None and reading.vocabulary.is_field(first.head):
        is_named = singular(first.head) in reading.vocabulary.names
        starts += [
            line.start
            for line in entry.lines[1:]
            if begins_label(reading, line) or (is_named and label_of(reading, line) is not None)
        ]
    for start, end in pairwise([*starts, entry.lines[-1].end]):
        yield Part(start, end).trimmed(reading.text)


def _read_statement(
    context: ProseContext, part: Part, above: FoundNode, announced: Announced | None, place: Position
) -> FoundNode | None:
    """Returns the node of a statement, or None. Everything else in it describes the node above."""
    reading = context.reading
    is_below_field = place == "item" and _is_below_field(context)
    nested = place == "item" and (above is not context.node or is_below_field)
    box = _CHECKBOX.match(reading.text, part.start, part.end) if place == "item" else None
    if box is not None and reading.is_remark(Part(box.end(), part.end)):
        return context.keep(part, above)
    if box is not None:
        node = add_task(context, "checkbox", Part(box.end(), part.end), above)
        is_partly = context.is_outline and box[1] == "-"
        node.properties["status"] = "open" if is_partly else _STATES.get(box[1], "done")
        behind = state_behind(reading.vocabulary, "Task", reading.quote(part)) if box[1] == " " else None
        if behind in ("off", "done"):
            node.properties["status"] = "done" if behind == "done" else "cancelled"
        return node
    under = None if nested or announced is None else announced
    if (quoted := _quoted_until(reading, part, under)) is not None:
        return None if context.is_kept else keep(reading, part, above, context.section_path, stated_from=quoted)
    if under is not None:
        day, undated = without_day(reading, part)
        if day is not None and not reading.states_none(under.type, undated):
            made = _read_statement(context, undated, above, under, place)
            context.set_day(made, day)
            return made
        if day is not None:
            return context.keep(part, above)
    bare = undecorated(reading.text, part) if place == "item" else part
    listed = under.type if under is not None and under.many and place == "item" and under.type != "Person" else None
    below = context.announced_by_state(plain(reading.quote(bare))) if listed is not None and context.has_items else None
    if below is not None:
        context.below = below
        reading.read_as("label", part)
        return context.keep(part, above) if below == NOTHING else None
    behind = None if listed is None else state_behind(reading.vocabulary, listed, reading.quote(bare))
    if behind in ("off", "later"):
        return context.keep(part, above)
    labelled = label_of(reading, bare)
    state = None if listed is None or labelled is None else state_before(reading.vocabulary, listed, labelled.label)
    if listed is not None and labelled is not None and state is not None:
        return _read_with_state(context, labelled, state, part, above, listed)
    details, rest = details_of(reading, bare)
    if details and rest.start == rest.end:
        for detail in details:
            read_labelled(context, detail, Part(detail.label_part.start, detail.rest.end), above, None, place)
        return None
    if details and (place == "item" or len(details) > 1) and not all(_is_state(reading, detail) for detail in details):
        kind = listed or ("Task" if place == "item" and _name_owner_and_day(reading, details) else None)
        return _read_after_details(context, details, rest, part, above, kind)
    if listed in ASSIGNABLE and is_no_task(reading, bare):
        return context.keep(part, above)
    if listed in ASSIGNABLE and is_assigned(reading, bare):
        return add_task(context, "announced", bare, above, listed)
    if place == "item" and (under is None or under.type == "Task") and _is_owned_and_due(reading, bare):
        is_off = is_no_task(reading, bare)
        return context.keep(part, above) if is_off else add_task(context, "label", bare, above)
    if labelled is not None and is_below_field and not reading.vocabulary.is_field(labelled.head):
        return context.keep(part, above)  # it may describe the party: "Phone: ..." below "Contact: Ada"
    if labelled is not None:
        return read_labelled(context, labelled, part, above, under, place)
    stated = under is not None and (
        (place == "item" and under.many) or (not under.many and under.type in _STATED and _goes_on(context, part))
    )
    if (
        under is not None
        and stated
        and not (reading.states_none(under.type, bare) or reading.quote(part).endswith(":"))
        and not (under.type in _STATED and is_code(reading.quote(bare)))
    ):
        if under.type == "Task" and place == "item":
            is_name = reading.is_person(plain(reading.quote(bare)))
            return context.keep(part, above) if is_name else add_task(context, "announced", bare, above)
        sentence = first_sentence(reading.text, bare)
        if under.type == "Resource" and (link := add_link(reading, part, above)) is not None:
            return link
        if under.type != "Person":
            return context.add_node("announced", under.type, sentence, part, above)
        return _read_person(context, bare, above)
    return context.keep(part, above)


def _read_with_state(
    context: ProseContext, labelled: Labelled, state: ListedState, part: Part, above: FoundNode, listed: str
) -> FoundNode | None:
    """Reads an entry whose label gives its state: "Done: paint"."""
    reading = context.reading
    is_empty = labelled.rest.start >= labelled.rest.end
    if state in ("off", "later") or is_empty or reading.states_none(listed, labelled.rest):
        return context.keep(part, above)
    if listed in ASSIGNABLE:
        node = add_task(context, "announced", labelled.rest, above, listed)
    else:
        sentence = first_sentence(reading.text, labelled.rest)
        node = context.add_node("announced", listed, sentence, labelled.rest, above)
    if state == "done":
        node.properties["status"] = "done"
    reading.describe(node, "label", labelled.label)
    return node


def _is_state(reading: Reading, detail: Labelled) -> bool:
    return singular(detail.head) in reading.vocabulary.states


def _name_owner_and_day(reading: Reading, details: list[Labelled]) -> bool:
    """Decides whether labels name both the owner and the due day of something."""
    are_days = {
        singular(detail.head) in reading.vocabulary.dues for detail in details if not _is_state(reading, detail)
    }
    return are_days == {False, True}


def _read_after_details(
    context: ProseContext, details: list[Labelled], rest: Part, part: Part, above: FoundNode, kind: str | None
) -> FoundNode | None:
    """Reads an entry that begins with its owner and day: "Owner: Ada. Deadline: 2026-06-02. Write the report"."""
    reading = context.reading
    first, *_ = plain(reading.quote(rest)).lower().split() or [""]
    is_remark = first in reading.vocabulary.openers
    if kind is None or is_remark or is_no_task(reading, rest) or reading.states_none(kind, rest):
        return keep(reading, part, above, context.section_path, stated_from=part.end)
    node = add_task(context, "label", rest, above, kind)
    for detail in details:
        read_labelled(context, detail, Part(detail.label_part.start, detail.rest.end), node, None, "item")
    return node


def _is_owned_and_due(reading: Reading, part: Part) -> bool:
    """Decides whether labels in an item name its owner and due date: "Book the hall - owner: Ada, due: 2026-05-06"."""
    behind = Part(first_sentence(reading.text, part).end, part.end)
    names = [name for owners in named_owners(reading.text, behind) for name in owners.names]
    is_owned = bool(names) and not any(map(reading.names_nothing, names))
    return is_owned and states_due_day(reading.text, part)


def _quoted_until(reading: Reading, part: Part, under: Announced | None) -> int | None:
    """Returns the end of the quotation at the beginning of an entry, or None if the entry is read like any other."""
    quoted = quotation_at_start(reading.text, part)
    is_title = under is not None and under.type not in _NEVER_QUOTED and label_of(reading, part) is None
    return None if quoted is None or is_title else quoted.end


def _read_person(context: ProseContext, part: Part, above: FoundNode) -> FoundNode | None:
    """Reads an entry that names a person: "Ada Lovelace (lead)", "García Ruiz, Ana"."""
    reading = context.reading
    relation = reading.vocabulary.relations["attendee"]
    label = context.sections[-1].heading or "people"
    turned = given_first(plain(reading.quote(part)), is_one=True)
    if turned is not None:
        people = relate_one(reading, above, relation, label, part, turned)
    else:
        people = relate(reading, above, relation, label, _leading_name(reading.text, part))
    scan(reading, above, part)
    return people[0] if len(people) == 1 else None


def _goes_on(context: ProseContext, part: Part) -> bool:
    """Decides whether a paragraph below a heading with a type's word states a thing of the type: the first does, and
    any "We will ..."."""
    section = context.sections[-1]
    is_first, section.is_stated = not section.is_stated, True
    return is_first or _WILL.match(context.reading.text, part.start, part.end) is not None


def _leading_name(text: str, part: Part) -> Part:
    """Returns the name at the start of an entry such as `Ada Lovelace (lead)` or `Ada — backend`."""
    end = re.compile(r"\s*[(（,:–—]|\s+-\s|\s+(?=@)").search(text, part.start, part.end)
    return Part(part.start, end.start() if end else part.end)
