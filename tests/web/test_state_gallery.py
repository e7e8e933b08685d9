"""The pages in every state, opened in a browser: readable, and correctly laid out at any width."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from state_gallery import served, states
from web_fixtures import WebTools

pytestmark = pytest.mark.web

VIEWS = ("narrow", "wide-dark")


@pytest.fixture(scope="module")
def gallery(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, list[str]]]:
    """Yields the address of the pages in every state, and their paths."""
    with served(states(tmp_path_factory.mktemp("states"))) as found:
        yield found


@pytest.fixture(scope="module")
def views(
    gallery: tuple[str, list[str]], web_tools: WebTools, chromium: Path, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Any]:
    """Returns what a browser saw of each page in each state; pictures of those with a fault are in pytest's
    directory."""
    address, paths = gallery
    pictures = tmp_path_factory.mktemp("pictures")
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


def test_transfers_of_the_wall_are_filtered_by_token_and_by_direction_at_once(
    gallery: tuple[str, list[str]], web_tools: WebTools, chromium: Path
):
    found = web_tools.run("filter_page.mjs", f"{gallery[0]}/wall/bidwall/", CHROMIUM=str(chromium))
    assert found["options"] == [
        ["any token", "this service’s token", "USDC", "0x0000…0007"],
        ["any direction", "to the contract", "from the contract", "to itself"],
    ]
    assert found["left"] == {
        "any token, any direction": ["", "41, pending", "40", "39", "38", "37", "36"],
        "USDC, any direction": ["2 of 6", "39", "38"],
        "USDC, from the contract": ["1 of 6", "39"],
        "any token, from the contract": ["2 of 6", "39", "37"],
        "this service’s token, from the contract": ["None of 6"],
        "this service’s token, to the contract": ["2 of 6", "41, pending", "40"],
    }
    assert found["reloaded"] == ["this service’s token", "to the contract", "2 of 6"]
    assert found["unknown"] == ["any token", "any direction", ""]
    assert (found["withoutScript"], found["complaints"]) == ({"rows": 6, "enabled": 0}, [])
