"""Decides what a reader learns about the authors of the graph."""

from typing import TypeVar

import msgspec

from contracts.world.records import Edge, Node

PARTS_OF_THE_SERVICE = ("pipeline", "intake", "constitution")
OPERATOR = "operator"
OTHERS = "other"

State = TypeVar("State", Node, Edge)


def shown_state(state: State, owner: str) -> State:
    """Returns a state that names its author only if that is a part of the service or `owner`: others are people."""
    actor = state.actor
    if actor != owner and actor not in PARTS_OF_THE_SERVICE:
        actor = OPERATOR if actor.startswith(f"{OPERATOR}:") else OTHERS
    return msgspec.structs.replace(state, actor=actor)
