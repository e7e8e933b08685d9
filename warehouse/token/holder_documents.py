"""Reads the content of the three holder documents, for publishing and for the API's variants."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

import duckdb
import msgspec

from contracts.base import Quality, unpublished
from contracts.errors import CursorInvalid, SnapshotUnknown
from contracts.publish.registry import Fields
from contracts.token.holder_documents import (
    Backfill,
    Churn,
    Cohorts,
    ComparedList,
    Concentration,
    Consistency,
    ConsistencyLevel,
    Discrepancy,
    HoldersMapParameters,
    HoldersTemporalParameters,
    Links,
    Movers,
    SnapshotRef,
    Token,
    TokenHolders,
    TokenHoldersTemporal,
)
from contracts.token.holders import decimal_text, decode_cursor, encode_cursor, list_file_name
from contracts.token.proof import Proof
from warehouse.document_context import DocumentContext
from warehouse.duck.rows import aware_utc
from warehouse.statements import read_sql
from warehouse.token.holders import compare, first_row, one_row

MAP_PATH = "/api/token/holders-map"


@dataclass(frozen=True)
class _Status:
    """The token and how far its chain is read; `reason` is why there is no list to serve."""

    chain_id: int | None
    token: Token | None
    backfill: Backfill | None
    reason: str


@dataclass(frozen=True)
class _List:
    """One readable list, without its rows. Times are aware UTC."""

    block: int
    block_hash: str
    block_time: datetime
    level: str
    taken_at: datetime
    snapshot: bool
    holders: int
    sum_raw: str
    quality: Quality
    proof: Proof
    concentration: Concentration

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


def read_token_holders(context: DocumentContext) -> TokenHolders:
    """Reads the holder count with its proof, from the newest list."""
    status, lists = _status(context.connection), _lists(context.connection)
    sources = context.connection.execute(read_sql("holder_sources")).fetchall()
    shared = {"token": status.token, "chain_id": status.chain_id, "backfill": status.backfill}
    if not lists:
        return TokenHolders(
            **_unavailable(status.reason),
            **shared,
            holder_count=None,
            total_supply_raw=None,
            total_supply=None,
            consistency=None,
            discrepancy=[],
            concentration=None,
            snapshots=[],
        )
    newest = lists[0]
    supply_raw = newest.proof.total_supply
    decimals = status.token.decimals if status.token else None
    return TokenHolders(
        **newest.freshness,
        **shared,
        holder_count=newest.holders,
        total_supply_raw=supply_raw,
        total_supply=None if supply_raw is None or decimals is None else decimal_text(int(supply_raw), decimals),
        consistency=newest.consistency,
        discrepancy=_discrepancies(sources, newest.holders),
        concentration=newest.concentration,
        snapshots=_snapshots(lists),
    )


def read_holders_map(context: DocumentContext, parameters: HoldersMapParameters) -> Fields:
    """Reads the fields of `TokenHoldersMap`: one page of the newest list, or of the cursor's.

    Raises `CursorInvalid` where the cursor is not ours or its list is no longer readable.
    """
    status, lists = _status(context.connection), _lists(context.connection)
    shared = {
        "token": status.token,
        "chain_id": status.chain_id,
        "backfill": status.backfill,
        "limit": parameters.limit,
    }
    after = 0
    if parameters.cursor is not None:
        block, after = decode_cursor(parameters.cursor)
        lists = [listed for listed in lists if listed.block == block and after <= listed.holders]
        if not lists:
            raise CursorInvalid("The list of this cursor is no longer readable; start again without a cursor.")
    if not lists:
        return {
            **_unavailable(status.reason),
            **shared,
            "snapshot": None,
            "block": None,
            "total": None,
            "holders": [],
            "next_cursor": None,
            "links": Links(next=None),
            "consistency": None,
        }
    served = lists[0]
    row = one_row(
        context.connection,
        read_sql("holder_page"),
        {"path": str(context.holders_dir / list_file_name(served.block)), "after": after, "limit": parameters.limit},
    )
    last = after + parameters.limit
    cursor = encode_cursor(served.block, last) if last < served.holders else None
    return {
        **served.freshness,
        **shared,
        "snapshot": str(served.block),
        "block": served.block,
        "total": served.holders,
        "holders": msgspec.Raw(row[0].encode()),
        "next_cursor": cursor,
        "links": Links(next=cursor and f"{MAP_PATH}?{urlencode({'limit': parameters.limit, 'cursor': cursor})}"),
        "consistency": served.consistency,
    }


def read_holders_temporal(context: DocumentContext, parameters: HoldersTemporalParameters) -> TokenHoldersTemporal:
    """Compares two snapshots. Raises `SnapshotUnknown` where a requested snapshot is not readable."""
    status = _status(context.connection)
    snapshots = [listed for listed in _lists(context.connection) if listed.snapshot]
    shared = {"token": status.token, "chain_id": status.chain_id, "snapshots": _snapshots(snapshots)}
    sides = _sides(snapshots, parameters)
    if sides is None:
        return TokenHoldersTemporal(
            **_unavailable("not_enough_snapshots" if snapshots else status.reason),
            **shared,
            from_=None,
            to=None,
            churn=None,
            movers=None,
            cohorts=None,
        )
    before, after = sides
    compared = compare(
        context.connection,
        context.holders_dir / list_file_name(before.block),
        context.holders_dir / list_file_name(after.block),
        before_time=before.block_time,
        after_time=after.block_time,
    )
    weaker = max(before, after, key=lambda side: list(Quality).index(side.quality))
    return TokenHoldersTemporal(
        **after.freshness | {"quality": weaker.quality, "reason": weaker.freshness["reason"]},
        **shared,
        from_=_compared(before),
        to=_compared(after),
        churn=Churn.model_validate(compared["churn"]),
        movers=Movers.model_validate(compared["movers"]),
        cohorts=Cohorts.model_validate(compared["cohorts"]),
    )


def _sides(snapshots: Sequence[_List], parameters: HoldersTemporalParameters) -> tuple[_List, _List] | None:
    """Returns the two lists to compare, or None where there are too few. `snapshots` are newest first."""
    by_id = {str(snapshot.block): snapshot for snapshot in snapshots}
    for name, wanted in (("from", parameters.from_), ("to", parameters.to)):
        if wanted is not None and wanted not in by_id:
            raise SnapshotUnknown(
                f"No readable snapshot has the id {wanted}.", errors=[(f"/query/{name}", "is not among `snapshots`")]
            )
    to = by_id[parameters.to] if parameters.to is not None else next(iter(snapshots), None)
    if to is None:
        return None
    if parameters.from_ is not None:
        return by_id[parameters.from_], to
    earlier = [snapshot for snapshot in snapshots if snapshot.block < to.block]
    return (earlier[0], to) if earlier else None


def _compared(side: _List) -> ComparedList:
    return ComparedList(
        id=str(side.block),
        block=side.block,
        time=side.block_time,
        holders=side.holders,
        sum_raw=side.sum_raw,
        concentration=side.concentration,
    )


def _status(connection: duckdb.DuckDBPyConnection) -> _Status:
    row = first_row(connection, read_sql("holder_status"))
    if row is None or row[1] is None:
        return _Status(None if row is None else row[0], None, None, "not_configured")
    chain_id, address, name, symbol, decimals, block, finalized_block, percent = row
    return _Status(
        chain_id,
        Token(address=address, name=name, symbol=symbol, decimals=decimals),
        Backfill(percent=percent or 0.0, block=block, finalized_block=finalized_block),
        "backfilling",
    )


def _lists(connection: duckdb.DuckDBPyConnection) -> list[_List]:
    return [
        _List(
            block,
            block_hash,
            aware_utc(block_time),
            level,
            aware_utc(taken_at),
            snapshot,
            holders,
            sum_raw,
            Quality(quality),
            Proof.model_validate_json(proof),
            Concentration.model_validate(json.loads(concentration)),
        )
        for block, block_hash, block_time, level, taken_at, snapshot, holders, sum_raw, quality, proof, concentration
        in connection.execute(read_sql("holder_lists")).fetchall()
    ]  # fmt: skip


def _snapshots(lists: Sequence[_List]) -> list[SnapshotRef]:
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


def _unavailable(reason: str) -> dict[str, Any]:
    return unpublished(source=None, quality=Quality.UNAVAILABLE, reason=reason, observed_at=None, fetched_at=None)
