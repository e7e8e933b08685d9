"""Answers with a body computed for one request, with entity tag, condition, encoding and range as published ones."""

import gzip
from collections.abc import Callable, Mapping, Sequence

import brotli
import zstandard
from fastapi import Request, Response

from api.publish.negotiation import IDENTITY, acceptable_encodings, is_unchanged
from api.publish.ranges import Unsatisfiable, no_such_range, select_bytes
from api.receiving import joined_values
from contracts.canonical import sha256_hex
from contracts.errors import NotAcceptable
from contracts.publish.routes import CACHE_CONTROL, ENCODINGS, Cache

SMALLEST_ENCODED_BYTES = 1024

# Compression levels for a body that a client waits for: 5,000 rows in some 10 ms.
_ENCODERS: dict[str, Callable[[bytes], bytes]] = {
    "br": lambda body: brotli.compress(body, quality=4),
    "zstd": lambda body: zstandard.ZstdCompressor(level=3).compress(body),
    "gzip": lambda body: gzip.compress(body, 1, mtime=0),
}


def computed_answer(
    request: Request,
    body: bytes,
    *,
    media_type: str = "application/json",
    cache: Cache = "revalidated",
    headers: Mapping[str, str] | None = None,
    is_published: bool = False,
) -> Response:
    """Returns the answer with a computed body, encoded as the request allows, or a 304 if the client has it.

    A body at a published path is answered like the published ones: with the requested range, and with a refusal if no
    encoding is acceptable. There it raises `NotAcceptable` and `RangeNotSatisfiable`.
    """
    accepted = acceptable_encodings(_field(request, "accept-encoding"))
    if is_published and not accepted:
        raise NotAcceptable("Accept br, zstd, gzip or identity.")
    asked = _field(request, "range") if is_published else None
    for_range = asked is not None and IDENTITY in accepted
    encoding = None if for_range else _encoding_of(accepted, len(body))
    tag = sha256_hex(body)[:32]
    sent = {"Cache-Control": CACHE_CONTROL[cache], "Vary": "Accept-Encoding", **(headers or {})}
    if encoding is not None:
        body = _ENCODERS[encoding](body)
        tag = f"{tag}-{ENCODINGS[encoding][1:]}"
    sent["ETag"] = etag = f'"{tag}"'
    if is_unchanged(_field(request, "if-none-match") or b"", etag.encode()):
        return Response(status_code=304, headers=sent)
    if encoding is not None:
        sent["Content-Encoding"] = encoding
    part = None
    if for_range:
        try:
            part = select_bytes(asked, _field(request, "if-range"), len(body), etag.encode())
        except Unsatisfiable:
            raise no_such_range(len(body)) from None
    if part is not None:
        sent["Content-Range"] = f"bytes {part.first}-{part.last}/{len(body)}"
        return Response(body[part.first : part.last + 1], 206, sent, media_type)
    if is_published:
        sent["Accept-Ranges"] = "bytes"
    return Response(body, headers=sent, media_type=media_type)


def _field(request: Request, name: str) -> bytes | None:
    """Returns the values of a header field as one list, or None without the field."""
    return joined_values(request.scope["headers"], name.encode())


def _encoding_of(accepted: Sequence[str], size_bytes: int) -> str | None:
    """Returns the best of our encodings that the request allows, or None to send the body unencoded.

    A small body is encoded only for clients that do not accept it unencoded.
    """
    best = next(iter(accepted), IDENTITY)
    if best == IDENTITY or (size_bytes < SMALLEST_ENCODED_BYTES and IDENTITY in accepted):
        return None
    return best
