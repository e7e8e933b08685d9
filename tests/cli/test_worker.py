"""The worker of `svc run` during its first run: a separate process, which a signal ends."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from fault_node import Fault, FaultNode, Reply, always, rpc_error
from ingest_helpers import TOKEN
from patience import HANG_S
from pipeline_runs import recorded_chain

from contracts.errors import ConfigurationProblem
from contracts.settings import PREFIX
from pipelines.instance import prepare_home


def test_a_first_run_that_a_signal_interrupts_ends_with_130_and_without_a_word(tmp_path: Path):
    never = Fault("eth_getLogs", always(Reply(delay_s=HANG_S)))
    with FaultNode(recorded_chain(), never) as node:
        worker, said = started(tmp_path, node.url)
        (tmp_path / "dagster/first-run").touch()
        deadline = time.monotonic() + HANG_S
        while not node.asked("eth_getLogs"):
            assert worker.poll() is None and time.monotonic() < deadline
            time.sleep(0.05)
        worker.send_signal(signal.SIGTERM)
        assert (worker.wait(HANG_S), said.read_text()) == (130, "")
    assert (tmp_path / "dagster/first-run").exists(), "the next worker records that it was lost"


def test_a_first_run_that_fails_is_not_taken_for_a_lost_one(tmp_path: Path):
    with FaultNode(recorded_chain(), Fault("eth_chainId", rpc_error(-32000, "no key"))) as node:
        worker, said = started(tmp_path, node.url)
        mark = tmp_path / "dagster/first-run"
        mark.touch()
        deadline = time.monotonic() + HANG_S
        while mark.exists():
            assert worker.poll() is None and time.monotonic() < deadline, said.read_text()
            time.sleep(0.05)
        worker.kill()
        worker.wait(HANG_S)


def test_a_publication_that_is_refused_is_reported_once_and_no_run_follows(tmp_path: Path):
    worker, said = started(tmp_path, "no address of a node")
    publication = tmp_path / "said-of-publication"
    deadline = time.monotonic() + HANG_S
    while not publication.read_bytes():
        assert worker.poll() is None and time.monotonic() < deadline, said.read_text()
        time.sleep(0.05)  # long enough for a run to be refused for the same reason
    worker.send_signal(signal.SIGTERM)
    worker.wait(HANG_S)
    assert publication.read_bytes() == bytes([ConfigurationProblem.exit_code])
    assert said.read_text().count("svc:") == 1


def started(data_dir: Path, rpc_url: str) -> tuple[subprocess.Popen[bytes], Path]:
    """Starts a worker that reads a node's chain. Returns it, and the file with its output after the publication."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(PREFIX)} | {
        "SVC_DATA_DIR": str(data_dir),
        "SVC_RPC_URLS": rpc_url,
        "SVC_TOKEN_ADDRESS": TOKEN,
        "DAGSTER_HOME": str(prepare_home(data_dir)),
    }
    said = data_dir / "said"
    with said.open("wb") as file, (data_dir / "said-of-publication").open("wb") as publication:
        of = (publication, publication, file, file, file)
        handed = [os.dup(each.fileno()) for each in of]
        worker = subprocess.Popen(
            [sys.executable, "-m", "cli.worker", *map(str, handed)],
            env=environment,
            pass_fds=handed,
            stdout=file,
            stderr=file,
        )
    for descriptor in handed:
        os.close(descriptor)
    return worker, said
