"""Deletes partitions that nobody needs any more from the object store: files of failed attempts, and partitions of
another size that partitions of the current size replace.

This is safe while workers write. Every attempt has its own files, so an abandoned file is never used again, and a file
counts as abandoned only when it is a day older than the newest object. All times are the store's, so no host's clock
matters.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from contracts.errors import PartitionBroken, PartitionNotSigned
from contracts.token.partitions import ReadToken, attempt_of, covering
from warehouse.publish.object_store import StoredObject
from warehouse.token.partition_store import FILES, MANIFESTS, PartitionStore, by_partition

LEFT_BEHIND_AGE = timedelta(days=1)
"""Far more than the time that an attempt may take (`WRITTEN_WITHIN`) or that a reader holds a manifest."""


@dataclass(frozen=True)
class Pruned:
    """The numbers of deleted manifests and files."""

    partitions: int = 0
    files: int = 0


def prune_partitions(store: PartitionStore, tokens: Sequence[ReadToken], blocks: int) -> Pruned:
    """Deletes replaced partitions, and the files that no manifest names. Raises `ObjectStoreAway`.

    `blocks` is the current size. A partition of another size counts as replaced once partitions of the current size
    with all of its blocks have been stored for all tokens for a day.
    """
    files = store.listed(FILES)  # before the manifests, so that no manifest that names one of them is missed
    manifests = {stored.name: stored.written_at for stored in store.listed(MANIFESTS)}
    before = max([*manifests.values(), *(file.written_at for file in files)], default=None)
    if before is None:
        return Pruned()
    before -= LEFT_BEHIND_AGE
    replaced = _replaced(store, manifests, tokens, blocks, before)
    store.delete(MANIFESTS, replaced)
    left_behind = _left_behind(store, files, manifests.keys() - set(replaced), before)
    store.delete(FILES, left_behind)
    return Pruned(len(replaced), len(left_behind))


def _replaced(
    store: PartitionStore,
    manifests: Mapping[str, datetime],
    tokens: Sequence[ReadToken],
    blocks: int,
    before: datetime,
) -> list[str]:
    names = by_partition(manifests)
    replaced: list[str] = []
    for partition, stored in names.items():
        cover = covering(partition, blocks)
        later = [name for part in cover for name in names.get(part, []) if manifests[name] >= before]
        if cover != [partition] and not later and not store.missing(cover, tokens, names=names):
            replaced += stored
    return replaced


def _left_behind(
    store: PartitionStore, files: Iterable[StoredObject], manifests: set[str], before: datetime
) -> list[str]:
    """Returns the files of attempts that no manifest names and that are older than `before`."""
    attempts: dict[str, dict[str, list[StoredObject]]] = {}
    for file in files:
        place = attempt_of(file.name)
        if place is not None:
            attempts.setdefault(place[0], {}).setdefault(place[1], []).append(file)
    left_behind: list[str] = []
    for name, stored in attempts.items():
        if name in manifests:
            named = _named_attempt(store, name) if len(stored) > 1 else next(iter(stored))
            if named is None:
                continue
            stored.pop(named, None)
        for found in stored.values():
            if all(file.written_at < before for file in found):
                left_behind += [file.name for file in found]
    return left_behind


def _named_attempt(store: PartitionStore, name: str) -> str | None:
    """Returns the attempt whose files a manifest names; None if the manifest is invalid, which is left to a person."""
    try:
        (manifest,) = store.manifests([name])
    except (PartitionBroken, PartitionNotSigned):
        return None
    return manifest.attempt
