"""The file format of the history of balances: immutable files of numeric arrays, with exact integers in them.

A file contains a header and then named arrays, and is read through a memory map: a look-up touches a few pages of it.
Balances are rows of bytes, big-endian in two's complement, as wide as the largest one in the file needs.
`history_writer` decides what the arrays are, and `history` reads them.
"""

from __future__ import annotations

import mmap
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from contracts.errors import StoreUnusable

_MAGIC = b"svchist2"
_ALIGNED = 64
ADDRESS_BYTES = 20
_LIMBS = 9
"""32-bit places of a running balance: uint256 and a signed place above it, since the sum of a contract's events may
exceed uint256."""

WIDE = 4 * _LIMBS
"""Bytes of a number of full width."""

Bytes = NDArray[np.uint8]
"""Rows of bytes, one number each."""

Array = np.ndarray[Any, np.dtype[Any]]


class _Entry(msgspec.Struct):
    dtype: str
    shape: tuple[int, ...]
    offset: int


class _Header(msgspec.Struct):
    facts: dict[str, int]
    arrays: dict[str, _Entry]


def write_arrays(path: Path, facts: Mapping[str, int], arrays: Mapping[str, Array]) -> None:
    """Writes a file of arrays under a temporary name, syncs it and moves it into place. Raises `OSError`."""
    entries: dict[str, _Entry] = {}
    end = 0
    for name, array in arrays.items():
        entries[name] = _Entry(array.dtype.str, array.shape, end)
        end += -(-array.nbytes // _ALIGNED) * _ALIGNED
    header = msgspec.json.encode(_Header(dict(facts), entries))
    start = _start_of_arrays(len(header))
    partial = path.with_name(path.name + ".partial")
    with partial.open("wb") as file:
        file.write(_MAGIC + len(header).to_bytes(4, "little") + header)
        for name, array in arrays.items():
            file.seek(start + entries[name].offset)
            file.write(np.ascontiguousarray(array).data)
        file.truncate(start + end)
        file.flush()
        os.fsync(file.fileno())
    partial.replace(path)


def is_readable(path: Path) -> bool:
    """Decides whether a file exists at this path and has the current format."""
    try:
        with path.open("rb") as file:
            return file.read(len(_MAGIC)) == _MAGIC
    except FileNotFoundError:
        return False


class ArrayFile:
    """The facts and arrays of one file, mapped into memory. Raises `StoreUnusable` if the file can't be read as one."""

    def __init__(self, path: Path) -> None:
        try:
            with path.open("rb") as file:
                mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            size = int.from_bytes(mapped[8:12], "little")
            if mapped[:8] != _MAGIC:
                raise ValueError("it has another format")
            header = msgspec.json.decode(mapped[12 : 12 + size], type=_Header)
            start = _start_of_arrays(size)
            self.arrays = {name: _array(mapped, entry, start) for name, entry in header.arrays.items()}
        except (OSError, ValueError) as error:
            cure = "Remove the directory `history` that contains it; the next run rebuilds it."
            raise StoreUnusable(f"{path} can't be read: {error}.", cure=cure) from error
        self.facts = header.facts

    def __getitem__(self, name: str) -> Array:
        return self.arrays[name]


def _array(mapped: mmap.mmap, entry: _Entry, start: int) -> Array:
    count = int(np.prod(entry.shape, dtype=np.int64))
    if not count:
        return np.zeros(entry.shape, entry.dtype)
    return np.frombuffer(mapped, entry.dtype, count, start + entry.offset).reshape(entry.shape)


def _start_of_arrays(header_bytes: int) -> int:
    return -(-(12 + header_bytes) // _ALIGNED) * _ALIGNED


def places_of(limbs: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Splits rows of four 64-bit limbs, lowest first, into rows of 32-bit places, lowest first."""
    places = np.zeros((len(limbs), _LIMBS), np.int64)
    places[:, 0:8:2] = (limbs & np.uint64(0xFFFFFFFF)).astype(np.int64)
    places[:, 1:8:2] = (limbs >> np.uint64(32)).astype(np.int64)
    return places


def places_of_numbers(numbers: Bytes) -> NDArray[np.int64]:
    """Splits numbers into rows of 32-bit places, lowest first; the highest place carries the sign."""
    wide = widened(numbers, WIDE)
    places = wide.view(">u4").astype(np.int64)[:, ::-1]
    places[:, -1] = wide[:, :4].copy().view(">i4")[:, 0]
    return np.ascontiguousarray(places)


def numbers_of(places: NDArray[np.int64]) -> Bytes:
    """Carries rows of 32-bit places, which may be unnormalised sums or negative, into numbers of full width.

    Raises `OverflowError` above 2^287, which 2^31 transfers can't reach.
    """
    words = np.empty((len(places), _LIMBS), ">u4")
    carry = np.zeros(len(places), np.int64)
    for place in range(_LIMBS - 1):
        total = places[:, place] + carry
        words[:, _LIMBS - 1 - place] = total & 0xFFFFFFFF
        carry = total >> 32
    top = places[:, -1] + carry
    if len(top) and (top.min() < -(2**31) or top.max() >= 2**31):
        raise OverflowError("a balance above 2^287")
    words[:, 0] = top & 0xFFFFFFFF
    return words.view(np.uint8).reshape(len(places), WIDE)


def narrowed(*numbers: Bytes) -> list[Bytes]:
    """Drops leading bytes that only repeat the sign, the same number of them from every argument."""
    spare = min((_spare_bytes(rows) for rows in numbers if len(rows)), default=WIDE - 1)
    return [np.ascontiguousarray(rows[:, spare:]) for rows in numbers]


def _spare_bytes(rows: Bytes) -> int:
    """Returns the number of leading bytes that every number can do without: the bit after them gives its sign."""
    negative = rows[:, :1] >= 128
    differs = (rows != np.where(negative, np.uint8(255), np.uint8(0))).any(axis=0)
    used = int(differs.argmax()) if differs.any() else rows.shape[1] - 1
    return used if ((rows[:, used] >= 128) == negative[:, 0]).all() else used - 1


def widened(numbers: Bytes, width: int) -> Bytes:
    """Repeats the sign in front of numbers until they have `width` bytes."""
    rows = np.empty((len(numbers), width), np.uint8)
    lead = width - numbers.shape[1]
    rows[:, :lead] = np.where(numbers[:, :1] >= 128, np.uint8(255), np.uint8(0))
    rows[:, lead:] = numbers
    return rows


def integer(number: Bytes) -> int:
    """Returns one row of bytes as an integer."""
    return int.from_bytes(number.tobytes(), "big", signed=True)


def integers(numbers: Bytes) -> list[int]:
    """Returns rows of bytes as integers."""
    width, raw = numbers.shape[1], numbers.tobytes()
    return [int.from_bytes(raw[at : at + width], "big", signed=True) for at in range(0, len(raw), width)]


def is_positive(numbers: Bytes) -> NDArray[np.bool_]:
    """Decides for each number whether it is above zero."""
    return (numbers[:, 0] < 128) & numbers.any(axis=1)


def doubles(numbers: Bytes) -> NDArray[np.float64]:
    """Returns the nearest double of each number above zero, for shares and indices; 0 for the others."""
    nearest = places_of_numbers(numbers).astype(np.float64) @ (2.0 ** (32 * np.arange(_LIMBS)))
    return np.where(is_positive(numbers), nearest, 0.0)


def rank_keys(numbers: Bytes, addresses: Array) -> Array:
    """Returns byte strings that sort by rank: a larger key means a larger number, then a smaller address."""
    width = numbers.shape[1]
    rows = np.empty((len(numbers), width + ADDRESS_BYTES), np.uint8)
    rows[:, :width] = numbers
    rows[:, 0] ^= 128  # unsigned bytes then compare as the signed numbers do
    rows[:, width:] = ~np.ascontiguousarray(addresses).view(np.uint8).reshape(-1, ADDRESS_BYTES)
    return rows.view(f"S{width + ADDRESS_BYTES}")[:, 0]


def rank_key(number: int, address: bytes, width: int) -> Array:
    """Returns the key of a number and an address, comparable with keys of numbers of `width` bytes.

    A number beyond their range sorts above or below all of them.
    """
    limit = 1 << (8 * width - 1)
    if not -limit <= number < limit:
        return np.array((b"\xff" if number > 0 else b"\0") * (width + ADDRESS_BYTES), f"S{width + ADDRESS_BYTES}")
    inverted = bytes(255 - byte for byte in address)
    return np.array((number + limit).to_bytes(width, "big") + inverted, f"S{width + ADDRESS_BYTES}")
