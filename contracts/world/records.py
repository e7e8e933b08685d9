"""Nodes, edges and the events that carry them: what the ledger keeps, the snapshot stores and queries answer with.

Times are RFC 3339 text in UTC with microseconds, so that texts sort as instants do.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

Visibility = Literal["public", "private"]


class Node(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=False):
    """One node as of one revision: every change of a node writes its whole new state."""

    id: str
    title: str
    type: str
    domain: str
    properties: dict[str, Any]
    visibility: Visibility
    owner: str | None
    """Whose private node it is (`Caller.owner` or a capsule's `capsule:<id>`); null for public ones."""
    immutable: bool
    valid_from: str
    valid_to: str | None
    """From when to when it holds in the world; null = until further notice."""
    recorded_at: str
    """When the ledger took it."""
    source: str
    """Provenance: where the statement comes from, such as a document, a key or an asset."""
    actor: str
    """Who wrote it: `Caller.owner`, `pipeline`, `constitution`, `operator:<name>`."""
    revision: int
    """`seq` of the event that wrote this state."""
    erased: bool = False
    """A tombstone: the person's rights were served, title and properties are gone."""


class Edge(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=False):
    """One edge as of one revision. `source` and `target` are node ids; where it was stated is `stated_in`."""

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
    """One accepted change: the new state of one node or one edge. `seq` is the ledger's; a revision is a seq."""

    seq: int
    node: Node | None = None
    edge: Edge | None = None


def is_live(state: Node | Edge) -> bool:
    """Whether a state is part of the live graph: not erased, and not over already when it was recorded.

    A superseded fact is over; one with an end to come is not, until a later state says so. No clock is asked, so that
    every reader of one revision counts the same. An edge is shown and counted where both its ends are live too.
    """
    over = state.valid_to is not None and state.valid_to <= state.recorded_at
    return not over and not (isinstance(state, Node) and state.erased)
