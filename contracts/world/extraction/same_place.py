"""Finds the other nodes that a build read from a node's place, because erasing a passage may be meant for all of them.
Pure.

Example: "We decided to move because of the noise." is a passage, and a decision with its rationale; "Blood type: 0+"
is a passage, and a property of its document or of the heading above it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from contracts.world.records import Node, is_live


class Place(NamedTuple):
    """A part of a document as character offsets, with the end excluded."""

    document: str
    start: int
    end: int


def said_there_too(node: Node, neighbours: Iterable[Node]) -> list[Node]:
    """Returns the live neighbours that repeat text at a node's place: those that were read only there, and those of the
    same document with a property whose value is in that text."""
    places = places_of(node)
    text = str(node.properties.get("text", node.title))
    return [other for other in neighbours if is_live(other) and places and _says(other, places, text)]


_NOT_STATED = {"spans", "rule", "url", "section", "text", "dates", "amounts"}
"""Properties that record where a node was read, or repeat parts of its title or text."""


def _says(other: Node, places: list[Place], text: str) -> bool:
    own = places_of(other)
    if own and all(any(_is_within(place, outer) for outer in places) for place in own):
        return True
    is_of_it = {place.document for place in own} & {place.document for place in places}
    return bool(is_of_it) and any(_bare(value) in _bare(text) for value in _stated(other.properties))


def _stated(properties: dict[str, Any]) -> Iterable[str]:
    for name, value in properties.items():
        for part in value if isinstance(value, list) else [value]:
            if name not in _NOT_STATED and isinstance(part, str) and _bare(part):
                yield part


def _bare(text: str) -> str:
    """Returns the letters and digits of a text, because values lack the markup of their passage."""
    return "".join(filter(str.isalnum, text)).casefold()


def _is_within(place: Place, outer: Place) -> bool:
    return place.document == outer.document and outer.start <= place.start and place.end <= outer.end


def places_of(node: Node) -> list[Place]:
    """Returns the places at which a node was read."""
    spans = node.properties.get("spans")
    found = []
    for span in spans if isinstance(spans, list) else ():
        document, _, bounds = str(span).rpartition(":")
        start, _, end = bounds.partition("-")
        if start.isdigit() and end.isdigit():
            found.append(Place(document, int(start), int(end)))
    return found
