"""Returns what states of nodes and edges state: as drafts of a proposal, and compared with one another. Pure."""

from __future__ import annotations

from contracts.world.facts import stated_end
from contracts.world.proposal import EdgeDraft, NodeDraft
from contracts.world.records import Edge, Node


def node_draft_of(node: Node) -> NodeDraft:
    """Returns what a state of a node states, as a caller would write it."""
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
    """Returns what a state of an edge states. One that ended as it began states no end of its own."""
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
    """Decides whether two states of a node or an edge state the same. Another actor, source or time of recording is no
    difference."""
    return _statement(before) == _statement(after)


def _statement(state: Node | Edge) -> tuple[object, ...]:
    common = (state.type, state.properties, state.visibility, state.owner, state.valid_from)
    if isinstance(state, Node):
        return (*common, stated_end(state), state.title, state.immutable, state.erased, state.retracted)
    return (*common, state.valid_to, state.source, state.target)
