"""Receives a request: limits its head and reads its whole body. Contains no routes and uses no framework.

The HTTP server limits the head too (`api.http_protocol`); the limits here give the client a readable problem.
"""

import re
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import Any

from contracts.errors import EncodingUnsupported, HeadersTooLarge, RequestProblem, TargetTooLong

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]

HEAD_LIMIT_BYTES = 16 * 1024
"""Names and values of all header fields together."""

TARGET_LIMIT_BYTES = 8 * 1024
"""Path and query together."""

BODY_LIMIT_BYTES = 64 * 1024
LARGER_BODIES = {
    "/api/v2/guardrail/check": 256 * 1024,
    "/api/v2/knowledge-graph/build": 1024 * 1024,
    "/api/v2/mcp": 1024 * 1024,
}
"""Limits in bytes for paths that accept larger bodies."""

_CHUNK = re.compile(r"/api/v2/world-model/imports/[^/]+/chunks/[^/]+")
_CHUNK_BYTES = 1024 * 1024


def body_limit(path: str) -> int:
    """Returns the largest body in bytes that a path accepts."""
    return _CHUNK_BYTES if _CHUNK.fullmatch(path) else LARGER_BODIES.get(path, BODY_LIMIT_BYTES)


_TOO_LARGE = bytes(max(_CHUNK_BYTES, *LARGER_BODIES.values()) + 1)
"""Stands in for a body that was too large to be read to its end."""

_MOST_LENGTH_DIGITS = 15
_LONGEST_ENCODING = 40


def head_too_large(fields_bytes: int) -> RequestProblem:
    """Returns the problem with a head that exceeds a limit; `fields_bytes` is the size of its fields."""
    if fields_bytes > HEAD_LIMIT_BYTES:
        return HeadersTooLarge(f"Send at most {HEAD_LIMIT_BYTES:,} bytes of header fields.")
    return TargetTooLong(f"Send at most {TARGET_LIMIT_BYTES:,} bytes of path and query.")


def encoding_unsupported(headers: Iterable[tuple[bytes, bytes]]) -> EncodingUnsupported | None:
    """Returns the problem with a body that these fields declare to be compressed, or None.

    Bodies are limited by the bytes that are sent; a small compressed one could become arbitrarily large.
    """
    sent = (joined_values(headers, b"content-encoding") or b"").decode("latin-1")
    encodings = [encoding.strip() for encoding in sent.split(",")]
    named = ", ".join(encoding for encoding in encodings if encoding.lower() not in ("", "identity"))
    if not named:
        return None
    return EncodingUnsupported(
        f"The body has the Content-Encoding {named[:_LONGEST_ENCODING]}. Send it uncompressed, without that field.",
        headers={"Accept-Encoding": "identity"},
    )


def values_of(headers: Iterable[tuple[bytes, bytes]], name: bytes) -> list[bytes]:
    """Returns the values of all fields with this name."""
    return [value for field, value in headers if field == name]


def joined_values(headers: Iterable[tuple[bytes, bytes]], name: bytes) -> bytes | None:
    """Returns a list-valued field as one value, or None if it was not sent."""
    values = values_of(headers, name)
    return b",".join(values) if values else None


async def read_body(scope: Scope, receive: Receive, limit_bytes: int) -> bytes | None:
    """Reads the whole body. Returns None if it is larger than the limit, and b"" if the client left before its end.

    A truncated body must not be mistaken for a complete one.
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
    """Returns a `Receive` that first provides `body`. None means a body that was too large, and remains too large."""
    whole = _TOO_LARGE if body is None else body
    provided = False

    async def replayed() -> MutableMapping[str, Any]:
        nonlocal provided
        if provided:
            return await receive()
        provided = True
        return {"type": "http.request", "body": whole, "more_body": False}

    return replayed
