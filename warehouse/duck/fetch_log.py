"""Stores every request to another service with its time, latency and outcome. Derives from them whether a source may be
queried again, and its health."""

from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta

import duckdb

from contracts.base import Quality
from warehouse.duck.rows import aware_utc, insert, naive_utc
from warehouse.statements import read_sql

KEPT_FOR = timedelta(days=7)


@dataclass(frozen=True)
class Attempt:
    """One request to a source. `reason` is why the answer was unusable, None if it was usable; times are UTC.

    `source` is the short name that a source has everywhere: `dexscreener`, `chainlink`, `blockscout`.
    """

    source: str
    asked_at: datetime
    latency_ms: int
    reason: str | None
    quality: Quality | None
    ask_again_at: datetime | None = None


@dataclass(frozen=True)
class SourceHealth:
    """A source's recent answers. `quality` and `latency_ms` are those of the newest attempt."""

    source: str
    asked_at: datetime
    latency_ms: int
    reason: str | None
    quality: Quality | None
    ask_again_at: datetime | None
    succeeded_at: datetime | None
    attempts: int
    failures: int


def record_attempt(connection: duckdb.DuckDBPyConnection, attempt: Attempt) -> None:
    """Stores one attempt and deletes its source's attempts older than a week; those of other sources may be written at
    the same time."""
    oldest = naive_utc(attempt.asked_at) - KEPT_FOR
    connection.execute("delete from raw_feeds__attempts where source = ? and asked_at < ?", [attempt.source, oldest])
    insert(connection, "raw_feeds__attempts", asdict(attempt) | {"ok": attempt.reason is None})


def may_ask(
    connection: duckdb.DuckDBPyConnection, source: str, now: datetime, *, every: timedelta = timedelta(minutes=1)
) -> bool:
    """Decides whether `source` may be queried now.

    Forbids a second request within one minute (or whatever `every` is), and any request while the source demands a
    pause. Periods are those of the clock, not measured from the last request, so a tick that comes a little less than a
    period after the last one may still query.
    """
    try:
        rows = connection.execute(read_sql("last_attempt"), {"source": source}).fetchall()
    except duckdb.CatalogException:
        return True  # a warehouse of an earlier version, which the next run brings up to date
    ((asked_at, ask_again_at),) = rows
    if asked_at is None:
        return True
    rests = ask_again_at is not None and now < aware_utc(ask_again_at)
    return not rests and _period(now, every) > _period(aware_utc(asked_at), every)


def source_health(connection: duckdb.DuckDBPyConnection) -> list[SourceHealth]:
    """Returns one entry per source that was queried in the last week, by name."""
    try:
        rows = connection.execute(read_sql("source_health")).fetchall()
    except duckdb.CatalogException:
        return []  # as in `may_ask`
    return [
        SourceHealth(
            source,
            aware_utc(asked_at),
            latency_ms,
            reason,
            None if quality is None else Quality(quality),
            aware_utc(ask_again_at),
            aware_utc(succeeded_at),
            attempts,
            failures,
        )
        for source, asked_at, latency_ms, reason, quality, ask_again_at, succeeded_at, attempts, failures in rows
    ]


def _period(moment: datetime, every: timedelta) -> int:
    return (moment - datetime(2000, 1, 1, tzinfo=UTC)) // every
