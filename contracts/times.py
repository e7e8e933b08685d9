"""Times as texts that sort as instants do: RFC 3339 in UTC with microseconds and `Z`."""

from __future__ import annotations

from datetime import UTC, datetime


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
