"""Stores disputes among RPC nodes, open and settled, and drops rows that receipts proved wrong."""

import json
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from typing import Final

import duckdb
import pyarrow as pa

from contracts.token.nodes import Disagreement, Dispute, DisputedFact, NodeAnswer, opened
from warehouse.duck.connection import transaction
from warehouse.duck.rows import aware_utc, insert, naive_utc
from warehouse.statements import read_sql
from warehouse.token.transfers import ATTESTATIONS, CONTRACT_TRANSFERS, TRANSFERS, EventTables, StoredRange

Key = tuple[DisputedFact, str | None]


def open_disputes(connection: duckdb.DuckDBPyConnection, tables: EventTables = TRANSFERS) -> list[Dispute]:
    """Returns the disputes about the rows of `tables` that no proof has settled, oldest first."""
    return _open(connection, tables.rows)


def all_open_disputes(connection: duckdb.DuckDBPyConnection) -> list[Dispute]:
    """Returns the disputes about any rows that no proof has settled, oldest first."""
    return _open(connection, None)


def decided_by_receipts(connection: duckdb.DuckDBPyConnection, since: datetime) -> list[Dispute]:
    """Returns the disputes that receipts have decided since `since`, newest first."""
    rows = connection.execute(read_sql("decided_disputes"), {"since": naive_utc(since)}).fetchall()
    return [_dispute(*row) for row in rows]


def _open(connection: duckdb.DuckDBPyConnection, rows_table: str | None) -> list[Dispute]:
    rows = connection.execute(read_sql("open_disputes"), {"rows_table": rows_table}).fetchall()
    return [_dispute(*row) for row in rows]


def _dispute(
    fact: str,
    subject: str | None,
    block: int,
    answers: str,
    first_seen_at: datetime,
    last_seen_at: datetime,
    settled_at: datetime | None,
    settled_by: str | None,
) -> Dispute:
    return Dispute(
        fact=DisputedFact(fact),
        subject=subject,
        block=block,
        answers=[NodeAnswer.model_validate(answer) for answer in json.loads(answers)],
        first_seen_at=aware_utc(first_seen_at),
        last_seen_at=aware_utc(last_seen_at),
        settled_at=aware_utc(settled_at),
        settled_by=settled_by,
    )


def count_open_disputes(connection: duckdb.DuckDBPyConnection) -> int:
    """Returns the number of open disputes about any rows."""
    count: int = connection.execute("select count(*) from out_chain__disputes where settled_at is null").fetchall()[0][
        0
    ]
    return count


def record_disputes(
    connection: duckdb.DuckDBPyConnection,
    disagreements: Collection[Disagreement],
    now: datetime,
    *,
    settled_by: str | None = None,
    tables: EventTables = TRANSFERS,
) -> None:
    """Opens a dispute for each disagreement, or writes the newest answers into the dispute that is already open.

    With `settled_by`, the name of what decided them, the disputes are settled at once.
    """
    if not disagreements:
        return
    with transaction(connection):
        for disagreement in disagreements:
            dispute = opened(disagreement, now)
            answers = json.dumps([answer.model_dump(by_alias=True) for answer in dispute.answers])
            row = {
                "rows_table": tables.rows,
                "fact": dispute.fact.value,
                "subject": dispute.subject,
                "block": dispute.block,
                "answers": answers,
                "last_seen_at": naive_utc(now),
                "settled_at": naive_utc(now) if settled_by else None,
                "settled_by": settled_by,
            }
            if not connection.execute(read_sql("update_dispute"), row).fetchall():
                insert(connection, "out_chain__disputes", row | {"first_seen_at": now})
        connection.execute(read_sql("prune_disputes"))


def settle_disputes(
    connection: duckdb.DuckDBPyConnection,
    facts: Collection[Key],
    by: str,
    now: datetime,
    *,
    tables: EventTables = TRANSFERS,
) -> None:
    """Ends the open disputes about these facts."""
    if not facts:
        return
    with transaction(connection):
        for fact, subject in facts:
            connection.execute(
                read_sql("settle_dispute"),
                {"rows_table": tables.rows, "fact": fact.value, "subject": subject, "now": naive_utc(now), "by": by},
            )


def ranges_to_reread(
    connection: duckdb.DuckDBPyConnection,
    tables: EventTables,
    *,
    seed: str,
    count: int,
    addresses: Sequence[str] = (),
    blocks: Sequence[tuple[int, int]] = (),
    most_rows: int = 20_000,
) -> list[StoredRange]:
    """Draws `count` stored ranges by `seed`; ranges with transfers of `addresses` (0x) come first.

    With `blocks`, pairs of a first and a last block, only ranges that overlap them are drawn.
    """
    values = {
        "firsts": [first for first, _ in blocks],
        "lasts": [last for _, last in blocks],
        "seed": seed,
        "count": count,
        "most_rows": most_rows,
        "addresses": [bytes.fromhex(address[2:]) for address in addresses],
    }
    statement = read_sql("ranges_to_reread").replace("$ranges", tables.ranges)
    return [StoredRange(*row) for row in connection.execute(statement, values).fetchall()]


def doubted_blocks(connection: duckdb.DuckDBPyConnection, tables: EventTables) -> list[tuple[int, int]]:
    """Returns the first and last block of each stretch in which rows of `tables` must be missing or wrong: the chain's
    own numbering, other rows or the contract contradict them."""
    question = _DOUBTS.get(tables.rows)
    return [] if question is None else connection.execute(read_sql(question)).fetchall()


_DOUBTS: Final = {
    TRANSFERS.rows: "doubted_transfers",
    CONTRACT_TRANSFERS.rows: "doubted_contract_transfers",
    ATTESTATIONS.rows: "doubted_attestations",
}


def first_unconfirmed(connection: duckdb.DuckDBPyConnection, tables: EventTables, wrong: Sequence[StoredRange]) -> int:
    """Returns the lowest first block among the `wrong` ranges and all ranges that the same nodes delivered and no other
    node confirmed."""
    least = min(stored.from_block for stored in wrong)
    row = connection.execute(
        f"select min(from_block) from {tables.ranges} where not reasked and list_contains(?, rpc_host)",  # noqa: S608
        [sorted({stored.rpc_host for stored in wrong})],
    ).fetchall()[0]
    return least if row[0] is None else min(least, row[0])


def stored_range(
    connection: duckdb.DuckDBPyConnection, tables: EventTables, from_block: int, to_block: int
) -> StoredRange | None:
    """Returns the stored range with exactly these blocks, or None."""
    statement = read_sql("stored_range").replace("$ranges", tables.ranges)
    rows = connection.execute(statement, [from_block, to_block]).fetchall()
    return StoredRange(*rows[0]) if rows else None


def stored_rows(connection: duckdb.DuckDBPyConnection, tables: EventTables, stored: StoredRange) -> pa.Table:
    """Returns the rows of a stored range, by block and log index."""
    return connection.sql(
        f"from {tables.rows} where block_number between $first and $last order by block_number, log_index",
        params={"first": stored.from_block, "last": stored.to_block},
    ).to_arrow_table()


def mark_reread(connection: duckdb.DuckDBPyConnection, tables: EventTables, ranges: Iterable[StoredRange]) -> None:
    """Records that a second node confirmed these ranges."""
    for stored in ranges:
        connection.execute(
            f"update {tables.ranges} set reasked = true where from_block = ? and not reasked",  # noqa: S608
            [stored.from_block],
        )


def drop_from(connection: duckdb.DuckDBPyConnection, tables: EventTables, block: int) -> None:
    """Deletes the rows and ranges from `block` on, which must be the first block of a range, and everything derived
    from them.

    The next slice reads them again. Without balances the next fold begins at the first transfer.
    """
    with transaction(connection):
        connection.execute(f"delete from {tables.rows} where block_number >= ?", [block])  # noqa: S608
        connection.execute(f"delete from {tables.ranges} where from_block >= ?", [block])  # noqa: S608
        for table in filter(None, (tables.tip_rows, tables.tip_blocks)):
            connection.execute(f"delete from {table}")  # noqa: S608
        connection.execute("delete from core_checks__watermarks where suite = ?", [tables.rows])
        if tables is ATTESTATIONS:
            for table in ("core_trust__state", "core_trust__scores", "core_trust__history", "core_trust__checks"):
                connection.execute(f"delete from {table}")  # noqa: S608
        if tables is TRANSFERS:
            for table in (
                "core_holders__balances",
                "core_holders__state",
                "out_holders__history",
                "out_holders__daily",
                "out_holders__hourly",
            ):
                connection.execute(f"delete from {table}")  # noqa: S608
            connection.execute("delete from out_holders__lists where block >= ?", [block])
            connection.execute(
                "delete from core_holders__snapshot_balances "
                "where snapshot_id in (select id from core_holders__snapshots where block >= ?)",
                [block],
            )
            connection.execute("delete from core_holders__snapshots where block >= ?", [block])
