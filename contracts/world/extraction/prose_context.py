"""Holds the context of the block being read: the sections, list items and labels above it.

The meaning of a block depends on its context: below "Open risks" a list item is a Risk.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from contracts.world.extraction.decisions import with_reason
from contracts.world.extraction.document_reading import Reading
from contracts.world.extraction.due_dates import without_days
from contracts.world.extraction.figures import dates_in
from contracts.world.extraction.findings import FoundNode, Part
from contracts.world.extraction.labels import Labelled
from contracts.world.extraction.listed_states import announced_by_state
from contracts.world.extraction.mentions import scan
from contracts.world.extraction.parties import named_owners
from contracts.world.extraction.passages import keep
from contracts.world.extraction.relations import assign_to_known, relate
from contracts.world.extraction.vocabulary import NOTHING, Announced, singular
from contracts.world.proposal import LONGEST_TITLE

Position = Literal["item", "field", "paragraph"]
"""The position of a statement: a list item, one of several labelled lines, or a paragraph."""
_QUOTED = re.compile(r"[\"“”„][^\"“”„]+[\"“”]")
_WHO_AND_WHEN = re.compile(r"@[\w-]+|\d{4}-\d{2}-\d{2}|\b(?:due|by|until|owner|assignee)\b|\W")
_LONGEST_BRACKET = 130
_IN_LAST_BRACKET = re.compile(r"\((?P<name>[^(),;\n]{3,60})(?:[,;][^()\n]{1,60})?\)[.]?$")


@dataclass
class Section:
    """A heading with everything below it, up to the next heading of its level or a higher one."""

    level: int
    node: FoundNode
    announced: Announced | None
    heading: str | None = None
    day: Part | None = None
    """The day of a heading that consists only of a day."""
    is_stated: bool = False
    """True once one of its paragraphs has been read."""
    is_void: bool = False
    """True if the text below its heading states nothing."""


class ProseContext:
    """The sections, items and announcements above the block being read."""

    def __init__(
        self,
        reading: Reading,
        whole: Section,
        title: str,
        speakers: frozenset[tuple[int, str]],
        *,
        is_outline: bool,
    ) -> None:
        self.reading = reading
        self.is_outline = is_outline
        self.sections = [whole]
        """The sections that contain the block, outermost first; the first is the whole text."""
        self.number = 0
        """The number of headings before the block."""
        self.items: list[FoundNode | None] = []
        """The node of each list item that contains the block, or None for an item without one."""
        self.below: Announced | None = None
        """The announcement that a label without a value makes for the items below it."""
        self.below_depth = 0
        """The depth of that label."""
        self.has_items = False
        """True if the block is a list item with items below it."""
        self.is_kept = False
        """True if a passage contains the whole paragraph already."""
        self.decisions: list[FoundNode] = []
        self._speakers = speakers
        self._title = title
        self._undecided: dict[str, bool] = {}
        """For each heading, whether it marks decisions as not made."""

    @property
    def node(self) -> FoundNode:
        """Returns the node of the innermost section."""
        return self.sections[-1].node

    @property
    def section_path(self) -> str | None:
        """Returns the headings above an entry, outermost first, without the title: "Engine: When it fails". If they are
        too long together, returns only the last one."""
        headings = [section.heading for section in self.sections if section.heading is not None]
        place = ": ".join(headings)
        return (place if len(place) <= LONGEST_TITLE else headings[-1]) or None

    @property
    def announced(self) -> Announced | None:
        """Returns the announcement of the label or heading above."""
        return self.below or self.sections[-1].announced

    def is_speaker(self, labelled: Labelled | None) -> bool:
        """Decides whether a label names a speaker."""
        return labelled is not None and (self.number, labelled.label.casefold()) in self._speakers

    def announced_by(self, line: str) -> Announced | None:
        """Returns what a line announces for the list below it: `NOTHING` if the line denies or rejects it."""
        vocabulary = self.reading.vocabulary
        if (by_state := self.announced_by_state(line)) is not None:
            return by_state
        return NOTHING if vocabulary.announces_none(line) else vocabulary.announced(line)

    def announced_by_state(self, line: str) -> Announced | None:
        """Returns what a line announces if it only gives the state of a part of the section's list: "Done"."""
        listed = self.sections[-1].announced
        return announced_by_state(self.reading.vocabulary, listed, line) if listed is not None and listed.many else None

    def has_decisions(self) -> bool:
        """Decides whether the headings above allow decisions: none marks them as not made, as "Open decisions" does."""
        for heading in (self._title, *(section.heading or "" for section in self.sections)):
            if heading not in self._undecided:
                self._undecided[heading] = self.reading.vocabulary.leaves_undecided(heading)
            if self._undecided[heading]:
                return False
        return True

    def is_below_finished(self) -> bool:
        """Decides whether the heading above marks the tasks below it as done."""
        return self.reading.vocabulary.are_finished(self.sections[-1].heading or "")

    def keep(self, part: Part, above: FoundNode) -> FoundNode | None:
        """Stores a part as a passage, unless the passage of its whole paragraph contains it."""
        if self.is_kept:
            return None
        return keep(self.reading, part, above, self.section_path, has_decisions=self.has_decisions())

    def keep_as_text(self, part: Part) -> None:
        """Stores a part as a passage that states nothing, not even through its sentences."""
        self.below, self.items = None, []
        keep(self.reading, part, self.node, self.section_path, stated_from=part.end)

    def set_day(self, node: FoundNode | None, day: Part | None) -> None:
        """Gives a node the date of a day, or the words for the day if it has no year. A passage has them already."""
        if node is None or node.type == "Passage" or day is None:
            return
        scan(self.reading, node, day)
        if not any(dates_in(self.reading.text, day)):
            self.reading.describe(node, "day", self.reading.quote(day))

    def add_node(
        self, rule: str, node_type: str, sentence: Part, whole: Part, above: FoundNode, label: str | None = None
    ) -> FoundNode:
        """Adds the node that a sentence states, with its reason, its owners and the text that follows it in `whole`."""
        reading = self.reading
        why = None
        if node_type == "Decision":
            sentence, why = with_reason(reading.text, sentence)
            if _QUOTED.fullmatch(reading.quote(sentence)):
                sentence = Part(sentence.start + 1, sentence.end - 1)
        if label is None:
            node = reading.add(rule, node_type, sentence, above)
        else:
            node = reading.add_labelled(rule, node_type, label, sentence, above)
        if node_type == "Decision":
            self.decisions.append(node)
        if why is not None:
            reading.describe(node, "rationale", reading.quote(why))
        stated = sentence if why is None else why
        rest = Part(stated.end, whole.end).trimmed(reading.text).trimmed(reading.text, " .,;:()[]–—-")
        behind = reading.quote(rest)
        for owners in named_owners(reading.text, rest):
            behind = behind.replace(reading.quote(owners.whole), "")
            relation = reading.vocabulary.relations[singular(owners.label)]
            for name in owners.names:
                relate(reading, node, relation, owners.label, name, is_one=True)
        if _WHO_AND_WHEN.sub("", without_days(behind)):
            reading.describe(node, "description", reading.quote(rest))
        scan(reading, node, whole)
        if node_type in ("Task", "Action"):
            self._named_behind(node, whole)
        return node

    def _named_behind(self, task: FoundNode, whole: Part) -> None:
        """Assigns a task to the person in a bracket at its end, if the text names one: "Pay the rent (Bo Li)"."""
        reading = self.reading
        match = _IN_LAST_BRACKET.search(reading.text, max(whole.start, whole.end - _LONGEST_BRACKET), whole.end)
        if match is not None:
            name = Part(*match.span("name")).trimmed(reading.text)
            assign_to_known(reading, task, name)
