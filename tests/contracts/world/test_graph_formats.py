"""Other programs can read the export formats, whatever the texts contain."""

from __future__ import annotations

import json
from xml.etree import ElementTree

from hypothesis import example, given
from hypothesis import strategies as st

from contracts.world.graph_formats import Format, written
from contracts.world.portable import (
    DecisionRecord,
    EdgeRecord,
    EndRecord,
    Header,
    NodeRecord,
    OntologyRecord,
    Record,
    record_of,
)
from contracts.world.proposal import StageResult
from contracts.world.text import fault_of_text

texts = st.text(max_size=20).filter(lambda text: fault_of_text(text) is None)
GRAPHML = "{http://graphml.graphdrawing.org/xmlns}"


def records(title: str, value: str) -> list[Record]:
    return [
        Header(),
        OntologyRecord(words={"node_types": {title: value}}),
        DecisionRecord(
            id="d",
            decided_at="2026-01-01T00:00:00Z",
            verdict="approved",
            author="caller",
            stages=[StageResult("temporal", "pass", title)],
        ),
        NodeRecord(id="a#1", type="Goal", title="Before", source="me", current=False, recorded_at="2026"),
        NodeRecord(id="a#1", type="Goal", title=title, source="me", properties={"value": value}, decision="d"),
        NodeRecord(id="b", type="Goal", title="B", source="me", ended_by="a#1"),
        EdgeRecord(source="a#1", target="b", type="PART_OF", stated_in="me", properties={value or "x": [1]}),
        EndRecord(lines=7),
    ]


def as_xml(text: str) -> str:
    return text.replace("\ufffe", "\ufffd").replace("\uffff", "\ufffd")


def text_of(title: str, value: str, form: Format) -> str:
    return b"".join(written(records(title, value), form)).decode()


@given(title=texts, value=texts)
def test_json_lines_are_the_records(title: str, value: str) -> None:
    lines = text_of(title, value, "jsonl").encode().split(b"\n")
    assert [record_of(line) for line in lines[:-1]] == records(title, value)


@given(title=texts, value=texts)
def test_json_ld_is_one_document_with_every_record(title: str, value: str) -> None:
    graph = json.loads(text_of(title, value, "jsonld"))["@graph"]
    assert [item.get("@type") for item in graph] == [
        "Graph",
        "Ontology",
        "Decision",
        ["Goal", "EarlierState"],
        "Goal",
        "Goal",
        "Edge",
    ]
    assert graph[4]["@id"] == graph[5]["endedBy"] == graph[6]["source"] == graph[3]["stateOf"]
    assert graph[4]["decision"] == graph[2]["@id"]
    assert (graph[4]["title"], graph[4]["properties"]["value"]) == (title, value)
    assert graph[1]["words"] == {"node_types": {title: value}}


@given(title=texts, value=texts)
@example(title="a\uffffb\rc", value="]]>")
def test_graphml_is_xml_with_nodes_edges_and_their_history(title: str, value: str) -> None:
    graph = ElementTree.fromstring(text_of(title, value, "graphml")).find(f"{GRAPHML}graph")
    assert graph is not None
    [words] = [item.text for item in graph.findall(f"{GRAPHML}data") if item.get("key") == "ontology"]
    assert json.loads(words or "") == {"node_types": {as_xml(title): as_xml(value)}}
    nodes, edges = graph.findall(f"{GRAPHML}node"), graph.findall(f"{GRAPHML}edge")
    assert [node.get("id") for node in nodes] == ["a#1", "b"]
    assert [(edge.get("source"), edge.get("target")) for edge in edges] == [("a#1", "b")]
    data = {item.get("key"): item.text or "" for item in nodes[0]}
    assert data["title"] == as_xml(title)
    assert json.loads(data["properties"]) == {"value": as_xml(value)}
    assert [state["title"] for state in json.loads(data["history"])] == ["Before"]
