"""Runs the local EVM as a process: finds, installs, starts and stops it. Knows nothing of the chain's content."""

import os
import platform
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final, Self

import httpx

from cli.demo.compile import CHAIN_DIR
from cli.demo.rpc import Rpc, RpcError
from contracts.errors import AnvilUnavailable

# Keeps only the state of the newest blocks. Without it, every block keeps a copy (9 GB after 460 large blocks); with
# it, a demo answers calls at `finalized` at any time and grows by some 5 kB per block (104 MB after 1,500).
PRUNED: Final = ("--prune-history", "32")

_INSTALL_WITHIN_S: Final = 300.0
_READY_WITHIN_S: Final = 20.0
_STOP_WITHIN_S: Final = 4.0
_GAS_LIMIT: Final = 30_000_000_000

_SYSTEMS: Final = {"Linux": "linux", "Darwin": "darwin", "Windows": "win32"}
_MACHINES: Final = {"x86_64": "amd64", "AMD64": "amd64", "arm64": "arm64", "aarch64": "arm64"}


def platform_package(system: str, machine: str) -> str:
    """Returns the npm package with the binary for a platform, given `platform.system()` and `platform.machine()`."""
    return f"anvil-{_SYSTEMS.get(system, system.lower())}-{_MACHINES.get(machine, machine.lower())}"


def find_binary(chain_dir: Path = CHAIN_DIR) -> Path | None:
    """Returns this platform's installed binary, or None. Callers start it directly: killing npx would not end it."""
    package = platform_package(platform.system(), platform.machine())
    name = "anvil.exe" if platform.system() == "Windows" else "anvil"
    binary = chain_dir / "node_modules" / "@foundry-rs" / package / "bin" / name
    return binary if binary.is_file() else None


def install(chain_dir: Path = CHAIN_DIR, say: Callable[[str], None] = lambda _: None) -> Path:
    """Returns the binary, installing it from the lock if it is missing. Raises `AnvilUnavailable` with a cure."""
    binary = find_binary(chain_dir)
    if binary is not None:
        return binary
    npm = shutil.which("npm")
    if npm is None:
        raise AnvilUnavailable(
            "The local EVM is not installed and npm is missing.", cure="Install Node.js 20 or later."
        )
    say("Demo chain: installing the local EVM with npm")
    command = [npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--fetch-retries=1"]
    try:
        subprocess.run(command, cwd=chain_dir, capture_output=True, check=True, timeout=_INSTALL_WITHIN_S)
    except (subprocess.SubprocessError, OSError) as error:
        raise AnvilUnavailable(
            f"npm could not install the local EVM ({error}).",
            cure=f"Run `npm ci --ignore-scripts` in {chain_dir} and read its output.",
        ) from error
    binary = find_binary(chain_dir)
    if binary is None:
        package = platform_package(platform.system(), platform.machine())
        raise AnvilUnavailable(
            f"The lock has no local EVM for this platform ({package}).",
            cure=f"Run `npm install --no-save @foundry-rs/{package}@1.7.1` in {chain_dir}, if it exists.",
        )
    return binary


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


class Anvil:
    """One anvil process on a free port of 127.0.0.1, in its own process group, while the context is open.

    `flags` are added to the command line. `load_state` is a JSON state file to start from. Raises `AnvilUnavailable`.
    """

    def __init__(self, *, flags: Sequence[str] = (), load_state: Path | None = None, chain_id: int = 8453) -> None:
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self._chain_id = chain_id
        self._flags = list(flags)
        self._load_state = load_state
        self._process: subprocess.Popen[bytes] | None = None
        self.rpc = Rpc(self.url)

    @property
    def pid(self) -> int:
        assert self._process is not None, "not started"
        return self._process.pid

    def running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def start(self) -> Self:
        """Starts the process and waits until it answers. Another process that took the port is not mistaken for it."""
        command = [
            str(install()),
            *("--host", "127.0.0.1", "--port", str(self.port), "--chain-id", str(self._chain_id)),
            *("--slots-in-an-epoch", "1", "--gas-limit", str(_GAS_LIMIT), "--no-request-size-limit", "--quiet"),
            *(["--load-state", str(self._load_state)] if self._load_state else []),
            *self._flags,
        ]
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            self._await_answer(command)
        except BaseException:
            self.stop()
            raise
        return self

    def _await_answer(self, command: list[str]) -> None:
        deadline = time.monotonic() + _READY_WITHIN_S
        while time.monotonic() < deadline:
            answers = False
            with suppress(httpx.HTTPError, RpcError):
                answers = self.rpc.call("eth_chainId") == hex(self._chain_id)
            if not self.running():
                raise AnvilUnavailable("The local EVM ended at once.", cure=f"Run it by hand: {' '.join(command)}")
            if answers:
                return
            time.sleep(0.02)
        raise AnvilUnavailable(f"The local EVM gave no answer in {_READY_WITHIN_S:.0f} s.", cure="Try again.")

    def stop(self) -> None:
        """Ends the process group within 5 s, whatever it is busy with."""
        self.rpc.close()
        if self._process is not None:
            end_group(self._process)

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *exc: object) -> None:
        self.stop()


def end_group(process: subprocess.Popen[bytes]) -> None:
    """Interrupts the process group that `process` leads, then kills it if it lingers."""
    for how in (signal.SIGINT, signal.SIGKILL):
        if process.poll() is not None:
            return
        with suppress(ProcessLookupError):
            os.killpg(process.pid, how)
        with suppress(subprocess.TimeoutExpired):
            process.wait(_STOP_WITHIN_S)
