"""Proves from the words of a text that no rule can match it, without reading or judging the text.

The proof covers texts of letters, digits, blanks, commas and points in one line, which are read as a sentence or as the
command of an unknown program. A sentence has no effect without a verb, and no hazard without a household object. A
command of an unknown program has no effect without a word that means something to every program. A family of language
needs a word of each of its classes. All other texts must be judged: a missing proof means nothing.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Sequence

from guardrail import language
from guardrail.facts import Facts
from guardrail.formats import without_findings
from guardrail.interpret import means_something_to_any_program
from guardrail.language import actions
from guardrail.model import Passage, Span
from guardrail.reading import household, sentences
from guardrail.reading.deciding import can_mark_code, looks_like_code
from guardrail.reading.prose_or_shell import is_sentence
from guardrail.reading.shell import OWN_WORDS

LONGEST = 2_000
"""Maximum length of a text that is examined, far below every bound at which reading stops."""

_MOST_KNOWN = 200_000
"""Maximum number of words whose meaning is cached; texts share most of their words."""
_LONGEST_KNOWN = 40
"""Maximum length of a cached word."""

_PLAIN = re.compile(r"[A-Za-z0-9]+[.,]?(?: [A-Za-z0-9]+[.,]?)*")
_CAMEL = re.compile(r"[a-z][A-Z]")

_NOTHING = Facts()

_ACTS = 1
"""A word that can begin a sentence's verb or a household object."""
_COMMANDS = 2
"""A word that has a meaning in a command of an unknown program, or for the shell itself."""
_CODE = 4
"""A word by which a text can look like code."""
_PROGRAM = 8
"""The name of a known program, with or without a version: a line that begins with it may be a command."""
_CLASSES_FROM = 4
"""The first bit for the classes of the families of language that can begin with the word."""


class PlainWords:
    """Decides whether a text can be proven to match no rule. `programs` are the names of known programs."""

    def __init__(self, programs: Container[str]) -> None:
        self._programs = programs
        self._bits = {name: 1 << at for at, name in enumerate(language.classes(), _CLASSES_FROM)}
        self._classes = sum(self._bits.values())
        self._needed = tuple(
            sum(self._bits[name] for name in set(names)) for family in language.families() for names, _ in family.any
        )
        self._known: dict[str, int] = {}
        self._meaningless: set[str] = set()
        self._matching: dict[int, bool] = {}

    def matching_nothing(self, texts: Iterable[str]) -> set[str]:
        """Returns the texts that no rule can match when they are sent as an action without context. It proves nothing
        about the others.

        The proof holds at all severities except critical, at which an unknown program is a match.
        """
        return set(without_findings([text for text in texts if self._means_nothing(text)]))

    def _means_nothing(self, text: str) -> bool:
        """Decides whether the words of a text mean nothing to any rule. It may still contain findings."""
        if len(text) > LONGEST or text[:3].isupper():
            return False
        words = text.split(" ")
        if self._meaningless.issuperset(words):
            return True
        return _PLAIN.fullmatch(text) is not None and not self._may_mean_something(text, words)

    def _may_mean_something(self, text: str, words: Sequence[str]) -> bool:
        found = 0
        for word in words:
            found |= self._meaning(word)
        if self._may_match(found) and language.match((Passage(text, Span(0, len(text)), language.ACTION),), _NOTHING):
            return True
        if found & _CODE and looks_like_code(text):
            return True
        acts = found & _ACTS
        commands = found & _COMMANDS or self._meaning(words[0]) & _PROGRAM
        if not acts and not commands:
            return False
        # the text is read either as a sentence or as a command, so only one of the two counts
        if is_sentence(text, self._programs):
            return bool(acts and sentences.read(text).effects)
        return bool(commands)

    def _meaning(self, written: str) -> int:
        """Returns what a word can begin, alone or with further words, as bits. Punctuation may follow it."""
        if written in self._meaningless:
            return 0
        means = self._known.get(written)
        if means is None:
            means = self._look_up(written)
            if len(written) <= _LONGEST_KNOWN:
                self._keep(written, means)
        return means

    def _look_up(self, written: str) -> int:
        word, means = written.rstrip(".,").lower(), 0
        if actions.can_begin_verb(word) or household.can_begin_thing(word) or _CAMEL.search(written) is not None:
            means |= _ACTS
        if word in OWN_WORDS or means_something_to_any_program(word):
            means |= _COMMANDS
        if can_mark_code(written):
            means |= _CODE
        if word in self._programs or word.rstrip("0123456789") in self._programs:
            means |= _PROGRAM
        for name in language.classes_begun_by(word):
            means |= self._bits.get(name, 0)  # classes of excuses have no bit
        return means

    def _keep(self, word: str, means: int) -> None:
        if len(self._known) + len(self._meaningless) >= _MOST_KNOWN:
            self._known.clear()
            self._meaningless.clear()
        if means:
            self._known[word] = means
        else:
            self._meaningless.add(word)

    def _may_match(self, found: int) -> bool:
        """Decides whether each class in a family's combination can begin with one of the words."""
        classes = found & self._classes
        matching = self._matching.get(classes)
        if matching is None:
            if len(self._matching) >= _MOST_KNOWN:
                self._matching.clear()
            matching = self._matching[classes] = any(classes & needed == needed for needed in self._needed)
        return matching
