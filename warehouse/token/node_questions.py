"""Draws, from the stored rows, the facts of a holder list about which nodes are queried. No node knows the seed."""

from dataclasses import dataclass

import duckdb
import pyarrow as pa

from warehouse.statements import read_sql
from warehouse.token.holders import FoldedState, one_row


@dataclass(frozen=True)
class BalancesToCompare:
    """Balances by address (0x text, smallest units), in random order.

    They are the balances that changed since `since`, the block of the last list whose balances were all compared (None:
    every balance), and some others. `cut` means that there are more than may be requested at once.
    """

    balances: dict[str, int]
    since: int | None
    cut: bool


@dataclass(frozen=True)
class RangeTotals:
    """The number of stored ranges of transfers, the number of those that were read twice to catch silent gaps, and the
    nodes that delivered their rows."""

    count: int
    reasked: int
    delivered: frozenset[str]


@dataclass(frozen=True)
class DrawnBlock:
    """The transfers of one block, the range in which they were read, and the node that delivered it."""

    number: int
    rows: pa.Table
    from_block: int
    to_block: int
    rpc_host: str


def balances_to_compare(
    connection: duckdb.DuckDBPyConnection, seed: str, *, most: int, others: int
) -> BalancesToCompare:
    """Returns at most `most` balances: changed ones, then at most `others` that did not change."""
    since = one_row(connection, read_sql("last_compared_block"))[0]
    rows = connection.execute(
        read_sql("balances_to_compare"),
        {"since": -1 if since is None else since, "seed": seed, "most": most + 1, "others": others},
    ).fetchall()
    return BalancesToCompare({address: int(balance) for address, balance in rows[:most]}, since, len(rows) > most)


def range_totals(connection: duckdb.DuckDBPyConnection) -> RangeTotals:
    """Counts the stored ranges of transfers."""
    count, reasked, hosts = one_row(connection, read_sql("range_totals"))
    return RangeTotals(count, reasked, frozenset(hosts))


def drawn_blocks(connection: duckdb.DuckDBPyConnection, state: FoldedState, seed: str, count: int) -> list[DrawnBlock]:
    """Returns up to `count` blocks with transfers: the newest one, and others at random."""
    ranges = connection.execute(
        read_sql("drawn_ranges"), {"upto": state.block, "seed": seed, "count": count}
    ).fetchall()
    drawn: dict[int, DrawnBlock] = {}
    for from_block, to_block, rpc_host, newest in ranges:
        place = {"first": from_block, "last": to_block, "seed": seed, "newest": newest}
        (number,) = one_row(connection, read_sql("drawn_block"), place)
        rows = connection.sql(
            "from raw_chain__transfers where block_number = $number order by log_index", params={"number": number}
        ).to_arrow_table()
        drawn[number] = DrawnBlock(number, rows, from_block, to_block, rpc_host)
    return list(drawn.values())
