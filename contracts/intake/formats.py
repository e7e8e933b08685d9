"""Validates the texts of an intake: lines, paragraphs, e-mail addresses, URIs and times.

OpenAPI describes each by a pattern. Functions check what patterns can't.
"""

import re
from typing import Annotated, Any
from urllib.parse import urlsplit

from email_validator import EmailNotValidError, validate_email
from pydantic import AfterValidator, Field

from contracts.times import is_instant

LONGEST_LINE = 200
LONGEST_TEXT = 4_000
LONGEST_URI = 2_000
LONGEST_EMAIL = 254

LINE_PATTERN = r"^[^\x00-\x1f\x7f]*[^\x00-\x20\x7f][^\x00-\x1f\x7f]*$"
"""One line with at least one visible character."""

OPTIONAL_LINE_PATTERN = r"^([^\x00-\x1f\x7f]*[^\x00-\x20\x7f][^\x00-\x1f\x7f]*)?$"
"""The same, or an empty text, which forms send for an empty field."""

TEXT_PATTERN = r"^[^\x00-\x08\x0b\x0c\x0e-\x1f\x7f]*[^\x00-\x20\x7f][^\x00-\x08\x0b\x0c\x0e-\x1f\x7f]*$"
"""Lines and tabs with at least one visible character."""

OPTIONAL_TEXT_PATTERN = r"^([^\x00-\x08\x0b\x0c\x0e-\x1f\x7f]*[^\x00-\x20\x7f][^\x00-\x08\x0b\x0c\x0e-\x1f\x7f]*)?$"

_ATOM = r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+"
_LABEL = r"[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
EMAIL_PATTERN = rf"^{_ATOM}(\.{_ATOM})*@({_LABEL}\.)+[A-Za-z]([A-Za-z0-9-]{{0,61}}[A-Za-z])$"
"""RFC 5321 without quoted local parts and address literals.

Letters beyond ASCII, which can imitate others, belong to `idn-email`. An international domain has its `xn--` form.
"""

_WEB = r"[hH][tT][tT][pP][sS]?"
_AFTER_SCHEME = r"://[A-Za-z0-9\[][A-Za-z0-9._~:/?#\[\]@!$&'()*+,;=%-]*"
_DID = r"did:[a-z0-9]+:[A-Za-z0-9._:%-]+([/?#][A-Za-z0-9._~:/?#@!$&'()*+,;=%-]*)?"
"""A decentralised identifier, or a URL of one (W3C DID Core, sections 3.1 and 3.2)."""
ENDPOINT_URI_PATTERN = rf"^(({_WEB}|[wW][sS][sS]?){_AFTER_SCHEME}|{_DID})$"
PROOF_URI_PATTERN = rf"^(({_WEB}|[iI][pP][fFnN][sS]){_AFTER_SCHEME}|{_DID})$"
INSTANT_PATTERN = (
    r"^[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,9})?([Zz]|[+-][0-9]{2}:[0-9]{2})$"
)

_LINE_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_TEXT_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_READABLE = re.compile(r"[^\x00-\x20\x7f]")
_EMAIL = re.compile(EMAIL_PATTERN)
_ENDPOINT_URI = re.compile(ENDPOINT_URI_PATTERN)
_INSTANT = re.compile(INSTANT_PATTERN)
_PROOF_URI = re.compile(PROOF_URI_PATTERN)
_BROKEN_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2})")
_HOST_LABEL = r"[A-Za-z0-9]([A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?"
_HOST = re.compile(rf"{_HOST_LABEL}(\.{_HOST_LABEL})*\.?|[0-9a-fA-F:.]*:[0-9a-fA-F:.]*")
"""A name that resolvers accept, including underscores, or an IPv6 address that `urlsplit` has checked."""


def _line(text: str) -> str:
    if _LINE_CONTROL.search(text) or not _READABLE.search(text):
        raise ValueError("must be one line with visible characters")
    return text


def _text(text: str) -> str:
    if _TEXT_CONTROL.search(text) or not _READABLE.search(text):
        raise ValueError("must be a text with visible characters and without control characters")
    return text


def _email(text: str) -> str:
    if not _EMAIL.fullmatch(text):
        raise ValueError("is not an e-mail address in ASCII, such as name@example.com")
    try:
        validate_email(text, check_deliverability=False, allow_smtputf8=False, strict=True)
    except EmailNotValidError as reason:
        raise ValueError(f"is not an e-mail address: {reason}") from None
    return text


def _endpoint_uri(text: str) -> str:
    if not _ENDPOINT_URI.fullmatch(text):
        raise ValueError("is not a URI of http, https, ws, wss or did, such as https://agent.example/a")
    return _uri(text)


def _proof_uri(text: str) -> str:
    if not _PROOF_URI.fullmatch(text):
        raise ValueError("is not a URI of http, https, ipfs, ipns or did, such as https://agent.example/a")
    return _uri(text)


def _uri(text: str) -> str:
    if _BROKEN_ESCAPE.search(text):
        raise ValueError("has a % that is not followed by two hex digits")
    if text.startswith("did:"):  # it names no host
        return text
    try:
        parts = urlsplit(text)
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port = None, None
    if not host or not _HOST.fullmatch(host) or port == 0:
        raise ValueError("has no valid host, or a port that is not between 1 and 65535")
    if "@" in parts.netloc:
        raise ValueError("contains a user name or password, which is not allowed here")
    return text


def _instant(text: str) -> str:
    if not _INSTANT.fullmatch(text) or not is_instant(text):
        raise ValueError("is not an RFC 3339 time with its offset, such as 2026-01-31T12:00:00Z")
    return text


def _line_or_nothing(text: str) -> str | None:
    return _line(text) if text else None


def _text_or_nothing(text: str) -> str | None:
    return _text(text) if text else None


def _lines(shortest: int) -> Any:
    return Field(min_length=shortest, max_length=LONGEST_LINE, json_schema_extra={"pattern": LINE_PATTERN})


def _texts(shortest: int) -> Any:
    return Field(min_length=shortest, max_length=LONGEST_TEXT, json_schema_extra={"pattern": TEXT_PATTERN})


Line = Annotated[str, _lines(1), AfterValidator(_line)]
Name = Annotated[str, _lines(2), AfterValidator(_line)]
Identifier = Annotated[str, _lines(3), AfterValidator(_line)]
Offer = Annotated[str, _texts(8), AfterValidator(_text)]
UseCase = Annotated[str, _texts(10), AfterValidator(_text)]
LineOrNothing = Annotated[
    str,
    Field(max_length=LONGEST_LINE, json_schema_extra={"pattern": OPTIONAL_LINE_PATTERN}),
    AfterValidator(_line_or_nothing),
]
"""An optional line; None for an empty one, which counts as omitted."""
TextOrNothing = Annotated[
    str,
    Field(max_length=LONGEST_TEXT, json_schema_extra={"pattern": OPTIONAL_TEXT_PATTERN}),
    AfterValidator(_text_or_nothing),
]
Email = Annotated[
    str,
    Field(max_length=LONGEST_EMAIL, json_schema_extra={"format": "email", "pattern": EMAIL_PATTERN}),
    AfterValidator(_email),
]
EndpointUri = Annotated[
    str,
    Field(max_length=LONGEST_URI, json_schema_extra={"format": "uri", "pattern": ENDPOINT_URI_PATTERN}),
    AfterValidator(_endpoint_uri),
]
ProofUri = Annotated[
    str,
    Field(max_length=LONGEST_URI, json_schema_extra={"format": "uri", "pattern": PROOF_URI_PATTERN}),
    AfterValidator(_proof_uri),
]
Instant = Annotated[
    str,
    Field(max_length=40, json_schema_extra={"format": "date-time", "pattern": INSTANT_PATTERN}),
    AfterValidator(_instant),
]
