"""Folds new transfers into the balances, in one transaction. `warehouse.token.holders` reads the balances."""

from dataclasses import dataclass

import duckdb
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from warehouse.duck.columns import bignums
from warehouse.duck.connection import large_commits, transaction
from warehouse.duck.rows import replace_all
from warehouse.statements import read_sql
from warehouse.token.holders import FoldedState, combined, first_row, one_row, read_state

_ZERO = bytes(20)


@dataclass(frozen=True)
class Folded:
    """The outcome of one fold: the state reached, the number of transfers read and the number of addresses touched."""

    state: FoldedState
    new_transfers: int
    touched: int


def fold_balances(connection: duckdb.DuckDBPyConnection) -> Folded | None:
    """Adds the transfers between the last fold and the checkpoint to the balances, in one transaction.

    The cost grows with the number of new rows, plus a scan of the addresses with a balance. Returns None if nothing has
    been read yet.
    """
    checkpoint = first_row(connection, read_sql("fold_checkpoint"))
    if checkpoint is None:
        return None
    upto, block_hash, block_time = checkpoint
    before = read_state(connection)
    if before is not None and before.block >= upto:
        return Folded(before, 0, 0)
    window = {"after": -1 if before is None else before.block, "upto": upto}
    with_zero = window | {"zero": _ZERO}
    with large_commits(connection), transaction(connection):
        deltas = connection.sql(read_sql("balance_deltas"), params=with_zero).to_arrow_table()
        merge_deltas(connection, deltas)
        (new_transfers,) = one_row(connection, read_sql("count_transfers"), window)
        rows = connection.execute(read_sql("through_zero"), with_zero).fetchall()
        moved = {(from_zero, to_zero): combined(limbs) for from_zero, to_zero, *limbs in rows}
        zero_to_zero = moved.get((True, True), 0)
        state = FoldedState(
            upto,
            block_hash,
            block_time,
            moved.get((True, False), 0) + zero_to_zero + (before.minted if before else 0),
            moved.get((False, True), 0) + zero_to_zero + (before.sent_to_zero if before else 0),
            zero_to_zero + (before.zero_to_zero if before else 0),
            new_transfers + (before.transfers if before else 0),
        )
        record_state(connection, state)
    return Folded(state, new_transfers, deltas.num_rows)


def merge_deltas(connection: duckdb.DuckDBPyConnection, deltas: pa.Table) -> None:
    """Adds changes to the balances. `deltas` has the columns of `balance_deltas`.

    An empty table is filled by an insert, which takes a third of the time of a merge.
    """
    (holds_any,) = one_row(connection, "select exists (from core_holders__balances)")
    connection.register("holder_deltas", deltas.append_column("delta_raw", bignums(_words(deltas))))
    connection.execute(read_sql("merge_deltas" if holds_any else "insert_deltas"))
    connection.unregister("holder_deltas")


def record_state(connection: duckdb.DuckDBPyConnection, state: FoldedState) -> None:
    """Replaces the state up to which balances are folded."""
    replace_all(
        connection,
        "core_holders__state",
        {
            "block": state.block,
            "block_hash": state.block_hash,
            "block_time": state.block_time,
            "minted_raw": str(state.minted),
            "sent_to_zero_raw": str(state.sent_to_zero),
            "zero_to_zero_raw": str(state.zero_to_zero),
            "transfers": state.transfers,
        },
    )


def _words(limbs: pa.Table) -> NDArray[np.uint64]:
    """Returns the numbers as rows of 64-bit words, lowest first, in two's complement.

    `limbs` has the columns `m0`, `m1`, `m2` (uint64, lowest first) and `m3` (decimal128, signed).
    """
    words = np.empty((limbs.num_rows, 5), "<u8")
    for place in range(3):
        words[:, place] = _buffer(limbs, f"m{place}", 1)
    # Arrow stores a decimal128 as a little-endian integer of 16 bytes.
    words[:, 3:] = _buffer(limbs, "m3", 2).reshape(-1, 2)
    return words


def _buffer(table: pa.Table, name: str, words_per_value: int) -> NDArray[np.uint64]:
    column = table.column(name).combine_chunks()
    if not len(column):
        return np.empty(0, "<u8")
    return np.frombuffer(column.buffers()[1], "<u8", words_per_value * len(column), 8 * words_per_value * column.offset)
