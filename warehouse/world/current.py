"""Answers queries of the current graph: the snapshot with the overlay on top, as one caller sees it.

The caller ensures that the overlay does not change meanwhile. Nodes are numbers here: those below `len(snapshot)` are
in the snapshot, the others only in the overlay (see `overlay.py` for an example).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from heapq import merge
from itertools import islice
from typing import Any, NamedTuple, TypeAlias, cast

import numpy as np
import tantivy
from rapidfuzz.distance import OSA

from contracts.world.records import Edge, Node
from warehouse.world.overlay import Overlay
from warehouse.world.query import VISITED_AT_MOST, Direction, Filter, Hints, Page, Scope, Traversal
from warehouse.world.ranking import LIFTED_AT_MOST, LIFTS, PUBLIC_LIFTED_AT_MOST, Hits, rarity, share_of
from warehouse.world.snapshot import NOBODY, Snapshot, TextIndex
from warehouse.world.text import (
    DOUBTFUL_AT_MOST,
    NEAR_LETTERS,
    NEAR_WORDS_AT_MOST,
    SHORTEST_MISTYPED,
    NodeWords,
    Search,
    SearchWord,
    doubtful,
    exactly,
)
from warehouse.world.word_queries import IndexedWord, Part, scoring_all, scoring_best

Numbers: TypeAlias = np.ndarray[Any, Any]

FORMS_AT_MOST = 5_000
"""Maximum number of words of an index that are compared with a word that was not found."""


class _Weighed(NamedTuple):
    """A search word, its rarity among all that the caller sees, and its occurrence in each index by owner code."""

    word: SearchWord
    weight: float
    indexed: dict[int, IndexedWord]


class CurrentView:
    """A `View` of the newest graph for `owner`; None sees only public state."""

    def __init__(self, snapshot: Snapshot, overlay: Overlay, revision: int, owner: str | None) -> None:
        self._snapshot = snapshot
        self._overlay = overlay
        self._known = len(snapshot)
        self._code = overlay.owner_code(owner)
        self.revision = revision

    def node(self, node_id: str) -> Node | None:
        number = self._overlay.number_of(node_id)
        return self._records([number])[0] if number is not None and self._sees(number) else None

    def words(self, node: Node) -> NodeWords:
        number = self._overlay.number_of(node.id)
        assert number is not None, "a node that was answered is known"
        return self._words(number)

    def node_counts(self) -> dict[str, int]:
        """Returns the number of visible nodes by domain; domains without nodes are missing."""
        counts: dict[str, int] = {}
        for domain, seen in (
            (self._snapshot.node_domain, self._visible[0]),
            (self._overlay.columns.domain, self._visible[1]),
        ):
            for number, count in enumerate(np.bincount(domain[seen]).tolist()):
                if count:
                    name = self._overlay.domains[number]
                    counts[name] = counts.get(name, 0) + count
        return counts

    def edge_count(self) -> int:
        """Returns the number of visible edges whose two ends are visible."""
        snapshot, nodes = self._snapshot, np.concatenate(self._visible)
        seen = self._allowed(snapshot.edge_owner)
        count = int(np.count_nonzero(nodes[snapshot.edge_source[seen]] & nodes[snapshot.edge_target[seen]]))
        return count + sum(
            1
            for source, edges in self._overlay.outbound.items()
            if nodes[source]
            for edge_id, target in edges.items()
            if nodes[target] and self._sees_edge(edge_id)
        )

    def listed(self, within: Filter, after: str, limit: int) -> Page:
        base, added = self._passing(within)
        start = self._snapshot.place_of(after)
        start += int(start < self._known and self._snapshot.ids[start] == after.encode())
        numbers = (np.flatnonzero(base[start:])[:limit] + start).tolist()
        of_snapshot = ((self._snapshot.ids[number].decode(), number) for number in numbers)
        of_overlay = ((node_id, number) for node_id, number in self._added_above(after) if added[number - self._known])
        nodes = self._records(number for _, number in _first(merge(of_snapshot, of_overlay), limit))
        return Page(nodes, int(np.count_nonzero(base) + np.count_nonzero(added)))

    def recent(self, within: Filter, skip: int, limit: int) -> Page:
        base, added = self._passing(within)
        numbers = np.concatenate([np.flatnonzero(base), np.flatnonzero(added) + self._known])
        revisions = np.concatenate([self._snapshot.node_revision[base], self._overlay.columns.revision[added]])
        newest = np.lexsort((numbers, -revisions.astype(np.int64)))[skip : skip + limit]
        return Page(self._records(numbers[newest].tolist()), len(numbers))

    def ranked(self, search: Search, within: Filter, skip: int, limit: int) -> Page:
        weighed = self._weighed(search)
        of_overlay = self._scores_in_overlay(weighed, within)
        matched = len(of_overlay) - self._overtaken(weighed, within)
        numbers, scores = [np.array([*of_overlay], np.int64)], [np.array([*of_overlay.values()], np.float64)]
        for index, owner in self._indexes(within.scope):
            wanted = max(skip + limit, LIFTED_AT_MOST if owner else PUBLIC_LIFTED_AT_MOST)
            words = [word.indexed[owner].parts(word.weight) for word in weighed]
            count, found, found_scores = self._best_in_index(index, owner, words, within, wanted)
            matched += count
            numbers.append(found)
            scores.append(found_scores)
        ranked = self._hits(np.concatenate(numbers), np.concatenate(scores)).in_order(self._following)
        return Page(self._records(ranked[skip : skip + limit]), matched)

    def hints(self, search: Search, within: Filter) -> Hints:
        base, added = self._passing(replace(within, domain=None, node_types=()))
        owners = np.concatenate([self._snapshot.node_owner[base], self._overlay.columns.owner[added]])
        types = np.concatenate([self._snapshot.node_type[base], self._overlay.columns.type[added]])
        counts = {self._overlay.types[n]: count for n, count in enumerate(np.bincount(types).tolist()) if count}
        public = int(np.count_nonzero(owners == 0))
        near = sorted(
            (OSA.distance(word.written, form), form)
            for word in doubtful(search)
            for form in self._forms_like(word.written, within.scope)
            if OSA.distance(word.written, form, score_cutoff=NEAR_LETTERS) <= NEAR_LETTERS
        )
        # the index still has words of nodes that were changed since, which the caller may no longer see
        everything = Filter(scope=within.scope)
        seen = (
            form
            for form in dict.fromkeys(form for _, form in near)
            if self.ranked(exactly(form), everything, 0, 1).nodes
        )
        return Hints(
            tuple(islice(seen, NEAR_WORDS_AT_MOST)),
            dict(sorted(counts.items())),
            len(owners) - public,
            public,
        )

    def reached(self, traversal: Traversal, search: Search | None, within: Filter, skip: int, limit: int) -> Page:
        start = self._overlay.number_of(traversal.from_id)
        if start is None or not self._sees(start):
            return Page([], 0)
        levels, complete = self._levels(start, traversal.depth, traversal.direction)
        if search is not None:
            search = Search(tuple(each.word for each in self._weighed(search)))
        nodes: list[Node] = []
        matched = 0
        for level in levels:
            passing = self._filtered(level, within)
            if search is not None:
                passing = [number for number in passing if search.matches(self._words(number))]
            first = max(0, skip - matched)
            wanted = self._by_id(passing)[first : max(first, skip + limit - matched)]
            nodes += self._records(wanted)
            matched += len(passing)
        return Page(nodes, matched, complete)

    def edges_among(self, nodes: Sequence[Node], limit: int) -> list[Edge]:
        numbers = [number for node in nodes if (number := self._overlay.number_of(node.id)) is not None]
        wanted = np.zeros(self._known + len(self._overlay.added_ids), bool)
        wanted[numbers] = True
        known = np.array([number for number in numbers if number < self._known], np.int64)
        among = self._edges_of(known, "outbound")
        among = np.sort(among[wanted[self._snapshot.edge_target[among]]])[:limit]
        edges = [self._snapshot.edge(number) for number in among.tolist()]
        for source in self._overlay.outbound.keys() & set(numbers):
            edges += [
                self._overlay.edges[edge_id]
                for edge_id, target in self._overlay.outbound[source].items()
                if wanted[target] and self._sees_edge(edge_id)
            ]
        return sorted(edges, key=lambda edge: (edge.source, edge.target, edge.id))[:limit]

    # -- visibility

    @cached_property
    def _visible(self) -> tuple[Numbers, Numbers]:
        return self._allowed(self._snapshot.node_owner), self._allowed(self._overlay.columns.owner)

    def _allowed(self, owners: Numbers) -> Numbers:
        allowed: Numbers = owners == 0
        if self._code not in (0, NOBODY):
            allowed |= owners == self._code
        return allowed

    def _sees(self, number: int) -> bool:
        code = self._row(number)[0]
        return code == 0 or code == self._code != NOBODY

    def _sees_edge(self, edge_id: str) -> bool:
        code = self._overlay.edge_owner[edge_id]
        return code == 0 or code == self._code != NOBODY

    # -- filters

    def _passing(self, within: Filter) -> tuple[Numbers, Numbers]:
        """Marks the snapshot's nodes, and the overlay's additional ones, that are visible and pass the filter."""
        snapshot, columns = self._snapshot, self._overlay.columns
        return (
            self._visible[0] & self._fits(within, snapshot.node_owner, snapshot.node_type, snapshot.node_domain),
            self._visible[1] & self._fits(within, columns.owner, columns.type, columns.domain),
        )

    def _fits(self, within: Filter, owners: Numbers, types: Numbers, domains: Numbers) -> Numbers | bool:
        fits: Numbers | bool = True
        if within.scope != "both":
            fits = (owners == 0) == (within.scope == "public")
        if within.domain is not None:
            domain = self._overlay.domains.find(within.domain)
            fits &= domains == (-1 if domain is None else domain)
        if within.node_types:
            fits &= np.isin(types, self._type_numbers(within))
        return fits

    def _type_numbers(self, within: Filter) -> list[int]:
        return [n for name in within.node_types if (n := self._overlay.types.find(name)) is not None]

    def _filtered(self, numbers: Numbers, within: Filter) -> list[int]:
        base, added = numbers[numbers < self._known], numbers[numbers >= self._known] - self._known
        snapshot, columns = self._snapshot, self._overlay.columns
        if within != Filter():
            owner, type_, domain = snapshot.node_owner[base], snapshot.node_type[base], snapshot.node_domain[base]
            base = base[self._fits(within, owner, type_, domain)]
            added = added[self._fits(within, columns.owner[added], columns.type[added], columns.domain[added])]
        return [*base.tolist(), *(added + self._known).tolist()]

    def _row(self, number: int) -> tuple[int, int, int]:
        """Returns the owner code, type and domain of a node."""
        at, of = (number, self._snapshot) if number < self._known else (number - self._known, None)
        columns = self._overlay.columns
        arrays = (of.node_owner, of.node_type, of.node_domain) if of else (columns.owner, columns.type, columns.domain)
        return int(arrays[0][at]), int(arrays[1][at]), int(arrays[2][at])

    def _test(self, within: Filter) -> Callable[[int, int, int], bool]:
        """Returns a predicate on owner code, type and domain: whether such a node is visible and passes the filter."""
        wanted_domain = None if within.domain is None else self._overlay.domains.find(within.domain)
        wanted_types = self._type_numbers(within)

        def passes(code: int, node_type: int, domain: int) -> bool:
            return (
                (code == 0 or code == self._code != NOBODY)
                and (within.domain is None or domain == wanted_domain)
                and (not within.node_types or node_type in wanted_types)
                and (within.scope == "both" or (code == 0) == (within.scope == "public"))
            )

        return passes

    # -- search

    def _indexes(self, scope: Scope) -> Iterator[tuple[TextIndex, int]]:
        """Yields the indexes with nodes of a scope that the caller sees, each with the owner's code; 0 is public."""
        if self._snapshot.public_text is not None and scope != "own":
            yield self._snapshot.public_text, 0
        if self._snapshot.private_text is not None and scope != "public" and self._code not in (0, NOBODY):
            yield self._snapshot.private_text, self._code

    def _weighed(self, search: Search) -> list[_Weighed]:
        """Returns the words of a search with their weights.

        A long enough word that no node has counts as mistyped, but only the first few such words, because searching for
        similar ones takes milliseconds.
        """
        weighed = []
        doubtful = 0
        for word in search.words:
            indexed = self._indexed(word)
            matching = self._nodes_with(word, indexed)
            if matching == 0 and len(word.written) >= SHORTEST_MISTYPED and doubtful < DOUBTFUL_AT_MOST:
                doubtful += 1
                word = replace(word, mistyped=True)
                indexed = self._indexed(word)
                matching = self._nodes_with(word, indexed)
            weighed.append(_Weighed(word, rarity(matching, self._visible_nodes), indexed))
        return weighed

    def _indexed(self, word: SearchWord) -> dict[int, IndexedWord]:
        return {owner: IndexedWord(index, word) for index, owner in self._indexes("both")}

    @cached_property
    def _visible_nodes(self) -> int:
        """The number of nodes that the caller sees, ignoring changes of owners since the snapshot."""
        added = self._overlay.columns.owner
        count = int(np.count_nonzero(self._allowed(added)))
        for index, owner in self._indexes("both"):
            count += index.searcher.doc_freq("owner", owner) if owner else index.searcher.num_docs
        return count

    @cached_property
    def _changed(self) -> Numbers:
        """The snapshot's nodes of which the overlay has a newer state."""
        return np.array([number for number in self._overlay.nodes if number < self._known], np.int64)

    def _nodes_with(self, word: SearchWord, indexed: Mapping[int, IndexedWord]) -> int:
        """Returns the approximate number of visible nodes with the word, or, if there are none, with a word that begins
        like it. It is 0 only if there are neither."""
        words = self._overlay.words
        having = sum(map(self._sees, words.having(word))) + sum(each.having(owner) for owner, each in indexed.items())
        if having:
            return having
        longer = sum(map(self._sees, words.beginning(word)))
        return longer + sum(each.beginning(owner) for owner, each in indexed.items())

    def _scores_in_overlay(self, weighed: Sequence[_Weighed], within: Filter) -> dict[int, float]:
        """Returns the matching nodes of the overlay with their scores."""
        passes, words = self._test(within), self._overlay.words
        scores: dict[int, float] = {}
        for word, weight, _ in weighed:
            for number in words.having(word) | words.beginning(word):
                scores[number] = scores.get(number, 0.0) + weight * share_of(words.of(number), word)
        return {number: score for number, score in scores.items() if passes(*self._row(number))}

    def _overtaken(self, weighed: Sequence[_Weighed], within: Filter) -> int:
        """Returns the number of nodes that the indexes find only by words that the overlay replaced."""
        if not self._overlay.before:
            return 0
        passes = self._test(within)
        spelt = Search(tuple(each.word for each in weighed))
        return len(self._overlay.overtaken_words.matching(spelt, lambda n: passes(*self._overlay.before[n])))

    def _best_in_index(
        self,
        index: TextIndex,
        owner: int,
        words: Sequence[Sequence[Part]],
        within: Filter,
        wanted: int,
    ) -> tuple[int, Numbers, Numbers]:
        """Returns the number of matching nodes in the index, and the best `wanted` of those that the overlay did not
        change, with their scores.

        Changed nodes are searched in the overlay instead, so hits on them are dropped. If too few remain, twice as many
        are requested.
        """
        conditions = []
        if owner:
            conditions.append(_number_query(index, "owner", [owner]))
        if within.domain is not None:
            domain = self._overlay.domains.find(within.domain)
            conditions.append(_number_query(index, "domain", [] if domain is None else [domain]))
        if within.node_types:
            conditions.append(_number_query(index, "type", self._type_numbers(within)))
        requested = wanted + min(len(self._changed), wanted)
        while True:
            if conditions:
                clauses = [(tantivy.Occur.Must, query) for query in (scoring_all(words), *conditions)]
                query, known = tantivy.Query.boolean_query(clauses), None
            else:
                query, known = scoring_best(index, words, requested)
            numbers, scores, counted = index.best(query, requested, counted=known is None)
            matched = counted if known is None else known
            if not len(self._changed):
                return matched, numbers, scores
            unchanged = ~np.isin(numbers, self._changed)
            if np.count_nonzero(unchanged) >= wanted or len(numbers) < requested:
                return matched, numbers[unchanged], scores[unchanged]
            requested *= 2

    def _hits(self, numbers: Numbers, scores: Numbers) -> Hits:
        known = numbers < self._known
        snapshot, columns = self._snapshot, self._overlay.columns
        if not len(columns) or known.all():
            owners, lengths = snapshot.node_owner.take(numbers), snapshot.node_words.take(numbers)
            return Hits(numbers, scores, owners == 0, lengths, numbers)
        added = (numbers[~known] - self._known).astype(np.int64)
        owners, lengths, places = (np.empty(len(numbers), np.float64) for _ in range(3))
        owners[known], owners[~known] = snapshot.node_owner[numbers[known]], columns.owner[added]
        lengths[known], places[known] = snapshot.node_words[numbers[known]], numbers[known]
        ids = [self._overlay.added_ids[number] for number in added.tolist()]
        lengths[~known] = [self._overlay.words.length(number) for number in numbers[~known].tolist()]
        places[~known] = _places_between([snapshot.place_of(node_id) for node_id in ids], ids)
        return Hits(numbers, scores, owners == 0, lengths, places)

    def _following(self, numbers: Numbers) -> Numbers:
        known = numbers < self._known
        if not len(self._overlay.columns) or known.all():
            return self._snapshot.following(numbers)
        following = np.empty((len(LIFTS), len(numbers)), np.int64)
        following[:, known] = self._snapshot.following(numbers[known])
        following[:, ~known] = np.transpose([self._overlay.following(number) for number in numbers[~known].tolist()])
        return following

    def _forms_like(self, word: str, scope: Scope) -> Iterator[str]:
        """Yields words of visible nodes that begin with the same two letters as `word`."""
        beginning = word[:2]
        for index, owner in self._indexes(scope):
            of_owner = _number_query(index, "owner", [owner]) if owner else None
            for form, _ in index.searcher.terms_with_prefix("written", beginning, of_owner, FORMS_AT_MOST):
                yield form
        for form, numbers in self._overlay.words.starting(beginning):
            if any(
                self._sees(number) and (scope == "both" or (self._row(number)[0] == 0) == (scope == "public"))
                for number in numbers
            ):
                yield form

    # -- traversal

    def _levels(self, start: int, depth: int, direction: Direction) -> tuple[list[Numbers], bool]:
        """Returns the numbers of nodes, each once, by distance from the start, and whether the traversal is
        complete."""
        visited = np.zeros(self._known + len(self._overlay.added_ids), bool)
        visited[start] = True
        levels = [np.array([start])]
        room = VISITED_AT_MOST - 1
        for _ in range(depth):
            reached = self._neighbours(levels[-1], direction)
            reached = np.unique(reached[~visited[reached]])
            if len(reached) > room:
                return [*levels, reached[:room]], False
            if len(reached) == 0:
                break
            visited[reached] = True
            levels.append(reached)
            room -= len(reached)
        return levels, True

    def _neighbours(self, numbers: Numbers, direction: Direction) -> Numbers:
        """Returns the visible nodes to which visible edges lead, once per edge."""
        known = numbers[numbers < self._known]
        ends_of_edges: list[Numbers] = []
        later: list[int] = []
        for one_way, ends, changed in (
            ("outbound", self._snapshot.edge_target, self._overlay.outbound),
            ("inbound", self._snapshot.edge_source, self._overlay.inbound),
        ):
            if direction in (one_way, "both"):
                reached = ends[self._edges_of(known, one_way)]
                ends_of_edges.append(reached[self._allowed(self._snapshot.node_owner[reached])].astype(np.int64))
                if changed:
                    later += [
                        end
                        for number in numbers.tolist()
                        if number in changed
                        for edge_id, end in changed[number].items()
                        if self._sees(end) and self._sees_edge(edge_id)
                    ]
        return np.concatenate([*ends_of_edges, np.array(later, np.int64)])

    def _edges_of(self, numbers: Numbers, one_way: str) -> Numbers:
        """Returns the numbers of the snapshot's visible edges from (or to) these nodes."""
        starts = self._snapshot.out_start if one_way == "outbound" else self._snapshot.in_start
        first = starts[numbers].astype(np.int64)
        counts = starts[numbers + 1].astype(np.int64) - first
        before = np.cumsum(counts) - counts
        edges: Numbers = np.arange(int(counts.sum())) + np.repeat(first - before, counts)
        if one_way == "inbound":
            edges = self._snapshot.in_edge[edges]
        return edges[self._allowed(self._snapshot.edge_owner[edges])]

    # -- records

    def _records(self, numbers: Iterable[int]) -> list[Node]:
        changed, in_snapshot = self._overlay.nodes, self._snapshot.node
        nodes = [changed.get(number) or in_snapshot(number) for number in numbers]
        assert all(nodes), "what is seen is live, and so has a record"
        return cast("list[Node]", nodes)

    def _words(self, number: int) -> NodeWords:
        return self._overlay.words_at(number)

    def _id(self, number: int) -> str:
        if number < self._known:
            return self._snapshot.ids[number].decode()
        return self._overlay.added_ids[number - self._known]

    def _by_id(self, numbers: list[int]) -> list[int]:
        """Sorts numbers by node id. The snapshot's numbers are in that order already."""
        if not numbers or numbers[-1] < self._known:
            return numbers
        return sorted(numbers, key=self._id)

    def _added_above(self, node_id: str) -> Iterator[tuple[str, int]]:
        for added in self._overlay.added_from(node_id):
            number = self._overlay.number_of(added)
            if added != node_id and number is not None:
                yield added, number


def _places_between(places: Sequence[int], ids: Sequence[str]) -> list[float]:
    """Returns distinct sort positions, in the order of ids, for nodes that the snapshot lacks. `places` are their
    insertion points."""
    in_order = sorted(range(len(ids)), key=ids.__getitem__)
    rank = {row: (number + 1) / (len(ids) + 1) for number, row in enumerate(in_order)}
    return [place - 1 + rank[row] for row, place in enumerate(places)]


def _number_query(index: TextIndex, field: str, numbers: list[int]) -> tantivy.Query:
    terms = [tantivy.Query.term_query(index.schema, field, number) for number in numbers]
    any_of = tantivy.Query.boolean_query([(tantivy.Occur.Should, term) for term in terms])
    return tantivy.Query.const_score_query(any_of if terms else tantivy.Query.empty_query(), 0.0)


def _first(pairs: Iterator[tuple[str, int]], limit: int) -> Iterator[tuple[str, int]]:
    for _, pair in zip(range(limit), pairs, strict=False):
        yield pair
