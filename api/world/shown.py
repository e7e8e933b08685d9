"""Decides what a reader learns about the authors of the graph, and by which ids he is shown his own nodes."""

from collections.abc import Callable, Iterable
from typing import TypeVar

import msgspec

from contracts.world.facts import Dispute
from contracts.world.identity import given_id, own_id
from contracts.world.proposal import Proposal, StageResult
from contracts.world.records import Edge, Node

PARTS_OF_THE_SERVICE = ("pipeline", "intake", "constitution")
OPERATOR = "operator"
OTHERS = "other"

State = TypeVar("State", Node, Edge)


def shown_state(state: State, owner: str) -> State:
    """Returns a state that names its author only if that is a part of the service or `owner`: others are people.

    Nodes have the ids by which `owner` calls them.
    """
    actor = state.actor
    if actor != owner and actor not in PARTS_OF_THE_SERVICE:
        actor = OPERATOR if actor.startswith(f"{OPERATOR}:") else OTHERS
    return called_state(msgspec.structs.replace(state, actor=actor), owner)


def called_state(state: State, owner: str) -> State:
    """Returns a state with the ids by which `owner` calls his nodes."""
    if isinstance(state, Node):
        ended_by = state.ended_by and given_id(owner, state.ended_by)
        return msgspec.structs.replace(state, id=given_id(owner, state.id), ended_by=ended_by)
    return msgspec.structs.replace(state, source=given_id(owner, state.source), target=given_id(owner, state.target))


def shown_dispute(dispute: Dispute, owner: str) -> Dispute:
    """Returns a dispute with the ids by which `owner` calls his nodes."""
    claims = [msgspec.structs.replace(claim, id=given_id(owner, claim.id)) for claim in dispute.claims]
    return msgspec.structs.replace(dispute, claims=claims)


def shown_stages(stages: Iterable[StageResult], owner: str) -> tuple[StageResult, ...]:
    """Returns stages whose reasons name nodes as `owner` calls them."""
    return tuple(msgspec.structs.replace(stage, reason=given_id(owner, stage.reason)) for stage in stages)


def stored_id(is_known: Callable[[str], bool], owner: str, called: str) -> str:
    """Returns the graph's id of the node that `owner` calls `called`: one of his own ids, or else the graph's."""
    own = own_id(owner, called)
    return own if is_known(own) else called


def stored_proposal(is_known: Callable[[str], bool], proposal: Proposal, owner: str) -> Proposal:
    """Returns a proposal whose edges and acts name nodes by the graph's ids. It names them as `owner` calls them."""
    return msgspec.structs.replace(
        proposal,
        edges=tuple(
            msgspec.structs.replace(
                edge,
                source=stored_id(is_known, owner, edge.source),
                target=stored_id(is_known, owner, edge.target),
            )
            for edge in proposal.edges
        ),
        acts=tuple(
            msgspec.structs.replace(act, target=stored_id(is_known, owner, act.target)) for act in proposal.acts
        ),
    )
