"""Extends the history of balances by new blocks. `warehouse.token.history` describes its files and reads them.

Changes of new blocks go into small files; the last of them is rewritten until it is full. Once there are many, one file
replaces them all, followed by a state of all balances. So the cost of a run depends on its new blocks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from warehouse.duck.columns import plain
from warehouse.duck.connection import transaction
from warehouse.duck.rows import aware_utc, replace_all
from warehouse.file_modes import make_private_directory
from warehouse.statements import read_sql
from warehouse.token.history import ADDRESS, MINTED, NEVER_S, ZERO, History, HistoryFile, history_files
from warehouse.token.history_files import (
    Array,
    Bytes,
    is_positive,
    is_readable,
    narrowed,
    numbers_of,
    places_of,
    places_of_numbers,
    rank_keys,
    write_arrays,
)
from warehouse.token.holders import FoldedState, first_row
from warehouse.token.series import SeriesWriter
from warehouse.token.zero_address import Moment


@dataclass(frozen=True)
class Sizes:
    """The number of transfers per changes file, and the least number between two states.

    A state has a row for each address, so the next one is due after at least a quarter as many transfers as addresses.
    """

    changes: int = 4_096
    state: int = 32_768

    def before_state(self, addresses: int) -> int:
        return max(self.state, addresses // 4)


SIZES = Sizes()

_LEVELS = 4_096
"""Keys that divide the rank keys of a file into levels: some ten rows of a full file are then left to compare."""


@dataclass(frozen=True)
class Window:
    """The transfers of contiguous blocks in the order of the chain, one array entry each."""

    from_block: int
    to_block: int
    to_time_s: int
    block: NDArray[np.int64]
    log_index: NDArray[np.int32]
    time_s: NDArray[np.int64]
    tx_hash: Bytes
    sender: Array
    recipient: Array
    limbs: NDArray[np.uint64]

    def __len__(self) -> int:
        return len(self.block)


def history_dir(data_dir: Path) -> Path:
    """Returns the folder of the history's files."""
    return data_dir / "history"


def extend_history(
    connection: duckdb.DuckDBPyConnection, data_dir: Path, state: FoldedState, sizes: Sizes = SIZES
) -> History:
    """Extends history and series to the block of the last fold, and returns the history.

    A history with missing files, or files of another format, is rebuilt.
    """
    directory = history_dir(data_dir)
    make_private_directory(directory)
    files = history_files(connection)
    if not all(is_readable(directory / file.name) for file in files):
        files = []
    history = History(directory, files)
    if not files:
        with transaction(connection):
            for table in ("out_holders__history", "out_holders__daily", "out_holders__hourly"):
                connection.execute(f"delete from {table}")  # noqa: S608 - our own names
    while history.to_block < state.block:
        history = _next_history(connection, history, directory, state, sizes)
    for path in directory.iterdir():
        if path.name not in {file.name for file in history.files}:
            path.unlink()
    return history


def first_held_table(history: History, zero: Moment | None) -> pa.Table:
    """Returns the time of the first balance above zero of every address that ever had one.

    `zero` is the zero address's; None if it never held anything or the time is unknown.
    """
    ids = np.arange(1, history.count, dtype=np.uint32)
    times = history.first_held(ids)[1]
    ever = times >= 0
    addresses, times = history.addresses_of(ids[ever]), times[ever]
    if zero is not None:
        addresses, times = np.append(addresses, np.array(ZERO, ADDRESS)), np.append(times, zero.time_s)
    return pa.table(
        {
            "address": pa.FixedSizeBinaryArray.from_buffers(
                pa.binary(20), len(addresses), [None, pa.py_buffer(addresses.tobytes())]
            ),
            "first_held_at": plain(times, pa.timestamp("s")),
        }
    )


def _next_history(
    connection: duckdb.DuckDBPyConnection, history: History, directory: Path, state: FoldedState, sizes: Sizes
) -> History:
    """Adds one changes file, or replaces those after the newest state by a single file and a new state."""
    closed = [file for file in history.files if file.kind == "state"]
    open_files = [file for file in history.files if file.kind == "changes" and file.to_block > _end(closed)]
    size = sizes.before_state(history.count)
    to_block = _block_of_transfer(connection, _end(closed), state.block, size)
    replaced = open_files if to_block is not None else [file for file in open_files[-1:] if file.rows < sizes.changes]
    kept = [file for file in history.files if file not in replaced]
    base = History(directory, kept)
    if to_block is None:
        to_block = _block_of_transfer(connection, base.to_block, state.block, sizes.changes) or state.block
    series = SeriesWriter(connection, history)
    window = _window(connection, base.to_block, to_block, state)
    changes = _write_changes(directory, base, window)
    files = [*kept, changes]
    extended = History(directory, files)
    series.add(extended, changes)
    if len(window) >= size:
        newest = _write_state(directory, extended, window)
        files = [file for file in files if file.kind != "addresses"] + newest
        extended = History(directory, files)
    with transaction(connection):
        replace_all(
            connection,
            "out_holders__history",
            (
                {
                    "kind": file.kind,
                    "name": file.name,
                    "from_block": file.from_block,
                    "to_block": file.to_block,
                    "to_time": datetime.fromtimestamp(file.to_time_s, UTC),
                    "rows": file.rows,
                }
                for file in files
            ),
        )
        series.store()
    return extended


def _end(states: Sequence[HistoryFile]) -> int:
    return max((file.to_block for file in states), default=-1)


def _block_of_transfer(connection: duckdb.DuckDBPyConnection, after: int, upto: int, position: int) -> int | None:
    """Returns the block of the transfer at `position`, counted from 1 after block `after`, or None."""
    row = first_row(connection, read_sql("block_of_transfer"), {"after": after, "upto": upto, "position": position - 1})
    return None if row is None else int(row[0])


def _window(connection: duckdb.DuckDBPyConnection, after: int, upto: int, state: FoldedState) -> Window:
    rows = connection.sql(read_sql("window_transfers"), params={"after": after, "upto": upto}).to_arrow_table()
    time_s = _numbers(rows, "time_s", "<i8")
    return Window(
        from_block=after + 1,
        to_block=upto,
        to_time_s=int(aware_utc(state.block_time).timestamp()) if upto == state.block else int(time_s[-1]),
        block=_numbers(rows, "block_number", "<i8"),
        log_index=_numbers(rows, "log_index", "<i4"),
        time_s=time_s,
        tx_hash=_bytes(rows, "tx_hash", 32),
        sender=_bytes(rows, "from_address", 20).view(ADDRESS)[:, 0],
        recipient=_bytes(rows, "to_address", 20).view(ADDRESS)[:, 0],
        limbs=np.stack([_numbers(rows, f"m{limb}", "<u8") for limb in range(4)], axis=1),
    )


def changes_of_window(base: History, window: Window) -> tuple[dict[str, int], dict[str, Array]]:
    """Returns the facts and arrays of the changes file of a window that follows the history `base`. Writes nothing."""
    party, new = _numbered(base, window)
    zero = np.array(ZERO, ADDRESS)
    zero_id = base.zero_id or next((new.first_id + at for at in np.flatnonzero(new.addresses == zero)), 0)

    touched, order, starts, running, before = _running(base, window, party, int(zero_id))
    last_of_block = _last_of_each(touched, window.block[order // 2])
    rows = np.flatnonzero(last_of_block)
    group_of_row = np.searchsorted(starts, rows, "right") - 1
    ids = touched[starts]
    balance = numbers_of(running[rows])
    blocks, times = window.block[order[rows] // 2], window.time_s[order[rows] // 2]
    held = _first_held(base, ids, group_of_row, balance, int(zero_id))
    balance, before = narrowed(balance, before)

    firsts = np.searchsorted(rows, starts)
    previous = np.empty_like(balance)
    previous[1:] = balance[:-1]
    previous[firsts] = before
    by_block = np.argsort(blocks, kind="stable")
    groups = group_of_row[by_block]
    ranked = (ids[groups] != MINTED) & (ids[groups] != zero_id)
    by_block, groups = by_block[ranked], groups[ranked]
    addresses = _addresses_of(base, new, ids)[groups]
    levels, after_levels, before_levels = _levels(
        rank_keys(balance[by_block], addresses), rank_keys(previous[by_block], addresses)
    )

    listed = np.argsort(party, kind="stable")
    once = np.r_[True, (party[listed][1:] != party[listed][:-1]) | (listed[1:] // 2 != listed[:-1] // 2)][: len(listed)]
    listed = listed[once]
    x_ids, x_starts = np.unique(party[listed], return_index=True)
    (value,) = narrowed(numbers_of(places_of(window.limbs)))
    facts = {
        "from_block": window.from_block,
        "to_block": window.to_block,
        "to_time_s": window.to_time_s,
        "first_new_id": base.count,
        "zero_id": int(zero_id),
    }
    arrays: dict[str, Array] = {
        "new_sorted": new.addresses[new.order],
        "new_ids": (new.order + base.count).astype("<u4"),
        "new_place": np.argsort(new.order).astype("<u4"),
        "new_seen_block": window.block[new.first_row],
        "new_seen_time_s": window.time_s[new.first_row],
        "ids": ids,
        "offsets": np.r_[firsts, len(rows)].astype("<u4"),
        "last_block": base.last_changes_at(ids, base.to_block)[0],
        "before": before,
        "block": blocks,
        "time_s": times,
        "balance": balance,
        "r_block": (blocks[by_block] - window.from_block).astype("<u4"),
        "r_row": by_block.astype("<u4"),
        "r_place": groups.astype("<u4"),
        "levels": levels,
        "r_after": after_levels,
        "r_before": before_levels,
        "held_ids": ids[group_of_row[held]],
        "held_block": blocks[held],
        "held_time_s": times[held],
        "t_block": window.block,
        "t_index": window.log_index,
        "t_time_s": window.time_s,
        "t_tx": window.tx_hash,
        "t_from": party[0::2],
        "t_to": party[1::2],
        "t_value": value,
        "x_ids": x_ids.astype("<u4"),
        "x_offsets": np.r_[x_starts, len(listed)].astype("<u4"),
        "x_rows": (listed // 2).astype("<u4"),
    }
    return facts, arrays


@dataclass(frozen=True)
class _New:
    """Addresses that appear for the first time, in the order of their first transfers (`first_row`). `order` sorts them
    by address."""

    first_id: int
    addresses: Array
    order: Array
    first_row: Array


def _numbered(base: History, window: Window) -> tuple[Array, _New]:
    """Returns the number of each transfer's sender and recipient, alternating, and the new addresses."""
    parties = np.empty(2 * len(window), ADDRESS)
    parties[0::2], parties[1::2] = window.sender, window.recipient
    unique, first, inverse = np.unique(parties, return_index=True, return_inverse=True)
    ids = base.ids_of(unique)
    unknown = np.flatnonzero(ids == 0)
    unknown = unknown[np.argsort(first[unknown])]
    ids[unknown] = base.count + np.arange(len(unknown), dtype=np.uint32)
    addresses = unique[unknown]
    return ids[inverse], _New(base.count, addresses, np.argsort(addresses), first[unknown] // 2)


def _addresses_of(base: History, new: _New, ids: Array) -> Array:
    """Returns the addresses with these numbers, including new ones; empty bytes for `MINTED`."""
    addresses = np.zeros(len(ids), ADDRESS)
    is_new, is_old = ids >= new.first_id, (ids < new.first_id) & (ids != MINTED)
    addresses[is_new] = new.addresses[ids[is_new].astype(np.int64) - new.first_id]
    addresses[is_old] = base.addresses_of(ids[is_old])
    return addresses


def _levels(after: Array, before: Array) -> tuple[Array, Array, Array]:
    """Returns a sample of all keys of a file, in order, and the place of every key in it: of `after`, then `before`."""
    keys = np.concatenate([after, before])
    levels = np.unique(keys[:: max(1, len(keys) // _LEVELS)])
    return levels, levels.searchsorted(after).astype("<u2"), levels.searchsorted(before).astype("<u2")


def _running(
    base: History, window: Window, party: Array, zero_id: int
) -> tuple[Array, Array, Array, NDArray[np.int64], Bytes]:
    """Computes the balance after each move, by address and then in the order of the chain.

    A transfer is two moves: move 2n is that of transfer n's sender, move 2n + 1 that of its recipient. Returns the
    address number of each move, the move's own number, the first move of each address, the balances as 32-bit places,
    and the balance before each first move.
    """
    moved = party.copy()
    minted = moved[0::2] == zero_id if zero_id else np.zeros(len(window), np.bool_)
    moved[0::2][minted] = MINTED
    sign = np.ones(len(moved), np.int64)
    sign[0::2] = np.where(minted, 1, -1)
    order = np.argsort(moved, kind="stable")
    touched = moved[order]
    starts = np.flatnonzero(np.r_[True, touched[1:] != touched[:-1]][: len(touched)])
    before = base.balances_at(touched[starts], base.to_block)
    totals = np.cumsum(places_of(window.limbs)[order // 2] * sign[order][:, None], axis=0)
    opening = places_of_numbers(before)
    opening[1:] -= totals[starts[1:] - 1]
    counts = np.diff(np.r_[starts, len(touched)])
    return touched, order, starts, totals + np.repeat(opening, counts, axis=0), before


def _last_of_each(touched: Array, blocks: Array) -> NDArray[np.bool_]:
    """Marks the last move of each address in each block."""
    last = np.ones(len(touched), np.bool_)
    last[:-1] = (touched[1:] != touched[:-1]) | (blocks[1:] != blocks[:-1])
    return last


def _first_held(base: History, ids: Array, group_of_row: Array, balance: Bytes, zero_id: int) -> Array:
    """Returns the rows, by address, at which an address has a balance above zero for the first time ever."""
    rows = np.flatnonzero(is_positive(balance))
    groups, first = np.unique(group_of_row[rows], return_index=True)
    never = base.first_held(ids[groups])[0] == NEVER_S
    real = (ids[groups] != MINTED) & (ids[groups] != zero_id)
    held: Array = rows[first[never & real]]
    return held


def _write_changes(directory: Path, base: History, window: Window) -> HistoryFile:
    facts, arrays = changes_of_window(base, window)
    name = f"changes-{window.from_block}-{window.to_block}.bin"
    write_arrays(directory / name, facts, arrays)
    return HistoryFile("changes", name, window.from_block, window.to_block, window.to_time_s, len(window))


def _write_state(directory: Path, history: History, window: Window) -> list[HistoryFile]:
    """Writes all balances and all addresses at the end of a window."""
    block, time_s = window.to_block, window.to_time_s
    everybody = np.arange(history.count, dtype=np.uint32)
    wide = history.balances_at(everybody, block)
    addresses = history.addresses_of(everybody[1:])
    order = np.argsort(addresses)
    place = np.argsort(order).astype("<u4")
    holding = is_positive(wide)
    holding[[MINTED, history.zero_id]] = False
    holders = everybody[holding]
    words = wide.view(">u4")[holding]
    largest_first = (~words[:, word] for word in range(words.shape[1] - 1, -1, -1))
    by_rank = holders[np.lexsort((place[holders.astype(np.int64) - 1], *largest_first))]
    (balances,) = narrowed(wide)
    last_block, last_active_s = history.last_changes_at(everybody, block)
    state = HistoryFile("state", f"state-{block}.bin", block, block, time_s, len(everybody))
    write_arrays(
        directory / state.name,
        {"block": block},
        {"balances": balances, "last_block": last_block, "last_active_s": last_active_s, "by_rank": by_rank},
    )
    seen_block, seen_time_s = history.first_seen(everybody[1:])
    held_block, held_time_s = history.first_held(everybody[1:])
    listed = HistoryFile("addresses", f"addresses-{block}.bin", block, block, time_s, len(addresses))
    write_arrays(
        directory / listed.name,
        {"zero_id": history.zero_id},
        {
            "sorted": addresses[order],
            "ids": (order + 1).astype("<u4"),
            "place": place,
            "seen_block": seen_block,
            "seen_time_s": seen_time_s,
            "held_block": held_block,
            "held_time_s": held_time_s,
        },
    )
    return [state, listed]


def _numbers(table: pa.Table, name: str, dtype: str) -> Array:
    column = table.column(name).combine_chunks()
    if not len(column):
        return np.zeros(0, dtype)
    return np.frombuffer(column.buffers()[1], dtype, len(column), np.dtype(dtype).itemsize * column.offset)


def _bytes(table: pa.Table, name: str, width: int) -> Bytes:
    column = table.column(name).combine_chunks()
    if not len(column):
        return np.zeros((0, width), np.uint8)
    offsets = np.frombuffer(column.buffers()[1], "<i4", len(column) + 1, 4 * column.offset)
    content = np.frombuffer(column.buffers()[2], np.uint8)[offsets[0] : offsets[-1]]
    return content.reshape(len(column), width)
