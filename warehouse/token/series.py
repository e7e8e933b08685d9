"""Computes the hourly and daily series of the holders, from the changes of new blocks only.

Polars counts and measures here, on doubles and flags; amounts are summed as integers. Only runs import this module: the
API serves the tables.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import duckdb
import numpy as np
import polars as pl

from contracts.market import HIGHEST_USD, LOWEST_USD, THIN_USD
from contracts.token.history import DAY_S, HOUR_S, HOURLY_FOR
from warehouse.duck.rows import aware_utc, insert
from warehouse.statements import read_sql
from warehouse.token.concentration import concentration_of
from warehouse.token.history import MINTED, Changes, History, HistoryFile
from warehouse.token.history_files import Array, doubles, is_positive, places_of_numbers
from warehouse.token.holders import first_row
from warehouse.token.pool import first_observed

_TABLES = {DAY_S: "out_holders__daily", HOUR_S: "out_holders__hourly"}
_COUNTED = ("new_holders", "returned", "left_holders", "transfers")


@dataclass
class _Bucket:
    """One hour or day so far."""

    start_s: int
    last_block: int
    holders: int
    new_holders: int = 0
    returned: int = 0
    left_holders: int = 0
    transfers: int = 0
    volume: int = 0
    measures: Mapping[str, float | None] = field(default_factory=dict)


class SeriesWriter:
    """Adds the changes of new blocks to the series. `before` is the history whose changes the series already has."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, before: History) -> None:
        self._connection = connection
        self._before = before
        self._rows: dict[int, list[_Bucket]] = {DAY_S: [], HOUR_S: []}
        self._hourly_from_s = 0

    def add(self, history: History, file: HistoryFile) -> None:
        """Computes the rows that the changes in `file` after the previous history add or replace."""
        changes = history.changes(file)
        moves = _moves(history, changes, self._before.to_block)
        first_held = history.first_held(moves["id"].to_numpy())[1]
        moves = moves.with_columns(first_held_s=pl.Series(first_held))
        new = np.asarray(changes.file["t_block"]) > self._before.to_block
        times, values = changes.file["t_time_s"][new], changes.file["t_value"][new]
        blocks = changes.file["t_block"][new]
        day = self._last(DAY_S)
        holders = 0 if day is None else day.holders
        self._hourly_from_s = file.to_time_s // HOUR_S * HOUR_S - int(HOURLY_FOR.total_seconds())
        for width_s in _TABLES:
            last = self._last(width_s)
            entered = self._entered(moves, width_s, last)
            traded = _traded(times, blocks, values, width_s)
            measures = self._concentrations(history, changes, width_s) if width_s == DAY_S else {}
            self._rows[width_s] = _continued(last, holders, entered, traded, measures, width_s, file.to_time_s)

    def store(self) -> None:
        """Stores the computed rows. The caller holds the transaction."""
        for width_s, table in _TABLES.items():
            rows = self._rows[width_s]
            if width_s == HOUR_S:
                rows = [row for row in rows if row.start_s >= self._hourly_from_s]
                self._connection.execute(f"delete from {table} where start < ?", [_naive(self._hourly_from_s)])  # noqa: S608
            if rows:
                self._connection.execute(f"delete from {table} where start >= ?", [_naive(rows[0].start_s)])  # noqa: S608
                insert(self._connection, table, [_columns(row) for row in rows])

    def _last(self, width_s: int) -> _Bucket | None:
        statement = read_sql("last_of_series").replace("$table", _TABLES[width_s])
        row = first_row(self._connection, statement)
        if row is None:
            return None
        start, last_block, holders, new, returned, left, transfers, volume = row
        start_s = int(aware_utc(start).timestamp())
        bucket = _Bucket(start_s, last_block, holders, new, returned, left, transfers, int(volume))
        if width_s == DAY_S:
            measured = first_row(self._connection, read_sql("last_concentration"))
            assert measured is not None
            bucket.measures = dict(zip(("top10_share", "gini", "hhi"), measured, strict=True))
        return bucket

    def _entered(self, moves: pl.DataFrame, width_s: int, last: _Bucket | None) -> dict[int, tuple[int, int, int]]:
        """Counts per bucket the addresses that became holders for the first time, did so again, and left.

        An address that both comes and leaves within one bucket is not counted. For a bucket that was counted before,
        the numbers are the difference from the earlier count.
        """
        spans = (
            moves.with_columns(start=pl.col("time_s") // width_s * width_s)
            .group_by("start", "id", maintain_order=True)
            .agg(
                was=pl.col("held_before").first(),
                now=pl.col("held_after").last(),
                first_held_s=pl.col("first_held_s").first(),
            )
        )
        counted = _counted(spans)
        if last is not None:
            again = spans.filter(pl.col("start") == last.start_s)
            if len(again):
                known = self._before.known_before(last.start_s)
                at_start = self._before.balances_at(again["id"].to_numpy(), -1 if known is None else known[0])
                held = pl.Series(is_positive(at_start))
                now = _counted(again.with_columns(was=held))
                then = _counted(again.with_columns(was=held, now=pl.col("was")))
                zero = (0, 0, 0)
                counted[last.start_s] = tuple(  # type: ignore[assignment]
                    after - earlier
                    for after, earlier in zip(now.get(last.start_s, zero), then.get(last.start_s, zero), strict=True)
                )
        return counted

    def _concentrations(self, history: History, changes: Changes, width_s: int) -> dict[int, dict[str, float]]:
        """Returns the concentration at the end of each day with changes: earlier balances with its changes applied."""
        held = doubles(self._before.balances_at(np.arange(history.count, dtype=np.uint32), self._before.to_block))
        new = np.asarray(changes.block) > self._before.to_block
        ids = np.repeat(changes.ids, changes.counts)[new]
        starts, values = changes.time_s[new] // width_s * width_s, doubles(changes.balance[new])
        measured = {}
        for start in np.unique(starts):
            here = starts == start
            held[ids[here]] = values[here]  # the last of several values of an address wins
            held[[MINTED, history.zero_id]] = 0
            measured[int(start)] = concentration_of(pl.Series(held))
        return measured


def _moves(history: History, changes: Changes, after: int) -> pl.DataFrame:
    """Returns a row per address and block after block `after`: whether it was a holder before and afterwards."""
    held_after = is_positive(changes.balance)
    held_before = np.r_[False, held_after[:-1]][: len(held_after)]
    held_before[changes.offsets[:-1].astype(np.int64)] = is_positive(changes.before)
    ids = np.repeat(changes.ids, changes.counts)
    wanted = (np.asarray(changes.block) > after) & (ids != MINTED) & (ids != history.zero_id)
    return pl.DataFrame(
        {
            "id": ids[wanted],
            "time_s": changes.time_s[wanted],
            "held_before": held_before[wanted],
            "held_after": held_after[wanted],
        }
    )


def _counted(spans: pl.DataFrame) -> dict[int, tuple[int, int, int]]:
    came = ~pl.col("was") & pl.col("now")
    first = pl.col("first_held_s") >= pl.col("start")
    counted = spans.group_by("start").agg(
        new=(came & first).sum(), returned=(came & ~first).sum(), left=(pl.col("was") & ~pl.col("now")).sum()
    )
    return {start: (new, returned, left) for start, new, returned, left in counted.iter_rows()}


def _traded(times: Array, blocks: Array, values: Array, width_s: int) -> dict[int, tuple[int, int, int]]:
    """Returns per bucket its last block, the number of transfers and the sum of their amounts."""
    if not len(times):
        return {}
    starts, first = np.unique(times // width_s * width_s, return_index=True)
    sums = np.add.reduceat(places_of_numbers(values), first, axis=0)
    ends = np.r_[first[1:], len(times)]
    return {
        int(start): (
            int(blocks[end - 1]),
            int(end - begin),
            sum(int(place) << (32 * position) for position, place in enumerate(places)),
        )
        for start, begin, end, places in zip(starts, first, ends, sums, strict=True)
    }


def _continued(
    last: _Bucket | None,
    holders: int,
    entered: Mapping[int, tuple[int, int, int]],
    traded: Mapping[int, tuple[int, int, int]],
    measures: Mapping[int, Mapping[str, float]],
    width_s: int,
    to_time_s: int,
) -> list[_Bucket]:
    """Returns every bucket from the last stored one to the one that contains `to_time_s`.

    A bucket without transfers repeats the last block, the holders and the concentration of the previous one. Only
    blocks with transfers count as last blocks: the times of other blocks are known only where a run ended.
    """
    if last is None and not traded:
        return []
    begin = min(traded) if last is None else last.start_s
    last_block = traded[begin][0] if last is None else last.last_block
    rows: list[_Bucket] = []
    before = last
    for start_s in range(begin, to_time_s // width_s * width_s + 1, width_s):
        row = (
            last
            if last is not None and start_s == last.start_s
            else _Bucket(start_s, last_block, holders, measures={} if before is None else before.measures)
        )
        new, returned, left = entered.get(start_s, (0, 0, 0))
        last_block, transfers, volume = traded.get(start_s, (last_block, 0, 0))
        holders += new + returned - left
        row.holders = holders
        row.new_holders += new
        row.returned += returned
        row.left_holders += left
        row.transfers += transfers
        row.volume += volume
        row.last_block = last_block
        row.measures = measures.get(start_s, row.measures)
        before = row
        rows.append(row)
    return rows


def _columns(row: _Bucket) -> dict[str, Any]:
    columns = {name: getattr(row, name) for name in ("last_block", "holders", *_COUNTED)}
    return {"start": _naive(row.start_s), **columns, "volume_raw": str(row.volume), **row.measures}


def _naive(time_s: int) -> datetime:
    return datetime.fromtimestamp(time_s, UTC).replace(tzinfo=None)


def record_bucket_prices(connection: duckdb.DuckDBPyConnection, token_address: str) -> None:
    """Writes open, high, low and close into the rows since the last one with a price; older rows stay unchanged.

    Observed prices take precedence; if several sources answered within a minute, the first in order of trust counts.
    Rows before the first observed price get the pool's prices, as far as its events are read. A row without a price
    gets a reason.
    """
    token = {"token_address": token_address}
    observed = {"first_observed": first_observed(connection, token_address)}
    bounds = {"lowest": float(LOWEST_USD), "highest": float(HIGHEST_USD), "thin": float(THIN_USD)}
    for width_s, table in _TABLES.items():
        width = {"width": timedelta(seconds=width_s)}
        for name, values in (
            ("record_bucket_prices", width | token | observed),
            ("record_pool_prices", width | bounds | observed),
            ("record_missing_prices", width | token | observed),
        ):
            connection.execute(read_sql(name).replace("$table", table), values).fetchall()
