"""Classes of words, and the search for their words in a text, which takes linear time whatever the number of words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from operator import itemgetter
from typing import NamedTuple

_WORD = re.compile(r"([^\W_]+(?:'[^\W_]+)*)|[.!?]+(?=[\s\"')\]]|$)|[;:\n]+|[,()\"“”`]")
_ENDS = frozenset(".!?\n;")
_SHORTEST_STEM = 3
_GAPS = {"~": 4, "~~": 12}
"""Maximum number of words between two parts of a phrase. A separable verb has its second part at the end of its clause:
"schalte die Firewall auf allen Servern aus"."""
_ELIDED = re.compile(r"(?:[ldjmtsnc]|qu|lorsqu|puisqu|jusqu|un|dell|all|nell|dall|sull|quell)'(?=[^\W_])")
"""Articles and pronouns that lose their vowel before the next word: "l'antivirus", "dell'utente"."""
_MOST_KNOWN, _LONGEST_KNOWN = 20_000, 30
"""Maximum number of words whose rows are cached, since texts share most words, and maximum length of such a word."""


class Token(NamedTuple):
    """A word in lower case, its position, the number of its sentence and of its clause, and the sign before it, such as
    a comma, if any."""

    text: str
    start: int
    end: int
    sentence: int
    clause: int
    after: str = ""


class Hit(NamedTuple):
    """A word or phrase of a class: from token `first` to before `last`."""

    name: str
    first: int
    last: int


@lru_cache(maxsize=4)  # a judgement looks at the words of one text several times
def tokens_of(text: str) -> tuple[Token, ...]:
    """Returns the words of a text. A point inside a word does not end a sentence: `notes.txt`."""
    found: list[Token] = []
    sentence = clause = 0
    after = ""
    lower = text.lower()
    if len(lower) != len(text):  # a few letters are longer in lower case, which would shift all positions
        lower = "".join(char if len(char.lower()) != 1 else char.lower() for char in text)
    if "’" in lower:
        lower = lower.replace("’", "'")
    make, add = tuple.__new__, found.append
    for match in _WORD.finditer(lower):
        if match.lastindex:
            start, end = match.span()
            word = match[0]
            if "'" in word and (elided := _ELIDED.match(word)) is not None:
                word, start = word[elided.end() :], start + elided.end()
            add(make(Token, (word, start, end, sentence, clause, after)))
            after = ""
            continue
        after = text[match.start()]
        clause += 1
        sentence += after in _ENDS
    return tuple(found)


class Lexicon:
    """Classes of words, in which German words also match as spelled without umlauts: `loesche`. An entry that ends in
    `*` matches all words with that beginning, and one that begins with `*` all longer words with that end. Several
    words are a phrase, in which `~` matches up to four words, and `~~` up to twelve."""

    def __init__(self, classes: Mapping[str, Iterable[str]]) -> None:
        self._exact: dict[str, list[tuple[tuple[str, ...], str]]] = {}
        self._stems: dict[str, list[tuple[tuple[str, ...], str]]] = {}
        self._tails: dict[str, list[tuple[tuple[str, ...], str]]] = {}
        for name, entries in classes.items():
            spelled = [str(entry).lower() for entry in entries]
            for entry in dict.fromkeys((*spelled, *(entry.translate(_WITHOUT_UMLAUTS) for entry in spelled))):
                first, *rest = entry.replace("-", " ").split()
                row = (tuple(rest), name)
                if first.endswith("*"):
                    self._stems.setdefault(first[:-1], []).append(row)
                elif first.startswith("*"):
                    self._tails.setdefault(first[1:], []).append(row)
                else:
                    self._exact.setdefault(first, []).append(row)
        # Most words begin no stem, so only the lengths of stems with the same first letters are tried.
        lengths: dict[str, set[int]] = {}
        for stem in self._stems:
            lengths.setdefault(stem[:_SHORTEST_STEM], set()).add(len(stem))
        self._lengths = {start: tuple(sorted(found, reverse=True)) for start, found in lengths.items()}
        self._ends = tuple(sorted({len(tail) for tail in self._tails}))
        self._known: dict[str, _Begun] = {}

    def hits(self, tokens: Sequence[Token]) -> list[Hit]:
        """Returns every word and phrase of every class, in order of their beginning."""
        found: list[Hit] = []
        known = self._known
        for number, token in enumerate(tokens):
            begun = known.get(token.text)
            if begun is None:
                begun = _begun(self._rows(token.text))
                if len(token.text) <= _LONGEST_KNOWN:
                    if len(known) >= _MOST_KNOWN:
                        known.clear()
                    known[token.text] = begun
            if begun is _NOTHING:
                continue
            rows = begun.always
            if begun.before and number + 1 < len(tokens) and (more := begun.before.get(tokens[number + 1].text)):
                rows = sorted((*rows, *more), key=_PLACE)
            for _, rest, name in rows:
                last = _end_of(tokens, number + 1, rest) if rest else number + 1
                if last is not None:
                    found.append(Hit(name, number, last))
        return found

    def begun_by(self, word: str) -> frozenset[str]:
        """Returns the classes that contain this word, or a phrase that begins with it."""
        return frozenset(name for _, name in self._rows(word))

    def _rows(self, word: str) -> list[tuple[tuple[str, ...], str]]:
        rows = self._exact.get(word, _NO_ROWS)
        if word.endswith("'s"):
            rows = rows + self._exact.get(word[:-2], _NO_ROWS)
        lengths = self._lengths.get(word[:_SHORTEST_STEM])
        if lengths is not None:
            for length in lengths:
                if length <= len(word):
                    rows = rows + self._stems.get(word[:length], _NO_ROWS)
        for length in self._ends:
            if length < len(word):
                rows = rows + self._tails.get(word[-length:], _NO_ROWS)
        return rows


_Row = tuple[int, tuple[str, ...], str]
"""The place of a word or phrase among those that begin with the same word, its further words, and its class."""
_PLACE = itemgetter(0)


class _Begun(NamedTuple):
    """The words and phrases that begin with one word. `before` contains those with a fixed second word, by that word;
    `always` contains all others. Most phrases that a word could begin are not in the text."""

    always: list[_Row]
    before: dict[str, list[_Row]]


_NOTHING = _Begun([], {})


def _begun(rows: Iterable[tuple[tuple[str, ...], str]]) -> _Begun:
    always: list[_Row] = []
    before: dict[str, list[_Row]] = {}
    for place, (rest, name) in enumerate(rows):
        if not rest or rest[0] in _GAPS or rest[0].endswith("*"):
            always.append((place, rest, name))
        else:
            before.setdefault(rest[0], []).append((place, rest, name))
    return _Begun(always, before) if always or before else _NOTHING


_WITHOUT_UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss"})
_NO_ROWS: list[tuple[tuple[str, ...], str]] = []


def _end_of(tokens: Sequence[Token], at: int, rest: tuple[str, ...]) -> int | None:
    """Returns the end of the rest of a phrase if it is at this position, in the same sentence."""
    for place, part in enumerate(rest):
        longest = _GAPS.get(part)
        if longest is not None:
            return next(
                (
                    end
                    for start in range(at, min(at + longest, len(tokens) - 1) + 1)
                    if (end := _end_of(tokens, start, rest[place + 1 :])) is not None
                ),
                None,
            )
        if at >= len(tokens) or tokens[at].sentence != tokens[at - 1].sentence or not _fits(tokens[at].text, part):
            return None
        at += 1
    return at


def _fits(word: str, part: str) -> bool:
    return word.startswith(part[:-1]) if part.endswith("*") else word == part
