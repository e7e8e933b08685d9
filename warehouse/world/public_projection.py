"""Builds the public projections of the graph: places new nodes, and reads the published documents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from contracts.world.layout import home_of, place
from contracts.world.public_projection import (
    LONGEST_DESCRIPTION,
    LONGEST_TITLE,
    NODES_DRAWN,
    NODES_SHOWN,
    DrawnDomain,
    DrawnEdge,
    DrawnNode,
    ProjectedChange,
    ProjectedEdge,
    ProjectedNode,
    RenderParameters,
    RenderView,
    WorldProjection,
    WorldRender,
    public_text,
    public_title,
    public_url,
)
from contracts.world.records import PARTS_OF_THE_SERVICE
from warehouse.document_context import DocumentContext
from warehouse.duck.connection import Connection
from warehouse.statements import read_sql


def place_new_nodes(connection: Connection) -> int:
    """Places every node that any view draws, and deletes the positions of nodes that left. Returns the number of new
    positions."""
    connection.execute(read_sql("drop_positions"))
    nodes, edges = _shown(connection, NODES_DRAWN[RenderView.FULL])
    placed = {node["id"]: (node["x"], node["y"]) for node in nodes if node["x"] is not None}
    if len(placed) == len(nodes):
        return 0
    places = place(
        sorted((node["id"], node["domain"]) for node in nodes),
        [(edge["source"], edge["target"]) for edge in edges],
        placed,
    )
    fresh = [(node_id, x, y) for node_id, (x, y) in places.items() if node_id not in placed]
    columns = [list(column) for column in zip(*fresh, strict=True)]
    connection.execute(read_sql("keep_positions"), dict(zip(("ids", "xs", "ys"), columns, strict=True)))
    return len(fresh)


def read_world_live(context: DocumentContext) -> WorldProjection:
    """Returns the public graph."""
    counts = context.remembered("graph counts", lambda: _counts(context.connection))
    nodes, edges = _shown_in(context, NODES_SHOWN)
    return WorldProjection(
        **counts.fields,
        nodes=[_projected(node) for node in sorted(nodes, key=lambda node: node["id"])],
        edges=[ProjectedEdge(**edge) for edge in edges],
        truncated=len(nodes) < counts.nodes or len(edges) < counts.edges,
        changes=[_change(row) for row in _rows(context.connection, "world_public_changes", {})],
    )


def _projected(node: dict[str, Any]) -> ProjectedNode:
    is_person = node["type"] == "Person"
    return ProjectedNode(
        id=node["id"],
        title=public_title(node["type"], node["title"]),
        type=node["type"],
        domain=node["domain"],
        description=None if is_person else public_text(node["description"] or "", LONGEST_DESCRIPTION),
        url=None if is_person else public_url(node["url"]),
        source=_public_source(node["source"], node["actor"]),
        valid_from=node["valid_from"],
        recorded_at=node["recorded_at"],
    )


def _change(row: dict[str, Any]) -> ProjectedChange:
    shown = [public_title(title["type"], title["title"]) for title in row.pop("titles")]
    source = _public_source(row["source"], row.pop("actor"))
    return ProjectedChange(**row | {"source": source, "titles": shown})


def _public_source(source: str, actor: str) -> str | None:
    """Returns the source of a statement if this service made it; sources of others may name people."""
    return public_text(source, LONGEST_TITLE) if actor in PARTS_OF_THE_SERVICE else None


def read_world_render(context: DocumentContext, asked: RenderParameters) -> WorldRender:
    """Returns the public graph with positions."""
    compact = asked.compact is not None
    counts = context.remembered("graph counts", lambda: _counts(context.connection))
    nodes, edges = _shown_in(context, NODES_DRAWN[asked.view])
    # a node has no position if the run that folded it failed before placing it
    drawn = [node for node in nodes if node["x"] is not None]
    placed = {node["id"] for node in drawn}
    return WorldRender(
        **counts.fields,
        view=asked.view,
        compact=compact,
        domains=[
            DrawnDomain(name=name, x=home_of(name)[0], y=home_of(name)[1], node_count=count)
            for name, count in counts.domains.items()
        ],
        nodes=[
            DrawnNode(
                id=node["id"],
                title=None if compact else public_title(node["type"], node["title"]),
                type=None if compact else node["type"],
                domain=node["domain"],
                x=node["x"],
                y=node["y"],
                weight=node["weight"],
            )
            for node in drawn
        ],
        edges=[
            DrawnEdge(source=edge["source"], target=edge["target"], type=None if compact else edge["type"])
            for edge in edges
            if edge["source"] in placed and edge["target"] in placed
        ],
        truncated=len(drawn) < counts.nodes,
    )


@dataclass(frozen=True)
class _Counts:
    revision: int
    domains: dict[str, int]
    edges: int

    @property
    def nodes(self) -> int:
        return sum(self.domains.values())

    @property
    def fields(self) -> dict[str, Any]:
        return {"revision": self.revision, "node_count": self.nodes, "edge_count": self.edges}


def _counts(connection: Connection) -> _Counts:
    rows = connection.execute(read_sql("graph_counts")).fetchall()
    return _Counts(
        revision=max((revision for *_, revision in rows), default=0),
        domains={domain: nodes for domain, nodes, *_ in rows},
        edges=sum(edges for _, _, edges, _ in rows),
    )


def _shown_in(context: DocumentContext, limit: int) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Returns `_shown`, remembered for all documents of a generation with the same limit."""
    return context.remembered(f"graph of {limit} nodes", lambda: _shown(context.connection, limit))


def _shown(connection: Connection, limit: int) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Returns the nodes with the most edges, and the edges among them."""
    nodes = _rows(connection, "world_shown_nodes", {"limit": limit})
    return nodes, _rows(connection, "world_shown_edges", {"ids": [node["id"] for node in nodes]})


def _rows(connection: Connection, question: str, parameters: dict[str, Any]) -> list[dict[str, Any]]:
    cursor = connection.execute(read_sql(question), parameters)
    names = [column[0] for column in cursor.description or ()]
    return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
