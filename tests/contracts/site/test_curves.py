"""The Lorenz curve: literal shares in, literal marks out."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from contracts.site.curves import LEFT, SIZE, TOP, lorenz_curve
from contracts.site.figures import source_of

SOURCE = source_of("holders", "Holders", "/api/token/holders", None, None)


def test_a_curve_runs_from_the_smallest_holder_to_the_largest():
    drawn = lorenz_curve([(1, 0.5), (2, 0.75), (4, 1.0)], 0.375, SOURCE)
    assert drawn.curve == "M52 336L212 256L292 176L372 16"
    assert drawn.rows == (
        ("1", "25.00\u202f%", "50.00\u202f%"),
        ("2", "50.00\u202f%", "75.00\u202f%"),
        ("4", "100.00\u202f%", "100.00\u202f%"),
    )
    assert [(mark.x, mark.y, mark.text) for mark in drawn.marks] == [(292, 176, "All but the largest: 50.0\u202f%")]
    assert drawn.summary.startswith("1 of 4 holder holds half of everything. Gini 0.375")


def test_equal_holders_lie_on_the_line_of_equal_shares():
    drawn = lorenz_curve([(number, number / 10) for number in range(1, 11)], 0.0, SOURCE)
    points = [tuple(map(float, pair.split())) for pair in drawn.curve[1:].split("L")]
    assert all(abs((x - LEFT) - (SIZE + TOP - y)) < 0.2 for x, y in points)


@given(st.lists(st.floats(1e-6, 1), min_size=2, max_size=150))
def test_a_curve_never_falls_and_its_words_stand_apart_within_the_drawing(balances: list[float]):
    ordered, total = sorted(balances, reverse=True), sum(balances)
    shares = [min(held / total, 1.0) for held in itertools.accumulate(ordered)]
    drawn = lorenz_curve(list(enumerate(shares, 1)), 0.5, SOURCE)
    points = [tuple(map(float, pair.split())) for pair in drawn.curve[1:].split("L")]
    for (x, y), (next_x, next_y) in itertools.pairwise(points):
        assert (next_x, -next_y) >= (x, -y)
    heights = sorted(mark.text_y for mark in drawn.marks)
    assert all(TOP - 4 <= height <= TOP + SIZE for height in heights)
    assert all(above + 17.9 <= below for above, below in itertools.pairwise(heights))
