"""Converts the words of a search to queries of a text index, which score nodes as `ranking.py` defines and read no more
of the index than the best hits need.

Example: of a million nodes 50,000 have "plan", 17,000 of them in their title, and 800 have "apollo". A search for
"plan" reads only the titles, because the best hits are among them. A search for "apollo plan" looks up "plan" only for
nodes with "apollo", because no other node scores as much. Both count all nodes that match.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import tantivy

from warehouse.world.ranking import EDGE_SHARE, MISTYPED_SHARE, PREFIX_SHARE, TITLE_BONUS
from warehouse.world.snapshot import FORM_FIELDS, TextIndex
from warehouse.world.text import SearchWord

EXPANSIONS_AT_MOST = 64
"""Maximum number of words with a prefix that are queried one by one; a pattern finds more of them faster."""

LOOKED_UP, COUNTED = 1.5, 0.25
"""The costs of looking up a node in a list, and of counting an entry, relative to scoring an entry."""

_FIELD_SHARES = tuple(zip(FORM_FIELDS, (1 + TITLE_BONUS, 1.0, EDGE_SHARE), strict=True))
"""The fields of the index, best first, with the share of a word's weight that each gives."""


class Part(NamedTuple):
    """Nodes that have a word of a search: all of them, or those with the same score for it."""

    query: tantivy.Query
    score: float
    """The maximum that the word adds to the score of such a node."""
    nodes: int
    """The number of nodes, all with that score; 0 if it is unknown without a search."""
    terms: list[tantivy.Query]
    """Queries without scores that find these nodes and possibly others with the word, which count faster."""
    entries: int
    """The approximate number of entries of the index's lists that the query reads."""


class IndexedWord:
    """The occurrences of one search word in one index."""

    def __init__(self, index: TextIndex, word: SearchWord) -> None:
        searcher = index.searcher
        self._index = index
        self._word = word
        counts = ((form, [searcher.doc_freq(field, form) for field in FORM_FIELDS]) for form in word.forms)
        self._nodes = {form: of_fields for form, of_fields in counts if any(of_fields)}
        """For each form that occurs, the number of nodes per field."""
        self._longer: list[tuple[str, int]] = []
        """Words that begin with the prefix, with their numbers of nodes, the most common first. One word above the
        limit shows that there are more."""
        if word.is_prefix:
            self._longer = searcher.terms_with_prefix("written", word.written, limit=EXPANSIONS_AT_MOST + 1)

    def having(self, owner: int) -> int:
        """Returns the approximate number of nodes of an owner's code, or of public ones for 0, that have the word. It
        is 0 only if there are none."""
        if owner or self._word.mistyped:
            return self._matching([query for query, share in self._queries() if share != PREFIX_SHARE], owner)
        return max(map(sum, self._nodes.values()), default=0)

    def beginning(self, owner: int) -> int:
        """Returns the approximate number of these nodes that have a longer word beginning with it. It is 0 only if
        there are none."""
        if owner:
            return self._matching(self._begun(), owner)
        return self._longer[0][1] if self._longer else 0

    def _matching(self, queries: Sequence[tantivy.Query], owner: int) -> int:
        return self._index.matching(_any_of(queries), owner) if queries else 0

    def parts(self, weight: float) -> list[Part]:
        """Returns the nodes that have the word, whose weight is given, in disjoint parts."""
        if len(self._nodes) != 1 or self._word.mistyped:
            return self._whole(weight)
        ((form, counts),) = self._nodes.items()
        # a field has a form only if the better fields lack it
        lists = [
            (self._term(field, form), weight * share, nodes)
            for (field, share), nodes in zip(_FIELD_SHARES, counts, strict=True)
            if nodes
        ]
        parts = [Part(_scoring(query, score), score, nodes, [query], nodes) for query, score, nodes in lists]
        if longer := self._begun():
            clauses = [
                (tantivy.Occur.Must, _any_of(longer)),
                *((tantivy.Occur.MustNot, query) for query, _, _ in lists),
            ]
            score = weight * PREFIX_SHARE
            query = _scoring(tantivy.Query.boolean_query(clauses), score)
            parts.append(Part(query, score, 0, longer, self._longer_entries))
        return parts

    def _whole(self, weight: float) -> list[Part]:
        """Returns one part with all nodes that have the word, each with its best score; empty if there are none."""
        queries = self._queries()
        if not queries:
            return []
        terms, shares = [query for query, _ in queries], {share for _, share in queries}
        most = weight * max(shares)
        if len(shares) == 1:
            query = _scoring(_any_of(terms), most)
        else:
            query = tantivy.Query.disjunction_max_query([_scoring(each, weight * share) for each, share in queries])
        entries = sum(map(sum, self._nodes.values())) + self._longer_entries
        return [Part(query, most, 0, terms, entries)]

    def _queries(self) -> list[tuple[tantivy.Query, float]]:
        """Returns queries for the forms in which a node may have the word, with the share of the weight that each
        gives."""
        queries = [
            (self._term(field, form), share)
            for place, (field, share) in enumerate(_FIELD_SHARES)
            for form, counts in self._nodes.items()
            if counts[place]
        ]
        queries += [(query, PREFIX_SHARE) for query in self._begun()]
        if self._word.mistyped:
            fuzzy = tantivy.Query.fuzzy_term_query(self._index.schema, "written", self._word.written, 1, True)
            queries.append((fuzzy, MISTYPED_SHARE))
        return queries

    def _begun(self) -> list[tantivy.Query]:
        """Returns queries for longer words that begin with the prefix; empty if the word is not a prefix."""
        if len(self._longer) > EXPANSIONS_AT_MOST:
            return [tantivy.Query.regex_query(self._index.schema, "written", f"{self._word.written}.*")]
        return [self._term("written", form) for form, _ in self._longer if form not in self._word.forms]

    def _term(self, field: str, form: str) -> tantivy.Query:
        return tantivy.Query.term_query(self._index.schema, field, form, "basic")

    @property
    def _longer_entries(self) -> int:
        return sum(nodes for form, nodes in self._longer if form not in self._word.forms)


def scoring_all(words: Sequence[Sequence[Part]]) -> tantivy.Query:
    """Returns a query that finds and scores all nodes with any of the words, given as parts."""
    return _any_of([part.query for parts in words for part in parts])


def scoring_best(index: TextIndex, words: Sequence[Sequence[Part]], wanted: int) -> tuple[tantivy.Query, int | None]:
    """Returns a query that finds and scores the best `wanted` public nodes, and the number of all matches, or None if
    the query finds them all."""
    ordered = sorted((parts for parts in words if parts), key=lambda parts: -parts[0].score)
    numbered = [(word, part) for word, parts in enumerate(ordered) for part in parts]
    needed = _needed(numbered, wanted)
    best, rest = numbered[:needed], numbered[needed:]
    if not rest:
        return scoring_all(words), None
    query = _any_of([part.query for _, part in best])
    if len(ordered) == 1:
        return query, sum(part.nodes or index.matching(part.query, owner=0) for part in ordered[0])
    found = sum(part.entries for _, part in best)
    # a node is in only one part of a word, so nodes of the first word's parts need no look-up in its other parts
    looked_up = rest if best[-1][0] > 0 else [(word, part) for word, part in rest if word > 0]
    entries = sum(part.entries for _, part in numbered)
    # a union is read as a whole when nodes are looked up in it
    lookups = sum(min(part.entries, found) if part.nodes else part.entries for _, part in looked_up)
    if found + LOOKED_UP * lookups + COUNTED * entries > entries:
        return scoring_all(words), None
    for _, part in looked_up:
        query = tantivy.Query.boolean_query([(tantivy.Occur.Must, query), (tantivy.Occur.Should, part.query)])
    return query, index.counted(_any_of([term for _, part in numbered for term in part.terms]))


def _needed(numbered: Sequence[tuple[int, Part]], wanted: int) -> int:
    """Returns the number of leading parts (of numbered words) that surely contain the best `wanted` nodes, because that
    many nodes of one word score more than any node outside these parts can."""
    for needed in range(1, len(numbered)):
        of_rest: dict[int, float] = {}
        for word, part in numbered[needed:]:
            of_rest.setdefault(word, part.score)
        most = sum(of_rest.values())
        surely: dict[int, int] = {}
        for word, part in numbered[:needed]:
            if part.score > most:
                surely[word] = surely.get(word, 0) + part.nodes
        if max(surely.values(), default=0) >= wanted:
            return needed
    return len(numbered)


def _scoring(query: tantivy.Query, score: float) -> tantivy.Query:
    return tantivy.Query.const_score_query(query, score)


def _any_of(queries: Sequence[tantivy.Query]) -> tantivy.Query:
    if len(queries) == 1:
        return queries[0]
    return tantivy.Query.boolean_query([(tantivy.Occur.Should, query) for query in queries])
