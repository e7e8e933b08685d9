"""Extracts nodes and relations from the headings, list items, labelled lines and paragraphs of a text.

A heading that announces a type decides about the entries below it. Example: below "Open risks" each list item is a
Risk, below "Decision" a paragraph is a Decision. Any other heading becomes a Concept, unless it names a part of any
document, such as "License". An entry below it becomes a node of a type if it is a checkbox, a defined term
("**API** - ..."), or has a label that names a type ("Goal: ..."). Every other entry is kept as a passage, and so is
each turn of a conversation: a line whose label comes several times in its section, as in "Ada: hello".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from contracts.world.extraction.document_reading import NAMED_OWNER, Reading, first_sentence, plain
from contracts.world.extraction.figures import dates_in
from contracts.world.extraction.findings import FoundNode, Part
from contracts.world.extraction.markdown import Entry, Field, Heading, Table, blocks_of
from contracts.world.extraction.sentences import DAY, with_reason
from contracts.world.extraction.tables import read_table
from contracts.world.extraction.vocabulary import Announced

_CHECKBOX = re.compile(r"\[([ xX])\]\s+")
_BRACKET = r"(?:\([^()\n]{0,80}\)|\[[^\[\]\n]{0,80}\])"
_LABEL = re.compile(
    rf"(?P<mark>\*\*|__|`)?(?P<label>(?:[^\s:*_`|<>(\[]|{_BRACKET})(?:[^:*_`|<>(\[\n]|{_BRACKET}){{0,48}}?)"
    rf"(?P=mark)?(?P<behind>\s*{_BRACKET})?\s*:(?P=mark)?(?:\s+|$)"
)
"""A label ends at the first colon that stands in no bracket."""
_DAY = rf"{DAY}(?:, {DAY})?"
_QUALIFIED = re.compile(
    rf"(?P<head>[^(\[]*?)\s*(?:[(\[](?P<inner>[^()\[\]\n]+)[)\]]|(?:^|\b(?:of|on|from)\s+|(?<=\s)|,\s)(?P<day>{_DAY}))",
    re.IGNORECASE,
)
"""A label with what is said of it: "Risk (impact: high)", "Decided on 2026-03-01", or only a day."""
_DATED = re.compile(
    rf"(?P<mark>\*\*|__)?[(\[]?(?P<day>{_DAY})[)\]]?(?P=mark)?(?:\s+[–—-]{{1,2}}|(?<=[)\]])(?:\s*:)?)\s+(?=\S)"
)
"""The day of an entry before a dash, or in a bracket: "2026-03-01 - sell the boat"."""
_PAIR = re.compile(r"(?P<name>[^\W\d][\w -]{0,30}?)\s*[:=]\s*(?P<value>(?!//)\S[^:=]*)")
_ONLY_DAY = re.compile(_DAY, re.IGNORECASE)
_IN_BRACKETS = re.compile(_BRACKET)
_AGREED = frozenset({"agreed", "resolved"})
"""Words that say, before a day, that what follows was decided then."""
_TERM = re.compile(
    r"(?P<mark>\*\*|__|`)(?P<label>[^*_`\n]{1,80})(?P<behind>)(?P=mark)\s+"
    r"(?:[–—-]{1,2}|is|are|means|refers to|stands for)\s+"
)
_WHO_AND_WHEN = re.compile(r"@[\w-]+|\d{4}-\d{2}-\d{2}|\b(?:due|by|until|owner|assignee)\b|\W")
_KINDED = re.compile(r"(?P<kind>[A-Za-z][A-Za-z -]{1,30}?)(?:\s+[#A-Z]?\d[\w.-]*)?\s*[:–—]\s+(?=\S)")
_MOST_LABEL_WORDS = 5
_LONGEST_TITLE_LINE = 80
_LONGEST_FIELD = 200
"""Most characters of the value of a paragraph "label: value"; a longer one is prose."""
_STATED = frozenset({"Decision", "Vision", "Strategy", "Outcome", "Goal", "Aspiration", "Pattern"})
"""Types that a paragraph below the word for the type states."""


_Place = Literal["item", "field", "paragraph"]
"""The position of a statement: a list item, one of several labelled lines, or a paragraph."""


@dataclass
class _Section:
    level: int
    node: FoundNode
    announced: Announced | None
    heading: str | None = None
    day: Part | None = None
    """The day that its heading is, if that is nothing else."""


@dataclass
class _Labelled:
    label: str
    label_part: Part
    rest: Part
    is_term: bool
    head: str
    """The label without the day or the bracket behind it; empty if it is only a day."""
    day: Part | None = None
    pairs: tuple[tuple[str, str], ...] = ()
    """Names and values in a bracket: "impact: high"."""
    is_one: bool = False
    """True if the rest is an element of a list."""


def read_prose(reading: Reading, title: str | None) -> None:
    """Reads a whole Markdown or plain text. `title` overrides the title in the text."""
    _Prose(reading, title).read()


class _Prose:
    def __init__(self, reading: Reading, title: str | None) -> None:
        self._reading = reading
        self._blocks = list(blocks_of(reading.text))
        self._title = self._title_block(is_titled=title is not None)
        self._speakers = self._repeated_labels()
        self._number = 0
        self._front_title = None if title is not None or self._title is not None else self._title_field()
        part = Part(0, len(reading.text)).trimmed(reading.text)
        if self._title is not None:
            part = self._title.part
        elif self._front_title is not None:
            part = self._front_title.values[0]
        is_named = self._title is not None or self._front_title is not None
        reading.begin(title or (plain(reading.quote(part)) if is_named else reading.document), part)
        if title is not None and self._title is not None:
            reading.describe(reading.root, "heading", reading.quote(part))
        self._sections = [_Section(0, reading.root, None)]
        self._items: list[FoundNode | None] = []
        self._below: Announced | None = None
        self._below_depth = 0
        """The announcement of a label without a value for the items below it, and the depth of that label."""

    def _title_block(self, *, is_titled: bool) -> Heading | None:
        """Returns the first heading if it is of level 1, or else a first line that looks like a title, or None.

        The first line of a text that comes with its title is a line like any other.
        """
        first = next((block for block in self._blocks if isinstance(block, Heading)), None)
        if first is not None:
            return first if first.level == 1 else None
        match self._blocks:
            case [Entry(0, (line,)), *rest] if not is_titled and not self._labelled(line):
                text = self._reading.quote(line)
                if len(text) <= _LONGEST_TITLE_LINE and text[-1] not in ".,;:!?":
                    title = Heading(1, line)
                    if rest:
                        self._blocks[0] = title
                    return title
        return None

    def _title_field(self) -> Field | None:
        """Returns the title of the front matter, or None."""
        return next(
            (
                block
                for block in self._blocks
                if isinstance(block, Field) and self._reading.quote(block.key) == "title" and len(block.values) == 1
            ),
            None,
        )

    def _repeated_labels(self) -> frozenset[tuple[int, str]]:
        """Returns the labels that name nothing and come several times in one section, each with its section's number:
        those of speakers."""
        seen: set[tuple[int, str]] = set()
        repeated: set[tuple[int, str]] = set()
        section = 0
        for block in self._blocks:
            if isinstance(block, Heading):
                section += 1
            elif isinstance(block, Entry) and block.depth == 0:
                for line in block.lines:
                    labelled = self._labelled(line)
                    if labelled is not None and not self._is_known(labelled.head):
                        key = (section, labelled.label.casefold())
                        (repeated if key in seen else seen).add(key)
        return frozenset(repeated)

    def _is_known(self, label: str) -> bool:
        vocabulary = self._reading.vocabulary
        return vocabulary.relation_of(label) is not None or vocabulary.type_of(label) is not None

    def _is_speaker(self, labelled: _Labelled | None) -> bool:
        return labelled is not None and (self._number, labelled.label.casefold()) in self._speakers

    def read(self) -> None:
        for block in self._blocks:
            match block:
                case Heading():
                    self._heading(block)
                case Table(header, rows):
                    announced = self._announced
                    read_table(self._reading, header, rows, self._node, announced and announced.type)
                case Field():
                    self._field(block)
                case Entry():
                    self._entry(block)

    @property
    def _node(self) -> FoundNode:
        return self._sections[-1].node

    @property
    def _announced(self) -> Announced | None:
        return self._below or self._sections[-1].announced

    def _heading(self, heading: Heading) -> None:
        self._items, self._below = [], None
        self._number += 1
        if heading is self._title:
            self._reading.scan(self._reading.root, heading.part)
            return
        while self._sections[-1].level >= heading.level:
            self._sections.pop()
        above = self._sections[-1]
        text = self._reading.quote(heading.part)
        vocabulary = self._reading.vocabulary
        kinded = _KINDED.match(text)
        kind = vocabulary.type_of(kinded["kind"]) if kinded else None
        announced = None if kind else vocabulary.announced(plain(text))
        if announced is not None or (kind is None and vocabulary.names_a_part(plain(text))):
            self._reading.read_as("heading", heading.part)
            self._sections.append(_Section(heading.level, above.node, announced, plain(text)))
            return
        part = Part(heading.part.start + kinded.end(), heading.part.end) if kinded and kind else heading.part
        below_many = above.announced.type if above.announced and above.announced.many else None
        if below_many is not None and self._reading.states_none(below_many, heading.part):
            below_many = None
        day, part = None, heading.part
        if kinded and kind:
            part = Part(part.start + kinded.end(), part.end)
        elif below_many is not None:
            if _ONLY_DAY.fullmatch(plain(text)):
                self._reading.read_as("heading", part)
                self._sections.append(_Section(heading.level, above.node, above.announced, plain(text), part))
                return
            day, part = self._without_day(part)
        node = self._reading.add("heading", kind or below_many or "Concept", part, above.node)
        self._reading.scan(node, part)
        self._date(node, day)
        self._sections.append(_Section(heading.level, node, None, plain(text)))

    def _field(self, field: Field) -> None:
        """Reads a key of the front matter as a label. A list of what is neither named nor related is one text."""
        reading, values = self._reading, field.values
        if field is self._front_title:
            reading.scan(reading.root, field.whole)
            return
        label = reading.quote(field.key)
        if len(values) == 1 or self._is_known(label):
            reading.read_as("label", field.key)
            for value in values:
                labelled = _Labelled(label, field.key, value, False, label, is_one=len(values) > 1)
                part = field.whole if len(values) == 1 else value
                self._labelled_statement(labelled, part, reading.root, None, "field")
        elif values:
            if not reading.describe(reading.root, label, ", ".join(map(reading.quote, values))):
                self._keep(field.whole, reading.root)
            reading.scan(reading.root, field.whole)

    def _entry(self, entry: Entry) -> None:
        if entry.depth == 0:
            self._items = []
            pieces = list(self._lines_or_whole(entry))
        else:
            del self._items[entry.depth - 1 :]
            self._items += [None] * (entry.depth - 1 - len(self._items))
            pieces = [Part(entry.lines[0].start, entry.lines[-1].end)]
        if 0 < entry.depth <= self._below_depth:
            self._below = None
        above = next((node for node in reversed(self._items) if node is not None), self._node)
        announced = self._announced
        is_below_none = bool(self._items) and self._items[-1] is None
        below = self._below
        self._below = below if entry.depth else None
        place: _Place = "item" if entry.depth else "field" if len(pieces) > 1 else "paragraph"
        for part in pieces:
            if is_below_none and self._describes(part, below):
                made = self._keep(part, above)
            else:
                made = self._statement(part, above, announced, place)
            if made is not None and announced is not None and made.type == announced.type:
                self._date(made, self._sections[-1].day)
            if entry.depth:
                self._items.append(made)
        if self._below is not below:
            self._below_depth = entry.depth

    def _describes(self, part: Part, below: Announced | None) -> bool:
        """Decides whether an entry states something of the entry above it. `below` announces what is below that one."""
        labelled = self._labelled(part)
        if labelled is None:
            return False
        relation = self._reading.vocabulary.relation_of(labelled.head)
        if relation is not None:
            return below is None or below.type != relation.to
        is_typed = self._reading.vocabulary.type_of(labelled.head) is not None
        return not (is_typed or labelled.is_term or below)

    def _lines_or_whole(self, entry: Entry) -> Iterator[Part]:
        """Yields the lines if each has a label, because they are separate statements, or else the whole paragraph, or
        the turns of a conversation."""
        labels = [self._labelled(line) for line in entry.lines]
        if all(labels):
            yield from entry.lines
            return
        starts = [line.start for line, label in zip(entry.lines, labels, strict=True) if self._is_speaker(label)]
        ends = [line.end for line in entry.lines]
        start = entry.lines[0].start
        for turn in starts:
            if turn > start:
                yield Part(start, turn).trimmed(self._reading.text)
            start = turn
        yield Part(start, ends[-1])

    def _statement(self, part: Part, above: FoundNode, announced: Announced | None, place: _Place) -> FoundNode | None:
        """Returns the node that a statement makes, or None. Everything else it states belongs to the node above it."""
        reading = self._reading
        nested = place == "item" and above is not self._node
        box = _CHECKBOX.match(reading.text, part.start, part.end) if place == "item" else None
        if box is not None:
            rest = Part(box.end(), part.end)
            node = self._add_node("checkbox", "Task", first_sentence(reading.text, rest), rest, above)
            node.properties["status"] = "open" if box[1] == " " else "done"
            return node
        under = None if nested or announced is None else announced
        if under is not None:
            day, undated = self._without_day(part)
            if day is not None and not reading.states_none(under.type, undated):
                made = self._statement(undated, above, under, place)
                self._date(made, day)
                return made
            if day is not None:
                return self._keep(part, above)
        labelled = self._labelled(part)
        if labelled is not None:
            return self._labelled_statement(labelled, part, above, under, place)
        stated = under is not None and ((place == "item" and under.many) or (not under.many and under.type in _STATED))
        if (
            under is not None
            and stated
            and not (reading.states_none(under.type, part) or reading.quote(part).endswith(":"))
        ):
            sentence = first_sentence(reading.text, part)
            if under.type == "Resource" and (link := reading.link(part, above)) is not None:
                return link
            if under.type != "Person":
                return self._add_node("announced", under.type, sentence, part, above)
            attendee, name = reading.vocabulary.relations["attendee"], _leading_name(reading.text, part)
            people = reading.relate(above, attendee, "people", name)
            reading.scan(above, part)
            return people[0] if len(people) == 1 else None
        return self._keep(part, above)

    def _keep(self, part: Part, above: FoundNode) -> FoundNode | None:
        return self._reading.keep(part, above, self._sections[-1].heading)

    def _labelled_statement(
        self,
        labelled: _Labelled,
        part: Part,
        above: FoundNode,
        under: Announced | None,
        place: _Place,
    ) -> FoundNode | None:
        """Reads a labelled entry, and adds what the label says beside its name to the node that it makes."""
        made = self._of_label(labelled, part, above, under, place)
        self._date(made, labelled.day)
        if made is not None and made.type != "Passage":
            for name, value in labelled.pairs:
                self._reading.describe(made, name, value)
        return made

    def _without_day(self, part: Part) -> tuple[Part | None, Part]:
        """Returns the day before an entry, if one stands there, and the rest: "2026-03-01: sell the boat"."""
        labelled = self._labelled(part)
        if labelled is not None and not labelled.head and labelled.rest.start < labelled.rest.end:
            return labelled.day, labelled.rest
        dated = _DATED.match(self._reading.text, part.start, part.end)
        return (None, part) if dated is None else (Part(*dated.span("day")), Part(dated.end(), part.end))

    def _date(self, node: FoundNode | None, day: Part | None) -> None:
        """Gives a node the date of a day, or the words for it if it has no year. A passage has them already."""
        if node is None or node.type == "Passage" or day is None:
            return
        self._reading.scan(node, day)
        if not any(dates_in(self._reading.text, day)):
            self._reading.describe(node, "day", self._reading.quote(day))

    def _of_label(
        self, labelled: _Labelled, part: Part, above: FoundNode, under: Announced | None, place: _Place
    ) -> FoundNode | None:
        reading, vocabulary = self._reading, self._reading.vocabulary
        empty = labelled.rest.start >= labelled.rest.end
        relation = vocabulary.relation_of(labelled.head)
        named_type = vocabulary.type_of(labelled.head)
        if labelled.day is not None and labelled.head.lower() in _AGREED:
            named_type = "Decision"
        if reading.states_none(named_type, labelled.rest):
            named_type = None
        if empty:
            self._below = vocabulary.announced(labelled.head)
            if self._below is None and place == "item" and under is not None:
                return self._add_node("announced", under.type, labelled.label_part, labelled.label_part, above)
            if self._below is None:
                return self._keep(part, above)
            reading.read_as("label", part)
            return None
        if self._is_speaker(labelled):
            return self._keep(part, above)
        if labelled.head.lower() in vocabulary.reasons and above.type == "Decision":
            reading.describe(above, "rationale", reading.quote(labelled.rest))
            reading.scan(above, part)
            return None
        if relation is not None and (relation.to in ("Person", "Organization") or named_type is None):
            people = reading.relate(above, relation, labelled.head, labelled.rest, is_one=labelled.is_one)
            reading.scan(above, labelled.rest)
            if labelled.head != labelled.label:
                self._keep(part, above)
            return people[0] if len(people) == 1 else None
        if named_type is not None and not (labelled.is_term and under):
            if named_type == "Person":
                people = reading.relate(above, vocabulary.relations["attendee"], labelled.head, labelled.rest)
                reading.scan(above, labelled.rest)
                return people[0] if len(people) == 1 else None
            sentence = first_sentence(reading.text, labelled.rest)
            label = labelled.label if labelled.day is None else labelled.head
            node = self._add_node("label", named_type, sentence, labelled.rest, above, label)
            if relation is not None:
                source, target = (node, above) if relation.reversed else (above, node)
                reading.findings.tie("label", source, target, relation.type, reading.span(labelled.rest))
            return node
        if (labelled.is_term and place != "field") or (under is not None and under.many and place == "item"):
            node_type = under.type if under is not None and under.many else "Concept"
            if node_type == "Person" and reading.party_type(labelled.label, "Person") != "Person":
                return self._held(labelled, part, above)
            if reading.states_none(node_type, labelled.rest) or (
                node_type == "Decision" and reading.states_none(node_type, labelled.label_part)
            ):
                return self._keep(part, above)
            node = reading.add("term", node_type, labelled.label_part, above)
            reading.describe(node, "description", reading.quote(labelled.rest))
            reading.scan(node, labelled.rest)
            return node
        is_field = place == "field" or (place == "item" and above is not self._node and above.type != "Passage")
        if is_field and not labelled.pairs and reading.describe(above, labelled.label, reading.quote(labelled.rest)):
            reading.scan(above, part)
            return None
        if not is_field and labelled.rest.end - labelled.rest.start <= _LONGEST_FIELD:
            reading.describe(above, labelled.label, reading.quote(labelled.rest))
        return self._keep(part, above)

    def _held(self, labelled: _Labelled, part: Part, above: FoundNode) -> FoundNode | None:
        """Reads an entry about people whose label names a post or a part: "CTO: Ada Lovelace"."""
        reading = self._reading
        people = reading.relate(above, reading.vocabulary.relations["attendee"], labelled.label, labelled.rest)
        if len(people) != 1:
            return self._keep(part, above)
        reading.describe(people[0], "role", labelled.label)
        reading.scan(above, labelled.rest)
        return people[0]

    def _add_node(
        self, rule: str, node_type: str, sentence: Part, whole: Part, above: FoundNode, label: str | None = None
    ) -> FoundNode:
        reading = self._reading
        why = None
        if node_type == "Decision":
            sentence, why = with_reason(reading.text, sentence)
        if label is None:
            node = reading.add(rule, node_type, sentence, above)
        else:
            node = reading.add_labelled(rule, node_type, label, sentence, above)
        if why is not None:
            reading.describe(node, "rationale", reading.quote(why))
        told = sentence if why is None else why
        rest = Part(told.end, whole.end).trimmed(reading.text).trimmed(reading.text, " .,;:()[]–—-")
        for owner in NAMED_OWNER.finditer(reading.text, *rest):
            relation = reading.vocabulary.relations[owner["label"].lower()]
            reading.relate(node, relation, owner["label"], Part(*owner.span("name")))
        if _WHO_AND_WHEN.sub("", NAMED_OWNER.sub("", reading.quote(rest))):
            reading.describe(node, "description", reading.quote(rest))
        reading.scan(node, whole)
        return node

    def _labelled(self, part: Part) -> _Labelled | None:
        """Matches `Label: rest`, `**Label**: rest`, `**Term** — rest`, `**Term** is rest`."""
        text = self._reading.text
        for pattern in (_TERM, _LABEL):
            match = pattern.match(text, part.start, part.end)
            if match is None or text.startswith("//", match.end("label") + 1):
                continue
            label_part = Part(match.start("label"), max(match.end("label"), match.end("behind"))).trimmed(text)
            rest = Part(match.end(), part.end).trimmed(text)
            labelled = self._qualified(label_part, rest, is_term=match["mark"] is not None)
            if labelled is not None and len(_IN_BRACKETS.sub("", labelled.head).split()) <= _MOST_LABEL_WORDS:
                return labelled
        return None

    def _qualified(self, part: Part, rest: Part, *, is_term: bool) -> _Labelled | None:
        """Reads a label with the day or the bracket that may stand behind its name.

        A bracket with a colon that says nothing of the form "impact: high" makes it no label.
        """
        whole = self._reading.text[part.start : part.end]
        match = _QUALIFIED.fullmatch(whole)
        if match is None:
            return _Labelled(whole, part, rest, is_term, whole) if ":" not in whole else None
        head = match["head"].rstrip(" *_`")
        name = Part(part.start, part.start + len(head)) if head else part
        said = Part(*match.span("day" if match["inner"] is None else "inner"))
        text = whole[said.start : said.end]
        if _ONLY_DAY.fullmatch(text):
            day = Part(part.start + said.start, part.start + said.end)
            return _Labelled(whole, name, rest, is_term, head, day)
        pairs = [_PAIR.fullmatch(piece.strip()) for piece in re.split("[,;]", text)]
        if head and all(pairs):
            stated = tuple((pair["name"], pair["value"]) for pair in pairs if pair is not None)
            return _Labelled(head, name, rest, is_term, head, pairs=stated)
        if ":" in text or head != match["head"].rstrip():
            return None
        return _Labelled(whole, part, rest, is_term, head if head and self._is_known(head) else whole)


def _leading_name(text: str, part: Part) -> Part:
    """Returns the name at the start of an entry such as `Ada Lovelace (lead)` or `Ada — backend`."""
    end = re.compile(r"\s*[(,:–—]|\s+-\s").search(text, part.start, part.end)
    return Part(part.start, end.start() if end else part.end)
