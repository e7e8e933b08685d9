"""Publishes a generation from the warehouse, or the last one with some documents rebuilt or marked stale.

The caller holds the run lock. Parallel runs of one process build one generation after another.
"""

import time
from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from contracts.discovery.installation import installation_of
from contracts.errors import GenerationBroken
from contracts.open_data.first_rows import FIRST_ROWS_PATH
from contracts.open_data.names import TOKENS_INDEX_PATH
from contracts.publish.overview import NOT_CONFIGURED
from contracts.publish.projection import Projection, Redirect
from contracts.publish.registry import PROJECTIONS, REDIRECTS, rows_that_show
from contracts.publish.rendering import reason_in
from contracts.publish.routes import ENCODINGS, file_of
from contracts.settings import Settings
from contracts.site.graph_page import GRAPH_DOCUMENTS, graph_files, is_graph_file
from contracts.token.holders import csv_file_name, csv_path, list_file_name, storage_file_name, storage_path
from pipelines.publish.documents import (
    PublishedDocument,
    described_documents,
    document_parts,
    published_document,
    site_parts,
    stale_again,
    with_encoded_files,
)
from pipelines.publish.open_data import SEALED_ROWS, is_sealed, seal_of
from pipelines.publish.site import filled, made_of_tables, route_table
from warehouse.document_context import DocumentContext
from warehouse.duck.connection import publish_lock
from warehouse.open_data.data_files import data_parts, recent_day_parts
from warehouse.publish.generations import Built, DocumentEntry, Draft, Generation, Part, begin, build
from warehouse.publish.readers import holders_by_list, read
from warehouse.publish.served_address import refuse_other_address
from warehouse.publish.serving import FILE_NAME, serving_copy, table_digests
from warehouse.token.disputes import count_open_disputes
from warehouse.token.further_token_files import published_files
from warehouse.token.history import history_files
from warehouse.world.audit_heads import audit_head
from warehouse.world.snapshot_parts import snapshot_parts


@dataclass(frozen=True)
class PublishReport:
    """The outcome of publishing.

    `generation` is the one served afterwards; nothing else is set if nothing changed.
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
    unmoved: Collection[Projection] | None = None,
    now: datetime | None = None,
) -> PublishReport:
    """Reads every projection, and builds the next generation if any document changed.

    With `unmoved`, which are documents whose inputs are known to be unchanged, these and documents whose tables are
    unchanged are linked from the last generation, if their last versions are not stale and of the same address.
    `context` is that of the open warehouse. Raises `ForeignGeneration` if a service runs for another address,
    `DiskFull`, `pydantic.ValidationError` (a body that does not fit its model), `GenerationBroken` if a document would
    be missing, and any error that reading raises; the last generation is then untouched.
    """
    started = time.monotonic()
    rows = tuple(projections)
    with publish_lock(settings.data_dir):
        draft = _begun(settings, now)
        last = [row for row in rows if row in SEALED_ROWS]
        first = [row for row in rows if row not in SEALED_ROWS]
        digests = table_digests(context.connection)
        linked: list[Projection] = []
        if unmoved is not None:
            names = {row.name for row in unmoved}
            linked = [row for row in first if row.name in names or _is_made_of(row, context, digests, draft)]
        previous = _last_of_address(draft, settings.public_base_url)
        kept = _kept(_without_those_that_show_moved(first, linked), previous)
        made = [row for row in first if row.path not in kept.entries]
        documents, unchanged = _documents(made, context, draft, digests)
        again = _kept(unchanged, previous)
        parts = (
            kept.parts
            | again.parts
            | document_parts(documents)
            | site_parts(route_table(context.installation, rows, redirects), settings.listens_at)
            | _graph_parts(documents, draft)
            | _holder_parts(context)
            | snapshot_parts(context.connection, settings.data_dir, draft.previous)
            | {FILE_NAME: serving_copy(context.connection, digests)}
            | data_parts(context.connection, context.holders_dir, holders_by_list(context), draft)
        )
        entries = kept.entries | again.entries | {document.path: document.entry for document in documents}
        refuse_gaps(first, entries)
        disputes = count_open_disputes(context.connection)
        built = _built(settings, draft, parts, entries, settings.public_base_url, disputes, last)
    return _report(draft, built, started)


def republish_stale(
    settings: Settings,
    reason: str,
    *,
    projections: Iterable[Projection] = PROJECTIONS,
    now: datetime | None = None,
) -> PublishReport:
    """Publishes the last good data again, with each document that ages marked stale for `reason`, a stable code.

    An example of a reason is `check_failed`. Idempotent. The next `publish` removes the mark. Before the first
    generation of this address there is nothing to mark.
    """
    started = time.monotonic()
    with publish_lock(settings.data_dir):
        draft = _begun(settings, now)
        last = _last_of_address(draft, settings.public_base_url)
        if last is None:
            return PublishReport(None, published=False)
        marked = _mark(last.path, last.manifest.documents, projections, reason)
        bodies = _bodies_of(last, last.manifest.documents)
        bodies |= {document.path: document.body for document in marked}
        shown_in = rows_that_show({document.path for document in marked} & bodies.keys())
        marked += described_documents(shown_in, installation_of(settings), bodies, draft)[0]
        return _report(draft, _with(settings, last, draft, marked), started)


def republish(
    context: DocumentContext,
    settings: Settings,
    projections: Iterable[Projection],
    *,
    moved_tables: Collection[str] | None = None,
    now: datetime | None = None,
) -> PublishReport:
    """Publishes the last generation with these documents, and those that show them, rebuilt; links the rest.

    `moved_tables` are those that may have changed since, None if any may.

    A document that is marked stale stays unchanged: its sources must pass a complete run first. Before the first
    generation of this address there is nothing to do: every document names the address, so the chain's run, which is
    then due, must build all of them. Raises what `publish` raises.
    """
    started = time.monotonic()
    with publish_lock(settings.data_dir):
        draft = _begun(settings, now)
        last = _last_of_address(draft, settings.public_base_url)
        if last is None:
            return PublishReport(None, published=False)
        entries = last.manifest.documents
        rows = [
            row
            for row in projections
            if row.path in entries and entries[row.path].stale_reason is None and row not in SEALED_ROWS
        ]
        shown_in = [row for row in rows_that_show({row.path for row in rows}) if row.path in entries]
        chosen = [*rows, *(row for row in shown_in if row not in rows)]
        data = recent_day_parts(context.connection, draft)
        # Don't pass other bodies: a document that quotes another one's number would quote a stale one.
        context = replace(context, moved_tables=moved_tables, bodies=_bodies_of(last, [FIRST_ROWS_PATH]))
        documents, _ = _documents(chosen, context, draft)
        return _report(draft, _with(settings, last, draft, documents, data), started)


def _begun(settings: Settings, now: datetime | None) -> Draft:
    """Begins the next generation. Raises `ForeignGeneration` if a running service could not serve it."""
    refuse_other_address(settings)
    return begin(settings.data_dir, now or datetime.now(UTC))


def _last_of_address(draft: Draft, base_url: str) -> Generation | None:
    """Returns the last generation, or None if it was built for another address, so that nothing in it can be linked."""
    last = draft.previous
    return None if last is None or last.manifest.base_url != base_url else last


def refuse_gaps(rows: Iterable[Projection], paths: Container[str]) -> None:
    """Raises `GenerationBroken` if a document of `rows` is not among `paths`: no API could read that generation."""
    missing = [path for row in rows for path, _ in row.bodies if path not in paths]
    if missing:
        raise GenerationBroken(
            f"The next generation would lack {missing[0]} and so {len(missing)} of its documents; it is not published.",
            cure="This is a fault of the program: report it. What is published stays until the next run.",
        )


def _is_made_of(row: Projection, context: DocumentContext, digests: Mapping[str, str], draft: Draft) -> bool:
    """Returns True if, by `digests`, every body of a document that reads tables was built from the same rows."""
    last = {} if draft.previous is None else draft.previous.manifest.documents
    source = made_of_tables(row, context.installation, digests)
    return source is not None and all(path in last and last[path].made_of == source for path, _ in row.bodies)


def _without_those_that_show_moved(rows: Iterable[Projection], unmoved: Collection[Projection]) -> list[Projection]:
    """Returns the rows of `unmoved` that show no document of a moved row."""
    names = {row.name for row in unmoved}
    shown_in = {row.name for row in rows_that_show(row.path for row in rows if row.name not in names)}
    return [row for row in unmoved if row.name not in shown_in]


@dataclass(frozen=True)
class _Kept:
    """Documents that are linked from the last generation: their entries and files."""

    entries: dict[str, DocumentEntry]
    parts: dict[str, Part]


def _kept(unmoved: Collection[Projection], previous: Generation | None) -> _Kept:
    if previous is None:
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


def _documents(
    rows: Iterable[Projection], context: DocumentContext, draft: Draft, digests: Mapping[str, str] | None = None
) -> tuple[list[PublishedDocument], list[Projection]]:
    """Builds the documents of `rows`. Returns them, and the rows whose sources have not changed since the last one.

    `digests` are the tables' current ones; without them no document records from which rows it was built. Documents
    that describe others are built last, one after another, from bodies here or of the last generation.
    """
    chosen = list(rows)
    context = replace(context, memo={})  # no table changes while the documents of one generation are read
    documents = _read_all([row for row in chosen if row.describe is None], context, draft, digests or {})
    describing = [row for row in chosen if row.describe is not None]
    if not describing:
        return documents, []
    aliases = {alias.path: row.path for row in PROJECTIONS for alias in row.aliases}
    shown = {path for row in describing for path in row.shows}
    shown |= {aliases[path] for path in shown & aliases.keys()}
    bodies = {} if draft.previous is None else _bodies_of(draft.previous, shown)
    bodies |= {document.path: document.body for document in documents}
    bodies |= {alias: bodies[path] for alias, path in aliases.items() if path in bodies}
    described, unchanged = described_documents(
        describing, context.installation, bodies, draft, all_anew=_last_of_address(draft, context.base_url) is None
    )
    return documents + described, unchanged


def _bodies_of(generation: Generation, paths: Collection[str]) -> dict[str, bytes]:
    """Returns the bodies of the documents at `paths` that a generation has, by path."""
    public = generation.path / "public"
    return {path: (public / file_of(path)).read_bytes() for path in paths if path in generation.manifest.documents}


def _read_all(
    rows: Iterable[Projection], context: DocumentContext, draft: Draft, digests: Mapping[str, str]
) -> list[PublishedDocument]:
    return [
        published_document(row, filled(row, read(row, context, parameters)), draft, path=path, made_of=source)
        for row in rows
        for source in [made_of_tables(row, context.installation, digests)]
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
    made_last = [row for row in SEALED_ROWS if entries.pop(row.path, None) is not None]
    graph = _graph_parts(replaced, draft)
    if graph:
        untouched = {path: part for path, part in untouched.items() if not is_graph_file(path.removeprefix("public"))}
    parts = untouched | document_parts(replaced) | graph | (data or {})
    return _built(settings, draft, parts, entries, last.base_url, last.disputes, made_last)


def _built(
    settings: Settings,
    draft: Draft,
    parts: Mapping[str, Part],
    entries: Mapping[str, DocumentEntry],
    base_url: str,
    disputes: int,
    made_last: Sequence[Projection],
) -> Built | None:
    """Builds a generation from `parts`, with the encoded siblings of its data, the head of the audit, the documents
    that describe its files, and the signed manifest of all public files."""
    head = audit_head(settings, draft)
    seal = seal_of(settings, draft, entries, base_url, head, made_last, _token_index(parts, draft))
    return build(settings.data_dir, draft, with_encoded_files(parts), entries, base_url, head, seal, disputes=disputes)


def _token_index(parts: Mapping[str, Part], draft: Draft) -> bytes | None:
    """Returns the index of further tokens among the parts, from a new file or the last generation."""
    name = f"public{TOKENS_INDEX_PATH}"
    if name not in parts:
        return None
    link = parts[name].link
    if link is None:
        assert draft.previous is not None
        link = draft.previous.path / name
    return link.read_bytes()


def _mark(
    generation: Path, entries: dict[str, DocumentEntry], projections: Iterable[Projection], reason: str
) -> list[PublishedDocument]:
    bodies = {
        (row, path): (generation / "public" / file_of(path)).read_bytes()
        for row in projections
        if row.freshness is not None
        for path, _ in row.bodies
        if path in entries
    }
    ageing = {of: body for of, body in bodies.items() if reason_in(of[0], body) != NOT_CONFIGURED}
    paths = {path for _, path in ageing}
    return [stale_again(row, path, entries[path], body, reason, paths) for (row, path), body in ageing.items()]


def _holder_parts(context: DocumentContext) -> dict[str, Part]:
    parts: dict[str, Part] = {}
    for block in holders_by_list(context):
        parts[f"holders/{list_file_name(block)}"] = Part.of_file(context.holders_dir / list_file_name(block))
        parts[f"public{csv_path(block)}"] = Part.of_file(context.holders_dir / csv_file_name(block))
        storage = context.holders_dir / storage_file_name(block)
        if storage.is_file():
            parts[f"public{storage_path(block)}"] = Part.of_file(storage)
    for path, published in published_files(context.holders_dir.parent):
        parts[f"public{path}"] = Part.of_file(published)
    for file in history_files(context.connection):
        parts[f"history/{file.name}"] = Part.of_file(context.history_dir / file.name)
    return parts


def _graph_parts(documents: Iterable[PublishedDocument], draft: Draft) -> dict[str, Part]:
    """Returns the file that the graph page's script reads, built from documents here or of the last generation."""
    bodies = {document.path: document.body for document in documents}
    for path in GRAPH_DOCUMENTS:
        if path not in bodies and draft.previous is not None and path in draft.previous.manifest.documents:
            bodies[path] = (draft.previous.path / "public" / file_of(path)).read_bytes()
    return {f"public{path}": Part.of_bytes(content) for path, content in graph_files(bodies).items()}


def _report(draft: Draft, built: Built | None, started: float) -> PublishReport:
    seconds = round(time.monotonic() - started, 3)
    last = draft.previous
    if built is None:
        return PublishReport(None if last is None else last.id, published=False, seconds=seconds)
    before = {} if last is None else last.manifest.documents
    changed = tuple(
        path
        for path, entry in built.generation.manifest.documents.items()
        if path not in before or msgspec.structs.replace(before[path], made_of=entry.made_of) != entry
    )
    return PublishReport(
        built.generation.id, True, changed, len(built.written), built.linked, built.bytes_written, seconds
    )
