"""Recognises statements that a graph has under other ids than a build derives, so that an owner's corrections,
retractions and confirmations of them persist. Pure.

An id is derived from the owner, the graph, the document and the words. Example: Lee imported Kim's graph and reads the
same notes. Every id in the file was derived from Kim's name, so "Pay the rent" in `home.md` is recognised by its words
and its document. Or the line moved from `open.md` to `home.md`: it is the same statement, because it is no longer in
`open.md`. Of an erased statement only the id is left, so it is compared with the id that `open.md` would give to these
words.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Literal

from contracts.world.extraction.findings import added_id, referred_id
from contracts.world.extraction.same_place import Place, places_of
from contracts.world.extraction.sources import EVERYWHERE
from contracts.world.identity import content_id
from contracts.world.records import Node, is_live

if TYPE_CHECKING:
    from contracts.world.extraction.build import BuiltGraph, BuiltNode

_OF_ALL_DOCUMENTS = frozenset({"mention", "link", "wikilink"})
"""Rules whose nodes are the same in every document of a graph."""


@dataclass(frozen=True)
class Statement:
    """A node that was read from documents. `text` is the text of a passage, whose title may be cut."""

    id: str
    type: str
    title: str
    text: str
    places: tuple[Place, ...]
    is_shared: bool
    """True if every document that names it gives the same node."""
    standing: Literal["live", "corrected", "over"] = "live"
    """`over`: it ended without being corrected or retracted, because its documents no longer stated it."""

    @property
    def documents(self) -> set[str]:
        """Returns the documents that state it."""
        return {place.document for place in self.places}

    @property
    def words(self) -> tuple[str, str, str]:
        """Returns its type and its words."""
        return self.type, self.title, self.text


@dataclass(frozen=True)
class Recognised:
    """Maps ids that a build derived to the different ids of the same statements in the graph. `moved` contains the
    graph's ids of statements that were in another document before."""

    ids: Mapping[str, str] = field(default_factory=dict)
    moved: frozenset[str] = frozenset()


def built_statements(graph: BuiltGraph) -> list[Statement]:
    """Returns the statements that a build read from its documents, in the order of discovery."""
    return [_of_built(node) for node in graph.nodes if node.spans]


def stored_statements(nodes: Iterable[Node]) -> list[Statement]:
    """Returns the statements that earlier builds read, given the newest states of a graph's nodes."""
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


class Recognition:
    """Recognises statements of documents in two steps, between which the caller looks up which of them were erased."""

    def __init__(
        self,
        graph: str,
        stated: Sequence[Statement],
        stored: Sequence[Statement],
        known: Collection[str],
        documents: Collection[str],
    ) -> None:
        """`graph` names the graph with its owner, and `stored` are its statements. `known` are the ids of `stated` that
        are in use, including those of erased nodes. `documents` are those that were read or no longer exist."""
        self._graph = graph
        unread = _documents_of(statement for statement in stored if statement.standing == "live") - set(documents)
        self._documents = _documents_of([*stored, *stated]) - unread
        self._claims = _Claims(stored)
        left = self._claims.by_id(stated, known)
        left = self._claims.by_likeness(left, _by_place)
        left = self._claims.by_likeness(left, _by_document)
        before = set(self._claims.claimed)
        self._left = self._claims.by_likeness(left, self._by_words)
        self._moved = frozenset(self._claims.claimed - before)

    def ids_elsewhere(self) -> Iterator[tuple[str, str]]:
        """Yields the ids that new statements would have in other documents, each with the statement's id."""
        for statement in self._left:
            if statement.is_shared or statement.type == "Document":
                continue
            (own, *_) = sorted(statement.documents)
            derive = next((way for way in _derivations(self._graph, statement) if way(own) == statement.id), None)
            if derive is None:
                continue
            for document in sorted(self._documents - {own}):
                if (elsewhere := derive(document)) not in self._claims.claimed:
                    yield elsewhere, statement.id

    def result(self, erased: Iterable[tuple[str, str]]) -> Recognised:
        """Returns the recognised statements. `erased` are the pairs of `ids_elsewhere` that have only a tombstone."""
        by_id = {statement.id: statement for statement in self._left}
        for elsewhere, own in erased:
            if own in by_id and elsewhere not in self._claims.claimed:
                self._claims.give(by_id.pop(own), elsewhere)
        return Recognised(self._claims.others(by_id.values()), self._moved)

    def _by_words(self, statement: Statement) -> Iterator[object]:
        """Yields the words of a statement that may have moved, which requires that no unread document still has it."""
        is_over = statement.is_shared or statement.type == "Document" or statement.standing == "over"
        if not is_over and statement.documents <= self._documents:
            yield statement.words


def ids_of_rebuild(graph: str, nodes: Iterable[Node], stored: Iterable[Node]) -> Iterator[tuple[Node, str]]:
    """Yields those of `nodes` whose ids differ from the ones that a build would derive, with each id it may derive.

    `stored` are all nodes of the graph. Of an erased node only these ids may remain, so that a build recognises it.
    """
    alike: dict[object, list[str]] = {}
    for statement in sorted(stored_statements(stored), key=attrgetter("places")):
        for likeness in _by_document(statement) if statement.standing != "over" else ():
            alike.setdefault(likeness, []).append(statement.id)
    for node in nodes:
        statement = _of_stored(node)
        if statement.is_shared:
            ids = {referred_id(graph, EVERYWHERE, node.type, name) for name in (node.title.casefold(), node.title)}
            yield from ((node, node_id) for node_id in sorted(ids) if node.id not in ids)
            continue
        for likeness, document in zip(_by_document(statement), sorted(statement.documents), strict=True):
            ways = list(_derivations(graph, statement))
            if any(way(document) == node.id for way in ways):
                continue
            of_words = alike.get(likeness, [])
            number = of_words.index(node.id) if node.id in of_words else 0
            yield from ((node, way(document)) for way in (ways[0], *ways[number + 1 : number + 2]))


def _documents_of(statements: Iterable[Statement]) -> set[str]:
    return {document for statement in statements for document in statement.documents}


_MOST_ALIKE = 20
"""Maximum number of statements with the same words in one document that are told apart."""


def _derivations(graph: str, statement: Statement) -> Iterator[Callable[[str], str]]:
    """Yields the ways in which the id of a statement may be derived from its document."""
    yield lambda document: referred_id(graph, document, statement.type, statement.title.casefold())
    for number in range(_MOST_ALIKE):
        yield partial(added_id, graph, node_type=statement.type, title=statement.title, number=number)


class _Claims:
    """Assigns ids to statements, each id once."""

    def __init__(self, stored: Sequence[Statement]) -> None:
        self._stored = {statement.id: statement for statement in stored}
        self._ids: dict[str, str] = {}
        self.claimed: set[str] = set()

    def by_id(self, stated: Iterable[Statement], known: Collection[str]) -> list[Statement]:
        """Lets each statement keep its derived id if the graph has that id from the same document, or only as the
        remains of an erased node. Returns all others."""
        left = []
        for statement in stated:
            stored = self._stored.get(statement.id)
            is_of_it = statement.is_shared or stored is None or not stored.documents.isdisjoint(statement.documents)
            if statement.id in known and is_of_it:
                self.give(statement, statement.id)
            else:
                left.append(statement)
        return left

    def by_likeness(
        self, stated: Sequence[Statement], likenesses: Callable[[Statement], Iterable[object]]
    ) -> list[Statement]:
        """Gives each statement the id of a stored one with the same likeness. Returns all others."""
        if not stated:
            return []
        alike: dict[object, list[str]] = {}
        in_order = sorted(
            self._stored.values(), key=lambda stored: (stored.standing == "over", stored.places), reverse=True
        )
        for stored in in_order:
            if stored.id not in self.claimed:
                for likeness in likenesses(stored):
                    alike.setdefault(likeness, []).append(stored.id)
        return [statement for statement in stated if not self._take(statement, alike, likenesses(statement))]

    def others(self, left: Iterable[Statement]) -> dict[str, str]:
        """Maps derived ids to the assigned ones, where they differ. A statement in `left` gets another id if its
        derived id belongs to a statement that has moved to another document."""
        for statement in left:
            is_taken = statement.id in self.claimed
            self.give(
                statement,
                content_id("kg", statement.id, *sorted(statement.documents)) if is_taken else statement.id,
            )
        return {derived: node_id for derived, node_id in self._ids.items() if derived != node_id}

    def _take(self, statement: Statement, alike: Mapping[object, list[str]], likenesses: Iterable[object]) -> bool:
        """Gives a statement the id of a free stored one with the same likeness, and returns whether there was one."""
        for likeness in likenesses:
            free = alike.get(likeness, [])
            while free:
                node_id = free.pop()
                if node_id not in self.claimed:
                    self.give(statement, node_id)
                    return True
        return False

    def give(self, statement: Statement, node_id: str) -> None:
        """Gives a statement an id that no other statement has."""
        self._ids[statement.id] = node_id
        self.claimed.add(node_id)


def _by_place(statement: Statement) -> Iterator[object]:
    for place in statement.places:
        yield statement.words, place


def _by_document(statement: Statement) -> Iterator[object]:
    for document in [EVERYWHERE] if statement.is_shared else sorted(statement.documents):
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
        standing="live" if is_live(node) else "corrected" if node.retracted else "over",
    )


def _text_of(node_type: str, properties: Mapping[str, Any]) -> str:
    return str(properties.get("text", "")) if node_type == "Passage" else ""
