"""Times as texts that sort as instants do, RFC 3339 in UTC with microseconds and `Z`; and those of header fields."""

from __future__ import annotations

from datetime import UTC, datetime
from email.utils import parsedate_to_datetime


def utc_text(instant: datetime) -> str:
    """How the ledger and the graph write a time. Raises `OverflowError` beyond the years 1 to 9999."""
    return instant.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def normal_instant(text: str) -> str:
    """An RFC 3339 time with its offset, as `utc_text` writes it. Raises `ValueError` where it is none."""
    try:
        instant = datetime.fromisoformat(text)
        if instant.utcoffset() is None:
            raise ValueError("a time needs its offset, such as Z")
        return utc_text(instant)
    except OverflowError:
        raise ValueError("the time is beyond the years 1 to 9999") from None


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
