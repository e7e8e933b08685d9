"""A local EVM with tokens for the attacked service, driven by plain JSON-RPC. Imports nothing from the service."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
from eth_abi.abi import encode
from eth_utils.crypto import keccak

CHAIN_ID = 8453
READY_WITHIN_S = 30.0


def calldata(signature: str, *values: Any) -> str:
    types = signature[signature.index("(") + 1 : -1]
    return "0x" + (keccak(text=signature)[:4] + encode(types.split(","), values)).hex()


class Chain:
    """An anvil from the Node packages of `checkout`; `stop` ends it."""

    def __init__(self, checkout: Path, port: int) -> None:
        self._artifacts = checkout / "contracts" / "chain" / "artifacts"
        binaries = sorted((checkout / "contracts/chain/node_modules/@foundry-rs").glob("anvil-*/bin/anvil"))
        if not binaries:
            raise SystemExit("The local EVM is missing: install Node.js, then run `python3 bootstrap.py`.")
        self.url = f"http://127.0.0.1:{port}"
        self._client = httpx.Client(timeout=30, trust_env=False)
        command = [binaries[0], "--host", "127.0.0.1", "--port", str(port), "--chain-id", str(CHAIN_ID)]
        self._process = subprocess.Popen(
            [*command, "--slots-in-an-epoch", "1", "--quiet"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL
        )
        deadline = time.monotonic() + READY_WITHIN_S
        while time.monotonic() < deadline:
            with suppress(httpx.HTTPError):
                self.deployer = str(self.rpc("eth_accounts")[0])
                return
            time.sleep(0.05)
        self.stop()
        raise SystemExit("The local EVM did not answer; try again.")

    def rpc(self, method: str, *params: Any) -> Any:
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        answer = self._client.post(self.url, json=body).json()
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']['message']}")
        return answer["result"]

    def deploy(self, contract: str, *arguments: str) -> str:
        """Deploys an artifact whose constructor takes strings; returns its address."""
        artifact = json.loads((self._artifacts / f"{contract}.json").read_text())
        code = artifact["bytecode"] + encode(["string"] * len(arguments), arguments).hex()
        receipt = self._mined({"from": self.deployer, "data": code, "gas": hex(10_000_000)})
        return str(receipt["contractAddress"]).lower()

    def send(self, sender: str, to: str, data: str) -> str:
        """Sends a transaction from any address and mines blocks on top of it; returns its hash."""
        self.rpc("anvil_impersonateAccount", sender)
        self.rpc("anvil_setBalance", sender, hex(10**18))
        receipt = self._mined({"from": sender, "to": to, "data": data, "gas": hex(1_000_000)})
        self.bury()
        return str(receipt["transactionHash"])

    def bury(self, blocks: int = 3) -> None:
        for _ in range(blocks):
            self.rpc("evm_mine")

    def _mined(self, transaction: dict[str, Any]) -> dict[str, Any]:
        sent = self.rpc("eth_sendTransaction", transaction)
        deadline = time.monotonic() + READY_WITHIN_S
        while time.monotonic() < deadline:
            receipt = self.rpc("eth_getTransactionReceipt", sent)
            if receipt is not None:
                assert receipt["status"] == "0x1", receipt
                return dict(receipt)
            time.sleep(0.01)
        raise RuntimeError(f"{sent} was not mined")

    def stop(self) -> None:
        self._client.close()
        self._process.send_signal(signal.SIGKILL)
        self._process.wait()
