"""Pages as somebody uses them in a browser: needs Node.js and Chromium."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from addressed_service import addressed_service
from web_fixtures import WebTools

pytestmark = pytest.mark.web


@pytest.fixture(scope="module")
def base_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with addressed_service(tmp_path_factory.mktemp("service"), rate_limit_per_minute=40) as (_, address):
        yield address


@pytest.fixture(scope="module")
def judged(base_url: str, web_tools: WebTools, chromium: Path) -> dict[str, Any]:
    """What the playground of the guardrail showed."""
    found: dict[str, Any] = web_tools.run("guardrail_page.mjs", f"{base_url}/guardrail/", CHROMIUM=str(chromium))
    return found


def test_the_playground_shows_what_the_published_examples_show(judged: dict[str, Any]):
    assert len(judged["examples"]) >= 7
    for example in judged["examples"]:
        assert example["judged"] == example["published"]
    assert judged["complaints"] == []


def test_the_playground_marks_what_decided_and_says_how_many_tries_are_left(judged: dict[str, Any]):
    assert judged["own"]["decision"] == "Blocked"
    assert judged["own"]["marked"] == [["unread", '😀 "rm -rf ~"'], ["blocks", "rm -rf ~/Documents"]]
    assert judged["left"].endswith("of 40 tries left this minute")


def test_markup_in_an_action_is_text(judged: dict[str, Any]):
    assert judged["markup"]["decision"] in ("Blocked", "Passes")


def test_an_action_that_is_too_long_and_a_silent_service_are_no_pass(judged: dict[str, Any]):
    assert (judged["long"]["decision"], judged["silent"]["decision"]) == ("Not judged", "Not judged")
    assert "4,096 bytes" in judged["long"]["because"]
