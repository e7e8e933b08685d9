"""An in-memory full-text index for a few thousand nodes, which finds those that have a word of a search."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable, Iterator

from warehouse.world.text import NodeWords, Search, SearchWord, differs_by_one


class Postings:
    """Indexes the words of nodes, which are numbers here."""

    def __init__(self) -> None:
        self._written: dict[str, set[int]] = {}
        self._forms: dict[str, set[int]] = {}
        self._words: dict[int, NodeWords] = {}
        self._vocabulary: list[str] = []

    def put(self, number: int, words: NodeWords | None) -> None:
        """Replaces the words of a node; None removes it."""
        known = self._words.pop(number, None)
        if known is not None:
            for index, of_node in self._indexes(known):
                for word in of_node:
                    index[word].discard(number)
        if words is None:
            return
        self._words[number] = words
        for written in (*words.written, *words.edges_written):
            if written not in self._written:
                insort(self._vocabulary, written)
                self._written[written] = set()
        for index, of_node in self._indexes(words):
            for word in of_node:
                index.setdefault(word, set()).add(number)

    def of(self, number: int) -> NodeWords:
        """Returns the words of a node."""
        return self._words[number]

    def length(self, number: int) -> int:
        """Returns the number of words of a node."""
        return self._words[number].length

    def matching(self, search: Search, allowed: Callable[[int], bool]) -> set[int]:
        """Returns the allowed nodes that have a word of the search."""
        found: set[int] = set().union(*(self.having(word) | self.beginning(word) for word in search.words))
        return {number for number in found if allowed(number)}

    def having(self, word: SearchWord) -> set[int]:
        """Returns the nodes that have the word, or one that differs by one letter if it is mistyped."""
        if not self._words:
            return set()
        near = self._near(word.written) if word.mistyped else ()
        return set().union(*(self._forms.get(form, ()) for form in word.forms), *(self._written[form] for form in near))

    def beginning(self, word: SearchWord) -> set[int]:
        """Returns the nodes with a word that begins with this prefix; empty if the word is not a prefix."""
        if not word.is_prefix or not self._words:
            return set()
        return set().union(*(numbers for _, numbers in self.starting(word.written)))

    def _near(self, word: str) -> Iterator[str]:
        return (form for form in self._vocabulary if differs_by_one(word, form))

    def starting(self, prefix: str) -> Iterator[tuple[str, set[int]]]:
        """Yields the words that begin with `prefix`, with the nodes that have them."""
        for place in range(bisect_left(self._vocabulary, prefix), len(self._vocabulary)):
            written = self._vocabulary[place]
            if not written.startswith(prefix):
                return
            yield written, self._written[written]

    def _indexes(self, words: NodeWords) -> tuple[tuple[dict[str, set[int]], frozenset[str]], ...]:
        return (
            (self._written, words.edges_written.union(words.written)),
            (self._forms, words.forms | words.edges),
        )
