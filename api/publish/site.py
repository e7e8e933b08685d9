"""Keeps the published documents of one generation in memory, each encoding with its headers ready to send."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from email.utils import formatdate
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from api.publish.negotiation import IDENTITY, acceptable_encodings, prefers_html
from api.publish.ranges import Slice
from contracts.canonical import sha256_hex
from contracts.publish.routes import (
    CACHE_CONTROL,
    ENCODINGS,
    NOT_FOUND_PATH,
    OPEN_HEADERS,
    PREFLIGHT_HEADERS,
    Folder,
    RedirectRoute,
    Route,
    RouteTable,
    is_limited,
)
from warehouse.publish.generations import Generation

Message = dict[str, Any]
"""An ASGI message."""

_Encoding = TypeVar("_Encoding")

READS = "GET, HEAD, OPTIONS"
"""The methods of published paths."""


@dataclass(frozen=True, slots=True)
class Encoded:
    """One encoding of a body: its entity tag, its size in bytes, and the messages of a 200 and of a 304."""

    etag: bytes
    start: Message
    body: Message
    not_modified: Message
    size: int
    last_modified: bytes | None = None

    def partial_start(self, part: Slice) -> Message:
        """Returns the message of a 206 with a part of the body."""
        kept = [field for field in self.start["headers"] if field[0] not in (b"content-length", b"accept-ranges")]
        content_range = f"bytes {part.first}-{part.last}/{self.size}".encode()
        return _start(206, [*kept, (b"content-range", content_range), (b"content-length", str(part.length).encode())])


@dataclass(frozen=True, slots=True)
class Published:
    """One document: its fresh encodings, and the stale ones to send from `stale_at` (seconds since 1970) on.

    If it has variants, the query selects one; `variants` contains the published ones by query string. `markdown` is its
    twin for clients that prefer Markdown; `options` answers OPTIONS.
    """

    fresh: dict[str, Encoded]
    stale: dict[str, Encoded]
    stale_at: float
    limited: bool
    has_variants: bool
    variants: dict[bytes, Published]
    options: Message
    markdown: Published | None = None


@dataclass(frozen=True, slots=True)
class EncodedFile:
    """One encoding of a file that is sent from disk. The body of `encoded` is empty."""

    path: Path
    encoded: Encoded


@dataclass(frozen=True, slots=True)
class PublishedFile:
    """One file that is sent from disk, in one of its encodings. Browsers get `page` instead, if there is one."""

    encodings: dict[str, EncodedFile]
    page: Published | None = None


@dataclass(frozen=True, slots=True)
class PublishedSite:
    """Everything that the front can answer from one generation without the application."""

    generation: Generation
    documents: dict[str, Published]
    files: dict[str, PublishedFile]
    redirects: dict[str, Message]

    def not_found(self, accept: bytes | None, accept_encoding: bytes | None) -> Message | None:
        """Returns the page of a 404 with its headers, or None for a client that does not prefer HTML."""
        page = self.documents.get(NOT_FOUND_PATH)
        if page is None or accept is None or not prefers_html(accept):
            return None
        encoded = choose_encoding(page.fresh, accept_encoding)
        if encoded is None:
            return None
        kept = [field for field in encoded.start["headers"] if field[0] not in _OF_WHAT_IS_KEPT]
        return {"headers": [*kept, (b"vary", b"Accept, Accept-Encoding")], "body": encoded.body["body"]}

    def stale_paths(self, now_s: float) -> list[str]:
        """Returns the paths of documents that are past their time or were published as stale."""
        return [
            path
            for path, entry in self.generation.manifest.documents.items()
            if now_s >= self.documents[path].stale_at or entry.stale_reason is not None
        ]


def choose_encoding(
    encodings: dict[str, _Encoding], accept_encoding: bytes | None, *, for_range: bool = False
) -> _Encoding | None:
    """Returns the best encoding that the header allows, or None if it rules out all available ones.

    A range applies to the unencoded body: many clients accept gzip with every request and would try to decode a part.
    """
    for encoding in acceptable_encodings(accept_encoding):
        if encoding in encodings and (encoding == IDENTITY or not for_range):
            return encodings[encoding]
    return None


def load_site(generation: Generation, rate_limit_policy: str | None) -> PublishedSite:
    """Loads a generation's documents. `rate_limit_policy` is sent with those that are counted."""
    public = generation.path / "public"
    table = msgspec.json.decode((public / "routes.json").read_bytes(), type=RouteTable)
    documents: dict[str, Published] = {}
    # A document's variants are other routes without variants of their own, so they are loaded first.
    for path, route in sorted(table.routes.items(), key=lambda item: bool(item[1].variants)):
        variants = {query.encode(): documents[path_of_variant] for query, path_of_variant in route.variants.items()}
        twin = None
        if route.markdown is not None:
            markdown_route = table.routes[route.markdown]
            negotiated = msgspec.structs.replace(
                markdown_route, own_headers={**markdown_route.own_headers, "Vary": "Accept"}
            )
            twin = _document(generation, route.markdown, negotiated, {}, rate_limit_policy)
        documents[path] = _document(generation, path, route, variants, rate_limit_policy, twin)
    files = {}
    for name in generation.manifest.components:
        path = "/" + name.removeprefix("public/")
        folder = table.folder_of(path) if name.startswith("public/") else None
        if folder is not None:
            files[path] = _file(generation, name, folder.headers, folder)
    for path, index in table.indexes.items():
        if index.file in files:
            folder = table.folder_of(index.file)
            assert folder is not None
            file = _file(generation, f"public{index.file}", table.index_headers(index), folder)
            files[path] = replace(file, page=documents[index.page])
    redirects = {path: _redirect(path, route, rate_limit_policy) for path, route in table.redirects.items()}
    return PublishedSite(generation, documents, files, redirects)


def _file(generation: Generation, name: str, headers: dict[str, str], folder: Folder) -> PublishedFile:
    """Returns the file of this name in a folder, with the encoded siblings that exist."""
    components = generation.manifest.components
    suffixes = ENCODINGS if folder.has_encodings else {}
    headers = {**headers, "Vary": _vary(headers)} if folder.has_encodings else headers
    tag = components[name].sha256[:32]
    encodings = {}
    for encoding, suffix in {IDENTITY: "", **suffixes}.items():
        component = components.get(f"{name}{suffix}")
        if component is not None:
            own = {"Last-Modified": formatdate(component.mtime, usegmt=True)}
            own |= {"Content-Encoding": encoding} if suffix else {}
            encoded = _encoded({**headers, **own}, f"{tag}{suffix.replace('.', '-')}", component.bytes)
            encodings[encoding] = EncodedFile(generation.path / f"{name}{suffix}", encoded)
    return PublishedFile(encodings)


def _redirect(path: str, route: RedirectRoute, rate_limit_policy: str | None) -> Message:
    headers = {"Location": route.to, **route.headers, "Content-Length": "0"}
    if rate_limit_policy is not None and is_limited(path):
        headers["RateLimit-Policy"] = rate_limit_policy
    return _start(302, [(name.lower().encode(), value.encode()) for name, value in headers.items()])


def _document(
    generation: Generation,
    path: str,
    route: Route,
    variants: dict[bytes, Published],
    rate_limit_policy: str | None,
    markdown: Published | None = None,
) -> Published:
    entry = generation.manifest.documents[route.document or path]
    headers = {**route.headers, "Vary": _vary(route.headers)}
    if rate_limit_policy is not None and is_limited(path):
        headers["RateLimit-Policy"] = rate_limit_policy
    fresh = _encodings(generation.path / "public" / route.file, headers)
    stale_at = math.inf if entry.stale_after is None else entry.stale_after.timestamp()
    stale = fresh if entry.stale_after is None else _encodings(generation.path / "stale" / route.file, headers)
    return Published(
        fresh, stale, stale_at, is_limited(path), bool(route.parameters), variants, _options(route), markdown
    )


def _vary(headers: dict[str, str]) -> str:
    """Returns the Vary field of an encoded body, in the order of web servers, which put Accept-Encoding first."""
    return ", ".join(["Accept-Encoding", *([headers["Vary"]] if "Vary" in headers else [])])


def _options(route: Route) -> Message:
    """Builds the answer to OPTIONS: how the document may be read, and its headers for other origins."""
    own = {name: value for name, value in route.own_headers.items() if name.startswith(("Access-Control-", "X-"))}
    return _read_alone({"Cache-Control": CACHE_CONTROL[route.cache], **own})


def _read_alone(own: dict[str, str]) -> Message:
    headers = {"Allow": READS, **OPEN_HEADERS, **PREFLIGHT_HEADERS, "Access-Control-Allow-Methods": READS, **own}
    return _start(204, [(name.lower().encode(), value.encode()) for name, value in headers.items()])


def _encodings(file: Path, headers: dict[str, str]) -> dict[str, Encoded]:
    body = file.read_bytes()
    tag = sha256_hex(body)[:32]
    encodings = {IDENTITY: _encoded(headers, tag, len(body), body)}
    for encoding, suffix in ENCODINGS.items():
        sibling = file.with_name(file.name + suffix)
        if sibling.exists():
            content = sibling.read_bytes()
            encoded_headers = {**headers, "Content-Encoding": encoding}
            encodings[encoding] = _encoded(encoded_headers, f"{tag}-{suffix[1:]}", len(content), content)
    return encodings


def _encoded(headers: dict[str, str], tag: str, length: int, body: bytes = b"") -> Encoded:
    etag = f'"{tag}"'.encode()
    always = [
        (name.lower().encode(), value.encode())
        for name, value in headers.items()
        if name not in ("Content-Type", "Content-Encoding")
    ]
    described = [
        (name.lower().encode(), headers[name].encode())
        for name in ("Content-Type", "Content-Encoding")
        if name in headers
    ]
    tagged = [*always, (b"etag", etag)]
    sized = [(b"accept-ranges", b"bytes"), (b"content-length", str(length).encode())]
    return Encoded(
        etag,
        _start(200, [*tagged, *described, *sized]),
        {"type": "http.response.body", "body": body},
        _start(304, tagged),
        length,
        headers["Last-Modified"].encode() if "Last-Modified" in headers else None,
    )


def _start(status: int, headers: list[tuple[bytes, bytes]]) -> Message:
    return {"type": "http.response.start", "status": status, "headers": headers}


_OF_WHAT_IS_KEPT = {b"etag", b"vary", b"cache-control", b"accept-ranges"} | {
    name.lower().encode() for name in OPEN_HEADERS
}
"""Fields of a published page that are dropped when it is sent with a 404, or that the front adds to every answer."""

READ_ALONE = _read_alone({"Cache-Control": "no-store"})
"""The answer to OPTIONS for files and redirects."""
