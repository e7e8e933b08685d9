"""Moves graphs between the ledger and files, for `svc world export` and `svc world import`."""

from __future__ import annotations

import errno
import getpass
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import msgspec
import typer

from cli.output import note, operator_problems, print_json, say
from cli.owners import given_owner
from cli.stores import existing_ledger, opened_ledger
from cli.world_notes import NOTE_SUFFIXES, import_notes
from contracts.errors import ImportRefused, RequestProblem, StoreUnusable
from contracts.settings import Settings
from contracts.world.graph_formats import Format, written
from contracts.world.proposal import Actor
from warehouse.full_disk import not_written
from warehouse.ledger.ledger import Ledger
from warehouse.publish.generations import current_generation, current_pointer
from warehouse.world.events import head_revision
from warehouse.world.export import export_pages
from warehouse.world.fold_helper import folding_beside
from warehouse.world.importing import import_graph
from warehouse.world.served import OVERLAY_EVENTS_AT_MOST

PROGRESS_EVERY = 50_000
"""Nodes and edges between two progress lines."""

FOLDED_BESIDE_FROM = 200_000
"""Nodes and edges that a second process folds while the next ones are written."""

_WITHHELD = {
    "forgotten": "were erased before and remain erased; to import the notes again, use `--graph` with a new name",
    "corrected": "remain as their owner corrected or retracted them",
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
    """Opens a temporary file, private to this user, which replaces `file` once it is complete."""
    if str(file) == "-":
        yield sys.stdout.buffer
        return
    try:
        if file.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        descriptor, name = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")
    except OSError as error:
        raise not_written(str(file), file, error) or StoreUnusable(
            f"{file} can't be written: {error.strerror}.",
            cure="Pass a file in an existing folder to which you may write.",
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
            import_notes(ledger, path, whose, graph)
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
            f"{path} is a note, and notes are imported by folder.",
            cure=f"Import its folder: svc world import {path.parent} --owner OWNER",
        )
    if graph is not None:
        raise ImportRefused(
            f"{path} is not a folder of notes.", cure="Leave out `--graph`, which names a folder's graph."
        )
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
            cure="Fix the file or export it again. What an interrupted import wrote is kept; repeat it to continue.",
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


def _publish(settings: Settings) -> None:
    """Publishes a generation whose search contains the imported graph. Before the first one, a run will do that."""
    if current_pointer(settings.data_dir) is None:
        return
    from pipelines.initial_publish import publish_again  # Dagster takes seconds to import

    note("publishing, so that search covers the import")
    publish_again(settings)


def _say_report(report: dict[str, Any]) -> None:
    for stage in report.get("stages", ()):
        if stage["result"] == "fail":
            say(f"{stage['result']:<5} {stage['stage']:<22} {stage['reason']}")
    for left in report.get("leftOut", ()):
        say(f"left out {left['file']}: {left['reason']}")
    for edge in report.get("contradictions", ()):
        say(f"{edge['source']}: {edge['type']} {edge['taken']} is accepted, {edge['notTaken']} is only related")
    for reason, nodes in report.get("withheld", {}).items():
        say(f"{nodes} nodes {_WITHHELD[reason]}")
    if (not_kept := report.get("notKept")) and not_kept["parts"]:
        say(f"{not_kept['parts']} parts with {not_kept['characters']:,} characters are in no node; the first ones:")
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
