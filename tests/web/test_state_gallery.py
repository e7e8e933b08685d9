"""The pages in every state, opened in a browser: readable, and in their place at any width."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from state_gallery import served, states
from web_fixtures import WebTools

pytestmark = pytest.mark.web

VIEWS = ("narrow", "wide-dark")


@pytest.fixture(scope="module")
def views(web_tools: WebTools, chromium: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What a browser saw of each page in each state; pictures of those with a fault lie in pytest's directory."""
    gallery = states(tmp_path_factory.mktemp("states"))
    pictures = tmp_path_factory.mktemp("pictures")
    with served(gallery) as (address, paths):
        seen: dict[str, Any] = web_tools.run(
            "pages.mjs", address, str(pictures), *paths, CHROMIUM=str(chromium), VIEWS=",".join(VIEWS)
        )
    assert {path: set(by_view) for path, by_view in seen.items()} == {path: set(VIEWS) for path in paths}
    return seen


def test_every_state_can_be_read_by_everybody(views: dict[str, Any]):
    faults = {
        (path, view): (seen["violations"], seen["sideways"], seen["targets"])
        for path, by_view in views.items()
        for view, seen in by_view.items()
        if seen["violations"] or seen["sideways"] or seen["targets"]
    }
    assert faults == {}


def test_no_state_makes_the_browser_complain(views: dict[str, Any]):
    faults = {
        (path, view): (seen["console"], seen["failed"])
        for path, by_view in views.items()
        for view, seen in by_view.items()
        if seen["console"] or seen["failed"]
    }
    assert faults == {}


def test_the_layout_stays_in_every_state(views: dict[str, Any]):
    assert {path: seen["shift"] for path, by in views.items() for seen in by.values() if seen["shift"] > 0.02} == {}
