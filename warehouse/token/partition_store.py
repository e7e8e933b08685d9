"""Partitions in the object store: files that are never replaced, and manifests under names that are created once.

A manifest is valid only if the service's key signed it. If two workers write the same partition, the first manifest
stays; the second writer reads it and compares.
"""

from __future__ import annotations

import hashlib
import secrets
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import duckdb
import msgspec
import pyarrow as pa

from contracts.errors import (
    NodesDisagree,
    ObjectStoreAway,
    OperatorProblem,
    PartitionBroken,
    PartitionNotSigned,
    SettingsInvalid,
)
from contracts.settings import PREFIX, Settings
from contracts.token.partitions import (
    ManifestFault,
    Partition,
    PartitionManifest,
    ReadToken,
    StoredFile,
    differing_tokens,
    judge_partition,
    manifest_name,
    not_held,
    partition_of,
    signed_partition,
)
from warehouse.access.signing_keys import SigningKeys
from warehouse.publish.object_store import ObjectStore, StoredObject
from warehouse.statements import literal, read_sql
from warehouse.token.holders import combined

MANIFESTS, FILES = "manifests", "files"
WRITTEN_WITHIN = timedelta(hours=1)
"""Longest time between the first file of an attempt and its manifest: a much older attempt without one has failed."""

_ROWS_PER_GROUP = 10_240
"""Rows per Parquet row group: few, so that a reader of one token skips the rows of all others."""

_KEPT_BYTES = 4 << 30
"""Total size up to which fetched files stay on disk for the next token."""

_ZERO = bytes(20)


@dataclass(frozen=True)
class ThroughZero:
    """Amounts of one token, in smallest units, that moved from the zero address, to it, and from it to itself."""

    minted: int = 0
    sent_to_zero: int = 0
    zero_to_zero: int = 0


@dataclass(frozen=True)
class PartitionFiles:
    """The files of a partition on local disk by their SHA-256, and each token's amounts through the zero address."""

    transfers: StoredFile
    deltas: StoredFile
    paths: Mapping[str, Path]
    through_zero: Mapping[str, ThroughZero]


class PartitionStore:
    """The partitions of one chain. Every method raises `ObjectStoreAway` if the store can't be used."""

    def __init__(
        self,
        store: ObjectStore,
        chain_id: int,
        keys: SigningKeys,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._store = store
        self._chain_id = chain_id
        self._keys = keys
        self._clock = clock
        self._read: dict[str, PartitionManifest] = {}

    @property
    def url(self) -> str:
        return self._store.url

    def names(self) -> dict[Partition, list[str]]:
        """Returns the names of all manifests by their partition."""
        return by_partition(stored.name for stored in self.listed(MANIFESTS))

    def listed(self, folder: str) -> list[StoredObject]:
        """Returns the objects of a folder, sorted by name; names are relative to the folder."""
        stored = (replace(found, name=found.name.partition(f"{folder}/")[2]) for found in self._store.listed(folder))
        return sorted(stored, key=lambda found: found.name)

    def delete(self, folder: str, names: Iterable[str]) -> None:
        """Deletes objects of a folder; names are relative to the folder."""
        self._store.delete([f"{folder}/{name}" for name in names])

    def manifests(self, names: Iterable[str]) -> list[PartitionManifest]:
        """Returns the manifests with these names, each read once. Raises `PartitionBroken`, `PartitionNotSigned`."""
        return [self._manifest(name) for name in sorted(names)]

    def missing(
        self, partitions: Iterable[Partition], tokens: Sequence[ReadToken], *, names: Mapping[Partition, list[str]]
    ) -> dict[Partition, tuple[ReadToken, ...]]:
        """Returns the partitions that lack some of the tokens, with the tokens they lack. `names` are all stored
        manifests."""
        missing: dict[Partition, tuple[ReadToken, ...]] = {}
        for partition in partitions:
            stored = names.get(partition, [])
            if manifest_name(partition, tokens) in stored:
                continue
            lacking = not_held(partition, tokens, self.manifests(stored))
            if lacking:
                missing[partition] = lacking
        return missing

    def put(self, manifest: PartitionManifest, paths: Mapping[str, Path]) -> bool:
        """Stores a partition and signs its manifest. Returns False if another worker stored the same one before.

        Raises `NodesDisagree` if that one contains other rows; nothing is replaced.
        """
        began_at = self._clock()
        manifest = msgspec.structs.replace(manifest, attempt=secrets.token_hex(8))
        key = self._keys.current().signer(began_at)
        self._store.put_files({f"{FILES}/{name}": paths[sha256] for sha256, name in manifest.file_names().items()})
        if self._clock() - began_at > WRITTEN_WITHIN:
            raise ObjectStoreAway(
                f"{self.url} took too long for the files of blocks {manifest.partition.first} to "
                f"{manifest.partition.last}.",
                cure="They are read again.",
            )
        if self._store.create(f"{MANIFESTS}/{manifest.name}", signed_partition(manifest, key)):
            return True
        different = differing_tokens(manifest, self._manifest(manifest.name))
        if different:
            raise NodesDisagree(
                f"Blocks {manifest.partition.first} to {manifest.partition.last} were read twice, with different "
                f"transfers of {', '.join(different)}. The first reading stays.",
                cure=f"If it is the wrong one, delete {MANIFESTS}/{manifest.name} in {self.url}: it is read again.",
            )
        return False

    def fetch(self, manifests: Iterable[PartitionManifest], directory: Path) -> dict[str, Path]:
        """Fetches the files of partitions to local disk and returns their paths by SHA-256.

        Files that are in the directory already are not fetched again, since the tokens of a partition share its files.
        Raises `PartitionBroken` for a file that differs from its manifest.
        """
        stored = {sha256: (name, manifest) for manifest in manifests for sha256, name in manifest.file_names().items()}
        wanted = {sha256: directory / f"{sha256}.parquet" for sha256 in stored}
        others = [path for path in directory.glob("*.parquet") if path.stem not in wanted]
        if sum(path.stat().st_size for path in others) > _KEPT_BYTES:
            for path in others:
                path.unlink()
        lacking = {sha256: path for sha256, path in wanted.items() if not path.exists()}
        self._store.get_files((f"{FILES}/{stored[sha256][0]}", path) for sha256, path in lacking.items())
        for sha256, path in lacking.items():
            name, manifest = stored[sha256]
            if not path.exists() or _sha256(path) != sha256:
                path.unlink(missing_ok=True)
                raise PartitionBroken(
                    f"{self.url} does not hold {FILES}/{name} as it was written.",
                    cure=f"Delete {MANIFESTS}/{manifest.name}: workers read these blocks again.",
                )
        return wanted

    def _manifest(self, name: str) -> PartitionManifest:
        known = self._read.get(name)
        if known is not None:
            return known
        content = self._store.content(f"{MANIFESTS}/{name}")
        manifest = judge_partition(content or b"", name, self._chain_id, self._keys.current())
        if not isinstance(manifest, PartitionManifest):
            raise _refused(manifest, f"{MANIFESTS}/{name} in {self.url}")
        self._read[name] = manifest
        return manifest


def by_partition(manifests: Iterable[str]) -> dict[Partition, list[str]]:
    """Groups names of manifests by their partition."""
    names: dict[Partition, list[str]] = {}
    for name in manifests:
        partition = partition_of(name.partition("/")[0])
        if partition is not None:
            names.setdefault(partition, []).append(name)
    return names


def _refused(fault: ManifestFault, what: str) -> OperatorProblem:
    match fault:
        case ManifestFault.MALFORMED:
            return PartitionBroken(
                f"{what} is not a manifest of its partition.", cure="Delete it: workers read these blocks again."
            )
        case ManifestFault.UNSIGNED:
            return PartitionNotSigned(
                f"{what} is not signed: no worker of this service wrote it.",
                cure="Delete it: workers read these blocks again.",
            )
        case ManifestFault.FORGED:
            return PartitionNotSigned(
                f"{what} is not signed by a key of this service.",
                cure="Give the workers the SVC_SIGNING_KEY_FILE of this host, and delete it: they read these blocks "
                "again.",
            )


def require_partitions(settings: Settings, *others: str) -> None:
    """Raises `SettingsInvalid` unless the settings of partitions, and the others named, are all set."""
    names = ("partition_blocks", "publish_url", *others)
    missing = [f"{PREFIX}{name.upper()}" for name in names if not getattr(settings, name)]
    if missing:
        raise SettingsInvalid(
            f"Ingestion over workers needs settings that are not set here: {', '.join(missing)}.",
            cure="Set it as docs/operations.md shows under `More than one machine: ingestion`.",
        )


def partition_store(settings: Settings) -> PartitionStore:
    """Returns the store that the settings name. Raises `SettingsInvalid` if partitions are not set up."""
    require_partitions(settings)
    assert settings.publish_url is not None
    store = ObjectStore(f"{settings.publish_url.rstrip('/')}/partitions/{settings.chain_id}")
    return PartitionStore(store, settings.chain_id, SigningKeys(settings))


def write_files(rows: pa.Table, directory: Path) -> PartitionFiles:
    """Writes two Parquet files: the rows of a partition in their order, and the change of each address's balance.

    Equal rows give equal bytes.
    """
    # One thread, since several workers run on a host.
    with duckdb.connect(config={"threads": 1}) as connection:
        connection.register("partition_rows", rows)
        files = [
            _written(connection, read_sql(question), directory)
            for question in ("partition_transfers", "partition_deltas")
        ]
        through = {
            token: ThroughZero(*(combined(limbs) for limbs in sums))
            for token, *sums in connection.execute(read_sql("partition_through_zero"), {"zero": _ZERO}).fetchall()
        }
    (transfers, transfers_path), (deltas, deltas_path) = files
    paths = {transfers.sha256: transfers_path, deltas.sha256: deltas_path}
    return PartitionFiles(transfers, deltas, paths, through)


def scratch(data_dir: Path) -> tempfile.TemporaryDirectory[str]:
    """Returns a temporary directory on the disk of the data; leaving its context deletes it."""
    data_dir.mkdir(parents=True, exist_ok=True)
    return tempfile.TemporaryDirectory(prefix="partitions-", dir=data_dir)


def _written(connection: duckdb.DuckDBPyConnection, query: str, directory: Path) -> tuple[StoredFile, Path]:
    with tempfile.NamedTemporaryFile(suffix=".parquet", dir=directory, delete=False) as file:
        path = Path(file.name)
    counted = connection.execute(
        f"copy ({query}) to {literal(path)} (format parquet, compression zstd, row_group_size {_ROWS_PER_GROUP})",
        {"zero": _ZERO} if "$zero" in query else {},
    ).fetchall()
    return StoredFile(_sha256(path), path.stat().st_size, counted[0][0]), path


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
