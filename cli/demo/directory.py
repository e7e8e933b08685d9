"""Manages the demo's directory `<data_dir>/demo/`: its lock, the chain's dump, and `demo.json` for other commands.

`demo.json` describes the chain of the dump. While a service has the directory locked, it also has the chain's address.
"""

import fcntl
import gzip
import json
import os
import secrets
import shutil
import signal
import subprocess
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import httpx

from cli.demo.rpc import Rpc, RpcError
from contracts.errors import DemoBusy
from warehouse.file_modes import make_data_directory

DUMP_NAME: Final = "chain.json.gz"
DESCRIPTION_NAME: Final = "demo.json"
NODE_PID_NAME: Final = "node.pid"
RELAYER_KEY_NAME: Final = "relayer.key"
DEMO_CONFIRMATIONS: Final = 1
"""Confirmations for a payment on the demo's chain, which has no forks."""


# The errors raised by reading a torn or missing dump.
UNREADABLE: Final = (OSError, EOFError, zlib.error)


@dataclass(frozen=True)
class DemoAddresses:
    """Lower-case addresses of the demo's contracts; `token_start_block` is where the token was deployed."""

    token_address: str
    usdc_address: str
    bidwall_address: str
    treasury_address: str
    pool_address: str
    chainlink_feed_address: str
    sequencer_feed_address: str
    trust_registry_address: str
    escrow_address: str
    token_start_block: int


@dataclass(frozen=True)
class DemoDescription(DemoAddresses):
    """Content of `demo.json`. `rpc_url` and `pid` (of the process that answers there) are null while nothing runs.

    `contracts_sha256` is the digest of the contracts' code: a chain with other contracts is not continued.
    """

    chain_id: int
    genesis_hash: str
    genesis_time_s: int
    bidwall_trigger_wei: int
    contracts_sha256: str
    paid_flow: bool
    rpc_url: str | None = None
    pid: int | None = None


class DemoDirectory:
    """Paths and files of one demo directory. Writes are atomic: a reader sees the old file or the new one."""

    def __init__(self, data_dir: Path) -> None:
        self.root = data_dir.resolve() / "demo"
        self._lock_path = data_dir.resolve() / "demo.lock"

    @property
    def dump_path(self) -> Path:
        return self.root / DUMP_NAME

    @property
    def relayer_key_path(self) -> Path:
        """Returns the file with the key of the address that sends signed payments."""
        return self.root / RELAYER_KEY_NAME

    def relayer_key(self) -> str:
        """Returns that key as hex. Created at the first call, so no other demo has it or can send with it."""
        if not self.relayer_key_path.exists():
            self._write(RELAYER_KEY_NAME, secrets.token_hex(32).encode())
        return self.relayer_key_path.read_text()

    @property
    def node_cache(self) -> Path:
        """Returns the directory of the node's files. Its path in the node's command line identifies the process."""
        return self.root / "node"

    @contextmanager
    def held(self) -> Iterator[None]:
        """Locks the directory until the context closes or the process ends in any way. Raises `DemoBusy`."""
        make_data_directory(self._lock_path.parent)
        with self._lock_path.open("a") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise DemoBusy(
                    f"Another process is running the demo in {self.root}.",
                    cure="Stop it, or set SVC_DATA_DIR to another directory.",
                ) from None
            yield

    def empty(self) -> bool:
        return not self.root.exists() or not any(self.root.iterdir())

    def reset(self) -> None:
        """Deletes the chain and everything that was derived from it."""
        if self.root.exists():
            shutil.rmtree(self.root)
        make_data_directory(self.root)

    def describe(self, description: DemoDescription) -> None:
        self._write(DESCRIPTION_NAME, json.dumps(asdict(description), indent=1).encode() + b"\n")

    def description(self) -> DemoDescription | None:
        """Returns the content of `demo.json`, or None if it is missing or unreadable."""
        try:
            return DemoDescription(**json.loads((self.root / DESCRIPTION_NAME).read_bytes()))
        except (OSError, ValueError, TypeError):
            return None

    def note_node(self, pid: int) -> None:
        """Records our node's process id as soon as it runs, before there is a chain to describe."""
        self._write(NODE_PID_NAME, str(pid).encode())

    def noted_node(self) -> int | None:
        try:
            return int((self.root / NODE_PID_NAME).read_text())
        except (OSError, ValueError):
            return None

    def store_dump(self, state_gzip: bytes) -> None:
        self._write(DUMP_NAME, state_gzip)

    @contextmanager
    def unpacked_dump(self) -> Iterator[Path]:
        """Yields the dump as the plain JSON file that anvil reads, while the context is open. Raises `UNREADABLE`."""
        plain = self.root / "chain.loading.json"
        try:
            with gzip.open(self.dump_path) as packed, plain.open("wb") as unpacked:
                shutil.copyfileobj(packed, unpacked, 1 << 20)
            yield plain
        finally:
            plain.unlink(missing_ok=True)

    def _write(self, name: str, content: bytes) -> None:
        make_data_directory(self.root)
        temporary = self.root / f".{name}.new"
        try:
            with temporary.open("wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(self.root / name)
        finally:
            temporary.unlink(missing_ok=True)


def running_demo(data_dir: Path) -> dict[str, Any] | None:
    """Returns `demo.json` if the RPC in it really answers for that chain, or None."""
    description = DemoDirectory(data_dir).description()
    if description is None or description.rpc_url is None:
        return None
    return asdict(description) if answers_as(description.rpc_url, description.genesis_hash) else None


def answers_as(rpc_url: str, genesis_hash: str) -> bool:
    """Decides whether a node with this genesis answers at `rpc_url`."""
    try:
        with Rpc(rpc_url, timeout_s=3.0) as rpc:
            genesis = rpc.call("eth_getBlockByNumber", "0x0", False)
    except (httpx.HTTPError, RpcError, ValueError, KeyError, TypeError):
        return False
    return bool(genesis) and genesis["hash"] == genesis_hash


def end_orphan(pid: int, marker: str) -> None:
    """Ends the process group `pid` whose command line contains `marker`; leaves other processes running."""
    for how in (signal.SIGINT, signal.SIGKILL):
        deadline = time.monotonic() + 4.0
        if marker in command_of(pid):
            os.killpg(pid, how)
        while marker in command_of(pid) and time.monotonic() < deadline:
            time.sleep(0.02)


def command_of(pid: int) -> str:
    """Returns the command line of a process, empty if it has ended or can't be read."""
    proc = Path(f"/proc/{pid}/cmdline")
    if proc.parent.parent.joinpath("self").exists():
        try:
            return proc.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            return ""
    ps = shutil.which("ps")
    if ps is None:
        return ""
    return subprocess.run([ps, "-ww", "-o", "command=", "-p", str(pid)], capture_output=True, text=True).stdout
