"""Encodes the cursors of the graph's pages: the position of the next page and the query to which it belongs."""

from __future__ import annotations

from typing import Annotated

import msgspec

from contracts.canonical import base64url, canonical_sha256, unbase64url
from contracts.errors import CursorInvalid


class Position(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """The end of a page: the last id in a list ordered by id, or the number of nodes to skip."""

    question: str
    after: str | None = None
    skip: Annotated[int, msgspec.Meta(ge=0, le=10_000_000)] = 0


def question_of(*parts: object) -> str:
    """Returns a short name of a query (plain JSON values), which all of its pages share."""
    return canonical_sha256(list(parts))[:16]


def encode_position(position: Position) -> str:
    """Returns an opaque URL-safe cursor."""
    return base64url(msgspec.json.encode(position))


def decode_position(cursor: str, question: str) -> Position:
    """Returns the position after which the cursor's page begins. Raises `CursorInvalid` if it is from another query."""
    try:
        position = msgspec.json.decode(unbase64url(cursor), type=Position)
    except ValueError:
        raise CursorInvalid("The cursor is not one of ours.") from None
    if position.question != question:
        raise CursorInvalid("The cursor belongs to another query; only `limit` may change between pages.")
    return position
