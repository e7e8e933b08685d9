"""Defines the queries that the stages make to the current graph. The ledger answers them in the write transaction."""

from __future__ import annotations

from typing import Protocol

from contracts.world.records import Edge, Node


class GraphView(Protocol):
    """Newest states of all owners. The stages decide who may see what."""

    def node(self, node_id: str) -> Node | None:
        """Returns the newest state of a node, or None."""
        ...

    def edge(self, edge_id: str) -> Edge | None:
        """Returns the newest state of an edge, or None."""
        ...

    def edge_between(self, owner: str | None, source: str, edge_type: str, target: str) -> Edge | None:
        """Returns the newest state of an edge that an owner stated or took over. An edge that was taken over keeps its
        id."""
        ...

    def facts(self, fact_key: str) -> list[Node]:
        """Returns every node of one subject and single-valued predicate (`identity.fact_key`), including ended ones."""
        ...

    def edges_from(self, source: str, edge_type: str) -> list[Edge]:
        """Returns every edge of a type from a node, including ended ones."""
        ...

    def edges_to(self, target: str) -> list[Edge]:
        """Returns every live edge to a node."""
        ...

    def edges_at(self, node_id: str) -> list[Edge]:
        """Returns every edge from or to a node, including ended ones."""
        ...

    def alike(self, dedupe_key: str) -> list[str]:
        """Returns the ids of live nodes of one owner, type and title (`identity.dedupe_key`)."""
        ...

    def head(self) -> int:
        """Returns the newest revision of the graph; 0 before the first."""
        ...

    def newest_of(self, owner: str) -> int:
        """Returns the newest revision of an owner's private nodes and edges; 0 before the first."""
        ...
