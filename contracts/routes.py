"""The route table: which published file answers which path, and with which headers.

Web server configuration, CDN files and the API's map in memory are all made from it.
"""

from __future__ import annotations

from typing import Literal

import msgspec

Cache = Literal["revalidated", "discovery", "immutable"]

CACHE_CONTROL: dict[Cache, str] = {
    # No s-maxage: it switches off the other two at Cloudflare.
    "revalidated": "public, max-age=60, stale-while-revalidate=300, stale-if-error=86400",
    "discovery": "public, max-age=300, stale-while-revalidate=3600, stale-if-error=86400",
    "immutable": "public, max-age=31536000, immutable",
}

OPEN_HEADERS = {
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Expose-Headers": "ETag, RateLimit, RateLimit-Policy, Retry-After, X-Request-Id",
    "X-Content-Type-Options": "nosniff",
}
"""On every answer, so that any page may read any of them."""

ENCODINGS = {"br": ".br", "zstd": ".zst", "gzip": ".gz"}
"""Content codings in the order we prefer, with the suffix of their pre-compressed files."""


LIMITED_PREFIXES = ("/api/", "/blink/")


def is_limited(path: str) -> bool:
    """Whether requests for the path count against the client's budget; a CDN serves the rest."""
    return path.startswith(LIMITED_PREFIXES) or path == "/mcp"


class Route(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """One published path. `parameters` are those of variants that the API answers; `variants` says by query string
    which of them are published too, at which path. `document` is the path whose body an alias has."""

    file: str
    media_type: str
    cache: Cache = "revalidated"
    own_headers: dict[str, str] = msgspec.field(default_factory=dict)
    parameters: tuple[str, ...] = ()
    variants: dict[str, str] = msgspec.field(default_factory=dict)
    document: str | None = None

    @property
    def headers(self) -> dict[str, str]:
        """What every server of the file says beside `ETag` and the encoding."""
        return {**headers_of(self.media_type, self.cache), **self.own_headers}


class Folder(msgspec.Struct, frozen=True, rename="camel"):
    """Published files that are found by their own names: sent as they are, never encoded again."""

    media_type: str
    cache: Cache = "immutable"

    @property
    def headers(self) -> dict[str, str]:
        return headers_of(self.media_type, self.cache)


class RouteTable(msgspec.Struct, frozen=True, rename="camel"):
    """Routes by path, folders by the prefix of their paths, and by path where a redirect (302) leads."""

    routes: dict[str, Route]
    folders: dict[str, Folder]
    redirects: dict[str, str] = msgspec.field(default_factory=dict)

    @property
    def redirect_headers(self) -> dict[str, str]:
        """What every server says with a redirect, beside `Location`."""
        return {"Cache-Control": CACHE_CONTROL["revalidated"], **OPEN_HEADERS}


def headers_of(media_type: str, cache: Cache) -> dict[str, str]:
    """Content type, cache policy and the headers that open an answer to every page."""
    return {"Content-Type": media_type, "Cache-Control": CACHE_CONTROL[cache], **OPEN_HEADERS}
