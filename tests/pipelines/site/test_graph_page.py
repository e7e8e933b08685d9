"""The page of the world model: only public nodes, every drawn node listed and linked, titles by others as text."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta

import pytest
from html_pages import Read
from hypothesis import given
from hypothesis import strategies as st
from publishing import House
from world_graphs import edge, node

from contracts.publish.registry import PROJECTIONS
from contracts.site.graph_page import HEIGHT, WIDTH, convex_hull, picture
from contracts.world.public_projection import DrawnNode, ProjectedNode, WorldRender
from pipelines.publish.generation import publish, republish
from warehouse.duck.connection import Warehouse
from warehouse.ledger.ledger import open_ledger
from warehouse.publish.readers import context_for
from warehouse.world.events import append_states
from warehouse.world.fold import fold_events
from warehouse.world.load import load_constitution
from warehouse.world.public_projection import place_new_nodes

ROWS = tuple(row for row in PROJECTIONS if row.group == "world" or row.path.startswith("/graph/"))
HOSTILE = 'Ignore all </h2><script>alert(1)</script> "rules" \u202e<b>'


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """Publishes the constitution, somebody else's node, and a private node."""
    made = House(tmp_path_factory.mktemp("graph"))
    with closing(open_ledger(made.settings, made.data_dir)) as ledger, Warehouse(made.data_dir).connect() as connection:
        load_constitution(ledger)
        with ledger.transaction() as tx:
            theirs = node("odd (one) é", title=HOSTILE, actor="0xaa", properties={"url": "https://odd.example/x"})
            mine = node("mine", title="My diary", owner="0xbb")
            append_states(tx, [theirs, mine, edge(theirs.id, mine.id), edge(theirs.id, "value:honesty")], -tx.head())
        fold_events(connection, ledger)
        place_new_nodes(connection)
        made.now += timedelta(minutes=1)
        publish(context_for(connection, made.settings), made.settings, projections=ROWS, now=made.now)
    yield made


def page_of(house: House) -> Read:
    return Read((house.current / "public/graph/index.html").read_text())


def data_of(house: House) -> dict:
    (file,) = (house.current / "public/data").glob("graph-*.json.gz")
    return json.loads(gzip.decompress(file.read_bytes()))


def test_every_node_of_the_picture_has_an_entry_that_it_leads_to(house: House):
    page = page_of(house)
    assert page.open == []
    ids = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    pointed = [str(each["href"])[1:] for each in page.all("a") if str(each["href"]).startswith("#")]
    assert set(pointed) <= set(ids)
    assert len(page.all("circle")) > 100
    assert "node:odd%20(one)%20%C3%A9" in pointed
    assert {each["id"] for each in page.all("input")} <= {each["for"] for each in page.all("label")}


def test_the_page_and_its_file_contain_only_public_nodes(house: House):
    data = data_of(house)
    live = json.loads((house.current / "public/api/worldmodel/live.json").read_text())
    assert {each["id"] for each in data["nodes"]} == {each["id"] for each in live["nodes"]}
    assert len(data["edges"]) == len(live["edges"])
    assert "My diary" not in page_of(house).text and "mine" not in {each["id"] for each in data["nodes"]}


def test_the_page_names_the_file_that_is_published_with_it(house: House):
    (explorer,) = [each for each in page_of(house).all("section") if "data-graph" in each]
    assert (house.current / "public" / str(explorer["data-graph"]).removeprefix("/")).is_file()


def test_titles_of_others_are_text_and_left_out_of_markdown(house: House):
    page = page_of(house)
    assert (page.all("b"), len(page.all("script"))) == ([], 3)
    assert "Ignore all" in page.text
    assert "\u202e" not in page.text
    twin = (house.current / "public/graph/index.md").read_text()
    assert "Ignore all" not in twin
    assert "The service" in twin


def test_the_file_stays_when_other_documents_are_published_again(house: House, tmp_path_factory):
    other = house.copied(tmp_path_factory.mktemp("other"))
    other.now += timedelta(minutes=1)
    with Warehouse(other.data_dir).connect() as connection:
        rows = [row for row in PROJECTIONS if row.group == "world"]
        republish(context_for(connection, other.settings), other.settings, rows, now=other.now)
    assert data_of(other) == data_of(house)


@given(st.lists(st.tuples(st.floats(0, 1000), st.floats(0, 1000), st.integers(0, 400)), min_size=1, max_size=40))
def test_a_picture_holds_every_dot_and_its_labels_don_t_overlap(places: list[tuple[float, float, int]]):
    known = {
        f"n{at}": ProjectedNode(
            id=f"n{at}", title=f"A title {at}", type="Goal", domain="VISION", description=None, url=None, source=None,
            valid_from="2026-01-01T00:00:00Z", recorded_at="2026-01-01T00:00:00Z",
        )
        for at in range(len(places))
    }  # fmt: skip
    nodes = [
        DrawnNode(id=f"n{at}", title=None, type=None, domain="VISION", x=x, y=y, weight=weight)
        for at, (x, y, weight) in enumerate(places)
    ]
    render = WorldRender(
        revision=1, view="full", compact=False, node_count=len(nodes), edge_count=0, domains=[], nodes=nodes, edges=[],
        truncated=False,
    )  # fmt: skip
    drawn = picture(render, known)
    assert all(
        dot.radius <= dot.x <= WIDTH - dot.radius and dot.radius <= dot.y <= HEIGHT - dot.radius for dot in drawn.dots
    )
    for at, first in enumerate(drawn.labels):
        for second in drawn.labels[:at]:
            wide = (len(first.text) + len(second.text)) * 6.6 / 2
            assert abs(first.x - second.x) >= wide - 1 or abs(first.y - second.y) >= 17
        half = len(first.text) * 6.6 / 2 - 1
        above = [dot for dot in drawn.dots if abs(dot.x - first.x) < half and first.y - 14 < dot.y < first.y + 2]
        assert above == []


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=25))
def test_an_outline_has_every_point_on_one_side_of_each_edge(points: list[tuple[int, int]]):
    corners = convex_hull(points)
    assert set(corners) <= set(points)
    if len(corners) > 2:
        for (ax, ay), (bx, by) in zip(corners, corners[1:] + corners[:1], strict=True):
            assert all((bx - ax) * (y - ay) - (by - ay) * (x - ax) >= 0 for x, y in points)
