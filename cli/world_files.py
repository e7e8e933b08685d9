"""Moves graphs between the ledger and files, for `svc world export` and `svc world import`."""

from __future__ import annotations

import errno
import getpass
import os
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

import msgspec
import typer

from cli.output import note, operator_problems, print_json, say
from cli.owners import given_owner
from cli.stores import existing_ledger, opened_ledger
from contracts.canonical import sha256_hex
from contracts.errors import ImportRefused, RequestProblem, StoreUnusable
from contracts.secret_texts import SECRETS, secret_in
from contracts.settings import Settings
from contracts.world.graph_formats import Format, written
from contracts.world.proposal import Actor, Decision
from contracts.world.text import fault_of_title
from warehouse.ledger.ledger import Ledger
from warehouse.publish.generations import current_generation
from warehouse.world.events import head_revision
from warehouse.world.export import export_pages
from warehouse.world.fold_helper import folding_beside
from warehouse.world.importing import import_graph
from warehouse.world.served import OVERLAY_EVENTS_AT_MOST
from warehouse.world.write import JUDGED_AT_MOST, judge_outside, overtaken, write_judged

if TYPE_CHECKING:
    from api.world.large import ToBeWritten
    from contracts.world.extraction.build import SourceDocument
    from contracts.world.extraction.moved_documents import BuiltDocument

MOST_NOT_KEPT = 20
"""Parts that are in no node of which a report has the text."""

DOCUMENTS_AT_ONCE = 20
CHARACTERS_AT_ONCE = 100_000
"""Notes that are read together: within what one request may hold."""

PROGRESS_EVERY = 50_000
"""Nodes and edges between two lines of progress."""

FOLDED_BESIDE_FROM = 200_000
"""Nodes and edges that a second process folds while the next ones are written."""

NOTE_SUFFIXES = (".md", ".markdown")

_NOT_OF_AN_ID = re.compile(r"[^A-Za-z0-9._/@#-]+")
_LONGEST_DOCUMENT_ID = 128
_LONGEST_URL = 2_000
_NOT_OF_A_GRAPH_ID = re.compile(r"[^A-Za-z0-9._-]+")
_GRAPH_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_LONGEST_FOLDER_NAME = 55
"""Characters of a folder's name in the id of its graph."""

_WITHHELD = {
    "forgotten": "were erased before and stay so; `--graph` with a new name takes the notes anew",
    "corrected": "stay as their owner corrected or retracted them",
    "other_type": "have the id of a node of another type",
}


def export(file: Path, owner: str | None, form: Format, as_json: bool) -> None:
    """Writes the graph of an owner, or the public one without an owner, to a file, or to stdout for `-`."""
    with operator_problems(as_json), existing_ledger() as (_, ledger), ledger.read() as reader:
        whose = None if owner is None else given_owner(owner)
        revision, lines = head_revision(reader), 0
        with _replacing(file) as target:
            for page in export_pages(reader, whose, revision):
                lines += len(page.records)
                target.writelines(written(page.records, form))
    if str(file) == "-":
        return
    if as_json:
        print_json({"ok": True, "file": str(file), "records": lines, "revision": revision})
    else:
        say(f"{lines} records at revision {revision} in {file}")


@contextmanager
def _replacing(file: Path) -> Iterator[BinaryIO]:
    """Opens a file of this user only, which takes the place of `file` once it is whole."""
    if str(file) == "-":
        yield sys.stdout.buffer
        return
    try:
        if file.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        descriptor, name = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")
    except OSError as error:
        raise StoreUnusable(
            f"{file} can't be written: {error.strerror}.",
            cure="Name a file in a folder that exists and that you may write to.",
        ) from None
    try:
        with os.fdopen(descriptor, "wb") as target:
            yield target
        Path(name).replace(file)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def import_(path: Path, owner: str, graph: str | None, name: str | None, as_json: bool) -> None:
    """Imports an exported file, or a folder of Markdown notes, into an owner's part of the graph."""
    with operator_problems(as_json), opened_ledger() as (settings, ledger):
        whose = given_owner(owner)
        report = (
            _import_notes(ledger, path, whose, graph)
            if path.is_dir()
            else _import_file(settings, ledger, _exported(path, graph), whose, name or getpass.getuser())
        )
        if report["written"] > OVERLAY_EVENTS_AT_MOST:
            _publish(settings)
    if as_json:
        print_json(report)
    else:
        _say_report(report)
    if not report["ok"]:
        raise typer.Exit(1)


def _exported(path: Path, graph: str | None) -> Path:
    if path.suffix.lower() in NOTE_SUFFIXES:
        raise ImportRefused(
            f"{path} is a note, and notes are imported by their folder.",
            cure=f"Import its folder: svc world import {path.parent} --owner OWNER",
        )
    if graph is not None:
        raise ImportRefused(f"{path} is no folder of notes.", cure="Leave out `--graph`, which names a folder's graph.")
    return path


def _import_file(settings: Settings, ledger: Ledger, path: Path, owner: str, operator: str) -> dict[str, Any]:
    actor = Actor("operator", f"operator:{operator}", on_behalf_of=owner)
    is_published = current_generation(settings.data_dir) is not None
    shown, folded = ("", 0), 0

    def on_progress(what: str, done: int, of: int) -> None:
        nonlocal shown, folded
        if is_published and what == "writing" and done - folded >= FOLDED_BESIDE_FROM:
            fold()
            folded = done
        if what != shown[0] or done - shown[1] >= PROGRESS_EVERY or done == of:
            note(f"{what} {path.name}" + (f": {done:,} of {of:,} nodes and edges" if of else ""))
            shown = (what, done)

    def lines() -> Iterator[bytes]:
        with path.open("rb") as file:
            yield from file

    try:
        with folding_beside(settings) as fold:
            outcome = import_graph(ledger, lines, actor, on_progress=on_progress)
    except RequestProblem as problem:
        raise ImportRefused(
            f"{path}: {problem.detail} ({problem.code})",
            cure="Mend the file, or export it again. What an interrupted import wrote stays; the same command goes on.",
        ) from problem
    return {
        "ok": outcome.verdict == "approved",
        "verdict": outcome.verdict,
        "stages": msgspec.to_builtins(outcome.stages),
        "nodes": outcome.nodes,
        "edges": outcome.edges,
        "written": outcome.written,
        "decisions": len(outcome.decisions),
        "revision": outcome.revision,
    }


def _import_notes(ledger: Ledger, folder: Path, owner: str, graph: str | None) -> dict[str, Any]:
    """Reads every note below a folder as a document of its owner. Reading it again replaces what the notes no longer
    say, and ends what only notes said that are gone."""
    from api.world.large import former_documents

    graph_id = _graph_of(ledger, folder, owner, graph)
    done = Decided()
    paths = list(_note_paths(folder))
    former = former_documents(ledger, graph_id, owner)
    names = _Names(former, {path.as_posix() for path in paths}, lambda path: _text_within(folder, path))
    for notes in _notes(folder, paths, names, done):
        note(f"reading {notes[0].path}" + (f" and {len(notes) - 1} more" if len(notes) > 1 else ""))
        _build(ledger, owner, graph_id, notes, done)
    if done.present:  # a folder that is not mounted is empty, too
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
    """Returns the id of a folder's graph: the one given, or the folder's name with a hash of its path.

    Two folders may have the same name. Earlier versions called the graph by the name alone: whose that graph is nobody
    knows but its owner. Raises `ImportRefused`.
    """
    from contracts.world.extraction.build import source_of

    if graph is not None:
        if _GRAPH_ID.fullmatch(graph) is None:
            raise ImportRefused(
                f"{graph!r} is no name of a graph.", cure="Use 1 to 64 letters, digits and . _ - after the first."
            )
        return graph
    place = folder.resolve()
    name = _NOT_OF_A_GRAPH_ID.sub("-", place.name).strip("-._")[:_LONGEST_FOLDER_NAME] or "notes"
    graph_id = f"{name}-{sha256_hex(os.fsencode(place))[:8]}"
    former = _NOT_OF_AN_ID.sub("-", place.name).strip("-._/@#")[:60] or "notes"
    with ledger.read() as reader:
        sources = {row["source"] for row in reader.rows("world_sources_of", owner=owner)}
    if source_of(former) in sources and source_of(graph_id) not in sources:
        raise ImportRefused(
            f"{owner} has a graph {former} already, which may be of another folder.",
            cure=f"Go on with it by `--graph {former}`, or begin a graph of {place} by `--graph {graph_id}`.",
        )
    return graph_id


class Decided:
    """The results of the notes so far."""

    def __init__(self) -> None:
        self.documents = 0
        self.present: set[str] = set()
        """The ids of all notes that are there, also of those that are left out."""
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
        """Counts what was written and withheld, and keeps by their titles what contradicts itself in the graph."""
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


class _Names:
    """Calls each note by the id of its document: the one that it had, also if the note was moved since.

    `former` are the documents that the graph has; `read` returns the text at a path, None if that is unreadable.
    """

    def __init__(
        self, former: Mapping[str, BuiltDocument], paths: Collection[str], read: Callable[[str], str | None]
    ) -> None:
        self._former = former
        self._at = _last_paths(former, paths)
        self._read = read
        self._by_path = {path: name for name, path in self._at.items() if path in paths}
        left = self._left()
        staying = set(self._by_path.values()) - left.keys()
        lost = {name: document for name, document in former.items() if name not in staying}
        unsure = {path for path in paths if self._by_path.get(path) not in staying}
        found = self._found(lost, left, sorted(unsure)) if lost else {}
        moved = set(found.values())
        self._by_path = {path: name for path, name in self._by_path.items() if name not in moved} | found
        self._taken = set(self._by_path.values())
        self.moved = len(found)
        """Notes that had other paths before."""

    def id_of(self, path: str) -> str:
        """Returns the id of the note at a path below the folder."""
        known = self._by_path.get(path)
        if known is None:
            plain = _document_id(path)
            known = self._by_path[path] = _hashed_id(path) if plain in self._taken else plain
            self._taken.add(known)
        return known

    def _left(self) -> dict[str, float]:
        """Returns documents that may have been moved, because at most half of them is at their paths: that part."""
        from contracts.world.extraction.moved_documents import LEAST_IN_COMMON, part_in

        texts = ((name, self._read(path)) for path, name in self._by_path.items())
        parts = {name: part_in(text, self._former[name]) for name, text in texts if text is not None}
        return {name: part for name, part in parts.items() if part <= LEAST_IN_COMMON}

    def _found(self, lost: dict[str, BuiltDocument], left: Mapping[str, float], paths: Iterable[str]) -> dict[str, str]:
        """Returns the ids of lost documents by the paths at which they are now.

        Most notes keep their file names when folders are put in order, and to compare each with all that are lost takes
        the square of their number.
        """
        from contracts.world.extraction.moved_documents import document_like

        by_file_name: dict[str, list[str]] = {}
        for name in lost:
            by_file_name.setdefault(PurePosixPath(self._at[name]).name, []).append(name)
        found: dict[str, str] = {}
        for path in paths:
            if not lost:
                break
            if (text := self._read(path)) is None:
                continue
            called_so = by_file_name.get(PurePosixPath(path).name, ())
            alike = document_like(text, {name: lost[name] for name in called_so if name in lost}, left)
            alike = alike or document_like(text, lost, left)
            if alike is not None:
                found[path] = alike
                del lost[alike]
        return found


def _last_paths(former: Mapping[str, BuiltDocument], paths: Collection[str]) -> dict[str, str]:
    """Returns the path of each document: its last one, or the one that is its id if the last one is gone, unless
    another document is there."""
    last = {name: document.url or name for name, document in former.items()}
    there = {path for path in last.values() if path in paths}
    return {name: name if path not in paths and name not in there else path for name, path in last.items()}


def _note_paths(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.rglob("*")):
        relative = path.relative_to(folder)
        is_hidden = any(part.startswith(".") for part in relative.parts)
        if not is_hidden and path.suffix.lower() in NOTE_SUFFIXES and path.is_file():
            yield relative


def _notes(folder: Path, paths: Iterable[Path], names: _Names, done: Decided) -> Iterator[list[Note]]:
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
            done.left_out.append({"file": name, "reason": f"it holds {SECRETS[secret]}, which no graph keeps"})
            continue
        if together and (len(together) >= DOCUMENTS_AT_ONCE or size + len(text) > CHARACTERS_AT_ONCE):
            yield together
            together, size = [], 0
        # an id that is not the path does not tell where the note is
        url = None if document_id == name or fault_of_title(name, _LONGEST_URL) else name
        together.append(Note(name, SourceDocument(id=document_id, markdown=text, url=url)))
        size += len(text)
    if together:
        yield together


def _text_of(path: Path) -> tuple[str | None, str]:
    """Returns the text of a note, or None and why it can't be read."""
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


def _document_id(path: str) -> str:
    """Returns the path of a note as an id that spans may hold; one that has other characters gets a hash."""
    plain = _plain_id(path)
    return plain if plain == path and len(plain) <= _LONGEST_DOCUMENT_ID else _hashed_id(path)


def _plain_id(path: str) -> str:
    return _NOT_OF_AN_ID.sub("-", path).lstrip("-._/@#")


def _hashed_id(path: str) -> str:
    return f"{_plain_id(path)[-100:].lstrip('-._/@#')}-{sha256_hex(path.encode())[:8]}"


def _build(ledger: Ledger, owner: str, graph_id: str, notes: list[Note], done: Decided) -> None:
    """Builds and writes the graph of some notes. If one of them can't be taken, the others are taken without it."""
    from api.world.large import prepare_build, unpacked
    from contracts.world.extraction.build import BuildRequest

    request = BuildRequest(graph_id=graph_id, documents=[document for _, document in notes], mode="apply")
    try:
        prepared = prepare_build(ledger, request, Actor("caller", owner))
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
        _build(ledger, owner, graph_id, [single], done)


def _end_gone(ledger: Ledger, owner: str, graph_id: str, done: Decided) -> None:
    """Ends what only notes said that are gone."""
    from api.world.large import documents_built

    gone = sorted(documents_built(ledger, graph_id, owner) - done.present)
    for first in range(0, len(gone), DOCUMENTS_AT_ONCE):
        _end(ledger, owner, graph_id, gone[first : first + DOCUMENTS_AT_ONCE], done)


def _end(ledger: Ledger, owner: str, graph_id: str, gone: list[str], done: Decided) -> None:
    """Ends what these documents said. If one of them can't be ended, the others are ended without it."""
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


def _publish(settings: Settings) -> None:
    """Publishes a generation whose search holds what was imported; before the first one a run does that."""
    current = current_generation(settings.data_dir)
    if current is None:
        return
    from pipelines.initial_publish import publish_initial  # Dagster takes seconds to import

    note("publishing, so that the search holds it all")
    publish_initial(settings.model_copy(update={"base_url": current.manifest.base_url}))


def _say_report(report: dict[str, Any]) -> None:
    for stage in report.get("stages", ()):
        if stage["result"] == "fail":
            say(f"{stage['result']:<5} {stage['stage']:<22} {stage['reason']}")
    for left in report.get("leftOut", ()):
        say(f"left out {left['file']}: {left['reason']}")
    for edge in report.get("contradictions", ()):
        say(f"{edge['source']}: {edge['type']} {edge['taken']} is taken, {edge['notTaken']} is only related")
    for reason, nodes in report.get("withheld", {}).items():
        say(f"{nodes} nodes {_WITHHELD[reason]}")
    if (not_kept := report.get("notKept")) and not_kept["parts"]:
        say(f"{not_kept['parts']} parts with {not_kept['characters']:,} characters are in no node; the first of them:")
        for part in not_kept["first"]:
            say(f"  {part['file']}: {' '.join(part['text'].split())}")
    if "documents" in report:
        if not report["documents"] and not report["leftOut"]:
            say(f"there are no notes: no file ends with {' or '.join(NOTE_SUFFIXES)}")
        say(
            f"{report['documents']} notes read, {report['moved']} moved and {report['gone']} gone; "
            f"{report['nodes']} nodes and {report['edges']} edges written to the graph {report['graph']}"
        )
    else:
        say(
            f"{report['verdict']}: {report['nodes']} nodes and {report['edges']} edges; {report['written']} states "
            f"written by {report['decisions']} decisions; revision {report['revision']}"
        )
