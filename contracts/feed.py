"""Derives the feed's events from stored history and renders them as JSON Feed 1.1. Pure.

The rules read no clock. The same history therefore yields the same events with the same ids, however often and in
however many pieces it is read.
"""

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
"""Change of a holder's balance between two snapshots, in percent of all balances, that makes a large mover."""

MOVERS_OF_A_PAIR = 5
SHOWN = 100
"""Number of events that the feed shows."""

KEPT = 1000
"""Number of events that the table retains."""


class EventKind(StrEnum):
    """The kinds of events."""

    SNAPSHOT = "snapshot"
    LARGE_MOVER = "large_mover"
    HOLDER_MILESTONE = "holder_milestone"
    THRESHOLD = "threshold_crossed"
    ATTESTATION = "attestation"


@dataclass(frozen=True)
class Event:
    """One event. `occurred_at` is the time of its block (UTC); `path` leads to the details on this service."""

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
    """A holder list as input of the rules. `sum_raw` is the sum of all balances in smallest units."""

    block: int
    block_time: datetime
    snapshot: bool
    holders: int
    sum_raw: int
    quality: str


@dataclass(frozen=True)
class Move:
    """A change of one holder's balance between two snapshots, in smallest units."""

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
    """Returns an event for each persisted snapshot."""
    return [
        Event(
            id=f"snapshot:{holder_list.block}",
            kind=EventKind.SNAPSHOT,
            occurred_at=holder_list.block_time,
            block=holder_list.block,
            title=f"Holder snapshot at block {holder_list.block}",
            text=f"{holder_list.holders} holders at block {holder_list.block}; the list is {holder_list.quality}.",
            path="/api/token/holders",
            facts={"holders": holder_list.holders, "quality": holder_list.quality},
        )
        for holder_list in lists
        if holder_list.snapshot
    ]


def milestone_events(lists: Iterable[ListSeen]) -> list[Event]:
    """Returns an event for each milestone that the number of holders reaches for the first time in the stored history.

    Milestones are 1, 2.5 and 5 times a power of ten, from 100.
    """
    events: list[Event] = []
    most: int | None = None
    for holder_list in sorted(lists, key=lambda seen: seen.block):
        if most is not None:
            events += [_milestone(holder_list, reached) for reached in milestones(most, holder_list.holders)]
        most = holder_list.holders if most is None else max(most, holder_list.holders)
    return events


def milestones(above: int, upto: int) -> list[int]:
    """Returns the milestones in (above, upto], ascending."""
    reached, power = [], 100
    while power <= upto:
        reached += [count for count in (power, power * 5 // 2, power * 5) if above < count <= upto]
        power *= 10
    return reached


def mover_events(before: ListSeen, after: ListSeen, moves: Iterable[Move], decimals: int | None) -> list[Event]:
    """Returns the five largest balance changes of 1 % or more of all balances between two snapshots."""
    large = [
        move for move in moves if abs(move.after_raw - move.before_raw) * 100 >= after.sum_raw * LARGE_MOVE_PERCENT > 0
    ]
    large.sort(key=lambda move: (-abs(move.after_raw - move.before_raw), move.address))
    return [_mover(before, after, move, decimals) for move in large[:MOVERS_OF_A_PAIR]]


def threshold_events(balances: Iterable[BalanceSeen], trigger_wei: int | None) -> list[Event]:
    """Returns an event for each pair of readings between which the balance crossed the trigger, in either direction."""
    if trigger_wei is None:
        return []
    ordered = sorted(balances, key=lambda seen: seen.block)
    return [
        _crossing(after, trigger_wei)
        for before, after in pairwise(ordered)
        if (before.balance_wei >= trigger_wei) != (after.balance_wei >= trigger_wei)
    ]


def attestation_events(attestations: Iterable[AttestationSeen]) -> list[Event]:
    """Returns an event for each score that an attester gave an agent."""
    return [
        Event(
            id=f"attestation:{attestation.tx_hash}:{attestation.log_index}",
            kind=EventKind.ATTESTATION,
            occurred_at=attestation.block_time,
            block=attestation.block,
            title=f"Attestation of {attestation.score} for {attestation.agent}",
            text=f"{attestation.attester} attested a score of {attestation.score} of 100 to {attestation.agent} "
            f"at block {attestation.block}.",
            path=f"/api/v2/trust/score/{attestation.agent}",
            facts={
                "agent": attestation.agent,
                "attester": attestation.attester,
                "score": attestation.score,
                "txHash": attestation.tx_hash,
            },
        )
        for attestation in attestations
    ]


def to_keep(known: Sequence[tuple[datetime, str]], events: Iterable[Event]) -> list[Event]:
    """Returns the new events for which the table has room.

    An event is new if its id is not in `known`, a sequence of (time, id). The table retains the newest `KEPT` events.
    """
    ids = {event_id for _, event_id in known}
    new = {event.id: event for event in events if event.id not in ids}
    newest = sorted([*known, *((event.occurred_at, event.id) for event in new.values())], reverse=True)[:KEPT]
    return [new[event_id] for _, event_id in newest if event_id in new]


class FeedAuthor(BaseModel):
    """The author of the feed."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    url: str


class FeedFacts(BaseModel):
    """The facts of an event, for machines."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: EventKind
    block: int
    facts: dict[str, Any]


class FeedItem(BaseModel):
    """One event."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)

    id: str = Field(description="Stable: the same event always has the same id")
    url: str = Field(description="Page of this service with the details")
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
    """Returns an event as an item of the feed."""
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
