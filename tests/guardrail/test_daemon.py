"""The warm process and its client, as real processes: killed, hanging, answering nonsense, owned by others."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from patience import HANG_S

from guardrail.hooks import client
from guardrail.hooks.client import Refused, ask, identity, socket_name

ROOT = Path(__file__).parents[2]
SERVE = "import sys; from guardrail.daemon.server import serve; serve(float(sys.argv[1]))"


def environment_of(directory: Path) -> dict[str, str]:
    """Creates a user's directories below one directory and returns their environment variables."""
    for name in ("run", "state", "config"):
        (directory / name).mkdir(mode=0o700)
    return {
        "XDG_RUNTIME_DIR": str(directory / "run"),
        "XDG_STATE_HOME": str(directory / "state"),
        "XDG_CONFIG_HOME": str(directory / "config"),
        "HOME": str(directory / "home"),
        "PYTHONPATH": str(ROOT),
        "PATH": os.defpath,
    }


@pytest.fixture(autouse=True)
def runtime(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Sets up private user directories and returns that of the socket."""
    for name, value in environment_of(tmp_path).items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)
    return tmp_path / "run" / "svc-guardrail"


@pytest.fixture(autouse=True)
def started(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """Yields the ids of the processes that the client started, and ends them with the test."""
    processes: list[int] = []
    start = client._start

    def recorded() -> int:
        processes.append(start())
        return processes[-1]

    monkeypatch.setattr(client, "_start", recorded)
    yield processes
    for process in processes:
        try:
            os.kill(process, signal.SIGKILL)
            os.waitpid(process, 0)
        except (ProcessLookupError, ChildProcessError):
            continue


@pytest.fixture
def daemon(runtime: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Yields a warm process that has answered once."""
    with subprocess.Popen([sys.executable, "-P", "-c", SERVE, "60"]) as process:
        try:
            within(10, lambda: (runtime / socket_name(identity())).exists() and answered("git status") == "")
            yield process
        finally:
            process.kill()


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """Yields the environment of a user whose warm process serves many tests."""
    environment = environment_of(tmp_path_factory.mktemp("shared"))
    socket_file = Path(environment["XDG_RUNTIME_DIR"], "svc-guardrail", socket_name(identity()))
    with subprocess.Popen([sys.executable, "-P", "-c", SERVE, "60"], env=environment) as process:
        try:
            within(10, socket_file.exists)
            yield environment
        finally:
            process.kill()


def within(seconds: float, holds: Callable[[], bool]) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            if holds():
                return
        except Refused:
            pass
        time.sleep(0.02)
    raise AssertionError("it took too long")


def question(command: str, cwd: str = "/tmp") -> str:
    members = {"hook_event_name": "PreToolUse", "cwd": cwd, "tool_name": "Bash", "tool_input": {"command": command}}
    return json.dumps(members)


def answered(command: str, seconds: float = 10) -> str:
    output, error, code = ask("claude-code", question(command), time.monotonic() + seconds)
    assert (error, code) == ("", 0)
    return output


def refused(command: str = "ls", seconds: float = 5) -> str:
    with pytest.raises(Refused) as refusal:
        ask("claude-code", question(command), time.monotonic() + seconds)
    return str(refusal.value)


def test_the_first_hook_starts_the_process_and_the_next_ones_use_it(runtime: Path, started: list[int]) -> None:
    assert answered("git status") == ""
    assert '"permissionDecision": "deny"' in answered("rm -rf /")
    assert len(started) == 1
    assert (runtime / socket_name(identity())).stat().st_mode & 0o777 == 0o700
    assert runtime.stat().st_mode & 0o777 == 0o700


def test_a_process_that_is_killed_while_it_is_asked_means_blocked(daemon: subprocess.Popen[bytes]) -> None:
    daemon.send_signal(signal.SIGSTOP)
    threading.Timer(0.3, daemon.kill).start()
    assert refused() == "the warm process ended before it answered"


def test_a_process_that_hangs_means_blocked_within_the_clients_deadline(daemon: subprocess.Popen[bytes]) -> None:
    daemon.send_signal(signal.SIGSTOP)
    before = time.monotonic()
    assert refused(seconds=0.4) == "the warm process did not answer in time"
    assert time.monotonic() - before < HANG_S


def test_a_stale_socket_is_replaced(daemon: subprocess.Popen[bytes], runtime: Path) -> None:
    daemon.kill()
    daemon.wait()
    assert (runtime / socket_name(identity())).exists()
    assert answered("git status") == ""


def test_only_one_process_serves_an_installation(daemon: subprocess.Popen[bytes]) -> None:
    other = subprocess.run([sys.executable, "-P", "-m", "guardrail.cli", "daemon"], capture_output=True, check=False)
    assert (other.returncode, other.stderr) == (1, b"svc-guardrail: the warm process is already running\n")
    assert answered("git status") == ""


def test_an_installation_that_was_changed_is_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "package"
    (package / "catalogue").mkdir(parents=True)
    monkeypatch.setattr(client, "PACKAGE", str(package))
    seen = [identity()]
    for name, content in (("a.py", "1"), ("catalogue/b.yaml", "1"), ("catalogue/b.yaml", "22"), ("a.py", "333")):
        (package / name).write_text(content)
        seen.append(identity())
    (package / "catalogue" / "kept.json").write_text("what is made of the sources says nothing new")
    assert len(set(seen)) == len(seen)
    assert identity() == seen[-1]


def test_an_idle_process_ends_and_leaves_no_socket(runtime: Path) -> None:
    subprocess.run([sys.executable, "-P", "-c", SERVE, "0.1"], check=True, timeout=20)
    assert not (runtime / socket_name(identity())).exists()


def test_a_process_whose_socket_is_gone_ends(daemon: subprocess.Popen[bytes], runtime: Path) -> None:
    (runtime / socket_name(identity())).unlink()
    assert daemon.wait(timeout=10) == 0


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (b"hello\n", "the warm process answered nonsense"),
        (b"[]\n", "the warm process answered nonsense"),
        (b"{}\n", "the warm process answered nonsense"),
        (b'{"output": "", "error": "", "code": 0}', "the warm process ended before it answered"),
        (b"", "the warm process ended before it answered"),
        (b'{"output":"","error":"","code":0,"id":"x","version":"other"}\n', "the warm process has another version"),
        (b'{"output":"","error":"","code":0,"id":"another question","version":"%s"}\n', "answered nonsense"),
        (b'{"output":1,"error":"","code":0,"id":"%i","version":"%s"}\n', "the warm process answered nonsense"),
        (b'{"output":"","error":"","code":7,"id":"%i","version":"%s"}\n', "the warm process answered nonsense"),
    ],
)
def test_nonsense_means_blocked(runtime: Path, answer: bytes, reason: str) -> None:
    runtime.mkdir(mode=0o700)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(f"run/svc-guardrail/{socket_name(identity())}")
        listener.listen()

        def talk() -> None:
            connection, _ = listener.accept()
            with connection:
                asked = json.loads(connection.recv(1 << 16))
                said = answer.replace(b"%s", asked["version"].encode()).replace(b"%i", asked["id"].encode())
                connection.sendall(said)

        thread = threading.Thread(target=talk)
        thread.start()
        assert reason in refused()
        thread.join()


@pytest.mark.skipif(os.getuid() != 0, reason="another user is needed")
def test_a_socket_of_another_user_is_not_trusted(runtime: Path) -> None:
    runtime.mkdir(mode=0o700)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(f"run/svc-guardrail/{socket_name(identity())}")
    ready, told = os.pipe()
    process = os.fork()
    if process == 0:
        os.setuid(65534)
        listener.listen()
        os.write(told, b"x")
        time.sleep(20)
        os._exit(0)
    try:
        os.read(ready, 1)
        assert refused() == "the socket belongs to another user"
    finally:
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
        listener.close()


@pytest.mark.skipif(os.getuid() != 0, reason="another user is needed")
def test_a_directory_of_another_user_is_not_used(runtime: Path) -> None:
    runtime.mkdir(mode=0o700)
    os.chown(runtime, 65534, 65534)
    assert refused().endswith("belongs to another user")


def test_a_directory_that_is_open_to_others_is_not_used(runtime: Path) -> None:
    runtime.mkdir()
    runtime.chmod(0o755)
    assert "open to other users" in refused()


def test_a_link_for_a_directory_is_not_used(runtime: Path, tmp_path: Path) -> None:
    runtime.symlink_to(tmp_path / "state")
    assert "is a file or a link instead of a directory" in refused()


def test_a_process_that_cannot_start_means_blocked_at_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    before = time.monotonic()
    assert "can't be started" in refused(seconds=9)
    assert time.monotonic() - before < HANG_S


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        (b"{", "the input is not JSON"),
        (b"[1]", "the input is not a JSON object"),
        (b"", "the input is not JSON"),
        (b"\xff", "the input is not UTF-8"),
        (b"[" * 100_000, "the input is not JSON"),
        (b'{"hook_event_name": "Stop", "cwd": "/", "tool_name": "Read", "tool_input": {}}', "'Stop' is not one that"),
    ],
)
def test_input_that_cannot_be_read_is_blocked(shared: dict[str, str], given: bytes, reason: str) -> None:
    done = hook("claude-code", given, environment=shared)
    assert done.returncode == 2
    assert reason in done.stderr.decode()


@pytest.mark.parametrize("harness", ["codex", "gemini", "nobody"])
def test_every_harness_is_told_by_the_exit_code(shared: dict[str, str], harness: str) -> None:
    done = hook(harness, b"{", environment=shared)
    assert done.returncode == 2
    assert "is blocked" in done.stderr.decode()


@pytest.mark.parametrize(("harness", "member"), [("copilot", "permissionDecision"), ("cursor", "permission")])
def test_input_that_cannot_be_read_is_denied_in_words(shared: dict[str, str], harness: str, member: str) -> None:
    done = hook(harness, b"{", environment=shared)
    assert done.returncode == 0
    assert json.loads(done.stdout)[member] == "deny"


def test_the_work_tree_cannot_shadow_a_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    work = tmp_path / "work"
    (work / "guardrail").mkdir(parents=True)
    for name in ("guardrail/__init__.py", "socket.py", "json.py"):
        (work / name).write_text(f"open({str(tmp_path / 'ran')!r}, 'w')")
    monkeypatch.chdir(work)
    assert '"deny"' in answered("rm -rf /")
    monkeypatch.chdir(work)
    assert b'"deny"' in hook("claude-code", question("rm -rf /", str(work)).encode()).stdout
    assert not (tmp_path / "ran").exists()


def hook(harness: str, given: bytes, environment: dict[str, str] | None = None) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-P", "-m", "guardrail.hooks.client", harness]
    return subprocess.run(command, input=given, capture_output=True, check=False, env=environment)
