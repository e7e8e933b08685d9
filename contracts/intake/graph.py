"""What the graph is told of an intake: a relationship and what was done, public and without anything personal. Pure."""

from __future__ import annotations

from contracts.intake.requests import Lane
from contracts.intake.states import CurrentState
from contracts.world.proposal import INTAKE, EdgeDraft, NodeDraft, Proposal

SOURCE = "intake"

_WHO = {Lane.AGENT: "an agent", Lane.HUMAN: "a person", Lane.ENTERPRISE: "an enterprise"}


def node_ids(graph_key: str) -> tuple[str, str, str]:
    """Ids of the nodes of an intake, whether they are there or not."""
    root = f"intake/{graph_key}"
    return root, f"{root}/received", f"{root}/activated"


def intake_proposal(graph_key: str, *, lane: Lane, profile_id: str, day: str, state: CurrentState) -> Proposal:
    """An intake as it stands; `day` is the UTC day of its receipt. Said again it changes nothing."""
    root, received, activated = node_ids(graph_key)
    named = f"{_WHO[lane]}, {day} ({graph_key[:8]})"
    nodes = [
        NodeDraft(
            id=root,
            type="Relationship",
            title=f"Intake of {named}",
            properties={"lane": lane.value, "profile": profile_id, "status": state},
            visibility="public",
        ),
        NodeDraft(
            id=received,
            type="Action",
            title=f"Registration with consent of {named}",
            properties={"day": day},
            visibility="public",
        ),
    ]
    edges = [EdgeDraft(source=received, type="PRODUCED", target=root, visibility="public")]
    if state == "active":
        nodes.append(
            NodeDraft(id=activated, type="Outcome", title=f"Activation of {named}", visibility="public"),
        )
        edges.append(EdgeDraft(source=activated, type="ATTESTS", target=root, visibility="public"))
    return Proposal(actor=INTAKE, source=SOURCE, nodes=tuple(nodes), edges=tuple(edges))
