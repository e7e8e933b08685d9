"""Defines queries of the graph and answers them from any `View`, of the present or the past.

A `View` is the graph as one caller sees it: public state and the caller's own. Somebody else's private node does not
exist in it: it is not returned, not a start, not traversed, and not counted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from contracts.world.records import Edge, Node
from warehouse.world.text import NodeWords, Search, parse_search

Direction = Literal["outbound", "inbound", "both"]
Scope = Literal["own", "public", "both"]
Order = Literal["id", "recent"]

VISITED_AT_MOST = 100_000
"""Nodes that one traversal visits before it stops."""

EDGES_AT_MOST = 50_000
"""Maximum number of edges in one answer."""

RANKED_AT_MOST = 10_000
"""Maximum number of nodes that all pages of a search return together."""


@dataclass(frozen=True)
class Filter:
    """Conditions on a node. An empty `node_types` means any type; `own` nodes are the caller's private ones."""

    domain: str | None = None
    node_types: tuple[str, ...] = ()
    scope: Scope = "both"

    def passes(self, node: Node) -> bool:
        return (
            self.domain in (None, node.domain)
            and (not self.node_types or node.type in self.node_types)
            and (self.scope == "both" or (self.scope == "public") == (node.visibility == "public"))
        )


@dataclass(frozen=True)
class Traversal:
    """Follows edges from a node, at most `depth` steps. The start is part of the result."""

    from_id: str
    depth: int
    direction: Direction = "outbound"


@dataclass(frozen=True)
class Query:
    """A query whose conditions a node must all meet.

    `after` is the last id of earlier pages, for nodes listed by id; `skip` is the number of nodes on earlier pages, for
    ranked, reached or recent ones. `order` applies to nodes that are neither searched nor reached.
    """

    search: str | None = None
    node_id: str | None = None
    traverse: Traversal | None = None
    filter: Filter = Filter()
    limit: int = 50
    include_edges: bool = False
    order: Order = "id"
    after: str | None = None
    skip: int = 0


@dataclass(frozen=True)
class Page:
    """Some of the matching nodes, in order, and the number of all matches. `complete` is False if a limit of the
    service, not of the query, prevented matches from being counted or returned."""

    nodes: list[Node]
    matched: int
    complete: bool = True


@dataclass(frozen=True)
class Hints:
    """Hints for a search that found nothing: similar words that the caller may see, and counts of searched nodes."""

    near_words: tuple[str, ...]
    node_types: Mapping[str, int]
    own: int
    public: int


@dataclass(frozen=True)
class Answer:
    """The answer to a query. `edges` are those among `nodes`, or None if not requested.

    The next page begins after `next_after` or `next_skip`; without either there is none. `truncated` means that there
    is more than this answer contains. `hints` are given if a search found nothing.
    """

    revision: int
    matched: int
    nodes: list[Node]
    edges: list[Edge] | None
    truncated: bool
    next_after: str | None = None
    next_skip: int | None = None
    hints: Hints | None = None


class NodeView(Protocol):
    """Single nodes of the graph at one revision, as one caller sees them."""

    @property
    def revision(self) -> int: ...

    def node(self, node_id: str) -> Node | None: ...

    def words(self, node: Node) -> NodeWords:
        """Returns the words with which a search finds a node that `node` returned."""
        ...


class View(NodeView, Protocol):
    """The graph at one revision, as one caller sees it."""

    def listed(self, within: Filter, after: str, limit: int) -> Page:
        """Returns nodes in the order of ids, above `after`."""
        ...

    def recent(self, within: Filter, skip: int, limit: int) -> Page:
        """Returns nodes by the revision that wrote them, the newest first."""
        ...

    def ranked(self, search: Search, within: Filter, skip: int, limit: int) -> Page:
        """Returns the nodes that match, best first."""
        ...

    def reached(self, traversal: Traversal, search: Search | None, within: Filter, skip: int, limit: int) -> Page:
        """Returns the nodes that a traversal reaches, nearest first, then by id."""
        ...

    def hints(self, search: Search, within: Filter) -> Hints:
        """Returns hints for a search without hits."""
        ...

    def edges_among(self, nodes: Sequence[Node], limit: int) -> list[Edge]:
        """Returns the edges between these nodes, by source, target and id."""
        ...


def answer(view: View, query: Query) -> Answer:
    """Answers `query` from `view`."""
    search = parse_search(query.search) if query.search and query.search.strip() else None
    wanted = query.limit + 1
    by_id = False
    if query.node_id is not None:
        page = _one(view, query.node_id, search, query)
    elif query.traverse is not None:
        page = view.reached(query.traverse, search, query.filter, query.skip, wanted)
    elif search is not None:
        page = view.ranked(search, query.filter, query.skip, min(wanted, RANKED_AT_MOST - query.skip))
    elif query.order == "recent":
        page = view.recent(query.filter, query.skip, wanted)
    else:
        by_id = True
        page = view.listed(query.filter, query.after or "", wanted)
    nodes = page.nodes[: query.limit]
    more = len(page.nodes) > query.limit
    nothing = search is not None and page.matched == 0
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
        hints=view.hints(search, query.filter) if nothing and search is not None else None,
    )


def answer_one(view: NodeView, query: Query) -> Answer:
    """Answers a query for one node without a traversal."""
    assert query.node_id is not None and query.traverse is None
    search = parse_search(query.search) if query.search and query.search.strip() else None
    page = _matching(view, query.node_id, search, query)
    return Answer(view.revision, page.matched, page.nodes, [] if query.include_edges else None, truncated=False)


def _matching(view: NodeView, node_id: str, search: Search | None, query: Query) -> Page:
    node = view.node(node_id)
    if node is None or not query.filter.passes(node):
        return Page([], 0)
    if search is not None and not search.matches(view.words(node)):
        return Page([], 0)
    return Page([node], 1)


def _one(view: View, node_id: str, search: Search | None, query: Query) -> Page:
    """Returns the node with this id if it also meets every other condition."""
    found = _matching(view, node_id, search, query)
    if query.traverse is not None and found.nodes:
        (node,) = found.nodes
        page = view.reached(query.traverse, None, Filter(node.domain, (node.type,)), 0, VISITED_AT_MOST)
        if all(reached.id != node_id for reached in page.nodes):
            return Page([], 0, page.complete)
    return found
