"""Imports finished partitions into a warehouse: rows, ranges and balances, several partitions per transaction.

The warehouse then contains what ingestion on one machine would have stored. Balances are summed by SQL from the changes
in the partitions' files, not computed from the rows again.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import duckdb

from contracts.token.partitions import Partition, PartitionManifest, ReadToken, TokenPart, partitions_within
from warehouse.duck.connection import transaction
from warehouse.duck.rows import insert
from warehouse.statements import read_sql
from warehouse.token.fold import fold_balances, merge_deltas, record_state
from warehouse.token.holders import FoldedState, read_state
from warehouse.token.partition_store import PartitionStore
from warehouse.token.transfers import last_checkpoint

_ROWS_AT_ONCE = 2_000_000
"""Number of rows at which a transaction's batch of partitions ends: their files are on local disk together."""


@dataclass(frozen=True)
class Ahead:
    """The progress of a token's history against its partitions.

    `next_block` is the first block that the warehouse lacks. `ready` are the whole partitions from there on that the
    store has. `waiting` is the first whole partition that it lacks, and `broken` the reason why the next one can't be
    used. With `read_to`, this process must read the blocks up to it, which end where the first whole partition begins.
    """

    next_block: int
    ready: Sequence[PartitionManifest] = ()
    waiting: Partition | None = None
    broken: str | None = None
    read_to: int | None = None


def look_ahead(
    connection: duckdb.DuckDBPyConnection, store: PartitionStore, token: ReadToken, *, final_block: int, blocks: int
) -> Ahead:
    """Finds the partitions that follow the warehouse's last block, up to the final block. Raises `ObjectStoreAway`."""
    checkpoint = last_checkpoint(connection)
    next_block = token.first_block if checkpoint is None else checkpoint.to_block + 1
    begins = checkpoint is None
    whole = [
        partition
        for partition in partitions_within(next_block, final_block, blocks)
        if partition.first >= next_block or (begins and partition.last >= next_block)
    ]
    if not whole:
        return Ahead(next_block)
    if whole[0].first > next_block:
        return Ahead(next_block, read_to=whole[0].first - 1)
    names = store.names()
    ready: list[PartitionManifest] = []
    for partition in whole:
        held = [stored for stored in store.manifests(names.get(partition, [])) if stored.holds(token)]
        if not held:
            return Ahead(next_block, ready, waiting=partition)
        broken = held[0].tokens[token.address].broken
        if broken is not None:
            return Ahead(next_block, ready, broken=f"blocks {partition.first} to {partition.last}: {broken}")
        ready.append(held[0])
    return Ahead(next_block, ready)


def adopt(
    connection: duckdb.DuckDBPyConnection,
    store: PartitionStore,
    token: ReadToken,
    ready: Sequence[PartitionManifest],
    directory: Path,
) -> int:
    """Imports partitions that follow the warehouse's last block, by files fetched to `directory`.

    Returns the number of new transfers. Raises `ObjectStoreAway` and `PartitionBroken`; batches that were committed
    before remain.
    """
    if ready:
        fold_balances(connection)  # the partitions' changes come after those of all stored rows
    transfers = 0
    for together in _batches(ready, token.address):
        parts = [manifest for manifest in together if manifest.tokens[token.address].rows]
        paths = store.fetch(parts, directory)
        rows = [str(paths[manifest.transfers.sha256]) for manifest in parts]
        deltas = [str(paths[manifest.deltas.sha256]) for manifest in parts]
        connection.execute(read_sql("write_fast"))
        try:
            with transaction(connection):
                _append(connection, token.address, together, rows, deltas)
        finally:
            connection.execute(read_sql("write_small"))
        transfers += sum(manifest.tokens[token.address].rows for manifest in together)
    return transfers


def _append(
    connection: duckdb.DuckDBPyConnection,
    token: str,
    manifests: Sequence[PartitionManifest],
    rows: list[str],
    deltas: list[str],
) -> None:
    """Appends rows, ranges and balances of the next partitions, within the caller's transaction."""
    insert(connection, "raw_chain__ranges", _range_rows(token, manifests))
    if rows:
        connection.execute(read_sql("append_partition_rows"), {"files": rows, "token": token}).fetchall()
        changes = connection.sql(read_sql("folded_partitions"), params={"files": deltas, "token": token})
        merge_deltas(connection, changes.to_arrow_table())
    parts = [manifest.tokens[token] for manifest in manifests]
    end, before = manifests[-1].ranges[-1], read_state(connection)
    state = FoldedState(
        end.last,
        end.last_hash,
        datetime.fromtimestamp(end.last_time_s, UTC).replace(tzinfo=None),
        (before.minted if before else 0) + _sum(parts, "minted_raw"),
        (before.sent_to_zero if before else 0) + _sum(parts, "sent_to_zero_raw"),
        (before.zero_to_zero if before else 0) + _sum(parts, "zero_to_zero_raw"),
        (before.transfers if before else 0) + sum(part.rows for part in parts),
    )
    record_state(connection, state)


def _range_rows(token: str, manifests: Iterable[PartitionManifest]) -> Iterator[dict[str, object]]:
    now = datetime.now(UTC)
    for manifest in manifests:
        first_block = manifest.tokens[token].first_block
        for part in manifest.ranges:
            if part.last < first_block:
                continue
            of_token = part.tokens[token]
            yield {
                "from_block": max(part.first, first_block),
                "to_block": part.last,
                "to_block_hash": part.last_hash,
                "to_block_time": datetime.fromtimestamp(part.last_time_s, UTC),
                "log_count": of_token.rows,
                "payload_sha256": of_token.sha256,
                "rpc_host": part.rpc_host,
                "reasked": part.reasked,
                "recorded_at": now,
            }


def _batches(ready: Sequence[PartitionManifest], token: str) -> Iterator[list[PartitionManifest]]:
    batch: list[PartitionManifest] = []
    rows = 0
    for manifest in ready:
        batch.append(manifest)
        rows += manifest.tokens[token].rows
        if rows >= _ROWS_AT_ONCE:
            yield batch
            batch, rows = [], 0
    if batch:
        yield batch


def _sum(parts: Iterable[TokenPart], amount: str) -> int:
    return sum(int(getattr(part, amount)) for part in parts)
