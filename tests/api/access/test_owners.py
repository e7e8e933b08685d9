"""A key's owner is an address that proved itself for the quote (S23): a named address grants nothing.

Over HTTP on both engines: the buyer pays on a real EVM, and asks the graph with the key.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from eth_account import Account
from paid_service import PAYER, STRANGER, PaidService, claim_body, selling

from cli.demo.anvil import Anvil
from contracts.settings import Settings
from contracts.world.portable import line_of
from contracts.world.proposal import Actor
from warehouse.world.audit import verify
from warehouse.world.events import head_revision
from warehouse.world.export import export_pages
from warehouse.world.importing import import_graph

OPERATOR = Account.from_key("0x" + "33" * 32)

SIGNAL = "/api/v2/world-model/signal"
BUILD = "/api/v2/knowledge-graph/build"
QUERY = "/api/v2/world-model/query"
SECRET_FACT = {
    "type": "Observation",
    "title": "The board meets on Tuesday",
    "source": "minutes",
    "payload": {"subject": "board", "predicate": "status", "object": "Tuesday"},
    "observedAt": "2026-01-01T00:00:00Z",
}


@pytest.fixture
def paid(ledger_settings: Settings, anvil: Anvil) -> Iterator[PaidService]:
    with selling(ledger_settings, anvil) as service:
        yield service


def bought(paid: PaidService, payer: Any = PAYER, **asked: Any) -> dict[str, Any]:
    """Returns the data of a claim that `payer` paid for."""
    quote = paid.quoted(payerAddress=payer.address, **asked)
    answer = paid.claim(quote, paid.pay(quote, sender=payer.address))
    assert answer.status_code == 201, answer.text
    return dict(answer.json()["data"])


def key_of(claimed: dict[str, Any]) -> str:
    return str(claimed["activationPacket"]["apiKey"])


def signalled(paid: PaidService, key: str, **fields: Any) -> dict[str, Any]:
    """Sends a signal with `key` and returns the data of the answer."""
    answer = paid.post(SIGNAL, fields, X_Api_Key=key)
    assert answer.status_code in (200, 201), answer.text
    return dict(answer.json()["data"])


def titles(paid: PaidService, key: str, **asked: Any) -> set[str]:
    """Returns the titles of the private nodes that `key` sees."""
    answer = paid.post(QUERY, {"limit": 1000} | asked, X_Api_Key=key)
    assert answer.status_code == 200, answer.text
    return {node["title"] for node in answer.json()["data"]["nodes"] if node["visibility"] == "private"}


@pytest.mark.both_engines
def test_a_stranger_who_names_a_victim_sees_and_supersedes_nothing_of_the_victims(paid: PaidService) -> None:
    victim = key_of(bought(paid, PAYER))
    fact = signalled(paid, victim, **SECRET_FACT)
    assert fact["verdict"] == "approved"
    stranger = key_of(bought(paid, STRANGER, operatorAddress=PAYER.address))
    assert titles(paid, stranger) == set()
    assert titles(paid, stranger, node_id=fact["signalId"]) == set()
    later = SECRET_FACT | {"title": "The board never meets", "observedAt": "2026-01-02T00:00:00Z"}
    signalled(paid, stranger, **later)
    assert titles(paid, victim) == {SECRET_FACT["title"]}


def signed(signer: Any, message: dict[str, Any]) -> dict[str, str]:
    return {"type": "eip712", "signature": signer.sign_typed_data(full_message=message).signature.to_0x_hex()}


def path_of(claimed: dict[str, Any], room: str) -> str:
    return f"/api/agent-access/claims/{claimed['claim']['claimId']}/{room}"


def consented(paid: PaidService, claimed: dict[str, Any]) -> dict[str, Any]:
    """Signs for a claim as its operator and returns what moved."""
    path = path_of(claimed, "operator")
    answer = paid.post(path, {"proof": signed(OPERATOR, paid.get(path).json()["typedData"])})
    assert answer.status_code == 200, answer.text
    return dict(answer.json()["data"]["moved"])


def rotation(paid: PaidService, claimed: dict[str, Any], signer: Any) -> dict[str, Any]:
    """Returns a signed request for the claim's next key."""
    challenge = paid.get(path_of(claimed, "recovery")).json()
    return {"issuedAt": challenge["issuedAt"], "proof": signed(signer, challenge["typedData"])}


def goal(paid: PaidService, key: str, title: str, **fields: Any) -> str:
    """Creates a goal and returns its id."""
    done = signalled(paid, key, type="Goal", title=title, source="a test", **fields)
    assert done["verdict"] == "approved"
    return str(done["signalId"])


def test_what_only_one_key_wrote_becomes_the_operators_with_the_key(paid: PaidService) -> None:
    own = key_of(bought(paid, PAYER))
    named = bought(paid, PAYER, operatorAddress=OPERATOR.address)
    key = key_of(named)
    goal(paid, own, "The payer's own")
    mine = goal(paid, key, "By the key")
    goal(paid, key, "Tied", links=[{"type": "RELATED_TO", "target": mine}])
    first = signalled(paid, key, **SECRET_FACT)["signalId"]
    later = SECRET_FACT | {"title": "Another day", "observedAt": "2026-01-02T00:00:00Z"}
    signalled(paid, own, **later)
    assert titles(paid, key) == titles(paid, own)
    assert consented(paid, named) == {"nodes": 2, "edges": 1, "left": 1}
    assert titles(paid, key) == {"By the key", "Tied"}
    assert titles(paid, own) == {"The payer's own", "Another day"}
    assert titles(paid, own, node_id=mine) == set()
    assert titles(paid, key, node_id=first) == set()
    reached = paid.post(
        QUERY, {"traverse": {"from_id": mine, "depth": 1, "direction": "both"}, "include_edges": True}, X_Api_Key=key
    )
    assert len(reached.json()["data"]["edges"]) == 1
    goal(paid, key, "Written as the operator")
    assert "Written as the operator" not in titles(paid, own)
    with paid.service.ledger.read() as reader:
        assert verify(reader).faults == []


def test_a_moved_fact_does_not_contradict_one_of_the_operators(paid: PaidService) -> None:
    paid.mint(OPERATOR.address, 100_000_000)
    operators = key_of(bought(paid, OPERATOR))
    signalled(paid, operators, **SECRET_FACT)
    named = bought(paid, PAYER, operatorAddress=OPERATOR.address)
    signalled(paid, key_of(named), **SECRET_FACT | {"title": "The payer says so", "source": "elsewhere"})
    assert consented(paid, named) == {"nodes": 0, "edges": 0, "left": 1}
    assert titles(paid, operators) == titles(paid, key_of(named)) == {SECRET_FACT["title"]}


def test_a_capsule_that_the_key_claimed_goes_with_it(paid: PaidService) -> None:
    capsule = paid.post(
        "/api/worldmodel/create", {"ownerId": PAYER.address, "name": "Ada"}, Idempotency_Key="capsule-of-twenty-two-c"
    ).json()
    own = key_of(bought(paid, PAYER))
    assert titles(paid, own) == set(), "a label grants nothing"
    named = bought(paid, PAYER, operatorAddress=OPERATOR.address)
    key = key_of(named)
    token = {"claimToken": capsule["claimToken"]}
    assert paid.post("/api/v2/world-model/capsules/claim", token, X_Api_Key=key).status_code == 200
    held = titles(paid, key)
    assert held
    moved = consented(paid, named)
    assert (moved["nodes"], moved["left"]) == (len(held), 0)
    assert (titles(paid, key), titles(paid, own)) == (held, set())
    with paid.service.ledger.read() as reader:
        assert len(reader.rows("world_capsules_of_owner", owner=OPERATOR.address.lower())) == 1


@pytest.mark.both_engines
def test_an_export_of_what_moved_to_the_operator_is_imported_without_a_second_edge(paid: PaidService) -> None:
    named = bought(paid, PAYER, operatorAddress=OPERATOR.address)
    key = key_of(named)
    project = goal(paid, key, "Project")
    goal(paid, key, "Part", links=[{"type": "RELATED_TO", "target": project}])
    nodes = [{"id": name, "type": "Goal", "title": name} for name in ("x", "y")]
    edges = [{"source": "x", "target": "y", "type": "RELATED_TO"}]
    graph = {"mode": "apply", "graphId": "g", "nodes": nodes, "edges": edges}
    assert paid.post("/api/v2/knowledge-graph/build", graph, X_Api_Key=key).status_code == 201
    assert consented(paid, named) == {"nodes": 4, "edges": 2, "left": 0}
    owner = OPERATOR.address.lower()
    content = exported(paid, owner)
    outcome = import_graph(paid.service.ledger, lambda: content.splitlines(), Actor("caller", owner))
    assert (outcome.verdict, outcome.edges, outcome.written) == ("approved", 2, 0)
    assert exported(paid, owner) == content
    with_key = paid.post(SIGNAL, {"type": "Goal", "title": "More", "source": "a test"}, X_Api_Key=key)
    assert with_key.status_code == 201
    import_graph(paid.service.ledger, lambda: content.splitlines(), Actor("caller", "local:empty"))
    assert exported(paid, "local:empty") == content


@pytest.mark.both_engines
@pytest.mark.parametrize("named_by", ["header", "content"])
def test_a_signal_that_is_sent_again_after_the_operators_consent_is_the_same_signal(
    paid: PaidService, named_by: str
) -> None:
    named = bought(paid, PAYER, operatorAddress=OPERATOR.address)
    key = key_of(named)
    graph = {"mode": "apply", "nodes": [{"id": "x", "type": "Goal", "title": "X"}]}
    assert paid.post("/api/v2/knowledge-graph/build", graph, X_Api_Key=key).status_code == 201
    headers = {"X_Api_Key": key} | ({"Idempotency_Key": "sk1"} if named_by == "header" else {})
    signal = {"type": "Goal", "title": "P", "source": "me", "links": [{"type": "RELATED_TO", "target": "x"}]}
    public = {"type": "Goal", "title": "For all", "source": "me", "visibility": "public", "idempotencyKey": "pub"}
    first, waiting = paid.post(SIGNAL, signal, **headers), paid.post(SIGNAL, public, X_Api_Key=key)
    assert (first.status_code, waiting.json()["data"]["verdict"]) == (201, "escalated")
    assert consented(paid, named) == {"nodes": 2, "edges": 1, "left": 0}

    again = paid.post(SIGNAL, signal, **headers)
    assert (again.status_code, again.json()["data"]["signalId"]) == (201, first.json()["data"]["signalId"])
    assert again.json()["data"]["decision"] == first.json()["data"]["decision"]
    waits = paid.post(SIGNAL, public, X_Api_Key=key).json()["data"]
    assert waits["decision"] == waiting.json()["data"]["decision"]
    assert titles(paid, key) == {"X", "P"}
    if named_by == "header":
        other = paid.post(SIGNAL, signal | {"title": "Q"}, **headers)
        assert (other.status_code, other.json()["code"]) == (409, "idempotency_key_reused")


def test_a_plan_and_a_build_that_are_sent_again_after_the_operators_consent_write_nothing_new(
    paid: PaidService,
) -> None:
    named = bought(paid, PAYER, operatorAddress=OPERATOR.address)
    key = key_of(named)
    plan = {"mode": "apply", "agent": {"id": "gardener"}, "goals": ["Remember what was planted"]}
    text = "# Harbour\n\nOwner: Ada Reuter\n\n- [ ] Paint the boat\n- [ ] Ask Ada Reuter for the key\n"
    build = {"mode": "apply", "graphId": "g", "documents": [{"id": "d", "markdown": text}]}
    stated = {
        "mode": "apply",
        "nodes": [{"id": name, "type": "Goal", "title": f"Goal {name}"} for name in ("x", "y")],
        "edges": [{"source": "x", "target": "y", "type": "RELATED_TO"}],
    }
    sent = [("/api/v2/memory/design", plan), (BUILD, build), (BUILD, stated)]
    first = [paid.post(path, body, X_Api_Key=key) for path, body in sent]
    assert [answer.status_code for answer in first] == [201] * 3
    assert consented(paid, named)["left"] == 0
    content = exported(paid, OPERATOR.address.lower())
    again = [paid.post(path, body, X_Api_Key=key) for path, body in sent]
    assert [answer.status_code for answer in again] == [201] * 3
    assert exported(paid, OPERATOR.address.lower()) == content
    assert again[0].json()["data"]["nodeIds"] == first[0].json()["data"]["nodeIds"]
    assert [node["id"] for node in again[1].json()["data"]["nodes"]] == [
        node["id"] for node in first[1].json()["data"]["nodes"]
    ]
    longer = {"id": "d", "markdown": text.replace("Paint", "Sell")}
    assert paid.post(BUILD, build | {"documents": [longer]}, X_Api_Key=key).status_code == 201
    assert "Sell the boat" in titles(paid, key)
    assert "Paint the boat" not in titles(paid, key)


def test_a_signal_of_the_payers_other_key_after_the_consent_is_the_payers(paid: PaidService) -> None:
    own = key_of(bought(paid, PAYER))
    named = bought(paid, PAYER, operatorAddress=OPERATOR.address)
    key = key_of(named)
    mine = goal(paid, own, "Mine")
    moved = goal(paid, key, "Moved")
    consented(paid, named)
    again = [goal(paid, own, "Moved") for _ in range(2)]
    assert again[0] == again[1] != moved
    assert goal(paid, own, "Mine") == mine
    assert (titles(paid, own), titles(paid, key)) == ({"Mine", "Moved"}, {"Moved"})
    theirs = goal(paid, key, "Mine")
    assert theirs != mine and goal(paid, key, "Mine") == theirs


def exported(paid: PaidService, owner: str) -> bytes:
    with paid.service.ledger.read() as reader:
        pages = export_pages(reader, owner, head_revision(reader))
        return b"".join(line_of(record) for page in pages for record in page.records)


def test_once_the_operator_has_signed_only_the_operator_replaces_the_key(paid: PaidService) -> None:
    named = bought(paid, PAYER, operatorAddress=OPERATOR.address)
    recovery = path_of(named, "recovery")
    assert paid.get(recovery).json()["signer"] == PAYER.address.lower()
    in_flight = rotation(paid, named, PAYER)
    goal(paid, key_of(named), "Private")
    consented(paid, named)
    assert paid.get(recovery).json()["signer"] == OPERATOR.address.lower()
    for body in (in_flight, rotation(paid, named, PAYER), rotation(paid, named, STRANGER)):
        refused = paid.post(recovery, body)
        assert (refused.status_code, refused.json()["code"]) == (403, "recovery_refused")
    replaced = paid.post(recovery, rotation(paid, named, OPERATOR))
    assert replaced.status_code == 201, replaced.text
    key = replaced.json()["data"]["activationPacket"]["apiKey"]
    assert titles(paid, key) == {"Private"}
    assert paid.post(QUERY, {}, X_Api_Key=key_of(named)).status_code == 401
    assert titles(paid, key_of(bought(paid, PAYER))) == set()


@pytest.mark.both_engines
def test_the_writes_of_a_replaced_key_move_with_its_successor(paid: PaidService) -> None:
    named = bought(paid, PAYER, operatorAddress=OPERATOR.address)
    goal(paid, key_of(named), "By the first key")
    replaced = paid.post(path_of(named, "recovery"), rotation(paid, named, PAYER)).json()["data"]
    key = replaced["activationPacket"]["apiKey"]
    goal(paid, key, "By the second key")
    assert consented(paid, named) == {"nodes": 2, "edges": 0, "left": 0}
    assert titles(paid, key) == {"By the first key", "By the second key"}


def test_with_the_consent_of_the_claim_the_key_is_the_operators_from_the_start(paid: PaidService) -> None:
    quote = paid.quoted(operatorAddress=OPERATOR.address)
    consent = signed(OPERATOR, quote["data"]["next"]["claim"]["operator"]["typedData"])
    body = claim_body(quote, paid.pay(quote), integrity={"operator": consent})
    answer = paid.post("/api/agent-access/claim", body)
    assert answer.status_code == 201, answer.text
    claimed = answer.json()["data"]
    goal(paid, key_of(claimed), "The operator's")
    assert titles(paid, key_of(bought(paid, PAYER))) == set()
    assert consented(paid, claimed) == {"nodes": 0, "edges": 0, "left": 0}
    refused = paid.post(path_of(claimed, "recovery"), rotation(paid, claimed, PAYER))
    assert refused.status_code == 403
