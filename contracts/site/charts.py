"""Works out where the parts of a drawing lie, in units of its view box. Templates write them down as SVG. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import hypot, pi, sqrt


@dataclass(frozen=True, slots=True)
class Bubble:
    """A circle that stands for a row, by the row's place in the order given."""

    row: int
    x: float
    y: float
    radius: float


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
