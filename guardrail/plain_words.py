"""Here belongs the proof, from the words of a text alone, that no rule can match it, without reading or judging it.

The proof covers texts of letters, digits, blanks, commas and points in one line, which are read as a sentence or as the
command of an unknown program. A sentence has no effect without a verb, and no hazard without a household object. A
command of an unknown program has no effect without a word that means something to every program. A family of language
needs a word of each of its classes. All other texts have to be judged: a missing proof says nothing about a text.
"""

from __future__ import annotations

import re
from collections.abc import Container

from guardrail import language
from guardrail.facts import Facts
from guardrail.formats import find
from guardrail.interpret import means_something_to_any_program
from guardrail.language import actions
from guardrail.model import Passage, Span
from guardrail.reading import household, sentences
from guardrail.reading.deciding import looks_like_code
from guardrail.reading.prose_or_shell import is_sentence
from guardrail.reading.shell import OWN_WORDS

LONGEST = 2_000
"""The most characters of a text that is examined, far below every bound at which reading stops."""

_MOST_KNOWN = 200_000
"""The most words whose meaning is cached, since texts share most of their words."""

_PLAIN = re.compile(r"[A-Za-z0-9]+[.,]?(?: [A-Za-z0-9]+[.,]?)*")
_SIGNS = str.maketrans("", "", ".,")
_CAMEL = re.compile(r"[a-z][A-Z]")

_NOTHING = Facts()

_ACTS = 1
"""A word that can begin a sentence's verb or a household object."""
_COMMANDS = 2
"""A word that has a meaning in a command of an unknown program, or for the shell itself."""
_CLASSES_FROM = 2
"""The first bit for the classes of the families of language that can begin with the word."""


class PlainWords:
    """Decides whether a text can be proven to match no rule. `programs` are the names of known programs."""

    def __init__(self, programs: Container[str]) -> None:
        self._programs = programs
        self._bits = {name: 1 << at for at, name in enumerate(language.classes(), _CLASSES_FROM)}
        self._needed = tuple(
            sum(self._bits[name] for name in set(names)) for family in language.families() for names, _ in family.any
        )
        self._known: dict[str, int] = {}
        self._matching: dict[int, bool] = {}

    def match_nothing(self, text: str) -> bool:
        """Returns True if no rule can match an action given only by its text. False means nothing.

        It holds at all severities except critical, at which an unknown program is a match.
        """
        if len(text) > LONGEST or _PLAIN.fullmatch(text) is None or text[:3].isupper():
            return False
        words = text.lower().translate(_SIGNS).split(" ")
        known, found = self._known, 0
        for word in words:
            means = known.get(word)
            if means is None:
                means = self._meaning(word)
            found |= means
        if self._may_match(found) and language.match((Passage(text, Span(0, len(text)), language.ACTION),), _NOTHING):
            return False
        if looks_like_code(text):
            return False
        acts = found & _ACTS or _CAMEL.search(text) is not None
        commands = found & _COMMANDS or self._begins_a_command(words[0])
        if acts or commands:
            # whether it would be read as a sentence decides which of the two counts
            if is_sentence(text, self._programs):
                if acts and sentences.read(text).effects:
                    return False
            elif commands:
                return False
        return not find(text)

    def _meaning(self, word: str) -> int:
        """Returns everything that a word can begin, by itself or with further words."""
        means = 0
        if actions.can_begin_verb(word) or household.can_begin_thing(word):
            means |= _ACTS
        if word in OWN_WORDS or means_something_to_any_program(word):
            means |= _COMMANDS
        for name in language.classes_begun_by(word):
            means |= self._bits.get(name, 0)  # classes of excuses have no bit
        if len(self._known) >= _MOST_KNOWN:
            self._known.clear()
        self._known[word] = means
        return means

    def _may_match(self, found: int) -> bool:
        """Decides whether each class in a family's combination can begin with one of the words."""
        matching = self._matching.get(found)
        if matching is None:
            matching = self._matching[found] = any(found & needed == needed for needed in self._needed)
        return matching

    def _begins_a_command(self, word: str) -> bool:
        """Decides whether a line that begins with the word may be a command of a known program, with or without a
        version."""
        return word in self._programs or word.rstrip("0123456789") in self._programs
