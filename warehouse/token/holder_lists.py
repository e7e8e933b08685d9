"""Stores holder lists: each is a pair of immutable files of the state at one block, with a recorded proof. Also applies
their retention rule."""

from __future__ import annotations

import hashlib
import json
import os
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb

from contracts.token.holders import (
    SIZE_COHORTS,
    ListAge,
    SnapshotReason,
    csv_file_name,
    csv_path,
    list_file_name,
    retained_blocks,
    storage_file_name,
    storage_path,
)
from contracts.token.proof import HolderListFile, Proof, quality_of
from contracts.token.storage_proof import StorageProofFile
from warehouse.duck.connection import transaction
from warehouse.duck.rows import aware_utc, insert
from warehouse.file_modes import make_private_directory
from warehouse.statements import literal, read_sql
from warehouse.token.holders import FoldedState, concentration, first_row, one_row
from warehouse.token.zero_address import KnownBalance

if TYPE_CHECKING:  # the API imports this module, and must not pay for pyarrow
    import pyarrow as pa

_ROWS_PER_GROUP = 6144
"""Rows per Parquet row group: a multiple of DuckDB's vector size, and a page of 5,000 touches at most two groups."""


@dataclass(frozen=True)
class HolderList:
    """A stored list: its block, the proof that names its CSV file, and whether it is persisted as a snapshot."""

    block: int
    block_hash: str
    holders: int
    snapshot: bool
    proof: Proof


@dataclass(frozen=True)
class ListFiles:
    """The pair of files of one list: Parquet rows for queries, and the CSV that the proof names."""

    parquet: Path
    csv: Path
    named: HolderListFile
    sum_raw: int
    zero_held: int


def lists_dir(data_dir: Path) -> Path:
    """Returns the folder of all retained lists' files."""
    return data_dir / "holders"


def write_list_files(
    connection: duckdb.DuckDBPyConnection,
    data_dir: Path,
    *,
    block: int,
    zero_held: int,
    decimals: int | None,
    first_held: pa.Table,
) -> ListFiles:
    """Ranks the folded balances and writes both files.

    `zero_held` is the zero address's balance in smallest units; above zero, it gets a row. `first_held` contains the
    time of the first balance above zero by address, including the zero address if known. Equal balances give a CSV with
    equal bytes. A reader sees a complete file or none.
    """
    target = lists_dir(data_dir)
    make_private_directory(target)
    row = one_row(connection, read_sql("held_above_zero"))
    total = int(row[0]) + zero_held
    connection.register("first_held", first_held)
    try:
        rank(
            connection,
            read_sql("folded_holders"),
            total,
            decimals,
            {"zero": bytes(20), "zero_held": str(zero_held), "block": block},
        )
    finally:
        connection.unregister("first_held")
    parquet, csv = target / list_file_name(block), target / csv_file_name(block)
    packer = zlib.compressobj(3, zlib.DEFLATED, 31)  # a gzip stream without time or name: equal rows, equal bytes
    parts = [packer.compress(b"address,balance_raw\n")]
    for (lines,) in connection.execute(read_sql("csv_lines")).fetchall():
        parts.append(packer.compress(lines.encode()))
    data = b"".join([*parts, packer.flush()])
    partial = csv.with_name(csv.name + ".partial")
    partial.write_bytes(data)
    _settle(partial, csv)
    partial = parquet.with_name(parquet.name + ".partial")
    connection.execute(
        f"copy (from holder_list order by rank) to {literal(partial)} "
        f"(format parquet, compression zstd, row_group_size {_ROWS_PER_GROUP})"
    )
    _settle(partial, parquet)
    row = one_row(connection, "select count(*) from holder_list")
    connection.execute("drop table holder_list")
    named = HolderListFile(path=csv_path(block), sha256=hashlib.sha256(data).hexdigest(), bytes=len(data), rows=row[0])
    return ListFiles(parquet, csv, named, total, zero_held)


def write_storage_proof(data_dir: Path, block: int, data: bytes) -> StorageProofFile:
    """Writes the storage proof next to the list of `block`. A reader sees the complete file or none."""
    final = lists_dir(data_dir) / storage_file_name(block)
    partial = final.with_name(final.name + ".partial")
    partial.write_bytes(data)
    _settle(partial, final)
    return StorageProofFile(path=storage_path(block), sha256=hashlib.sha256(data).hexdigest(), bytes=len(data))


def rank(
    connection: duckdb.DuckDBPyConnection,
    holders: str,
    total: int,
    decimals: int | None,
    parameters: Mapping[str, object],
    kinds: str = "core_holders__kinds",
) -> None:
    """Ranks the rows of the query `holders` into the temporary table `holder_list`; `total` is their summed balance."""
    connection.execute(
        read_sql("rank_holders").replace("$holders", holders).replace("$kinds", kinds),
        {
            **parameters,
            "sum": str(total),
            "decimals": decimals,
            **{name: least for name, least in SIZE_COHORTS if least},
        },
    )


def record_list(
    connection: duckdb.DuckDBPyConnection,
    files: ListFiles,
    *,
    state: FoldedState,
    level: str,
    proof: Proof,
    reason: SnapshotReason | None,
    now: datetime,
) -> HolderList:
    """Records a written list with its proof. With a `reason`, the same transaction persists it as a snapshot."""
    proof = proof.model_copy(update={"holder_list": files.named})
    measured = concentration(connection, files.parquet)
    with transaction(connection):
        connection.execute("delete from out_holders__lists where block = ?", [state.block])
        insert(
            connection,
            "out_holders__lists",
            {
                "block": state.block,
                "block_hash": state.block_hash,
                "block_time": state.block_time,
                "level": level,
                "taken_at": now,
                "snapshot": reason is not None,
                "holders": files.named.rows,
                "sum_raw": str(files.sum_raw),
                "zero_held_raw": str(files.zero_held),
                "csv_sha256": files.named.sha256,
                "csv_bytes": files.named.bytes,
                "quality": quality_of(proof),
                "proof": proof.model_dump_json(by_alias=True),
                "concentration": json.dumps(measured),
            },
        )
        if reason is not None:
            _persist(connection, files.parquet, state.block, state.block_time, reason, now)
    return HolderList(state.block, state.block_hash, files.named.rows, reason is not None, proof)


def known_zero_balances(connection: duckdb.DuckDBPyConnection) -> list[KnownBalance]:
    """Returns the zero address's balance according to each proven list, oldest first."""
    rows = connection.execute(read_sql("known_zero_balances")).fetchall()
    return [KnownBalance(block, int(held)) for block, held in rows]


def promote_list(
    connection: duckdb.DuckDBPyConnection, data_dir: Path, block: int, reason: SnapshotReason, now: datetime
) -> HolderList:
    """Persists the recorded list of `block` as a snapshot. A block has at most one snapshot.

    An existing snapshot is renewed instead: while a chain stands still, the next one is due an hour later, not at once.
    """
    recorded = recorded_list(connection, block)
    assert recorded is not None  # callers check first
    if recorded.snapshot:
        connection.execute("update core_holders__snapshots set recorded_at = ? where block = ?", [now, block])
        return recorded
    row = one_row(connection, "select block_time from out_holders__lists where block = ?", [block])
    with transaction(connection):
        connection.execute("update out_holders__lists set snapshot = true where block = ?", [block])
        _persist(connection, lists_dir(data_dir) / list_file_name(block), block, row[0], reason, now)
    return HolderList(recorded.block, recorded.block_hash, recorded.holders, True, recorded.proof)


def recorded_list(connection: duckdb.DuckDBPyConnection, block: int) -> HolderList | None:
    """Returns the recorded list of `block`, or None."""
    row = first_row(
        connection,
        "select block, block_hash, holders, snapshot, proof from out_holders__lists where block = ?",
        [block],
    )
    return None if row is None else HolderList(row[0], row[1], row[2], row[3], Proof.model_validate_json(row[4]))


def latest_snapshot_taken_at(connection: duckdb.DuckDBPyConnection) -> datetime | None:
    """Returns the time at which the newest snapshot was persisted or renewed (UTC), or None."""
    row = first_row(connection, "select max(recorded_at) from core_holders__snapshots")
    return None if row is None or row[0] is None else aware_utc(row[0])


def prune_lists(connection: duckdb.DuckDBPyConnection, data_dir: Path, now: datetime) -> list[int]:
    """Deletes the lists that the retention rule drops: rows first, then files. Returns their blocks, newest first."""
    lists = _lists(connection)
    retained = retained_blocks(lists, now)
    dropped = [listed.block for listed in lists if listed.block not in retained]
    if dropped:
        with transaction(connection):
            for table, column in (
                ("out_holders__lists", "block"),
                ("core_holders__snapshot_balances", "snapshot_id::bigint"),
                ("core_holders__snapshots", "block"),
            ):
                connection.execute(f"delete from {table} where {column} in (select unnest(?::bigint[]))", [dropped])  # noqa: S608
    names_of = (list_file_name, csv_file_name, storage_file_name)
    known = {name_of(block) for block in retained for name_of in names_of}
    if lists_dir(data_dir).is_dir():
        for path in lists_dir(data_dir).iterdir():
            if path.name not in known:
                path.unlink()
    return dropped


def unknown_kinds(connection: duckdb.DuckDBPyConnection, largest: int) -> list[str]:
    """Returns the addresses among the `largest` holders whose kind was never looked up."""
    return [row[0] for row in connection.execute(read_sql("unknown_kinds"), {"largest": largest}).fetchall()]


def remember_kinds(connection: duckdb.DuckDBPyConnection, kinds: Mapping[str, str], block: int) -> None:
    """Stores looked-up kinds (`contract` or `wallet`), so that each address is looked up once."""
    rows = ({"address": address, "kind": kind, "block": block} for address, kind in kinds.items())
    insert(connection, "core_holders__kinds", rows)


def _lists(connection: duckdb.DuckDBPyConnection) -> Sequence[ListAge]:
    rows = connection.execute(read_sql("holder_list_rows")).fetchall()
    return [ListAge(block, aware_utc(taken_at), snapshot) for block, taken_at, snapshot in rows]


def _persist(
    connection: duckdb.DuckDBPyConnection,
    parquet: Path,
    block: int,
    block_time: datetime,
    reason: SnapshotReason,
    now: datetime,
) -> None:
    snapshot_id = str(block)
    connection.execute("delete from core_holders__snapshots where id = ?", [snapshot_id])
    connection.execute("delete from core_holders__snapshot_balances where snapshot_id = ?", [snapshot_id])
    snapshot = {"id": snapshot_id, "block": block, "block_time": block_time, "reason": reason, "recorded_at": now}
    insert(connection, "core_holders__snapshots", snapshot)
    connection.execute(
        "insert into core_holders__snapshot_balances select ?, address, balance_raw, rank from read_parquet(?)",
        [snapshot_id, str(parquet)],
    )


def _settle(partial: Path, final: Path) -> None:
    with partial.open("rb") as handle:
        os.fsync(handle.fileno())
    partial.replace(final)
    directory = os.open(final.parent, os.O_RDONLY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)
