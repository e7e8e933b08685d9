"""Defines nodes, edges and events, for the ledger, the snapshot and the answers of queries.

Times are RFC 3339 text in UTC with microseconds, so that texts sort as instants do.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

Visibility = Literal["public", "private"]


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
    """The end of the time for which it holds in the world, from `valid_from`; null = until further notice."""
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


class Event(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One accepted change: the new state of one node or one edge. `seq` is the ledger's, and a revision is a seq."""

    seq: int
    node: Node | None = None
    edge: Edge | None = None


def is_live(state: Node | Edge) -> bool:
    """Decides whether a state is part of the live graph: not erased, and not over already when it was recorded.

    A superseded fact is over. A fact with an end in the future is not, until a later state says so. The rule uses no
    clock, so every reader of one revision counts the same. An edge is shown and counted if both of its ends are live
    too.
    """
    over = state.valid_to is not None and state.valid_to <= state.recorded_at
    return not over and not (isinstance(state, Node) and state.erased)
