"""Names the source of statements that builds of a graph make, and the documents in which they were found. Pure."""

from __future__ import annotations

from typing import Any

EVERYWHERE = "*"
"""The scope of names that mean the same in every document of a graph: handles, URLs and other notes."""

_SOURCE = "knowledge-graph/build:"


def source_of(graph_id: str) -> str:
    """Returns the source of everything that builds of a graph state."""
    return f"{_SOURCE}{graph_id}"


def graph_of(source: str) -> str | None:
    """Returns the graph whose builds have a source, or None for another kind of source."""
    return source.removeprefix(_SOURCE) if source.startswith(_SOURCE) else None


def documents_of(properties: dict[str, Any]) -> set[str]:
    """Returns the documents in which a node or edge was found; empty if it was stated in another way."""
    spans = properties.get("spans")
    return {str(span).rpartition(":")[0] for span in spans} if isinstance(spans, list) else set()
