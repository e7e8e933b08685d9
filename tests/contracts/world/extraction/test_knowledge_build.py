"""Building a graph from documents and statements: literal texts in, literal nodes and edges out."""

import json
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.errors import BodyInvalid
from contracts.world.extraction.build import BuildRequest, BuiltEdge, BuiltGraph, BuiltNode, build_graph
from contracts.world.ontology import load_ontology

NOW = datetime(2026, 11, 22, tzinfo=UTC)
DOCS = Path(__file__).resolve().parents[4] / "docs"
PROMISES, GLOSSARY = (DOCS / "promises.md").read_text(), (DOCS / "glossary.md").read_text()


def build(text: str = "", media_type: str = "text/markdown", **fields) -> BuiltGraph:
    documents = [{"id": "d", "text": text, "media_type": media_type}] if text else []
    return build_graph(BuildRequest(**({"documents": documents} | fields)), "local:ada", NOW)


GOAL = {"id": "a", "title": "a", "type": "Goal"}
VALUE = {"id": "b", "title": "b", "type": "Value"}


def thing(title: str, node_type: str) -> dict[str, str]:
    return {"title": title, "type": node_type}


def nodes(graph: BuiltGraph) -> list[tuple[str, str]]:
    return [(node.type, node.title) for node in graph.nodes]


def edges(graph: BuiltGraph) -> set[tuple[str, str, str]]:
    titles = {node.id: node.title for node in graph.nodes}
    return {(titles[edge.source], edge.type, titles[edge.target]) for edge in graph.edges}


def test_a_heading_of_a_kind_gives_its_items_their_type():
    graph = build("# Plan\n\n## Open risks\n\n- The pump is old\n- **Frost**: pipes may burst\n\n## Rooms\n\ntext")
    assert nodes(graph) == [
        ("Document", "Plan"),
        ("Risk", "The pump is old"),
        ("Risk", "Frost"),
        ("Concept", "Rooms"),
        ("Passage", "text"),
    ]
    assert graph.nodes[2].properties == {"description": "pipes may burst"}
    assert edges(graph) == {(title, "PART_OF", "Plan") for title in ("The pump is old", "Frost", "Rooms")} | {
        ("text", "PART_OF", "Rooms")
    }


def test_a_label_says_what_follows_it():
    graph = build("# N\n\nGoal: sell the boat\n\n- Decision: we keep the oars.\n- [x] clean the deck\n- just a remark")
    assert nodes(graph)[1:] == [
        ("Goal", "sell the boat"),
        ("Decision", "we keep the oars"),
        ("Task", "clean the deck"),
        ("Passage", "just a remark"),
    ]
    assert graph.nodes[3].properties == {"status": "done"}


def test_people_dates_and_links_are_tied_to_what_speaks_of_them():
    graph = build("# Week\n\n## Tasks\n\n- Ask the bank, due 2026-03-01, @ada\n- Read [the offer](https://x.example/a)")
    assert edges(graph) >= {
        ("Ask the bank", "ASSIGNED_TO", "@ada"),
        ("Read the offer", "MENTIONS", "the offer"),
    }
    task = next(node for node in graph.nodes if node.title == "Ask the bank")
    assert task.properties == {"due_on": "2026-03-01", "dates": ["2026-03-01"]}


def test_a_table_row_is_a_node_and_its_columns_are_relations_and_properties():
    graph = build(
        "# Register\n\n| id | Risk | Owner | Mitigation | Depends on | Odds |\n|--|--|--|--|--|--|\n"
        "| A | Late delivery | Ada Lovelace | Order early | | high |\n| B | No space | | | A | low |"
    )
    assert nodes(graph)[1:] == [
        ("Risk", "Late delivery"),
        ("Person", "Ada Lovelace"),
        ("Risk", "No space"),
        ("Action", "Order early"),
    ]
    assert edges(graph) >= {
        ("Late delivery", "OWNED_BY", "Ada Lovelace"),
        ("Late delivery", "MITIGATED_BY", "Order early"),
        ("No space", "DEPENDS_ON", "Late delivery"),
    }
    assert graph.nodes[1].properties == {"number": "A", "odds": "high"}


def test_a_reference_that_leads_nowhere_stays_text():
    graph = build("# P\n\n## Tasks\n\n- Paint\n  - Depends on: the weather")
    assert nodes(graph) == [("Document", "P"), ("Task", "Paint")]
    assert graph.nodes[1].properties == {"depends_on": "the weather"}


def test_json_keys_say_what_their_values_are():
    divisions = [{"name": "Milk", "owner": "Bo Li"}]
    text = json.dumps({"title": "Farm", "goals": ["Feed 40 é"], "divisions": divisions, "n": 3})
    graph = build(text, "application/json")
    assert nodes(graph) == [
        ("Document", "Farm"),
        ("Organization", "Milk"),
        ("Person", "Bo Li"),
        ("Goal", "Feed 40 é"),
    ]
    assert graph.nodes[0].properties == {"n": "3"}


def test_csv_knows_quotes_and_its_delimiter():
    graph = build('task;assignee\r\n"Paint; twice ""quick""";Bo\r\n', "text/csv")
    assert nodes(graph)[1:] == [("Task", 'Paint; twice "quick"'), ("Person", "Bo")]
    assert graph.nodes[1].spans[0].text == 'Paint; twice ""quick""'


def test_triples_use_the_schema_where_they_can():
    graph = build(
        triples=[
            {"subject": thing("Ship", "Task"), "predicate": "assigned to", "object": thing("Ada", "Person")},
            {"subject": "Tea", "predicate": "tastes of", "object": "Smoke"},
        ]
    )
    assert edges(graph) == {("Ship", "ASSIGNED_TO", "Ada"), ("Tea", "RELATED_TO", "Smoke")}
    assert graph.edges[1].properties == {"predicate": "tastes of"}
    assert graph.nodes[2].properties == {"says": ["tastes of: Smoke"]}


def test_nodes_and_edges_are_taken_as_they_are():
    graph = build(
        nodes=[{"id": "a", "title": "Win", "type": "Goal"}, {"id": "b", "title": "Train", "type": "Task"}],
        edges=[{"source": "b", "target": "a", "type": "PURSUES"}],
    )
    assert edges(graph) == {("Train", "PURSUES", "Win")}


@pytest.mark.parametrize(
    ("fields", "pointer"),
    [
        ({"triples": [{"subject": thing("a", "Dragon"), "predicate": "p", "object": "b"}]}, "/triples/0/subject/type"),
        ({"triples": [{"subject": "a", "predicate": "p", "object": "A"}]}, "/triples/0/object"),
        ({"documents": [{"id": "x", "text": "a"}, {"id": "x", "text": "b"}]}, "/documents/1/id"),
        ({"documents": [{"text": '{"a": 1, "a": 2}', "media_type": "application/json"}]}, "/documents/0/text"),
        ({"documents": [{"text": "[" * 200 + "]" * 200, "media_type": "application/json"}]}, "/documents/0/text"),
        ({"documents": [{"text": '{"size": 1e400}', "media_type": "application/json"}]}, "/documents/0/text"),
        ({"documents": [{"text": '{"size": NaN}', "media_type": "application/json"}]}, "/documents/0/text"),
    ],
)
def test_invalid_input_is_refused_with_a_pointer_to_it(fields, pointer):
    with pytest.raises(BodyInvalid) as refused:
        build(**fields)
    assert refused.value.errors[0][0] == pointer


@pytest.mark.parametrize("document", [{"url": "https://x.example"}, {"text": "a", "markdown": "b"}, {}])
def test_a_document_has_exactly_one_text_and_urls_are_never_fetched(document):
    with pytest.raises(ValueError, match="never fetched"):
        BuildRequest(documents=[document])


def test_possible_duplicates_are_reported_and_never_merged():
    graph = build("# A\n\n## Goals\n\n- Save water\n- save  water\n- water, save\n\nOwner: Ada Lovelace\n\nask @ada")
    titles = {node.id: node.title for node in graph.nodes}
    assert {(*(titles[each] for each in pair.nodes), pair.reason) for pair in graph.duplicates} == {
        ("Save water", "save water", "same_title"),
        ("Save water", "water, save", "same_words"),
        ("@ada", "Ada Lovelace", "handle_of_name"),
    }
    assert len([node for node in graph.nodes if node.type != "Passage"]) == 6


def test_code_front_matter_and_addresses_in_mails_are_understood_as_what_they_are():
    graph = build(
        "---\nstatus: draft\nauthor: Ada Lovelace\n---\n# T\n\n```\n- [ ] no task @no\n```\n\na@b.example `@x`"
    )
    assert nodes(graph) == [("Document", "T"), ("Person", "Ada Lovelace"), ("Passage", "a@b.example @x")]
    assert graph.nodes[0].properties == {"status": "draft"}
    assert edges(graph) == {("Ada Lovelace", "PRODUCED", "T"), ("a@b.example @x", "PART_OF", "T")}


def test_the_documentation_of_this_repository_gives_a_graph():
    assert ("Agreement", "A generation is served whole or not at all.") in nodes(build(PROMISES))
    assert {"Document", "Concept"} <= {node.type for node in build(GLOSSARY).nodes}


def test_the_same_input_gives_the_same_bytes():
    assert build(PROMISES).model_dump_json() == build(PROMISES).model_dump_json()


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=200)
lines = st.lists(
    texts | st.sampled_from(["# ", "- ", "* [ ] x", "|a|b|", "|-|-|", "Owner: ", "**a**: b", "@a", "> ", "```", "\t"]),
    max_size=20,
).map("\n".join)


@given(st.lists(lines, min_size=1, max_size=3), st.sampled_from(["text/markdown", "text/plain", "text/csv"]))
def test_any_text_gives_nodes_with_exact_spans_and_allowed_edges(contents, media_type):
    request = BuildRequest(documents=[{"text": content, "media_type": media_type} for content in contents])
    graph = build_graph(request, "local:ada", NOW)
    assert graph == build_graph(request, "local:ada", NOW)
    ontology = load_ontology()
    types = {node.id: node.type for node in graph.nodes}
    assert len(types) == len(graph.nodes)
    built: list[BuiltNode | BuiltEdge] = [*graph.nodes, *graph.edges]
    for spanned in built:
        for span in spanned.spans:
            text = contents[int(span.document.removeprefix("document-")) - 1]
            assert text[span.start : min(span.end, span.start + 300)] == span.text
    for edge in graph.edges:
        assert ontology.edge_types[edge.type].allows(types[edge.source], types[edge.target])


keys = st.sampled_from(["name", "goals", "type", "owner", "x"])
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=4),
    max_leaves=12,
)


@given(json_values, st.booleans())
def test_any_json_gives_nodes_whose_spans_lie_within_it(value, ascii_only):
    text = json.dumps(value, ensure_ascii=ascii_only, indent="\t")
    graph = build(text, "application/json")
    for node in graph.nodes:
        for span in node.spans:
            assert text[span.start : min(span.end, span.start + 300)] == span.text


@pytest.mark.parametrize(
    "piece",
    ["`", "`` ` ", "*a **a ", "[", "[a](https://x.y/", "@a ", "e.g. A ", "- ", "> ", "|", "a:", '"', "\\", "<!--"],
)
def test_a_text_made_to_be_slow_is_read_like_any_other(piece):
    started = time.process_time()
    build((piece * 49_000)[:49_000])
    assert time.process_time() - started < 5


@pytest.mark.parametrize("pieces", ["[a](https://x.y) ", "`a` @b ", "{:04}-01-01 {:04}-01-02 {:04}-01-03 "])
def test_reading_takes_time_in_proportion_to_the_text(pieces):
    def cpu_s(count: int) -> float:
        text = "".join(pieces.format(number, number, number) for number in range(count))
        started = time.process_time()
        build(text)
        return time.process_time() - started

    assert cpu_s(10_000) < 8 * max(cpu_s(2_500), 0.05)  # 4 if it is in proportion, 16 if it grows with the square


@pytest.mark.parametrize(
    ("media_type", "piece", "most"),
    [
        ("text/markdown", "# x\n", 24_999),
        ("text/markdown", "- x\r", 24_999),
        ("text/markdown", "[", 49_999),
        ("text/plain", "|x", 49_999),
        ("text/plain", "x, ", 49_999),
        ("text/plain", "@x ", 49_999),
        ("text/csv", "a;", 49_999),
        ("text/csv", "a\n", 24_999),
        ("application/json", "1,", 49_999),
        ("application/json", '"x":', 49_999),
    ],
)
def test_texts_of_too_many_parts_are_refused_before_they_are_read(media_type, piece, most):
    def request(*counts):
        return BuildRequest(documents=[{"text": piece * count, "mediaType": media_type} for count in counts])

    texts = request(most - 9, 10), request(300_000)
    started = time.process_time()
    for asked in texts:
        with pytest.raises(BodyInvalid, match="more than 50,000 lines, cells, values, names and links"):
            build_graph(asked, "me", NOW)
    assert time.process_time() - started < 0.1
    try:
        build_graph(request(most), "me", NOW)
    except BodyInvalid as refused:
        assert "50,000" not in refused.detail


def test_a_node_without_visible_text_still_has_a_title():
    assert nodes(build("- [ ] \u200b\n")) == [("Document", "d"), ("Task", "…")]
    with pytest.raises(BodyInvalid) as refused:
        build(triples=[{"subject": "\u200b", "predicate": "p", "object": "b"}])
    assert refused.value.errors == [("/triples/0/subject", "Value error, is empty")]
