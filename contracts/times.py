"""Parses and formats times: RFC 3339 in UTC with microseconds and `Z`, which sort as text, and times of header
fields."""

import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

_RFC_3339 = re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:[Zz]|[+-]\d\d:\d\d)", re.ASCII)
"""Seconds are optional because the graph accepts times without them."""


def utc_text(instant: datetime) -> str:
    """Formats a time as the ledger and the graph store it. Raises `OverflowError` outside of the years 1 to 9999."""
    return instant.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def utc_seconds(instant: datetime) -> str:
    """Formats a time in whole seconds, as quotes contain it."""
    return utc_text(instant).replace(".000000", "")


def utc_day(instant: datetime) -> str:
    """Returns the UTC day of an instant, `YYYY-MM-DD`."""
    return instant.astimezone(UTC).strftime("%Y-%m-%d")


def instant_of(text: str) -> datetime:
    """Parses an RFC 3339 time, which has an offset, and returns it in UTC.

    Raises `ValueError` for other texts (ISO 8601 has many other forms) and for times outside of the years 1 to 9999.
    """
    if _RFC_3339.fullmatch(text) is None:
        raise ValueError("a time must be in RFC 3339 form with its offset: 2026-01-31T12:00:00Z")
    try:
        return datetime.fromisoformat(text.upper()).astimezone(UTC)
    except OverflowError:
        raise ValueError("the time is outside of the years 1 to 9999") from None


def is_instant(text: str) -> bool:
    """Decides whether a text is an RFC 3339 time."""
    try:
        instant_of(text)
    except ValueError:
        return False
    return True


def normal_instant(text: str) -> str:
    """Returns an RFC 3339 time in the form of `utc_text`. Raises `ValueError` for other texts."""
    return utc_text(instant_of(text))


def retry_after_s(text: str, now: datetime | None) -> float | None:
    """Returns the seconds until a `Retry-After` in seconds or as a date is over, negative for a past date.

    Returns None if it is neither, or if it is a date and `now` is None.
    """
    text = text.strip()
    if text.isascii() and text.isdecimal():
        return float(text)
    try:
        date = parsedate_to_datetime(text)
    except ValueError:
        return None
    return None if now is None else (date.replace(tzinfo=date.tzinfo or UTC) - now).total_seconds()
