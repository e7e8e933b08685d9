"""Content negotiation and conditional requests (RFC 9110, sections 12.5 and 13.1.2). Pure.

Lists are parsed in one pass. Results are cached only for short values, because clients choose the keys of the caches.
"""

import re
from functools import lru_cache

from contracts.publish.routes import ENCODINGS

IDENTITY = "identity"
_PREFERENCE = {encoding: rank for rank, encoding in enumerate((*ENCODINGS, IDENTITY))}


LONGEST_REMEMBERED_BYTES = 256
"""Longer than any value that browsers and agents send; the caches below use at most some 150 kB."""

_LISTED_TAG = re.compile(rb'[ \t,]*(?:W/)?("[^"]*")')


def acceptable_encodings(accept_encoding: bytes | None) -> tuple[str, ...]:
    """Returns our encodings that the header allows, best first: by its weights, then br, zstd, gzip, identity."""
    if accept_encoding is None:
        return (IDENTITY,)
    parse = _remembered_encodings if len(accept_encoding) <= LONGEST_REMEMBERED_BYTES else _encodings_in
    return parse(accept_encoding)


def is_unchanged(if_none_match: bytes, etag: bytes) -> bool:
    """Decides whether the list names `etag`, compared weakly, or is `*`."""
    if if_none_match == etag or if_none_match.strip() == b"*":
        return True
    if etag not in if_none_match:
        return False
    tag = _LISTED_TAG.match(if_none_match)
    while tag is not None:
        if tag[1] == etag:
            return True
        tag = _LISTED_TAG.match(if_none_match, tag.end())
    return False


def prefers_markdown(accept: bytes) -> bool:
    """Decides whether Accept names Markdown and does not prefer HTML to it. Browsers never name it."""
    parse = _remembered_preference if len(accept) <= LONGEST_REMEMBERED_BYTES else _markdown_preferred_in
    return parse(accept)


def prefers_html(accept: bytes) -> bool:
    """Decides whether Accept names HTML and does not prefer JSON to it, as browsers do. `*/*` names nothing."""
    weights = _weights_in(accept)
    html = max(weights.get("text/html", 0.0), weights.get("application/xhtml+xml", 0.0))
    json = max((weight for name, weight in weights.items() if name.endswith(("/json", "+json"))), default=0.0)
    return html > 0 and html >= json


def prefers_page(accept: bytes) -> bool:
    """Decides whether a client wants a page, in HTML or Markdown, at a path with another answer for programs."""
    return prefers_html(accept) or (b"markdown" in accept.lower() and prefers_markdown(accept))


def _encodings_in(accept_encoding: bytes) -> tuple[str, ...]:
    weights: dict[str, float] = {}
    for item in accept_encoding.decode("latin-1").lower().split(","):
        coding, _, parameters = item.strip().partition(";")
        if coding.strip():
            weights[coding.strip()] = _weight(parameters)
    if "x-gzip" in weights:
        weights.setdefault("gzip", weights["x-gzip"])
    others = weights.get("*", 0.0)
    # Identity is acceptable unless it, or everything unnamed, is ruled out; without a weight it is the last resort.
    identity = weights.get(IDENTITY, 0.001 if "*" not in weights else others)
    allowed = {encoding: weights.get(encoding, others) for encoding in ENCODINGS} | {IDENTITY: identity}
    return tuple(sorted((e for e in allowed if allowed[e] > 0), key=lambda e: (-allowed[e], _PREFERENCE[e])))


def _markdown_preferred_in(accept: bytes) -> bool:
    weights = _weights_in(accept)
    html = next((weights[name] for name in ("text/html", "text/*", "*/*") if name in weights), 0.0)
    return weights.get("text/markdown", 0.0) > 0 and weights["text/markdown"] >= html


def _weights_in(accept: bytes) -> dict[str, float]:
    """Returns the weight of every media range of an Accept field."""
    weights: dict[str, float] = {}
    for item in accept.decode("latin-1").lower().split(","):
        media_range, _, parameters = item.strip().partition(";")
        weights[media_range.strip()] = _weight(parameters)
    return weights


_remembered_encodings = lru_cache(maxsize=512)(_encodings_in)
_remembered_preference = lru_cache(maxsize=512)(_markdown_preferred_in)


def _weight(parameters: str) -> float:
    for parameter in parameters.split(";"):
        name, _, value = parameter.strip().partition("=")
        if name.strip() == "q":
            try:
                return min(max(float(value), 0.0), 1.0)
            except ValueError:
                return 0.0
    return 1.0
