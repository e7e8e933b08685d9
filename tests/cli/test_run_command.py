"""`svc run` as people run it: in its own process, started, interrupted, killed and started again."""

import json
import re
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import psutil
import pytest
from fault_node import Fault, FaultNode, Reply, always
from ingest_helpers import TOKEN
from nginx import free_port
from patience import HANG_S
from pipeline_runs import recorded_chain
from rounds import ROUNDS
from run_processes import Installation, is_zombie

from cli.environment import make_data_dir
from contracts.errors import StoreUnusable

COMMANDS = (
    ("pipeline", "status"),
    ("publish",),
    ("doctor",),
    ("verify", "{base_url}"),
    ("docs", "check", "{base_url}"),
    *((("pipeline", "run"),) if ROUNDS > 1 else ()),
)
"""Commands next to a running service. Only soaks run the whole pipeline once more than the service itself does."""


@pytest.fixture
def installation(tmp_path: Path) -> Iterator[Installation]:
    made = Installation(tmp_path)
    yield made
    made.close()


def test_the_demo_comes_up_answers_is_killed_and_goes_on(installation: Installation):
    service = installation.run()
    service.wait_for("Ctrl-C stops everything")
    parts = [line.split()[0] for line in service.lines if line[:9].strip() in ("chain", "api", "pipeline", "dagster")]
    assert list(dict.fromkeys(parts)) == ["chain", "api", "pipeline", "dagster"]

    assert installation.get("/health").status_code == 200
    holders = installation.get("/api/token/holders").json()
    assert holders["holderCount"] > 2000
    assert holders["consistency"]["proof"]["verdict"] == "proven"
    assert {"raw_chain__transfers", "document/api/token/holders"} <= assets_of_dagster(installation)
    running = set(re.findall(r'svc_process_start_time_seconds\{part="(.*?)"\}', installation.get("/metrics").text))
    assert running == {"api", "worker", "dagster code server", "dagster web server", "dagster daemon", "sweeper"}
    assert "already" in installation.svc("run").stderr
    for arguments in COMMANDS:
        said = installation.called(
            *(argument.format(base_url=installation.base_url) for argument in arguments), "--json"
        )
        assert said.exit_code == 0, (arguments, said.output)
        assert json.loads(said.stdout)["ok"] is True, arguments
    logs = {log.name: log.read_text() for log in (installation.data_dir / "demo/logs").iterdir()}
    assert re.search(r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3} INFO storage of block ", logs["worker.log"], re.MULTILINE)
    assert any(line.startswith("pipeline  storage of block ") for line in service.lines)
    assert [name for name, text in logs.items() if "\x1b" in text] == []
    assert re.fullmatch(r"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3} INFO .*\n)+", logs["dagster-code.log"])
    held = installation.ranges()
    if ROUNDS > 1:
        service.end(signal.SIGTERM)
        service = installation.run()
        assert "continuing at block" in service.wait_for("chain")
        service.wait_for("api ")
    orphans = service.descendants()
    service.process.kill()
    service.process.wait()
    assert [process for process in psutil.wait_procs(orphans, timeout=HANG_S)[1] if not is_zombie(process)] == []

    last = installation.run()
    assert "continuing at block" in last.wait_for("chain")
    last.wait_for("api ")
    if ROUNDS > 1:
        last.wait_for("pipeline ")
    assert installation.get("/api/token/holders").json()["consistency"]["proof"]["verdict"] == "proven"
    everything = last.descendants()
    psutil.Process(json.loads((installation.data_dir / "demo/demo.json").read_text())["pid"]).kill()
    last.wait_for("The local chain has stopped by itself")
    assert last.process.wait(HANG_S) == 1
    assert [process for process in psutil.wait_procs(everything, timeout=HANG_S)[1] if not is_zombie(process)] == []
    assert installation.ranges()[: len(held)] == held


def test_without_a_chain_that_answers_the_api_stays_up_and_the_schedule_goes_on_trying(tmp_path: Path):
    dead = Installation(tmp_path, SVC_RPC_URLS=f"http://127.0.0.1:{free_port()}", SVC_TOKEN_ADDRESS="0x" + "70" * 20)
    service = dead.run()
    try:
        service.wait_for("No RPC node gave an answer")
        service.wait_for("the schedule keeps trying")
        assert dead.get("/health").status_code == 200
        body = dead.get("/api/token/holders").json()
        assert (body["holderCount"], body["stale"], body["reason"]) == (None, True, "rpc_unavailable")
        service.end(signal.SIGINT)
    finally:
        dead.close()


def test_a_worker_that_is_killed_in_the_first_run_is_reported_and_its_run_is_recorded_as_lost(tmp_path: Path):
    never = Fault("eth_getLogs", always(Reply(delay_s=HANG_S)))
    with FaultNode(recorded_chain(), never) as node:
        installation = Installation(tmp_path, SVC_RPC_URLS=node.url, SVC_TOKEN_ADDRESS=TOKEN)
        service = installation.run()
        try:
            service.wait_for("api ")
            deadline = time.monotonic() + HANG_S
            while not node.asked("eth_getLogs"):
                assert service.process.poll() is None and time.monotonic() < deadline, "\n".join(service.lines)
                time.sleep(0.05)
            children = json.loads((installation.data_dir / "children.json").read_text())
            (worker,) = [child["pid"] for child in children if child["name"] == "worker"]
            psutil.Process(worker).kill()
            said = service.wait_for("process_lost")
            assert said == (
                "pipeline  the first run's process was killed before the run ended (process_lost); "
                "a new one starts, and the schedule keeps trying"
            )
            while not (failing := installation.get("/health").json()["failingJobs"]):
                assert service.process.poll() is None and time.monotonic() < deadline, "\n".join(service.lines)
                time.sleep(0.2)
            lost = [(row["job"], row["reason"], row["consecutiveFailures"]) for row in failing]
            assert lost == [("chain", "process_lost", 1)]
            service.end(signal.SIGINT)
        finally:
            installation.close()


def test_a_data_directory_that_can_not_be_made_is_refused(tmp_path: Path):
    (tmp_path / "file").touch()
    with pytest.raises(StoreUnusable, match="SVC_DATA_DIR"):
        make_data_dir(tmp_path / "file" / "var")


def assets_of_dagster(installation: Installation) -> set[str]:
    answer = httpx.post(
        f"http://127.0.0.1:{installation.dagster_port}/graphql",
        json={"query": "{ assetNodes { assetKey { path } } }"},
        timeout=HANG_S,
        trust_env=False,
    )
    return {"/".join(node["assetKey"]["path"]) for node in answer.json()["data"]["assetNodes"]}
