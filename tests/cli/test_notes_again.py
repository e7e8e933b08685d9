"""`svc world import` of notes whose statements are in the graph under other ids: imported from a file, or moved between
notes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner
from world_writes import no_rules, proposal

from cli.app import app
from contracts.settings import Settings
from contracts.world.proposal import Act, Actor, NodeDraft
from contracts.world.records import Node, is_live
from warehouse.ledger.ledger import Ledger, open_ledger
from warehouse.world.events import decode_edges, decode_nodes
from warehouse.world.forget import erase_node
from warehouse.world.write import propose

KIM, LEE = "local:kim", "local:lee"

CLUB = {
    "Tasks/Open.md": "# Open\n\n## Tasks\n\n- [ ] Renew passport by 2026-08-01\n- [ ] Give Claire the keys\n"
    "- [ ] Order the blue paint\n- [ ] Order the blue paint\n",
    "health.md": "# Health\n\nI weigh 81 kg.\n\nThe doctor is Dr. Eva Sand. Ask @ada about [[Harbour plan]].\n",
    "board.md": "# Board\n\nPresent: Ada Lovelace, Bo Li\n\nWe decided to sell the hall because it leaks.\n\n"
    "Ada will call Bo by 2026-09-03.\n",
    "risks.md": "# Risks\n\n| Risk | Owner |\n|--|--|\n| Frost | Bo Li |\n| Flood | Ada Lovelace |\n",
    "links.md": "# Links\n\nSee [the offer](https://x.example/a) and [the offer](https://x.example/b). Ask @ada.\n",
    "plan.md": "# Harbour plan\n\nOwner: Wei Zhang\nDepends on: SAP\n\n## Open risks\n\n- The pump is old\n",
    "2026/diary.md": "# Diary\n\nRosa came at noon. Ask @ada about [[Harbour plan]].\n\nI weigh 81 kg.\n",
    "2026/mail.md": "From: Ada Lovelace <ada@a.example>\nTo: Bo Li <bo@a.example>\nSubject: Keys\n\n"
    "Acme GmbH delivers.\n",
}


@pytest.fixture
def ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Ledger]:
    monkeypatch.setenv("SVC_DATA_DIR", str(tmp_path))
    monkeypatch.setenv("SVC_RPC_URLS", "http://127.0.0.1:9")
    monkeypatch.chdir(tmp_path)
    opened = open_ledger(Settings(_env_file=None), tmp_path)
    yield opened
    opened.close()


def svc(*arguments: str) -> dict[str, Any]:
    result = CliRunner().invoke(app, ["world", *arguments, "--json"])
    assert result.exit_code == 0, result.output
    return dict(json.loads(result.stdout))


def svc_code(*arguments: str) -> int:
    return CliRunner().invoke(app, ["world", *arguments, "--json"]).exit_code


def folder_of(path: Path, notes: dict[str, str]) -> Path:
    for name, text in notes.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_text(text)
    return path


def import_notes(notes: Path, owner: str = KIM) -> dict[str, Any]:
    return svc("import", str(notes), "--owner", owner, "--graph", "club")


def take_along(tmp_path: Path) -> None:
    """Moves Kim's graph to Lee through a file."""
    svc("export", str(tmp_path / "k.jsonl"), "--owner", KIM)
    svc("import", str(tmp_path / "k.jsonl"), "--owner", LEE)


def nodes_of(ledger: Ledger, owner: str, node_type: str) -> list[Node]:
    with ledger.read() as reader:
        return [
            node
            for node in decode_nodes(reader.rows("world_nodes_of_owner", owner=owner))
            if node.type == node_type and is_live(node)
        ]


def titles_of(ledger: Ledger, node_type: str, owner: str = KIM) -> list[str]:
    return sorted(node.title for node in nodes_of(ledger, owner, node_type))


def in_note(ledger: Ledger, title: str, note: str, node_type: str = "Task", owner: str = KIM) -> Node:
    """Returns the one live node of a title that was read from a note."""
    found = [node for node in nodes_of(ledger, owner, node_type) if node.title == title]
    (node,) = [node for node in found if any(f"{note}:" in span for span in node.properties.get("spans", ()))]
    return node


def edges_between(ledger: Ledger, source: Node, target: Node) -> list[str]:
    with ledger.read() as reader:
        edges = decode_edges(reader.rows("world_edges_at", node_id=source.id))
    return [edge.type for edge in edges if edge.target == target.id and is_live(edge)]


def correct(ledger: Ledger, node: Node, title: str) -> None:
    right = NodeDraft(id=f"right-{title.replace(' ', '-')}", type=node.type, title=title)
    act = Act("corrects", right.id, node.id, "it is so")
    stated = proposal(right, actor=Actor("caller", node.owner or ""), acts=(act,), source="a correction")
    assert propose(ledger, stated, alignment=no_rules).verdict == "approved"


def retract(ledger: Ledger, node: Node) -> None:
    reason = NodeDraft(id="not-so", type="Observation", title="This is over.")
    act = Act("retracts", reason.id, node.id, "it is not so")
    stated = proposal(reason, actor=Actor("caller", node.owner or ""), acts=(act,), source="a retraction")
    assert propose(ledger, stated, alignment=no_rules).verdict == "approved"


def erase(ledger: Ledger, node: Node) -> None:
    erase_node(ledger, Actor("caller", node.owner or ""), node.id)


def test_another_owner_of_a_transferred_graph_continues_with_its_notes(ledger: Ledger, tmp_path: Path) -> None:
    notes = folder_of(tmp_path / "notes", CLUB)
    import_notes(notes)
    correct(ledger, in_note(ledger, "Renew passport by 2026-08-01", "Tasks/Open.md"), "Renew passport by 2026-09-01")
    retract(ledger, in_note(ledger, "I weigh 81 kg.", "health.md", "Passage"))
    import_notes(notes)
    take_along(tmp_path)
    tasks = titles_of(ledger, "Task")
    assert "Renew passport by 2026-08-01" not in tasks and "Renew passport by 2026-09-01" in tasks

    again = import_notes(notes, LEE)
    assert (again["written"], again["gone"], again["moved"], again["withheld"]) == (0, 0, 0, {"corrected": 2})
    assert titles_of(ledger, "Task", LEE) == tasks
    assert titles_of(ledger, "Passage", LEE) == titles_of(ledger, "Passage")
    assert in_note(ledger, "I weigh 81 kg.", "2026/diary.md", "Passage", LEE), "only the other note's is retracted"


def test_a_transferred_graph_follows_its_notes(ledger: Ledger, tmp_path: Path) -> None:
    notes = folder_of(tmp_path / "notes", CLUB)
    import_notes(notes)
    take_along(tmp_path)
    flood = in_note(ledger, "Flood", "risks.md", "Risk", LEE)
    (notes / "2026/mail.md").rename(notes / "2026/keys.md")
    folder_of(
        notes,
        {
            "Tasks/Open.md": "# Open\n\n## Tasks\n\n- [ ] Water the plants\n- [ ] Order the blue paint\n",
            "risks.md": "# Risks\n\nThese.\n\n| Risk | Owner |\n|--|--|\n| Flood | Ada Lovelace |\n",
        },
    )
    again = import_notes(notes, LEE)
    assert (again["moved"], again["gone"], again["leftOut"]) == (1, 0, [])
    assert in_note(ledger, "Flood", "risks.md", "Risk", LEE).id == flood.id
    assert titles_of(ledger, "Risk", LEE) == ["Flood", "The pump is old"]
    assert titles_of(ledger, "Task", LEE) == ["Order the blue paint", "Water the plants", "call Bo"]
    assert import_notes(notes, LEE)["written"] == 0
    (notes / "risks.md").unlink()
    assert import_notes(notes, LEE)["gone"] == 1
    assert titles_of(ledger, "Risk", LEE) == ["The pump is old"]


def test_a_node_of_many_notes_is_written_once(ledger: Ledger, tmp_path: Path) -> None:
    many = {f"{number}.md": f"# Note {number}\n\nAsk @ada and @bo, or @ada.\n" for number in range(45)}
    notes = folder_of(tmp_path / "notes", many)
    import_notes(notes)
    assert import_notes(notes)["written"] == 0
    take_along(tmp_path)
    assert import_notes(notes, LEE)["written"] == 0


OPEN = "# Open\n\n## Tasks\n\n- [ ] Order the paint\n- [ ] Sweep the yard\n- [ ] Mow the lawn\n"
LEFT = ["Renew passport by 2026-08-01", "Give Claire the keys", "Water the plants"]


@pytest.mark.parametrize("new_note", ["Tasks/Personal.md", "A.md"])
def test_a_line_that_was_moved_to_another_note_is_still_the_same_statement(
    ledger: Ledger, tmp_path: Path, new_note: str
) -> None:
    lines = "".join(f"- [ ] {line}\n" for line in LEFT)
    notes = folder_of(tmp_path / "notes", {"Tasks/Open.md": OPEN + lines, "other.md": "# Other\n\nNothing."})
    import_notes(notes)
    correct(ledger, in_note(ledger, LEFT[0], "Open.md"), "Renew passport by 2026-09-01")
    erase(ledger, in_note(ledger, LEFT[1], "Open.md"))
    water = in_note(ledger, LEFT[2], "Open.md")
    folder_of(notes, {"Tasks/Open.md": OPEN, new_note: f"# Personal\n\n## Tasks\n\n{lines}"})

    moved = import_notes(notes)
    assert moved["withheld"] == {"corrected": 1, "forgotten": 1}
    kept = ["Mow the lawn", "Order the paint", "Renew passport by 2026-09-01", "Sweep the yard", "Water the plants"]
    assert titles_of(ledger, "Task") == kept
    again = in_note(ledger, LEFT[2], new_note)
    assert (again.id, again.valid_from) == (water.id, water.valid_from)
    assert [span.rpartition(":")[0] for span in again.properties["spans"]] == [new_note]

    same = import_notes(notes)
    assert (same["written"], same["withheld"]) == (0, moved["withheld"])
    (notes / "Tasks/Open.md").unlink()
    assert (import_notes(notes)["gone"], import_notes(notes)["withheld"]) == (1, moved["withheld"])
    assert titles_of(ledger, "Task") == ["Renew passport by 2026-09-01", "Water the plants"]
    folder_of(notes, {"Tasks/Open.md": OPEN + lines})
    import_notes(notes)
    assert in_note(ledger, LEFT[2], new_note).id == water.id
    assert in_note(ledger, LEFT[2], "Tasks/Open.md").id != water.id
    assert import_notes(notes)["written"] == 0


def test_passages_and_decisions_that_were_moved_stay_retracted_and_erased(ledger: Ledger, tmp_path: Path) -> None:
    told = "I weigh 81 kg.\n\nWe decided to sell the hall because it leaks.\n\nThe key is below the mat.\n"
    rest = "# Diary\n\nIt rains.\n\nWe ate fish.\n\nRosa came.\n\nThe cat slept.\n\n"
    notes = folder_of(tmp_path / "notes", {"diary.md": rest + told})
    import_notes(notes)
    retract(ledger, in_note(ledger, "I weigh 81 kg.", "diary.md", "Passage"))
    correct(ledger, in_note(ledger, "sell the hall", "diary.md", "Decision"), "let the hall")
    erase(ledger, in_note(ledger, "The key is below the mat.", "diary.md", "Passage"))
    folder_of(notes, {"diary.md": rest, "kept.md": f"# Kept\n\n{told}"})
    moved = import_notes(notes)
    assert (moved["moved"], moved["withheld"]) == (0, {"corrected": 2, "forgotten": 1})
    assert titles_of(ledger, "Decision") == ["let the hall"]
    passages = ["It rains.", "Rosa came.", "The cat slept.", "We ate fish."]
    assert titles_of(ledger, "Passage") == [*passages, "We decided to sell the hall because it leaks."]


def test_the_same_words_in_two_notes_are_two_statements(ledger: Ledger, tmp_path: Path) -> None:
    line = "# {}\n\n## Tasks\n\n- [ ] Call mum\n- [ ] Buy milk\n- [ ] Walk the dog {}\n"
    notes = folder_of(tmp_path / "notes", {f"{day}.md": line.format(day, day) for day in ("monday", "sunday")})
    import_notes(notes)
    erase(ledger, in_note(ledger, "Call mum", "monday.md"))
    correct(ledger, in_note(ledger, "Buy milk", "monday.md"), "Buy oat milk")
    folder_of(notes, {"friday.md": line.format("friday", "friday")})
    again = import_notes(notes)
    assert again["withheld"] == {"corrected": 1, "forgotten": 1}
    for day in ("sunday", "friday"):
        assert in_note(ledger, "Call mum", f"{day}.md") and in_note(ledger, "Buy milk", f"{day}.md")
    (notes / "unread.md").write_bytes(b"\xff")
    assert svc_code("import", str(notes), "--owner", KIM, "--graph", "club") == 1
    monday = (notes / "monday.md").read_bytes()
    (notes / "monday.md").write_bytes(monday + b"\xff")
    folder_of(notes, {"saturday.md": line.format("saturday", "saturday")})
    assert svc_code("import", str(notes), "--owner", KIM, "--graph", "club") == 1
    assert in_note(ledger, "Buy milk", "saturday.md"), "nobody knows whether the note that can't be read has it"


def test_erased_nodes_of_a_transferred_graph_stay_erased(ledger: Ledger, tmp_path: Path) -> None:
    notes = folder_of(tmp_path / "notes", CLUB)
    import_notes(notes)
    take_along(tmp_path)
    import_notes(notes, LEE)
    erase(ledger, in_note(ledger, "Give Claire the keys", "Open.md", owner=LEE))
    erase(ledger, in_note(ledger, "I weigh 81 kg.", "health.md", "Passage", LEE))
    again = import_notes(notes, LEE)
    assert (again["nodes"], again["withheld"]) == (0, {"forgotten": 2})
    assert "Give Claire the keys" not in titles_of(ledger, "Task", LEE)
    assert in_note(ledger, "I weigh 81 kg.", "diary.md", "Passage", LEE)
    assert import_notes(notes)["withheld"] == {}


PILES = "Luis Ortega will replace the piles by 2026-08-20."


@pytest.mark.parametrize(
    "others", [{"team.md": "# Team\n\nPresent: Luis Ortega\n"}, {"a.md": "Present: Luis Ortega"}, {}]
)
def test_a_task_stays_assigned_when_its_note_no_longer_names_the_person_as_owner(
    ledger: Ledger, tmp_path: Path, others: dict[str, str]
) -> None:
    pier = f"# Pier\n\nOwner: Luis Ortega\n\n{PILES}\n"
    notes = folder_of(tmp_path / "notes", {"pier.md": pier, **others})
    import_notes(notes)
    task = in_note(ledger, "replace the piles", "pier.md")
    luis = in_note(ledger, "Luis Ortega", "pier.md", "Person")
    folder_of(notes, {"pier.md": pier.replace("Owner: Luis Ortega", "Owner: Zoe Klein")})
    for _ in range(3):
        import_notes(notes)
        assert in_note(ledger, "replace the piles", "pier.md").id == task.id
        assert in_note(ledger, "Luis Ortega", "pier.md", "Person").id == luis.id
    assert import_notes(notes)["written"] == 0
    assert edges_between(ledger, task, luis) == ["ASSIGNED_TO"]
    assert edges_between(ledger, in_note(ledger, PILES, "pier.md", "Passage"), luis) == ["MENTIONS"]
    folder_of(notes, {"pier.md": "# Pier\n\nOwner: Zoe Klein\n"})
    import_notes(notes)
    assert titles_of(ledger, "Task") == []
    assert [node for node in nodes_of(ledger, KIM, "Person") if node.id == luis.id] == []


def test_people_of_one_note_are_known_in_all_others_in_whatever_order(ledger: Ledger, tmp_path: Path) -> None:
    notes = {
        "a.md": f"# A\n\n{PILES}\n\n## Tasks\n\n- Luis Ortega: call the bank\n- Luis: ask Bo\n\nLuis was late.\n",
        "m.md": "# M\n\nOwner: Luis Ortega\n",
        "z.md": f"# Z\n\n{PILES}\n\nLuis Ortega Street is long.\n",
        "zz.md": "# ZZ\n\nLuis will sweep by 2026-08-21. Ask Luis.\n",
    }
    import_notes(folder_of(tmp_path / "notes", notes))
    assert in_note(ledger, "call the bank", "a.md")
    assert in_note(ledger, "replace the piles", "a.md") and in_note(ledger, "replace the piles", "z.md")
    people = [span.rpartition(":")[0] for each in nodes_of(ledger, KIM, "Person") for span in each.properties["spans"]]
    assert set(people) == {"a.md", "m.md", "z.md"}, "a first name by itself refers to nobody in another note"
    assert import_notes(tmp_path / "notes")["written"] == 0


def test_a_person_whom_no_note_introduces_any_more_is_no_longer_mentioned(ledger: Ledger, tmp_path: Path) -> None:
    notes = {"a.md": "# A\n\nOwner: Berlin Harbour\n", "b.md": "# B\n\nWe saw Berlin Harbour.\n"}
    import_notes(folder_of(tmp_path / "notes", notes))
    assert titles_of(ledger, "Person") == ["Berlin Harbour", "Berlin Harbour"]
    folder_of(tmp_path / "notes", {"a.md": "# A\n\nPlace: Berlin Harbour\n"})
    import_notes(tmp_path / "notes")
    assert titles_of(ledger, "Person") == []
    assert import_notes(tmp_path / "notes")["written"] == 0


HARBOUR = "# Harbour\n\nPresent: Eva Sand\n\n## Tasks\n- Eva: call the bank by 2026-05-08\n"


@pytest.mark.parametrize("corrected", ["a.md", "b.md"])
def test_a_corrected_person_is_still_named_in_the_other_notes(ledger: Ledger, tmp_path: Path, corrected: str) -> None:
    notes = folder_of(
        tmp_path / "notes", {"a.md": HARBOUR, "b.md": "# Family\n\nYesterday I met Eva Sand at the market.\n"}
    )
    import_notes(notes)
    correct(ledger, in_note(ledger, "Eva Sand", corrected, "Person"), "Eva Sander")
    for _ in range(3):
        again = import_notes(notes)
        assert (again["written"], again["withheld"]) == (0, {"corrected": 1})
    assert titles_of(ledger, "Person") == ["Eva Sand", "Eva Sander"]


@pytest.mark.parametrize("corrections", [["Luis Ortegas"], ["Luis Ortegas", "Luis Hortega"]])
def test_a_task_stays_with_a_corrected_person_whom_only_the_task_names(
    ledger: Ledger, tmp_path: Path, corrections: list[str]
) -> None:
    notes = folder_of(tmp_path / "notes", {"pier.md": f"# Pier\n\nOwner: Luis Ortega\n\n{PILES}\n"})
    import_notes(notes)
    folder_of(notes, {"pier.md": f"# Pier\n\nOwner: Zoe Klein\n\n{PILES}\n"})
    import_notes(notes)
    for before, after in pairwise(["Luis Ortega", *corrections]):
        (person,) = [person for person in nodes_of(ledger, KIM, "Person") if person.title == before]
        correct(ledger, person, after)
    (person,) = [person for person in nodes_of(ledger, KIM, "Person") if person.title == corrections[-1]]
    for _ in range(3):
        assert import_notes(notes)["written"] == 0
        assert edges_between(ledger, in_note(ledger, "replace the piles", "pier.md"), person) == ["ASSIGNED_TO"]


def test_a_correction_that_is_corrected_or_retracted_leaves_unchanged_notes_as_they_are(
    ledger: Ledger, tmp_path: Path
) -> None:
    notes = folder_of(tmp_path / "notes", {"a.md": f"{HARBOUR}\nWe thank Eva Sand.\n"})
    import_notes(notes)
    correct(ledger, in_note(ledger, "Eva Sand", "a.md", "Person"), "Eva Sander")
    (sander,) = nodes_of(ledger, KIM, "Person")
    correct(ledger, sander, "Eva Zander")
    assert import_notes(notes)["written"] == 0
    (zander,) = nodes_of(ledger, KIM, "Person")
    assert edges_between(ledger, in_note(ledger, "call the bank by 2026-05-08", "a.md"), zander) == ["ASSIGNED_TO"]
    retract(ledger, zander)
    assert (import_notes(notes)["written"], titles_of(ledger, "Person")) == (0, [])
