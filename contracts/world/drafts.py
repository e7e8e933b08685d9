"""Converts states of nodes and edges to the drafts that would state them, and compares their statements. Pure."""

from __future__ import annotations

from contracts.world.facts import stated_end
from contracts.world.proposal import EdgeDraft, NodeDraft
from contracts.world.records import Edge, Node


def node_draft_of(node: Node) -> NodeDraft:
    """Returns the draft with which a caller would write a state of a node."""
    return NodeDraft(
        id=node.id,
        type=node.type,
        title=node.title,
        properties=node.properties,
        visibility=node.visibility,
        immutable=node.immutable,
        valid_from=node.valid_from or None,
        valid_to=stated_end(node),
    )


def edge_draft_of(edge: Edge) -> EdgeDraft:
    """Returns the draft of a state of an edge. An edge that ended the instant it began stated no end."""
    return EdgeDraft(
        source=edge.source,
        target=edge.target,
        type=edge.type,
        properties=edge.properties,
        visibility=edge.visibility,
        valid_from=edge.valid_from or None,
        valid_to=None if edge.valid_to == edge.valid_from else edge.valid_to,
    )


def is_same_statement(before: Node | Edge, after: Node | Edge) -> bool:
    """Decides whether two states of a node or an edge state the same, ignoring actor, source and recording time."""
    return _statement(before) == _statement(after)


def _statement(state: Node | Edge) -> tuple[object, ...]:
    common = (state.type, state.properties, state.visibility, state.owner, state.valid_from)
    if isinstance(state, Node):
        return (*common, stated_end(state), state.title, state.immutable, state.erased, state.retracted)
    return (*common, state.valid_to, state.source, state.target)
