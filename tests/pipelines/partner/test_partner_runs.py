"""The partner and the marketplace in runs: polled when due, published, with the credential in no file of any run."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
from clock_windows import stay_within
from feed_server import DEAD, FeedServer, Reply
from pipeline_runs import Place, recorded_chain
from pydantic import SecretStr

from cli.demo.recorded import RecordedNode
from contracts.errors import StoreUnusable
from contracts.settings import Settings
from pipelines.definitions import build_definitions
from pipelines.initial_publish import publish_initial
from pipelines.instance import prepare_home
from pipelines.partner.source import partner_due
from warehouse.publish.generations import current_generation

GOLDEN = Path(__file__).with_name("partner_documents.golden.json")
KEY = "pk-live-77c21d8e0f41"
PARTNER_PATH, REVENUE_PATH = "/api/integrations/partner/base-snapshot", "/api/revenue/marketplace"
SNAPSHOT = {"chainId": 8453, "tvlUsd": 1234.5, "asOf": "2026-11-20T11:58:00Z"}
FIGURES = {"id": 84, "revenue": 572787.33, "grossAgenticAmount": 218099220.98, "uniqueBuyerCount": 7496}
MOVING = ("fetchedAt", "staleAfter", "generation", "generatedAt", "unchangedSince", "source")


@pytest.fixture
def server() -> Iterator[FeedServer]:
    with FeedServer() as running:
        running.replies["/snapshot"] = Reply(SNAPSHOT)
        running.replies["/api/metrics/agent/84"] = Reply(FIGURES)
        yield running


@pytest.fixture
def place(tmp_path: Path, server: FeedServer) -> Iterator[Place]:
    with RecordedNode(recorded_chain()) as node:
        yield Place(
            tmp_path,
            node.url,
            partner_url=f"{server.url}/snapshot?from=us",
            partner_api_key=SecretStr(KEY),
            marketplace_url=server.url,
            marketplace_agent_id="84",
        )


def still(body: Any) -> Any:
    """Returns a body without the values that change with clock and port."""
    if isinstance(body, dict):
        return {name: "…" if name in MOVING and value is not None else still(value) for name, value in body.items()}
    return [still(each) for each in body] if isinstance(body, list) else body


def make_older(place: Place, minutes: int) -> None:
    """Dates the last polls back by some minutes."""
    with place.warehouse() as connection:
        for table, column in (
            ("raw_feeds__attempts", "asked_at"),
            ("raw_partner__snapshots", "first_fetched_at"),
            ("raw_partner__snapshots", "last_fetched_at"),
            ("raw_marketplace__figures", "fetched_at"),
        ):
            connection.execute(f"update {table} set {column} = {column} - to_minutes(?)", [minutes])


def run(place: Place) -> None:
    """Runs the partner's job as a tick of its schedule does."""
    job = build_definitions(place.settings()).resolve_job_def("partner")
    with dg.DagsterInstance.get() as instance:
        assert job.execute_in_process(instance=instance).success


def due(place: Place) -> str | None:
    return partner_due(place.settings(), datetime.now(UTC))


def test_runs_ask_when_due_publish_and_leave_the_credential_nowhere(
    place: Place,
    server: FeedServer,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("DAGSTER_HOME", str(prepare_home(place.data_dir)))
    assert due(place) is None  # the first poll is that of a whole run
    publish_initial(place.settings())
    assert due(place) == "partner and marketplace to be queried"
    stay_within(300, for_s=20)  # sources are due by the clock's five minutes: two runs have to fall into the same
    run(place)
    documents = {path: still(place.document(path)) for path in (PARTNER_PATH, REVENUE_PATH)}
    assert documents == json.loads(GOLDEN.read_text())
    assert due(place) is None
    run(place)
    assert server.hits == {"/snapshot": 1, "/api/metrics/agent/84": 1}

    first = current_generation(place.data_dir)
    make_older(place, 6)
    server.replies["/snapshot"] = Reply({"headers": {"Authorization": f"Bearer {KEY}"}})
    assert (due(place) or "").startswith("partner")
    run(place)
    echoed = place.document(PARTNER_PATH)
    assert (echoed["reason"], echoed["stale"], echoed["snapshot"]) == ("credential_echoed", True, SNAPSHOT)
    assert echoed["ageS"] >= 300
    second = current_generation(place.data_dir)
    assert first and second and first.id != second.id
    assert first.manifest.documents["/api/token/holders"] == second.manifest.documents["/api/token/holders"]

    make_older(place, 16)
    server.replies |= {"/snapshot": DEAD, "/api/metrics/agent/84": DEAD}
    run(place)
    assert place.document(PARTNER_PATH)["reason"] == "unreachable"
    assert (place.document(REVENUE_PATH)["stale"], place.document(REVENUE_PATH)["revenueUsd"]) == (True, "572787.33")

    assert {headers.get("authorization") for headers in server.headers} == {f"Bearer {KEY}", None}
    out, err = capfd.readouterr()
    files = [path for path in place.data_dir.rglob("*") if path.is_file()]
    assert any("dagster" in str(path) for path in files)
    kept = b"".join(path.read_bytes() for path in files) + (caplog.text + out + err).encode()
    assert b"credential_echoed" in kept
    assert KEY.encode() not in kept


def test_the_partners_job_builds_only_its_own_documents(place: Place) -> None:
    job = build_definitions(place.settings()).resolve_job_def("partner")
    made = {"/".join(key.path) for key in job.asset_layer.selected_asset_keys}
    documents = {name for name in made if name.startswith("document/")}
    assert documents == {f"document{PARTNER_PATH}", f"document{REVENUE_PATH}"}


def test_without_a_configured_source_nothing_is_due_and_the_warehouse_stays_closed(tmp_path: Path) -> None:
    (tmp_path / "warehouse.duckdb").write_bytes(b"no database")
    assert partner_due(Settings(_env_file=None, data_dir=tmp_path), datetime.now(UTC)) is None
    with pytest.raises(StoreUnusable):
        partner_due(Settings(_env_file=None, data_dir=tmp_path, partner_url="https://p.example"), datetime.now(UTC))
