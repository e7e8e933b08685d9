"""What a request's conditional and content-coding headers ask for (RFC 9110, sections 12.5.3 and 13.1.2). Pure."""

from __future__ import annotations

from functools import lru_cache

from contracts.routes import ENCODINGS

IDENTITY = "identity"
_PREFERENCE = {encoding: rank for rank, encoding in enumerate((*ENCODINGS, IDENTITY))}


@lru_cache(maxsize=512)
def acceptable_encodings(accept_encoding: bytes | None) -> tuple[str, ...]:
    """Our encodings that the header allows, best first: by its weights, then br, zstd, gzip, identity."""
    if accept_encoding is None:
        return (IDENTITY,)
    weights: dict[str, float] = {}
    for item in accept_encoding.decode("latin-1").lower().split(","):
        coding, _, parameters = item.strip().partition(";")
        if coding.strip():
            weights[coding.strip()] = _weight(parameters)
    if "x-gzip" in weights:
        weights.setdefault("gzip", weights["x-gzip"])
    others = weights.get("*", 0.0)
    # Identity stays acceptable unless it, or everything unnamed, is ruled out; unweighted it is the last resort.
    identity = weights.get(IDENTITY, 0.001 if "*" not in weights else others)
    allowed = {encoding: weights.get(encoding, others) for encoding in ENCODINGS} | {IDENTITY: identity}
    return tuple(sorted((e for e in allowed if allowed[e] > 0), key=lambda e: (-allowed[e], _PREFERENCE[e])))


@lru_cache(maxsize=512)
def _listed_tags(if_none_match: bytes) -> frozenset[bytes]:
    tags = []
    rest = if_none_match.strip()
    while rest:
        rest = rest.lstrip(b" \t,")
        start = rest.removeprefix(b"W/")
        if not start.startswith(b'"'):
            break
        end = start.find(b'"', 1)
        if end < 0:
            break
        tags.append(start[: end + 1])
        rest = start[end + 1 :]
    return frozenset(tags)


def is_unchanged(if_none_match: bytes, etag: bytes) -> bool:
    """Whether the list names `etag`, compared weakly, or is `*`."""
    return if_none_match == etag or if_none_match.strip() == b"*" or etag in _listed_tags(if_none_match)


@lru_cache(maxsize=512)
def prefers_markdown(accept: bytes) -> bool:
    """Whether the Accept header names Markdown, and wants nothing of HTML more. Browsers never name it."""
    weights: dict[str, float] = {}
    for item in accept.decode("latin-1").lower().split(","):
        media_range, _, parameters = item.strip().partition(";")
        weights[media_range.strip()] = _weight(parameters)
    html = next((weights[each] for each in ("text/html", "text/*", "*/*") if each in weights), 0.0)
    return weights.get("text/markdown", 0.0) > 0 and weights["text/markdown"] >= html


def _weight(parameters: str) -> float:
    for parameter in parameters.split(";"):
        name, _, value = parameter.strip().partition("=")
        if name.strip() == "q":
            try:
                return min(max(float(value), 0.0), 1.0)
            except ValueError:
                return 0.0
    return 1.0
