"""Each note of a folder is matched to a document: the one at its path, the one that it was before a move, or a new
one."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from contracts.world.extraction.document_names import DocumentNames
from contracts.world.extraction.moved_documents import BuiltDocument

PLAN, DIARY = "We sail in May.\n\nJonas brings the map.", "Rain all day.\n\nWe stayed inside."


def built(text: str, url: str | None = None) -> BuiltDocument:
    return BuiltDocument(url, frozenset(text.split("\n\n")))


@pytest.mark.parametrize(
    "former, folder, named, moved",
    [
        ({}, {"plan.md": PLAN}, {"plan.md": "plan.md"}, 0),
        ({"plan.md": built(PLAN)}, {"plan.md": PLAN}, {"plan.md": "plan.md"}, 0),
        ({"plan.md": built(PLAN)}, {"plan.md": "All is new."}, {"plan.md": "plan.md"}, 0),
        ({"plan.md": built(PLAN)}, {"old/trip.md": PLAN}, {"old/trip.md": "plan.md"}, 1),
        ({"plan.md": built(PLAN)}, {"trip.md": DIARY}, {"trip.md": "trip.md"}, 0),
        ({"plan.md": built(PLAN)}, {"plan.md": DIARY, "trip.md": PLAN}, {"trip.md": "plan.md"}, 1),
        (
            {"a.md": built(PLAN), "b.md": built(DIARY)},
            {"a.md": DIARY, "b.md": PLAN},
            {"a.md": "b.md", "b.md": "a.md"},
            2,
        ),
        ({"plan.md": built(PLAN, "trip.md")}, {"trip.md": PLAN}, {"trip.md": "plan.md"}, 0),
        ({"plan.md": built(PLAN)}, {"plan.md": None}, {"plan.md": "plan.md"}, 0),
    ],
    ids=[
        "a new note",
        "a note that stayed",
        "a note that was rewritten",
        "a note that was moved",
        "another note than the one that is gone",
        "a note that was moved, and another text in its place",
        "two notes that swapped their names",
        "a note that was moved before",
        "a note that can't be read",
    ],
)
def test_a_note_keeps_the_id_of_the_document_that_it_was(
    former: Mapping[str, BuiltDocument], folder: Mapping[str, str | None], named: Mapping[str, str], moved: int
) -> None:
    names = DocumentNames(former, folder.keys(), folder.__getitem__)
    assert {path: names.id_of(path) for path in named} == named
    assert names.moved == moved


def test_the_note_in_the_place_of_a_moved_one_gets_an_id_of_its_own() -> None:
    folder = {"plan.md": DIARY, "trip.md": PLAN}
    names = DocumentNames({"plan.md": built(PLAN)}, folder.keys(), folder.__getitem__)
    assert names.id_of("plan.md") == "plan.md-0bbe5bc4"


def test_a_path_that_no_span_may_hold_is_named_with_its_hash() -> None:
    paths = ["Über uns.md", "../x y.md", "a" * 200 + ".md"]
    names = DocumentNames({}, paths, dict.fromkeys(paths, "").__getitem__)
    assert [names.id_of(path) for path in paths[:2]] == ["ber-uns.md-337ffaaa", "x-y.md-568b550f"]
    assert len(names.id_of(paths[2])) <= 128
