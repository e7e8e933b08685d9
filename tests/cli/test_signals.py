"""A signal ends `svc` in the same way from its first imports on: with 130, and with one JSON value under --json."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

INTERRUPTED = {
    "ok": False,
    "code": "interrupted",
    "detail": "A signal ended the command before it was done.",
    "cure": "Run it again: it continues.",
}

SIGNALLED_WHILE_IT_IMPORTS = """
import os, sys

number, module, *arguments = sys.argv[1:]

class Signalling:
    def find_spec(self, name, path=None, target=None):
        if name == module:
            os.kill(os.getpid(), int(number))

sys.meta_path.insert(0, Signalling())
sys.argv = ["svc", *arguments]
from cli.main import command_line
command_line()
"""


def ended(
    tmp_path: Path, number: signal.Signals, module: str, *arguments: str, rpc_urls: str = "http://127.0.0.1:9"
) -> tuple[int, str, str]:
    """Returns exit code, stdout and stderr of a command that gets a signal as soon as it imports `module`."""
    settings = {"SVC_DATA_DIR": str(tmp_path), "SVC_RPC_URLS": rpc_urls}
    done = subprocess.run(
        [sys.executable, "-c", SIGNALLED_WHILE_IT_IMPORTS, str(int(number)), module, *arguments],
        env=os.environ | settings,
        capture_output=True,
        text=True,
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize(
    ("command", "module", "number"),
    [
        ("pipeline run", "typer", signal.SIGTERM),
        ("pipeline run", "duckdb", signal.SIGINT),
        ("pipeline run", "dagster._core.definitions.data_version", signal.SIGTERM),
        ("run", "cli.app", signal.SIGINT),
        ("run", "cli.run", signal.SIGTERM),
        ("publish", "pipelines.initial_publish", signal.SIGTERM),
        ("claim", "cli.claim", signal.SIGTERM),
        ("guardrail check", "guardrail.cli", signal.SIGINT),
    ],
)
def test_a_signal_ends_a_command_with_130_while_it_imports(
    tmp_path: Path, command: str, module: str, number: signal.Signals
):
    code, stdout, stderr = ended(tmp_path, number, module, *command.split(), "--json")
    assert (code, json.loads(stdout), stderr) == (130, INTERRUPTED, "")


def test_interrupting_a_command_while_it_imports_prints_nothing(tmp_path: Path):
    assert ended(tmp_path, signal.SIGINT, "cli.pipeline", "pipeline", "run") == (130, "", "")


def test_ctrl_c_does_not_end_a_command_that_a_script_has_put_in_the_background(tmp_path: Path):
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # as a shell does without job control
    try:
        code, stdout, stderr = ended(tmp_path, signal.SIGINT, "typer", "--version")
    finally:
        signal.signal(signal.SIGINT, before)
    assert (code, stdout.partition(" ")[0], stderr) == (0, "svc", "")


def test_a_signal_interrupts_a_command_that_has_begun(tmp_path: Path):
    code, stdout, stderr = ended(tmp_path, signal.SIGTERM, "cli.demo.directory", "keys", "list", "--json", rpc_urls="")
    assert (code, json.loads(stdout), stderr) == (130, INTERRUPTED, "")
