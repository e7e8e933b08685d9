"""Computes curves over something other than time: how unequally balances are distributed. Pure.

Templates render them as SVG, with their numbers as a table.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from contracts.site.figures import Source, percent, whole

SIZE = 320
LEFT, TOP = 52, 16
MARKED = (1, 10, 100)
"""Numbers of largest holders whose share is marked on the curve."""


_LINE = 18
"""Distance between the texts of neighbouring marks."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A point of the curve with its text, which is to the left of it at `text_y`."""

    x: float
    y: float
    text: str
    text_y: float


@dataclass(frozen=True, slots=True)
class Lorenz:
    """A Lorenz curve: from left to right the holders, the smallest first; upwards their cumulative share.

    `curve` is a line, `gap` the area between it and the diagonal on which all holders would have equal shares.
    """

    curve: str
    gap: str
    marks: tuple[Mark, ...]
    rows: tuple[tuple[str, str, str], ...]
    """Number of largest holders, their fraction of all holders, and their share."""
    summary: str
    gini: str
    source: Source


def lorenz_curve(steps: Sequence[tuple[int, float]], gini: float, source: Source) -> Lorenz:
    """Draws the curve from the joint shares of the largest holders: numbers with shares, up to all holders."""
    count = steps[-1][0]
    points = [
        (round(LEFT + SIZE * (1 - held / count), 1), round(TOP + SIZE * share, 1)) for held, share in ((0, 0.0), *steps)
    ]
    curve = "M" + "L".join(f"{x:g} {y:g}" for x, y in reversed(points))
    known = dict(steps)
    marked = [(number, known[number]) for number in MARKED if number in known and number < count]
    marks: list[Mark] = []
    lowest = TOP + SIZE - 6.0
    for number, share in reversed(marked):
        x, y = round(LEFT + SIZE * (1 - number / count), 1), round(TOP + SIZE * share, 1)
        text_y = min(y + 4, lowest)
        lowest = text_y - _LINE
        others = "All but the largest" if number == 1 else f"All but the {number} largest"
        marks.append(Mark(x, y, f"{others}: {percent(1 - share)}", round(text_y, 1)))
    half = next((held for held, share in steps if share >= 0.5), count)
    holders = "holder holds" if half == 1 else "holders hold"
    return Lorenz(
        curve,
        f"{curve}Z",
        tuple(marks),
        tuple((whole(held), percent(held / count, 2), percent(share, 2)) for held, share in steps),
        f"{whole(half)} of {whole(count)} {holders} half of everything. Gini {gini:.3f}: the area between the curve "
        "and the line of equal shares, as a part of the whole triangle.",
        f"{gini:.3f}",
        source,
    )
