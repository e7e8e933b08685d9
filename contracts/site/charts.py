"""Computes the positions of a drawing's parts, in units of its view box. Templates render them as SVG. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import sqrt

_SMALLEST = 1e-4
"""The least radius, as a fraction of the largest, because a circle without a size can't be placed next to another."""


@dataclass(frozen=True, slots=True)
class Bubble:
    """A circle that represents a row, by the row's index in the given order."""

    row: int
    x: float
    y: float
    radius: float


@dataclass(slots=True)
class _Circle:
    """A placed circle. Circles of the front know their neighbours on it."""

    radius: float
    x: float = 0.0
    y: float = 0.0
    after: "_Circle | None" = None
    before: "_Circle | None" = None


def lengths(values: Sequence[float], length: float = 100) -> list[float]:
    """Returns the lengths of bars, of which the longest has `length`. Values below zero count by their magnitude."""
    longest = max(map(abs, values), default=0)
    return [round(length * abs(value) / longest, 2) if longest else 0 for value in values]


@lru_cache(maxsize=4)
def bubbles(values: tuple[float, ...], size: float = 640, gap: float = 1.5) -> list[Bubble]:
    """Packs circles with areas proportional to the values closely around the first. Values must be in descending order.

    The same values always give the same picture, and a small change of a value changes it little.
    """
    largest = max(values, default=0)
    if not largest > 0:
        return []
    circles = [_Circle(max(sqrt(max(value, 0) / largest), _SMALLEST)) for value in values]
    _pack(circles)
    left, right = min(c.x - c.radius for c in circles), max(c.x + c.radius for c in circles)
    top, bottom = min(c.y - c.radius for c in circles), max(c.y + c.radius for c in circles)
    scale = size / max(right - left, bottom - top)
    middle_x, middle_y = (left + right) / 2, (top + bottom) / 2
    return [
        Bubble(
            row,
            round(size / 2 + (circle.x - middle_x) * scale, 1),
            round(size / 2 + (circle.y - middle_y) * scale, 1),
            round(max(circle.radius * scale - gap / 2, 0.5), 1),
        )
        for row, circle in enumerate(circles)
    ]


def _pack(circles: Sequence[_Circle]) -> None:
    """Places circles one after another against the front.

    The algorithm is that of Wang et al. 2006, "Visualization of large hierarchical data by circle packing". The front
    is the ring of circles around all placed circles. The next circle touches the two neighbours of the front that are
    nearest to the middle. If it would overlap a third circle of the front, the front is cut back to that circle, and
    the new circle is placed again. A circle thus costs one walk around the front, whose length grows as the root of
    their number.
    """
    if len(circles) > 1:
        first, second = circles[:2]
        first.x, second.x = -second.radius, first.radius
    if len(circles) < 3:
        return
    third = circles[2]
    _touch(third, second, first)
    ring = (first, second, third)
    for at, circle in enumerate(ring):
        circle.after, circle.before = ring[(at + 1) % 3], ring[at - 1]
    nearest = _nearest_pair(first)
    for circle in circles[3:]:
        while True:
            end = _after(nearest)
            _touch(circle, nearest, end)
            cut = _overlapped(circle, nearest, end)
            if cut is None:
                break
            nearest, end = cut
            nearest.after, end.before = end, nearest
        circle.before, circle.after = nearest, end
        nearest.after = end.before = circle
        nearest = _nearest_pair(circle)


def _overlapped(circle: _Circle, start: _Circle, end: _Circle) -> tuple[_Circle, _Circle] | None:
    """Returns the pair that becomes neighbours because the circle overlaps one of the front, or None.

    Both directions around the front are followed at once, the shorter first, so that as little as possible is cut off.
    """
    ahead, behind = _after(end), _before(start)
    way_ahead, way_behind = end.radius, start.radius
    while True:
        if way_ahead <= way_behind:
            if _overlap(ahead, circle):
                return start, ahead
            way_ahead += ahead.radius
            ahead = _after(ahead)
        else:
            if _overlap(behind, circle):
                return behind, end
            way_behind += behind.radius
            behind = _before(behind)
        if ahead is _after(behind):
            return None


def _nearest_pair(start: _Circle) -> _Circle:
    """Returns the circle of the front that is nearest to the middle, together with the circle after it."""
    best, least, circle = start, _distance(start), _after(start)
    while circle is not start:
        distance = _distance(circle)
        if distance < least:
            best, least = circle, distance
        circle = _after(circle)
    return best


def _distance(circle: _Circle) -> float:
    """Returns the squared distance from the middle of the point where a circle of the front touches the next one."""
    other = _after(circle)
    both = circle.radius + other.radius
    x = (circle.x * other.radius + other.x * circle.radius) / both
    y = (circle.y * other.radius + other.y * circle.radius) / both
    return x * x + y * y


def _touch(circle: _Circle, first: _Circle, second: _Circle) -> None:
    """Moves a circle to where it touches both others, on the outer side of the front that runs from first to second."""
    dx, dy = first.x - second.x, first.y - second.y
    squared = dx * dx + dy * dy
    if not squared:
        circle.x, circle.y = second.x + second.radius + circle.radius, second.y
        return
    to_first, to_second = (first.radius + circle.radius) ** 2, (second.radius + circle.radius) ** 2
    along = (squared + to_second - to_first) / (2 * squared)
    across = sqrt(max(0.0, to_second / squared - along * along))
    circle.x = second.x + along * dx - across * dy
    circle.y = second.y + along * dy + across * dx


def _overlap(first: _Circle, second: _Circle) -> bool:
    reach = (first.radius + second.radius) * (1 - 1e-6)
    dx, dy = second.x - first.x, second.y - first.y
    return reach * reach > dx * dx + dy * dy


def _after(circle: _Circle) -> _Circle:
    assert circle.after is not None
    return circle.after


def _before(circle: _Circle) -> _Circle:
    assert circle.before is not None
    return circle.before
