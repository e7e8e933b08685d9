"""Attacks on the numbers: RPC nodes that lie about a token's history and state."""

from __future__ import annotations

import json
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx

from .chain import Chain, calldata
from .registry import Outcome, Phase, attack
from .service import Service

ALICE, BOB = "0x" + "a1" * 20, "0x" + "b0" * 20
BLOCKS_SINCE = 300
"""More blocks than are read a second time near finality."""

RUN_WITHIN_S = 300.0


@attack("A6", "the first of two RPC nodes tells one transfer a unit short, and balances to match", Phase.ASIDE)
def lying_node(service: Service) -> Outcome:
    chain = Chain(service.checkout, _free_port())
    try:
        token = chain.deploy("DemoToken", "Token", "TKN")
        chain.send(chain.deployer, token, calldata("mint(address,uint256)", ALICE, 10**18))
        sent = chain.send(ALICE, token, calldata("transfer(address,uint256)", BOB, 5))
        moved = chain.rpc("eth_getTransactionReceipt", sent)
        chain.bury(BLOCKS_SINCE)
        with _lying_node(chain.url, token, moved) as liar, tempfile.TemporaryDirectory() as directory:
            holders, health = _published(service, Path(directory), f"{liar},{chain.url}", token)
    finally:
        chain.stop()
    proof = (holders.get("consistency") or {}).get("proof") or {}
    told = json.dumps(proof.get("nodes"))
    broken = []
    if proof.get("verdict") != "disputed" or holders.get("quality") == "exact":
        broken.append(f"published as {proof.get('verdict')}, {holders.get('quality')}")
    elif not ('"4"' in told and '"5"' in told):
        broken.append("the proof does not show both answers")
    if health < 1:
        broken.append("the generation counts no dispute")
    if "a-key" in json.dumps(holders):
        broken.append("the address of a node is published with its key")
    return Outcome(broken, f"verdict {proof.get('verdict')}, {health} disputes")


def _published(service: Service, data_dir: Path, rpc_urls: str, token: str) -> tuple[dict[str, Any], int]:
    """Returns the holders document and the manifest's number of disputes, after one run over these nodes."""
    given = {
        "SVC_DATA_DIR": str(data_dir),
        "SVC_RPC_URLS": rpc_urls,
        "SVC_TOKEN_ADDRESS": token,
        "SVC_LEDGER_URL": "",
    }
    environment = {name: text for name, text in (service.environment | given).items() if text}
    ran = subprocess.run(
        [service.svc_path, "pipeline", "run", "--json"],
        env=environment,
        cwd=data_dir,
        capture_output=True,
        text=True,
        timeout=RUN_WITHIN_S,
    )
    current = data_dir / "current"
    if not current.exists():
        raise RuntimeError(ran.stderr[-300:])
    holders = json.loads((current / "public/api/token/holders.json").read_text())
    return holders, int(json.loads((current / "manifest.json").read_text()).get("disputes", 0))


@contextmanager
def _lying_node(url: str, token: str, moved: dict[str, Any]) -> Iterator[str]:
    """Yields the address, with a key, of a node in front of `url` that lies about the transfer in the receipt
    `moved`."""
    block, place = int(moved["blockNumber"], 16), moved["transactionHash"]

    def answer(call: dict[str, Any], truth: dict[str, Any]) -> dict[str, Any]:
        method, params = call["method"], call["params"]
        if method == "eth_getLogs":
            for row in truth.get("result", []):
                if row["transactionHash"] == place:
                    row["data"] = f"0x{int(row['data'], 16) - 1:064x}"
        elif method == "eth_call" and params[0].get("to", "").lower() != token:
            return {"jsonrpc": "2.0", "id": call["id"], "error": {"code": -32000, "message": "not allowed"}}
        elif method == "eth_call" and params[0]["data"].startswith("0x70a08231") and "result" in truth:
            change = {ALICE: 1, BOB: -1}.get("0x" + params[0]["data"][-40:].lower(), 0)
            if not params[1].startswith("0x") or int(params[1], 16) >= block:
                truth["result"] = f"0x{int(truth['result'], 16) + change:064x}"
        return truth

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            calls = request if isinstance(request, list) else [request]
            answers = [answer(call, client.post(url, json=call).json()) for call in calls]
            body = json.dumps(answers if isinstance(request, list) else answers[0]).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            """Logs nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        with httpx.Client(timeout=30, trust_env=False) as client:
            yield f"http://127.0.0.1:{server.server_address[1]}/v2/a-key"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _free_port() -> int:
    with ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler) as probe:
        return int(probe.server_address[1])
