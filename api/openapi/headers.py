"""Describes the header fields that the front sends with every answer. Pure.

A route names its own fields; those that follow from path and status are added here.
"""

from typing import Any

from contracts.publish.registry import PROJECTIONS
from contracts.publish.routes import is_limited


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
        "(draft-ietf-httpapi-ratelimit-headers). An answer that caches keep for all names `permin`, also where it "
        "counts for a key. Left out where there is no limit",
        '"permin";q=20;w=60',
        required=False,
    ),
    "RateLimit": _header(
        "What is left of that budget, and after how many seconds it is whole again",
        '"permin";r=19;t=58',
        required=False,
    ),
    "Content-Range": _header("The range that is sent, and the size of the whole", "bytes 0-99/1234"),
    "Retry-After": _header("After how many seconds to send the same again", 5, type="integer", minimum=0),
    "Allow": _header("Methods of this path", "GET, HEAD"),
    "Link": _header(
        "Where to go on (RFC 8288): the links of an error whose relation is registered (`help`, `payment`, "
        "`service-desc`), the receipt of a paid answer, the successor of a deprecated path",
        '</docs/operations/token_price/>; rel="help"',
        required=False,
    ),
    "Location": _header("The path to go on to", "/api/worldmodel/live", format="uri-reference"),
    "WWW-Authenticate": _header("How to send a key", 'Bearer realm="svc"'),
    "PAYMENT-REQUIRED": _header(
        "The offers that a signed payment can take up: base64 of an x402 v2 PaymentRequired", "eyJ4NDAyVmVyc2lvbiI6Mn0="
    ),
    "PAYMENT-RESPONSE": _header(
        "What came of a signed payment: base64 of an x402 v2 SettleResponse", "eyJzdWNjZXNzIjp0cnVlfQ==", required=False
    ),
    "X-Request-Id": _header("Names the request in our log", "0123456789abcdef"),
}
"""The definitions, by name: the description's `components.headers`."""

PAID_PREFIX = "/api/v2/"
"""Operations below it answer a request without a key with an x402 challenge, where payments are taken."""

_OF_PROBLEM = {
    401: ("WWW-Authenticate",),
    405: ("Allow",),
    416: ("Content-Range",),
    429: ("Retry-After",),
    503: ("Retry-After",),
}
_POLICY, _LEFT = "RateLimit-Policy", "RateLimit"


def headers_of(method: str, path: str, status: int, *, document: bool) -> tuple[str, ...]:
    """Returns the names of the fields of an answer of `path`. A `document` may be kept by caches and has a 304.

    OPTIONS counts for nobody. A cache would hand one client's counter to all, so an answer that may be kept names only
    the policy.
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


def _paths_with_links() -> set[str]:
    """Returns the paths of published documents that are sent with a Link field."""
    rows = {row.path for row in PROJECTIONS if "Link" in row.headers}
    return rows | {alias.path for row in PROJECTIONS for alias in row.aliases if "Link" in alias.headers}


def add_headers(document: dict[str, Any]) -> None:
    """Describes the header fields of every answer, in place."""
    linked = _paths_with_links()
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            responses = operation["responses"]
            for status, response in responses.items():
                names = headers_of(method, path, int(status), document="304" in responses)
                if int(status) < 300 and "402" in responses and path.startswith(PAID_PREFIX):
                    names += ("Link", "PAYMENT-RESPONSE")
                elif int(status) < 400 and path in linked:
                    names += ("Link",)
                response["headers"] = header_refs(*names) | response.get("headers", {})
    document["components"]["headers"] = HEADERS
