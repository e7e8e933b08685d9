"""Stores the contract's balances, and reads the room's documents."""

from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

import duckdb

from contracts.base import Quality, unpublished
from contracts.bidwall import (
    ETH_PRICE_PATH,
    MAX_AGE_S,
    MAX_EVENTS,
    BidwallBalance,
    BidwallEvents,
    BidwallEventsParameters,
    BidwallSnapshot,
    BidwallSnapshotParameters,
    BlockRef,
    CacheInfo,
    ContractBalancePoint,
    ContractBalanceSeries,
    ContractTransfer,
    EventsInfo,
    Finality,
    Scope,
    ScopeInfo,
    UsdValue,
    eth_text,
    trigger_of,
    usd_of_wei,
)
from contracts.market import MAX_AGE, EthPrice
from warehouse.document_context import DocumentContext
from warehouse.duck.connection import transaction
from warehouse.duck.rows import aware_utc, insert, replace_all
from warehouse.statements import read_sql
from warehouse.token.holders import first_row

NOT_CONFIGURED = "not_configured"
BACKFILLING = "backfilling"
NOT_READ = "not_read"
BALANCE_MISMATCH = "balance_mismatch"
NODES_DISAGREE = "nodes_disagree"

_WIDTHS = {"day": timedelta(days=1), "hour": timedelta(hours=1)}
_MOST_POINTS = 90 * 24
"""The most points of a series: the hours of 90 days, or the days of six years."""


@dataclass(frozen=True)
class BalanceReading:
    """One reading of the balance. If `block` is None, it failed, and `reason` is the cause."""

    balance_wei: int | None
    block: int | None
    block_hash: str | None
    block_time: datetime | None
    is_final: bool | None
    reason: str | None
    fetched_at: datetime


def record_balance(connection: duckdb.DuckDBPyConnection, contract: str, reading: BalanceReading) -> None:
    """Stores one reading. It replaces an earlier reading of the same block, which has the same balance."""
    connection.execute(
        "delete from raw_bidwall__balances where contract_address = ? and block_hash = ?",
        [contract, reading.block_hash],
    )
    balance_wei = None if reading.balance_wei is None else str(reading.balance_wei)
    row = asdict(reading) | {"contract_address": contract, "balance_wei": balance_wei}
    insert(connection, "raw_bidwall__balances", row)


def replace_events(connection: duckdb.DuckDBPyConnection, contract: str | None) -> None:
    """Rebuilds the newest transfers from the contract's stored ones; leaves no rows if no contract is configured."""
    with transaction(connection):
        connection.execute("delete from out_bidwall__events")
        if contract is not None:
            connection.execute(
                read_sql("newest_events"),
                {"contract": bytes.fromhex(contract[2:]), "per_token": MAX_EVENTS},
            ).fetchall()


def is_bidwall_recorded(connection: duckdb.DuckDBPyConnection) -> bool:
    """Returns whether any run has recorded the contract's status."""
    return first_row(connection, read_sql("bidwall_status")) is not None


def record_bidwall_status(
    connection: duckdb.DuckDBPyConnection,
    *,
    chain_id: int,
    contract: str | None,
    service_token: str | None,
    usdc: str | None,
    trigger_wei: int | None,
    finalized_block: int | None,
    now: datetime,
) -> None:
    """Replaces the status row: the newest balance, and the block up to which the contract's events are read."""
    balance: tuple[Any, ...] | None = None
    reach: tuple[Any, ...] | None = None
    reason: str | None = None
    if contract is not None:
        last = first_row(connection, read_sql("last_reading"), {"contract": contract})
        reason = None if last is None else last[0]
        balance = first_row(connection, read_sql("last_balance"), {"contract": contract})
        reach = first_row(connection, read_sql("events_reach"))
    block, block_hash, block_time, is_final, balance_wei, fetched_at = balance or (None,) * 6
    events_block, events_hash, events_time = reach or (None,) * 3
    dispute = None if contract is None else first_row(connection, read_sql("contract_dispute"))
    complete = events_block is not None and finalized_block is not None and events_block >= finalized_block
    with transaction(connection):
        replace_all(
            connection,
            "out_bidwall__status",
            {
                "chain_id": chain_id,
                "contract_address": contract,
                "service_token": service_token,
                "usdc_address": usdc,
                "trigger_wei": None if trigger_wei is None else str(trigger_wei),
                "balance_wei": balance_wei,
                "block": block,
                "block_hash": block_hash,
                "block_time": block_time,
                "is_final": is_final,
                "reason": reason,
                "fetched_at": fetched_at,
                "events_block": events_block,
                "events_block_hash": events_hash,
                "events_block_time": events_time,
                "events_complete": complete,
                "events_reason": dispute and (BALANCE_MISMATCH if dispute[0] == "balance" else NODES_DISAGREE),
                "recorded_at": now,
            },
        )


@dataclass(frozen=True)
class _Status:
    """The status row. Times are aware UTC."""

    chain_id: int | None
    contract: str | None
    service_token: str | None
    trigger_wei: int | None
    balance_wei: int | None
    at: BlockRef | None
    reason: str | None
    fetched_at: datetime | None
    events: EventsInfo
    recorded_at: datetime | None

    @property
    def missing(self) -> str | None:
        """Returns the reason why there is no balance at all, or None if there is one."""
        return None if self.balance_wei is not None else self.reason or BACKFILLING

    @property
    def quality(self) -> Quality:
        return _quality_at(self.at)

    @property
    def balance_freshness(self) -> dict[str, Any]:
        """Returns the freshness of the last balance that was read; it is stale if a later reading failed."""
        not_final = "not_final" if self.quality is Quality.ESTIMATED else None
        return unpublished(
            source=None if self.at is None else "chain",
            quality=self.quality,
            reason=self.missing or self.reason or not_final,
            stale=self.at is not None and self.reason is not None,
            observed_at=None if self.at is None else self.at.time,
            fetched_at=self.fetched_at,
        )

    @property
    def balance(self) -> dict[str, Any]:
        wei = self.balance_wei
        return {
            "contract": self.contract,
            "chain_id": self.chain_id,
            "balance_wei": None if wei is None else str(wei),
            "balance_eth": None if wei is None else eth_text(wei),
            "at": self.at,
            "trigger": trigger_of(wei, self.trigger_wei, self.missing),
        }

    def cache(self, fetched_at: datetime | None) -> CacheInfo:
        """Returns the cache fields of a document whose main part was read at `fetched_at`."""
        age_s = None
        if self.recorded_at is not None and fetched_at is not None:
            age_s = max(0, round((self.recorded_at - fetched_at).total_seconds()))
        return CacheInfo(max_age_s=MAX_AGE_S, age_s=age_s)


def read_bidwall_balance(context: DocumentContext) -> BidwallBalance:
    """Reads the contract's newest balance."""
    status = _status(context.connection)
    return BidwallBalance(
        **status.balance_freshness,
        **status.balance,
        cache=status.cache(status.fetched_at),
    )


def read_bidwall_snapshot(context: DocumentContext, parameters: BidwallSnapshotParameters) -> BidwallSnapshot:
    """Reads `BidwallSnapshot`, whose freshness is the balance's; `eth_usd` and `events_info` have their own."""
    status = _status(context.connection)
    scope = _scope(parameters.scope, parameters.token, status.service_token)
    return BidwallSnapshot(
        **status.balance_freshness,
        **status.balance,
        eth_usd=_eth_usd(context, status.balance_wei),
        scope=scope,
        events_limit=parameters.events_limit,
        events=_events(context.connection, scope, parameters.events_limit),
        events_info=status.events,
        cache=status.cache(status.fetched_at),
    )


def read_bidwall_events(context: DocumentContext, parameters: BidwallEventsParameters) -> BidwallEvents:
    """Reads the newest transfers from or to the contract."""
    status = _status(context.connection)
    scope = _scope(parameters.scope, parameters.token, status.service_token)
    info = status.events
    fetched_at = None if info.block is None else status.recorded_at
    return BidwallEvents(
        **unpublished(
            source=None if info.block is None else "warehouse",
            quality=info.quality,
            reason=info.reason,
            observed_at=info.time,
            fetched_at=fetched_at,
        ),
        contract=status.contract,
        chain_id=status.chain_id,
        scope=scope,
        limit=parameters.limit,
        events=_events(context.connection, scope, parameters.limit),
        events_info=info,
        cache=status.cache(fetched_at),
    )


def read_balance_series(context: DocumentContext, interval: str) -> ContractBalanceSeries:
    """Reads the balance by `day`, or by `hour` over the last 90 days."""
    status = _status(context.connection)
    values = {"contract": status.contract, "width": _WIDTHS[interval], "most": _MOST_POINTS}
    rows = context.connection.execute(read_sql("bidwall_balance_series"), values).fetchall()
    return ContractBalanceSeries(
        **status.balance_freshness,
        contract=status.contract,
        chain_id=status.chain_id,
        interval=interval,
        trigger_wei=None if status.trigger_wei is None else str(status.trigger_wei),
        points=[_point(*row) for row in rows],
    )


def _point(
    start: datetime,
    block: int | None,
    block_hash: str | None,
    block_time: datetime | None,
    is_final: bool | None,
    balance_wei: str | None,
    lowest_wei: str | None,
    highest_wei: str | None,
    readings: int,
    reason: str | None,
) -> ContractBalancePoint:
    at = None
    if block is not None:
        finality = Finality.FINAL if is_final else Finality.PENDING
        at = BlockRef(block=block, block_hash=block_hash, time=aware_utc(block_time), finality=finality)
    return ContractBalancePoint(
        start=aware_utc(start),
        balance_wei=balance_wei,
        balance_eth=None if balance_wei is None else eth_text(int(balance_wei)),
        lowest_wei=lowest_wei,
        highest_wei=highest_wei,
        readings=readings,
        at=at,
        quality=_quality_at(at),
        reason=None if at is not None else reason or NOT_READ,
    )


def _quality_at(at: BlockRef | None) -> Quality:
    if at is None:
        return Quality.UNAVAILABLE
    return Quality.EXACT if at.finality is Finality.FINAL else Quality.ESTIMATED


def _scope(requested: Scope, token: str | None, service_token: str | None) -> ScopeInfo:
    if token is not None:
        return ScopeInfo(requested=requested, effective="token", token=token)
    return ScopeInfo(requested=requested, effective=requested, token=service_token if requested == "odai" else None)


def _events(connection: duckdb.DuckDBPyConnection, scope: ScopeInfo, limit: int) -> list[ContractTransfer]:
    rows = connection.execute(read_sql("bidwall_events"), {"token": scope.token, "limit": limit}).fetchall()
    return [
        ContractTransfer(
            token=token,
            block=block,
            log_index=log_index,
            transaction_hash=transaction_hash,
            sender=sender,
            recipient=recipient,
            direction=direction,
            value_raw=str(_integer(value_raw)),
            time=aware_utc(block_time),
            time_quality=time_quality,
            finality=Finality(finality),
        )
        for (
            token, block, log_index, transaction_hash, sender, recipient, direction, value_raw, block_time,
            time_quality, finality,
        ) in rows
    ]  # fmt: skip


def _eth_usd(context: DocumentContext, balance_wei: int | None) -> UsdValue:
    """Reads the price from the published document, or if there is none, from the row that it will be built from."""
    published = context.bodies.get(ETH_PRICE_PATH)
    if published is not None:
        price_fields: dict[str, Any] = EthPrice.model_validate_json(published).model_dump(include=_OF_PRICE)
    else:
        price_fields = _served_price(context.connection)
    worth = None
    if price_fields["price"] is not None and balance_wei is not None:
        worth = usd_of_wei(balance_wei, Decimal(price_fields["price"]))
    return UsdValue(balance_usd=worth, **price_fields)


_OF_PRICE = {"price", "source", "quality", "reason", "observed_at", "stale_after", "stale"}


def _served_price(connection: duckdb.DuckDBPyConnection) -> dict[str, Any]:
    row = first_row(connection, read_sql("bidwall_eth_usd"))
    price, source, quality, stale, reason, observed_at, fetched_at = row or _NO_PRICE
    asked_at = aware_utc(fetched_at)
    return {
        "price": price,
        "source": source,
        "quality": quality,
        "reason": reason,
        "observed_at": aware_utc(observed_at),
        "stale_after": None if asked_at is None else asked_at + MAX_AGE,
        "stale": stale,
    }


_NO_PRICE = (None, None, Quality.UNAVAILABLE, False, NOT_CONFIGURED, None, None)


def _status(connection: duckdb.DuckDBPyConnection) -> _Status:
    row = first_row(connection, read_sql("bidwall_status"))
    if row is None or row[1] is None:
        events = EventsInfo(quality=Quality.UNAVAILABLE, reason=NOT_CONFIGURED, block=None, block_hash=None, time=None)
        trigger = None if row is None or row[3] is None else int(row[3])
        chain_id = None if row is None else row[0]
        return _Status(chain_id, None, None, trigger, None, None, NOT_CONFIGURED, None, events, None)
    (
        chain_id, contract, service_token, trigger_wei, balance_wei, block, block_hash, block_time, is_final,
        reason, fetched_at, events_block, events_hash, events_time, complete, doubt, recorded_at,
    ) = row  # fmt: skip
    at = None
    if balance_wei is not None:
        finality = Finality.FINAL if is_final else Finality.PENDING
        at = BlockRef(block=block, block_hash=block_hash, time=aware_utc(block_time), finality=finality)
    reached = events_block is not None
    events = EventsInfo(
        quality=Quality.UNAVAILABLE if not reached else Quality.ESTIMATED if doubt or not complete else Quality.EXACT,
        reason=(doubt if reached else None) or (None if complete else BACKFILLING),
        block=events_block,
        block_hash=events_hash,
        time=aware_utc(events_time),
    )
    return _Status(
        chain_id=chain_id,
        contract=contract,
        service_token=service_token,
        trigger_wei=None if trigger_wei is None else int(trigger_wei),
        balance_wei=None if balance_wei is None else int(balance_wei),
        at=at,
        reason=reason,
        fetched_at=aware_utc(fetched_at),
        events=events,
        recorded_at=aware_utc(recorded_at),
    )


def _integer(limbs: dict[str, int]) -> int:
    return sum(limbs[f"limb{place}"] << (64 * place) for place in range(4))
