"""The command: exit codes, output for people and as JSON, the tree, the scan, and a fast start."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from guardrail import loading
from guardrail.catalogue.loader import PROGRAMS
from guardrail.cli import main
from guardrail.engine import Guardrail
from guardrail.hooks.audit import audit_line, write_audit
from guardrail.policy import POLICY_FILE
from guardrail.policy_file import PolicyInvalid

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Sets a private home, changes to a directory that is no repository, and returns the home."""
    for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    return tmp_path / "home"


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = main(arguments)
    shown = capsys.readouterr()
    return code, shown.out, shown.err


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("check", "git status"), 0),
        (("check", "rm -rf /"), 2),
        (("check", "frobnicate --all"), 3),
        (("check", ""), 1),
        (("check",), 1),
        (("check", "ls", "--severity", "huge"), 1),
        (("check", "ls", "--context", "[1]"), 1),
        (("check", "ls", "--context", "{"), 1),
        (("check", "ls", "--context", "@nowhere.json"), 1),
        (("check", "ls", "--context", '{"approved": 1}'), 1),
        (("explain", "rm -rf /"), 2),
        (("explain", "ls"), 0),
        (("nonsense",), 1),
        ((), 1),
        (("hook", "--json", "nobody"), 1),
        (("install", "nobody"), 1),
        (("scan", "nowhere"), 1),
        (("lint", "nowhere.yaml"), 1),
        (("trust",), 1),
        (("allow-once",), 1),
        (("allow-once", "ABCD2345"), 1),
    ],
)
def test_the_exit_code_tells_the_outcome(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], code: int
) -> None:
    assert run(capsys, *arguments)[0] == code


@pytest.mark.parametrize(
    "name", ["check", "explain", "hook", "install", "trust", "policy", "allow-once", "scan", "lint", "daemon"]
)
def test_the_help_of_every_command_has_an_example_by_the_callers_name(
    capsys: pytest.CaptureFixture[str], name: str
) -> None:
    with pytest.raises(SystemExit):
        main([name, "--help"], program="svc guardrail")
    assert f"Example: `svc guardrail {name}" in " ".join(capsys.readouterr().out.split())


def test_the_program_name_is_the_callers(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check"], program="svc guardrail") == 1
    assert "usage: svc guardrail check" in capsys.readouterr().err


def test_an_answer_for_people_is_aligned(capsys: pytest.CaptureFixture[str]) -> None:
    _, shown, _ = run(capsys, "check", "git push --force")
    assert {line[12] for line in shown.splitlines()} == {" "}
    assert shown.startswith("decision     deny\nseverity     high\n")


def test_an_answer_as_json_is_the_verdict(capsys: pytest.CaptureFixture[str]) -> None:
    _, shown, _ = run(capsys, "check", "--json", "git push --force")
    assert json.loads(shown)["decision"] == "deny"


def test_a_fault_as_json_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    _, shown, _ = run(capsys, "scan", "--json", "nowhere")
    assert json.loads(shown) == {"error": "there is no file nowhere"}


def test_the_context_comes_from_a_file(capsys: pytest.CaptureFixture[str]) -> None:
    Path("facts.json").write_text('{"environment": "prodd"}')
    _, shown, _ = run(capsys, "check", "ls", "--json", "--context", "@facts.json")
    assert json.loads(shown)["problem"]["pointer"] == "/context/environment"


def test_an_action_comes_from_stdin() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "guardrail.cli", "check", "-"],
        input=b"rm -rf /\n",
        capture_output=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        check=False,
    )
    assert (done.returncode, done.stdout[:17]) == (2, b"decision     deny")


def test_the_tree_shows_call_effect_and_row(capsys: pytest.CaptureFixture[str]) -> None:
    _, shown, _ = run(capsys, "explain", "cat a && sudo rm -rf /var/log")
    lines = [line.strip(" │├└─") for line in shown.splitlines()]
    assert "rm -rf /var/log  (elevated)" in lines
    at = lines.index("rm -rf /var/log  (elevated)")
    assert lines[at + 1].startswith("→ delete path /var/log")
    assert lines[at + 2] == "⇒ lost-files.home-or-system-tree (critical)"


def test_the_explanation_as_json_has_calls_and_verdict(capsys: pytest.CaptureFixture[str]) -> None:
    _, shown, _ = run(capsys, "explain", "--json", "frobnicate x")
    explained = json.loads(shown)
    assert explained["calls"][0]["program"] == "frobnicate"
    assert explained["decision"] == "ask"


def test_a_policy_file_of_the_work_tree_holds(capsys: pytest.CaptureFixture[str]) -> None:
    Path(".svc-guardrail.yaml").write_text("version: 1\nrules:\n- {decision: ask, effect: write}\n")
    assert run(capsys, "check", "echo a >> notes.txt")[0] == 3
    Path(".svc-guardrail.yaml").write_text("version: 1\nrules:\n- {decision: perhaps, effect: write}\n")
    code, _, error = run(capsys, "check", "echo a >> notes.txt")
    assert (code, ".svc-guardrail.yaml:3:" in error) == (1, True)


def test_a_scan_finds_files_that_run_by_themselves(capsys: pytest.CaptureFixture[str]) -> None:
    Path(".github/workflows").mkdir(parents=True)
    Path(".github/workflows/ci.yml").write_text(
        "on: push\njobs:\n  a:\n    runs-on: x\n    steps:\n      - run: make test\n"
    )
    Path("clean.sh").write_text("#!/bin/sh\nset -e\n\nrm -rf /\n")
    Path("notes.txt").write_text("rm -rf /\n")
    Path("node_modules").mkdir()
    Path("node_modules/x.sh").write_text("rm -rf /\n")
    code, shown, _ = run(capsys, "scan", "--json", ".")
    found = json.loads(shown)
    assert (code, found["files"]) == (2, 2)
    assert [(finding["path"], finding["line"], finding["blocks"]) for finding in found["findings"]] == [
        ("clean.sh", 4, True)
    ]


def test_a_file_that_cannot_be_read_blocks(capsys: pytest.CaptureFixture[str]) -> None:
    Path("a.sh").write_bytes(b"\xff\xfe\x00")
    Path("b.sh").write_text("ls\n" * 40_000)
    Path("c.sh").write_text("\n")
    code, shown, _ = run(capsys, "scan", "--json", ".")
    assert code == 2
    assert [(found["path"], found["rule"]) for found in json.loads(shown)["findings"]] == [
        ("a.sh", "not-judged"),
        ("b.sh", "not-judged"),
    ]


def test_findings_become_sarif(capsys: pytest.CaptureFixture[str]) -> None:
    Path("a.sh").write_text("ls\nrm -rf /\n")
    _, shown, _ = run(capsys, "scan", "--sarif", "a.sh")
    log: dict[str, Any] = json.loads(shown)
    (found,) = log["runs"][0]["results"]
    assert log["version"] == "2.1.0"
    assert found["locations"][0]["physicalLocation"] == {
        "artifactLocation": {"uri": "a.sh"},
        "region": {"startLine": 2},
    }
    assert found["level"] == "error"
    assert log["runs"][0]["tool"]["driver"]["rules"][found["ruleIndex"]]["id"] == found["ruleId"]


def test_catalogue_files_are_linted(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "frobnicate.yaml"
    file.write_text(
        "- program: frobnicate\n"
        "  source: https://example.org/frobnicate\n"
        "  effects: [{kind: delete, object: path, targets: [operands]}]\n"
        "  examples:\n"
        "    - {action: frobnicate a, effects: [delete path one]}\n"
        "    - {action: frobnicate --help, effects: []}\n"
    )
    assert run(capsys, "lint", str(file))[:2] == (0, "1 files, 0 faults\n")
    file.write_text(file.read_text().replace("delete path one", "send message"))
    assert run(capsys, "lint", str(file))[0] == 1


def test_the_policy_of_the_guardrail_is_linted_with_the_catalogue(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert run(capsys, "lint", str(POLICY_FILE))[:2] == (0, "1 files, 0 faults\n")
    files = len([POLICY_FILE, *PROGRAMS.glob("*.yaml")])
    assert run(capsys, "lint")[:2] == (0, f"{files} files, 0 faults\n")
    broken = tmp_path / "policy.yaml"
    broken.write_text(POLICY_FILE.read_text().replace("      severity: critical", "      severity: dreadful", 1))
    code, shown, _ = run(capsys, "lint", str(broken))
    assert code == 1
    assert re.search(r"^policy\.yaml:\d+: .*'dreadful'", shown) and shown.endswith("1 files, 1 faults\n")


@pytest.mark.parametrize("arguments", [("check", "ls"), ("explain", "ls"), ("scan", ".")], ids=lambda words: words[0])
def test_a_mistake_in_the_policy_is_named_with_its_line(
    arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken() -> Guardrail:
        raise PolicyInvalid("policy.yaml", 3, "there is no key 'fact'; did you mean facts?")

    monkeypatch.setattr(loading, "default_guardrail", broken)
    code, _, error = run(capsys, *arguments)
    assert code == 1
    assert error == (
        "svc-guardrail: the guardrail can't be loaded: policy.yaml:3: there is no key 'fact'; did you mean facts?\n"
    )


def test_a_policy_file_is_checked_and_its_schema_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    policy = Path(".svc-guardrail.yaml").absolute()
    policy.write_text("version: 1\nrules:\n- {decision: ask, effect: send}\n- {decision: allow, effect: delete}\n")
    code, shown, _ = run(capsys, "policy")
    assert code == 0
    assert shown == f"{policy} has 2 rules, 1 of which allow; they count after `svc-guardrail trust`\n"
    assert json.loads(run(capsys, "policy", "--json")[1])["trusted"] is False
    policy.write_text("version: 1\nrules:\n- {decision: perhaps, effect: send}\n")
    code, _, error = run(capsys, "policy", str(policy))
    assert (code, ".svc-guardrail.yaml:3:" in error) == (1, True)
    schema = json.loads(run(capsys, "policy", "--schema")[1])
    good = {"version": 1, "rules": [{"decision": "deny", "effect": ["delete", "overwrite"], "target": "a/*"}]}
    Draft202012Validator(schema).validate(good)
    assert not Draft202012Validator(schema).is_valid({"version": 1, "rules": [{"decision": "deny", "efect": "send"}]})


def test_a_policy_is_shown_whole_before_it_is_trusted() -> None:
    Path(".svc-guardrail.yaml").write_text("version: 1\nrules:\n- {decision: allow, effect: delete} # \u202e\u200b\n")
    shown = typed("no\n", "trust")
    assert "decision: allow" in shown
    assert "\u202e" not in shown


def test_trust_is_for_a_person_in_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    Path(".svc-guardrail.yaml").write_text("version: 1\nrules:\n- {decision: allow, effect: delete}\n")
    code, _, error = run(capsys, "trust")
    assert (code, "person in a terminal" in error) == (1, True)


def test_trust_in_a_terminal_holds_until_the_file_changes(home: Path) -> None:
    policy = Path(".svc-guardrail.yaml").absolute()
    policy.write_text("version: 1\nrules:\n- {decision: allow, effect: delete}\n")
    assert "is trusted" in typed("yes\n", "trust")
    assert typed("no\n", "trust").endswith("is already trusted")
    assert json.loads((home / ".config/svc-guardrail/trusted.json").read_text()).keys() == {str(policy)}
    policy.write_text(policy.read_text() + "\n")
    assert "nothing is trusted" in typed("no\n", "trust")


def typed(answer: str, *arguments: str) -> str:
    """Returns the output of the command in a terminal in which a person types `answer`."""
    process, terminal = pty.fork()
    if process == 0:
        os.environ["PYTHONPATH"] = str(ROOT)
        os.execv(sys.executable, [sys.executable, "-m", "guardrail.cli", *arguments])
    os.write(terminal, answer.encode())
    shown = b""
    while True:
        try:
            part = os.read(terminal, 4096)
        except OSError:
            break
        if not part:
            break
        shown += part
    os.waitpid(process, 0)
    os.close(terminal)
    return shown.decode().strip()


def test_help_starts_fast() -> None:
    def cpu_seconds() -> float:
        before = os.times()
        subprocess.run(
            [sys.executable, "-m", "guardrail.cli", "--help"],
            stdout=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            check=True,
        )
        after = os.times()
        return after.children_user + after.children_system - before.children_user - before.children_system

    assert min(cpu_seconds() for _ in range(3)) <= 0.15


def test_a_directory_that_is_open_to_others_is_a_fault(home: Path) -> None:
    Path(".svc-guardrail.yaml").write_text("version: 1\nrules:\n- {decision: allow, effect: delete}\n")
    (home / ".config/svc-guardrail").mkdir(parents=True, mode=0o755)
    (home / ".config/svc-guardrail").chmod(0o755)
    assert "open to other users" in typed("yes\n", "trust")


def test_an_action_that_was_held_back_passes_once_after_a_person_typed_its_code(home: Path) -> None:
    digest = "0" * 64
    line = audit_line(
        now=time.time(),
        harness="codex",
        tool="Bash",
        action="rm new.txt \x1b[2J",
        cwd="/work",
        session=None,
        decision="deny",
        reason="It is lost.",
        rules=(),
        digest=digest,
        milliseconds=1,
    )
    write_audit(line, home / ".local/state/svc-guardrail/audit.jsonl")
    shown = typed("", "allow-once")
    assert "deny  rm new.txt" in shown
    assert "\x1b" not in shown
    code = shown.split()[0]
    assert typed("", "allow-once", code) == "this action may pass once within five minutes"
    assert "unknown, used or older" in typed("", "allow-once", code)
    assert (home / ".local/state/svc-guardrail/allowed" / digest).exists()


def test_a_dry_run_of_the_installer_changes_nothing(capsys: pytest.CaptureFixture[str], home: Path) -> None:
    code, shown, _ = run(capsys, "install", "codex", "--dry-run", "--json")
    told = json.loads(shown)
    assert (code, told["changes"], told["dry_run"]) == (0, True, True)
    assert not home.exists()
    assert run(capsys, "install", "codex")[0] == 0
    assert (home / ".codex/hooks.json").exists()
    assert run(capsys, "install", "codex", "--uninstall")[0] == 0
    assert not (home / ".codex/hooks.json").exists()


def test_facts_of_the_working_copy_are_gathered_on_request(capsys: pytest.CaptureFixture[str]) -> None:
    environment = {"PATH": os.environ["PATH"], "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1"}
    for arguments in (("init",), ("-c", "user.name=a", "-c", "user.email=a@b", "commit", "--allow-empty", "-m", "a")):
        subprocess.run(["git", *arguments], check=True, capture_output=True, env=environment)
    assert run(capsys, "check", "git reset --hard")[0] == 2
    assert run(capsys, "check", "--here", "git reset --hard")[0] == 0
