"""Stores the answers of the partner and the marketplace: their history, and the served row of each."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

import duckdb

from contracts.base import Quality
from contracts.canonical import sha256_hex
from contracts.partner import MARKETPLACE, PARTNER, RevenueAnswer
from warehouse.duck.connection import transaction
from warehouse.duck.fetch_log import Attempt, record_attempt
from warehouse.duck.rows import insert, naive_utc, replace_all
from warehouse.statements import read_sql

KEPT_FOR = timedelta(days=90)
_FIGURES = (
    "revenue_usd",
    "gross_usd",
    "volume_usd",
    "successful_jobs",
    "unique_buyers",
    "success_rate_percent",
    "last_active_at",
)


def record_partner(
    connection: duckdb.DuckDBPyConnection,
    source: str,
    attempt: Attempt,
    snapshot: str | None,
    observed_at: datetime | None,
) -> None:
    """Stores an answer of the partner at host `source`: `snapshot` is its JSON text, None if it was unusable."""
    asked_at = naive_utc(attempt.asked_at)
    with transaction(connection):
        record_attempt(connection, attempt)
        connection.execute("delete from raw_partner__snapshots where last_fetched_at < ?", [asked_at - KEPT_FOR])
        if snapshot is None:
            return
        digest = sha256_hex(snapshot.encode())
        last = _first(connection, "latest_snapshot", {"source": source})
        if last is not None and last["sha256"] == digest:
            connection.execute(
                "update raw_partner__snapshots set last_fetched_at = ?, observed_at = ? "
                "where source = ? and sha256 = ? and last_fetched_at = ?",
                [asked_at, naive_utc(observed_at), source, digest, last["last_fetched_at"]],
            )
        else:
            insert(
                connection,
                "raw_partner__snapshots",
                {
                    "source": source,
                    "sha256": digest,
                    "first_fetched_at": asked_at,
                    "last_fetched_at": asked_at,
                    "observed_at": observed_at,
                    "snapshot": snapshot,
                },
            )


def serve_partner(connection: duckdb.DuckDBPyConnection, source: str | None) -> str | None:
    """Replaces the served row. Returns why the newest request failed, or None. `source` is None if no partner is
    configured."""
    row, attempt = None, _first(connection, "newest_attempt", {"source": PARTNER}) or {}
    if source is not None:
        latest = _first(connection, "latest_snapshot", {"source": source}) or {}
        row = {
            **_freshness(source, latest.get("last_fetched_at"), attempt, None),
            "observed_at": latest.get("observed_at"),
            "snapshot": latest.get("snapshot"),
            "snapshot_sha256": latest.get("sha256"),
            "unchanged_since": latest.get("first_fetched_at"),
        }
    _serve(connection, "out_partner__snapshot", row)
    return attempt.get("reason")


def record_figures(
    connection: duckdb.DuckDBPyConnection, source: str, agent_id: str, attempt: Attempt, answer: RevenueAnswer | None
) -> None:
    """Stores an answer of the marketplace at host `source`; `answer` is None if it was unusable."""
    asked_at = naive_utc(attempt.asked_at)
    with transaction(connection):
        record_attempt(connection, attempt)
        connection.execute("delete from raw_marketplace__figures where fetched_at < ?", [asked_at - KEPT_FOR])
        if answer is not None:
            figures = {name: getattr(answer, name) for name in (*_FIGURES, "reason")}
            request = {"source": source, "agent_id": agent_id, "fetched_at": asked_at}
            insert(connection, "raw_marketplace__figures", request | figures)


def serve_figures(connection: duckdb.DuckDBPyConnection, source: str | None, agent_id: str | None) -> str | None:
    """Replaces the served row, as `serve_partner` does."""
    row, attempt = None, _first(connection, "newest_attempt", {"source": MARKETPLACE}) or {}
    if source is not None and agent_id is not None:
        named = {"source": source, "agent_id": agent_id}
        latest = _first(connection, "latest_figures", named) or {}
        row = {
            **_freshness(source, latest.get("fetched_at"), attempt, latest.get("reason")),
            "agent_id": agent_id,
            **{name: latest.get(name) for name in _FIGURES},
            **(_first(connection, "figures_by_day", named) or {}),
        }
    _serve(connection, "out_marketplace__revenue", row)
    return attempt.get("reason")


def _freshness(
    source: str, fetched_at: datetime | None, attempt: Mapping[str, Any], oddity: str | None
) -> dict[str, Any]:
    """Computes freshness fields: `attempt` is the newest one; `oddity` is the reason stored with an unusual answer."""
    failure = attempt.get("reason")
    if fetched_at is None:
        why = failure or "not_asked_yet"
        return {"source": source, "quality": Quality.UNAVAILABLE, "reason": why, "stale": False}
    return {
        "source": source,
        "quality": Quality.ESTIMATED,
        "reason": failure or oddity,
        "stale": failure is not None,
        "fetched_at": fetched_at,
        "age_s": round((attempt["asked_at"] - fetched_at).total_seconds()),
    }


def _serve(connection: duckdb.DuckDBPyConnection, table: str, row: Mapping[str, Any] | None) -> None:
    with transaction(connection):
        replace_all(connection, table, () if row is None else row)


def _first(
    connection: duckdb.DuckDBPyConnection, question: str, parameters: Mapping[str, str]
) -> dict[str, Any] | None:
    cursor = connection.execute(read_sql(question), dict(parameters))
    names = [column[0] for column in cursor.description or ()]
    row = next(iter(cursor.fetchall()), None)
    return None if row is None else dict(zip(names, row, strict=True))
