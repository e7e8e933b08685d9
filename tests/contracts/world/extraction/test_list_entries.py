"""The words before the colon of a list entry may be a person or a state, which are no names of things."""

from datetime import UTC, datetime

import pytest

from contracts.world.extraction.build import BuildRequest, BuiltGraph, build_graph

NOW = datetime(2026, 11, 28, tzinfo=UTC)
PRESENT = "# Sync\n\nPresent: Ada Byron, Bo Li"


def read(text: str) -> BuiltGraph:
    document = {"id": "d", "text": text, "media_type": "text/markdown"}
    return build_graph(BuildRequest(documents=[document]), "local:ada", NOW)


def listed(heading: str, *entries: str) -> BuiltGraph:
    return read(f"{PRESENT}\n\n## {heading}\n\n" + "\n".join(f"- {entry}" for entry in entries))


def made(graph: BuiltGraph) -> list[tuple[str, str]]:
    return [(node.type, node.title) for node in graph.nodes if node.type not in ("Document", "Person", "Passage")]


def texts(graph: BuiltGraph) -> list[str]:
    return [node.properties["text"] for node in graph.nodes if node.type == "Passage"]


def edges(graph: BuiltGraph) -> set[tuple[str, str, str]]:
    title = {node.id: node.title for node in graph.nodes}
    return {
        (title[edge.source], edge.type, title[edge.target])
        for edge in graph.edges
        if edge.type != "PART_OF" and title[edge.source] != "Sync"
    }


def status(graph: BuiltGraph) -> dict[str, str | None]:
    return {node.title: node.properties.get("status") for node in graph.nodes if node.type in ("Task", "Goal")}


@pytest.mark.parametrize(
    ("heading", "kind", "edge"),
    [
        ("Tasks", "Task", "ASSIGNED_TO"),
        ("Actions", "Action", "ASSIGNED_TO"),
        ("Goals", "Goal", "ASSIGNED_TO"),
        ("Ziele", "Goal", "ASSIGNED_TO"),
        ("Decisions", "Decision", "MENTIONS"),
        ("Entscheidungen", "Decision", "MENTIONS"),
        ("Décisions", "Decision", "MENTIONS"),
        ("Decisiones", "Decision", "MENTIONS"),
        ("Decisioni", "Decision", "MENTIONS"),
        ("Risks", "Risk", "MENTIONS"),
        ("Risques", "Risk", "MENTIONS"),
    ],
)
def test_an_entry_that_begins_with_a_person_is_the_text_after_the_name(heading, kind, edge):
    graph = listed(heading, "Ada Byron: paint the shed", "Bo : sell the boat")
    assert made(graph) == [(kind, "paint the shed"), (kind, "sell the boat")]
    assert edges(graph) == {("paint the shed", edge, "Ada Byron"), ("sell the boat", edge, "Bo Li")}


def test_an_unknown_name_before_a_colon_names_nothing():
    assert made(listed("Actions", "Marc : appeler le notaire")) == [("Action", "appeler le notaire")]
    assert made(listed("Entscheidungen", "Jutta Krämer: Schiefer nehmen")) == [
        ("Decision", "Jutta Krämer: Schiefer nehmen")
    ]
    assert made(listed("Risks", "Marc: pump fails", "Vendor lock-in: costs rise", "**Frost**: pipes burst")) == [
        ("Risk", "Marc: pump fails"),
        ("Risk", "Vendor lock-in"),
        ("Risk", "Frost"),
    ]


@pytest.mark.parametrize(
    ("heading", "entry"),
    [
        ("Tasks", "Not needed: buy lamp"),
        ("Tasks", "Cancelled: buy lamp"),
        ("Tasks", "Postponed: buy lamp"),
        ("Tasks", "Buy lamp - cancelled"),
        ("Tasks", "Buy lamp (no longer needed)"),
        ("Actions", "Skipped: buy lamp"),
        ("Aufgaben", "Nicht nötig: Lampe kaufen"),
        ("Aufgaben", "Lampe kaufen (entfällt)"),
        ("Tâches", "Pas nécessaire : acheter une lampe"),
        ("Tareas", "No necesario: comprar"),
        ("Da fare", "Non serve: comprare"),
        ("Risks", "Resolved: flood"),
        ("Risks", "Flood (closed)"),
        ("Risiken", "Behoben: Flut"),
        ("Risques", "Résolu : inondation"),
        ("Riesgos", "Resuelto: inundación"),
        ("Rischi", "Risolto: alluvione"),
        ("Decisions", "Draft: use straw"),
        ("Decisions", "Proposed: use straw"),
        ("Decisions", "Use straw (proposed)"),
        ("Beschlüsse", "Entwurf: Stroh"),
        ("Décisions", "Brouillon : paille"),
        ("Tasks", "Status: late"),
    ],
)
def test_an_entry_that_is_cancelled_over_or_a_draft_is_only_a_passage(heading, entry):
    graph = listed(heading, entry)
    assert (made(graph), texts(graph)) == ([], [entry])


@pytest.mark.parametrize(
    ("heading", "entry", "title"),
    [
        ("Tasks", "Done: paint", "paint"),
        ("Tasks", "Paint (done)", "Paint (done)"),
        ("Goals", "Achieved: sell ten", "sell ten"),
        ("Aufgaben", "erledigt: malen", "malen"),
        ("Tâches", "Fait : peindre", "peindre"),
        ("Tareas", "Hecho: pintar", "pintar"),
        ("Da fare", "Fatto: dipingere", "dipingere"),
        ("Te doen", "Klaar: verven", "verven"),
    ],
)
def test_a_finished_entry_is_done(heading, entry, title):
    assert status(listed(heading, entry)) == {title: "done"}


@pytest.mark.parametrize(
    "entry",
    [
        "Unanimous: buy wood",
        "Agreed: buy wood",
        "Einstimmig: buy wood",
        "À l’unanimité : buy wood",
        "Por unanimidad: buy wood",
        "All'unanimità: buy wood",
    ],
)
def test_the_majority_before_a_decision_is_not_its_name(entry):
    assert made(listed("Decisions", entry)) == [("Decision", "buy wood")]


def test_a_word_that_describes_a_thing_is_not_its_state():
    assert made(listed("Decisions", "Helmets (required)")) == [("Decision", "Helmets (required)")]
    assert status(listed("Tasks", "[ ] Pay (postponed)", "Open the shop")) == {
        "Pay (postponed)": "open",
        "Open the shop": None,
    }


@pytest.mark.parametrize(
    ("entry", "state"),
    [
        ("[ ] Dig - cancelled", "cancelled"),
        ("[ ] Dig (not needed)", "cancelled"),
        ("[ ] Dig - gestrichen", "cancelled"),
        ("[ ] Dig – annulé", "cancelled"),
        ("[ ] Dig (cancelado)", "cancelled"),
        ("[ ] Dig (done)", "done"),
        ("[ ] Dig - erledigt", "done"),
        ("[x] Dig - cancelled", "done"),
        ("[ ] Dig - deep", "open"),
    ],
)
def test_a_remark_at_the_end_of_a_checkbox_gives_its_state(entry, state):
    assert list(status(listed("Notes", entry)).values()) == [state]


def test_the_value_of_a_key_for_a_name_is_the_name():
    people = listed("People", "Name: Cy Dee\n  Role: CTO", "name: Di Orr")
    assert [(node.title, node.properties) for node in people.nodes if node.type == "Person"][2:] == [
        ("Cy Dee", {"role": "CTO"}),
        ("Di Orr", {}),
    ]
    task = listed("Tasks", "Title: Paint\n  Assignee: Bo Li\n  Due: 2026-05-01")
    assert (made(task), edges(task)) == ([("Task", "Paint")], {("Paint", "ASSIGNED_TO", "Bo Li")})


@pytest.mark.parametrize(
    "entry",
    [
        "Bo Li is on holiday until 2026-05-20",
        "Bo remains treasurer until 2026-05-21",
        "Bo Li works part-time until 2026-05-20",
        "Bo Li is responsible for the keys until 2026-05-20",
        "The shop is closed until 2026-05-20",
        "Bo Li ist bis 2026-05-20 im Urlaub",
        "Bo Li bleibt Kassenwart bis 2026-05-21",
        "Die Werkstatt ist bis zum 2026-05-20 zu",
        "Bo Li est en vacances jusqu'au 2026-05-20",
        "Bo Li reste trésorier jusqu’au 2026-05-21",
        "Bo Li está de vacaciones hasta el 2026-05-20",
        "Bo Li è in vacanza fino al 2026-05-20",
        "O Bo está de férias até 2026-05-20",
        "Bo Li blijft penningmeester tot 2026-05-21",
    ],
)
@pytest.mark.parametrize("heading", ["Action items", "Actions"])
def test_a_state_until_a_day_is_no_task_and_has_no_due_day(heading, entry):
    graph = listed(heading, entry)
    assert (made(graph), texts(graph)) == ([], [entry])
    box = listed("Notes", f"[ ] {entry}")
    assert all("due_on" not in node.properties for node in [*graph.nodes, *box.nodes])


@pytest.mark.parametrize(
    ("entry", "day"),
    [
        ("Bo Li is to pay by 2026-05-20", "2026-05-20"),
        ("Bo Li to paint until 2026-05-20", "2026-05-20"),
        ("Finish the report until 2026-05-20", "2026-05-20"),
        ("Bericht bis 2026-05-20 schreiben", "2026-05-20"),
        ("The report is to be written by 2026-05-20", "2026-05-20"),
        ("Pay the invoice due 2026-05-20", "2026-05-20"),
        ("Dispute the invoice due 2026-01-01 before 2026-05-20", "2026-05-20"),
        ("Dispute the invoice due on 2026-01-01 by 2026-05-20", "2026-05-20"),
        ("Rechnung fällig am 2026-01-01 bis 2026-05-20 anfechten", "2026-05-20"),
        ("Reclamar la factura que vence el 2026-01-01 antes del 2026-05-20", "2026-05-20"),
        ("Send a reminder by 2026-05-20 for the invoice due 2026-07-01", "2026-05-20"),
        ("Report due 2026-05-20 and slides due 2026-07-01", "2026-05-20"),
    ],
)
def test_the_day_of_a_task_is_not_the_day_of_the_thing_that_it_is_about(entry, day):
    (task,) = [node for node in listed("Tasks", entry).nodes if node.type == "Task"]
    assert task.properties["due_on"] == day


@pytest.mark.parametrize(
    ("heading", "state", "made_of", "status_of"),
    [
        ("Tasks", "Done", "Task", "done"),
        ("Tasks", "In progress", "Task", "in progress"),
        ("Tasks", "Open", "Task", None),
        ("Tasks", "High priority", "Task", None),
        ("Tasks", "Cancelled", None, None),
        ("Goals", "Achieved", "Goal", "done"),
        ("Goals", "Short term", "Goal", None),
        ("Risks", "High", "Risk", None),
        ("Risks", "Closed", None, None),
        ("Decisions", "Proposed", None, None),
        ("Decisions", "Draft", None, None),
        ("Decisions", "Under discussion", None, None),
        ("Decisions", "Accepted", "Decision", None),
        ("Aufgaben", "Erledigt", "Task", "done"),
        ("Aufgaben", "In Arbeit", "Task", "in arbeit"),
        ("Entscheidungen", "Vorgeschlagen", None, None),
        ("Entscheidungen", "Angenommen", "Decision", None),
        ("Tâches", "Faites", "Task", "done"),
        ("Décisions", "Proposées", None, None),
        ("Décisions", "En suspens", None, None),
        ("Tareas", "En curso", "Task", "en curso"),
        ("Decisiones", "Propuestas", None, None),
        ("Da fare", "Completati", "Task", "done"),
        ("Decisioni", "Proposte", None, None),
    ],
)
def test_a_state_that_divides_a_list_is_no_entry_and_holds_for_those_below_it(heading, state, made_of, status_of):
    for text in (
        f"# Log\n\n## {heading}\n\n### {state}\n\n- Use straw",
        f"# Log\n\n## {heading}\n\n{state}:\n\n- Use straw",
        f"# Log\n\n## {heading}\n\n- {state}\n  - Use straw",
        f"# Log\n\n## {heading}\n\n**{state}**\n\n- Use straw",
        f"# {heading}\n\n## {state}\n\n- Use straw",
    ):
        graph = read(text)
        assert made(graph) == ([(made_of, "Use straw")] if made_of else [])
        assert [node.properties.get("status") for node in graph.nodes if node.type == made_of] == [status_of] * bool(
            made_of
        )


def test_the_same_holds_for_actions():
    graph = read("# Log\n\n## Actions\n\n### Done\n\n- Paint\n\n## Actions\n\n**In progress**\n\n- Mow")
    assert made(graph) == [("Action", "Paint"), ("Action", "Mow")]
    assert [node.properties["status"] for node in graph.nodes if node.type == "Action"] == ["done", "in progress"]


def test_a_heading_of_a_type_with_a_state_announces_entries_of_that_state():
    assert made(read("# L\n\n## Decisions: proposed\n\n- Use straw")) == []
    assert status(read("# L\n\n## Tasks – in progress\n\n- Mow")) == {"Mow": "in progress"}
    assert made(read("# L\n\n## Decision: use slate\n\n## Task: paint")) == [
        ("Decision", "use slate"),
        ("Task", "paint"),
    ]


def test_a_topic_below_a_heading_of_a_list_and_a_word_without_items_below_it_stay_entries():
    graph = read("# L\n\n## Decisions\n\n### Use mud\n\nIt is cheap.\n\n## Tasks\n\n- Testing\n- Review\n- [x] Done")
    assert made(graph) == [("Decision", "Use mud"), ("Task", "Testing"), ("Task", "Review"), ("Task", "Done")]


def test_several_people_before_a_colon_are_no_name_of_the_entry_either():
    known = listed("Decisions", "Ada Byron and Bo: use wood", "Ada, Bo & Cy: use tin")
    assert made(known) == [("Decision", "use wood"), ("Decision", "Ada, Bo & Cy: use tin")]
    assert edges(known) == {("use wood", "MENTIONS", "Ada Byron"), ("use wood", "MENTIONS", "Bo Li")}
    assert made(listed("Goals", "Ada und Bo: sell")) == [("Goal", "sell")]


def test_the_words_of_keys_are_terms_in_a_glossary():
    assert made(listed("Glossary", "Name: how a thing is called", "Status: where it stands")) == [
        ("Concept", "Name"),
        ("Concept", "Status"),
    ]


def test_something_that_is_to_be_done_until_a_day_stays_a_task():
    for entry in ("Der Bericht ist bis 2026-05-20 zu schreiben", "Le rapport est à rendre jusqu'au 2026-05-20"):
        assert made(listed("Tasks", entry)) == [("Task", entry)]
