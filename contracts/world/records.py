"""Defines nodes, edges and events as the ledger, the snapshot and query answers contain them.

Times are RFC 3339 strings in UTC with microseconds, so that strings sort as instants do.
"""

from __future__ import annotations

from typing import Any, Literal, TypeVar

import msgspec

from contracts.standing import UNSTATED, SourceClass

Visibility = Literal["public", "private"]

FORGOTTEN = "forgotten"
"""Owner, actor and source of tombstones."""

PARTS_OF_THE_SERVICE = ("pipeline", "intake", "constitution")
"""Authors of states that are not persons."""

Author = Literal["owner", "pipeline", "intake", "constitution", "operator", "other"]
"""An author as exports name it: without the names of people."""


class Origin(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The installation that first recorded an imported state, as the import describes it."""

    recorded_at: str
    """The time at which it was recorded there."""
    author: Author = "owner"
    decision: str | None = None
    """The decision that wrote it there, whose record was imported too."""


class Node(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=False):
    """One node as of one revision. Every change of a node writes its whole new state."""

    id: str
    title: str
    type: str
    domain: str
    properties: dict[str, Any]
    visibility: Visibility
    owner: str | None
    """The owner of a private node (`Caller.owner` or a capsule's `capsule:<id>`); null for public ones."""
    immutable: bool
    valid_from: str
    valid_to: str | None
    """The end of the time for which it holds in the world, starting at `valid_from`; null = until further notice."""
    recorded_at: str
    """The time at which the ledger recorded it."""
    source: str
    """Provenance: the origin of the statement, such as a document, a key or an asset."""
    actor: str
    """The author: `Caller.owner`, `pipeline`, `constitution`, `operator:<name>`."""
    revision: int
    """`seq` of the event that wrote this state."""
    erased: bool = False
    """A tombstone: title and properties were deleted for the rights of a person."""
    source_class: SourceClass = UNSTATED
    """The class of its source, which determines its standing (`contracts/standing.yaml`); at most the class that its
    writer may claim."""
    stated_at: str | None = None
    """The time at which its statement was recorded, which its later states keep; null in states that predate the
    field."""
    stated_to: str | None = None
    """The end that its writer stated, if another statement ended it."""
    ended_by: str | None = None
    """The node that superseded, overruled, corrected or retracted it."""
    retracted: bool = False
    """True if it was corrected or retracted: as far as is known now, it never held."""
    confirmed_as: SourceClass | None = None
    """The class of its highest confirmation, which replaces its own class if it is higher."""
    confirmed_at: str | None = None
    disputed: bool = False
    """True if another value for the same subject and predicate holds at the same time."""
    origin: Origin | None = None
    """The first record of an imported state, in the installation that it came from."""


class Edge(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=False):
    """One edge as of one revision. `source` and `target` are node ids; `stated_in` is the origin of the statement."""

    id: str
    source: str
    target: str
    type: str
    properties: dict[str, Any]
    visibility: Visibility
    owner: str | None
    valid_from: str
    valid_to: str | None
    recorded_at: str
    stated_in: str
    actor: str
    revision: int
    source_class: SourceClass = UNSTATED
    disputed: bool = False
    """True if its type is single-valued and another such edge from its source holds at the same time."""
    origin: Origin | None = None


class Event(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One accepted change: the new state of one node or edge. The ledger assigns `seq`; a revision is a `seq`."""

    seq: int
    node: Node | None = None
    edge: Edge | None = None


State = TypeVar("State", bound=Node | Edge)


def recorded_again(state: State, now: str) -> State:
    """Returns a state recorded at `now`, without the origin of an earlier record."""
    return msgspec.structs.replace(state, recorded_at=now, origin=None)


def is_overruled(node: Node, now: str) -> bool:
    """Decides whether a node has ended because another one replaced it or somebody retracted it."""
    is_over = node.valid_to is not None and node.valid_to <= now
    return is_over and not node.erased and (node.retracted or node.ended_by is not None)


def is_live(state: Node | Edge) -> bool:
    """Decides whether a state is part of the live graph: it is not erased, and it held when it was recorded.

    A superseded fact has ended. A fact with a future end is live, and a planned one becomes live only by a later state:
    when its day has come (`due_at`), the state is recorded again. The rule uses no clock, so every reader of one
    revision counts the same. An edge is shown and counted if both of its ends are live too.
    """
    holds = held_when_recorded(state.valid_from, state.valid_to, state.recorded_at)
    return holds and not (isinstance(state, Node) and state.erased)


def held_when_recorded(valid_from: str, valid_to: str | None, recorded_at: str) -> bool:
    """Decides whether a state held at the time at which it was recorded."""
    return valid_from <= recorded_at and (valid_to is None or recorded_at < valid_to)


def due_at(state: Node | Edge) -> str | None:
    """Returns the time after its recording at which a state begins or ceases to hold, or None if none is known."""
    if isinstance(state, Node) and (state.erased or state.retracted):
        return None
    if state.valid_to is not None and state.valid_to <= state.valid_from:
        return None
    if state.valid_from > state.recorded_at:
        return state.valid_from
    return state.valid_to if state.valid_to is not None and state.valid_to > state.recorded_at else None


def overlap(one: Node | Edge, other: Node | Edge) -> bool:
    """Decides whether two states hold at the same time."""
    return (other.valid_to is None or one.valid_from < other.valid_to) and (
        one.valid_to is None or other.valid_from < one.valid_to
    )
