"""A handle in a task is its assignee, unless the words before the handle exclude that person or only involve them."""

from datetime import UTC, datetime

import pytest

from contracts.world.extraction.build import BuildRequest, BuiltGraph, build_graph

NOW = datetime(2026, 11, 28, tzinfo=UTC)


def read(text: str) -> BuiltGraph:
    document = {"id": "d", "text": text, "media_type": "text/markdown"}
    return build_graph(BuildRequest(documents=[document]), "local:ada", NOW)


def tasks(graph: BuiltGraph) -> list[str]:
    return [node.title for node in graph.nodes if node.type == "Task"]


def edges(graph: BuiltGraph) -> set[tuple[str, str]]:
    title = {node.id: node.title for node in graph.nodes}
    return {(edge.type, title[edge.target]) for edge in graph.edges if edge.type != "PART_OF"}


@pytest.mark.parametrize(
    "task",
    [
        "Paint (not @ada)",
        "Mow instead of @ada",
        "Dig without @ada",
        "cc @ada: paint",
        "Paint (cc: @ada)",
        "Everyone but @ada: paint",
        "Paint (formerly @ada)",
        "Paint (requested by @ada)",
        "Review with @ada",
        "Call @ada",
        "Give the keys to @ada",
        "Malen (nicht @ada)",
        "Mähen statt @ada",
        "Graben ohne @ada",
        "Peindre (pas @ada)",
        "Tondre au lieu de @ada",
        "Creuser sans @ada",
        "Pintar (no @ada)",
        "Segar en lugar de @ada",
        "Cavar sin @ada",
        "Dipingere (non @ada)",
        "Tagliare invece di @ada",
        "Scavare senza @ada",
    ],
)
def test_a_task_is_not_assigned_to_a_handle_that_its_line_excludes_or_only_involves(task):
    for text in (f"- [ ] {task}", f"## Tasks\n\n- {task}"):
        graph = read(f"# Notes\n\n{text}")
        assert (tasks(graph), edges(graph)) == ([task], {("MENTIONS", "@ada")})


@pytest.mark.parametrize(
    ("task", "title"),
    [
        ("Paint @ada", "Paint"),
        ("Paint (@ada)", "Paint"),
        ("Deploy @ada", "Deploy"),
        ("Paint, not the roof @ada", "Paint, not the roof"),
        ("Assigned to @ada: paint", "Assigned to @ada: paint"),
        ("@ada: paint without primer", "paint without primer"),
    ],
)
def test_any_other_handle_is_the_assignee(task, title):
    graph = read(f"# Notes\n\n- [ ] {task}")
    assert (tasks(graph), edges(graph)) == ([title], {("ASSIGNED_TO", "@ada")})


def test_words_apply_to_the_handles_after_them_only_and_to_all_of_an_enumeration():
    assert edges(read("- [ ] Paint @ada, not @bo")) == {("ASSIGNED_TO", "@ada"), ("MENTIONS", "@bo")}
    assert edges(read("- [ ] Paint (was @ada, now @bo)")) == {("MENTIONS", "@ada"), ("ASSIGNED_TO", "@bo")}
    assert edges(read("- [ ] @cy: paint without @ada and @bo")) == {
        ("ASSIGNED_TO", "@cy"),
        ("MENTIONS", "@ada"),
        ("MENTIONS", "@bo"),
    }
