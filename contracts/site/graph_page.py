"""Computes the page of the world model: a picture, drawn nodes with their neighbours, decisions, data for search."""

import gzip
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import sqrt
from typing import Any, Literal
from urllib.parse import quote

import msgspec

from contracts.canonical import sha256_hex
from contracts.discovery.openapi import Bodies
from contracts.site.page import Documents
from contracts.site.shown import WORLD_LIVE, WORLD_RENDER
from contracts.world.ontology import DOMAINS
from contracts.world.public_projection import ProjectedNode, WorldProjection, WorldRender

GRAPH_DOCUMENTS = (WORLD_LIVE.path, WORLD_RENDER.path)
_DATA_FILE = re.compile(r"/data/graph-[0-9a-f]{12}\.json\.gz")

DRAWN_AT_MOST = 300
"""Number of nodes in the picture and the lists: those with the most edges. The script's file has all placed nodes."""

NEIGHBOURS_SHOWN = 8
WIDTH, HEIGHT = 1000, 680
_MARGIN, _LABELS, _LONGEST_LABEL = 60, 44, 26
_LETTER, _CAPITAL, _LINE = 6.6, 12.5, 15

Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A neighbour of a node: the relation, its direction, and the id of the neighbour's entry if it has one here."""

    relation: str
    direction: Literal["to", "from"]
    title: str
    anchor: str | None
    is_ours: bool


@dataclass(frozen=True, slots=True)
class ShownNode:
    """A node of the lists. `is_ours` is true if this service stated it; texts of others are marked."""

    node: ProjectedNode
    anchor: str
    is_ours: bool
    neighbours: tuple[Neighbour, ...]
    more: int


@dataclass(frozen=True, slots=True)
class Dot:
    """A node of the picture."""

    node: ProjectedNode
    anchor: str
    x: float
    y: float
    radius: float


@dataclass(frozen=True, slots=True)
class Label:
    """The title of a dot, at a place without another label."""

    text: str
    x: float
    y: float


@dataclass(frozen=True, slots=True)
class Picture:
    """The drawn graph: one outline per domain, lines, dots, and labels that don't overlap."""

    outlines: tuple[tuple[str, str, float, float], ...]
    """Domain, path, and the position of its name."""
    lines: str
    dots: tuple[Dot, ...]
    labels: tuple[Label, ...]


def graph_page(documents: Documents) -> Mapping[str, Any]:
    """Returns picture, lists, newest decisions, and the path of the script's file."""
    live, render = documents.read(WORLD_LIVE), documents.read(WORLD_RENDER)
    documents.source(WORLD_LIVE)
    documents.source(WORLD_RENDER)
    if live is None or render is None or not render.nodes:
        return {"live": live, "picture": None, "domains": []}
    known = {node.id: node for node in live.nodes}
    drawn = [known[node.id] for node in render.nodes if node.id in known][:DRAWN_AT_MOST]
    neighbours = _neighbours(live, known, {node.id for node in drawn})
    shown = [_shown(node, neighbours.get(node.id, [])) for node in sorted(drawn, key=lambda node: node.title.lower())]
    counts = {domain.name: domain.node_count for domain in render.domains}
    return {
        "live": live,
        "picture": picture(render, known),
        "size": (WIDTH, HEIGHT),
        "drawn": len(drawn),
        "domains": [
            (domain, counts.get(domain, 0), [one for one in shown if one.node.domain == domain]) for domain in DOMAINS
        ],
        "types": _types(live.nodes),
        "data_path": graph_data(live, render)[0],
    }


def graph_files(bodies: Bodies) -> dict[str, bytes]:
    """Returns the file that the page's script reads, by its path; empty without a graph."""
    if not bodies.keys() >= set(GRAPH_DOCUMENTS):
        return {}
    return _graph_files(*(bodies[path] for path in GRAPH_DOCUMENTS))


@lru_cache(maxsize=2)
def _graph_files(live: bytes, render: bytes) -> dict[str, bytes]:
    drawn = WORLD_RENDER.model.model_validate_json(render)
    return dict([graph_data(WORLD_LIVE.model.model_validate_json(live), drawn)]) if drawn.nodes else {}


def graph_data(live: WorldProjection, render: WorldRender) -> tuple[str, bytes]:
    """Returns path and content of the script's file. The path is derived from the content.

    It contains the placed nodes with everything known about them, and the edges among them by node numbers.
    """
    known = {node.id: node for node in live.nodes}
    placed = [(node, known[node.id]) for node in render.nodes if node.id in known]
    number = {drawn.id: at for at, (drawn, _) in enumerate(placed)}
    content = msgspec.json.encode(
        {
            "revision": live.revision,
            "nodes": [
                {
                    **node.model_dump(mode="json", by_alias=True, exclude_none=True),
                    "x": drawn.x,
                    "y": drawn.y,
                    "weight": drawn.weight,
                }
                for drawn, node in placed
            ],
            "edges": [
                [number[edge.source], number[edge.target], edge.type]
                for edge in live.edges
                if edge.source in number and edge.target in number
            ],
        }
    )
    packed = gzip.compress(content, 6, mtime=0)
    return f"/data/graph-{sha256_hex(content)[:12]}.json.gz", packed


def is_graph_file(path: str) -> bool:
    """Returns whether a path is that of a file that the page's script reads."""
    return _DATA_FILE.fullmatch(path) is not None


def anchor_of(node_id: str) -> str:
    """Returns the id of a node's entry on the page."""
    return "node:" + quote(node_id, safe=":-_.~!*'()")


def picture(render: WorldRender, known: Mapping[str, ProjectedNode]) -> Picture:
    """Lays out the nodes with the most edges so that they fill the picture."""
    drawn = [node for node in render.nodes if node.id in known][:DRAWN_AT_MOST]
    left, top = min(node.x for node in drawn), min(node.y for node in drawn)
    width, height = max(node.x for node in drawn) - left, max(node.y for node in drawn) - top
    # As wide as the page and as high as the screen: the directions have no meaning, so each is scaled to fill its own.
    scale_x, scale_y = (WIDTH - 2 * _MARGIN) / (width or 1), (HEIGHT - 2 * _MARGIN) / (height or 1)
    dots = tuple(
        Dot(
            known[node.id],
            anchor_of(node.id),
            round(_MARGIN + (node.x - left) * scale_x if width else WIDTH / 2, 1),
            round(_MARGIN + (node.y - top) * scale_y if height else HEIGHT / 2, 1),
            round(min(4 + 1.6 * sqrt(node.weight), 15), 1),
        )
        for node in drawn
    )
    at = {dot.node.id: dot for dot in dots}
    lines = "".join(
        f"M{at[edge.source].x:g} {at[edge.source].y:g}L{at[edge.target].x:g} {at[edge.target].y:g}"
        for edge in render.edges
        if edge.source in at and edge.target in at
    )
    outlines = []
    for domain in DOMAINS:
        own = [(dot.x, dot.y) for dot in dots if dot.node.domain == domain]
        if own:
            hull = convex_hull(own)
            middle = sum(x for x, _ in hull) / len(hull)
            highest = max(min(y for _, y in hull) - 34, 18)
            outlines.append((domain, "M" + "L".join(f"{x:g} {y:g}" for x, y in hull) + "z", round(middle, 1), highest))
    names = [
        (x - len(domain) * _CAPITAL / 2, y - _LINE, x + len(domain) * _CAPITAL / 2, y + 3)
        for domain, _, x, y in outlines
    ]
    return Picture(tuple(outlines), lines, dots, tuple(_labels(dots, names)))


def convex_hull(points: Iterable[Point]) -> list[Point]:
    """Returns the corners of the smallest convex outline around points, in order."""
    ordered = sorted(set(points))
    if len(ordered) < 3:
        return ordered

    def half(of: Sequence[Point]) -> list[Point]:
        corners: list[Point] = []
        for point in of:
            while len(corners) > 1 and _turn(corners[-2], corners[-1], point) <= 0:
                corners.pop()
            corners.append(point)
        return corners[:-1]

    return half(ordered) + half(ordered[::-1])


def _turn(a: Point, b: Point, c: Point) -> float:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


_Extent = tuple[float, float, float, float]
"""Left, top, right, bottom."""


def _labels(dots: Sequence[Dot], names: Iterable[_Extent]) -> Iterable[Label]:
    """Yields labels of the dots with the most edges that stay in the picture, cover no other dot and overlap no name of
    a domain and no earlier label."""
    taken = list(names)
    for dot in dots:
        if len(taken) >= _LABELS:
            return
        title = dot.node.title
        text = title if len(title) <= _LONGEST_LABEL else f"{title[: _LONGEST_LABEL - 1].rstrip()}…"
        half = len(text) * _LETTER / 2
        x, y = min(max(dot.x, half + 2), WIDTH - half - 2), dot.y + dot.radius + _LINE - 2
        box = (x - half, y - _LINE, x + half, y + 3)
        overlaps = any(
            box[0] < right and left < box[2] and box[1] < bottom and top < box[3] for left, top, right, bottom in taken
        )
        covers = any(other is not dot and box[0] < other.x < box[2] and box[1] < other.y < box[3] for other in dots)
        if y < HEIGHT and not overlaps and not covers:
            taken.append(box)
            yield Label(text, round(x, 1), round(y, 1))


def _neighbours(
    live: WorldProjection, known: Mapping[str, ProjectedNode], listed: set[str]
) -> dict[str, list[Neighbour]]:
    found: dict[str, list[Neighbour]] = {}
    directions: tuple[Literal["to", "from"], ...] = ("to", "from")
    for edge in live.edges:
        for own, other, direction in zip(
            (edge.source, edge.target), (edge.target, edge.source), directions, strict=True
        ):
            if own in listed and other in known:
                node = known[other]
                anchor = anchor_of(other) if other in listed else None
                relation = edge.type.replace("_", " ").lower()
                found.setdefault(own, []).append(
                    Neighbour(relation, direction, node.title, anchor, node.source is not None)
                )
    return found


def _shown(node: ProjectedNode, neighbours: list[Neighbour]) -> ShownNode:
    return ShownNode(
        node=node,
        anchor=anchor_of(node.id),
        is_ours=node.source is not None,
        neighbours=tuple(neighbours[:NEIGHBOURS_SHOWN]),
        more=max(0, len(neighbours) - NEIGHBOURS_SHOWN),
    )


def _types(nodes: Iterable[ProjectedNode]) -> list[tuple[str, str, int]]:
    """Returns type, domain and number of the nodes, by domain, the most frequent first."""
    counts: dict[tuple[str, str], int] = {}
    for node in nodes:
        counts[node.type, node.domain] = counts.get((node.type, node.domain), 0) + 1
    return sorted(
        ((type_, domain, count) for (type_, domain), count in counts.items()),
        key=lambda row: (DOMAINS.index(row[1]), -row[2], row[0]),
    )
