"""Questions to the graph and their answers, whichever time they are asked of.

A `View` is the graph as one caller sees it: what is public and what is theirs. To a view, somebody else's private node
does not exist: not as an answer, not as a start, not on the way, not in a count.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from contracts.world.records import Edge, Node
from warehouse.world.text import Search, parse_search, words_of

Direction = Literal["outbound", "inbound", "both"]

VISITED_AT_MOST = 100_000
"""Nodes that one traversal comes by before it stops."""

EDGES_AT_MOST = 50_000
"""Edges that one answer holds."""

RANKED_AT_MOST = 10_000
"""Nodes that a walk over all pages of a search gives."""


@dataclass(frozen=True)
class Filter:
    """What a node has to be. No types: any."""

    domain: str | None = None
    node_types: tuple[str, ...] = ()

    def passes(self, node: Node) -> bool:
        return self.domain in (None, node.domain) and (not self.node_types or node.type in self.node_types)


@dataclass(frozen=True)
class Traversal:
    """From a node along edges, `depth` steps at most. The start is part of what is reached."""

    from_id: str
    depth: int
    direction: Direction = "outbound"


@dataclass(frozen=True)
class Query:
    """Everything asked for has to hold of a node. `after` is the last id, `skip` the number of nodes, of earlier pages:
    what is listed by id goes by the one, what is ranked or reached by the other."""

    search: str | None = None
    node_id: str | None = None
    traverse: Traversal | None = None
    filter: Filter = Filter()
    limit: int = 50
    include_edges: bool = False
    after: str | None = None
    skip: int = 0


@dataclass(frozen=True)
class Page:
    """Some of the nodes that match, in order, and how many match in all. `complete` is False where a limit of the
    service, not of the question, kept matches from being counted or given."""

    nodes: list[Node]
    matched: int
    complete: bool = True


@dataclass(frozen=True)
class Answer:
    """`edges` are those among `nodes`, None where they were not asked for. A next page begins after `next_after` or
    `next_skip`; without either there is none. `truncated`: there is more than this answer holds."""

    revision: int
    matched: int
    nodes: list[Node]
    edges: list[Edge] | None
    truncated: bool
    next_after: str | None = None
    next_skip: int | None = None


class View(Protocol):
    """The graph at one revision, as one caller sees it."""

    @property
    def revision(self) -> int: ...

    def node(self, node_id: str) -> Node | None: ...

    def listed(self, within: Filter, after: str, limit: int) -> Page:
        """Nodes by id, above `after`."""
        ...

    def ranked(self, search: Search, within: Filter, skip: int, limit: int) -> Page:
        """Nodes that match, best first."""
        ...

    def reached(self, traversal: Traversal, search: Search | None, within: Filter, skip: int, limit: int) -> Page:
        """Nodes that a traversal comes by, nearest first, then by id."""
        ...

    def edges_among(self, nodes: Sequence[Node], limit: int) -> list[Edge]:
        """Edges between these nodes, by source, target and id."""
        ...


def answer(view: View, query: Query) -> Answer:
    """What `view` answers."""
    search = parse_search(query.search) if query.search and query.search.strip() else None
    wanted = query.limit + 1
    by_id = False
    if query.node_id is not None:
        page = _one(view, query.node_id, search, query)
    elif query.traverse is not None:
        page = view.reached(query.traverse, search, query.filter, query.skip, wanted)
    elif search is not None:
        page = view.ranked(search, query.filter, query.skip, min(wanted, RANKED_AT_MOST - query.skip))
    else:
        by_id = True
        page = view.listed(query.filter, query.after or "", wanted)
    nodes = page.nodes[: query.limit]
    more = len(page.nodes) > query.limit
    edges = view.edges_among(nodes, EDGES_AT_MOST + 1) if query.include_edges else None
    ranked_out = search is not None and query.skip + len(nodes) == RANKED_AT_MOST < page.matched
    return Answer(
        revision=view.revision,
        matched=page.matched,
        nodes=nodes,
        edges=None if edges is None else edges[:EDGES_AT_MOST],
        truncated=more or not page.complete or ranked_out or (edges is not None and len(edges) > EDGES_AT_MOST),
        next_after=nodes[-1].id if more and by_id else None,
        next_skip=query.skip + len(nodes) if more and not by_id else None,
    )


def _one(view: View, node_id: str, search: Search | None, query: Query) -> Page:
    """The node of an id, where all else holds of it too."""
    node = view.node(node_id)
    if node is None or not query.filter.passes(node):
        return Page([], 0)
    if search is not None and not search.matches(frozenset(words_of(node.title, node.properties))):
        return Page([], 0)
    if query.traverse is not None:
        page = view.reached(query.traverse, None, Filter(node.domain, (node.type,)), 0, VISITED_AT_MOST)
        if all(each.id != node_id for each in page.nodes):
            return Page([], 0, page.complete)
    return Page([node], 1)
