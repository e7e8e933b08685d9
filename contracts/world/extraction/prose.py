"""Extracts nodes and relations from the headings, list items, labelled lines and paragraphs of a text.

A heading that announces a type decides about the entries below it. Example: below "Open risks" each list item is a
Risk, below "Decision" a paragraph is a Decision. Any other heading becomes a Concept, unless it names a part of any
document, such as "License". An entry below it becomes a node of a type if it is a checkbox, a defined term
("**API** - ..."), or has a label that names a type ("Goal: ..."). Every other entry is kept as a passage, and so is
each turn of a conversation: a line whose label comes several times in its section, as in "Ada: hello". What is quoted
states nothing of the writer's, and is kept as a passage.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import dropwhile, pairwise, zip_longest
from typing import Literal
from unicodedata import category

from contracts.world.extraction.document_reading import Reading, first_sentence, plain, without_days
from contracts.world.extraction.figures import amounts_in, dates_in, is_figure
from contracts.world.extraction.findings import FoundNode, Part
from contracts.world.extraction.mails import older_mail_in
from contracts.world.extraction.markdown import Block, Entry, Field, Heading, Table, blocks_of
from contracts.world.extraction.outlines import COMMENT, STATE, is_outline, quotes_in
from contracts.world.extraction.people import CAPITAL, given_first, without_post
from contracts.world.extraction.sentences import ABBREVIATIONS, DAY, is_no_task, with_reason
from contracts.world.extraction.tables import read_table, whole_of
from contracts.world.extraction.vocabulary import Announced, load_vocabulary, plain_words, singular
from contracts.world.proposal import LONGEST_TITLE

_CHECKBOX = re.compile(r"\[([ xX/-])\]\s+")
_STATES = {" ": "open", "/": "open", "-": "cancelled"}
"""States of a task by the sign in its box. In an outline "-" says that a part of it is done."""
_QUOTE = re.compile(r"[ \t]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*>")
"""The beginning of a line that is quoted."""
_LONGEST_MARKS = 1_000
"""Most characters before the text of a quoted line."""
_BRACKET = r"(?:\([^()\n]{0,80}\)|\[[^\[\]\n]{0,80}\])"
_LABEL = re.compile(
    rf"(?P<mark>\*\*|__|`)?(?P<label>(?:[^\s:*_`|<>(\[]|{_BRACKET})(?:[^:*_`|<>(\[\n]|{_BRACKET}){{0,48}}?)"
    rf"(?P=mark)?(?P<behind>\s*{_BRACKET})?\s*:(?P=mark)?(?:\s+|$)"
)
"""A label ends at the first colon that stands in no bracket."""
_LONG_LABEL = re.compile(r"(?:\*\*|__)?(?P<label>[^\s:.!?;*_`|<>][^:.!?;\n]{0,98}):(?:\*\*|__)?\s")
_ENDS_WITHIN = re.compile(r"[?!](?=\s)|(?:^|(?<=[\s(]))(?P<word>[^\W\d_][^\W\d_-]*)[.](?=\s)")
"""What may be the end of a sentence within the words before a colon: "It rained. Decision: go"."""
_GOES_ON_BEHIND = re.compile(r"\s+[^\W\d_](?<=[a-zß-ÿ])")
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
    r"(?:[–—-]{1,2}|(?:is|are)(?!\s+(?:deprecated|removed|renamed|replaced|required|supported|disabled|enabled|ignored|fixed|added"
    r"|changed|not|no|now|still|also|only)\b)|means|refers to|stands for)\s+"
)
_WHO_AND_WHEN = re.compile(r"@[\w-]+|\d{4}-\d{2}-\d{2}|\b(?:due|by|until|owner|assignee)\b|\W")
_KINDED = re.compile(r"(?P<kind>[A-Za-z][A-Za-z -]{1,30}?)(?:\s+[#A-Z]?\d[\w.-]*)?\s*[:–—]\s+(?=\S)")
_MOST_LABEL_WORDS = 5
_LONGEST_TITLE_LINE = 80
_LONGEST_VALUE = 60
"""Most characters of each value of a record: labelled lines directly below the title of a text."""
_MOST_TITLE_LINES = 3
"""Most lines between the title of a text and the labelled lines directly below it."""
_CLOCK = r"\d{1,2}:\d\d(?::\d\d)?(?:[ \u202f]?[AaPp]\.?[Mm]\.?)?"
_TURN = re.compile(
    r"\[?(?:\d{4}-\d\d-\d\d|\d{1,2}[./]\d{1,2}[./](?:\d{4}|\d\d))?,?[ T]{0,2}"
    rf"{_CLOCK}\]?(?: - | {{1,3}}|: )"
    r"<?(?P<name>[^\s:<>\[\]|][^:<>\[\]|\n]{0,39})>?(?P<colon>:(?:\s|$)|$)"
)
"""The time and the speaker before a message: "[2026-03-02 10:04] Ada: hello", or on a line above it."""
_LEVEL = re.compile(r"[A-Z]{4,}")
"""A word between the time and the message of a log, whose lines are by nobody: "INFO"."""
_FEWEST_TURNS = 3
_NUMBERED = re.compile(r"(?:(?P<word>[^\W\d]+(?: [^\W\d]+)?)[ #]{1,2}|(?P<short>KR) ?)\d{1,3}(?:\.\d{1,3})?")
_OF_NUMBER = frozenset({"Goal", "Risk", "Decision", "Principle", "Observation"})
"""Types of which a label with a number states one: "Risk 2: Frost", "KR1: Sell ten boats"."""
_LONGEST_BRACKET = 130
_IN_LAST_BRACKET = re.compile(r"\((?P<name>[^(),;\n]{3,60})(?:[,;][^()\n]{1,60})?\)[.]?$")
_NUMBERING = re.compile(r"^(?:\d+(?:\.\d+)*[.)]?)\s+")
_LONGEST_STATE = 40
"""Most characters of a paragraph below "Status" that is one."""
_LONGEST_FIELD = 200
"""Most characters of the value of a paragraph "label: value"; a longer one is prose."""
_IDENTIFIER = re.compile(r"[A-Z]{1,5}[-#. ]?\d{1,4}|#?\d{1,3}")
"""A label that only numbers an entry: "D1: sell the boat"."""
_MOST_VALUE_WORDS = 3
_LONGEST_SHORT = 3
"""Most letters of a word with a capital that may be short for another one at the beginning of a label: "Ltd."."""
_ABBREVIATED = frozenset(word.lower() for word in ABBREVIATIONS)
_VERBS = frozenset({"is", "are", "was", "were", "be"})
"""Words at whose end no label stands: "The site is: ..."."""
_PARTIES = frozenset({"Person", "Organization", "Agent"})
_STATED = frozenset({"Decision", "Vision", "Strategy", "Outcome", "Goal", "Aspiration", "Pattern"})
"""Types that a paragraph below the word for the type states."""


_LISTED_BY_TITLE = frozenset({"Decision", "Task", "Risk", "Goal", "Principle"})
"""Types of what stands below the title of a document that names many: "Decision log"."""
_LISTED_BY_LINE = _LISTED_BY_TITLE | {"Person"}
"""Types of what is listed below a line that is no heading: "Next steps"."""
_QUOTED = re.compile(r"[\"“”„][^\"“”„]+[\"“”]")
_CITED = re.compile(
    r"[*_]{0,3}(?P<said>\"[^\"]{1,1000}(?:\"|$)|[“”„][^“”]{1,1000}(?:[“”]|$)|«[^»]{1,1000}(?:»|$)|»[^«]{1,1000}(?:«|$)"
    r"|[‘‚](?=\w).{1,1000}?(?:[’‘](?!\w)|$)|'(?=\w).{1,1000}?'(?!\w)|‹[^›]{1,1000}(?:›|$)"
    r"|[「『][^」』]{1,1000}(?:[」』]|$))(?P<label>[*_]{0,3}\s*(?::|[–—]\s|-\s))?",
    re.DOTALL,
)
"""A quotation at the beginning of an entry. One before a colon or a dash is a label: "“Tender” - an offer"."""
_CITED_TYPES = frozenset({"Decision", "Task", "Action", "Goal", "Risk", "Agreement", "Outcome"})
"""Types that no quoted entry of a list states. A quoted entry of others is a title: "“Moby-Dick” by Melville"."""
_BOLD = re.compile(r"\*\*[^*]+\*\*")
_ENUMERATED = re.compile(r"\d{1,3}\\?[.)]\s+(?=\S)")
_CODE_ONLY = re.compile(r"`[^`]*`")
_WILL = re.compile(
    r"(?:We|It|The(?: [\w-]+){1,3}) (?:will|shall|must|have (?:decided|agreed)|has decided|are going to)\b"
)
_NAME_WORD = rf"{CAPITAL}(?:[\w’'-]{{0,3}}\.|[\w’'-]*)"
_NAME_BEFORE = (
    rf"(?:{_NAME_WORD}(?: (?:(?:van|von|de|der|den|da|di|la|le) ){{0,2}}{_NAME_WORD}){{0,2}}|[\u4e00-\u9fff々]{{2,4}})"
)
_BETWEEN_NAMES = re.compile(r"\s?[,&/+、]\s?|\s(?:and|und|et|y|e|en)\s")
_ASSIGNED = re.compile(
    rf"(?:\*\*|__)?(?:(?P<handle>@[\w-]{{1,39}})|(?P<name>{_NAME_BEFORE}"
    rf"(?:(?:{_BETWEEN_NAMES.pattern}){_NAME_BEFORE}){{0,3}}))(?P<said>\s?\([^()\n]{{1,60}}\))?(?:\*\*|__)?"
    r"(?:(?P<colon>\s*:(?:\*\*|__)?\s+|\s*：\s*|\s+[–—-]{1,2}\s+)|\s+(?:to|will|shall)\s)"
)
"""Matches who does a task, at its beginning: "@ada: order tablets", "Ada and Bo to order tablets"."""

_CAPITALS_ONLY = re.compile(rf"\b{CAPITAL}{{2,}}\b|\d")
"""A word that is hardly a name, as in "README: add badges"."""
_FIRST_PICTURE = "\u2190"
"""Below it are signs of texts such as the degree, which are no pictures."""
_JOINERS = frozenset("\ufe0f\u200d \t")

_NOTHING = Announced("", many=False)
"""What a line announces for a list of rejected things."""
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
    is_stated: bool = False
    """True if a paragraph of it was read already."""
    is_void: bool = False
    """True if nothing below its heading is stated."""


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
    is_dashed: bool = False
    """True if a dash or a verb stands between a term and its definition, and no colon."""


def read_prose(reading: Reading, title: str | None) -> None:
    """Reads a whole Markdown or plain text. `title` overrides the title in the text."""
    _Prose(reading, title).read()


class _Prose:
    def __init__(self, reading: Reading, title: str | None) -> None:
        self._reading = reading
        self._is_outline = is_outline(reading.text)
        self._quotes = quotes_in(reading.text) if self._is_outline else []
        self._older = older_mail_in(reading.text)
        self._blocks = [
            self._without_struck(block) for whole in blocks_of(reading.written) for block in self._before_older(whole)
        ]
        self._title = self._title_block(is_titled=title is not None)
        self._speakers = self._repeated_labels()
        self._is_chat = self._has_turns()
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
        announced = None if self._title is None else reading.vocabulary.announced(plain(reading.quote(part)))
        is_list = announced is not None and announced.many and announced.type in _LISTED_BY_TITLE
        heading = "" if self._title is None else plain(reading.quote(part))
        is_void = reading.vocabulary.is_rejected(heading) or reading.vocabulary.are_drafts(heading)
        self._sections = [_Section(0, reading.root, announced if is_list else None, is_void=is_void)]
        self._heading_of_all = heading
        self._undecided: dict[str, bool] = {}
        """For each heading, if it says that decisions are not made."""
        self._decisions: list[FoundNode] = []
        self._is_kept = False
        self._items: list[FoundNode | None] = []
        self._below: Announced | None = None
        self._below_depth = 0
        """The announcement of a label without a value for the items below it, and the depth of that label."""

    def _before_older(self, block: Block) -> Iterator[Block]:
        """Yields a block as two if an older mail begins within it."""
        older = self._older
        if isinstance(block, Entry) and block.lines[0].start < older <= block.lines[-1].start:
            yield Entry(block.depth, tuple(line for line in block.lines if line.start < older))
            yield Entry(block.depth, tuple(line for line in block.lines if line.start >= older))
        else:
            yield block

    def _without_struck(self, block: Block) -> Block:
        """Returns a block without what is struck through in it, unless that is all of it."""
        reading = self._reading
        match block:
            case Heading(level, part) if not reading.is_struck(part):
                return Heading(level, reading.shown(part))
            case Entry(depth, lines) if not reading.is_struck(Part(lines[0].start, lines[-1].end)):
                return Entry(depth, tuple(reading.shown(line) for line in lines if not reading.is_struck(line)))
            case Field(whole, key, values):
                return Field(whole, key, tuple(reading.shown(each) for each in values if not reading.is_struck(each)))
        return block

    def _title_block(self, *, is_titled: bool) -> Heading | None:
        """Returns the first heading if it is of level 1, or else a first line that looks like a title, or None.

        The first line of a text that comes with its title is a line like any other.
        """
        first = next((block for block in self._blocks if isinstance(block, Heading)), None)
        if first is not None and (self._reading.is_struck(first.part) or self._is_answered(first.part.start)):
            first = None
        if first is not None and first.level == 1:
            names_a_part = self._reading.vocabulary.names_a_part(plain(self._reading.quote(first.part)))
            return None if names_a_part else first
        match self._blocks:
            case [Entry(0, (line, *_)), *_] if self._is_answered(line.start):
                return None
            case [Entry(0, (line,)), *rest] if not is_titled and self._is_title_line(line):
                title = Heading(1, line)
                if rest:
                    self._blocks[0] = title
                return title
            case [Entry(0, (line, *others)), *_] if not is_titled and self._is_title_line(line):
                fields = list(dropwhile(self._is_title_line, others))
                filled = [
                    labelled
                    for field in fields
                    if (labelled := self._labelled(field)) is not None and labelled.rest.start < labelled.rest.end
                ]
                is_record = len(filled) > 1 and all(
                    field.rest.end - field.rest.start <= _LONGEST_VALUE for field in filled
                )
                is_head = len(filled) == len(fields) and (
                    is_record or any(self._is_known(field.head) for field in filled)
                )
                if len(others) - len(fields) <= _MOST_TITLE_LINES and is_head:
                    title = Heading(1, line)
                    between = tuple(others[: len(others) - len(fields)])
                    self._blocks[:1] = [title, *([Entry(0, between)] if between else []), Entry(0, tuple(fields))]
                    return title
        return None

    def _is_title_line(self, line: Part) -> bool:
        text = plain(self._reading.quote(line))
        is_short = 0 < len(text) <= _LONGEST_TITLE_LINE and text[-1] not in ".,;:!?"
        label = _LABEL.match(text)
        if text.startswith("[^") or (label is not None and _holds_sentence(label["label"])):
            return False
        return is_short and self._labelled(line) is None and _TURN.match(text) is None

    def _title_field(self) -> Field | None:
        """Returns the title of the front matter, or None."""
        fields = {
            self._reading.quote(block.key).lower(): block
            for block in self._blocks
            if isinstance(block, Field) and len(block.values) == 1
        }
        return fields.get("title") or fields.get("subject")

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

    def _turn(self, line: Part) -> re.Match[str] | None:
        return _TURN.match(self._reading.text, line.start, line.end)

    def _has_turns(self) -> bool:
        """Decides whether the text is a record of messages: most are of somebody who wrote several."""
        turns = [
            turn["name"]
            for block in self._blocks
            if isinstance(block, Entry) and block.depth == 0
            for line in block.lines
            if (turn := self._turn(line)) is not None and not _LEVEL.fullmatch(turn["name"])
        ]
        names = Counter(turns)
        return len(turns) >= _FEWEST_TURNS and 2 * sum(count for count in names.values() if count > 1) >= len(turns)

    def _is_answered(self, start: int) -> bool:
        """Decides whether what begins at an offset is quoted, or of a mail that the text answers or forwards: it states
        nothing here."""
        if start >= self._older or any(quote.start <= start < quote.end for quote in self._quotes):
            return True
        text = self._reading.text
        line = max(text.rfind(end, max(0, start - _LONGEST_MARKS), start) for end in "\r\n") + 1
        return (line > 0 or start < _LONGEST_MARKS) and _QUOTE.match(text, line, start) is not None

    def _is_known(self, label: str) -> bool:
        vocabulary = self._reading.vocabulary
        return vocabulary.relation_of(label) is not None or vocabulary.type_of(label) is not None

    def _is_speaker(self, labelled: _Labelled | None) -> bool:
        return labelled is not None and (self._number, labelled.label.casefold()) in self._speakers

    def read(self) -> None:
        for block, following in zip_longest(self._blocks, self._blocks[1:]):
            match block:
                case Heading(_, part) if block is not self._title and self._is_answered(part.start):
                    self._keep_as_text(part)
                case Heading():
                    self._heading(block)
                case Table(rows=rows) if self._sections[-1].is_void or self._is_answered(
                    rows[0][0].start if rows else 0
                ):
                    for row in rows:
                        self._keep_as_text(whole_of(row))
                case Table(header, rows) if not self._has_decisions() and any(map(self._is_of_decisions, header)):
                    for row in rows:
                        self._reading.keep(whole_of(row), self._node, self._place, has_decisions=False)
                case Table(header, rows):
                    announced = self._announced
                    read_table(self._reading, header, rows, self._node, announced and announced.type)
                case Field():
                    self._field(block)
                case Entry(_, lines) if (
                    self._sections[-1].is_void or self._is_answered(lines[0].start) or self._is_cited(lines)
                ):
                    self._keep_as_text(Part(lines[0].start, lines[-1].end))
                case Entry(0, lines) if self._is_chat and any(map(self._turn, lines)):
                    self._below, self._items = None, []
                    self._messages(lines)
                case Entry(0, (line,)) if isinstance(following, Entry) and following.depth and self._announces(line):
                    self._entry(block, announces=True)
                case Entry():
                    self._entry(block)

    def _is_of_decisions(self, cell: Part) -> bool:
        return self._reading.vocabulary.type_of(plain(self._reading.quote(cell))) == "Decision"

    def _keep_as_text(self, part: Part) -> None:
        """Keeps a part as a passage that states nothing, not even by its sentences."""
        self._below, self._items = None, []
        self._reading.keep(part, self._node, self._place, stated_from=part.end)

    def _announces(self, line: Part) -> bool:
        """Decides whether a line before a list says of what type its entries are: "Next steps"."""
        text = plain(self._reading.quote(line))
        is_title = self._is_title_line(line) and len(text.split()) <= _MOST_LABEL_WORDS
        announced = self._announced_by(text) if is_title and text[:1].isupper() else None
        return announced == _NOTHING or (announced is not None and announced.many and announced.type in _LISTED_BY_LINE)

    def _messages(self, lines: tuple[Part, ...]) -> None:
        """Keeps each message as a passage, which mentions its author if the name is a full one."""
        reading = self._reading
        starts = sorted({0, *(number for number, line in enumerate(lines) if self._turn(line) is not None)})
        for first, end in pairwise([*starts, len(lines)]):
            part = Part(lines[first].start, lines[end - 1].end)
            turn = self._turn(lines[first])
            passage = reading.keep(part, self._node, self._place, stated_from=None if turn is None else turn.end())
            name = None if turn is None else Part(*turn.span("name")).trimmed(reading.text)
            if passage is not None and name is not None and reading.names_people(name):
                reading.mention("turn", passage, name)

    @property
    def _node(self) -> FoundNode:
        return self._sections[-1].node

    @property
    def _place(self) -> str | None:
        """Returns the headings above an entry, the outermost first, without the title: "Engine: When it fails". Where
        they are long together, only the last one stands."""
        headings = [section.heading for section in self._sections if section.heading is not None]
        place = ": ".join(headings)
        return (place if len(place) <= LONGEST_TITLE else headings[-1]) or None

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
        heading = Heading(heading.level, _undecorated(self._reading.text, heading.part))
        text = self._reading.quote(heading.part)
        vocabulary = self._reading.vocabulary
        is_off = vocabulary.is_rejected(plain(text)) or vocabulary.are_drafts(plain(text))
        is_off = is_off or (self._is_outline and COMMENT.match(text) is not None)
        if above.is_void or is_off or self._reading.is_struck(heading.part):
            self._reading.read_as("heading", heading.part)
            name = plain(self._reading.written[heading.part.start : heading.part.end])
            self._sections.append(_Section(heading.level, above.node, None, name, is_void=True))
            return
        state = STATE.match(text) if self._is_outline else None
        if state is not None:
            part = Part(heading.part.start + state.end(), heading.part.end)
            task = self._add_node("checkbox", "Task", first_sentence(self._reading.text, part), part, above.node)
            task.properties["status"] = "open" if state["state"] == "TODO" else state["state"].lower()
            self._sections.append(_Section(heading.level, task, None, task.title))
            return
        kinded = _KINDED.match(text)
        kind = vocabulary.type_of(kinded["kind"]) if kinded else None
        announced = None if kind else vocabulary.announced(plain(text))
        if announced is not None or (kind is None and vocabulary.names_a_part(plain(text))):
            self._reading.read_as("heading", heading.part)
            self._sections.append(_Section(heading.level, above.node, announced, plain(text)))
            return
        below_many = above.announced.type if above.announced and above.announced.many else None
        is_day = below_many is not None and _ONLY_DAY.fullmatch(plain(text)) is not None
        if above.level == 0 and not is_day:
            below_many = None
        is_of_person = below_many == "Task" and self._reading.person_called(plain(text)) is not None
        if is_of_person or (below_many == "Person" and not self._reading.names_people(heading.part)):
            self._reading.read_as("heading", heading.part)
            self._sections.append(_Section(heading.level, above.node, above.announced, plain(text)))
            return
        is_none = below_many is not None and self._reading.states_none(below_many, heading.part)
        if is_none or vocabulary.announces_none(plain(text)):
            below_many = None
        day, part = None, heading.part
        if kinded and kind and not is_figure(text[kinded.end() :]):
            part = Part(part.start + kinded.end(), part.end)
        elif below_many is not None:
            if is_day:
                self._reading.read_as("heading", part)
                self._sections.append(_Section(heading.level, above.node, above.announced, plain(text), part))
                return
            day, part = self._without_day(part)
        node = self._reading.add("heading", kind or below_many or "Concept", part, above.node)
        if kinded and part.start > heading.part.start:
            self._reading.name(node, text[: kinded.end()].rstrip(" :–—"))
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
        relation = reading.vocabulary.relation_of(label)
        if relation is None and reading.vocabulary.type_of(label) == "Person":
            relation = reading.vocabulary.relations["attendee"]
        if len(values) > 1 and relation is not None and relation.to in ("Person", "Organization"):
            reading.relate_each(reading.root, relation, label, values)
            reading.scan(reading.root, field.whole)
            return
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

    def _entry(self, entry: Entry, *, announces: bool = False) -> None:
        """Reads a paragraph or list item. `announces` says that it is the title of the list below it."""
        if entry.depth == 0:
            self._items = []
            pieces = list(self._lines_or_whole(entry))
        else:
            del self._items[entry.depth - 1 :]
            self._items += [None] * (entry.depth - 1 - len(self._items))
            pieces = list(self._fields_of_item(entry))
        if 0 < entry.depth <= self._below_depth:
            self._below = None
        above = next((node for node in reversed(self._items) if node is not None), self._node)
        is_void = self._below == _NOTHING and entry.depth > 0
        announced = None if self._below == _NOTHING else self._announced
        is_below_none = bool(self._items) and self._items[-1] is None
        below = self._below
        self._below = below if entry.depth else None
        place: _Place = "item" if entry.depth else "field" if len(pieces) > 1 else "paragraph"
        if place == "paragraph":
            self._state_of_section(pieces[0], above)
        is_mixed = place == "field" and not all(map(self._labelled, entry.lines))
        if is_mixed:
            self._keep(Part(entry.lines[0].start, entry.lines[-1].end), above)
            self._is_kept = True
        for part in pieces[: 1 if entry.depth else None]:
            if announces:
                self._below = self._announced_by(plain(self._reading.quote(part)))
                made = self._keep(part, above) if self._below == _NOTHING else None
                self._reading.read_as("label", part)
            elif is_void:
                made = self._reading.keep(part, above, self._place, stated_from=part.end)
            elif self._is_crossed_out(part, place) or (is_below_none and self._describes(part, below)):
                made = self._keep(part, above)
            else:
                made = self._statement(part, above, announced, place)
            if made is not None and announced is not None and made.type == announced.type:
                self._date(made, self._sections[-1].day)
                heading = self._sections[-1].heading or ""
                if made.type == "Task" and below is None and self._reading.vocabulary.are_finished(heading):
                    made.properties.setdefault("status", "done")
            if entry.depth:
                self._items.append(above if self._is_field_of(part, made, announced) else made)
        for part in pieces[1:] if entry.depth else ():
            if is_void or self._is_crossed_out(part, place):
                self._reading.keep(part, above, self._place, stated_from=part.end)
            else:
                self._statement(part, self._items[-1] or above, None, "item")
        self._is_kept = False
        if self._below is not below:
            self._below_depth = entry.depth

    def _announced_by(self, line: str) -> Announced | None:
        """Returns what a line announces for the list below it: `_NOTHING` if the line denies or rejects it."""
        vocabulary = self._reading.vocabulary
        return _NOTHING if vocabulary.announces_none(line) else vocabulary.announced(line)

    def _is_field_of(self, part: Part, made: FoundNode | None, announced: Announced | None) -> bool:
        """Decides whether an item is a label with a party behind it. Below "Owner: Ada" nothing is stated of Ada."""
        labelled = self._labelled(part) if made is not None and made.type in _PARTIES else None
        is_of_people = announced is not None and announced.type == "Person"
        return labelled is not None and not is_of_people and self._is_known(labelled.head)

    def _is_below_field(self) -> bool:
        """Decides whether the item above an item is such a label, for which the thing that it speaks of stands."""
        if not self._items or self._items[-1] is None:
            return False
        return self._items[-1] is next((node for node in reversed(self._items[:-1]) if node is not None), self._node)

    def _is_crossed_out(self, part: Part, place: _Place) -> bool:
        """Decides whether a part is struck through, or an item that may only say something of what is."""
        return self._reading.is_struck(part) or (place == "item" and self._reading.is_remark(part))

    def _state_of_section(self, part: Part, above: FoundNode) -> None:
        """Reads the paragraph below "Status" as a property, and that below "Rationale" as the reason of the decision
        before it, if there is one."""
        reading, section = self._reading, self._sections[-1]
        word = singular(_NUMBERING.sub("", section.heading or ""))
        if word in reading.vocabulary.states and part.end - part.start <= _LONGEST_STATE:
            reading.describe(above, word, reading.quote(_undecorated(reading.text, part)))
        elif word in reading.vocabulary.reasons and len(self._decisions) == 1 and not reading.quote(part).endswith(":"):
            reading.describe(self._decisions[0], "rationale", reading.quote(part))

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
        begins = [
            label is not None or self._begins_label(line) for line, label in zip(entry.lines, labels, strict=True)
        ]
        if labels[0] is not None and sum(begins) > 1 and not any(map(self._is_speaker, labels)):
            start = entry.lines[0].start
            for line, is_begun in zip(entry.lines[1:], begins[1:], strict=True):
                if is_begun or _BOLD.fullmatch(self._reading.text[start : line.start].strip()):
                    yield Part(start, line.start).trimmed(self._reading.text)
                    start = line.start
            yield Part(start, entry.lines[-1].end)
            return
        starts = [line.start for line, label in zip(entry.lines, labels, strict=True) if self._is_speaker(label)]
        ends = [line.end for line in entry.lines]
        start = entry.lines[0].start
        for turn in starts:
            if turn > start:
                yield Part(start, turn).trimmed(self._reading.text)
            start = turn
        yield Part(start, ends[-1])

    def _fields_of_item(self, entry: Entry) -> Iterator[Part]:
        """Yields a list item, or each field of one that begins with a field: "Owner: Ada", "Former owner: Bo"."""
        first = self._labelled(entry.lines[0])
        starts = [entry.lines[0].start]
        if first is not None and self._reading.vocabulary.is_field(first.head):
            starts += [line.start for line in entry.lines[1:] if self._begins_label(line)]
        for start, end in pairwise([*starts, entry.lines[-1].end]):
            yield Part(start, end).trimmed(self._reading.text)

    def _begins_label(self, line: Part) -> bool:
        """Decides whether a line begins with a label that is too long to be read: it ends the value above it."""
        match = _LONG_LABEL.match(self._reading.text, line.start, line.end)
        return match is not None and self._reading.vocabulary.begins_label(match["label"])

    def _statement(self, part: Part, above: FoundNode, announced: Announced | None, place: _Place) -> FoundNode | None:
        """Returns the node that a statement makes, or None. Everything else it states belongs to the node above it."""
        reading = self._reading
        is_below_field = place == "item" and self._is_below_field()
        nested = place == "item" and (above is not self._node or is_below_field)
        box = _CHECKBOX.match(reading.text, part.start, part.end) if place == "item" else None
        if box is not None and reading.is_remark(Part(box.end(), part.end)):
            return self._keep(part, above)
        if box is not None:
            node = self._task("checkbox", Part(box.end(), part.end), above)
            is_partly = self._is_outline and box[1] == "-"
            node.properties["status"] = "open" if is_partly else _STATES.get(box[1], "done")
            return node
        under = None if nested or announced is None else announced
        if (cited := self._cited_until(part, under, place)) is not None:
            return None if self._is_kept else reading.keep(part, above, self._place, stated_from=cited)
        if under is not None:
            day, undated = self._without_day(part)
            if day is not None and not reading.states_none(under.type, undated):
                made = self._statement(undated, above, under, place)
                self._date(made, day)
                return made
            if day is not None:
                return self._keep(part, above)
        bare = _undecorated(reading.text, part) if place == "item" else part
        is_listed_task = under is not None and under.type == "Task" and place == "item"
        if is_listed_task and is_no_task(plain(reading.quote(bare))):
            return self._keep(part, above)
        if is_listed_task and self._is_assigned(bare):
            return self._task("announced", bare, above)
        labelled = self._labelled(bare)
        if labelled is not None and is_below_field and not reading.vocabulary.is_field(labelled.head):
            return self._keep(part, above)  # it may be of the party: "Phone: ..." below "Contact: Ada"
        if labelled is not None:
            return self._labelled_statement(labelled, part, above, under, place)
        stated = under is not None and (
            (place == "item" and under.many)
            or (not under.many and under.type in _STATED and self._goes_on(under.type, part))
        )
        if (
            under is not None
            and stated
            and not (reading.states_none(under.type, bare) or reading.quote(part).endswith(":"))
            and not (under.type in _STATED and _CODE_ONLY.fullmatch(reading.quote(bare)))
        ):
            if under.type == "Task" and place == "item":
                is_name = reading.person_called(plain(reading.quote(bare))) is not None
                return self._keep(part, above) if is_name else self._task("announced", bare, above)
            sentence = first_sentence(reading.text, bare)
            if under.type == "Resource" and (link := reading.link(part, above)) is not None:
                return link
            if under.type != "Person":
                return self._add_node("announced", under.type, sentence, part, above)
            return self._person(bare, above)
        return self._keep(part, above)

    def _cited(self, part: Part) -> Part | None:
        """Returns the quotation at the beginning of a part, or None. "“Tender”: an offer" begins with a label."""
        cited = _CITED.match(self._reading.text, part.start, part.end)
        if cited is None or (cited["label"] is not None and ":" not in cited["said"]):
            return None
        return Part(*cited.span("said"))

    def _is_cited(self, lines: tuple[Part, ...]) -> bool:
        """Decides whether an entry begins with a quotation of several lines."""
        cited = self._cited(Part(lines[0].start, lines[-1].end))
        return cited is not None and cited.end > lines[0].end

    def _cited_until(self, part: Part, under: Announced | None, place: _Place) -> int | None:
        """Returns the end of the quotation at the beginning of an entry, or None if the entry is read as any other."""
        cited = self._cited(part)
        is_title = under is not None and under.type not in _CITED_TYPES and self._labelled(part) is None
        return None if cited is None or is_title else cited.end

    def _person(self, part: Part, above: FoundNode) -> FoundNode | None:
        """Reads an entry that names a person: "Ada Lovelace (lead)", "García Ruiz, Ana"."""
        reading = self._reading
        relation = reading.vocabulary.relations["attendee"]
        label = self._sections[-1].heading or "people"
        turned = given_first(plain(reading.quote(part)), is_one=True)
        if turned is not None:
            people = reading.relate_one(above, relation, label, part, turned)
        else:
            people = reading.relate(above, relation, label, _leading_name(reading.text, part))
        reading.scan(above, part)
        return people[0] if len(people) == 1 else None

    def _task(self, rule: str, part: Part, above: FoundNode) -> FoundNode:
        """Reads a task with whom its beginning names: "@ada: order tablets".

        The task is what stands behind the colon of "Ada: order tablets". It is only Ada's if the text names an Ada.
        """
        reading = self._reading
        part = _undecorated(reading.text, part)
        if (number := _ENUMERATED.match(reading.text, part.start, part.end)) is not None:
            part = Part(number.end(), part.end)
        match = _ASSIGNED.match(reading.text, part.start, part.end)
        if match is None or match.end() == part.end:
            return self._add_node(rule, "Task", first_sentence(reading.text, part), part, above)
        is_prefix = match["colon"] is not None and (self._is_of_known(match) or self._may_be_name(match, part))
        done = Part(match.end(), part.end) if is_prefix else part
        whole = done if match["handle"] is None else part
        node = self._add_node(rule, "Task", first_sentence(reading.text, done), whole, above)
        for name in self._names_before(match):
            if (person := reading.person_called(reading.quote(name))) is not None:
                reading.assign(node, person, name)
            else:
                reading.assign_to_known(node, name)
        if is_prefix:
            reading.describe(node, "text", reading.quote(part))
        return node

    def _is_assigned(self, part: Part) -> bool:
        """Decides whether an entry of a list of tasks begins with whom the text named before, or may call somebody."""
        match = _ASSIGNED.match(self._reading.text, part.start, part.end)
        return match is not None and (self._is_of_known(match) or self._may_be_name(match, part))

    def _is_of_known(self, match: re.Match[str]) -> bool:
        names = map(self._reading.quote, self._names_before(match))
        return match["handle"] is not None or any(map(self._reading.person_called, names))

    def _names_before(self, match: re.Match[str]) -> list[Part]:
        """Returns each name at the beginning of a task, without the title before it."""
        if match["name"] is None:
            return []
        text = self._reading.text
        ends = [found.span() for found in _BETWEEN_NAMES.finditer(text, *match.span("name"))]
        starts = [match.start("name"), *(end for _, end in ends)]
        names = map(Part, starts, [*(start for start, _ in ends), match.end("name")])
        return [Part(name.end - len(without_post(text[name.start : name.end])[0]), name.end) for name in names]

    def _may_be_name(self, match: re.Match[str], part: Part) -> bool:
        """Decides whether what stands before the colon of a task may call somebody, and is no word for a field."""
        reading, name, task = self._reading, match["name"], Part(match.end(), part.end)
        if name is None or match["colon"] is None or match["colon"].strip("*_ ") not in (":", "："):
            return False
        is_verb = name.split()[0].lower() in reading.vocabulary.errands
        is_said = is_verb or reading.vocabulary.is_field(name) or reading.vocabulary.is_rejected(name)
        is_none = reading.states_none("Task", task) or is_figure(plain(reading.quote(task)))
        is_words = reading.text[match.end() : match.end() + 1].isalpha()
        return is_words and _CAPITALS_ONLY.search(name) is None and not is_said and not is_none

    def _goes_on(self, node_type: str, part: Part) -> bool:
        """Decides whether a paragraph below the word for a type states one: the first, and any "We will ..."."""
        section = self._sections[-1]
        is_first, section.is_stated = not section.is_stated, True
        return is_first or _WILL.match(self._reading.text, part.start, part.end) is not None

    def _keep(self, part: Part, above: FoundNode) -> FoundNode | None:
        """Keeps a part as a passage, unless that of its whole paragraph has it."""
        if self._is_kept:
            return None
        return self._reading.keep(part, above, self._place, has_decisions=self._has_decisions())

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
        is_off = under is not None and vocabulary.is_rejected(labelled.label)
        of_list = under.type if under is not None and under.many and place == "item" else None
        if not empty and (is_off or vocabulary.is_denied(labelled.label, of_list) or self._is_undecided(labelled)):
            return self._keep(part, above)
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
            self._below = _NOTHING if vocabulary.announces_none(labelled.label) else vocabulary.announced(labelled.head)
            is_entry = place == "item" and under is not None and not vocabulary.names_a_part(labelled.label)
            if under is not None and under.type == "Person":
                is_entry = is_entry and reading.names_people(labelled.label_part)
            if self._below is None and under is not None and is_entry:
                return self._add_node("announced", under.type, labelled.label_part, labelled.label_part, above)
            if self._below is None or self._below == _NOTHING:
                return self._keep(part, above)
            reading.read_as("label", part)
            return None
        if self._is_speaker(labelled):
            return self._keep(part, above)
        if singular(labelled.head) in vocabulary.reasons and above.type == "Decision":
            reading.describe(above, "rationale", reading.quote(labelled.rest))
            reading.scan(above, part)
            return None
        if singular(labelled.head) in vocabulary.dues and above.type != "Passage":
            reading.set_due(above, labelled.rest)
        if is_of_people and relation is not None and reading.is_ended(relation, labelled.rest):
            return self._keep(part, above)
        is_of_person = under is not None and under.type == "Person" and place == "item"
        if is_of_person and relation is not None and relation.type in ("ASSIGNED_TO", "OWNED_BY"):
            return self._held(labelled, part, above)
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
        if vocabulary.is_held(labelled.label) and reading.names_people(labelled.rest):
            return self._held(labelled, part, above)
        listed = under if under is not None and under.many and place == "item" else None
        if listed is not None and listed.type != "Person" and _IDENTIFIER.fullmatch(labelled.label):
            sentence = first_sentence(reading.text, labelled.rest)
            node = self._add_node("announced", listed.type, sentence, labelled.rest, above)
            reading.name(node, labelled.label)
            reading.describe(node, "number", labelled.label)
            return node
        is_nested = place == "item" and above is not self._node
        if (labelled.is_term and place != "field" and not self._is_attribute(labelled, is_nested=is_nested)) or listed:
            node_type = listed.type if listed is not None else "Concept"
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

    def _has_decisions(self) -> bool:
        """Decides whether no heading above says that decisions are not made: "Open decisions"."""
        for heading in (self._heading_of_all, *(section.heading or "" for section in self._sections)):
            if heading not in self._undecided:
                self._undecided[heading] = self._reading.vocabulary.leaves_undecided(heading)
            if self._undecided[heading]:
                return False
        return True

    def _is_undecided(self, labelled: _Labelled) -> bool:
        """Decides whether a bracket in a label, or a heading above, denies a decision: "Decision (pending)"."""
        vocabulary = self._reading.vocabulary
        if not self._has_decisions():
            return vocabulary.type_of(labelled.head) == "Decision"
        said = labelled.label[len(labelled.head) :].lower()
        words = f" {plain_words(said)} "
        is_decision = vocabulary.type_of(labelled.head) == "Decision"
        return is_decision and labelled.day is None and any(f" {word} " in words for word in vocabulary.undecided)

    def _is_attribute(self, labelled: _Labelled, *, is_nested: bool) -> bool:
        """Decides whether a bold label with a value behind a colon says something of what it stands below, and defines
        no term: "**Severity:** minor". What costs something is a thing."""
        text = self._reading.text
        words = len(self._reading.quote(labelled.rest).split())
        is_short = words <= _MOST_VALUE_WORDS or any(dates_in(text, labelled.rest))
        return not labelled.is_dashed and (is_nested or is_short) and not any(amounts_in(text, labelled.rest))

    def _held(self, labelled: _Labelled, part: Part, above: FoundNode) -> FoundNode | None:
        """Reads an entry about people whose label names a post or a part: "CTO: Ada Lovelace"."""
        reading = self._reading
        people = reading.relate(above, reading.vocabulary.relations["attendee"], labelled.label, labelled.rest)
        if len(people) != 1 or reading.is_ended(reading.vocabulary.relations["owner"], labelled.rest):
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
            if _QUOTED.fullmatch(reading.quote(sentence)):
                sentence = Part(sentence.start + 1, sentence.end - 1)
        if label is None:
            node = reading.add(rule, node_type, sentence, above)
        else:
            node = reading.add_labelled(rule, node_type, label, sentence, above)
        if node_type == "Decision":
            self._decisions.append(node)
        if why is not None:
            reading.describe(node, "rationale", reading.quote(why))
        told = sentence if why is None else why
        rest = Part(told.end, whole.end).trimmed(reading.text).trimmed(reading.text, " .,;:()[]–—-")
        behind = reading.quote(rest)
        for owner in reading.named_owners(rest):
            behind = behind.replace(owner[0], "")
            relation = reading.vocabulary.relations[owner["label"].lower()]
            reading.relate(node, relation, owner["label"], Part(*owner.span("name")))
        if _WHO_AND_WHEN.sub("", without_days(behind)):
            reading.describe(node, "description", reading.quote(rest))
        reading.scan(node, whole)
        if node_type == "Task":
            self._named_behind(node, whole)
        return node

    def _named_behind(self, task: FoundNode, whole: Part) -> None:
        """Assigns a task to whom a bracket at its end names, if the text named that person: "Pay the rent (Bo Li)"."""
        reading = self._reading
        match = _IN_LAST_BRACKET.search(reading.text, max(whole.start, whole.end - _LONGEST_BRACKET), whole.end)
        if match is not None:
            name = Part(*match.span("name")).trimmed(reading.text)
            reading.assign_to_known(task, name)

    def _labelled(self, part: Part) -> _Labelled | None:
        """Matches `Label: rest`, `**Label**: rest`, `**Term** — rest`, `**Term** is rest`."""
        text = self._reading.text
        if text.startswith("[^", part.start):
            return None  # a footnote
        for pattern in (_TERM, _LABEL):
            match = pattern.match(text, part.start, part.end)
            if match is None or text.startswith("//", match.end("label") + 1):
                continue
            label_part = Part(match.start("label"), max(match.end("label"), match.end("behind"))).trimmed(text)
            rest = Part(match.end(), part.end).trimmed(text)
            mark = match["mark"]
            is_term = mark is not None and mark in text[match.end("label") : match.end()]
            if mark == "`" and not is_term:
                continue  # a text in code, which shows how something is written
            if _holds_sentence(match["label"]):
                continue
            is_bold = mark is not None and not is_term and not self._reading.vocabulary.is_field(match["label"])
            if is_bold and self._is_within_sentence(rest, mark):
                continue
            if mark is not None and not is_term and text.endswith(mark, rest.start, rest.end):
                rest = Part(rest.start, rest.end - len(mark)).trimmed(text)
            labelled = self._qualified(label_part, rest, is_term=is_term)
            if labelled is None or labelled.label.rpartition(" ")[2].lower() in _VERBS:
                continue
            labelled.is_dashed = pattern is _TERM
            if len(_IN_BRACKETS.sub("", labelled.head).split()) <= _MOST_LABEL_WORDS:
                return labelled
        return None

    def _is_within_sentence(self, rest: Part, mark: str) -> bool:
        """Decides whether a sentence goes on behind the mark that ends in a value: "**Doctor: Mr. Vogt** says"."""
        end = self._reading.text.find(mark, rest.start, rest.end)
        return end >= 0 and _GOES_ON_BEHIND.match(self._reading.text, end + len(mark), rest.end) is not None

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


def _holds_sentence(label: str) -> bool:
    """Decides whether the words before a colon hold the end of a sentence, and so are no label."""
    for match in _ENDS_WITHIN.finditer(label):
        word = match["word"]
        if word is None:
            return True
        is_short = len(word) == 1 or (match.start() == 0 and word[0].isupper() and len(word) <= _LONGEST_SHORT)
        is_abbreviated = word.lower() in _ABBREVIATED or word.lower() in load_vocabulary().titles
        if not is_short and not is_abbreviated:
            return True
    return False


def _undecorated(text: str, part: Part) -> Part:
    """Returns a part without the pictures at its beginning: "✅ Ship it"."""
    start = part.start
    while start < part.end and (
        text[start] in _JOINERS or (text[start] >= _FIRST_PICTURE and category(text[start]) == "So")
    ):
        start += 1
    rest = Part(start, part.end).trimmed(text)
    return rest if rest.start < rest.end else part


def _leading_name(text: str, part: Part) -> Part:
    """Returns the name at the start of an entry such as `Ada Lovelace (lead)` or `Ada — backend`."""
    end = re.compile(r"\s*[(（,:–—]|\s+-\s|\s+(?=@)").search(text, part.start, part.end)
    return Part(part.start, end.start() if end else part.end)
