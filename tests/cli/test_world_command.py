"""`svc world`: what an operator does with the graph, with output for people and as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest
from typer.testing import CliRunner
from world_writes import BOB, goal, no_rules, proposal, tie

from cli.app import app
from contracts.errors import ErasureUnfinished
from contracts.settings import Settings
from contracts.world.proposal import Act, NodeDraft
from pipelines.erasure import Erased
from warehouse.ledger.ledger import Ledger, open_ledger
from warehouse.publish.generations import Part, begin, build
from warehouse.world.audit_heads import audit_head
from warehouse.world.events import decode_nodes
from warehouse.world.forget import forget_nodes
from warehouse.world.write import propose


@pytest.fixture
def ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Ledger]:
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


def test_waiting_proposals_are_listed_approved_and_rejected(ledger: Ledger) -> None:
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


def test_a_restored_ledger_is_called_rolled_back_until_the_restore_is_recorded(ledger: Ledger, tmp_path: Path) -> None:
    settings = Settings(_env_file=None)
    propose(ledger, proposal(goal("kept")), alignment=no_rules)
    audit_of_backup = tmp_path / "audit.json"
    audit_of_backup.write_text(CliRunner().invoke(app, ["world", "audit", "--json"]).stdout)
    ledger.close()
    backup = (tmp_path / "ledger.db").read_bytes()
    with closing(open_ledger(settings, tmp_path)) as later:
        propose(later, proposal(goal("lost")), alignment=no_rules)
    draft = begin(tmp_path, datetime.now(UTC))
    parts = {"public/a.txt": Part.of_bytes(b"a")}
    build(tmp_path, draft, parts, {}, settings.public_base_url, audit_head(settings, draft))
    assert svc("audit")["verdict"] == "intact"
    for name in ("ledger.db-wal", "ledger.db-shm"):
        (tmp_path / name).unlink(missing_ok=True)
    (tmp_path / "ledger.db").write_bytes(backup)

    report = svc("audit", code=1)
    assert (report["ok"], report["verdict"], report["faults"]) == (False, "rolled_back", [])
    said = CliRunner().invoke(app, ["world", "audit"])
    assert f"ROLLED BACK: generation {draft.id} has 2 decisions, but the chain ends earlier" in said.stdout
    assert ("svc world restored" in said.stderr, "TAMPERED" in said.output) == (True, False)
    recorded = svc("restored", str(audit_of_backup))
    assert (recorded["decisions"], recorded["superseded"]) == (1, 1)
    report = svc("audit")
    assert (report["verdict"], report["restoredAt"]) == ("intact", recorded["restoredAt"])
    said = CliRunner().invoke(app, ["world", "audit"])
    assert f"restored at {recorded['restoredAt']}: 1 kept generations were published from" in said.stdout
    assert (tmp_path / "restored.json").stat().st_mode & 0o077 == 0


def test_a_restore_is_not_recorded_of_a_ledger_that_is_not_the_backups(ledger: Ledger, tmp_path: Path) -> None:
    propose(ledger, proposal(goal("g")), alignment=no_rules)
    other = tmp_path / "audit.json"
    other.write_text(json.dumps(svc("audit") | {"head": "ab" * 32}))
    refused = svc("restored", str(other), code=1)
    assert refused["code"] == "restore_refused" and "first 1 decisions differ from those" in refused["detail"]
    other.write_text(json.dumps(svc("audit") | {"decisions": 2}))
    assert svc("restored", str(other), code=1)["code"] == "restore_refused"
    other.write_text("2 decisions")
    assert "is not output of `svc world audit --json`" in svc("restored", str(other), code=1)["detail"]
    assert CliRunner().invoke(app, ["world", "restored", str(tmp_path / "none")]).exit_code == 2
    with ledger._writers.begin() as connection:
        connection.exec_driver_sql("update world_decisions set verdict = 'rejected'")
    refused = svc("restored", code=1)
    assert refused["code"] == "restore_refused" and "decision 1 does not fit the chain" in refused["detail"]
    assert not (tmp_path / "restored.json").exists()


def test_an_owner_is_forgotten(ledger: Ledger) -> None:
    propose(ledger, proposal(goal("g", title="A secret")), alignment=no_rules)
    assert svc("forget", "local:ada")["forgotten"] == 1
    assert "A secret" not in json.dumps(svc("audit", "--newest", "10"))


def test_an_owner_without_data_is_not_forgotten_and_no_file_is_touched(
    ledger: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cli.world.erase", lambda callers: pytest.fail("a file would be erased"))
    propose(ledger, proposal(goal("g")), alignment=no_rules)
    before = ledger.head()
    for owner in ("adda", "local:adda", "profile:p", "0x" + "0" * 40):
        refused = svc("forget", owner, code=1)
        assert (refused["code"], refused["cure"].startswith("Nothing was changed.")) == ("owner_unknown", True)
    assert ledger.head() == before


def test_forgetting_that_was_interrupted_is_finished_by_the_same_command(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(callers: list[str]) -> None:
        raise ErasureUnfinished("Left: the logs.", cure="Run it again.")

    propose(ledger, proposal(goal("g")), alignment=no_rules)
    with monkeypatch.context() as patched:
        patched.setattr("cli.world.erase", interrupted)
        assert svc("forget", "local:ada", code=1)["code"] == "erasure_unfinished"
    monkeypatch.setattr("cli.world.erase", lambda callers: Erased(0, 0, 0))
    assert svc("forget", "local:ada")["forgotten"] == 0
    assert svc("forget", "local:ada", code=1)["code"] == "owner_unknown"


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
    assert svc("ontology", "show", "kind:ada", code=2)["code"] == "owner_invalid"
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
    assert svc("export", str(file), "--owner", "0x12", code=2)["code"] == "owner_invalid"


def test_parts_of_notes_that_are_in_no_node_are_reported(ledger: Ledger, tmp_path: Path) -> None:
    notes = tmp_path / "bread"
    notes.mkdir()
    (notes / "dough.md").write_text("# Dough\n\n```\n3 parts rye, 1 part spelt\n```\n\nIt rests for a night.\n")
    done = svc("import", str(notes), "--owner", "local:bob")
    assert (done["notKept"]["parts"], done["notKept"]["characters"]) == (1, 33)
    assert done["notKept"]["first"] == [{"file": "dough.md", "text": "```\n3 parts rye, 1 part spelt\n```"}]
    (notes / "dough.md").write_text("# Dough\n\nIt rests for a night.\n")
    assert svc("import", str(notes), "--owner", "local:bob")["notKept"] == {"parts": 0, "characters": 0, "first": []}


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


def import_notes(notes: Path, *options: str, code: int = 0) -> dict:
    return svc("import", str(notes), "--owner", "local:bob", *options, code=code)


def titles_of(tmp_path: Path, node_type: str) -> list[str]:
    """Returns the titles of Bob's live nodes of a type."""
    svc("export", str(tmp_path / "out.jsonl"), "--owner", "local:bob")
    lines = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    live = [each for each in lines if each.get("current") and each.get("validTo") is None]
    return sorted(each["title"] for each in live if each.get("type") == node_type and "title" in each)


def folder_of(path: Path, **notes: str) -> Path:
    path.mkdir(parents=True, exist_ok=True)
    for name, text in notes.items():
        (path / f"{name}.md").write_text(text)
    return path


def test_two_folders_of_one_name_are_two_graphs(ledger: Ledger, tmp_path: Path) -> None:
    work = folder_of(tmp_path / "work" / "notes", plan="# Work\n\n- [ ] ship")
    home = folder_of(tmp_path / "home" / "notes", plan="# Home\n\n- [ ] paint")
    graphs = {import_notes(folder)["graph"] for folder in (work, home)}
    assert len(graphs) == 2 and all(graph.startswith("notes-") for graph in graphs)
    assert titles_of(tmp_path, "Task") == ["paint", "ship"]
    assert import_notes(work)["written"] == 0


def test_folders_without_a_latin_letter_in_their_names_are_two_graphs(ledger: Ledger, tmp_path: Path) -> None:
    one, other = (folder_of(tmp_path / name, plan=f"# {name}\n\n- [ ] {name}") for name in ("ノート", "メモ"))
    assert import_notes(one)["graph"] != import_notes(other)["graph"]
    assert titles_of(tmp_path, "Task") == ["ノート", "メモ"]


def test_a_moved_folder_continues_under_the_name_of_its_graph(ledger: Ledger, tmp_path: Path) -> None:
    notes = folder_of(tmp_path / "notes", plan="# Plan\n\n- [ ] ship")
    first = import_notes(notes)
    again = import_notes(notes.rename(tmp_path / "moved"), "--graph", first["graph"])
    assert (again["graph"], again["written"]) == (first["graph"], 0)
    refused = import_notes(tmp_path / "moved", "--graph", "a graph", code=1)
    assert refused["detail"] == "'a graph' is not a valid graph name."


def test_a_graph_known_only_by_the_folders_name_continues_only_if_its_owner_says_so(
    ledger: Ledger, tmp_path: Path
) -> None:
    notes = folder_of(tmp_path / "notes", plan="# Plan\n\n- [ ] ship")
    import_notes(notes, "--graph", "notes")
    refused = import_notes(notes, code=1)
    assert refused["detail"] == "local:bob already has a graph notes, which may be of another folder."
    assert "--graph notes`" in refused["cure"]
    assert import_notes(notes, "--graph", "notes")["written"] == 0
    hashed = refused["cure"].split("--graph ")[-1].rstrip("`.")
    assert import_notes(notes, "--graph", hashed)["graph"] == import_notes(notes)["graph"] == hashed


def test_statements_of_only_a_deleted_note_end_with_its_document(ledger: Ledger, tmp_path: Path) -> None:
    notes = folder_of(
        tmp_path / "notes",
        kept="# Kept\n\n- [ ] paint\n\nask @ada",
        gone="# Gone\n\n- [ ] sweep\n\nask @ada and @bo",
    )
    import_notes(notes)
    (notes / "gone.md").unlink()
    again = import_notes(notes)
    assert (again["documents"], again["gone"], again["leftOut"]) == (1, 1, [])
    assert titles_of(tmp_path, "Task") == ["paint"]
    assert titles_of(tmp_path, "Document") == ["Kept"]
    assert titles_of(tmp_path, "Person") == ["@ada"]
    same = import_notes(notes)
    assert (same["gone"], same["written"]) == (0, 0)
    (notes / "kept.md").write_text("# Kept\n\n- [ ] paint")
    import_notes(notes)
    assert titles_of(tmp_path, "Person") == [], "the deleted note no longer keeps her"


def test_a_renamed_note_is_read_under_its_new_name_only(ledger: Ledger, tmp_path: Path) -> None:
    notes = folder_of(tmp_path / "notes", old="# Plan\n\n- [ ] ship")
    import_notes(notes)
    (notes / "old.md").rename(notes / "new.md")
    renamed = import_notes(notes)
    assert (renamed["moved"], renamed["gone"]) == (1, 0)
    assert (titles_of(tmp_path, "Task"), titles_of(tmp_path, "Document")) == (["ship"], ["Plan"])
    again = import_notes(notes)
    assert (again["moved"], again["gone"], again["written"]) == (0, 0, 0)


def test_erased_or_corrected_parts_of_a_note_stay_so_when_its_file_is_renamed_and_edited(
    ledger: Ledger, tmp_path: Path
) -> None:
    notes = folder_of(
        tmp_path / "notes",
        boat="# Boat\n\nThe boat is moored at pier 7.\n\nIt is blue.",
        other="# Other\n\nNothing of this.",
        secret="# Therapy\n\nThe session costs EUR 90.",
    )
    import_notes(notes)
    with ledger.transaction() as tx:
        passages = {node.title: node.id for node in decode_nodes(tx.rows("world_nodes_of_owner", owner="local:bob"))}
        forget_nodes(tx, [passages["The session costs EUR 90."]], "eve")
    wrong = Act("retracts", "n", passages["The boat is moored at pier 7."], "it was pier 9")
    propose(ledger, proposal(goal("n"), actor=BOB, acts=(wrong,)), alignment=no_rules)
    (notes / "secret.md").rename(notes / "private.md")
    (notes / "boat.md").unlink()
    folder_of(notes / "2026", vessel="# Boat\n\nThe boat is moored at pier 7.\n\nIt is blue.\n\nIt is old.")
    moved = import_notes(notes)
    assert (moved["moved"], moved["gone"]) == (2, 0)
    assert moved["withheld"] == {"corrected": 1, "forgotten": 1}
    assert titles_of(tmp_path, "Passage") == ["It is blue.", "It is old.", "Nothing of this."]
    folder_of(notes, boat="# Another boat\n\nIt is red.", secret="# Birthday\n\nA surprise.")
    (notes / "2026" / "vessel.md").write_text("# Ship\n\nThe boat is moored at pier 7.")
    new = import_notes(notes)
    assert (new["moved"], new["gone"], new["withheld"]) == (0, 0, {"corrected": 1, "forgotten": 1})
    assert titles_of(tmp_path, "Document") == ["Another boat", "Birthday", "Other", "Ship", "Therapy"]


DIARY = "# Today\n\nRosa came at noon.\n\nBring the blue card.\n\nParking is behind the house."


@pytest.mark.parametrize(
    ("names", "texts"),
    [
        pytest.param(
            ("archive.md", "today.md"), (DIARY, "# Today\n\nThe oven is hot."), id="a new text at the old path"
        ),
        pytest.param(("zz.md", "today.md"), (DIARY, "# Today\n\nThe oven is hot."), id="a new text that is read first"),
        pytest.param(("other.md", "today.md"), (DIARY, "# Other\n\nNothing of this.\n\nIt is so."), id="names swapped"),
    ],
)
def test_erased_or_retracted_parts_of_a_note_stay_so_when_another_text_has_taken_its_name(
    ledger: Ledger, tmp_path: Path, names: tuple[str, str], texts: tuple[str, str]
) -> None:
    notes = folder_of(tmp_path / "notes", today=DIARY, other="# Other\n\nNothing of this.\n\nIt is so.")
    import_notes(notes)
    with ledger.transaction() as tx:
        passages = {node.title: node.id for node in decode_nodes(tx.rows("world_nodes_of_owner", owner="local:bob"))}
        forget_nodes(tx, [passages["Rosa came at noon."]], "eve")
    wrong = Act("retracts", "n", passages["Bring the blue card."], "it is green")
    propose(ledger, proposal(goal("n"), actor=BOB, acts=(wrong,)), alignment=no_rules)
    for name, text in zip(names, texts, strict=True):
        (notes / name).write_text(text)
    moved = import_notes(notes)
    assert moved["withheld"] == {"corrected": 1, "forgotten": 1}
    assert moved["moved"] == (2 if "other.md" in names else 1)
    kept = {"Parking is behind the house.", "Nothing of this.", "It is so."}
    new = {"The oven is hot."} if "other.md" not in names else set()
    assert set(titles_of(tmp_path, "Passage")) == kept | new
    again = import_notes(notes)
    assert (again["moved"], again["gone"], again["written"], again["withheld"]) == (0, 0, 0, moved["withheld"])
    (notes / names[0]).unlink()
    gone = import_notes(notes)
    assert (gone["moved"], gone["gone"]) == (0, 1)
    assert "Parking is behind the house." not in titles_of(tmp_path, "Passage")


def test_a_transferred_graph_continues_with_its_notes_elsewhere(
    ledger: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes = folder_of(tmp_path / "notes", today=DIARY)
    written = import_notes(notes)["written"]
    with ledger.transaction() as tx:
        passages = {node.title: node.id for node in decode_nodes(tx.rows("world_nodes_of_owner", owner="local:bob"))}
    wrong = Act("retracts", "n", passages["Bring the blue card."], "it is green")
    propose(ledger, proposal(goal("n"), actor=BOB, acts=(wrong,)), alignment=no_rules)
    svc("export", str(tmp_path / "graph.jsonl"), "--owner", "local:bob")

    monkeypatch.setenv("SVC_DATA_DIR", str(tmp_path / "elsewhere"))
    assert svc("import", str(tmp_path / "graph.jsonl"), "--owner", "local:bob")["written"] > written
    again = import_notes(notes)
    assert (again["nodes"], again["gone"], again["withheld"]) == (0, 0, {"corrected": 1})
    assert import_notes(notes)["written"] == 0
    assert titles_of(tmp_path, "Passage") == ["Parking is behind the house.", "Rosa came at noon."]
    (notes / "today.md").write_text("# Today\n\nRosa came at noon.")
    assert import_notes(notes)["written"] > 0
    assert titles_of(tmp_path, "Passage") == ["Rosa came at noon."]


def test_a_rewritten_note_is_still_the_same_document(ledger: Ledger, tmp_path: Path) -> None:
    notes = folder_of(tmp_path / "notes", today=DIARY, other="# Other\n\nNothing of this.")
    import_notes(notes)
    folder_of(notes, today="# Now\n\nIt rains.", new="# New\n\nParking is behind the house.")
    rewritten = import_notes(notes)
    assert (rewritten["moved"], rewritten["gone"]) == (0, 0)
    assert titles_of(tmp_path, "Document") == ["New", "Now", "Other"]


def test_if_identical_notes_are_moved_the_one_with_the_same_name_continues_the_document(
    ledger: Ledger, tmp_path: Path
) -> None:
    text = "# Plan\n\nWe meet at noon."
    notes = folder_of(tmp_path / "notes", a=text, b=text)
    import_notes(notes)
    with ledger.transaction() as tx:
        stored = decode_nodes(tx.rows("world_nodes_of_owner", owner="local:bob"))
        of_b = [node.id for node in stored if node.type == "Passage" and "b.md:" in str(node.properties["spans"])]
        forget_nodes(tx, of_b, "eve")
    for folder, name in (("1", "b"), ("2", "a")):
        (notes / folder).mkdir()
        (notes / f"{name}.md").rename(notes / folder / f"{name}.md")
    moved = import_notes(notes)
    assert (moved["moved"], moved["gone"], moved["withheld"]) == (2, 0, {"forgotten": 1})
    urls = {}
    with ledger.read() as reader:
        for node in decode_nodes(reader.rows("world_nodes_of_owner", owner="local:bob")):
            if node.type == "Document":
                urls[str(node.properties["spans"][0]).rpartition(":")[0]] = node.properties["url"]
    assert urls == {"a.md": "2/a.md", "b.md": "1/b.md"}


def test_a_folder_without_any_note_ends_nothing_since_it_may_not_be_mounted(ledger: Ledger, tmp_path: Path) -> None:
    notes = folder_of(tmp_path / "notes", plan="# Plan\n\n- [ ] ship")
    import_notes(notes)
    (notes / "plan.md").unlink()
    assert import_notes(notes)["gone"] == 0
    assert (titles_of(tmp_path, "Task"), titles_of(tmp_path, "Document")) == (["ship"], ["Plan"])


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("seed: " + "abandon " * 11 + "about", "a seed phrase"),
        (f"-----BEGIN PRIVATE KEY-----\n{'A' * 64}\n", "a private key"),
    ],
)
def test_a_note_with_a_secret_is_left_out(ledger: Ledger, tmp_path: Path, text: str, secret: str) -> None:
    notes = folder_of(tmp_path / "notes", plan="# Plan", wallet=f"# Wallet\n\n{text}\n")
    done = import_notes(notes, code=1)
    assert done["leftOut"] == [{"file": "wallet.md", "reason": f"it contains {secret}, which no graph may store"}]
    assert titles_of(tmp_path, "Document") == ["Plan"]


def test_an_unreadable_note_does_not_count_as_deleted(ledger: Ledger, tmp_path: Path) -> None:
    notes = folder_of(tmp_path / "notes", plan="# Plan\n\n- [ ] ship")
    import_notes(notes)
    (notes / "plan.md").write_bytes(b"\xff\xfe")
    assert import_notes(notes, code=1)["gone"] == 0
    assert titles_of(tmp_path, "Task") == ["ship"]


def test_erased_parts_are_counted_when_their_notes_are_read_again(ledger: Ledger, tmp_path: Path) -> None:
    notes = folder_of(tmp_path / "notes", plan="# Plan\n\n- [ ] ship")
    graph = import_notes(notes)["graph"]
    svc("forget", "local:bob")
    again = import_notes(notes)
    assert (again["documents"], again["written"], again["withheld"]) == (1, 0, {"forgotten": 2})
    said = CliRunner().invoke(app, ["world", "import", str(notes), "--owner", "local:bob"])
    assert (
        "2 nodes were erased before and remain erased; to import the notes again, use `--graph` with a new name"
        in said.stdout
    )
    assert import_notes(notes, "--graph", f"{graph}-again")["nodes"] == 2


def test_a_note_that_cannot_be_taken_is_named_by_its_path(ledger: Ledger, tmp_path: Path) -> None:
    notes = folder_of(tmp_path / "notes" / "tief")
    (notes / "Größe.md").write_text("- x\n" * 50_001)
    (left,) = import_notes(tmp_path / "notes", code=1)["leftOut"]
    assert left["file"] == "tief/Größe.md"


def test_notes_by_any_suffix_of_markdown_are_read_and_their_path_is_found(ledger: Ledger, tmp_path: Path) -> None:
    notes = folder_of(tmp_path / "notes")
    (notes / "A.MD").write_text("# Upper")
    (notes / "b.markdown").write_text("# Long")
    (notes / "Büro.md").write_text("# Office")
    (notes / "c.txt").write_text("# No note")
    import_notes(notes)
    assert titles_of(tmp_path, "Document") == ["Long", "Office", "Upper"]
    assert '"url":"Büro.md"' in (tmp_path / "out.jsonl").read_text()


def test_a_link_that_leads_out_of_the_folder_is_left_out(ledger: Ledger, tmp_path: Path) -> None:
    secret = tmp_path / "secret.md"
    secret.write_text("# Secret")
    notes = folder_of(tmp_path / "notes", plan="# Plan")
    (notes / "link.md").symlink_to(secret)
    (notes / "other.md").symlink_to(notes / "plan.md")
    done = import_notes(notes, code=1)
    assert done["leftOut"] == [{"file": "link.md", "reason": "it is a link that leads out of the folder"}]
    assert titles_of(tmp_path, "Document") == ["Plan", "Plan"]


def test_a_single_note_and_a_folder_without_notes_are_answered_as_such(ledger: Ledger, tmp_path: Path) -> None:
    notes = folder_of(tmp_path / "notes", plan="# Plan")
    refused = import_notes(notes / "plan.md", code=1)
    assert refused["detail"].endswith("plan.md is a note, and notes are imported by folder.")
    (tmp_path / "graph.jsonl").write_text("{}")
    refused = import_notes(tmp_path / "graph.jsonl", "--graph", "g", code=1)
    assert refused["detail"].endswith("graph.jsonl is not a folder of notes.")
    empty = folder_of(tmp_path / "empty")
    said = CliRunner().invoke(app, ["world", "import", str(empty), "--owner", "local:bob"])
    assert said.stdout.splitlines()[0] == "there are no notes: no file ends with .md or .markdown"
    assert said.exit_code == 0
