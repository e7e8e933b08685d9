"""A table whose columns are states is a board: each cell is a task with the state of its column."""

from datetime import UTC, datetime

import pytest

from contracts.world.extraction.build import BuildRequest, BuiltGraph, build_graph

NOW = datetime(2026, 11, 28, tzinfo=UTC)


def read(text: str, media_type: str = "text/markdown") -> BuiltGraph:
    document = {"id": "d", "text": text, "media_type": media_type}
    return build_graph(BuildRequest(documents=[document]), "local:ada", NOW)


def table(*rows: str) -> str:
    header, *others = (f"| {row.replace(',', ' | ')} |" for row in rows)
    return "\n".join(["# Board", "", header, "|--" * (rows[0].count(",") + 1) + "|", *others])


def tasks(graph: BuiltGraph) -> list[tuple[str, str | None]]:
    return [(node.title, node.properties.get("status")) for node in graph.nodes if node.type == "Task"]


@pytest.mark.parametrize(
    ("header", "doing"),
    [
        ("To do,Doing,Done", "doing"),
        ("Backlog,In progress,Done", "in progress"),
        ("Offen,In Arbeit,Erledigt", "in arbeit"),
        ("À faire,En cours,Fait", "en cours"),
        ("Por hacer,En curso,Hecho", "en curso"),
        ("Da fare,In corso,Fatto", "in corso"),
        ("Te doen,Bezig,Klaar", "bezig"),
        ("Open,Blocked,Completed", "blocked"),
    ],
)
def test_each_card_of_a_board_is_a_task_with_the_state_of_its_column(header, doing):
    for graph in (read(table(header, "Paint,Mow,Sweep")), read(f"{header}\nPaint,Mow,Sweep\n", "text/csv")):
        assert tasks(graph) == [("Paint", "open"), ("Mow", doing), ("Sweep", "done")]
        assert {node.type for node in graph.nodes} == {"Document", "Task"}


def test_cells_may_be_empty_hold_several_cards_or_be_struck_through():
    graph = read(table("To do,Doing,Done,Cancelled", "Paint,,Plant<br>Water @bo,Sail", "~~Dig~~,none,,"))
    assert tasks(graph) == [("Paint", "open"), ("Plant", "done"), ("Water @bo", "done"), ("Sail", "cancelled")]
    assert [node.properties["text"] for node in graph.nodes if node.type == "Passage"] == ["~~Dig~~", "none"]


def test_a_table_of_tasks_whose_column_says_whether_they_are_done_is_no_board():
    assert [title for title, _ in tasks(read(table("To do,Done", "Paint,yes", "Mow,")))] == ["Paint", "Mow"]
    assert [title for title, _ in tasks(read(table("To do,Done", "Paint,2026-05-01")))] == ["Paint"]
    assert [title for title, _ in tasks(read(table("To do,Done,Owner", "Paint,later,Bo Li")))] == ["Paint"]
    assert tasks(read(table("Pros,Cons", "cheap,slow"))) == []
