"""Copies generations to an object store and from it, so that hosts without a shared disk serve the same one.

A publisher stores the components that the store lacks, then the manifest, and last a pointer under the next free
number. A reader takes the highest valid pointer, fetches what it lacks, verifies it, and only then moves its own
pointer. So both serve a complete generation at every moment, whichever of them dies at whatever point.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

import msgspec

from contracts.errors import GenerationBroken, GenerationUnknown, ObjectStoreAway, SettingsInvalid
from contracts.publish.pointers import Pointer, judge_pointer, signed_pointer
from contracts.settings import Settings
from warehouse.access.signing_keys import SigningKeys
from warehouse.duck.connection import run_lock
from warehouse.file_modes import write_private_file
from warehouse.publish.generations import (
    KEPT_AGE,
    KEPT_COUNT,
    Component,
    Generation,
    Manifest,
    adopt,
    current_generation,
    remove_older,
)
from warehouse.publish.object_store import OBJECTS, ObjectStore, object_name

FOLLOWED = "followed.json"
"""The file in a data directory that contains the pointer followed last."""

LOCK_WAIT_S = 60.0
UNREFERENCED_AGE = timedelta(days=1)
"""The age at which an object is deleted that no remaining pointer refers to. Younger ones may be in use: another
publisher may be storing its generation."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Origin:
    """The origin of stored generations: the store, the address that they are built for, and the service's keys."""

    store: ObjectStore
    base_url: str
    keys: SigningKeys


def origin_of(settings: Settings) -> Origin:
    """Returns the origin that the settings name. Raises `SettingsInvalid` if they name none."""
    if settings.publish_url is None:
        raise SettingsInvalid("SVC_PUBLISH_URL is not set.", cure="Set it to an object store, as .env.example shows.")
    return Origin(ObjectStore(settings.publish_url), settings.public_base_url, SigningKeys(settings))


@dataclass(frozen=True)
class Pointing:
    """The fields of a pointer that its creator decides."""

    generation: str
    manifest: str
    rolled_back_from: str | None = None
    forget_before: str | None = None


def newest_pointer(origin: Origin) -> Pointer | None:
    """Returns the highest valid pointer, or None. Invalid ones are logged and skipped."""
    return _newest(origin, origin.store.pointer_numbers())


def valid_pointers(origin: Origin) -> list[Pointer]:
    """Returns all valid pointers, ascending."""
    read = (_valid(origin, number) for number in origin.store.pointer_numbers())
    return [pointer for pointer in read if pointer is not None]


def push(origin: Origin, data_dir: Path, now: datetime, *, forgets_older: bool = False) -> Pointer | None:
    """Stores this host's generation and points to it. Returns None if the store already points to it or a newer one, or
    if it was built for another address.

    With `forgets_older` the store points to it again, and every host deletes all older ones. Raises `ObjectStoreAway`;
    the next attempt uses what was stored until then.
    """
    generation = current_generation(data_dir)
    if generation is None or generation.manifest.base_url != origin.base_url:
        return None
    taken: list[int] | None = None
    while True:
        numbers = _new_numbers(origin, taken)
        head = _newest(origin, numbers)
        if head is not None and generation.id <= head.newest and not (forgets_older and generation.id == head.newest):
            return None
        origin.store.put_files(_lacking(generation, _stored(origin, head)))
        manifest = origin.store.put_bytes((generation.path / "manifest.json").read_bytes())
        last_forgotten = None if head is None else head.forget_before
        forgotten = generation.id if forgets_older else last_forgotten
        pointer = _created(origin, numbers, Pointing(generation.id, manifest, forget_before=forgotten), now)
        if pointer is not None:
            return pointer
        taken = numbers


def roll_back(origin: Origin, generation_id: str, now: datetime) -> Pointer:
    """Points the store to an older generation. The next newer generation that a publisher builds replaces it.

    Raises `GenerationUnknown` if no remaining pointer refers to it, and `ObjectStoreAway`.
    """
    taken: list[int] | None = None
    while True:
        numbers = _new_numbers(origin, taken)
        pointers = [pointer for number in numbers if (pointer := _valid(origin, number)) is not None]
        wanted = next((pointer for pointer in reversed(pointers) if pointer.generation == generation_id), None)
        if wanted is None:
            kept = ", ".join(sorted({pointer.generation for pointer in pointers})) or "none"
            raise GenerationUnknown(
                f"{origin.store.url} contains no generation {generation_id}.", cure=f"It contains these: {kept}."
            )
        newest = max(pointer.newest for pointer in pointers)
        pointing = Pointing(wanted.generation, wanted.manifest, newest, pointers[-1].forget_before)
        pointer = _created(origin, numbers, pointing, now)
        if pointer is not None:
            return pointer
        taken = numbers


def follow(origin: Origin, data_dir: Path, *, after: int = 0) -> Pointer | None:
    """Fetches the generation of the highest valid pointer after number `after`, serves it, and returns that pointer, if
    any.

    If a generation can't be fetched completely, the next lower pointer is tried, but never one older than the pointer
    followed here last, since a store may answer with an outdated state. Raises `GenerationBroken` if none is left, and
    `ObjectStoreAway`.
    """
    broken: GenerationBroken | None = None
    current = current_generation(data_dir)
    followed = _followed(data_dir, current)
    for number in reversed(origin.store.pointer_numbers(above=after)):
        pointer = _valid(origin, number)
        if pointer is None:
            continue
        if followed is not None and not pointer.is_of_now(followed):
            raise broken or ObjectStoreAway(
                f"The object store {origin.store.url} lists pointer {number} as its newest, but {followed.number} was "
                "followed here.",
                cure="The served generation stays; the store is tried again.",
            )
        try:
            if current is None or current.id != pointer.generation:
                _take_over(origin, data_dir, pointer)
        except GenerationBroken as problem:
            broken = broken or problem
            continue
        if pointer.forget_before is not None:
            with run_lock(data_dir, wait_s=LOCK_WAIT_S):
                remove_older(data_dir, pointer.forget_before)
        write_private_file(data_dir / FOLLOWED, msgspec.json.encode(pointer).decode(), replace=True)
        return pointer
    if broken is not None:
        raise broken
    return None


def prune(origin: Origin, now: datetime) -> int:
    """Deletes pointers that no reader needs, and objects that no other pointer refers to. Returns their number.

    Only the publisher that created the newest pointer may call this.
    """
    pointers = valid_pointers(origin)
    kept = {pointer.number for pointer in pointers if pointer.written_at > now - KEPT_AGE}
    kept |= {pointer.number for pointer in pointers[-KEPT_COUNT:]}
    return _keep(origin, pointers, kept, now - UNREFERENCED_AGE)


def forget_older(origin: Origin, data_dir: Path, now: datetime) -> None:
    """Points to this host's generation and deletes all others from the store, whatever their age.

    Following hosts delete theirs when they read that pointer. Raises `ObjectStoreAway`, and `GenerationUnknown` if
    another publisher's generation is newer; it can be repeated.
    """
    pointer = push(origin, data_dir, now, forgets_older=True)
    if pointer is None:
        raise GenerationUnknown(
            f"{origin.store.url} points to a newer generation than {data_dir}.",
            cure="Run the command on the host that publishes.",
        )
    pointers = valid_pointers(origin)
    _keep(origin, pointers, {kept.number for kept in pointers if kept.number >= pointer.number}, None)


def _keep(origin: Origin, pointers: list[Pointer], kept: set[int], unneeded_before: datetime | None) -> int:
    """Deletes all pointers except the `kept` ones, and all objects that these don't need and that were written before
    `unneeded_before` (None: at any time)."""
    needed: set[str] = set()
    for manifest_hash in {pointer.manifest for pointer in pointers if pointer.number in kept}:
        manifest = _manifest(origin, manifest_hash)
        if manifest is None:
            return 0
        needed |= {object_name(manifest_hash)}
        needed |= {object_name(component.sha256) for component in manifest.components.values()}
    superseded = [pointer.number for pointer in pointers if pointer.number not in kept]
    origin.store.delete_pointers(superseded)
    unneeded = [
        stored.name
        for stored in origin.store.listed(OBJECTS)
        if stored.name not in needed and (unneeded_before is None or stored.written_at < unneeded_before)
    ]
    origin.store.delete(unneeded)
    return len(superseded) + len(unneeded)


def _followed(data_dir: Path, current: Generation | None) -> Pointer | None:
    """Returns the pointer that was followed last if its generation is still served, else None. A damaged file counts as
    missing: nothing depends on it."""
    try:
        pointer = msgspec.json.decode((data_dir / FOLLOWED).read_bytes(), type=Pointer)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return None
    return pointer if current is not None and current.id == pointer.generation else None


def _newest(origin: Origin, numbers: list[int]) -> Pointer | None:
    return next((pointer for number in reversed(numbers) if (pointer := _valid(origin, number)) is not None), None)


def _valid(origin: Origin, number: int) -> Pointer | None:
    body = origin.store.pointer(number)
    if body is None:
        return None  # deleted since it was listed
    pointer = judge_pointer(body, number, origin.keys.current(), origin.base_url)
    if isinstance(pointer, Pointer):
        return pointer
    _log.warning("Pointer %d of %s is %s and is ignored", number, origin.store.url, pointer)
    return None


def _new_numbers(origin: Origin, taken: list[int] | None) -> list[int]:
    """Returns the numbers of all pointers. `taken` is an earlier list of them, whose next number was not free.

    Raises `ObjectStoreAway` if the store still lists the same: its list is outdated.
    """
    numbers = origin.store.pointer_numbers()
    if taken is not None and numbers == taken:
        newest = max(taken, default=0)
        raise ObjectStoreAway(
            f"The object store {origin.store.url} lists pointer {newest} as its newest, but holds a newer one.",
            cure="The served generation stays; the store is tried again.",
        )
    return numbers


def _created(origin: Origin, numbers: list[int], pointing: Pointing, now: datetime) -> Pointer | None:
    """Creates the pointer after `numbers`. Returns None if another publisher took its number meanwhile."""
    number = max(numbers, default=0) + 1
    pointer = Pointer(
        number=number,
        base_url=origin.base_url,
        generation=pointing.generation,
        manifest=pointing.manifest,
        written_at=now,
        rolled_back_from=pointing.rolled_back_from,
        forget_before=pointing.forget_before,
    )
    body = signed_pointer(pointer, origin.keys.current().signer(now))
    return pointer if origin.store.create_pointer(number, body) else None


def _take_over(origin: Origin, data_dir: Path, pointer: Pointer) -> None:
    content = origin.store.bytes_of(pointer.manifest)
    if content is None:
        raise GenerationBroken(
            f"Generation {pointer.generation} can't be taken over: its manifest is not stored.",
            cure="The served generation stays, and the next one is tried.",
        )

    def fetch(missing: Mapping[Path, Component]) -> None:
        origin.store.get_files((object_name(component.sha256), path) for path, component in missing.items())

    with run_lock(data_dir, wait_s=LOCK_WAIT_S):
        adopt(data_dir, content, fetch)


def _stored(origin: Origin, head: Pointer | None) -> set[str]:
    """Returns the hashes of objects that the store certainly has: those of the newest pointer's generation."""
    manifest = None if head is None else _manifest(origin, head.manifest)
    return set() if manifest is None else {component.sha256 for component in manifest.components.values()}


def _lacking(generation: Generation, stored: set[str]) -> dict[str, Path]:
    return {
        object_name(component.sha256): generation.path / path
        for path, component in generation.manifest.components.items()
        if component.sha256 not in stored
    }


def _manifest(origin: Origin, sha256: str) -> Manifest | None:
    content = origin.store.bytes_of(sha256)
    if content is None:
        return None
    try:
        return msgspec.json.decode(content, type=Manifest)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None
