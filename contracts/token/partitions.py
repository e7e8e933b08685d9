"""Defines partitions of a chain's history: their blocks, their manifests, and the file of further tokens. Pure.

Any worker can read a partition, once for all tokens, and store it as files that never change. The service's key signs
its manifest, which is created under a unique name: if two workers read the same partition, the first manifest counts.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from enum import StrEnum

import msgspec
import yaml
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from contracts.access.signing import KeySet, SigningKey, signed_sha256, with_signature
from contracts.errors import SettingsInvalid
from contracts.settings import Address

SCHEMA = "svc.partition/1"
_KEY = re.compile(r"(\d{12})-(\d{12})")


class Partition(msgspec.Struct, frozen=True, order=True):
    """The blocks of one partition, including both ends."""

    first: int
    last: int

    @property
    def key(self) -> str:
        """Returns its name in Dagster and the store. Names sort like blocks."""
        return f"{self.first:012}-{self.last:012}"


def partition_of(key: str) -> Partition | None:
    """Returns the partition with that name, or None for another name."""
    named = _KEY.fullmatch(key)
    return None if named is None else Partition(int(named[1]), int(named[2]))


def partitions_within(first_block: int, final_block: int, blocks: int) -> list[Partition]:
    """Returns the whole partitions of `blocks` blocks from that of `first_block` up to the final block.

    Their grid does not depend on the first block, so further tokens share the same partitions.
    """
    begin = first_block // blocks * blocks
    return [Partition(first, first + blocks - 1) for first in range(begin, final_block + 2 - blocks, blocks)]


def covering(partition: Partition, blocks: int) -> list[Partition]:
    """Returns the partitions of `blocks` blocks that contain the blocks of a partition of any size."""
    return partitions_within(partition.first, partition.last // blocks * blocks + blocks - 1, blocks)


class ReadToken(msgspec.Struct, frozen=True, order=True):
    """A token to read: its address, in lower case, and its first block."""

    address: str
    first_block: int = 0


def tokens_of(partition: Partition, tokens: Iterable[ReadToken]) -> tuple[ReadToken, ...]:
    """Returns the tokens with blocks in a partition, in order, with their first blocks within it."""
    return tuple(
        sorted(
            ReadToken(token.address, max(token.first_block, partition.first))
            for token in tokens
            if token.first_block <= partition.last
        )
    )


class StoredFile(msgspec.Struct, frozen=True):
    """A file of a partition, stored under its SHA-256."""

    sha256: str
    bytes: int
    rows: int


class TokenRange(msgspec.Struct, frozen=True):
    """The rows of one token in a range when it was read: their number and digest."""

    rows: int
    sha256: str


class ReadRange(msgspec.Struct, frozen=True):
    """Blocks that were read in one piece, and each token's rows in them."""

    first: int
    last: int
    last_hash: str
    last_time_s: int
    rpc_host: str
    reasked: bool
    tokens: dict[str, TokenRange]


class TokenPart(msgspec.Struct, frozen=True):
    """One token's part of a partition.

    `sha256` is that of its rows, regardless of how they were split into ranges. The amounts passed through the zero
    address, in smallest units. `broken` is the reason why its events can't be read; it has no rows then.
    """

    first_block: int
    rows: int
    sha256: str
    minted_raw: str
    sent_to_zero_raw: str
    zero_to_zero_raw: str
    broken: str | None = None

    @property
    def proven_by(self) -> tuple[int, str, str | None]:
        """Returns the values that two readings of the same blocks must have in common."""
        return self.rows, self.sha256, self.broken


class PartitionManifest(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a worker's reading, and its files: every transfer, and each address's balance change.

    Each attempt to store a partition has its own files, in a folder with the attempt's name.
    """

    chain_id: int
    genesis_hash: str
    partition: Partition
    ranges: list[ReadRange]
    tokens: dict[str, TokenPart]
    transfers: StoredFile
    deltas: StoredFile
    attempt: str = ""
    schema: str = SCHEMA
    signature: dict[str, str] = msgspec.field(default_factory=dict)

    @property
    def name(self) -> str:
        """Returns the name under which it is stored."""
        return manifest_name(
            self.partition, [ReadToken(address, part.first_block) for address, part in self.tokens.items()]
        )

    def file_names(self) -> dict[str, str]:
        """Returns the names under which its files are stored, by their SHA-256."""
        folder = f"{self.name.removesuffix('.json')}/{self.attempt}"
        return {file.sha256: f"{folder}/{file.sha256}.parquet" for file in (self.transfers, self.deltas)}

    def holds(self, token: ReadToken) -> bool:
        """Returns whether a token was read here from its first block."""
        part = self.tokens.get(token.address)
        return part is not None and part.first_block == max(token.first_block, self.partition.first)


def manifest_name(partition: Partition, tokens: Sequence[ReadToken]) -> str:
    """Returns the name under which the manifest of these tokens is stored."""
    text = " ".join(f"{token.address}@{token.first_block}" for token in tokens_of(partition, tokens))
    return f"{partition.key}/{hashlib.sha256(text.encode()).hexdigest()[:16]}.json"


class ManifestFault(StrEnum):
    """The ways in which a stored manifest is wrong."""

    MALFORMED = "malformed"
    UNSIGNED = "unsigned"
    FORGED = "forged"


_MANIFEST = msgspec.json.Decoder(PartitionManifest)


def signed_partition(manifest: PartitionManifest, key: SigningKey) -> bytes:
    """Returns the bytes of a manifest with its signature."""
    return msgspec.json.encode(with_signature(manifest, key))


def judge_partition(body: bytes, name: str, chain_id: int, keys: KeySet) -> PartitionManifest | ManifestFault:
    """Returns the manifest that was read under `name`, or its fault.

    It must have that name and chain, and be signed by one of the keys.
    """
    try:
        manifest = _MANIFEST.decode(body)
        signed = signed_sha256(manifest)
    except (msgspec.MsgspecError, UnicodeDecodeError, ValueError):
        return ManifestFault.MALFORMED
    if (manifest.schema, manifest.name, manifest.chain_id) != (SCHEMA, name, chain_id):
        return ManifestFault.MALFORMED
    if not manifest.signature:
        return ManifestFault.UNSIGNED
    return manifest if keys.verifies(manifest.signature, signed) else ManifestFault.FORGED


def attempt_of(file_name: str) -> tuple[str, str] | None:
    """Returns the manifest's name and the attempt of a partition's file, or None for another file."""
    folders = file_name.split("/")
    return (f"{folders[0]}/{folders[1]}.json", folders[2]) if len(folders) == 4 and partition_of(folders[0]) else None


def not_held(
    partition: Partition, tokens: Iterable[ReadToken], manifests: Iterable[PartitionManifest]
) -> tuple[ReadToken, ...]:
    """Returns the tokens of a partition that none of its manifests contains."""
    stored = list(manifests)
    return tuple(
        token for token in tokens_of(partition, tokens) if not any(manifest.holds(token) for manifest in stored)
    )


def differing_tokens(ours: PartitionManifest, theirs: PartitionManifest) -> list[str]:
    """Returns the tokens for which two readings of one partition contain different rows."""
    return [
        address
        for address, part in ours.tokens.items()
        if address in theirs.tokens and theirs.tokens[address].proven_by != part.proven_by
    ]


class FurtherToken(BaseModel):
    """A row of the tokens file: the token's address, the block of its deployment, and its label."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    address: Address
    first_block: int = Field(ge=0)
    name: str | None = Field(default=None, max_length=64)

    @property
    def read(self) -> ReadToken:
        return ReadToken(self.address, self.first_block)


_TOKENS = TypeAdapter(list[FurtherToken])


def read_tokens_file(text: str, *, service_token: str | None) -> tuple[FurtherToken, ...]:
    """Parses the tokens file, YAML or JSON: a list of `address`, `first_block` and `name`. Raises `SettingsInvalid`."""
    cure = "Write it as in docs/operations.md: a list of address, first_block and name."
    try:
        rows = yaml.safe_load(text) or []
    except yaml.YAMLError as error:
        raise SettingsInvalid(f"SVC_TOKENS_FILE is not YAML: {' '.join(str(error).split())}.", cure=cure) from None
    try:
        tokens = _TOKENS.validate_python(rows)
    except ValidationError as error:
        first = error.errors(include_input=False)[0]
        place = ".".join(map(str, first["loc"])) or "its content"
        raise SettingsInvalid(f"SVC_TOKENS_FILE is wrong at {place}: {first['msg']}.", cure=cure) from None
    known: set[str] = {service_token} if service_token else set()
    for token in tokens:
        if token.address in known:
            raise SettingsInvalid(
                f"SVC_TOKENS_FILE names {token.address}, which is SVC_TOKEN_ADDRESS or occurs twice.",
                cure="Name each further token once.",
            )
        known.add(token.address)
    return tuple(tokens)
