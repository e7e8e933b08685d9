"""Labels after the first words of a line, such as "Book the hall - owner: Ada", are attributed to that line's node."""

from datetime import UTC, datetime

import pytest

from contracts.world.extraction.build import BuildRequest, BuiltGraph, build_graph

NOW = datetime(2026, 11, 28, tzinfo=UTC)


def read(text: str) -> BuiltGraph:
    document = {"id": "d", "text": text, "media_type": "text/markdown"}
    return build_graph(BuildRequest(documents=[document]), "local:ada", NOW)


def nodes(graph: BuiltGraph, *types: str) -> list[tuple[str, str | None]]:
    """Returns the titles of nodes, with their due dates."""
    return [(node.title, node.properties.get("due_on")) for node in graph.nodes if node.type in types]


def edges(graph: BuiltGraph) -> set[tuple[str, str, str]]:
    """Returns every edge except those that only state where something is."""
    title = {node.id: node.title for node in graph.nodes}
    return {(title[e.source], e.type, title[e.target]) for e in graph.edges if e.type != "PART_OF"}


PRESENT = {("Sync", "MENTIONS", "Ian Cole"), ("Sync", "MENTIONS", "Zara Noor")}


@pytest.mark.parametrize("above", ["", "Action items:\n\n", "## Tasks\n\n", "## Next week\n\n"])
@pytest.mark.parametrize("name", ["Ian Cole", "Ian"])
def test_an_owner_and_a_day_within_a_list_item_make_it_a_task_of_theirs(above, name):
    items = f"- Book venue - owner: {name}, due: 2026-05-06\n- Rent van; due: 2026-05-07; owner: Zara"
    graph = read(f"# Sync\n\nPresent: Ian Cole, Zara Noor\n\n{above}{items}")
    owned = {("Book venue", "OWNED_BY", "Ian Cole"), ("Rent van", "OWNED_BY", "Zara Noor")}
    assert edges(graph) == PRESENT | owned
    assert nodes(graph, "Document", "Task", "Passage") == [
        ("Sync", None),
        ("Book venue", "2026-05-06"),
        ("Rent van", "2026-05-07"),
    ]
    assert [node.title for node in graph.nodes if node.type == "Person"] == ["Ian Cole", "Zara Noor"]


@pytest.mark.parametrize(
    "item",
    [
        "Book venue (owner: Ian Cole, due 2026-05-06)",
        "Book venue: owner: Ian Cole, due: 2026-05-06",
        "Book venue | owner: Ian | due: 2026-05-06",
        "Book venue [owner:: Ian] [due:: 2026-05-06]",
        "Book venue – verantwortlich: Ian Cole, fällig: 06.05.2026",
        "Book venue, zuständig: Ian Cole, Frist: 06.05.2026",
        "Book venue - responsable : Ian Cole, échéance : 6 mai 2026",
        "Book venue - responsable: Ian Cole, fecha límite: 6 de mayo de 2026",
        "Book venue - responsabile: Ian Cole, scadenza: 6 maggio 2026",
        "Book venue - responsável: Ian Cole, prazo: 6 de maio de 2026",
        "Book venue - verantwoordelijk: Ian Cole, uiterste datum: 6 mei 2026",
        "Book venue、担当：Ian Cole、期限：2026-05-06",
    ],
)
def test_an_item_with_an_owner_and_a_day_is_read_in_several_forms_and_languages(item):
    graph = read(f"# Sync\n\nPresent: Ian Cole, Zara Noor\n\n- {item}")
    assert nodes(graph, "Document", "Task") == [("Sync", None), ("Book venue", "2026-05-06")]
    ((task, _, owner),) = edges(graph) - PRESENT
    assert (task, owner) == ("Book venue", "Ian Cole")


def test_a_day_without_a_year_makes_an_item_a_task_too_and_two_owners_are_two():
    graph = read("# Sync\n\nPresent: Ian Cole, Zara Noor\n\n- Book venue - owner: Ian and Zara, due: Friday")
    assert nodes(graph, "Task") == [("Book venue", None)]
    assert {owner for task, _, owner in edges(graph) - PRESENT if task == "Book venue"} == {"Ian Cole", "Zara Noor"}


@pytest.mark.parametrize(
    "item",
    [
        "Book venue - owner: Ian Cole",
        "Book venue - due: Friday",
        "Book venue - former owner: Ian Cole, due: Friday",
        "Book venue - owner: TBD, due: 2026-05-06",
        "Book venue - owner: Ian Cole, due: TBD",
        "Book venue - owner: Ian Cole, old deadline: 2026-05-06",
    ],
)
def test_an_item_without_an_owner_or_without_a_day_states_nothing_of_the_document(item):
    graph = read(f"# Sync\n\nPresent: Ian Cole, Zara Noor\n\n- {item}")
    assert nodes(graph, "Task") == []
    assert {edge for edge in edges(graph) if edge[0] == "Sync"} == PRESENT
    (document,) = [node for node in graph.nodes if node.type == "Document"]
    assert document.properties == {}


@pytest.mark.parametrize("mark", ["", "- "])
@pytest.mark.parametrize(
    "line", ["Letter to Ian Cole, deadline: 2026-07-01", "Roof - status: open", "Roof, owner: Al Day"]
)
def test_a_label_in_the_middle_of_a_line_is_not_one_of_the_document(mark, line):
    for text in (f"# Mail\n\n{mark}{line}", f"{mark}{line}\n\nIt rained."):
        document = read(text).nodes[0]
        assert (document.title, document.properties) == ("Mail" if "Mail" in text else "d", {})
        assert not any(edge[0] == document.title for edge in edges(read(text)))


def test_a_line_with_a_label_in_its_middle_ends_the_value_above_it():
    graph = read("# T\n\nOwner: Al Day\nRoof, status: open")
    assert edges(graph) >= {("T", "OWNED_BY", "Al Day")}
    assert [node.title for node in graph.nodes if node.type == "Person"] == ["Al Day"]


def test_a_label_of_two_words_for_people_and_a_label_at_the_beginning_stay_the_documents():
    graph = read("# T\n\nOwner, reviewer: Bo Li\n\n- Owner: Al Day\n- Due: 2026-05-06")
    assert edges(graph) >= {("T", "MENTIONS", "Bo Li"), ("T", "OWNED_BY", "Al Day")}
    assert nodes(graph, "Document") == [("T", "2026-05-06")]


def test_an_item_with_an_owner_and_a_day_below_done_is_done_and_below_risks_a_risk():
    item = "- Frost - owner: Ian Cole, due: 2026-05-06"
    graph = read(f"# T\n\n## Done\n\n{item}\n\n## Risks\n\n{item}\n\n## Rejected tasks\n\n{item}")
    assert nodes(graph, "Task", "Risk") == [("Frost", "2026-05-06")] * 2
    assert [node.properties["status"] for node in graph.nodes if node.type == "Task"] == ["done"]


@pytest.mark.parametrize("above", ["", "## Action items\n\n", "## Tasks\n\n"])
@pytest.mark.parametrize(
    ("item", "task"),
    [
        ("Owner: Ian Cole. Deadline: 2026-06-02. Write the report", "Write the report"),
        ("Owner: Ian Cole; due: 2026-06-02; write the report", "write the report"),
        ("Owner: Ian Cole, deadline: 2026-06-02, write the report", "write the report"),
        ("Deadline: June 2, 2026. Owner: Dr. Ian Cole. Write the report", "Write the report"),
        ("Verantwortlich: Ian Cole. Frist: 2. Juni 2026. Bericht schreiben", "Bericht schreiben"),
        ("Responsable : Ian Cole. Échéance : 2026-06-02. Écrire le rapport", "Écrire le rapport"),
        ("Responsable: Ian Cole. Fecha límite: 2026-06-02. Escribir el informe", "Escribir el informe"),
        ("Responsabile: Ian Cole. Scadenza: 2026-06-02. Scrivere il rapporto", "Scrivere il rapporto"),
    ],
)
def test_an_item_that_begins_with_its_owner_and_day_is_a_task_and_says_nothing_of_the_document(above, item, task):
    graph = read(f"# Sync\n\nPresent: Ian Cole, Zara Noor\n\n{above}- {item}")
    assert nodes(graph, "Document", "Task") == [("Sync", None), (task, "2026-06-02")]
    ((of_task, _, owner),) = edges(graph) - PRESENT
    assert (of_task, owner) == (task, "Ian Cole")


@pytest.mark.parametrize(
    "line",
    [
        "- Due: 2026-06-05. Call Bo",
        "- Owner: Ian Cole. He is new.",
        "Owner: Ian Cole. Deadline: 2026-06-05. Please hurry.",
    ],
)
def test_other_text_after_labels_in_one_line_keeps_them_from_being_the_documents(line):
    graph = read(f"# Sync\n\n{line}\n\nIt rained.")
    assert (nodes(graph, "Document", "Task"), graph.nodes[0].properties) == ([("Sync", None)], {})
    assert not any(edge[1] != "MENTIONS" for edge in edges(graph))


def test_a_line_of_labels_only_is_read_as_if_each_had_its_own_line():
    graph = read("# Sync\n\nOwner: Ian Cole | Status: draft | Due: 2026-05-06\n\nIt rained.")
    assert edges(graph) == {("Sync", "OWNED_BY", "Ian Cole")}
    assert (graph.nodes[0].properties["status"], graph.nodes[0].properties["due_on"]) == ("draft", "2026-05-06")
    nested = read("# Sync\n\n- [ ] Write\n  - Owner: Ian Cole. Deadline: 2026-05-06")
    assert (nodes(nested, "Task"), edges(nested)) == ([("Write", "2026-05-06")], {("Write", "OWNED_BY", "Ian Cole")})
    several = read("# Sync\n\n- Owner: Ian Cole, Zara Noor\n- Reviewer: J. Smith")
    assert {owner for _, _, owner in edges(several)} == {"Ian Cole", "Zara Noor", "J. Smith"}
