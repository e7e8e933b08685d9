"""A ledger of every earlier revision, filled, is migrated to the newest with all its rows, on both engines."""

from __future__ import annotations

import importlib.util
import json
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from access_sales import redeem, sell
from alembic import command
from alembic.config import Config
from rounds import chosen
from sqlalchemy import Connection, Engine, inspect
from world_writes import fact, no_rules, proposal

from contracts.settings import Settings
from contracts.world.identity import own_id
from contracts.world.records import is_live
from warehouse.access.cases import cases_in
from warehouse.access.claims import claim_of_request, payments_not_final
from warehouse.ledger.engine import WRITES, ledger_location, postgresql_engine, sqlite_engine
from warehouse.ledger.ledger import open_ledger
from warehouse.ledger.schema import MIGRATIONS, revisions
from warehouse.world.audit import verify
from warehouse.world.due import next_due, settle_due
from warehouse.world.events import current_edge, current_node, decode_edges
from warehouse.world.write import propose

AT = "2026-01-02T12:00:00.000000Z"

FILLED: dict[str, tuple[str, ...]] = {
    "0001": (
        f"insert into ledger_identity values (1, 8453, '0xaa', '0xbb', '{AT}')",
        f"insert into ledger_changes values (1, 'key', 'k1', '{AT}')",
        "update ledger_head set seq = 1",
    ),
    "0002": (
        "insert into api_keys values ('k1', 'k1', 'd1', 1, 'svc_free_…abcd', 'free', 'local:a', null, 'active', null, "
        f"null, '{AT}', '{AT}', null)",
        f"insert into api_key_uses values ('k1', '2026-01-02', 7, '{AT}')",
    ),
    "0003": (
        f"insert into world_events values (2, 'node', 'goal:a', 1, 'a', 's', '{AT}', '{{}}')",
        "insert into world_nodes values ('goal:a', '', 'public', 'VISION', 1, 'd', null, 2, '{}')",
        f"insert into world_decisions values (1, 1, '{AT}', 'approved', 'c', 'l')",
        "insert into world_requests values ('s', 'k', 'h', 1)",
    ),
    "0004": (
        "insert into access_quotes values ('q1', 'p', 'a', 'a', 5, '2026', '2026', '2026', null, null, '{}', '{}', "
        "'h', 'r', '{}', 'claimed')",
        "insert into access_claims values ('c1', 'r1', 'q1', 'a', 'free', 8453, '0x1', 0, 5, 9, '0x2', 'issued', "
        f"'{AT}', '{AT}', null, null, null, null)",
        "insert into access_receipts values ('r1', 'c1', '{}', 'h', '{}')",
    ),
    "0005": (
        f"insert into intakes values ('i1', 'g1', 'agent', 'p', 'api', '{AT}', '{AT}', 'v1', 'provisioned', "
        f"'pending_review', 'not_started', '{AT}', '{{}}', 'a1', 'h', 0, null, null, null, null, null, null)",
        "insert into intake_contacts values ('i1', '{}')",
        f"insert into intake_steps values ('i1', 1, 'received', '{AT}', 'service')",
    ),
    "0006": (f"insert into connect_pairings values ('pair_1', 'd', 'svc-pair', '{AT}', '{AT}', null)",),
    "0007": (f"insert into connect_pairings values ('pair_2', 'd2', 'svc-pair', '{AT}', '{AT}', null)",),
    "0008": (
        "insert into api_keys values ('k8', 'k8', 'd8', 1, 'h', 'free', 'local:a', null, 'active', null, null, "
        f"'{AT}', '{AT}', null)",
    ),
    "0009": (f"insert into guardrail_approvals values ('0123456789abcdef', 'd', 'local:a', '{AT}', '{AT}')",),
    "0010": (f"insert into guardrail_approvals values ('fedcba9876543210', 'd', 'local:a', '{AT}', '{AT}')",),
    "0012": (
        f"insert into world_events values (11, 'node', 'mood:a', 1, 'a', 's', '{AT}', '{{}}')",
        "insert into world_nodes (id, owner, visibility, domain, live, dedupe_key, fact_key, revision, body) values "
        "('goal:b', 'local:a', 'private', 'TRACK', 1, 'd', 'k', 11, '{}')",
    ),
    "0013": (f"insert into guardrail_approvals values ('00000000fedcba98', 'd', 'local:a', '{AT}', '{AT}')",),
    "0014": (f"insert into guardrail_approvals values ('0000000000001414', 'd', 'local:a', '{AT}', '{AT}')",),
    "0015": (f"insert into api_key_uses values ('k1', '2026-01-03', 3, '{AT}')",),
    "0016": (f"insert into guardrail_approvals values ('1111223344556677', 'd', 'local:a', '{AT}', '{AT}')",),
    "0017": (f"insert into world_events values (17, 'edge', 'edge:a', 1, 'a', 's', '{AT}', '{{}}')",),
    "0018": (f"insert into world_events values (18, 'edge', 'edge:b', 1, 'a', 's', '{AT}', '{{}}')",),
    "0019": (f"insert into world_events values (19, 'edge', 'edge:c', 1, 'a', 's', '{AT}', '{{}}', 0)",),
    "0020": (f"insert into world_events values (20, 'edge', 'edge:d', 1, 'a', 's', '{AT}', '{{}}', 0)",),
    "0021": (f"insert into world_events values (21, 'edge', 'edge:e', 1, 'a', 's', '{AT}', '{{}}', 0)",),
    "0022": ("update access_claims set idempotency_digest = 'd', request_digest = 'r' where claim_id = 'c1'",),
    "0011": (f"insert into guardrail_approvals values ('0011223344556677', 'd', 'local:a', '{AT}', '{AT}')",),
}
"""Rows that fit each revision's own tables."""

EARLIER = revisions()[:-1]


@pytest.fixture
def engine(unopened_settings: Settings) -> Iterator[Engine]:
    location = ledger_location(unopened_settings.ledger_url, unopened_settings.data_dir)
    made = sqlite_engine(location, 10) if isinstance(location, Path) else postgresql_engine(location, 10)
    yield made.execution_options(**{WRITES: True})
    made.dispose()


def make_old(engine: Engine, revision: str) -> dict[str, list[tuple[Any, ...]]]:
    """Fills a ledger as a version left it that knew no later revision; returns its rows by table, which every step
    preserves."""
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    with engine.begin() as connection:
        config.attributes["connection"] = connection
        for known in sorted(filled for filled in FILLED if filled <= revision):
            before = rows(connection)
            command.upgrade(config, known)
            assert_kept(before, rows(connection))
            for statement in FILLED[known]:
                connection.exec_driver_sql(statement)
        return rows(connection)


@contextmanager
def old_ledger(engine: Engine, revision: str) -> Iterator[Connection]:
    """Yields a ledger that began before there was a graph, migrated to a later revision."""
    make_old(engine, "0002")
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    with engine.begin() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, revision)
        yield connection


def rows(connection: Connection) -> dict[str, list[tuple[Any, ...]]]:
    unprepared = uuid.uuid4()  # PostgreSQL refuses a prepared statement on a table that has gained a column
    tables = {
        statement.split()[2] for statements in FILLED.values() for statement in statements if "insert" in statement
    }
    return {
        table: sorted(tuple(row) for row in connection.exec_driver_sql(f"select * from {table} -- {unprepared}"))
        for table in sorted(tables & set(_tables(connection)))
    }


def assert_kept(before: dict[str, list[tuple[Any, ...]]], after: dict[str, list[tuple[Any, ...]]]) -> None:
    """Compares rows without the columns that their table has gained since, which come last."""
    for table, then in before.items():
        assert [new[: len(old)] for new, old in zip(after[table], then, strict=True)] == then, table


def _tables(connection: Connection) -> list[str]:
    return inspect(connection).get_table_names()


@pytest.mark.parametrize("revision", chosen(EARLIER[::-1]))
def test_a_filled_ledger_of_every_earlier_revision_keeps_its_rows(
    engine: Engine, unopened_settings: Settings, revision: str
) -> None:
    before = make_old(engine, revision)
    assert before, "a revision that nothing is filled in for proves nothing"
    ledger = open_ledger(unopened_settings, unopened_settings.data_dir)
    with engine.begin() as connection:
        assert_kept(before, rows(connection))
        held = connection.exec_driver_sql("select version_num from alembic_version").scalar_one()
    assert held == revisions()[-1]
    issued = redeem(ledger, sell(ledger, now=datetime.now(UTC)))
    assert ledger.head() > 1
    assert [change.seq for change in ledger.changes_after(0, 100)] == list(range(1, ledger.head() + 1))
    assert issued.key_id
    ledger.close()


def old_money(payment_id: str, sender: str, amount: str, state: str, refund: str) -> str:
    """Returns a payment that matched nothing, filed under the quote q1 of the payer a, as revision 0004 stored it."""
    return (
        f"insert into access_unmatched_payments values ('{payment_id}', 8453, '0x{payment_id}', 0, 'u', '{sender}', "
        f"'t', '{amount}', 7, '0x2', 1, 'amount_mismatch', 'q1', '{state}', {refund}, '{AT}', '{AT}')"
    )


def test_unmatched_payments_become_cases_and_one_under_a_strangers_quote_is_filed_under_no_quote(
    engine: Engine, unopened_settings: Settings
) -> None:
    """FINDINGS A4: money that was filed in this way is no longer issued to that stranger."""
    make_old(engine, "0006")
    too_large = str(2**256 - 1)
    with engine.begin() as connection:
        for row in (
            ("pay_1", "a", "7", "open", "null"),
            ("pay_2", "b", too_large, "open", "null"),
            ("pay_3", "a", "9", "refunded", "'0xff'"),
        ):
            connection.exec_driver_sql(old_money(*row))
    ledger = open_ledger(unopened_settings, unopened_settings.data_dir)
    with ledger.read() as reader:
        cases = {case.case_id: case for case in cases_in(reader, "open", "refunded")}
        (payment,) = payments_not_final(reader)
    assert {name: (case.quote_id, case.state, case.transfer.amount) for name, case in cases.items()} == {
        "pay_1": ("q1", "open", 7),
        "pay_2": (None, "open", 2**256 - 1),
        "pay_3": ("q1", "refunded", 9),
    }
    assert (cases["pay_3"].refund_amount, cases["pay_3"].refund_transaction_hash) == (9, "0xff")
    assert (payment.claim_id, payment.quote_id, payment.transaction_hash, payment.amount) == ("c1", "q1", "0x1", 5)
    ledger.close()


def test_a_claim_from_before_keys_were_scoped_to_quotes_is_found_by_its_quote_and_key(
    engine: Engine, unopened_settings: Settings
) -> None:
    make_old(engine, "0022")
    ledger = open_ledger(unopened_settings, unopened_settings.data_dir)
    with ledger.read() as reader:
        known = claim_of_request(reader, "q1", "d")
        assert known is not None
        assert (known[0].claim_id, known[1]) == ("c1", "r")
        assert (claim_of_request(reader, "q1", "e"), claim_of_request(reader, "q2", "d")) == (None, None)
    ledger.close()


def old_fact(node_id: str, subject: str, seq: int, **changes: object) -> tuple[str, str]:
    """Returns the event and the state of a private fact as revision 0009 stored them."""
    body = {
        "id": node_id, "title": "The door", "type": "Observation", "domain": "TRACK",
        "properties": {"subject": subject, "predicate": "state", "value": "open"}, "visibility": "private",
        "owner": "local:ada", "immutable": False, "validFrom": AT, "validTo": None, "recordedAt": AT,
        "source": "a sensor", "actor": "local:ada", "revision": seq, "erased": False, **changes,
    }  # fmt: skip
    text = json.dumps(body).replace(": ", ":").replace(", ", ",")
    return (
        f"insert into world_events values ({seq}, 'node', '{node_id}', 1, 'local:ada', 'a sensor', '{AT}', '{text}')",
        f"insert into world_nodes values ('{node_id}', 'local:ada', 'private', 'TRACK', 1, 'd', 'k', {seq}, '{text}')",
    )


def test_facts_from_before_the_rule_of_standing_hold_on_and_are_found_by_their_folded_subject(
    engine: Engine, unopened_settings: Settings
) -> None:
    with old_ledger(engine, "0009") as connection:
        for statement in (
            *old_fact("door", "Front Door", 2),
            *old_fact("gate", "gate", 3, validTo="2026-01-03T00:00:00.000000Z"),
        ):
            connection.exec_driver_sql(statement)
        connection.exec_driver_sql("update ledger_head set seq = 3")
    ledger = open_ledger(unopened_settings, unopened_settings.data_dir)
    with ledger.read() as reader:
        known = current_node(reader, "door")
        assert known is not None and (known.source_class, known.ended_by, known.disputed) == ("inference", None, False)
        assert next_due(reader) == "2026-01-03T00:00:00.000000Z"
    newer = fact("newer", "shut", properties={"subject": "FRONT door", "predicate": "state", "value": "shut"})
    decision = propose(ledger, proposal(newer, source="another sensor"), alignment=no_rules)
    assert [(node.id, node.ended_by) for node in decision.nodes] == [("door", "newer"), ("newer", None)]
    assert settle_due(ledger) == 1
    with ledger.read() as reader:
        over = current_node(reader, "gate")
        assert over is not None and not is_live(over)
        assert not [fault for fault in verify(reader).faults if "differs from its newest event" in fault]
    ledger.close()


def old_edge(edge_id: str, source: str, target: str, seq: int) -> tuple[str, ...]:
    """Returns the event and the state of a private edge as revision 0017 stored them."""
    body = {
        "id": edge_id, "source": source, "target": target, "type": "INFORMED_BY", "properties": {},
        "visibility": "private", "owner": "local:ada", "validFrom": AT, "validTo": None, "recordedAt": AT,
        "statedIn": "a file", "actor": "local:ada", "revision": seq,
    }  # fmt: skip
    text = json.dumps(body)
    return (
        f"insert into world_events values ({seq}, 'edge', '{edge_id}', 1, 'local:ada', 'a file', '{AT}', '{text}')",
        "insert into world_edges (id, source, target, type, owner, visibility, live, revision, body) values "
        f"('{edge_id}', '{source}', '{target}', 'INFORMED_BY', 'local:ada', 'private', 1, {seq}, '{text}')",
    )


def test_edges_from_before_their_states_were_kept_once_are_found_by_their_ids_and_ends(
    engine: Engine, unopened_settings: Settings
) -> None:
    with old_ledger(engine, "0017") as connection:
        for statement in (*old_edge("edge:1", "a", "b", 5), *old_edge("edge:2", "c", "a", 4)):
            connection.exec_driver_sql(statement)
        connection.exec_driver_sql("update ledger_head set seq = 5")
    ledger = open_ledger(unopened_settings, unopened_settings.data_dir)
    with ledger.read() as reader:
        known = current_edge(reader, "edge:1")
        assert known is not None and (known.source, known.target, known.revision) == ("a", "b", 5)
        assert [edge.id for edge in decode_edges(reader.rows("world_edges_at", node_id="a"))] == ["edge:1", "edge:2"]
        assert reader.row("world_newest_of", owner="local:ada") == {"revision": 5}
        assert not [fault for fault in verify(reader).faults if "differs from its newest event" in fault]
    ledger.close()


def test_the_last_event_of_a_batch_and_edges_from_nodes_of_others_leave_their_segment(
    engine: Engine, unopened_settings: Settings
) -> None:
    own = own_id("local:ada", "goal:a")
    with old_ledger(engine, "0019") as connection:
        connection.exec_driver_sql("insert into world_segments values (7)")
        for seq, source in ((8, own), (9, "goal:b"), (10, own)):
            connection.exec_driver_sql(
                f"insert into world_events values ({seq}, 'edge', 'edge:{seq}', 7, 'a', 's', '{AT}', '{{}}', 7)"
            )
            connection.exec_driver_sql(
                "insert into world_edges (id, source, target, type, owner, visibility, live, revision, segment) values "
                f"('edge:{seq}', '{source}', 't', 'INFORMED_BY', 'local:ada', 'private', 1, {seq}, 7)"
            )
    open_ledger(unopened_settings, unopened_settings.data_dir).close()
    with engine.begin() as connection:
        events = connection.exec_driver_sql("select seq, segment from world_events where seq > 7 order by seq").all()
        assert [tuple(row) for row in events] == [(8, 7), (9, 7), (10, 0)]
        edges = connection.exec_driver_sql("select id, segment from world_edges where revision > 7 order by revision")
        assert [tuple(row) for row in edges] == [("edge:8", 7), ("edge:9", 0), ("edge:10", 7)]


def test_every_revision_but_the_newest_is_filled_here() -> None:
    assert set(EARLIER) <= set(FILLED)


def test_revisions_follow_one_another_without_a_fork() -> None:
    found = []
    for file in sorted((MIGRATIONS / "versions").glob("[0-9]*.py")):
        spec = importlib.util.spec_from_file_location(file.stem, file)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        found.append((module.down_revision, module.revision))
    known = [revision for _, revision in found]
    assert found == list(zip([None, *known], known, strict=False))
