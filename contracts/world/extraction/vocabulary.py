"""Maps the words of headings, labels, columns and keys to types and relations, read from `vocabulary.yaml`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path
from typing import NamedTuple

import yaml

from contracts.world.ontology import Ontology

_LONGEST_WORDS = 4
_HEADING_WORDS = 6
_COLLECTIVE = frozenset({"Concept", "Person", "Task"})
"""Types whose singular word may denote many things: glossary, team, backlog."""
_NUMBERING = re.compile(r"^(?:\d+(?:\.\d+)*[.)]?|[ivxIVX]+[.)]|[A-Z][.)])\s+")
_STILL = re.compile(r"^(?:still|yet|as yet|currently) ")
_FOR_NOW = re.compile(
    r"(?:(?<=^not) yet\b| (?:yet|so far|for now|at present|at the moment|currently)$| (?:until|till) .*$)"
)
_SHORT_NOT = re.compile(r"n[’']t\b")
_NEAR = 4
"""A word at least this far after a negation does not belong to it."""
_FIRST_JAPANESE = "\u3000"
_PERIOD = re.compile(
    r"\b(?:19|20)\d\d(?:[-./]\d{1,2}){0,2}\s?(?:[–—-]|to|bis|au|à|al?|tot)\s?(?:\d{1,2}[./]){0,2}(?:19|20)\d\d\b"
)
"""A period with an end: "2019 to 2024", "2024-01-01 to 2025-03-31"."""
_CASES = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_WORDS = re.compile(r"[^\W_]+(?:-[^\W_]+)*|#")
_BRACKETS = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")
_JOINT = re.compile(r"\s+(?:and|und|et|y)\s+|\s*[&/,+]\s*")
"""Separates the parts of a heading: "Decisions and next steps"."""
_NO = re.compile(
    r"(?:there (?:are|is|were|was) )?(?:no|keine?|aucune?|ning[uú]na?|nessuna?|nenhuma?|geen) "
    r"(?P<what>(?:[\w-]+ ){0,2}?[\w-]+?)"
    r"(?:\W*$| (?:was|were|is|are|has|have|yet|so far|for|this|today|captured|recorded|identified|planned)\b)",
    re.IGNORECASE,
)
_FOUND = (
    "(?:identified|known|found|recorded|reported|noted|captured|raised|planned|expected|made|taken|applicable"
    "|at (?:this|the) (?:time|point|stage|moment)|bekannt|identifiziert|festgestellt|vorhanden)"
)
_NONE = re.compile(
    rf"(?:none|nothing|keine?[rs]?)(?: (?:is|are|were|was|have been|has been))? {_FOUND}(?: (?:yet|so far|{_FOUND}))?"
)
"""An entry that states that there is nothing: "None identified at this time"."""
_NOT = re.compile(r"\b(?:do|are|is)n['’]t\b", re.IGNORECASE)
_STILL_OPEN = frozenset({"to", "by", "until", "before", "open", "bis", "offene", "zu", "à", "a", "da", "te"})
"""Words that mark the tasks below a heading with "done" as not done: "Tasks to be done"."""
_WITHIN_POSTS = frozenset(["", "&", "and", "of", "und", "for", "the", "der", "die", "le", "la", "el"])
"""Words within names of posts and departments that carry no meaning."""
_PLACEHOLDER = re.compile(r"\[[^\[\]]*\]|\{+[^{}]*\}+|<[^<>]*>|\([.…]+\)|[YMDT:/-]{8,}")
"""A placeholder of a template: "[Name]", "YYYY-MM-DD"."""


@dataclass(frozen=True)
class Relation:
    """An edge that a word announces: its type, and the type of its target (None: an existing node).

    `named` is the type of a new target, used if no node has the name and it is certainly a name: "SAP", "`redis`".
    """

    type: str
    to: str | None = None
    named: str | None = None
    reversed: bool = False


class Announced(NamedTuple):
    """The type of the entries below, whether there is one or many, and their state if it is announced too."""

    type: str
    many: bool
    state: str | None = None


NOTHING = Announced("", many=False)
"""The announcement of a list of rejected things."""


@dataclass(frozen=True)
class StatementForm:
    """Columns or keys of a subject, a predicate and an object, each in the order of preference."""

    subject: tuple[str, ...]
    predicate: tuple[str, ...]
    object: tuple[str, ...]
    is_complete_without_predicate: bool


@dataclass(frozen=True)
class Vocabulary:
    """Words of structure, lower case and singular."""

    types: dict[str, str]
    groups: dict[str, str]
    lists: frozenset[str]
    alone: frozenset[str]
    behind: frozenset[str]
    untyped: frozenset[str]
    structure: frozenset[str]
    relations: dict[str, Relation]
    names: tuple[str, ...]
    type_words: frozenset[str]
    descriptions: frozenset[str]
    numbers: frozenset[str]
    statements: tuple[StatementForm, ...]
    statement_details: frozenset[str]
    states: frozenset[str]
    reasons: frozenset[str]
    dues: frozenset[str]
    ends: frozenset[str]
    nothing: frozenset[str]
    unsettled: frozenset[str]
    undecided: frozenset[str]
    denying: frozenset[str]
    between: frozenset[str]
    ending: frozenset[str]
    past: frozenset[str]
    past_verbs: frozenset[str]
    lasting: frozenset[str]
    periods: frozenset[str]
    since: frozenset[str]
    moved: frozenset[str]
    refusing: frozenset[str]
    doubting: frozenset[str]
    forgetting: frozenset[str]
    rejecting: frozenset[str]
    negations: frozenset[str]
    finished: frozenset[str]
    totals: frozenset[str]
    honorifics: frozenset[str]
    roles: frozenset[str]
    kin: frozenset[str]
    said: frozenset[str]
    gestures: frozenset[str]
    openers: frozenset[str]
    collective: frozenset[str]
    posts: frozenset[str]
    parts: frozenset[str]
    determiners: frozenset[str]
    ordinary: frozenset[str]
    nouns: frozenset[str]
    beginnings: frozenset[str]
    errands: frozenset[str]
    undertakings: frozenset[str]
    units: frozenset[str]
    before_years: frozenset[str]

    def with_words_of(self, ontology: Ontology) -> Vocabulary:
        """Returns the vocabulary with the names of an owner's types and relationships, spelled as words.

        "Recipe card" announces `RecipeCard`, "cooked with" announces `COOKED_WITH`. A word that already has a meaning
        keeps it.
        """
        if ontology.public is None:
            return self
        service = ontology.public
        types = {singular(_CASES.sub(" ", name)): name for name in ontology.node_types.keys() - service.node_types}
        relations = {
            singular(name.replace("_", " ")): Relation(name)
            for name in sorted(ontology.edge_types.keys() - service.edge_types)
        }
        taken = self.types.keys() | self.relations
        return replace(
            self,
            types={word: types[word] for word in sorted(types.keys() - taken)} | self.types,
            relations={word: relation for word, relation in relations.items() if word not in taken} | self.relations,
        )

    def names_a_part(self, heading: str) -> bool:
        """Decides whether a heading names a usual part of documents, such as `License`, rather than a thing."""
        return plain_words(_NUMBERING.sub("", heading)) in self.structure

    def names_nothing(self, value: str) -> bool:
        """Decides whether a value only means that there is none yet: "TBD by May", a placeholder such as "[Name]", or
        a text without letters and digits."""
        if _PLACEHOLDER.fullmatch(value.strip(' "“”')):
            return True
        words = _STILL.sub("", plain_words(value))
        if not words or _FOR_NOW.sub("", words) in self.nothing or _NONE.fullmatch(words):
            return True
        return any(words == start or words.startswith(f"{start} ") for start in self.unsettled)

    def states_no(self, node_type: str, text: str) -> bool:
        """Decides whether an entry only states that there is no thing of a type: "No action items were captured"."""
        match = _NO.match(text)
        if match is None:
            return False
        what = match["what"]
        return node_type in (self.type_of_each(what), self.type_of_each(what.rpartition(" ")[2]))

    def is_post(self, name: str) -> bool:
        """Decides whether a name is that of a post: "CTO", "Product Manager"."""
        words = _name_words(name)
        held = self._words_of_posts
        return any(word in held for word in words) and all(word in held or word in self.parts for word in words)

    def length_of_post(self, words: Sequence[str]) -> int:
        """Returns the greatest number of leading words that name a post, or 0 if none do."""
        length, is_held = 0, False
        for length, word in enumerate(words, 1):
            for plain in _name_words(word):
                if plain not in self._words_of_posts and plain not in self.parts:
                    return length - 1 if is_held else 0
                is_held = is_held or plain in self._words_of_posts
        return length if is_held else 0

    @cached_property
    def _words_of_posts(self) -> frozenset[str]:
        return self.posts | {word for role in self.roles for word in role.split()}

    @cached_property
    def statement_subjects(self) -> frozenset[str]:
        """Returns the words of columns and keys that hold the subject of a statement."""
        return frozenset(word for form in self.statements for word in form.subject)

    @cached_property
    def titles(self) -> frozenset[str]:
        """Returns the titles before a name, in lower case."""
        return frozenset(title.lower() for title in self.honorifics)

    @cached_property
    def before_names(self) -> frozenset[str]:
        """Returns the words, in lower case, that may precede a name without making it another name."""
        return self.beginnings | self.openers | self.titles | self.errands

    def is_held(self, name: str) -> bool:
        """Decides whether a name is that of a post that only people hold. A sponsor may be a firm."""
        return self.is_post(name) and "sponsor" not in _name_words(name)

    def is_part(self, name: str) -> bool:
        """Decides whether a name is that of a part of an organisation: "QA", "Human Resources"."""
        words = _name_words(name)
        return bool(words) and all(word in self.parts for word in words)

    def is_of_many(self, label: str) -> bool:
        """Decides whether several names may follow a label: "Owners", "Present"."""
        words = _WORDS.findall(label.lower())
        return bool(words) and (_is_plural(words[-1]) or words[-1] in self.collective)

    def type_of(self, label: str) -> str | None:
        """Returns the node type for a label, column or key, or None."""
        return self.types.get(singular(label))

    def type_of_each(self, label: str) -> str | None:
        """Returns the node type for each thing below a label or heading, or None."""
        word = singular(label)
        return self.types.get(word) or self.groups.get(word)

    def relation_of(self, label: str) -> Relation | None:
        """Returns the relation for a label, column or key, or None.

        In a label of several words the last one decides if it is a word for people: "Risk owner", "Councillors
        present". The name of a post, such as "Product owner", is not a relation.
        """
        word = singular(label)
        relation = self.relations.get(word)
        if relation is None and " " in word and not self.is_post(label):
            relation = self.relations.get(word.rpartition(" ")[2])
            if relation is None or relation.to != "Person":
                return None
            is_held = not self._denies(word) and not word.startswith("next ")
            return relation if is_held or relation.type == "MENTIONS" else None
        return relation

    def is_denied(self, label: str, listed: str | None = None) -> bool:
        """Decides whether a label would state something without those of its words that deny, end or weaken it.

        "Former owner" and "Decision (rejected)" would. "Not present" only mentions people, and "Old boat" is a name.
        "No budget" is a name in a list of risks: `listed` is the type of the list's entries.
        """
        word = singular(label)
        if word in self.relations or word in self.types or not self._denies(label):
            return False
        kept = [each for each in plain_words(label).split() if each not in self.denying | self.between]
        return self._says(" ".join(kept), listed) or self._says(_BRACKETS.sub("", label), None)

    def is_over(self, behind: str) -> bool:
        """Decides whether a remark after a name means that it no longer or not yet applies: "left in May"."""
        words = plain_words(behind).split()
        is_within = any(word in behind for word in self.ending if word[0] > _FIRST_JAPANESE and len(word) > 1)
        is_ended = is_within or any(word in self.ending or word in self.denying for word in words)
        return is_ended or _PERIOD.search(behind) is not None

    def is_field(self, label: str) -> bool:
        """Decides whether a label names the kind of its text: "Owner", "Risk", "Due", "Note"."""
        word = singular(label)
        fields = (self.dues, self.states, self.reasons, self.descriptions, self.numbers, self.names, self.type_words)
        is_known = self.relation_of(label) is not None or self.type_of_each(label) is not None
        return is_known or any(word in words for words in fields) or self.names_a_part(label)

    def denies(self, sentence: str) -> bool:
        """Decides whether a sentence is a denial: "You may not leave" is, "Do not forget to pay" is not."""
        words = plain_words(_SHORT_NOT.sub(" not", sentence)).split()
        denied = [number for number, word in enumerate(words) if word in self.negations or word in self.refusing]
        return any(self.forgetting.isdisjoint(words[number + 1 : number + _NEAR]) for number in denied)

    def begins_label(self, label: str) -> bool:
        """Decides whether words before a colon begin with a label, perhaps after words that deny it: "No longer
        responsible for the web site"."""
        words = [word for word in plain_words(label).split() if word not in self.denying | self.between]
        starts = (" ".join(words[:length]) for length in range(1, _LONGEST_WORDS))
        return any(self._says(start, None) or self.relation_of(start) is not None for start in starts)

    def _denies(self, label: str) -> bool:
        words = plain_words(label).split()
        return len(words) > 1 and any(word in self.denying for word in words)

    def _says(self, label: str, listed: str | None) -> bool:
        """Decides whether a label states something about the text after it, beyond mentioning people."""
        word = singular(label)
        relation = self.relation_of(label)
        if relation is not None and relation.type == "MENTIONS":
            return False
        if word in self.types:
            return relation is not None or listed in (None, self.types[word])
        is_field = any(word in words for words in (self.dues, self.states, self.reasons))
        return relation is not None or is_field or self.is_held(label)

    def announced(self, heading: str) -> Announced | None:
        """Returns the announcement of a heading such as `Open risks`, `3. Goals for 2026` or `Decision`, or None.

        A heading that names decisions together with things of another type announces neither, since the entries below
        may be either. The same applies to one that names people together with anything else.
        """
        text = _BRACKETS.sub("", _NUMBERING.sub("", heading.lower()))
        if plain_words(text) in self.untyped or len(_WORDS.findall(text)) > _HEADING_WORDS:
            return None
        if self._negates(text) or self._rejects(heading):
            return None
        relation = self.relations.get(singular(text))
        if relation is not None and relation.type == "MENTIONS" and relation.to == "Person":
            return Announced("Person", many=True)
        parts = [_WORDS.findall(part) for part in _JOINT.split(text)]
        found = [announced for words in parts if (announced := self._announced(words, is_whole=len(parts) == 1))]
        if self._is_draft(heading) or any(" ".join(words) in self.undecided for words in parts):
            found = [announced for announced in found if announced.type != "Decision"]
        types = {announced.type for announced in found}
        is_either = len(types) > 1 and "Decision" in types
        is_beside = "Person" in types and len(found) < len(parts)
        return found[0] if found and not is_either and not is_beside else None

    def are_drafts(self, heading: str) -> bool:
        """Decides whether a heading names decisions and marks them in a bracket as not made."""
        announced = self.announced(_BRACKETS.sub("", heading)) if self._is_draft(heading) else None
        return announced is not None and announced.type == "Decision"

    def leaves_undecided(self, heading: str) -> bool:
        """Decides whether a heading names decisions and marks them as not made: "Open decisions"."""
        text = plain_words(heading)
        kept = f" {text} "
        for word in sorted(self.undecided | self.negations, key=lambda word: (-len(word), word)):
            kept = kept.replace(f" {word} ", " ")
        announced = self.announced(kept) if kept.strip() != text else None
        return announced is not None and announced.type == "Decision"

    def _is_draft(self, heading: str) -> bool:
        """Decides whether a bracket in a heading marks the entries below it as undecided: "Decisions (draft)"."""
        said = f" {plain_words(' '.join(_BRACKETS.findall(heading)))} "
        return self._negates(said) or any(f" {word} " in said for word in self.undecided)

    def is_rejected(self, heading: str) -> bool:
        """Decides whether a heading marks the entries below it as rejected or cancelled: "Rejected decisions"."""
        if not self._rejects(heading):
            return False
        kept = [word for word in plain_words(heading).split() if word not in self.rejecting]
        return not kept or self.announced(" ".join(kept)) is not None

    def announces_none(self, line: str) -> bool:
        """Decides whether a line above a list denies or rejects what it would announce: "Rejected decisions:"."""
        kept = " ".join(word for word in plain_words(line).split() if word not in self.negations)
        return self.is_rejected(line) or (self._negates(line) and self.announced(_NOT.sub("", kept)) is not None)

    def _negates(self, text: str) -> bool:
        return _NOT.search(text) is not None or any(word in self.negations for word in plain_words(text).split())

    def _rejects(self, heading: str) -> bool:
        return any(word in self.rejecting for word in plain_words(heading).split())

    def are_finished(self, heading: str) -> bool:
        """Decides whether a heading marks the tasks below it as done: "Completed tasks", not "Tasks to be done"."""
        words = frozenset(plain_words(heading).split())
        is_open = not words.isdisjoint(_STILL_OPEN) or not words.isdisjoint(self.negations)
        return not is_open and not words.isdisjoint(self.finished)

    def _announced(self, words: list[str], *, is_whole: bool) -> Announced | None:
        """Returns the announcement that the words of a heading, or of a part of it, make."""
        is_undecided = any(f" {word} " in f" {' '.join(words)} " for word in self.undecided)
        for length in range(min(_LONGEST_WORDS, len(words)), 0, -1):
            for first in range(len(words) - length + 1):
                phrase = " ".join(words[first : first + length])
                node_type = self.type_of_each(phrase)
                is_named = all(word in self.determiners for word in words[:first]) and len(words) == first + length
                if node_type is None or (node_type == "Decision" and is_undecided):
                    continue
                if singular(phrase) in self.alone and not is_named:
                    continue
                behind = words[first + length] if first + length < len(words) else None
                is_list = len(words) == first + length + 1 and words[-1] in self.lists
                if behind is not None and not (is_list or behind[0].isdecimal() or behind in self.behind):
                    continue  # the phrase only qualifies another word: "DNS promises API"
                is_group = phrase in self.groups and (node_type != "Person" or is_named)
                if _is_plural(words[first + length - 1]) or is_group or is_list:
                    return Announced(node_type, many=True)
                # otherwise the heading names one thing of that type, as in `Project Apollo`
                if is_named and is_whole:
                    return Announced(node_type, many=node_type in _COLLECTIVE)
        return None


def _name_words(name: str) -> list[str]:
    words = (word.strip(".,()") for word in name.lower().split())
    return [word for word in words if word not in _WITHIN_POSTS]


def plain_words(text: str) -> str:
    """Returns a text's words in lower case, separated by one space."""
    return " ".join(_WORDS.findall(text.lower()))


def singular(label: str) -> str:
    """Returns a label's words with the last one in the singular."""
    words = _WORDS.findall(label.lower())
    if not words:
        return ""
    last = words[-1]
    if last.endswith("ies") and len(last) > 4:
        last = last[:-3] + "y"
    elif last.endswith(("sses", "ches", "shes", "xes")):
        last = last[:-2]
    elif _is_plural(last):
        last = last[:-1]
    return " ".join([*words[:-1], last])


def without_unit(name: str) -> str:
    """Returns the word of a column or key without the brackets after it: "Due (YYYY-MM-DD)"."""
    return singular(_BRACKETS.sub("", name) or name)


def _is_plural(word: str) -> bool:
    return word.endswith("s") and not word.endswith(("ss", "us", "is")) and len(word) > 2


@cache
def load_vocabulary() -> Vocabulary:
    """Returns the vocabulary of this version. Raises `ValueError` if a word denotes two types."""
    raw = yaml.load((Path(__file__).parent / "vocabulary.yaml").read_text(), yaml.CSafeLoader)
    types: dict[str, str] = {}
    for name, words in raw["types"].items():
        for word in words:
            if types.setdefault(singular(word), name) != name:
                raise ValueError(f"{word} stands for {types[singular(word)]} and for {name}")
    return Vocabulary(
        types,
        {singular(word): name for name, words in raw["groups"].items() for word in words},
        frozenset(raw["lists"]),
        frozenset(raw["alone"]),
        frozenset(raw["behind"]),
        frozenset(map(plain_words, raw["untyped"])),
        frozenset(map(plain_words, raw["structure"])),
        {singular(word): Relation(**fields) for word, fields in raw["relations"].items()},
        tuple(singular(word) for word in raw["names"]),
        frozenset(map(singular, raw["type_words"])),
        frozenset(map(singular, raw["descriptions"])),
        frozenset(map(singular, raw["numbers"])),
        tuple(
            StatementForm(
                tuple(map(singular, form["subject"])),
                tuple(map(singular, form["predicate"])),
                tuple(map(singular, form["object"])),
                form.get("is_complete_without_predicate", False),
            )
            for form in raw["statements"]
        ),
        frozenset(map(singular, raw["statement_details"])),
        frozenset(map(singular, raw["states"])),
        frozenset(map(singular, raw["reasons"])),
        frozenset(map(singular, raw["dues"])),
        frozenset(map(singular, raw["ends"])),
        *(
            frozenset(map(plain_words, raw[name]))
            for name in (
                "nothing",
                "unsettled",
                "undecided",
                "denying",
                "between",
                "ending",
                "past",
                "past_verbs",
                "lasting",
                "periods",
                "since",
                "moved",
                "refusing",
                "doubting",
                "forgetting",
                "rejecting",
                "negations",
                "finished",
                "totals",
            )
        ),
        *(
            frozenset(raw[name])
            for name in (
                "honorifics",
                "roles",
                "kin",
                "said",
                "gestures",
                "openers",
                "collective",
                "posts",
                "parts",
                "determiners",
                "ordinary",
                "nouns",
                "before_names",
                "errands",
                "undertakings",
                "units",
                "before_years",
            )
        ),
    )
