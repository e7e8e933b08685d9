"""Recognises statements that a graph has under other ids than those that a build derives: what their owner corrected,
retracted or confirmed stays so. Pure.

An id is derived from the owner, the graph, the document and the words. Example: Lee took Kim's graph along and reads
the same notes. Every id of the file was derived from Kim's name, so "Pay the rent" in `home.md` is recognised by its
words and its document.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from contracts.world.extraction.build import BuiltGraph, BuiltNode
from contracts.world.extraction.same_place import Place, places_of
from contracts.world.identity import content_id
from contracts.world.records import Node, is_live

_OF_ALL_DOCUMENTS = frozenset({"mention", "link", "wikilink"})
"""Rules whose nodes are the same in every document of a graph."""


@dataclass(frozen=True)
class Statement:
    """A node that was read from documents. `text` is that of a passage, whose title may be cut."""

    id: str
    type: str
    title: str
    text: str
    places: tuple[Place, ...]
    is_shared: bool
    """True if the node is the same in every document that names it."""
    is_over: bool = False
    """True if it ended without being corrected or retracted: its documents said it no longer."""

    @property
    def documents(self) -> set[str]:
        """Returns the documents that state it."""
        return {place.document for place in self.places}

    @property
    def words(self) -> tuple[str, str, str]:
        """Returns its kind and its words."""
        return self.type, self.title, self.text


@dataclass(frozen=True)
class Recognised:
    """The ids in the graph of statements that a build gives other ids, by these."""

    ids: Mapping[str, str] = field(default_factory=dict)


def built_statements(graph: BuiltGraph) -> list[Statement]:
    """Returns what a build read from its documents, in the order of discovery."""
    return [_of_built(node) for node in graph.nodes if node.spans]


def stored_statements(nodes: Iterable[Node]) -> list[Statement]:
    """Returns what earlier builds read, of the newest states of a graph's nodes."""
    found = (_of_stored(node) for node in nodes if not node.erased)
    return [statement for statement in found if statement.places]


def together(statements: Iterable[Statement]) -> list[Statement]:
    """Returns each statement once, with its places in all documents."""
    by_id: dict[str, Statement] = {}
    for statement in statements:
        known = by_id.setdefault(statement.id, statement)
        if known is not statement:
            places = tuple(sorted({*known.places, *statement.places}))
            by_id[statement.id] = replace(known, places=places)
    return list(by_id.values())


def recognised(stated: Sequence[Statement], stored: Sequence[Statement], known: Collection[str]) -> Recognised:
    """Returns the ids of statements that the graph has under others. `known` are the ids of `stated` that are taken,
    also by what was erased."""
    claims = _Claims(stored)
    left = claims.by_id(stated, known)
    left = claims.by_likeness(left, _by_place)
    left = claims.by_likeness(left, _by_document)
    return Recognised(claims.others(left))


class _Claims:
    """The ids that statements get, each one of them once."""

    def __init__(self, stored: Sequence[Statement]) -> None:
        self._stored = {statement.id: statement for statement in stored}
        self._ids: dict[str, str] = {}
        self._claimed: set[str] = set()

    def by_id(self, stated: Iterable[Statement], known: Collection[str]) -> list[Statement]:
        """Lets each statement keep the id that is derived for it if the graph has it of the same document, or of none
        any more. Returns all others."""
        left = []
        for statement in stated:
            stored = self._stored.get(statement.id)
            is_of_it = statement.is_shared or stored is None or not stored.documents.isdisjoint(statement.documents)
            if statement.id in known and is_of_it:
                self._give(statement, statement.id)
            else:
                left.append(statement)
        return left

    def by_likeness(
        self, stated: Sequence[Statement], likenesses: Callable[[Statement], Iterable[object]]
    ) -> list[Statement]:
        """Gives each statement the id of a stored one that it is like. Returns all others."""
        if not stated:
            return []
        alike: dict[object, list[str]] = {}
        in_order = sorted(self._stored.values(), key=lambda stored: (stored.is_over, stored.places), reverse=True)
        for stored in in_order:
            if stored.id not in self._claimed:
                for likeness in likenesses(stored):
                    alike.setdefault(likeness, []).append(stored.id)
        return [statement for statement in stated if not self._take(statement, alike, likenesses(statement))]

    def others(self, left: Iterable[Statement]) -> dict[str, str]:
        """Returns the ids by the derived ones, where they differ. Of those in `left` a derived id differs if what has
        it stands in another document by now."""
        for statement in left:
            is_taken = statement.id in self._claimed
            self._give(
                statement,
                content_id("kg", statement.id, *sorted(statement.documents)) if is_taken else statement.id,
            )
        return {derived: node_id for derived, node_id in self._ids.items() if derived != node_id}

    def _take(self, statement: Statement, alike: Mapping[object, list[str]], likenesses: Iterable[object]) -> bool:
        """Decides whether one of those that a statement is like is free, and gives it its id."""
        for likeness in likenesses:
            free = alike.get(likeness, [])
            while free:
                node_id = free.pop()
                if node_id not in self._claimed:
                    self._give(statement, node_id)
                    return True
        return False

    def _give(self, statement: Statement, node_id: str) -> None:
        self._ids[statement.id] = node_id
        self._claimed.add(node_id)


def _by_place(statement: Statement) -> Iterator[object]:
    for place in statement.places:
        yield statement.words, place


def _by_document(statement: Statement) -> Iterator[object]:
    for document in ["*"] if statement.is_shared else sorted(statement.documents):
        yield statement.words, document


def _of_built(node: BuiltNode) -> Statement:
    return Statement(
        id=node.id,
        type=node.type,
        title=node.title,
        text=_text_of(node.type, node.properties),
        places=tuple(sorted(Place(span.document, span.start, span.end) for span in node.spans)),
        is_shared=node.rule in _OF_ALL_DOCUMENTS,
    )


def _of_stored(node: Node) -> Statement:
    return Statement(
        id=node.id,
        type=node.type,
        title=node.title,
        text=_text_of(node.type, node.properties),
        places=tuple(sorted(places_of(node))),
        is_shared=node.properties.get("rule") in _OF_ALL_DOCUMENTS,
        is_over=not is_live(node) and not node.retracted,
    )


def _text_of(node_type: str, properties: Mapping[str, Any]) -> str:
    return str(properties.get("text", "")) if node_type == "Passage" else ""
