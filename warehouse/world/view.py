"""Gives the stages the newest states of the graph, read inside the writing transaction."""

from __future__ import annotations

from contracts.world.identity import edge_id
from contracts.world.records import Edge, Node, is_live
from warehouse.ledger.ledger import Reader
from warehouse.world.events import current_edge, current_node, decode_edges, decode_nodes, head_revision
from warehouse.world.taken_over import has_taken_over


class LedgerView:
    """A `GraphView` of the ledger's newest states. Reads each node once, because nobody else writes during a
    transaction."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._nodes: dict[str, Node | None] = {}
        self._took_over: dict[str, bool] = {}

    def node(self, node_id: str) -> Node | None:
        """Returns the newest state of a node."""
        if node_id not in self._nodes:
            self._nodes[node_id] = current_node(self._reader, node_id)
        return self._nodes[node_id]

    def edge(self, edge_id: str) -> Edge | None:
        """Returns the newest state of an edge."""
        return current_edge(self._reader, edge_id)

    def edge_between(self, owner: str | None, source: str, edge_type: str, target: str) -> Edge | None:
        """Returns the newest state of an edge that an owner stated or took over."""
        known = self.edge(edge_id(owner, source, edge_type, target))
        if owner is None or (known is not None and known.owner == owner) or not self._has_taken_over(owner):
            return known
        ends = {"source": source, "type": edge_type, "target": target}
        return next(iter(decode_edges(self._reader.rows("world_edge_between", owner=owner, **ends))), known)

    def _has_taken_over(self, owner: str) -> bool:
        if owner not in self._took_over:
            self._took_over[owner] = has_taken_over(self._reader, owner)
        return self._took_over[owner]

    def facts(self, fact_key: str) -> list[Node]:
        """Returns every node of one subject and single-valued predicate, including ended ones."""
        return decode_nodes(self._reader.rows("world_facts", fact_key=fact_key))

    def holding(self, fact_key: str) -> list[Node]:
        """Returns the facts of one subject and single-valued predicate that are live."""
        return [node for node in self.facts(fact_key) if is_live(node)]

    def edges_from(self, source: str, edge_type: str) -> list[Edge]:
        """Returns every edge of a type from a node, including ended ones."""
        return decode_edges(self._reader.rows("world_edges_from", source=source, type=edge_type))

    def edges_to(self, target: str) -> list[Edge]:
        """Returns every live edge to a node."""
        return [edge for edge in self.edges_at(target) if edge.target == target and is_live(edge)]

    def edges_at(self, node_id: str) -> list[Edge]:
        """Returns every edge from or to a node, including ended ones."""
        return decode_edges(self._reader.rows("world_edges_at", node_id=node_id))

    def alike(self, dedupe_key: str) -> list[str]:
        """Returns ids of live nodes of one owner, type and title; at most ten."""
        return [row["id"] for row in self._reader.rows("world_alike", dedupe_key=dedupe_key)]

    def stated_in(self, owner: str, source: str) -> tuple[list[Node], list[Edge]]:
        """Returns the private nodes and edges of an owner that `source` stated last, including ended ones.

        `source` must not contain characters that JSON escapes.
        """
        nodes = decode_nodes(self._reader.rows("world_nodes_stated_in", owner=owner, like=f'%"source":"{source}"%'))
        edges = decode_edges(self._reader.rows("world_edges_stated_in", owner=owner, like=f'%"statedIn":"{source}"%'))
        return (
            [node for node in nodes if node.source == source],
            [edge for edge in edges if edge.stated_in == source],
        )

    def head(self) -> int:
        """Returns the newest revision of the graph; 0 before the first."""
        return head_revision(self._reader)

    def newest_of(self, owner: str) -> int:
        """Returns the newest revision of an owner's private nodes and edges; 0 before the first."""
        row = self._reader.row("world_newest_of", owner=owner)
        return 0 if row is None or row["revision"] is None else int(row["revision"])
