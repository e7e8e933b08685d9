"""The wheel as a stranger installs it: built from the package only, with a hook that works without the checkout."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "guardrail"
ASKED = {
    "session_id": "5e55",
    "transcript_path": "/home/u/.claude/t.jsonl",
    "cwd": "/",
    "permission_mode": "default",
    "hook_event_name": "PreToolUse",
    "tool_name": "Bash",
    "tool_use_id": "toolu_1",
}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns a directory with the wheel installed, built from a copy without compiled files."""
    directory = tmp_path_factory.mktemp("wheel")
    source, target = directory / "guardrail", directory / "site"
    shutil.copytree(PACKAGE, source, ignore=shutil.ignore_patterns("*.json", "__pycache__"))
    run([sys.executable, "-m", "hatchling", "build", "-t", "wheel"], cwd=source)
    assert not list(source.rglob("*.json"))
    (wheel,) = (source / "dist").glob("*.whl")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--target", str(target)]
    run([*pip, str(wheel)], cwd=directory)
    return target


@pytest.fixture
def environment(site: Path, tmp_path: Path) -> Iterator[dict[str, str]]:
    """Yields the environment of a user without a checkout. Their warm process ends when its socket is gone."""
    runtime = tmp_path / "run"
    runtime.mkdir(mode=0o700)
    yield {
        "PYTHONPATH": str(site),
        "HOME": str(tmp_path),
        "XDG_RUNTIME_DIR": str(runtime),
        "PATH": os.defpath,
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    shutil.rmtree(runtime)


def run(command: list[str], **options: object) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(command, capture_output=True, text=True, check=False, **options)  # type: ignore[call-overload]
    assert done.returncode == 0, done.stderr
    return done


def test_the_wheel_contains_compiled_data_and_no_yaml(site: Path) -> None:
    package = site / "guardrail"
    assert {path.name for path in package.rglob("*.json")} == {
        "catalogue.json",
        "http.json",
        "words.json",
        "policy.json",
    }
    assert not list(package.rglob("*.yaml"))


def test_the_installed_wheel_judges_as_the_checkout_does(
    site: Path, environment: dict[str, str], tmp_path: Path
) -> None:
    command = [str(site / "bin" / "svc-guardrail"), "check", "--json", "rm -rf ~/photos"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment, cwd=tmp_path)
    verdict = json.loads(done.stdout)
    assert (done.returncode, verdict["decision"], verdict["severity"]) == (2, "deny", "critical")
    here = "from guardrail.loading import default_guardrail; print(default_guardrail().ruleset_version)"
    assert run([sys.executable, "-c", here], cwd=PACKAGE.parent).stdout.strip() == verdict["ruleset_version"]


def test_the_hook_of_the_wheel_answers_a_harness(site: Path, environment: dict[str, str], tmp_path: Path) -> None:
    def hooked(command: str) -> str:
        asked = json.dumps({**ASKED, "cwd": str(tmp_path), "tool_input": {"command": command}})
        hook = [str(site / "bin" / "svc-guardrail"), "hook", "claude-code"]
        return run(hook, input=asked, env=environment, cwd=tmp_path).stdout

    assert hooked("git status") == ""
    answer = json.loads(hooked("rm -rf ~"))["hookSpecificOutput"]
    assert answer["permissionDecision"] == "deny"
    assert answer["permissionDecisionReason"].startswith("svc-guardrail: ")
