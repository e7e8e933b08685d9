"""The route table: which published file answers which path, and with which headers.

Web server configuration, CDN files and the API's map in memory are all made from it.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from contracts.connect.server import MCP_PATH

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


PREFLIGHT_HEADERS = {
    "Access-Control-Allow-Methods": "GET, HEAD, POST, OPTIONS",
    "Access-Control-Allow-Headers": "Accept, Authorization, Content-Type, Idempotency-Key, If-None-Match, X-Api-Key",
    "Access-Control-Max-Age": "86400",
}
"""What a page of another origin hears when its browser asks for leave first."""


BLINK_PREFIX = "/blink/"

LIMITED_PREFIXES = ("/api/", BLINK_PREFIX)


def file_of(path: str) -> str:
    """Where a path's body lies in the published tree. A path may be a file and a folder, so files have a suffix."""
    name = path.removeprefix("/")
    if name.endswith("/"):
        return f"{name}index.html"
    return name if "." in name.rpartition("/")[2] else f"{name}.json"


def is_limited(path: str) -> bool:
    """Whether requests for the path count against the client's budget; a CDN serves the rest."""
    return path.startswith(LIMITED_PREFIXES) or path == MCP_PATH


ACTION_VERSION = "2.4"

ACTION_HEADERS = {
    "Access-Control-Allow-Methods": "GET,POST,PUT,OPTIONS",
    "Access-Control-Allow-Headers": "Content-Type, Authorization, Content-Encoding, Accept-Encoding, X-Action-Version, "
    "X-Blockchain-Ids",
    "Access-Control-Expose-Headers": "X-Action-Version, X-Blockchain-Ids, ETag, RateLimit, RateLimit-Policy, "
    "Retry-After, X-Request-Id",
    "X-Action-Version": ACTION_VERSION,
    "X-Blockchain-Ids": "{network}",
}
"""What wallet clients need with every answer, also with errors and OPTIONS: without the chain they take an action for
one of Solana's. `{network}` stands for the chain."""


def action_headers(chain_id: int) -> dict[str, str]:
    """`ACTION_HEADERS` on a chain."""
    return {name: value.format(network=f"eip155:{chain_id}") for name, value in ACTION_HEADERS.items()}


class Route(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """One published path. `parameters` are those of variants that the API answers; `variants` says by query string
    which of them are published too, at which path. `document` is the path whose body an alias has, `markdown` that of
    the twin which is answered here to whoever prefers Markdown."""

    file: str
    media_type: str
    cache: Cache = "revalidated"
    own_headers: dict[str, str] = msgspec.field(default_factory=dict)
    parameters: tuple[str, ...] = ()
    variants: dict[str, str] = msgspec.field(default_factory=dict)
    document: str | None = None
    markdown: str | None = None

    @property
    def headers(self) -> dict[str, str]:
        """What every server of the file says beside `ETag` and the encoding."""
        negotiated = {} if self.markdown is None else {"Vary": "Accept"}
        return {**headers_of(self.media_type, self.cache), **negotiated, **self.own_headers}


class RedirectRoute(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """Where a path leads (302)."""

    to: str
    own_headers: dict[str, str] = msgspec.field(default_factory=dict)

    @property
    def headers(self) -> dict[str, str]:
        """What every server says beside `Location`."""
        return {"Cache-Control": CACHE_CONTROL["revalidated"], **OPEN_HEADERS, **self.own_headers}


class Folder(msgspec.Struct, frozen=True, rename="camel"):
    """Published files that are found by their own names: sent as they are, never encoded again."""

    media_type: str
    cache: Cache = "immutable"

    @property
    def headers(self) -> dict[str, str]:
        return headers_of(self.media_type, self.cache)


class RouteTable(msgspec.Struct, frozen=True, rename="camel"):
    """Routes by path, folders by the prefix of their paths, redirects by path. A base URL's own path is in what the
    headers say, and not in these paths: a proxy takes it off. `prefix` is that path."""

    routes: dict[str, Route]
    folders: dict[str, Folder]
    redirects: dict[str, RedirectRoute] = msgspec.field(default_factory=dict)
    prefix: str = ""


def headers_of(media_type: str, cache: Cache) -> dict[str, str]:
    """Content type, cache policy and the headers that open an answer to every page."""
    return {"Content-Type": media_type, "Cache-Control": CACHE_CONTROL[cache], **OPEN_HEADERS}
