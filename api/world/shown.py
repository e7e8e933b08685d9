"""Hides the names of authors from a reader, and converts between the reader's ids of nodes and the stored ones."""

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
    """Returns a state that names its author only if that is `owner` or a part of the service, as others are people.

    Nodes have the ids that `owner` uses.
    """
    actor = state.actor
    if actor != owner and actor not in PARTS_OF_THE_SERVICE:
        actor = OPERATOR if actor.startswith(f"{OPERATOR}:") else OTHERS
    return called_state(msgspec.structs.replace(state, actor=actor), owner)


def called_state(state: State, owner: str) -> State:
    """Returns a state with the ids that `owner` uses."""
    if isinstance(state, Node):
        ended_by = state.ended_by and given_id(owner, state.ended_by)
        return msgspec.structs.replace(state, id=given_id(owner, state.id), ended_by=ended_by)
    return msgspec.structs.replace(state, source=given_id(owner, state.source), target=given_id(owner, state.target))


def shown_dispute(dispute: Dispute, owner: str) -> Dispute:
    """Returns a dispute with the ids that `owner` uses."""
    claims = [msgspec.structs.replace(claim, id=given_id(owner, claim.id)) for claim in dispute.claims]
    return msgspec.structs.replace(dispute, claims=claims)


def shown_stages(stages: Iterable[StageResult], owner: str) -> tuple[StageResult, ...]:
    """Returns stages whose reasons contain the ids that `owner` uses."""
    return tuple(msgspec.structs.replace(stage, reason=given_id(owner, stage.reason)) for stage in stages)


def stored_id(is_known: Callable[[str], bool], owner: str, called: str) -> str:
    """Returns the stored id of the node that `owner` calls `called`: with the owner's prefix if that is known,
    otherwise `called` itself."""
    own = own_id(owner, called)
    return own if is_known(own) else called


def stored_proposal(is_known: Callable[[str], bool], proposal: Proposal, owner: str) -> Proposal:
    """Replaces the ids that `owner` uses in the edges and acts of a proposal by stored ids."""
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
