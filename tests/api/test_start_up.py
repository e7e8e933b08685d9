import gc
import http.client
import os
import socket
import subprocess
import sys
import time
from contextlib import nullcontext
from pathlib import Path

import pytest
from patience import HANG_S
from publishing import BASE_URL, ONE_LIST, House, published_house

from api.app import App
from contracts.settings import Settings
from warehouse.publish.served_address import served_address

SVC = Path(sys.executable).with_name("svc")
ENVIRONMENT = {**os.environ, "SVC_RPC_URLS": "http://127.0.0.1:1"}  # a separate installation, not the demo
HEAVY = ("dagster", "great_expectations", "pandas", "polars", "web3")

LOAD_ALL = """
import sys
import warehouse.ledger.counters
from api.app import build_rooms, create_app
print(*sys.modules)
from contracts.settings import Settings
import pathlib
from warehouse.ledger.ledger import open_ledger
from api.stores import Stores
settings = Settings(data_dir=pathlib.Path(sys.argv[1]), _env_file=None)
create_app(settings)
build_rooms(Stores(settings), lambda: None)
print(*sorted({name.partition(".")[0] for name in sys.modules}))
"""


def test_the_front_needs_neither_the_framework_nor_a_store_and_the_api_process_imports_nothing_heavy(tmp_path):
    ran = subprocess.run([sys.executable, "-c", LOAD_ALL, str(tmp_path)], capture_output=True, text=True, check=True)
    of_front, of_all = map(str.split, ran.stdout.splitlines())
    assert not {"fastapi", "duckdb", "sqlalchemy"} & set(of_front)
    assert not set(HEAVY) & set(of_all)
    assert {"fastapi", "duckdb"} <= set(of_all)


@pytest.mark.parametrize("settings", [Settings(_env_file=None), None], ids=["warm", "failed"])
def test_garbage_that_was_left_during_the_start_is_collected_from_then_on(settings):
    gc.disable()
    try:
        with nullcontext() if settings else pytest.raises(AttributeError):
            App(settings, lambda: None, None)._warm_up()
        assert gc.isenabled()
    finally:
        gc.enable()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def test_the_first_document_comes_within_the_goal_and_a_signal_ends_it(tmp_path):
    port = free_port()
    published_house(tmp_path, ONE_LIST)
    environment = {**ENVIRONMENT, "SVC_DATA_DIR": str(tmp_path), "SVC_PORT": str(port), "SVC_BASE_URL": BASE_URL}
    took_s = []
    for _ in range(3):
        started = time.monotonic()
        process = subprocess.Popen([SVC, "serve"], env=environment)
        try:
            _wait_for_answer(port, process)
            took_s.append(min(time.monotonic() - started, _cpu_s(process.pid)))
        finally:
            process.terminate()
            assert process.wait(HANG_S) in (0, -15)
        if took_s[-1] < 1.5:
            break
    # the best of three, in CPU time since a busy machine delays it: the target concerns the program
    assert min(took_s) < 1.5, took_s


def _wait_for_answer(port: int, process: subprocess.Popen) -> None:
    while process.poll() is None:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        try:
            connection.request("GET", "/api/token/holders")
            response = connection.getresponse()
            assert response.status == 200
            assert b'"holderCount":70' in response.read()
            return
        except OSError:
            time.sleep(0.01)
        finally:
            connection.close()
    raise AssertionError("the process ended")


def _cpu_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_next_to_a_running_server_nothing_is_published_for_another_address(tmp_path):
    port = free_port()
    published_house(tmp_path, ONE_LIST)
    environment = {**ENVIRONMENT, "SVC_DATA_DIR": str(tmp_path), "SVC_PORT": str(port), "SVC_BASE_URL": BASE_URL}
    moved = {**environment, "SVC_BASE_URL": "https://other.example"}
    process = subprocess.Popen([SVC, "serve"], env=environment)
    try:
        _wait_for_answer(port, process)
        ran = subprocess.run([SVC, "publish"], env=moved, capture_output=True, text=True, timeout=HANG_S)
        assert (ran.returncode, ran.stderr) == (
            2,
            f"svc: A service is running on {tmp_path} for {BASE_URL}, not https://other.example.\n"
            f"     Set SVC_BASE_URL={BASE_URL}, or stop that service first to publish for another address.\n",
        )
    finally:
        process.terminate()
        process.wait(HANG_S)
    assert served_address(tmp_path) is None


def test_a_generation_for_another_address_is_refused_with_its_cure(tmp_path):
    House(tmp_path, base_url="https://other.example").publish("/llms.txt")
    environment = {**ENVIRONMENT, "SVC_DATA_DIR": str(tmp_path), "SVC_BASE_URL": "https://svc.example"}
    ran = subprocess.run([SVC, "serve"], env=environment, capture_output=True, text=True, timeout=HANG_S)
    assert ran.returncode == 2
    assert "was built for https://other.example" in ran.stderr
    assert "svc publish" in ran.stderr
