"""A text states nothing by what it denies, ends, strikes out or only quotes. A search finds such words as a passage."""

import time
from datetime import UTC, datetime

import pytest

from contracts.world.extraction.build import BuildRequest, BuiltGraph, build_graph

NOW = datetime(2026, 11, 28, tzinfo=UTC)


def read(text: str, media_type: str = "text/markdown") -> BuiltGraph:
    document = {"id": "d", "text": text, "media_type": media_type}
    return build_graph(BuildRequest(documents=[document]), "local:ada", NOW)


def titles(graph: BuiltGraph, *types: str) -> list[str]:
    return [node.title for node in graph.nodes if node.type in types]


def edges(graph: BuiltGraph) -> set[tuple[str, str, str]]:
    """Returns every edge except those that only state where something is."""
    title = {node.id: node.title for node in graph.nodes}
    return {(title[e.source], e.type, title[e.target]) for e in graph.edges if e.type != "PART_OF"}


def texts(graph: BuiltGraph) -> list[str]:
    return [node.properties["text"] for node in graph.nodes if node.type == "Passage"]


def properties(graph: BuiltGraph, title: str) -> dict:
    return next(node.properties for node in graph.nodes if node.title == title)


@pytest.mark.parametrize(
    ("denied", "label", "edge"),
    [
        ("Former owner", "Owner", "OWNED_BY"),
        ("Not an owner", "Owner", "OWNED_BY"),
        ("No owner", "Owner", "OWNED_BY"),
        ("Proposed owner", "Owner", "OWNED_BY"),
        ("Owner (former)", "Owner", "OWNED_BY"),
        ("**Previous owner**", "**Owner**", "OWNED_BY"),
        ("Not responsible", "Responsible", "ASSIGNED_TO"),
        ("No longer responsible", "Responsible", "ASSIGNED_TO"),
        ("Nicht verantwortlich", "Verantwortlich", "ASSIGNED_TO"),
        ("Ehemaliger Verantwortlicher", "Verantwortlicher", "ASSIGNED_TO"),
        ("Stellvertretender Verantwortlicher", "Verantwortlicher", "ASSIGNED_TO"),
        ("Ancien responsable ", "Responsable ", "ASSIGNED_TO"),
        ("Antiguo responsable", "Responsable", "ASSIGNED_TO"),
        ("Ex responsabile", "Responsabile", "ASSIGNED_TO"),
        ("Antigo responsável", "Responsável", "ASSIGNED_TO"),
        ("Niet verantwoordelijk", "Verantwoordelijk", "ASSIGNED_TO"),
    ],
)
def test_a_label_that_denies_ends_or_weakens_a_role_gives_it_to_nobody(denied, label, edge):
    graph = read(f"# Falcon\n\n{denied}: Dan Old\n{label}: Ann Lee")
    assert edges(graph) == {("Falcon", edge, "Ann Lee")}
    assert (titles(graph, "Person"), texts(graph)) == (["Ann Lee"], [f"{denied}: Dan Old"])


def test_a_column_or_key_that_denies_or_ends_a_role_is_only_a_property():
    table = read("| Project | Former owner | Owner |\n|--|--|--|\n| Falcon | Dan Old | Ann Lee |")
    objects = read('{"name": "Falcon", "notOwner": "Bo Park", "owner": "Ann Lee"}', "application/json")
    front = read("---\ntitle: Falcon\nnot_owner: Bo Park\nformer_owner: Dan Old\nowner: Ann Lee\n---\nText.")
    csv = read("Projekt,Ehemaliger Verantwortlicher,Owner\nFalcon,Dan Old,Ann Lee", "text/csv")
    for graph in (table, objects, front, csv):
        assert edges(graph) == {("Falcon", "OWNED_BY", "Ann Lee")}
    assert properties(table, "Falcon") == {"former_owner": "Dan Old"}
    assert texts(front) == ["not_owner: Bo Park", "former_owner: Dan Old", "Text."]


@pytest.mark.parametrize(
    "line",
    [
        "Rejected decision: buy SAP",
        "**Rejected decision**: buy SAP",
        "Decision (rejected): buy SAP",
        "Decision (pending): buy SAP",
        "Old deadline: 2026-01-01",
        "Previous status: open",
    ],
)
def test_a_label_that_ends_or_rejects_what_it_names_states_nothing(line):
    graph = read(f"# Falcon\n\n{line}\n\nStatus: green\nDeadline: 2026-05-01")
    assert (edges(graph), titles(graph, "Decision", "Concept"), texts(graph)) == (set(), [], [line])
    assert properties(graph, "Falcon")["due_on"] == "2026-05-01"
    assert properties(graph, "Falcon")["status"] == "green"
    assert all("due_on" not in node.properties for node in graph.nodes if node.type == "Passage")


def test_a_former_owner_after_a_task_is_not_its_owner():
    graph = read("# T\n\n- [ ] Call Bo. It is late (former owner: Dan Old)\n- [ ] Pay. It is late (owner: Ann Lee)")
    assert edges(graph) == {("Pay", "OWNED_BY", "Ann Lee")}
    assert "Dan Old" in properties(graph, "Call Bo")["description"]


def test_words_that_deny_are_names_elsewhere_and_people_who_are_away_are_mentioned():
    graph = read("# T\n\nOld boat: sold in May\nNot present: Dan Old\nOriginal author: Ann Lee")
    assert properties(graph, "T")["old_boat"] == "sold in May"
    assert edges(graph) == {("T", "MENTIONS", "Dan Old"), ("Ann Lee", "PRODUCED", "T")}


def test_struck_text_states_nothing_and_the_text_next_to_it_is_read_without_it():
    graph = read("# Falcon\n\nOwner: ~~Ann Lee~~ Bo Park\n\nDue: ~~2026-01-01~~ 2026-02-01\n\n~~Decision: buy SAP~~")
    assert edges(graph) == {("Falcon", "OWNED_BY", "Bo Park")}
    assert (properties(graph, "Falcon")["due_on"], titles(graph, "Decision")) == ("2026-02-01", [])
    assert texts(graph) == ["Due: ~~2026-01-01~~ 2026-02-01", "~~Decision: buy SAP~~"]
    arrow = read("# Falcon\n\n- **Owner:** ~~Ann Lee~~ → Bo Park")
    assert edges(arrow) == {("Falcon", "OWNED_BY", "Bo Park")}
    html = read("# Falcon\n\n<del>Owner: Ann Lee</del>\nOwner: Bo Park")
    assert edges(html) == {("Falcon", "OWNED_BY", "Bo Park")}


@pytest.mark.parametrize(
    ("entry", "made"),
    [
        ("- [ ] ~~Call Ann~~", []),
        ("- ~~[ ] Call Ann~~", []),
        ("- ~~Bo: call vendor~~", []),
        ("- [x] ~~Pay the rent~~ skipped", []),
        ("- ~~Pay the rent~~ no longer needed", []),
        ("- [ ] ~~Call Ann~~ Call Bo", ["Call Bo"]),
        ("- Call Bo ~~and Ann~~", ["Call Bo"]),
        ("- Run `rm ~~old~~ new`", ["Run rm ~~old~~ new"]),
        ("- Wait ~5 or ~6 days", ["Wait ~5 or ~6 days"]),
    ],
)
def test_a_struck_task_is_no_task(entry, made):
    graph = read(f"# T\n\n## Tasks\n\n{entry}")
    assert (titles(graph, "Task"), edges(graph)) == (made, set())
    assert made or texts(graph) == [entry.removeprefix("- ")] or "skipped" in texts(graph)[0]


def test_cells_and_headings_that_are_struck_through_state_nothing():
    table = "| Project | Owner |\n|--|--|\n| Falcon | ~~Ann Lee~~ Bo Park |\n| ~~Hawk~~ | Cy Dee |"
    graph = read(
        f"# T\n\n{table}\n\n## ~~Risks~~\n\n- Frost\n\n### Decision: sail\n\nOwner: Cy Dee\n\n## Risks\n\n- Fire"
    )
    assert edges(graph) == {("Falcon", "OWNED_BY", "Bo Park")}
    assert (titles(graph, "Project"), titles(graph, "Risk"), titles(graph, "Decision")) == (["Falcon"], ["Fire"], [])
    assert texts(graph) == ["~~Hawk~~ | Cy Dee", "Frost", "Owner: Cy Dee"]
    csv = read("Project,Owner\nFalcon,~~Ann Lee~~ Bo Park", "text/csv")
    assert edges(csv) == {("Falcon", "OWNED_BY", "Bo Park")}


def test_tildes_in_objects_strike_nothing_through():
    graph = read('{"goals": ["~~a", "b~~"]}', "application/json")
    assert titles(graph, "Goal") == ["~~a", "b~~"]


HEAD = "From: Zed Foo\nSent: Monday, March 2, 2026 9:00 AM\nTo: Alice Kern\nSubject: plan"
GERMAN = "Von: Zed Foo\nGesendet: Montag, 2. März 2026 09:00\nAn: Alice Kern\nBetreff: Plan"
OLDER = "We decided to fly.\n\nOwner: Zed Foo\n\n# Decision: sail\n\n| Task | Owner |\n|--|--|\n| Row | Zed Foo |"


@pytest.mark.parametrize(
    "above",
    [
        "---------- Forwarded message ---------\nFrom: Zed Foo\nSubject: plan",
        "---------- Weitergeleitete Nachricht ---------\nVon: Zed Foo",
        "Begin forwarded message:\n\nFrom: Zed Foo\nSubject: plan\nDate: 2 March 2026",
        HEAD,
        f"________________________________\n{HEAD}",
        GERMAN,
        "**From:** Zed Foo\n**Sent:** Monday\n**To:** Alice Kern\n**Subject:** plan",
        "On Mon, 2 Mar 2026 at 10:04, Zed Foo wrote:",
        "Le lun. 2 mars 2026 à 09:00, Zed Foo <zed@foo.example> a écrit :",
        "Am 02.03.2026 um 10:04 schrieb Zed Foo:",
    ],
)
def test_a_mail_states_nothing_of_an_older_one_below_it_without_quote_markers(above):
    graph = read(f"Hi,\n\nOwner: Ann Lee\n\n{above}\n\n{OLDER}", "text/plain")
    assert {edge for edge in edges(graph) if edge[1] != "MENTIONS"} == {("d", "OWNED_BY", "Ann Lee")}
    assert titles(graph, "Decision", "Task", "Concept") == []
    assert {"We decided to fly.", "Owner: Zed Foo", "Row | Zed Foo"} <= set(texts(graph))


@pytest.mark.parametrize(
    "above",
    [
        HEAD,
        f"# The mail\n\n{HEAD}",
        "On 3 March 2026 the council wrote:",
        "Hi,\n\nOn Mon, 2 Mar 2026 at 10:04, Zed Foo wrote:\n\n> Owner: Zed Foo",
        "Hi,\n\nFrom: Bern\nTo: Rome\nDate: 2 March 2026",
    ],
)
def test_a_mail_and_the_text_below_the_quoted_lines_of_an_older_one_are_read(above):
    graph = read(f"{above}\n\nOwner: Ann Lee")
    assert {(kind, title) for _, kind, title in edges(graph) if kind == "OWNED_BY"} == {("OWNED_BY", "Ann Lee")}


def test_a_head_directly_below_the_words_of_a_mail_begins_the_older_one():
    graph = read(f"{HEAD}\n\nOwner: Bo Park\n\n{HEAD.replace('plan', 'old')}\n\nOwner: Zed Foo", "text/plain")
    assert [title for _, kind, title in edges(graph) if kind == "OWNED_BY"] == ["Bo Park"]
    joined = read("Hi,\nOwner: Bo Park\n-----Original Message-----\nOwner: Zed Foo", "text/plain")
    assert "Zed Foo" not in [title for _, kind, title in edges(joined) if kind == "OWNED_BY"]


@pytest.mark.parametrize(
    "heading",
    [
        "Rejected decisions",
        "Decisions (rejected)",
        "Possible decisions",
        "Decisions not taken",
        "Verworfene Entscheidungen",
        "Keine Entscheidungen",
        "Offene Entscheidungen",
        "Décisions rejetées",
        "Decisiones descartadas",
        "Risks we do not have",
        "Things that are not tasks",
        "Cancelled tasks",
        "Abgesagte Aufgaben",
        "~~Tasks~~",
    ],
)
def test_a_heading_that_denies_or_rejects_what_it_names_announces_nothing(heading):
    graph = read(f"# T\n\n## {heading}\n\n- Buy SAP\n\n## Goals\n\n- Sell")
    assert (titles(graph, "Decision", "Risk", "Task"), titles(graph, "Goal")) == ([], ["Sell"])
    assert texts(graph) == ["Buy SAP"]


def test_nothing_below_a_heading_of_rejected_items_states_anything():
    below = "- [ ] Pay\n- Decision: buy CRM\n\n| Decision | Owner |\n|--|--|\n| Buy ERP | Bo Li |\n\n### Goal: sail"
    for heading in ("Rejected decisions", "Cancelled tasks", "Rejected"):
        graph = read(f"# T\n\n## {heading}\n\n{below}\n\n## Decisions\n\n- Sell")
        assert (titles(graph, "Decision", "Task", "Goal", "Concept"), edges(graph)) == (["Sell"], set())
    text = "# T\n\n## Decisions\n\n- Sell\n\n### Decisions we do not take\n\n- Buy SAP\n\n### Rejected\n\n- Fly"
    assert titles(read(text), "Decision") == ["Sell"]
    lines = read(
        "# T\n\n## Decisions\n\nRejected decisions:\n\n- Buy SAP\n- Decision: fly\n\nAccepted decisions:\n\n- Sell"
    )
    assert titles(lines, "Decision") == ["Sell"]
    assert titles(read("# T\n\n## Decisions\n\n- Rejected: buy SAP\n- Sell"), "Decision") == ["Sell"]


@pytest.mark.parametrize(
    ("heading", "properties_of_task"),
    [
        ("Completed tasks", {"status": "done"}),
        ("Tasks (done)", {"status": "done"}),
        ("Erledigte Aufgaben", {"status": "done"}),
        ("Abgeschlossene Aufgaben", {"status": "done"}),
        ("Tasks to be done", {}),
        ("Open tasks", {}),
    ],
)
def test_tasks_below_a_heading_for_those_that_are_done_are_done(heading, properties_of_task):
    graph = read(f"# T\n\n## {heading}\n\n- Call Bo\n- [ ] Call Cy")
    assert properties(graph, "Call Bo") == properties_of_task
    assert properties(graph, "Call Cy") == {"status": "open"}


@pytest.mark.parametrize(
    "entry",
    [
        "None identified.",
        "None at this time.",
        "None",
        "n/a",
        "Keine",
        "Keine bekannt",
        "Keine Risiken",
        "Aucun risque",
        "Geen",
    ],
)
def test_an_entry_that_says_that_there_is_no_risk_is_no_risk(entry):
    assert titles(read(f"# T\n\n## Risks\n\n- {entry}\n- Frost"), "Risk") == ["Frost"]


@pytest.mark.parametrize("line", ["`Owner: Inline` is how you write it.", "- `Decision: buy` is the form"])
def test_a_label_in_code_together_with_its_value_is_only_an_example_of_syntax(line):
    graph = read(f"# T\n\n{line}\n\n`Owner`: Ann Lee")
    assert (edges(graph), titles(graph, "Decision")) == ({("T", "OWNED_BY", "Ann Lee")}, [])
    assert texts(graph) == [line.removeprefix("- ")]


def test_commented_parts_of_an_outline_state_nothing():
    graph = read("#+TITLE: Plan\n* TODO Write\n* COMMENT Later\n  Owner: Cy Ko\n** TODO Sail\n* DONE Pay", "text/plain")
    assert (titles(graph, "Task", "Concept"), edges(graph)) == (["Write", "Pay"], set())
    assert texts(graph) == ["Owner: Cy Ko"]


def test_a_row_of_totals_is_no_thing():
    graph = read("| Tool | Note |\n|--|--|\n| Saw | old |\n| **Total** | two |")
    assert (titles(graph, "Resource", "Concept"), texts(graph)) == (["Saw"], ["**Total** | two"])


def test_an_entry_about_a_lack_is_a_risk_and_a_former_post_is_no_person():
    graph = read("# T\n\n## Risks\n\n- **No budget**: we stop\n- **Old tools**: they break")
    assert titles(graph, "Risk") == ["No budget", "Old tools"]
    people = read("# T\n\n## People\n\n- Former CEO: Jon Ex\n- CEO: Ann Lee")
    assert (titles(people, "Person"), texts(people)) == (["Ann Lee"], ["Former CEO: Jon Ex"])


def test_a_next_owner_owns_nothing_yet():
    graph = read("# T\n\nOwner: Ann Lee\nNext owner: Bo Park")
    assert edges(graph) == {("T", "OWNED_BY", "Ann Lee")}


@pytest.mark.parametrize(
    "value",
    [
        "Maria Alvarez (former)",
        "Maria Alvarez (left 2026-01-31)",
        "Maria Alvarez (until 2026-03-31), then Tom Becker",
        "Maria Alvarez until 2026-03-31",
        "Maria Alvarez, until 2026-03-31",
        "Maria Alvarez – retired",
        "Maria Alvarez (2019–2024)",
        "Maria Alvarez [proposed]",
        "Maria Alvarez (bis 2026-03-31)",
        "Maria Alvarez (ausgeschieden)",
        "Maria Alvarez (jusqu’au 2026-03-31)",
        "Maria Alvarez (hasta 2026-03-31)",
        "Maria Alvarez (fino al 2026-03-31)",
        "Maria Alvarez (até 2026-03-31)",
        "Maria Alvarez (tot 2026-03-31)",
        "大島純（2026年3月31日まで）",
    ],
)
def test_an_owner_or_assignee_until_a_day_owns_or_does_nothing_now(value):
    for line in (f"Owner: {value}", f"- Assignee: {value}"):
        graph = read(f"# T\n\n{line}")
        assert (edges(graph), titles(graph, "Person")) == (set(), [])
        assert texts(graph) == [line.removeprefix("- ")]
        assert all("due_on" not in node.properties for node in graph.nodes)
    table = read(f"| Project | Owner |\n|--|--|\n| Falcon | {value} |\n| Hawk | Ann Lee (CEO) |")
    assert edges(table) == {("Hawk", "OWNED_BY", "Ann Lee")}
    assert "due_on" not in properties(table, "Falcon")
    front = read(f"---\ntitle: Falcon\nowner:\n  - {value}\n  - Ann Lee\n---\nText.")
    assert edges(front) == {("Falcon", "OWNED_BY", "Ann Lee")}


def test_an_owner_with_a_role_or_a_starting_day_owns_it():
    for value in ("Ann Lee (CEO)", "Ann Lee (since 2024-01-01)", "Ann Lee (from Legal)", "Ann Lee, Ann Lee"):
        assert edges(read(f"# T\n\nOwner: {value}")) == {("T", "OWNED_BY", "Ann Lee")}
    assert edges(read("# T\n\nAttendees: Ann Lee (left early)")) == {("T", "MENTIONS", "Ann Lee")}
    held = read("# T\n\n## People\n\n- CTO: Ann Lee (former)\n- CFO: Bo Park")
    assert properties(held, "Bo Park") == {"role": "CFO"}
    assert "role" not in properties(held, "Ann Lee")


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Zuständig für die Jugend", "Nicht mehr zuständig für die Webseite"),
        ("Responsible for the youth", "No longer responsible for the web site"),
        ("Responsable des jeunes", "N’est plus responsable de la page du club"),
        ("Responsable de los jóvenes", "Ya no responsable de la página web"),
        ("Responsabile dei giovani", "Non più responsabile della pagina del club"),
        ("Responsável pelos jovens", "Não mais responsável pela página do clube"),
        ("Verantwoordelijk voor de jeugd", "Niet meer verantwoordelijk voor de website"),
    ],
)
def test_a_line_that_begins_with_a_long_or_denied_label_ends_the_value_above_it(first, second):
    graph = read(f"# T\n\n{first}: Sabine Lorenz\n{second}: Dieter Hahn")
    key = "_".join(first.lower().split())
    assert properties(graph, "T") == {key: "Sabine Lorenz"}
    assert (edges(graph), texts(graph)) == (set(), [f"{first}: Sabine Lorenz\n{second}: Dieter Hahn"])


@pytest.mark.parametrize(
    ("name", "task"),
    [
        ("Anna Krug", "water plants"),
        ("Peter", "call the bank"),
        ("**Peter**", "call the bank"),
        ("**Bo Li:**", "pay the rent"),
        ("Anna van Dyk (chair)", "sail"),
        ("Anna, Bo & Cy", "bake"),
        ("Jürgen", "die Bank anrufen"),
        ("Zoé et Luc", "appeler la banque"),
        ("Íñigo y Ana", "llamar al banco"),
        ("Chiara e Ugo", "chiamare la banca"),
        ("João e Inês", "ligar ao banco"),
        ("Joost en Fleur", "de bank bellen"),
        ("田中", "銀行に電話する"),
    ],
)
def test_the_task_is_the_text_after_the_name_and_is_not_assigned_to_an_unintroduced_name(name, task):
    written = f"{name.rstrip(':*')}:** {task}" if name.endswith(":**") else f"{name}: {task}"
    for entry in (f"## Action items\n\n- {written}", f"- [ ] {written}"):
        graph = read(f"# T\n\n{entry} by 2026-12-01")
        assert (titles(graph, "Task"), titles(graph, "Person"), edges(graph)) == ([f"{task} by 2026-12-01"], [], set())
        assert next(node for node in graph.nodes if node.type == "Task").properties["due_on"] == "2026-12-01"


def test_a_task_is_assigned_to_everybody_whom_the_text_names_as_a_person_anywhere():
    graph = read("# T\n\n- [ ] Cy: sing\n\n## Tasks\n\n- Cy and Peter: dance\n\nPresent: Cy Dee")
    assert edges(graph) - {("T", "MENTIONS", "Cy Dee")} == {
        ("sing", "ASSIGNED_TO", "Cy Dee"),
        ("dance", "ASSIGNED_TO", "Cy Dee"),
    }


def test_the_name_of_a_person_by_itself_is_no_task():
    present = "# T\n\nPresent: Anna Krug\n\n## Tasks"
    assert titles(read(f"{present}\n\n- Anna Krug\n- Call Bo"), "Task") == ["Call Bo"]
    assert titles(read(f"{present}\n\n### Anna Krug\n\n- Call Bo"), "Task") == ["Call Bo"]


def test_a_field_a_figure_or_a_topic_before_a_colon_is_no_person():
    graph = read("# T\n\n## Tasks\n\n- Paint the fence: use white\n- README: add badges\n- Rent: 500 EUR\n- Anna: TBD")
    assert titles(graph, "Task") == ["Paint the fence", "README", "Rent"]
    for text in ("Decision: buy SAP", "Slack: #social", "Rent: 500 EUR"):
        assert titles(read(f"# T\n\n- [ ] {text}"), "Task") == [text]


@pytest.mark.parametrize(
    "text",
    [
        "Do not start before 2026-05-01",
        "Don’t start until 2026-05-01",
        "Nobody may enter before 2026-05-01",
        "Nicht bis 2026-05-01 warten",
        "Ne pas commencer avant le 2026-05-01",
        "No empezar antes del 2026-05-01",
        "Não começar antes de 2026-05-01",
        "Niet beginnen vóór 2026-05-01",
        "Was due 2026-05-01",
        "War fällig am 2026-05-01",
        "Era scadenza 2026-05-01",
        "Originally due 2026-05-01",
    ],
)
def test_the_day_before_which_nothing_may_be_done_and_that_on_which_it_was_due_is_not_its_last(text):
    graph = read(f"# T\n\n- [ ] {text}\n\n{text}.")
    assert titles(graph, "Task") == [text]
    assert all("due_on" not in node.properties for node in graph.nodes)
    assert properties(graph, text)["dates"] == ["2026-05-01"]


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("Was due 2026-01-01, now due 2026-02-01", "2026-02-01"),
        ("Do not forget to pay before 2026-02-01", "2026-02-01"),
        ("It is not urgent. Pay before 2026-02-01", "2026-02-01"),
        ("Do not miss it by 2026-02-01", "2026-02-01"),
        ("Nicht vergessen: bis 2026-02-01 zahlen", "2026-02-01"),
    ],
)
def test_a_day_is_the_last_one_if_only_something_else_is_denied(text, day):
    (task,) = [node for node in read(f"# T\n\n- [ ] {text}").nodes if node.type == "Task"]
    assert task.properties["due_on"] == day
    assert text.startswith(task.title) and not task.title.endswith("now")


def test_a_contract_that_ends_not_before_a_day_has_no_task_by_that_day():
    graph = read("The Landlord may not terminate before 31 August 2027.")
    assert titles(graph, "Task") == []
    assert all("due_on" not in node.properties for node in graph.nodes)


@pytest.mark.parametrize(
    "column", ["Until", "By when", "Bis", "Jusqu’au", "Hasta", "Entro il", "Até", "Tot", "まで", "Deadline"]
)
def test_a_column_of_the_last_day_is_one_of_tasks_and_the_like(column):
    table = f"| What | Who | {column} |\n|--|--|--|\n| Fix CI | Ann Lee | 2026-04-02 |"
    graph = read(f"# Retro\n\n## Actions\n\n{table}")
    assert properties(graph, "Fix CI")["due_on"] == "2026-04-02"
    if column != "Deadline":
        offers = read(f"# Shop\n\n{table}".replace("Who", "Price").replace("Ann Lee", "low"))
        assert "due_on" not in properties(offers, "Fix CI")


@pytest.mark.parametrize("label", ["Owner", "Contact", "Assignee", "Verantwortlich", "Responsable", "担当"])
def test_a_label_below_one_with_a_person_says_something_of_the_same_thing_or_nothing(label):
    below = f"- {label}: Lena Fischer\n    - Deadline: 2026-04-02\n    - Status: late\n    - Phone: 123\n    - Call her"
    for item in ("Invoices", "[ ] Pay invoices"):
        graph = read(f"# T\n\n- {item}\n  {below}")
        assert properties(graph, "Lena Fischer") == {}
        thing = properties(graph, item.removeprefix("[ ] "))
        assert (thing["deadline"], thing["status"]) == ("2026-04-02", "late" if item == "Invoices" else "open")
        assert "phone" not in thing
        assert {"Phone: 123", "Call her"} <= set(texts(graph))
        assert titles(graph, "Person") == ["Lena Fischer"]
    section = read(f"# T\n\n## Harbour\n\n{below}")
    assert properties(section, "Lena Fischer") == {}
    assert (properties(section, "Harbour")["due_on"], "phone" in properties(section, "Harbour")) == (
        "2026-04-02",
        False,
    )


def test_an_item_below_the_owner_of_a_list_of_risks_is_no_risk_and_one_below_a_member_describes_the_member():
    graph = read("# T\n\n## Risks\n\n- Frost\n- Owner: Bo Li\n  - Knows a lot")
    assert titles(graph, "Risk") == ["Frost"]
    team = read("# T\n\n## Team\n\n- Lead: Bo Li\n  - Phone: 123")
    assert properties(team, "Bo Li") == {"role": "Lead", "phone": "123"}


def test_the_days_of_an_outlines_task_may_be_on_one_line():
    graph = read(
        "#+TITLE: Plan\n* DONE Pay rent\n  CLOSED: [2026-02-01 Sun] DEADLINE: <2026-02-03 Tue>\n  It was dear.\n"
        "** TODO Sail\n*** TODO Row\n    SCHEDULED: <2026-03-01 Sun 09:00> DEADLINE: <2026-03-03 Tue>\n",
        "text/plain",
    )
    assert properties(graph, "Pay rent") == {
        "status": "done",
        "closed": "[2026-02-01 Sun]",
        "deadline": "<2026-02-03 Tue>",
        "due_on": "2026-02-03",
        "dates": ["2026-02-01", "2026-02-03"],
    }
    assert properties(graph, "Row")["scheduled"] == "<2026-03-01 Sun 09:00>"
    assert properties(graph, "Row")["due_on"] == "2026-03-03"
    assert texts(graph) == ["It was dear."]


def test_an_event_keeps_its_times_with_their_zone_and_who_declined_does_not_attend():
    text = (
        "BEGIN:VCALENDAR\nBEGIN:VEVENT\nSUMMARY:Review\nDTSTART;TZID=Europe/Berlin:20260315T090000\n"
        "DTEND;TZID=Europe/Berlin:20260315T100000\nATTENDEE;CN=Lena Fischer;PARTSTAT=DECLINED:mailto:l@a.example\n"
        'ATTENDEE;PARTSTAT=ACCEPTED;CN="Bo Li":mailto:b@a.example\nEND:VEVENT\n'
        "BEGIN:VEVENT\nSUMMARY:Walk\nDTSTART:20260315T090000\nEND:VEVENT\nEND:VCALENDAR\n"
    )
    graph = read(text, "text/plain")
    assert properties(graph, "Review") == {
        "starts_at_text": "2026-03-15T09:00:00 Europe/Berlin",
        "ends_at_text": "2026-03-15T10:00:00 Europe/Berlin",
        "dates": ["2026-03-15"],
    }
    assert properties(graph, "Walk")["starts_at_text"] == "2026-03-15T09:00:00"
    assert edges(graph) == {("Review", "MENTIONS", "Bo Li")}


@pytest.mark.parametrize(
    "heading",
    [
        "Decisions (draft, not approved)",
        "Decisions (not yet approved)",
        "Draft decisions",
        "Entscheidungen (Entwurf)",
        "Beschlüsse (nicht genehmigt)",
        "Décisions (brouillon)",
        "Decisiones (borrador)",
        "Decisioni (bozza)",
        "Decisões (rascunho)",
        "Besluiten (concept)",
        "決定事項（案）",
    ],
)
def test_a_heading_of_drafts_announces_no_decision(heading):
    labelled = read(f"# T\n\n## {heading}\n\n- Decision: buy SAP\n\n## Notes\n\n- Decision: sell")
    assert "(" not in heading or titles(labelled, "Decision") == ["sell"]
    graph = read(f"# T\n\n## {heading}\n\n- Buy SAP\n\n## Decisions (May)\n\n- Sell")
    assert (titles(graph, "Decision"), texts(graph)) == (["Sell"], ["Buy SAP"])


@pytest.mark.parametrize(
    "quoted",
    [
        "> Decision: we leave at dawn.",
        "> - [ ] Kill the king by 2026-05-01",
        "> We decided to sail.",
        "> ## Decision: sail",
        "> | Task | Owner |\n> |--|--|\n> | Row | Zed Foo |",
        ">> Owner: Zed Foo",
        "- > Owner: Zed Foo",
        "  > Deadline: 2026-05-01",
        "> Owner: Zed Foo\nwho said so",
    ],
)
def test_quoted_text_states_nothing_and_can_be_found(quoted):
    for text in (f"# T\n\n{quoted}\n\nOwner: Ann Lee", f"# T\r\n\r\n{quoted}\r\n\r\nOwner: Ann Lee"):
        graph = read(text)
        assert {edge for edge in edges(graph) if edge[1] != "MENTIONS"} == {("T", "OWNED_BY", "Ann Lee")}
        assert titles(graph, "Decision", "Task", "Concept") == []
        assert all("due_on" not in node.properties for node in graph.nodes)
        assert len(texts(graph)) == 1
    outline = read("#+TITLE: T\n* Play\n#+BEGIN_QUOTE\nDecision: sail\n#+END_QUOTE\nOwner: Ann Lee", "text/plain")
    assert (titles(outline, "Decision"), edges(outline)) == ([], {("Play", "OWNED_BY", "Ann Lee")})


def test_a_greater_than_sign_within_a_line_quotes_nothing():
    assert edges(read("# T\n\nOwner: Ann Lee\n\nx > y")) == {("T", "OWNED_BY", "Ann Lee")}
    assert read("> Owner: Zed Foo").nodes[0].title == "d"


@pytest.mark.parametrize(
    "line", ["-----Original Message-----", "-----ORIGINAL MESSAGE-----", "--- Original Message ---"]
)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_an_older_mail_begins_in_a_text_of_any_lines(line, end):
    graph = read(end.join(["Hi,", "", "Owner: Ann Lee", "", line, "", "Owner: Zed Foo"]), "text/plain")
    assert edges(graph) == {("d", "OWNED_BY", "Ann Lee")}
    replied = ["Owner: Ann Lee", "", "On Mon, 2 Mar 2026 at 10:04, Zed Foo wrote:", "", "Owner: Zed Foo"]
    assert {edge for edge in edges(read(end.join(replied), "text/plain")) if edge[1] != "MENTIONS"} == {
        ("d", "OWNED_BY", "Ann Lee")
    }


@pytest.mark.parametrize(
    "text",
    [
        "We doubt that Quebec depends on Romeo.",
        "Perhaps Quebec depends on Romeo.",
        "It is unlikely that Quebec relies on Romeo.",
        "Golf depends on Hotel only until 2026-03-01.",
        "Golf depends on Hotel unless we move.",
        "Golf depends on Hotel no longer.",
        "La inauguración quizás depende de la licencia.",
        "La inauguración no depende de la licencia.",
        "L’inaugurazione non dipende dalla licenza.",
        "L’inaugurazione forse dipende dalla licenza.",
        "A inauguração não depende da licença.",
        "A inauguração talvez depende da licença.",
        "Le lancement depend de la licence jusqu’en mai.",
        "Der Start hängt von der Lizenz bis Mai ab.",
        "De lancering misschien hangt af van de licentie.",
    ],
)
def test_a_dependency_that_a_sentence_doubts_denies_or_ends_is_no_edge(text):
    assert edges(read(f"# T\n\n{text}")) == set()
    assert edges(read("# T\n\nGolf depends on Hotel.")) == {("Golf", "DEPENDS_ON", "Hotel")}


@pytest.mark.parametrize(
    ("box", "status"), [("[-]", "cancelled"), ("[/]", "open"), ("[ ]", "open"), ("[x]", "done"), ("[X]", "done")]
)
def test_the_checkbox_gives_the_state_of_the_task(box, status):
    graph = read(f"# Tasks\n\n- {box} cancel the paper\n\n## Notes\n\n- {box} sail")
    assert [(node.title, node.properties) for node in graph.nodes if node.type == "Task"] == [
        ("cancel the paper", {"status": status}),
        ("sail", {"status": status}),
    ]
    outline = read(f"#+TITLE: T\n* Plan\n- {box} sail", "text/plain")
    assert properties(outline, "sail")["status"] == ("open" if box == "[-]" else status)


@pytest.mark.parametrize(
    "heading", ["Steps to reproduce", "Steps", "Schritte", "Étapes", "Pasos", "Passaggi", "Passos", "Stappen", "手順"]
)
def test_the_steps_of_a_recipe_or_of_a_bug_report_are_no_tasks(heading):
    graph = read(f"# Soup\n\n## {heading}\n\n1. Fry the onion\n2. Wait\n\n## Next steps\n\n- Buy onions")
    assert titles(graph, "Task") == ["Buy onions"]
    assert texts(graph) == ["Fry the onion", "Wait"]


@pytest.mark.parametrize(
    ("text", "media_type"),
    [
        ("#+TITLE: T\n" + "CLOSED: [2026-02-01] " * 9_000 + "x", "text/plain"),
        ("#+TITLE: T\n" + "#+BEGIN_QUOTE\n" * 9_000, "text/plain"),
        ("> a\r" * 20_000, "text/plain"),
        ("Owner: " + "A (b, " * 9_000, "text/markdown"),
        ("- [ ] " + "A and " * 30_000, "text/markdown"),
        ("- [ ] " + "not before 2026-05-01 " * 4_000, "text/markdown"),
        ("A depends on B " * 9_000, "text/markdown"),
        ("Owner: a\n" + "Not responsible for the b " * 9_000, "text/markdown"),
    ],
)
def test_text_that_states_nothing_is_recognised_in_linear_time(text, media_type):
    began = time.process_time()
    read(text, media_type)
    assert time.process_time() - began < 5


@pytest.mark.parametrize(
    "entry", ["Call Bo: he waits", "Appeler Bo: il attend", "Llamar Bo: urge", "Bel Bo: hij wacht"]
)
def test_a_verb_before_a_name_and_a_colon_is_the_task(entry):
    assert titles(read(f"# T\n\n- [ ] {entry}"), "Task") == [entry]
    assert titles(read(f"# T\n\n## Tasks\n\n- {entry}"), "Task") == [entry.partition(":")[0]]


def test_a_name_before_a_task_may_have_a_title_or_an_initial():
    graph = read("# T\n\nPresent: Dr. Eva Sand\n\n## Tasks\n\n- Dr. Eva Sand: call the clinic\n- Anna K.: bake")
    assert titles(graph, "Task") == ["call the clinic", "bake"]
    assert [edge for edge in edges(graph) if edge[1] == "ASSIGNED_TO"] == [
        ("call the clinic", "ASSIGNED_TO", "Eva Sand")
    ]


def test_a_label_in_a_line_of_a_list_item_ends_the_value_above_it():
    graph = read("# T\n\n- Owner: Ann Lee\n  Former owner: Dan Old\n- Lot: one delivery\n  of the Owner: wood")
    assert (edges(graph), titles(graph, "Person")) == ({("T", "OWNED_BY", "Ann Lee")}, ["Ann Lee"])
    assert "Former owner: Dan Old" in texts(graph)
    void = read("# T\n\nRejected decisions:\n\n- Owner: Ann Lee\n  Owner: Dan Old")
    assert (edges(void) - {("Owner: Ann Lee", "MENTIONS", "Ann Lee")}, titles(void, "Person")) == (set(), [])
    risk = read("# T\n\n- Risk: frost\n  Owner: Ann Lee\n  Deadline: 2026-05-01")
    assert edges(risk) == {("frost", "OWNED_BY", "Ann Lee")}
    assert properties(risk, "frost")["due_on"] == "2026-05-01"


@pytest.mark.parametrize(
    "quoted",
    [
        '"Decision: we sell the van", wrote Ruth.',
        "'Decision: we sell the van', wrote Ruth.",
        "“Decision: we sell the shop”, wrote Ruth.",
        "‘Decision: we sell the shop’, wrote Ruth.",
        "„Beschluss: Wir verkaufen den Laden“, schrieb Ruth.",
        "»Beschluss: Wir verkaufen den Laden«, schrieb Ruth.",
        "« Décision : nous vendons la boutique », écrit Ruth.",
        "「決定: 売る」と書いた。",
        "“Action: Paul Lang buys the shop by 2027-01-01”, wrote Ruth.",
        "“Owner: Paul Lang”, wrote Ruth.",
        "“Deadline: 2027-01-01”, wrote Ruth.",
        '"It rained. We decided to sell the hall", wrote Ruth.',
        '"Owner: Paul Lang\nDecision: sell", wrote Ruth.',
        '"Decision: we sell the van',
        "**“Decision: we sell the van”**, wrote Ruth.",
        "“Owner: Paul Lang”: so wrote Ruth.",
    ],
)
def test_an_entry_that_begins_with_a_quotation_is_a_passage_only(quoted):
    for text in (f"# T\n\n{quoted}", f"# T\n\n- {quoted}", f"# T\n\n## Decisions\n\n- {quoted}\n\nWe met."):
        graph = read(text.replace("- " + quoted, "- " + quoted.replace("\n", "\n  ")))
        assert (titles(graph, "Decision", "Action", "Person", "Concept"), edges(graph)) == ([], set())
        assert all("due_on" not in node.properties for node in graph.nodes)
        assert "owner" not in properties(graph, "T")
        assert texts(graph)[0].replace("\n  ", "\n") == quoted


def test_an_item_that_quotes_a_rumour_is_no_decision_and_no_task():
    quoted = '"We decided to sell the hall" (a rumour)'
    graph = read(f"# T\n\n## Decisions\n\n- {quoted}\n- Buy a bell\n\n## Tasks\n\n- “Sell it”, said Ruth")
    assert titles(graph, "Decision", "Task") == ["Buy a bell"]
    assert texts(graph) == [quoted, "“Sell it”, said Ruth"]


def test_a_sentence_after_a_quotation_and_a_quoted_value_title_or_term_are_read():
    graph = read('# T\n\n"A bell?", asked Ruth. We decided to buy a bell.\n\nDecision: "sell the hall"')
    assert titles(graph, "Decision") == ["buy a bell", "sell the hall"]
    listed = read('# T\n\n## Resources\n\n- "Moby-Dick" by Melville\n\n## Glossary\n\n- "Tender": an offer')
    assert titles(listed, "Resource", "Concept") == ['"Moby-Dick" by Melville', '"Tender"']
    assert titles(read('# T\n\n## Tasks\n\n- [ ] "Moby-Dick" to the library'), "Task") == ['"Moby-Dick" to the library']


@pytest.mark.parametrize(
    "heading",
    [
        "Decisions (draft)",
        "Decisions (obsolete)",
        "Decisions (pending)",
        "Superseded decisions",
        "Outdated decisions",
        "Beschlüsse (veraltet)",
        "Beschlüsse (Entwurf)",
        "Aufgehobene Beschlüsse",
        "Décisions (obsolètes)",
        "Decisiones (obsoletas)",
        "Decisioni (revocate)",
        "Decisões (revogadas)",
        "Besluiten (verouderd)",
    ],
)
def test_below_a_heading_of_drafts_or_of_obsolete_decisions_nothing_is_stated_in_any_form(heading):
    entries = "- We decided to raise the fee to 180 CHF.\n- Sell the tram\n- Decision: fly\n- [ ] Pay\n- Owner: Bo Li"
    graph = read(f"# Fees\n\n## {heading}\n\n{entries}\n\nWe decided to sail.\n\n## Decisions\n\n- Row")
    assert (titles(graph, "Decision", "Task", "Person"), edges(graph)) == (["Row"], set())
    assert "We decided to sail." in texts(graph)
    whole = read(f"# {heading}\n\n{entries}")
    assert (titles(whole, "Decision", "Task", "Person"), edges(whole)) == ([], set())


@pytest.mark.parametrize(
    "heading",
    ["Open decisions", "Decisions to be made", "Draft decisions", "Offene Entscheidungen", "Decisiones posibles"],
)
def test_items_below_a_heading_of_open_decisions_are_tasks_and_no_decisions(heading):
    table = "| Decision | Day |\n|--|--|\n| Sail | May |"
    entries = f"- We decided to raise the fee.\n- Sell the tram\n- Decision: fly\n- [ ] Ask Bo\n\n{table}"
    for text in (
        f"# Fees\n\n## {heading}\n\n{entries}\n\n### Hall\n\nWe decided to let it.",
        f"# {heading}\n\n{entries}",
    ):
        graph = read(text)
        assert (titles(graph, "Decision"), titles(graph, "Task")) == ([], ["Ask Bo"])
        assert {"We decided to raise the fee.", "Sail | May"} <= set(texts(graph))


@pytest.mark.parametrize(
    ("known", "sentence"),
    [
        ("Jonas Brandt", "Anna Brandt had an operation on 2026-05-04."),
        ("Jonas Brandt", "On the way home from the harbour we have all seen Anna\nBrandt."),
        ("Jonas Brandt", "A. Brandt paid."),
        ("Jonas Brandt", "Müller Brandt Holding was founded in 1990."),
        ("Jonas Brandt", "Brandt & Co paid."),
        ("Jonas Brandt", "Grandma Brandt pays 500 EUR."),
        ("Jonas Brandt", "Jonas von Weber sang."),
        ("Anna Keller", "Anna Reuter has cancer."),
        ("Paul Lang", "Paul Lang & Söhne paid."),
        ("Paul Lang", "The Paul Lang Street is long."),
        ("Will Baker", "Baker Street 5 is empty."),
        ("Will Baker", "Will it rain? Will we see?"),
        ("Will Baker", "The baker came. The Baker came."),
        ("Max Frei", "Frei ist der Eintritt."),
        ("Rosa Lang", "- Lang war der Weg."),
        ("Eva Koch", "Der Koch kam."),
        ("May Rose", "We sail in May."),
    ],
)
def test_a_part_of_another_name_and_an_ordinary_word_refer_to_no_known_person(known, sentence):
    graph = read(f"# T\n\nOwner: {known}\n\n{sentence}")
    assert edges(graph) == {("T", "OWNED_BY", known)}


@pytest.mark.parametrize(
    ("known", "sentence"),
    [
        ("Anna Keller", "Anna pays the rent."),
        ("Anna Keller", "Die Anna kommt."),
        ("Anna Keller", "Mit Anna sprechen wir."),
        ("Anna Keller", "Anna & Bo paid."),
        ("Anna Keller", "Here came\nBo\nAnna\nCy"),
        ("Anna Keller", "Anna Keller & Bo Li paid."),
        ("Anna Keller", "Präsidentin Anna Keller zahlt."),
        ("Anna Keller", "Wow Anna, that is great!"),
        ("Anna Keller", "Danke Anna, bis bald."),
        ("Anna Keller", "We gave it to Anna."),
        ("Anna Keller", "Anna's House is red."),
        ("Jonas Brandt", "Brandt pays."),
        ("Jonas Brandt", "J. Brandt pays."),
        ("Jonas Brandt", "Mr Brandt pays."),
        ("Jonas Brandt", "Dr. Brandt pays."),
        ("Jonas Brandt", "On Monday Jonas paid."),
        ("Jonas Brandt", "Ask Jonas Monday."),
        ("Jonas Brandt", "Did Jonas pay?"),
        ("Will Baker", "Will said no."),
        ("Will Baker", "Yesterday we saw Will."),
        ("Max Frei", "Herr Frei zahlt."),
        ("Eva Koch", "Koch zahlt die Miete."),
    ],
)
def test_one_word_of_a_name_refers_to_the_person_if_it_occurs_by_itself(known, sentence):
    graph = read(f"# T\n\nOwner: {known}\n\n{sentence}")
    assert (sentence.replace("\n", " "), "MENTIONS", known) in edges(graph)


@pytest.mark.parametrize(
    ("heading", "entry"),
    [
        ("Decisions", "Nobody decided to rent the hall"),
        ("Decisions", "We decided nothing"),
        ("Decisions", "Ruth thinks that we decided to buy a bell"),
        ("Decisions", "Rumour has it that we agreed to sell"),
        ("Decisions", "Proposal to buy a harp: rejected"),
        ("Beschlüsse", "Es wurde nicht beschlossen, eine Trommel zu kaufen."),
        ("Beschlüsse", "Nicht beschlossen: neue Stühle"),
        ("Beschlüsse", "Vertagt: neue Lampen"),
        ("Beschlüsse", "Neue Lampen: vertagt"),
        ("Beschlüsse", "Der Kauf wurde auf Mai verschoben."),
        ("Beschlüsse", "Wir haben nichts beschlossen."),
        ("Beschlüsse", "Niemand hat beschlossen, die Halle zu vermieten."),
        ("Beschlüsse", "Ruth glaubt, wir hätten beschlossen, eine Glocke zu kaufen."),
        ("Beschlüsse", "Noch nicht entschieden"),
        ("Beschlüsse", "Antrag auf eine Harfe: abgelehnt"),
        ("Beschlüsse", "offen"),
        ("Décisions", "Nous n'avons pas décidé de dormir à l'hôtel."),
        ("Décisions", "Décision reportée : acheter un tracteur."),
        ("Décisions", "Rien n’a été décidé."),
        ("Décisions", "Personne n'a décidé de louer la salle."),
        ("Décisions", "Ruth pense que nous avons décidé d'acheter une cloche."),
        ("Décisions", "Pas de décision"),
        ("Décisions", "Acheter une harpe : refusé"),
        ("Decisiones", "No se decidió comprar un tambor."),
        ("Decisiones", "Nadie decidió alquilar la sala."),
        ("Decisiones", "Ruth cree que hemos decidido comprar una campana."),
        ("Decisiones", "Decisión aplazada: comprar un tractor"),
        ("Decisiones", "Por decidir"),
        ("Decisioni", "Non abbiamo deciso di comprare un tamburo."),
        ("Decisioni", "Ruth crede che abbiamo deciso di partire."),
        ("Decisioni", "Rinviato: nuove lampade"),
        ("Decisões", "Não foi decidido comprar um tambor."),
        ("Decisões", "Adiado: lâmpadas novas"),
        ("Besluiten", "Er is niet besloten een trommel te kopen."),
        ("Besluiten", "Uitgesteld: nieuwe lampen"),
        ("Tasks", "Paul Lang does not have to mow"),
        ("Tasks", "Ruth has already paid"),
        ("Aufgaben", "Paul Lang muss nicht mähen."),
        ("Aufgaben", "Paul Lang: muss nicht mähen"),
        ("Aufgaben", "Ruth hat schon bezahlt."),
        ("Aufgaben", "Ruth hat die Miete bereits bezahlt."),
        ("Tâches", "Paul n’a pas besoin de tondre"),
        ("Tâches", "Ruth a déjà payé"),
        ("Tareas", "Paul no tiene que segar"),
        ("Tareas", "Ruth ya ha pagado"),
        ("Actiepunten", "Paul hoeft niet te maaien"),
    ],
)
def test_an_entry_that_denies_postpones_or_only_reports_it_is_no_decision_and_no_task(heading, entry):
    graph = read(f"# T\n\n## {heading}\n\n- {entry}")
    assert (titles(graph, "Decision", "Task", "Concept"), texts(graph)) == ([], [entry])


@pytest.mark.parametrize(
    ("heading", "entry"),
    [
        ("Decisions", "We decided not to sell the hall"),
        ("Decisions", "The motion of Bo was rejected"),
        ("Decisions", "Reject the offer"),
        ("Decisions", "We said yes to the offer"),
        ("Beschlüsse", "Es wurde beschlossen, die Halle nicht zu verkaufen"),
        ("Beschlüsse", "Die Halle wird nicht verkauft"),
        ("Beschlüsse", "Keine Hunde in der Halle"),
        ("Beschlüsse", "Offene Stellen besetzen wir im Mai"),
        ("Décisions", "Nous avons décidé de ne pas vendre"),
        ("Décisions", "Reporter la fête au mois de mai"),
        ("Decisiones", "Se decidió no vender la sala"),
        ("Decisiones", "No vender la sala"),
        ("Tasks", "Do not forget to pay"),
        ("Tasks", "Check whether Ruth has already paid"),
        ("Aufgaben", "Nicht vergessen zu zahlen"),
        ("Aufgaben", "Paul muss bis Mai mähen"),
        ("Aufgaben", "Prüfen, ob Ruth schon bezahlt hat"),
        ("Tâches", "Payer le loyer"),
        ("Tareas", "Pagar el alquiler"),
    ],
)
def test_an_entry_that_decides_against_something_or_asks_for_something_is_read(heading, entry):
    assert titles(read(f"# T\n\n## {heading}\n\n- {entry}"), "Decision", "Task") == [entry]


@pytest.mark.parametrize(
    "text",
    [
        "Deadline: not before 2027-03-01",
        "Deadline: none since 2026-10-01",
        "Due: 2026-12-01 (cancelled)",
        "Due: 2026-12-01, cancelled",
        "Deadline: 2026-12-01 (postponed)",
        "Deadline: was 2026-12-01",
        "Frist: nicht vor 2027-03-01",
        "Frist: 2026-12-01 (abgesagt)",
        "Échéance : pas avant 2027-03-01",
        "Plazo: 2026-12-01 (aplazado)",
        "Luca used to live in Bern until 2025-06-30.",
        "She lived in Bern until 2025-06-30.",
        "Paul was chairman until 2025-12-31.",
        "The old fence stood until 2024-05-31.",
        "The hall was built by 2024-05-31.",
        "Paul Lang: I won't pay 200 EUR by 2026-11-20",
        "Nobody has to pay by 2026-12-01.",
        "We cannot finish by 2026-12-01.",
    ],
)
def test_a_day_that_is_denied_called_off_or_past_is_no_due_date(text):
    for written in (f"# T\n\n{text}", f"# T\n\n- {text}", f"# T\n\nRuth: hello\n{text}"):
        assert all("due_on" not in node.properties for node in read(written).nodes)


@pytest.mark.parametrize(
    "text",
    [
        "Due: 2026-12-01",
        "Due: 2026-12-01 (not negotiable)",
        "Deadline: by 2026-12-01 at noon",
        "Deadline: 2026-12-01, with the letter about the cancelled trip",
        "Deadline: 2026-12-01 for the rejected plan",
        "Deadline: no later than 2026-12-01",
        "Frist: nicht später als 2026-12-01",
        "We need the plan by 2026-12-01.",
        "Please do not forget to pay by 2026-12-01.",
        "The plan is not done. Send it by 2026-12-01.",
        "It is not urgent, but send it by 2026-12-01.",
        "What was agreed must be done by 2026-12-01.",
        "Send the plan by 2026-12-01, not later.",
    ],
)
def test_a_due_date_is_kept(text):
    assert "2026-12-01" in [node.properties.get("due_on") for node in read(f"# T\n\n{text}").nodes]


@pytest.mark.parametrize(
    "text",
    [
        "Rented until 2026-12-01",
        "- formerly: clerk (until 2026-12-01)",
        "Formerly treasurer until 2026-12-01, Tom now only watches.",
        "Treasurer until 2026-12-01",
        "The shop will be open until 2026-12-01.",
        "The offer is valid until 2026-12-01",
        "- [ ] Cancel the gym, paid until 2026-12-01",
        "- [ ] Cancel the gym because it is paid until 2026-12-01",
        "- [ ] Look for a flat, rent was 900 EUR until 2026-12-01",
        "- [ ] Find a flat (lease until 2026-12-01)",
        "- [ ] Formerly treasurer until 2026-12-01",
        "- [ ] Neuen Pass holen (alter gültig bis 01.12.2026)",
        "- [ ] Pass holen; alter Pass gilt bis 01.12.2026",
        "- [ ] Vertrag lief bis 01.12.2026, neuen suchen",
        "- [ ] Wohnung suchen, Mietvertrag bis 01.12.2026",
        "- [ ] Mietvertrag bis 01.12.2026, Wohnung suchen",
        "- [ ] Ersatz suchen, Anna krankgeschrieben bis 01.12.2026",
        "- [ ] Urlaub bis 01.12.2026",
        "- [ ] Cancelar o ginásio, pago até 1 de dezembro de 2026",
        "- [ ] Renovar o passe (válido até 1 de dezembro de 2026)",
        "- [ ] Procurar casa, contrato até 1 de dezembro de 2026",
        "- [ ] Résilier la salle, payée jusqu’au 1 décembre 2026",
        "- [ ] Renovar el pase (válido hasta el 1 de diciembre de 2026)",
        "- [ ] Rinnovare la tessera (valida fino al 1 dicembre 2026)",
        "- [ ] Paspoort halen (oude geldig tot 2026-12-01)",
    ],
)
def test_a_day_until_which_something_holds_or_held_is_no_due_date(text):
    graph = read(f"# T\n\n{text}")
    assert all("due_on" not in node.properties for node in graph.nodes)
    assert ["2026-12-01"] in [node.properties.get("dates") for node in graph.nodes]


@pytest.mark.parametrize(
    "text",
    [
        "Please answer until 2026-12-01.",
        "Send it until 2026-12-01",
        "- [ ] Book the hall until 2026-12-01",
        "- [ ] Book the hall (until 2026-12-01)",
        "- [ ] Garden: mow the lawn until 2026-12-01",
        "- [ ] Clean up, mow the lawn until 2026-12-01",
        "- [ ] The rent must be paid until 2026-12-01",
        "- [ ] Sign the lease until 2026-12-01",
        "- [ ] Find the lost keys until 2026-12-01",
        "- [ ] Cancel the gym, paid until 2026-11-01, by 2026-12-01",
        "- [ ] Steuern bis 01.12.2026",
        "- [ ] Steuern bis 01.12.2026 erledigen",
        "- [ ] Steuern, Formular bis 01.12.2026 abgeben",
        "- [ ] Steuern, Formular abgeben bis 01.12.2026",
        "- [ ] Mietvertrag bis 01.12.2026 unterschreiben",
        "- [ ] Bericht bis zum 01.12.2026",
        "- [ ] Pagar a renda até 1 de dezembro de 2026",
        "- [ ] Renda, pagar até 1 de dezembro de 2026",
    ],
)
def test_a_day_until_which_something_must_be_done_is_a_due_date(text):
    assert "2026-12-01" in [node.properties.get("due_on") for node in read(f"# T\n\n{text}").nodes]


def test_a_column_of_deadlines_gives_no_due_date_if_the_day_is_called_off():
    graph = read("| Task | Deadline |\n|--|--|\n| Row | 2026-12-01 (cancelled) |\n| Sail | 2026-12-02 |")
    assert "due_on" not in properties(graph, "Row")
    assert properties(graph, "Sail")["due_on"] == "2026-12-02"


@pytest.mark.parametrize(
    "text",
    [
        "Noëmi paid her fee. Decision: Noëmi Frei becomes secretary from 2027-01-01. We had not.",
        "Should we buy robes? Decision: pending.",
        "212 visitors. Takings: CHF 3'980. It rained.",
        "Wait! Owner: Ann Lee",
        "**Doctor: Mr. Vogt** says the blood sugar is 180 mg.",
        "[^1]: The footnote says so.",
        "[^1]: Owner: Ann Lee",
    ],
)
def test_a_sentence_before_a_colon_and_a_footnote_are_no_label(text):
    for written in (f"# T\n\n{text}", f"# T\n\n- {text}"):
        graph = read(written)
        assert properties(graph, "T") == {}
        assert (titles(graph, "Decision"), texts(graph)) == ([], [text])
    assert read(f"{text}\n\nMore.").nodes[0].title == "d"


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("St. Gallen: 5 people", "st_gallen"),
        ("Dr. Vogt: he came", "dr_vogt"),
        ("Nr. 5: the boat", "nr_5"),
        ("Fee approx. 5: too much", "fee_approx_5"),
        ("Ltd. company: none", "ltd_company"),
    ],
)
def test_a_short_word_with_a_full_stop_ends_no_label(text, label):
    assert label in properties(read(f"# T\n\n{text}"), "T")


def test_mathematics_between_two_dollar_signs_holds_no_amount():
    graph = read("# T\n\n$$ hydration = 0.75 $$\n\nWe pay 5 $ and $7.")
    assert [node.properties.get("amounts") for node in graph.nodes if node.type == "Passage"] == [None, ["5 $", "$7"]]
    table = read("| Formula | Note |\n|--|--|\n| $$ x = 0.75 $$ | old |")
    assert all("amounts" not in node.properties for node in table.nodes)


def test_a_known_label_with_its_value_in_bold_is_read_if_the_sentence_continues():
    graph = read("# T\n\n**Owner: Ann Lee** and **Due: 2026-05-01**")
    assert edges(graph) == {("T", "OWNED_BY", "Ann Lee")}
    assert len(titles(read("# T\n\n**Decision: sell the boat** to Ruth"), "Decision")) == 1


@pytest.mark.parametrize("quotes", ['""', "“”", "„“", "«»", "»«"])
def test_a_sentence_within_a_quotation_decides_nothing_and_one_next_to_it_does(quotes):
    said = f"{quotes[0]}It rained. We decided to sell the hall. It is cold.{quotes[1]}"
    graph = read(f"# T\n\nThen Ruth wrote {said} in May. We decided to buy a bell.")
    assert titles(graph, "Decision") == ["buy a bell"]
    task = f"{quotes[0]}Well. Ann Lee will call the bank by 3 March 2026. Bye.{quotes[1]}"
    assert titles(read(f"# T\n\nPresent: Ann Lee\n\nThen Ruth wrote {task} to us."), "Task") == []
    named = read(f"# T\n\nWe decided to call it {quotes[0]}Blue{quotes[1]} for now.")
    assert titles(named, "Decision") == [f"call it {quotes[0]}Blue{quotes[1]} for now"]
