"""A key's owner is an address that proved itself for the quote (S23): a named address grants nothing.

Over HTTP on both engines: the buyer pays on a real EVM, and asks the graph with the key.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from paid_service import PAYER, STRANGER, PaidService, selling

from cli.demo.anvil import Anvil
from contracts.settings import Settings

SIGNAL = "/api/v2/world-model/signal"
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
    """The data of a claim that `payer` paid for."""
    quote = paid.quoted(payerAddress=payer.address, **asked)
    answer = paid.claim(quote, paid.pay(quote, sender=payer.address))
    assert answer.status_code == 201, answer.text
    return dict(answer.json()["data"])


def key_of(claimed: dict[str, Any]) -> str:
    return str(claimed["activationPacket"]["apiKey"])


def signalled(paid: PaidService, key: str, **fields: Any) -> dict[str, Any]:
    """What became of a signal of `key`."""
    answer = paid.post(SIGNAL, fields, X_Api_Key=key)
    assert answer.status_code in (200, 201), answer.text
    return dict(answer.json()["data"])


def titles(paid: PaidService, key: str, **asked: Any) -> set[str]:
    """Titles of the private nodes that `key` sees."""
    answer = paid.post(QUERY, {"limit": 1000} | asked, X_Api_Key=key)
    assert answer.status_code == 200, answer.text
    return {node["title"] for node in answer.json()["data"]["nodes"] if node["visibility"] == "private"}


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
