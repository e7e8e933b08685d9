"""Keys of operators that never signed become their payers', on both engines: rows of revision 0006 in, rows out.

| operator | keys that stood for it | what becomes of its private graph |
|---|---|---|
| BOSS | two of PAYER | PAYER's: nobody else can have written it |
| SHARED | one of PAYER, one of OTHER | stays: nobody can say whose it is |
| VICTIM | its own, and one of THIEF | stays |
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from alembic import command
from alembic.config import Config
from installation import Installation
from postgres_fixtures import ENGINES
from rounds import ROUNDS
from sqlalchemy import Connection, Engine, text
from world_writes import no_rules

from contracts.canonical import canonical_sha256
from contracts.settings import Settings
from contracts.world.audit import FIRST_LINK, ChainedDecision, commitment, event_sha256, payload_text
from contracts.world.identity import dedupe_key, fact_key
from contracts.world.ontology import load_ontology
from contracts.world.proposal import Actor, NodeDraft, Proposal
from warehouse.access.claims import find_claim
from warehouse.access.keys import find_key
from warehouse.access.owners import give_to_operator, moved_keys
from warehouse.ledger.engine import WRITES, ledger_location, postgresql_engine, sqlite_engine
from warehouse.ledger.ledger import Ledger, open_ledger
from warehouse.ledger.schema import MIGRATIONS
from warehouse.world.audit import verify
from warehouse.world.events import current_edge, current_node
from warehouse.world.write import propose

AT = "2026-01-02T12:00:00.000000Z"
PAYER, OTHER, THIEF, ALONE = ("0x" + digits * 20 for digits in ("a1", "a2", "a3", "a4"))
BOSS, SHARED, VICTIM = ("0x" + digits * 20 for digits in ("b1", "b2", "b3"))

SOLD = [
    # key, payer, the owner that the quote named
    ("boss-1", PAYER, BOSS),
    ("boss-2", PAYER, BOSS),
    ("shared-1", PAYER, SHARED),
    ("shared-2", OTHER, SHARED),
    ("victim", VICTIM, VICTIM),
    ("thief", THIEF, VICTIM),
    ("alone", ALONE, ALONE),
]

NODES = [
    # id, owner, properties
    ("plan", BOSS, {}),
    ("step", BOSS, {}),
    ("door", BOSS, {"subject": "door", "predicate": "state", "value": "open"}),
    ("common", SHARED, {}),
    ("secret", VICTIM, {}),
    ("own", ALONE, {}),
    ("public", None, {}),
]
EDGE = ("edge:1", BOSS, "step", "public")


@pytest.fixture
def engine(unopened_settings: Settings) -> Iterator[Engine]:
    location = ledger_location(unopened_settings.ledger_url, unopened_settings.data_dir)
    made = sqlite_engine(location, 10) if isinstance(location, Path) else postgresql_engine(location, 10)
    yield made.execution_options(**{WRITES: True})
    made.dispose()


@pytest.fixture
def ledger(engine: Engine, unopened_settings: Settings) -> Iterator[Ledger]:
    """A ledger of revision 0006 with the rows above, opened by this version."""
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    with engine.begin() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, "0006")
        for number, sale in enumerate(SOLD):
            _sell(connection, number, *sale)
        _write_graph(connection)
    opened = open_ledger(unopened_settings, unopened_settings.data_dir)
    yield opened
    opened.close()


def _insert(connection: Connection, table: str, **row: Any) -> None:
    names, places = ", ".join(row), ", ".join(f":{name}" for name in row)
    connection.execute(text(f"insert into {table} ({names}) values ({places})"), row)


def _sell(connection: Connection, number: int, key: str, payer: str, operator: str) -> None:
    quote, claim = f"quote-{key}", f"claim-{key}"
    stated = {"payer": payer, "owner": operator}
    _insert(
        connection, "access_quotes", quote_id=quote, plan_id="api_basic_monthly", payer=payer, owner=operator,
        amount=9_000_000 + number, issued_at=AT, expires_at=AT, amount_held_until=AT, quote_json=json.dumps(stated),
        requirement_json="{}", quote_hash=canonical_sha256(stated), requirement_hash="r", signature_json="{}",
        state="claimed",
    )  # fmt: skip
    _insert(
        connection, "access_claims", claim_id=claim, receipt_id=f"rcpt-{key}", quote_id=quote, payer=payer,
        tier="basic", chain_id=8453, transaction_hash=f"0x{number}", log_position=0, amount=9_000_000 + number,
        block_number=1, block_hash="0x2", state="issued", issued_at=AT, changed_at=AT,
    )  # fmt: skip
    _insert(
        connection, "access_receipts", receipt_id=f"rcpt-{key}", claim_id=claim, receipt_hash="h", signature_json="{}",
        body_json=json.dumps({"claim": {"owner": operator}}),
    )  # fmt: skip
    _insert(
        connection, "api_keys", key_id=f"key-{key}", family_id=f"key-{key}", digest=key, pepper_version=1,
        hint="svc_basic_…abcd", tier="basic", owner=operator, claim_id=claim, state="active", created_at=AT,
        changed_at=AT,
    )  # fmt: skip


def _write_graph(connection: Connection) -> None:
    bodies: dict[int, str] = {}
    for seq, (node_id, owner, properties) in enumerate(NODES, 2):
        node = {
            "id": node_id, "title": f"Title of {node_id}", "type": "Observation", "domain": "TRACK",
            "properties": properties, "visibility": "private" if owner else "public", "owner": owner,
            "immutable": False, "validFrom": AT, "validTo": None, "recordedAt": AT, "source": "a test",
            "actor": owner or "operator:eve", "revision": seq, "erased": False,
        }  # fmt: skip
        bodies[seq] = body = json.dumps(node)
        _insert(
            connection, "world_events", seq=seq, kind="node", entity_id=node_id, decision_seq=1, actor=node["actor"],
            source="a test", recorded_at=AT, body=body,
        )  # fmt: skip
        _insert(
            connection, "world_nodes", id=node_id, owner=owner or "", visibility=node["visibility"], domain="TRACK",
            live=1, dedupe_key=dedupe_key(owner, "Observation", node["title"]),
            fact_key=fact_key(load_ontology(), owner, properties), revision=seq, body=body,
        )  # fmt: skip
    edge_id, owner, source, target = EDGE
    seq = 2 + len(NODES)
    edge = {
        "id": edge_id, "source": source, "target": target, "type": "RELATED_TO", "properties": {},
        "visibility": "private", "owner": owner, "validFrom": AT, "validTo": None, "recordedAt": AT,
        "statedIn": "a test", "actor": owner, "revision": seq,
    }  # fmt: skip
    bodies[seq] = body = json.dumps(edge)
    _insert(
        connection, "world_events", seq=seq, kind="edge", entity_id=edge_id, decision_seq=1, actor=owner,
        source="a test", recorded_at=AT, body=body,
    )  # fmt: skip
    _insert(
        connection, "world_edges", id=edge_id, source=source, target=target, type="RELATED_TO", owner=owner,
        visibility="private", live=1, revision=seq, body=body,
    )  # fmt: skip
    _decide(connection, bodies)
    for changed in range(1, seq + 1):
        _insert(connection, "ledger_changes", seq=changed, kind="world", entity_id=str(changed), recorded_at=AT)
    connection.execute(text("update ledger_head set seq = :seq"), {"seq": seq})


def _decide(connection: Connection, bodies: dict[int, str]) -> None:
    events = {str(seq): event_sha256(body) for seq, body in bodies.items()}
    payload = payload_text({"stages": [], "events": events})
    decision = ChainedDecision(
        number=1, seq=1, decided_at=AT, verdict="approved", commitment=commitment("salt", payload)
    )
    _insert(
        connection, "world_decisions", number=1, seq=1, decided_at=AT, verdict="approved",
        commitment=decision.commitment, link=decision.link(FIRST_LINK),
    )  # fmt: skip
    _insert(connection, "world_decision_payloads", seq=1, owner=BOSS, salt="salt", payload=payload)


def owners(ledger: Ledger) -> dict[str, str | None]:
    """Returns the owners of every node and of the edge."""
    with ledger.read() as reader:
        states = [current_node(reader, node_id) for node_id, *_ in NODES] + [current_edge(reader, EDGE[0])]
    return {state.id: state.owner for state in states if state is not None}


def test_keys_become_their_payers_with_what_nobody_else_can_have_written(ledger: Ledger) -> None:
    with ledger.read() as reader:
        keys = {key: find_key(reader, f"key-{key}") for key, *_ in SOLD}
        claims = {key: find_claim(reader, f"claim-{key}") for key, *_ in SOLD}
    payers = {key: payer for key, payer, _ in SOLD}
    assert {name: key and key.owner for name, key in keys.items()} == payers
    assert {name: claim and claim.owner for name, claim in claims.items()} == payers
    assert {name: claim and claim.operator for name, claim in claims.items()} == {key: who for key, _, who in SOLD}
    assert owners(ledger) == {
        "plan": PAYER,
        "step": PAYER,
        "door": PAYER,
        "edge:1": PAYER,
        "common": SHARED,
        "secret": VICTIM,
        "own": ALONE,
        "public": None,
    }


def test_the_operator_sees_each_moved_key_with_what_moved(ledger: Ledger) -> None:
    with ledger.read() as reader:
        found = [(m.key_id, m.from_owner, m.to_owner, m.nodes, m.edges, m.left) for m in moved_keys(reader)]
    assert found == [
        ("key-boss-1", BOSS, PAYER, 3, 1, 0),
        ("key-boss-2", BOSS, PAYER, 3, 1, 0),
        ("key-shared-1", SHARED, PAYER, 0, 0, 1),
        ("key-shared-2", SHARED, OTHER, 0, 0, 1),
        ("key-thief", VICTIM, THIEF, 0, 0, 1),
    ]


@pytest.mark.parametrize("unopened_settings", ENGINES[:ROUNDS], indirect=True)
def test_the_command_shows_each_moved_key(ledger: Ledger, unopened_settings: Settings) -> None:
    installation = Installation(unopened_settings)
    shown = installation.svc("keys", "moved").stdout
    assert f"key-boss-1  from {BOSS}  to {PAYER}  3 nodes, 1 edges, 0 left behind" in shown
    keys = installation.keys("moved")["keys"]
    assert [(key["keyId"], key["from"], key["leftBehind"]) for key in keys][-1] == ("key-thief", VICTIM, 1)


def test_receipts_stay_as_signed_and_audit_and_feed_are_whole(ledger: Ledger) -> None:
    with ledger.read() as reader:
        receipts = {row["claim_id"]: row for row in _rows(ledger, "select * from access_receipts")}
        report = verify(reader)
    assert {key: json.loads(receipts[f"claim-{key}"]["body_json"])["claim"]["owner"] for key, *_ in SOLD} == {
        key: operator for key, _, operator in SOLD
    }
    assert (report.faults, report.decisions) == ([], 3)
    changes = ledger.changes_after(0, 1_000)
    assert [change.seq for change in changes] == list(range(1, ledger.head() + 1))
    assert {change.entity_id for change in changes if change.kind == "key"} == {
        "key-boss-1", "key-boss-2", "key-shared-1", "key-shared-2", "key-thief",
    }  # fmt: skip


def test_a_moved_fact_is_superseded_by_its_new_owner_and_by_nobody_else(ledger: Ledger) -> None:
    for actor in (BOSS, PAYER):
        shut = {"subject": "door", "predicate": "state", "value": "shut"}
        draft = NodeDraft(id=f"door-{actor}", type="Observation", title="Shut", properties=shut)
        decision = propose(
            ledger, Proposal(actor=Actor("caller", actor), source="s", nodes=(draft,)), alignment=no_rules
        )
        assert decision.verdict == "approved"
        with ledger.read() as reader:
            door = current_node(reader, "door")
        assert door is not None and (door.valid_to is not None) is (actor == PAYER)


def test_an_operator_that_signs_later_gets_back_its_own_graph(ledger: Ledger) -> None:
    with ledger.transaction() as tx:
        claim = find_claim(tx, "claim-boss-2")
        assert claim is not None
        moved = give_to_operator(tx, claim)
    assert (moved.nodes, moved.edges, moved.left) == (3, 1, 0)
    assert {owners(ledger)[name] for name in ("plan", "step", "door", "edge:1")} == {BOSS}
    with ledger.read() as reader:
        keys = {key: find_key(reader, f"key-boss-{key}") for key in (1, 2)}
        assert verify(reader).faults == []
    assert {number: key and key.owner for number, key in keys.items()} == {1: PAYER, 2: BOSS}


def test_requests_of_keys_whose_operators_signed_before_they_moved_are_moved_by_the_migration(
    ledger: Ledger, engine: Engine, unopened_settings: Settings
) -> None:
    for number, key in enumerate(("key-boss-1", "key-boss-2")):
        draft = NodeDraft(id=f"goal-{number}", type="Goal", title=f"Goal {number}")
        asked = Proposal(actor=Actor("caller", PAYER), source="s", nodes=(draft,), idempotency_key=f"asked-{number}")
        assert propose(ledger, asked, alignment=no_rules, key_id=key).verdict == "approved"
    with ledger.transaction() as tx:
        claim = find_claim(tx, "claim-boss-2")
        assert claim is not None
        give_to_operator(tx, claim)

    def scopes() -> dict[str, str]:
        return {row["key"]: row["scope"] for row in _rows(ledger, "select key, scope from world_requests")}

    assert scopes() == {"asked-0": PAYER, "asked-1": BOSS}
    with engine.begin() as connection:
        connection.execute(text("update world_requests set scope = :payer"), {"payer": PAYER})
        for undo in (
            "create index access_claims_of_request on access_claims (payer, idempotency_digest)",
            "drop view world_states",
            "drop view world_formed_states",
            "drop index world_edges_with_form",
            "alter table world_edges drop column form",
            "drop table world_edge_forms",
            "drop index world_capsules_of_claimer",
            "drop index access_claims_of_operator",
        ):
            connection.execute(text(undo))
        connection.execute(text("update alembic_version set version_num = '0020'"))
    open_ledger(unopened_settings, unopened_settings.data_dir).close()
    assert scopes() == {"asked-0": PAYER, "asked-1": BOSS}


def test_opening_again_moves_nothing(ledger: Ledger, unopened_settings: Settings) -> None:
    before = ledger.head()
    again = open_ledger(unopened_settings, unopened_settings.data_dir)
    assert again.head() == before
    again.close()


def _rows(ledger: Ledger, statement: str) -> list[dict[str, Any]]:
    with ledger._readers.begin() as connection:
        return [dict(row._mapping) for row in connection.execute(text(statement))]
