"""Splits nodes and searches into words with one analyser for the snapshot's index, the overlay and the past.

A word is a run of letters and digits in lower case. Properties are searched by their values, not by their names.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import tantivy

ANALYZER = "words"
LONGEST_WORD_BYTES = 100
"""A hash of 32 bytes in hex is a word; longer runs are not."""

SHORTEST_PREFIX = 3

analyzer = (
    tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple())
    .filter(tantivy.Filter.remove_long(LONGEST_WORD_BYTES + 1))
    .filter(tantivy.Filter.lowercase())
    .build()
)


@dataclass(frozen=True)
class Search:
    """A search. It matches nodes with one of `words`, or with a word that begins with one of `prefixes`."""

    words: tuple[str, ...]
    prefixes: tuple[str, ...]

    def matches(self, words: frozenset[str]) -> bool:
        """Returns True if a node with these words matches."""
        if not words.isdisjoint(self.words):
            return True
        return bool(self.prefixes) and any(word.startswith(self.prefixes) for word in words)


def parse_search(text: str) -> Search:
    """Returns the distinct words of a search.

    With three characters or more, the last word, and any word before a `*`, is also a prefix. Example: "open pro" has
    the words open and pro, and the prefix pro, which finds "proof".
    """
    words: list[str] = []
    prefixes: list[str] = []
    parts = text.split("*")
    for number, part in enumerate(parts):
        part_words = analyzer.analyze(part)
        words += part_words
        before_star = number < len(parts) - 1 and part and not part[-1].isspace()
        at_end = number == len(parts) - 1
        if part_words and (before_star or at_end) and len(part_words[-1]) >= SHORTEST_PREFIX:
            prefixes.append(part_words[-1])
    return Search(tuple(dict.fromkeys(words)), tuple(dict.fromkeys(prefixes)))


def searched_text(title: str, properties: Mapping[str, Any]) -> str:
    """Returns the searched text: the title and every value within the properties, in order."""
    return "\n".join((title, *_values(properties)))


def words_of(title: str, properties: Mapping[str, Any]) -> list[str]:
    """Returns the words of a node, as often as they occur."""
    return list(analyzer.analyze(searched_text(title, properties)))


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
