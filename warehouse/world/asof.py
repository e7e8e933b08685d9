"""Answers questions about the past graph: what held at an instant, as known at a revision.

Reads the bi-temporal rows of a generation and the events that came after them. What matches a search is ranked by the
code that ranks the present.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import duckdb
import msgspec

from contracts.world.facts import dispute_of, ranked_facts
from contracts.world.identity import fact_key
from contracts.world.ontology import load_ontology
from contracts.world.records import Edge, Event, Node
from warehouse.statements import read_sql, without_comments
from warehouse.world.current import CurrentView
from warehouse.world.history import Past
from warehouse.world.overlay import Overlay
from warehouse.world.query import RANKED_AT_MOST, VISITED_AT_MOST, Filter, Page, Traversal
from warehouse.world.snapshot import Snapshot
from warehouse.world.text import Search, words_of

_node = msgspec.json.Decoder(Node).decode
_edge = msgspec.json.Decoder(Edge).decode


class PastView:
    """A `View` of the past graph for `owner`; None sees only public state."""

    def __init__(
        self, connection: duckdb.DuckDBPyConnection, events: Sequence[Event], past: Past, owner: str | None
    ) -> None:
        """Prepares the view over an exclusive cursor on a query copy; `events` are all those that the copy may lack."""
        self.revision = past.revision
        self._connection = connection
        self._owner = owner
        self._as_of = past.as_of
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

    def ranked(self, search: Search, within: Filter, skip: int, limit: int) -> Page:
        matching = self._nodes(self._matching(search, self._passing(within)))
        by_id = {node.id: node for node in matching}
        ranked = _ranked(matching, search, skip, limit, self._owner)
        return Page([by_id[node.id] for node in ranked], len(matching))

    def reached(self, traversal: Traversal, search: Search | None, within: Filter, skip: int, limit: int) -> Page:
        passing = set(self._passing(within))
        levels, complete = self._levels(traversal)
        matching: list[str] = []
        for level in levels:
            candidates = [node_id for node_id in level if node_id in passing]
            matching += candidates if search is None else self._matching(search, candidates)
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
        parameters = {"domain": within.domain, "types": list(within.node_types)}
        return [node_id for (node_id,) in self._rows("past_ids", parameters)]

    def _matching(self, search: Search, ids: Sequence[str]) -> list[str]:
        """Returns those of `ids` that match, in their order.

        The database preselects nodes that contain the letters; the analyser's words decide.
        """
        parameters = {"words": [*search.words, *search.prefixes]}
        matching = set()
        for node_id, body in self._rows("past_candidates", parameters):
            node = _node(body)
            if search.matches(frozenset(words_of(node.title, node.properties))):
                matching.add(node_id)
        return [node_id for node_id in ids if node_id in matching][:RANKED_AT_MOST]

    def _nodes(self, ids: Sequence[str]) -> list[Node]:
        """Returns the nodes with these ids, in their order; leaves out ids that are not visible."""
        nodes = {node_id: self._marked(_node(body)) for node_id, body in self._rows("past_nodes", {"ids": list(ids)})}
        return [nodes[node_id] for node_id in ids if node_id in nodes]

    def _marked(self, node: Node) -> Node:
        """Returns a node that is marked as disputed if it was at the instant, not when it was recorded."""
        if self._as_of is None or "predicate" not in node.properties:
            return node
        disputed = node.id in self._disputed
        return node if node.disputed == disputed else msgspec.structs.replace(node, disputed=disputed)

    @cached_property
    def _facts(self) -> dict[str, list[Node]]:
        """The facts that held then, by their key."""
        facts: dict[str, list[Node]] = {}
        for (body,) in self._rows("past_facts", {}):
            fact = _node(body)
            key = fact_key(load_ontology(), fact.owner, fact.properties)
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


def _ranked(nodes: Sequence[Node], search: Search, skip: int, limit: int, owner: str | None) -> list[Node]:
    """Returns a page of matching nodes, best first, as the present would rank them if it held no others."""
    if not nodes:
        return []
    as_if_live = [msgspec.structs.replace(node, valid_from=node.recorded_at, valid_to=None) for node in nodes]
    overlay = Overlay(Snapshot(None))
    overlay.apply(Event(seq=node.revision, node=node) for node in as_if_live)
    return CurrentView(Snapshot(None), overlay, 0, owner).ranked(search, Filter(), skip, limit).nodes


def _encoded(states: Sequence[Node | Edge]) -> str:
    """Encodes states as one JSON text that a question reads as rows, each with its record."""
    return msgspec.json.encode(
        [{"id": state.id, "revision": state.revision, "body": msgspec.json.encode(state).decode()} for state in states]
    ).decode()
