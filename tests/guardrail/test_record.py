"""Records are compared by value and accept no further attributes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from guardrail.record import record


@record
class Place:
    """An ordinary record."""

    name: str
    floor: int = 0


def test_a_record_equals_one_with_the_same_values_in_sets_too() -> None:
    assert {Place("office"), Place("office", 0)} == {replace(Place("cellar", 0), name="office")}
    assert Place("office") != Place("office", 1)


def test_a_record_accepts_no_field_that_it_does_not_declare() -> None:
    with pytest.raises(AttributeError):
        object.__setattr__(Place("office"), "colour", "green")
