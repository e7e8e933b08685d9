"""Describes the header fields that the front sends with every answer. Pure.

A route names its own fields; this module adds those that follow from path and status.
"""

from typing import Any

from contracts.discovery.examples import PROBLEM_CODES
from contracts.errors import problems_by_code
from contracts.problems import PROBLEM_MEDIA_TYPE
from contracts.publish.registry import PROJECTIONS
from contracts.publish.routes import ACTION_VERSION, BLINK_PREFIX, is_limited


def _header(description: str, example: object, *, required: bool = True, **schema: object) -> dict[str, Any]:
    always = {"required": True} if required else {}
    return {"description": description, **always, "schema": {"type": "string", **schema}, "example": example}


HEADERS: dict[str, dict[str, Any]] = {
    "ETag": _header(
        "Strong; changes with the content and its encoding. Send it back in If-None-Match",
        '"0123456789abcdef0123456789abcdef"',
    ),
    "Cache-Control": _header(
        "How long a copy may be used", "public, max-age=60, stale-while-revalidate=300, stale-if-error=86400"
    ),
    "Vary": _header("What the answer depends on", "Accept-Encoding"),
    "RateLimit-Policy": _header(
        "The budget that the request counts against: `permin` of one client address, or `daily` of one API key "
        "(draft-ietf-httpapi-ratelimit-headers). An answer that shared caches may store names `permin`, even when it "
        "counts against a key. Omitted if there is no limit",
        '"permin";q=20;w=60',
        required=False,
    ),
    "RateLimit": _header(
        "What is left of that budget, and the seconds until it is restored",
        '"permin";r=19;t=58',
        required=False,
    ),
    "Accept-Ranges": _header("`bytes` if a range of the body can be requested", "bytes", required=False),
    "Content-Range": _header("The range that is sent, and the size of the whole body", "bytes 0-99/1234"),
    "Last-Modified": _header("When the file was written", "Sat, 21 Nov 2026 00:00:00 GMT", required=False),
    "Content-Disposition": _header("A name for the file", 'attachment; filename="graph.jsonl"'),
    "Deprecation": _header("Since when the path is deprecated (RFC 9745)", "@1795219200"),
    "Sunset": _header("When the path will be removed (RFC 8594)", "Sun, 21 Nov 2027 00:00:00 GMT"),
    "X-Action-Version": _header("The version of the Actions specification", ACTION_VERSION),
    "X-Blockchain-Ids": _header("The chain (CAIP-2)", "eip155:8453"),
    "Idempotent-Replayed": _header(
        "`true` if this repeats the answer to an earlier, identical request", "true", required=False, enum=["true"]
    ),
    "Retry-After": _header(
        "Seconds after which to send the same request again; sent with every `retryable` 409, 429 and 503",
        5,
        required=False,
        type="integer",
        minimum=0,
    ),
    "Accept-Encoding": _header(
        "With `content_encoding_unsupported` only: the encoding that is accepted", "identity", required=False
    ),
    "Allow": _header("Methods of this path", "GET, HEAD"),
    "Link": _header(
        "Where to continue (RFC 8288): the links of an error whose relation is registered (`help`, `payment`, "
        "`service-desc`), the receipt of a paid answer, or the successor of a deprecated path",
        '</docs/operations/token_price/>; rel="help"',
        required=False,
    ),
    "Location": _header("The path to follow", "/api/worldmodel/live", format="uri-reference"),
    "WWW-Authenticate": _header("How to send a key", 'Bearer realm="svc"'),
    "PAYMENT-REQUIRED": _header(
        "The offers that a signed payment can accept: base64 of an x402 v2 PaymentRequired", "eyJ4NDAyVmVyc2lvbiI6Mn0="
    ),
    "PAYMENT-RESPONSE": _header(
        "The outcome of a signed payment: base64 of an x402 v2 SettleResponse",
        "eyJzdWNjZXNzIjp0cnVlfQ==",
        required=False,
    ),
    "X-Request-Id": _header("Identifies the request in our log", "0123456789abcdef"),
}
"""The definitions by name: the description's `components.headers`."""

PAID_PREFIX = "/api/v2/"
"""Operations below this path answer a request without a key with an x402 challenge, if payments are accepted."""

_OF_PROBLEM = {
    401: ("WWW-Authenticate",),
    405: ("Allow",),
    415: ("Accept-Encoding",),
    416: ("Content-Range",),
    429: ("Retry-After",),
    503: ("Retry-After",),
}
_OF_ACTIONS = ("X-Action-Version", "X-Blockchain-Ids")
_POLICY, _LEFT = "RateLimit-Policy", "RateLimit"


def headers_of(method: str, path: str, status: int, *, document: bool) -> tuple[str, ...]:
    """Returns the names of the header fields of an answer of `path`. A `document` may be cached and has a 304.

    OPTIONS is not counted. A cache would show one client's counter to everyone, so a cacheable answer names only the
    policy.
    """
    limits = (_POLICY, _LEFT) if is_limited(path) and method != "options" else ()
    if status == 402 and path.startswith(PAID_PREFIX):
        return ("X-Request-Id", "Link", "PAYMENT-REQUIRED", "PAYMENT-RESPONSE", "WWW-Authenticate", *limits)
    if status >= 400:
        return ("X-Request-Id", "Link", *_OF_PROBLEM.get(status, ()), *limits)
    if status == 302:
        return ("Location", "Cache-Control", *limits[:1])
    if document:
        return ("ETag", "Cache-Control", *limits[:1])
    return ("Cache-Control", "X-Request-Id", *limits)


def header_refs(*names: str) -> dict[str, dict[str, str]]:
    """Returns references to the definitions of these fields."""
    return {name: {"$ref": f"#/components/headers/{name}"} for name in names}


def _own_fields() -> dict[str, frozenset[str]]:
    """Returns the described fields that individual published documents add, by path."""
    fields = {row.path: frozenset(row.headers) for row in PROJECTIONS}
    fields |= {alias.path: frozenset({**row.headers, **alias.headers}) for row in PROJECTIONS for alias in row.aliases}
    return {path: names & HEADERS.keys() for path, names in fields.items()}


def _is_retryable(response: dict[str, Any]) -> bool:
    codes = response.get("content", {}).get(PROBLEM_MEDIA_TYPE, {}).get(PROBLEM_CODES, ())
    known = problems_by_code()
    return any(known[code].retryable for code in codes)


def add_headers(document: dict[str, Any]) -> None:
    """Describes the header fields of every answer, in place."""
    own = _own_fields()
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            responses = operation["responses"]
            for status, response in responses.items():
                names = headers_of(method, path, int(status), document="304" in responses)
                if int(status) < 300 and "402" in responses and path.startswith(PAID_PREFIX):
                    names += ("Link", "PAYMENT-RESPONSE", "Idempotent-Replayed")
                elif int(status) < 400:
                    names += tuple(sorted(own.get(path, ())))
                elif status == "409" and _is_retryable(response):
                    names += ("Retry-After",)
                if path.startswith(BLINK_PREFIX):
                    names += _OF_ACTIONS
                response["headers"] = header_refs(*names) | response.get("headers", {})
    document["components"]["headers"] = HEADERS
