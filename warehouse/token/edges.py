"""Sums the transfers among the largest holders, as edges of the holder map."""

from pathlib import Path

import duckdb

from contracts.token.history import EDGES_AMONG, EDGES_FOR
from warehouse.duck.connection import transaction
from warehouse.duck.rows import replace_all
from warehouse.statements import read_sql
from warehouse.token.holders import FoldedState, rows_of

MOST_EDGES = 2_000


def record_edges(connection: duckdb.DuckDBPyConnection, list_path: Path, state: FoldedState) -> None:
    """Replaces the edges by those among the largest holders of a list, over the `EDGES_FOR` before its block."""
    rows = connection.execute(
        read_sql("edges_among").replace("$rows", rows_of(list_path)),
        {
            "among": EDGES_AMONG,
            "since": state.block_time - EDGES_FOR,
            "block": state.block,
            "most": MOST_EDGES,
        },
    ).fetchall()
    names = ("from_address", "to_address", "from_rank", "to_rank", "transfers", "first_at", "last_at")
    with transaction(connection):
        replace_all(
            connection,
            "out_holders__edges",
            (
                {
                    **dict(zip(names, row, strict=False)),
                    "amount_raw": str(sum(int(limb) << (64 * place) for place, limb in enumerate(row[len(names) :]))),
                }
                for row in rows
            ),
        )
