"""Reads folded balances, and compares two holder lists. `fold` folds, `holder_lists` stores lists."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import duckdb

from contracts.token.holder_documents import HeldByLargest
from contracts.token.holders import AGE_COHORTS, SIZE_COHORTS
from contracts.token.proof import FoldedSupply
from warehouse.statements import literal, read_sql


@dataclass(frozen=True)
class FoldedState:
    """The block up to which balances are folded (time UTC, naive), and the amounts in smallest units that moved from
    the zero address, to it, and from it to itself."""

    block: int
    block_hash: str
    block_time: datetime
    minted: int
    sent_to_zero: int
    zero_to_zero: int
    transfers: int


def combined(limbs: Sequence[int | None]) -> int:
    """Returns the number with these 64-bit limbs, highest first; a null limb counts as zero."""
    value = 0
    for limb in limbs:
        value = (value << 64) + (limb or 0)
    return value


def first_row(
    connection: duckdb.DuckDBPyConnection, sql: str, parameters: Mapping[str, Any] | Sequence[Any] = ()
) -> tuple[Any, ...] | None:
    """Returns the first row, or None. Fetches all rows: an open result would block other work on the connection."""
    rows: list[tuple[Any, ...]] = connection.execute(sql, parameters).fetchall()
    return rows[0] if rows else None


def one_row(
    connection: duckdb.DuckDBPyConnection, sql: str, parameters: Mapping[str, Any] | Sequence[Any] = ()
) -> tuple[Any, ...]:
    """Returns the row of a query that always has one, such as an aggregate without groups."""
    row = first_row(connection, sql, parameters)
    assert row is not None
    return row


def read_state(connection: duckdb.DuckDBPyConnection) -> FoldedState | None:
    """Returns the state row, or None before the first fold."""
    row = first_row(connection, read_sql("fold_state"))
    return None if row is None else FoldedState(row[0], row[1], row[2], int(row[3]), int(row[4]), int(row[5]), row[6])


def folded_supply(connection: duckdb.DuckDBPyConnection, state: FoldedState) -> FoldedSupply:
    """Returns the supply according to the events up to `state.block`."""
    row = one_row(connection, read_sql("holders_held"))
    return FoldedSupply(
        holders=row[2],
        held=int(row[0]),
        minted=state.minted,
        sent_to_zero=state.sent_to_zero,
        zero_to_zero=state.zero_to_zero,
        negative_balances=row[1],
    )


def balances_of(connection: duckdb.DuckDBPyConnection, addresses: Sequence[str]) -> dict[str, int]:
    """Returns the balances of these addresses (0x text) in smallest units; 0 for unknown addresses."""
    rows = connection.execute(
        read_sql("balances_of"), {"addresses": [bytes.fromhex(address[2:]) for address in addresses]}
    ).fetchall()
    balances = {address: int(balance) for address, balance in rows}
    return {address: balances.get(address, 0) for address in addresses}


def sampled_balances(connection: duckdb.DuckDBPyConnection, points: Sequence[str], largest: int) -> dict[str, int]:
    """Returns the balances in smallest units of the `largest` holders, then of the holder at or after each point (a 0x
    address), wrapping around at the end of the address space."""
    rows = connection.execute(
        read_sql("balance_sample"), {"points": [bytes.fromhex(point[2:]) for point in points], "largest": largest}
    ).fetchall()
    return {address: int(balance) for address, balance in rows}


def rows_of(holder_list: Path | str) -> str:
    """Returns the SQL expression for the rows of a list: a query of its file, or the table of a computed list.

    Files of earlier versions lack `first_held_at`; it is then null.
    """
    if isinstance(holder_list, str):
        return holder_list
    older = "select null::timestamp as first_held_at where false"
    return f"({older} union all by name from read_parquet({literal(holder_list)}))"


def concentration(connection: duckdb.DuckDBPyConnection, holder_list: Path | str) -> dict[str, float]:
    """Computes `top10_share`, `gini` and `hhi` of a list."""
    from warehouse.token.concentration import concentration_of  # the API imports this module, but computes no list

    shares = connection.sql(f"select share from {rows_of(holder_list)}").pl()  # noqa: S608 - our own name
    return concentration_of(shares["share"])


def held_by_largest(connection: duckdb.DuckDBPyConnection, holder_list: Path | str) -> list[HeldByLargest]:
    """Returns the combined share of the N largest holders of a list, for growing N."""
    rows = connection.execute(read_sql("held_by_largest").replace("$rows", rows_of(holder_list))).fetchall()
    return [HeldByLargest(holders=holders, share=share) for holders, share in rows]


def compare(
    connection: duckdb.DuckDBPyConnection,
    before: Path | str,
    after: Path | str,
    *,
    before_time: datetime,
    after_time: datetime,
) -> dict[str, Any]:
    """Compares two lists, each a file or a table: `churn`, `movers` (20 each way) and `cohorts`.

    The fields are those of `TokenHoldersTemporal`. The times are those of the lists' blocks; each list computes the age
    of its addresses at its own time.
    """
    row = one_row(
        connection,
        read_sql("compare_holder_lists")
        .replace("$before_rows", rows_of(before))
        .replace("$after_rows", rows_of(after)),
        {
            "before_time": before_time,
            "after_time": after_time,
            "size_cohorts": [name for name, _ in SIZE_COHORTS],
            "age_cohorts": [name for name, _ in AGE_COHORTS],
            "age_days": [days for _, days in AGE_COHORTS],
        },
    )
    churn, movers, cohorts = (json.loads(part) for part in row)
    return {"churn": churn, "movers": movers, "cohorts": cohorts}
