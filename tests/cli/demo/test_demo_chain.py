import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from patience import HANG_S, slowness

from cli.demo import chain as demo_chain
from cli.demo.anvil import Anvil, find_binary, install, platform_package
from cli.demo.chain import DUMP_AFTER_S, DUMP_EVERY_S, DemoChain, until_dump_s
from cli.demo.compile import CHAIN_DIR
from cli.demo.directory import DemoDirectory, command_of, running_demo
from cli.demo.history import plan_history
from cli.demo.rpc import Rpc, calldata
from cli.demo.traffic import Traffic, next_step, pause_s, wait_s
from contracts.errors import AnvilUnavailable, DemoBusy
from contracts.settings import load_settings
from pipelines.schedules import CHAIN_JOB, JOBS

ROOT = Path(__file__).resolve().parents[3]
SVC_DEMO = [str(Path(sys.executable).with_name("svc")), "demo", "--json"]


def block(rpc_url: str, tag: str) -> dict:
    with Rpc(rpc_url) as rpc:
        return rpc.call("eth_getBlockByNumber", tag, False)


def supply_at_finalized(chain: DemoChain) -> int:
    with Rpc(chain.rpc_url) as rpc:
        call = {"to": chain.settings["token_address"], "data": calldata("totalSupply()")}
        return int(rpc.call("eth_call", call, "finalized"), 16)


def transfers(chain: DemoChain) -> int:
    with Rpc(chain.rpc_url) as rpc:
        query = {"address": chain.settings["token_address"], "fromBlock": "0x0", "toBlock": "finalized"}
        rows = rpc.call("eth_getLogs", query)
    assert all(int(row["blockTimestamp"], 16) for row in rows)
    return len(rows)


class Said(list[str]):
    def __call__(self, line: str) -> None:
        self.append(line)


def environment(data_dir: Path) -> dict[str, str]:
    return {**os.environ, "SVC_DATA_DIR": str(data_dir)}


@contextmanager
def svc_demo(data_dir: Path) -> Iterator[tuple[subprocess.Popen[str], dict]]:
    """Runs `svc demo --json` as a separate process and yields it with its output; kills it at the end if it still
    runs."""
    process = subprocess.Popen(
        SVC_DEMO,
        cwd=ROOT,
        env=environment(data_dir),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        yield process, json.loads(process.stdout.readline())
    finally:
        process.kill()
        process.communicate()


@pytest.fixture(scope="module")
def written_demo(tmp_path_factory) -> tuple[Path, list[str]]:
    """Returns a data directory with a demo that was started once and stopped, and what the demo reported."""
    data_dir, said = tmp_path_factory.mktemp("written"), Said()
    DemoChain.start(data_dir, said).stop()
    return data_dir, said


@pytest.fixture(scope="module")
def short_demo(tmp_path_factory) -> Path:
    """Returns a data directory with a demo of only the story's first blocks, started once and stopped."""
    data_dir = tmp_path_factory.mktemp("short")
    with pytest.MonkeyPatch.context() as patch:
        tell_less(patch)
        DemoChain.start(data_dir, Said()).stop()
    return data_dir


def tell_less(patch: pytest.MonkeyPatch) -> None:
    """Limits chains that begin in this process to the first blocks of the story."""
    patch.setattr(demo_chain, "plan_history", lambda bidwall: plan_history(bidwall)[:8])


@pytest.fixture
def data_dir(tmp_path, short_demo, monkeypatch) -> Path:
    """A copy of the short demo to continue from; chains that begin again are short too."""
    tell_less(monkeypatch)
    shutil.copytree(short_demo / "demo", tmp_path / "demo")
    return tmp_path


def test_run_stop_run_continues_from_the_dump(tmp_path, written_demo):
    data_dir, said = tmp_path, Said()
    shutil.copytree(written_demo[0] / "demo", data_dir / "demo")
    first = DemoChain.start(data_dir, said)
    try:
        facts = {name: value for name, value in first.settings.items() if name != "rpc_urls"}
        assert load_settings({}, **first.settings).token_address == facts["token_address"]
        written, supply = transfers(first), supply_at_finalized(first)
        genesis, finalized = block(first.rpc_url, "0x0")["hash"], block(first.rpc_url, "finalized")
        assert running_demo(data_dir)["rpc_url"] == first.rpc_url
        assert abs(int(block(first.rpc_url, "latest")["timestamp"], 16) - time.time()) < 60
    finally:
        first.stop()
    assert running_demo(data_dir) is None
    (facts["data_dir"] / "warehouse.duckdb").write_text("kept")

    stamp = (int(finalized["number"], 16), finalized["hash"])
    DemoChain.start(data_dir, said, held_blocks=lambda: [stamp]).stop()
    second = DemoChain.start(data_dir, said, held_blocks=lambda: [stamp])
    try:
        assert {name: value for name, value in second.settings.items() if name != "rpc_urls"} == facts
        assert block(second.rpc_url, "0x0")["hash"] == genesis
        assert written >= 20_000
        assert (transfers(second), supply_at_finalized(second)) == (written, supply)
        assert (facts["data_dir"] / "warehouse.duckdb").exists()
    finally:
        second.stop()
    assert "transfers of 30 days written" in written_demo[1][0]
    assert [line for line in said if "continuing at block" not in line] == []


def test_a_dump_of_a_loaded_chain_has_one_block_of_each_number(data_dir):
    for _ in range(2):
        DemoChain.start(data_dir, Said()).stop()
    with DemoDirectory(data_dir).unpacked_dump() as state:
        numbers = [int(block["header"]["number"], 16) for block in json.loads(state.read_bytes())["blocks"]]
    assert sorted(numbers) == list(range(len(numbers)))


def test_a_dump_that_lacks_what_the_warehouse_holds_resets_the_directory_with_one_line(data_dir):
    warehouse = data_dir / "demo" / "warehouse.duckdb"
    warehouse.write_text("of a chain that is gone")
    said = Said()
    DemoChain.start(data_dir, said, held_blocks=lambda: [(9_999, "0x" + "12" * 32)]).stop()
    assert not warehouse.exists()
    assert len([line for line in said if "reset" in line]) == 1


@pytest.mark.parametrize("dump", [b"torn", None])
def test_a_torn_or_missing_dump_resets_the_directory(data_dir, dump):
    path = DemoDirectory(data_dir).dump_path
    path.unlink() if dump is None else path.write_bytes(dump)
    said = Said()
    DemoChain.start(data_dir, said).stop()
    assert len([line for line in said if "reset" in line]) == 1


@pytest.mark.parametrize("written_by", ["a version without trust", "a version with other contracts"])
def test_a_demo_with_other_contracts_resets_the_directory_with_one_line(data_dir, written_by):
    path = data_dir / "demo" / "demo.json"
    described = json.loads(path.read_bytes())
    if written_by == "a version without trust":
        del described["trust_registry_address"]
    else:
        described["contracts_sha256"] = "00" * 32
    path.write_text(json.dumps(described))
    said = Said()
    DemoChain.start(data_dir, said).stop()
    assert len([line for line in said if "reset" in line]) == 1
    assert json.loads(path.read_bytes())["contracts_sha256"] != "00" * 32


def test_a_requested_reset_starts_over_without_a_complaint(data_dir):
    before, said = DemoDirectory(data_dir).description(), Said()
    DemoChain.start(data_dir, said, reset=True).stop()
    assert DemoDirectory(data_dir).description().genesis_hash != before.genesis_hash
    assert ["written" in line for line in said] == [True]


def test_killed_with_its_node_left_over_the_next_run_takes_the_newest_blocks_along(data_dir):
    with svc_demo(data_dir) as (_, shown), Rpc(shown["rpc_url"]) as rpc:
        rpc.call("anvil_mine", "0x5")
        newest = rpc.call("eth_getBlockByNumber", "finalized", False)
    orphan = DemoDirectory(data_dir).description().pid
    assert "anvil" in command_of(orphan)

    said = Said()
    DemoChain.start(data_dir, said, held_blocks=lambda: [(int(newest["number"], 16), newest["hash"])]).stop()
    assert not [line for line in said if "reset" in line]
    assert command_of(orphan) == ""


def test_killed_together_with_its_node_the_next_run_starts_over(data_dir):
    with svc_demo(data_dir) as (_, shown), Rpc(shown["rpc_url"]) as rpc:
        rpc.call("anvil_mine", "0x5")
        newest = rpc.call("eth_getBlockByNumber", "finalized", False)
    os.killpg(DemoDirectory(data_dir).description().pid, signal.SIGKILL)

    said = Said()
    DemoChain.start(data_dir, said, held_blocks=lambda: [(int(newest["number"], 16), newest["hash"])]).stop()
    assert [line for line in said if "the warehouse or the ledger has blocks that its chain lacks" in line]


def test_killed_while_the_history_is_written_no_node_is_left_over(tmp_path, monkeypatch):
    directory = DemoDirectory(tmp_path)
    process = subprocess.Popen(SVC_DEMO, cwd=ROOT, env=environment(tmp_path), stdout=subprocess.DEVNULL)
    while (node := directory.noted_node()) is None:
        time.sleep(0.01)
    process.kill()
    process.wait()
    assert "anvil" in command_of(node)
    assert directory.description() is None
    tell_less(monkeypatch)
    said = Said()
    DemoChain.start(tmp_path, said).stop()
    assert command_of(node) == ""
    assert ["reset" in line for line in said] == [True, False]


@pytest.mark.parametrize("how", [pytest.param(signal.SIGINT, marks=pytest.mark.soak), signal.SIGTERM])
def test_a_signal_ends_the_command_in_time_with_a_dump_and_without_leftovers(data_dir, how):
    with svc_demo(data_dir) as (process, shown):
        with Rpc(shown["rpc_url"]) as rpc:
            assert rpc.call("eth_chainId") == "0x2105"
        node = DemoDirectory(data_dir).description().pid
        dumped_at = DemoDirectory(data_dir).dump_path.stat().st_mtime_ns
        with pytest.raises(DemoBusy, match="Another process"):
            DemoChain.start(data_dir, Said())
        process.send_signal(how)
        rest, _ = process.communicate(timeout=60 * slowness())
        assert (process.returncode, rest) == (0, "")
    assert command_of(node) == ""
    assert DemoDirectory(data_dir).dump_path.stat().st_mtime_ns > dumped_at
    assert DemoDirectory(data_dir).description().rpc_url is None


def test_traffic_adds_transfers_and_stops_cleanly(data_dir):
    chain = DemoChain.start(data_dir, Said())
    try:
        before = int(block(chain.rpc_url, "latest")["number"], 16)
        chain.start_traffic()
        deadline = time.monotonic() + HANG_S
        while int(block(chain.rpc_url, "latest")["number"], 16) == before and time.monotonic() < deadline:
            time.sleep(0.1)
        assert int(block(chain.rpc_url, "latest")["number"], 16) > before
        assert supply_at_finalized(chain) > 0
    finally:
        chain.stop()
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("demo ")]


def test_no_traffic_comes_while_the_chain_is_to_be_quiet(data_dir):
    chain, quiet = DemoChain.start(data_dir, Said()), threading.Lock()
    contracts = demo_chain.contracts_of(DemoDirectory(data_dir).description())
    before = block(chain.rpc_url, "latest")["number"]
    quiet.acquire()
    traffic = Traffic(chain.rpc_url, contracts, quiet).start()
    try:
        time.sleep(2)
        assert block(chain.rpc_url, "latest")["number"] == before
    finally:
        quiet.release()
        traffic.stop()
        chain.stop()


def test_traffic_keeps_the_price_fresh_trades_and_attests(data_dir):
    chain = DemoChain.start(data_dir, Said())
    contracts = demo_chain.contracts_of(DemoDirectory(data_dir).description())
    traffic = Traffic(chain.rpc_url, contracts, threading.Lock())
    started_at = time.time()
    before = int(block(chain.rpc_url, "latest")["number"], 16)
    try:
        with Rpc(chain.rpc_url) as rpc:
            transfers = [partial(traffic.send_transfers, sent) for sent in range(24)]
            sends: list[Callable[[], object]] = [traffic.set_price, *transfers]
            for send in sends:
                send()
                # seconds pass between them in a demo, while a node that is just mining may give the same nonce twice
                while int(rpc.call("txpool_status")["pending"], 16):
                    time.sleep(0.01)
            deadline = time.monotonic() + HANG_S
            emitted: Counter[str] = Counter()
            while emitted[contracts.trust_registry_address] < 3 and time.monotonic() < deadline:
                rows = rpc.call("eth_getLogs", {"fromBlock": hex(before + 1), "toBlock": "latest"})
                emitted = Counter(row["address"] for row in rows)
            ask = {"to": contracts.chainlink_feed_address, "data": calldata("latestRoundData()")}
            updated = rpc.call("eth_call", ask, "latest")
        assert emitted[contracts.trust_registry_address] == 3
        assert emitted[contracts.chainlink_feed_address] == 1
        assert emitted[contracts.pool_address] == 2 * 8
        assert emitted[contracts.bidwall_address] == 2
        assert started_at - 60 < int(updated[2 + 3 * 64 : 2 + 4 * 64], 16) < time.time() + 60
    finally:
        traffic.stop()
        chain.stop()


def test_traffic_calms_down_with_age():
    assert [pause_s(age_s) for age_s in (0, 600, 86_400)] == [4.0, 14.0, 60.0]


def test_transfers_come_when_due_and_a_heartbeat_when_nothing_else_did():
    assert [next_step(*when) for when in ((0, 0), (-1, 99), (5, 9.9), (5, 10))] == [
        "transfers",
        "transfers",
        None,
        "heartbeat",
    ]


def test_traffic_waits_for_what_comes_first_and_never_less_than_a_second():
    assert [wait_s(*when) for when in ((7, 99, 1), (60, 5, 0), (60, 99, 4), (60, 99, 12), (-3, 99, 0))] == [
        7,
        5,
        6,
        1,
        1,
    ]


def test_a_dump_follows_half_a_minute_after_each_minute_at_which_the_chain_is_read():
    (cron,) = (job.cron for job in JOBS if job.name == CHAIN_JOB)
    assert cron == f"*/{DUMP_EVERY_S / 60:.0f} * * * *"
    noon_s = 1_767_268_800.0
    assert until_dump_s(noon_s) == DUMP_AFTER_S
    assert until_dump_s(noon_s + DUMP_AFTER_S) == DUMP_EVERY_S
    assert until_dump_s(noon_s + DUMP_AFTER_S + 1) == DUMP_EVERY_S - 1
    assert until_dump_s(noon_s + DUMP_EVERY_S - 1) == DUMP_AFTER_S + 1


def test_a_dump_that_fails_leaves_the_older_one_and_says_so(data_dir):
    said = Said()
    chain = DemoChain.start(data_dir, said)
    dump = DemoDirectory(data_dir).dump_path
    before = dump.read_bytes()
    blocked = dump.parent / ".chain.json.gz.new"
    blocked.mkdir()
    with pytest.raises(OSError, match="directory"):
        DemoDirectory(data_dir).store_dump(b"")
    blocked.rmdir()
    os.killpg(DemoDirectory(data_dir).description().pid, signal.SIGKILL)
    while chain.running():
        time.sleep(0.01)
    chain.stop()
    chain.stop()
    assert dump.read_bytes() == before
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("demo ")]
    assert running_demo(data_dir) is None


def test_a_stranger_that_got_the_nodes_process_id_or_port_is_left_alone(data_dir, anvil):
    directory = DemoDirectory(data_dir)
    directory.describe(replace(directory.description(), rpc_url=anvil.url, pid=anvil.pid))
    directory.note_node(anvil.pid)
    assert running_demo(data_dir) is None
    said = Said()
    DemoChain.start(data_dir, said).stop()
    assert anvil.running()
    assert "continuing" in said[0]


def test_without_node_the_recording_is_served_and_the_paid_flow_is_off(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(demo_chain, "install", lambda say: install(tmp_path / "nowhere", say))
    said = Said()
    chain = DemoChain.start(tmp_path, said)
    try:
        chain.start_traffic()
        assert not chain.paid_flow
        assert chain.settings["treasury_address"] is None, "nobody can pay, so nothing is for sale"
        assert chain.running()
        assert transfers(chain) >= 20_000
        assert supply_at_finalized(chain) > 0
        assert running_demo(tmp_path)["paid_flow"] is False
        finalized = block(chain.rpc_url, "finalized")
    finally:
        chain.stop()
    assert len(said) == 1
    assert "npm is missing" in said[0]
    assert "paid flow is off" in said[0]

    said = Said()
    DemoChain.start(tmp_path, said, held_blocks=lambda: [(int(finalized["number"], 16), finalized["hash"])]).stop()
    assert not [line for line in said if "reset" in line]
    DemoChain.start(tmp_path, said, held_blocks=lambda: [(1, "0x" + "12" * 32)]).stop()
    assert len([line for line in said if "reset" in line]) == 1


def test_a_platform_without_a_binary_gets_a_cure(tmp_path):
    assert platform_package("Linux", "x86_64") == "anvil-linux-amd64"
    assert platform_package("Darwin", "arm64") == "anvil-darwin-arm64"
    assert find_binary(tmp_path) is None
    assert shutil.which("npm")
    with pytest.raises(AnvilUnavailable, match="npm ci"):
        install(tmp_path)
    assert install(CHAIN_DIR) == find_binary()


def test_a_node_that_does_not_start_is_named_with_its_command():
    with pytest.raises(AnvilUnavailable, match="--no-such-flag"):
        Anvil(flags=["--no-such-flag"]).start()
