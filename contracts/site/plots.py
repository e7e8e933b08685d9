"""Computes charts over time: axes with round numbers, lines with gaps, bars, in units of their view box. Pure.

A chart is a column of panels over one axis of time. Templates render it as SVG, with its numbers as a table.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import groupby
from math import ceil, floor, inf, log10

from contracts.site.figures import Source

WIDTH = 640
LEFT = 72
"""The horizontal position at which the first point's share of the width begins; the labels of values are to its
left."""
_TITLE_HEIGHT = 40
_AXIS_HEIGHT = 26
_CUT_FACTOR = 4
"""A bar more than this many times as high as nine tenths of the bars is cut, because it would hide the others."""
_WIDEST_BAR = 60
_MARK_ROW = 16
_TEXT_ROOM = 30
"""Half the width of a time's text, which must not leave the drawing."""

_SAME, _NOTHING = 1e-9, 1e-200
"""Values that differ by less than this fraction are drawn as equal, and smaller ones as zero."""

_HOUR = timedelta(hours=1)
_DAY = timedelta(days=1)
_STEPS = (_HOUR, 3 * _HOUR, 6 * _HOUR, 12 * _HOUR, _DAY, 2 * _DAY, 7 * _DAY, 14 * _DAY)
_MONTHS = (1, 3, 6, 12, 24, 60, 120)
_MONDAY = datetime(2024, 1, 1, tzinfo=UTC)

Value = float | None
Shown = Callable[[float, int], str]
"""Formats a value with this many significant digits."""


@dataclass(frozen=True, slots=True)
class Tick:
    """A mark of an axis: its position and its text. About half are `minor`, and omitted where room is scarce."""

    at: float
    text: str
    minor: bool = False


@dataclass(frozen=True, slots=True)
class Shape:
    """A line or an area, with its class."""

    name: str
    path: str


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar, with its class. `text` is the value of a bar that is cut."""

    name: str
    x: float
    y: float
    width: float
    height: float
    text: str = ""


@dataclass(frozen=True, slots=True)
class Gap:
    """Neighbouring points without a value, and the reason."""

    x: float
    width: float
    reason: str


@dataclass(frozen=True, slots=True)
class Mark:
    """An event in a point's span, as a sign of its class at a position. `text` describes it."""

    name: str
    x: float
    y: float
    text: str


@dataclass(frozen=True, slots=True)
class Panel:
    """One drawing of a chart. Heights count from its top, which is `top` below that of the chart."""

    title: str
    height: float
    ticks: tuple[Tick, ...]
    shapes: tuple[Shape, ...] = ()
    bars: tuple[Bar, ...] = ()
    dots: tuple[tuple[float, float], ...] = ()
    gaps: tuple[Gap, ...] = ()
    marks: tuple[Mark, ...] = ()
    top: float = 0


@dataclass(frozen=True, slots=True)
class Row:
    """The numbers of one point in time for the table, and the point's position."""

    at: datetime
    x: float
    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Chart:
    """Panels over one axis of time. `summary` describes the chart in words, `legend` the meaning of each sign."""

    id: str
    title: str
    summary: str
    height: float
    panels: tuple[Panel, ...]
    ticks: tuple[Tick, ...]
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    source: Source
    legend: tuple[tuple[str, str], ...] = ()


def places(count: int) -> list[float]:
    """Returns the positions of this many points."""
    share = (WIDTH - LEFT) / max(count, 1)
    return [round(LEFT + (at + 0.5) * share, 1) for at in range(count)]


def nice_ticks(least: float, greatest: float, most: int = 4, *, whole: bool = False) -> list[float]:
    """Returns at most `most` + 1 multiples of 1, 2, 2.5 or 5 times a power of ten that enclose both values.

    With `whole`, the values are counts, so no tick is between two whole numbers.
    """
    largest = max(abs(least), abs(greatest))
    if greatest - least <= max(largest * _SAME, _NOTHING):
        room = largest / 10 if largest > _NOTHING else 1
        least, greatest = (0.0 if largest <= _NOTHING else least - room), greatest + room
    power = 10.0 ** floor(log10((greatest - least) / most))
    power = max(power, 1.0) if whole else power
    for factor in (1, 2, 2.5, 5, 10, 20):
        step = power * factor
        if whole and step % 1:
            continue
        first, last = floor(least / step + 1e-9), ceil(greatest / step - 1e-9)
        if last - first <= most:
            break
    digits = max(0, 2 - floor(log10(step)))
    return [round(number * step, digits) for number in range(first, last + 1)]


def time_ticks(first: datetime, last: datetime, most: int = 6) -> list[tuple[datetime, str]]:
    """Returns at most `most` round times (UTC) in a span with their texts: hours, days, weeks, months or years."""
    for step in _STEPS:
        behind = (first - _MONDAY) % step
        start = first if not behind else first + (step - behind)
        count = (last - start) // step + 1
        if count <= most:
            return [(at, _day_or_hour(at)) for at in (start + number * step for number in range(count))]
    for months in _MONTHS:
        number = first.year * 12 + first.month - 1
        number += -number % months
        if _month(number) < first:
            number += months
        found = []
        while (at := _month(number)) <= last:
            found.append((at, f"{at:%Y}" if at.month == 1 else f"{at:%b}"))
            number += months
        if len(found) <= most:
            break
    return found


def _month(number: int) -> datetime:
    return datetime(number // 12, number % 12 + 1, 1, tzinfo=UTC)


def _day_or_hour(at: datetime) -> str:
    return f"{at:%H:%M}" if at.hour else f"{at.day} {at:%b}"


def _minor(marks: Sequence[datetime]) -> list[bool]:
    """Returns which marks to omit where there is little room: hours if there are several days, else every second mark.

    A mark that names a day stays, because hours do not identify the day.
    """
    days = [number for number, at in enumerate(marks) if not at.hour]
    if 1 < len(days) < len(marks):
        return [number not in days for number in range(len(marks))]
    first = days[0] if days else 0
    return [(number - first) % 2 == 1 for number in range(len(marks))]


def line_panel(
    title: str,
    values: Sequence[Value],
    shown: Shown,
    *,
    height: float = 150,
    whole: bool = False,
    band: Sequence[tuple[float, float] | None] = (),
    reasons: Sequence[str | None] = (),
) -> Panel:
    """Draws values as a line that breaks at missing values. `band` has the lowest and the highest value of each point.

    Its axis begins near the values instead of at zero, because a line shows change.
    """
    known = [value for value in (*values, *(bound for pair in band if pair for bound in pair)) if value is not None]
    ticks, place = _axis(nice_ticks(min(known), max(known), whole=whole) if known else [], height, shown)
    xs = places(len(values))
    runs = _runs(values)
    shapes = []
    if any(band):
        for run in _runs(band):
            upper = [(xs[at], place(pair[1])) for at in run if (pair := band[at])]
            lower = [(xs[at], place(pair[0])) for at in reversed(run) if (pair := band[at])]
            if len(run) > 1:
                shapes.append(Shape("band", f"{_path([*upper, *lower])}Z"))
    lines = [[(xs[at], place(value)) for at in run if (value := values[at]) is not None] for run in runs]
    shapes += [Shape("line", _path(line)) for line in lines if len(line) > 1]
    dots = [line[0] for line in lines if len(line) == 1]
    dots += [lines[-1][-1]] if lines and len(lines[-1]) > 1 else []
    return Panel(title, height, ticks, tuple(shapes), dots=tuple(dots), gaps=_gaps(values, reasons))


def bar_panel(
    title: str,
    up: Sequence[float],
    shown: Shown,
    *,
    down: Sequence[float] = (),
    height: float = 90,
    whole: bool = False,
    reasons: Sequence[str | None] = (),
) -> Panel:
    """Draws values as bars from zero, those of `down` below it. The last bar's time span is still open.

    `reasons` explain why there is nothing where a value is zero.
    """
    limit = _cut(up)
    lowest = -min(_cut(down), max(down, default=0))
    ticks, place = _axis(nice_ticks(lowest, min(limit, max(up, default=0)), 3, whole=whole), height, shown)
    share = (WIDTH - LEFT) / max(len(up), 1)
    width = min(share - min(share * 0.25, 3), _WIDEST_BAR)
    bars = []
    for name, values in (("up", up), ("down", down)):
        for at, value in enumerate(values):
            if value <= 0:
                continue
            is_cut = value > limit if name == "up" else value > -lowest
            end = max(place(value), -4.0) if name == "up" else min(place(-value), height)
            top, bottom = sorted((end, place(0)))
            kind = f"{name} partial" if at == len(values) - 1 else name
            text = shown(value, 3) if is_cut else ""
            x = round(LEFT + (at + 0.5) * share - width / 2, 1)
            bars.append(Bar(kind, x, top, round(width, 1), round(max(bottom - top, 1), 1), text))
    return Panel(title, height, ticks, bars=tuple(bars), gaps=_gaps([value or None for value in up], reasons))


def mark_panel(title: str, marked: Mapping[str, Sequence[str]], reasons: Sequence[str | None]) -> Panel:
    """Draws a row of signs for each class: one at each point with a text. `reasons` explain why a point has none."""
    xs = places(len(reasons))
    marks = [
        Mark(name, x, (row + 0.5) * _MARK_ROW, text)
        for row, (name, texts) in enumerate(marked.items())
        for x, text in zip(xs, texts, strict=True)
        if text
    ]
    gaps = _gaps([0.0 if reason is None else None for reason in reasons], reasons)
    return Panel(title, _MARK_ROW * len(marked), (), gaps=gaps, marks=tuple(marks))


def chart(
    id_: str,
    title: str,
    summary: str,
    times: Sequence[datetime],
    panels: Sequence[Panel],
    columns: Sequence[str],
    texts: Sequence[Sequence[str]],
    source: Source,
    legend: Sequence[tuple[str, str]] = (),
) -> Chart:
    """Stacks panels over one axis of time; `times` are the starts of equally long spans."""
    top, placed = 0.0, []
    for panel in panels:
        top += _TITLE_HEIGHT
        placed.append(replace(panel, top=top))
        top += panel.height
    xs = places(len(times))
    share = (WIDTH - LEFT) / max(len(times), 1)
    ticks = []
    if len(times) > 1:
        width = times[1] - times[0]
        marks = time_ticks(times[0], times[-1])
        for (at, text), is_minor in zip(marks, _minor([at for at, _ in marks]), strict=True):
            x = min(LEFT + (at - times[0]) / width * share, WIDTH - _TEXT_ROOM)
            ticks.append(Tick(round(x, 1), text, is_minor))
    elif times:
        ticks.append(Tick(xs[0], _day_or_hour(times[0])))
    rows = tuple(Row(at, x, tuple(row)) for at, x, row in zip(times, xs, texts, strict=True))
    height = top + _AXIS_HEIGHT
    return Chart(id_, title, summary, height, tuple(placed), tuple(ticks), tuple(columns), rows, source, tuple(legend))


def sparkline(values: Sequence[Value]) -> str | None:
    """Returns the path of a small line without axes, 100 wide and 24 high, or None without two adjacent values."""
    known = [value for value in values if value is not None]
    if not known:
        return None
    least, span = min(known), max(known) - min(known) or 1.0
    step = 100 / max(len(values) - 1, 1)
    lines = [
        [
            (round(at * step, 1), round(22 - (value - least) / span * 20, 1))
            for at in run
            if (value := values[at]) is not None
        ]
        for run in _runs(values)
    ]
    return "".join(_path(line) for line in lines if len(line) > 1) or None


def _axis(marks: Sequence[float], height: float, shown: Shown) -> tuple[tuple[Tick, ...], Callable[[float], float]]:
    """Returns the ticks of an axis over these marks, and the function that positions a value on it."""
    if not marks:
        return (), lambda value: height
    least, span = marks[0], (marks[-1] - marks[0]) or 1.0

    def place(value: float) -> float:
        return round(height - (value - least) / span * height, 1)

    step = marks[1] - marks[0] if len(marks) > 1 else span
    largest = max(map(abs, marks)) or 1.0
    digits = max(1, floor(log10(largest)) - floor(log10(step)) + 1 + (f"{step:e}"[2] == "5" and f"{step:e}"[0] == "2"))
    return tuple(Tick(place(mark), shown(mark, digits)) for mark in marks), place


def _cut(values: Sequence[float]) -> float:
    """Returns the value above which bars are cut: the highest of the others if few are far above them."""
    above_zero = sorted(value for value in values if value > 0)
    if len(above_zero) < 5:
        return inf
    most = _CUT_FACTOR * above_zero[(len(above_zero) - 1) * 9 // 10]
    return inf if above_zero[-1] <= most else max(value for value in above_zero if value <= most)


def _runs(values: Sequence[object]) -> list[list[int]]:
    """Returns the indexes of adjacent values that are not missing, as runs."""
    grouped = groupby(range(len(values)), lambda at: values[at] is not None)
    return [list(places_) for is_known, places_ in grouped if is_known]


def _gaps(values: Sequence[Value], reasons: Sequence[str | None]) -> tuple[Gap, ...]:
    share = (WIDTH - LEFT) / max(len(values), 1)
    missing = [(at, reasons[at] or "") for at, value in enumerate(values) if value is None and at < len(reasons)]
    found = []
    for _, run in groupby(enumerate(missing), lambda item: (item[1][0] - item[0], item[1][1])):
        ats = [at for _, (at, _) in run]
        found.append(Gap(round(LEFT + ats[0] * share, 1), round(len(ats) * share, 1), reasons[ats[0]] or ""))
    return tuple(found)


def _path(points: Sequence[tuple[float, float]]) -> str:
    return "M" + "L".join(f"{x:g} {y:g}" for x, y in points)
