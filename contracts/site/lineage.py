"""Computes the lineage of numbers: sources, tables and documents of the asset graph, and pictures of it. Pure.

`make contracts` generates `lineage.json`, next to this module, from the asset graph and the declarations of tables.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Literal

import msgspec

FILE = Path(__file__).with_name("lineage.json")

STAGES = ("source", "raw", "core", "out", "document")
"""The columns of a picture."""

BOX_WIDTH, BOX_HEIGHT = 172, 28
_COLUMN_WIDTH, _ROW_HEIGHT, _MARGIN, _HEAD = 214, 38, 2, 22


class ColumnRecord(msgspec.Struct, frozen=True, omit_defaults=True, rename={"from_": "from"}):
    """One column of a table, or one field of a document.

    `from_` lists the columns, as `table.column`, from which SQL computes its values. It is empty if they come from
    code, or from rows as a whole.
    """

    name: str
    type: str
    meaning: str
    from_: tuple[str, ...] = ()


class CheckRecord(msgspec.Struct, frozen=True):
    """A check of a table's rows; `blocking` if its failure stops the publication."""

    name: str
    promise: str
    blocking: bool


class AssetRecord(msgspec.Struct, frozen=True, rename={"from_": "from"}):
    """A source, a table or a document. A document's name is its path."""

    name: str
    kind: Literal["source", "table", "document"]
    group: str
    description: str
    from_: tuple[str, ...]
    title: str = ""
    columns: tuple[ColumnRecord, ...] = ()
    rows: str | None = None
    check: CheckRecord | None = None
    public: str | None = None


class LineageRecord(msgspec.Struct, frozen=True):
    """All assets, sorted by name."""

    assets: tuple[AssetRecord, ...]

    @property
    def by_name(self) -> Mapping[str, AssetRecord]:
        return {asset.name: asset for asset in self.assets}


class Box(msgspec.Struct, frozen=True):
    """An asset in a picture, by the position of its upper left corner."""

    asset: AssetRecord
    x: float
    y: float


class Drawing(msgspec.Struct, frozen=True):
    """A picture of a document's inputs: boxes, curves between them, stages with their positions, and its size."""

    boxes: tuple[Box, ...]
    curves: tuple[str, ...]
    stages: tuple[tuple[str, float], ...]
    width: float
    height: float


@cache
def lineage() -> LineageRecord:
    """Returns the recorded lineage."""
    return msgspec.json.decode(FILE.read_bytes(), type=LineageRecord)


@cache
def column_lineage() -> Mapping[str, Mapping[str, tuple[tuple[str, str], ...]]]:
    """Returns, by table or document and by column, the tables and columns from which its values are computed."""
    found = {
        asset.name: {
            column.name: tuple((table, name) for table, _, name in (text.partition(".") for text in column.from_))
            for column in asset.columns
            if column.from_
        }
        for asset in lineage().assets
    }
    return {name: columns for name, columns in found.items() if columns}


def upstream(record: LineageRecord, name: str) -> list[AssetRecord]:
    """Returns the asset and everything from which it is built, sources first."""
    known = record.by_name
    found: dict[str, None] = {}

    def visit(name: str) -> None:
        if name not in found and name in known:
            for parent in known[name].from_:
                visit(parent)
            found[name] = None

    visit(name)
    return [known[name] for name in found]


def number_id(name: str) -> str:
    """Returns the id of a document on the lineage page."""
    return name.removeprefix("/api/").replace("/", "-")


def drawing(record: LineageRecord, name: str) -> Drawing:
    """Lays out an asset's inputs from left to right by stage: sources, raw, core, out, the document."""
    assets = upstream(record, name)
    columns: list[list[AssetRecord]] = [[] for _ in STAGES]
    for asset in assets:
        columns[_stage(asset)].append(asset)
    tallest = max(map(len, columns))
    places: dict[str, tuple[float, float]] = {}
    for number, column in enumerate(columns):
        # Places each asset next to its inputs, so that fewer curves cross.
        column.sort(key=lambda asset: _middle(asset, places))
        offset = (tallest - len(column)) / 2
        for row, asset in enumerate(column):
            places[asset.name] = (_MARGIN + number * _COLUMN_WIDTH, _MARGIN + _HEAD + (row + offset) * _ROW_HEIGHT)
    curves = [
        _curve(places[parent], places[asset.name]) for asset in assets for parent in asset.from_ if parent in places
    ]
    return Drawing(
        tuple(Box(asset, *places[asset.name]) for asset in assets),
        tuple(curves),
        tuple((stage, _MARGIN + number * _COLUMN_WIDTH) for number, stage in enumerate(STAGES)),
        (len(columns) - 1) * _COLUMN_WIDTH + BOX_WIDTH + 2 * _MARGIN,
        _HEAD + tallest * _ROW_HEIGHT - (_ROW_HEIGHT - BOX_HEIGHT) + 2 * _MARGIN,
    )


def _stage(asset: AssetRecord) -> int:
    if asset.kind == "table":
        return STAGES.index(asset.name.partition("_")[0])
    return 0 if asset.kind == "source" else len(STAGES) - 1


def _middle(asset: AssetRecord, places: Mapping[str, tuple[float, float]]) -> float:
    heights = [places[parent][1] for parent in asset.from_ if parent in places]
    return sum(heights) / len(heights) if heights else 0.0


def _curve(start: tuple[float, float], end: tuple[float, float]) -> str:
    """Returns a curve from the right side of one box to the left of another, or to the right of one below it."""
    half, gap = BOX_HEIGHT / 2, _COLUMN_WIDTH - BOX_WIDTH
    x1, y1, y2 = start[0] + BOX_WIDTH, start[1] + half, end[1] + half
    if end[0] <= start[0]:
        x2, bulge = end[0] + BOX_WIDTH, gap * 0.7
        return f"M{x1:g} {y1:g}C{x1 + bulge:g} {y1:g} {x2 + bulge:g} {y2:g} {x2:g} {y2:g}"
    x2 = end[0]
    return f"M{x1:g} {y1:g}C{x1 + gap * 0.6:g} {y1:g} {x2 - gap * 0.6:g} {y2:g} {x2:g} {y2:g}"
