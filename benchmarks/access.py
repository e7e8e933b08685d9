"""Measures paid access: server CPU of a quote and of a claim over HTTP, without RPC, and the exactness of quotas.

The bench's providers answer from the transaction hash, which encodes payer and amount, so that nothing waits and no
other process's work is counted.
"""

from __future__ import annotations

import http.client
import json
import os
import secrets
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.serving import cpu_s, free_port, running
from contracts.access.plans import CLAIM_PATH, QUOTE_PATH
from contracts.access.tiers import Tier
from contracts.settings import Settings
from warehouse.access.keys import create_key
from warehouse.ledger.ledger import open_ledger
from warehouse.ledger.master_secret import load_secrets

SALES = 200
ROUNDS = 3
WORKERS = 4
ASKED_BY_EACH = 100

SHOP = """
import sys, time, uvicorn
from pathlib import Path
from fastapi import FastAPI
from api.access.router import access_router
from api.access.service import AccessService
from api.publish.front import Front
from contracts.access.tiers import REQUESTS_A_DAY
from api.problems import handle_problems
from api.stores import Stores
from contracts.access.provider_views import BlockView, LogView, ReceiptView, View
from contracts.evm.codec import TRANSFER_TOPIC
from contracts.problem_links import problem_links
from contracts.settings import Settings
from warehouse.ledger.counters import open_counters
usdc, treasury = "0x" + "83" * 20, "0x" + "7e" * 20
class Providers:
    async def views(self, sent):
        block = BlockView(100, "0x" + "bb" * 32, int(time.time()))
        topics = (TRANSFER_TOPIC, "0x" + "0" * 24 + sent[2:42], "0x" + "0" * 24 + treasury[2:])
        log = LogView(usdc, topics, "0x" + sent[42:].rjust(64, "0"), False)
        receipt = ReceiptView(sent, "0x1", 100, block.hash, (log,))
        return [View("bench", 8453, receipt, block, BlockView(200, "0x" + "cc" * 32, block.time_s), 150, 150)]
settings = Settings(
    _env_file=None, data_dir=Path(sys.argv[1]), usdc_address=usdc, treasury_address=treasury, confirmations=3,
    rpc_urls=("http://127.0.0.1:1",), rate_limit_per_minute=0,
)
stores, counters = Stores(settings), open_counters(settings, settings.data_dir)
service = AccessService(
    settings, lambda: stores.ledger, lambda: stores.secrets, lambda: stores.signing_keys.current(), REQUESTS_A_DAY,
    providers=Providers(),
)
app = FastAPI()
handle_problems(app, problem_links(settings), lambda: None)
app.include_router(access_router(service))
uvicorn.run(Front(settings, app, counters.take), port=int(sys.argv[2]), access_log=False, log_level="error")
"""

WORKER = """
import asyncio, sys, time
from pathlib import Path
from api.key_gate import KeyGate
from api.stores import Stores
from contracts.settings import Settings
from warehouse.ledger.counters import open_counters
settings = Settings(_env_file=None, data_dir=Path(sys.argv[1]))
gate = KeyGate(Stores(settings), open_counters(settings, settings.data_dir, wait_s=30))
key, noon = sys.stdin.readline().strip(), 43200 + 86400 * (time.time() // 86400)
async def ask():
    answers = [await gate.admit(key, noon) for _ in range(int(sys.argv[2]))]
    return sum(answer.taken.allowed for answer in answers)
print(asyncio.run(ask()))
"""


@dataclass(frozen=True)
class AccessCost:
    """Medians over the rounds in milliseconds of server CPU, and how many requests `WORKERS` processes accepted of one
    key's `quota`."""

    quote_cpu_ms: float
    claim_cpu_ms: float
    accepted: int
    quota: int


def measure() -> AccessCost:
    """Sells over HTTP on SQLite, then uses up one key's day from several processes."""
    with tempfile.TemporaryDirectory() as directory:
        port = free_port()
        environment = {name: value for name, value in os.environ.items() if not name.startswith("SVC_")}
        with running([sys.executable, "-c", SHOP, directory, str(port)], port, environment) as pid:
            connection = http.client.HTTPConnection("127.0.0.1", port)
            _sell(connection, pid, 10)
            rounds = [_sell(connection, pid, SALES) for _ in range(ROUNDS)]
            connection.close()
    return AccessCost(
        quote_cpu_ms=round(median(quote for quote, _ in rounds), 2),
        claim_cpu_ms=round(median(claim for _, claim in rounds), 2),
        accepted=_use_up(environment),
        quota=100,
    )


def _sell(connection: http.client.HTTPConnection, pid: int, sales: int) -> tuple[float, float]:
    """Sells over HTTP. Returns the server CPU per quote and per claim in milliseconds, over `sales` of each."""
    before = cpu_s(pid)
    quotes = [_post(connection, QUOTE_PATH, {"payerAddress": f"0x{secrets.token_hex(20)}"}) for _ in range(sales)]
    quoted = cpu_s(pid)
    for quote in quotes:
        step = quote["data"]["next"]["pay"]
        sent = f"{step['from'].lower()}{int(step['amountUnits']):024x}"
        _post(connection, CLAIM_PATH, quote["data"]["next"]["claim"]["body"] | {"transactionHash": sent})
    return (quoted - before) / sales * 1000, (cpu_s(pid) - quoted) / sales * 1000


def _post(connection: http.client.HTTPConnection, path: str, body: dict[str, Any]) -> dict[str, Any]:
    connection.request("POST", path, json.dumps(body), {"Content-Type": "application/json", "Idempotency-Key": "bench"})
    answer = connection.getresponse()
    received: dict[str, Any] = json.loads(answer.read())
    assert answer.status == 201, received
    return received


def _use_up(environment: dict[str, str]) -> int:
    """Returns the number of a free key's requests that `WORKERS` concurrent processes accept in one day."""
    with tempfile.TemporaryDirectory() as directory:
        settings = Settings(_env_file=None, data_dir=Path(directory))
        ledger = open_ledger(settings, settings.data_dir)
        with ledger.transaction() as tx:
            pepper = load_secrets(settings).pepper
            issued = create_key(tx, pepper, tier=Tier.FREE, owner="local:bench", now=datetime.now(UTC))
        ledger.close()
        command = [sys.executable, "-c", WORKER, directory, str(ASKED_BY_EACH)]
        pipe = subprocess.PIPE
        workers = [
            subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, env=environment) for _ in range(WORKERS)
        ]
        return sum(int(worker.communicate(issued.key.reveal() + "\n")[0]) for worker in workers)
