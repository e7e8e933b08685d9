"""Derives the feed's events from stored rows by the rules of `contracts.feed`, stores them once, and reads the feed."""

import json
from collections.abc import Sequence
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import duckdb

from contracts.discovery.service import SERVICE_NAME
from contracts.feed import (
    KEPT,
    SHOWN,
    VERSION,
    AttestationSeen,
    BalanceSeen,
    Event,
    EventKind,
    FeedAuthor,
    JsonFeed,
    ListSeen,
    Move,
    attestation_events,
    item_of,
    milestone_events,
    mover_events,
    snapshot_events,
    threshold_events,
    to_keep,
)
from contracts.token.holders import list_file_name
from warehouse.document_context import DocumentContext
from warehouse.duck.connection import transaction
from warehouse.duck.rows import aware_utc, insert
from warehouse.statements import read_sql
from warehouse.token.holder_status import known_token
from warehouse.token.holders import compare

FEED_PATH = "/hodlers-care/feed.json"


def record_events(
    connection: duckdb.DuckDBPyConnection,
    lists_dir: Path,
    *,
    contract: str | None,
    trigger_wei: int | None,
    now: datetime,
) -> list[Event]:
    """Derives the events; stores and returns those that are not stored yet. `contract` is the watched one, if any."""
    known = _rows(connection, "known_feed_events")
    lists = [
        ListSeen(block, aware_utc(time), snapshot, holders, int(sum_raw), quality)
        for block, time, snapshot, holders, sum_raw, quality in _rows(connection, "listed_holders")
    ]
    events = [
        *snapshot_events(lists),
        *milestone_events(lists),
        *_movers(connection, lists_dir, lists, {event_id for _, event_id in known}),
        *threshold_events(_balances(connection, contract), trigger_wei),
        *attestation_events(_attestations(connection)),
    ]
    new = to_keep([(aware_utc(time), event_id) for time, event_id in known], events)
    with transaction(connection):
        insert(connection, "core_feed__events", (_row(event, now) for event in new))
        connection.execute(read_sql("forget_feed_events"), {"kept": KEPT}).fetchall()
    return new


def read_feed(context: DocumentContext) -> JsonFeed:
    """Reads the feed, newest event first."""
    rows = context.connection.execute(read_sql("feed_events"), {"shown": SHOWN}).fetchall()
    events = [
        Event(event_id, EventKind(kind), aware_utc(time), block, title, text, path, json.loads(facts))
        for event_id, kind, time, block, title, text, path, facts in rows
    ]
    home = context.base_url + "/"
    return JsonFeed(
        version=VERSION,
        title="Token and runtime events",
        home_page_url=home,
        feed_url=context.base_url + FEED_PATH,
        description="Holder snapshots, large movers, holder milestones, crossed thresholds and attestations, each "
        "from data that this service proves or names the source of.",
        language="en",
        authors=[FeedAuthor(name=SERVICE_NAME, url=home)],
        items=[item_of(event, context.base_url) for event in events],
    )


def _movers(
    connection: duckdb.DuckDBPyConnection, lists_dir: Path, lists: Sequence[ListSeen], known: set[str]
) -> list[Event]:
    """Returns the large movers between neighbouring snapshots.

    Skips a pair whose later snapshot is in the feed already: it was compared when that event was recorded.
    """
    token = known_token(connection)
    decimals = None if token is None else token.decimals
    events: list[Event] = []
    for before, after in pairwise([seen for seen in lists if seen.snapshot]):
        if f"{EventKind.SNAPSHOT}:{after.block}" in known:
            continue
        compared = compare(
            connection,
            lists_dir / list_file_name(before.block),
            lists_dir / list_file_name(after.block),
            before_time=before.block_time,
            after_time=after.block_time,
        )
        moves = [
            Move(mover["address"], int(mover["beforeRaw"]), int(mover["afterRaw"]))
            for way in ("up", "down")
            for mover in compared["movers"][way]
        ]
        events += mover_events(before, after, moves, decimals)
    return events


def _balances(connection: duckdb.DuckDBPyConnection, contract: str | None) -> list[BalanceSeen]:
    if contract is None:
        return []
    rows = _rows(connection, "feed_balances", {"contract": contract})
    return [BalanceSeen(block, aware_utc(time), int(balance_wei)) for block, time, balance_wei in rows]


def _attestations(connection: duckdb.DuckDBPyConnection) -> list[AttestationSeen]:
    return [
        AttestationSeen(block, aware_utc(time), *rest) for block, time, *rest in _rows(connection, "feed_attestations")
    ]


def _row(event: Event, now: datetime) -> dict[str, Any]:
    return {
        "id": event.id,
        "kind": event.kind,
        "occurred_at": event.occurred_at,
        "block": event.block,
        "title": event.title,
        "text": event.text,
        "path": event.path,
        "facts": json.dumps(event.facts),
        "recorded_at": now,
    }


def _rows(connection: duckdb.DuckDBPyConnection, question: str, parameters: dict[str, Any] | None = None) -> list[Any]:
    rows: list[Any] = connection.execute(read_sql(question), parameters or {}).fetchall()
    return rows
