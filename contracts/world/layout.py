"""Computes the positions of drawn nodes. The same graph has the same layout, and placed nodes never move. Pure.

New nodes settle between their neighbours and their domain's place on a ring, and are pushed away from nearby nodes by
way of a grid. So the cost grows with nodes and edges, never with pairs of nodes.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from contracts.world.ontology import DOMAINS

Points: TypeAlias = np.ndarray[Any, Any]

SIDE = 1000.0
"""Side of the square of positions, which begins at 0."""

RING = 320.0
ROUNDS = 60
CELL = 25.0
_PULL, _PUSH, _HOME, _FIRST_STEP = 0.08, 60.0, 0.02, 40.0


def home_of(domain: str) -> tuple[float, float]:
    """Returns the centre of a domain: its place on the ring, the first one at the top."""
    angle = 2 * math.pi * DOMAINS.index(domain) / len(DOMAINS) - math.pi / 2
    return round(SIDE / 2 + RING * math.cos(angle), 1), round(SIDE / 2 + RING * math.sin(angle), 1)


def place(
    nodes: Sequence[tuple[str, str]],
    edges: Sequence[tuple[str, str]],
    placed: Mapping[str, tuple[float, float]],
) -> dict[str, tuple[float, float]]:
    """Returns positions of `nodes` (id and domain) with `edges` between them (ids). Nodes in `placed` stay there."""
    number = {node_id: at for at, (node_id, _) in enumerate(nodes)}
    homes = np.array([home_of(domain) for _, domain in nodes]).reshape(-1, 2)
    points = np.array(
        [placed.get(node_id) or _start(node_id, domain) for node_id, domain in nodes], dtype=float
    ).reshape(-1, 2)
    moving = np.array([node_id not in placed for node_id, _ in nodes], dtype=bool)
    ends = np.array([(number[source], number[target]) for source, target in edges], dtype=int).reshape(-1, 2)
    if moving.any():
        for step in np.linspace(_FIRST_STEP, 1.0, ROUNDS):
            points[moving] += _limited(_forces(points, homes, ends), step)[moving]
            np.clip(points, 0, SIDE, out=points)
    return {
        node_id: (round(float(x), 1), round(float(y), 1)) for (node_id, _), (x, y) in zip(nodes, points, strict=True)
    }


def _start(node_id: str, domain: str) -> tuple[float, float]:
    """Returns a position near the domain's centre that depends only on the id."""
    digest = hashlib.sha256(node_id.encode()).digest()
    angle = int.from_bytes(digest[:4]) / 2**32 * 2 * math.pi
    distance = math.sqrt(int.from_bytes(digest[4:8]) / 2**32) * RING / 2.5
    x, y = home_of(domain)
    return x + distance * math.cos(angle), y + distance * math.sin(angle)


def _forces(points: Points, homes: Points, ends: Points) -> Points:
    forces: Points = (homes - points) * _HOME
    along = (points[ends[:, 1]] - points[ends[:, 0]]) * _PULL
    degree = np.maximum(np.bincount(ends.ravel(), minlength=len(points)), 1)[:, None]
    pulled = np.zeros_like(points)
    np.add.at(pulled, ends[:, 0], along)
    np.add.at(pulled, ends[:, 1], -along)
    return forces + pulled / np.sqrt(degree) + _push(points)


def _push(points: Points) -> Points:
    """Returns the forces away from the middle of each nearby cell, which grow with its number of nodes."""
    width = int(SIDE / CELL) + 3
    cells = (points // CELL).astype(int) + 1
    flat = cells[:, 0] * width + cells[:, 1]
    count = np.bincount(flat, minlength=width * width)
    middle = np.stack(
        [np.bincount(flat, points[:, axis], minlength=width * width) / np.maximum(count, 1) for axis in (0, 1)], axis=1
    )
    pushed = np.zeros_like(points)
    for across in (-1, 0, 1):
        for down in (-1, 0, 1):
            near = flat + across * width + down
            away = points - middle[near]
            distance = np.maximum((away**2).sum(axis=1), 4.0)[:, None]
            pushed += _PUSH * away / distance * count[near][:, None] ** 0.5
    return pushed


def _limited(forces: Points, step: float) -> Points:
    length = np.maximum(np.sqrt((forces**2).sum(axis=1)), 1e-9)[:, None]
    limited: Points = forces / length * np.minimum(length, step)
    return limited
