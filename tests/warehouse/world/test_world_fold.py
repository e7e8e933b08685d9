"""Events become bi-temporal rows, page by page, the same whenever they are folded; telemetry writes only changes."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from world_writes import ADA, BOB, fact, goal, no_rules, proposal, tie

import warehouse.world.fold as folding
from contracts.settings import Settings
from contracts.world.identity import own_id
from contracts.world.portable import EdgeRecord, EndRecord, Header, NodeRecord, line_of
from contracts.world.proposal import Actor
from warehouse.duck.connection import Connection, Warehouse
from warehouse.duck.facts import gather_facts
from warehouse.ledger.ledger import Ledger, open_ledger
from warehouse.world import import_writing
from warehouse.world.events import head_revision, public_counts
from warehouse.world.fold import WorldState, fold_events, read_world_state
from warehouse.world.forget import forget_nodes, forget_owner
from warehouse.world.importing import import_graph
from warehouse.world.load import load_constitution
from warehouse.world.track import track
from warehouse.world.write import approve, propose

STATES = "select * from {} order by id, revision"
TABLES = ("core_world__nodes", "core_world__edges", "out_world__nodes", "out_world__edges", "out_world__counts")


@pytest.fixture
def stores(tmp_path: Path) -> Iterator[tuple[Ledger, Connection]]:
    ledger = open_ledger(Settings(_env_file=None), tmp_path)
    with Warehouse(tmp_path).connect() as connection:
        yield ledger, connection
    ledger.close()


def write(ledger: Ledger, *drafts: object, **fields: object) -> None:
    decision = propose(ledger, proposal(*drafts, **fields), alignment=no_rules)
    if decision.verdict == "escalated":
        decision = approve(ledger, decision.seq, "eve", alignment=no_rules)
    assert decision.verdict == "approved", decision.stages


def test_each_state_is_a_row_that_says_when_it_held_and_when_it_was_known(stores: tuple[Ledger, Connection]) -> None:
    ledger, connection = stores
    write(ledger, fact("a", "open"))
    write(ledger, fact("b", "shut"))
    assert fold_events(connection, ledger) == WorldState(6, 4)
    rows = connection.execute(
        "select id, revision, retired_revision, valid_to is null, live, retired_at is null from core_world__nodes "
        "order by revision"
    ).fetchall()
    assert rows == [
        ("a", 2, 4, True, True, False),
        ("a", 4, None, False, False, True),
        ("b", 5, None, True, True, True),
    ]
    (ended,) = connection.execute("select valid_to from core_world__nodes where revision = 4").fetchall()
    (began,) = connection.execute("select valid_from from core_world__nodes where id = 'b'").fetchall()
    assert ended == began


@pytest.mark.parametrize(("page", "read_at_once"), [(1, 10_000), (3, 2), (20_000, 10_000), (20_000, 3)])
def test_pages_and_repeats_give_the_same_rows(
    stores: tuple[Ledger, Connection], page: int, read_at_once: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    ledger, connection = stores
    write(ledger, goal("g", visibility="public"), goal("t", type="Task", visibility="public"))
    for number in range(4):
        write(ledger, fact(f"f{number}", number), tie(f"f{number}", "TRACKS", "g"))
    write(ledger, goal("his"), tie("his", "RELATED_TO", "g"), actor=BOB)
    forget_owner(ledger, "local:bob", "eve")
    with Warehouse(tmp_path / "whole").connect() as other:
        fold_events(other, ledger)
        expected = [other.execute(STATES.format(table)).fetchall() for table in TABLES[:4]]
    monkeypatch.setattr(folding, "EVENTS_AT_ONCE", page)
    monkeypatch.setattr(folding, "_READ_AT_ONCE", read_at_once)
    fold_events(connection, ledger)
    fold_events(connection, ledger)
    assert [connection.execute(STATES.format(table)).fetchall() for table in TABLES[:4]] == expected
    with ledger.read() as reader:
        assert read_world_state(connection).revision == head_revision(reader)
    facts = gather_facts(connection, "core_world__nodes")
    assert set(facts.values()) == {0}


@pytest.mark.parametrize("page", [1, 4, 20_000])
def test_later_states_of_imported_entities_in_segments_retire_the_first_ones(
    stores: tuple[Ledger, Connection], page: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger, connection = stores
    monkeypatch.setattr(import_writing, "STATES_WORTH_A_SEGMENT", 2)
    monkeypatch.setattr(folding, "EVENTS_AT_ONCE", page)
    names = [f"goal:{number}" for number in range(6)]

    def imported(title: str) -> None:
        nodes = [NodeRecord(id=name, type="Goal", title=f"{title} {name}", source="s") for name in names]
        ties = [
            EdgeRecord(source=source, target=target, type="INFORMED_BY", properties={"note": title}, stated_in="s")
            for source, target in pairwise(names)
        ]
        lines = [line_of(record) for record in (Header(), *nodes, *ties, EndRecord(lines=12))]
        actor = Actor("operator", "operator:eve", on_behalf_of=ADA.name)
        assert import_graph(ledger, lambda: lines, actor, alignment=no_rules).written == 11

    imported("First")
    if page < 20_000:
        fold_events(connection, ledger)
    imported("Second")
    fold_events(connection, ledger)
    for kind, entities in (("nodes", 6), ("edges", 5)):
        states = connection.execute(
            f"select id, revision, retired_revision, newest from core_world__{kind} join out_world__{kind} "
            "using (id, revision) order by id, revision"
        ).fetchall()
        assert len(states) == 2 * entities
        for first, second in zip(states[::2], states[1::2], strict=True):
            assert (first[0], *first[2:]) == (second[0], second[1], False)
            assert second[2:] == (None, True)
    with ledger.transaction() as tx:
        forget_nodes(tx, [own_id(ADA.name, "goal:3")], "eve")
    fold_events(connection, ledger)
    titles = {title for (title,) in connection.execute("select title from core_world__nodes").fetchall()}
    assert titles == {"", *(f"{title} {name}" for title in ("First", "Second") for name in names if name != "goal:3")}
    assert set(gather_facts(connection, "core_world__nodes").values()) == {0}


@pytest.mark.parametrize("kind", ["nodes", "edges"])
def test_each_row_has_the_record_of_its_own_state(stores: tuple[Ledger, Connection], kind: str) -> None:
    ledger, connection = stores
    for number in range(4):
        write(ledger, goal(f"g{number}"), goal(f"h{number}"), tie(f"g{number}", "RELATED_TO", f"h{number}"))
    fold_events(connection, ledger)
    rows = connection.execute(
        f"select id, revision, body->>'$.id', (body->>'$.revision')::bigint from out_world__{kind}"
    ).fetchall()
    assert len(rows) == (8 if kind == "nodes" else 4)
    assert [row[:2] for row in rows] == [row[2:] for row in rows]


def test_a_ledger_that_is_older_than_the_warehouse_is_folded_from_its_beginning(
    stores: tuple[Ledger, Connection], tmp_path: Path
) -> None:
    _, connection = stores
    older = open_ledger(Settings(_env_file=None), tmp_path / "older")
    write(older, goal("kept"), goal("changed"))
    fold_events(connection, older)
    expected = [connection.execute(STATES.format(table)).fetchall() for table in TABLES[:4]]
    copy = tmp_path / "copy.db"
    with sqlite3.connect(tmp_path / "older" / "ledger.db") as source, sqlite3.connect(copy) as target:
        source.backup(target)
    write(older, goal("changed", title="Another title"), goal("lost"))
    fold_events(connection, older)
    older.close()
    (tmp_path / "restored").mkdir()
    copy.rename(tmp_path / "restored" / "ledger.db")
    restored = open_ledger(Settings(_env_file=None), tmp_path / "restored")
    fold_events(connection, restored)
    restored.close()
    assert [connection.execute(STATES.format(table)).fetchall() for table in TABLES[:4]] == expected


def test_forgotten_entities_are_blanked_in_rows_that_were_folded_before(stores: tuple[Ledger, Connection]) -> None:
    ledger, connection = stores
    write(ledger, goal("hers", title="Ada's secret", properties={"description": "Ada's"}))
    write(ledger, goal("h2", title="Ada's"), tie("h2", "RELATED_TO", "hers", properties={"note": "Ada's"}))
    write(ledger, goal("shown", title="Ada's"))
    write(ledger, goal("shown", title="Shown", visibility="public"))
    fold_events(connection, ledger)
    forget_owner(ledger, ADA.name, "eve")
    fold_events(connection, ledger)
    public = connection.execute("select title from core_world__nodes where live and visibility = 'public'").fetchall()
    assert public == [("Shown",)]
    for table in TABLES:
        text = str(connection.execute(f"from {table}").fetchall())
        assert "Ada" not in text and "local:ada" not in text, table
    assert set(gather_facts(connection, "core_world__nodes").values()) == {0}


def test_a_forgotten_public_node_breaks_no_data_contract(stores: tuple[Ledger, Connection]) -> None:
    ledger, connection = stores
    write(ledger, goal("a", visibility="public"), goal("b", visibility="public"))
    write(ledger, tie("a", "RELATED_TO", "b", visibility="public"))
    fold_events(connection, ledger)
    with ledger.transaction() as tx:
        forget_nodes(tx, ["a"], "eve")
    fold_events(connection, ledger)
    assert set(gather_facts(connection, "core_world__nodes").values()) == {0}


def test_counts_of_ledger_and_tables_agree_and_leave_out_private_and_ended_nodes(
    stores: tuple[Ledger, Connection],
) -> None:
    ledger, connection = stores
    load_constitution(ledger, alignment=no_rules)
    write(ledger, goal("mine"), tie("mine", "RELATED_TO", "vision:ground"))
    write(ledger, fact("a", "open", visibility="public"), tie("a", "TRACKS", "vision:ground", visibility="public"))
    write(ledger, fact("b", "shut", visibility="public"), tie("b", "TRACKS", "vision:ground", visibility="public"))
    fold_events(connection, ledger)
    rows = connection.execute("select domain, node_count, edge_count, revision from out_world__counts").fetchall()
    with ledger.read() as reader:
        nodes, edges = public_counts(reader)
        assert {row[3] for row in rows} == {head_revision(reader)}
    assert {domain: count for domain, count, _, _ in rows} == nodes
    assert sum(count for _, _, count, _ in rows) == edges
    assert nodes["TRACK"] == 18, "the shut door and the constitution's seventeen"
    connection.execute("update core_world__nodes set retired_revision = null where id = 'a'")
    assert gather_facts(connection, "core_world__nodes")["nodes_without_one_newest_state"] == 1


def test_telemetry_writes_what_is_new_and_a_quiet_day_writes_nothing(
    stores: tuple[Ledger, Connection], tmp_path: Path
) -> None:
    ledger, connection = stores
    load_constitution(ledger, alignment=no_rules)

    def said() -> list[tuple[str, str, object]]:
        tracked = track(connection, ledger, tmp_path, alignment=no_rules)
        assert {decision.verdict for decision in tracked.decisions} <= {"approved"}
        new = [node for decision in tracked.decisions for node in decision.nodes if node.valid_to is None]
        return sorted((node.type, node.title, node.properties.get("value")) for node in new)

    def take_list(block: int, holders: int, verdict: str, at: str) -> None:
        connection.execute(
            "insert into out_holders__lists values (?, 'h', ?, 'finalized', ?, true, ?, '100', '0', 's', 1, 'exact', "
            "?, ?)",
            [block, at, at, holders, f'{{"verdict": "{verdict}"}}', '{"top10Share": 0.5}'],
        )

    assert said() == []
    connection.execute(
        "insert into out_holders__status values (1, '0xab', 'N', 'TOK', 18, 1, 1, 100.0, '2026-11-01 00:00:00')"
    )
    take_list(0, 0, "unproven", "2026-11-01 10:00:00")
    assert [title for _, title, _ in said()] == ["History read of TOK in percent"], "there may be no token"
    take_list(1, 990, "proven", "2026-11-01 10:10:00")
    assert [title for _, title, _ in said()] == [
        "Holders of TOK",
        "Proof of the newest holder list of TOK",
        "Share of the ten largest holders of TOK",
    ]
    head = ledger.head()
    assert said() == []
    take_list(2, 990, "proven", "2026-11-02 10:10:00")
    assert said() == [], "a day on which nothing changed"
    assert ledger.head() == head, "not even a decision"
    take_list(3, 1001, "failed", "2026-11-02 10:20:00")
    assert said() == [
        ("Alert", "The holder list at block 3 is not proven", None),
        ("Metric", "Holders of TOK", 1001),
        ("Metric", "Proof of the newest holder list of TOK", "failed"),
        ("Observation", "Holders of TOK passed 1,000", 1001),
    ]
    assert said() == []
    connection.execute(
        "insert into out_market__token_price (token_address, quality, stale, fetched_at, change_check, sources) "
        "values ('0xab', 'unavailable', true, '2026-11-02 11:00:00', '{}', '[]')"
    )
    assert said() == [("Alert", "No source gives a price of the token now", None)]
    assert said() == []


def test_the_contracts_balance_the_price_of_eth_and_a_crossed_trigger_are_reported_once(
    stores: tuple[Ledger, Connection], tmp_path: Path
) -> None:
    ledger, connection = stores
    load_constitution(ledger, alignment=no_rules)
    connection.execute(
        "insert into out_bidwall__status "
        "(chain_id, contract_address, balance_wei, block, block_time, is_final, recorded_at) values "
        "(1, '0xcc', '7060000000000000000', 5, '2026-11-02 11:00:00', true, '2026-11-02 11:00:00')"
    )
    connection.execute(
        "insert into out_market__eth_price (source, quality, stale, observed_at, price, sources) "
        "values ('chainlink', 'exact', false, '2026-11-02 11:00:00', '3412.5', '[]')"
    )
    connection.execute(
        "insert into core_feed__events values ('threshold:5:reached', 'threshold_crossed', '2026-11-02 11:00:00', 5, "
        "'The balance reached its trigger', '', '/', '{}', '2026-11-02 11:00:00')"
    )
    decisions = track(connection, ledger, tmp_path, alignment=no_rules).decisions
    assert {decision.verdict for decision in decisions} == {"approved"}
    assert [(node.type, node.title, node.properties.get("value")) for d in decisions for node in d.nodes] == [
        ("Metric", "Balance of the watched contract in ETH", 7.06),
        ("Metric", "Price of ETH in USD", 3412.5),
        ("Alert", "The balance reached its trigger", None),
    ]
    assert track(connection, ledger, tmp_path, alignment=no_rules).decisions == ()


def test_large_movers_between_snapshots_are_observed_once(stores: tuple[Ledger, Connection], tmp_path: Path) -> None:
    from contracts.token.holders import list_file_name

    ledger, connection = stores
    load_constitution(ledger, alignment=no_rules)
    for block, rows in ((1, [("0xaa", "60"), ("0xbb", "40")]), (2, [("0xaa", "30"), ("0xbb", "40"), ("0xcc", "30")])):
        values = ", ".join(f"('{address}', '{balance}')" for address, balance in rows)
        file = tmp_path / list_file_name(block)
        connection.execute(
            f"copy (select * from (values {values}) as t(address, balance_raw)) to '{file}' (format parquet)"
        )
        connection.execute(
            "insert into out_holders__lists values (?, 'h', '2026-11-01', 'finalized', '2026-11-01', true, 3, '100', "
            "'0', 's', 1, 'exact', '{}', '{}')",
            [block],
        )
    tracked = track(connection, ledger, tmp_path, alignment=no_rules)
    assert [(d.verdict, d.nodes[0].title) for d in tracked.decisions] == [
        ("approved", "0xaa gave up 30.00% of the supply"),
        ("approved", "0xcc gained 30.00% of the supply"),
    ]
    assert track(connection, ledger, tmp_path, alignment=no_rules).decisions == ()
