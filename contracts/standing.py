"""Loads the classes of sources and the bands of confidence from `standing.yaml`, and compares them. Pure."""

from __future__ import annotations

from bisect import bisect_right
from enum import StrEnum
from pathlib import Path
from typing import Any

import yaml

_DATA: dict[str, Any] = yaml.load((Path(__file__).parent / "standing.yaml").read_text(), yaml.CSafeLoader)


class SourceClass(StrEnum):
    """A class of sources. `standing.yaml` has their order and meaning."""

    OWNER = "owner"
    SIGNED_SYSTEM = "signed_system"
    DOCUMENT = "document"
    INFERENCE = "inference"
    HEARSAY = "hearsay"


if list(_DATA["classes"]) != list(SourceClass):
    raise ValueError(f"standing.yaml must list {', '.join(SourceClass)}, in this order")

UNSTATED = SourceClass(_DATA["unstated"])
"""The default class of a statement."""

KEYS_CLAIM = SourceClass(_DATA["keys_claim"])
"""The highest class that a key may claim unless it was created with another one."""

_RANKS = {source_class: -place for place, source_class in enumerate(SourceClass)}


def rank(source_class: SourceClass) -> int:
    """Returns a number that is higher for a higher class."""
    return _RANKS[source_class]


def higher(one: SourceClass, other: SourceClass) -> SourceClass:
    """Returns the higher class."""
    return max(one, other, key=rank)


def lower(one: SourceClass, other: SourceClass) -> SourceClass:
    """Returns the lower class."""
    return min(one, other, key=rank)


def band(confidence: float | None) -> int:
    """Returns the band of a confidence: 0 below 0.3, 1 below 0.7, else 2."""
    return bisect_right(_DATA["band_starts"], _DATA["unstated_confidence"] if confidence is None else confidence)
