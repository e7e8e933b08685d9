"""Turns nodes and searches into the words that are compared: for the snapshot's index, the overlay and the past alike.

Properties are searched by their values, not by their names, and not where a text was read from.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from contracts.world.records import Node
from warehouse.world.language import DEFAULT, LANGUAGES, content_words, folded, languages_of, split_words, stems

ORIGIN = ("spans", "rule")
"""Properties of a node that was read from a document: where, and by which rule."""

SHORTEST_PREFIX = 3
CHANGING_LETTERS = 2
"""Letters at the end of a stem that its words may have otherwise: "happi" is the stem of "happy"."""

SHORTEST_MISTYPED = 5
"""Characters that a word needs at least to be found although one letter of it is wrong."""


@dataclass(frozen=True, slots=True)
class NodeWords:
    """The words of a node: all as they are written, in order and folded; these and the stems of its content words; the
    same of its title."""

    written: tuple[str, ...]
    forms: frozenset[str]
    title: frozenset[str]

    @property
    def length(self) -> int:
        """Returns the number of words."""
        return len(self.written)


def words_of(node: Node) -> NodeWords:
    """Returns the words of a node."""
    return words_of_text(node.title, node.properties)


def words_of_text(title: str, properties: Mapping[str, Any]) -> NodeWords:
    """Returns the words of a title and of every value within the properties."""
    told = {name: value for name, value in properties.items() if name not in ORIGIN or "spans" not in properties}
    in_title, below = split_words(title), split_words("\n".join(_values(told)))
    languages = languages_of((*in_title, *below)) or DEFAULT

    def forms_of(words: list[str], written: list[str]) -> frozenset[str]:
        return frozenset(written).union(*(stems(word, languages) for word in content_words(set(words), languages)))

    written_in_title, written_below = [folded(word) for word in in_title], [folded(word) for word in below]
    of_title = forms_of(in_title, written_in_title)
    return NodeWords((*written_in_title, *written_below), of_title | forms_of(below, written_below), of_title)


@dataclass(frozen=True, slots=True)
class SearchWord:
    """One word of a search: as it is written, this and its stems, and whether the beginning of a word is enough.

    A word that no visible node has is `mistyped` if it is long enough: then words that differ by one letter match.
    """

    written: str
    forms: frozenset[str]
    is_prefix: bool = False
    mistyped: bool = False


@dataclass(frozen=True, slots=True)
class Search:
    """A search. It matches nodes with one of its words."""

    words: tuple[SearchWord, ...]

    @property
    def roots(self) -> frozenset[str]:
        """Returns letters of which every matching node has some: forms without the letters in which they differ."""
        forms = {form for word in self.words for form in word.forms}
        return frozenset(form[: max(SHORTEST_PREFIX, len(form) - CHANGING_LETTERS)] for form in forms)

    def matches(self, words: NodeWords) -> bool:
        """Returns True if a node with these words has one of the search, rightly spelt."""
        return any(has_word(words, word) for word in self.words)


def has_word(words: NodeWords, word: SearchWord) -> bool:
    """Returns True if a node with these words has `word`, rightly spelt."""
    if not words.forms.isdisjoint(word.forms):
        return True
    return word.is_prefix and any(written.startswith(word.written) for written in words.written)


def exactly(written: str) -> Search:
    """Returns a search for a word in just this folded form."""
    return Search((SearchWord(written, frozenset({written})),))


def parse_search(text: str) -> Search:
    """Returns the distinct content words of a search, or all its words if it has only function words.

    With three characters or more, the last word, and any word before a `*`, is also a prefix. Example: "what are the
    open pro" has the words open and pro, and pro also finds "proof". A search whose language its function words do not
    show is looked up by the stems of all languages.
    """
    words: list[str] = []
    prefixes: set[str] = set()
    parts = text.split("*")
    for number, part in enumerate(parts):
        part_words = split_words(part)
        words += part_words
        before_star = number < len(parts) - 1 and part and not part[-1].isspace()
        at_end = number == len(parts) - 1
        if part_words and (before_star or at_end) and len(part_words[-1]) >= SHORTEST_PREFIX:
            prefixes.add(part_words[-1])
    languages = languages_of(words)
    kept = content_words(words, languages) or words
    distinct = dict.fromkeys(word for word in words if word in kept or (word in prefixes and word != words[-1]))
    return Search(tuple(_search_word(word, languages or LANGUAGES, word in prefixes) for word in distinct))


def _search_word(word: str, languages: tuple[str, ...], is_prefix: bool) -> SearchWord:
    written = folded(word)
    return SearchWord(written, stems(word, languages) | {written}, is_prefix)


def _values(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _values(item)
    elif isinstance(value, list):
        for item in value:
            yield from _values(item)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield str(value)
