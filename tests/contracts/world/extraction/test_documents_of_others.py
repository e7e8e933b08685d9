"""Forms that documents of others have: minutes, decision records, e-mails, budgets and notes in several languages.

Literal texts in; the nodes, edges and properties that they state, and those that they don't, out.
"""

from datetime import UTC, datetime

import pytest

from contracts.world.extraction.build import BuildRequest, BuiltGraph, build_graph
from contracts.world.extraction.figures import amounts_in, dates_in
from contracts.world.extraction.findings import Part
from contracts.world.extraction.people import people_in

NOW = datetime(2026, 11, 28, tzinfo=UTC)


def read(markdown: str) -> BuiltGraph:
    return build_graph(BuildRequest(documents=[{"id": "d", "markdown": markdown}]), "local:ada", NOW)


def titles(graph: BuiltGraph, *types: str) -> list[str]:
    return [node.title for node in graph.nodes if node.type in types]


def edges(graph: BuiltGraph, *types: str) -> set[tuple[str, str, str]]:
    title = {node.id: node.title for node in graph.nodes}
    return {(title[e.source], e.type, title[e.target]) for e in graph.edges if e.type in types}


def properties(graph: BuiltGraph, title: str) -> dict:
    return next(node.properties for node in graph.nodes if node.title == title)


@pytest.mark.parametrize(
    ("text", "dates"),
    [
        ("am 5. Dezember 2019", ["2019-12-05"]),
        ("le 1er juillet 2019", ["2019-07-01"]),
        ("3 de marzo de 2021", ["2021-03-03"]),
        ("DU 27 MARS 2003", ["2003-03-27"]),
        ("2016/04/20 15:00", ["2016-04-20"]),
        ("令和3年6月10日(木)、2021年6月23日", ["2021-06-10", "2021-06-23"]),
        ("令和元年5月1日", ["2019-05-01"]),
        ("19-Jun-2024", ["2024-06-19"]),
        ("2025\u201105\u201120", ["2025-05-20"]),
        ("2026-03-01/2026-03-05", ["2026-03-01", "2026-03-05"]),
        ("logs/failures_2025-10-08.txt", []),
        ("docs/2016/04/20/index", []),
    ],
)
def test_days_are_read_in_the_forms_of_several_languages_and_not_from_the_names_of_files(text, dates):
    assert [day for day, _ in dates_in(text, Part(0, len(text)))] == dates


def test_a_day_in_code_is_not_a_date_of_the_text():
    assert properties(read("# T\n\nSee `x 2025-10-08`."), "See x 2025-10-08.").get("dates") is None


@pytest.mark.parametrize(
    ("text", "amounts"),
    [("20,-- € pro Monat", ["20,-- €"]), ("3,000円", ["3,000円"]), ("it weighs 15 pounds", [])],
)
def test_amounts_are_read_without_cents_and_no_weight_is_one(text, amounts):
    assert list(amounts_in(text, Part(0, len(text)))) == amounts


@pytest.mark.parametrize(
    ("text", "decision"),
    [
        ("It was unanimously RESOLVED to approve the report.", "approve the report"),
        ("RESOLVED – To order the signs with a budget of £2600.", "order the signs with a budget of £2600"),
        ("A CV came and it was resolved that the post be offered.", "the post be offered"),
        ("Der Vorstand beschließt, das Boot zu verkaufen.", "das Boot zu verkaufen"),
        ("Es wurde beschlossen, dass wir verkaufen.", "wir verkaufen"),
        ("Le conseil décide à l’unanimité d’acheter un bateau.", "acheter un bateau"),
        ("Se acuerda por unanimidad vender el barco.", "vender el barco"),
        ("次回は5月に開催することに決定した。", "次回は5月に開催する"),
    ],
)
def test_resolutions_of_minutes_are_decisions_in_several_languages(text, decision):
    assert titles(read(f"# T\n\n{text}"), "Decision") == [decision]


@pytest.mark.parametrize(
    "text",
    [
        "Status: RESOLVED - it was a wrong setting.",
        "Der Vorstand beschließt nicht.",
        "Wir haben beschlossen, nichts zu sagen, ob das stimmt?",
        "Se acuerda de la casa.",
        "場所はまだ決定していない。",
    ],
)
def test_other_sentences_with_these_words_decide_nothing(text):
    assert titles(read(f"# T\n\n{text}"), "Decision") == []


@pytest.mark.parametrize("heading", ["Décisions", "Beschlüsse", "Acuerdos tomados", "決定事項", "Decision log"])
def test_words_for_decisions_announce_them_in_several_languages(heading):
    assert titles(read(f"# T\n\n## {heading}\n\n- A\n- B"), "Decision") == ["A", "B"]


def test_the_title_of_a_list_announces_what_stands_directly_below_it_and_no_heading():
    graph = read("# Decision log\n\n- Sell the boat\n\n## Format\n\n- Keep it short")
    assert titles(graph, "Decision", "Concept") == ["Sell the boat", "Format"]


def test_a_heading_for_decisions_and_something_else_announces_neither():
    graph = read("# T\n\n## Decisions and next steps\n\n- Sell the boat\n- [ ] Call Bo")
    assert (titles(graph, "Decision"), titles(graph, "Task")) == ([], ["Call Bo"])


@pytest.mark.parametrize(
    "heading",
    ["Release notes", "Architecture Decision Records (ADRs)", "Team sync", "Place/Attendees", "DNS promises API"],
)
def test_headings_that_only_contain_a_word_announce_nothing(heading):
    graph = read(f"# T\n\n## {heading}\n\n- Ada Lovelace is here")
    assert titles(graph, "Observation", "Decision", "Person", "Agreement") == []


def test_a_number_before_an_entry_is_no_title_and_still_finds_it():
    graph = read("# T\n\n## Decisions\n\n- D1: sell the boat\n\n## Tasks\n\n- Call Bo\n  - depends on: D1")
    assert titles(graph, "Decision") == ["sell the boat"]
    assert edges(graph, "DEPENDS_ON") == {("Call Bo", "DEPENDS_ON", "sell the boat")}


def test_a_decision_record_gives_its_status_its_decision_and_its_reason():
    graph = read(
        "# Database\n\n## Status\n\n✅ Accepted\n\n## Context\n\nWe need one.\n\n## Decision\n\nUse SQLite.\n\n"
        "It is small.\n\nWe will keep it in one file.\n\n## Rationale\n\nNothing else is needed."
    )
    assert properties(graph, "Database")["status"] == "Accepted"
    assert titles(graph, "Decision", "Concept") == ["Use SQLite", "We will keep it in one file"]
    one = read("# T\n\n## Decision\n\nUse SQLite.\n\n## Rationale\n\nIt is small.")
    assert properties(one, "Use SQLite") == {"rationale": "It is small."}


def test_a_chosen_option_is_a_decision_with_its_reason():
    graph = read('# T\n\n## Decision Outcome\n\nChosen option: "SQLite", because it is small.')
    assert titles(graph, "Decision") == ["SQLite"]
    assert properties(graph, "SQLite")["rationale"] == "it is small"


@pytest.mark.parametrize(
    "markdown",
    [
        "## Decisions\n\n### [Decision Title]\n\nText",
        "## Decision\n\n[Clear statement of what was decided]",
        "## Decisions\n\n- {what was decided}",
        'Chosen option: "{title}", because\n{justification}',
    ],
)
def test_the_blanks_of_a_template_decide_nothing(markdown):
    assert titles(read(f"# T\n\n{markdown}"), "Decision") == []


def test_code_below_a_word_for_goals_states_none():
    assert titles(read("# T\n\n## Targets\n\n- `test-docker`\n- Sell ten boats"), "Goal") == ["Sell ten boats"]


@pytest.mark.parametrize(
    ("text", "people"),
    [
        (
            "Present: Cllr G Dalton (Chair), Cllr P Robinson and Mrs Kate Hughes",
            ["G Dalton", "P Robinson", "Kate Hughes"],
        ),
        ("Councillors Present: Mike Cain", ["Mike Cain"]),
        ("Anwesend: Bo Li,Cy Ko", ["Bo Li", "Cy Ko"]),
        ("Présents : Anne TERROT, Luc RÉNÉ,", ["Anne TERROT", "Luc RÉNÉ"]),
        ("Deciders: Ada Lovelace, Floyd (CTO)", ["Ada Lovelace", "Floyd"]),
        ("Owner: CTO Ada Lovelace", ["Ada Lovelace"]),
        ("Risk owner: Łukasz Żak", ["Łukasz Żak"]),
        ("Tech lead: Bo Li", ["Bo Li"]),
        ("参加者: 大島純、佐藤将行さん", ["大島純", "佐藤将行"]),
        ("Attendees: You", []),
        ("Sponsor: Red Hat", []),
        ("欠席者: なし", []),
        ("Présents : Monsieur Claude DUPONT, Maire, Messieurs DAGORT", ["Claude DUPONT", "DAGORT"]),
    ],
)
def test_people_behind_labels_are_called_by_their_names(text, people):
    assert titles(read(f"# T\n\n{text}"), "Person") == people


def test_a_post_before_or_behind_a_name_is_the_role():
    graph = read("# T\n\nDeciders: Floyd (CTO), CFO Bo Li")
    assert [properties(graph, name) for name in ("Floyd", "Bo Li")] == [{"role": "CTO"}, {"role": "CFO"}]


@pytest.mark.parametrize(
    ("markdown", "people"),
    [
        ("## Present\n\n- Rod Vagg (TSC)\n- Ada Lovelace @ada (TSC)", ["Rod Vagg", "Ada Lovelace"]),
        ("## Miembros\n\n- García Ruiz, Ana\n- Bo Li", ["Ana García Ruiz", "Bo Li"]),
        (
            "## Team\n\n- **Incident Lead:** Ada Lovelace\n- **Active participants:** Bo Li, Cy Ko",
            ["Ada Lovelace", "Bo Li", "Cy Ko"],
        ),
    ],
)
def test_people_of_a_list_are_called_by_their_names(markdown, people):
    assert titles(read(f"# T\n\n{markdown}"), "Person") == people


def test_a_list_of_people_in_front_matter_is_kept_whole():
    graph = read("---\nparticipants:\n  - Ada Lovelace <ada@a.example>\n  - jamie\n  - alex\n---\n\n# T\n\nHello.")
    assert [(node.title, node.properties) for node in graph.nodes if node.type == "Person"] == [
        ("Ada Lovelace", {"email": "ada@a.example"})
    ]
    assert properties(graph, "T") == {"participants": "jamie, alex"}


def test_who_has_an_address_is_a_person_unless_the_name_is_one_of_a_team():
    graph = read("From: Ada Lovelace <ada@a.example>\nTo: Support Desk <help@a.example>\n\nHello,\n\nAda")
    assert [(node.title, node.properties["email"]) for node in graph.nodes if node.type == "Person"] == [
        ("Ada Lovelace", "ada@a.example")
    ]


@pytest.mark.parametrize(
    ("text", "people"),
    [
        ("Mr D. Berry spoke. Mr Berry left.", ["D. Berry"]),
        ("CTO Ada Lovelace came.", ["Ada Lovelace"]),
        ("Editor Visual Studio came.", []),
        ("It needs MS Crypto API on Windows.", []),
    ],
)
def test_initials_belong_to_a_name_and_a_post_does_not(text, people):
    assert people_in(text) == people


def test_firms_are_organisations_where_their_legal_form_stands():
    graph = read("# T\n\nThis is between Innovate Corp and Legal Solutions LLC, a Delaware company.")
    assert titles(graph, "Organization") == ["Innovate Corp", "Legal Solutions LLC"]


@pytest.mark.parametrize(
    "entry", ["- [ ] John: Review the plan", "- [ ] John to Review the plan", "- [ ] **John** – Review the plan"]
)
def test_a_task_is_of_whom_its_beginning_names_if_the_text_named_one(entry):
    graph = read(f"# T\n\nAttendees: John Smith\n\n## Tasks\n\n{entry}")
    assert [target for _, _, target in edges(graph, "ASSIGNED_TO")] == ["John Smith"]
    assert edges(read(f"# T\n\n{entry}"), "ASSIGNED_TO") == set()


def test_a_handle_before_a_task_is_no_part_of_its_title():
    graph = read("# T\n\n- [ ] @ada: order tablets")
    assert edges(graph, "ASSIGNED_TO") == {("order tablets", "ASSIGNED_TO", "@ada")}
    assert properties(graph, "order tablets")["text"] == "@ada: order tablets"


def test_a_row_is_named_by_words_and_not_by_its_day_time_or_quantity():
    graph = read("# T\n\n| Time | Event |\n|--|--|\n| 08:41 | Alert |\n\n| Menge | Zutat |\n|--|--|\n| 5 | Eier |")
    assert [(node.title, node.properties) for node in graph.nodes[1:]] == [
        ("Alert", {"time": "08:41"}),
        ("Eier", {"menge": "5"}),
    ]


def test_columns_of_days_owners_and_reasons_are_read_in_several_languages():
    graph = read(
        "# T\n\n| Tâche | Responsable | Échéance (AAAA-MM-JJ) |\n|--|--|--|\n| Réviser | Clara Lopez | 2024-01-17 |\n\n"
        "| Decision | Reasoning | Made by |\n|--|--|--|\n| Sell | It leaks | Dev Team |"
    )
    assert edges(graph, "ASSIGNED_TO") == {("Réviser", "ASSIGNED_TO", "Clara Lopez")}
    assert properties(graph, "Réviser")["due_on"] == "2024-01-17"
    assert properties(graph, "Sell") == {"rationale": "It leaks"}
    assert titles(graph, "Organization") == ["Dev Team"]


def test_a_bold_label_with_a_short_value_says_something_of_its_section_and_defines_no_term():
    graph = read(
        "# T\n\n## Facts\n\n- **Severity:** minor\n- **Lot** - one delivery\n- **Tent:** $700\n  - **Status:** paid"
    )
    assert titles(graph, "Concept") == ["Facts", "Lot", "Tent"]
    assert properties(graph, "Facts") == {"severity": "minor"}
    assert properties(graph, "Tent") == {"amounts": ["$700"], "description": "$700", "status": "paid"}


def test_labelled_lines_are_statements_of_their_own_and_one_passage_if_one_of_them_is_none():
    graph = read("# T\n\n**Ja: 16**\n**Nein: 0**\nDer Antrag wird angenommen.")
    assert properties(graph, "T") == {"ja": "16", "nein": "0"}
    assert titles(graph, "Passage", "Concept") == ["Ja: 16 Nein: 0 Der Antrag wird angenommen."]


def test_a_sentence_before_a_rule_is_no_heading():
    graph = read("# T\n\nDer Antrag wird angenommen.\n---\n\nShort\n---\n")
    assert (titles(graph, "Passage"), titles(graph, "Concept")) == (["Der Antrag wird angenommen."], ["Short"])


def test_a_heading_that_is_only_numbered_keeps_its_words():
    assert titles(read("# T\n\n## Session 2 — 2026-03-04"), "WorkSession") == ["Session 2 — 2026-03-04"]


@pytest.mark.parametrize(
    ("markdown", "title"),
    [
        ("# Summary\n\nText\n\n# Motivation\n\nText", "d"),
        ("**ACTA DE ASAMBLEA**\n\n## Hora\n\nText", "ACTA DE ASAMBLEA"),
        ("---\nsubject: Project update\n---\n\nHi team,", "Project update"),
    ],
)
def test_a_document_is_called_by_its_first_line_or_subject_and_by_no_part_of_it(markdown, title):
    assert titles(read(markdown), "Document") == [title]


def test_pictures_and_anchors_are_no_part_of_a_title_and_images_no_resource():
    graph = read(
        '# T\n\n## <a name="x"></a> Options\n\n## Decisions\n\n- ✅ Ship it\n\n## Links\n\n'
        "[![build](https://a.example/b.svg)](https://a.example/ci) ![p](https://a.example/p.png)"
    )
    assert titles(graph, "Concept", "Decision", "Resource") == ["Options", "Ship it", "build"]


def test_links_to_other_notes_lead_to_what_they_name():
    graph = build_graph(
        BuildRequest(
            documents=[
                {"id": "a", "markdown": '---\nparent: "[[Master Plan]]"\n---\n\n# A\n\nAsk [[notes/master plan|it]].'},
                {"id": "b", "markdown": "# B\n\nSee [[Master Plan]] on [[2026-03-01]], `[[code]]`."},
            ]
        ),
        "local:ada",
        NOW,
    )
    assert titles(graph, "Concept") == ["Master Plan"]
    assert edges(graph, "MENTIONS") == {
        ("A", "MENTIONS", "Master Plan"),
        ("Ask it.", "MENTIONS", "Master Plan"),
        ("See Master Plan on 2026-03-01, code.", "MENTIONS", "Master Plan"),
    }
    assert ("A", "PART_OF", "Master Plan") in edges(graph, "PART_OF")


def test_an_agent_is_no_person():
    assert titles(read("# T\n\nReviewer: Code Review Agent"), "Person") == []


def test_what_a_text_calls_a_relation_is_on_the_edge_unless_its_type_says_it():
    graph = read(
        "# T\n\nSecrétaire de séance : Ada Lovelace\nDepends on: SAP\n\n## Present\n\n- Bo Li\n\n"
        "## Tasks\n\n- Bo: order tablets\n- @cy: pay"
    )
    labels = [(edge.type, edge.properties.get("label")) for edge in graph.edges if edge.type != "PART_OF"]
    assert labels == [
        ("MENTIONS", "Secrétaire de séance"),
        ("MENTIONS", "Present"),
        ("ASSIGNED_TO", "Bo"),
        ("ASSIGNED_TO", "cy"),
        ("DEPENDS_ON", None),
    ]


@pytest.mark.parametrize("text", ["No action items were captured.", "No tasks", "There are no next steps for now"])
def test_an_entry_that_says_that_there_is_no_task_is_none(text):
    assert titles(read(f"# T\n\nAction items: {text}\n\n## Tasks\n\n- {text}\n- No phase is left out"), "Task") == [
        "No phase is left out"
    ]


def test_a_team_is_no_person_and_who_leads_it_answers_for_it():
    graph = read(
        "# T\n\n## Platform Team\n\n**Team Lead:** David Kim\n**Members:** 12 engineers\n\nAsk @acme-inc/builders."
    )
    assert titles(graph, "Concept", "Person") == ["Platform Team", "David Kim"]
    assert edges(graph, "OWNED_BY") == {("Platform Team", "OWNED_BY", "David Kim")}
    assert properties(graph, "Platform Team") == {"team_lead": "David Kim", "members": "12 engineers"}


def test_a_heading_below_people_names_a_group_of_them_unless_it_is_a_name():
    graph = read("# T\n\n## Members\n\n### Triagers\n\n- Ada Lovelace\n- Create a team:\n  - now\n\n### Bo Li\n\nCook")
    assert titles(graph, "Person") == ["Ada Lovelace", "Bo Li"]


@pytest.mark.parametrize(
    "text",
    [
        "The promise resolved to an array of results.",
        "IN NO EVENT SHALL THE AUTHOR BE LIABLE FOR ANY damages.",
        "Copyright Julian Gruber <julian@a.example>",
    ],
)
def test_code_and_licences_state_no_decision_and_name_only_people(text):
    assert titles(read(f"# T\n\n{text}"), "Decision", "Person") == (["Julian Gruber"] if "Gruber" in text else [])


def test_the_number_of_a_task_is_no_sentence():
    assert titles(read("# T\n\n- [ ] 1\\. Call Bo. Soon.\n- [ ] 2. Pay"), "Task") == ["Call Bo", "Pay"]


def test_a_row_that_is_named_by_code_is_no_rule():
    graph = read("# T\n\n## Rules\n\n| Name | Meaning |\n|--|--|\n| `RULE_PATH` | a path |\n| Be kind | always |")
    assert (titles(graph, "Principle"), titles(graph, "Concept")) == (["Be kind"], ["RULE_PATH"])


def test_a_defined_word_relates_nothing_and_a_cell_of_two_names_is_no_person():
    graph = read("# T\n\n- `require` - JSON\n- **Owner** - Bo Li\n\n| Person | Week |\n|--|--|\n| Ada / Cy | 1 |")
    assert edges(graph, "DEPENDS_ON", "OWNED_BY") == {("T", "OWNED_BY", "Bo Li")}
    assert titles(graph, "Person", "Concept") == ["require", "Bo Li", "Ada / Cy"]


def test_keys_of_reasons_and_days_are_read_as_columns_are():
    decision, task = '{"title": "Sell", "rationale": "It leaks"}', '{"title": "Pay", "deadline": "2026-03-01"}'
    text = f'{{"decisions": [{decision}], "tasks": [{task}]}}'
    request = BuildRequest(documents=[{"id": "d", "text": text, "mediaType": "application/json"}])
    graph = build_graph(request, "local:ada", NOW)
    assert properties(graph, "Sell") == {"rationale": "It leaks"}
    assert properties(graph, "Pay")["due_on"] == "2026-03-01"
