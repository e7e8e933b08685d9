"""Stores every request to another service: when, how long it took, whether it helped; and derives what follows."""

from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta

import duckdb

from contracts.base import Quality
from warehouse.duck.rows import aware_utc, insert, naive_utc
from warehouse.statements import read_sql

KEPT_FOR = timedelta(days=7)


@dataclass(frozen=True)
class Attempt:
    """One request to a source. `reason` is why it was unusable, None where it was usable; times are UTC.

    `source` is one short name for each source everywhere: `dexscreener`, `chainlink`, `blockscout`.
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
    """Stores one attempt, and deletes those of its source older than a week: others may be written at the same time."""
    oldest = naive_utc(attempt.asked_at) - KEPT_FOR
    connection.execute("delete from raw_feeds__attempts where source = ? and asked_at < ?", [attempt.source, oldest])
    insert(connection, "raw_feeds__attempts", asdict(attempt) | {"ok": attempt.reason is None})


def may_ask(
    connection: duckdb.DuckDBPyConnection, source: str, now: datetime, *, every: timedelta = timedelta(minutes=1)
) -> bool:
    """Returns whether `source` may be asked now.

    Forbids a second request in one minute (or hour, as `every` is), and any while the source demands a pause.

    Minutes are those of the clock: a tick that comes a moment early still falls into the next one.
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
    """Returns one entry per source that was asked in the last week, by name."""
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
