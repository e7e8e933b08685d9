"""Recognises documents of a graph under other file names by their content, so that an owner's corrections and erasures
of a note survive the renaming of its file. Pure.

Example: `plan.md` is gone, and the new file `trip.md` contains most passages that the graph has of it. Then `trip.md`
is the document `plan.md`, and keeps that id. The same applies if `plan.md` now contains another text: a diary
`today.md` that starts over each day, or two files that swapped their names.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import NamedTuple

from contracts.world.extraction.sources import documents_of
from contracts.world.records import Node, is_live

LEAST_IN_COMMON = 0.5
"""The smallest share of a document's content that a text must contain to count as that document."""


class BuiltDocument(NamedTuple):
    """A document in a graph: `said` are its title and its passages. `url` is None if its id is its path."""

    url: str | None
    said: frozenset[str]


def built_documents(nodes: Iterable[Node]) -> dict[str, BuiltDocument]:
    """Returns the documents among the live nodes of one graph, by id."""
    urls: dict[str, str | None] = {}
    said: dict[str, set[str]] = {}
    for node in filter(is_live, nodes):
        if node.type not in ("Document", "Passage"):
            continue
        text = node.properties.get("text", node.title)
        for name in documents_of(node.properties):
            said.setdefault(name, set()).add(_words(str(text)))
            if node.type == "Document":
                url = node.properties.get("url")
                urls[name] = url if isinstance(url, str) else None
    return {name: BuiltDocument(url, frozenset(said[name])) for name, url in urls.items()}


def document_like(
    text: str, documents: Mapping[str, BuiltDocument], left: Mapping[str, float] = MappingProxyType({})
) -> str | None:
    """Returns the id of the document of which a text contains the largest share, or None if that is less than half.

    `left` gives the share of documents that is still at their paths: the text must contain more than that.
    """
    words = _words(text)
    in_common = {name: _part_in(words, document) for name, document in documents.items()}
    alike = [name for name, part in in_common.items() if part >= LEAST_IN_COMMON and part > left.get(name, 0.0)]
    return max(sorted(alike), key=in_common.__getitem__, default=None)


def part_in(text: str, document: BuiltDocument) -> float:
    """Returns the share of a document's content that a text contains."""
    return _part_in(_words(text), document)


def _part_in(words: str, document: BuiltDocument) -> float:
    return sum(said in words for said in document.said) / len(document.said)


def _words(text: str) -> str:
    return " ".join(text.split())
