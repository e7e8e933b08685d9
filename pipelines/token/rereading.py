"""Reads stored ranges again before a slice continues: those in dispute or doubt from every node, and a few at random.

So an old wrong answer is found sooner or later. Rows that receipts prove wrong are dropped and read again, with
everything that the same node delivered and no other node confirmed.
"""

import secrets
from collections.abc import Sequence
from datetime import datetime
from functools import partial
from typing import Final

from contracts.token.nodes import Dispute, DisputedFact, settled_facts
from pipelines.token.range_plan import Range
from pipelines.token.source import EventSource, Reread
from warehouse.duck.connection import Connection
from warehouse.token.disputes import (
    Key,
    doubted_blocks,
    drop_from,
    first_unconfirmed,
    mark_reread,
    ranges_to_reread,
    settle_disputes,
    stored_range,
    stored_rows,
)
from warehouse.token.transfers import EventTables

DRAWN: Final = 2
"""The number of ranges that a slice reads again if nothing is in dispute."""

DRAWN_IN_DISPUTE: Final = 16
"""The number while nodes differ about a balance or the supply: ranges with transfers of the disputed addresses first.
"""

DRAWN_IN_DOUBT: Final = 32
"""The number among ranges whose rows must be missing or wrong."""

_MOST_DISPUTED: Final = 8


async def reread_ranges(
    source: EventSource,
    connection: Connection,
    tables: EventTables,
    disputes: Sequence[Dispute],
    hosts: Sequence[str],
    now: datetime,
) -> bool:
    """Reads ranges again, settles disputes that have ended, and drops wrong rows. Returns True if rows were dropped.

    `hosts` are the configured nodes. With a single node nothing is read again unless a dispute is open or rows are in
    doubt.
    """
    doubts = doubted_blocks(connection, tables)
    if len(hosts) < 2 and not disputes and not doubts:
        return False
    doubted = {
        stored: dispute.block
        for dispute in disputes
        for blocks in suspect_ranges([dispute])
        if (stored := stored_range(connection, tables, *blocks)) is not None
    }
    addresses = [dispute.subject for dispute in disputes if dispute.fact is DisputedFact.BALANCE and dispute.subject]
    others = any(dispute.fact is not DisputedFact.TRANSFERS for dispute in disputes)
    seed = secrets.token_hex()
    incomplete = ranges_to_reread(connection, tables, seed=seed, count=DRAWN_IN_DOUBT, blocks=doubts) if doubts else []
    drawn = ranges_to_reread(
        connection,
        tables,
        seed=seed,
        count=DRAWN_IN_DISPUTE if others else DRAWN,
        addresses=addresses,
    )
    everywhere = {*doubted, *incomplete, *(drawn if others else ())}
    results: list[Reread] = []
    for stored in dict.fromkeys([*list(doubted)[:_MOST_DISPUTED], *incomplete, *drawn]):
        rows = partial(stored_rows, connection, tables, stored)
        is_wide = stored in everywhere
        results.append(await source.reread(stored, rows, everywhere=is_wide, doubted=doubted.get(stored)))
    mark_reread(connection, tables, [result.stored for result in results if result.agreed - {result.stored.rpc_host}])
    agreed: dict[Key, frozenset[str]] = {
        (DisputedFact.TRANSFERS, result.stored.name): result.agreed for result in results if result.stored in doubted
    }
    found = [disagreement for disagreement, _ in source.found]
    settle_disputes(connection, settled_facts(disputes, found, agreed, hosts), "nodes_agree", now, tables=tables)
    wrong = [result.stored for result in results if result.wrong]
    if wrong:
        drop_from(connection, tables, first_unconfirmed(connection, tables, wrong))
    return bool(wrong)


def suspect_ranges(disputes: Sequence[Dispute]) -> list[Range]:
    """Returns the block ranges of the disputes about transfers."""
    return [
        (int(first), int(last))
        for dispute in disputes
        if dispute.fact is DisputedFact.TRANSFERS and dispute.subject
        for first, _, last in [dispute.subject.partition("-")]
    ]
