"""Publishes a generation from the warehouse, or the last one with some documents read again or marked stale.

The caller holds the run lock. Runs side by side in one process build one generation after another.
"""

import time
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from contracts.discovery.installation import Installation, installation_of
from contracts.publish.registry import PROJECTIONS, REDIRECTS, Projection, Redirect
from contracts.publish.routes import ENCODINGS, file_of
from contracts.settings import Settings
from contracts.token.holders import csv_file_name, csv_path, list_file_name, storage_file_name, storage_path
from pipelines.publish.documents import (
    PublishedDocument,
    document_parts,
    published_document,
    stale_again,
)
from pipelines.publish.open_data import is_sealed, seal_of
from pipelines.publish.site import filled, route_table, site_files
from warehouse.document_context import DocumentContext
from warehouse.duck.connection import publish_lock
from warehouse.open_data.data_files import data_parts, recent_day_parts
from warehouse.publish.generations import Built, DocumentEntry, Draft, Generation, Part, begin, build
from warehouse.publish.readers import holders_by_list, read
from warehouse.publish.serving import FILE_NAME, serving_copy
from warehouse.token.disputes import count_open_disputes
from warehouse.token.history import history_files
from warehouse.world.audit_heads import audit_head
from warehouse.world.snapshot_parts import snapshot_parts


@dataclass(frozen=True)
class PublishReport:
    """The outcome of publishing.

    `generation` is the one served afterwards; nothing else is set where nothing changed.
    """

    generation: str | None
    published: bool
    changed_documents: tuple[str, ...] = ()
    written: int = 0
    linked: int = 0
    bytes_written: int = 0
    seconds: float = 0.0


def publish(
    context: DocumentContext,
    settings: Settings,
    *,
    projections: Iterable[Projection] = PROJECTIONS,
    redirects: Iterable[Redirect] = REDIRECTS,
    unmoved: Collection[Projection] = (),
    now: datetime | None = None,
) -> PublishReport:
    """Reads every projection, and makes the next generation if any document changed.

    Documents of `unmoved`, whose inputs are known to be the same, are linked from the last generation where it is good
    and of the same address. `context` is of the open warehouse. Raises `DiskFull`, `pydantic.ValidationError` (a body
    that breaks its model) and any error that reading raises; the last generation is untouched then.
    """
    started = time.monotonic()
    rows = tuple(projections)
    with publish_lock(settings.data_dir):
        draft = begin(settings.data_dir, now or datetime.now(UTC))
        kept = _kept(_without_those_that_show_moved(rows, unmoved), draft.previous, settings.public_base_url)
        documents = _documents([row for row in rows if row.path not in kept.entries], context, draft)
        files = site_files(route_table(context.installation, rows, redirects), f"{settings.host}:{settings.port}")
        parts = (
            kept.parts
            | document_parts(documents)
            | {path: Part.of_bytes(content) for path, content in files.items()}
            | _holder_parts(context)
            | snapshot_parts(context.connection, settings.data_dir, draft.previous)
            | {FILE_NAME: serving_copy(context.connection)}
            | data_parts(context.connection, context.holders_dir, holders_by_list(context), draft)
        )
        entries = kept.entries | {document.path: document.entry for document in documents}
        disputes = count_open_disputes(context.connection)
        built = _built(settings, draft, parts, entries, settings.public_base_url, disputes)
    return _report(draft, built, started)


def republish_stale(
    settings: Settings,
    reason: str,
    *,
    projections: Iterable[Projection] = PROJECTIONS,
    now: datetime | None = None,
) -> PublishReport:
    """Publishes the last good data again, with each document that ages marked stale for `reason`, a stable code.

    An example of a reason is `check_failed`. Repeating the call changes nothing more. The next `publish` removes the
    mark. Before the first generation there is nothing to mark.
    """
    started = time.monotonic()
    with publish_lock(settings.data_dir):
        draft = begin(settings.data_dir, now or datetime.now(UTC))
        if draft.previous is None:
            return PublishReport(None, published=False)
        marked = _mark(draft.previous.path, draft.previous.manifest.documents, projections, reason)
        bodies = _bodies_of(draft.previous) | {document.path: document.body for document in marked}
        shown_in = _rows_that_show({document.path for document in marked} & bodies.keys())
        marked += _described(shown_in, installation_of(settings), bodies, draft)
        return _report(draft, _with(settings, draft.previous, draft, marked), started)


def republish(
    context: DocumentContext, settings: Settings, projections: Iterable[Projection], *, now: datetime | None = None
) -> PublishReport:
    """Publishes the last generation with these documents, and those that show them, made again; links the rest.

    A document that is marked stale stays as it is: its sources have to pass a whole run first. Before the first
    generation there is nothing to do. Raises as `publish`.
    """
    started = time.monotonic()
    with publish_lock(settings.data_dir):
        draft = begin(settings.data_dir, now or datetime.now(UTC))
        if draft.previous is None:
            return PublishReport(None, published=False)
        entries = draft.previous.manifest.documents
        rows = [row for row in projections if row.path in entries and entries[row.path].stale_reason is None]
        shown_in = [row for row in _rows_that_show({row.path for row in rows}) if row.path in entries]
        chosen = [*rows, *(row for row in shown_in if row not in rows)]
        data = recent_day_parts(context.connection, draft)
        documents = _documents(chosen, context, draft)
        return _report(draft, _with(settings, draft.previous, draft, documents, data), started)


def _without_those_that_show_moved(rows: Iterable[Projection], unmoved: Collection[Projection]) -> list[Projection]:
    """Returns the rows of `unmoved` that show no document of a moved one."""
    names = {row.name for row in unmoved}
    shown_in = {row.name for row in _rows_that_show(row.path for row in rows if row.name not in names)}
    return [row for row in unmoved if row.name not in shown_in]


@dataclass(frozen=True)
class _Kept:
    """Documents that are linked from the last generation: their entries and the files of each."""

    entries: dict[str, DocumentEntry]
    parts: dict[str, Part]


def _kept(unmoved: Collection[Projection], previous: Generation | None, base_url: str) -> _Kept:
    if previous is None or previous.manifest.base_url != base_url:
        return _Kept({}, {})
    last = previous.manifest
    paths = [
        path
        for row in unmoved
        if all(path in last.documents and last.documents[path].stale_reason is None for path, _ in row.bodies)
        for path, _ in row.bodies
    ]
    names = [
        f"{folder}/{file_of(path)}{suffix}"
        for path in paths
        for folder in ("public", "stale")
        for suffix in ("", *ENCODINGS.values())
    ]
    parts = {name: Part(last.components[name].version) for name in names if name in last.components}
    return _Kept({path: last.documents[path] for path in paths}, parts)


def _documents(rows: Iterable[Projection], context: DocumentContext, draft: Draft) -> list[PublishedDocument]:
    """Makes the documents of `rows`.

    Documents that describe others are made last, one after another, from bodies here or of the last generation.
    """
    chosen = list(rows)
    context = replace(context, memo={})  # no table changes while the documents of one generation are read
    documents = _read_all([row for row in chosen if row.describe is None], context, draft)
    describing = [row for row in chosen if row.describe is not None]
    if not describing:
        return documents
    bodies = {} if draft.previous is None else _bodies_of(draft.previous)
    bodies |= {document.path: document.body for document in documents}
    bodies |= {alias.path: bodies[row.path] for row in PROJECTIONS if row.path in bodies for alias in row.aliases}
    return documents + _described(describing, context.installation, bodies, draft)


def _bodies_of(generation: Generation) -> dict[str, bytes]:
    """Returns the bodies of a generation by path."""
    public = generation.path / "public"
    return {path: (public / file_of(path)).read_bytes() for path in generation.manifest.documents}


def _described(
    rows: Iterable[Projection], installation: Installation, bodies: dict[str, bytes], draft: Draft
) -> list[PublishedDocument]:
    """Makes documents that show others, one after another, since the next may show the last."""
    documents: list[PublishedDocument] = []
    shown = dict(bodies)
    for row in rows:
        assert row.describe is not None
        document = published_document(row, filled(row, row.describe(installation, shown)), draft)
        documents.append(document)
        shown[row.path] = document.body
    return documents


def _rows_that_show(paths: Iterable[str]) -> list[Projection]:
    """Returns the rows that show documents at these paths, or documents that show them, in order."""
    found: list[Projection] = []
    shown = set(paths)
    for row in PROJECTIONS:
        if not shown.isdisjoint(row.shows):
            found.append(row)
            shown.add(row.path)
    return found


def _read_all(rows: Iterable[Projection], context: DocumentContext, draft: Draft) -> list[PublishedDocument]:
    return [
        published_document(row, filled(row, read(row, context, parameters)), draft, path=path)
        for row in rows
        for path, parameters in row.bodies
    ]


def _with(
    settings: Settings,
    previous: Generation,
    draft: Draft,
    documents: Iterable[PublishedDocument],
    data: dict[str, Part] | None = None,
) -> Built | None:
    """Builds the previous generation with these documents and data files in place of its own."""
    replaced = tuple(documents)
    last = previous.manifest
    untouched = {path: Part(component.version) for path, component in last.components.items() if not is_sealed(path)}
    entries = last.documents | {document.path: document.entry for document in replaced}
    return _built(
        settings, draft, untouched | document_parts(replaced) | (data or {}), entries, last.base_url, last.disputes
    )


def _built(
    settings: Settings,
    draft: Draft,
    parts: Mapping[str, Part],
    entries: Mapping[str, DocumentEntry],
    base_url: str,
    disputes: int,
) -> Built | None:
    """Builds a generation with the head of the audit and the signed manifest of everything public."""
    head = audit_head(settings, draft)
    seal = seal_of(settings, draft, entries, base_url, head)
    return build(settings.data_dir, draft, parts, entries, base_url, head, seal, disputes=disputes)


def _mark(
    generation: Path, entries: dict[str, DocumentEntry], projections: Iterable[Projection], reason: str
) -> list[PublishedDocument]:
    return [
        stale_again(row, path, entries[path], (generation / "public" / file_of(path)).read_bytes(), reason)
        for row in projections
        if row.freshness is not None
        for path, _ in row.bodies
        if path in entries
    ]


def _holder_parts(context: DocumentContext) -> dict[str, Part]:
    parts: dict[str, Part] = {}
    for block in holders_by_list(context):
        parts[f"holders/{list_file_name(block)}"] = Part.of_file(context.holders_dir / list_file_name(block))
        parts[f"public{csv_path(block)}"] = Part.of_file(context.holders_dir / csv_file_name(block))
        storage = context.holders_dir / storage_file_name(block)
        if storage.is_file():
            parts[f"public{storage_path(block)}"] = Part.of_file(storage)
    for file in history_files(context.connection):
        parts[f"history/{file.name}"] = Part.of_file(context.history_dir / file.name)
    return parts


def _report(draft: Draft, built: Built | None, started: float) -> PublishReport:
    seconds = round(time.monotonic() - started, 3)
    last = draft.previous
    if built is None:
        return PublishReport(None if last is None else last.id, published=False, seconds=seconds)
    before = {} if last is None else last.manifest.documents
    changed = tuple(path for path, entry in built.generation.manifest.documents.items() if before.get(path) != entry)
    return PublishReport(
        built.generation.id, True, changed, len(built.written), built.linked, built.bytes_written, seconds
    )
