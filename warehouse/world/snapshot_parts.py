"""The snapshot as part of a generation: the last one's again, or one made anew of the folded tables where it is due."""

from __future__ import annotations

import shutil
from pathlib import Path

from contracts.errors import OperatorProblem
from warehouse.duck.connection import Connection
from warehouse.publish.generations import Generation, Part
from warehouse.statements import read_sql, without_comments
from warehouse.world.served import OVERLAY_EVENTS_AT_MOST, SNAPSHOT_DIR
from warehouse.world.snapshot import MANIFEST, read_manifest
from warehouse.world.snapshot_writer import write_snapshot

NODES_PER_EVENT = 100
"""A snapshot is made anew for one event in so many nodes: what the making costs grows with the graph."""


def snapshot_parts(connection: Connection, data_dir: Path, previous: Generation | None) -> dict[str, Part]:
    """The files of the snapshot, by path in a generation; none before the first event.

    Until a new one is due, what came later is answered from memory, but what was forgotten leaves at once.
    """
    held = None if previous is None else _held_revision(previous)
    revision, nodes, later, forgets = connection.execute(read_sql("snapshot_due"), {"held": held or 0}).fetchall()[0]
    if revision == 0:
        return {}
    bearable = min(OVERLAY_EVENTS_AT_MOST, nodes // NODES_PER_EVENT)
    if previous is not None and held is not None and held <= revision and later <= bearable and not forgets:
        components = previous.manifest.components.items()
        return {path: Part(each.version) for path, each in components if path.startswith(f"{SNAPSHOT_DIR}/")}
    return _anew(connection, data_dir, revision)


def _anew(connection: Connection, data_dir: Path, revision: int) -> dict[str, Part]:
    root = data_dir / SNAPSHOT_DIR
    shutil.rmtree(root, ignore_errors=True)  # the one before is linked into its generation
    for statement in without_comments(read_sql("snapshot_input")).split(";\n"):
        if statement.strip():
            connection.execute(statement)
    directory = root / f"{revision}"
    write_snapshot(connection, directory, revision)
    files = {name: entry.sha256 for name, entry in read_manifest(directory).files.items()}
    parts = {name: Part(version, link=directory / name) for name, version in files.items()}
    parts[MANIFEST] = Part.of_bytes((directory / MANIFEST).read_bytes())
    return {f"{SNAPSHOT_DIR}/{name}": part for name, part in parts.items()}


def _held_revision(generation: Generation) -> int | None:
    try:
        return read_manifest(generation.path / SNAPSHOT_DIR).revision
    except OperatorProblem:
        return None
