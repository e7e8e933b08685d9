"""Reads the three holder documents, for publishing and for the API's variants."""

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlencode

import msgspec

from contracts.base import Quality
from contracts.errors import CursorInvalid, SnapshotUnknown
from contracts.publish.projection import Fields
from contracts.token.holder_documents import (
    Churn,
    Cohorts,
    ComparedList,
    Discrepancy,
    HoldersMapParameters,
    HoldersTemporalParameters,
    Links,
    MomentParameters,
    Movers,
    SnapshotRef,
    TokenHolders,
    TokenHoldersTemporal,
)
from contracts.token.holders import decimal_text, decode_cursor, encode_cursor
from warehouse.document_context import DocumentContext
from warehouse.duck.rows import aware_utc
from warehouse.statements import read_sql
from warehouse.token.holders import compare, held_by_largest, one_row, rows_of
from warehouse.token.lists_at import ComputedList, TakenList, TokenView, token_view

MAP_PATH = "/api/token/holders-map"


def read_token_holders(context: DocumentContext, parameters: MomentParameters) -> TokenHolders:
    """Reads the holder count at a block with its proof; the default is the newest list's block.

    Raises what `TokenView.block_of` raises.
    """
    view = token_view(context)
    status = view.status
    sources = context.connection.execute(read_sql("holder_sources")).fetchall()
    shared = {"token": status.token, "chain_id": status.chain_id, "backfill": status.backfill}
    block = view.block_of(parameters)
    if block is None or view.newest is None:
        return TokenHolders(
            **view.unavailable(),
            **shared,
            holder_count=None,
            total_supply_raw=None,
            total_supply=None,
            consistency=None,
            discrepancy=[],
            concentration=None,
            snapshots=[],
            basis=None,
        )
    served = view.list_at(context, block)
    is_whole = isinstance(served, TakenList) or served.is_whole
    if isinstance(served, TakenList):
        supply_raw = served.consistency.proof.total_supply
    else:
        supply_raw = str(int(served.sum_raw) % 2**256) if served.is_whole else None
    decimals = status.decimals
    return TokenHolders(
        **view.freshness(served.block),
        **shared,
        holder_count=served.holders if is_whole else None,
        total_supply_raw=supply_raw,
        total_supply=None if supply_raw is None or decimals is None else decimal_text(int(supply_raw), decimals),
        consistency=served.consistency,
        discrepancy=_discrepancies(sources, served.holders) if block == view.newest.block else [],
        concentration=served.concentration,
        largest=held_by_largest(context.connection, view.source(context.connection, served)),
        snapshots=_snapshots(view.lists),
        basis=view.basis(block),
    )


def read_holders_map(context: DocumentContext, parameters: HoldersMapParameters) -> Fields:
    """Reads the fields of `TokenHoldersMap`: one page of the list of a block, or of the cursor's list.

    Raises `CursorInvalid` if the cursor is not ours, its list is no longer readable or the request names another block;
    also raises what `TokenView.block_of` raises.
    """
    view = token_view(context)
    shared = {
        "token": view.status.token,
        "chain_id": view.status.chain_id,
        "backfill": view.status.backfill,
        "limit": parameters.limit,
    }
    block, after = view.block_of(parameters), 0
    names_block = parameters.block is not None or parameters.date is not None
    if parameters.cursor is not None:
        of_cursor, after = decode_cursor(parameters.cursor)
        if names_block and of_cursor != block:
            raise CursorInvalid(
                f"The cursor walks the list of block {of_cursor}, and the request names block {block}: leave out one.",
                errors=[("/query/block" if parameters.date is None else "/query/date", "contradicts the cursor")],
            )
        if not names_block and view.taken_at(of_cursor) is None:
            raise CursorInvalid("The list of this cursor is no longer readable; start again without a cursor.")
        block = of_cursor
    if block is None or view.newest is None:
        return {
            **view.unavailable(),
            **shared,
            "snapshot": None,
            "block": None,
            "total": None,
            "holders": [],
            "next_cursor": None,
            "links": Links(next=None),
            "consistency": None,
            "basis": None,
        }
    served = view.list_at(context, block)
    if after > served.holders:
        raise CursorInvalid("The list of this cursor has fewer holders; start again without a cursor.")
    row = one_row(
        context.connection,
        read_sql("holder_page").replace("$rows", rows_of(view.source(context.connection, served))),
        {"after": after, "limit": parameters.limit},
    )
    last = after + parameters.limit
    cursor = encode_cursor(served.block, last) if last < served.holders else None
    at = {"block": served.block} if names_block else {}
    return {
        **view.freshness(served.block),
        **shared,
        "snapshot": str(served.block),
        "block": served.block,
        "total": served.holders,
        "holders": msgspec.Raw(row[0].encode()),
        "next_cursor": cursor,
        "links": Links(next=cursor and f"{MAP_PATH}?{urlencode({**at, 'limit': parameters.limit, 'cursor': cursor})}"),
        "consistency": served.consistency,
        "basis": view.basis(block),
    }


def read_holders_temporal(context: DocumentContext, parameters: HoldersTemporalParameters) -> TokenHoldersTemporal:
    """Compares two lists. Raises `SnapshotUnknown` if a requested snapshot is not readable, and what
    `TokenView.block_of` raises."""
    view = token_view(context)
    shared = {"token": view.status.token, "chain_id": view.status.chain_id, "snapshots": _snapshots(view.lists)}
    sides = _sides(view, parameters)
    if sides is None:
        return TokenHoldersTemporal(
            **view.unavailable("not_enough_snapshots" if view.lists else None),
            **shared,
            from_=None,
            to=None,
            churn=None,
            movers=None,
            cohorts=None,
        )
    before, after = (view.list_at(context, block) for block in sides)
    compared = compare(
        context.connection,
        view.source(context.connection, before),
        view.source(context.connection, after),
        before_time=before.block_time,
        after_time=after.block_time,
    )
    weaker = max(before, after, key=lambda side: list(Quality).index(side.quality))
    # The newest snapshot will have a successor; a requested one never goes stale.
    freshness = view.freshness(after.block) if parameters.names_later_side else after.freshness
    return TokenHoldersTemporal(
        **freshness | {"quality": weaker.quality, "reason": weaker.freshness["reason"]},
        **shared,
        from_=_compared(before),
        to=_compared(after),
        churn=Churn.model_validate(compared["churn"]),
        movers=Movers.model_validate(compared["movers"]),
        cohorts=Cohorts.model_validate(compared["cohorts"]),
    )


def _sides(view: TokenView, parameters: HoldersTemporalParameters) -> tuple[int, int] | None:
    """Returns the blocks of the two lists to compare, or None if there are too few."""
    if view.newest is None:
        return None
    asked_to = (parameters.to, parameters.to_block, parameters.to_date)
    asked_from = (parameters.from_, parameters.from_block, parameters.from_date)
    # Until there are two snapshots, lists of the last hours also serve as sides.
    lists = view.snapshots if len(view.snapshots) > 1 else view.lists
    to = _side(view, "to", *asked_to)
    if to is None:
        to = lists[0].block
    before = _side(view, "from", *asked_from)
    if before is not None:
        return before, to
    earlier = [taken.block for taken in lists if taken.block < to]
    if not earlier:
        return (view.end_of_day_before(to), to) if parameters.names_later_side else None
    return (earlier[0] if lists is not view.lists else earlier[-1]), to


def _side(view: TokenView, name: str, snapshot: str | None, block: int | None, day: str | None) -> int | None:
    """Returns the block of one side, or None if the request leaves it open. Raises `SnapshotUnknown`, and what
    `TokenView.block_of` raises."""
    if snapshot is not None:
        # An answer may show the id of a list that is not a snapshot, and every shown id can be requested.
        if all(str(taken.block) != snapshot for taken in view.lists):
            raise SnapshotUnknown(
                f"No readable snapshot has the id {snapshot}.", errors=[(f"/query/{name}", "is not among `snapshots`")]
            )
        return int(snapshot)
    if block is not None:
        return view.checked_block(block, f"/query/{name}_block")
    return None if day is None else view.block_of_day(day, f"/query/{name}_date")


def _compared(side: TakenList | ComputedList) -> ComparedList:
    return ComparedList(
        id=str(side.block),
        block=side.block,
        time=side.block_time,
        holders=side.holders,
        sum_raw=side.sum_raw,
        concentration=side.concentration,
    )


def _snapshots(lists: Sequence[TakenList]) -> list[SnapshotRef]:
    return [
        SnapshotRef(id=str(listed.block), block=listed.block, time=listed.block_time)
        for listed in lists
        if listed.snapshot
    ]


def _discrepancies(sources: Sequence[tuple[Any, ...]], ours: int) -> list[Discrepancy]:
    return [
        Discrepancy(
            source=source,
            theirs=theirs,
            ours=ours,
            absolute=None if theirs is None else theirs - ours,
            percent=None if theirs is None or ours == 0 else round(100 * (theirs - ours) / ours, 4),
            fetched_at=aware_utc(fetched_at),
            quality=Quality.UNAVAILABLE if theirs is None else Quality.DERIVED,
            reason=reason,
        )
        for source, theirs, reason, fetched_at in sources
    ]
