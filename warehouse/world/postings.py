"""A full-text index in memory for a few thousand nodes: their words, and BM25 scores over those that match."""

from __future__ import annotations

import math
from bisect import bisect_left, insort
from collections import Counter
from collections.abc import Callable, Iterator

from warehouse.world.text import Search

K1, B = 1.2, 0.75
"""BM25's constants, the same as tantivy's."""


class Postings:
    """Indexes the words of nodes, which are numbers here."""

    def __init__(self) -> None:
        self._nodes: dict[str, dict[int, int]] = {}
        self._lengths: dict[int, int] = {}
        self._words: dict[int, list[str]] = {}
        self._vocabulary: list[str] = []

    def put(self, number: int, words: list[str]) -> None:
        """Replaces the words of a node."""
        for word in self._words.pop(number, ()):
            del self._nodes[word][number]
        counts = Counter(words)
        self._lengths[number] = len(words)
        self._words[number] = list(counts)
        for word, count in counts.items():
            if word not in self._nodes:
                self._nodes[word] = {}
                insort(self._vocabulary, word)
            self._nodes[word][number] = count

    def matching(self, search: Search, allowed: Callable[[int], bool]) -> set[int]:
        """Returns the allowed nodes that match."""
        return {number for word in self._sought(search) for number in self._nodes[word] if allowed(number)}

    def scores(self, search: Search, allowed: Callable[[int], bool]) -> dict[int, float]:
        """Returns the allowed nodes that match with their BM25 scores, computed only over these nodes."""
        matching = self.matching(search, allowed)
        scores = dict.fromkeys(matching, 0.0)
        mean_length = sum(self._lengths[number] for number in matching) / max(len(matching), 1)
        for word in self._sought(search):
            counts = {number: count for number, count in self._nodes[word].items() if number in matching}
            rarity = math.log(1 + (len(matching) - len(counts) + 0.5) / (len(counts) + 0.5))
            for number, count in counts.items():
                length = 1 - B + B * self._lengths[number] / mean_length
                scores[number] += rarity * count * (K1 + 1) / (count + K1 * length)
        return scores

    def _sought(self, search: Search) -> set[str]:
        words = {word for word in search.words if word in self._nodes}
        return words.union(*(self._starting(prefix) for prefix in search.prefixes))

    def _starting(self, prefix: str) -> Iterator[str]:
        for place in range(bisect_left(self._vocabulary, prefix), len(self._vocabulary)):
            if not self._vocabulary[place].startswith(prefix):
                return
            yield self._vocabulary[place]
