"""Charts over time: literal values in, literal marks out."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.site.figures import short, source_of
from contracts.site.plots import (
    LEFT,
    WIDTH,
    Bar,
    Gap,
    Shape,
    Tick,
    bar_panel,
    chart,
    line_panel,
    nice_ticks,
    places,
    sparkline,
    time_ticks,
)

MIDNIGHT = datetime(2026, 10, 24, tzinfo=UTC)
SOURCE = source_of("days", "Days", "/days", None, None)


@pytest.mark.parametrize(
    ("least", "greatest", "ticks"),
    [
        (0, 10, [0, 2.5, 5, 7.5, 10]),
        (379, 2232, [0, 1000, 2000, 3000]),
        (-40, 379, [-200, 0, 200, 400]),
        (0.0248, 0.0251, [0.0248, 0.0249, 0.025, 0.0251]),
        (0.91, 0.956, [0.9, 0.92, 0.94, 0.96]),
        (2220, 2220, [1800, 2000, 2200, 2400, 2600]),
        (0, 0, [0, 0.25, 0.5, 0.75, 1]),
        (0, 10**60, [0, 2.5e59, 5e59, 7.5e59, 1e60]),
    ],
)
def test_ticks_are_round_and_enclose_the_values(least: float, greatest: float, ticks: list[float]):
    assert nice_ticks(least, greatest) == ticks


def test_ticks_of_counts_are_whole_numbers():
    assert nice_ticks(0, 0, whole=True) == [0, 1]
    assert nice_ticks(0, 1, whole=True) == [0, 1]
    assert nice_ticks(0, 3, whole=True) == [0, 1, 2, 3]
    assert nice_ticks(0, 10, whole=True) == [0, 5, 10]


@given(st.floats(-1e60, 1e60), st.floats(0, 1e60), st.integers(2, 6), st.booleans())
def test_any_two_values_are_enclosed_by_few_ticks(least: float, span: float, most: int, whole: bool):
    if whole:  # then both have a count
        least, span = float(round(least)), float(round(span))
    ticks = nice_ticks(least, least + span, most, whole=whole)
    slack = 1e-6 * max(abs(least), abs(least + span), 1e-12)
    assert len(ticks) <= most + 1
    assert ticks == sorted(ticks)
    assert ticks[0] <= least + slack
    assert ticks[-1] >= least + span - slack


@pytest.mark.parametrize(
    ("hours", "texts"),
    [
        (5, ["24 Oct", "01:00", "02:00", "03:00", "04:00", "05:00"]),
        (30, ["24 Oct", "06:00", "12:00", "18:00", "25 Oct", "06:00"]),
        (72, ["24 Oct", "25 Oct", "26 Oct", "27 Oct"]),
        (24 * 31, ["26 Oct", "2 Nov", "9 Nov", "16 Nov", "23 Nov"]),
        (24 * 60, ["2 Nov", "16 Nov", "30 Nov", "14 Dec"]),
        (24 * 150, ["Nov", "Dec", "2027", "Feb", "Mar"]),
        (24 * 2000, ["2027", "2028", "2029", "2030", "2031", "2032"]),
        (0, ["24 Oct"]),
    ],
)
def test_ticks_of_time_are_hours_days_mondays_months_or_years(hours: int, texts: list[str]):
    ticks = time_ticks(MIDNIGHT, MIDNIGHT + timedelta(hours=hours))
    assert [text for _, text in ticks] == texts
    assert all(MIDNIGHT <= at <= MIDNIGHT + timedelta(hours=hours) for at, _ in ticks)


def test_a_line_breaks_where_a_value_is_missing_and_a_lone_point_is_a_dot():
    reasons = [None, None, "not seen", "not seen", None, "late", None]
    panel = line_panel("Price", [0, 10, None, None, 5, None, 10], short, height=100, reasons=reasons)
    xs = places(7)
    share = (WIDTH - LEFT) / 7
    assert panel.shapes == (Shape("line", f"M{xs[0]:g} 100L{xs[1]:g} 0"),)
    assert panel.dots == ((xs[4], 50), (xs[6], 0))
    assert panel.gaps == (
        Gap(round(LEFT + 2 * share, 1), round(2 * share, 1), "not seen"),
        Gap(round(LEFT + 5 * share, 1), round(share, 1), "late"),
    )
    assert [(tick.at, tick.text) for tick in panel.ticks] == [
        (100, "0"),
        (75, "2.5"),
        (50, "5"),
        (25, "7.5"),
        (0, "10"),
    ]


def test_a_band_lies_between_the_least_and_the_greatest_of_each_point():
    panel = line_panel("Price", [2, 4], short, height=100, band=[(0, 4), (2, 4)])
    first, second = places(2)
    assert panel.shapes[0] == Shape("band", f"M{first:g} 0L{second:g} 0L{second:g} 50L{first:g} 100Z")


def test_neighbouring_ticks_have_different_texts():
    for least, greatest in ((0.0248446, 0.0248447), (99_990, 100_010), (0.9, 0.995), (1_000_000, 1_000_400)):
        texts = [tick.text for tick in line_panel("Price", [least, greatest], short).ticks]
        assert len(set(texts)) == len(texts), texts


def test_bars_rise_from_zero_and_losses_hang_below_it():
    panel = bar_panel("Came and left", [10, 0, 5], short, down=[0, 5, 10], height=90)
    share = (WIDTH - LEFT) / 3
    xs = [round(LEFT + (at + 0.5) * share - 30, 1) for at in range(3)]
    assert panel.bars == (
        Bar("up", xs[0], 0, 60, 45),
        Bar("up partial", xs[2], 22.5, 60, 22.5),
        Bar("down", xs[1], 45, 60, 22.5),
        Bar("down partial", xs[2], 45, 60, 45),
    )


def test_many_bars_leave_a_gap_between_one_another():
    first, second = bar_panel("Left", [1, 1, *[0] * 98], short).bars
    share = (WIDTH - LEFT) / 100
    assert (first.x, first.width) == (round(LEFT + share * 0.125, 1), round(share * 0.75, 1))
    assert second.x > first.x + first.width


def test_a_bar_far_above_all_others_is_cut_and_says_its_value():
    panel = bar_panel("Volume", [1_000_000, 10, 20, 30, 40, 20, 10, 20, 30, 40, 20], short)
    assert [bar.text for bar in panel.bars] == ["1\u202fM", *[""] * 10]
    assert panel.bars[0].y < 0
    assert [tick.text for tick in panel.ticks] == ["0", "20", "40"]
    assert bar_panel("Volume", [1_000_000, 10], short).bars[0].text == ""


def test_an_empty_chart_can_be_drawn():
    assert line_panel("Price", [None, None], short).shapes == ()
    assert bar_panel("Volume", [0, 0], short).bars == ()
    drawn = chart("a", "A", "", [], [line_panel("Price", [], short)], (), [], SOURCE)
    assert (drawn.rows, drawn.ticks) == ((), ())


def test_panels_lie_below_one_another_over_one_axis():
    times = [MIDNIGHT, MIDNIGHT + timedelta(days=1)]
    panels = [line_panel("Holders", [1, 2], short, height=100), bar_panel("Left", [1, 2], short, height=50)]
    drawn = chart("a", "A", "", times, panels, ("Holders",), [("1",), ("2",)], SOURCE)
    assert [panel.top for panel in drawn.panels] == [40, 180]
    assert drawn.height == 256
    share = (WIDTH - LEFT) / 2
    assert drawn.ticks[0] == Tick(LEFT, "24 Oct")
    assert drawn.ticks[-1] == Tick(LEFT + share, "25 Oct", minor=False) or len(drawn.ticks) > 2
    assert [(row.at, row.x, row.texts) for row in drawn.rows] == [
        (times[0], LEFT + share / 2, ("1",)),
        (times[1], LEFT + share * 1.5, ("2",)),
    ]


@pytest.mark.parametrize(
    ("hours", "kept"),
    [
        (range(72), ["24 Oct", "25 Oct", "26 Oct"]),
        (range(0, 24, 1), ["24 Oct", "12:00"]),
        (range(0, 24 * 6, 24), ["24 Oct", "26 Oct", "28 Oct"]),
        (range(5, 9), ["05:00", "07:00"]),
    ],
)
def test_with_little_room_marks_still_name_their_day(hours: range, kept: list[str]):
    times = [MIDNIGHT + timedelta(hours=hour) for hour in hours]
    drawn = chart("a", "A", "", times, [], (), [()] * len(times), SOURCE)
    assert [tick.text for tick in drawn.ticks if not tick.minor] == kept


def test_a_small_line_needs_two_values_side_by_side():
    assert sparkline([1, 3, 2]) == "M0 22L50 2L100 12"
    assert sparkline([1, None, 2]) is None
    assert sparkline([]) is None
    assert sparkline([5, 5]) == "M0 22L100 22"


@given(st.lists(st.none() | st.floats(0, 1e60), max_size=40))
def test_every_mark_lies_within_the_drawing(values: list[float | None]):
    panel = line_panel("Price", values, short, height=100, reasons=["?"] * len(values))
    assert all(LEFT <= x <= WIDTH and -0.1 <= y <= 100.1 for x, y in panel.dots)
    bars = bar_panel("Volume", [value or 0 for value in values], short, height=100).bars
    assert all(bar.y >= -4 and bar.y + bar.height <= 101.1 and bar.width > 0 for bar in bars)
