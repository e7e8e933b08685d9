"""Turns content into the documents of a generation: detects changes, renders fresh and stale bodies, and returns their
files. Pure."""

import gzip
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from pathlib import Path

import brotli
import msgspec
import zstandard

from contracts.discovery.installation import Installation
from contracts.discovery.openapi import Bodies
from contracts.publish.projection import Content, Projection
from contracts.publish.registry import lives_for_minutes
from contracts.publish.rendering import Origin, mark_stale, rendered, validate
from contracts.publish.routes import ENCODINGS, RouteTable, file_of
from pipelines.publish.site import made_of, published_folder, shown_content, site_files
from warehouse.publish.generations import DocumentEntry, Draft, Part

_LARGE_BYTES = 64 * 1024
"""Above this level, compression takes twenty times as long to save another tenth of the size."""

Encoder = Callable[[bytes], bytes]

ENCODERS: dict[str, Encoder] = {
    "br": lambda body: brotli.compress(body, quality=11 if len(body) < _LARGE_BYTES else 9),
    "zstd": lambda body: zstandard.ZstdCompressor(level=19 if len(body) < _LARGE_BYTES else 12).compress(body),
    "gzip": lambda body: gzip.compress(body, 9, mtime=0),
}
"""The functions that encode a body for its siblings, by content coding."""

QUICK_ENCODERS: dict[str, Encoder] = {
    "br": lambda body: brotli.compress(body, quality=5),
    "zstd": lambda body: zstandard.ZstdCompressor(level=6).compress(body),
    "gzip": lambda body: gzip.compress(body, 6, mtime=0),
}
"""The same for bodies that live minutes: compressing these as hard took a seventh of the cost of an idle service."""

COLLECTION_ENCODERS: dict[str, Encoder] = {"gzip": lru_cache(maxsize=1024)(QUICK_ENCODERS["gzip"])}
"""The only encoding of the many small documents of a collection; cached for a process that publishes repeatedly."""


@dataclass(frozen=True)
class PublishedDocument:
    """One document of a generation: its path, its manifest entry, its body, the body for after it expires, and the
    functions that encode both."""

    path: str
    entry: DocumentEntry
    body: bytes
    stale_body: bytes | None = None
    encoders: Mapping[str, Encoder] = field(default_factory=lambda: ENCODERS)


def published_document(
    projection: Projection, content: Content, draft: Draft, *, path: str | None = None, made_of: str | None = None
) -> PublishedDocument:
    """Builds the document of `content` at `path`, by default the projection's own path.

    A document with unchanged inputs keeps the last generation's origin. `made_of` is stored in its entry; without it,
    an entry with unchanged inputs keeps the last one's, which still gives the same inputs.

    Raises `pydantic.ValidationError` on a body that does not fit its model; nothing is then published.
    """
    path = path or projection.path
    validate(projection, content)
    document = rendered(projection, content)
    entry = _entry(draft, path, document.inputs_sha256, document.stale_after, made_of)
    origin = Origin(entry.generation, entry.generated_at)
    stale_body = None if entry.stale_after is None else document.body(origin, now=entry.stale_after)
    encoders = QUICK_ENCODERS if lives_for_minutes(projection) else ENCODERS
    if projection.collection is not None:
        encoders = COLLECTION_ENCODERS
    return PublishedDocument(path, entry, document.body(origin), stale_body, encoders)


def described_documents(
    rows: Iterable[Projection], installation: Installation, bodies: Bodies, draft: Draft, *, all_anew: bool = False
) -> tuple[list[PublishedDocument], list[Projection]]:
    """Builds documents that show others, one after another, since the next may show the previous one.

    Returns them, and the rows whose sources have not changed since the last generation, whose documents are not built;
    with `all_anew` every document is built.
    """
    last = {} if draft.previous is None or all_anew else draft.previous.manifest.documents
    documents: list[PublishedDocument] = []
    unchanged: list[Projection] = []
    current = dict(bodies)
    for row in rows:
        shown = tuple(current.get(path) for path in row.shows)
        source = made_of(row, installation, shown)
        if row.path in last and last[row.path].made_of == source and last[row.path].stale_reason is None:
            unchanged.append(row)
            continue
        document = published_document(row, shown_content(row, installation, shown), draft, made_of=source)
        documents.append(document)
        current[row.path] = document.body
    return documents, unchanged


def stale_again(
    projection: Projection,
    path: str,
    entry: DocumentEntry,
    body: bytes,
    reason: str,
    stale_paths: Collection[str] = (),
) -> PublishedDocument:
    """Returns a document of the last generation with only its freshness changed: it is marked stale for `reason`, and
    so are its parts that come from documents at `stale_paths`."""
    marked = mark_stale(projection, body, reason, stale_paths)
    return PublishedDocument(path, msgspec.structs.replace(entry, stale_reason=reason), marked, marked, QUICK_ENCODERS)


def document_parts(documents: Iterable[PublishedDocument]) -> dict[str, Part]:
    """Returns the files of `documents`: bodies under `public/`, stale ones under `stale/`, and encoded siblings."""
    parts: dict[str, Part] = {}
    for document in documents:
        parts |= _with_siblings(f"public/{file_of(document.path)}", document.body, document.encoders)
        if document.stale_body is not None:
            parts |= _with_siblings(f"stale/{file_of(document.path)}", document.stale_body, document.encoders)
    return parts


def site_parts(table: RouteTable, api_address: str) -> dict[str, Part]:
    """Returns the files that accompany the documents, with the encoded siblings of those that pages load."""
    parts: dict[str, Part] = {}
    for path, content in site_files(table, api_address).items():
        folder = table.folder_of(path.removeprefix("public"))
        encoders = ENCODERS if folder is not None and folder.has_encodings else {}
        parts |= _with_siblings(path, content, encoders)
    return parts


def with_encoded_files(parts: Mapping[str, Part]) -> dict[str, Part]:
    """Returns the files, with an added gzip sibling for each text in a folder that has encodings, since gzip is the
    only coding that every server sends. Existing siblings stay."""
    siblings: dict[str, Part] = {}
    for path, part in parts.items():
        folder = published_folder(path.removeprefix("public")) if path.startswith("public/data/") else None
        if folder is not None and folder.has_encodings:
            suffix = ENCODINGS["gzip"]
            siblings[f"{path}{suffix}"] = Part(f"{part.version}{suffix}", write=_write_gzip)
    # After the files from which they are made, which must be written or linked first.
    return {path: part for path, part in parts.items() if path not in siblings} | siblings


def _write_gzip(target: Path) -> None:
    target.write_bytes(QUICK_ENCODERS["gzip"](target.with_suffix("").read_bytes()))


def _entry(draft: Draft, path: str, inputs: str, stale_after: datetime | None, made_of: str | None) -> DocumentEntry:
    last = None if draft.previous is None else draft.previous.manifest.documents.get(path)
    if last is not None and last.inputs == inputs:
        return DocumentEntry(inputs, last.generation, last.generated_at, stale_after, made_of=made_of or last.made_of)
    return DocumentEntry(inputs, draft.id, draft.created_at, stale_after, made_of=made_of)


def _with_siblings(path: str, body: bytes, encoders: Mapping[str, Encoder]) -> dict[str, Part]:
    whole = Part.of_bytes(body)
    return {path: whole} | {
        f"{path}{suffix}": _encoded(f"{whole.version}{suffix}", body, encoders[encoding])
        for encoding, suffix in ENCODINGS.items()
        if encoding in encoders
    }


def _encoded(version: str, body: bytes, encode: Callable[[bytes], bytes]) -> Part:
    return Part(version, write=lambda target: target.write_bytes(encode(body)))
