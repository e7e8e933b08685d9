"""Bubbles and bars: literal values in, literal positions out; circles never overlap."""

from __future__ import annotations

import time
from math import hypot

from hypothesis import given
from hypothesis import strategies as st

from contracts.site.charts import Bubble, bubbles, lengths


def test_bars_are_as_long_as_their_values_with_the_longest_as_given():
    assert lengths([50, -100, 0]) == [50, 100, 0]
    assert lengths([10**60, 10**59], 10) == [10, 1]
    assert lengths([0, 0]) == [0, 0]
    assert lengths([]) == []


def test_few_circles_touch_one_another():
    assert bubbles((), 100, 0) == []
    assert bubbles((0.0, 0.0), 100, 0) == []
    assert bubbles((7,), 100, 0) == [Bubble(0, 50, 50, 50)]
    assert bubbles((1, 1), 100, 0) == [Bubble(0, 25, 50, 25), Bubble(1, 75, 50, 25)]
    first, second, third = bubbles((1, 1, 1), 100, 0)
    assert (first, second) == (Bubble(0, 25, 28.3, 25), Bubble(1, 75, 28.3, 25))
    assert third == Bubble(2, 50, 71.7, 25)


def test_a_circle_of_nothing_is_still_a_point():
    (large, *small) = bubbles((1, 0, 0, 1e-60), 100, 0)
    assert large == Bubble(0, 50, 50, 50)
    assert {bubble.radius for bubble in small} == {0.5}


def test_the_gap_lies_between_two_circles():
    first, second = bubbles((1, 1), 100, 4)
    assert second.x - first.x - first.radius - second.radius == 4


@given(st.lists(st.floats(0, 1e60), min_size=1, max_size=60))
def test_circles_lie_in_the_drawing_without_overlap(values: list[float]):
    values.sort(reverse=True)
    placed = bubbles(tuple(values), 640, 0)
    assert len(placed) == (len(values) if values[0] > 0 else 0)
    for at, circle in enumerate(placed):
        assert 0 <= circle.x <= 640
        assert 0 <= circle.y <= 640
        for other in placed[:at]:
            # Positions are rounded to a tenth, and a point is drawn half a unit wide.
            assert hypot(circle.x - other.x, circle.y - other.y) >= circle.radius + other.radius - 1.2


def test_circles_are_packed_closely():
    for values in ([1.0] * 250, [1 / (rank + 1) for rank in range(250)]):
        placed = bubbles(tuple(values), 640, 0)
        left, right = min(c.x - c.radius for c in placed), max(c.x + c.radius for c in placed)
        area = sum(circle.radius**2 for circle in placed) / ((right - left) / 2) ** 2
        assert area > 0.6


def test_a_picture_changes_little_when_a_value_does():
    values = [1 / (rank + 1) for rank in range(100)]
    before = bubbles(tuple(values))
    after = bubbles((*values[:50], values[50] * 1.001, *values[51:]))
    moved = [hypot(a.x - b.x, a.y - b.y) for a, b in zip(before, after, strict=True)]
    assert sorted(moved)[len(moved) // 2] < 2


def test_packing_a_proof_costs_milliseconds():
    started = time.process_time()
    bubbles(tuple(1 / (rank + 2) for rank in range(250)))
    assert time.process_time() - started < 0.1
