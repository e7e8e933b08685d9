"""`svc world`: what an operator does with the graph, for people and as JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner
from world_writes import goal, no_rules, proposal, tie

from cli.main import app
from contracts.settings import Settings
from contracts.world.proposal import NodeDraft
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


def test_a_graph_is_exported_and_imported_into_another_owner(ledger: Ledger, tmp_path: Path) -> None:
    words = tmp_path / "words.yaml"
    words.write_text(
        "node_types: {Recipe: {domain: EXECUTION}}\nsingle_valued_predicates: [mood]\n"
        "relationship_types: {TASTES_OF: {description: tastes of}}\n"
    )
    svc("ontology", "set", "local:ada", str(words))
    recipe = NodeDraft(id="soup", type="Recipe", title="Soup")
    propose(ledger, proposal(goal("g"), recipe, tie("g", "TASTES_OF", "soup")), alignment=no_rules)
    first, second = tmp_path / "first.jsonl", tmp_path / "second.jsonl"
    assert svc("export", str(first), "--owner", "local:ada")["records"] == 7
    done = svc("import", str(first), "--owner", "local:bob", "--as", "eve")
    assert (done["nodes"], done["edges"], done["written"], done["decisions"]) == (2, 1, 3, 1)
    svc("export", str(second), "--owner", "local:bob")
    assert svc("ontology", "show", "local:bob")["ontology"]["single_valued_predicates"] == ["mood"]
    assert second.read_bytes() == first.read_bytes()
    assert first.stat().st_mode & 0o077 == 0
    assert svc("import", str(first), "--owner", "local:bob")["written"] == 0
    for form in ("jsonld", "graphml"):
        svc("export", str(tmp_path / form), "--owner", "local:ada", "--format", form)
        assert "Title of g" in (tmp_path / form).read_text()
        assert "single_valued_predicates" in (tmp_path / form).read_text()
    assert svc("audit")["ok"] is True


def test_the_public_graph_is_exported_and_ids_of_it_are_not_imported(ledger: Ledger, tmp_path: Path) -> None:
    svc("load")
    file = tmp_path / "public.jsonl"
    assert svc("export", str(file))["records"] > 200
    assert "id_taken" in svc("import", str(file), "--owner", "local:bob", code=1)["detail"]


def test_half_a_file_imports_nothing(ledger: Ledger, tmp_path: Path) -> None:
    propose(ledger, proposal(goal("g"), goal("h")), alignment=no_rules)
    file = tmp_path / "graph.jsonl"
    svc("export", str(file), "--owner", "local:ada")
    file.write_bytes(file.read_bytes()[:-30])
    refused = svc("import", str(file), "--owner", "local:bob", code=1)
    assert refused["code"] == "import_refused"
    assert svc("export", str(file), "--owner", "local:bob")["records"] == 2
    assert svc("export", str(file), "--owner", "nobody", code=1)["code"] == "owner_invalid"


def test_a_folder_of_notes_is_read_and_read_again(ledger: Ledger, tmp_path: Path) -> None:
    notes = tmp_path / "my notes"
    (notes / "deep").mkdir(parents=True)
    (notes / "team.md").write_text("# Team\n\n- [ ] Paint the door\n\nGrace Hopper leads the project.\n")
    (notes / "deep" / "Büro.md").write_text("# Office\n\nThe office moves in May.\n")
    (notes / "broken.md").write_bytes(b"\xff\xfe")
    done = svc("import", str(notes), "--owner", "local:bob", code=1)
    assert (done["documents"], [left["file"] for left in done["leftOut"]]) == (2, ["broken.md"])
    (notes / "broken.md").unlink()
    assert svc("import", str(notes), "--owner", "local:bob")["written"] == 0
    (notes / "team.md").write_text("# Team\n\nGrace Hopper leads the project.\n\nOwner: Grace Hopper\nOwner: Bo Li\n")
    again = svc("import", str(notes), "--owner", "local:bob")
    assert again["written"] > 0
    assert again["contradictions"] == [
        {"source": "Team", "type": "OWNED_BY", "taken": "Grace Hopper", "notTaken": "Bo Li"}
    ]
    svc("export", str(tmp_path / "out.jsonl"), "--owner", "local:bob")
    exported = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    painted = [each for each in exported if each.get("current") and each.get("title") == "Paint the door"]
    assert [each["validTo"] is None for each in painted] == [False]
