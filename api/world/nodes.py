"""Builds the fields of `NodeHistoryData`: a node's history as its reader may see it."""

from typing import Any

from api.world.shown import shown_dispute, shown_stages, shown_state
from contracts.world.identity import given_id
from warehouse.world.history import NodeHistory


def history_fields(found: NodeHistory, owner: str, revision: int) -> dict[str, Any]:
    """Returns the fields of `NodeHistoryData` for `owner`."""
    states = [shown_state(state.node, owner) for state in found.states]
    sources = {
        (state.source, state.source_class, state.actor): state.stated_at or state.recorded_at for state in states
    }  # the states come newest first, so the time of the first statement remains
    return {
        "node": None if found.node is None else shown_state(found.node, owner),
        "history": [
            {"node": state, "decision": past.decision, "retiredAt": past.retired_at}
            for state, past in zip(states, found.states, strict=True)
        ],
        "decisions": [
            {
                "decision": decision.seq,
                "decidedAt": decision.decided_at,
                "verdict": decision.verdict,
                "stages": None if decision.stages is None else shown_stages(decision.stages, owner),
            }
            for decision in found.decisions
        ],
        "sources": [
            {"source": source, "sourceClass": source_class, "actor": actor, "statedAt": stated_at}
            for (source, source_class, actor), stated_at in sources.items()
        ],
        "acts": [
            {
                "kind": edge.type.lower(),
                "by": given_id(owner, edge.source),
                "reason": edge.properties.get("reason", ""),
                "recordedAt": edge.recorded_at,
            }
            for edge in found.acts
        ],
        "disputes": [shown_dispute(dispute, owner) for dispute in found.disputes],
        "truncated": found.truncated,
        "revision": revision,
    }
