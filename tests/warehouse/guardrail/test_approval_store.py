"""A used approval in the ledger: once over threads and processes, on both engines, and deleted after its time."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from datetime import UTC, datetime, timedelta
from functools import partial

import pytest
from ledger_process import BROKEN_CONSTRAINT, started, take_approvals
from patience import HANG_S

from contracts.access.tiers import Role, Tier
from contracts.settings import Settings
from guardrail.approval import Approval
from warehouse.access.keys import create_key
from warehouse.guardrail.approvals import KEPT, delete_expired, take_approval
from warehouse.ledger.ledger import Ledger, open_ledger

NOW_S = int(datetime.now(UTC).timestamp())


def approval(number: int = 0, expires_at: int = NOW_S + 600) -> Approval:
    return Approval("d" * 64, "local:a", expires_at, f"{number:032}")


def take(ledger: Ledger, taken: Approval) -> bool:
    with ledger.transaction() as tx:
        return take_approval(tx, taken)


def test_an_approval_is_taken_once_and_another_one_too(ledger: Ledger) -> None:
    assert [take(ledger, approval(number)) for number in (1, 1, 2, 1)] == [True, False, True, False]
    assert [change.kind for change in ledger.changes_after(0, 10)] == ["guardrail_approval"] * 2


def test_threads_that_take_one_approval_simultaneously_take_it_once(ledger: Ledger) -> None:
    with ThreadPoolExecutor(8) as threads:
        for number in range(10):
            assert sum(threads.map(partial(take, ledger), [approval(number)] * 8)) == 1


def test_processes_that_take_the_same_approvals_take_each_once(ledger: Ledger, ledger_settings: Settings) -> None:
    with ExitStack() as stack:
        processes = [stack.enter_context(started(take_approvals, ledger_settings, 40)) for _ in range(2)]
        for process in processes:
            assert process.stdout is not None and process.stdout.readline() == "ready\n"
        outputs = []
        for process in processes:
            assert process.stdin is not None
            process.stdin.write("\n")
            process.stdin.flush()
        for process in processes:
            outputs.append(int(process.communicate(timeout=HANG_S)[0]))
    assert sum(outputs) == 40


def test_a_take_that_is_rolled_back_leaves_the_approval_usable(ledger: Ledger) -> None:
    with pytest.raises(InterruptedError), ledger.transaction() as tx:
        assert take_approval(tx, approval())
        raise InterruptedError
    assert take(ledger, approval())


def test_used_approvals_are_deleted_a_day_after_they_expired(unopened_settings: Settings) -> None:
    now = datetime.now(UTC)
    with closing(open_ledger(unopened_settings, unopened_settings.data_dir, clock=lambda: now)) as ledger:
        old = int((now - KEPT - timedelta(seconds=2)).timestamp())
        recent = int((now - KEPT + timedelta(seconds=60)).timestamp())
        for number, expires_at in enumerate((old, recent, NOW_S + 600)):
            assert take(ledger, approval(number, expires_at))
        with ledger.transaction() as tx:
            assert delete_expired(tx) == 1
        assert [take(ledger, approval(number)) for number in range(3)] == [True, False, False]


def test_a_key_of_a_claim_never_has_the_operator_role(ledger: Ledger) -> None:
    options = {"tier": Tier.FREE, "owner": "0xab", "now": datetime.now(UTC), "role": Role.OPERATOR}
    with pytest.raises(BROKEN_CONSTRAINT), ledger.transaction() as tx:
        create_key(tx, b"p" * 32, claim_id="claim_1", **options)
    with ledger.transaction() as tx:
        assert create_key(tx, b"p" * 32, **options).record.role is Role.OPERATOR
