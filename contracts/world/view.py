"""What the stages may ask of the graph as it is now. Answered by the ledger inside the write transaction."""

from __future__ import annotations

from typing import Protocol

from contracts.world.records import Edge, Node


class GraphView(Protocol):
    """Newest states, whoever owns them: who may see what is for the stages."""

    def node(self, node_id: str) -> Node | None:
        """The newest state of a node."""
        ...

    def edge(self, edge_id: str) -> Edge | None:
        """The newest state of an edge."""
        ...

    def facts(self, fact_key: str) -> list[Node]:
        """Every node of one subject and single-valued predicate (`identity.fact_key`), over or not."""
        ...

    def edges_from(self, source: str, edge_type: str) -> list[Edge]:
        """Every edge of a type from a node, over or not."""
        ...

    def alike(self, dedupe_key: str) -> list[str]:
        """Ids of live nodes of one owner, type and title (`identity.dedupe_key`)."""
        ...

    def newest_of(self, owner: str) -> int:
        """The newest revision of an owner's private nodes and edges; 0 before the first."""
        ...
