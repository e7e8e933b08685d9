"""Selects the bytes of a Range request (RFC 9110, sections 13.1.5 and 14). Pure.

One range is answered with 206. If there are several, the Range field is ignored and the whole body is sent, as RFC 9110
allows, so no set of ranges, however many, overlapping or large, can request more than the body. An invalid set is
ignored too, which RFC 9110 leaves to the server. A set with no range inside the body is refused with 416. nginx with
`max_ranges 1` answers the same way, except that it refuses an invalid set with 416.
"""

import re
from dataclasses import dataclass

from contracts.errors import RangeNotSatisfiable

UNIT = b"bytes="
LONGEST_SET_BYTES = 1024
"""A longer set is ignored, as several ranges are: a single range never needs that many digits."""

_RANGE = re.compile(rb"(\d+) *- *(\d*)|-(\d+)")


@dataclass(frozen=True, slots=True)
class Slice:
    """Bytes `first` to `last` of a body, inclusive."""

    first: int
    last: int

    @property
    def length(self) -> int:
        return self.last - self.first + 1


class Unsatisfiable(Exception):
    """The Range field is valid but contains no byte of the body."""


def no_such_range(size: int) -> RangeNotSatisfiable:
    """Returns the refusal of a range outside a body of `size` bytes."""
    return RangeNotSatisfiable(
        f"Ask for one range within the {size:,} bytes, such as `bytes=0-99`.",
        headers={"Content-Range": f"bytes */{size}"},
    )


def select_bytes(
    range_field: bytes | None, if_range: bytes | None, size: int, etag: bytes, last_modified: bytes | None = None
) -> Slice | None:
    """Returns the requested range of a body of `size` bytes, or None if the whole body is to be sent.

    `if_range` makes the range depend on the body's entity tag, compared strongly, or on its exact modification time.
    Raises `Unsatisfiable`. Examples for a body of 1,000 bytes:

    - `bytes=0-99` selects the first 100 bytes; `bytes=900-`, `bytes=-100` and `bytes=900-5000` select the last 100.
    - `bytes=1000-` and `bytes=-0` raise.
    - `bytes=0-0,-1` and `lines=1-2` return None, as do `bytes=a-b` and `bytes=5-2`, which are invalid.
    """
    if range_field is None or not len(UNIT) < len(range_field) <= LONGEST_SET_BYTES:
        return None
    if range_field[: len(UNIT)].lower() != UNIT:
        return None
    if if_range is not None and not _is_same(if_range, etag, last_modified):
        return None
    found: list[Slice] = []
    for text in range_field[len(UNIT) :].split(b","):
        parsed = _RANGE.fullmatch(text.strip(b" "))
        if parsed is None or _is_backwards(parsed):
            return None
        first, last = _bounds(parsed, size)
        if first <= last:
            found.append(Slice(first, last))
        elif size == 0:
            return None
    if not found:
        raise Unsatisfiable
    return found[0] if len(found) == 1 else None


def _is_backwards(parsed: re.Match[bytes]) -> bool:
    """Decides whether a range ends before it begins, which makes its whole set invalid (RFC 9110, section 14.1.1)."""
    return bool(parsed[2]) and int(parsed[2]) < int(parsed[1])


def _bounds(parsed: re.Match[bytes], size: int) -> tuple[int, int]:
    if parsed[3] is not None:
        return max(0, size - int(parsed[3])), size - 1
    return int(parsed[1]), min(int(parsed[2]), size - 1) if parsed[2] else size - 1


def _is_same(if_range: bytes, etag: bytes, last_modified: bytes | None) -> bool:
    """Decides whether the condition names this body. A weak tag never does."""
    value = if_range.strip(b" \t")
    return value == etag or (last_modified is not None and value == last_modified)
