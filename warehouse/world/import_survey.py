"""Reads an imported file once before it is judged, to find its nodes and the words by which it is judged."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from contracts.world.import_file import (
    FileIndex,
    Limits,
    Lines,
    StateReader,
    Words,
    read_import,
    survey,
    words_after,
)
from contracts.world.ontology import Ontology
from contracts.world.own_ontology import ontology_with
from contracts.world.portable import OntologyRecord
from contracts.world.proposal import Actor
from warehouse.ledger.ledger import Reader
from warehouse.world.import_questions import claimed_ids
from warehouse.world.ontologies import words_ever_of, words_of


class JudgeAgain(Exception):
    """Signals that the judgement is outdated: the owner's words have changed, or others wrote nodes or edges that were
    new in the file, or erased nodes of the owner."""


@dataclass(frozen=True)
class SurveyedFile:
    """A file that has been read once."""

    lines: Lines
    actor: Actor
    owner: str
    known: Words
    """The words that the owner had when the file was read."""
    words: Words
    """The words by which the file is judged."""
    index: FileIndex

    @property
    def ontology(self) -> Ontology:
        """Returns the ontology by which the file is judged."""
        return ontology_with(self.words.newest)

    @property
    def size(self) -> int:
        """Returns the number of its nodes and edges."""
        return len(self.index.types) + self.index.edges

    @cached_property
    def endings(self) -> set[tuple[str, str]]:
        """Returns pairs of stored ids: a node, and another that it ended in some state of the file."""
        stored = self.index.stored
        return {(stored.get(by, by), stored[ended]) for by, ended in self.index.endings}

    @cached_property
    def confirmed(self) -> set[str]:
        """Returns the stored ids of the nodes that are confirmed in some state of the file."""
        return {self.index.stored[node_id] for node_id in self.index.confirmed}

    @property
    def reading(self) -> StateReader:
        """Returns a reader for the stored ids of edges."""
        index = self.index
        return StateReader(self.owner, "", "", self.ontology, index.stored, edge_ids=index.edge_ids)

    def refuse_other_words(self, reader: Reader) -> None:
        """Raises `JudgeAgain` if the owner's words have changed since."""
        if _words_of_owner(reader, self.owner) != self.known:
            raise JudgeAgain


def survey_file(
    reader: Reader, lines: Lines, actor: Actor, limits: Limits | None, on_nodes: Callable[[int], None]
) -> SurveyedFile:
    """Reads the whole file and its owner's words. `on_nodes` is called repeatedly with the number of nodes so far.

    Raises `ImportInvalid`, `IdTaken`, `SecretInText`.
    """
    owner, nodes = actor.owner, 0
    assert owner is not None, "an import is private"

    def claimed(ids: list[str]) -> dict[str, str]:
        nonlocal nodes
        nodes += len(ids)
        on_nodes(nodes)
        return claimed_ids(reader, owner, ids)

    known = words = _words_of_owner(reader, owner)
    first = next(read_import(lines()), None)
    if isinstance(first, OntologyRecord):
        words = words_after(first, known)
    index = survey(lines, owner, claimed, ontology_with(words.newest), limits)
    return SurveyedFile(lines, actor, owner, known, words, index)


def _words_of_owner(reader: Reader, owner: str) -> Words:
    return Words(words_of(reader, owner), words_ever_of(reader, owner))
