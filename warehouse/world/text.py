"""Words of nodes and of searches: one analyser for the snapshot's index, the overlay and the past.

A word is a run of letters and digits in lower case. Properties are searched by their values, not by their names.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import tantivy

ANALYZER = "words"
LONGEST_WORD_BYTES = 100
"""A hash of 32 bytes in hex is a word; what is longer is not one."""

SHORTEST_PREFIX = 3

analyzer = (
    tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple())
    .filter(tantivy.Filter.remove_long(LONGEST_WORD_BYTES + 1))
    .filter(tantivy.Filter.lowercase())
    .build()
)


@dataclass(frozen=True)
class Search:
    """A search: nodes match that hold one of `words`, or a word that begins with one of `prefixes`."""

    words: tuple[str, ...]
    prefixes: tuple[str, ...]

    def matches(self, words: frozenset[str]) -> bool:
        """Whether a node with these words is found."""
        if not words.isdisjoint(self.words):
            return True
        return bool(self.prefixes) and any(word.startswith(self.prefixes) for word in words)


def parse_search(text: str) -> Search:
    """The words of a search, each once. From three characters on, the last and any before a `*` are prefixes too."""
    words: list[str] = []
    prefixes: list[str] = []
    parts = text.split("*")
    for number, part in enumerate(parts):
        found = analyzer.analyze(part)
        words += found
        before_star = number < len(parts) - 1 and part and not part[-1].isspace()
        at_end = number == len(parts) - 1
        if found and (before_star or at_end) and len(found[-1]) >= SHORTEST_PREFIX:
            prefixes.append(found[-1])
    return Search(tuple(dict.fromkeys(words)), tuple(dict.fromkeys(prefixes)))


def searched_text(title: str, properties: Mapping[str, Any]) -> str:
    """What a search looks through: the title and every value within the properties, in order."""
    return "\n".join((title, *_values(properties)))


def words_of(title: str, properties: Mapping[str, Any]) -> list[str]:
    """The words of a node, as often as they occur."""
    return list(analyzer.analyze(searched_text(title, properties)))


def _values(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from _values(each)
    elif isinstance(value, list):
        for each in value:
            yield from _values(each)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield str(value)
