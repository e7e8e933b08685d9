"""Builds Arrow columns from buffers. `pa.array` and `pa.repeat` import pandas, which costs a third of a second."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

_BIGNUM = pa.opaque(pa.binary(), "bignum", "DuckDB")
_ROWS_AT_ONCE = 8192
"""This many rows of numbers fit in the processor's cache, which halves the time of building them."""


def plain(values: NDArray[Any], kind: pa.DataType, *, missing: Any = None) -> pa.Array:
    """Builds a column of numbers or times of one width. Rows whose value is `missing` are null."""
    known = None if missing is None else pa.py_buffer(np.packbits(values != missing, bitorder="little"))
    return pa.Array.from_buffers(kind, len(values), [known, pa.py_buffer(np.ascontiguousarray(values).data)])


def texts(values: Sequence[str]) -> pa.LargeStringArray:
    """Builds a column of texts."""
    whole = "".join(values)
    parts = values if whole.isascii() else [value.encode() for value in values]
    offsets = np.zeros(len(parts) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, parts), np.int64, len(parts)), out=offsets[1:])
    return pa.LargeStringArray.from_buffers(len(parts), pa.py_buffer(offsets), pa.py_buffer(whole.encode()))


def bignums(words: NDArray[np.uint64]) -> pa.ChunkedArray:
    """Builds a BIGNUM column of signed integers, each a row of 64-bit words, lowest first, in two's complement.

    A BIGNUM consists of three bytes (the sign bit, then the number of bytes that follow) and the magnitude, most
    significant byte first. A negative number is stored as the complement of all these bytes:

        258     80 00 02 01 02
        -258    7F FF FD FE FD
    """
    parts = [words[begin : begin + _ROWS_AT_ONCE] for begin in range(0, len(words), _ROWS_AT_ONCE)]
    return pa.chunked_array([pa.ExtensionArray.from_storage(_BIGNUM, _stored_bignums(part)) for part in parts], _BIGNUM)


def _stored_bignums(words: NDArray[np.uint64]) -> pa.Array:
    negative = words[:, -1] >> np.uint64(63) == 1
    # The complement of a magnitude is the number less one: -258 is ...FE FE in two's complement, stored as ...FE FD.
    held, borrow = words.copy(), negative.copy()
    for place in range(words.shape[1]):
        held[:, place] -= borrow
        borrow &= words[:, place] == 0
    digits = held[:, ::-1].astype(">u8").view(np.uint8)
    filling = np.where(negative, 0xFF, 0).astype(np.uint8)[:, np.newaxis]
    significant = digits != filling
    significant[:, -1] = True  # zero is one byte
    sizes = digits.shape[1] - significant.argmax(axis=1)
    heads = np.stack([np.full(len(words), 0x80), np.zeros(len(words)), sizes], axis=1).astype(np.uint8) ^ filling
    is_kept = np.arange(digits.shape[1], 0, -1) <= sizes[:, np.newaxis]
    kept = np.concatenate([np.ones((len(words), 3), bool), is_kept], axis=1)
    data = np.concatenate([heads, digits], axis=1)[kept]
    offsets = np.concatenate([[0], np.cumsum(sizes + 3)]).astype(np.int32)
    return pa.Array.from_buffers(pa.binary(), len(words), [None, pa.py_buffer(offsets), pa.py_buffer(data)])
