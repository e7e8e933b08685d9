"""Forms of other people's documents: minutes, decision records, e-mails, budgets and notes in several languages.

Literal texts in; the nodes, edges and properties that they state out, and none that they don't.
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
        ("op 5 mei en 1 maart 2019, 3 januari 2020", ["2019-03-01", "2020-01-03"]),
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
        ("Le bureau a décidé de fermer le four, car il fume.", "fermer le four"),
        ("On a décidé que la fête aura lieu dehors.", "la fête aura lieu dehors"),
        ("Acordamos pintar la verja porque está oxidada.", "pintar la verja"),
        ("Wir haben uns gegen die Pellets entschieden, da sie teuer sind.", "gegen die Pellets"),
        ("È stato deciso di chiudere il forno perché fuma.", "chiudere il forno"),
        ("Il consiglio ha deliberato di pagare.", "pagare"),
        ("Foi decidido pintar o muro, pois está sujo.", "pintar o muro"),
        ("Er is besloten om de oven te sluiten, want hij rookt.", "de oven te sluiten"),
        ("Het bestuur besluit dat de deur open blijft.", "de deur open blijft"),
        ("We chose bricks over wood because wood burns.", "bricks over wood"),
        ("ok so we agreed: no music after ten", "no music after ten"),
        ("Hi both,\n\nwe decided to sell the boat.", "sell the boat"),
        ("Liebe Ada,\n\nwir haben beschlossen, das Boot zu verkaufen.", "das Boot zu verkaufen"),
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
        "Le bureau n'a pas décidé de fermer.",
        "Il consiglio non ha deciso di pagare.",
        "Er is nog niet besloten om te sluiten.",
        "Wir haben uns noch nicht für den Ofen entschieden.",
        "Foi acordado pelo barulho da rua.",
        "Ficou decidido o jogo.",
        "Il medico ha stabilito che la febbre era alta.",
        "We picked apples rather than pears.",
        "If it rains again or if\nwe decided to sell, tell me.",
        "We chose not to go instead of you.",
        "We agreed: nothing changes",
        "場所はまだ決定していない。",
    ],
)
def test_other_sentences_with_these_words_decide_nothing(text):
    assert titles(read(f"# T\n\n{text}"), "Decision") == []


def test_a_reason_is_read_in_the_languages_of_decisions():
    reasons = [
        ("Le bureau a décidé de fermer le four, car il fume.", "il fume"),
        ("Foi decidido pintar o muro, pois está sujo.", "está sujo"),
        ("Er is besloten om de oven te sluiten, want hij rookt.", "hij rookt"),
        ("Wir haben uns gegen die Pellets entschieden, da sie teuer sind.", "sie teuer sind"),
        ("We chose bricks over wood because of the fire.", "the fire"),
        ("We decided to sell the boat, car and bike.", None),
    ]
    for text, reason in reasons:
        (decision,) = [node for node in read(f"# T\n\n{text}").nodes if node.type == "Decision"]
        assert decision.properties.get("rationale") == reason


@pytest.mark.parametrize("heading", ["Décisions", "Beschlüsse", "Acuerdos tomados", "決定事項", "Decision log"])
def test_words_for_decisions_announce_them_in_several_languages(heading):
    assert titles(read(f"# T\n\n## {heading}\n\n- A\n- B"), "Decision") == ["A", "B"]


def test_the_title_of_a_list_announces_what_is_directly_below_it_and_no_heading():
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
def test_people_after_labels_are_called_by_their_names(text, people):
    assert titles(read(f"# T\n\n{text}"), "Person") == people


def test_a_post_before_or_after_a_name_is_the_role():
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


def test_a_correspondent_with_an_address_is_a_person_unless_the_name_is_that_of_a_team():
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
        ("The train to Gare Centrale, coach 4, is late.", []),
        ("It needs MS Crypto API on Windows.", []),
    ],
)
def test_initials_belong_to_a_name_and_a_post_does_not(text, people):
    assert people_in(text) == people


def test_names_with_a_legal_form_are_organisations():
    graph = read("# T\n\nThis is between Innovate Corp and Legal Solutions LLC, a Delaware company.")
    assert titles(graph, "Organization") == ["Innovate Corp", "Legal Solutions LLC"]


@pytest.mark.parametrize(
    "entry", ["- [ ] John: Review the plan", "- [ ] John to Review the plan", "- [ ] **John** – Review the plan"]
)
def test_a_task_is_assigned_to_the_person_at_its_beginning_if_the_text_introduced_them(entry):
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


def test_labelled_lines_are_separate_statements_and_one_passage_if_one_of_them_is_no_statement():
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


def test_the_texts_word_for_a_relation_is_on_the_edge_unless_the_type_says_the_same():
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
def test_an_entry_that_says_that_there_is_no_task_is_no_task(text):
    assert titles(read(f"# T\n\nAction items: {text}\n\n## Tasks\n\n- {text}\n- No phase is left out"), "Task") == [
        "No phase is left out"
    ]


def test_a_team_is_no_person_and_is_owned_by_its_lead():
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


@pytest.mark.parametrize(
    ("text", "ends"),
    [
        ("The relaunch depends on the new server.", ("relaunch", "new server")),
        ("The second phase is contingent on approval of the audit.", ("second phase", "approval of the audit")),
        ("Die Eröffnung hängt von der Abnahme der Halle ab.", ("Eröffnung", "Abnahme der Halle")),
        ("Le déménagement dépend du permis.", ("déménagement", "permis")),
        ("La entrega depende de la grúa.", ("entrega", "grúa")),
        ("Il trasloco dipende dall'arrivo del camion.", ("trasloco", "arrivo del camion")),
        ("A mudança depende da chave.", ("mudança", "chave")),
        ("De verhuizing hangt af van de nieuwe vloer.", ("verhuizing", "nieuwe vloer")),
        ("The price depends on the season.", None),
        ("The course depends on the wind.", None),
        ("The launch depends on what Bo says.", None),
        ("Die Eröffnung hängt nicht von der Halle ab.", None),
        ("Does the launch depend on the server?", None),
    ],
)
def test_a_prerequisite_of_an_undertaking_is_an_edge_and_the_explanation_of_a_price_is_not(text, ends):
    found = edges(read(f"# T\n\n{text}"), "DEPENDS_ON")
    assert found == ({(ends[0], "DEPENDS_ON", ends[1])} if ends else set())


def test_a_numbered_heading_may_depend_on_a_thing_with_an_article():
    graph = read("# T\n\n## Goal 3: Sell ten boats\n\nGoal 3 depends on the paint shop.\n\nIt depends on the tide.")
    assert edges(graph, "DEPENDS_ON") == {("Sell ten boats", "DEPENDS_ON", "paint shop")}


@pytest.mark.parametrize(
    ("text", "task", "due"),
    [
        ("Bo Li will call the mayor by 3 March 2026.", "call the mayor", "2026-03-03"),
        ("Bo to order two sails before 2026-03-04.", "order two sails", "2026-03-04"),
        ("Bo doit écrire au maire avant le 3 mars 2026.", "écrire au maire", "2026-03-03"),
        ("Bo soll bis zum 3. März 2026 den Ofen prüfen.", "den Ofen prüfen", "2026-03-03"),
        ("Bo llamará al alcalde antes del 3 de marzo de 2026.", "llamará al alcalde", "2026-03-03"),
        ("Bo deve scrivere al sindaco entro il 3 marzo 2026.", "scrivere al sindaco", "2026-03-03"),
        ("Bo moet vóór 3 maart 2026 de oven nakijken.", "de oven nakijken", "2026-03-03"),
        ("Bo will be away until 3 March 2026.", None, None),
        ("Bo will not call the mayor by 3 March 2026.", None, None),
        ("Bo will turn forty before 3 March 2026.", None, None),
        ("Bo estará en casa antes del 3 de marzo de 2026.", None, None),
        ("Bo will call the mayor on 3 March 2026.", None, None),
        ("Cy will call the mayor by 3 March 2026.", None, None),
        ("Bo will call. The rent is due by 3 March 2026.", None, None),
        ("Bo will call the mayor if it rains by 3 March 2026.", None, None),
    ],
)
def test_a_named_persons_duty_by_a_day_is_a_task(text, task, due):
    graph = read(f"# T\n\nPresent: Bo Li\n\n{text}")
    tasks = [(node.title, node.properties["due_on"]) for node in graph.nodes if node.type == "Task"]
    assert tasks == ([(task, due)] if task else [])
    assert edges(graph, "ASSIGNED_TO") == ({(task, "ASSIGNED_TO", "Bo Li")} if task else set())


@pytest.mark.parametrize(
    ("text", "tasks"),
    [
        (
            "The Seller shall hand over the keys no later than 3 March 2026.",
            [("The Seller shall hand over the keys", "2026-03-03")],
        ),
        (
            "Der Mieter muss die Kaution bis zum 3. März 2026 zahlen. Sie wird verzinst.",
            [("Der Mieter muss die Kaution bis zum 3. März 2026 zahlen", "2026-03-03")],
        ),
        ("The Seller shall be free until 3 March 2026.", []),
        ("The Seller will leave by 3 March 2026.", []),
        ("The seller shall pay by 3 March 2026.", []),
    ],
)
def test_a_contract_partys_duty_by_a_day_is_a_task_assigned_to_nobody(text, tasks):
    graph = read(f"# T\n\n{text}")
    assert [(node.title, node.properties["due_on"]) for node in graph.nodes if node.type == "Task"] == tasks
    assert edges(graph, "ASSIGNED_TO") == set()


def test_a_passage_names_the_headings_above_it_without_the_title():
    long = "Very long " * 40
    graph = read(f"# T\n\n## Engine\n\n### When it fails\n\nTurn it off.\n\n## {long}\n\n### Oil\n\nBuy some.")
    sections = [node.properties["section"] for node in graph.nodes if node.type == "Passage"]
    assert sections == ["Engine: When it fails", "Oil"]


@pytest.mark.parametrize(
    ("entry", "title", "due"),
    [
        ("Paint the door (bis 03.04.2026)", "Paint the door", "2026-04-03"),
        ("Paint the door (échéance : 3 avril 2026)", "Paint the door", "2026-04-03"),
        ("Paint the door, entro il 3 aprile 2026", "Paint the door", "2026-04-03"),
        ("Paint the door (prazo: 23/04/2026)", "Paint the door", "2026-04-23"),
        ("Paint the door 📅 2026-04-03", "Paint the door", "2026-04-03"),
        ("Paint the door due:: 2026-04-03", "Paint the door", "2026-04-03"),
        ("Paint the door \u2705 2026-04-03", "Paint the door", None),
        ("Urlaub vom 01.04.2026 bis 03.04.2026", "Urlaub vom 01.04.2026 bis 03.04.2026", None),
        ("Paint the door (due 03/04/2026)", "Paint the door", None),
    ],
)
def test_the_day_by_which_a_task_is_due_is_read_in_several_languages(entry, title, due):
    (task,) = [node for node in read(f"# T\n\n- [ ] {entry}").nodes if node.type == "Task"]
    assert (task.title, task.properties.get("due_on")) == (title, due)
    assert task.properties.get("description") == ("due 03/04/2026" if "/04" in entry and due is None else None)


def test_a_bracket_after_a_task_names_its_assignee_if_the_text_names_that_person_elsewhere():
    graph = read("# T\n\n- [ ] Paint the door (Bo Li)\n- [ ] Book a hotel (San Remo)\n\nPresent: Bo Li")
    assert edges(graph, "ASSIGNED_TO") == {("Paint the door (Bo Li)", "ASSIGNED_TO", "Bo Li")}


@pytest.mark.parametrize("word", ["verantwortlich", "responsable", "responsabile", "Verantwoordelijk"])
def test_the_person_responsible_for_a_task_is_read_in_several_languages(word):
    graph = read(f"# T\n\n- [ ] Paint the door ({word}: Bo Li)")
    assert edges(graph, "ASSIGNED_TO") == {("Paint the door", "ASSIGNED_TO", "Bo Li")}


@pytest.mark.parametrize(
    ("text", "title", "people"),
    [
        ("Verbale\nData: 3 maggio 2026\nPresenti: Ada Conti, Bo Li", "Verbale", ["Ada Conti", "Bo Li"]),
        ("Notulen\n\nAanwezig: Ada de Wit\nAfwezig: Bo Li", "Notulen", ["Ada de Wit", "Bo Li"]),
        ("Ata\nSala 4\nPresentes: Ada Lima\nAusentes: Família Melo", "Ata", ["Ada Lima"]),
        ("Rent of a shed\nLandlord: Ada Melo\nTenant: Bo Li", "Rent of a shed", []),
        ("A long talk\nAda: hello\nBo: " + "well " * 20, "d", []),
        ("Usability test\nInterviewer: Ada Lovelace", "Usability test", ["Ada Lovelace"]),
        ("The old package gave modules for Emacs\nAuthor:", "d", []),
    ],
)
def test_the_line_above_labelled_lines_is_the_title_and_they_name_people(text, title, people):
    graph = read(text)
    assert (graph.nodes[0].title, titles(graph, "Person")) == (title, people)


@pytest.mark.parametrize("line", ["Next steps", "À faire", "Da fare", "Zu erledigen", "Te doen"])
def test_a_line_above_a_list_announces_what_is_in_it(line):
    graph = read(f"# T\n\nPresent: Bo Li\n\n{line}\n- Bo Li: paint the door\n- Call Cy")
    assert titles(graph, "Task") == ["paint the door", "Call Cy"]
    assert edges(graph, "ASSIGNED_TO") == {("paint the door", "ASSIGNED_TO", "Bo Li")}
    assert titles(read(f"# T\n\n{line}\n\nCall Cy"), "Task") == []
    assert titles(read("# T\n\nFeatures\n\n- Drop Python 3.6"), "Capability") == []


@pytest.mark.parametrize(
    "lines",
    [
        ("[2026-03-25 10:04] ", "Ada Lovelace: "),
        ("25/03/2026, 10:04 - ", "Ada Lovelace: "),
        ("[25.03.26, 10:04:31] ", "Ada Lovelace: "),
        ("10:04 AM ", "Ada Lovelace\n"),
    ],
)
def test_each_message_of_a_record_of_messages_is_a_passage_with_its_author(lines):
    stamp, author = lines
    graph = read(f"{stamp}{author}We decided to sail.\n{stamp}bo: fine\nby me\n{stamp}{author}See you")
    passages = [node.properties["text"] for node in graph.nodes if node.type == "Passage"]
    assert passages == [f"{stamp}{author}We decided to sail.", f"{stamp}bo: fine\nby me", f"{stamp}{author}See you"]
    assert (titles(graph, "Person"), titles(graph, "Decision")) == (["Ada Lovelace"], ["sail"])


def test_the_lines_of_a_log_are_by_nobody():
    lines = "\n".join(f"2026-03-25 10:04:0{second} INFO: pump started" for second in range(5))
    assert len(titles(read(f"Log\n\n{lines}"), "Passage")) == 1


def test_a_programme_with_times_is_no_record_of_messages():
    graph = read("Plan\n\n09:00 Git Basics: Ada\n10:00 Coffee Break: all\n11:00 Unit Tests: Bo")
    assert (titles(graph, "Person"), len(titles(graph, "Passage"))) == ([], 1)


@pytest.mark.parametrize(
    ("above", "mark"),
    [
        ("On Mon, 2 Mar 2026 at 10:04, Bo Li <bo@a.example> wrote:", "> "),
        ("Am 02.03.2026 um 10:04 schrieb Bo Li:", "> "),
        ("-----Original Message-----", ""),
        ("-----Ursprüngliche Nachricht-----", ""),
    ],
)
def test_a_mail_states_nothing_of_what_it_answers_but_can_be_found_by_it(above, mark):
    old = f"{mark}We decided to fly.\n{mark}\n{mark}Owner: Cy Ko\n{mark}\n{mark}- [ ] Book the flight"
    graph = read(f"Hi,\n\nWe decided to sail.\n\n{above}\n\n{old}")
    assert (titles(graph, "Decision"), titles(graph, "Task")) == (["sail"], [])
    assert edges(graph, "OWNED_BY") == set()
    assert {"We decided to fly.", "Owner: Cy Ko"} <= set(titles(graph, "Passage"))
    assert titles(read("> We decided to sail."), "Decision") == []


def test_a_label_with_a_number_states_a_thing_of_its_type():
    graph = read("# T\n\n- KR1: Sell ten boats (owner: Bo Li)\n- Risk 2: Frost\n- Step 1: open the lid\n- Room 4: red")
    assert (titles(graph, "Goal"), titles(graph, "Risk"), titles(graph, "Task")) == (["Sell ten boats"], ["Frost"], [])
    assert edges(graph, "OWNED_BY") == {("Sell ten boats", "OWNED_BY", "Bo Li")}


def test_sections_of_a_changelog_are_no_things_and_a_sentence_about_a_word_does_not_define_it():
    graph = read("# T\n\n## 1.2\n\n### Added\n\n- Maps\n\n### Deprecated\n\n- `push` is deprecated.\n- `lot` is a box.")
    assert titles(graph, "Concept") == ["1.2", "lot"]


@pytest.mark.parametrize(
    ("text", "people"),
    [
        ("# Ada Lovelace\n\nada.lovelace@a.example", ["Ada Lovelace"]),
        ("# T\n\nBest, Jörg Müller (joerg.mueller@a.example)", ["Jörg Müller"]),
        ("# T\n\nÉva Szabó wrote eva_szabo@a.example on it.", ["Éva Szabó"]),
        ("# Customer Support\n\ncustomer.support@a.example", []),
        ("# Debian Python\n\ndebian.python@lists.a.example", []),
        ("# Ada Lovelace\n\nada@a.example", []),
    ],
)
def test_a_name_that_an_address_spells_is_one_of_a_person(text, people):
    assert titles(read(text), "Person") == people


def test_an_outline_gives_its_title_its_tasks_and_their_days():
    graph = read(
        "#+TITLE: Garden\n#+AUTHOR: Ada Lovelace\n\n* Beds\nThe soil is dry.\n** TODO [#A] Water the beans\n"
        "DEADLINE: <2026-05-04 Mon>\n:PROPERTIES:\n:ID: 7\n:END:\n** DONE Buy seeds\n"
        "#+BEGIN_SRC sh\n- [ ] echo\n#+END_SRC\n"
        "* Paths\n- [ ] Ask Cy"
    )
    assert titles(graph, "Document", "Person", "Concept") == ["Garden", "Ada Lovelace", "Beds", "Paths"]
    tasks = {node.title: node.properties for node in graph.nodes if node.type == "Task"}
    assert {title: task["status"] for title, task in tasks.items()} == {
        "Water the beans": "open",
        "Buy seeds": "done",
        "Ask Cy": "open",
    }
    assert tasks["Water the beans"]["due_on"] == "2026-05-04"
    assert ("Water the beans", "PART_OF", "Beds") in edges(graph, "PART_OF")


def test_a_calendar_gives_its_events_and_tasks_with_their_times_and_people():
    text = (
        "BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nDTSTART:20260503T090000Z\r\nDTEND:20260503T100000Z\r\n"
        "SUMMARY:Pump\\, valves\r\nLOCATION:Cel\r\n lar\r\n"
        'ORGANIZER;CN="Ada Lovelace":mailto:a@a.example\r\nATTENDEE;CN=room4:mailto:r@a.example\r\n'
        "BEGIN:VALARM\r\nDESCRIPTION:ring\r\nEND:VALARM\r\nEND:VEVENT\r\nBEGIN:VTODO\r\nSUMMARY:Pay\r\n"
        "DUE;VALUE=DATE:20260506\r\nSTATUS:COMPLETED\r\nEND:VTODO\r\nBEGIN:VEVENT\r\nSUMMARY:Fair\r\n"
        "DTSTART;VALUE=DATE:20260230\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"
    )
    graph = build_graph(BuildRequest(documents=[{"id": "d", "text": text}]), "local:ada", NOW)
    assert [(node.type, node.title, node.properties) for node in graph.nodes[1:]] == [
        (
            "TimeBlock",
            "Pump, valves",
            {
                "starts_at": "2026-05-03T09:00:00Z",
                "ends_at": "2026-05-03T10:00:00Z",
                "location": "Cellar",
                "dates": ["2026-05-03"],
            },
        ),
        ("Person", "Ada Lovelace", {}),
        ("Task", "Pay", {"due_on": "2026-05-06", "status": "done", "dates": ["2026-05-06"]}),
        ("TimeBlock", "Fair", {}),
    ]
    assert edges(graph, "MENTIONS") == {("Pump, valves", "MENTIONS", "Ada Lovelace")}
    assert [text[span.start : span.end] for node in graph.nodes[2:3] for span in node.spans] == ["Ada Lovelace"]
