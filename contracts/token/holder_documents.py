"""Defines the holder documents: count, map and temporal comparison."""

from datetime import date as Date
from enum import StrEnum
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

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
from contracts.outside_texts import UNTRUSTED, OutsideName, OutsideSymbol
from contracts.token.proof import AmountByEvents, Proof, Verdict


class Token(Document):
    """The token, described by its own contract. Values that the contract does not return are null."""

    address: AddressText
    name: OutsideName = Field(description=UNTRUSTED)
    symbol: OutsideSymbol = Field(description=UNTRUSTED)
    decimals: int | None = Field(description="Number of decimal places of a whole token; null if not answered")


class ConsistencyLevel(StrEnum):
    """The rule that chose the block of a list."""

    FINALIZED = "finalized"
    CONFIRMATIONS = "confirmations"


class Consistency(Document):
    """The block of all numbers in the body, and its proof."""

    level: ConsistencyLevel = Field(
        description="`finalized`: the node's finalized tag; `confirmations`: a fixed depth below head"
    )
    block: int = Field(ge=0)
    block_hash: HexHash
    proof: Proof


class Basis(Document):
    """The basis of the numbers at a block: the list of that block, or the transfers up to it."""

    kind: Literal["list", "replay"] = Field(
        description="`list`: a list was taken at the block; `replay`: computed from the transfers up to it"
    )
    block: int = Field(ge=0, description="Block of the numbers")
    time: Timestamp | None = Field(description="Time of the newest block at or below it with a known time (UTC)")
    proven_block: int = Field(
        ge=0, description="Block of the nearest list at or above it, whose proof covers all transfers up to it"
    )
    proven_block_hash: HexHash
    verdict: Verdict = Field(
        description="Verdict of that proof; `unproven` at a block where lists and transfers don't show the balance of "
        "the zero address (reason `zero_balance_unknown`)"
    )


def _day(text: str) -> str:
    Date.fromisoformat(text)
    return text


BlockNumber = Annotated[int, Field(ge=0, lt=10**18), DIGITS]
Day = Annotated[str, Field(pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"), AfterValidator(_day)]
"""A UTC day, YYYY-MM-DD, which represents the last block before its 24:00."""


class MomentParameters(BaseModel):
    """Selects the block of the numbers; by default that of the newest list."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    block: BlockNumber | None = Field(default=None, description="Block number, at or after the first transfer")
    date: Day | None = Field(
        default=None, description="UTC day, YYYY-MM-DD: the last block before 24:00. Not together with `block`"
    )

    @model_validator(mode="after")
    def _one_of_both(self) -> Self:
        if self.block is not None and self.date is not None:
            raise ValueError("give a block or a date, not both")
        return self


class Discrepancy(Document):
    """The difference between our holder count and another source's."""

    source: str
    theirs: int | None = Field(description="Holders according to that source; null if it did not answer")
    ours: int = Field(description="Holders according to our list")
    absolute: int | None = Field(description="theirs - ours")
    percent: float | None = Field(description="100 * (theirs - ours) / ours; null if ours is 0")
    fetched_at: Timestamp
    quality: Quality
    reason: str | None = Field(description="Why `theirs` is missing, as a stable code")


class Concentration(Document):
    """The inequality of the holders with a balance above zero."""

    top10_share: float = Field(ge=0, le=1, description="Share of the ten largest holders (fraction of all balances)")
    gini: float = Field(
        ge=0,
        le=1,
        description="Gini coefficient: sum((2 i - n - 1) x_i) / (n sum(x)) over balances x in ascending order, "
        "i = 1..n; 0 if all balances are equal, (n - 1) / n if one holder has everything",
    )
    hhi: float = Field(
        ge=0, le=1, description="Herfindahl-Hirschman index: sum of squared shares (fractions), 1/n to 1"
    )


class HeldByLargest(Document):
    """The share that the largest holders hold together."""

    holders: int = Field(ge=1, description="Number of largest holders")
    share: float = Field(ge=0, le=1, description="Their share (fraction of all balances, to six digits)")


class Backfill(Document):
    """How far the pipeline has read the chain."""

    percent: float = Field(ge=0, le=100)
    block: int | None = Field(description="Last block read; null before the first")
    finalized_block: int | None = Field(description="The block up to which it reads")


class SnapshotRef(Document):
    """A persisted snapshot, available for comparison."""

    id: str = Field(description="The block number as a decimal string")
    block: int
    time: Timestamp


class TokenHolders(TelemetryDocument):
    """Holder count and supply at one block, with proof, concentration and the counts of other sources."""

    holder_count: int | None = Field(
        description="Addresses with a balance above zero; null at a block where the zero address's is unknown"
    )
    token: Token | None
    chain_id: int | None
    total_supply_raw: RawAmount | None = Field(
        description="`totalSupply()` at the block, smallest units; computed from events if no list was taken at it, "
        "and then null if the zero address's balance is unknown"
    )
    total_supply: DecimalAmount | None = Field(description="The same in whole tokens; null without decimals")
    consistency: Consistency | None
    discrepancy: list[Discrepancy]
    concentration: Concentration | None
    largest: list[HeldByLargest] = Field(
        default=[], description="Share of the largest holder, of the 2, 10, 100 and more largest, up to all"
    )
    backfill: Backfill | None
    snapshots: list[SnapshotRef] = Field(description="Persisted snapshots, newest first")
    basis: Basis | None = Field(default=None, description="The basis of the numbers; null without any list")


class HolderKind(StrEnum):
    """The kind of account at an address."""

    CONTRACT = "contract"
    WALLET = "wallet"


class SizeCohort(StrEnum):
    """Tier by share of all balances."""

    WHALE = "whale"
    SHARK = "shark"
    DOLPHIN = "dolphin"
    FISH = "fish"
    SHRIMP = "shrimp"


class Holder(Document):
    """One holder at the list's block."""

    rank: int = Field(ge=1, description="By balance, largest first, then by address")
    address: AddressText
    balance_raw: AmountByEvents
    balance: DecimalAmount | None = Field(description="In whole tokens; null if the token has no decimals()")
    share: float = Field(ge=0, le=1, description="Fraction of all balances")
    first_seen_at: Timestamp = Field(
        description="Block time of the first transfer from or to the address, including transfers of zero"
    )
    first_held_at: Timestamp | None = Field(
        description="Block time of the first balance above zero; null in lists taken before this was recorded, "
        "and for the zero address if it is unknown"
    )
    last_active_at: Timestamp = Field(description="Block time of the last transfer")
    kind: HolderKind | None = Field(
        description="`contract` if the address has its own code, `wallet` if it has none or delegates by "
        "EIP-7702; null if it was not looked up (only the 1,000 largest are)"
    )
    cohort: SizeCohort = Field(
        description="Share of all balances: whale >= 1 %, shark >= 0.1 %, dolphin >= 0.01 %, fish >= 0.001 %, shrimp"
    )


class HoldersMapParameters(MomentParameters):
    """Selects a page of the holder map."""

    limit: Annotated[int, Field(ge=60, le=5000), DIGITS] = Field(default=100, description="Rows per page")
    cursor: str | None = Field(
        default=None, max_length=128, description="`nextCursor` of the previous page; keeps to that page's list"
    )


class HoldersTemporalParameters(BaseModel):
    """Selects the two lists to compare: each side by the id of a snapshot, by a block or by a day.

    The default is the two latest snapshots, or the first and the latest list if there are fewer. With only the earlier
    side, the other is the latest list; with only the later side, the other is the newest list before it, or else the
    end of the previous day.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)

    from_: str | None = Field(default=None, alias="from", pattern=r"^[0-9]{1,18}$", description="Snapshot id")
    to: str | None = Field(default=None, pattern=r"^[0-9]{1,18}$", description="Snapshot id")
    from_block: BlockNumber | None = Field(default=None, description="Block of the earlier side, instead of `from`")
    to_block: BlockNumber | None = Field(default=None, description="Block of the later side, instead of `to`")
    from_date: Day | None = Field(default=None, description="UTC day of the earlier side: its last block")
    to_date: Day | None = Field(default=None, description="UTC day of the later side: its last block")

    @model_validator(mode="after")
    def _one_for_each_side(self) -> Self:
        for name, given in (
            ("from", (self.from_, self.from_block, self.from_date)),
            ("to", (self.to, self.to_block, self.to_date)),
        ):
            if sum(value is not None for value in given) > 1:
                raise ValueError(f"give one of {name}, {name}_block and {name}_date")
        return self

    @property
    def names_later_side(self) -> bool:
        return (self.to, self.to_block, self.to_date) != (None, None, None)


class Links(Document):
    """Links to further pages."""

    next: str | None = Field(description="Path and query of the next page; null on the last one")


class TokenHoldersMap(TelemetryDocument):
    """One page of holders by rank. All pages of a walk come from the same list.

    If `reason` is `zero_balance_unknown`, ranks, shares and total exclude the zero address.
    """

    token: Token | None
    chain_id: int | None
    snapshot: str | None = Field(description="Id of the page's list: its block as a decimal string")
    block: int | None
    total: int | None = Field(description="Holders in the list")
    limit: int = Field(ge=60, le=5000)
    holders: list[Holder]
    next_cursor: str | None = Field(description="Pass as `cursor` for the next page; null on the last one")
    links: Links
    consistency: Consistency | None
    backfill: Backfill | None
    basis: Basis | None = Field(default=None, description="The basis of the page; null without any list")


class ComparedList(Document):
    """One side of a comparison."""

    id: str
    block: int
    time: Timestamp
    holders: int
    sum_raw: AmountByEvents = Field(description="Sum of all balances, smallest units")
    concentration: Concentration


class Churn(Document):
    """Number of holders that entered, left and stayed between the two sides."""

    entered: int = Field(ge=0, description="Hold now but did not before")
    left: int = Field(ge=0, description="Held before but don't now")
    retained: int = Field(ge=0, description="Hold on both sides")
    rate: float | None = Field(description="left / holders before; null if there were none")


class Mover(Document):
    """A holder with a large balance change."""

    address: AddressText
    before_raw: AmountByEvents
    after_raw: AmountByEvents
    change_raw: str = Field(pattern=r"^-?(0|[1-9][0-9]*)$", description="after - before, smallest units")
    rank_before: int | None
    rank_after: int | None


class Movers(Document):
    """The largest changes by absolute amount, at most 20 in each direction."""

    up: list[Mover]
    down: list[Mover]


class CohortDelta(Document):
    """Holders of one cohort on both sides."""

    cohort: str
    before: int
    after: int
    change: int = Field(description="after - before")


class Cohorts(Document):
    """Cohorts by share of supply (as in the holder map) and by time since first seen and first held, each at the block
    of its side."""

    size: list[CohortDelta]
    age: list[CohortDelta] = Field(
        description="under_1_day, under_7_days, under_30_days, under_90_days, 90_days_or_more since first seen"
    )
    held: list[CohortDelta] = Field(description="The same since the first balance above zero, if it is recorded")


class TokenHoldersTemporal(TelemetryDocument):
    """The comparison of two holder lists, by default the two latest snapshots.

    If `reason` is `zero_balance_unknown`, a side with an unknown balance of the zero address excludes that address.
    """

    token: Token | None
    chain_id: int | None
    from_: ComparedList | None = Field(alias="from")
    to: ComparedList | None
    churn: Churn | None
    movers: Movers | None
    cohorts: Cohorts | None
    snapshots: list[SnapshotRef] = Field(
        description="Possible values of `from` and `to`, newest first; lists named in answers are possible too"
    )
