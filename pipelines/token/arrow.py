"""Builds Arrow columns from numpy arrays and bytes without copies. Pure."""

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from warehouse.duck.columns import plain

BLOCK_TIME_TYPE = pa.timestamp("s")
"""UTC in whole seconds, as in block headers."""


def u256(words: NDArray[np.uint8]) -> pa.Array:
    """Builds the warehouse's struct of four 64-bit limbs from rows of 32 big-endian bytes."""
    limbs = words.view(">u8").astype(np.uint64)
    return pa.StructArray.from_arrays(
        [plain(limbs[:, place], pa.uint64()) for place in range(4)], names=["limb3", "limb2", "limb1", "limb0"]
    )


def numbers_of(column: pa.ChunkedArray, kind: np.dtype[Any]) -> NDArray[Any]:
    """Reads a column that `plain` built."""
    parts = [
        np.frombuffer(chunk.buffers()[1], kind, len(chunk), chunk.offset * kind.itemsize)
        for chunk in column.chunks
        if len(chunk)
    ]
    return np.concatenate(parts) if parts else np.empty(0, kind)


def bytes_of(column: pa.ChunkedArray, width: int) -> NDArray[np.uint8]:
    """Reads a column that `binary` built, with rows of `width` bytes."""
    parts = [
        np.frombuffer(chunk.buffers()[2], np.uint8, len(chunk) * width, chunk.offset * width).reshape(-1, width)
        for chunk in column.chunks
        if len(chunk)
    ]
    return np.concatenate(parts) if parts else np.empty((0, width), np.uint8)


def words_of(column: pa.ChunkedArray) -> NDArray[np.uint8]:
    """Reads a column that `u256` built, as rows of 32 big-endian bytes."""
    limbs = [numbers_of(limb, np.dtype(np.uint64)) for limb in column.flatten()]
    return np.ascontiguousarray(np.stack(limbs, axis=1).astype(">u8")).view(np.uint8).reshape(-1, 32)


def repeated(text: bytes, count: int) -> pa.Array:
    """Builds a column with the same text in every row."""
    offsets = np.arange(0, (count + 1) * len(text), len(text), dtype=np.int32)
    return pa.Array.from_buffers(pa.string(), count, [None, pa.py_buffer(offsets), pa.py_buffer(text * count)])


def binary(rows: NDArray[np.uint8]) -> pa.Array:
    """Builds an Arrow binary column from rows of equal width; DuckDB reads it as a blob."""
    count, width = rows.shape
    offsets = np.arange(0, (count + 1) * width, width, dtype=np.int32)
    data = pa.py_buffer(np.ascontiguousarray(rows).data) if count else pa.py_buffer(b"")
    return pa.Array.from_buffers(pa.binary(), count, [None, pa.py_buffer(offsets), data])
