"""Decides the order of found nodes: scores by the rarity of their words, lifts neighbours, breaks ties. Pure.

A node's score is the sum, over the words of the search that it has, of the word's rarity among all nodes that the
caller sees: a word that every node has adds next to nothing. Repetitions of a word in a node don't count. A word in the
title adds a quarter more; a word of its edges and aliases, a word that only begins like the searched one, and a word
that is spelt differently add less. So the same scale applies to public nodes, the caller's own, and those that no
snapshot contains yet.

Example: of 1,000 visible nodes 10 have "apollo" and 400 "plan". For the search "apollo plan" a note with both scores
4.6 + 0.9, a node with "Apollo" in its title 4.6 * 1.25, and a note with only "plan" 0.9, unless it is next to the first
one, which lifts it by half of 5.5.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from warehouse.world.text import NodeWords, SearchWord, has_like

Column: TypeAlias = np.ndarray[Any, Any]

TITLE_BONUS = 0.25
EDGE_SHARE = 0.5
"""Share of a word that only a node's edges and aliases have."""

PREFIX_SHARE = 0.2
MISTYPED_SHARE = 0.4

LIFTED_AT_MOST = 1_000
PUBLIC_LIFTED_AT_MOST = 200
"""Numbers of best hits, of the caller's own nodes and of public ones, among which neighbours lift one another. They are
constant, so that the order does not depend on the page."""

LIFTS = (0.5, 0.25)
"""Shares of their scores that a node gets from the nodes one place before and after it, and from those two places
away."""

OWN_FACTOR = 1.2
"""Factor for the caller's own nodes, which rank above public ones that match about as well."""


def rarity(matching: int, nodes: int) -> float:
    """Returns the weight of a word that `matching` of `nodes` visible nodes have."""
    return math.log1p((max(nodes - matching, 0) + 0.5) / (matching + 0.5))


def share_of(words: NodeWords, word: SearchWord) -> float:
    """Returns the share of a word's rarity that a node with `words` scores, given that it has the word, one that begins
    with it, or a similar one."""
    if not word.forms.isdisjoint(words.title):
        return 1.0 + TITLE_BONUS
    if not word.forms.isdisjoint(words.forms):
        return 1.0
    if not word.forms.isdisjoint(words.edges):
        return EDGE_SHARE
    return MISTYPED_SHARE if word.mistyped and has_like(words, word) else PREFIX_SHARE


@dataclass(frozen=True, slots=True)
class Hits:
    """Found nodes as columns: their numbers, their scores, whether they are public, their numbers of words, and their
    places in the order of ids."""

    numbers: Column
    scores: Column
    public: Column
    lengths: Column
    places: Column

    def in_order(self, following: Callable[[Column], Column]) -> list[int]:
        """Returns the numbers, best first; among equals the caller's own come first, then shorter ones, then by id.

        `following` maps numbers to those of the nodes after them, one row per entry of `LIFTS`; a number that is not
        among them means none. Only the best hits lift one another; the others follow in their own order.
        """
        # rounded to four digits, because the text index computes with lower precision
        scores = np.where(self.public, self.scores, self.scores * OWN_FACTOR).round(4)
        best, rest = self._best(scores)
        numbers, scores = self.numbers[best], scores[best]
        lifted = scores + _lifts(numbers, scores, following(numbers))
        ranked: list[int] = [*numbers[self._order(best, lifted)].tolist(), *self.numbers[rest].tolist()]
        return ranked

    def _best(self, scores: Column) -> tuple[Column | slice, Column | slice]:
        """Returns the rows that lift one another, and the others in order."""
        public = np.count_nonzero(self.public)
        if public <= PUBLIC_LIFTED_AT_MOST and len(scores) - public <= LIFTED_AT_MOST:
            return slice(None), slice(0)
        order = self._order(slice(None), scores)
        is_public = self.public[order]
        is_best = np.where(
            is_public, np.cumsum(is_public) <= PUBLIC_LIFTED_AT_MOST, np.cumsum(~is_public) <= LIFTED_AT_MOST
        )
        return order[is_best], order[~is_best]

    def _order(self, rows: Column | slice, scores: Column) -> Column:
        """Returns the order of these rows, given their scores."""
        order: Column = np.lexsort((self.places[rows], self.lengths[rows], self.public[rows], -scores))
        return order


def _lifts(numbers: Column, scores: Column, following: Column) -> Column:
    """Returns the lift that each of `numbers` gets from its neighbours. A node lifts those after it, and vice versa."""
    ascending = numbers.argsort()
    rows = ascending.take(numbers.searchsorted(following, sorter=ascending), mode="clip")
    steps, before = (numbers.take(rows) == following).nonzero()
    if not len(before):
        return np.zeros(len(numbers))
    after = rows[steps, before]
    given = np.zeros((len(LIFTS), 2, len(numbers)))
    given[steps, 0, after] = scores[before]
    given[steps, 1, before] = scores[after]
    lifts: Column = (given * np.reshape(LIFTS, (-1, 1, 1))).sum(axis=(0, 1))
    return lifts
