"""Implements the rules of holder lists: cohorts, retention, cursors, file names and decimals. Pure."""

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from contracts.canonical import base64url, unbase64url
from contracts.errors import CursorInvalid

ZERO_ADDRESS = "0x" + "0" * 40

SIZE_COHORTS: tuple[tuple[str, float], ...] = (
    ("whale", 0.01),
    ("shark", 0.001),
    ("dolphin", 0.0001),
    ("fish", 0.00001),
    ("shrimp", 0.0),
)
"""Name and minimum share of the supply (fraction), largest first."""


def cohort_of(share: float) -> str:
    """Returns the size cohort of a share of all balances."""
    return next(name for name, least in SIZE_COHORTS if share >= least)


AGE_COHORTS: tuple[tuple[str, int], ...] = (
    ("under_1_day", 0),
    ("under_7_days", 1),
    ("under_30_days", 7),
    ("under_90_days", 30),
    ("90_days_or_more", 90),
)
"""Name and minimum number of days since the address was first seen, youngest first."""

SnapshotReason = Literal["first", "hourly", "daily", "demand"]

PLAIN_KEPT_FOR = timedelta(hours=2)
PLAIN_KEPT_AT_LEAST = 3
SNAPSHOTS_ALL_FOR = timedelta(hours=48)
SNAPSHOTS_DAILY_FOR = timedelta(days=90)
SNAPSHOTS_KEPT_AT_LEAST = 2


@dataclass(frozen=True)
class ListAge:
    """The data about a holder list that retention needs: its block, its time (UTC), and whether it is a snapshot."""

    block: int
    taken_at: datetime
    snapshot: bool


def retained_blocks(lists: Iterable[ListAge], now: datetime) -> set[int]:
    """Returns the blocks of the lists to retain at `now`.

    These are all lists of the last two hours, and at least the newest three. Snapshots are retained for 48 hours, then
    the first of each UTC day for 90 days, and always the two newest.
    """
    newest_first = sorted(lists, key=lambda entry: entry.block, reverse=True)
    blocks = {entry.block for entry in newest_first[:PLAIN_KEPT_AT_LEAST]}
    blocks |= {entry.block for entry in newest_first if now - entry.taken_at <= PLAIN_KEPT_FOR}
    snapshots = [entry for entry in newest_first if entry.snapshot]
    blocks |= {entry.block for entry in snapshots[:SNAPSHOTS_KEPT_AT_LEAST]}
    blocks |= {entry.block for entry in snapshots if now - entry.taken_at <= SNAPSHOTS_ALL_FOR}
    first_of_day = {entry.taken_at.date(): entry for entry in snapshots}
    blocks |= {entry.block for entry in first_of_day.values() if now - entry.taken_at <= SNAPSHOTS_DAILY_FOR}
    return blocks


def due_snapshot(latest_taken_at: datetime | None, now: datetime) -> SnapshotReason | None:
    """Returns the reason for a snapshot at `now`, or None: the first of a UTC day, or else the first of an hour."""
    if latest_taken_at is None:
        return "first"
    if latest_taken_at.date() < now.date():
        return "daily"
    return "hourly" if (latest_taken_at.date(), latest_taken_at.hour) < (now.date(), now.hour) else None


def list_file_name(block: int) -> str:
    """Returns the file name of the list's rows for queries (Parquet)."""
    return f"holders-{block}.parquet"


def block_of_list(file_name: str) -> int | None:
    """Returns the block of the list with that file name, or None for another file."""
    named = re.fullmatch(r"holders-(\d+)\.parquet", file_name)
    return None if named is None else int(named[1])


def csv_file_name(block: int) -> str:
    """Returns the file name of the list in the form that the proof names: `address,balance_raw`, gzip."""
    return f"holders-{block}.csv.gz"


def csv_path(block: int) -> str:
    """Returns the path at which the list of `block` is published."""
    return f"/data/{csv_file_name(block)}"


def storage_file_name(block: int) -> str:
    """Returns the file name of the list's storage proof."""
    return f"holders-{block}.storage.json.gz"


def storage_path(block: int) -> str:
    """Returns the path at which the storage proof of the list of `block` is published."""
    return f"/data/{storage_file_name(block)}"


_CURSOR = re.compile(r"(\d{1,18})\.(\d{1,12})\.([0-9a-f]{8})")


def encode_cursor(block: int, last_rank: int) -> str:
    """Returns an opaque cursor that continues after `last_rank` in the list of `block`."""
    text = f"{block}.{last_rank}"
    return base64url(f"{text}.{_checksum(text)}".encode())


def decode_cursor(cursor: str) -> tuple[int, int]:
    """Returns block and last rank of a cursor. Raises `CursorInvalid` if it is not from this service."""
    try:
        text = unbase64url(cursor).decode("ascii")
    except ValueError:
        raise CursorInvalid("The cursor is not from this service.") from None
    match = _CURSOR.fullmatch(text)
    if match is None or _checksum(f"{match[1]}.{match[2]}") != match[3]:
        raise CursorInvalid("The cursor is not from this service.")
    return int(match[1]), int(match[2])


def decimal_text(raw: int, decimals: int) -> str:
    """Returns `raw` smallest units as a decimal string in whole tokens, without trailing zeros."""
    sign, digits = ("-" if raw < 0 else ""), str(abs(raw)).rjust(decimals + 1, "0")
    if decimals == 0:
        return sign + digits
    whole, fraction = digits[:-decimals], digits[-decimals:].rstrip("0")
    return sign + whole + (f".{fraction}" if fraction else "")


def _checksum(text: str) -> str:
    return hashlib.sha256(f"holders-map:{text}".encode()).hexdigest()[:8]
