"""Pages as people use them in a browser; needs Node.js and Chromium."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import pytest
from addressed_service import addressed_service
from web_fixtures import WebTools
from whole_service import WholeService, wait_until_served
from world_graphs import DOMAIN_OF, edge, node

from warehouse.duck.connection import Warehouse
from warehouse.ledger.ledger import open_ledger
from warehouse.world.events import append_states
from warehouse.world.fold import fold_events
from warehouse.world.public_projection import place_new_nodes

pytestmark = pytest.mark.web


@pytest.fixture(scope="module")
def base_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a service with a graph of two thousand public nodes, one of them with a hostile title."""
    with addressed_service(tmp_path_factory.mktemp("service"), rate_limit_per_minute=40) as (service, address):
        put_graph(service)
        service.house.publish()
        wait_until_served(service, address)
        yield address


SECOND_HAND = 33
"""Number of edges of the node that is searched for."""


def put_graph(service: WholeService) -> None:
    number = random.Random(7)
    nodes = [node(f"x{at}", title=f"Thing {at}", type=number.choice(sorted(DOMAIN_OF))) for at in range(1_999)]
    nodes[1] = node("x1", title="A second-hand thing")
    hostile = node("odd one", title="<script>alert(1)</script> \u202eevil\u202c <b>", actor="0xaa")
    linked = {(at, number.randrange(min(at, 60))): None for at in range(2, 1_999)} | {(1, 0): None}
    states = [*nodes, hostile, *(edge(f"x{source}", f"x{target}") for source, target in linked), edge(hostile.id, "x0")]
    data_dir = service.settings.data_dir
    with closing(open_ledger(service.settings, data_dir)) as ledger, Warehouse(data_dir).connect() as connection:
        with ledger.transaction() as tx:
            append_states(tx, states, -1)
        fold_events(connection, ledger)
        place_new_nodes(connection)


@pytest.fixture(scope="module")
def judged(base_url: str, web_tools: WebTools, chromium: Path) -> dict[str, Any]:
    """Uses the playground of the guardrail and returns what it showed."""
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


def test_a_blank_action_costs_no_try_and_an_answer_that_is_not_json_is_no_verdict(judged: dict[str, Any]):
    assert (judged["blank"]["because"], judged["blank"]["asked"]) == (
        "There is nothing to judge: type an action.",
        0,
    )
    assert judged["unreadable"]["because"] == "The service does not answer (unreadable reply)."


@pytest.fixture(scope="module")
def explored(base_url: str, web_tools: WebTools, chromium: Path) -> dict[str, Any]:
    """Uses the explorer of the graph and returns what it showed."""
    found: dict[str, Any] = web_tools.run(
        "graph_page.mjs",
        f"{base_url}/graph/",
        CHROMIUM=str(chromium),
        WORDS="second-hand",
        NODE="node:odd%20one",
    )
    return found


def test_the_graph_is_searched_in_its_file_and_costs_no_counted_request(explored: dict[str, Any]):
    assert explored["found"] == ["A second-hand thing"]
    assert explored["chosen"].split("\n\n")[:2] == ["A second-hand thing", f"Goal in vision, {SECOND_HAND} edges"]
    assert explored["address"] == "#node:x1"
    assert explored["nothing"] == {"results": [], "said": "No public node has “zzzz nothing”."}
    assert (explored["counted"], explored["complaints"]) == ([], [])


def test_domains_can_be_switched_off_and_a_node_be_linked_to(explored: dict[str, Any]):
    assert explored["all"] > explored["none"] == 0
    assert explored["byAddress"].startswith("alert(1)")


def test_a_search_says_how_many_nodes_hidden_domains_have(explored: dict[str, Any]):
    assert explored["hidden"] == {
        "results": [],
        "said": "None in the domains that are shown. 1 in hidden domains.",
    }


def test_a_link_to_an_unknown_node_says_so_and_a_malformed_one_breaks_nothing(explored: dict[str, Any]):
    assert explored["strays"] == {
        "#node:none%20such": "No public node has the id none such.",
        "#%E0%A4%A": "Every node is listed below, with its source, its dates and its neighbours.",
        "#node:%E0%A4%A": "No public node has the id %E0%A4%A.",
    }
    assert explored["complaints"] == []


def test_markup_in_a_title_is_text_in_the_explorer(explored: dict[str, Any]):
    assert explored["hostile"] == 0


def test_dragging_two_thousand_nodes_costs_less_than_a_twentieth_of_a_second_a_frame(explored: dict[str, Any]):
    assert 0 < explored["frameCpuMs"] < 50


def test_without_its_file_the_page_still_shows_the_picture(explored: dict[str, Any]):
    assert "is not available now" in explored["withoutFile"]["said"]
    assert explored["withoutFile"]["drawn"] == 300


@pytest.fixture(scope="module")
def verified(
    base_url: str, web_tools: WebTools, chromium: Path, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Any]:
    """Uses the check of open data and returns what it reported."""
    folder = tmp_path_factory.mktemp("taken")
    good, bad = folder / "holder_lists.csv", folder / "other.csv"
    good.write_bytes(httpx.get(f"{base_url}/data/holder_lists.csv").content)
    bad.write_bytes(good.read_bytes() + b"1")
    page = f"{base_url}/data/"
    found: dict[str, Any] = web_tools.run("data_page.mjs", page, str(good), str(bad), CHROMIUM=str(chromium))
    return found


def test_the_browser_checks_manifest_signature_and_file(verified: dict[str, Any]):
    assert {step: state for step, (state, _) in verified["named"].items()} == dict.fromkeys(verified["named"], "good")
    assert "it is /data/holder_lists.csv, byte for byte" in verified["named"]["file"][1]
    assert all(size.endswith("B") for size in verified["sizes"])
    assert verified["unnamed"]["file"][0] == "bad"


def test_a_manifest_that_was_changed_is_found(verified: dict[str, Any]):
    assert verified["tampered"]["signature"][0] == "bad"


def test_a_browser_without_ed25519_and_a_silent_service_are_told_apart(verified: dict[str, Any]):
    assert "no Ed25519" in verified["old"]["signature"][1]
    assert (verified["old"]["signature"][0], verified["silence"]["manifest"][0]) == ("unknown", "unknown")
