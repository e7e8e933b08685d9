"""Imports a folder of Markdown notes into an owner's part of the graph, for `svc world import`."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from collections.abc import Set as AbstractSet
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from cli.output import note
from contracts.canonical import sha256_hex
from contracts.errors import ImportRefused, RequestProblem
from contracts.secret_texts import SECRETS, secret_in
from contracts.world.proposal import Actor, Decision
from contracts.world.text import fault_of_title
from warehouse.ledger.ledger import Ledger
from warehouse.world.write import JUDGED_AT_MOST, judge_outside, overtaken, write_judged

if TYPE_CHECKING:
    from api.world.large import Surveyed, ToBeWritten
    from contracts.world.extraction.build import BuildRequest, SourceDocument
    from contracts.world.extraction.document_names import DocumentNames
    from contracts.world.extraction.same_statements import Statement

MOST_NOT_KEPT = 20
"""How many of the parts that are in no node a report quotes."""

DOCUMENTS_AT_ONCE = 20
CHARACTERS_AT_ONCE = 100_000
"""Limits of the notes that are read together; they are within the limits of one request."""

NOTE_SUFFIXES = (".md", ".markdown")

_LONGEST_URL = 2_000
_NOT_OF_A_FORMER_NAME = re.compile(r"[^A-Za-z0-9._/@#-]+")
_NOT_OF_A_GRAPH_ID = re.compile(r"[^A-Za-z0-9._-]+")
_GRAPH_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_LONGEST_FOLDER_NAME = 55
"""Characters of a folder's name in the id of its graph."""


def import_notes(ledger: Ledger, folder: Path, owner: str, graph: str | None) -> dict[str, Any]:
    """Reads every note below a folder as a document of its owner. Reading the folder again replaces statements that are
    no longer in the notes, and ends statements that were only in deleted notes."""
    from api.world.large import former_documents
    from contracts.world.extraction.document_names import DocumentNames

    graph_id = _graph_of(ledger, folder, owner, graph)
    done = Decided()
    paths = list(_note_paths(folder))
    former = former_documents(ledger, graph_id, owner)
    names = DocumentNames(former, {path.as_posix() for path in paths}, lambda path: _text_within(folder, path))
    surveyed = _survey(ledger, owner, graph_id, former.keys(), partial(_notes, folder, paths, names))
    for notes in _notes(folder, paths, names, done):
        note(f"reading {notes[0].path}" + (f" and {len(notes) - 1} more" if len(notes) > 1 else ""))
        _build(ledger, owner, graph_id, notes, surveyed, done)
    if done.present:  # an unmounted folder is empty too, and must not end everything
        _end_gone(ledger, owner, graph_id, done)
    return {
        "ok": not done.left_out,
        "graph": graph_id,
        "documents": done.documents,
        "moved": names.moved,
        "gone": done.gone,
        "written": done.written,
        "nodes": done.nodes,
        "edges": done.edges,
        "withheld": dict(done.withheld),
        "leftOut": done.left_out,
        "notKept": {"parts": done.parts_not_kept, "characters": done.characters_not_kept, "first": done.first_not_kept},
        "contradictions": done.contradictions,
        "revision": done.revision,
    }


def _graph_of(ledger: Ledger, folder: Path, owner: str, graph: str | None) -> str:
    """Returns the id of a folder's graph: the given one, or the folder's name with a hash of its path, because two
    folders may have the same name.

    Raises `ImportRefused`, also if there is a graph from an earlier version, which used only the name: only the owner
    knows which folder that graph belongs to.
    """
    from contracts.world.extraction.sources import source_of

    if graph is not None:
        if _GRAPH_ID.fullmatch(graph) is None:
            raise ImportRefused(
                f"{graph!r} is not a valid graph name.",
                cure="Use 1 to 64 letters and digits, and after the first one also . _ -",
            )
        return graph
    place = folder.resolve()
    name = _NOT_OF_A_GRAPH_ID.sub("-", place.name).strip("-._")[:_LONGEST_FOLDER_NAME] or "notes"
    graph_id = f"{name}-{sha256_hex(os.fsencode(place))[:8]}"
    former = _NOT_OF_A_FORMER_NAME.sub("-", place.name).strip("-._/@#")[:60] or "notes"
    with ledger.read() as reader:
        sources = {row["source"] for row in reader.rows("world_sources_of", owner=owner)}
    if source_of(former) in sources and source_of(graph_id) not in sources:
        raise ImportRefused(
            f"{owner} already has a graph {former}, which may be of another folder.",
            cure=f"Continue it with `--graph {former}`, or start a graph of {place} with `--graph {graph_id}`.",
        )
    return graph_id


class Decided:
    """The results of the notes so far."""

    def __init__(self) -> None:
        self.documents = 0
        self.present: set[str] = set()
        """The ids of all existing notes, including those that are left out."""
        self.gone = 0
        self.nodes = 0
        self.edges = 0
        self.revision = 0
        self.left_out: list[dict[str, str]] = []
        self.parts_not_kept = self.characters_not_kept = 0
        self.first_not_kept: list[dict[str, str]] = []
        """Parts of notes that are in no node, such as code and comments."""
        self.contradictions: list[dict[str, str]] = []
        self.withheld: Counter[str] = Counter()

    @property
    def written(self) -> int:
        return self.nodes + self.edges

    def built(self, documents: int, built: dict[str, Any], decision: Decision | None) -> None:
        """Counts what was written and withheld, and collects the graph's contradictions by title."""
        self.documents += documents
        self.withheld.update(node["reason"] for node in built["withheld"])
        unread = built["notUnderstood"]
        self.parts_not_kept += unread["leftOut"]
        self.characters_not_kept += unread["leftOutCharacters"]
        not_kept = ({"file": part["document"], "text": part["text"]} for part in unread["parts"] if not part["kept"])
        self.first_not_kept += islice(not_kept, MOST_NOT_KEPT - len(self.first_not_kept))
        titles = {node["id"]: node["title"] for node in built["nodes"]}
        self.contradictions += [
            {name: titles.get(value, value) for name, value in edge.items()} for edge in built["contradictions"]
        ]
        self.decided(decision)

    def decided(self, decision: Decision | None) -> None:
        """Counts the states of a decision."""
        if decision is not None:
            self.nodes += len(decision.nodes)
            self.edges += len(decision.edges)
            self.revision = decision.revision


class Note(NamedTuple):
    """A note with its path below the folder."""

    path: str
    document: SourceDocument


def _note_paths(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.rglob("*")):
        relative = path.relative_to(folder)
        is_hidden = any(part.startswith(".") for part in relative.parts)
        if not is_hidden and path.suffix.lower() in NOTE_SUFFIXES and path.is_file():
            yield relative


def _notes(folder: Path, paths: Iterable[Path], names: DocumentNames, done: Decided) -> Iterator[list[Note]]:
    from contracts.world.extraction.build import SourceDocument

    together: list[Note] = []
    size, within = 0, folder.resolve()
    for relative in paths:
        path, name = folder / relative, relative.as_posix()
        if not path.resolve().is_relative_to(within):
            done.left_out.append({"file": name, "reason": "it is a link that leads out of the folder"})
            continue
        text, fault = _text_of(path)
        document_id = names.id_of(name)
        done.present.add(document_id)
        if text is None:
            done.left_out.append({"file": name, "reason": fault})
            continue
        if (secret := secret_in(text)) is not None:
            done.left_out.append({"file": name, "reason": f"it contains {SECRETS[secret]}, which no graph may store"})
            continue
        if together and (len(together) >= DOCUMENTS_AT_ONCE or size + len(text) > CHARACTERS_AT_ONCE):
            yield together
            together, size = [], 0
        # An id that differs from the path does not show where the note is.
        url = None if document_id == name or fault_of_title(name, _LONGEST_URL) else name
        together.append(Note(name, SourceDocument(id=document_id, markdown=text, url=url)))
        size += len(text)
    if together:
        yield together


def _text_of(path: Path) -> tuple[str | None, str]:
    """Returns the text of a note, or None and the reason why it can't be read."""
    try:
        return path.read_text(encoding="utf-8"), ""
    except UnicodeDecodeError:
        return None, "it is not UTF-8"
    except OSError as error:
        return None, f"it can't be read: {error.strerror}"


def _text_within(folder: Path, path: str) -> str | None:
    """Returns the text of a note, or None if it is unreadable or a link that leads out of the folder."""
    file = folder / path
    return _text_of(file)[0] if file.resolve().is_relative_to(folder.resolve()) else None


def _survey(
    ledger: Ledger,
    owner: str,
    graph_id: str,
    former: AbstractSet[str],
    notes_of: Callable[[Decided], Iterable[list[Note]]],
) -> Surveyed:
    """Reads all notes once before writing any: one note may refer to a person that another one introduces, and a
    statement removed from one note may have moved to another."""
    from api.world.large import Surveyed, known_people, recognise

    there = Decided()
    known = known_people(ledger, graph_id, owner, ())
    stated: list[Statement] = []
    people: set[str] = set()
    for notes in notes_of(there):
        note(f"looking through {notes[0].path}" + (f" and {len(notes) - 1} more" if len(notes) > 1 else ""))
        _look_through(ledger, owner, graph_id, notes, known, stated if former else None, people)
    same = recognise(ledger, graph_id, owner, stated, former - there.present)
    return Surveyed(same, frozenset(people | known_people(ledger, graph_id, owner, there.present | set(former))))


def _look_through(
    ledger: Ledger,
    owner: str,
    graph_id: str,
    notes: list[Note],
    known: Collection[str],
    stated: list[Statement] | None,
    people: set[str],
) -> None:
    """Collects the statements and people of some notes. If one note is refused, collects those of the others."""
    from api.world.large import statements_of

    try:
        statements, named = statements_of(ledger, _request(graph_id, notes), owner, known)
    except RequestProblem:
        for single in notes if len(notes) > 1 else ():
            _look_through(ledger, owner, graph_id, [single], known, stated, people)
        return
    people |= named
    if stated is not None:
        stated += statements


def _request(graph_id: str, notes: list[Note]) -> BuildRequest:
    from contracts.world.extraction.build import BuildRequest

    return BuildRequest(graph_id=graph_id, documents=[document for _, document in notes], mode="apply")


def _build(ledger: Ledger, owner: str, graph_id: str, notes: list[Note], surveyed: Surveyed, done: Decided) -> None:
    """Builds and writes the graph of some notes. If one of the notes is refused, the others are written without it."""
    from api.world.large import prepare_build, unpacked

    try:
        prepared = prepare_build(ledger, _request(graph_id, notes), Actor("caller", owner), surveyed)
        decision = None if prepared.to_be_written is None else _write(ledger, unpacked(prepared.to_be_written))
    except RequestProblem as problem:
        reason = problem.detail
    else:
        if decision is None or decision.verdict == "approved":
            done.built(len(notes), msgspec.json.decode(prepared.fields), decision)
            return
        reason = _why_refused(decision)
    if len(notes) == 1:
        done.left_out.append({"file": notes[0].path, "reason": reason})
        return
    for single in notes:
        _build(ledger, owner, graph_id, [single], surveyed, done)


def _end_gone(ledger: Ledger, owner: str, graph_id: str, done: Decided) -> None:
    """Ends the statements that were only in deleted notes."""
    from api.world.large import documents_built

    gone = sorted(documents_built(ledger, graph_id, owner) - done.present)
    for first in range(0, len(gone), DOCUMENTS_AT_ONCE):
        _end(ledger, owner, graph_id, gone[first : first + DOCUMENTS_AT_ONCE], done)


def _end(ledger: Ledger, owner: str, graph_id: str, gone: list[str], done: Decided) -> None:
    """Ends the statements of these documents. If one document can't be ended, the others are ended without it."""
    from api.world.large import prepare_ending, unpacked

    note(f"ending {gone[0]}" + (f" and {len(gone) - 1} more" if len(gone) > 1 else ""))
    try:
        decision = _write(ledger, unpacked(prepare_ending(ledger, graph_id, gone, Actor("caller", owner))))
    except RequestProblem as problem:
        reason = problem.detail
    else:
        if decision.verdict == "approved":
            done.gone += len(gone)
            done.decided(decision)
            return
        reason = _why_refused(decision)
    if len(gone) == 1:
        done.left_out.append({"file": gone[0], "reason": f"it is gone and can't be ended: {reason}"})
        return
    for document_id in gone:
        _end(ledger, owner, graph_id, [document_id], done)


def _why_refused(decision: Decision) -> str:
    return "; ".join(f"{stage.stage}: {stage.reason}" for stage in decision.stages if stage.result == "fail")


def _write(ledger: Ledger, prepared: ToBeWritten) -> Decision:
    judgment = prepared.judgment
    for _ in range(JUDGED_AT_MOST):
        judgment = judgment or judge_outside(ledger, prepared.proposal, prepared.aligned)
        decision = write_judged(ledger, prepared.proposal, judgment)
        if decision is not None:
            return decision
        judgment = None
    raise overtaken()
