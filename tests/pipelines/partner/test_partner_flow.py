"""From the partner and the marketplace to their documents: what is stored and served, whatever they do."""

import asyncio
import json
import logging
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from feed_server import CHALLENGE, DEAD, HUGE, LIMITED, SLOW, FeedServer, Reply
from publishing import House
from pydantic import SecretStr
from recorded_material import RecordedMaterial
from rounds import chosen

from contracts.base import Quality
from contracts.discovery.installation import Installation
from contracts.partner import RevenueAnswer, host_of
from contracts.publish.registry import PROJECTIONS
from contracts.publish.rendering import Origin, render
from pipelines.clients.http_json import Feeds
from pipelines.partner.snapshot import as_text
from pipelines.partner.source import ask_marketplace, ask_partner
from warehouse.document_context import DocumentContext
from warehouse.duck.fetch_log import Attempt, source_health
from warehouse.partner.snapshots import record_figures, record_partner, serve_figures, serve_partner
from warehouse.publish.readers import read

PARTNER_PATH = "/api/integrations/partner/base-snapshot"
REVENUE_PATH = "/api/revenue/marketplace"
KEY = "pk-live-5c21d8e0f4"
GOOD = {"tvlUsd": 1234.5, "holders": 70, "asOf": "2026-11-20T11:58:00Z", "note": "from the partner"}
FIGURES = {"id": 84, "revenue": 572787.33, "grossAgenticAmount": 218099220.98, "successfulJobCount": 1139030}


@pytest.fixture
def server() -> Iterator[FeedServer]:
    with FeedServer() as running:
        yield running


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    made = House(tmp_path)
    with made.warehouse.kept_open():
        yield made


def timeout_s(fault: Reply) -> float:
    """Returns a short time-out if the test waits for it to end, otherwise more than a busy machine takes."""
    return 0.4 if fault is SLOW else 30.0


def ask_and_serve_partner(house: House, url: str, *, timeout_s: float = 30.0, key: str | None = KEY) -> str | None:
    async def ask() -> Any:
        async with Feeds(timeout_s=timeout_s) as feeds:
            return await ask_partner(feeds, f"{url}/snapshot", key and SecretStr(key), chain_id=8453)

    answer, attempt = asyncio.run(ask())
    with house.warehouse.connect() as connection:
        text = None if answer is None else as_text(answer.snapshot)
        record_partner(connection, host_of(url), attempt, text, answer and answer.observed_at)
        return serve_partner(connection, host_of(url))


def ask_and_serve_marketplace(house: House, url: str, *, timeout_s: float = 30.0) -> str | None:
    async def ask() -> Any:
        async with Feeds(timeout_s=timeout_s) as feeds:
            return await ask_marketplace(feeds, url, "84")

    answer, attempt = asyncio.run(ask())
    with house.warehouse.connect() as connection:
        record_figures(connection, host_of(url), "84", attempt, answer)
        return serve_figures(connection, host_of(url), "84")


def served(house: House, path: str) -> dict[str, Any]:
    """Returns the document as it would be published now."""
    row = next(row for row in PROJECTIONS if row.path == path)
    with house.warehouse.connect() as connection:
        content = read(
            row, DocumentContext(connection, house.data_dir / "holders", Installation("https://svc.example"))
        )
    body = render(row, content, Origin("g", house.now))
    assert row.model is not None
    row.model.model_validate_json(body)
    document: dict[str, Any] = json.loads(body)
    return document


@pytest.mark.parametrize("path", [PARTNER_PATH, REVENUE_PATH])
def test_without_settings_the_documents_say_so(house: House, path: str) -> None:
    document = served(house, path)
    assert (document["quality"], document["reason"], document["source"]) == ("unavailable", "not_configured", None)


def test_the_snapshot_is_served_as_it_came_with_where_it_is_from(house: House, server: FeedServer) -> None:
    server.replies["/snapshot"] = Reply(GOOD)
    assert ask_and_serve_partner(house, server.url) is None
    document = served(house, PARTNER_PATH)
    assert document["snapshot"] == GOOD
    assert (document["quality"], document["stale"], document["ageS"]) == ("estimated", False, 0)
    assert document["observedAt"] == "2026-11-20T11:58:00Z"
    assert document["source"] == server.url.removeprefix("http://")
    assert document["unchangedSince"] == document["fetchedAt"]


def test_equal_snapshots_are_one_row_and_another_is_the_next(house: House, server: FeedServer) -> None:
    server.replies["/snapshot"] = Reply(GOOD)
    ask_and_serve_partner(house, server.url)
    server.replies["/snapshot"] = Reply(dict(reversed(GOOD.items())))
    ask_and_serve_partner(house, server.url)
    server.replies["/snapshot"] = Reply(GOOD | {"tvlUsd": 2})
    ask_and_serve_partner(house, server.url)
    with house.warehouse.connect() as connection:
        rows = connection.execute(
            "select snapshot ->> 'tvlUsd' from raw_partner__snapshots order by first_fetched_at"
        ).fetchall()
    assert rows == [("1234.5",), ("2",)]
    assert served(house, PARTNER_PATH)["snapshot"]["tvlUsd"] == 2


FAULTS = [
    (DEAD, "unreachable"),
    (SLOW, "timeout"),
    (LIMITED, "rate_limited"),
    (CHALLENGE, "html_page"),
    (HUGE, "too_large"),
    (Reply({"ok": False, "error": {"code": "KEY_EXPIRED"}}), "error_answer"),
    (Reply({}, status=401), "http_401"),
    (Reply(None), "error_answer"),
    (Reply(b'{"tvlUsd": 1'), "unreadable"),
]


@pytest.mark.parametrize(
    ("fault", "reason"), [*FAULTS, (Reply({}), "empty_answer"), (Reply({"a": 1e30}), "absurd_value")]
)
def test_after_any_fault_the_last_snapshot_is_served_stale_with_the_reason(
    house: House, server: FeedServer, fault: Reply, reason: str
) -> None:
    server.replies["/snapshot"] = fault
    assert ask_and_serve_partner(house, server.url, timeout_s=timeout_s(fault)) == reason
    first = served(house, PARTNER_PATH)
    assert (first["quality"], first["reason"], first["snapshot"], first["fetchedAt"]) == (
        "unavailable",
        reason,
        None,
        None,
    )
    server.replies["/snapshot"] = Reply(GOOD)
    ask_and_serve_partner(house, server.url)
    server.replies["/snapshot"] = fault
    ask_and_serve_partner(house, server.url, timeout_s=timeout_s(fault))
    document = served(house, PARTNER_PATH)
    assert (document["snapshot"], document["stale"], document["reason"]) == (GOOD, True, reason)
    assert document["ageS"] is not None


@pytest.mark.parametrize(
    ("fault", "reason"),
    [*chosen(FAULTS, others=3), (Reply({"id": 84}), "missing_keys"), (Reply(FIGURES | {"revenue": -1}), "absurd_value"),
     (Reply(FIGURES | {"id": 85}), "other_agent")],
)  # fmt: skip
def test_after_any_fault_the_last_figures_are_served_stale_with_the_reason(
    house: House, server: FeedServer, fault: Reply, reason: str
) -> None:
    server.replies["/api/metrics/agent/84"] = fault
    assert ask_and_serve_marketplace(house, server.url, timeout_s=timeout_s(fault)) == reason
    first = served(house, REVENUE_PATH)
    assert (first["quality"], first["reason"], first["revenueUsd"], first["history"]) == (
        "unavailable",
        reason,
        None,
        [],
    )
    server.replies["/api/metrics/agent/84"] = Reply(FIGURES)
    ask_and_serve_marketplace(house, server.url)
    server.replies["/api/metrics/agent/84"] = fault
    ask_and_serve_marketplace(house, server.url, timeout_s=timeout_s(fault))
    document = served(house, REVENUE_PATH)
    assert (document["revenueUsd"], document["stale"], document["reason"]) == ("572787.33", True, reason)


def test_revenue_and_gross_are_told_apart_with_their_history(house: House, server: FeedServer) -> None:
    server.replies["/api/metrics/agent/84"] = Reply(FIGURES)
    assert ask_and_serve_marketplace(house, server.url) is None
    document = served(house, REVENUE_PATH)
    assert (document["revenueUsd"], document["grossUsd"]) == ("572787.33", "218099220.98")
    assert (document["agentId"], document["successfulJobs"], document["uniqueBuyers"]) == ("84", 1139030, None)
    assert (document["quality"], document["reason"]) == ("estimated", None)
    assert [point["revenueUsd"] for point in document["history"]] == ["572787.33"]


def test_the_recorded_item_is_understood(house: House, server: FeedServer, recorded_material: RecordedMaterial) -> None:
    recorded = recorded_material.json("upstream/virtuals_acp_metrics.json")
    item = next(value for name, value in recorded.items() if name.endswith("(item)"))
    server.replies["/api/metrics/agent/84"] = Reply(item)
    ask_and_serve_marketplace(house, server.url)
    document = served(house, REVENUE_PATH)
    assert (document["revenueUsd"], document["grossUsd"]) == ("572787.33", "218099220.98")
    assert (document["successRatePercent"], document["lastActiveAt"]) == (99.23, "2026-04-08T09:22:25Z")


def test_history_has_the_last_reading_of_each_day_and_what_is_old_is_forgotten(house: House) -> None:
    now = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
    with house.warehouse.connect() as connection:
        for days, hours in ((100, 0), (40, 0), (2, 5), (2, 1), (0, 0)):
            at = now - timedelta(days=days, hours=hours)
            figures = RevenueAnswer(days * 100 + hours, None, None, None, None, None, None, "incomplete")
            record_figures(
                connection, "m.example", "84", Attempt("marketplace", at, 5, None, Quality.ESTIMATED), figures
            )
        serve_figures(connection, "m.example", "84")
        (kept,) = connection.execute("select count(*) from raw_marketplace__figures").fetchone()
    assert kept == 4
    document = served(house, REVENUE_PATH)
    assert [point["revenueUsd"] for point in document["history"]] == ["0", "201", "4000"]
    assert (document["reason"], document["stale"]) == ("incomplete", False)


def test_another_source_starts_without_the_history_of_the_first(house: House, server: FeedServer) -> None:
    server.replies["/snapshot"] = Reply(GOOD)
    ask_and_serve_partner(house, server.url)
    with house.warehouse.connect() as connection:
        serve_partner(connection, "other.example")
    document = served(house, PARTNER_PATH)
    assert (document["snapshot"], document["source"]) == (None, "other.example")
    with house.warehouse.connect() as connection:
        serve_partner(connection, None)
    assert served(house, PARTNER_PATH)["reason"] == "not_configured"


ECHOES = [
    Reply({"headers": {"authorization": f"Bearer {KEY}"}, "tvlUsd": 1}),
    Reply({"error": f"invalid key {KEY}"}, status=403),
    Reply(f"<html>{KEY}</html>".encode()),
    Reply(f'{{"key": "{KEY}'.encode()),
    Reply({}, status=302, headers={"location": f"/snapshot?key={KEY}"}),
    Reply({"a": 1, KEY: True}),
]


def test_the_credential_is_in_the_request_and_nowhere_else(
    tmp_path: Path, server: FeedServer, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    house = House(tmp_path, partner_url=f"{server.url}/snapshot", partner_api_key=SecretStr(KEY))

    async def every_answer() -> list[bytes]:
        async with house.client() as client:
            paths = [PARTNER_PATH, f"{PARTNER_PATH}?any=1", "/health", "/openapi.json", "/nowhere"]
            answers = [await client.get(path) for path in paths]
            return [answer.content + repr(answer.headers).encode() for answer in answers]

    for number, echo in enumerate(ECHOES):
        server.headers.clear()
        server.replies["/snapshot"] = echo
        ask_and_serve_partner(house, server.url)
        assert any(headers.get("authorization") == f"Bearer {KEY}" for headers in server.headers), number
        house.publish(*(() if echo is ECHOES[-1] else (PARTNER_PATH,)))
        said = b"".join(asyncio.run(every_answer()))
        out, err = capfd.readouterr()
        kept = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
        everything = said + kept + (caplog.text + out + err + repr(house.settings)).encode()
        assert len(kept) > (100_000 if echo is ECHOES[-1] else 10_000)
        assert KEY.encode() not in everything, number
        with house.warehouse.connect() as connection:
            assert connection.execute("select count(*) from raw_partner__snapshots").fetchone() == (0,)
            assert [each.reason for each in source_health(connection)] != [None], number


def test_a_redirect_takes_the_credential_nowhere(house: House, server: FeedServer) -> None:
    with FeedServer() as elsewhere:
        elsewhere.replies["/"] = Reply(GOOD)
        server.replies["/snapshot"] = Reply({}, status=307, headers={"location": f"{elsewhere.url}/snapshot"})
        assert ask_and_serve_partner(house, server.url) == "http_307"
        assert elsewhere.asked == []
