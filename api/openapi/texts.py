"""Describes the service as a whole: its info, and its tags in the order in which a newcomer needs them. Pure."""

from typing import Any

from api.bodies import DEEPEST, MOST_CONTAINERS, MOST_KEYS
from api.receiving import BODY_LIMIT_BYTES, HEAD_LIMIT_BYTES, TARGET_LIMIT_BYTES
from contracts.problems import MOST_ERRORS
from contracts.publish.routes import ACCOUNT_PATH

INFO: dict[str, Any] = {
    "description": "A runtime for personal AI agents: token telemetry that carries its proof, a governed knowledge "
    "graph, guardrail checks, and API keys that agents buy with USDC.\n\n"
    "**Answers.** JSON with `ok` at the top. Amounts are decimal strings, times are UTC. A missing value is `null` "
    'with `quality: "unavailable"` and a stable `reason`; it is never invented.\n\n'
    "**Errors.** `application/problem+json` (RFC 9457) with a stable `code`, `retryable`, and `errors` with JSON "
    "pointers. `links` lead to the next steps, the nearest first; those with a registered relation are also in the "
    "Link field. The MCP servers return JSON-RPC errors with `code`, `retryable` and `links` in `error.data`; a tool "
    "that fails returns a result with `isError`. Bytes that are not an HTTP/1.1 request, or whose method is not "
    "registered, get 400 `request_unreadable` at any path.\n\n"
    "**Keys.** API v2 routes that name a security scheme take an API key as `Authorization: Bearer` or `X-Api-Key`. "
    "Everything else is public. Pages for people, such as `/connect/`, are not operations: `/sitemap.xml` lists them, "
    "and each has a twin in Markdown.\n\n"
    "**Limits.** `RateLimit-Policy` and `RateLimit` name the budget that a request counts against; a 429 has a "
    "`Retry-After`. A request with a key counts against the key's day. On every route, a request refused with 400, "
    "405, 413 or 415, or as `route_unknown` or `trial_excluded`, counts against the address's minute instead while it "
    "has any requests left, and a 503 counts against nothing. A key's requests about "
    f"itself, below `{ACCOUNT_PATH}`, count against the address. So do requests that need no key; they count against "
    "the key only once the address has nothing left.\n\n"
    f"**Sizes.** Header fields: {HEAD_LIMIT_BYTES:,} bytes together (431). Path and query: {TARGET_LIMIT_BYTES:,} "
    f"(414). Bodies: {BODY_LIMIT_BYTES:,} (413) unless the route states otherwise, with at most {DEEPEST} levels, "
    f"{MOST_KEYS:,} keys in one object and {MOST_CONTAINERS:,} arrays and objects (400). An error names at most "
    f"{MOST_ERRORS} faults.\n\n"
    "**Caches.** Published documents have a strong `ETag`. They answer `If-None-Match` with 304, and a single `Range` "
    "with 206, or with 416 if it contains no byte of the body. HEAD is answered wherever GET is.\n\n"
    "**Compatibility.** Fields and codes may be added, but are neither renamed nor removed under the same path. "
    "Anything to be removed is marked `deprecated`, with Deprecation, Sunset and a successor link.",
    "contact": {"name": "The operator of this installation"},
    "license": {"name": "All rights reserved"},
}

TAGS: dict[str, tuple[str, str]] = {
    "discovery": ("discovery", "What the service is, what state it is in, and where everything is."),
    "overview": ("overview", "Everything live in one body."),
    "agent access": ("agent access", "Plans, quotes, claims and receipts: how an agent buys a key."),
    "intake": ("intake", "Registration with consent, and the documents that it leads to."),
    "connect": ("connect", "How an assistant sets up a local runtime with its user, over MCP."),
    "guardrail": ("guardrail", "Actions judged before they are taken."),
    "world model": ("world model", "The governed graph: writing, querying, and its state."),
    "world": ("world projection", "The public part of the graph, published."),
    "holders": ("token holders", "Who holds the token, with proof."),
    "market": ("market", "Prices, each with every source's answer."),
    "contract_balance": ("contract balance", "A watched contract: balance, worth, trigger and transfers."),
    "trust": ("trust", "Scores of agents from a registry on the chain."),
    "partner": ("partners", "What others report about us: a partner's snapshot, a marketplace's revenue."),
    "blink": ("wallet actions", "Payloads of the wallet action standard."),
    "redirects": ("redirects", "Paths that lead to others."),
}
"""Name and description of each tag, by the text that routes use."""


def add_texts(document: dict[str, Any]) -> None:
    """Describes service and tags, in place. An unknown tag keeps its name."""
    document["info"] = {**document["info"], **INFO}
    used: set[str] = set()
    for operations in document["paths"].values():
        for operation in operations.values():
            operation["tags"] = list(dict.fromkeys(TAGS.get(tag, (tag,))[0] for tag in operation["tags"]))
            used |= set(operation["tags"])
    document["tags"] = [{"name": name, "description": text} for name, text in TAGS.values() if name in used]
