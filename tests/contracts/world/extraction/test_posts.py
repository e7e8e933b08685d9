"""A name is told apart from the post before it, in time that grows linearly with the line."""

from __future__ import annotations

import time

import pytest

from contracts.world.extraction.people import without_post


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("CTO Ada Lovelace", ("Ada Lovelace", "CTO")),
        ("Product Manager Ada Lovelace", ("Ada Lovelace", "Product Manager")),
        ("Ada Lovelace", ("Ada Lovelace", None)),
        ("CTO Lovelace", ("CTO Lovelace", None)),
        ("", ("", None)),
    ],
)
def test_the_post_before_a_name_is_no_part_of_it(name: str, expected: tuple[str, str | None]) -> None:
    assert without_post(name) == expected


def test_telling_a_line_of_very_many_words_from_a_post_costs_no_more_than_reading_it() -> None:
    began = time.process_time()
    without_post("Aa Bb " * 10_000)
    # It takes a twentieth of a second in linear time, and a minute in quadratic time.
    assert time.process_time() - began < 5
