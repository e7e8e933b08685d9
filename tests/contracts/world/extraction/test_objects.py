"""Objects in JSON, and in YAML as a whole text or in the front matter, give nodes; their keys are no names."""

import json
from datetime import UTC, datetime

import pytest

from contracts.world.extraction.build import BuildRequest, BuiltGraph, build_graph

NOW = datetime(2026, 11, 28, tzinfo=UTC)
PLAN = """team:
  - name: Bo Li
    role: CTO
tasks:
  - title: Paint
    assignee: Bo Li
    due: 2026-05-01
not_goals:
  - Fame
"""


def read(text: str, media_type: str = "text/plain") -> BuiltGraph:
    document = {"id": "d", "text": text, "media_type": media_type}
    return build_graph(BuildRequest(documents=[document]), "local:ada", NOW)


def nodes(graph: BuiltGraph) -> list[tuple[str, str]]:
    return [(node.type, node.title) for node in graph.nodes[1:]]


def edges(graph: BuiltGraph) -> list[tuple[str, str, str]]:
    title = {node.id: node.title for node in graph.nodes}
    return [(title[e.source], e.type, title[e.target]) for e in graph.edges if e.type != "PART_OF"]


def properties(graph: BuiltGraph, title: str) -> dict:
    return next(node.properties for node in graph.nodes if node.title == title)


@pytest.mark.parametrize("text", [PLAN, f"---\n{PLAN}", f"# a comment\n\n{PLAN}", f"\ufeff{PLAN}"])
def test_yaml_is_read_like_json(text):
    graph = read(text)
    assert nodes(graph) == [("Person", "Bo Li"), ("Task", "Paint"), ("Passage", "Fame")]
    assert edges(graph) == [("Paint", "ASSIGNED_TO", "Bo Li")]
    assert (properties(graph, "Bo Li")["role"], properties(graph, "Paint")["due_on"]) == ("CTO", "2026-05-01")
    paint = next(node for node in graph.nodes if node.title == "Paint")
    assert [span.text for span in paint.spans] == ["Paint"]
    assert (graph.not_understood.passages, graph.not_understood.left_out) == (1, text != PLAN and "\ufeff" not in text)


def test_nested_keys_of_the_front_matter_are_read_like_json():
    graph = read(f"---\ntitle: Falcon\n{PLAN}---\n\nText.", "text/markdown")
    assert nodes(graph) == [
        ("Person", "Bo Li"),
        ("Task", "Paint"),
        ("Passage", "not_goals: - Fame"),
        ("Passage", "Text."),
    ]
    assert (graph.nodes[0].title, edges(graph)) == ("Falcon", [("Paint", "ASSIGNED_TO", "Bo Li")])


@pytest.mark.parametrize(
    ("text", "task"),
    [
        ("aufgaben:\n  - titel: Malen\n    verantwortlich: Bo Li\n", "Malen"),
        ("tâches:\n  - titre: x\n    nom: Peindre\n    responsable: Bo Li\n", "Peindre"),
        ("tareas:\n  - título: Pintar\n    responsable: Bo Li\n", "Pintar"),
        ("tasks:\n  - task: Paint\n    assignee: Bo Li\n", "Paint"),
    ],
)
def test_yaml_keys_are_known_in_several_languages(text, task):
    assert edges(read(text)) == [(task, "ASSIGNED_TO", "Bo Li")]


@pytest.mark.parametrize(
    "text",
    [
        "base: &base\n  name: X\n  owner: Ada Byron\nother:\n  <<: *base\n",
        "a:\n  b: {c: 1}\n  owner: Ada Byron\n",
        "team:\n  - name: Bo Li\n    name: Ada Byron\n",
        "team:\n  - name: !person Bo Li\n",
    ],
)
def test_yaml_with_a_part_that_is_not_read_is_only_a_passage(text):
    graph = read(text)
    assert ([kind for kind, _ in nodes(graph)], edges(graph)) == (["Passage"], [])
    front = read(f"---\n{text}---\n\nText.", "text/markdown")
    assert {kind for kind, _ in nodes(front)} == {"Passage"}


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("tasks:\n- Paint\n- Mow\n", [("Task", "Paint"), ("Task", "Mow")]),
        ("Tasks:\n- Peter: call the bank\n  Due: 2026-05-01\n", [("Task", "call the bank")]),
        ("Owner: Ada Byron\nDue: 2026-05-01\n", [("Person", "Ada Byron")]),
        ("Tasks:\n  - Paint\n\nWe sail.\n", [("Task", "Paint"), ("Passage", "We sail.")]),
    ],
)
def test_labelled_lines_and_lists_of_texts_are_prose(text, made):
    assert nodes(read(text)) == made


def test_an_element_without_a_name_says_nothing_of_the_thing_that_contains_it():
    risks = [{"description": "Frost", "owner": "Bo Li"}, {"risk": "Fire", "owner": "Ada Orr"}]
    graph = read(json.dumps({"name": "Falcon", "risks": risks}), "application/json")
    assert edges(graph) == [("Fire", "OWNED_BY", "Ada Orr")]
    assert nodes(graph)[:3] == [("Passage", "Frost"), ("Passage", "Bo Li"), ("Risk", "Fire")]


def test_a_decision_with_an_open_state_is_none_and_two_people_of_one_name_stay_two():
    decisions = [{"name": "Use straw", "status": "pending"}, {"name": "Use slate", "status": "accepted"}]
    graph = read(json.dumps({"decisions": decisions}), "application/json")
    assert nodes(graph) == [("Passage", "Use straw"), ("Decision", "Use slate")]
    people = [{"name": "Ann Lee", "mail": "a@x.example"}, {"name": "Ann Lee", "mail": "b@x.example"}]
    both = read(json.dumps({"people": people}), "application/json")
    assert nodes(both) == [("Person", "Ann Lee"), ("Person", "Ann Lee")]
