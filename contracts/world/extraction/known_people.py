"""Lists the people whom a graph knows, so that any of its documents can refer to them. Pure.

Example: `pier.md` contains "Luis Ortega will replace the piles by 2026-08-20." That is a task of his, because `team.md`
contains "Present: Luis Ortega". It remains one if only an earlier `pier.md` named him, since the task is assigned to
him, or to the node by which its owner corrected his name: the texts still contain the name that was corrected.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from contracts.world.extraction.sources import documents_of
from contracts.world.records import Edge, Node, is_live


def people_of(
    nodes: Iterable[Node],
    edges: Iterable[Edge],
    documents: Collection[str],
    corrections: Mapping[str, Sequence[Node]],
) -> set[str]:
    """Returns the names of the people of a graph whom documents other than these name, or to whom something is
    assigned. `corrections` are the nodes that correct these people, by the ids of the corrected ones."""
    assigned = {edge.target for edge in edges if edge.type == "ASSIGNED_TO" and is_live(edge)}
    return {
        node.title
        for node in nodes
        if node.type == "Person"
        and (is_live(node) or node.retracted)
        and (
            not assigned.isdisjoint((node.id, *(by.id for by in corrections.get(node.id, ()))))
            or not documents_of(node.properties).issubset(documents)
        )
    }
