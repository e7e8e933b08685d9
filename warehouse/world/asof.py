"""Answers queries of the past graph: what held at an instant, as known at a revision.

Reads the bi-temporal rows of a generation and the later events. Search results are ranked by the same code as for the
current graph.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import islice
from typing import Any

import duckdb
import msgspec
import numpy as np
from rapidfuzz.distance import OSA

from contracts.world.facts import dispute_of, ranked_facts
from contracts.world.identity import fact_key
from contracts.world.records import Edge, Event, Node
from warehouse.statements import read_sql, without_comments
from warehouse.world.history import Past
from warehouse.world.query import RANKED_AT_MOST, VISITED_AT_MOST, Filter, Hints, Page, Traversal
from warehouse.world.ranking import LIFTS, PREFIX_SHARE, Hits, rarity, share_of
from warehouse.world.text import (
    MOST_EDGES,
    NEAR_LETTERS,
    NEAR_WORDS_AT_MOST,
    EdgeWords,
    NodeWords,
    Search,
    differs_by_one,
    doubtful,
    exactly,
    has_word,
    with_edges,
    words_of,
    words_of_edges,
)

_node = msgspec.json.Decoder(Node).decode
_edge = msgspec.json.Decoder(Edge).decode


class PastView:
    """A `View` of the past graph for `owner`; None sees only public state."""

    def __init__(
        self, connection: duckdb.DuckDBPyConnection, events: Sequence[Event], past: Past, owner: str | None
    ) -> None:
        """Prepares the view on an exclusive cursor of a query copy; `events` are all that the copy may lack."""
        self.revision = past.revision
        self._connection = connection
        self._owner = owner
        self._as_of = past.as_of
        self._ontology = past.ontology
        for name, value in (
            ("as_of", past.as_of),
            ("at_revision", past.revision),
            ("include_ended", past.include_ended),
            ("viewer", owner),
            ("later_nodes", _encoded([event.node for event in events if event.node])),
            ("later_edges", _encoded([event.edge for event in events if event.edge])),
        ):
            connection.execute(f"set variable {name} = $1", [value])
        for statement in without_comments(read_sql("past")).split(";\n"):
            if statement.strip():
                connection.execute(statement)

    def node(self, node_id: str) -> Node | None:
        return next(iter(self._nodes([node_id])), None)

    def holding(self, fact_key: str) -> list[Node]:
        """Returns the facts of one subject and single-valued predicate that held then, if the viewer sees them."""
        return self._facts.get(fact_key, [])

    def node_count(self) -> int:
        """Returns the number of visible nodes."""
        return self._count("select count(*) from nodes_then")

    def edge_count(self) -> int:
        """Returns the number of visible edges whose two ends are visible."""
        return self._count("select count(*) from edges_then")

    def listed(self, within: Filter, after: str, limit: int) -> Page:
        ids = self._passing(within)
        return Page(self._nodes([node_id for node_id in ids if node_id > after][:limit]), len(ids))

    def recent(self, within: Filter, skip: int, limit: int) -> Page:
        parameters = _conditions(within) | {"skip": skip, "limit": limit}
        ids = [node_id for (node_id,) in self._rows("past_recent", parameters)]
        return Page(self._nodes(ids), len(self._passing(within)))

    def words(self, node: Node) -> NodeWords:
        of_edges = self._edge_words(Search(()), [node.id])
        return with_edges(words_of(node), of_edges.get(node.id, ()))

    def ranked(self, search: Search, within: Filter, skip: int, limit: int) -> Page:
        search, candidates = self._spelt(search)
        words = {node.id: (node, own) for node, own in candidates}
        having = {
            word: [node_id for node_id, (_, own) in words.items() if has_word(own, word)] for word in search.words
        }
        scores: dict[str, float] = {}
        for word, ids in having.items():
            exact = sum(share_of(words[node_id][1], word) != PREFIX_SHARE for node_id in ids)
            weight = rarity(exact or len(ids), self.node_count())
            for node_id in ids:
                scores[node_id] = scores.get(node_id, 0.0) + weight * share_of(words[node_id][1], word)
        passing = set(self._passing(within))
        found = sorted(node_id for node_id in scores if node_id in passing)
        places = np.arange(len(found))
        hits = Hits(
            places,
            np.array([scores[node_id] for node_id in found], np.float64),
            np.array([words[node_id][0].visibility == "public" for node_id in found], bool),
            np.array([words[node_id][1].length for node_id in found], np.int64),
            places,
        )
        following = self._following(found)
        ranked = hits.in_order(lambda numbers: following[:, numbers])[:RANKED_AT_MOST]
        return Page([self._marked(words[found[place]][0]) for place in ranked[skip : skip + limit]], len(found))

    def _following(self, ids: Sequence[str]) -> np.ndarray[Any, Any]:
        """Returns the indexes in `ids` of the nodes after each, as `Snapshot.following` does; -1 if not in `ids`."""
        places = {node_id: place for place, node_id in enumerate(ids)}
        rows = {node_id: rest for node_id, *rest in self._rows("past_following", {"ids": list(ids)})}
        following = [[places.get(other, -1) for other in rows[node_id]] for node_id in ids]
        return np.array(following, np.int64).reshape(len(ids), len(LIFTS)).T

    def hints(self, search: Search, within: Filter) -> Hints:
        rows = self._rows("past_counts", {"scope": within.scope})
        counts = Counter[str]()
        for node_type, _, nodes in rows:
            counts[node_type] += nodes
        public = sum(nodes for _, is_public, nodes in rows if is_public)
        near = sorted(
            (distance, form)
            for word in doubtful(search)
            for form in self._words_like(word.written, NEAR_LETTERS)
            if (distance := OSA.distance(word.written, form)) <= NEAR_LETTERS and form[:2] == word.written[:2]
        )
        everything = Filter(scope=within.scope)
        findable = (
            form
            for form in dict.fromkeys(form for _, form in near)
            if self.ranked(exactly(form), everything, 0, 1).nodes
        )
        shown = tuple(islice(findable, NEAR_WORDS_AT_MOST))
        return Hints(shown, dict(sorted(counts.items())), counts.total() - public, public)

    def reached(self, traversal: Traversal, search: Search | None, within: Filter, skip: int, limit: int) -> Page:
        passing = set(self._passing(within))
        levels, complete = self._levels(traversal)
        matching: list[str] = []
        if search is not None:
            passing &= self._matching(search)
        for level in levels:
            matching += [node_id for node_id in level if node_id in passing]
        return Page(self._nodes(matching[skip : skip + limit]), len(matching), complete)

    def edges_among(self, nodes: Sequence[Node], limit: int) -> list[Edge]:
        parameters = {"ids": [node.id for node in nodes], "limit": limit}
        return [_edge(body) for (body,) in self._rows("past_edges_among", parameters)]

    def _levels(self, traversal: Traversal) -> tuple[list[list[str]], bool]:
        if self.node(traversal.from_id) is None:
            return [], True
        levels, visited = [[traversal.from_id]], {traversal.from_id}
        for _ in range(traversal.depth):
            parameters = {
                "ids": levels[-1],
                "outbound": traversal.direction != "inbound",
                "inbound": traversal.direction != "outbound",
            }
            level = [end for (end,) in self._rows("past_neighbours", parameters) if end not in visited]
            if len(visited) + len(level) > VISITED_AT_MOST:
                return [*levels, level[: VISITED_AT_MOST - len(visited)]], False
            if not level:
                break
            visited.update(level)
            levels.append(level)
        return levels, True

    def _passing(self, within: Filter) -> list[str]:
        return [node_id for (node_id,) in self._rows("past_ids", _conditions(within))]

    def _matching(self, search: Search) -> set[str]:
        """Returns the ids of the nodes that match."""
        spelt, candidates = self._spelt(search)
        return {node.id for node, words in candidates if spelt.matches(words)}

    def _candidates(self, search: Search) -> list[tuple[Node, NodeWords]]:
        """Returns the nodes whose records or edges contain the letters of a word, with their words that may match. The
        caller decides whether they have the word."""
        nodes = {
            node.id: node
            for (body,) in self._rows("past_candidates", {"roots": self._roots(search)})
            for node in [_node(body)]
        }
        of_edges = self._edge_words(search, [])
        nodes |= {node.id: node for node in self._nodes([node_id for node_id in of_edges if node_id not in nodes])}
        return [(node, with_edges(words_of(node), of_edges.get(node.id, ()))) for node in nodes.values()]

    def _edge_words(self, search: Search, ids: Sequence[str]) -> dict[str, list[EdgeWords]]:
        """Returns, by node, the words of edges that contain the letters of a word, and of all edges of these nodes."""
        of_edges: dict[str, list[EdgeWords]] = {}
        parameters = {"roots": self._roots(search), "ids": list(ids), "most": MOST_EDGES}
        for node_id, edge_type, properties, alias in self._rows("past_edge_texts", parameters):
            aliases = [] if alias is None else [alias]
            of_edge = words_of_edges([edge_type], [msgspec.json.decode(properties)], aliases)
            of_edges.setdefault(node_id, []).append(of_edge)
        return of_edges

    def _spelt(self, search: Search) -> tuple[Search, list[tuple[Node, NodeWords]]]:
        """Returns the search with its first long words that no node has marked as mistyped, and its candidates."""
        candidates = self._candidates(search)
        missing = {word for word in doubtful(search) if not any(has_word(words, word) for _, words in candidates)}
        if not missing:
            return search, candidates
        spelt = Search(tuple(replace(word, mistyped=word in missing) for word in search.words))
        return spelt, self._candidates(spelt)

    def _roots(self, search: Search) -> list[str]:
        """Returns letter sequences of which every matching node, or an edge of it, contains at least one."""
        near = {
            form
            for word in search.words
            if word.mistyped
            for form in self._words_like(word.written, 1)
            if differs_by_one(word.written, form)
        }
        return sorted(search.roots | near)

    def _words_like(self, word: str, letters: int) -> list[str]:
        """Returns words of the viewer's graph at that time whose length differs by at most `letters`."""
        parameters = {"length": len(word), "letters": letters}
        return [form for (form,) in self._rows("past_words", parameters)]

    def _nodes(self, ids: Sequence[str]) -> list[Node]:
        """Returns the nodes with these ids, in that order; leaves out ids that are not visible."""
        nodes = {node_id: self._marked(_node(body)) for node_id, body in self._rows("past_nodes", {"ids": list(ids)})}
        return [nodes[node_id] for node_id in ids if node_id in nodes]

    def _marked(self, node: Node) -> Node:
        """Returns a node marked as disputed if it was so at the instant, regardless of when it was recorded."""
        if self._as_of is None or "predicate" not in node.properties:
            return node
        disputed = node.id in self._disputed
        return node if node.disputed == disputed else msgspec.structs.replace(node, disputed=disputed)

    @cached_property
    def _facts(self) -> dict[str, list[Node]]:
        """The facts that held then, by fact key."""
        facts: dict[str, list[Node]] = {}
        for (body,) in self._rows("past_facts", {}):
            fact = _node(body)
            key = fact_key(self._ontology, fact.owner, fact.properties)
            if key is not None:
                facts.setdefault(key, []).append(fact)
        return facts

    @cached_property
    def _disputed(self) -> frozenset[str]:
        disputed = (facts for facts in self._facts.values() if dispute_of(ranked_facts(facts)) is not None)
        return frozenset(fact.id for facts in disputed for fact in facts)

    def _rows(self, question: str, parameters: Mapping[str, object]) -> list[Any]:
        return list(self._connection.execute(read_sql(question), dict(parameters)).fetchall())

    def _count(self, statement: str) -> int:
        return int(self._connection.execute(statement).fetchall()[0][0])


def _conditions(within: Filter) -> dict[str, object]:
    return {"domain": within.domain, "types": list(within.node_types), "scope": within.scope}


def _encoded(states: Sequence[Node | Edge]) -> list[str]:
    """Encodes states as JSON strings."""
    return [msgspec.json.encode(state).decode() for state in states]
