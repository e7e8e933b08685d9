"""Builds the public graph nodes and edges for one intake, without personal data. Pure."""

from contracts.intake.requests import Lane
from contracts.intake.states import CurrentState
from contracts.world.proposal import INTAKE, EdgeDraft, NodeDraft, Proposal

SOURCE = "intake"

_SENDERS = {Lane.AGENT: "an agent", Lane.HUMAN: "a person", Lane.ENTERPRISE: "an enterprise"}


def node_ids(graph_key: str) -> tuple[str, str, str]:
    """Returns the ids of an intake's nodes, whether or not the graph contains them."""
    root = f"intake/{graph_key}"
    return root, f"{root}/received", f"{root}/activated"


def intake_proposal(graph_key: str, *, lane: Lane, profile_id: str, day: str, state: CurrentState) -> Proposal:
    """Returns the current state of an intake as a proposal; `day` is the UTC day of its receipt.

    Writing the same proposal again changes nothing.
    """
    root, received, activated = node_ids(graph_key)
    named = f"{_SENDERS[lane]}, {day} ({graph_key[:8]})"
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
