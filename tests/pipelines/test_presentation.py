"""Dagster shows a chart next to the numbers once two points in time have a value."""

import base64
from datetime import UTC, datetime, timedelta

from pipelines.presentation import line_chart, lines_chart

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
LATER = NOON + timedelta(hours=1)


def test_a_line_of_two_times_is_a_picture_under_its_name():
    (chart,) = line_chart("holders_by_day", "Holders by day", [(NOON, 1), (LATER, 2)], "holders").items()
    name, picture = chart
    assert name == "holders_by_day"
    before, _, encoded = picture.value.removesuffix(")").partition("base64,")
    assert before == "![Holders by day](data:image/png;"
    assert base64.b64decode(encoded).startswith(b"\x89PNG")


def test_a_single_point_in_time_is_not_drawn():
    assert line_chart("holders_by_day", "Holders by day", [], "holders") == {}
    assert line_chart("holders_by_day", "Holders by day", [(NOON, 1)], "holders") == {}
    assert lines_chart("price_over_time", "Price", {"a": [(NOON, 1.0)], "b": [(NOON, 2.0)]}, "USD") == {}
    assert lines_chart("price_over_time", "Price", {"a": [(NOON, 1.0)], "b": [(LATER, 2.0)]}, "USD").keys() == {
        "price_over_time"
    }
