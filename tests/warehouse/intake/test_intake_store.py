"""Intakes in the ledger, on both engines: one per idempotency key whoever races, and digests that reveal nothing."""

import threading
from datetime import UTC, datetime

from intakes import AGENT, HUMAN
from pydantic import TypeAdapter

from contracts.intake.requests import IntakeRequest
from warehouse.intake.intakes import INTAKE_CHANGED, accept, count_intakes
from warehouse.ledger.ledger import Ledger

PEPPER = bytes(32)
REQUESTS = TypeAdapter(IntakeRequest)
RACERS = 16


def test_sixteen_simultaneous_requests_under_one_key_create_one_intake(ledger: Ledger):
    asked, made, start = REQUESTS.validate_python(AGENT), [], threading.Barrier(RACERS)

    def race() -> None:
        start.wait()
        with ledger.transaction() as tx:
            accepted = accept(tx, PEPPER, asked, "the key")
        made.append((accepted.record.intake_id, accepted.replayed))

    threads = [threading.Thread(target=race) for _ in range(RACERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == RACERS
    assert len({intake_id for intake_id, _ in made}) == 1
    assert sorted(replayed for _, replayed in made) == [False] + [True] * (RACERS - 1)
    assert [(change.seq, change.kind) for change in ledger.changes_after(0, 10)] == [(1, INTAKE_CHANGED)]
    with ledger.read() as reader:
        assert count_intakes(reader, datetime.now(UTC)).total == 1


def test_digests_are_of_this_installation_and_of_one_lane(ledger: Ledger):
    asked = REQUESTS.validate_python(HUMAN | {"telegram": "agent-seven"})
    digests = []
    for pepper, each in ((PEPPER, asked), (bytes(31) + b"\1", asked), (PEPPER, REQUESTS.validate_python(AGENT))):
        with ledger.transaction() as tx:
            accepted = accept(tx, pepper, each, None)
            row = tx.row("intake_one", intake_id=accepted.record.intake_id)
        assert row is not None
        assert (row["repeats"], row["linked_to"]) == (0, None)
        digests += [row["identity_digest"], row["request_digest"]]
    assert len(set(digests)) == 6
