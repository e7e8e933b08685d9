"""Builds the route table: path, published file and headers of every route.

The web server configuration, the CDN files and the API's map in memory are all built from it.
"""

import re
from pathlib import PurePosixPath
from typing import Literal

import msgspec

from contracts.connect.key_server import KEY_MCP_PATH
from contracts.connect.server import MCP_PATH

Cache = Literal["revalidated", "discovery", "immutable"]

CACHE_CONTROL: dict[Cache, str] = {
    # No s-maxage, because it switches off the other two directives at Cloudflare.
    "revalidated": "public, max-age=60, stale-while-revalidate=300, stale-if-error=86400",
    "discovery": "public, max-age=300, stale-while-revalidate=3600, stale-if-error=86400",
    "immutable": "public, max-age=31536000, immutable",
}

OPEN_HEADERS = {
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Expose-Headers": "Accept-Ranges, Content-Range, ETag, Idempotent-Replayed, Link, Location, "
    "PAYMENT-REQUIRED, PAYMENT-RESPONSE, RateLimit, RateLimit-Policy, Retry-After, WWW-Authenticate, X-Request-Id",
    "X-Content-Type-Options": "nosniff",
}
"""Sent with every answer, so that any page may read it."""

ENCODINGS = {"br": ".br", "zstd": ".zst", "gzip": ".gz"}
"""Content codings in order of preference, with the suffix of their pre-compressed files."""


PREFLIGHT_HEADERS = {
    "Access-Control-Allow-Methods": "GET, HEAD, POST, PUT, DELETE, OPTIONS",
    # x402 clients send the first of these with a paid request, although it belongs to answers.
    "Access-Control-Allow-Headers": "Access-Control-Expose-Headers, Accept, Authorization, Content-Type, "
    "Idempotency-Key, If-None-Match, If-Range, PAYMENT-SIGNATURE, Range, X-Api-Key",
    "Access-Control-Max-Age": "86400",
}
"""The answer to a preflight request of another origin's page."""


_ENDING = re.compile(r"/$|\.\w+$")
"""The end of a path that distinguishes kinds of documents in a directory: a page's slash, or a file extension."""

BLINK_PREFIX = "/blink/"
METRICS_PATH = "/metrics"
NOT_FOUND_PATH = "/404.html"
"""The page with which a CDN, and the API for browsers, answer unknown paths."""

ACCOUNT_PATH = "/api/v2/me"
"""The path of a key's own account. Requests at or below it count against the address, never against the key's daily
limit. A key whose limit is used up, by its holder or a thief, can therefore still be inspected, rotated and revoked."""

METERED_PREFIXES = (
    "/api/v2/guardrail/",
    "/api/v2/knowledge-graph/",
    "/api/v2/memory/",
    "/api/v2/world-model/",
)
"""Prefixes of the paths that need a key, and whose requests count against the key's day. Public paths cost a key
nothing, so that a key whose day is used up can still read, pay and be replaced."""

LIMITED_PREFIXES = ("/api/", BLINK_PREFIX, METRICS_PATH)


def is_for_programs(path: str) -> bool:
    """Returns whether only programs request the path and its neighbours, so that its errors are never pages."""
    return is_limited(path) or path.startswith("/.well-known/")


def file_of(path: str) -> str:
    """Returns the file of a path in the published tree. A path may be both file and folder, so files have a suffix."""
    name = path.removeprefix("/")
    if not name or name.endswith("/"):
        return f"{name}index.html"
    return name if "." in name.rpartition("/")[2] else f"{name}.json"


def is_limited(path: str) -> bool:
    """Returns whether requests for the path count against the client's budget. A CDN serves the other paths."""
    return path.startswith(LIMITED_PREFIXES) or path == MCP_PATH


def is_metered(path: str) -> bool:
    """Returns whether requests for the path count against the day of their key."""
    return path.startswith(METERED_PREFIXES) or path == KEY_MCP_PATH


def is_free(path: str) -> bool:
    """Returns whether requests for the path need no key."""
    return not is_metered(path) and not is_account(path)


def is_account(path: str) -> bool:
    """Returns whether the path is about the key with which a request is sent."""
    return path == ACCOUNT_PATH or path.startswith(ACCOUNT_PATH + "/")


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
"""Header fields that wallet clients need with every answer, including errors and OPTIONS: without the chain they assume
Solana. `{network}` represents the chain."""


def action_headers(chain_id: int) -> dict[str, str]:
    """Returns `ACTION_HEADERS` for a chain."""
    return {name: value.format(network=f"eip155:{chain_id}") for name, value in ACTION_HEADERS.items()}


class Route(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """One published path.

    `parameters` are those of variants that the API answers; `variants` maps the query strings of the variants that are
    published as well to their paths. `document` is the path whose body an alias has. `markdown` is the path of the twin
    that is served here to clients that prefer Markdown.
    """

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
        """Returns the headers that every server sends with the file, in addition to `ETag` and the encoding."""
        negotiated = {} if self.markdown is None else {"Vary": "Accept"}
        return {**headers_of(self.media_type, self.cache), **negotiated, **self.own_headers}


class RedirectRoute(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """The target of a path (302)."""

    to: str
    own_headers: dict[str, str] = msgspec.field(default_factory=dict)

    @property
    def headers(self) -> dict[str, str]:
        """Returns the headers that every server sends in addition to `Location`."""
        return {"Cache-Control": CACHE_CONTROL["revalidated"], **OPEN_HEADERS, **self.own_headers}


class Folder(msgspec.Struct, frozen=True, rename="camel"):
    """Published files that are served by their own names. They are sent unchanged, or, if `has_encodings`, like
    documents in one of their encoded siblings."""

    media_type: str
    cache: Cache = "immutable"
    has_encodings: bool = False

    @property
    def headers(self) -> dict[str, str]:
        return headers_of(self.media_type, self.cache)


class Index(msgspec.Struct, frozen=True, rename="camel"):
    """A path at which programs get a folder's file, and browsers the route `page`. A CDN, which can't distinguish them,
    serves the page to all."""

    file: str
    page: str


class RouteTable(msgspec.Struct, frozen=True, rename="camel"):
    """Routes by path, folders by pattern, redirects by path, and indexes by path.

    A pattern is the start of a path, `*`, and its end: `/data/*.json`. A file is in the first folder that matches.
    Headers contain the base URL's own path, `prefix`, but these paths do not, because a proxy removes it.
    """

    routes: dict[str, Route]
    folders: dict[str, Folder]
    redirects: dict[str, RedirectRoute] = msgspec.field(default_factory=dict)
    prefix: str = ""
    indexes: dict[str, Index] = msgspec.field(default_factory=dict)

    @property
    def header_rules(self) -> dict[str, dict[str, str]]:
        """Returns header fields by path or pattern.

        No two rules match the same path, because a CDN applies all matching rules; it accepts a hundred. Documents of
        one directory that have the same fields share a rule, and so do those with the same ending.
        """
        rules = {path: route.headers for path, route in self.routes.items()}
        rules |= {path: self.routes[index.page].headers for path, index in self.indexes.items()}
        directories = {
            f"{parent}/" for path in rules for parent in map(str, PurePosixPath(path).parents) if parent != "/"
        }
        for directory in sorted(directories, key=len, reverse=True):
            if any(pattern.startswith(directory) for pattern in self.folders):
                continue
            inside = [path for path in rules if path.startswith(directory) and path != directory]
            endings = {path: _ENDING.search(path) for path in inside}
            for ending in ["", *sorted({found[0] for found in endings.values() if found})]:
                alike = [path for path in inside if path in rules and path.endswith(ending)]
                if len(alike) > 1 and len({tuple(rules[path].items()) for path in alike}) == 1:
                    fields = rules[alike[0]]
                    rules = {path: given for path, given in rules.items() if path not in alike}
                    rules[f"{directory}*{ending}"] = fields
        return dict(sorted(rules.items())) | {pattern: folder.headers for pattern, folder in self.folders.items()}

    def index_headers(self, index: Index) -> dict[str, str]:
        """Returns the headers of an index for programs."""
        folder = self.folder_of(index.file)
        assert folder is not None, f"{index.file} is in no folder"
        return {**folder.headers, "Vary": "Accept"}

    def folder_of(self, path: str) -> Folder | None:
        """Returns the folder of the file at `path`, or None."""
        return next((folder for pattern, folder in self.folders.items() if is_in_folder(pattern, path)), None)


def is_in_folder(pattern: str, path: str) -> bool:
    """Returns whether the path is in the folder of a pattern."""
    beginning, _, end = pattern.partition("*")
    return path.startswith(beginning) and path.endswith(end) and len(path) > len(beginning) + len(end)


def headers_of(media_type: str, cache: Cache) -> dict[str, str]:
    """Returns content type, cache policy, and the headers that let every page read the answer."""
    return {"Content-Type": media_type, "Cache-Control": CACHE_CONTROL[cache], **OPEN_HEADERS}
