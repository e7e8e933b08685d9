"""Reads one document: the common part of prose, tables and objects, from mentions to named relations.

The difficulty is that a text may use a name before it introduces it. Example:

    ## Tasks
    - Build the parser
      - depends on: Design

    ## Design

`relate` can't resolve "Design" when it reads the list, so it stores the reference. `finish` resolves all references
once every name is known, and adds the edge from the task to the heading's node. If no node has the name, a relation
with a target type makes a node from the sentence; otherwise the text becomes a property of the task. Names of people
and teams need not wait, because a name stands for the same node in the whole document.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterator, Sequence
from itertools import accumulate, islice

from markdown_it import MarkdownIt

from contracts.world.extraction.figures import DAY_WITH_YEAR, amounts_in, dates_in, is_figure
from contracts.world.extraction.findings import Findings, FoundNode, Part, Span, clean_text
from contracts.world.extraction.people import (
    CAPITAL,
    addressed_in,
    called,
    firms_in,
    given_first,
    handles_in,
    named_in,
    people_in,
    without_post,
    written_out,
)
from contracts.world.extraction.sentences import (
    ABBREVIATIONS,
    DUE_WORDS,
    NOT_BEFORE,
    Commitment,
    Depends,
    Waits,
    commitments_in,
    decided_in,
    depends_in,
    is_proper,
    is_undecided,
    waits_in,
    with_reason,
)
from contracts.world.extraction.struck import struck_in, without
from contracts.world.extraction.vocabulary import Relation, Vocabulary, plain_words, singular, without_unit
from contracts.world.proposal import LONGEST_TITLE
from contracts.world.text import is_blank

EVERYWHERE = "*"
"""The scope of names that mean the same in every document of a request: handles and URLs."""

LONGEST_TEXT = 2_000
"""Most characters of a description or another text property. The span leads to the rest."""

MOST_DATES = 1_000
"""Most dates, and most amounts, of one node: the first that its text names."""

MOST_DEPENDENCIES = 200
"""Most sentences "X depends on Y" of one document: the first ones."""

MOST_COMMITMENTS = 200
"""Most sentences that say what somebody is to do by a day, of one document: the first ones."""

_MENTION = re.compile(r"(?<![\w@/.`])@([A-Za-z0-9][A-Za-z0-9_-]{0,38}+)(?![\w@]|[./]\w)")
"""A handle. "@acme/builders" is one of a team."""
_LINK = re.compile(r"(?<!!)\[([^\[\]\n]{1,200})\]\((https?://[^\s)<>\[]{1,2000})(?:\s+\"[^\"\n]*\")?\)")
_IMAGE = r"!\[(?P<alt>[^\[\]\n]{0,200})\]\([^\s()]{1,2000}(?:\s+\"[^\"\n]*\")?\)"
_PICTURE = re.compile(_IMAGE)
_BADGE = re.compile(rf"\[{_IMAGE}\]\((?P<url>https?://[^\s)<>\[]{{1,2000}})\)")
_WIKILINK = re.compile(r"(?<!!)\[\[([^\[\]|#\n]{1,200})(?:#[^\[\]|\n]{0,200})?(?:\|([^\[\]\n]{1,200}))?\]\]")
"""A link to another note: "[[Name]]", "[[folder/name#part|as it is shown]]"."""
_TAG = re.compile(
    r"</?(?:a|abbr|b|big|br|center|code|del|details|div|em|font|i|img|ins|kbd|mark|p|s|small|span|strong|sub|summary|sup|u)\b"
    r"[^<>]*>",
    re.IGNORECASE,
)
_URL = re.compile(r"https?://[^\s<>()\[\]\"'`|]{1,2000}")
_SAID = re.compile(
    r"(?<![\w\"])\"(?=\S)[^\"]{1,1000}(?<=\S)\"(?!\w)|“[^“”]{1,1000}”|„[^“”„]{1,1000}[“”]|«[^«»]{1,1000}»|»[^«»]{1,1000}«"
)
"""What a sentence quotes: "Ruth wrote: “We decided to sail.”"."""
_CODE = re.compile(r"(?<!`)(`{1,3})(?!`).{1,1000}?(?<!`)\1(?!`)", re.DOTALL)
_DUE = re.compile(r"(?:\bdue|\bby|\buntil|\bbefore|\bdeadline)\W{0,4}$|📅\s{0,2}$", re.IGNORECASE)
"""Words before the day by which something is to be done, or the sign for it in lists of tasks."""
_DUE_ELSEWHERE = re.compile(rf"\b{DUE_WORDS}\W{{0,4}}$", re.IGNORECASE)
_SINCE = re.compile(
    r"\b(?:from|since|vom|von|ab|du|del?|dal|da|van|vanaf|desde)\s+(?:\w+\s+)?\d[^;\n]{0,25}$", re.IGNORECASE
)
"""The beginning of a period, whose last day is no day by which something is due."""
_SEVERAL = re.compile(
    rf"\s*(?:[;、]|,(?:\s|(?={CAPITAL}))(?!\s?(?i:inc|ltd|llc|llp|plc|gmbh|corp)\b)|\b(?:and|und)\b)\s*(?:\band\s+)?"
)
"""What separates names. Many names of firms and products contain "&" or "/"."""
_SEMICOLON = re.compile(r"\s*;\s*")
_NAME_WORD = rf"(?:{CAPITAL}[\w.’'-]*|van|von|de|der|den|da|di|la|le|bin|ibn)"
_NAME = re.compile(rf"{_NAME_WORD}(?: {_NAME_WORD}){{0,3}}")
_HAN_NAME = re.compile("[\u4e00-\u9fff々]{2,4}")
_BEHIND_NAME = re.compile(r"(?P<name>[^()@（）]+?)\s*(?:[(（](?P<said>[^()@（）]{1,60})[)）]\s*)+")
"""A name with what is said of whom it calls in brackets: "Floyd (CTO)"."""
_ADDRESS = re.compile(r"\s*[<(]?[\w.+-]{1,64}@[\w-]+(?:\.[\w-]+)+[>)]?$")
_HONOURED = re.compile("(?<=[\u4e00-\u9fff々])(?:氏|さん|様)$")
_FIRM_WORD = r"[A-ZÀ-ÖØ-Þ][\w.’'-]*(?:&[A-Z][\w.’'-]*)?"
_LEGAL = r"(?i:inc|ltd|llc|llp|plc|gmbh|ag|kg|corp|co)\b\.?"
_GROUP = "(?:team|group|department|crew|squad|foundation|committee|council)"
_FIRM = re.compile(rf"{_FIRM_WORD}(?:(?: &)? {_FIRM_WORD}){{0,3}}(?:,? {_LEGAL})?(?: {_GROUP})?")
_TEAM = re.compile(rf"\b(?:{_GROUP}|{_LEGAL})$", re.IGNORECASE)
_PLAIN = MarkdownIt("commonmark", {"html": False}).enable("strikethrough")


_LINE = re.compile(r"[^\s](?:[^\r\n]*[^\s])?")
"""A line without the white space at its ends, if anything is left."""


class Reading:
    """The text of one document, and the nodes and edges found in it."""

    def __init__(
        self, findings: Findings, vocabulary: Vocabulary, document: str, text: str, *, has_marks: bool = True
    ) -> None:
        self.findings = findings
        self.vocabulary = vocabulary
        self.document = document
        self.written = text
        """The text as it stands, with what is struck through."""
        self._struck = struck_in(text) if has_marks else []
        self.text = without(text, self._struck)
        self.doubles_quotes = False
        self.root: FoundNode
        self._by_name: dict[str, FoundNode] = {}
        self.understood: list[tuple[str, Part]] = []
        self._handles = handles_in(text)
        self._scanned: list[tuple[FoundNode, Part]] = []
        self._dependencies: list[Depends] = []
        self._waits: list[Waits] = []
        self._assigned: list[tuple[FoundNode, Part]] = []
        self._commitments: list[tuple[FoundNode, Commitment]] = []
        self._called: dict[str, FoundNode | None] = {}
        """The people by their first and last names; None for a name of several."""
        self._ended: list[Part] = []
        """The values that only name who owned or did something, in the order of the text."""
        self._people_called = 0
        """The number of people of the document that `_called` holds."""
        self._open: list[tuple[FoundNode, Relation, str, Part, str | None]] = []

    def begin(self, title: str, part: Part) -> None:
        """Adds the node of the document itself."""
        self.root = self.findings.add("document", self.document, "Document", title, [self.span(part)])

    def span(self, part: Part) -> Span:
        """Returns a part of the text as a span."""
        return Span(self.document, part.start, part.end)

    def quote(self, part: Part) -> str:
        """Returns the text of a part."""
        return self._meant(self.text[part.start : part.end])

    def _meant(self, text: str) -> str:
        return text.replace('""', '"') if self.doubles_quotes else text

    def shown(self, part: Part) -> Part:
        """Returns a part without what is struck through at its ends; without anything if all of it is."""
        return part.trimmed(self.text) if self._struck else part

    def is_struck(self, part: Part) -> bool:
        """Decides whether a part has text, and all of it is struck through."""
        if not self._struck or self.text[part.start : part.end].strip():
            return False
        return bool(self.written[part.start : part.end].strip())

    def is_remark(self, part: Part) -> bool:
        """Decides whether a part may only say something of what is struck through before it: "~~Call Bo~~ done"."""
        if not self._struck or self._with_struck(part).start == part.start:
            return False
        text = self.quote(part)
        return not text[:1].isupper() or len(text.split()) == 1

    def _with_struck(self, part: Part) -> Part:
        """Returns a part with what is struck through directly before and behind it."""
        start, end = part
        number = bisect_right(self._struck, start, key=lambda each: each.end) - 1
        while number >= 0 and self._is_gap(self._struck[number].end, start):
            start = self._struck[number].start
            number -= 1
        number = bisect_left(self._struck, end, key=lambda each: each.start)
        while number < len(self._struck) and self._is_gap(end, self._struck[number].start):
            end = self._struck[number].end
            number += 1
        return Part(start, end)

    def _is_gap(self, start: int, end: int) -> bool:
        """Decides whether only a few spaces stand between two offsets."""
        return end - start <= _WIDEST_GAP and not self.written[start:end].strip(" \t")

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
        """Adds a node for the text after a label, and keeps the label, so that a search for it finds the node.

        It begins the title if the text is only a figure: "Budget: 500 EUR". Otherwise it is a property, unless it is
        the word for the type.
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
        """Registers a name by which later references find a node. The first node keeps the name."""
        if words := plain_words(name):
            self._by_name.setdefault(words, node)

    def describe(self, node: FoundNode, name: str, text: str) -> bool:
        """Sets a text property of a node, unless the node has a property of that name.

        Returns whether the node now has the whole text.
        """
        value = clean_text(plain(text))
        if self._struck:
            value = _GAP.sub(" ", value)
        key = "_".join(plain_words(name).replace("-", " ").split())
        if not value or not key or key in _RESERVED:
            return False
        return self.findings.describe(node, key, value[:LONGEST_TEXT]) and len(text) <= LONGEST_TEXT

    def keep(
        self,
        part: Part,
        within: FoundNode,
        section: str | None,
        spelt: str | None = None,
        *,
        stated_from: int | None = None,
        has_decisions: bool = True,
    ) -> FoundNode | None:
        """Keeps prose as passages: of its paragraph, or of some sentences of a long one. Returns the first.

        `spelt` is the meaning of the part if it is written with escapes. Sentences state something from the offset
        `stated_from` on, if it is given, and no decision without `has_decisions`.
        """
        first = None
        part = self._with_struck(part) if self._struck else part
        pieces = [part] if spelt is not None and len(spelt) <= LONGEST_TEXT else passages_of(self.written, part)
        for piece in pieces:
            written = self._meant(self.written[piece.start : piece.end])
            text = clean_text(spelt if spelt is not None and piece is part else written).strip()
            if is_blank(text):
                continue
            title = plain(text[:LONGEST_TITLE])
            if len(text) > LONGEST_TITLE:
                title = f"{title[: LONGEST_TITLE - 1].rstrip()}…"
            node = self.findings.add("passage", self.document, "Passage", title, [self.span(piece)])
            self.findings.tie("passage", node, within, "PART_OF", self.span(piece))
            node.properties["text"] = text
            if section is not None:
                node.properties["section"] = section
            self.scan(node, piece, stated_from=stated_from or 0)
            stated = Part(max(piece.start, min(stated_from or 0, piece.end)), piece.end)
            self._sentences(node, stated, has_decisions=has_decisions)
            first = first or node
        return first

    def _sentences(self, node: FoundNode, part: Part, *, has_decisions: bool) -> None:
        """Reads the set forms of a passage's sentences."""
        said = [Part(*match.span()) for match in _SAID.finditer(self.text, *part)]
        for decided in decided_in(self.text, part) if has_decisions else ():
            if _within(said, decided.what.start):
                continue
            decision = self.add("decided", "Decision", decided.what, node)
            if decided.when is not None and (days := [day for day, _ in dates_in(self.text, decided.when)]):
                decision.properties["dates"] = days
            if decided.why is not None:
                self.findings.describe(decision, "rationale", clean_text(plain(self.quote(decided.why))))
        room = MOST_DEPENDENCIES - len(self._dependencies)
        self._dependencies += islice(depends_in(self.text, part), room)
        self._waits += islice(waits_in(self.text, part), MOST_DEPENDENCIES - len(self._waits))
        room = MOST_COMMITMENTS - len(self._commitments)
        commitments = (found for found in commitments_in(self.text, part) if not _within(said, found.who.start))
        self._commitments += [(node, found) for found in islice(commitments, room)]

    def relate(
        self,
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
        lead" does. `title` is the meaning of the part if its spelling differs, for example by escapes; `is_one` says
        that the part is an element of a list, and so one name.
        """
        if relation.to in ("Person", "Organization"):
            is_held = not self.is_ended(relation, part)
            parts = self._names_in(part, relation, label, is_one=is_one) if is_held else []
            people = [node for named in parts if (node := self._party(*named, relation.to)) is not None]
            for node in people:
                self._tie(subject, node, relation, part, label)
            says_more = (
                singular(label) not in self.vocabulary.relations and self.vocabulary.relation_of(label) is not None
            )
            if not parts or len(people) < len(parts) or says_more:
                self._keep_value(subject, label, part, title)
            return people
        self._open.append((subject, relation, label, part, title))
        return []

    def relate_each(self, subject: FoundNode, relation: Relation, label: str, parts: Sequence[Part]) -> None:
        """Adds an edge from `subject` to whom each element of a list names. All others are one text property."""
        others = []
        for part in parts:
            names = [] if self.is_ended(relation, part) else self._names_in(part, relation, label, is_one=True)
            people = [node for named in names if (node := self._party(*named, relation.to or "Person")) is not None]
            for node in people:
                self._tie(subject, node, relation, part, label)
            if not people:
                others.append(self.quote(part))
        if others:
            self.describe(subject, label, ", ".join(others))

    def is_ended(self, relation: Relation, part: Part) -> bool:
        """Decides whether a part says that whom it names owns or does a thing no more: "Ada Lovelace (former)".

        Then the day in it is none by which something is due.
        """
        behind = _BEHIND_HOLDER.finditer(self.text, *part) if relation.type in _HELD else ()
        if not any(self.vocabulary.is_over(match[match.lastgroup or 0]) for match in behind):
            return False
        insort(self._ended, part)
        return True

    def describe_field(self, node: FoundNode, name: str, text: str) -> bool:
        """Sets the property that a column or key names: the reason of a decision, the description, or its own.

        The day by which something is to be done is `due_on`, too. A column "Until" has it only of tasks and the like.
        """
        word = without_unit(name)
        is_due = word in self.vocabulary.dues or (node.type in _CARRIED_OUT and word in self.vocabulary.ends)
        days = list(dates_in(text, Part(0, len(text)))) if is_due else []
        if len(days) == 1 and self._is_stated_day(text, days[0][1]):
            node.properties.setdefault("due_on", days[0][0])
        if node.type == "Decision" and word in self.vocabulary.reasons:
            name = "rationale"
        elif word in self.vocabulary.descriptions:
            name = "description"
        return self.describe(node, name, text)

    def relate_one(self, subject: FoundNode, relation: Relation, label: str, part: Part, name: str) -> list[FoundNode]:
        """Adds an edge from `subject` to whom a part names, and returns that one. `name` is how the name is spoken."""
        node = self._party(part, name, relation.to or "Person")
        if node is None:
            return []
        self._tie(subject, node, relation, part, label)
        return [node]

    def assign(self, task: FoundNode, person: FoundNode, part: Part) -> None:
        """Adds the edge from a task to a known person, whom a part calls."""
        self._tie(task, person, self.vocabulary.relations["assignee"], part, self.quote(part))

    def assign_to_known(self, task: FoundNode, name: Part) -> None:
        """Adds the edge from a task to whom a part names, if the text names that person anywhere; see `finish`."""
        self._assigned.append((task, name))

    def mention(self, rule: str, node: FoundNode, name: Part, label: str | None = None) -> None:
        """Adds an edge from a node to the person of a full name. `label` is what the person is to it."""
        person = self.findings.refer(rule, self.document, "Person", plain(self.quote(name)), [self.span(name)])
        self.findings.tie(rule, node, person, "MENTIONS", self.span(name), label)

    def names_people(self, part: Part) -> bool:
        """Decides whether a part is nothing but full names of people."""
        names = [plain(self.quote(piece)) for piece in _several(self.text, part, _SEVERAL)]
        return bool(names) and all(
            " " in name and _NAME.fullmatch(name) and self.party_type(name, "Person") == "Person" for name in names
        )

    def set_due(self, node: FoundNode, part: Part) -> None:
        """Sets the day by which something is to be done, if a part names exactly one."""
        days = list(dates_in(self.text, part))
        if len(days) == 1 and self._is_stated_day(self.text[part.start : part.end], days[0][1] - part.start):
            node.properties.setdefault("due_on", days[0][0])

    def _is_stated_day(self, value: str, day: int) -> bool:
        """Decides whether a value of "Deadline" states the day at an offset: not "none since 2026-10-01"."""
        before = _NOT_LATER.sub("", value[:day])
        words = frozenset(plain_words(before).split())
        vocabulary = self.vocabulary
        no_day = vocabulary.negations | vocabulary.refusing | vocabulary.nothing | vocabulary.past | vocabulary.since
        return words.isdisjoint(no_day) and not self._is_called_off(value[day:])

    def _is_called_off(self, behind: str) -> bool:
        """Decides whether what stands directly behind a day says that the day holds no more: "(cancelled)"."""
        match = _BEHIND_DAY.match(behind)
        words = frozenset(plain_words(match["said"] or match["more"]).split()) if match is not None else frozenset()
        return not words.isdisjoint(self.vocabulary.rejecting | self.vocabulary.moved)

    def finish(self) -> None:
        """Resolves the references by name. All names are known by now."""
        for subject, relation, label, part, title in self._open:
            parts = [part] if self._named(part) else _several(self.text, part, _SEVERAL)
            named = [
                (name_part, node)
                for name_part in parts
                if (node := self._named(name_part) or self._proper(name_part, relation)) is not None
            ]
            for name_part, node in named:
                self._tie(subject, node, relation, name_part, label)
            if len(named) < len(parts) and (named or relation.to is None or self.names_nothing(part)):
                self._keep_value(subject, label, part, title)
            elif not named and relation.to is not None:
                sentence = first_sentence(self.text, part)
                node = self.add("relation", relation.to, sentence, self.root, title)
                self._tie(subject, node, relation, sentence, label)
        for depends in self._dependencies:
            self._depend(depends)
        for waits in self._waits:
            self._wait(waits)
        self._mention_people()
        for task, name in self._assigned:
            if (person := self.person_called(plain(self.quote(name)))) is not None:
                self.assign(task, person, name)
        for node, commitment in self._commitments:
            self._commit(node, commitment)

    def person_called(self, name: str) -> FoundNode | None:
        """Returns the person whom the text named before and calls so by the full name, the first or the last one."""
        people = self.findings.people(self.document)
        for person in people[self._people_called :]:
            words = person.title.split()
            for word in {words[0], words[-1]}:
                self._called[word] = person if self._called.get(word, person) is person else None
        self._people_called = len(people)
        return self.findings.known(self.document, "Person", name) or self._called.get(name)

    def names_nothing(self, part: Part) -> bool:
        """Decides whether a part stands where a name would, and says that there is none: "N/A", "to be decided"."""
        return self.vocabulary.names_nothing(plain(self.quote(part)))

    def states_none(self, node_type: str | None, part: Part) -> bool:
        """Decides whether a part stands where a thing of a type would, and says that no such thing exists.

        Of a decision "postponed to May" and a question state none either.
        """
        if node_type == "Decision":
            part, _ = with_reason(self.text, part)
        if node_type is not None and self.vocabulary.states_no(node_type, plain(self.quote(part))):
            return True
        return self.names_nothing(part) or (node_type == "Decision" and is_undecided(plain(self.quote(part))))

    def _keep_value(self, subject: FoundNode, label: str, part: Part, spelt: str | None) -> None:
        """Makes the text after a label a property, or a passage where the property has another text already."""
        if not self.describe(subject, label, self.quote(part) if spelt is None else spelt):
            self.keep(part, subject, None, spelt)

    def _depend(self, depends: Depends) -> None:
        """Adds the edge of a sentence "X depends on Y", if X and Y are names."""
        source, target = (
            next((part for part in parts if self._named(part) or is_proper(self.quote(part))), None)
            for parts in (depends.before, depends.after)
        )
        if source is not None and target is None and self._named(source) is not None:
            target = depends.definite
        if source is not None and target is not None:
            ends = [
                self._named(part)
                or self.findings.refer("depends_on", self.document, to, plain(self.quote(part)), [self.span(part)])
                for part, to in ((source, "Concept"), (target, "Resource"))
            ]
            span = self.span(Part(source.start, target.end))
            self.findings.tie("depends_on", ends[0], ends[1], "DEPENDS_ON", span)

    def _wait(self, waits: Waits) -> None:
        """Adds the edge from an undertaking to what it depends on, unless both names gave it already."""
        source, target = (
            self._named(part)
            or self.findings.refer("depends_on", self.document, to, plain(self.quote(part)), [self.span(part)])
            for part, to in ((waits.what, "Concept"), (waits.on, "Resource"))
        )
        self.findings.tie("depends_on", source, target, "DEPENDS_ON", self.span(Part(waits.what.start, waits.on.end)))

    def _commit(self, node: FoundNode, commitment: Commitment) -> None:
        """Adds the task that a sentence gives to a person of the document, or to a party of a contract."""
        person = None if commitment.is_party else self.person_called(plain(self.quote(commitment.who)))
        if person is not None or commitment.is_party:
            task = self.add("commitment", "Task", commitment.what, node)
            task.properties["due_on"] = commitment.day
            if person is not None:
                self.assign(task, person, commitment.who)

    def _proper(self, part: Part, relation: Relation) -> FoundNode | None:
        """Returns a node for a target that is surely a name, if the relation says of what type it is."""
        name_part = Part(part.start, part.end).trimmed(self.text, " .")
        text = self.text[name_part.start : name_part.end]
        if (wikilink := _WIKILINK.fullmatch(text)) is not None:
            return self._linked_note(wikilink)
        marked = self.text[name_part.start - 1 : name_part.end + 1]
        if relation.named is None or not (is_proper(text) or is_proper(marked)):
            return None
        return self.findings.refer("relation", self.document, relation.named, plain(text), [self.span(name_part)])

    def _mention_people(self) -> None:
        """Adds edges from what speaks of people to them: of those that prose introduces, and all others by name."""
        spelt = written_out(self.text) if "@" in self.text else []
        by_itself = dict(zip(spelt, spelt, strict=True))
        for node, part in self._scanned:
            for _, where in named_in(self.quote(part), by_itself) if node is self.root else ():
                self.mention("person", node, Part(part.start + where.start, part.start + where.end))
        prose = [(node, part) for node, part in self._scanned if node.type == "Passage"]
        if not prose:
            return
        text = "\n".join(self.quote(part) for _, part in prose)
        known = [person.title for person in self.findings.people(self.document)]
        surnames = {name.split()[-1] for name in known if " " in name}
        known += [name for name in spelt if name not in known]
        names = called([*known, *(name for name in people_in(text) if name not in known and name not in surnames)])
        for node, part in prose:
            if not self.findings.has_room_for_mentions:
                return
            for name, where in named_in(self.quote(part), names):
                span = self.span(Part(part.start + where.start, part.start + where.end))
                person = self.findings.refer("person", self.document, "Person", name, [span])
                self.findings.tie("person", node, person, "MENTIONS", span)
            for name, where in firms_in(self.quote(part)):
                span = self.span(Part(part.start + where.start, part.start + where.end))
                firm = self.findings.refer("firm", self.document, "Organization", name, [span])
                self.findings.tie("firm", node, firm, "MENTIONS", span)

    def read_as(self, rule: str, part: Part) -> None:
        """Records that a part was understood, although it made no node of its own."""
        self.understood.append((rule, part))

    def left_out(self) -> list[Part]:
        """Returns the lines of the text that nothing was read from, joined where they follow one another."""
        known = sorted(part for _, part in self.understood)
        ends = list(accumulate((part.end for part in known), max))
        starts = [part.start for part in known]
        found: list[Part] = []
        joins = False
        for match in _LINE.finditer(self.written) if known else ():
            line = Part(match.start(), match.end())
            before = bisect_left(starts, line.end)
            if before and ends[before - 1] > line.start:
                joins = False
            elif joins:
                found[-1] = Part(found[-1].start, line.end)
            else:
                found.append(line)
                joins = True
        return found

    def scan(self, node: FoundNode, part: Part, *, stated_from: int = 0) -> None:
        """Finds mentions, links and dates in a part and connects them to the node that the part describes.

        No day before the offset `stated_from` is one by which something is to be done.
        """
        self._scanned.append((node, part))
        self.read_as("passage" if node.type == "Passage" else "scan", part)
        quiet = [Part(m.start(), m.end()) for m in _CODE.finditer(self.text, part.start, part.end)]
        for match in _MENTION.finditer(self.text, part.start, part.end):
            if not _within(quiet, match.start()):
                where = Part(match.start(), match.end())
                person = self._handle(where)
                carries_out = node.type in _CARRIED_OUT
                edge_type, label = ("ASSIGNED_TO", match[1]) if carries_out else ("MENTIONS", None)
                self.findings.tie("mention", node, person, edge_type, self.span(where), label)
        for where, address in addressed_in(self.text, part):
            person = self.findings.refer("person", self.document, "Person", self.quote(where), [self.span(where)])
            person.properties.setdefault("email", address)
            self.findings.tie("person", node, person, "MENTIONS", self.span(where))
        for match in _WIKILINK.finditer(self.text, part.start, part.end):
            note = None if _within(quiet, match.start()) else self._linked_note(match)
            if note is not None:
                self.findings.tie("wikilink", node, note, "MENTIONS", self.span(Part(*match.span())))
        for title, url, where in self._links(part, quiet):
            link = self.findings.refer("link", EVERYWHERE, "Resource", title, [self.span(where)], address=url)
            link.properties.setdefault("url", url)
            self.findings.tie("link", node, link, "MENTIONS", self.span(where))
        dates = dict.fromkeys(node.properties.get("dates", ()))
        for date, start in dates_in(self.text, part):
            if _within(quiet, start):
                continue
            if start >= stated_from and self._is_due(node, part, start):
                node.properties.setdefault("due_on", date)
            dates[date] = None
        amounts = dict.fromkeys((*node.properties.get("amounts", ()), *amounts_in(self.text, part)))
        for name, found in (("dates", dates), ("amounts", amounts)):
            if found:
                node.properties[name] = list(found)[:MOST_DATES]

    def _is_due(self, node: FoundNode, part: Part, day: int) -> bool:
        """Decides whether what a node stands for is to be done by the day at an offset.

        Words that may end a period as well, such as "bis", count only where a task has them.
        """
        if _within(self._ended, day) or self._is_called_off(self.text[day : min(part.end, day + _LONGEST_BEHIND)]):
            return False
        if (due := _DUE.search(self.text, max(part.start, day - 14), day)) is not None:
            is_stated = node.type in _CARRIED_OUT or self._is_to_come(part, due)
            return is_stated and not self._is_denied_before(part, due.start()) and not self._is_earliest(part, due)
        due = _DUE_ELSEWHERE.search(self.text, max(part.start, day - 24), day) if node.type in _CARRIED_OUT else None
        if due is not None and (self._is_denied_before(part, due.start()) or self._is_earliest(part, due)):
            return False
        return due is not None and not _SINCE.search(self.text, max(part.start, due.start() - 40), due.start())

    def _is_earliest(self, part: Part, due: re.Match[str]) -> bool:
        """Decides whether something must not be done before a day: "Do not start before 2026-05-01"."""
        if NOT_BEFORE.match(due[0]) is None:
            return False
        before = self.text[max(part.start, due.start() - _LONGEST_CLAUSE) : due.start()]
        return self.vocabulary.denies(_CLAUSE_END.split(before)[-1])

    def _is_to_come(self, part: Part, due: re.Match[str]) -> bool:
        """Decides whether a clause neither denies nor only tells what happened by a day: "She sang until ..."."""
        before = self.text[max(part.start, due.start() - _LONGEST_CLAUSE) : due.start()]
        clause = _CLAUSE_BEFORE.split(before)[-1]
        if self.vocabulary.denies(clause):
            return False
        words = frozenset(plain_words(clause).split())
        if not words.isdisjoint(_REQUIRING):
            return True
        is_until = due[0].lower().startswith("until")
        is_over = not words.isdisjoint(self.vocabulary.past | {"had"})
        return not is_over and not (
            is_until and (_ENDED_VERB.search(clause) or not words.isdisjoint(self.vocabulary.past_verbs))
        )

    def _is_denied_before(self, part: Part, offset: int) -> bool:
        """Decides whether the word before an offset denies, ends or weakens what stands there: "old deadline"."""
        before = _WORDS_BEFORE.search(self.text, max(part.start, offset - _LONGEST_BEFORE), offset)
        words = plain_words(before[0]).split() if before is not None else []
        while words and words[-1] in self.vocabulary.between | {"due"}:
            words.pop()
        return bool(words) and (words[-1] in self.vocabulary.denying or words[-1] in self.vocabulary.past)

    def named_owners(self, part: Part) -> Iterator[re.Match[str]]:
        """Yields whom a part names as owner or the like: "(owner: Ada)". It skips former owners."""
        for owner in NAMED_OWNER.finditer(self.text, *part):
            if not self._is_denied_before(part, owner.start()):
                yield owner

    def _linked_note(self, wikilink: re.Match[str]) -> FoundNode | None:
        """Returns what a link to another note names. A link to the note of a day, or to a person, names nothing new."""
        title = wikilink[1].rpartition("/")[2].strip()
        if (
            self.vocabulary.names_nothing(title)
            or any(dates_in(title, Part(0, len(title))))
            or self.findings.known(self.document, "Person", plain(wikilink[0]))
        ):
            return None
        span = self.span(Part(*wikilink.span()))
        note = self.findings.refer("wikilink", EVERYWHERE, "Concept", title, [span])
        self.name(note, title)
        return note

    def _named(self, part: Part) -> FoundNode | None:
        return self._by_name.get(plain_words(plain(self.quote(part))))

    def link(self, part: Part, within: FoundNode) -> FoundNode | None:
        """Returns the resource if a part consists of exactly one link, or None."""
        match = _LINK.fullmatch(self.text, part.start, part.end) or _URL.fullmatch(self.text, part.start, part.end)
        if match is None:
            return None
        self.scan(within, part)
        (title, url, where), *_ = self._links(part, [])
        link = self.findings.refer("link", EVERYWHERE, "Resource", title, [self.span(where)], address=url)
        self.findings.tie("link", link, within, "PART_OF", self.span(where))
        return link

    def _links(self, part: Part, quiet: list[Part]) -> Iterator[tuple[str, str, Part]]:
        seen = [Part(*match.span()) for match in _PICTURE.finditer(self.text, part.start, part.end)]
        for match in _BADGE.finditer(self.text, part.start, part.end):
            if not _within(quiet, match.start()):
                seen.append(Part(*match.span()))
                yield match["alt"] or match["url"], match["url"], Part(*match.span("url"))
        for match in _LINK.finditer(self.text, part.start, part.end):
            if not _within(quiet, match.start()):
                seen.append(Part(match.start(), match.end()))
                yield plain(match[1]) or match[2], match[2], Part(match.start(1), match.end(1))
        seen.sort()
        for match in _URL.finditer(self.text, part.start, part.end):
            if not _within(quiet, match.start()) and not _within(seen, match.start()):
                url = match[0].rstrip(".,;:!?*_")
                yield url, url, Part(match.start(), match.start() + len(url))

    def _handle(self, part: Part) -> FoundNode:
        text = self.quote(part)
        name = self._handles.get(text[1:].lower())
        if name is not None:
            person = self.findings.refer("handle", self.document, "Person", name, [self.span(part)])
        else:
            person = self.findings.refer("mention", EVERYWHERE, "Person", text, [self.span(part)], address=text.lower())
        person.properties.setdefault("handle", text[1:])
        return person

    def _names_in(self, part: Part, relation: Relation, label: str, *, is_one: bool) -> list[tuple[Part, str]]:
        """Returns the names of an enumeration, or none if it may be two names or one with the surname first.

        "Owner: Müller, Hans" is one name if the text names Hans Müller, and two if the label is "Owners".
        """
        pieces = _several(self.text, part, _SEMICOLON)
        turned = [self._given_first(piece) if relation.to == "Person" else None for piece in pieces]
        spoken = [(piece, name) for piece, name in zip(pieces, turned, strict=True) if name is not None]
        if spoken and len(spoken) == len(pieces):
            if is_one or len(pieces) > 1 or re.search(rf"\b{re.escape(spoken[0][1])}\b", self.text):
                return spoken
            if not self.vocabulary.is_of_many(label):
                return []
        return [(piece, plain(self.quote(piece))) for piece in _several(self.text, part, _SEVERAL)]

    def _given_first(self, part: Part) -> str | None:
        name = plain(self.quote(part))
        types = {self.party_type(half, "Person") for half in name.split(", ")}
        return given_first(name) if types == {"Person"} else None

    def party_type(self, name: str, expected: str) -> str | None:
        """Returns the type of whom a name calls: Organization if that is sure, or None if it is the name of a post."""
        if self.vocabulary.is_post(name):
            return None
        last = singular(name.rpartition(" ")[2])
        if expected == "Person" and " " in name and self.vocabulary.types.get(last) == "Agent":
            return "Agent"
        is_organization = name[:1].isupper() and (_TEAM.search(name) is not None or self.vocabulary.is_part(name))
        return "Organization" if is_organization else expected

    def _party(self, part: Part, name: str, expected: str) -> FoundNode | None:
        if _MENTION.fullmatch(self.quote(part)):
            return self._handle(part)
        role = None
        if expected == "Person":
            if (behind := _BEHIND_NAME.fullmatch(_ADDRESS.sub("", name))) is not None:
                name, role = behind["name"], behind["said"] if self.vocabulary.is_post(behind["said"]) else None
            spoken, post = without_post(_ADDRESS.sub("", name))
            name, role = _HONOURED.sub("", spoken), post or role
        party_type = self.party_type(name, expected)
        form = _NAME if party_type == "Person" else _FIRM
        is_name = form.fullmatch(name) is not None or (party_type == "Person" and _HAN_NAME.fullmatch(name) is not None)
        if party_type is None or not is_name or self.vocabulary.names_nothing(name):
            return None
        if name.split()[0].lower() in self.vocabulary.determiners:
            return None
        party = self.findings.refer("relation", self.document, party_type, name, [self.span(part)])
        if party_type == "Person" and role is not None:
            self.describe(party, "role", role)
        return party

    def _tie(self, subject: FoundNode, node: FoundNode, relation: Relation, part: Part, label: str) -> None:
        source, target = (node, subject) if relation.reversed else (subject, node)
        edge_type = relation.type
        if edge_type == "ASSIGNED_TO" and not self.findings.fits(source, target, edge_type):
            edge_type = "OWNED_BY"  # nobody carries out a thing such as a team: who leads it answers for it
        says_more = plain_words(label) != plain_words(edge_type.replace("_", " "))
        self.findings.tie("relation", source, target, edge_type, self.span(part), label if says_more else None)


_HELD = frozenset({"OWNED_BY", "ASSIGNED_TO"})
_BEHIND_HOLDER = re.compile(
    r"[(\[（](?P<bracket>[^()\[\]（）\n]{1,80})[)\]）]|(?:[,;]|\s[–—-])\s?(?P<more>(?-i:[^\W\dA-ZÀ-ÖØ-Þ])[^,;()\n]{1,80})"
    r"|\s(?P<end>(?:until|till|bis|jusqu|hasta|fino|até|tot)\b[^\n]{1,80})",
    re.IGNORECASE,
)
"""What is said of whom a value names: "Ada Lovelace (former)", "Ada Lovelace, until May"."""
_CARRIED_OUT = frozenset({"Task", "Action", "Deliverable", "Assignment"})
_NOT_LATER = re.compile(
    r"\b(?:no\slater\sthan|not\slater\sthan|nicht\sspäter\sals|pas\splus\stard|no\smás\starde|non\soltre|niet\slater\sdan)\b",
    re.IGNORECASE,
)
_BEHIND_DAY = re.compile(
    r"[^\s,;(\[–—]+(?:\s[^\s,;(\[–—-][^\s,;(\[–—]*){0,3}?[\s,;]{0,2}"
    r"(?:[(\[](?P<said>[^()\[\]]{1,60})[)\]]|(?:(?<=[,;]\s)|[–—]\s?|(?<=\s)-\s)(?P<more>\w+(?:\s\w+){0,2})\W*(?:$|\n))"
)
"""What is said of a day directly behind it: "2026-12-01 (cancelled)"."""
_LONGEST_BEHIND = 100
_CLAUSE_BEFORE = re.compile(r"[.!?;:。]\s|[–—。\n]|,\s(?:but|so|and|aber|sondern|mais|pero|ma|mas|maar)\s")
_REQUIRING = frozenset(
    {"must", "shall", "should", "will", "needs", "need", "please", "muss", "doit", "debe", "deve", "moet"}
)
_ENDED_VERB = re.compile(r"(?<![-\w])[a-z]{2,}ed\b")
_RESERVED = frozenset(
    {"subject", "predicate", "confidence", "tags", "observed_at", "url", "handle", "dates", "amounts", "spans"}
)
"""Properties with a meaning for the graph. No text of a document sets them."""


_WIDEST_GAP = 20
_GAP = re.compile(r"(?<=\S)[ \t]{2,}(?=\S)")
_MARKUP = re.compile(r"[\\`*_~\[\]<&\n]")


def plain(text: str) -> str:
    """Returns a text without its inline markup. Long texts are cut."""
    if not _MARKUP.search(text):
        return text.strip()
    shown = _WIKILINK.sub(lambda link: link[2] or link[1], text[:LONGEST_TEXT])
    children = _PLAIN.parseInline(shown)[0].children or []
    return "".join(
        " "
        if child.type in ("softbreak", "hardbreak")
        else child.content
        if child.type == "code_inline"
        else _TAG.sub("", child.content)
        for child in children
    ).strip()


LONGEST_PASSAGE = 1_200
"""Most characters of one passage. A longer paragraph is several, and each ends with a sentence where one ends."""

_BREAKS = (re.compile(r"[.!?…][\"'”’)\]*_]{0,3}\s"), re.compile(r"\s"))


def passages_of(text: str, part: Part) -> Iterator[Part]:
    """Yields the passages of a paragraph."""
    rest = part.trimmed(text)
    while rest.end - rest.start > LONGEST_PASSAGE:
        window = Part(rest.start, rest.start + LONGEST_PASSAGE)
        ends = (max((m.end() for m in each.finditer(text, *window)), default=0) for each in _BREAKS)
        end = next((end for end in ends if end > rest.start + LONGEST_PASSAGE // 4), window.end)
        yield Part(rest.start, end).trimmed(text)
        rest = Part(end, rest.end).trimmed(text)
    if rest.start < rest.end:
        yield rest


_SENTENCE_END = re.compile(r"(?<=[^\s.][^\s.])[.!?](?=\s+[A-Z0-9*`\"“(\[]|\s*$)")
_UNENDING = re.compile(rf"(?:\b(?:{'|'.join(map(re.escape, ABBREVIATIONS))})|(?<![\w.,:/-])\d{{1,2}})$", re.IGNORECASE)
"""Words before a full stop that ends no sentence: abbreviations, and ordinals as in "12. Mai"."""
_OWNER_WORDS = (
    "(?:owner|assignee|assigned to|responsible|verantwortlich|zuständig|responsable|responsabile|responsável"
    "|verantwoordelijk)"
)
_APPENDIX = re.compile(
    r"\s*(?:[(\[,;–—]|--?|(?=@)|(?<!\bnow\s)(?<!\bwas\s)(?<!\boriginally\s)(?=\bdue\b)|(?=[📅✅➕⏳🛫]))\s*"
    r"(?:(?:(?:owner|assignee|due|by|until)\s*:{0,2}\s*|[📅✅➕⏳🛫]\s*)?(?:@[A-Za-z0-9_-]+|\d{4}-\d{2}-\d{2})"
    rf"|{DUE_WORDS}\s*:?\s*{DAY_WITH_YEAR}"
    rf"|{_OWNER_WORDS}\s*:\s*(?-i:{_NAME.pattern}))[)\]]*[.,;]?$",
    re.IGNORECASE,
)
"""The person and date that a sentence may end with, separated from the rest."""
NAMED_OWNER = re.compile(
    rf"\b(?P<label>(?i:{_OWNER_WORDS}))\s*:\s*(?P<name>{_NAME.pattern})(?=\s*(?:[,;)\]]|$))", re.MULTILINE
)
"""A person who is named behind what he owns or does."""
_WORDS_BEFORE = re.compile(r"(?:[\w-]+[ \t]+|[\w-]+-){1,3}$")
_LONGEST_BEFORE = 60
_LONGEST_CLAUSE = 200
_CLAUSE_END = re.compile(r"[.!?;:。]\s|[–—。]")
_LONGEST_APPENDIX = 80
_MOST_APPENDICES = 4


def first_sentence(text: str, part: Part) -> Part:
    """Returns the first sentence of a part, without its full stop and without person and date at its end.

    Example: "Ship the parser (@ada, due 2026-03-01). It is late." gives "Ship the parser". A bracket with anything else
    stays whole.
    """
    end = part.end
    for match in _SENTENCE_END.finditer(text, part.start, part.end):
        if not _UNENDING.search(text, max(part.start, match.start() - 8), match.start()):
            end = match.start()
            break
    sentence = rest = Part(part.start, end).trimmed(text)
    for _ in range(_MOST_APPENDICES):
        appendix = _APPENDIX.search(text, max(rest.start, rest.end - _LONGEST_APPENDIX), rest.end)
        if appendix is None or appendix.start() == rest.start:
            break
        rest = Part(rest.start, appendix.start()).trimmed(text)
        if all(text.count(a, *rest) == text.count(b, *rest) for a, b in ("()", "[]")):
            sentence = rest
    return sentence


def without_days(text: str) -> str:
    """Returns a text without the days that are dates of it, and without the words that make them the last ones."""
    kept: list[str] = []
    start = 0
    for match in _DUE_DAY.finditer(text):
        if any(dates_in(text, Part(*match.span("day")))):
            kept.append(text[start : match.start()])
            start = match.end()
    return "".join([*kept, text[start:]])


_DUE_DAY = re.compile(rf"(?:\b{DUE_WORDS}\W{{0,4}})?(?P<day>{DAY_WITH_YEAR})", re.IGNORECASE)


def _several(text: str, part: Part, between: re.Pattern[str]) -> list[Part]:
    """Returns the parts of an enumeration, which `between` separates."""
    parts: list[Part] = []
    start = part.start
    for match in [*between.finditer(text, part.start, part.end), None]:
        end = part.end if match is None else match.start()
        name_part = Part(start, end).trimmed(text).trimmed(text, "*_`.,")
        if text[name_part.start : name_part.start + 1] == "(" or text.count("(", *name_part) != text.count(
            ")", *name_part
        ):
            name_part = name_part.trimmed(text, "*_`().")
        if name_part.start < name_part.end:
            parts.append(name_part)
        start = end if match is None else match.end()
    return parts


def _within(parts: list[Part], offset: int) -> bool:
    """Decides whether an offset is in one of `parts`, which are ordered and do not overlap."""
    before = bisect_right(parts, offset, key=lambda part: part.start)
    return before > 0 and offset < parts[before - 1].end
