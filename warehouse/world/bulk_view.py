"""Gives the stages the newest states of many nodes and edges, which it reads from the ledger together."""

from __future__ import annotations

from collections.abc import Collection, Iterable

import msgspec

from contracts.world.records import Edge, Node
from warehouse.ledger.ledger import Reader, Row
from warehouse.world.events import decode_edges, decode_nodes
from warehouse.world.view import LedgerView

_encode = msgspec.json.Encoder().encode


class BulkView(LedgerView):
    """A `LedgerView` that prefetches states in a few statements. It looks up everything else like its base class."""

    def __init__(self, reader: Reader) -> None:
        super().__init__(reader)
        self._edges: dict[str, Edge | None] = {}
        self._facts: dict[str, list[Node]] = {}
        self._alike: dict[str, list[str]] = {}

    def read(
        self, nodes: Collection[str], edges: Collection[str], fact_keys: Collection[str], dedupe_keys: Collection[str]
    ) -> None:
        """Prefetches the nodes and edges with these ids and the lists with these keys."""
        self._nodes |= dict.fromkeys(nodes)
        self._nodes |= {node.id: node for node in decode_nodes(self._rows("world_nodes_by_ids", nodes))}
        self._edges |= dict.fromkeys(edges)
        self._edges |= {edge.id: edge for edge in decode_edges(self._rows("world_edges_by_ids", edges))}
        self._facts |= {key: [] for key in fact_keys}
        for row in self._rows("world_facts_by_keys", fact_keys):
            self._facts[row["fact_key"]] += decode_nodes([row])
        self._alike |= {key: [] for key in dedupe_keys}
        for row in self._rows("world_alike_by_keys", dedupe_keys):
            if len(self._alike[row["dedupe_key"]]) < MOST_ALIKE:
                self._alike[row["dedupe_key"]].append(row["id"])

    def edge(self, edge_id: str) -> Edge | None:
        """Returns the newest state of an edge."""
        return self._edges[edge_id] if edge_id in self._edges else super().edge(edge_id)

    def facts(self, fact_key: str) -> list[Node]:
        """Returns every node of one subject and single-valued predicate, ended or not."""
        return list(self._facts[fact_key]) if fact_key in self._facts else super().facts(fact_key)

    def alike(self, dedupe_key: str) -> list[str]:
        """Returns ids of live nodes of one owner, type and title; at most ten."""
        return list(self._alike[dedupe_key]) if dedupe_key in self._alike else super().alike(dedupe_key)

    def _rows(self, question: str, values: Iterable[str]) -> list[Row]:
        listed = list(values)
        return self._reader.rows(question, values=_encode(listed).decode()) if listed else []


MOST_ALIKE = 10
"""The limit of `LedgerView`."""
