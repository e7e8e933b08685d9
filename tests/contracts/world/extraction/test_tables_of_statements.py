"""A table or a list of objects with a subject, a predicate and an object in each row makes statements, not things."""

import json
from datetime import UTC, datetime

import pytest

from contracts.world.extraction.build import BuildRequest, BuiltGraph, build_graph

NOW = datetime(2026, 11, 28, tzinfo=UTC)


def read(text: str, media_type: str = "text/csv") -> BuiltGraph:
    document = {"id": "d", "text": text, "media_type": media_type}
    return build_graph(BuildRequest(documents=[document]), "local:ada", NOW)


def objects(*members: dict) -> BuiltGraph:
    return read(json.dumps(members), "application/json")


def nodes(graph: BuiltGraph) -> list[tuple[str, str]]:
    return [(node.type, node.title) for node in graph.nodes[1:]]


def edges(graph: BuiltGraph) -> list[tuple[str, str, str, dict]]:
    title = {node.id: node.title for node in graph.nodes}
    return [(title[e.source], e.type, title[e.target], e.properties) for e in graph.edges if e.type != "PART_OF"]


BOSS = ("Ann Orr", "RELATED_TO", "Ben Orr", {"predicate": "is the boss of"})


def test_a_predicate_makes_an_edge_and_a_denied_one_makes_none():
    graph = objects(
        {"subject": "Ann Orr", "predicate": "is the boss of", "object": "Ben Orr"},
        {"subject": "Ann Orr", "predicate": "is not the boss of", "object": "Cy Orr"},
    )
    assert edges(graph) == [BOSS]
    assert nodes(graph) == [
        ("Passage", "Ann Orr is not the boss of Cy Orr"),
        ("Concept", "Ann Orr"),
        ("Concept", "Ben Orr"),
    ]
    assert graph.nodes[2].properties == {"says": ["is the boss of: Ben Orr"]}
    assert graph.not_understood.passages == 1


@pytest.mark.parametrize(
    "header",
    [
        "subject,predicate,object",
        "source,relation,target",
        "from,type,to",
        "head,relation,tail",
        "Subjekt,Prädikat,Objekt",
        "Quelle,Beziehung,Ziel",
        "Von,Art,Nach",
        "sujet,relation,objet",
        "sujeto,predicado,objeto",
        "origen,relación,destino",
        "soggetto,predicato,oggetto",
    ],
)
def test_columns_of_statements_are_known_in_several_languages_and_in_any_form(header):
    graph = read(f"{header}\nAnn Orr,is the boss of,Ben Orr\n")
    assert (edges(graph), nodes(graph)) == ([BOSS], [("Concept", "Ann Orr"), ("Concept", "Ben Orr")])
    subject, predicate, target = header.split(",")
    written = objects({subject: "Ann Orr", predicate: "is the boss of", target: "Ben Orr"})
    assert edges(written) == [BOSS]
    table = f"| {' | '.join(header.split(','))} |\n|--|--|--|\n| Ann Orr | is the boss of | Ben Orr |"
    assert edges(read(f"# T\n\n{table}", "text/markdown")) == [BOSS]


@pytest.mark.parametrize(
    "predicate",
    [
        "does not like",
        "doesn't like",
        "no longer likes",
        "never likes",
        "isNotBossOf",
        "IS_NOT_BOSS_OF",
        "may like",
        "used to like",
        "ex-boss of",
        "former boss of",
        "mag nicht",
        "ist nicht mehr Chefin von",
        "könnte mögen",
        "n’aime pas",
        "n'est plus le chef de",
        "no le gusta",
        "ya no es jefa de",
        "non è più capo di",
        "",
        "?",
    ],
)
def test_a_predicate_that_is_denied_ended_or_doubted_states_nothing(predicate):
    graph = read(f"subject,predicate,object\nAnn,{predicate},Bo\n")
    assert (edges(graph), nodes(graph)) == ([], [("Passage", f"Ann,{predicate},Bo")])
    written = objects({"subject": "Ann", "predicate": predicate, "object": "Bo"})
    assert (edges(written), [kind for kind, _ in nodes(written)]) == ([], ["Passage"])


def test_a_predicate_of_the_schema_is_the_type_of_its_edge():
    graph = read("from;to;type\nMail;SAP;DEPENDS_ON\nMail;Web;part of\nMail;Post;supersedes")
    assert edges(graph) == [
        ("Mail", "DEPENDS_ON", "SAP", {}),
        ("Mail", "RELATED_TO", "Post", {"predicate": "supersedes"}),
    ]
    parts = {(edge.source, edge.target) for edge in graph.edges if edge.rule == "triple" and edge.type == "PART_OF"}
    ids = {node.title: node.id for node in graph.nodes}
    assert (ids["Mail"], ids["Web"]) in parts


def test_several_predicates_between_the_same_two_share_an_edge():
    graph = read("subject,predicate,object\nAnn,likes,Bo\nAnn,knows,Bo")
    assert edges(graph) == [("Ann", "RELATED_TO", "Bo", {"predicate": "likes", "also": [{"predicate": "knows"}]})]


def test_the_ends_are_nodes_of_the_document_by_name_or_number():
    text = {
        "nodes": [
            {"id": "a", "label": "Ada", "type": "Person"},
            {"id": 7, "label": "Mow", "type": "Task"},
        ],
        "links": [
            {"source": 7, "target": "a", "type": "ASSIGNED_TO"},
            {"source": "a", "target": 7, "value": 1},
        ],
    }
    graph = read(json.dumps(text), "application/json")
    assert nodes(graph) == [("Person", "Ada"), ("Task", "Mow")]
    assert edges(graph) == [("Mow", "ASSIGNED_TO", "Ada", {}), ("Ada", "RELATED_TO", "Mow", {"value": "1"})]
    named = objects({"subject": {"name": "Ann", "type": "Person"}, "predicate": "knows", "object": "Bo"})
    assert nodes(named) == [("Person", "Ann"), ("Concept", "Bo")]
    noted = read("# T\n\nPresent: Ann Orr\n\n| Source | Target |\n|--|--|\n| Ann Orr | @bo |", "text/markdown")
    assert [node for node in nodes(noted) if node[0] != "Document"] == [("Person", "Ann Orr"), ("Person", "@bo")]


def test_a_figure_is_a_property_of_the_subject_and_a_missing_end_states_nothing():
    graph = read("subject,predicate,object\nTower,height,300 m\nTower,owner,unknown\nTower,near,\nTower,near,Tower")
    assert edges(graph) == []
    tower = next(node for node in graph.nodes if node.title == "Tower")
    assert tower.properties == {"height": "300 m"}
    assert [title for kind, title in nodes(graph) if kind == "Passage"] == [
        "Tower,owner,unknown",
        "Tower,near,",
        "Tower,near,Tower",
    ]


def test_a_value_that_may_limit_a_statement_keeps_it_from_being_one():
    graph = read("subject,predicate,object,until,confidence\nAnn,runs,Web,2020,\nAnn,runs,Mail,,0.5\nAnn,runs,Tea,,low")
    assert edges(graph) == [("Ann", "RELATED_TO", "Mail", {"predicate": "runs", "confidence": 0.5})]
    assert [title for kind, title in nodes(graph) if kind == "Passage"] == ["Ann,runs,Web,2020,", "Ann,runs,Tea,,low"]


def test_a_target_beside_a_source_and_the_columns_of_mails_and_times_make_no_statements_and_no_goal():
    mapped = read("source,target,owner\nS3,Redshift,Ada Byron\n")
    assert nodes(mapped) == [("Concept", "S3"), ("Person", "Ada Byron")]
    assert mapped.nodes[1].properties == {"target": "Redshift"}
    job = read('{"name": "Load", "source": "S3", "target": "Redshift"}', "application/json")
    assert (nodes(job), job.nodes[0].properties) == ([], {"source": "S3", "target": "Redshift"})
    assert nodes(read("From,To,Subject,Type\nAnn,Bo,Hello,mail")) == [("Concept", "Hello")]
    assert nodes(read("From,To,Type\n09:00,10:00,talk")) == [("Concept", "talk")]
    assert nodes(read('{"from": "Ann", "to": "Bo", "text": "hi"}', "application/json")) == []
    assert nodes(read("target,owner\nSell ten boats,Bo Li"))[0] == ("Goal", "Sell ten boats")


def test_a_value_that_can_be_no_property_is_a_passage():
    graph = read('{"name": "Falcon", "tags": "red, fast", "predicate": "flies"}', "application/json")
    assert nodes(graph) == [("Passage", "red, fast"), ("Passage", "flies")]
    table = read("Tool,Tags,Note,Comment\nSaw,red,old,sharp")
    assert nodes(table) == [("Resource", "Saw"), ("Passage", "red"), ("Passage", "sharp")]


def test_an_object_with_objects_in_it_or_with_more_to_say_about_two_ends_is_no_statement():
    text = {"relations": [{"source": "a", "target": "b"}], "target": "win", "source": "survey"}
    graph = read(json.dumps(text), "application/json")
    assert edges(graph) == [("a", "RELATED_TO", "b", {})]
    assert graph.nodes[0].properties == {"target": "win", "source": "survey"}
    asked = read('{"from": "Ann", "to": "Bo", "type": "mail", "lines": ["We sail."]}', "application/json")
    assert ([node for node in nodes(asked) if node[0] != "Passage"], edges(asked)) == ([], [])


def test_a_period_is_no_statement():
    holiday = {"from": "2026-01-01", "to": "2026-02-01", "type": "holiday"}
    assert [kind for kind, _ in nodes(objects(holiday))] == ["Passage"]
