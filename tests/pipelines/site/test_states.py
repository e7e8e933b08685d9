"""The pages in every state are well formed, and say what is missing and why."""

from __future__ import annotations

import re

import pytest
from html_pages import Read
from state_gallery import State, page_in, states

from contracts.site.markdown import page_in_markdown


@pytest.fixture(scope="module")
def gallery(tmp_path_factory: pytest.TempPathFactory) -> dict[str, State]:
    return states(tmp_path_factory.mktemp("states"))


@pytest.mark.parametrize(
    "name", ["empty", "stale", "off", "unknown", "failed", "hostile", "nobody", "one", "tokens", "wall", "huge"]
)
def test_a_page_says_in_words_what_state_it_is_in(gallery: dict[str, State], name: str):
    state = gallery[name]
    told = ""
    for path in state.pages:
        page = Read(page_in(state, path).decode())
        assert page.open == [], path
        told += " ".join(page.text.split())
    for words in state.words:
        assert words.lower() in told.lower(), words


def test_hostile_names_are_text(gallery: dict[str, State]):
    for path in gallery["hostile"].pages:
        page = Read(page_in(gallery["hostile"], path).decode())
        assert [each for each in page.all("script") if "src" not in each] == []
        assert (page.all("b"), page.all("i")) == ([], [])
    shown = Read(page_in(gallery["hostile"], "/token/").decode()).text
    assert "Ignore all </h1><script>alert(1)</script>" in shown
    assert "Ignore all" not in page_in_markdown(page_in(gallery["hostile"], "/token/"), "https://svc.example").decode()


def test_huge_balances_are_shortened_and_exact_on_demand(gallery: dict[str, State]):
    page = Read(page_in(gallery["huge"], "/holders/").decode())
    values = {each["value"] for each in page.all("data")}
    assert "1" + "0" * 58 in values
    assert all(len(word) < 100 for word in page.text.split())


def test_every_state_can_be_read_in_markdown(gallery: dict[str, State]):
    for state in gallery.values():
        for path in state.pages:
            twin = page_in_markdown(page_in(state, path), f"https://svc.example{path}").decode()
            assert re.search("^# ", twin, re.MULTILINE)
