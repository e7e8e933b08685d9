"""`make run-two` reports where everything is, answers through nginx, and leaves nothing behind."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import httpx
import psutil
import pytest
from nginx import free_port, have_nginx
from patience import HANG_S
from run_processes import is_zombie
from two_hosts import until

RUN_TWO = Path(__file__).resolve().parents[1] / "run_two.py"


@pytest.mark.web
def test_two_hosts_answer_behind_one_address_and_nothing_is_left_of_them() -> None:
    if not have_nginx():
        pytest.fail("nginx is not installed") if os.environ.get("CI") else pytest.skip("nginx is not installed")
    port = free_port()
    environment = {name: value for name, value in os.environ.items() if not name.startswith("SVC_")}
    environment["SVC_PORT"] = str(port)
    lines: list[str] = []
    with subprocess.Popen([sys.executable, RUN_TWO], env=environment, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        output = running.stdout
        reader = threading.Thread(target=lambda: lines.extend(output), daemon=True)
        reader.start()
        try:
            until(lambda: running.poll() is not None or "leads to both" in "".join(lines), lambda: str(lines))
            assert running.poll() is None, lines
            health = httpx.get(f"http://127.0.0.1:{port}/health", timeout=HANG_S, trust_env=False).json()
            assert health["host"] in ("host-a", "host-b")
            everything = psutil.Process(running.pid).children(recursive=True)
        finally:
            running.terminate()
            running.wait(HANG_S)
            reader.join()
    assert running.returncode == 0, lines
    assert lines[-1].startswith("stopped")
    _, left = psutil.wait_procs(everything, timeout=HANG_S)
    assert [process.cmdline() for process in left if not is_zombie(process)] == []
    disks = [Path(line.strip().rpartition(" ")[2]) for line in lines if "its disk in" in line]
    assert [disk.name for disk in disks] == ["host-a", "host-b"]
    assert not any(disk.parent.exists() for disk in disks)
