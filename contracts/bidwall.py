"""Defines the contract-balance documents and their query parameters, and computes the progress to the trigger. Pure."""

from decimal import Decimal
from enum import StrEnum
from fractions import Fraction
from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from contracts.addresses import AskedAddress
from contracts.base import (
    DIGITS,
    AddressText,
    DecimalAmount,
    Document,
    HexHash,
    Quality,
    RawAmount,
    TelemetryDocument,
    Timestamp,
)
from contracts.token.holders import decimal_text

MAX_AGE_S: Final = 900
MAX_EVENTS: Final = 40
WEI_DECIMALS: Final = 18
ETH_PRICE_PATH: Final = "/api/bidwall/eth-price"

Scope = Literal["all", "odai"]


class BidwallEventsParameters(BaseModel):
    """Selects transfer events and limits their number."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    limit: Annotated[int, Field(ge=1, le=MAX_EVENTS), DIGITS] = Field(default=20, description="Newest events")
    scope: Scope = Field(default="all", description="`all`: of any token; `odai`: of the service token")
    token: AskedAddress | None = Field(default=None, description="Only of this ERC-20; overrides `scope`")


class BidwallSnapshotParameters(BaseModel):
    """Selects the transfer events of the preview and limits their number."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    events_limit: Annotated[int, Field(ge=1, le=20), DIGITS] = Field(default=8, description="Newest events")
    scope: Scope = Field(default="all", description="`all`: of any token; `odai`: of the service token")
    token: AskedAddress | None = Field(default=None, description="Only of this ERC-20; overrides `scope`")


class Finality(StrEnum):
    """Whether a block can still leave the chain."""

    FINAL = "final"
    PENDING = "pending"


class BlockRef(Document):
    """The block to which a number refers."""

    block: int = Field(ge=0)
    block_hash: HexHash
    time: Timestamp
    finality: Finality


class CacheInfo(Document):
    """The time for which a client may reuse the document."""

    max_age_s: int = Field(description="Seconds after `fetchedAt` from which it counts as stale")
    age_s: int | None = Field(description="Seconds from the reading to the run that published it")


class ScopeInfo(Document):
    """The tokens whose events the document lists."""

    requested: Scope
    effective: Literal["all", "odai", "token"] = Field(description="`token` if the parameter overrides the scope")
    token: AddressText | None = Field(description="Only events of this token; null for all tokens")


class Trigger(Document):
    """The distance of the balance from the amount at which the contract triggers."""

    trigger_wei: RawAmount | None = Field(description="Null if none is configured")
    reached: bool | None
    progress: float | None = Field(description="balance / trigger, from 0 to 1 at most")
    remaining_wei: RawAmount | None
    reason: str | None = Field(description="Why there is no progress: `not_configured`, or why there is no balance")


class UsdValue(Document):
    """The ETH price in USD of `/api/bidwall/eth-price`, and the value of the balance at that price."""

    price: DecimalAmount | None = Field(description="USD for one ETH")
    balance_usd: DecimalAmount | None = Field(
        description="Balance times price to the nearest cent: derived, even if the price is `exact`"
    )
    source: str | None
    quality: Quality
    reason: str | None
    observed_at: Timestamp | None
    stale_after: Timestamp | None = Field(description="When the price stops counting as fresh (UTC)")
    stale: bool = Field(description="Whether the price was already out of date when a run chose it")


class ContractTransfer(Document):
    """One ERC-20 transfer from or to the contract."""

    token: AddressText
    block: int
    log_index: int
    transaction_hash: HexHash
    sender: AddressText = Field(alias="from")
    recipient: AddressText = Field(alias="to")
    direction: Literal["in", "out", "self"]
    value_raw: RawAmount = Field(description="In the smallest unit of the token")
    time: Timestamp
    time_quality: Literal["exact", "estimated"]
    finality: Finality


class EventsInfo(Document):
    """The extent to which the pipeline has read the events."""

    quality: Quality = Field(description="`exact`: every event up to `block` is stored; `estimated`: reading continues")
    reason: str | None
    block: int | None = Field(description="Events up to this block are final; pending events are from later blocks")
    block_hash: HexHash | None
    time: Timestamp | None


class BidwallBalance(TelemetryDocument):
    """The native balance of the contract at one block."""

    contract: AddressText | None
    chain_id: int | None
    balance_wei: RawAmount | None
    balance_eth: DecimalAmount | None
    at: BlockRef | None = Field(description="The block at which the balance was read")
    trigger: Trigger
    cache: CacheInfo


class BidwallSnapshot(TelemetryDocument):
    """The balance with its value, its distance from the trigger, and the newest transfers."""

    contract: AddressText | None
    chain_id: int | None
    balance_wei: RawAmount | None
    balance_eth: DecimalAmount | None
    at: BlockRef | None = Field(description="The block at which the balance was read")
    trigger: Trigger
    eth_usd: UsdValue
    scope: ScopeInfo
    events_limit: int
    events: list[ContractTransfer] = Field(description="Newest first")
    events_info: EventsInfo
    cache: CacheInfo


class BidwallEvents(TelemetryDocument):
    """The newest ERC-20 transfers from or to the contract."""

    contract: AddressText | None
    chain_id: int | None
    scope: ScopeInfo
    limit: int
    events: list[ContractTransfer] = Field(description="Newest first; pending ones may still leave the chain")
    events_info: EventsInfo
    cache: CacheInfo


class ContractBalancePoint(Document):
    """The balance over one hour or day: the last one read in it, and the lowest and highest."""

    start: Timestamp = Field(description="Start of the hour or day (UTC)")
    balance_wei: RawAmount | None = Field(description="The last balance of a block in it; null if none was read")
    balance_eth: DecimalAmount | None
    lowest_wei: RawAmount | None = Field(description="The lowest balance read in it")
    highest_wei: RawAmount | None
    readings: int = Field(ge=0, description="Blocks in it at which the balance was read")
    at: BlockRef | None = Field(
        description="The block of the last balance, at which any node can be queried for it again"
    )
    quality: Quality = Field(
        description="`exact` at a final block, `estimated` at one that could still leave the chain"
    )
    reason: str | None = Field(description="Why there is no balance: `not_read`, or why the last reading failed")


class ContractBalanceSeries(TelemetryDocument):
    """The contract's native balance over time, oldest first and without gaps. The last point is still open."""

    contract: AddressText | None
    chain_id: int | None
    interval: Literal["day", "hour"]
    trigger_wei: RawAmount | None = Field(description="Amount at which the contract triggers; null without one")
    points: list[ContractBalancePoint]


def trigger_of(balance_wei: int | None, trigger_wei: int | None, missing: str | None) -> Trigger:
    """Computes the progress towards the trigger. `missing` is the reason for a missing balance."""
    if trigger_wei is None or balance_wei is None:
        return Trigger(
            trigger_wei=None if trigger_wei is None else str(trigger_wei),
            reached=None,
            progress=None,
            remaining_wei=None,
            reason="not_configured" if trigger_wei is None else missing,
        )
    # Truncates instead of rounding: 1.0 means that the balance has reached the trigger.
    millionths = min(10**6, balance_wei * 10**6 // trigger_wei)
    return Trigger(
        trigger_wei=str(trigger_wei),
        reached=balance_wei >= trigger_wei,
        progress=millionths / 10**6,
        remaining_wei=str(max(0, trigger_wei - balance_wei)),
        reason=None,
    )


def usd_of_wei(wei: int, price: Decimal) -> str:
    """Returns the worth of an amount of wei in USD at a price of ETH, to the nearest cent, of two to the even one."""
    cents = round(Fraction(price) * 100 * wei / 10**WEI_DECIMALS)
    return f"{cents // 100}.{cents % 100:02}"


def eth_text(wei: int) -> str:
    """Returns an amount of wei as ETH, as a decimal string."""
    return decimal_text(wei, WEI_DECIMALS)
