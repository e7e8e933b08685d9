"""`svc run` in a separate process, over a data directory with its own ports, and its output."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import chdir, suppress
from pathlib import Path
from typing import Any

import httpx
import psutil
from commands import called
from nginx import free_port
from patience import HANG_S, slowness
from typer.testing import Result

from contracts.settings import PREFIX
from warehouse.duck.connection import Warehouse, run_lock

SVC = str(Path(sys.executable).parent / "svc")
STOP_S = 10.0
"""The goal for a machine that others do not keep busy."""


class Installation:
    """One data directory with its own ports; `run` starts the service on it, `svc` any command alongside it."""

    def __init__(self, directory: Path, **variables: str) -> None:
        self.directory = directory
        self.data_dir = directory / "var"
        self.port, self.dagster_port = free_port(), free_port()
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith(PREFIX)} | {
            "SVC_DATA_DIR": str(self.data_dir),
            "SVC_PORT": str(self.port),
            "SVC_DAGSTER_PORT": str(self.dagster_port),
            "SVC_RATE_LIMIT_PER_MINUTE": "0",
            **variables,
        }
        self.services: list[Service] = []

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def get(self, path: str) -> httpx.Response:
        return httpx.get(self.base_url + path, timeout=HANG_S, trust_env=False)

    def run(self) -> Service:
        self.services.append(Service(self))
        return self.services[-1]

    def close(self) -> None:
        """Ends whatever a test left running here."""
        for process in psutil.process_iter():
            with suppress(psutil.Error):
                if process.environ().get("SVC_DATA_DIR", "").startswith(str(self.data_dir)):
                    process.kill()
        for service in self.services:
            service.process.wait()
            service.close()

    def svc(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [SVC, *arguments], env=self.environment, cwd=self.directory, capture_output=True, text=True, timeout=HANG_S
        )

    def called(self, *arguments: str) -> Result:
        """Runs a command in this process."""
        with chdir(self.directory):
            return called(self.environment, *arguments)

    def ranges(self) -> list[tuple[Any, ...]]:
        """Returns every checkpoint, read between two runs of the pipeline."""
        data_dir = self.data_dir / "demo"
        with run_lock(data_dir, wait_s=60.0), Warehouse(data_dir).read_only() as connection:
            assert connection is not None
            rows: list[tuple[Any, ...]] = connection.execute(
                "select from_block, to_block, to_block_hash, recorded_at from raw_chain__ranges order by from_block"
            ).fetchall()
            return rows


class Service:
    """A running `svc run` and its output."""

    def __init__(self, installation: Installation) -> None:
        self.lines: list[str] = []
        self.process = subprocess.Popen(
            [SVC, "run"],
            env=installation.environment,
            cwd=installation.directory,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout
        for line in self.process.stdout:
            self.lines.append(line.rstrip("\n"))

    def wait_for(self, text: str) -> str:
        """Waits for a line that contains `text`, and returns the first one."""
        deadline = time.monotonic() + HANG_S
        while True:
            for line in list(self.lines):
                if text in line:
                    return line
            assert self.process.poll() is None and time.monotonic() < deadline, "\n".join(self.lines)
            time.sleep(0.05)

    def descendants(self) -> list[psutil.Process]:
        children: list[psutil.Process] = psutil.Process(self.process.pid).children(recursive=True)
        return children

    def end(self, how: signal.Signals) -> None:
        """Sends the signal. The supervisor and everything it started must end within the goal."""
        everything = self.descendants()
        deadline = time.monotonic() + STOP_S * slowness()
        self.process.send_signal(how)
        self.process.wait(max(0.0, deadline - time.monotonic()))
        _, alive = psutil.wait_procs(everything, timeout=max(0.0, deadline - time.monotonic()))
        assert [process.cmdline() for process in alive if not is_zombie(process)] == []

    def close(self) -> None:
        self._reader.join(5)
        assert self.process.stdout
        self.process.stdout.close()


def is_zombie(process: psutil.Process) -> bool:
    """Decides whether a process has ended without its new parent having reaped it yet."""
    try:
        return bool(process.status() == psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return True
