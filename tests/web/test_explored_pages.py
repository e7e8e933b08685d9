"""Exploring pages in a browser: holders over time and compared, prices, rows, paths in the graph, and stale data
turning grey."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from addressed_service import addressed_service
from holder_rows import address
from publishing import mint
from web_fixtures import WebTools
from whole_service import WholeService, wait_until_served
from world_graphs import edge, node

from contracts.token.holders import ZERO_ADDRESS
from warehouse.duck.connection import Warehouse
from warehouse.ledger.ledger import open_ledger
from warehouse.world.events import append_states
from warehouse.world.fold import fold_events
from warehouse.world.public_projection import place_new_nodes

pytestmark = pytest.mark.web

Seen = dict[str, Any]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """Yields the address of a service with three lists, the last of more than two thousand holders, and its public
    files."""
    with addressed_service(tmp_path_factory.mktemp("service")) as (service, base_url):
        put_graph(service)
        there_and_back = [(55, address(1), address(2065), 7), (56, address(2065), address(1), 7)]
        rows = [*mint(2_000, first=66, block=50), (50, ZERO_ADDRESS, address(1), 100_000), *there_and_back]
        service.house.read_chain(rows, 60)
        service.house.publish()
        wait_until_served(service, base_url)
        yield base_url, service.house.current / "public"


def put_graph(service: WholeService) -> None:
    """Writes a ring of eight nodes, one of which starts a line of three."""
    nodes = [node(f"x{at}", title=f"Thing {at}") for at in range(11)]
    ring = [edge(f"x{at}", f"x{(at + 1) % 8}") for at in range(8)]
    line = [edge(f"x{at}", f"x{before}") for before, at in ((4, 8), (8, 9), (9, 10))]
    data_dir = service.settings.data_dir
    with closing(open_ledger(service.settings, data_dir)) as ledger, Warehouse(data_dir).connect() as connection:
        with ledger.transaction() as tx:
            append_states(tx, [*nodes, *ring, *line], -1)
        fold_events(connection, ledger)
        place_new_nodes(connection)


@pytest.fixture(scope="module")
def mapped(served: tuple[str, Path], web_tools: WebTools, chromium: Path) -> Seen:
    """Uses the map of holders and returns what it showed."""
    found: Seen = web_tools.run("map_page.mjs", f"{served[0]}/holders/", CHROMIUM=str(chromium))
    return found


def test_the_map_goes_back_to_every_published_list_and_asks_no_counted_route(mapped: Seen):
    assert mapped["newest"].startswith("The newest list, block 60, ")
    assert mapped["newest"].endswith(": 2,065 holders")
    assert mapped["oldest"].startswith("List 1 of 3, block 20, ")
    assert mapped["oldest"].endswith(": 64 holders")
    assert mapped["blocks"] == ["60", "20"]
    assert (mapped["counted"], mapped["complaints"]) == ([], [])


def test_the_legend_of_the_map_counts_the_holders_that_are_drawn(mapped: Seen):
    assert mapped["legends"] == [
        "Area is share. whale 1 dolphin 99 contract The other 1,965 hold 90.7 %.",
        "Area is share. whale 64 contract",
        "Area is share. whale 1 dolphin 1,999 contract The other 65 hold 1.6 %.",
    ]


def test_changing_files_are_revalidated(mapped: Seen, paged: Seen):
    assert mapped["modes"]["holder_lists.csv"] == "no-cache"
    assert paged["modes"]["first-holders.csv"] == "no-cache"


def test_the_list_of_holders_fits_a_wide_window(mapped: Seen):
    assert mapped["beyond"] == 0


def test_a_circle_of_the_map_leads_to_its_holder(mapped: Seen):
    assert " is number " in mapped["chosen"] and " holds " in mapped["chosen"]
    assert mapped["link"].startswith("/holders/one/?address=0x")


def test_a_chosen_holder_is_joined_to_those_with_whom_it_exchanged_tokens(mapped: Seen):
    holders = [f"{found[:6]}…{found[-4:]}" for found in map(address, (1, 2065))]
    linked = mapped["linked"]
    assert linked["rows"] == ["1 2", "2 1"]
    assert linked["number 1"].endswith(f"to {holders[1]} 0.07 in 1; from {holders[1]} 0.07 in 1.")
    assert linked["number 2"] == (
        f"{holders[1]} is number 2 and holds 0.0713\u202f%, a dolphin. Transfers in 30 days: "
        f"from {holders[0]} 0.07 in 1; to {holders[0]} 0.07 in 1."
    )
    assert linked["number 3"].endswith("a dolphin. None of the transfers below is its.")
    assert linked["past"].endswith("Transfers are drawn in the list of block 60.")
    assert linked["lines"] == [2, 2, 0, 0]


def test_two_thousand_circles_are_dragged_at_twenty_frames_a_second(mapped: Seen):
    print(f"{mapped['frames']} frames a second")  # a busy machine draws fewer frames, so the number is reported
    assert mapped["frames"] > 0


def test_without_its_files_the_map_stays_as_it_was_published(mapped: Seen):
    assert mapped["withoutFile"] == {
        "said": "Past lists can’t be shown now (answered 404). The picture is of the newest list.",
        "drawn": 100,
    }


@pytest.fixture(scope="module")
def compared(served: tuple[str, Path], web_tools: WebTools, chromium: Path) -> Seen:
    """Uses the comparison of two lists and returns what it showed."""
    found: Seen = web_tools.run("compare_page.mjs", f"{served[0]}/holders/compare/", CHROMIUM=str(chromium))
    return found


def test_the_comparison_offers_every_published_list_and_asks_nothing_before_a_choice(compared: Seen):
    assert compared["plain"] == {"asked": [], "published": True}
    assert compared["fields"] == {
        "options": [
            "2026-01-01 01:00 UTC, block 60: 2,065 holders",
            "2026-01-01 00:40 UTC, block 40: 65 holders",
            "2026-01-01 00:20 UTC, block 20: 64 holders",
        ],
        "values": ["40", "60"],
        "presets": [["The last day", True], ["The last week", True], ["Everything", False]],
    }


def test_two_chosen_lists_are_compared_by_one_request_the_earlier_one_first(compared: Seen):
    chosen = compared["chosen"]
    assert chosen["asked"] == ["/api/token/holders-map-temporal?from_block=20&to_block=40"]
    assert (chosen["search"], chosen["values"]) == ("?from=20&to=40", ["20", "40"])
    assert chosen["link"] == "/api/token/holders-map-temporal?from_block=20&to_block=40"
    assert chosen["bars"]
    assert chosen["said"] == "Block 20 and block 40 are compared below."
    assert chosen["holder"].startswith("/holders/one/?address=0x")
    assert "Between the chosen lists, block 20 to 40" in chosen["text"]
    assert "1 came and 0 left: 64 holders then, 65 after. The ten largest went from" in chosen["text"]
    for said in ("Largest gains, block 20 to 40", "Largest losses, block 20 to 40", "By size", "whale", "under 1 day"):
        assert said in chosen["text"], said


def test_the_drawer_of_a_chosen_comparison_names_its_own_block_and_request(compared: Seen, served: tuple[str, Path]):
    assert "The chosen lists compared" in compared["drawer"]
    command = f'curl "{served[0]}/api/token/holders-map-temporal?from_block=20&to_block=40"'
    assert command in compared["drawer"]
    assert "Never: a list of the past does not age" in compared["drawer"]


def test_going_back_shows_the_published_comparison(compared: Seen):
    assert compared["back"] == {"published": True, "search": ""}


def test_a_preset_takes_the_newest_list_that_is_old_enough(compared: Seen):
    assert compared["presets"] == ["?from=40&to=60", "?from=20&to=60", "?from=20&to=60"]


def test_the_address_of_a_comparison_may_name_any_block(compared: Seen):
    linked = compared["linked"]
    assert linked["asked"] == ["/api/token/holders-map-temporal?from_block=20&to_block=30"]
    assert "Between the chosen lists, block 20 to 30" in linked["text"]
    assert linked["values"] == ["20", "30"]


def test_comparing_a_block_with_itself_sends_no_request(compared: Seen):
    assert compared["same"] == {"text": "Nothing to compare: both sides are block 20.", "asked": []}


def test_an_unanswered_comparison_is_shown_with_the_reason_and_the_wait(compared: Seen):
    assert compared["refused"] == [
        "No answer: Too many requests. Try again in 7 s.",
        "No answer: The newest list is of block 60.",
        "The answer can’t be read. Try again in a minute.",
    ]
    assert compared["withoutFile"] == "The list of blocks can’t be shown now (answered 404)."
    assert compared["complaints"] == []


def test_the_drawer_of_a_number_leads_to_its_lineage_where_any_field_is_found(
    served: tuple[str, Path], web_tools: WebTools, chromium: Path
):
    found = web_tools.run("lineage_page.mjs", served[0], "gini", "hhi", "latencyMs", "zzz", CHROMIUM=str(chromium))
    assert found["followed"] == ["#token-holders", True]
    documents = ["token-holders", "token-holders-map-temporal", "token-series-daily", "token-series-hourly"]
    assert found["found"]["gini"] == ["4 of 19", *(f"{document} true" for document in documents)]
    assert found["found"]["hhi"] == found["found"]["gini"]
    assert found["found"]["latencyMs"][0] == "2 of 19"
    assert found["found"]["zzz"] == ["None of 19"]
    assert found["complaints"] == []


def test_the_page_of_prices_names_the_plan_for_a_number_of_calls_and_what_a_call_costs(
    served: tuple[str, Path], web_tools: WebTools, chromium: Path
):
    found = web_tools.run("pricing_page.mjs", f"{served[0]}/docs/pricing/", CHROMIUM=str(chromium))
    assert found["said"] == {
        "50": "Agent runtime activation is enough: 5.00 USD once, and then a call costs nothing.",
        "500": "API Basic is enough: 9.00 USD for 30 days, which is 0.0006 USD a call.",
        "5000": "API Pro is enough: 49.00 USD for 30 days, which is 0.000327 USD a call.",
        "0": "Type a whole number of calls, at least 1.",
        "": "Type a whole number of calls, at least 1.",
    }
    assert found["singly"].endswith(
        "Paid one by one, without a key, calls cost 0.002 to 0.02 USD each: 30.00 to 300.00 USD in 30 days."
    )
    assert (found["asked"], found["complaints"]) == ([], [])


@pytest.fixture(scope="module")
def paged(served: tuple[str, Path], web_tools: WebTools, chromium: Path) -> Seen:
    """Uses the explorer of rows on the holders and returns what it showed."""
    rows = (served[1] / "data/first-holders.csv").read_text().splitlines()
    word = rows[7].split(",")[1]
    found: Seen = web_tools.run(
        "rows_page.mjs", f"{served[0]}/data/rows/", "holders", CHROMIUM=str(chromium), WORD=word
    )
    return found | {"word": word}


def test_rows_are_paged_sorted_and_filtered_over_the_whole_file(paged: Seen):
    assert (paged["first"]["said"], paged["second"]["said"]) == ("Rows 1 to 20", "Rows 21 to 40 of the 500 newest")
    assert paged["first"]["ranks"] == [str(rank) for rank in range(1, 21)]
    assert paged["second"]["ranks"] == [str(rank) for rank in range(21, 41)]
    assert paged["falling"]["ranks"] == [str(rank) for rank in range(500, 480, -1)]
    assert paged["amounts"][:2] == ["101001", "3065"]
    assert paged["filtered"] == {"said": "Rows 1 to 1 of the 1 found in the 500 newest", "addresses": [paged["word"]]}
    assert paged["nothing"] == "None of the 500 newest"
    assert paged["complaints"] == []


def test_without_the_file_the_first_rows_stay(paged: Seen):
    assert paged["withoutFile"]["rows"] == 20
    assert "can’t be read" in paged["withoutFile"]["said"]


def test_a_path_is_found_by_choice_and_by_address_with_the_fewest_steps(
    served: tuple[str, Path], web_tools: WebTools, chromium: Path
):
    found = web_tools.run(
        "path_page.mjs", f"{served[0]}/graph/", CHROMIUM=str(chromium), START="x0", START_TITLE="Thing 0", END="x10",
        END_TITLE="Thing 10",
    )  # fmt: skip
    for way in (found["byAddress"], found["chosen"]):
        assert way["said"].startswith("The shortest path has 7 steps.")
        assert len(way["steps"]) == 8
        assert (way["steps"][0], way["steps"][-4:]) == ("Thing 0", [f"Thing {at}" for at in (4, 8, 9, 10)])
    assert found["chosen"]["hash"] == "#path:x0/x10"
    assert "There is no path between" in found["none"]
    assert found["complaints"] == []


def test_what_a_failed_check_makes_stale_turns_grey_while_the_page_is_open(
    served: tuple[str, Path], web_tools: WebTools, chromium: Path
):
    found = web_tools.run("stale_page.mjs", f"{served[0]}/holders/", "/api/token/holders-map", CHROMIUM=str(chromium))
    assert {source for source, _, _ in found["before"]["grey"]} == {"list", "edges", "holders", "days"}
    assert [each for each in found["before"]["grey"] if each[1]] == []
    assert found["before"]["health"] == "All current"
    assert found["after"]["health"] == "1 stale"
    assert [each for each in found["after"]["grey"] if each[1]] == [["list", True, "Stale since the last run"]]
    assert "The largest holders: stale since the last run (check failed)" in found["after"]["said"]
