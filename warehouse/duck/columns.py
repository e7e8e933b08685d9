"""Builds Arrow columns by their buffers. `pa.array` and `pa.repeat` import pandas, which costs a third of a second."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray


def plain(values: NDArray[Any], kind: pa.DataType) -> pa.Array:
    """Makes a column of numbers or times of one width."""
    return pa.Array.from_buffers(kind, len(values), [None, pa.py_buffer(np.ascontiguousarray(values).data)])


def texts(values: Sequence[str]) -> pa.LargeStringArray:
    """Makes a column of texts."""
    whole = "".join(values)
    parts = values if whole.isascii() else [value.encode() for value in values]
    offsets = np.zeros(len(parts) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, parts), np.int64, len(parts)), out=offsets[1:])
    return pa.LargeStringArray.from_buffers(len(parts), pa.py_buffer(offsets), pa.py_buffer(whole.encode()))
