"""`svc world`: what an operator does with the graph, for people and as JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner
from world_writes import goal, no_rules, proposal

from cli.main import app
from contracts.settings import Settings
from warehouse.ledger.ledger import Ledger, open_ledger
from warehouse.world.write import propose


@pytest.fixture
def ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Ledger:
    monkeypatch.setenv("SVC_DATA_DIR", str(tmp_path))
    monkeypatch.setenv("SVC_RPC_URLS", "http://127.0.0.1:9")
    monkeypatch.chdir(tmp_path)
    opened = open_ledger(Settings(_env_file=None), tmp_path)
    yield opened
    opened.close()


def svc(*arguments: str, code: int = 0) -> dict:
    result = CliRunner().invoke(app, ["world", *arguments, "--json"])
    assert result.exit_code == code, result.output
    return json.loads(result.stdout)


def test_the_constitution_is_loaded_once(ledger: Ledger) -> None:
    first = svc("load")
    assert first["written"] == sum(first["nodes"].values()) + first["edges"] > 200
    assert svc("load")["written"] == 0
    report = svc("audit", "--newest", "1")
    assert (report["ok"], report["decisions"], report["events"]) == (True, 1, first["written"])
    assert report["newest"][0]["payload"]["actor"]["name"] == "constitution"


def test_what_waits_is_listed_approved_and_rejected(ledger: Ledger) -> None:
    first, second = (
        propose(ledger, proposal(goal(name, visibility="public")), alignment=no_rules).seq for name in ("g", "h")
    )
    assert [each["decision"] for each in svc("pending")["pending"]] == [first, second]
    assert svc("approve", str(first), "--as", "eve")["nodes"][0]["actor"] == "operator:eve"
    assert svc("reject", str(second), "--reason", "no")["verdict"] == "rejected"
    assert svc("pending")["pending"] == []
    assert svc("approve", str(first), code=1)["code"] == "proposal_unknown"
    assert svc("audit")["ok"] is True


def test_a_number_that_no_decision_has_is_refused(ledger: Ledger) -> None:
    for number in ("0", str(2**64)):
        said = CliRunner().invoke(app, ["world", "approve", number])
        assert (said.exit_code, "Traceback" in said.output) == (2, False)


def test_a_tampered_audit_exits_with_1(ledger: Ledger) -> None:
    propose(ledger, proposal(goal("g")), alignment=no_rules)
    with ledger._writers.begin() as connection:
        connection.exec_driver_sql("update world_decisions set verdict = 'rejected'")
    report = svc("audit", code=1)
    assert report["ok"] is False
    assert "decision 1 does not fit the chain" in report["faults"]
    said = CliRunner().invoke(app, ["world", "audit"])
    assert "TAMPERED: decision 1 does not fit the chain" in said.stdout


def test_an_owner_is_forgotten(ledger: Ledger) -> None:
    propose(ledger, proposal(goal("g", title="A secret")), alignment=no_rules)
    assert svc("forget", "local:ada")["forgotten"] == 1
    assert svc("forget", "local:ada")["forgotten"] == 0
    assert "A secret" not in json.dumps(svc("audit", "--newest", "10"))


def test_an_owners_words_are_set_from_a_file_and_shown_by_version(ledger: Ledger, tmp_path: Path) -> None:
    words = tmp_path / "words.yaml"
    words.write_text("node_types: {Recipe: {domain: EXECUTION}}\nsingle_valued_predicates: [mood]\n")
    assert svc("ontology", "show", "local:ada")["version"] == 0
    told = svc("ontology", "set", "local:ada", str(words))
    assert (told["version"], told["ontology"]["single_valued_predicates"]) == (1, ["mood"])
    assert svc("ontology", "show", "local:ada")["ontology"] == told["ontology"]
    assert svc("ontology", "show", "local:ada", "--version", "0")["ontology"]["node_types"] == {}
    words.write_text("node_types: {Goal: {domain: TRACK}}\n")
    refused = svc("ontology", "set", "local:ada", str(words), code=1)
    assert refused["code"] == "ontology_refused" and "Goal" in refused["detail"]
    assert svc("ontology", "show", "nobody", code=1)["code"] == "owner_invalid"
    assert svc("audit")["ok"] is True
