"""Defines the documents about one address, the series of the holders, and the transfers among the largest."""

from typing import Annotated, Literal

from pydantic import Field

from contracts.base import (
    DIGITS,
    AddressText,
    DecimalAmount,
    Document,
    HexHash,
    Quality,
    TelemetryDocument,
    Timestamp,
)
from contracts.token.history import EDGES_AMONG, EDGES_FOR
from contracts.token.holder_documents import Basis, Links, MomentParameters, SizeCohort, Token
from contracts.token.proof import AmountByEvents, Verdict

RANKS_AT_MOST = 60
"""Maximum number of snapshots for which one answer gives the rank of an address."""

SIGNED = r"^-?(0|[1-9][0-9]*)$"


class TokenHolderParameters(MomentParameters):
    """Selects the block of a holder's page, a page of its history, and the number of snapshots with its ranks."""

    limit: Annotated[int, Field(ge=1, le=500), DIGITS] = Field(default=20, description="Balance changes in one answer")
    cursor: str | None = Field(default=None, max_length=64, description="`nextCursor` of the previous answer")
    ranks: Annotated[int, Field(ge=0, le=RANKS_AT_MOST), DIGITS] = Field(
        default=0, description="Number of newest snapshots for which to give its rank"
    )


class AddressTransfersParameters(MomentParameters):
    """Selects a page of an address's transfers up to a block."""

    limit: Annotated[int, Field(ge=1, le=500), DIGITS] = Field(default=50, description="Transfers in one answer")
    cursor: str | None = Field(default=None, max_length=64, description="`nextCursor` of the previous answer")


class BalancePoint(Document):
    """The balance of an address after a block that changed it."""

    block: int
    time: Timestamp
    balance_raw: str = Field(
        pattern=SIGNED, description="Smallest units; negative only if the token's events are wrong"
    )
    balance: DecimalAmount | None = Field(description="In whole tokens; null if the token has no decimals()")
    change_raw: str = Field(pattern=SIGNED, description="Difference from the balance before the block")


class RankPoint(Document):
    """The rank of an address in a snapshot of all holders."""

    block: int
    time: Timestamp
    rank: int | None = Field(ge=1, description="By balance, largest first, then by address; null if it held nothing")


class TokenHolder(TelemetryDocument):
    """One address at one block. An address without transfers holds nothing, as `reason` states."""

    token: Token | None
    chain_id: int | None
    address: AddressText
    block: int | None
    balance_raw: str | None = Field(
        pattern=SIGNED,
        description="Smallest units at the block; null before the first list, and for the zero address if "
        "`reason` is `zero_balance_unknown`: lists and transfers don't show which transfers to it were burned",
    )
    balance: DecimalAmount | None = Field(description="In whole tokens; null if the token has no decimals()")
    rank: int | None = Field(
        description="By balance, largest first, then by address; null without a balance, and if it depends on the "
        "zero address's balance, which is unknown"
    )
    share: float | None = Field(
        ge=0,
        le=1,
        description="Fraction of all balances; null without a balance, and if the zero address's is unknown",
    )
    cohort: SizeCohort | None = Field(description="As in the holder map; null without a share")
    first_seen_at: Timestamp | None = Field(
        description="Time of the first transfer from or to the address, including transfers of zero; null before it"
    )
    first_seen_block: int | None
    first_held_at: Timestamp | None = Field(description="Time of the first balance above zero; null before it")
    first_held_block: int | None
    last_active_at: Timestamp | None = Field(description="Time of the latest transfer up to the block")
    history: list[BalancePoint] = Field(
        description="Balance changes up to the block, newest first; for the zero address, only those known from "
        "lists and transfers"
    )
    next_cursor: str | None = Field(description="Pass as `cursor` for older changes; null after the first one")
    ranks: list[RankPoint] = Field(description="Its rank in the newest snapshots up to the block, newest first")
    links: Links
    basis: Basis | None = Field(description="The basis of the numbers; null without any list")


class AddressTransfer(Document):
    """One transfer from or to the address."""

    block: int
    log_index: int
    time: Timestamp
    transaction_hash: HexHash
    from_: AddressText = Field(alias="from", description="The zero address for a mint")
    to: AddressText = Field(description="The zero address for a burn")
    value_raw: AmountByEvents = Field(description="Smallest units")
    value: DecimalAmount | None = Field(description="In whole tokens; null if the token has no decimals()")


class AddressTransfers(TelemetryDocument):
    """One page of transfers from or to an address up to a block, newest first."""

    token: Token | None
    chain_id: int | None
    address: AddressText
    block: int | None
    transfers: list[AddressTransfer]
    next_cursor: str | None = Field(description="Pass as `cursor` for older transfers; null after the first one")
    links: Links
    basis: Basis | None = Field(description="The basis of the numbers; null without any list")


class Edge(Document):
    """The transfers from one holder to another."""

    from_: AddressText = Field(alias="from")
    to: AddressText
    from_rank: int = Field(ge=1)
    to_rank: int = Field(ge=1)
    transfers: int = Field(ge=1)
    amount_raw: AmountByEvents = Field(description="Sum of their amounts, smallest units")
    amount: DecimalAmount | None = Field(description="The same in whole tokens; null without decimals")
    first_at: Timestamp
    last_at: Timestamp


class TokenHolderEdges(TelemetryDocument):
    """Transfers among the largest holders of the newest list."""

    token: Token | None
    chain_id: int | None
    block: int | None
    among: int = Field(description=f"Number of holders considered: the {EDGES_AMONG} largest")
    days: int = Field(description=f"Days before the block that are considered: {EDGES_FOR.days}")
    edges: list[Edge] = Field(description="Most transfers first, 2,000 at most")
    basis: Basis | None = Field(description="The basis of the numbers; null without any list")


class PointPrice(Document):
    """Prices of one hour or day, USD for one whole token."""

    open: float
    high: float
    low: float
    close: float
    source: Literal["observed", "pool", "pool_then_observed"] = Field(
        description="`observed`: answers of price sources. `pool`: reserves of the token's pool from its events, "
        "before the first observed price; those of a concentrated pool are computed from its price and liquidity. "
        "`pool_then_observed`: the pool's until the first observed price, then observed prices"
    )
    quality: Quality = Field(description="The lowest quality of these prices")
    block: int | None = Field(
        description="Block of the last price: of the pool's event, or at which a source read the chain; null if the "
        "source names none"
    )


class SeriesPoint(Document):
    """Changes among the holders in one hour or day. The zero address does not count as a holder here."""

    start: Timestamp = Field(description="Start of the hour or day (UTC)")
    last_block: int = Field(
        description="Block of the newest transfer up to its end; blocks without any, which change nothing, may follow"
    )
    holders: int = Field(description="Addresses with a balance above zero at its end, or now if it is not over")
    new: int = Field(description="Hold at the end, not at the start, and never before")
    returned: int = Field(description="Hold at the end, not at the start, but at some time before")
    left: int = Field(description="Held at the start but not at the end")
    transfers: int
    volume_raw: AmountByEvents = Field(description="Sum of the transfers, smallest units, including mints and burns")
    top10_share: float | None = Field(
        description="Share of the ten largest holders at the end of the day; null by hour"
    )
    gini: float | None
    hhi: float | None
    price_usd: PointPrice | None
    price_reason: str | None = Field(
        description="Why there is no price: not_observed, before_first_observation, or what is missing of the pool "
        "before it: before_pool, empty_pool, no_eth_price, no_pair, other_pair, unknown_pool, "
        "other_curve, unknown_quote_token, pool_not_read_yet; null with a price"
    )
    quality: Quality = Field(
        description="`exact` if the list at `provenBlock` is proven and no transfer follows it until the end, "
        "else `derived` by replay"
    )
    proven_block: int | None = Field(description="Block of the newest list taken in it that is still readable")
    verdict: Verdict | None = Field(description="Verdict of that list's proof")


class TokenSeries(TelemetryDocument):
    """The holders over time, oldest first and without gaps. The last point is still open."""

    token: Token | None
    chain_id: int | None
    interval: str = Field(description="day or hour")
    points: list[SeriesPoint]
    basis: Basis | None = Field(description="The basis of the last point; null without any list")
