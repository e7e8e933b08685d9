"""Collects the nodes found in one document, their names and properties, and the references to resolve later."""

from __future__ import annotations

import re
from bisect import bisect_left
from itertools import accumulate

from contracts.world.extraction.commitments import Commitment
from contracts.world.extraction.decisions import is_joke, is_taken_back, is_undecided, with_reason
from contracts.world.extraction.dependencies import Depends, Waits
from contracts.world.extraction.document_text import DocumentText
from contracts.world.extraction.figures import is_figure
from contracts.world.extraction.findings import LONGEST_TEXT, Findings, FoundNode, Part, clean_text
from contracts.world.extraction.inline_markup import plain
from contracts.world.extraction.people import handles_in
from contracts.world.extraction.predicates import Stated
from contracts.world.extraction.vocabulary import Relation, Vocabulary, plain_words, singular

_RESERVED = frozenset(
    {"subject", "predicate", "confidence", "tags", "observed_at", "url", "handle", "dates", "amounts", "spans"}
)
"""Properties with a meaning for the graph. Text of a document can't set them."""
_LINE = re.compile(r"[^\s](?:[^\r\n]*[^\s])?")
"""A non-blank line without the white space at its ends."""


class Reading(DocumentText):
    """The text of one document, and the nodes and edges found in it."""

    def __init__(
        self,
        findings: Findings,
        vocabulary: Vocabulary,
        document: str,
        text: str,
        *,
        has_marks: bool = True,
        has_comments: bool = False,
    ) -> None:
        super().__init__(document, text, has_marks=has_marks, has_comments=has_comments)
        self.findings = findings
        self.vocabulary = vocabulary
        self.root: FoundNode
        self.understood: list[tuple[str, Part]] = []
        self.handles = handles_in(self.written)
        self.scanned: list[tuple[FoundNode, Part]] = []
        """Pairs of a node and a part of the text that describes it."""
        self.open_relations: list[tuple[FoundNode, Relation, str, Part, str | None]] = []
        """Relations whose targets are resolved by name at the end: subject, relation, label, value and its meaning."""
        self.triples: list[Stated] = []
        self.dependencies: list[Depends] = []
        self.waits: list[Waits] = []
        self.assigned: list[tuple[FoundNode, Part]] = []
        """Tasks with the names of assignees whom the text may introduce later."""
        self.commitments: list[tuple[FoundNode, Commitment]] = []
        self.ended: list[Part] = []
        """The values that only name former owners and assignees, in the order of the text."""
        self._by_name: dict[str, FoundNode] = {}
        self._called: dict[str, FoundNode | None] = {}
        """The people by first and last name; None for a name that several share."""
        self._people_called = 0
        """The number of people of the document that `_called` covers."""

    def begin(self, title: str, part: Part) -> None:
        """Adds the node of the document itself."""
        self.root = self.findings.add("document", self.document, "Document", title, [self.span(part)])

    def add(self, rule: str, node_type: str, part: Part, within: FoundNode, title: str | None = None) -> FoundNode:
        """Adds a new node as a part of another one. Its title is the part's text unless one is given."""
        node = self.findings.add(
            rule, self.document, node_type, plain(self.quote(part)) if title is None else title, [self.span(part)]
        )
        self.findings.tie(rule, node, within, "PART_OF", self.span(part))
        self.name(node, node.title)
        return node

    def add_labelled(
        self, rule: str, node_type: str, label: str, part: Part, within: FoundNode, title: str | None = None
    ) -> FoundNode:
        """Adds a node for the text after a label, and stores the label, so that a search for it finds the node.

        The label becomes the beginning of the title if the text is only a figure: "Budget: 500 EUR". Otherwise it
        becomes a property, unless it is the word for the type.
        """
        name = plain(self.quote(part)) if title is None else title
        if is_figure(name):
            node = self.add(rule, node_type, part, within, f"{label}: {name}")
            self.name(node, name)
            return node
        node = self.add(rule, node_type, part, within, name)
        if singular(label).replace(" ", "") != node_type.lower():
            self.describe(node, "label", label)
        return node

    def name(self, node: FoundNode, name: str) -> None:
        """Registers a name by which later references find a node. The first node with a name keeps it."""
        if words := plain_words(name):
            self._by_name.setdefault(words, node)

    def named(self, part: Part) -> FoundNode | None:
        """Returns the node that a part names, or None."""
        return self.node_called(plain(self.quote(part)))

    def node_called(self, name: str) -> FoundNode | None:
        """Returns the node with a name, or None."""
        return self._by_name.get(plain_words(name))

    def describe(self, node: FoundNode, name: str, text: str) -> bool:
        """Sets a text property of a node, unless the node has a property of that name.

        Returns whether the node now has the whole text.
        """
        value = self.joined(clean_text(plain(text)))
        key = "_".join(plain_words(name).replace("-", " ").split())
        if not value or not key or key in _RESERVED:
            return False
        return self.findings.describe(node, key, value[:LONGEST_TEXT]) and len(text) <= LONGEST_TEXT

    def person_called(self, name: str) -> FoundNode | None:
        """Returns the person whom the text has named before, given the full, first or last name."""
        people = self.findings.people(self.document)
        for person in people[self._people_called :]:
            words = person.title.split()
            for word in {words[0], words[-1]}:
                self._called[word] = person if self._called.get(word, person) is person else None
        self._people_called = len(people)
        return self.findings.known(self.document, "Person", name) or self._called.get(name)

    def is_person(self, name: str) -> bool:
        """Decides whether a name refers to a person whom the text has named before, or is the full name of a person in
        another document."""
        return self.person_called(name) is not None or (" " in name and name in self.findings.people_elsewhere)

    def person_at(self, part: Part, *, is_full: bool) -> FoundNode | None:
        """Returns the person to whom a part refers: one whom the text names, or one named so in another document. With
        `is_full`, such a name must have several words."""
        name = plain(self.quote(part))
        person = self.person_called(name)
        if person is None and name in self.findings.people_elsewhere and (" " in name or not is_full):
            return self.findings.refer_elsewhere("person", self.document, name, self.span(part))
        return person

    def names_nothing(self, part: Part) -> bool:
        """Decides whether a part denies that there is a name: "N/A", "to be decided"."""
        return self.vocabulary.names_nothing(plain(self.quote(part)))

    def states_none(self, node_type: str | None, part: Part) -> bool:
        """Decides whether a part denies that there is a thing of some type.

        For a decision, "postponed to May" and a question do so too.
        """
        if node_type == "Decision":
            if is_taken_back(self.text, part, part.end) or is_joke(self.quote(part)):
                return True
            part, _ = with_reason(self.text, part)
        if node_type is not None and self.vocabulary.states_no(node_type, plain(self.quote(part))):
            return True
        return self.names_nothing(part) or (node_type == "Decision" and is_undecided(plain(self.quote(part))))

    def read_as(self, rule: str, part: Part) -> None:
        """Records that a part was understood, although it made no node."""
        self.understood.append((rule, part))

    def left_out(self) -> list[Part]:
        """Returns the lines of the text from which nothing was read, with adjacent ones joined, and the comments within
        other lines."""
        known = sorted(part for _, part in self.understood)
        ends = list(accumulate((part.end for part in known), max))
        starts = [part.start for part in known]
        found: list[Part] = []
        joins = False
        for match in _LINE.finditer(self.given) if known or self.comments else ():
            line = Part(match.start(), match.end())
            before = bisect_left(starts, line.end)
            if before and ends[before - 1] > line.start:
                joins = False
                within = (Part(max(comment.start, line.start), min(comment.end, line.end)) for comment in self.comments)
                found += [part for part in within if part.start < part.end]
            elif joins:
                found[-1] = Part(found[-1].start, line.end)
            else:
                found.append(line)
                joins = True
        return found
