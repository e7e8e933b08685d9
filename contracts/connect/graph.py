"""Builds the public graph nodes and edges for one finished set-up, without personal data. Pure."""

from contracts.connect.setup_plan import Choice
from contracts.connect.setup_plan_rows import load_plan_file
from contracts.intake.graph import node_ids as intake_node_ids
from contracts.world.proposal import INTAKE, EdgeDraft, NodeDraft, Proposal

SOURCE = "connect"

_SYSTEMS = {"macos": "macOS", "linux": "Linux", "windows": "Windows"}


def node_ids(session_key: str) -> tuple[str, str]:
    """Returns the ids of a session's nodes, whether or not the graph contains them."""
    return f"connect/{session_key}", f"connect/{session_key}/runtime"


def setup_proposal(
    session_key: str, *, choice: Choice, day: str, done: int, skipped: int, intake_key: str | None
) -> Proposal:
    """Returns a finished set-up as a proposal. Writing the same proposal again changes nothing.

    `day` is the UTC day on which its session was opened. `intake_key` names the intake that it registered, whose nodes
    must exist.
    """
    session, runtime = node_ids(session_key)
    assistant = load_plan_file().assistants[choice.assistant].label
    named = f"{assistant} on {_SYSTEMS[choice.os]}, {day} ({session_key[:8]})"
    nodes = (
        NodeDraft(
            id=session,
            type="WorkSession",
            title=f"Set-up with {named}",
            properties={"day": day, "steps_done": done, "steps_skipped": skipped},
            visibility="public",
        ),
        NodeDraft(
            id=runtime,
            type="Handoff",
            title=f"Local runtime with {named}",
            properties={"assistant": choice.assistant, "os": choice.os, "profile": choice.runtime_profile},
            visibility="public",
        ),
    )
    edges = [EdgeDraft(source=session, type="PRODUCED", target=runtime, visibility="public")]
    if intake_key is not None:
        intake = intake_node_ids(intake_key)[0]
        edges.append(EdgeDraft(source=runtime, type="PART_OF", target=intake, visibility="public"))
    return Proposal(actor=INTAKE, source=SOURCE, nodes=nodes, edges=tuple(edges))
