"""Works out where the parts of a drawing lie, in units of its view box. Templates write them down as SVG. Pure."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from itertools import pairwise
from math import floor, hypot, log10, pi, sqrt


@dataclass(frozen=True, slots=True)
class Tick:
    """A mark of an axis: where it lies, and its label."""

    at: float
    label: str


@dataclass(frozen=True, slots=True)
class Spot:
    """A point of a line with what it says: `x` and `y` in the drawing."""

    x: float
    y: float
    label: str


@dataclass(frozen=True, slots=True)
class Line:
    """A line over time. `paths` are its unbroken stretches, since gaps stay gaps, `area` lies under them."""

    width: int
    height: int
    paths: tuple[str, ...]
    areas: tuple[str, ...]
    spots: tuple[Spot, ...]
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]


@dataclass(frozen=True, slots=True)
class Bubble:
    """A circle that stands for a row, by the row's place in the order given."""

    row: int
    x: float
    y: float
    radius: float


_STEPS = (1, 2, 2.5, 5, 10)
_INTERVALS = (
    *(timedelta(minutes=minutes) for minutes in (1, 5, 15, 30)),
    *(timedelta(hours=hours) for hours in (1, 2, 3, 6, 12)),
    *(timedelta(days=days) for days in (1, 2, 7, 14, 28, 91, 182, 364)),
)


def nice_ticks(low: float, high: float, count: int = 4) -> list[float]:
    """Returns round numbers of equal distance that cover `low` to `high`, about `count` of them."""
    if high <= low:
        high = low + (abs(low) or 1)
    rough = (high - low) / max(count, 1)
    power = 10 ** floor(log10(rough))
    step = next(power * step for step in _STEPS if power * step >= rough * 0.999)
    first = floor(low / step)
    last = -floor(-high / step)
    return [number * step for number in range(first, last + 1)]


def time_ticks(start: datetime, end: datetime, count: int = 5) -> list[tuple[datetime, str]]:
    """Returns round times from `start` to `end` (UTC), at most about `count` of them, each with its label."""
    span = end - start
    interval = next((each for each in _INTERVALS if span / each <= count), _INTERVALS[-1])
    epoch = datetime(1970, 1, 5, tzinfo=UTC)  # a Monday
    at = epoch + -(-(start - epoch) // interval) * interval
    shown = "%H:%M" if interval < timedelta(days=1) else "%-d %b"
    ticks = []
    while at <= end:
        ticks.append((at, f"{at:{shown}}"))
        at += interval
    return ticks


def line(
    points: Sequence[tuple[datetime, float | None]],
    labels: Sequence[str],
    y_label: Callable[[float], str],
    *,
    width: int = 720,
    height: int = 280,
    margins: tuple[int, int, int, int] = (12, 12, 28, 56),
    from_zero: bool = False,
) -> Line | None:
    """Lays out a line over time. A point without a value breaks it. None where fewer than two points have one.

    `margins` are top, right, bottom, left.
    """
    known = [(at, value) for at, value in points if value is not None]
    if len(known) < 2 or known[0][0] >= known[-1][0]:
        return None
    top, right, bottom, left = margins
    start, end = points[0][0], points[-1][0]
    values = [value for _, value in known]
    ticks = nice_ticks(0 if from_zero else min(values), max(values))
    low, high = ticks[0], ticks[-1]

    def x_of(at: datetime) -> float:
        return round(left + (width - left - right) * ((at - start) / (end - start)), 1)

    def y_of(value: float) -> float:
        return round(height - bottom - (height - top - bottom) * ((value - low) / (high - low)), 1)

    stretches: list[list[Spot]] = [[]]
    for (at, value), label in zip(points, labels, strict=True):
        if value is None:
            stretches.append([])
        else:
            stretches[-1].append(Spot(x_of(at), y_of(value), label))
    drawn = [stretch for stretch in stretches if stretch]
    floor_y = height - bottom
    return Line(
        width=width,
        height=height,
        paths=tuple(_path(stretch) for stretch in drawn),
        areas=tuple(f"{_path(stretch)}L{stretch[-1].x:g} {floor_y}L{stretch[0].x:g} {floor_y}Z" for stretch in drawn),
        spots=tuple(spot for stretch in drawn for spot in stretch),
        x_ticks=tuple(Tick(x_of(at), label) for at, label in time_ticks(start, end)),
        y_ticks=tuple(Tick(y_of(value), y_label(value)) for value in ticks),
    )


def lengths(values: Sequence[float], length: float = 100) -> list[float]:
    """Returns the lengths of bars, the longest as long as `length`. Values below zero count as far as they lie."""
    longest = max(map(abs, values), default=0)
    return [round(length * abs(value) / longest, 2) if longest else 0 for value in values]


@lru_cache(maxsize=4)
def bubbles(values: tuple[float, ...], size: float = 640, gap: float = 1.5) -> list[Bubble]:
    """Packs circles, whose areas are as the values, closely around the first. Values fall from first to last.

    Each circle touches two placed ones where that leaves it nearest to the middle, so a picture changes little when a
    value does.
    """
    placed: list[tuple[float, float, float]] = []
    for value in values:
        radius = sqrt(max(value, 0) / pi)
        placed.append((*_nearest_place(placed, radius), radius))
    if not placed or not placed[0][2]:
        return []
    left, right = min(x - r for x, _, r in placed), max(x + r for x, _, r in placed)
    top, bottom = min(y - r for _, y, r in placed), max(y + r for _, y, r in placed)
    scale = size / max(right - left, bottom - top)
    middle_x, middle_y = (left + right) / 2, (top + bottom) / 2
    return [
        Bubble(
            row,
            round(size / 2 + (x - middle_x) * scale, 1),
            round(size / 2 + (y - middle_y) * scale, 1),
            round(max(r * scale - gap / 2, 0.5), 1),
        )
        for row, (x, y, r) in enumerate(placed)
    ]


def _nearest_place(placed: Sequence[tuple[float, float, float]], radius: float) -> tuple[float, float]:
    if not placed:
        return 0.0, 0.0
    if len(placed) == 1:
        return placed[0][2] + radius, 0.0
    best = (float("inf"), 0.0, 0.0)
    # The newest circles lie on the rim, where there is room; a circle in the middle has none.
    rim = placed[-60:]
    for first, second in ((a, b) for at, a in enumerate(rim) for b in rim[:at]):
        for x, y in _touching(first, second, radius):
            distance = hypot(x, y)
            if distance < best[0] and all(
                hypot(x - other_x, y - other_y) >= radius + other - 1e-9 for other_x, other_y, other in placed
            ):
                best = (distance, x, y)
    return best[1], best[2]


def _touching(
    first: tuple[float, float, float], second: tuple[float, float, float], radius: float
) -> tuple[tuple[float, float], ...]:
    """Returns the centres of the two circles of a radius that touch both circles."""
    (ax, ay, ar), (bx, by, br) = first, second
    distance = hypot(bx - ax, by - ay)
    to_first, to_second = ar + radius, br + radius
    if distance > to_first + to_second or distance == 0:
        return ()
    along = (to_first**2 - to_second**2 + distance**2) / (2 * distance)
    across = sqrt(max(0.0, to_first**2 - along**2))
    ux, uy = (bx - ax) / distance, (by - ay) / distance
    x, y = ax + along * ux, ay + along * uy
    return ((x - across * uy, y + across * ux), (x + across * uy, y - across * ux))


def _path(spots: Sequence[Spot]) -> str:
    if len(spots) == 1:
        return f"M{spots[0].x:g} {spots[0].y:g}h.1"
    moves = "".join(f"L{after.x:g} {after.y:g}" for _, after in pairwise(spots))
    return f"M{spots[0].x:g} {spots[0].y:g}{moves}"
