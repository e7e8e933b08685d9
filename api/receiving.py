"""A request as it arrives: the bounds on its head, and its body read whole. No routes, no framework.

A server that parses HTTP bounds the head too (`api.http_protocol`); here it is a problem that a client can read.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import Any

from contracts.errors import HeadersTooLarge, RequestProblem, TargetTooLong

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]

HEAD_LIMIT_BYTES = 16 * 1024
"""Names and values of all header fields together."""

TARGET_LIMIT_BYTES = 8 * 1024
"""Path and query together."""

BODY_LIMIT_BYTES = 64 * 1024
LARGER_BODIES = {"/api/v2/knowledge-graph/build": 1024 * 1024}
"""Limits of paths that take more than the others, in bytes."""

_TOO_LARGE = bytes(BODY_LIMIT_BYTES + 1)
"""Stands for a body that was not read to its end."""

_MOST_LENGTH_DIGITS = 15


def head_too_large(fields_bytes: int) -> RequestProblem:
    """The problem with a head that is larger than one of its bounds, by the size of its fields."""
    if fields_bytes > HEAD_LIMIT_BYTES:
        return HeadersTooLarge(f"Send at most {HEAD_LIMIT_BYTES:,} bytes of header fields.")
    return TargetTooLong(f"Send at most {TARGET_LIMIT_BYTES:,} bytes of path and query.")


def values_of(headers: Iterable[tuple[bytes, bytes]], name: bytes) -> list[bytes]:
    """The values of all fields of one name."""
    return [value for field, value in headers if field == name]


def joined_values(headers: Iterable[tuple[bytes, bytes]], name: bytes) -> bytes | None:
    """A list-valued field as one value; None where it is not sent."""
    values = values_of(headers, name)
    return b",".join(values) if values else None


async def read_body(scope: Scope, receive: Receive, limit_bytes: int) -> bytes | None:
    """The whole body; None where it is larger than the limit, and empty where the client left before its end.

    What has arrived of a body that was cut off must not be taken for the whole.
    """
    declared = next((value for name, value in scope["headers"] if name == b"content-length"), b"0")
    if declared.isdigit() and (len(declared) > _MOST_LENGTH_DIGITS or int(declared) > limit_bytes):
        return None
    body = bytearray()
    while True:
        message = await receive()
        body += message.get("body", b"")
        if len(body) > limit_bytes:
            return None
        if message["type"] == "http.disconnect":
            return b""
        if not message.get("more_body"):
            return bytes(body)


def replay(body: bytes | None, receive: Receive) -> Receive:
    """A receive that gives `body` first; None, which is one that was too large, stays too large."""
    whole = _TOO_LARGE if body is None else body
    given = False

    async def replayed() -> MutableMapping[str, Any]:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": whole, "more_body": False}

    return replayed
