"""`svc run` as people run it: in a process of its own, started, interrupted, killed and started again."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest
from patience import HANG_S, slowness

from cli.environment import make_data_dir
from cli.run import refuse_taken_port
from contracts.errors import OperatorProblem, StoreUnusable
from contracts.settings import PREFIX
from warehouse.duck import Warehouse, run_lock

SVC = str(Path(sys.executable).parent / "svc")
STOP_S = 10.0
"""The goal for a machine that others do not keep busy."""


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return probe.getsockname()[1]


class Installation:
    """One data directory with ports of its own; `run` starts the service on it, `svc` any command beside it."""

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

    def run(self) -> "Service":
        self.services.append(Service(self))
        return self.services[-1]

    def close(self) -> None:
        """End whatever a test left running here."""
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

    def ranges(self) -> list[tuple[Any, ...]]:
        """Every checkpoint, read between two runs of the pipeline."""
        data_dir = self.data_dir / "demo"
        with run_lock(data_dir, wait_s=60.0), Warehouse(data_dir).read_only() as connection:
            assert connection is not None
            return connection.execute(
                "select from_block, to_block, to_block_hash, recorded_at from raw_chain__ranges order by from_block"
            ).fetchall()


class Service:
    """A running `svc run` and what it said."""

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
        """The first line that holds `text`."""
        deadline = time.monotonic() + HANG_S
        while True:
            for line in list(self.lines):
                if text in line:
                    return line
            assert self.process.poll() is None and time.monotonic() < deadline, "\n".join(self.lines)
            time.sleep(0.05)

    def descendants(self) -> list[psutil.Process]:
        return psutil.Process(self.process.pid).children(recursive=True)

    def end(self, how: signal.Signals) -> None:
        """Sends the signal. The supervisor and everything it started have to end within the goal."""
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


@pytest.fixture
def installation(tmp_path: Path) -> Iterator[Installation]:
    made = Installation(tmp_path)
    yield made
    made.close()


def test_the_demo_comes_up_answers_ends_and_goes_on(installation: Installation):
    service = installation.run()
    service.wait_for("Ctrl-C ends everything")
    parts = [line.split()[0] for line in service.lines if line[:9].strip() in ("chain", "api", "pipeline", "dagster")]
    assert list(dict.fromkeys(parts)) == ["chain", "api", "pipeline", "dagster"]

    assert installation.get("/health").status_code == 200
    holders = installation.get("/api/token/holders").json()
    assert holders["holderCount"] > 2000
    assert holders["consistency"]["proof"]["verdict"] == "proven"
    assert {"raw_chain__transfers", "document/api/token/holders"} <= assets_of_dagster(installation)

    for arguments in (
        ("pipeline", "run", "--json"),
        ("pipeline", "status", "--json"),
        ("publish", "--json"),
        ("verify", installation.base_url, "--json"),
        ("doctor", "--json"),
        ("docs", "check", installation.base_url, "--json"),
    ):
        said = installation.svc(*arguments)
        assert said.returncode == 0, (arguments, said.stdout, said.stderr)
        assert json.loads(said.stdout)["ok"] is True, arguments
    held = installation.ranges()
    service.end(signal.SIGINT)

    killed = installation.run()
    assert "going on from block" in killed.wait_for("chain")
    assert "already" in installation.svc("run").stderr
    killed.wait_for("api ")
    orphans = killed.descendants()
    killed.process.kill()
    killed.process.wait()

    last = installation.run()
    last.wait_for("pipeline ")
    assert [process for process in psutil.wait_procs(orphans, timeout=HANG_S)[1] if not is_zombie(process)] == []
    assert installation.get("/api/token/holders").json()["consistency"]["proof"]["verdict"] == "proven"
    assert installation.ranges()[: len(held)] == held
    everything = last.descendants()
    psutil.Process(json.loads((installation.data_dir / "demo/demo.json").read_text())["pid"]).kill()
    last.wait_for("The local chain has ended by itself")
    assert last.process.wait(HANG_S) == 1
    assert [process for process in psutil.wait_procs(everything, timeout=HANG_S)[1] if not is_zombie(process)] == []


def test_without_a_chain_that_answers_the_api_stays_up_and_the_schedule_goes_on_trying(tmp_path: Path):
    dead = Installation(tmp_path, SVC_RPC_URLS=f"http://127.0.0.1:{free_port()}", SVC_TOKEN_ADDRESS="0x" + "70" * 20)
    service = dead.run()
    try:
        service.wait_for("No RPC node gave an answer")
        service.wait_for("the schedule goes on trying")
        assert dead.get("/health").status_code == 200
        body = dead.get("/api/token/holders").json()
        assert (body["holderCount"], body["stale"], body["reason"]) == (None, True, "rpc_unavailable")
        service.end(signal.SIGTERM)
    finally:
        dead.close()


def test_a_taken_port_is_refused_with_the_setting_to_change():
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(OperatorProblem, match="SVC_PORT"):
        refuse_taken_port("127.0.0.1", taken.getsockname()[1], "SVC_PORT")


def test_a_data_directory_that_can_not_be_made_is_refused(tmp_path: Path):
    (tmp_path / "file").touch()
    with pytest.raises(StoreUnusable, match="SVC_DATA_DIR"):
        make_data_dir(tmp_path / "file" / "var")


def is_zombie(process: psutil.Process) -> bool:
    """Whether it has ended, and only its new parent has not looked yet."""
    try:
        return process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def assets_of_dagster(installation: Installation) -> set[str]:
    answer = httpx.post(
        f"http://127.0.0.1:{installation.dagster_port}/graphql",
        json={"query": "{ assetNodes { assetKey { path } } }"},
        timeout=HANG_S,
        trust_env=False,
    )
    return {"/".join(node["assetKey"]["path"]) for node in answer.json()["data"]["assetNodes"]}
