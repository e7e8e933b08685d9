"""Another process on a ledger or on counters, for tests: `started(step, settings, ...)` runs a step of this module."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections import Counter
from collections.abc import Callable
from contextlib import AbstractContextManager

import psycopg
import pysqlite3.dbapi2 as sqlite
from forked import ForkedProcess, forked
from pydantic import SecretStr

from contracts.settings import Settings
from guardrail.approval import Approval
from warehouse.guardrail.approvals import take_approval
from warehouse.ledger.counters import open_counters
from warehouse.ledger.ledger import open_ledger

MASTER_SECRET = "m" * 32
"""For processes on a PostgreSQL ledger, where it is required."""

BROKEN_CONSTRAINT = (sqlite.IntegrityError, psycopg.IntegrityError)
"""What the drivers raise for a row that violates a constraint."""


def open_and_close(settings: Settings) -> None:
    open_ledger(settings, settings.data_dir).close()


def write_pairs(settings: Settings, writer: str, transactions: str) -> None:
    """Runs transactions of two changes each; every third one is rolled back."""
    ledger = open_ledger(settings, settings.data_dir, wait_s=60)
    for number in range(int(transactions)):
        try:
            with ledger.transaction() as tx:
                tx.changed("first", f"{writer}-{number}")
                tx.changed("second", f"{writer}-{number}")
                if number % 3 == 2:
                    raise InterruptedError
        except InterruptedError:
            pass


def write_until_killed(settings: Settings) -> None:
    ledger = open_ledger(settings, settings.data_dir)
    print("writing", flush=True)
    while True:
        with ledger.transaction() as tx:
            for part in ("a", "b", "c"):
                tx.changed("part", part)


def hold_uncommitted(settings: Settings) -> None:
    with open_ledger(settings, settings.data_dir).transaction() as tx:
        tx.changed("part", "never committed")
        print("holding", flush=True)
        time.sleep(60)


def take_many(settings: Settings, takes: str) -> None:
    """Takes from each of three keys in turn, in two windows of a minute, and prints how many requests of each were
    allowed.

    A late process counts in the second window, so that only the sum of both is certain.
    """
    counters = open_counters(settings, settings.data_dir, wait_s=30)
    allowed: Counter[str] = Counter()
    for now_s in (1000.0, 1030.0):
        for number in range(int(takes)):
            key = f"client-{number % 3}"
            allowed[key] += counters.take(key, 50, 60, now_s).allowed
    counters.close()
    print(json.dumps(allowed))


def admit_many(settings: Settings, presented: str, requests: str, now_s: str) -> None:
    """Presents one key many times at one moment, and prints how many requests were admitted."""
    from api.key_gate import KeyGate  # half a second of CPU, which the other steps need not pay
    from api.stores import Stores

    if settings.ledger_url is not None:
        given = {"master_secret": SecretStr(MASTER_SECRET), "signing_key_file": settings.data_dir / "signing.pem"}
        settings = settings.model_copy(update=given)
    stores = Stores(settings)
    gate = KeyGate(stores, open_counters(settings, settings.data_dir, wait_s=30))

    async def present() -> int:
        admitted = 0
        for _ in range(int(requests)):
            admission = await gate.admit(presented, float(now_s))
            assert admission is not None and admission.taken is not None
            admitted += admission.taken.allowed
        return admitted

    print(asyncio.run(present()))
    gate.close()
    stores.close()


def take_approvals(settings: Settings, approvals: str) -> None:
    """Uses every approval of a list, once the other processes are ready too, and prints how many let this process
    pass."""
    ledger = open_ledger(settings, settings.data_dir, wait_s=60)
    print("ready", flush=True)
    sys.stdin.readline()
    taken = 0
    for number in range(int(approvals)):
        with ledger.transaction() as tx:
            taken += take_approval(tx, Approval("d" * 64, "local:a", 2_000_000_000, f"{number:032}"))
    ledger.close()
    print(taken)


def started(step: Callable[..., None], settings: Settings, *arguments: object) -> AbstractContextManager[ForkedProcess]:
    """Runs `step` with texts as arguments in its own process, which is killed at the end if it still runs."""
    return forked(step, settings, *map(str, arguments))
