"""Provides the snapshot's files for a generation: reuses those of the last one, or builds new ones when they are
due."""

from __future__ import annotations

import shutil
from pathlib import Path

from contracts.errors import OperatorProblem
from warehouse.duck.connection import Connection
from warehouse.publish.generations import Generation, Part
from warehouse.statements import read_sql, without_comments
from warehouse.world.fold import folded_at
from warehouse.world.served import OVERLAY_EVENTS_AT_MOST, SNAPSHOT_DIR
from warehouse.world.snapshot import MANIFEST, SnapshotManifest, read_manifest
from warehouse.world.snapshot_writer import write_snapshot

NODES_PER_EVENT = 100
"""A new snapshot is due after one event per this many nodes, because its cost grows with the graph."""


def snapshot_parts(connection: Connection, data_dir: Path, previous: Generation | None) -> dict[str, Part]:
    """Returns the snapshot's files by path in a generation; empty before the first event.

    Later events are served from memory until a new snapshot is due. Forgetting makes one due immediately.
    """
    known = None if previous is None else _snapshot(previous)
    held = {"held": 0 if known is None else known.revision, "recorded_at": None if known is None else known.recorded_at}
    revision, nodes, later, forgets, continues = connection.execute(read_sql("snapshot_due"), held).fetchall()[0]
    if revision == 0:
        return {}
    bearable = min(OVERLAY_EVENTS_AT_MOST, nodes // NODES_PER_EVENT)
    if previous is not None and continues and later <= bearable and not forgets:
        components = previous.manifest.components.items()
        return {path: Part(component.version) for path, component in components if path.startswith(f"{SNAPSHOT_DIR}/")}
    return _new_snapshot(connection, data_dir, revision)


def _new_snapshot(connection: Connection, data_dir: Path, revision: int) -> dict[str, Part]:
    root = data_dir / SNAPSHOT_DIR
    shutil.rmtree(root, ignore_errors=True)  # the previous one is hard-linked into its generation
    for statement in without_comments(read_sql("snapshot_input")).split(";\n"):
        if statement.strip():
            connection.execute(statement)
    directory = root / f"{revision}"
    write_snapshot(connection, directory, revision, folded_at(connection))
    files = {name: entry.sha256 for name, entry in read_manifest(directory).files.items()}
    parts = {name: Part(version, link=directory / name) for name, version in files.items()}
    parts[MANIFEST] = Part.of_bytes((directory / MANIFEST).read_bytes())
    return {f"{SNAPSHOT_DIR}/{name}": part for name, part in parts.items()}


def _snapshot(generation: Generation) -> SnapshotManifest | None:
    try:
        return read_manifest(generation.path / SNAPSHOT_DIR)
    except OperatorProblem:
        return None
