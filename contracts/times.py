"""Times as texts that sort as instants do, RFC 3339 in UTC with microseconds and `Z`; and those of header fields."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

_RFC_3339 = re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:[Zz]|[+-]\d\d:\d\d)", re.ASCII)
"""The graph takes times without their seconds too."""


def utc_text(instant: datetime) -> str:
    """How the ledger and the graph write a time. Raises `OverflowError` beyond the years 1 to 9999."""
    return instant.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def utc_seconds(instant: datetime) -> str:
    """Writes a time of whole seconds, as quotes have them."""
    return utc_text(instant).replace(".000000", "")


def instant_of(text: str) -> datetime:
    """An RFC 3339 time, which has an offset, in UTC. Raises `ValueError` where it is none (ISO 8601 has many other
    forms), or beyond the years 1 to 9999."""
    if _RFC_3339.fullmatch(text) is None:
        raise ValueError("a time is written as RFC 3339 says, with its offset: 2026-01-31T12:00:00Z")
    try:
        return datetime.fromisoformat(text.upper()).astimezone(UTC)
    except OverflowError:
        raise ValueError("the time is beyond the years 1 to 9999") from None


def is_instant(text: str) -> bool:
    """Whether a text is an RFC 3339 time."""
    try:
        instant_of(text)
    except ValueError:
        return False
    return True


def normal_instant(text: str) -> str:
    """An RFC 3339 time as `utc_text` writes it. Raises `ValueError` where it is none."""
    return utc_text(instant_of(text))


def retry_after_s(text: str, now: datetime | None) -> float | None:
    """Seconds until a `Retry-After`, which names them or a date, is over; less than 0 for one that is past.

    None where it is neither, or a date and `now` is not known.
    """
    text = text.strip()
    if text.isascii() and text.isdecimal():
        return float(text)
    try:
        date = parsedate_to_datetime(text)
    except ValueError:
        return None
    return None if now is None else (date.replace(tzinfo=date.tzinfo or UTC) - now).total_seconds()
