"""Reads the token at any block: its status, the stored lists, and lists computed from the history. The readers of
documents are in `holder_documents` and `history_documents`."""

from __future__ import annotations

import json
from bisect import bisect_left, bisect_right
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import cached_property
from pathlib import Path
from typing import Any

import duckdb
import numpy as np

from contracts.base import NEVER_STALE, Quality, unpublished
from contracts.errors import BeforeToken, BlockNotProven, DateInFuture
from contracts.token.history import day_of, end_of_day_s
from contracts.token.holder_documents import (
    Backfill,
    Basis,
    Concentration,
    Consistency,
    ConsistencyLevel,
    MomentParameters,
    Token,
)
from contracts.token.holders import list_file_name
from contracts.token.proof import Proof, Verdict
from warehouse.document_context import DocumentContext, NeedsWorker
from warehouse.duck.rows import aware_utc
from warehouse.statements import read_sql
from warehouse.token.history import NEVER_S, ZERO, History, history_files
from warehouse.token.history_files import integers
from warehouse.token.holder_lists import rank
from warehouse.token.holders import concentration, first_row, rows_of
from warehouse.token.zero_address import Bounds, KnownBalance, Moment, ZeroAddress

REPLAYED = "replayed"
"""The reason given for numbers that are computed from the transfers up to a block at which no list was taken."""

ZERO_UNKNOWN = "zero_balance_unknown"
"""The reason given for numbers at a block at which lists and transfers don't determine the zero address's balance."""

REMEMBERED_VIEW = "token_view"
"""The name under which readers cache the `TokenView` of a generation."""

_UNTIL_NEXT_LIST = {"Retry-After": "120"}
"""The chain is polled every two minutes."""

COMPUTED_LISTS = 3
"""Number of computed lists that a process caches per generation: the one that a client pages through, and both sides
of a comparison."""


@dataclass(frozen=True)
class TokenStatus:
    """The token and how far its chain is read; `reason` is given where there is no list to serve."""

    chain_id: int | None
    token: Token | None
    backfill: Backfill | None
    reason: str

    @property
    def decimals(self) -> int | None:
        return None if self.token is None else self.token.decimals


@dataclass(frozen=True)
class TakenList:
    """One readable stored list, without its rows. Times are aware UTC."""

    block: int
    block_hash: str
    block_time: datetime
    level: str
    taken_at: datetime
    snapshot: bool
    holders: int
    sum_raw: str
    zero_held_raw: str
    quality: Quality
    proof: Proof
    concentration: Concentration

    @property
    def has_token(self) -> bool:
        """Returns True if transfers or the contract's answers show that the token exists at the list's block."""
        return self.holders > 0 or self.proof.verdict is not Verdict.UNPROVEN

    @property
    def consistency(self) -> Consistency:
        return Consistency(
            level=ConsistencyLevel(self.level), block=self.block, block_hash=self.block_hash, proof=self.proof
        )

    @property
    def freshness(self) -> dict[str, Any]:
        return unpublished(
            source="warehouse",
            quality=self.quality,
            reason=None if self.quality is Quality.EXACT else self.proof.reason,
            observed_at=self.block_time,
            fetched_at=self.taken_at,
        )


@dataclass(frozen=True)
class ComputedList:
    """A list that was computed from the transfers up to its block; `rows` is an Arrow table.

    It `is_whole` unless the zero address's balance is unknown and so left out.
    """

    rows: Any
    block: int
    block_time: datetime
    holders: int
    sum_raw: str
    is_whole: bool
    concentration: Concentration
    quality: Quality
    freshness: dict[str, Any]
    consistency: None = None


class TokenView:
    """The token according to one generation, or to the warehouse."""

    def __init__(self, context: DocumentContext) -> None:
        connection = context.connection
        recorded = _lists(connection)
        self.lists = [taken for taken in recorded if taken.has_token]
        """The lists, newest first, without those at whose block nothing shows that the token exists."""
        why_none = "backfilling" if self.lists or not recorded else recorded[0].proof.reason or "backfilling"
        self.status = _status(connection, why_none)
        self._files = history_files(connection)
        self._history_dir = context.history_dir
        self._computed: OrderedDict[int, ComputedList] = OrderedDict()

    @cached_property
    def history(self) -> History:
        return History(self._history_dir, self._files)

    @property
    def newest(self) -> TakenList | None:
        """Returns the newest list."""
        return self.lists[0] if self.lists else None

    @property
    def snapshots(self) -> list[TakenList]:
        """Returns the persisted snapshots, newest first."""
        return [taken for taken in self.lists if taken.snapshot]

    def taken_at(self, block: int) -> TakenList | None:
        """Returns the readable list of a block, or None."""
        at = bisect_left(self._list_blocks, block)
        return self.lists[-1 - at] if at < len(self.lists) and self._list_blocks[at] == block else None

    # Moments

    def block_of(self, asked: MomentParameters) -> int | None:
        """Returns the requested block, by default the newest list's; None before the first list.

        Raises `BeforeToken`, `BlockNotProven`, `DateInFuture`; each names the nearest block and day.
        """
        if self.newest is None:
            today = datetime.now(UTC).date()
            if asked.date is not None and date.fromisoformat(asked.date) > today:
                raise DateInFuture(f"Today is {today} (UTC).", errors=[("/query/date", f"is at most {today} now")])
            return None
        if asked.date is not None:
            return self.block_of_day(asked.date)
        return self.newest.block if asked.block is None else self.checked_block(asked.block)

    def checked_block(self, block: int, pointer: str = "/query/block") -> int:
        """Returns `block` if balances are known at it. Raises `BeforeToken`, `BlockNotProven`."""
        assert self.newest is not None
        if block > self.newest.block:
            raise BlockNotProven(
                f"The newest list is of block {self.newest.block}.",
                errors=[(pointer, f"is at most {self.newest.block} now")],
                extensions=self._nearest(self.newest.block),
                headers=_UNTIL_NEXT_LIST,
            )
        first = self._first_block
        if block < first:
            raise BeforeToken(
                f"The token's first transfer is in block {first}.",
                errors=[(pointer, f"is at least {first}")],
                extensions=self._nearest(first),
            )
        return block

    def block_of_day(self, text: str, pointer: str = "/query/date") -> int:
        """Returns the last block of known time before 24:00 UTC of a day.

        Nothing changes between it and the day's end. The newest list's day is not over yet and gives that list's block.
        Raises `BeforeToken`, `BlockNotProven`, `DateInFuture`.
        """
        assert self.newest is not None
        day, newest_day = date.fromisoformat(text), day_of(int(self.newest.block_time.timestamp()))
        if day > newest_day:
            today = datetime.now(UTC).date()
            refusal = DateInFuture if day > today else BlockNotProven
            raise refusal(
                f"The newest list is of {newest_day} (UTC), block {self.newest.block}.",
                errors=[(pointer, f"is at most {newest_day} now")],
                extensions=self._nearest(self.newest.block),
                headers=_UNTIL_NEXT_LIST if refusal.retryable else {},
            )
        if day == newest_day:
            return self.newest.block
        known = self.history.known_before(end_of_day_s(day))
        taken = max((taken.block for taken in self.lists if taken.block_time.date() <= day), default=-1)
        block = max(-1 if known is None else known[0], taken)
        if block < self._first_block:
            first = self._nearest(self._first_block)
            raise BeforeToken(
                f"The token's first transfer is of {first['nearest']['date']} (UTC).",
                errors=[(pointer, f"is at least {first['nearest']['date']}")],
                extensions=first,
            )
        return block

    def end_of_day_before(self, block: int) -> int:
        """Returns the last block of the day before that of `block`. Raises what `block_of_day` raises."""
        time = self.time_at(block)
        assert time is not None, "the time of a block with balances is known"
        return self.block_of_day(str(time.date() - timedelta(days=1)), "/query/from_date")

    def time_at(self, block: int) -> datetime | None:
        """Returns the time of the newest block of known time at or below `block`."""
        below = bisect_right(self._list_blocks, block)
        taken = self.lists[-below] if below else None
        if taken is not None and taken.block == block:  # saves a look-up in the history
            return taken.block_time
        known = self.history.known_at(block)
        if taken is not None and (known is None or known[0] <= taken.block):
            return taken.block_time
        return None if known is None else datetime.fromtimestamp(known[1], UTC)

    @property
    def _first_block(self) -> int:
        """Returns the block of the first transfer, or of the oldest list where there is no transfer."""
        first = self.history.first_block
        return self.lists[-1].block if first is None else first

    def _nearest(self, block: int) -> dict[str, Any]:
        time = self.time_at(block)
        day = {} if time is None else {"date": str(time.date())}
        return {"nearest": {"block": str(block), **day}}

    # Evidence

    def basis(self, block: int, *, of_transfers: bool = False) -> Basis:
        """Returns the evidence for numbers at `block`.

        If the zero address's balance is unknown, a proof does not cover them, unless they are only `of_transfers`.
        """
        proven = self._proving(block)
        verdict = proven.proof.verdict
        if verdict is Verdict.PROVEN and not of_transfers and self.zero_held(block) is None:
            verdict = Verdict.UNPROVEN
        return Basis(
            kind="list" if proven.block == block else "replay",
            block=block,
            time=self.time_at(block),
            proven_block=proven.block,
            proven_block_hash=proven.block_hash,
            verdict=verdict,
        )

    def freshness(self, block: int, *, of_transfers: bool = False) -> dict[str, Any]:
        """Returns the freshness fields of numbers at `block`, without origin. Below the newest list they never age.

        If the zero address's balance is unknown, their quality is `estimated`, unless they are only `of_transfers`.
        """
        proven = self._proving(block)
        own = proven.freshness if proven.block == block else self._replayed(block, proven)
        if not of_transfers and self.zero_held(block) is None:
            own |= {"quality": Quality.ESTIMATED, "reason": ZERO_UNKNOWN}
        return own if proven is self.newest and proven.block == block else own | {"stale_after": NEVER_STALE}

    def _replayed(self, block: int, proven: TakenList) -> dict[str, Any]:
        quality = max(proven.quality, Quality.DERIVED, key=list(Quality).index)
        return unpublished(
            source="warehouse",
            quality=quality,
            reason=REPLAYED if quality is Quality.DERIVED else proven.proof.reason,
            observed_at=self.time_at(block),
            fetched_at=proven.taken_at,
        )

    def unavailable(self, reason: str | None = None) -> dict[str, Any]:
        """Returns the freshness fields of a document without any list."""
        return unpublished(
            source=None,
            quality=Quality.UNAVAILABLE,
            reason=reason or self.status.reason,
            observed_at=None,
            fetched_at=None,
        )

    def zero_bounds(self, block: int) -> Bounds:
        """Returns the bounds of the zero address's balance at a block, in smallest units."""
        taken = self.taken_at(block)
        if taken is not None:
            return Bounds(int(taken.zero_held_raw), int(taken.zero_held_raw))
        return self.zero_address.bounds_at(block)

    def zero_held(self, block: int) -> int | None:
        """Returns the zero address's balance at a block, in smallest units; None if unknown."""
        least, most = self.zero_bounds(block)
        return least if least == most else None

    @cached_property
    def zero_address(self) -> ZeroAddress:
        """The zero address according to the proven lists and the newest one."""
        knowing = [taken for taken in self.lists if taken is self.newest or taken.proof.verdict is Verdict.PROVEN]
        known = [KnownBalance(taken.block, int(taken.zero_held_raw)) for taken in reversed(knowing)]
        return ZeroAddress(self.history, known)

    def sum_at(self, block: int) -> int | None:
        """Returns the sum of all balances at a block according to the events, in smallest units; None if unknown."""
        zero_held = self.zero_held(block)
        if zero_held is None:
            return None
        minted, sent_to_zero = self.history.supply_at(block)
        return minted - sent_to_zero + zero_held

    def _proving(self, block: int) -> TakenList:
        """Returns the nearest list at or above a block."""
        return self.lists[-1 - bisect_left(self._list_blocks, block)]

    @cached_property
    def _list_blocks(self) -> list[int]:
        """The blocks of all lists, oldest first."""
        return [taken.block for taken in self.lists[::-1]]

    # Lists

    def list_at(self, context: DocumentContext, block: int) -> TakenList | ComputedList:
        """Returns the list of a block: the stored one, else a computed one.

        Raises `NeedsWorker` if it must be computed and the context does not compute lists.
        """
        taken = self.taken_at(block)
        if taken is not None:
            return taken
        if not context.computes_lists:
            raise NeedsWorker
        known = self._computed.get(block)
        if known is None:
            known = self._computed[block] = self._compute(context.connection, block)
            if len(self._computed) > COMPUTED_LISTS:
                self._computed.popitem(last=False)
        self._computed.move_to_end(block)
        return known

    def _compute(self, connection: duckdb.DuckDBPyConnection, block: int) -> ComputedList:
        zero_held = self.zero_held(block)
        zero_first_held = self.zero_address.first_held(block)
        rows, total = _rows(self.history, block, zero_held or 0, zero_first_held)
        newest = self.newest
        assert newest is not None
        connection.register("holdings", rows)
        try:
            newest_rows = rows_of(self.source(connection, newest))
            kinds = f"(select address, kind from {newest_rows} where kind is not null)"  # noqa: S608 - our own names
            rank(connection, read_sql("computed_holders"), total, self.status.decimals, {}, kinds)
            measured = concentration(connection, "holder_list")
            ranked = connection.sql("from holder_list order by rank").to_arrow_table()
            connection.execute("drop table holder_list")
        finally:
            connection.unregister("holdings")
        return ComputedList(
            rows=ranked,
            block=block,
            block_time=self.time_at(block) or newest.block_time,
            holders=rows.num_rows,
            sum_raw=str(total),
            is_whole=zero_held is not None,
            concentration=Concentration.model_validate(measured),
            quality=self.freshness(block)["quality"],
            freshness=self.freshness(block),
        )

    def source(self, connection: duckdb.DuckDBPyConnection, holder_list: TakenList | ComputedList) -> Path | str:
        """Returns the relation from which a connection reads the rows of a list: its file, or for a computed list the
        name under which they are registered."""
        if isinstance(holder_list, ComputedList):
            name = f"holders_at_{holder_list.block}"
            connection.register(name, holder_list.rows)
            return name
        return self._history_dir.parent / "holders" / list_file_name(holder_list.block)


def token_view(context: DocumentContext) -> TokenView:
    """Returns the view of the token in this context, from its cache if it has one."""
    return context.remembered(REMEMBERED_VIEW, lambda: TokenView(context))


def _rows(history: History, block: int, zero_held: int, zero_first_held: Moment | None) -> tuple[Any, int]:
    """Returns the holders at a block as an Arrow table, unordered, and the sum of their balances.

    The zero address gets a row if its balance is above zero; `first_held_at` is null in it if unknown.
    """
    import pyarrow as pa  # the API imports this module, but only a worker computes lists

    from warehouse.duck.columns import plain, texts

    holdings = history.holdings_at(block)
    balances, addresses = integers(holdings.balances), holdings.addresses.tobytes()
    names = ("first_seen_at", "first_held_at", "last_active_at")
    times = [holdings.first_seen_s, holdings.first_held_s, holdings.last_active_s]
    if zero_held:
        first = history.first_change_of(history.zero_id)
        (last,) = history.changes_of(history.zero_id, block, 1)
        assert first is not None, "its balance comes from transfers to it"
        balances.append(zero_held)
        addresses += ZERO
        held_s = NEVER_S if zero_first_held is None else zero_first_held.time_s
        of_zero = (first.time_s, held_s, last.time_s)
        times = [np.append(values, time_s) for values, time_s in zip(times, of_zero, strict=True)]
    table = pa.table(
        {
            "address": pa.FixedSizeBinaryArray.from_buffers(
                pa.binary(20), len(balances), [None, pa.py_buffer(addresses)]
            ),
            "balance_raw": texts([str(balance) for balance in balances]),
            **{
                name: plain(values, pa.timestamp("s"), missing=NEVER_S if name == "first_held_at" else None)
                for name, values in zip(names, times, strict=True)
            },
        }
    )
    return table, sum(balances)


def _status(connection: duckdb.DuckDBPyConnection, why_no_list: str) -> TokenStatus:
    row = first_row(connection, read_sql("holder_status"))
    if row is None or row[1] is None:
        return TokenStatus(None if row is None else row[0], None, None, "not_configured")
    chain_id, address, name, symbol, decimals, block, finalized_block, percent = row
    return TokenStatus(
        chain_id,
        Token(address=address, name=name, symbol=symbol, decimals=decimals),
        Backfill(percent=percent or 0.0, block=block, finalized_block=finalized_block),
        why_no_list,
    )


def _lists(connection: duckdb.DuckDBPyConnection) -> Sequence[TakenList]:
    return [
        TakenList(
            block,
            block_hash,
            aware_utc(block_time),
            level,
            aware_utc(taken_at),
            snapshot,
            holders,
            sum_raw,
            zero_held_raw,
            Quality(quality),
            Proof.model_validate_json(proof),
            Concentration.model_validate(json.loads(measured)),
        )
        for block, block_hash, block_time, level, taken_at, snapshot, holders, sum_raw, zero_held_raw, quality, proof,
        measured in connection.execute(read_sql("holder_lists")).fetchall()
    ]  # fmt: skip
