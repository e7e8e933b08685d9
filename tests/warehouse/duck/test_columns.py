"""Columns that are built from buffers contain what they were built from."""

from __future__ import annotations

from collections.abc import Iterator

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rounds import ROUNDS

from warehouse.duck.columns import bignums, plain, texts


@settings(max_examples=20 * ROUNDS)
@given(st.lists(st.text(max_size=9) | st.sampled_from(["", "7", "-12", "ä", "名", "\x00"])))
def test_a_column_of_texts_holds_each_text(values: list[str]) -> None:
    column = texts(values)
    column.validate(full=True)
    assert column.to_pylist() == values


@pytest.mark.parametrize("missing", [None, 0, 7])
@given(values=st.lists(st.integers(0, 9)))
def test_a_column_of_numbers_has_a_null_if_one_is_missing(missing: int | None, values: list[int]) -> None:
    column = plain(np.array(values, np.int64), pa.int64(), missing=missing)
    column.validate(full=True)
    assert column.to_pylist() == [None if value == missing else value for value in values]


WIDEST = 2**319
BYTE_EDGES = [sign * 256**power + step for sign in (1, -1) for power in range(39) for step in (-1, 0, 1)]


@pytest.fixture(scope="module")
def instance() -> Iterator[duckdb.DuckDBPyConnection]:
    """One instance for all examples: a new one takes ten times as long as the query."""
    with duckdb.connect() as opened:
        yield opened


@settings(max_examples=50 * ROUNDS)
@given(
    values=st.lists(
        st.integers(-WIDEST, WIDEST - 1) | st.sampled_from([0, WIDEST - 1, -WIDEST, *BYTE_EDGES]), min_size=1
    )
)
def test_a_column_of_bignums_is_the_one_that_duckdb_makes_of_their_decimal_texts(
    instance: duckdb.DuckDBPyConnection, values: list[int]
) -> None:
    words = np.frombuffer(b"".join(value.to_bytes(40, "little", signed=True) for value in values), "<u8")
    made = pa.table({"number": bignums(words.reshape(-1, 5)), "text": texts([str(value) for value in values])})
    with instance.cursor() as connection:
        connection.register("made", made)
        rows = connection.execute("select number::varchar, number = text::bignum, typeof(number) from made").fetchall()
        [(total,)] = connection.execute("select sum(number)::varchar from made").fetchall()
    assert rows == [(str(value), True, "BIGNUM") for value in values]
    assert total == str(sum(values))


def test_a_column_without_bignums_is_empty() -> None:
    assert len(bignums(np.empty((0, 5), "<u8"))) == 0
