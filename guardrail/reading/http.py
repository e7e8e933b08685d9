"""Reads HTTP requests as they are transmitted: a request line with header fields and a body."""

from __future__ import annotations

import re

from guardrail.catalogue.http import effects_of_request
from guardrail.model import Passage, Reading, Span, Uncovered
from guardrail.vocabulary import Language

__all__ = ["effects_of_request", "is_request", "read"]

_REQUEST_LINE = re.compile(
    r"\s*(GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS|TRACE|CONNECT|COPY|MOVE|MKCOL|PROPFIND|LOCK|UNLOCK|PURGE)[ \t]+(\S+)"
    r"(?:[ \t]+HTTP/[\d.]+)?[ \t]*\r?(?:\n|\Z)"
)
_FIELD = re.compile(r"([A-Za-z][\w-]{0,80}):[ \t]*([^\r\n]*)\r?(?:\n|\Z)")


def is_request(text: str) -> bool:
    """Decides whether a text begins with a request line that is followed by header fields, a body, or nothing."""
    line = _REQUEST_LINE.match(text)
    if line is None or not line[2].startswith(("/", "http://", "https://", "*")):
        return False
    rest = text[line.end() :]
    return not rest.strip() or rest[:1] in "\r\n{[" or _FIELD.match(rest) is not None or "HTTP/" in line[0]


def read(text: str, *, offset: int = 0) -> Reading:
    """Returns the effects of one request as it is transmitted, with its body as a passage."""
    whole = Span(offset, offset + len(text))
    line = _REQUEST_LINE.match(text)
    if line is None:
        return Reading(Language.HTTP, uncovered=(Uncovered(whole, "no request line"),))
    fields: dict[str, str] = {}
    at = line.end()
    while field := _FIELD.match(text, at):
        fields[field[1].lower()] = field[2]
        at = field.end()
    body = text[at:].strip()
    url = line[2] if "://" in line[2] or "host" not in fields else f"https://{fields['host']}{line[2]}"
    passages = [Passage(value, whole, name) for name, value in fields.items() if name != "host"]
    if body:
        passages.append(Passage(body, Span(offset + at, offset + len(text)), "body"))
    return Reading(
        Language.HTTP,
        effects=effects_of_request(line[1], url, fields, body or None, whole),
        passages=tuple(passages),
    )
