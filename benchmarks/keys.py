"""Measures keys: server CPU of an authenticated request, with key check and daily quota, against an empty route.

Neither route does any work, so the difference is the overhead of every authenticated request.
"""

from __future__ import annotations

import http.client
import os
import sys
import tempfile
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from statistics import median

from benchmarks.load import load
from benchmarks.serving import cpu_s, free_port, running
from contracts.access.tiers import Tier
from contracts.settings import Settings
from warehouse.access.keys import create_key
from warehouse.ledger.ledger import open_ledger
from warehouse.ledger.master_secret import load_secrets

EMPTY = """
import sys, uvicorn
from fastapi import FastAPI
app = FastAPI()
@app.get("/api/v2/empty")
async def empty():
    return {"ok": True}
uvicorn.run(app, port=int(sys.argv[2]), access_log=False, log_level="error")
"""

KEYED = """
import sys, uvicorn
from pathlib import Path
from fastapi import FastAPI, Request
from api.deps import authenticated_router, caller_of
from api.publish.front import Front
from api.key_gate import KeyGate
from api.problems import handle_problems
from api.stores import Stores
from contracts.access.tiers import REQUESTS_A_DAY, Tier
from contracts.problem_links import problem_links
from contracts.settings import Settings
from warehouse.ledger.counters import open_counters
settings = Settings(_env_file=None, data_dir=Path(sys.argv[1]))
counters = open_counters(settings, settings.data_dir)
REQUESTS_A_DAY[Tier.BASIC] = 1_000_000_000
app = FastAPI()
handle_problems(app, problem_links(settings), lambda: None)
router = authenticated_router("bench")
@router.get("/empty")
async def empty(request: Request):
    caller_of(request)
    return {"ok": True}
app.include_router(router)
front = Front(settings, app, counters.take, keys=KeyGate(Stores(settings), counters))
uvicorn.run(front, port=int(sys.argv[2]), access_log=False, log_level="error")
"""


@dataclass(frozen=True)
class KeyCost:
    """Medians over the rounds: CPU microseconds per answer of each route, and of their ratio within a round."""

    empty_cpu_us: float
    keyed_cpu_us: float
    times_empty: float


def measure(*, seconds: float = 1.0, rounds: int = 5) -> KeyCost:
    """Loads both servers in turn. The basic key has a raised quota, of which each request still uses one."""
    with tempfile.TemporaryDirectory() as directory:
        settings = Settings(_env_file=None, data_dir=Path(directory))
        ledger = open_ledger(settings, settings.data_dir)
        with ledger.transaction() as tx:
            pepper = load_secrets(settings).pepper
            issued = create_key(tx, pepper, tier=Tier.BASIC, owner="local:bench", now=datetime.now(UTC))
        ledger.close()
        headers = {"X-Api-Key": issued.key.reveal()}
        ports = (free_port(), free_port())
        commands = [
            [sys.executable, "-c", code, directory, str(port)] for code, port in zip((EMPTY, KEYED), ports, strict=True)
        ]
        environment = {name: value for name, value in os.environ.items() if not name.startswith("SVC_")}
        with running(commands[0], ports[0], environment) as empty, running(commands[1], ports[1], environment) as keyed:
            for port in ports:
                _assert_answers(port, headers)
                load(port, "/api/v2/empty", headers, 1.0)
            costs = [
                (_cpu_us(empty, ports[0], headers, seconds), _cpu_us(keyed, ports[1], headers, seconds))
                for _ in range(rounds)
            ]
    return KeyCost(
        empty_cpu_us=round(median(without for without, _ in costs), 1),
        keyed_cpu_us=round(median(with_key for _, with_key in costs), 1),
        times_empty=round(median(with_key / without for without, with_key in costs), 2),
    )


def _assert_answers(port: int, headers: dict[str, str]) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", port)
    connection.request("GET", "/api/v2/empty", headers=headers)
    status = connection.getresponse().status
    connection.close()
    assert status == 200, status


def _cpu_us(pid: int, port: int, headers: dict[str, str], seconds: float) -> float:
    before = cpu_s(pid)
    answers = load(port, "/api/v2/empty", headers, seconds)
    return (cpu_s(pid) - before) / answers * 1e6
