"""Reads the documents about one address at any block, the time series of the holders, and the edges among the largest
holders."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlencode

from pydantic import TypeAdapter

from contracts.errors import CursorInvalid
from contracts.publish.projection import Fields
from contracts.token.history import DAY_S, EDGES_AMONG, EDGES_FOR, HOUR_S, decode_position, encode_position
from contracts.token.history_documents import (
    AddressTransfersParameters,
    Edge,
    RankPoint,
    SeriesPoint,
    TokenHolderEdges,
    TokenHolderParameters,
    TokenSeries,
)
from contracts.token.holder_documents import Links, MomentParameters
from contracts.token.holders import cohort_of, decimal_text
from warehouse.document_context import DocumentContext
from warehouse.duck.rows import aware_utc
from warehouse.statements import read_sql
from warehouse.token.history import NEVER_S, ZERO, Change, History, TransferSeen
from warehouse.token.holders import one_row
from warehouse.token.lists_at import TokenView, token_view

HOLDERS_PATH = "/api/token/holders"

UNKNOWN_ADDRESS, NO_BALANCE = "unknown_address", "no_balance"


@dataclass(frozen=True)
class _Account:
    """An address in the history; `number` is None where no transfer up to the block names it. Times in seconds.

    `balance` is None if unknown, which only the zero address's balance can be.
    """

    number: int | None
    balance: int | None
    seen: tuple[int, int] | None
    held: tuple[int, int] | None


def read_token_holder(context: DocumentContext, address: str, parameters: TokenHolderParameters) -> Fields:
    """Reads the fields of `TokenHolder`. Raises `CursorInvalid`, and what `TokenView.block_of` raises."""
    view = token_view(context)
    block = view.block_of(parameters)
    position = None if parameters.cursor is None else decode_position(parameters.cursor)
    shared = {"token": view.status.token, "chain_id": view.status.chain_id, "address": address, "block": block}
    if block is None:
        return {**view.unavailable(), **shared, **_NOTHING_KNOWN, "balance_raw": None, "balance": None, "basis": None}
    raw, history, decimals = bytes.fromhex(address[2:]), view.history, view.status.decimals
    account = _account(view, raw, block)
    upto = block if position is None else min(block, position[0] - 1)
    newest = [] if account.number is None else history.changes_of(account.number, upto, parameters.limit + 1)
    changes, more = newest[: parameters.limit], len(newest) > parameters.limit
    cursor = encode_position(changes[-1].block, 0) if more else None
    active = changes[:1] if position is None else _newest(history, account.number, block)
    if raw == ZERO:
        changes = _kept_by_zero(view, changes)
    ranked = _ranked(view, raw, account, block)
    freshness = view.freshness(block)
    if account.balance is not None and account.balance <= 0:
        freshness |= {"reason": UNKNOWN_ADDRESS if account.number is None else NO_BALANCE}
    return {
        **freshness,
        **shared,
        **ranked,
        "balance_raw": None if account.balance is None else str(account.balance),
        "balance": None if account.balance is None else _whole(account.balance, decimals),
        "first_seen_block": account.seen and account.seen[0],
        "first_seen_at": account.seen and _time(account.seen[1]),
        "first_held_block": account.held and account.held[0],
        "first_held_at": account.held and _time(account.held[1]),
        "last_active_at": _time(active[0].time_s) if active else None,
        "history": _points(changes, decimals),
        "next_cursor": cursor,
        "ranks": _ranks(view, raw, account.number, block, parameters.ranks),
        "links": _links(f"{HOLDERS_PATH}/{address}", parameters, cursor),
        "basis": view.basis(block),
    }


_NOTHING_KNOWN: Fields = {
    "rank": None,
    "share": None,
    "cohort": None,
    "first_seen_at": None,
    "first_seen_block": None,
    "first_held_at": None,
    "first_held_block": None,
    "last_active_at": None,
    "history": [],
    "next_cursor": None,
    "ranks": [],
    "links": Links(next=None),
}


def read_address_transfers(context: DocumentContext, address: str, parameters: AddressTransfersParameters) -> Fields:
    """Reads the fields of `AddressTransfers`. Raises `CursorInvalid`, and what `TokenView.block_of` raises."""
    view = token_view(context)
    block = view.block_of(parameters)
    position = None if parameters.cursor is None else decode_position(parameters.cursor)
    shared = {"token": view.status.token, "chain_id": view.status.chain_id, "address": address, "block": block}
    if block is None:
        nothing: Fields = {"transfers": [], "next_cursor": None, "links": Links(next=None), "basis": None}
        return {**view.unavailable(), **shared, **nothing}
    if position is not None and position[0] > block:
        raise CursorInvalid("The cursor is of a newer block than this request; start again without a cursor.")
    number = view.history.id_of(bytes.fromhex(address[2:]))
    below = (block + 1, 0) if position is None else position
    newest = [] if number is None else view.history.transfers_of(number, below, parameters.limit + 1)
    transfers, more = newest[: parameters.limit], len(newest) > parameters.limit
    cursor = encode_position(transfers[-1].block, transfers[-1].log_index) if more else None
    return {
        **view.freshness(block, of_transfers=True),
        **shared,
        "transfers": _transfers(transfers, view.status.decimals),
        "next_cursor": cursor,
        "links": _links(f"{HOLDERS_PATH}/{address}/transfers", parameters, cursor),
        "basis": view.basis(block, of_transfers=True),
    }


def read_token_series(context: DocumentContext, interval: str) -> TokenSeries:
    """Reads a series: by `day` over the whole history, or by `hour` over the last 90 days."""
    table = "out_holders__daily" if interval == "day" else "out_holders__hourly"
    measures = "1 as is_day" if interval == "day" else "null as top10_share, null as gini, null as hhi"
    statement = read_sql("series_points").replace("$table", table).replace("$measures", measures)
    width = timedelta(seconds=DAY_S if interval == "day" else HOUR_S)
    row = one_row(context.connection, statement, {"width": width})
    view = token_view(context)
    newest = view.newest
    return TokenSeries(
        **(view.unavailable() if newest is None else view.freshness(newest.block)),
        token=view.status.token,
        chain_id=view.status.chain_id,
        interval=interval,
        points=[] if newest is None else _series_points(row[0]),
        basis=None if newest is None else view.basis(newest.block),
    )


_series_points = TypeAdapter(list[SeriesPoint]).validate_json


def read_holder_edges(context: DocumentContext) -> TokenHolderEdges:
    """Reads the transfers among the largest holders."""
    rows = context.connection.execute(read_sql("holder_edges")).fetchall()
    view = token_view(context)
    newest = view.newest
    return TokenHolderEdges(
        **(view.unavailable() if newest is None else newest.freshness),
        token=view.status.token,
        chain_id=view.status.chain_id,
        block=newest and newest.block,
        among=EDGES_AMONG,
        days=EDGES_FOR.days,
        edges=[
            Edge(
                from_=sender,
                to=recipient,
                from_rank=from_rank,
                to_rank=to_rank,
                transfers=transfers,
                amount_raw=amount,
                amount=_whole(int(amount), view.status.decimals),
                first_at=aware_utc(first_at),
                last_at=aware_utc(last_at),
            )
            for sender, recipient, from_rank, to_rank, transfers, amount, first_at, last_at in rows
        ],
        basis=None if newest is None else view.basis(newest.block),
    )


def _account(view: TokenView, address: bytes, block: int) -> _Account:
    history = view.history
    number = history.id_of(address)
    if number is None:
        return _Account(None, 0, None, None)
    seen, held = history.first_seen_of(number), history.first_held_of(number)
    if seen[0] == NEVER_S or seen[0] > block:
        return _Account(None, 0, None, None)
    balance = _balance(view, address, number, block)
    if address == ZERO:
        held = view.zero_address.first_held(block) or (NEVER_S, NEVER_S)
    return _Account(number, balance, seen, held if NEVER_S < held[0] <= block else None)


def _balance(view: TokenView, address: bytes, number: int, block: int) -> int | None:
    return view.zero_held(block) if address == ZERO else view.history.balance_at(number, block)


def _kept_by_zero(view: TokenView, changes: Sequence[Change]) -> list[Change]:
    """Turns the changes of the amount that the zero address received into changes of its balance; leaves unknown ones
    out."""
    kept = []
    for change in changes:
        before, after = (view.zero_address.bounds_at(block) for block in (change.block - 1, change.block))
        if before.least == before.most and after.least == after.most and after != before:
            kept.append(change._replace(balance=after.least, change=after.least - before.least))
    return kept


def _newest(history: History, number: int | None, block: int) -> Sequence[Change]:
    return [] if number is None else history.changes_of(number, block, 1)


def _ranked(view: TokenView, address: bytes, account: _Account, block: int) -> dict[str, Any]:
    if account.balance is None or account.balance <= 0:
        return {"rank": None, "share": None, "cohort": None}
    rank, total = _rank(view, address, account.balance, block), view.sum_at(block)
    if total is None:
        return {"rank": rank, "share": None, "cohort": None}
    share = account.balance / max(total, account.balance)
    return {"rank": rank, "share": share, "cohort": cohort_of(share)}


def _rank(view: TokenView, address: bytes, balance: int, block: int) -> int | None:
    """Returns the rank of a balance; None if it depends on an unknown balance of the zero address."""
    least, most = view.zero_bounds(block)
    rank = view.history.rank_at(address, balance, block, least)
    return rank if least == most or rank == view.history.rank_at(address, balance, block, most) else None


def _ranks(view: TokenView, address: bytes, number: int | None, block: int, most: int) -> list[RankPoint]:
    """Returns the rank of an address in each of the newest `most` snapshots up to a block, newest first."""
    ranks = []
    for taken in [taken for taken in view.snapshots if taken.block <= block][:most]:
        balance = 0 if number is None else _balance(view, address, number, taken.block)
        rank = _rank(view, address, balance, taken.block) if balance is not None and balance > 0 else None
        ranks.append(RankPoint(block=taken.block, time=taken.block_time, rank=rank))
    return ranks


def _points(changes: Sequence[Change], decimals: int | None) -> list[dict[str, Any]]:
    return [
        {
            "block": change.block,
            "time": _time(change.time_s),
            "balanceRaw": str(change.balance),
            "balance": _whole(change.balance, decimals),
            "changeRaw": str(change.change),
        }
        for change in changes
    ]


def _transfers(transfers: Sequence[TransferSeen], decimals: int | None) -> list[dict[str, Any]]:
    return [
        {
            "block": transfer.block,
            "logIndex": transfer.log_index,
            "time": _time(transfer.time_s),
            "transactionHash": transfer.tx_hash,
            "from": transfer.sender,
            "to": transfer.recipient,
            "valueRaw": str(transfer.value),
            "value": _whole(transfer.value, decimals),
        }
        for transfer in transfers
    ]


def _links(path: str, parameters: MomentParameters, cursor: str | None) -> Links:
    if cursor is None:
        return Links(next=None)
    asked = parameters.model_dump(exclude_none=True, exclude_defaults=True) | {"cursor": cursor}
    return Links(next=f"{path}?{urlencode(asked)}")


def _whole(raw: int, decimals: int | None) -> str | None:
    return None if decimals is None else decimal_text(raw, decimals)


def _time(time_s: int) -> datetime:
    return datetime.fromtimestamp(time_s, UTC)
