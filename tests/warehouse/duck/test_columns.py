"""Columns that are built by their buffers hold what they were built from."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from rounds import ROUNDS

from warehouse.duck.columns import texts


@settings(max_examples=20 * ROUNDS)
@given(st.lists(st.text(max_size=9) | st.sampled_from(["", "7", "-12", "ä", "名", "\x00"])))
def test_a_column_of_texts_holds_each_text(values: list[str]) -> None:
    column = texts(values)
    column.validate(full=True)
    assert column.to_pylist() == values
