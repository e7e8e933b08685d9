import json
import os
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
from patience import HANG_S, slowness

from cli.supervise import LOG_BYTES, RESTARTS_AT_MOST, STOP_TIMEOUT_S, Children, ServiceRunning, end_leftovers, only_one

PARENT_AND_CHILD = "import subprocess, sys, time; subprocess.Popen([sys.executable, '-c', '{child}']); time.sleep(60)"
IGNORES_SIGTERM = (
    "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('ignores', flush=True); time.sleep(60)"
)


def alive(pid: int) -> bool:
    return psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE


def wait_for(condition, timeout_s: float = HANG_S) -> None:
    deadline = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < deadline, "timed out"
        time.sleep(0.02)


def test_stopping_ends_children_and_their_children(tmp_path: Path):
    children = Children(tmp_path / "children.json")
    script = PARENT_AND_CHILD.format(child="import time; time.sleep(60)")
    children.start("parent", [sys.executable, "-c", script], os.environ)
    leader = psutil.Process(json.loads((tmp_path / "children.json").read_text())[0]["pid"])
    wait_for(lambda: leader.children())
    grandchild = leader.children()[0].pid
    children.stop()
    wait_for(lambda: not alive(grandchild))
    assert not (tmp_path / "children.json").exists()


def test_a_child_that_ignores_sigterm_is_killed_within_ten_seconds(tmp_path: Path):
    assert STOP_TIMEOUT_S < 8, "which leaves two for the rest of the stop"
    children = Children(tmp_path / "children.json", stop_timeout_s=0.3)
    log = tmp_path / "stubborn.log"
    children.start("stubborn", [sys.executable, "-c", IGNORES_SIGTERM], os.environ, log=log)
    wait_for(lambda: log.exists() and log.read_text() == "ignores\n")
    pid = json.loads((tmp_path / "children.json").read_text())[0]["pid"]
    started = time.monotonic()
    children.stop()
    assert 0.3 <= time.monotonic() - started < 2 * slowness()
    assert not alive(pid)


def test_a_child_that_ended_is_reported_with_its_code(tmp_path: Path):
    children = Children(tmp_path / "children.json")
    children.start("short", [sys.executable, "-c", "raise SystemExit(3)"], os.environ, log=tmp_path / "short.log")
    wait_for(lambda: children.ended() == {"short": 3})
    children.stop()


def test_the_next_supervisor_ends_what_a_killed_one_left_running(tmp_path: Path):
    record = tmp_path / "children.json"
    supervisor = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import os, sys, time\n"
            "from pathlib import Path\n"
            "from cli.supervise import Children\n"
            f"children = Children(Path({str(record)!r}))\n"
            "children.start('left', [sys.executable, '-c', 'import time; time.sleep(60)'], os.environ)\n"
            "time.sleep(60)",
        ]
    )
    wait_for(record.exists)
    left = json.loads(record.read_text())[0]["pid"]
    supervisor.kill()
    supervisor.wait()
    assert alive(left)
    assert end_leftovers(record) == 1
    wait_for(lambda: not alive(left))
    assert end_leftovers(record) == 0


def test_a_pid_that_now_belongs_to_somebody_else_is_left_alone(tmp_path: Path):
    record = tmp_path / "children.json"
    record.write_text(json.dumps([{"pid": os.getpid(), "created_at": 1.0}]))
    assert end_leftovers(record) == 0


def test_a_log_is_put_aside_before_it_grows_without_bound(tmp_path: Path):
    children = Children(tmp_path / "children.json")
    talkative = (
        f"import sys; [sys.stdout.write('x' * 65535 + '\\n') for _ in range({2 * LOG_BYTES // 65536})]; print('end')"
    )
    children.start("talkative", [sys.executable, "-c", talkative], os.environ, log=tmp_path / "log")
    wait_for(lambda: (tmp_path / "log").exists() and (tmp_path / "log").read_bytes().endswith(b"end\n"))
    assert {path.name for path in tmp_path.glob("log*")} == {"log", "log.1"}
    assert all(path.stat().st_size <= LOG_BYTES for path in tmp_path.glob("log*"))
    children.stop()


def test_a_data_directory_has_one_supervisor(tmp_path: Path):
    with (
        only_one(tmp_path / "service.lock"),
        pytest.raises(ServiceRunning, match="already"),
        only_one(tmp_path / "service.lock"),
    ):
        pass
    with only_one(tmp_path / "service.lock"):
        pass


def test_a_child_that_ends_by_itself_is_started_again_until_it_does_so_too_often(tmp_path: Path):
    children = Children(tmp_path / "children.json")
    children.start("short", [sys.executable, "-c", ""], os.environ, restarted=True)
    children.start("once", [sys.executable, "-c", ""], os.environ)
    for _ in range(RESTARTS_AT_MOST):
        wait_for(lambda: "short" in children.ended())
        assert children.restart_ended() == ["short"]
    wait_for(lambda: children.ended() == {"short": 0, "once": 0})
    assert children.restart_ended() == []
    assert children.ended() == {"short": 0, "once": 0}
    children.stop()
