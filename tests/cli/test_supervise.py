import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
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


SUPERVISOR = """
import os, sys, time
from pathlib import Path
from cli.supervise import Children
children = Children(Path(sys.argv[1]), stop_timeout_s=0.5)
children.start('left', [sys.executable, '-c', sys.argv[2]], os.environ)
children.start('last', [sys.executable, '-c', 'import time; time.sleep(60)'], os.environ)
print('started', flush=True)
while True:
    children.restart_ended()
    time.sleep(0.05)
"""


@contextmanager
def supervisor(record: Path, script: str) -> Iterator[tuple[subprocess.Popen[str], dict[str, int]]]:
    """Runs a supervisor with a child, and yields the pids of its processes by name."""
    command = [sys.executable, "-c", SUPERVISOR, str(record), script]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout and process.stdout.readline() == "started\n"
            yield process, pids_of(record)
        finally:
            process.kill()
            process.wait()
            end_leftovers(record)


def pids_of(record: Path) -> dict[str, int]:
    return {row["name"]: row["pid"] for row in json.loads(record.read_text())}


def test_a_killed_supervisor_s_children_end_like_those_of_a_stopped_one(tmp_path: Path):
    writes = (
        "import pathlib, signal, sys, time\n"
        f"signal.signal(signal.SIGTERM, lambda *_: (pathlib.Path({str(tmp_path / 'ended')!r}).touch(), sys.exit()))\n"
        f"pathlib.Path({str(tmp_path / 'ready')!r}).touch()\n"
        "time.sleep(60)"
    )
    with supervisor(tmp_path / "children.json", writes) as (process, pids):
        assert set(pids) == {"left", "last", "sweeper"}
        wait_for((tmp_path / "ready").exists)
        process.kill()
        wait_for(lambda: not any(map(alive, pids.values())))
        assert (tmp_path / "ended").exists()


def test_a_killed_supervisor_s_child_that_ignores_sigterm_is_killed_with_its_children(tmp_path: Path):
    stubborn = (
        "import pathlib, signal, subprocess, sys, time\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'], restore_signals=False)\n"
        f"pathlib.Path({str(tmp_path / 'ready')!r}).write_text(str(child.pid))\n"
        "time.sleep(60)"
    )
    with supervisor(tmp_path / "children.json", stubborn) as (process, pids):
        wait_for(lambda: (tmp_path / "ready").exists() and (tmp_path / "ready").read_text())
        process.kill()
        wait_for(lambda: not any(map(alive, [*pids.values(), int((tmp_path / "ready").read_text())])))


def test_a_sweeper_that_is_killed_is_started_again(tmp_path: Path):
    record = tmp_path / "children.json"
    with supervisor(record, "import time; time.sleep(60)") as (process, pids):
        os.kill(pids["sweeper"], signal.SIGKILL)
        wait_for(lambda: pids_of(record).get("sweeper") not in (None, pids["sweeper"]))
        pids = pids_of(record)
        process.kill()
        wait_for(lambda: not any(map(alive, pids.values())))


def test_the_next_supervisor_ends_what_a_killed_one_with_its_sweeper_left_running(tmp_path: Path):
    record = tmp_path / "children.json"
    with supervisor(record, "import time; time.sleep(60)") as (process, pids):
        os.kill(process.pid, signal.SIGSTOP)
        os.kill(pids["sweeper"], signal.SIGKILL)
        process.kill()
        process.wait()
        assert alive(pids["left"]) and alive(pids["last"])
        assert end_leftovers(record) >= 2  # a zombie counts
        wait_for(lambda: not any(map(alive, pids.values())))
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
