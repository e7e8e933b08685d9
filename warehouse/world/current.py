"""Answers questions about the current graph: the snapshot with the overlay on top, as one caller sees it.

The caller ensures that the overlay does not change meanwhile. Nodes are numbers here: below `len(snapshot)` those of
the snapshot, above it those that only the overlay knows (see `overlay.py` for an example).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from heapq import merge
from typing import Any, TypeAlias

import numpy as np
import tantivy

from contracts.world.records import Edge, Node
from warehouse.world.overlay import Overlay
from warehouse.world.query import VISITED_AT_MOST, Direction, Filter, Page, Traversal
from warehouse.world.snapshot import NOBODY, Snapshot, TextIndex
from warehouse.world.text import Search, words_of

Numbers: TypeAlias = np.ndarray[Any, Any]

RANK_OFFSET = 60
"""Constant of reciprocal rank fusion: a node at rank r of a list scores 1 / (60 + r)."""

EXPANSIONS_AT_MOST = 64
"""Words of a prefix that are ranked as words; rarer words still match, but rank below."""

PREFIX_WEIGHT = 0.5


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
        return self._record(number) if number is not None and self._sees(number) else None

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
        nodes = [self._record(number) for _, number in _first(merge(of_snapshot, of_overlay), limit)]
        return Page(nodes, int(np.count_nonzero(base) + np.count_nonzero(added)))

    def ranked(self, search: Search, within: Filter, skip: int, limit: int) -> Page:
        matched = 0
        lists: list[list[int]] = []
        wanted = skip + limit
        for index, is_private in ((self._snapshot.public_text, False), (self._snapshot.private_text, True)):
            if index is not None and not (is_private and self._code == NOBODY) and not (is_private and self._code == 0):
                count, numbers = self._search_index(index, search, within, wanted, is_private=is_private)
                matched += count
                lists.append(numbers)
        passes = self._test(within)
        matched -= len(self._overlay.overtaken_words.matching(search, lambda n: passes(*self._overlay.before[n])))
        scores = self._overlay.words.scores(search, lambda number: passes(*self._row(number)))
        lists.append(sorted(scores, key=lambda number: (-scores[number], self._id(number)))[:wanted])
        fused = self._fused(lists)[skip:wanted]
        return Page([self._record(number) for number in fused], matched + len(scores))

    def reached(self, traversal: Traversal, search: Search | None, within: Filter, skip: int, limit: int) -> Page:
        start = self._overlay.number_of(traversal.from_id)
        if start is None or not self._sees(start):
            return Page([], 0)
        levels, complete = self._levels(start, traversal.depth, traversal.direction)
        nodes: list[Node] = []
        matched = 0
        for level in levels:
            passing = self._filtered(level, within)
            if search is not None:
                passing = [number for number in passing if search.matches(self._words(number))]
            first = max(0, skip - matched)
            wanted = self._by_id(passing)[first : max(first, skip + limit - matched)]
            nodes += [self._record(number) for number in wanted]
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
        """Marks the nodes of the snapshot, and the overlay's additional ones, that are visible and pass the filter."""
        snapshot, columns = self._snapshot, self._overlay.columns
        return (
            self._visible[0] & self._fits(within, snapshot.node_type, snapshot.node_domain),
            self._visible[1] & self._fits(within, columns.type, columns.domain),
        )

    def _fits(self, within: Filter, types: Numbers, domains: Numbers) -> Numbers | bool:
        fits: Numbers | bool = True
        if within.domain is not None:
            domain = self._overlay.domains.find(within.domain)
            fits = domains == (-1 if domain is None else domain)
        if within.node_types:
            fits &= np.isin(types, self._type_numbers(within))
        return fits

    def _type_numbers(self, within: Filter) -> list[int]:
        return [n for name in within.node_types if (n := self._overlay.types.find(name)) is not None]

    def _filtered(self, numbers: Numbers, within: Filter) -> list[int]:
        base, added = numbers[numbers < self._known], numbers[numbers >= self._known] - self._known
        snapshot, columns = self._snapshot, self._overlay.columns
        if within.domain is not None or within.node_types:
            base = base[self._fits(within, snapshot.node_type[base], snapshot.node_domain[base])]
            added = added[self._fits(within, columns.type[added], columns.domain[added])]
        return [*base.tolist(), *(added + self._known).tolist()]

    def _row(self, number: int) -> tuple[int, int, int]:
        """Returns the owner code, type and domain of a node."""
        at, of = (number, self._snapshot) if number < self._known else (number - self._known, None)
        columns = self._overlay.columns
        arrays = (of.node_owner, of.node_type, of.node_domain) if of else (columns.owner, columns.type, columns.domain)
        return int(arrays[0][at]), int(arrays[1][at]), int(arrays[2][at])

    def _test(self, within: Filter) -> Callable[[int, int, int], bool]:
        """Returns a test that decides whether a node of this owner code, type and domain is visible and passes."""
        wanted_domain = None if within.domain is None else self._overlay.domains.find(within.domain)
        wanted_types = self._type_numbers(within)

        def passes(code: int, node_type: int, domain: int) -> bool:
            return (
                (code == 0 or code == self._code != NOBODY)
                and (within.domain is None or domain == wanted_domain)
                and (not within.node_types or node_type in wanted_types)
            )

        return passes

    # -- search

    def _search_index(
        self, index: TextIndex, search: Search, within: Filter, wanted: int, *, is_private: bool
    ) -> tuple[int, list[int]]:
        """Returns the number of matching nodes in the index, and the best `wanted` of those that the overlay did not
        change.

        Changed nodes are searched in the overlay instead, so hits on them are dropped; if too few remain, the search
        asks for twice as many.
        """
        clauses = [(tantivy.Occur.Must, _text_query(index, search))]
        if is_private:
            clauses.append((tantivy.Occur.Must, _number_query(index, "owner", [self._code])))
        if within.domain is not None:
            domain = self._overlay.domains.find(within.domain)
            clauses.append((tantivy.Occur.Must, _number_query(index, "domain", [] if domain is None else [domain])))
        if within.node_types:
            clauses.append((tantivy.Occur.Must, _number_query(index, "type", self._type_numbers(within))))
        query = clauses[0][1] if len(clauses) == 1 else tantivy.Query.boolean_query(clauses)
        requested = wanted + min(len(self._overlay.nodes), wanted)
        while True:
            result = index.searcher.search(query, requested)
            numbers = index.numbers([address for _, address in result.hits])
            unchanged = [number for number in numbers if number not in self._overlay.nodes]
            if len(unchanged) >= wanted or len(numbers) < requested:
                return index.count(result), unchanged[:wanted]
            requested *= 2

    def _fused(self, lists: list[list[int]]) -> list[int]:
        scores = {number: 1 / (RANK_OFFSET + rank) for ranked in lists for rank, number in enumerate(ranked, start=1)}
        return sorted(scores, key=lambda number: (-scores[number], self._id(number)))

    # -- traversal

    def _levels(self, start: int, depth: int, direction: Direction) -> tuple[list[Numbers], bool]:
        """Returns the numbers of nodes by their distance from the start, each once, and whether the traversal is
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
        """Returns the visible nodes that visible edges lead to, once for each edge."""
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

    def _record(self, number: int) -> Node:
        node = self._overlay.nodes.get(number)
        if node is None:
            node = self._snapshot.node(number)
        assert node is not None, "what is seen is live, and so has a record"
        return node

    def _words(self, number: int) -> frozenset[str]:
        node = self._record(number)
        return frozenset(words_of(node.title, node.properties))

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


def _text_query(index: TextIndex, search: Search) -> tantivy.Query:
    schema, words = index.schema, dict.fromkeys(search.words, 1.0)
    rest: list[tantivy.Query] = []
    for prefix in search.prefixes:
        expansions = index.searcher.terms_with_prefix("text", prefix, limit=EXPANSIONS_AT_MOST + 1)
        for word, _ in expansions[:EXPANSIONS_AT_MOST]:
            words.setdefault(word, PREFIX_WEIGHT)
        if len(expansions) > EXPANSIONS_AT_MOST:
            every = tantivy.Query.regex_query(schema, "text", f"{prefix}.*")
            rest.append(tantivy.Query.const_score_query(every, 0.0))
    terms = [
        tantivy.Query.boost_query(tantivy.Query.term_query(schema, "text", word, "freq"), weight)
        for word, weight in words.items()
    ]
    return tantivy.Query.boolean_query([(tantivy.Occur.Should, clause) for clause in (*terms, *rest)])


def _number_query(index: TextIndex, field: str, numbers: list[int]) -> tantivy.Query:
    return tantivy.Query.const_score_query(tantivy.Query.term_set_query(index.schema, field, numbers), 0.0)


def _first(pairs: Iterator[tuple[str, int]], limit: int) -> Iterator[tuple[str, int]]:
    for _, pair in zip(range(limit), pairs, strict=False):
        yield pair
