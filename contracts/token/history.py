"""Implements the rules of the history: buckets of the series, days as blocks, cursors of transfers. Pure."""

import re
from datetime import UTC, date, datetime, timedelta

from contracts.canonical import base64url, unbase64url
from contracts.errors import CursorInvalid

DAY_S = 86_400
HOUR_S = 3_600
HOURLY_FOR = timedelta(days=90)
"""Time for which hours are retained; days are retained for ever."""

EDGES_AMONG = 250
EDGES_FOR = timedelta(days=30)
"""Number of largest holders, and time, of the transfers shown as edges of the holder map."""

_POSITION = re.compile(r"(\d{1,18})\.(\d{1,9})")


def end_of_day_s(day: date) -> int:
    """Returns the first second (Unix) after a UTC day. Raises `OverflowError` for the last possible day."""
    return int((datetime(day.year, day.month, day.day, tzinfo=UTC) + timedelta(days=1)).timestamp())


def day_of(time_s: int) -> date:
    """Returns the UTC day of a Unix time."""
    return datetime.fromtimestamp(time_s, UTC).date()


def encode_position(block: int, index: int) -> str:
    """Returns an opaque cursor that continues below a position in the chain."""
    return base64url(f"{block}.{index}".encode())


def decode_position(cursor: str) -> tuple[int, int]:
    """Returns the block and index of a cursor. Raises `CursorInvalid` if it is not from this service."""
    try:
        text = unbase64url(cursor).decode("ascii")
    except ValueError:
        raise CursorInvalid("The cursor is not from this service.") from None
    match = _POSITION.fullmatch(text)
    if match is None:
        raise CursorInvalid("The cursor is not from this service.")
    return int(match[1]), int(match[2])
