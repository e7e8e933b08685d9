"""Edges of corrected nodes, over notes, signals, exports and erasures."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from keyed_service import bearer, serving
from typer.testing import CliRunner

from cli.app import app
from contracts.access.tiers import Tier
from pipelines.initial_publish import publish_initial
from warehouse.access.keys import create_key

QUERY, SIGNAL, NODES, ERASE = ("/api/v2/world-model/" + name for name in ("query", "signal", "nodes/", "erase"))
NOTE = """# Club

Owner: Ann Lee

Participants: Ann Lee, Rita Sand, Bo Li

- [ ] Pay rent by 2026-05-01 (Ann)
- [ ] Rita Sand: fix the gate
"""
TEAM = "# Team\n\nThe team meets on Fridays.\n"
RENT = "Pay rent by 2026-05-01 (Ann)"
LATER = {"title": "Pay rent by 2026-05-15", "payload": {"due_on": "2026-05-15"}}


class Kim:
    """Kim's notes and key."""

    def __init__(self, service, folder: Path) -> None:
        self.service, self.folder = service, folder
        with service.ledger.transaction() as tx:
            issued = create_key(tx, service.pepper, tier=Tier.PRO, owner="local:kim", now=datetime.now(UTC))
        self.key = bearer(issued)

    def notes(self, **notes: str) -> dict:
        """Imports the folder with exactly these notes."""
        self.folder.mkdir(exist_ok=True)
        for old in self.folder.iterdir():
            old.unlink()
        for name, text in notes.items():
            (self.folder / f"{name}.md").write_text(text)
        return svc("import", str(self.folder), "--owner", "local:kim", "--graph", "club")

    def ask(self, method: str, path: str, body: dict | None = None, code: int = 200) -> dict:
        (answer,) = self.service.ask((method, path, self.key, {"json": body} if body else {}))
        assert answer.status_code == code, answer.text
        return answer.json()

    def signal(self, verdict: str = "approved", **signal) -> dict:
        body = {"type": "Task", "source": "me", "sourceClass": "document", **signal}
        data = self.ask("POST", SIGNAL, body, 200 if verdict == "rejected" else 201)["data"]
        assert data["verdict"] == verdict, data["stages"]
        return data

    def corrects(self, wrong: str, **signal) -> dict:
        return self.signal(corrects={"id": self.id_of(wrong), "reason": "fix"}, **signal)

    def id_of(self, title: str) -> str:
        nodes = self.ask("POST", QUERY, {"scope": "own", "limit": 100})["data"]["nodes"]
        return next(node["id"] for node in nodes if node["title"] == title)

    def edges(self, *types: str, **conditions) -> set[tuple[str, str, str]]:
        """Returns the edges of some types that hold, with the titles of their ends."""
        asked = {"scope": "own", "limit": 100, "include_edges": True, **conditions}
        data = self.ask("POST", QUERY, asked)["data"]
        titles = {node["id"]: node["title"] for node in data["nodes"]}
        return {
            (titles[edge["source"]], edge["type"], titles[edge["target"]])
            for edge in data["edges"]
            if edge["type"] in types
        }

    def assigned(self, **conditions) -> dict[str, str]:
        return {source: target for source, _, target in self.edges("ASSIGNED_TO", **conditions)}


def svc(*arguments: str) -> dict:
    result = CliRunner().invoke(app, ["world", *arguments, "--json"])
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def stage(data: dict, name: str) -> dict:
    return next(each for each in data["stages"] if each["stage"] == name)


@pytest.fixture
def kim(ledger_settings, monkeypatch, tmp_path):
    monkeypatch.setenv("SVC_DATA_DIR", str(ledger_settings.data_dir))
    monkeypatch.setenv("SVC_RPC_URLS", "http://127.0.0.1:9")
    monkeypatch.chdir(ledger_settings.data_dir)
    with serving(ledger_settings.model_copy(update={"rate_limit_per_minute": 0})) as running:
        yield Kim(running, tmp_path / "notes")


def test_a_corrected_task_keeps_its_edges_and_the_notes_state_them_of_its_correction(kim):
    kim.notes(club=NOTE)
    assert kim.assigned() == {RENT: "Ann Lee", "fix the gate": "Rita Sand"}
    ann = kim.id_of("Ann Lee")
    corrected = kim.corrects(RENT, **LATER)
    assert f"{corrected['signalId']} keeps the edges of " in stage(corrected, "referential_integrity")["reason"]
    assert f"ASSIGNED_TO {ann}" in stage(corrected, "referential_integrity")["reason"]
    edges = {(edge["source"], edge["type"], edge["target"]): edge for edge in corrected["edges"]}
    assert edges[corrected["signalId"], "ASSIGNED_TO", ann]["statedIn"] == "knowledge-graph/build:club"
    assert kim.assigned() == {"Pay rent by 2026-05-15": "Ann Lee", "fix the gate": "Rita Sand"}
    assert kim.edges("PART_OF") >= {("Pay rent by 2026-05-15", "PART_OF", "Club")}
    again = kim.notes(club=NOTE)
    assert (again["written"], again["withheld"]) == (0, {"corrected": 1})
    assert kim.assigned() == {"Pay rent by 2026-05-15": "Ann Lee", "fix the gate": "Rita Sand"}


def test_the_corrected_name_of_a_person_keeps_the_tasks_and_takes_new_ones(kim):
    kim.notes(club=NOTE)
    kim.corrects("Rita Sand", type="Person", title="Rita Sand-Meier")
    assert kim.assigned() == {RENT: "Ann Lee", "fix the gate": "Rita Sand-Meier"}
    assert kim.edges("MENTIONS") >= {("Club", "MENTIONS", "Rita Sand-Meier")}
    assert kim.notes(club=NOTE)["written"] == 0
    kim.notes(club=NOTE + "- [ ] Rita Sand: paint the shed\n")
    assert kim.assigned() == {RENT: "Ann Lee", "fix the gate": "Rita Sand-Meier", "paint the shed": "Rita Sand-Meier"}
    kim.notes(club=NOTE.replace("Rita Sand: fix", "Bo Li: fix"))
    assert kim.assigned() == {RENT: "Ann Lee", "fix the gate": "Bo Li"}
    kim.notes(club=NOTE)
    assert kim.assigned() == {RENT: "Ann Lee", "fix the gate": "Rita Sand-Meier"}
    kim.notes(club=NOTE.replace("Rita Sand: fix", "fix"))
    assert kim.assigned() == {RENT: "Ann Lee"}


def test_a_correction_that_names_another_assignee_keeps_that_one_over_further_imports(kim):
    kim.notes(club=NOTE)
    link = {"type": "ASSIGNED_TO", "target": kim.id_of("Bo Li")}
    kim.corrects(RENT, **LATER, links=[link], sourceClass="hearsay")
    assert kim.assigned() == {"Pay rent by 2026-05-15": "Bo Li", "fix the gate": "Rita Sand"}
    assert kim.edges("PART_OF") >= {("Pay rent by 2026-05-15", "PART_OF", "Club")}
    assert kim.notes(club=NOTE)["written"] == 0
    assert kim.assigned() == {"Pay rent by 2026-05-15": "Bo Li", "fix the gate": "Rita Sand"}


def test_corrections_of_corrections_and_of_both_ends_keep_the_edge(kim):
    kim.notes(club=NOTE)
    kim.corrects(RENT, **LATER)
    kim.corrects("Pay rent by 2026-05-15", title="Pay the rent", payload={"due_on": "2026-05-16"})
    kim.corrects("Ann Lee", type="Person", title="Anna Lee")
    assert kim.assigned() == {"Pay the rent": "Anna Lee", "fix the gate": "Rita Sand"}
    assert kim.edges("OWNED_BY") == {("Club", "OWNED_BY", "Anna Lee")}
    assert kim.notes(club=NOTE)["written"] == 0
    assert kim.assigned() == {"Pay the rent": "Anna Lee", "fix the gate": "Rita Sand"}


def test_a_corrected_node_keeps_its_edges_when_its_line_or_note_is_gone(kim):
    kim.notes(club=NOTE, team=TEAM)
    kim.corrects(RENT, **LATER)
    kim.notes(club=NOTE.replace(f"- [ ] {RENT}\n", ""), team=TEAM)
    assert kim.assigned() == {"Pay rent by 2026-05-15": "Ann Lee", "fix the gate": "Rita Sand"}
    kim.signal(confirms={"id": kim.id_of("Ann Lee"), "reason": "still a member"})
    assert kim.notes(team=TEAM)["gone"] == 1
    assert kim.assigned() == {"Pay rent by 2026-05-15": "Ann Lee"}
    assert kim.notes(team=TEAM)["gone"] == 0


def test_a_correction_of_another_type_names_the_edges_that_it_cannot_keep(kim):
    kim.notes(club=NOTE)
    corrected = kim.corrects(RENT, type="Person", title="Pay Rent, a friend")
    judged = stage(corrected, "referential_integrity")
    assert judged["result"] == "warn"
    assert f"a Person, can't keep edges of {corrected['nodes'][0]['id']}: ASSIGNED_TO " in judged["reason"]
    assert kim.edges("PART_OF") >= {("Pay Rent, a friend", "PART_OF", "Club")}


def test_a_query_of_the_past_has_the_edges_that_were_known_then(kim):
    kim.notes(club=NOTE)
    publish_initial(kim.service.settings)
    before = datetime.now(UTC).isoformat()
    kim.corrects(RENT, **LATER)
    kim.corrects("Rita Sand", type="Person", title="Rita Sand-Meier")
    known = {"as_of": before, "recorded_as_of": before}
    assert kim.assigned(**known) == {RENT: "Ann Lee", "fix the gate": "Rita Sand"}
    assert kim.assigned(as_of=before) == {"Pay rent by 2026-05-15": "Ann Lee", "fix the gate": "Rita Sand-Meier"}


def test_an_export_with_corrected_edges_is_imported_and_exported_again_as_the_same_bytes(kim, tmp_path):
    kim.notes(club=NOTE)
    kim.corrects(RENT, **LATER)
    kim.corrects("Rita Sand", type="Person", title="Rita Sand-Meier")
    kim.notes(club=NOTE.replace("Rita Sand: fix", "Bo Li: fix"))
    first, second = tmp_path / "first.jsonl", tmp_path / "second.jsonl"
    svc("export", str(first), "--owner", "local:kim")
    assert svc("import", str(first), "--owner", "local:lu")["verdict"] == "approved"
    svc("export", str(second), "--owner", "local:lu")
    assert first.read_bytes() == second.read_bytes()
    again = svc("import", str(kim.folder), "--owner", "local:lu", "--graph", "club")
    assert (again["written"], again["withheld"]) == (0, {"corrected": 2})


def erased(kim: Kim, node_id: str, way: str) -> dict:
    if way == "node":
        return kim.ask("DELETE", NODES + node_id)["data"]
    return kim.ask("POST", ERASE, {"source": "me"})["data"]


@pytest.mark.parametrize("way", ["node", "source"])
@pytest.mark.parametrize("act", ["corrects", "retracts"])
def test_an_erased_decision_binds_no_more(kim, act, way):
    kim.notes(club=NOTE)
    rent, rita = kim.id_of(RENT), kim.id_of("Rita Sand")
    rented = kim.signal(**LATER, **{act: {"id": rent, "reason": "fix"}})["signalId"]
    named = kim.corrects("Rita Sand", type="Person", title="Rita Sand-Meier")["signalId"]
    kim.notes(club=NOTE)
    for node_id in (rented, named):
        assert erased(kim, node_id, way)["nodes"] == (1 if way == "node" else 2)
        if way == "source":
            break
    again = kim.notes(club=NOTE)
    assert again["withheld"] == {}
    assert kim.assigned() == {RENT: "Ann Lee", "fix the gate": "Rita Sand"}
    kim.signal(confirms={"id": rent, "reason": "ok"})
    kim.signal(corrects={"id": rita, "reason": "married"}, type="Person", title="Rita Meier")
    assert kim.assigned() == {RENT: "Ann Lee", "fix the gate": "Rita Meier"}
    assert svc("audit")["ok"] is True


def test_a_later_correction_still_holds_when_the_one_before_it_is_erased(kim, tmp_path):
    kim.notes(club=NOTE)
    rent = kim.id_of(RENT)
    first = kim.corrects(RENT, **LATER)["signalId"]
    second = kim.signal(title="Pay the rent", corrects={"id": first, "reason": "again"})["signalId"]
    kim.ask("DELETE", NODES + first)
    assert kim.notes(club=NOTE)["withheld"] == {"corrected": 1}
    assert kim.assigned() == {"Pay the rent": "Ann Lee", "fix the gate": "Rita Sand"}
    history = kim.ask("GET", NODES + rent)["data"]
    assert history["node"]["endedBy"] == second
    first_file, second_file = tmp_path / "first.jsonl", tmp_path / "second.jsonl"
    svc("export", str(first_file), "--owner", "local:kim")
    assert svc("import", str(first_file), "--owner", "local:lu")["verdict"] == "approved"
    svc("export", str(second_file), "--owner", "local:lu")
    assert first_file.read_bytes() == second_file.read_bytes()
    kim.ask("DELETE", NODES + second)
    assert kim.notes(club=NOTE)["withheld"] == {}
    assert kim.assigned() == {RENT: "Ann Lee", "fix the gate": "Rita Sand"}


def test_facts_stand_as_if_the_erased_correction_had_never_been(kim):
    def holding() -> dict[str, bool]:
        nodes = kim.ask("POST", QUERY, {"scope": "own", "limit": 100})["data"]["nodes"]
        return {node["properties"]["value"]: node["disputed"] for node in nodes}

    def state(value: str, **signal) -> str:
        payload = {"subject": "Gate", "predicate": "state", "value": value}
        return kim.signal(type="Observation", title=value, payload=payload, **signal)["signalId"]

    first = state("open", validFrom="2026-01-01T00:00:00Z")
    state("shut", validFrom="2026-02-01T00:00:00Z", source="a guest", sourceClass="hearsay")
    corrected = state("ajar", corrects={"id": first, "reason": "seen"}, source="the porter")
    kim.ask("DELETE", NODES + corrected)
    assert holding() == {"open": True, "shut": True}
