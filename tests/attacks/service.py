"""The service under attack: its address, the credentials of attacker and victim, and the cost of requests to its
process."""

from __future__ import annotations

import secrets
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import psutil

from .chain import Chain, calldata

QUOTE = "/api/agent-access/quote"
CLAIM = "/api/agent-access/claim"
USDC_GIVEN = 1_000_000_000
SLOWEST_ANSWER_S = 30.0


@dataclass
class Cost:
    """CPU seconds of the answering process and its children, and its growth in MB, while the context was open."""

    cpu_s: float = 0.0
    children_cpu_s: float = 0.0
    growth_mb: float = 0.0


@dataclass
class Service:
    """What the starter passes to every attack. `limited_url` is a second service of two workers on the same data,
    with 20 requests a minute and few file descriptors; `dagster_url` answers in the phase of the whole service."""

    url: str
    limited_url: str
    dagster_url: str
    pid: int
    data_dir: Path
    checkout: Path
    chain: Chain
    usdc: str
    treasury: str
    pro_key: str
    free_key: str
    other_key: str
    environment: dict[str, str]
    svc_path: Path = field(default=Path())
    written: dict[str, Any] = field(default_factory=dict)
    """What an earlier attack wrote for a later one to find, by name."""

    @property
    def address(self) -> tuple[str, int]:
        host, _, port = self.url.removeprefix("http://").partition(":")
        return host, int(port)

    def client(self, **options: Any) -> httpx.Client:
        return httpx.Client(base_url=self.url, timeout=SLOWEST_ANSWER_S, trust_env=False, **options)

    def get(self, path: str, key: str | None = None, **headers: str) -> httpx.Response:
        return self.ask("GET", path, key, headers=headers)

    def post(self, path: str, body: Any, key: str | None = None, **headers: str) -> httpx.Response:
        return self.ask("POST", path, key, json=body, headers=headers)

    def ask(self, method: str, path: str, key: str | None = None, **options: Any) -> httpx.Response:
        headers = {name.replace("_", "-"): value for name, value in options.pop("headers", {}).items()}
        if key is not None:
            headers["Authorization"] = f"Bearer {key}"
        with self.client() as client:
            return client.request(method, path, headers=headers, **options)

    def raw(self, request: bytes, timeout_s: float = 10.0) -> bytes:
        """Sends bytes and returns everything received before the connection closes or goes silent."""
        received = b""
        with suppress(OSError), socket.create_connection(self.address, timeout=timeout_s) as connection:
            connection.settimeout(timeout_s)
            with suppress(OSError):
                connection.sendall(request)
            while part := connection.recv(65536):
                received += part
                connection.settimeout(0.5)
        return received

    @contextmanager
    def measured(self) -> Iterator[Cost]:
        process = psutil.Process(self.pid)
        before, before_tree = _cpu_s(process), _tree_cpu_s(process)
        rss = process.memory_info().rss
        cost = Cost()
        try:
            yield cost
        finally:
            with suppress(psutil.NoSuchProcess):
                cost.cpu_s = _cpu_s(process) - before
                cost.children_cpu_s = _tree_cpu_s(process) - before_tree - cost.cpu_s
                cost.growth_mb = (process.memory_info().rss - rss) / 1e6

    def settle(self, at_most_s: float = 5.0) -> None:
        """Waits until the process has finished working on earlier requests."""
        process, deadline = psutil.Process(self.pid), time.monotonic() + at_most_s
        before = _cpu_s(process)
        while time.monotonic() < deadline:
            time.sleep(0.15)
            now = _cpu_s(process)
            if now - before < 0.03:
                return
            before = now

    def wallet(self) -> str:
        """Returns a new address that holds 1,000 USDC."""
        address = "0x" + secrets.token_hex(20)
        self.fund(address)
        return address

    def fund(self, address: str, token: str | None = None) -> None:
        minting = calldata("mint(address,uint256)", address, USDC_GIVEN)
        self.chain.send(self.chain.deployer, token or self.usdc, minting)

    def svc(self, *arguments: str, may_fail: bool = False) -> str:
        """Runs an operator's command on the service's own installation; returns its output."""
        return self.svc_result(*arguments, may_fail=may_fail).stdout

    def svc_result(
        self, *arguments: str, may_fail: bool = True, data_dir: Path | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Runs a command on the service's own installation, or on the copy in `data_dir`."""
        ran = subprocess.run(
            [self.svc_path, *arguments],
            env=self.environment | {"SVC_DATA_DIR": str(data_dir or self.data_dir)},
            cwd=self.data_dir.parent,
            capture_output=True,
            text=True,
            timeout=600,
        )
        assert may_fail or ran.returncode == 0, ran.stderr
        return ran

    def quote(self, payer: str, **fields: Any) -> dict[str, Any]:
        answer = self.post(QUOTE, {"payerAddress": payer} | fields)
        assert answer.status_code == 201, answer.text
        return dict(answer.json())

    def pay(self, quote: dict[str, Any], payer: str, more: int = 0, token: str | None = None) -> str:
        """Transfers the quoted amount plus `more`; returns the transaction's hash."""
        step = quote["data"]["next"]["pay"]
        data = calldata("transfer(address,uint256)", step["to"], int(step["amountUnits"]) + more)
        return self.chain.send(payer, token or self.usdc, data)

    def claim(self, quote: dict[str, Any], transaction: str, **fields: Any) -> httpx.Response:
        return self.post(CLAIM, claim_body(quote, transaction) | fields)

    def bought_key(self, payer: str, **fields: Any) -> str:
        """Buys a key as an honest client does."""
        quote = self.quote(payer, **fields)
        answer = self.claim(quote, self.pay(quote, payer))
        assert answer.status_code == 201, answer.text
        return str(answer.json()["data"]["activationPacket"]["apiKey"])


def claim_body(quote: dict[str, Any], transaction: str) -> dict[str, Any]:
    return dict(quote["data"]["next"]["claim"]["body"]) | {"transactionHash": transaction}


def _cpu_s(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


def _tree_cpu_s(process: psutil.Process) -> float:
    times = process.cpu_times()
    total = float(times.user + times.system + times.children_user + times.children_system)
    for child in process.children(recursive=True):
        with suppress(psutil.Error):
            total += _cpu_s(child)
    return total
