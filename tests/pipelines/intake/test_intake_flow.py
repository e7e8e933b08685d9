"""From registrations to graph, tables and documents, and what remains of a registrant who asks to be forgotten."""

import json
import logging
import sqlite3
from collections.abc import Sequence
from pathlib import Path

import dagster as dg
import psycopg
import pytest
from intakes import AGENT, CONTACT_VALUES, ENTERPRISE, HUMAN, INTAKE, LANES, PERSON_VALUES, get, register
from jsonschema import Draft202012Validator
from keyed_service import serving
from typer.testing import CliRunner
from unsynced import has_unsynced_changes

from cli.app import app
from contracts.publish.projection import Projection
from contracts.publish.registry import PROJECTIONS
from contracts.settings import Settings
from pipelines.checks import judge
from pipelines.derived import refill_derived_tables
from pipelines.intake.assets import sync_intake_tables
from pipelines.publish.generation import publish
from pipelines.resources import runtime_resource
from warehouse.duck.connection import Warehouse
from warehouse.duck.facts import gather_facts
from warehouse.intake import intake_sync
from warehouse.intake.intakes import activate_by_claim, graph_key
from warehouse.intake.rights import export_intake, forget_intake
from warehouse.publish.generations import current_generation
from warehouse.publish.readers import context_for
from warehouse.world.audit import verify
from warehouse.world.events import public_counts
from warehouse.world.fold import fold_events

ARTIFACTS = [row for row in PROJECTIONS if row.group == "intake"]


@pytest.fixture
def service(ledger_settings: Settings):
    with serving(ledger_settings.model_copy(update={"rate_limit_per_minute": 0})) as opened:
        yield opened


def take_over(settings: Settings) -> dict[str, dict]:
    assets = [sync_intake_tables, refill_derived_tables]
    done = dg.materialize(assets, resources={"runtime": runtime_resource(settings)})
    assert done.success
    return {
        event.asset_key.path[0]: {name: value.value for name, value in event.materialization.metadata.items()}
        for event in done.get_asset_materialization_events()
    }


def publish_now(settings: Settings, projections: Sequence[Projection] = PROJECTIONS) -> None:
    with Warehouse(settings.data_dir).connect() as connection:
        publish(context_for(connection, settings), settings, projections=projections)


def rows(settings: Settings, question: str) -> list[tuple]:
    with Warehouse(settings.data_dir).connect() as connection:
        return connection.execute(question).fetchall()


def facts(settings: Settings) -> dict:
    with Warehouse(settings.data_dir).connect() as connection:
        return gather_facts(connection, "out_intake__stats")


def graph(service) -> tuple[dict[str, int], int]:
    with service.ledger.read() as reader:
        counts, edges = public_counts(reader)
    return {name: count for name, count in counts.items() if count}, edges


def test_intakes_are_reported_to_the_graph_and_counted_once(service):
    settings = service.settings
    take_over(settings)
    assert not has_unsynced_changes(settings, intake_sync.INTAKE)
    ids = [register(service, body).json()["id"] for body in (*LANES, AGENT)]
    assert has_unsynced_changes(settings, intake_sync.INTAKE)
    said = take_over(settings)
    assert said["intake_events"] == {"approved": 4, "rejected": 0}
    assert said["raw_ledger__intakes"] == {"dagster/row_count": 4, "changed_rows": 4}
    assert graph(service) == ({"SYMBIOSIS": 4, "EXECUTION": 4}, 4)
    assert rows(settings, "select lane, registrations, distinct_identities from out_intake__stats order by lane") == [
        ("agent", 2, 1),
        ("enterprise", 1, 1),
        ("human", 1, 1),
    ]
    assert take_over(settings)["intake_events"]["approved"] == 0

    with service.ledger.transaction() as tx:
        activate_by_claim(tx, agent_id=None, user_id=ids[1], claim_id="claim_1", payer="0x1")
    take_over(settings)
    assert graph(service) == ({"SYMBIOSIS": 4, "EXECUTION": 5}, 5)
    funnel = "select registrations, provisioned, approved, paid, active from out_intake__funnel where lane = 'human'"
    assert rows(settings, funnel) == [(1, 1, 0, 1, 1)]
    found = facts(settings)
    assert set(found.values()) == {0}
    assert judge("out_intake__stats", found).passed


def test_counts_that_miss_an_intake_fail_their_data_contract(tmp_path):
    with serving(Settings(_env_file=None, data_dir=tmp_path)) as service:
        register(service, AGENT)
        take_over(service.settings)
        rows(service.settings, "update out_intake__stats set registrations = 0, distinct_identities = 1")
        found = facts(service.settings)
    assert {name for name, value in found.items() if value} == {"intakes_missing_by_day", "steps_out_of_order"}
    assert not judge("out_intake__stats", found).passed


def test_work_repeated_after_a_crash_changes_nothing_twice(service):
    register(service, AGENT)
    take_over(service.settings)
    before = graph(service)
    rows(service.settings, "update core_intake__state set seq = 0")
    assert take_over(service.settings)["raw_ledger__intakes"]["dagster/row_count"] == 1
    assert graph(service) == before


def test_every_artifact_is_published_and_fits_its_model(service):
    settings = service.settings
    publish_now(settings, ARTIFACTS)
    unknown = published(settings, "/artifacts/launch-status")["states"][0]
    assert (unknown["state"], unknown["reason"], unknown["determinedBy"]) == ("unknown", "not_looked_yet", None)
    answer = register(service, HUMAN).json()
    take_over(settings)
    publish_now(settings, ARTIFACTS)
    assert len(ARTIFACTS) == 16
    for row in ARTIFACTS:
        body = published(settings, row.path)
        row.model.model_validate(body)
        for link in body["links"]:
            assert link["href"].startswith(settings.public_base_url)
    payments = published(settings, "/artifacts/plans")["states"][0]
    assert (payments["state"], payments["reason"]) == ("not_configured", "payments_not_configured")
    assert payments["determinedBy"] == "settings"
    assert payments["checkedAt"] is not None
    assert published(settings, "/artifacts/activation-timeline")["days"][0]["human"] == 1
    schema = published(settings, "/artifacts/provisioning-schema")["jsonSchema"]
    Draft202012Validator.check_schema(schema)
    Draft202012Validator(schema).validate(get(service, f"{INTAKE}/{answer['id']}/capsule").json())


def published(settings: Settings, path: str) -> dict:
    generation = current_generation(settings.data_dir)
    assert generation is not None
    return json.loads((generation.path / "public" / f"{path.removeprefix('/')}.json").read_bytes())


def ledger_text(settings: Settings, *, but: str) -> dict[str, str]:
    """Returns every row of every table of the ledger as text, except those of one table."""
    if settings.ledger_url is None:
        with sqlite3.connect(settings.data_dir / "ledger.db") as connection:
            names = [name for (name,) in connection.execute("select name from sqlite_master where type = 'table'")]
            return {name: repr(connection.execute(f"select * from {name}").fetchall()) for name in names if name != but}
    with psycopg.connect(settings.ledger_url.replace("+psycopg", "")) as connection:
        found = connection.execute("select tablename from pg_tables where schemaname = 'public'").fetchall()
        return {name: repr(connection.execute(f"select * from {name}").fetchall()) for (name,) in found if name != but}


def test_contact_data_is_only_in_the_contact_table(service, caplog):
    caplog.set_level(logging.DEBUG)
    settings = service.settings
    ids = [
        register(service, body, Idempotency_Key=f"key of the lane {body['lane']:>10}").json()["id"] for body in LANES
    ]
    answers = [get(service, f"{INTAKE}/{each}{part}").text for each in ids for part in ("", "/capsule")]
    answers += [get(service, f"{INTAKE}/{name}").text for name in ("stats", "recent")]
    answers.append(register(service, AGENT | {"endpoint": CONTACT_VALUES[0]}).text)
    take_over(settings)
    with Warehouse(settings.data_dir).connect() as connection:
        fold_events(connection, service.ledger)
    publish_now(settings)
    tables = ledger_text(settings, but="intake_contacts")
    assert "intakes" in tables
    files = [path for path in settings.data_dir.rglob("*") if path.is_file() and "ledger" not in path.name]
    assert any(path.name == "warehouse.duckdb" for path in files)
    for value in (*CONTACT_VALUES, *PERSON_VALUES):
        assert not [name for name, text in tables.items() if value in text], value
        assert not [text for text in answers if value in text], value
        assert not [path for path in files if value.encode() in path.read_bytes()], value
        assert value not in caplog.text
    named = ENTERPRISE["contactFullName"]
    assert [place for place, text in enumerate(answers) if named in text] == [4, 5], "its holder's status and capsule"
    assert not [name for name, text in tables.items() if named in text]
    assert not [path for path in files if named.encode() in path.read_bytes()]
    assert named not in caplog.text
    for intake_id in ids:
        assert not [path for path in files if intake_id.encode() in path.read_bytes()]
    with service.ledger.read() as reader:
        kept = " ".join(json.dumps(export_intake(reader, each)) for each in ids)
    assert all(value in kept for value in (*CONTACT_VALUES, *PERSON_VALUES))


def test_of_a_forgotten_registrant_only_the_count_remains(service):
    settings = service.settings
    ids = [register(service, body).json()["id"] for body in (HUMAN, HUMAN, ENTERPRISE)]
    with service.ledger.transaction() as tx:
        activate_by_claim(tx, agent_id=None, user_id=ids[0], claim_id="claim_1", payer="0xpayer")
    take_over(settings)
    before, told = get(service, f"{INTAKE}/stats").json(), graph(service)
    assert told == ({"SYMBIOSIS": 3, "EXECUTION": 4}, 4)
    assert forget_intake(service.ledger, ids[0], "ada") == 5
    assert get(service, f"{INTAKE}/stats").json() == before
    assert graph(service) == ({"SYMBIOSIS": 2, "EXECUTION": 2}, 2)
    assert get(service, f"{INTAKE}/{ids[0]}").status_code == 404
    assert get(service, f"{INTAKE}/{ids[0]}/capsule").status_code == 404
    assert get(service, f"{INTAKE}/{ids[1]}").status_code == 200
    take_over(settings)
    assert graph(service) == ({"SYMBIOSIS": 2, "EXECUTION": 2}, 2)
    assert rows(settings, "select sum(registrations), sum(forgotten) from out_intake__stats") == [(3, 1)]
    forget_intake(service.ledger, ids[1], "ada")
    left = ledger_text(settings, but="none")
    files = {path.name: path.read_bytes() for path in settings.data_dir.glob("ledger.db*")}
    for value in ("human-email-value", "telegram-handle-value", "Ada Human-Name", "Keep my goals", "0xpayer"):
        assert not [name for name, text in left.items() if value in text], value
        assert not [name for name, content in files.items() if value.encode() in content], value
    events = left["world_events"]
    assert "Intake of a person" not in events
    assert "Intake of an enterprise" in events
    assert graph_key(ids[2]) in events
    with service.ledger.read() as reader:
        report = verify(reader)
    assert report.intact, report.faults


def svc(*arguments: str, code: int = 0) -> dict:
    result = CliRunner().invoke(app, ["intake", *arguments, "--json"])
    assert result.exit_code == code, result.output
    return json.loads(result.stdout)


def test_an_operator_lists_reviews_exports_and_forgets(tmp_path: Path, monkeypatch):
    monkeypatch.setenv("SVC_DATA_DIR", str(tmp_path))
    monkeypatch.setenv("SVC_RPC_URLS", "http://127.0.0.1:9")
    monkeypatch.chdir(tmp_path)
    with serving(Settings(_env_file=None)) as service:
        intake_id = register(service, ENTERPRISE).json()["id"]
        (listed,) = svc("list")["intakes"]
        assert (listed["intake_id"], listed["review_state"]) == (intake_id, "pending_review")
        assert "reach.example" not in json.dumps(listed)
        assert svc("review", intake_id, "--request-changes")["reviewState"] == "changes_requested"
        assert svc("review", intake_id, "--approve", "--as", "ada") == {
            "ok": True,
            "intakeId": intake_id,
            "currentState": "awaiting_activation",
            "reviewState": "approved",
            "activationState": "awaiting_payment",
        }
        exported = svc("export", intake_id)["intake"]
        assert exported["person"]["contactEmail"] == ENTERPRISE["contactEmail"]
        assert [step["taken_by"] for step in exported["steps"]][-1] == "operator:ada"
        deleted = {"generations": 0, "logs": 0, "runs": 0}
        forgotten = svc("forget", intake_id)
        assert forgotten == {"ok": True, "intakeId": intake_id, "erasedInGraph": 0, "deleted": deleted}
        assert svc("list")["intakes"] == []
        assert svc("forget", intake_id) == forgotten
        for command in (("export",), ("review", "--approve")):
            assert svc(command[0], intake_id, *command[1:], code=1)["code"] == "intake_unknown"
