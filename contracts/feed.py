"""The event feed: which events there are, the rules that find them, and the JSON Feed 1.1 that tells them. Pure.

An event is found from what is kept, never from when it is looked: the same history gives the same events with the same
ids, however often and in whatever pieces it is read.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from itertools import pairwise
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from contracts.base import Timestamp
from contracts.token.holders import decimal_text

VERSION: Literal["https://jsonfeed.org/version/1.1"] = "https://jsonfeed.org/version/1.1"

LARGE_MOVE_PERCENT = 1
"""A holder whose balance changes by this part of all balances between two snapshots is a large mover."""

MOVERS_OF_A_PAIR = 5
SHOWN = 100
"""Events in the feed."""

KEPT = 1000
"""Events in the table."""


class EventKind(StrEnum):
    """What happened."""

    SNAPSHOT = "snapshot"
    LARGE_MOVER = "large_mover"
    HOLDER_MILESTONE = "holder_milestone"
    THRESHOLD = "threshold_crossed"
    ATTESTATION = "attestation"


@dataclass(frozen=True)
class Event:
    """One event. `occurred_at` is the time of its block (UTC); `path` is where this service says more."""

    id: str
    kind: EventKind
    occurred_at: datetime
    block: int
    title: str
    text: str
    path: str
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class ListSeen:
    """A holder list as the rules see it. `sum_raw` is all balances in smallest units."""

    block: int
    block_time: datetime
    snapshot: bool
    holders: int
    sum_raw: int
    quality: str


@dataclass(frozen=True)
class Move:
    """A change of one holder's balance between two snapshots, smallest units."""

    address: str
    before_raw: int
    after_raw: int


@dataclass(frozen=True)
class BalanceSeen:
    """The native balance of the watched contract at a block, in wei."""

    block: int
    block_time: datetime
    balance_wei: int


@dataclass(frozen=True)
class AttestationSeen:
    """One attestation of the trust registry."""

    block: int
    block_time: datetime
    log_index: int
    tx_hash: str
    agent: str
    attester: str
    score: int


def snapshot_events(lists: Iterable[ListSeen]) -> list[Event]:
    """A persisted snapshot was taken."""
    return [
        Event(
            id=f"snapshot:{each.block}",
            kind=EventKind.SNAPSHOT,
            occurred_at=each.block_time,
            block=each.block,
            title=f"Holder snapshot at block {each.block}",
            text=f"{each.holders} holders at block {each.block}; the list is {each.quality}.",
            path="/api/token/holders",
            facts={"holders": each.holders, "quality": each.quality},
        )
        for each in lists
        if each.snapshot
    ]


def milestone_events(lists: Iterable[ListSeen]) -> list[Event]:
    """The number of holders reached 1, 2.5 or 5 times a power of ten (100 and more) for the first time that is kept."""
    events: list[Event] = []
    most: int | None = None
    for each in sorted(lists, key=lambda seen: seen.block):
        if most is not None:
            events += [_milestone(each, reached) for reached in milestones(most, each.holders)]
        most = each.holders if most is None else max(most, each.holders)
    return events


def milestones(above: int, upto: int) -> list[int]:
    """The milestones in (above, upto], ascending."""
    found, power = [], 100
    while power <= upto:
        found += [count for count in (power, power * 5 // 2, power * 5) if above < count <= upto]
        power *= 10
    return found


def mover_events(before: ListSeen, after: ListSeen, moves: Iterable[Move], decimals: int | None) -> list[Event]:
    """Holders whose balance changed by 1 % or more of all balances between two snapshots, the largest five."""
    large = [
        move for move in moves if abs(move.after_raw - move.before_raw) * 100 >= after.sum_raw * LARGE_MOVE_PERCENT > 0
    ]
    large.sort(key=lambda move: (-abs(move.after_raw - move.before_raw), move.address))
    return [_mover(before, after, move, decimals) for move in large[:MOVERS_OF_A_PAIR]]


def threshold_events(balances: Iterable[BalanceSeen], trigger_wei: int | None) -> list[Event]:
    """The watched contract's balance went from below the trigger to it or above, or back, between two readings."""
    if trigger_wei is None:
        return []
    ordered = sorted(balances, key=lambda seen: seen.block)
    return [
        _crossing(after, trigger_wei)
        for before, after in pairwise(ordered)
        if (before.balance_wei >= trigger_wei) != (after.balance_wei >= trigger_wei)
    ]


def attestation_events(attestations: Iterable[AttestationSeen]) -> list[Event]:
    """An attester scored an agent."""
    return [
        Event(
            id=f"attestation:{each.tx_hash}:{each.log_index}",
            kind=EventKind.ATTESTATION,
            occurred_at=each.block_time,
            block=each.block,
            title=f"Attestation of {each.score} for {each.agent}",
            text=f"{each.attester} attested a score of {each.score} of 100 to {each.agent} at block {each.block}.",
            path=f"/api/v2/trust/score/{each.agent}",
            facts={"agent": each.agent, "attester": each.attester, "score": each.score, "txHash": each.tx_hash},
        )
        for each in attestations
    ]


def to_keep(known: Sequence[tuple[datetime, str]], found: Iterable[Event]) -> list[Event]:
    """Which found events are new: not among `known` (time, id), and not so old that the table has no room for them."""
    ids = {event_id for _, event_id in known}
    new = {event.id: event for event in found if event.id not in ids}
    newest = sorted([*known, *((event.occurred_at, event.id) for event in new.values())], reverse=True)[:KEPT]
    return [new[event_id] for _, event_id in newest if event_id in new]


class FeedAuthor(BaseModel):
    """Who writes the feed."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    url: str


class FeedFacts(BaseModel):
    """What the event is about, for machines."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: EventKind
    block: int
    facts: dict[str, Any]


class FeedItem(BaseModel):
    """One event."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)

    id: str = Field(description="Stable: the same event always has the same id")
    url: str = Field(description="Where this service says more")
    title: str
    content_text: str
    date_published: Timestamp = Field(description="Time of the event's block (UTC)")
    tags: list[str]
    svc: FeedFacts = Field(alias="_svc", description="The event's kind, block and facts")


class JsonFeed(BaseModel):
    """A JSON Feed 1.1, newest event first."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    version: Literal["https://jsonfeed.org/version/1.1"]
    title: str
    home_page_url: str
    feed_url: str
    description: str
    language: str
    authors: list[FeedAuthor]
    items: list[FeedItem]


def item_of(event: Event, base_url: str) -> FeedItem:
    """An event as the feed tells it."""
    return FeedItem(
        id=event.id,
        url=base_url + event.path,
        title=event.title,
        content_text=event.text,
        date_published=event.occurred_at,
        tags=[event.kind],
        svc=FeedFacts(kind=event.kind, block=event.block, facts=dict(event.facts)),
    )


def _milestone(seen: ListSeen, reached: int) -> Event:
    return Event(
        id=f"holders:{reached}",
        kind=EventKind.HOLDER_MILESTONE,
        occurred_at=seen.block_time,
        block=seen.block,
        title=f"{reached} holders",
        text=f"The token has {reached} holders or more for the first time: {seen.holders} at block {seen.block}.",
        path="/api/token/holders",
        facts={"milestone": reached, "holders": seen.holders},
    )


def _mover(before: ListSeen, after: ListSeen, move: Move, decimals: int | None) -> Event:
    change_raw = move.after_raw - move.before_raw
    percent = round(100 * abs(change_raw) / after.sum_raw, 2)
    amount = f"{abs(change_raw)} smallest units" if decimals is None else f"{decimal_text(abs(change_raw), decimals)}"
    way = "gained" if change_raw > 0 else "gave away"
    return Event(
        id=f"mover:{before.block}-{after.block}:{move.address}",
        kind=EventKind.LARGE_MOVER,
        occurred_at=after.block_time,
        block=after.block,
        title=f"{move.address} {way} {percent} % of all balances",
        text=f"{move.address} {way} {amount} ({percent} % of all balances) between blocks {before.block} and "
        f"{after.block}.",
        path=f"/api/token/holders-map-temporal?from={before.block}&to={after.block}",
        facts={
            "address": move.address,
            "beforeRaw": str(move.before_raw),
            "afterRaw": str(move.after_raw),
            "changeRaw": str(change_raw),
            "fromBlock": before.block,
            "toBlock": after.block,
        },
    )


def _crossing(seen: BalanceSeen, trigger_wei: int) -> Event:
    reached = seen.balance_wei >= trigger_wei
    return Event(
        id=f"threshold:{seen.block}:{'reached' if reached else 'left'}",
        kind=EventKind.THRESHOLD,
        occurred_at=seen.block_time,
        block=seen.block,
        title=f"The contract's balance {'reached' if reached else 'fell below'} its trigger",
        text=f"{seen.balance_wei} wei at block {seen.block}; the trigger is {trigger_wei} wei.",
        path="/api/bidwall/snapshot",
        facts={"balanceWei": str(seen.balance_wei), "triggerWei": str(trigger_wei), "reached": reached},
    )
