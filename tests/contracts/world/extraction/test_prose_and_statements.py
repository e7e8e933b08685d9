"""Prose and a caller's own statements: literal texts in, literal passages, people, edges and refusals out."""

import time
from datetime import UTC, datetime
from typing import Any

import pytest

from contracts.world.extraction.build import BuildRequest, BuiltGraph, build_graph
from contracts.world.extraction.figures import amounts_in, dates_in
from contracts.world.extraction.findings import Part
from contracts.world.extraction.people import handles_in, people_in
from contracts.world.extraction.rules import load_rules
from contracts.world.extraction.segmentation import LONGEST_PASSAGE, passages_of
from contracts.world.identity import own_id

ME = "local:ada"
NOW = datetime(2026, 11, 22, tzinfo=UTC)


def read(markdown: str, **fields) -> BuiltGraph:
    return build_graph(BuildRequest(documents=[{"id": "d", "markdown": markdown} | fields]), ME, NOW)


def stated(**fields) -> BuiltGraph:
    return build_graph(BuildRequest(graph_id="g", **fields), ME, NOW)


def titles(graph: BuiltGraph, node_type: str) -> list[str]:
    return [node.title for node in graph.nodes if node.type == node_type]


def edges(graph: BuiltGraph, *types: str) -> set[tuple[str, str, str]]:
    title = {node.id: node.title for node in graph.nodes}
    return {(title[e.source], e.type, title[e.target]) for e in graph.edges if not types or e.type in types}


def test_every_paragraph_is_a_passage_with_its_span_as_part_of_its_section():
    text = "# Trip\n\nWe left early.\nIt rained.\n\n## The hut\n\nNobody was there."
    graph = read(text)
    passages = [node for node in graph.nodes if node.type == "Passage"]
    assert [text[span.start : span.end] for node in passages for span in node.spans] == [
        "We left early.\nIt rained.",
        "Nobody was there.",
    ]
    assert [node.properties for node in passages] == [
        {"text": "We left early.\nIt rained."},
        {"text": "Nobody was there.", "section": "The hut"},
    ]
    assert edges(graph) == {
        ("We left early. It rained.", "PART_OF", "Trip"),
        ("The hut", "PART_OF", "Trip"),
        ("Nobody was there.", "PART_OF", "The hut"),
    }


def test_a_text_of_one_line_is_both_title_and_passage():
    graph = build_graph(BuildRequest(documents=[{"text": "the boat leaks"}]), ME, NOW)
    assert [(node.type, node.title) for node in graph.nodes] == [
        ("Document", "the boat leaks"),
        ("Passage", "the boat leaks"),
    ]


def test_a_long_paragraph_is_cut_where_sentences_end():
    text = "The tide came in. " * 200
    parts = list(passages_of(text, Part(0, len(text))))
    assert all(part.end - part.start <= LONGEST_PASSAGE and text[part.end - 1] == "." for part in parts)
    assert " ".join(text[part.start : part.end] for part in parts) == text.strip()


@pytest.mark.parametrize(
    ("text", "title", "properties"),
    [
        ("Budget: 500 EUR", "Budget: 500 EUR", {"amounts": ["500 EUR"]}),
        ("Budget: 1,5 Mio. EUR", "Budget: 1,5 Mio. EUR", {}),
        ("Invoice: 4711", "Invoice: 4711", {}),
        ("Meeting: 3 March 2026", "Meeting: 3 March 2026", {"dates": ["2026-03-03"]}),
        ("Contract: Acme hosting", "Acme hosting", {"label": "Contract"}),
        ("Target: sail on the 12. Mai", "sail on the 12. Mai", {"label": "Target"}),
        ("Time block: nap", "nap", {}),
    ],
)
def test_a_label_stays_findable_together_with_its_value(text, title, properties):
    _, node = read(f"# T\n\n{text}").nodes
    assert (node.title, node.properties) == (title, properties)


def test_a_json_key_stays_findable_together_with_its_value():
    graph = build_graph(
        BuildRequest(
            documents=[{"text": '{"budget": "500 EUR", "contract": "Acme"}', "mediaType": "application/json"}]
        ),
        ME,
        NOW,
    )
    assert [(node.title, node.properties) for node in graph.nodes[1:]] == [
        ("budget: 500 EUR", {}),
        ("Acme", {"label": "contract"}),
    ]


@pytest.mark.parametrize(
    ("text", "people", "properties"),
    [
        ("Role: CTO\nTeam: Blue", [], {"role": "CTO", "team": "Blue"}),
        ("Team members: Ada, Bo Li", ["Ada", "Bo Li"], {}),
        ("Stakeholder: the board", [], {"stakeholder": "the board"}),
        ("Team:\n\n- Ada\n- Bo Li", ["Ada", "Bo Li"], {}),
    ],
)
def test_only_names_after_words_for_people_are_people(text, people, properties):
    graph = read(f"# T\n\n{text}")
    assert titles(graph, "Person") == people
    assert graph.nodes[0].properties == properties


@pytest.mark.parametrize(
    ("owner", "node"),
    [
        ("Marketing", ("Organization", "Marketing")),
        ("QA", ("Organization", "QA")),
        ("Human Resources", ("Organization", "Human Resources")),
        ("Legal team", ("Organization", "Legal team")),
        ("Steering Committee", ("Organization", "Steering Committee")),
        ("[Acme GmbH](https://a.example)", ("Organization", "Acme GmbH")),
        ("Grace Legal", ("Person", "Grace Legal")),
    ],
)
def test_a_part_of_an_organisation_is_one_owner_in_lines_and_tables(owner, node):
    for text in (f"Owner: {owner}", f"| Risk | Owner |\n|--|--|\n| Frost | {owner} |"):
        graph = read(f"# T\n\n{text}")
        parties = [(node.type, node.title) for node in graph.nodes if node.type in ("Person", "Organization")]
        assert parties == [node]
        assert len(edges(graph, "OWNED_BY")) == 1


def test_a_post_is_a_role_of_who_holds_it_and_nobody_by_itself():
    text = "# T\n\n## Team\n\n- CTO: Ada Lovelace\n- QA: Bo Li, Cy\n- CFO\n- Di: cook\n\nProduct Manager said no."
    people = [(node.title, node.properties) for node in read(text).nodes if node.type == "Person"]
    assert people == [
        ("Ada Lovelace", {"role": "CTO"}),
        ("Bo Li", {}),
        ("Cy", {}),
        ("Di", {"description": "cook"}),
    ]
    table = "| Contact | Phone |\n|--|--|\n| CFO | 1 |\n| QA | 2 |\n| Müller, Hans | 3 |"
    assert [(node.type, node.title) for node in read(f"# T\n\n{table}").nodes[1:]] == [
        ("Concept", "CFO"),
        ("Organization", "QA"),
        ("Person", "Hans Müller"),
    ]


def test_a_surname_comes_first_if_the_text_or_its_form_leaves_no_doubt():
    front = "---\nauthors:\n- Müller, Hans\n- Sand, Eva\n---\n# T"
    assert titles(read(front), "Person") == ["Hans Müller", "Eva Sand"]
    assert titles(read("# T\n\nOwner: Müller, Hans\n\nHans Müller said no."), "Person") == ["Hans Müller"]
    keys = {"text": '{"authors": ["Müller, Hans"]}', "mediaType": "application/json"}
    assert titles(build_graph(BuildRequest(documents=[keys]), ME, NOW), "Person") == ["Hans Müller"]


def test_an_item_below_one_that_made_no_node_describes_nothing_above():
    text = "# T\n\n- Risks:\n  - Owner: none\n- Depends on: SAP\n  - Owner: Ada\n- Goal: none\n  - Colour: red"
    graph = read(text)
    assert graph.nodes[0].properties == {"goal": "none"}
    assert titles(graph, "Passage") == ["Owner: none", "Owner: Ada", "Colour: red"]
    person = next(node for node in read("# T\n\n## Team\n\n- Ada\n  - Desk: 4").nodes if node.type == "Person")
    assert person.properties == {"desk": "4"}


def test_a_role_in_json_is_a_property_of_its_person():
    text = '{"team": [{"name": "Ada", "role": "CTO"}, "Bo Li"]}'
    graph = build_graph(BuildRequest(documents=[{"text": text, "mediaType": "application/json"}]), ME, NOW)
    assert [(node.type, node.title, node.properties) for node in graph.nodes[1:]] == [
        ("Person", "Ada", {"role": "CTO"}),
        ("Person", "Bo Li", {}),
    ]


def test_front_matter_is_read_key_by_key_with_its_lists():
    graph = read(
        "---\ntitle: \"My trip\"\ndate: 2026-04-01\nplaces:\n  - Oslo\n  - Bergen\nfoods: [fish, 'rye bread']\n"
        "authors:\n- Ada Lovelace\n- Bo Li\nabout: >\n  Two days\n  by train.\n# draft\n---\nWe left early.\n"
    )
    assert [(node.type, node.title) for node in graph.nodes] == [
        ("Document", "My trip"),
        ("Person", "Ada Lovelace"),
        ("Person", "Bo Li"),
        ("Passage", "We left early."),
    ]
    assert graph.nodes[0].properties == {
        "date": "2026-04-01",
        "places": "Oslo, Bergen",
        "foods": "fish, rye bread",
        "about": "Two days by train.",
        "dates": ["2026-04-01"],
    }
    assert graph.nodes[0].spans[0].text == "My trip"
    assert edges(graph, "PRODUCED") == {("Ada Lovelace", "PRODUCED", "My trip"), ("Bo Li", "PRODUCED", "My trip")}


def test_a_heading_titles_a_document_before_its_front_matter():
    (document,) = read("---\ntitle: trip-2\ntags:\n  - red\nplace: Oslo\n---\n# My trip").nodes[:1]
    assert (document.title, document.properties) == ("My trip", {"title": "trip-2", "place": "Oslo"})


def test_tags_of_front_matter_are_a_passage():
    assert titles(read("---\ntags:\n  - red\n  - blue\n---\n# T"), "Passage") == ["tags: - red - blue"]


@pytest.mark.parametrize("front", ["", "---\nplace: Oslo\n---\n"])
def test_a_byte_order_mark_hides_no_heading(front):
    text = f"\ufeff{front}# Trip\n\nWe left early."
    graph = read(text)
    assert [(node.title, text[node.spans[0].start : node.spans[0].end]) for node in graph.nodes] == [
        ("Trip", "Trip"),
        ("We left early.", "We left early."),
    ]


@pytest.mark.parametrize("gap", ["\n", "\n\n"])
def test_each_turn_of_a_conversation_is_a_passage(gap):
    turns = ["Ada: Did you sleep?", "Bo: No. The dog barked.", "Ada: Again?", "Bo: Goal of the week: sleep"]
    assert titles(read(gap.join(turns)), "Passage") == turns


def test_a_block_of_fields_describes_its_section_and_no_speaker():
    graph = read("# T\n\n## Pump\n\nStatus: old\nPlace: cellar\n\n## Roof\n\nStatus: new\nPlace: above")
    assert [node.properties for node in graph.nodes if node.type == "Concept"] == [
        {"status": "old", "place": "cellar"},
        {"status": "new", "place": "above"},
    ]
    assert titles(graph, "Passage") == []


def test_a_readme_keeps_its_requirements_and_its_license_is_no_concept():
    graph = read("# Pump\n\n## Requirements\n\n- Python 3.12\n- Docker\n\n## License\n\nMIT\n")
    assert titles(graph, "Concept") == ["Requirements"]
    assert edges(graph) == {
        ("Requirements", "PART_OF", "Pump"),
        ("Python 3.12", "PART_OF", "Requirements"),
        ("Docker", "PART_OF", "Requirements"),
        ("MIT", "PART_OF", "Pump"),
    }


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# T\n\nDepends on: SAP", ("T", "DEPENDS_ON", "SAP")),
        ("# T\n\nDepends on: `redis`", ("T", "DEPENDS_ON", "redis")),
        ("# T\n\nThe Billing Desk depends on SAP.", ("Billing Desk", "DEPENDS_ON", "SAP")),
        ("# T\n\n## billing\n\nNow billing relies on the Order Book.", ("billing", "DEPENDS_ON", "Order Book")),
        ("# T\n\nDepends on: the weather", None),
        ("# T\n\nIt depends on Ada.", None),
        ("# T\n\nIf Billing depends on Redis, we fail.", None),
        ("# T\n\nNeither Billing nor Orders depends on Redis.", None),
        ("# T\n\nAsk whether Billing depends on Redis.", None),
        ("# T\n\nSo Billing depends on Redis?", None),
        ("# T\n\nBilling depends on TBD.", None),
        ("# T\n\nCI/CD depends on GitHub.", None),
        ("# T\n\nOrders depends on Payments/Billing.", None),
        ("# T\n\nIf it rains, we stay. Billing depends on Redis.", ("Billing", "DEPENDS_ON", "Redis")),
        ("# T\n\nEverything depends on what she says.", None),
    ],
)
def test_only_names_depend_on_names(text, expected):
    assert edges(read(text), "DEPENDS_ON") == ({expected} if expected else set())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Owner: N/A", {"owner": "N/A"}),
        ("Owner: Unknown", {"owner": "Unknown"}),
        ("Owner: -", {"owner": "-"}),
        ("Owner: to be decided", {"owner": "to be decided"}),
        ("Depends on: None", {"depends_on": "None"}),
        ("Depends on: TBD.", {"depends_on": "TBD."}),
        ("Mitigation: none", {"mitigation": "none"}),
        ("Risk: none", {"risk": "none"}),
        ("Budget: TBD by Friday", {"budget": "TBD by Friday"}),
        ("Owner: none yet", {"owner": "none yet"}),
        ("Owner: CTO", {"owner": "CTO"}),
        ("Owner: Head of Sales", {"owner": "Head of Sales"}),
        ("Owner: Product Manager", {"owner": "Product Manager"}),
        ("Owner: The Board", {"owner": "The Board"}),
        ("Owner: Müller, Hans", {"owner": "Müller, Hans"}),
        ("Owner: van der Berg, Eva Maria", {"owner": "van der Berg, Eva Maria"}),
        ("Goal: to be agreed with Bo", {"goal": "to be agreed with Bo"}),
        ("Decision: postponed", {"decision": "postponed"}),
        ("Decision: should we move?", {"decision": "should we move?"}),
    ],
)
def test_a_value_that_names_no_certain_person_or_thing_is_text_and_no_node(text, expected):
    nodes = [node for node in read(f"# T\n\n{text}").nodes if node.type != "Passage"]
    assert [(node.title, node.properties) for node in nodes] == [("T", expected)]


def test_an_item_or_a_row_that_names_nothing_is_a_passage():
    graph = read("# T\n\n## Risks\n\n- None\n- Frost\n\n## Team\n\n| Name | Task |\n|--|--|\n| TBD | cook |")
    assert [(node.type, node.title) for node in graph.nodes[1:]] == [
        ("Passage", "None"),
        ("Risk", "Frost"),
        ("Passage", "TBD | cook"),
    ]


@pytest.mark.parametrize(
    "entry",
    [
        "Should we move?",
        "Should we move? Bo asks.",
        "No decision was made",
        "There was no decision on pricing.",
        "Nothing was decided.",
        "We did not decide on pricing.",
        "We couldn't agree on a price",
        "The board failed to agree.",
        "Postponed",
        "Postponed: the move",
        "The move was postponed to May.",
        "**Pricing**: deferred until May",
        "Pricing – on hold",
        "to be decided by Ada",
        "TBD (Bo asks)",
        "Pricing: TBD",
        "Pricing: to be decided",
        "Pricing (still open)",
        "Pricing remains open.",
        "Pricing is not yet decided",
        "Will be decided next week",
        "Decide on the venue by May",
        "Decision: none",
        "The vote is pending.",
    ],
)
def test_an_entry_under_decisions_that_states_none_is_a_passage(entry):
    item = read(f"# T\n\n## Decisions\n\n- {entry}")
    paragraph = read(f"# T\n\n## Decision\n\n{entry}")
    assert titles(item, "Decision") == titles(paragraph, "Decision") == []
    assert len(titles(item, "Passage")) == 1


@pytest.mark.parametrize(
    "entry",
    [
        "Postpone the launch to May",
        "We decided not to move",
        "We agreed that pricing stays on hold",
        "Keep the shop open on Sundays",
        "Close all open tickets",
        "Pending orders are cancelled after 30 days",
        "No decision without a record",
        "Nobody deploys on Friday",
        "Unknown callers are blocked",
        "Decide by majority vote",
        'Ask "why?" in every survey',
    ],
)
def test_an_entry_under_decisions_that_only_sounds_undecided_is_a_decision(entry):
    assert titles(read(f"# T\n\n## Decisions\n\n- {entry}"), "Decision") == [entry]


def test_headings_rows_and_keys_that_state_no_decision_give_none():
    text = (
        "# T\n\n## Open decisions\n\n- Rent a van\n\n## Decisions\n\n### Should we fly?\n\n"
        "| Decision | Status |\n|--|--|\n| Move | postponed |\n| Sell the boat | done |\n| Eat out? | |"
    )
    assert titles(read(text), "Decision") == ["Sell the boat"]
    keys = {
        "text": '{"decisions": ["Move?", "Sell the boat"], "decision": "TBD by May"}',
        "mediaType": "application/json",
    }
    graph = build_graph(BuildRequest(documents=[keys]), ME, NOW)
    assert titles(graph, "Decision") == ["Sell the boat"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Depends on: SAP S/4HANA", ["SAP S/4HANA"]),
        ("Depends on: SAP, AT&T; Redis and Kafka", ["SAP", "AT&T", "Redis", "Kafka"]),
        ("Depends on: CI/CD pipeline", []),
        ("Vendor: Johnson & Johnson, AT&T", ["Johnson & Johnson", "AT&T"]),
        ("Vendor: Ernst & Young", ["Ernst & Young"]),
        ("Owner: R&D Team", ["R&D Team"]),
        ("Owner: Ada, Bo and Cy", ["Ada", "Bo", "Cy"]),
        ("Owner: Ada & Bo", []),
        ("Owners: Ada, Bo", ["Ada", "Bo"]),
        ("Owner: Müller, Hans; Schmidt, Eva", ["Hans Müller", "Eva Schmidt"]),
        ("Owner: Ada and Acme, Inc.", ["Ada", "Acme, Inc"]),
        ("Owner: Acme GmbH & Co. KG", ["Acme GmbH & Co. KG"]),
        ("Owner: Tim Cook", ["Tim Cook"]),
        ("Present: Özlem, April Jones", ["Özlem", "April Jones"]),
    ],
)
def test_names_are_separated_by_commas_semicolons_and_the_word_and(text, expected):
    assert [node.title for node in read(f"# T\n\n{text}").nodes[1:]] == expected


@pytest.mark.parametrize(
    ("text", "properties", "named"),
    [
        ("Depends on: SAP, the night batch", {"depends_on": "SAP, the night batch"}, ["SAP"]),
        ("Owner: Bob Stone, the ops team", {"owner": "Bob Stone, the ops team"}, ["Bob Stone"]),
        ("Depends on: C++, F#, iPhone", {"depends_on": "C++, F#, iPhone"}, []),
        ("Depends on: the tide\n\nDepends on: the wind", {"depends_on": "the tide"}, ["the wind"]),
    ],
)
def test_an_enumeration_that_is_understood_in_part_is_kept_as_text(text, properties, named):
    document, *others = read(f"# T\n\n{text}").nodes
    assert (document.properties, [node.title for node in others]) == (properties, named)


@pytest.mark.parametrize(
    ("text", "title", "rationale"),
    [
        ("We decided to sell the boat because it leaks.", "sell the boat", "it leaks"),
        ("It rained. The crew has agreed on v2.1 of the plan. Fine.", "v2.1 of the plan", None),
        ("Decision: sell the boat, because it leaks", "sell the boat", "it leaks"),
        ("Decided: sell the boat", "sell the boat", None),
        ("They had decided to move. The van came at nine.", "move", None),
        ("We decided to move. But first we paint.", "move", None),
    ],
)
def test_a_stated_decision_becomes_a_node_with_its_reason(text, title, rationale):
    (decision,) = [node for node in read(f"# T\n\n{text}").nodes if node.type == "Decision"]
    assert (decision.title, decision.properties.get("rationale")) == (title, rationale)


@pytest.mark.parametrize(
    ("text", "title", "dates"),
    [
        ("Grace decided on 3 March 2026 to use PostgreSQL.", "use PostgreSQL", ["2026-03-03"]),
        ("We decided on 12.03.2026 that A. Smith leads.", "A. Smith leads", ["2026-03-12"]),
        ("We agreed on Tuesday, 3 March 2026, that Dr. Sand leads.", "Dr. Sand leads", ["2026-03-03"]),
        ("The crew agreed on Friday to sail.", "sail", None),
        ("We agreed on plan B. It is safe.", "plan B", None),
        ("On Friday the rain stopped. We agreed on three boats.", "three boats", None),
        ("Decided on 2026-03-01: sell the boat", "sell the boat", ["2026-03-01"]),
        ("Agreed on Tuesday, 3 March 2026: sell the boat", "sell the boat", ["2026-03-03"]),
        ("Decision (2026-03-01): sell the boat", "sell the boat", ["2026-03-01"]),
        ("Decision 12.03.2026: sell the boat", "sell the boat", ["2026-03-12"]),
    ],
)
def test_the_day_of_a_decision_is_its_date_and_no_part_of_it(text, title, dates):
    (decision,) = [node for node in read(f"# T\n\n{text}").nodes if node.type == "Decision"]
    assert (decision.title, decision.properties.get("dates")) == (title, dates)


@pytest.mark.parametrize(
    ("entry", "properties"),
    [
        ("- 2026-03-01: sell the boat", {"dates": ["2026-03-01"]}),
        ("- **3 March 2026**: sell the boat.", {"dates": ["2026-03-03"]}),
        ("- 2026-03-01 – sell the boat", {"dates": ["2026-03-01"]}),
        ("- [2026-03-01] sell the boat", {"dates": ["2026-03-01"]}),
        ("- On 12.03.2026: sell the boat", {"dates": ["2026-03-12"]}),
        ("- 3 March: sell the boat", {"day": "3 March"}),
        ("- sell the boat (2026-03-01)", {"dates": ["2026-03-01"]}),
        ("- 2026-03-01: sell the boat because it leaks", {"rationale": "it leaks", "dates": ["2026-03-01"]}),
        ("### 2026-03-01: sell the boat", {"dates": ["2026-03-01"]}),
        ("### 2026-03-01\n\n- sell the boat", {"dates": ["2026-03-01"]}),
    ],
)
def test_an_entry_under_decisions_is_titled_by_the_text_after_its_day(entry, properties):
    (decision,) = [node for node in read(f"# T\n\n## Decisions\n\n{entry}").nodes if node.type == "Decision"]
    assert (decision.title, decision.properties) == ("sell the boat", properties)


def test_a_day_before_what_states_no_decision_stays_in_its_passage():
    graph = read("# T\n\n## Decisions\n\n- 2026-03-01: postponed")
    assert [(node.type, node.title) for node in graph.nodes[1:]] == [("Passage", "2026-03-01: postponed")]


@pytest.mark.parametrize(
    ("text", "title", "properties"),
    [
        ("Risk (impact: high, odds = low): Old pump", "Old pump", {"impact": "high", "odds": "low"}),
        ("- **Risk** (impact: high): Old pump", "Old pump", {"impact": "high"}),
        ("- Risk (rare): Old pump", "Old pump", {"label": "Risk (rare)"}),
        ("## Risks\n\n- Frost (impact: high; odds: low): x", "Frost",
         {"description": "x", "impact": "high", "odds": "low"}),
        ("## Risks\n\n- **Ice (impact: low)** — falls", "Ice", {"description": "falls", "impact": "low"}),
        ("## Risks\n\n- Hail (rare): dents", "Hail (rare)", {"description": "dents"}),
        ("## Risks\n\n- The pump is old (impact: high)", "The pump is old (impact: high)", {}),
    ],
)  # fmt: skip
def test_a_label_ends_after_its_bracket(text, title, properties):
    (risk,) = [node for node in read(f"# T\n\n{text}").nodes if node.type == "Risk"]
    assert (risk.title, risk.properties) == (title, properties)


@pytest.mark.parametrize(
    "text", ["Ada (10:02): hi", "Broken (impact: high: pump", "See (a: b) now: yes", "Note (at http://x.example): hi"]
)
def test_a_bracket_that_is_open_or_says_something_else_makes_no_label(text):
    graph = read(f"# T\n\n{text}")
    assert (titles(graph, "Passage"), graph.nodes[0].properties) == ([text], {})


@pytest.mark.parametrize(
    "text",
    [
        "If we decided to go, I would.",
        "We have not decided to go.",
        "I decided to nap.",
        "Nobody decided to sell the boat.",
        "None agreed to pay 5 USD.",
        "Neither Ada nor Bo agreed to pay.",
        "Few decided to stay.",
        "We agreed on nothing.",
        "Grace decided on Tuesday.",
        "We agreed on 3 March 2026.",
        "When Ada has decided to go, tell me.",
        "Has Ada agreed to go?",
        "We decided to go?",
        "The crew never agreed to sail.",
        "The people who agreed to pay left.",
        "They had decided to move but stayed.",
        "We agreed to sell the boat, although it still sails.",
        "They had decided to move. Then the letter came.",
    ],
)
def test_a_decision_that_is_not_certain_becomes_no_node(text):
    assert titles(read(f"# T\n\n{text}"), "Decision") == []


@pytest.mark.parametrize(
    ("text", "handles"),
    [
        ("Wei Zhang (@wei) leads.", {"wei": "Wei Zhang"}),
        ("ask @wei (Wei Zhang)", {"wei": "Wei Zhang"}),
        ("@wei is Wei Zhang", {"wei": "Wei Zhang"}),
        ("Wei Zhang leads. Ask @wei.", {}),
        ("Wei Zhang (@wei) and Wei Chen (@wei)", {}),
    ],
)
def test_a_handle_has_the_name_that_the_text_gives_it(text, handles):
    assert handles_in(text) == handles


def test_a_handle_with_a_name_is_one_person():
    graph = read("# T\n\nWei Zhang (@wei) leads.\n\n- [ ] paint @wei\n\nOwner: Wei Zhang")
    assert titles(graph, "Person") == ["Wei Zhang"]
    assert edges(graph, "ASSIGNED_TO", "OWNED_BY") == {
        ("paint", "ASSIGNED_TO", "Wei Zhang"),
        ("T", "OWNED_BY", "Wei Zhang"),
    }


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Yesterday Ada Lovelace said no.", ["Ada Lovelace"]),
        ("Dr. Eva Sand came.", ["Eva Sand"]),
        ("Omar Haddad, our former CFO, left.", ["Omar Haddad"]),
        ("her brother Tom called", ["Tom"]),
        ("Mira laughed.", ["Mira"]),
        ("Margaret Hale moved. Her father, Mr. Hale, had resigned.", ["Hale", "Margaret Hale"]),
        ("Captain Lennox was there.", ["Lennox"]),
        ("The Platform Team said no. New York grew. Monday came.", []),
    ],
)
def test_people_are_found_where_the_words_around_them_leave_no_doubt(text, names):
    assert people_in(text) == names


def test_a_person_whom_prose_introduces_is_mentioned_wherever_they_are_named():
    graph = read("# T\n\nDr. Eva Sand came.\n\nNobody else did, so Eva left.\n\nThe door stayed open.")
    assert edges(graph, "MENTIONS") == {
        ("Dr. Eva Sand came.", "MENTIONS", "Eva Sand"),
        ("Nobody else did, so Eva left.", "MENTIONS", "Eva Sand"),
    }


@pytest.mark.parametrize(
    ("text", "dates"),
    [
        ("on 2026-03-12", ["2026-03-12"]),
        ("12 March 2026, 3rd of May 2026", ["2026-03-12", "2026-05-03"]),
        ("March 12, 2026", ["2026-03-12"]),
        ("am 12.03.2026", ["2026-03-12"]),
        ("03/04/2026, 2026-02-30, 1.2.2026.4", ["2026-02-01"]),
        ("25/03/2026, 03/25/2026, 05-05-2026, 31-1-2026", ["2026-03-25", "2026-03-25", "2026-05-05", "2026-01-31"]),
        ("03-04-2026, 31/02/2026, 25/13/2026, a/25/03/2026, 25/03-2026, 25/03/2026/4", []),
    ],
)
def test_dates_of_one_meaning_are_read(text, dates):
    assert [date for date, _ in dates_in(text, Part(0, len(text)))] == dates


@pytest.mark.parametrize(
    ("text", "title", "people"),
    [
        ("Write the plan (owner: Bob, due 2026-04-01)", "Write the plan", {("OWNED_BY", "Bob")}),
        ("Write the plan (assignee: Ada Lovelace)", "Write the plan", {("ASSIGNED_TO", "Ada Lovelace")}),
        ("Write the plan — owner: Bob", "Write the plan", {("OWNED_BY", "Bob")}),
        ("Write the plan (owner: Bob), soon", "Write the plan (owner: Bob), soon", set()),
        ("Ship it (Bob, 2026-04-01)", "Ship it (Bob, 2026-04-01)", set()),
        ("Buy a gift (max. 30 EUR)", "Buy a gift (max. 30 EUR)", set()),
        ("Anruf bei Fa. 3M", "Anruf bei Fa. 3M", set()),
        ("Ship it [draft, @bo]", "Ship it [draft, @bo]", {("ASSIGNED_TO", "@bo")}),
        ("Ship it (owner: the crew, @bo)", "Ship it (owner: the crew, @bo)", {("ASSIGNED_TO", "@bo")}),
    ],
)
def test_a_bracket_after_a_task_is_understood_or_left_whole(text, title, people):
    graph = read(f"# T\n\n- [ ] {text}")
    (task,) = [node for node in graph.nodes if node.type == "Task"]
    assert task.title == title
    assert "description" not in task.properties
    assert edges(graph, "OWNED_BY", "ASSIGNED_TO") == {(title, *person) for person in people}


@pytest.mark.parametrize(
    ("text", "amounts"),
    [
        ("EUR 1,200 and 300 USD", ["EUR 1,200", "300 USD"]),
        ("$4.5m, € 20 and 12 euros.", ["$4.5m", "€ 20", "12 euros"]),
        ("12 apples, v1.2, 50 %", []),
        ("1 200 000 €, 12\u00a0000 € and 1\u202f000\u202f000 EUR", ["1 200 000 €", "12 000 €", "1 000 000 EUR"]),
        ("EUR 1\u00a0200 and EUR 1 200 000.50", ["EUR 1 200", "EUR 1 200 000.50"]),
        ("-500 USD, \u2212$20, (-3 EUR) and $-4", ["-500 USD", "\u2212$20", "-3 EUR", "$-4"]),
        ("in 2026 500 EUR, 300-500 USD", []),
        ("$n=5$ and $k=10$, $5$, x=5$", []),
        ("$5 and 10$, 20$ and $m=5$", ["$5", "10$", "20$"]),
        ("R$ 1.200,50, -R$ 3, A$7, ₹ 4,000 and 90 BRL", ["R$ 1.200,50", "-R$ 3", "A$7", "₹ 4,000", "90 BRL"]),
        ("PATH$5, xR$ 4 and VAR$ 3", []),
    ],
)
def test_amounts_have_a_currency(text, amounts):
    assert list(amounts_in(text, Part(0, len(text)))) == amounts


def test_a_preview_lists_the_parts_in_which_nothing_was_found():
    graph = read("# T\n\nGoal: rest\n\nIt rained.\n\n```\nx = 1\n```\n")
    assert [(part.text, part.kept) for part in graph.not_understood.parts] == [
        ("It rained.", True),
        ("```\nx = 1\n```", False),
    ]
    found = graph.not_understood
    assert (found.passages, found.passage_characters, found.left_out, found.left_out_characters) == (1, 10, 1, 13)


def test_every_form_gives_something_by_its_rule():
    media_types = {"key": "application/json"}
    for form in load_rules():
        document = {"text": form.example, "media_type": media_types.get(form.rule, "text/markdown")}
        graph = build_graph(BuildRequest(documents=[document]), ME, NOW)
        assert form.rule in {node.rule for node in graph.nodes} | {edge.rule for edge in graph.edges}, form


def test_one_bad_statement_spoils_no_other():
    goal, task = {"id": "a", "title": "Win", "type": "Goal"}, {"id": "b", "title": "Train", "type": "Task"}
    graph = stated(
        nodes=[goal, task, goal, {"id": "c", "title": "C"}, {"id": "c", "title": "C", "type": "Dragon"}, 5],
        edges=[
            {"source": "b", "target": "a", "type": "PURSUES"},
            {"source": "b", "target": "z", "type": "PURSUES"},
            {"source": "a", "target": "a", "type": "PART_OF"},
            {"source": "a", "target": "b", "type": "SUPERSEDES"},
            {"source": "a", "target": "b", "type": "HOLDS"},
        ],
        triples=[
            {"subject": "x", "predicate": "knows", "object": "X"},
            {"subject": "x", "predicate": "knows", "object": "y", "confidence": 2},
            {"subject": "x", "predicate": "knows", "object": "y", "validFrom": "2026-02-01T00:00:00Z",
             "validTo": "2026-01-01T00:00:00Z"},
            {"subject": {"title": "x", "type": "Dragon"}, "predicate": "knows", "object": "y"},
            {"subject": "x", "predicate": "knows", "object": "y"},
        ],
    )  # fmt: skip
    assert [refused.pointer for refused in graph.refused] == [
        "/nodes/2/id",
        "/nodes/3/type",
        "/nodes/4/type",
        "/nodes/5",
        "/triples/0/object",
        "/triples/1/confidence",
        "/triples/2/validTo",
        "/triples/3/subject/type",
        "/edges/1/target",
        "/edges/2/target",
        "/edges/3/type",
        "/edges/4/type",
    ]
    assert edges(graph) == {("Train", "PURSUES", "Win"), ("x", "RELATED_TO", "y")}


def test_a_triple_keeps_its_id_predicate_period_and_confidence():
    triple = {
        "id": "t1",
        "subject": "Ada",
        "predicate": "worked at",
        "object": "Mill",
        "validFrom": "2020-01-01T00:00:00Z",
        "validTo": "2021-01-01T00:00:00Z",
        "confidence": 0.8,
    }
    (edge,) = stated(triples=[triple]).edges
    assert (edge.type, edge.properties) == ("RELATED_TO", {"id": "t1", "confidence": 0.8, "predicate": "worked at"})
    assert (edge.valid_from, edge.valid_to) == ("2020-01-01T00:00:00.000000Z", "2021-01-01T00:00:00.000000Z")


def test_a_second_predicate_between_two_nodes_is_kept_next_to_the_first():
    graph = stated(
        triples=[{"subject": "Ada", "predicate": predicate, "object": "Bo"} for predicate in ("knows", "likes")]
    )
    assert [edge.properties for edge in graph.edges] == [{"predicate": "knows", "also": [{"predicate": "likes"}]}]


def gate_owned_by(*owners: tuple[str, str | None, str | None]) -> BuiltGraph:
    """Builds the owners of a gate, each with the years from and until which it is theirs."""
    people = [{"id": name, "title": name, "type": "Person"} for name in dict.fromkeys(name for name, _, _ in owners)]
    owned = [
        {"source": "gate", "target": name, "type": "OWNED_BY"}
        | ({} if start is None else {"validFrom": f"{start}-01-01T00:00:00Z"})
        | ({} if end is None else {"validTo": f"{end}-01-01T00:00:00Z"})
        for name, start, end in owners
    ]
    return stated(nodes=[{"id": "gate", "title": "Gate", "type": "Resource"}, *people], edges=owned)


def years(graph: BuiltGraph) -> list[tuple[str, str, str | None, str | None]]:
    """Returns the type, target and years of each edge."""
    title = {node.id: node.title for node in graph.nodes}
    return [
        (edge.type, title[edge.target], edge.valid_from and edge.valid_from[:4], edge.valid_to and edge.valid_to[:4])
        for edge in graph.edges
    ]


def contradictions(graph: BuiltGraph) -> list[tuple[str, str]]:
    title = {node.id: node.title for node in graph.nodes}
    return [(title[edge.taken], title[edge.not_taken]) for edge in graph.contradictions]


@pytest.mark.parametrize(
    "owners",
    [
        [("Ann", "2020", "2022"), ("Ben", "2022", None)],
        [("Ben", "2022", None), ("Ann", "2020", "2022")],
        [("Ann", "2020", "2021"), ("Ben", "2023", "2024"), ("Cem", "2021", "2023"), ("Dan", "2024", None)],
        [("Ann", "2020", "2022"), ("Ben", None, None)],
        [("Ann", None, None), ("Ben", "2020", "2022")],
        [("Ann", None, "2027"), ("Ben", "2027", None)],
        [("Ann", None, "2022"), ("Ben", "2022", None)],
    ],
)
def test_owners_one_after_the_other_do_not_contradict_each_other(owners):
    graph = gate_owned_by(*owners)
    assert years(graph) == [("OWNED_BY", *owner) for owner in owners]
    assert (graph.contradictions, graph.nodes[0].properties) == ([], {})


@pytest.mark.parametrize(
    ("owners", "refused"),
    [
        ([("Ann", "2020", "2023"), ("Ben", "2022", None)], [("Ann", "Ben")]),
        ([("Ann", "2020", None), ("Ben", "2022", None)], [("Ann", "Ben")]),
        ([("Ann", "2020", None), ("Ben", None, None)], [("Ann", "Ben")]),
        ([("Ann", None, None), ("Ben", None, None)], [("Ann", "Ben")]),
        ([("Ann", None, None), ("Ben", "2027", None)], [("Ann", "Ben")]),
        ([("Ann", "2020", "2024"), ("Ben", "2021", "2022")], [("Ann", "Ben")]),
        ([("Ann", "2020", "2022"), ("Ben", "2022", "2024"), ("Cem", "2021", "2023")], [("Ben", "Cem")]),
        ([("Ann", "2020", "2022"), ("Ben", "2021", "2023"), ("Cem", "2022", "2024")], [("Ann", "Ben")]),
        ([("Ann", "2020", "2022"), ("Ann", "2021", "2025"), ("Ben", "2024", None)], [("Ann", "Ben")]),
    ],
)
def test_two_owners_at_one_time_contradict_each_other(owners, refused):
    graph = gate_owned_by(*owners)
    assert contradictions(graph) == refused
    ((_, not_taken),) = refused
    assert {target for kind, target, *_ in years(graph) if kind == "RELATED_TO"} == {not_taken}
    assert graph.nodes[0].properties == {"says": [f"OWNED_BY: {not_taken}"]}


def test_an_owner_who_comes_back_owns_it_now_and_the_earlier_time_is_kept_next_to_it():
    graph = gate_owned_by(("Ann", "2018", "2019"), ("Ben", "2019", "2021"), ("Ann", "2021", None))
    assert (years(graph), graph.contradictions) == (
        [("OWNED_BY", "Ann", "2021", None), ("OWNED_BY", "Ben", "2019", "2021")],
        [],
    )
    assert graph.edges[0].properties == {
        "also": [{"validFrom": "2018-01-01T00:00:00.000000Z", "validTo": "2019-01-01T00:00:00.000000Z"}]
    }


@pytest.mark.parametrize(
    ("periods", "kept"),
    [
        ([(None, None), ("2020", "2022")], (None, None)),
        ([("2020", "2022"), (None, None)], (None, None)),
        ([("2020", "2022"), ("2020", "2023")], ("2020", "2023")),
        ([("2020", "2022"), ("2024", "2025")], ("2024", "2025")),
        ([("2025", None), ("2027", "2028")], ("2025", None)),
    ],
)
def test_an_edge_that_is_stated_for_two_periods_holds_for_the_present_or_else_the_last_one(periods, kept):
    graph = gate_owned_by(*(("Ann", *period) for period in periods))
    assert years(graph) == [("OWNED_BY", "Ann", *kept)]
    assert len(graph.edges[0].properties["also"]) == 1
    assert years(gate_owned_by(*(("Ann", *period) for period in [*periods, *periods]))) == years(graph)


def test_triples_one_after_the_other_do_not_contradict_each_other():
    triples = [
        {"subject": {"title": "Gate", "type": "Resource"}, "predicate": "owned by", "validFrom": start, "validTo": end}
        | {"object": {"title": name, "type": "Person"}}
        for name, start, end in (
            ("Ann", "2020-01-01T00:00:00Z", "2022-01-01T02:00:00+02:00"),
            ("Ben", "2022-01-01T00:00:00Z", None),
        )
    ]
    graph = stated(triples=triples)
    assert years(graph) == [("OWNED_BY", "Ann", "2020", "2022"), ("OWNED_BY", "Ben", "2022", None)]
    assert graph.contradictions == []


def test_a_triple_names_nodes_of_the_request_by_id_or_title():
    graph = stated(
        nodes=[{"id": "p1", "title": "Ada", "type": "Person"}, {"id": "t1", "title": "Paint", "type": "Task"}],
        triples=[{"subject": "t1", "predicate": "assigned to", "object": "ada"}],
    )
    assert edges(graph) == {("Paint", "ASSIGNED_TO", "Ada")}
    assert [node.id for node in graph.nodes] == [own_id(ME, "p1"), own_id(ME, "t1")]


def test_two_values_of_one_fact_from_one_instant_are_not_both_accepted():
    fact: dict[str, Any] = {
        "type": "Observation",
        "title": "t",
        "properties": {"subject": "pump", "predicate": "status"},
    }
    values = [{"id": f"n{value}", **fact, "properties": fact["properties"] | {"value": value}} for value in (1, 2)]
    assert [refused.pointer for refused in stated(nodes=values).refused] == ["/nodes/1/properties/value"]


@pytest.mark.parametrize(
    ("fields", "at"),
    [
        ({"validFrom": "2040-01-01T00:00:00Z"}, "/validFrom"),
        ({"validTo": "2200-01-01T00:00:00Z"}, "/validTo"),
        ({"properties": {"observed_at": "2027-01-01T00:00:00Z"}}, "/properties/observed_at"),
        ({"properties": {"tags": "a"}}, "/properties"),
        ({"properties": {"n": 2**61}}, "/properties"),
        ({"id": "two words"}, "/id"),
        ({"id": "own/a"}, "/id"),
        ({"title": " "}, "/title"),
        ({"more": 1}, ""),
    ],
)
def test_a_node_that_the_graph_would_refuse_is_refused_by_itself(fields, at):
    node = {"id": "a", "title": "Win", "type": "Goal"}
    graph = stated(nodes=[node | {"id": "b"}, node | fields])
    assert [refused.pointer for refused in graph.refused] == [f"/nodes/1{at}"]


@pytest.mark.parametrize("field", ["Cost:: 40 EUR", "[cost:: 40 EUR]", "(cost:: 40 EUR)"])
def test_a_field_of_dataview_is_a_label_of_its_own_and_ends_the_value_above_it(field):
    for text in (f"Status: open\n{field}", f"{field}\nStatus: open", f"- Status: open\n- {field}"):
        (document, *_) = read(f"# Lease\n\n{text}").nodes
        assert (document.properties["status"], document.properties["cost"]) == ("open", "40 EUR")


def test_owners_and_days_are_read_from_fields_of_dataview():
    graph = read("# Lease\n\nOwner:: Al Day\nDue:: 2026-05-06")
    assert edges(graph, "OWNED_BY") == {("Lease", "OWNED_BY", "Al Day")}
    assert graph.nodes[0].properties["due_on"] == "2026-05-06"


@pytest.mark.parametrize("text", ["See std::vector", "use a::b", ".. note:: Be careful", "Example::", "a ::: b"])
def test_two_colons_in_code_or_before_an_example_are_no_field(text):
    graph = read(f"# T\n\n{text}")
    assert graph.nodes[0].properties == {}
    assert [node.properties["text"] for node in graph.nodes if node.type == "Passage"] == [text]


@pytest.mark.parametrize(
    "comment",
    [
        "%% private comment: surprise party for Anna %%",
        "%%Owner: Anna Frei%%",
        "%%\nOwner: Anna Frei\n\n- [ ] Buy a cake, due 2026-05-06\n%%",
        "<!-- Owner: Anna Frei -->",
        "<!--\nOwner: Anna Frei\n\n- [ ] Buy a cake\n-->",
    ],
)
def test_a_comment_is_in_no_node_and_is_counted_as_left_out(comment):
    for text in (f"# T\n\n{comment}\n\nIt rained.", f"# T\n\nIt rained.\n\n{comment}", f"# T\n\n{comment}\nIt rained."):
        graph = read(text)
        assert [(node.type, node.title) for node in graph.nodes] == [("Document", "T"), ("Passage", "It rained.")]
        assert graph.nodes[0].properties == {}
        assert [part.text for part in graph.not_understood.parts if not part.kept] == [comment[:100]]


def test_a_comment_within_a_line_is_left_out_of_it():
    graph = read("# T %% h %%\n\nIt %% hidden: Anna %% rained.\n\n- [ ] Call %% due 2026-05-06 %%Bo <!-- x -->")
    passage, task = graph.nodes[1:]
    assert (graph.nodes[0].title, passage.title, passage.properties["text"]) == ("T", "It rained.", "It rained.")
    assert (task.title, task.properties) == ("Call Bo", {"status": "open"})
    left_out = [part.text for part in graph.not_understood.parts if not part.kept]
    assert left_out == ["%% h %%", "%% hidden: Anna %%", "%% due 2026-05-06 %%", "<!-- x -->"]


@pytest.mark.parametrize(
    "text", ["100 %% of 50 %%%", "Up 5%% or 10%%", "Write `%% a %%` for it.", "%%time\nx\n%%bash", "%% a", "a %% b"]
)
def test_percent_signs_that_comment_nothing_out_stay(text):
    (passage,) = [node for node in read(f"# T\n\n{text}").nodes if node.type == "Passage"]
    assert passage.properties["text"] == text


def test_a_comment_in_code_is_code():
    graph = read("# T\n\n```\n%% a\n```\n\nIt rained.\n\n```\nb %%\n```")
    assert [node.title for node in graph.nodes] == ["T", "It rained."]


def test_tags_without_words_are_no_passage():
    text = (
        '<details>\n<summary>\n\nHow it works\n\n</summary>\n\nIt rained.\n\n</details>\n\n<br/>\n\n<img src="x.png">'
    )
    graph = read(f"# T\n\n{text}\n\n<summary>More</summary>")
    assert [node.title for node in graph.nodes] == ["T", "How it works", "It rained.", "More"]
    left_out = " ".join(part.text for part in graph.not_understood.parts if not part.kept)
    assert all(tag in left_out for tag in ("<summary>", "</details>", "<br/>", "<img"))
    linked = read('# T\n\n<a href="https://x.example/"></a>\n\n<img alt="A map" src="x.png">')
    assert [node.type for node in linked.nodes] == ["Document", "Passage", "Resource", "Passage"]


def test_comments_that_are_never_closed_are_read_once():
    begun = time.process_time()
    read("<!--" * 50_000 + "\n\n" + "%% a " * 50_001)
    assert time.process_time() - begun < 5
