"""Checks how documents are served: status, type, ETag and 304, CORS, caching, Link; and answers of unknown paths."""

import re
from collections.abc import Iterator
from urllib.parse import urljoin

from contracts.discovery.checks.evidence import Defect, DocumentAnswers, Evidence, HttpAnswer, path_below
from contracts.discovery.checks.expected import (
    ACTION_HEADERS,
    DESCRIPTION,
    FRONT_DOORS,
    FRONT_RELATIONS,
    SHAPES,
    Served,
    served_as,
)

_STRONG_ETAG = re.compile(r'"[\x21\x23-\x7e]+"')
_MAX_AGE = re.compile(r"\bmax-age=(\d+)")
_RELATIONS = re.compile(r"<([^>]+)>\s*;[^,<]*?\brel=\"?([a-z-]+)\"?")
_PROBLEM = "application/problem+json"
_REDIRECTS = (301, 302, 307, 308)


def header_defects(evidence: Evidence) -> Iterator[Defect]:
    """Yields defects in how each document is served."""
    description = evidence.value(DESCRIPTION)
    for path, reading in evidence.readings.items():
        shape, served = SHAPES[path], served_as(description, path)
        if path in FRONT_DOORS:
            yield from _front_door(path, reading.answer)
        if served is None:
            yield Defect(path, "is not described", f"Describe it in {DESCRIPTION}.")
        elif served.leads_on and reading.answer.status in _REDIRECTS:
            yield from _led_on(evidence, path, reading.answer)
            continue
        yield from _served(path, served, reading.answer)
        if reading.answer.status != 200:
            continue
        yield from _openness_defects(path, reading.answer)
        if served is not None and served.is_kept:
            yield from _cached(path, reading)
            yield from _asked_otherwise(path, reading)
        if shape in ("action", "action_rules"):
            yield from _action(path, reading.answer)
        if shape == "page":
            yield from _strict(path, reading.answer)
    for path, answer in evidence.strangers.items():
        if answer.status != 404 or answer.media_type != _PROBLEM:
            yield Defect(
                path,
                f"a path that does not exist answers {_outcome(answer)}",
                f"Answer 404 with {_PROBLEM}: a page with 200 makes agents believe that the document is there.",
            )


def _served(path: str, served: Served | None, answer: HttpAnswer) -> Iterator[Defect]:
    if answer.status != 200:
        yield Defect(path, f"answers {_outcome(answer)}", "Publish the document, or fix the route to it.")
    elif served is not None and answer.media_type not in served.media_types:
        wanted = " or ".join(served.media_types)
        yield Defect(path, f"is served as {answer.media_type or 'nothing'}", f"{DESCRIPTION} describes {wanted}.")
    elif answer.media_type.startswith("text/") and "charset=utf-8" not in answer.headers["content-type"].lower():
        yield Defect(path, "does not declare its charset", "Add charset=utf-8 to its content type.")


def _openness_defects(path: str, answer: HttpAnswer) -> Iterator[Defect]:
    if answer.headers.get("access-control-allow-origin") != "*":
        yield Defect(path, "can't be read by pages of other origins", "Send Access-Control-Allow-Origin: *.")
    if answer.headers.get("x-content-type-options", "").lower() != "nosniff":
        yield Defect(path, "may be taken for another type", "Send X-Content-Type-Options: nosniff.")


def _cached(path: str, reading: DocumentAnswers) -> Iterator[Defect]:
    answer, again = reading.answer, reading.again
    control = answer.headers.get("cache-control", "")
    if "public" not in control or not _MAX_AGE.search(control):
        yield Defect(path, f"has Cache-Control {control!r}", "Send Cache-Control: public with a max-age.")
    etag = answer.headers.get("etag", "")
    if not _STRONG_ETAG.fullmatch(etag):
        yield Defect(path, f"has no strong ETag ({etag!r})", "Send an ETag made from the content.")
    elif again is not None and again.status != 304:
        yield Defect(path, f"answers {_outcome(again)} to its own ETag", "Answer If-None-Match with 304.")
    elif again is not None:
        if again.body:
            yield Defect(path, "sends a body with its 304", "A 304 has no body.")
        if again.headers.get("access-control-allow-origin") != "*":
            yield Defect(path, "leaves CORS out of its 304", "Send Access-Control-Allow-Origin: * with the 304 too.")


def _asked_otherwise(path: str, reading: DocumentAnswers) -> Iterator[Defect]:
    answer, head, options = reading.answer, reading.head, reading.options
    if head is not None:
        names = ("content-type", "etag")
        if head.status != 200 or head.body or any(head.headers.get(n) != answer.headers.get(n) for n in names):
            yield Defect(path, "answers HEAD unlike GET", "Answer HEAD with GET's status and headers, without a body.")
    if options is not None and (
        options.status not in (200, 204) or options.headers.get("access-control-allow-origin") != "*"
    ):
        yield Defect(
            path,
            f"answers {_outcome(options)} to a preflight",
            "Answer OPTIONS with 204 and the CORS headers: a page that sends If-None-Match asks first.",
        )


def _action(path: str, answer: HttpAnswer) -> Iterator[Defect]:
    missing = [name for name in ACTION_HEADERS if not answer.headers.get(name)]
    if missing:
        yield Defect(path, f"lacks {' and '.join(missing)}", "Send them: without them wallets assume Solana.")


def _front_door(path: str, answer: HttpAnswer) -> Iterator[Defect]:
    relations = {relation for _, relation in _RELATIONS.findall(answer.headers.get("link", ""))}
    missing = [relation for relation in FRONT_RELATIONS if relation not in relations]
    if missing:
        yield Defect(path, f"has no Link header for {', '.join(missing)}", "Name them in its Link header.")


def _led_on(evidence: Evidence, path: str, answer: HttpAnswer) -> Iterator[Defect]:
    target = urljoin(evidence.base_url + path, answer.headers.get("location", ""))
    below = path_below(evidence.base_url, target)
    if below == path or below not in evidence.documents:
        yield Defect(path, f"leads to {target}, which is no document here", "Lead to the landing page.")


def _strict(path: str, answer: HttpAnswer) -> Iterator[Defect]:
    policy = answer.headers.get("content-security-policy", "")
    if "default-src 'none'" not in policy or "unsafe" in policy:
        yield Defect(
            path, "has no strict Content-Security-Policy", "Send default-src 'none' and allow only what it needs."
        )


def link_targets(answer: HttpAnswer) -> list[str]:
    """Returns the addresses in an answer's Link header."""
    return [target for target, _ in _RELATIONS.findall(answer.headers.get("link", ""))]


def _outcome(answer: HttpAnswer) -> str:
    if answer.status == 0:
        return f"nothing ({answer.fault})"
    return f"{answer.status} as {answer.media_type or 'nothing'}"
