"""Probing the service itself: what is requested and when, what is published of it, and when the bytes stay the same."""

import asyncio
import json
import threading
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
from pipeline_runs import Place, recorded_chain

from cli.demo.recorded import RecordedNode
from contracts.discovery.capabilities import capability_states
from contracts.discovery.installation import installation_of
from contracts.discovery.judging import requests_needed
from contracts.discovery.service import AGENT_CARD_PATH, CAPABILITIES_PATH, PUBLIC_CONTRACT_PATH
from contracts.settings import Settings
from pipelines.definitions import build_definitions
from pipelines.discovery.probe import ask_ourselves, hourly_probe_due, probe_due
from pipelines.due import DueRun, due_run, stated_settings_changed
from pipelines.initial_publish import publish_initial
from warehouse.discovery.probes import is_our_generation, read_findings
from warehouse.duck.connection import Warehouse
from warehouse.duck.facts import gather_facts
from warehouse.publish.generations import Generation, current_generation

HEALTH: dict[str, Any] = {"ok": True, "ledgerReachable": True, "guardrailProblem": None}


class OwnService:
    """A stand-in for the service on 127.0.0.1: `/health` of a generation, and statuses by method and path."""

    def __init__(self) -> None:
        self.health: dict[str, Any] = dict(HEALTH)
        self.health_status = 200
        self.statuses: dict[tuple[str, str], int] = {}
        self.asked: Counter[tuple[str, str]] = Counter()
        service = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                service.asked[(self.command, self.path)] += 1
                body = json.dumps(service.health).encode()
                self.send_response(service.health_status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def answer(self) -> None:
                service.asked[(self.command, self.path)] += 1
                usual = 204 if self.command == "OPTIONS" else 200
                self.send_response(service.statuses.get((self.command, self.path), usual))
                self.send_header("Content-Length", "0")
                self.end_headers()

            do_HEAD = do_OPTIONS = do_POST = answer

            def log_message(self, *_: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> "OwnService":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture(scope="module")
def running() -> Iterator[OwnService]:
    with OwnService() as service:
        yield service


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory, running: OwnService) -> Place:
    """A place that has published and was never probed, with empty records of Dagster; only to be copied."""
    with RecordedNode(recorded_chain()) as node:
        place = Place(tmp_path_factory.mktemp("published"), node.url, base_url=running.url)
        publish_initial(place.settings())
    with place.dagster():
        pass
    return place


@pytest.fixture
def service(running: OwnService, published: Place) -> OwnService:
    running.health, running.health_status = {**HEALTH, "generation": generation(published)}, 200
    running.statuses.clear()
    running.asked.clear()
    return running


@pytest.fixture
def place(tmp_path: Path, published: Place, service: OwnService) -> Place:
    return published.copied(tmp_path, published.rpc_url)


@pytest.fixture(scope="module")
def looked_once(tmp_path_factory: pytest.TempPathFactory, published: Place, running: OwnService) -> Place:
    """The same place after its first probe; only to be copied."""
    running.health, running.health_status = {**HEALTH, "generation": generation(published)}, 200
    running.statuses.clear()
    place = published.copied(tmp_path_factory.mktemp("looked"), published.rpc_url)
    look(place)
    return place


@pytest.fixture
def looked(tmp_path: Path, looked_once: Place, service: OwnService) -> Place:
    service.health["generation"] = generation(looked_once)
    return looked_once.copied(tmp_path, looked_once.rpc_url)


def current(place: Place) -> Generation:
    found = current_generation(place.data_dir)
    assert found is not None
    return found


def generation(place: Place) -> str:
    return current(place).id


@cache
def discovery_job(settings: Settings) -> dg.JobDefinition:
    return build_definitions(settings).resolve_job_def("discovery")


def look(place: Place, **changes: Any) -> None:
    """Runs the job as a tick of its schedule does."""
    with place.dagster() as instance:
        assert discovery_job(place.settings(**changes)).execute_in_process(instance=instance).success


def registry(place: Place) -> dict[str, dict[str, Any]]:
    document = json.loads((place.data_dir / "current/public" / CAPABILITIES_PATH.removeprefix("/")).read_bytes())
    return {capability["id"]: capability for capability in document["capabilities"]}


def make_older(place: Place, minutes: int) -> None:
    """Dates the last probe back by some minutes."""
    with place.warehouse() as connection:
        connection.execute("update raw_feeds__attempts set asked_at = asked_at - to_minutes(?)", [minutes])
        connection.execute("update out_discovery__probes set checked_at = checked_at - to_minutes(?)", [minutes])


def due(place: Place) -> str | None:
    return probe_due(place.settings(), datetime.now(UTC))


def test_findings_are_published_and_nothing_is_ever_written_to_the_service(place: Place, service: OwnService):
    assert registry(place)["connect"]["reason"] == "not_looked_yet"
    assert due(place)
    look(place)
    found = registry(place)
    assert (found["connect"]["status"], found["connect"]["determinedBy"]) == ("live", "http")
    assert found["connect"]["evidence"] == "OPTIONS /mcp"
    assert (found["intake"]["status"], found["intake"]["evidence"]) == ("live", "GET /health: ledgerReachable")
    assert (found["token_holders"]["status"], found["token_holders"]["reason"]) == ("off", "backfilling")
    assert (found["token_price"]["status"], found["token_price"]["reason"]) == ("off", "not_configured")
    assert (found["payment_signature"]["status"], found["payment_signature"]["reason"]) == ("off", "not_configured")
    assert all(each["checkedAt"] for each in found.values())
    needed = requests_needed(capability_states(installation_of(place.settings())))
    assert service.asked == Counter({("GET", "/health"): 1, **dict.fromkeys(needed, 1)})
    assert {method for method, _ in service.asked} <= {"GET", "HEAD", "OPTIONS"}

    assert due(place) is None
    now = datetime.now(UTC)
    assert probe_due(place.settings(), now - timedelta(hours=1))  # a clock that was set back
    assert hourly_probe_due(place.settings(), now + timedelta(minutes=59)) is None
    assert hourly_probe_due(place.settings(), now + timedelta(minutes=61))
    before = generation(place)
    make_older(place, 6)
    assert due(place)
    shifted = registry(place)
    with place.warehouse() as connection:
        held = read_findings(connection)
    look(place)
    with place.warehouse() as connection:
        assert read_findings(connection) == held  # findings keep their time within the hour
    assert service.asked[("GET", "/health")] == 2
    assert {id_: each["status"] for id_, each in registry(place).items()} == {
        id_: each["status"] for id_, each in shifted.items()
    }
    after = generation(place)
    look(place)
    assert generation(place) == after
    assert before != after  # make_older moved the times, which are published


def test_a_changed_status_is_published_with_its_time_and_the_others_keep_theirs(looked: Place, service: OwnService):
    place = looked
    make_older(place, 10)
    service.statuses[("OPTIONS", "/mcp")] = 503
    service.health["ledgerReachable"] = False
    look(place)
    found = registry(place)
    assert (found["connect"]["status"], found["connect"]["reason"]) == ("off", "http_503")
    assert (found["intake"]["status"], found["intake"]["reason"]) == ("off", "degraded")
    assert found["connect"]["checkedAt"] > found["graph_query"]["checkedAt"]
    make_older(place, 2)
    assert due(place)  # every minute while a route does not answer
    service.statuses.clear()
    service.health["ledgerReachable"] = True
    look(place)
    assert {registry(place)[id_]["status"] for id_ in ("connect", "intake")} == {"live"}
    make_older(place, 2)
    assert due(place) is None
    make_older(place, 60)
    look(place)
    now = datetime.now(UTC)
    for id_, each in registry(place).items():
        assert now - datetime.fromisoformat(each["checkedAt"]) < timedelta(minutes=2), id_


def test_a_service_that_is_absent_not_ready_or_another_one_is_reported(place: Place, service: OwnService):
    def reasons(**changes: Any) -> set[str | None]:
        make_older(place, 10)
        look(place, **changes)
        found = registry(place)
        return {found[id_]["reason"] for id_ in ("connect", "intake", "graph_query", "service_health", "plan_catalog")}

    service.health_status = 503
    assert reasons() == {"not_ready"}
    service.health_status = 200
    service.health["generation"] = "20200101T000000Z-000001"
    assert reasons() == {"another_service"}
    assert service.asked == Counter({("GET", "/health"): 3})  # a 503 is retried once; another service is not probed
    service.health["generation"] = generation(place)
    assert reasons() == {None}
    service.statuses[("OPTIONS", "/mcp")] = 429
    assert reasons() == {None}  # a 429 reveals nothing, so the earlier finding stays


def test_a_route_that_a_rate_limit_kept_from_being_probed_is_probed_a_minute_later(place: Place, service: OwnService):
    service.statuses[("OPTIONS", "/mcp")] = 429
    look(place)
    assert registry(place)["connect"]["reason"] == "not_looked_yet"
    now = datetime.now(UTC)
    assert probe_due(place.settings(), now + timedelta(minutes=1)) is not None
    del service.statuses[("OPTIONS", "/mcp")]
    make_older(place, 1)
    look(place)
    assert registry(place)["connect"]["reason"] is None
    assert probe_due(place.settings(), datetime.now(UTC) + timedelta(minutes=1)) is None


def test_a_closed_port_counts_as_not_answering_within_a_moment():
    started = datetime.now(UTC)
    answers, attempt = asyncio.run(ask_ourselves("http://127.0.0.1:1", [("OPTIONS", "/mcp")], lambda _: True))
    assert (answers.silent, attempt.reason) == ("not_answering", "unreachable")
    assert datetime.now(UTC) - started < timedelta(seconds=3)


def test_switching_a_part_off_is_published_by_the_next_look(looked: Place):
    place = looked
    assert registry(place)["token_holders"]["reason"] == "backfilling"
    look(place, token_address=None)
    entry = registry(place)["token_holders"]
    assert (entry["status"], entry["reason"], entry["determinedBy"]) == ("off", "not_configured", "settings")
    assert entry["missingSettings"] == ["SVC_TOKEN_ADDRESS"]


def test_a_changed_setting_makes_a_whole_run_due_which_changes_every_document_at_once(place: Place):
    assert not stated_settings_changed(place.settings(), current(place))
    changed = place.settings(token_address=None)
    assert stated_settings_changed(changed, current(place))
    assert due_run(changed, None, datetime.now(UTC)) == DueRun("settings that documents state have changed")
    publish_initial(changed)
    assert not stated_settings_changed(changed, current(place))
    assert registry(place)["token_holders"]["reason"] == "not_configured"
    public = place.data_dir / "current/public"
    contract = json.loads((public / PUBLIC_CONTRACT_PATH.removeprefix("/")).read_bytes())
    assert "token_holders" in contract["capabilities"]["off"]
    card = json.loads((public / AGENT_CARD_PATH.removeprefix("/")).read_bytes())
    assert "token_holders" not in {skill["id"] for skill in card["skills"]}
    assert "(`token_holders`), because " in (public / "llms.txt").read_text()


def test_publishing_again_keeps_the_bytes(looked: Place):
    place = looked

    def bodies() -> dict[str, bytes]:
        public = place.data_dir / "current/public"
        return {path: (public / path.removeprefix("/")).read_bytes() for path in (AGENT_CARD_PATH, CAPABILITIES_PATH)}

    first, at = bodies(), generation(place)
    assert json.loads(first[AGENT_CARD_PATH])["signatures"]
    publish_initial(place.settings())
    assert bodies() == first
    assert place.settings().data_dir.joinpath("generations", at).is_dir()


@pytest.mark.parametrize("other", ["../../etc", "..", "", "None", "7", "a" * 81, "20200101T000000Z-000001"])
def test_only_a_generation_that_is_kept_here_is_ours(place: Place, other: str):
    assert not is_our_generation(place.data_dir, other)
    assert is_our_generation(place.data_dir, generation(place))


FAULTS = {
    "unknown_statuses": "update out_discovery__probes set status = 'maybe', reason = 'x' where capability = 'connect'",
    "unknown_ways": "update out_discovery__probes set determined_by = 'rumour' where capability = 'connect'",
    "not_live_without_reason": "update out_discovery__probes set status = 'off', reason = null "
    "where capability = 'connect'",
    "planned_by_others_than_settings": "update out_discovery__probes set status = 'planned', reason = 'x' "
    "where capability = 'connect'",
    "times_in_the_future": "update out_discovery__probes set checked_at = checked_at + interval 1 day "
    "where capability = 'connect'",
}


def test_facts_of_sound_rows_are_zero_and_each_fault_is_counted(looked: Place):
    with Warehouse(looked.data_dir).connect() as connection:
        assert set(gather_facts(connection, "out_discovery__probes").values()) == {0}
        for column, statement in FAULTS.items():
            connection.begin()
            connection.execute(statement)
            facts = gather_facts(connection, "out_discovery__probes")
            connection.rollback()
            assert {name for name, count in facts.items() if count} == {column}


def test_a_warehouse_of_an_earlier_version_is_due_and_nothing_is_read_from_it(tmp_path: Path):
    settings = Settings(data_dir=tmp_path, _env_file=None)
    assert probe_due(settings, datetime.now(UTC)) is None
    with Warehouse(tmp_path).connect() as connection:
        connection.execute("drop table out_discovery__probes")
        connection.execute("drop table raw_feeds__attempts")
    with Warehouse(tmp_path).read_only() as connection:
        assert connection is not None and read_findings(connection) == {}
    assert probe_due(settings, datetime.now(UTC))
