"""Reading folded balances, and two holder lists compared. Folding is `fold`, lists are `holder_lists`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import duckdb

from contracts.token.holders import AGE_COHORTS, SIZE_COHORTS
from contracts.token.proof import FoldedSupply
from warehouse.statements import read_sql


@dataclass(frozen=True)
class FoldedState:
    """Up to which block balances are folded (block time UTC, naive), and smallest units that passed through zero."""

    block: int
    block_hash: str
    block_time: datetime
    minted: int
    sent_to_zero: int
    zero_to_zero: int
    transfers: int


def first_row(
    connection: duckdb.DuckDBPyConnection, sql: str, parameters: Mapping[str, Any] | Sequence[Any] = ()
) -> tuple[Any, ...] | None:
    """The first row, or None. Fetches to the end: a result that is left open blocks other work on the connection."""
    rows: list[tuple[Any, ...]] = connection.execute(sql, parameters).fetchall()
    return rows[0] if rows else None


def one_row(
    connection: duckdb.DuckDBPyConnection, sql: str, parameters: Mapping[str, Any] | Sequence[Any] = ()
) -> tuple[Any, ...]:
    """The row of a question that always has one, such as an aggregate without groups."""
    row = first_row(connection, sql, parameters)
    assert row is not None
    return row


def read_state(connection: duckdb.DuckDBPyConnection) -> FoldedState | None:
    """The state row, or None before the first fold."""
    row = first_row(connection, read_sql("fold_state"))
    return None if row is None else FoldedState(row[0], row[1], row[2], int(row[3]), int(row[4]), int(row[5]), row[6])


def folded_supply(connection: duckdb.DuckDBPyConnection, state: FoldedState) -> FoldedSupply:
    """What the events say up to `state.block`."""
    row = one_row(connection, read_sql("holders_held"))
    return FoldedSupply(
        held=int(row[0]),
        minted=state.minted,
        sent_to_zero=state.sent_to_zero,
        zero_to_zero=state.zero_to_zero,
        negative_balances=row[1],
    )


def ranges_reasked(connection: duckdb.DuckDBPyConnection) -> int:
    """How many block ranges were read a second time, to catch silent gaps."""
    return int(one_row(connection, read_sql("ranges_reasked"))[0])


def balances_of(connection: duckdb.DuckDBPyConnection, addresses: Sequence[str]) -> dict[str, int]:
    """Balances in smallest units of the given addresses (0x text); 0 for those never seen."""
    rows = connection.execute(
        read_sql("balances_of"), {"addresses": [bytes.fromhex(each[2:]) for each in addresses]}
    ).fetchall()
    found = {address: int(balance) for address, balance in rows}
    return {each: found.get(each, 0) for each in addresses}


def sample_addresses(connection: duckdb.DuckDBPyConnection, points: Sequence[str], largest: int) -> list[str]:
    """The `largest` holders, then the holder at or after each point (0x addresses), round the end; none twice."""
    rows = connection.execute(
        read_sql("balance_sample"), {"points": [bytes.fromhex(each[2:]) for each in points], "largest": largest}
    ).fetchall()
    return list(dict.fromkeys(address for (address,) in rows))


def concentration(connection: duckdb.DuckDBPyConnection, list_path: Path) -> dict[str, float]:
    """`top10_share`, `gini` and `hhi` of a list file."""
    row = one_row(connection, read_sql("holder_concentration"), {"path": str(list_path)})
    return {"top10_share": row[0], "gini": row[1], "hhi": row[2]}


def compare(
    connection: duckdb.DuckDBPyConnection,
    before_path: Path,
    after_path: Path,
    *,
    before_time: datetime,
    after_time: datetime,
) -> dict[str, Any]:
    """Two list files compared: `churn`, `movers` (20 each way) and `cohorts`, fields as in `TokenHoldersTemporal`.

    The times are those of the lists' blocks; the age of an address is taken at its side's own.
    """
    row = one_row(
        connection,
        read_sql("compare_holder_lists"),
        {
            "before": str(before_path),
            "after": str(after_path),
            "before_time": before_time,
            "after_time": after_time,
            "size_cohorts": [name for name, _ in SIZE_COHORTS],
            "age_cohorts": [name for name, _ in AGE_COHORTS],
            "age_days": [days for _, days in AGE_COHORTS],
        },
    )
    churn, movers, cohorts = (json.loads(part) for part in row)
    return {"churn": churn, "movers": movers, "cohorts": cohorts}
