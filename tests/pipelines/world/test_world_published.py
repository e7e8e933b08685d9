"""The published graph: its snapshot within a generation, its projections, and nothing private."""

import asyncio
import json
import sqlite3
from contextlib import closing
from datetime import timedelta

import pytest
from keyed_service import bearer, serving
from publishing import House
from shared_state import copy_with_links
from world_graphs import T0, T1, T2, edge, node

from contracts.publish.registry import PROJECTIONS
from contracts.world.public_projection import public_text, public_title, public_url
from pipelines.publish.generation import publish
from warehouse.duck.connection import Warehouse
from warehouse.ledger.ledger import open_ledger
from warehouse.publish.generations import current_generation
from warehouse.publish.readers import context_for
from warehouse.world.events import append_states, current_edge, current_node
from warehouse.world.fold import fold_events
from warehouse.world.ownership import hand_over
from warehouse.world.public_projection import place_new_nodes
from warehouse.world.served import ServedGraph

LIVE, RENDER = "/api/worldmodel/live", "/api/worldmodel/render"
ROWS = tuple(row for row in PROJECTIONS if row.group == "world")
SECRETS = (
    "tip@nowhere.example",
    "@hidden",
    "svc_pro_abcdef",
    "+49 170 1234567",
    "Ada Lovelace",
    "0xowner",
    "keep this",
)


class GraphHouse(House):
    """A house whose ledger holds a graph."""

    def __init__(self, data_dir, **settings):
        super().__init__(data_dir, rate_limit_per_minute=0, **settings)
        self.ledger = open_ledger(self.settings, data_dir)

    def accept(self, *states):
        """Writes each state as if by a separate decision."""
        with self.ledger.transaction() as tx:
            for state in states:
                append_states(tx, [state], -tx.head())

    def publish(self):  # type: ignore[override]
        self.now += timedelta(minutes=1)
        with Warehouse(self.data_dir).connect() as connection:
            fold_events(connection, self.ledger)
            place_new_nodes(connection)
            context = context_for(connection, self.settings)
            return publish(context, self.settings, projections=ROWS, now=self.now)

    def snapshot_files(self):
        return {path: each for path, each in self.manifest.components.items() if path.startswith("world/")}

    @property
    def manifest(self):
        return current_generation(self.data_dir).manifest

    def body(self, path):
        return json.loads((self.current / "public" / f"{path.removeprefix('/')}.json").read_text())


@pytest.fixture(scope="module")
def begun(tmp_path_factory):
    """A house that has published an empty graph, only to be copied: later publishes link everything that contains no
    graph."""
    made = GraphHouse(tmp_path_factory.mktemp("begun"))
    made.publish()
    made.ledger.close()
    return made


@pytest.fixture
def house(tmp_path, begun):
    copy_with_links(begun.data_dir, tmp_path)
    made = GraphHouse(tmp_path)
    made.now = begun.now
    yield made
    made.ledger.close()


def some(count, **changes):
    return [node(f"n{number:04}", title=f"node {number}", **changes) for number in range(count)]


def test_a_generation_holds_the_snapshot_and_the_overlay_the_rest(house):
    house.accept(*some(10), edge("n0000", "n0001"), node("mine", owner="0xaa"))
    house.publish()
    house.accept(node("later"))
    graph = ServedGraph(house.data_dir, lambda: house.ledger)
    with graph.seen_by(None) as now:
        assert (now.snapshot_revision, len(now.events)) == (12, 1)
        assert sum(now.view.node_counts().values()) == 11 and now.view.edge_count() == 1
    house.accept(node("n0000", valid_to=T0, recorded_at=T1))
    house.publish()
    with graph.seen_by("0xaa") as now:
        assert (now.snapshot_revision, len(now.events)) == (14, 0)
        assert sum(now.view.node_counts().values()) == 11 and now.view.edge_count() == 0


def test_an_unchanged_graph_is_linked_and_a_few_events_on_a_large_one_too(house):
    house.accept(*some(300))
    house.publish()
    before = house.snapshot_files()
    house.accept(node("one more"))
    assert house.publish().published
    assert house.snapshot_files() == before
    house.accept(*some(4, type="Task"))
    house.publish()
    assert house.snapshot_files() != before


def test_a_forgotten_node_leaves_the_snapshot_at_once(house):
    house.accept(*some(300, properties={"note": "keep this"}))
    house.publish()
    house.accept(node("n0007", title="", erased=True, actor="forgotten"))
    house.publish()
    with ServedGraph(house.data_dir, lambda: house.ledger).seen_by(None) as now:
        assert now.snapshot_revision == 301 and now.view.node("n0007") is None


def test_a_change_of_owner_shows_over_the_snapshot_and_in_the_next_one(house):
    moving = edge("n1", "n2", owner="0xaa")
    house.accept(node("n1", owner="0xaa"), node("n2", owner="0xaa"), moving, node("kept", owner="0xaa"), node("public"))
    house.publish()

    def seen_by(owner):
        with ServedGraph(house.data_dir, lambda: house.ledger).seen_by(owner) as now:
            named = {name for name in ("n1", "n2", "kept") if now.view.node(name)}
            return now.snapshot_revision, len(now.events), named, now.view.edge_count()

    assert (seen_by("0xaa"), seen_by("0xbb")) == ((5, 0, {"n1", "n2", "kept"}, 1), (5, 0, set(), 0))
    with house.ledger.transaction() as tx:
        states = [current_node(tx, "n1"), current_node(tx, "n2")], [current_edge(tx, moving.id)]
        moved = hand_over(tx, *states, "0xbb", takes_over="0xaa", reason="a test")
    assert (moved.nodes, moved.edges, moved.left) == (2, 1, 0)
    assert (seen_by("0xaa")[1:], seen_by("0xbb")[1:]) == ((3, {"kept"}, 0), (3, {"n1", "n2"}, 1))
    house.publish()
    assert (seen_by("0xaa")[1:], seen_by("0xbb")[1:]) == ((0, {"kept"}, 0), (0, {"n1", "n2"}, 1))


def test_the_ledger_replaces_a_snapshot_that_can_not_be_opened(house, caplog):
    house.accept(*some(5))
    house.publish()
    (house.current / "world" / "snapshot.json").write_text("{}")
    with ServedGraph(house.data_dir, lambda: house.ledger).seen_by(None) as now:
        assert (now.snapshot_revision, sum(now.view.node_counts().values())) == (0, 5)
    assert "can't be opened" in caplog.text
    house.publish()
    house.accept(*some(1, type="Task"))
    house.publish()
    with ServedGraph(house.data_dir, lambda: house.ledger).seen_by(None) as now:
        assert now.snapshot_revision == 6


def test_a_ledger_that_is_restored_under_a_running_process_is_read_from_its_beginning(house, tmp_path, caplog):
    house.accept(*some(5))
    with (
        closing(sqlite3.connect(tmp_path / "ledger.db")) as now,
        closing(sqlite3.connect(tmp_path / "older.db")) as old,
    ):
        now.backup(old)
    house.accept(node("lost"), node("lost too"))
    house.publish()
    ledgers = [house.ledger]
    graph = ServedGraph(house.data_dir, lambda: ledgers[0])
    with graph.seen_by(None) as before:
        assert sum(before.view.node_counts().values()) == 7
    (tmp_path / "restored").mkdir()
    (tmp_path / "older.db").rename(tmp_path / "restored" / "ledger.db")
    with closing(open_ledger(house.settings, tmp_path / "restored")) as restored:
        ledgers[0] = restored
        with graph.seen_by(None) as after:
            assert sum(after.view.node_counts().values()) == 5
    assert "restored while this process ran" in caplog.text


def test_projections_live_graph_and_tables_agree_on_every_count(house):
    house.accept(*some(9), *some(2, owner="0xaa"), node("v", type="Value"))
    house.accept(edge("n0003", "n0004"), edge("n0003", "n0001"))
    house.publish()
    with ServedGraph(house.data_dir, lambda: house.ledger).seen_by(None) as now:
        counts, edges = now.view.node_counts(), now.view.edge_count()
    live, render = house.body(LIVE), house.body(RENDER)
    for body in (live, render):
        assert (body["nodeCount"], body["edgeCount"], body["revision"]) == (sum(counts.values()), edges, 14)
    assert {domain["name"]: domain["nodeCount"] for domain in render["domains"] if domain["nodeCount"]} == counts
    assert len(live["nodes"]) == live["nodeCount"] and len(live["edges"]) == live["edgeCount"]


def test_nothing_private_or_personal_is_published(house):
    house.accept(
        node("a", title="Ask tip@nowhere.example or @hidden, call +49 170 1234567, use svc_pro_abcdef"),
        node("b", title="Plan B", owner="0xowner"),
        node("c", title="Fine", properties={"note": "keep this"}, actor="0xowner", source="key:0xowner"),
        node("d", title="keep this too", owner="0xowner"),
        edge("a", "b", owner="0xowner"),
        edge("a", "c", actor="0xowner", stated_in="0xowner"),
        edge("a", "c", owner="0xowner", type="PART_OF"),
    )
    house.accept(node("e", title="Ada Lovelace", type="Person"))
    house.publish()
    for path in (house.current / "public").rglob("*.json"):
        if "worldmodel" in str(path):
            text = path.read_text()
            assert not [secret for secret in SECRETS if secret in text], path
    live = house.body(LIVE)
    assert [each["id"] for each in live["nodes"]] == ["a", "c", "e"]
    assert live["edges"] == [{"source": "a", "target": "c", "type": "PURSUES"}]


def test_a_node_stays_where_it_was_drawn(house):
    house.accept(*some(20), *(edge("n0000", f"n{number:04}") for number in range(1, 20)))
    house.publish()
    before = {each["id"]: (each["x"], each["y"]) for each in house.body(RENDER)["nodes"]}
    assert len(set(before.values())) == 20
    house.accept(node("new"), edge("n0000", "new"))
    house.publish()
    after = {each["id"]: (each["x"], each["y"]) for each in house.body(RENDER)["nodes"]}
    assert after.pop("new") not in after.values() and after == before


def test_views_differ_in_size_and_compact_ones_are_smaller(house):
    house.accept(*some(150))
    house.publish()
    sizes = {}
    for view in ("app-hero", "hero", "shell", "full"):
        body = house.body(f"{RENDER}/{view}")
        compact = house.body(f"{RENDER}/{view}-compact")
        assert [each["id"] for each in body["nodes"]] == [each["id"] for each in compact["nodes"]]
        assert compact["nodes"][0]["title"] is None and len(json.dumps(compact)) < len(json.dumps(body))
        sizes[view] = len(body["nodes"])
    assert sizes == {"app-hero": 48, "hero": 120, "shell": 150, "full": 150}
    assert house.body(RENDER) == house.body(f"{RENDER}/full")


def test_paths_answer_alias_redirect_variants_and_validators(house):
    house.accept(*some(3))
    house.publish()

    async def walk():
        async with house.client() as client:
            live = await client.get(LIVE)
            alias = await client.get("/api/worldmodel")
            assert alias.content == live.content and alias.headers["etag"] == live.headers["etag"]
            assert alias.headers["deprecation"].startswith("@") and "2027" in alias.headers["sunset"]
            assert alias.headers["link"].startswith('</api/worldmodel/live>; rel="successor-version", ')
            assert "deprecation" not in live.headers
            moved = await client.get("/api/worldmodel/public-projection")
            assert (moved.status_code, moved.headers["location"]) == (302, LIVE)
            for query in ("", "?view=hero", "?view=hero&compact=1", "?compact=true", "?compact=1&view=shell"):
                answer = await client.get(RENDER + query)
                assert answer.status_code == 200, query
                again = await client.get(RENDER + query, headers={"If-None-Match": answer.headers["etag"]})
                assert again.status_code == 304 and again.headers["etag"] == answer.headers["etag"]
            for query in ("?view=vast", "?compact=0", "?compact=yes", "?view=hero&view=hero", "?size=9"):
                assert (await client.get(RENDER + query)).status_code == 400, query

    asyncio.run(walk())


def test_a_persons_name_is_not_published():
    assert public_title("Person", "Ada Lovelace") == "Person"
    assert public_title("Metric", "Holders of 0xabc at 5:00") == "Holders of 0xabc at 5:00"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("<b>Ship</b> <script>alert(1)</script>it", "Ship alert(1) it"),
        ("&lt;img src=x onerror=alert(1)&gt; hi", "hi"),
        ("<<b>script>x</<b>script>", "< script>x</ script>"),
        ("<!-- hidden --> seen", "seen"),
        ("3 < 5 and 7 > 2", "3 < 5 and 7 > 2"),
        ("two\nlines \u202e here", "two lines here"),
        ("mail ada@x.example now", "mail [removed] now"),
        ("<i></i>", None),
    ],
)
def test_a_public_text_is_one_line_without_markup(text, shown):
    assert public_text(text, 300) == shown


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://a.example/x?y=1", True),
        ("http://a.example", False),
        ("javascript:alert(1)", False),
        ("https://ada:pw@a.example", False),
        ('https://a.example/"onload=', False),
        (7, False),
    ],
)
def test_only_plain_https_links_are_published(url, shown):
    assert public_url(url) == (url if shown else None)


def test_nodes_are_shown_with_what_a_page_of_the_graph_needs_and_the_newest_changes(house):
    described = {"description": "Ship <b>it</b>", "url": "https://a.example/goal"}
    house.accept(
        node(
            "p",
            type="Person",
            title="Ada Lovelace",
            properties={"description": "keep this"},
            actor="0xowner",
            source="Ada Lovelace",
            valid_from=T0,
            recorded_at=T0,
        ),
        node("mine", owner="0xowner", title="keep this"),
        node("a", title="Goal <i>one</i>", properties=described, source="asset:x"),
    )
    house.publish()
    house.accept(
        node("a", title="Goal one", properties=described, source="asset:y", recorded_at=T2),
        node("b", source="asset:y", recorded_at=T2),
        node("p", type="Person", title="Ada Lovelace", source="asset:y", valid_to=T0, recorded_at=T2),
    )
    house.publish()
    body = house.body(LIVE)
    goal = next(shown for shown in body["nodes"] if shown["id"] == "a")
    assert (goal["title"], goal["description"], goal["url"]) == ("Goal one", "Ship it", "https://a.example/goal")
    assert (goal["source"], goal["recordedAt"]) == ("asset:y", "2026-11-21T12:00:00Z")
    newest, first, persons = body["changes"]
    assert (newest["source"], newest["added"], newest["changed"], newest["ended"]) == ("asset:y", 1, 1, 1)
    assert newest["titles"] == ["Goal one", "b", "Person"]
    assert [(each["source"], each["added"]) for each in (first, persons)] == [("asset:x", 1), (None, 1)]


def test_the_past_can_be_queried_over_http(tmp_path):
    house = GraphHouse(tmp_path)
    house.accept(
        node("old", title="nine", valid_from=T0, recorded_at=T1),
        node("old", title="nine", valid_from=T0, valid_to=T2, recorded_at=T2),
        node("new", title="ten", valid_from=T2, recorded_at=T2),
        edge("new", "old"),
    )
    house.publish()
    house.accept(node("later", title="eleven", valid_from=T2, recorded_at=T2))
    with serving(house.settings) as service:
        headers = bearer(service.key())

        def seen(**asked):
            queried, live = service.ask(
                ("POST", "/api/v2/world-model/query", headers, {"json": asked}),
                ("GET", "/api/v2/world-model/live", headers, {"params": asked}),
            )
            ids = [[each["id"] for each in answer.json()["data"]["nodes"]] for answer in (queried, live)]
            assert ids[0] == ids[1] and live.json()["data"]["nodeCount"] == len(ids[1])
            return ids[0]

        assert seen() == ["later", "new"]
        assert seen(asOf=T1) == ["old"]
        assert seen(asOf="2026-11-21T13:30:00+01:00") == ["later", "new"]
        assert seen(atRevision=1) == ["old"]
        assert seen(asOf=T2, atRevision=3) == ["new"]
        assert seen(atRevision=0) == []
    house.ledger.close()
