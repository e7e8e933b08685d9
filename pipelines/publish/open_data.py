"""Builds the files about open data: the index, datasets' metadata, and the signed manifest of all public files."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache

import yaml

from contracts.canonical import sha256_hex
from contracts.discovery.installation import installation_of
from contracts.open_data.datasets import DataFile, data_index
from contracts.open_data.manifest import (
    SIGNED_AGAIN_AFTER,
    ManifestFile,
    ManifestHead,
    signed_manifest,
    written,
)
from contracts.open_data.metadata import croissant, data_contract, data_package
from contracts.open_data.names import (
    CROISSANT_PATH,
    DATA_PACKAGE_PATH,
    INDEX_PATH,
    MANIFEST_PATH,
    NOW_PATH,
    TOKENS_FOLDER,
    TOKENS_INDEX_PATH,
    contract_path,
    parse_file_name,
)
from contracts.publish.now import now_document
from contracts.publish.projection import Projection
from contracts.publish.registry import rows_that_show
from contracts.publish.routes import ENCODINGS, file_of
from contracts.settings import Settings
from contracts.token.holders import block_of_list
from contracts.world.audit import AuditHead
from pipelines.publish.documents import described_documents, document_parts, with_encoded_files
from pipelines.publish.site import published_folder
from warehouse.access.signing_keys import SigningKeys
from warehouse.open_data.data_files import FOLDER
from warehouse.open_data.public_tables import public_tables
from warehouse.publish.generations import Component, DocumentEntry, Draft, Part, Seal, Sealed

_MANIFEST_FILE = f"public{MANIFEST_PATH}"
_SEALED = (".json", ".yaml")
"""The endings of the files built here; data files have others."""

SEALED_ROWS = tuple(rows_that_show((INDEX_PATH,)))
"""The documents that show the index, and so are built after it: the page of open data."""

_PAGES = {f"public/{file_of(row.path)}{suffix}" for row in SEALED_ROWS for suffix in ("", *ENCODINGS.values())}


def is_sealed(path: str) -> bool:
    """Returns True if the component at `path` within a generation is built here."""
    described = path.startswith(FOLDER) and _without_encoding(path).endswith(_SEALED)
    return path in _PAGES or (described and not path.startswith(f"public{TOKENS_FOLDER}"))


def _without_encoding(path: str) -> str:
    """Returns the path of the file of which the one at `path` is an encoded sibling, or else `path`."""
    is_published = published_folder(path.removeprefix("public")) is not None
    return path if is_published else path.removesuffix(ENCODINGS["gzip"])


def seal_of(
    settings: Settings,
    draft: Draft,
    documents: Mapping[str, DocumentEntry],
    base_url: str,
    head: AuditHead | None,
    rows: Sequence[Projection],
    token_index: bytes | None,
) -> Seal:
    """Returns the seal that builds these files, and the documents of `rows` among them, for a pending generation.

    `token_index` is its index of further tokens, which those documents show. Raises `SettingsInvalid` or
    `StoreUnusable` if the signing keys are unusable.
    """

    def make(components: Mapping[str, Component]) -> Sealed:
        described = _descriptions(components, draft, base_url)
        bodies = {path.removeprefix("public"): content for path, content in described.items()}
        shown = bodies if token_index is None else bodies | {TOKENS_INDEX_PATH: token_index}
        pages, _ = described_documents(rows, installation_of(settings), shown, draft, all_anew=True)
        entries = {page.path: page.entry for page in pages}
        bodies[NOW_PATH] = described[f"public{NOW_PATH}"] = _now(components, draft, {**documents, **entries})
        listed = {path: Part.of_bytes(content) for path, content in described.items()}
        bodies |= {page.path: page.body for page in pages}
        files = _public_files(components, documents) | {
            path: ManifestFile(sha256_hex(body), len(body)) for path, body in bodies.items()
        }
        key = SigningKeys(settings).current().signer(draft.created_at)
        signed = signed_manifest(
            base_url,
            draft.id,
            draft.number,
            draft.created_at,
            files,
            None if head is None else ManifestHead(head.decisions, head.link),
            key,
        )
        parts = listed | document_parts(pages) | {_MANIFEST_FILE: Part.of_bytes(signed)}
        return Sealed(with_encoded_files(parts), {page.path: page.entry for page in pages})

    return Seal(is_sealed, make, [row.path for row in rows], due=_is_old(draft))


def _is_old(draft: Draft) -> bool:
    """Returns True if the last manifest must be signed again before it expires."""
    last = None if draft.previous is None else draft.previous.manifest.components.get(_MANIFEST_FILE)
    return last is None or draft.created_at.timestamp() - last.mtime >= SIGNED_AGAIN_AFTER.total_seconds()


def _descriptions(components: Mapping[str, Component], draft: Draft, base_url: str) -> dict[str, bytes]:
    """Returns the index and the metadata, by path within the generation."""
    datasets = [public.dataset for public in public_tables().values()]
    files = _data_files(components, draft)
    index = data_index(base_url, datasets, files)
    described = {
        INDEX_PATH: written(index.model_dump(mode="json", by_alias=True)),
        DATA_PACKAGE_PATH: written(data_package(base_url, datasets, files)),
        CROISSANT_PATH: written(croissant(base_url, datasets, files)),
    }
    return {f"public{path}": content for path, content in (described | _contracts(base_url)).items()}


@lru_cache(maxsize=2)
def _contracts(base_url: str) -> dict[str, bytes]:
    """Returns the data contract of every dataset by path. Cached, since they depend only on the code."""
    return {
        contract_path(public.dataset.name): yaml.dump(
            data_contract(base_url, public.dataset),
            Dumper=yaml.CSafeDumper,
            sort_keys=False,
            allow_unicode=True,
            width=120,
        ).encode()
        for public in public_tables().values()
    }


def _now(components: Mapping[str, Component], draft: Draft, documents: Mapping[str, DocumentEntry]) -> bytes:
    """Returns the document of the service's current state, which pages read instead of containing it."""
    blocks = [block for path in components if (block := block_of_list(path.rpartition("/")[2])) is not None]
    return written(
        now_document(
            draft.id,
            draft.created_at,
            max(blocks, default=None),
            {path: (entry.generation, entry.stale_after, entry.stale_reason) for path, entry in documents.items()},
        )
    )


def _data_files(components: Mapping[str, Component], draft: Draft) -> list[DataFile]:
    today = draft.created_at.date().isoformat()
    files = []
    for path, component in components.items():
        is_data = path.startswith(FOLDER) and published_folder(path.removeprefix("public")) is not None
        name = parse_file_name(path.removeprefix(FOLDER)) if is_data else None
        if name is not None:
            grows = name.day is not None and name.day >= today
            written_at = datetime.fromtimestamp(component.mtime, UTC)
            last_block = name.last_block if component.last_block is None else component.last_block
            files.append(
                DataFile(name, component.bytes, component.sha256, component.rows, last_block, written_at, grows)
            )
    return files


def _public_files(
    components: Mapping[str, Component], documents: Mapping[str, DocumentEntry]
) -> dict[str, ManifestFile]:
    """Returns every file with a public address, by its path there: documents, data, and files that pages load."""
    files: dict[str, ManifestFile] = {}
    for path in documents:
        fresh, stale = components[f"public/{file_of(path)}"], components.get(f"stale/{file_of(path)}")
        files[path] = ManifestFile(
            fresh.sha256, fresh.bytes, None if stale is None else stale.sha256, None if stale is None else stale.bytes
        )
    for name, component in components.items():
        path = name.removeprefix("public")
        if path != name and published_folder(path) is not None:
            files[path] = ManifestFile(component.sha256, component.bytes)
    return files
