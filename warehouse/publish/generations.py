"""Builds generations: directories of immutable components with a manifest, and the pointer to the served one.

A generation is built in a temporary directory, synced, renamed and only then pointed to, so that no reader ever sees an
incomplete one. Other modules decide its content; `warehouse.publish.serving` opens its query copy.
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
import shutil
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec

from contracts.errors import DiskFull, GenerationBroken, StoreUnusable
from contracts.times import utc_text
from contracts.world.audit import AuditHead
from warehouse.file_modes import make_data_directory, set_mode, set_open_mode, write_private_file

KEPT_COUNT = 3
KEPT_AGE = timedelta(hours=1)
_ID = re.compile(r"^(\d{8}T\d{6}Z)-(\d{6,})$")
_BUILDING = ".building-"
_NEWEST_NUMBER = ".newest-generation"


class Component(msgspec.Struct, frozen=True, omit_defaults=True):
    """One file of a generation. Equal versions mean equal contents; `since` is the first generation with this version.

    `rows` is the number of rows in a data file, and `last_block` the block of its last row if it has a range of blocks.
    """

    version: str
    sha256: str
    bytes: int
    mtime: int
    since: str
    rows: int | None = None
    last_block: int | None = None


class DocumentEntry(msgspec.Struct, frozen=True, rename="camel"):
    """One published document: its inputs, the generation in which they last changed, and until when it is fresh.

    `made_of` identifies the sources of a document that reads tables or shows other documents: the document is not
    rebuilt while they are unchanged.
    """

    inputs: str
    generation: str
    generated_at: datetime
    stale_after: datetime | None = None
    stale_reason: str | None = None
    made_of: str | None = None


class Manifest(msgspec.Struct, frozen=True, rename="camel"):
    """The content of a generation: components by path within it, documents by route.

    `audit_head` is the signed head of the graph's audit at the time of the build; None before the first decision.
    `disputes` is the number of facts about which RPC nodes disagreed.
    """

    generation: str
    created_at: datetime
    base_url: str
    components: dict[str, Component]
    documents: dict[str, DocumentEntry]
    audit_head: AuditHead | None = None
    disputes: int = 0


@dataclass(frozen=True)
class Generation:
    """A complete generation at its real path, which never changes once it was pointed to."""

    path: Path
    manifest: Manifest

    @property
    def id(self) -> str:
        return self.manifest.generation


@dataclass(frozen=True)
class Part:
    """A file of the next generation: its version, and either how to write it or the finished file to link.

    `rows` and `last_block` are those of `Component`.
    """

    version: str
    write: Callable[[Path], object] | None = None
    link: Path | None = None
    rows: int | None = None
    last_block: int | None = None

    @classmethod
    def of_bytes(cls, content: bytes) -> Part:
        return cls(hashlib.sha256(content).hexdigest(), write=lambda path: path.write_bytes(content))

    @classmethod
    def of_file(cls, path: Path) -> Part:
        """Creates a part from a finished, immutable file on the same file system.

        Its version is its size and modification time, without reading its content.
        """
        status = path.stat()
        return cls(f"{status.st_size}-{status.st_mtime_ns}", link=path)


@dataclass(frozen=True)
class Sealed:
    """The files that describe all others, and the entries of the documents among them."""

    parts: Mapping[str, Part]
    documents: Mapping[str, DocumentEntry]


@dataclass(frozen=True)
class Seal:
    """Files that describe all others of a generation, and so are built last: `covers` recognises their paths, and
    `make` builds them.

    `documents` are the routes of the documents among them. `due`: they must be rebuilt although nothing else changed.
    """

    covers: Callable[[str], bool]
    make: Callable[[Mapping[str, Component]], Sealed]
    documents: Collection[str] = ()
    due: bool = False


@dataclass(frozen=True)
class Draft:
    """A generation about to be built: its id, its time (whole UTC seconds), and the generation served until then.

    `ahead_s` is how far that time is ahead of the clock, at most a second.
    """

    id: str
    created_at: datetime
    ahead_s: float
    previous: Generation | None

    @property
    def number(self) -> int:
        """Returns the serial number of the generation in this data directory, from 1."""
        return _number(self.id)


@dataclass(frozen=True)
class Built:
    """The outcome of a build: the generation, newly written paths, the number of linked files, and bytes written."""

    generation: Generation
    written: tuple[str, ...] = field(default=())
    linked: int = 0
    bytes_written: int = 0


def current_generation(data_dir: Path) -> Generation | None:
    """Returns the generation that `<data_dir>/current` points to, at its real path, or None before the first.

    Raises `StoreUnusable` if the pointer or the manifest can't be read.
    """
    pointer = current_pointer(data_dir)
    if pointer is None:
        return None
    path = (data_dir / pointer).resolve()
    return Generation(path, _manifest_in(data_dir, path))


def current_pointer(data_dir: Path) -> str | None:
    """Returns the target of `<data_dir>/current`, or None before the first generation. Raises `StoreUnusable`."""
    try:
        return str((data_dir / "current").readlink())
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise _unusable(data_dir, f"current can't be followed: {error.strerror}") from error


def _unusable(data_dir: Path, why: str) -> StoreUnusable:
    return StoreUnusable(
        f"The published files in {data_dir} can't be used: {why}.",
        cure=f"Move {data_dir}/current away and run `svc publish`, which rebuilds it.",
    )


def kept_manifests(data_dir: Path) -> list[Manifest]:
    """Returns the manifests of all retained generations, oldest first. Raises `StoreUnusable`."""
    return [_manifest_in(data_dir, path) for path in _directories(data_dir) if _ID.match(path.name)]


def _manifest_in(data_dir: Path, generation: Path) -> Manifest:
    try:
        return msgspec.json.decode((generation / "manifest.json").read_bytes(), type=Manifest)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise _unusable(data_dir, f"the manifest of {generation.name} can't be read: {error}") from error


def begin(data_dir: Path, now: datetime) -> Draft:
    """Removes the remains of killed builds, and assigns the next generation's id. The caller holds the run lock.

    Ids grow strictly even if the clock went back, and numbers even after an older generation was served again: the
    number is the version of the published data, and mirrors refuse one that decreases. No two generations share a
    second, since web servers derive validators from whole seconds.
    """
    number = _newest_number(data_dir) + 1
    _sweep(data_dir)
    previous = current_generation(data_dir)
    created_at = now.replace(microsecond=0)
    if previous is not None:
        created_at = max(created_at, previous.manifest.created_at + timedelta(seconds=1))
    ahead_s = min(max((created_at - now).total_seconds(), 0.0), 1.0)
    return Draft(f"{created_at:%Y%m%dT%H%M%SZ}-{number:06d}", created_at, ahead_s, previous)


def build(
    data_dir: Path,
    draft: Draft,
    parts: Mapping[str, Part],
    documents: Mapping[str, DocumentEntry],
    base_url: str,
    audit_head: AuditHead | None = None,
    seal: Seal | None = None,
    *,
    disputes: int = 0,
) -> Built | None:
    """Builds the drafted generation from `parts` (by path within it, written in their order), and points to it.

    Returns None if nothing would differ and the seal is not due.

    Parts with the same version in the last generation are hard-linked, with their times. Any failure leaves the last
    generation unchanged. Raises `DiskFull`, or what a part's `write` raises.
    """
    previous_components = {} if draft.previous is None else draft.previous.manifest.components
    if draft.previous is not None and not (seal is not None and seal.due):
        compared = {path: c for path, c in previous_components.items() if seal is None or not seal.covers(path)}
        last = draft.previous.manifest
        entries = {path: e for path, e in last.documents.items() if seal is None or path not in seal.documents}
        if (entries, last.base_url) == (dict(documents), base_url) and _same(compared, parts):
            return None
    time.sleep(draft.ahead_s)
    with _building(data_dir, draft.id) as building:
        components: dict[str, Component] = {}
        folders: set[str] = set()
        within = building.relative_to(data_dir).parts

        def place_all(placed: Mapping[str, Part]) -> None:
            for path, part in placed.items():
                folder = path.rpartition("/")[0]
                if folder not in folders:
                    (building / folder).mkdir(parents=True, exist_ok=True)
                    folders.add(folder)
                last = previous_components.get(path)
                if draft.previous is not None and last is not None and last.version == part.version:
                    os.link(f"{draft.previous.path}/{path}", f"{building}/{path}")  # with its mode
                    components[path] = last
                else:
                    components[path] = _place(building / path, (*within, *path.split("/")), part, draft)

        place_all(parts)
        entries = dict(documents)
        if seal is not None:
            sealed = seal.make(components)
            place_all(sealed.parts)
            entries |= sealed.documents
        components = dict(sorted(components.items()))
        manifest = Manifest(draft.id, draft.created_at, base_url, components, entries, audit_head, disputes)
        _write_synced(building / "manifest.json", msgspec.json.format(msgspec.json.encode(manifest), indent=1))
    _prune(data_dir, draft.created_at)
    written = tuple(path for path, component in components.items() if component.since == draft.id)
    return Built(
        Generation(_place_of(data_dir, draft.id), manifest),
        written,
        len(components) - len(written),
        sum(components[path].bytes for path in written),
    )


def adopt(data_dir: Path, manifest_bytes: bytes, fetch: Callable[[Mapping[Path, Component]], None]) -> Generation:
    """Builds the generation of another host's manifest, and points to it. The caller holds the run lock.

    Components that the current generation also has are hard-linked; `fetch` writes the files of all others. A
    generation that still exists here is only pointed to. Raises `GenerationBroken` if a file differs from the manifest,
    `DiskFull`, or what `fetch` raises; the last generation is then unchanged.
    """
    manifest = _whole_manifest(manifest_bytes)
    generation_id = manifest.generation
    _sweep(data_dir)
    current = current_generation(data_dir)
    place = _place_of(data_dir, generation_id)
    if not (place / "manifest.json").is_file() or (place / "manifest.json").read_bytes() != manifest_bytes:
        shutil.rmtree(place, ignore_errors=True)
        here = {} if current is None else {(c.sha256, c.mtime): path for path, c in current.manifest.components.items()}
        with _building(data_dir, generation_id) as building:
            missing: dict[Path, Component] = {}
            for path, component in manifest.components.items():
                target = building / path
                target.parent.mkdir(parents=True, exist_ok=True)
                known = here.get((component.sha256, component.mtime))
                if known is None or current is None:
                    missing[target] = component
                else:
                    os.link(current.path / known, target)
            fetch(missing)
            for target, component in missing.items():
                _verify(target, component, generation_id)
                os.utime(target, (component.mtime, component.mtime))
                _sync(target)
                set_mode(data_dir, target)
            _write_synced(building / "manifest.json", manifest_bytes)
    else:
        point_to(data_dir, generation_id)
    _prune(data_dir, manifest.created_at)
    return Generation(place, manifest)


def remove_older(data_dir: Path, before: str | None = None) -> int:
    """Removes every generation except the current one, or only those before the id `before`, whatever their age.

    Returns their number. The caller holds the run lock. Readers with open files of a removed generation can read on;
    only the names are gone.
    """
    _sweep(data_dir)
    current = current_generation(data_dir)
    older = [
        path
        for path in _directories(data_dir)
        if _ID.match(path.name) and path.name != (current and current.id) and (before is None or path.name < before)
    ]
    for path in older:
        shutil.rmtree(path)
    return len(older)


def _same(components: Mapping[str, Component], parts: Mapping[str, Part]) -> bool:
    versions = {path: component.version for path, component in components.items()}
    return versions == {path: part.version for path, part in parts.items()}


def _place(target: Path, inside: tuple[str, ...], part: Part, draft: Draft) -> Component:
    """Writes or links the file of a part, with the mode that its path `inside` the data directory requires, and syncs
    it. Opens it only once, since a generation has more than a thousand files."""
    if part.link is not None:
        os.link(part.link, target)
    elif part.write is not None:
        part.write(target)
    with target.open("rb", buffering=0) as file:
        descriptor = file.fileno()
        if part.link is None:
            seconds = int(draft.created_at.timestamp())
            os.utime(descriptor, (seconds, seconds))
        set_open_mode(descriptor, inside)
        status = os.fstat(descriptor)
        os.fsync(descriptor)
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    return Component(part.version, sha256, status.st_size, int(status.st_mtime), draft.id, part.rows, part.last_block)


@contextmanager
def _building(data_dir: Path, generation_id: str) -> Iterator[Path]:
    """Yields a directory to fill; at the end of the block it becomes the current generation. Any failure removes it."""
    root = data_dir / "generations"
    building = root / f"{_BUILDING}{generation_id}"
    try:
        building.mkdir(parents=True)
        make_data_directory(data_dir)
        yield building
        set_mode(data_dir, building / "manifest.json")
        set_mode(data_dir, root)
        inside = building.relative_to(data_dir).parts
        for directory, _, _, descriptor in os.fwalk(building):
            below = directory.removeprefix(str(building)).split("/")[1:]
            set_open_mode(descriptor, (*inside, *below))
            os.fsync(descriptor)
        building.rename(root / generation_id)
        _sync(root)
        point_to(data_dir, generation_id)
    except OSError as error:
        shutil.rmtree(building, ignore_errors=True)
        if error.errno == errno.ENOSPC:
            raise DiskFull(
                "The disk filled up while a generation was built; the last one is still served.",
                cure=f"Free space where {data_dir} is and publish again.",
            ) from error
        raise
    except BaseException:
        shutil.rmtree(building, ignore_errors=True)
        raise


def _place_of(data_dir: Path, generation_id: str) -> Path:
    return (data_dir / "generations" / generation_id).resolve()


def _whole_manifest(content: bytes) -> Manifest:
    """Parses a manifest. Raises `GenerationBroken` if it can't be read, or a path leads out of the generation."""
    try:
        manifest = msgspec.json.decode(content, type=Manifest)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise _broken("?", f"its manifest can't be read: {error}") from None
    if _ID.match(manifest.generation) is None:
        raise _broken(manifest.generation, "that is not the id of a generation")
    for path in manifest.components:
        if path.startswith("/") or not {"", ".", ".."}.isdisjoint(path.split("/")):
            raise _broken(manifest.generation, f"{path!r} is not a path within it")
    return manifest


def _verify(target: Path, component: Component, generation_id: str) -> None:
    if not target.exists():
        raise _broken(generation_id, f"the object {component.sha256} is not stored")
    with target.open("rb") as file:
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    if sha256 != component.sha256:
        raise _broken(generation_id, f"the content of the object {component.sha256} does not match its name")


def _broken(generation: str, why: str) -> GenerationBroken:
    return GenerationBroken(
        f"Generation {generation} can't be taken over: {why}.",
        cure="The served generation stays, and the next one is tried.",
    )


def point_to(data_dir: Path, generation_id: str) -> None:
    """Moves the pointer to a complete generation of this directory. The caller holds the run lock."""
    aside = data_dir / ".current-next"
    aside.unlink(missing_ok=True)
    aside.symlink_to(Path("generations") / generation_id)
    aside.replace(data_dir / "current")
    _sync(data_dir)


def _sweep(data_dir: Path) -> None:
    """Removes directories that were never pointed to: unfinished ones, and complete ones newer than the pointer."""
    current = current_generation(data_dir)
    for path in _directories(data_dir):
        unfinished = path.name.startswith(_BUILDING)
        unpointed = _ID.match(path.name) and (current is None or path.name > current.id)
        if unfinished or unpointed:
            shutil.rmtree(path)


def _newest_number(data_dir: Path) -> int:
    """Returns the number of the newest generation that ever existed here, even if `_sweep` removed it, or 0."""
    kept = data_dir / _NEWEST_NUMBER
    text = kept.read_bytes() if kept.exists() else b""
    recorded = int(text) if text.isdigit() else 0
    here = max((_number(path.name) for path in _directories(data_dir) if _ID.match(path.name)), default=0)
    current = current_generation(data_dir)
    if here > max(recorded, 0 if current is None else _number(current.id)):
        write_private_file(kept, str(here), replace=True)
    return max(here, recorded)


def _prune(data_dir: Path, newest: datetime) -> None:
    """Removes old generations except the newest few and all recent ones, which other processes may still read."""
    ids = sorted((path.name for path in _directories(data_dir) if _ID.match(path.name)), reverse=True)
    oldest_kept = f"{newest - KEPT_AGE:%Y%m%dT%H%M%SZ}"
    for generation_id in ids[KEPT_COUNT:]:
        if generation_id < oldest_kept:
            shutil.rmtree(data_dir / "generations" / generation_id)


def _directories(data_dir: Path) -> list[Path]:
    root = data_dir / "generations"
    return sorted(root.iterdir()) if root.is_dir() else []


def published_at(generation_id: str) -> str:
    """Returns the time of a generation in the ledger's text form, from its id, which has whole seconds."""
    return utc_text(datetime.strptime(generation_id.partition("-")[0], "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC))


def _number(generation_id: str) -> int:
    match = _ID.match(generation_id)
    assert match is not None, generation_id
    return int(match[2])


def _write_synced(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    _sync(path)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
